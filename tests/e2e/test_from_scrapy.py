#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/user/from-scrapy.md give the items that stand beside them; with SOAK, the spiders do, too."""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from cookbook import sites  # noqa: E402
from e2e import ROOT, SOAKED, Skip, case, check, finish, rows  # noqa: E402

with open(os.path.join(ROOT, "docs", "user", "from-scrapy.md"), encoding="utf-8") as f:
    PAIRS = re.findall(r"^## (\d)\. ([^\n]+)\n.*?^```python spider\n(.*?)^```\n```yaml recipe\n(.*?)^```\n```json items\n(.*?)^```$", f.read(), re.M | re.S)


def lines(text):
    """The items of JSON lines, in no order."""
    return sorted((json.loads(line) for line in text.splitlines()), key=lambda item: json.dumps(item, sort_keys=True))


def run(name, text, command):
    with sites() as there, tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            out.write(text)
        return there.run(command, folder)


@rows(PAIRS, name=lambda row: row[1])
def a_recipe_gives_the_items_of_its_spider(_, title, spider, recipe, items):
    r = run("r.yaml", recipe, "seine run r.yaml --flat")
    check((r.code, lines(r.out)), (0, lines(items)), r.err)
    check(len(recipe.splitlines()) < len(spider.splitlines()), True, title)


@rows(PAIRS if SOAKED else [], name=lambda row: row[1])
def a_spider_gives_the_items_of_its_recipe(_number, _title, spider, _recipe, items):
    if subprocess.run(["/usr/bin/python3", "-c", "import scrapy"], capture_output=True).returncode != 0:
        raise Skip("python3-scrapy is not installed: make deps-bench")
    r = run("s.py", spider, "/usr/bin/python3 -m scrapy runspider s.py -s LOG_LEVEL=ERROR -O s.jsonl 1>&2 && cat s.jsonl")
    check((r.code, lines(r.out)), (0, lines(items)), r.err)


@case
def there_are_five_pairs():
    check(len(PAIRS), 5)


finish(at_once=2)
