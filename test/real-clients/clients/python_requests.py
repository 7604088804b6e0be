# python3-requests: response.iter_lines(), as its documentation has it.
import sys
import requests

url, coding = sys.argv[1:]
headers = {"accept-encoding": coding}
with requests.post(url, json={"text": "Hi"}, headers=headers, stream=True) as response:
    response.raise_for_status()
    for line in response.iter_lines():
        if line:
            print(line.decode(), flush=True)
