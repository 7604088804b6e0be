# python3-aiohttp: the lines of response.content.
import asyncio
import sys
import aiohttp


async def main():
    url, coding = sys.argv[1:]
    async with aiohttp.ClientSession() as session:
        async with session.post(url, json={"text": "Hi"}, headers={"accept-encoding": coding}) as response:
            response.raise_for_status()
            async for line in response.content:
                print(line.decode().rstrip("\n"), flush=True)


asyncio.run(main())
