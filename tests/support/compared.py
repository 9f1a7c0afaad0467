# SPDX-License-Identifier: Apache-2.0
"""docs/user/compared.md: the commands of other programs for the tasks of the cookbook, and how one sees that a task is done.

    for number, title, commands in TASKS:
        script = commands.get("curl")      # None: it cannot do that
        …
        DONE[number](ran)                  # of what cookbook.Sites.run returned
"""
import os
import re

from cookbook import PDF, RECIPES
from e2e import ROOT

PAGE = os.path.join(ROOT, "docs", "user", "compared.md")
PEERS = ("curl", "wget2", "scrapy")
SPIDER = "cat > spider.py <<'END'\n{}END\n"


def read_tasks():
    """[(number, title, {program: script})]; a spider of the page is written to spider.py before its command."""
    with open(PAGE, encoding="utf-8") as f:
        sections = re.findall(r"^## (\d+)\. ([^\n]+)\n(.*?)(?=^## |\Z)", f.read(), re.M | re.S)
    own = {number: script for number, _, script in RECIPES}
    tasks = []
    for number, title, body in sections:
        spider = re.search(r"^```python spider\n(.*?)^```$", body, re.M | re.S)
        commands = {"seine": own[int(number)], **dict(re.findall(r"^```sh (curl|wget2|scrapy)\n(.*?)^```$", body, re.M | re.S))}
        if spider:
            commands["scrapy"] = SPIDER.format(spider[1]) + commands["scrapy"]
        tasks.append((int(number), title, commands))
    return tasks


TASKS = read_tasks()


def text_of(ran, end):
    """The text of the files whose names end so."""
    texts = []
    for name, path in sorted(ran.files.items()):
        if name.endswith(end):
            with open(path, "rb") as f:
                texts.append(f.read().decode("utf-8", "replace"))
    return "\n".join(texts)


def has_files(*ends):
    return lambda ran: all(any(name.endswith(end) for name in ran.files) for end in ends)


def asked(*paths):
    return lambda ran: set(paths) <= {path for _, path in ran.seen}


def says(*words):
    return lambda ran: all(word in ran.out + ran.err for word in words)


THREE = ("/manual/one.html", "/prices.html", "/post.html")
DONE = {
    1: lambda ran: all(f"{path}" in text_of(ran, "pages.csv") for path in THREE),
    2: lambda ran: all(title in ran.out + text_of(ran, "titles.csv") for title in ("One", "Prices", "Post")),
    3: has_files("pages/one.html", "pages/prices.html", "pages/post.html"),
    4: lambda ran: has_files("manual/index.html", "style.css", "dot.gif")(ran) and 'src="dot.gif"' in text_of(ran, "manual/index.html"),
    5: lambda ran: "gone.html" in ran.out + text_of(ran, "links.csv"),
    6: says('{"hello": "Ada"}'),
    7: says("welcome"),
    8: lambda ran: ("docs.example", "/") not in ran.seen,
    9: lambda ran: asked(*THREE)(ran) and ran.seconds >= 1,
    10: asked("/manual/one.html", "/post.html"),
    11: lambda ran: PDF.decode() in text_of(ran, ".pdf"),
    12: lambda ran: "cod,3" in text_of(ran, "prices.csv").replace("\r", ""),
    13: says("404|1"),
    14: has_files("docs.warc.gz"),
    15: lambda ran: asked("/prices.html")(ran) and not asked("/manual/")(ran),
    16: lambda ran: ran.out == "gone: https://docs.example/gone.html\n",
    17: lambda ran: ran.code != 0,
    18: lambda ran: ran.proxied == ["docs.example:443"] and asked("/")(ran),
    19: says("HTTP/1.1 200"),
    20: lambda ran: ran.code == 0 and asked("/")(ran),
}
