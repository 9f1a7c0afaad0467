# SPDX-License-Identifier: Apache-2.0
"""crawler.py URL N: follows the links of a site with Scrapy, N in flight, and prints how many pages were 200."""
import sys

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

start, n = sys.argv[1], int(sys.argv[2])
ok = 0


class Spider(scrapy.Spider):
    name = "bench"
    extractor = LinkExtractor()

    def start_requests(self):
        yield scrapy.Request(start)

    def parse(self, response):
        global ok
        ok += response.status == 200
        for link in self.extractor.extract_links(response):
            yield scrapy.Request(link.url)


process = CrawlerProcess({
    "CONCURRENT_REQUESTS": n, "CONCURRENT_REQUESTS_PER_DOMAIN": n, "ROBOTSTXT_OBEY": False, "LOG_ENABLED": False,
    "COOKIES_ENABLED": False, "RETRY_ENABLED": False, "TELNETCONSOLE_ENABLED": False, "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7"})
process.crawl(Spider)
process.start()
print(ok)
