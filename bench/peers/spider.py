# SPDX-License-Identifier: Apache-2.0
"""spider.py LIST N: fetches the URLs of a file with Scrapy, N in flight, and prints how many were 200."""
import sys

import scrapy
from scrapy.crawler import CrawlerProcess

path, n = sys.argv[1], int(sys.argv[2])
ok = 0


class Spider(scrapy.Spider):
    name = "bench"

    def start_requests(self):
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                yield scrapy.Request(line.rstrip("\n"), dont_filter=True)

    def parse(self, response):
        global ok
        ok += response.status == 200


process = CrawlerProcess({
    "CONCURRENT_REQUESTS": n, "CONCURRENT_REQUESTS_PER_DOMAIN": n, "ROBOTSTXT_OBEY": False, "LOG_ENABLED": False,
    "COOKIES_ENABLED": False, "RETRY_ENABLED": False, "TELNETCONSOLE_ENABLED": False, "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7"})
process.crawl(Spider)
process.start()
print(ok)
