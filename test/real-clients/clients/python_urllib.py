# Python's own library, which does not decompress: the lines of urlopen().
import sys
from urllib.request import Request, urlopen

url, _coding = sys.argv[1:]
headers = {"content-type": "application/json"}
with urlopen(Request(url, data=b'{"text":"Hi"}', headers=headers)) as response:
    for line in response:
        print(line.decode().rstrip("\n"), flush=True)
