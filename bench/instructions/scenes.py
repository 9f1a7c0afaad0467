# SPDX-License-Identifier: Apache-2.0
"""What is counted: `seine fetch` of a list of pages and `seine crawl` of a site, each with few and with many pages."""
import shutil

from clients import count_good
from growth import Made
from valgrind import Failed

FEW, MANY = 500, 2500  # the difference, 2,000 pages, is what is divided: start and end of the program cancel out
IN_FLIGHT = 64  # of 1, 8 and 64 this moves least when the machine is busy


class Scene:
    """`unit` is what a figure is for. The site has pages of so many `bytes` with so many `links`."""
    name, unit, bytes, links = "", "", 0, 0

    def words(self, folder, url, pages):
        raise NotImplementedError


class Fetch(Scene):
    name, unit, bytes, links = "fetch", "request", 2048, 0

    def words(self, folder, url, pages):
        (folder / "urls.txt").write_text("".join(f"{address(url, n)}\n" for n in range(pages)), encoding="ascii")
        return ["fetch", "-i", "urls.txt"]


class Crawl(Scene):
    name, unit, bytes, links = "crawl", "page", 10240, 30

    def words(self, folder, url, pages):
        return ["crawl", url, "--no-job", "-l", "off", "--sitemap", "off", "--pattern-budget", "off"]


SCENES = {scene.name: scene for scene in (Fetch(), Crawl())}


def letters(n, count):
    """Spells the lowest bits of n with `count` letters, four bits each, as bench/peers/site.c does."""
    return "".join(chr(ord("a") + (n >> 4 * i & 15)) for i in reversed(range(count)))


def address(first, n):
    """The URL of page n, from the URL of page 0."""
    return f"{first.rsplit('/', 2)[0]}/{letters(n >> 8, 5)}/{letters(n, 2)}.html"


def once(scene, program, folder, pages, in_flight, count):
    """Counts one run. The run counts if the server gave `pages` pages and nothing else, and the records say the same."""
    work = folder / "run"
    work.mkdir()
    server = Made("serve", pages, scene.bytes, scene.links)
    try:
        words = [program, *scene.words(work, server.url, pages), "--mine", "-c", in_flight, "--threads", 1, "-o", "out.jsonl", "--overwrite",
                 "--progress", "off", "-q"]
        instructions = count(words, work)
        good = count_good(work / "out.jsonl")
    finally:
        seen = server.end()
        shutil.rmtree(work, ignore_errors=True)
    if (seen["pages"], seen["others"], good) != (pages, 0, pages):
        raise Failed(f"{good:,} good records of {pages:,}, the server gave {seen['pages']:,} pages and {seen['others']:,} other answers")
    return instructions


def each(scene, program, folder, o, count):
    """One round: a small run and a large run; what one page more costs."""
    few = once(scene, program, folder, o.few, o.in_flight, count)
    many = once(scene, program, folder, o.many, o.in_flight, count)
    return {"few": few, "many": many, "each": round((many - few) / (o.many - o.few), 1)}
