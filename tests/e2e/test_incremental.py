#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Incremental crawls: a job that comes back asks what has changed, and says so once for every URL."""
import collections
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from changing_site import Page, changing_site  # noqa: E402
from e2e import PROGRAM, SEED, UNHURRIED, case, check, environment, finish, rows, seine, until  # noqa: E402

DICE = random.Random(SEED)
DURABLE = {"SEINE_DURABILITY": "full"}
FAST = ("--host-rate", "2000/s", "--per-host", "16", "--per-ip", "off", "--no-adaptive", "-l", "off", "--backoff", "5ms..20ms", "--retries", "1", "--fail-on", "none", *UNHURRIED)
EVERY = ("--incremental", "--revisit", "0s", *FAST)


def crawl(where, site, *words, env=None):
    return seine("crawl", site.base + "/", *words, cwd=where, env={**DURABLE, **(env or {})})


def records(where, name="all.jsonl"):
    with open(os.path.join(where, name), encoding="utf-8") as f:
        return [json.loads(line) for line in f]


class Rounds:
    """Runs rounds of one job and returns the records of each."""

    def __init__(self, where, site):
        self.where, self.site, self.read = where, site, 0

    def run(self, *words, options=EVERY, code=0):
        self.site.forget()
        self.last = crawl(self.where, self.site, *options, *words, "-o", "all.jsonl")
        check(self.last.code, code, self.last.err)
        new = records(self.where)[self.read:]
        self.read += len(new)
        return [r for r in new if r["type"] != "summary"]

    def changes(self, *words, **more):
        """Path and change of each result; a failure has none."""
        base = self.site.base
        return collections.Counter((r["url"][len(base):], r.get("change")) for r in self.run(*words, **more) if r["type"] == "result")


def rounds(site):
    where = tempfile.TemporaryDirectory()
    job = Rounds(where.name, site)
    job.keep = where
    return job


def pairs(**by):
    return collections.Counter((path, change or None) for change, paths in by.items() for path in paths)


TREE = {"/": ["/a", "/b", "/moved"], "/a": ["/a/1", "/a/2"], "/b": ["/b/1"], "/a/1": [], "/a/2": [], "/b/1": []}


def tree():
    table = {path: Page(f"page {path}", links) for path, links in TREE.items()}
    table["/moved"] = Page(to="/target")
    table["/target"] = Page("where it went")
    return table


@case
def an_edit_script_over_five_runs_is_told_exactly():
    with changing_site(tree()) as site:
        job = rounds(site)
        every = {*TREE, "/moved", "/target"}
        check(job.changes(), pairs(new=every), "run 1")
        check(job.changes(), pairs(same=every), "run 2: nothing was edited")

        site.edit("/b/1", words="edited")
        site.edit("/a", links=["/a/1", "/a/2", "/a/3"])
        site.edit("/a/3", words="a new page")
        check(job.changes(), pairs(changed=["/b/1", "/a"], new=["/a/3"], same=every - {"/b/1", "/a"}), "run 3: two edits and a page more")

        site.remove("/a/2")
        site.edit("/b", status=503)
        site.edit("/moved", to="/a/1")
        got = job.changes(code=0)
        check(got, pairs(gone=["/a/2"], changed=["/moved"], same=every - {"/a/2", "/b", "/moved"} | {"/a/3"}) + collections.Counter({("/b", None): 1}),
              "run 4: a page is gone, a hub fails, a redirect leads elsewhere")

        site.edit("/b", status=200)
        site.edit("/a/2", words="back again")
        want = pairs(new=["/a/2"], same=every - {"/a/2"} | {"/a/3"})
        check(job.changes(), want, "run 5: the hub is back with the text it had, and so is the page")


@case
def children_of_unchanged_and_of_failing_hubs_stay():
    with changing_site(tree()) as site:
        job = rounds(site)
        job.changes()
        site.edit("/", status=500)
        site.edit("/a", status=503)
        site.edit("/a/1", words="edited behind a failing hub")
        site.edit("/b/1", words="edited behind an unchanged hub")
        got = job.changes()
        check({p: c for p, c in got if c != "same"}, {"/": None, "/a": None, "/a/1": "changed", "/b/1": "changed"}, "all were visited")
        check(sum(got.values()), len(TREE) + 2, "each once")


def orphans(job):
    """What `seine jobs orphans` lists, as paths."""
    names = os.listdir(os.path.join(job.where, ".seine"))
    r = seine("jobs", "orphans", names[0], cwd=job.where)
    check((r.code, len(names)), (0, 1), r.err)
    return sorted(line[len(job.site.base):] for line in r.out.splitlines())


@case
def pages_that_nothing_names_any_more_are_orphans():
    table = tree()
    table["/self"] = Page("it names itself alone", ["/self", "/self#top"])
    table["/"] = Page("root", [*TREE["/"], "/self"])
    with changing_site(table) as site:
        job = rounds(site)
        job.run()
        check(orphans(job), [], "run 1: all were found")
        job.run()
        check(orphans(job), [], "run 2: links of unchanged pages count")
        site.edit("/a", links=["/a/2"])
        site.edit("/", links=TREE["/"])
        site.edit("/b", status=503)
        got = job.changes()
        check(got[("/a/1", "same")], 1, "run 3: it is visited all the same")
        check(orphans(job), ["/a/1", "/self"], "links of the failing hub count, and a page does not name itself")
        site.edit("/moved", to="/a/1")
        site.remove("/a")
        job.run()
        check(orphans(job), ["/a/2", "/self", "/target"], "run 4: a redirect names its target; a page that is gone names nothing")
        site.edit("/moved", to="/target")
        site.remove("/self")
        site.edit("/", links=[*TREE["/"], "/a/1", "/a/2"])
        job.run()
        check(orphans(job), [], "run 5: all are named again, or gone")


def told(found):
    """Events of orphans, as path and round."""
    return sorted((r["data"]["url"][len("http://" + r["host"]):], r["data"]["round"]) for r in found if r["type"] == "event" and r["event"] == "page.orphan")


@case
def with_events_the_run_that_ends_a_round_tells_its_orphans():
    with changing_site(tree()) as site:
        job = rounds(site)
        check(told(job.run("--events")), [], "round 1: all were found")
        begun = time.time()
        site.edit("/", links=["/b", "/moved"])
        site.edit("/b", words="edited")
        check(told(job.run()), [], "round 2: nobody asks for events")
        check(orphans(job), ["/a"])
        found = job.run("--events")
        check(told(found), [("/a", 3)], "round 3: still one, and nobody else")
        event = [r for r in found if r["type"] == "event" and r["event"] == "page.orphan"][0]
        check(sorted(event), ["data", "event", "host", "job", "seq", "ts", "type", "v"])
        check(("http://" + event["host"], sorted(event["data"])), (site.base, ["changed", "round", "seen", "url"]))
        stamps = [event["data"]["changed"], time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(begun)), event["data"]["seen"], event["ts"]]
        check(stamps[0] <= stamps[2] <= stamps[3] and stamps[1] <= stamps[2], True, f"asked for in this round, unchanged since the first: {stamps}")
        check([r["seq"] for r in found], sorted({r["seq"] for r in found}), "numbers rise, and none is there twice")
        site.remove("/a")
        check(told(job.run("--events")), [("/a/1", 4), ("/a/2", 4)], "round 4: a page that is gone is none, and names nothing")
        check(orphans(job), ["/a/1", "/a/2"], "as the job lists them")
        site.edit("/", links=["/a/1", "/a/2", "/b", "/moved"])
        check(told(job.run("--events")), [], "round 5: they are named again")


@case
def depth_and_parent_follow_the_links_of_the_last_round():
    with changing_site(tree()) as site:
        job = rounds(site)

        def places():
            return {r["url"][len(site.base):]: (r["depth"], (r.get("parent") or "")[len(site.base):]) for r in job.run() if r["type"] == "result"}

        first = places()
        check((first["/"], first["/a/1"], first["/a/2"], first["/b/1"], first["/target"]),
              ((0, ""), (2, "/a"), (2, "/a"), (2, "/b"), (1, "/moved")), "run 1")
        check(places(), first, "run 2: nothing was edited")
        site.edit("/", links=[*TREE["/"], "/a/1"])
        site.edit("/a", links=["/a/1"])
        site.edit("/a/1", links=["/a/2"])
        site.edit("/b", status=503)
        places()
        got = places()
        check((got["/a/1"], got["/a/2"], got["/b/1"]), ((1, "/"), (2, "/a/1"), (2, "/b")), "a shorter way, another page, a page that fails")
        check({p: got[p] for p in ("/", "/a", "/moved", "/target")}, {p: first[p] for p in ("/", "/a", "/moved", "/target")}, "the others stay")
        site.edit("/", links=TREE["/"])
        site.edit("/a/1", links=[])
        places()
        got = places()
        check((got["/a/1"], got["/a/2"]), ((2, "/a"), (2, "/a/1")), "a longer way; an orphan stays where it was found")


STEPS = ("round.forgotten", "round.depths", "round.written", "round.begun", "recover.replayed", "out.synced", "db.begin", "db.commit.before", "db.commit.after",
         "sink.committed", "stop.drained")


@rows([(step,) for step in STEPS])
def links_orphans_and_depths_survive_a_kill_at_each_step(step):
    with changing_site(tree()) as site:
        job = rounds(site)

        def killed_then_run():
            r = crawl(job.where, site, *EVERY, "-o", "all.jsonl", env={"SEINE_CRASH": step})
            check(r.code in (-9, 137), True, f"it was not killed: {r.code} {r.err}")
            return {r["url"][len(site.base):]: (r["depth"], (r.get("parent") or "")[len(site.base):]) for r in job.run() if r["type"] == "result"}

        places = {r["url"][len(site.base):]: (r["depth"], (r.get("parent") or "")[len(site.base):]) for r in job.run() if r["type"] == "result"}
        site.edit("/", links=[*TREE["/"], "/a/1"])
        site.edit("/a", links=["/a/1"])
        check(killed_then_run(), places, "round 2: places are those of round 1")
        check(orphans(job), ["/a/2"], "nothing names it any more")
        places["/a/1"] = (1, "/")
        check(killed_then_run(), places, "round 3: a shorter way, and an orphan stays where it was found")
        check(orphans(job), ["/a/2"], "still")
        site.edit("/b/1", links=["/a/2"])
        killed_then_run()
        check(orphans(job), [], "round 4: a page names it again")
        places["/a/2"] = (3, "/b/1")
        check(killed_then_run(), places, "round 5: by the page that names it")


END_STEPS = ("orphans.written", "out.append.half", "out.append", "out.synced", "db.begin", "db.commit.before", "db.commit.after", "sink.committed", "stop.drained",
             "stop.flushed")


@rows([(step,) for step in END_STEPS])
def each_orphan_is_told_once_in_a_round_that_is_killed_at_each_step(step):
    """The n-th round is killed when it comes to the step for the n-th time, and, when it goes on, once its orphans are written."""
    with changing_site(tree()) as site, tempfile.TemporaryDirectory() as where:
        def run(crash):
            r = crawl(where, site, *EVERY, "--events", "-o", "all.jsonl", "-o", "all.jsonl.gz", env={"SEINE_CRASH": crash} if crash else None)
            check(r.code in (0, -9, 137), True, f"{r.code} {r.err}")
            return r.code != 0

        check(run(""), False)
        site.edit("/", links=["/b", "/moved"])
        site.edit("/a", links=[])
        n = 1
        while run(f"{step}@{n}"):
            run("orphans.written")
            run("")
            n += 1
        lines = records(where)
        last = max(r["data"]["round"] for r in lines if r["type"] == "event" and r["event"] == "page.orphan")
        check(n > 1, True, "it was killed at least once")
        check(told(lines), sorted((path, number) for path in ("/a", "/a/1", "/a/2") for number in range(2, last + 1)))
        check(last >= n, True, f"{n} runs ended a round, or began one")
        with gzip.open(os.path.join(where, "all.jsonl.gz"), "rt", encoding="utf-8") as f:
            check([json.loads(line) for line in f] == lines, True, "packed, too")


@case
def more_orphans_than_a_buffer_holds_are_cut_off_after_a_kill_and_told_again():
    words = random.Random(2)
    paths = [f"/page/{i}" for i in range(3000)]
    table = {path: Page(" ".join("".join(words.choices("abcdefghijklmnop", k=6)) for _ in range(40))) for path in paths}
    table["/"] = Page("root", paths)
    with changing_site(table) as site, tempfile.TemporaryDirectory() as where:
        check(crawl(where, site, *EVERY, "--events", "-o", "all.jsonl").code, 0)
        site.edit("/", links=[])
        r = crawl(where, site, *EVERY, "--events", "-o", "all.jsonl", env={"SEINE_CRASH": "orphans.written"})
        check(r.code in (-9, 137), True, f"it was not killed: {r.code} {r.err}")
        with open(os.path.join(where, "all.jsonl"), encoding="utf-8") as f:
            check(f.read().count('"page.orphan"') > 0, True, "some lines were in the file, and not committed")
        r = crawl(where, site, *EVERY, "--events", "-o", "all.jsonl")
        check(r.code, 0, r.err)
        check(collections.Counter(told(records(where))) == collections.Counter((path, 2) for path in paths), True, "each once")


@case
def what_a_sitemap_names_is_no_orphan():
    table = {"/": Page("root", ["/a", "/b"]), "/a": Page("a"), "/b": Page("b"), "/sitemap.xml": Page(kind="application/xml")}
    with changing_site(table) as site:
        def name(*paths):
            site.edit("/sitemap.xml", words="<urlset>" + "".join(f"<url><loc>{site.base}{path}</loc></url>" for path in paths) + "</urlset>")

        name("/", "/a", "/b")
        job = rounds(site)
        job.run()
        site.edit("/", links=[])
        job.run()
        check(orphans(job), [], "both are in the sitemap")
        name("/", "/a")
        job.run()
        check(orphans(job), ["/b"])


@case
def a_run_without_edits_costs_a_twentieth_of_the_first():
    words = random.Random(1)
    text = lambda: " ".join("".join(words.choices("abcdefghijklmnop", k=6)) for _ in range(40))  # noqa: E731, a site that says something
    pages = {f"/{i}": Page(text(), [f"/{n}" for n in (2 * i + 1, 2 * i + 2) if n < 2000], size=10000) for i in range(2000)}
    pages["/"] = Page("root", ["/0"])
    with changing_site(pages) as site:
        job = rounds(site)
        check(len(job.run()), 2001, "pages")
        first = site.bytes()
        got = job.run()
        check(collections.Counter(r.get("change") for r in got), {"same": 2001}, "nothing was edited")
        check(site.bytes() <= first / 20, True, f"{site.bytes()} bytes after {first}")
        check(max(collections.Counter(site.paths()).values()), 1, "each is asked for once")


@case
def validators_go_to_their_own_url_alone():
    with changing_site(tree()) as site:
        job = rounds(site)
        job.run()
        check([r.path for r in site.asked if "if-none-match" in r.fields or "if-modified-since" in r.fields], [], "the first run has none")
        site.edit("/a", to="/b/1")  # a page that was there redirects to another one
        job.run()
        asked = {r.path: r for r in site.asked}
        for path in TREE:
            check("if-none-match" in asked[path].fields and "if-modified-since" in asked[path].fields, True, path)
        check(asked["/a"].fields["if-none-match"] != asked["/b/1"].fields["if-none-match"], True, "each its own")
        check("if-none-match" in asked["/moved"].fields, False, "a redirect has none")
        job.run()
        check("if-none-match" in {r.path: r for r in site.asked}["/a"].fields, False, "nor has a page that became one")
        job.run("--refresh")
        check({r.status for r in site.asked if r.path in TREE and r.path != "/a"}, {200}, "--refresh asks for whole pages")
        job.run("-H", "Accept-Language: de")
        check([r.path for r in site.asked if "if-none-match" in r.fields], [], "what shapes the response is another header")
        job.run("-H", "Accept-Language: de")
        check("if-none-match" in {r.path: r for r in site.asked}["/"].fields, True, "now it is the same")
        job.run("-H", "Accept-Language: de", "-H", "If-None-Match: \"mine\"")
        check({r.fields["if-none-match"] for r in site.asked if r.path in TREE}, {'"mine"'}, "a condition of the user's own stands")


@case
def a_server_that_has_dates_alone_is_believed_when_they_are_old_enough():
    table = {"/": Page("root", ["/old", "/young"]), "/old": Page("old", validators="date"), "/young": Page("young", validators="date")}
    table["/young"] = lambda path, fields: Page("young", validators="date", modified=time.time())
    with changing_site(table) as site:
        job = rounds(site)
        job.run()
        job.run()
        asked = {r.path: r for r in site.asked}
        check(asked["/old"].status, 304)
        check("if-modified-since" in asked["/young"].fields, False, "it may have changed twice in that second")


@case
def a_server_that_says_304_unasked_is_asked_once_more():
    asked = []

    def liar(path, fields):
        asked.append(fields)
        return Page("a page", status=304 if len(asked) == 2 else 200, validators="")

    with changing_site({"/": Page("root", ["/liar"]), "/liar": liar}) as site:
        job = rounds(site)
        job.run()
        check(job.changes(), pairs(same=["/", "/liar"]))
        check(len(asked), 3)


@case
def what_is_not_due_is_left_alone_and_keeps_its_links():
    with changing_site(tree()) as site:
        job, every = rounds(site), {*TREE, "/moved", "/target"}
        options = ("--incremental", *FAST)
        check(job.changes(options=options), pairs(new=every), "run 1")
        site.edit("/b/1", words="edited")
        check(job.changes(options=options), collections.Counter(), "run 2: all are due in a day")
        check(site.paths(), [], "nothing was asked for")
        check("8 of them are not due" in job.last.err, True, job.last.err)
        site.edit("/b/1", words="edited")
        got = job.changes(options=("--incremental", "--revisit", "0s", *FAST))
        check(got, pairs(changed=["/b/1"], same=every - {"/b/1"}), "0s: all are due")


@case
def a_sitemap_that_names_a_newer_date_makes_a_page_due():
    table = tree()
    table["/sitemap.xml"] = Page(kind="application/xml")
    with changing_site(table) as site:
        def name(path, date):
            site.edit("/sitemap.xml", words='<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
                      f"<url><loc>{site.base}{path}</loc><lastmod>{date}</lastmod></url></urlset>")

        name("/a/1", "2020-01-01")
        job = rounds(site)
        options = ("--incremental", *FAST)
        job.run(options=options)
        check(job.changes(options=options), collections.Counter(), "its date is old")
        site.edit("/a/1", words="edited")
        name("/a/1", "2099-01-01")
        check(job.changes(options=options), pairs(changed=["/a/1"]), "its date is new")


@case
def a_newer_date_counts_while_seeds_still_come():
    table = tree()
    table["/sitemap.xml"] = Page(kind="application/xml")
    with changing_site(table) as site, tempfile.TemporaryDirectory() as where:
        def name(path, date):
            site.edit("/sitemap.xml", words=f"<urlset><url><loc>{site.base}{path}</loc><lastmod>{date}</lastmod></url></urlset>")

        def run():
            """The only seed is given when the sitemap was answered."""
            site.forget()
            p = subprocess.Popen([PROGRAM, "crawl", "-i", "-", "--job", "j", "--incremental", *FAST, "-o", "all.jsonl"], cwd=where, env=environment(DURABLE),
                                 stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            until(lambda: p.poll() is not None or not knows or any(r.path == "/sitemap.xml" for r in site.asked), "the sitemap")
            time.sleep(0.1)  # it is read; a seed that comes too early makes the case easier, not wrong
            _, err = p.communicate((site.base + "/\n").encode())
            check(p.returncode, 0, err)

        knows = False
        name("/a/1", "2020-01-01")
        run()
        knows = True
        site.edit("/a/1", words="edited")
        name("/a/1", "2099-01-01")
        run()
        check([r["url"][len(site.base):] for r in records(where) if r.get("change") == "changed"], ["/a/1"])


@case
def max_age_makes_a_page_due_later():
    table = {"/": Page("root", ["/long", "/short"]), "/long": Page("long", fields={"Cache-Control": "public, max-age=86400"}), "/short": Page("short")}
    with changing_site(table) as site:
        job = rounds(site)
        options = ("--incremental", "--revisit", "1ms", "--revisit-min", "0s", *FAST)
        job.run(options=options)
        check(job.changes(options=options), pairs(same=["/", "/short"]))


@case
def by_content_a_page_changes_with_its_words_and_not_with_its_numbers():
    table = {"/": Page("root", ["/clock", "/news"]), "/clock": Page("it is 12:30 on day 7", validators=""), "/news": Page("dog bites man", validators="")}
    with changing_site(table) as site:
        job = rounds(site)
        options = ("--change", "content", *EVERY)
        job.run(options=options)
        site.edit("/clock", words="it is 12:31 on day 18")
        site.edit("/news", words="man bites dog")
        check(job.changes(options=options), pairs(same=["/", "/clock"], changed=["/news"]))
        site.edit("/clock", words="it is 12:32 on day 19")
        check(job.changes(), pairs(same=["/", "/news"], changed=["/clock"]), "by bytes all counts")


@case
def only_changes_is_a_stream_of_them():
    with changing_site(tree()) as site, tempfile.TemporaryDirectory() as where:
        def stream():
            r = crawl(where, site, *EVERY, "--only-changes", "-o", "-")
            check(r.code, 0, r.err)
            return collections.Counter((o["url"][len(site.base):], o["change"]) for o in map(json.loads, r.out.splitlines()) if o["type"] != "summary")

        check(stream(), pairs(new={*TREE, "/moved", "/target"}))
        check(stream(), collections.Counter())
        site.edit("/a/1", words="edited")
        site.edit("/b", status=500)
        site.remove("/a/2")
        check(stream(), pairs(changed=["/a/1"], gone=["/a/2"]))


@case
def each_run_appends_to_its_outputs_and_may_have_others():
    with changing_site({"/": Page("root", ["/a"]), "/a": Page("a")}) as site, tempfile.TemporaryDirectory() as where:
        names = ("all.jsonl", "all.csv", "packed.jsonl.gz", "all.sqlite", "all.warc.gz")
        words = [w for name in names for w in ("-o", name)]
        check(crawl(where, site, *EVERY, *words).code, 0)
        site.edit("/a", words="edited")
        check(crawl(where, site, *EVERY, *words).code, 0)
        got = [r for r in records(where) if r["type"] == "result"]
        check([r["seq"] for r in got], [1, 2, 4, 5], "seq goes on")
        check(sorted(r["change"] for r in got), ["changed", "new", "new", "same"])
        with open(os.path.join(where, "all.csv"), encoding="utf-8") as f:
            check(sorted(line.strip().rpartition(",")[2] for line in f), ["change", "changed", "new", "new", "same"])
        r = seine("convert", "all.sqlite", "again.jsonl", cwd=where)
        check(r.code, 0, r.err)
        check(sorted(r["change"] for r in records(where, "again.jsonl") if r["type"] == "result"), ["changed", "new", "new", "same"])
        os.rename(os.path.join(where, "all.jsonl"), os.path.join(where, "old.jsonl"))
        check(crawl(where, site, *EVERY, *words).code, 0)
        check([r["change"] for r in records(where) if r["type"] == "result"], ["same", "same"], "one that was moved away begins anew")
        check(crawl(where, site, *EVERY, "-o", "other.jsonl").code, 0)
        check(len(records(where, "other.jsonl")), 3, "another name is fine in the next run")
        r = crawl(where, site, *EVERY, "-l", "2", "-o", "other.jsonl")
        check((r.code, "another --depth" in r.err), (2, True), r.err)


@case
def a_finished_crawl_becomes_incremental_later():
    with changing_site({"/": Page("root", ["/a"]), "/a": Page("a")}) as site:
        job = rounds(site)
        job.run(options=FAST)
        r = crawl(job.where, site, *FAST, "-o", "all.jsonl")
        check((r.code, "--incremental to visit it again" in r.err), (2, True), r.err)
        check(job.changes(), pairs(new=["/", "/a"]), "nothing was known of them")
        check(job.changes(), pairs(same=["/", "/a"]))


@case
def a_host_that_is_down_has_records_and_does_not_hold_the_next_run_up():
    with changing_site({"/": Page("root", ["/a"]), "/a": Page("a")}) as site:
        with changing_site({f"/{i}": Page(f"page {i}") for i in range(12)}, "127.0.0.2") as other:
            site.edit("/", links=["/a", *(f"{other.base}/{i}" for i in range(12))])
            job = rounds(site)
            options = (*EVERY, "-D", f"127.0.0.2:{other.port},127.0.0.2", "--retries", "0", "--breaker", "fail=2,open=10ms,park=1")
            check(len(job.run(options=options)), 14)
        got = {r["url"]: r.get("change", r.get("outcome")) for r in job.run(options=options, code=5)}
        check(got.pop(site.base + "/a"), "same")
        check(got.pop(site.base + "/"), "same")
        check((len(got), set(got.values()) <= {"gave_up", "network_error"}, "gave_up" in got.values()), (12, True, True), f"{got}")
        site.edit("/a", words="edited")
        got = {r["url"]: r.get("change") for r in job.run(options=options, code=5)}
        check(got[site.base + "/a"], "changed", "the next round has begun")


@case
def budgets_hold_in_every_round():
    with changing_site(tree()) as site:
        job = rounds(site)
        options = (*EVERY, "-n", "3")
        first = job.run(options=options)
        check(sum(r["type"] == "result" for r in first), 3)
        second = job.run(options=options)
        check(sum(r["type"] == "result" for r in second), 3, "so in the second")
        check(sum(r["type"] == "skip" and r["reason"] == "budget" for r in second) > 0, True, "and the others are told")


def many():
    table = {f"/{i}": Page(f"page {i}", [f"/{n}" for n in (3 * i + 1, 3 * i + 2, 3 * i + 3) if n < 120]) for i in range(120)}
    return {"/": Page("root", ["/0"]), **table}


def edit_many(site):
    """The script of one round: what each URL is told to be."""
    want = {path: "same" for path in site.table}
    for i in range(0, 120, 7):
        site.edit(f"/{i}", words=f"page {i}, edited at {random.random()}")
        want[f"/{i}"] = "changed"
    for i in range(100, 104):
        if f"/{i}" in site.table:
            site.remove(f"/{i}")
            want[f"/{i}"] = "gone"
    return collections.Counter(want.items())


POINTS = ("recover.locked", "round.begun", "recover.replayed", "recover.done", "out.append", "out.synced@2", "db.begin@2", "db.commit.before@2",
          "db.commit.after@2", "sink.committed@2", "db.commit.before@3")


@rows([(point,) for point in POINTS])
def a_round_killed_at_a_commit_point_tells_every_change_once(point):
    with changing_site(many()) as site:
        job = rounds(site)
        job.run()
        want = edit_many(site)
        r = crawl(job.where, site, *EVERY, "-o", "all.jsonl", env={"SEINE_CRASH": point})
        check(r.code in (-9, 137), True, f"it was not killed: {r.code} {r.err}")
        got = job.changes()
        check(got, want, f"killed at {point}")
        check(job.changes(), collections.Counter({(path, "same"): 1 for path in site.table}) + collections.Counter(
            {(path, None): 1 for (path, change) in want if change == "gone"}), "and the round after")


@case
def a_round_killed_at_random_moments_tells_every_change_once():
    with changing_site(many()) as site:
        job = rounds(site)
        job.run()
        want = edit_many(site)
        words = [os.path.abspath(PROGRAM), "crawl", site.base + "/", *EVERY, "-o", "all.jsonl"]
        for _ in range(6):
            p = subprocess.Popen(words, cwd=job.where, env=environment(DURABLE), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            had = len(site.asked)
            more = DICE.randrange(1, 20)
            until(lambda: len(site.asked) > had + more or p.poll() is not None, "a few requests")  # pylint: disable=cell-var-from-loop
            done = p.poll() is not None
            p.kill()
            p.wait()
            if done:
                break
        if not done:
            crawl(job.where, site, *EVERY, "-o", "all.jsonl")
        base = site.base
        got = collections.Counter((r["url"][len(base):], r.get("change")) for r in records(job.where)[job.read:] if r["type"] == "result")
        check(got, want, f"seed {SEED}")


@case
def a_plan_lists_what_a_run_would_ask_for_and_asks_for_nothing():
    with changing_site(tree()) as site:
        job = rounds(site)
        r = crawl(job.where, site, "--incremental", *FAST, "--plan")
        check((r.code, r.out.split(), os.listdir(job.where)), (0, [site.base + "/"], []), "no job yet: the seed")
        job.run(options=("--incremental", *FAST))
        site.forget()
        for options, paths in ((EVERY, {*TREE, "/moved", "/target", "/sitemap.xml"}), (("--incremental", *FAST), {"/sitemap.xml"})):
            r = crawl(job.where, site, *options, "--plan", "-o", "all.jsonl")
            check((r.code, sorted(r.out.split())), (0, sorted(site.base + p for p in paths)), r.err)
        check("1 URL would be asked for, 8 not due" in r.err, True, r.err)
        r = crawl(job.where, site, *EVERY, "--host-rate", "2/s", "--plan", "-o", "all.jsonl")
        had = [x["bytes_in"] for x in records(job.where) if x["type"] == "result"]
        n = len(r.out.split())
        cost = re.search(r"seine: about ([0-9.]+) B, by what the last answers had; ([0-9.]+) s or longer at --host-rate", r.err)
        check(cost is not None, True, r.err)
        check((abs(float(cost[1]) - sum(had) / len(had) * n) <= 1, float(cost[2])), (True, (n - 1) / 2), f"{r.err} {had}")
        check(site.asked, [])
        check(len(job.run()), 8, "the plan has changed nothing")


@rows([("robots.txt, sitemaps, seeds", (), "2 seeds on 1 host: first robots.txt, then the sitemaps that it names, or /sitemap.xml, and the seeds, then"),
       ("no sitemaps", ("--sitemap", "off"), "2 seeds on 1 host: first robots.txt, then the seeds, then"),
       ("no robots.txt", ("--robots", "off"), "2 seeds on 1 host: first the seeds, then"),
       ("the bounds", ("--scope", "domain", "--depth", "1", "--max-pages", "2000"), "scope domain, 1 link deep, at most 2,000 pages; 1,000 pages of a host take "),
       ("the pace", ("--host-rate", "2/s"), "1,000 pages of a host take 8 min 20 s or longer at --host-rate"),
       ("whom the rules refuse", (), "ftp://e.example/ would be skipped: scheme: neither http nor https")])
def a_plan_of_a_first_run_says_what_can_be_known(_, words, said):
    with tempfile.TemporaryDirectory() as where:
        r = seine("crawl", "localhost:8080/a#b", "http://localhost:8080/c", "ftp://e.example/", "--incremental", "--plan", *words, cwd=where, env=DURABLE)
        check((r.code, r.out.split(), os.listdir(where)), (0, ["http://localhost:8080/a", "http://localhost:8080/c"], []), r.err)
        check(said in r.err, True, r.err)


@case
def a_plan_without_a_seed_that_would_be_asked_for_is_a_mistake():
    with tempfile.TemporaryDirectory() as where:
        r = seine("crawl", "http://e.example/x", "--exclude", "/x", "--incremental", "--plan", cwd=where, env=DURABLE)
        check((r.code, r.out, "would be skipped: pattern" in r.err), (2, "", True), r.err)


@case
def options_of_an_incremental_crawl_need_one():
    with changing_site({"/": Page("root")}) as site, tempfile.TemporaryDirectory() as where:
        for words in (("--only-changes",), ("--refresh",), ("--revisit", "1h"), ("--change", "content"), ("--plan",)):
            r = crawl(where, site, *FAST, *words)
            check((r.code, f"{words[0]} needs --incremental" in r.err), (2, True), r.err)
        for words in (("--no-job",), ("--durability", "none")):
            r = crawl(where, site, *EVERY, *words)
            check((r.code, "--incremental needs a job" in r.err), (2, True), r.err)
        check(site.asked, [])


finish(at_once=4)
