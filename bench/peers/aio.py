# SPDX-License-Identifier: Apache-2.0
"""aio.py LIST N: fetches the URLs of a file with aiohttp, N in flight, and prints how many were 200 and whole."""
import asyncio
import sys

import aiohttp

ok = 0


async def worker(session, urls):
    global ok
    for url in urls:
        try:
            async with session.get(url) as answer:
                await answer.read()
                ok += answer.status == 200
        except (aiohttp.ClientError, OSError):
            pass


async def main(path, n):
    connector = aiohttp.TCPConnector(limit=n)
    with open(path, encoding="utf-8") as lines:
        urls = (line.rstrip("\n") for line in lines)
        async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None)) as session:
            await asyncio.gather(*(worker(session, urls) for _ in range(n)))


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
print(ok)
