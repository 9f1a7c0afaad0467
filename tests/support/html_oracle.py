# SPDX-License-Identifier: Apache-2.0
"""The values of pages as html5lib and lxml find them: lines of {url, body_b64, charset} in, lines of {field: [value]} out.

Run by /usr/bin/python3, for which Debian has html5lib and lxml. The fields are those of tests/e2e/test_data.py, as XPath.
"""
import base64
import json
import sys
import urllib.parse

import html5lib

NAMES = {"h": "http://www.w3.org/1999/xhtml"}
FIELDS = {
    "h1": "//h:h1",
    "price": "//*[contains(concat(' ', normalize-space(@class), ' '), ' price ')]",
    "hrefs": "//h:a/@href",
    "first": "//h:td[not(preceding-sibling::*)]",
    "items": "//h:ul/h:li[@id]/@id",
    "alt": "//h:div//h:img[starts-with(@src, '/i')]/@alt",
    "description": "//h:meta[translate(@name, 'DESCRIPTON', 'descripton') = 'description']/@content",
}


def words(node):
    return " ".join("".join(node.itertext()).split())


def values_of(case):
    document = html5lib.parse(base64.b64decode(case["body_b64"]), treebuilder="lxml", transport_encoding=case["charset"])
    base = document.xpath("string(//h:base/@href)", namespaces=NAMES)
    base = urllib.parse.urljoin(case["url"], base)
    found = {name: document.xpath(path, namespaces=NAMES) for name, path in FIELDS.items()}
    data = {name: [str(v) if isinstance(v, str) else words(v) for v in all_of_it] for name, all_of_it in found.items()}
    data["hrefs"] = [urllib.parse.urljoin(base, link) for link in data["hrefs"]]
    return data


for line in sys.stdin:
    print(json.dumps(values_of(json.loads(line))))
