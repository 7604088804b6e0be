# python3-httpx: response.iter_lines().
import sys
import httpx

url, coding = sys.argv[1:]
with httpx.stream("POST", url, json={"text": "Hi"}, headers={"accept-encoding": coding}, timeout=None) as response:
    response.raise_for_status()
    for line in response.iter_lines():
        if line.strip():
            print(line.rstrip("\n"), flush=True)
