#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`seine crawl` as its user sees it: options, records, progress, how it ends."""
import collections
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, patiently, rows, seine, until  # noqa: E402
from origin import origin, results, summary  # noqa: E402
from terminal import Terminal  # noqa: E402

FAST = ("--host-rate", "off", "--no-adaptive", "--per-host", "16", "--per-ip", "off", "--backoff", "5ms..20ms")
SITE = "7:60:fan=6:broken=5:redir=5:robots=15:sitemap=on"  # one host, at the root


def crawl(*words, **kw):
    return seine("crawl", *FAST, *words, **kw)


def start(*words):
    return subprocess.Popen([PROGRAM, "crawl", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())


def skips(out):
    return [r for r in results(out) if r["type"] == "skip"]


def reasons(out):
    return dict(collections.Counter(r["reason"] for r in skips(out)))


def truth(o, spec):
    lines = seine("chaos", "site", spec, "--list", "--base", o.base, "--dead-port", o.places["dead"].rsplit(":", 1)[1]).out
    return {t["url"]: t for t in map(json.loads, lines.splitlines())}


# Usage


@rows([
    (["--job", "docs", "--durability", "none"], "--durability none keeps no job", "leave --job out"),
    (["--fresh", "--resume"], "--fresh does not go with --resume", "one of the two"),
    (["--resume", "--no-job", "--durability", "full"], "--resume needs a job", "--job NAME"),
    (["--job", "a b", "--durability", "full"], "--job 'a b': not a name", "letters, digits"),
    (["--depth", "deep"], "--depth 'deep'", "--depth 3"),
    (["--depth", "-1"], "--depth '-1'", "--depth 3"),
    (["--scope", "galaxy"], "--scope 'galaxy': not one of the choices", "host|domain|prefix|any"),
    (["--no-parent", "--scope", "any"], "--no-parent is --scope prefix", "one of the two"),
    (["--robots", "maybe"], "--robots 'maybe'", "on|off|audit"),
    (["--sitemap", "all"], "--sitemap 'all'", "auto|only|off"),
    (["--include", "(unclosed"], "--include '(unclosed'", "seine crawl --help"),
    (["--exclude", "(a)\\1"], "--exclude '(a)\\1'", "seine crawl --help"),
    (["--accept-type", "text"], "'text' is no media type", "--accept-type text/html,image/*"),
    (["--accept-type", "text/html, x y"], "'x y' is no media type", "--accept-type text/html"),
    (["--domains", "http://x/"], "--domains 'http://x/'", "seine crawl --help"),
    (["--max-bytes", "much"], "--max-bytes 'much'", "64k"),
    (["--max-pages", "-1"], "--max-pages '-1'", "10"),
    (["--pattern-budget", "x"], "--pattern-budget 'x'", "10"),
    (["--max-crawl-delay", "off"], "--max-crawl-delay 'off'", "2s"),
    (["--fail-on", "some"], "--fail-on 'some'", "--fail-on none"),
    (["--breaker", "park=0"], "--breaker 'park=0'", "--breaker fail=5"),
    (["--ordered"], "unknown option '--ordered'", "seine crawl --help"),
    (["--method", "POST"], "unknown option '--method'", "seine crawl --help"),
    (["--dept", "3"], "unknown option '--dept'", "--depth"),
    (["--output", "pages.xml"], "pages.xml", "another name"),
], name=lambda row: " ".join(row[0]))
def one_line_one_hint_exit_2_and_nothing_sent(words, says, hint):
    with origin("--site", SITE) as o:
        r = seine("crawl", o.url("/p/0"), *words)
        check((r.code, r.out), (2, ""), r.err)
        lines = r.err.splitlines()
        check(len(lines), 2, r.err)
        check(says in lines[0] and lines[0].startswith("seine: "), True, r.err)
        check(hint in lines[1] and lines[1].startswith("try: "), True, r.err)
        check(o.log(), [])


@case
def without_seeds_there_is_nothing_to_crawl():
    r = seine("crawl", stdin="http://127.0.0.1:1/\n")  # standard input is not read unasked
    check((r.code, r.out, r.err.splitlines()[0]), (2, "", "seine: no seeds given"))


@case
def no_job_is_accepted_and_seeds_come_from_files_too():
    with origin("--site", "1:5") as o:
        for words, stdin in (([o.url("/p/0"), "--no-job"], ""), (["-i", "-"], o.url("/p/0") + "\n"), (["-"], o.url("/p/0") + "\n")):
            r = crawl(*words, stdin=stdin)
            check((r.code, summary(r.out)["ok"]), (0, 5), r.err)


@case
def examples_of_the_help_run():
    table = [json.loads(line) for line in seine("help", "--json").out.splitlines()]
    lines = [line for row in table if row["command"] == "crawl" for line in row.get("examples", [])]
    check(len(lines) >= 4, True)
    with origin("--site", "1:4:sitemap=on") as o:
        for line in lines:
            with tempfile.TemporaryDirectory() as where:
                path = os.path.abspath(os.path.dirname(PROGRAM)) + os.pathsep + os.environ["PATH"]
                line = line.replace("https://docs.example", o.base).replace("/manual/", "/p/0").split("| jq")[0] + " --host-rate off --no-adaptive --accept 200-299,404"
                p = subprocess.run(["bash", "-c", line], cwd=where, capture_output=True, stdin=subprocess.DEVNULL, env=environment({"PATH": path}), timeout=PATIENCE)
                check("done: " in p.stderr.decode() and p.returncode == 0, True, line + p.stderr.decode())


# What it finds


@case
def every_page_of_a_site_has_one_record_and_the_summary_balances():
    with origin("--site", SITE) as o:
        r = crawl(o.url("/p/0"))
        check(r.code, 1, r.err)  # the site has broken pages
        want, got = truth(o, SITE), results(r.out)
        check(sorted(x["url"] for x in got), sorted(want))  # none lost, none doubled, none made up
        for x in got:
            t = want[x["url"]]
            check((x["type"], x.get("reason"), x.get("outcome"), x.get("status")),
                  ("skip", "robots", None, None) if t["kind"] == "disallowed"
                  else ("result", None, "http_error" if t["kind"] == "broken" else "ok", t["status"]), x["url"])
        s = summary(r.out)
        check((s["command"], s["stopped_by"], s["exit_code"]), ("crawl", "done", 1))
        check(s["total"], s["ok"] + s["failed"] + s["blocked"] + s["skipped"] + s["pending"])
        check((s["total"], s["skipped"], s["skips"]), (60, len(skips(r.out)), {"robots": len(skips(r.out))}))
        check(o.report()["totals"].get("disallowed_hits", 0), 0)
        check(re.search(r"^done: (\d+) pages, \d+ ok, \d+ http_error \(404\), (\d+) skipped \(\2 robots\) in ", r.err, re.M) is not None, True, r.err)


@case
def a_record_says_where_its_page_was_found_and_what_it_is():
    with origin("--site", "7:9:fan=2") as o:
        r = crawl(o.url("/p/0"), "--sitemap", "off")
        by = {x["url"]: x for x in results(r.out)}
        seed, leaf = by[o.url("/p/0")], by[o.url("/p/8")]
        check((seed["depth"], "parent" in seed, seed["lang"]), (0, False, "en"))
        check(leaf["depth"] in (1, 2, 3) and leaf["parent"] in by and by[leaf["parent"]]["depth"] == leaf["depth"] - 1, True, str(leaf))
        check((leaf["via"]["tag"], leaf["via"]["attr"], leaf["via"]["line"] > 1), ("a", "href", True), str(leaf["via"]))
        check(leaf["links"] >= 1 and leaf["charset"] == "utf-8" and leaf["outcome"] == "ok", True)


@case
def a_redirect_is_a_link():
    with origin() as o:
        r = crawl(o.url("/redir:2/ok"), "--accept-type", "*/*", "--sitemap", "off", "--robots", "off")
        got = results(r.out)
        check([x["status"] for x in got], [302, 302, 200], r.out)
        check([x["ok"] for x in got], [True] * 3)
        check({x["depth"] for x in got}, {0})
        for x, then in zip(got, got[1:]):
            check((x["final_url"], x["redirects"]), (then["url"], [{"url": x["url"], "status": 302}]))
        check("3 pages, 3 ok in" in r.err, True, r.err)


@case
def depth_is_links_from_a_seed():
    with origin("--site", "7:400:fan=3") as o:
        for depth in (0, 1, 2):
            r = crawl(o.url("/p/0"), "-l", str(depth), "--sitemap", "off", "--robots", "off")
            pages = [x for x in results(r.out) if x["type"] == "result"]
            check({x["depth"] for x in pages}, set(range(depth + 1)))
            check(set(reasons(r.out)), {"depth"})
            check(all(x["depth"] == depth + 1 for x in skips(r.out)), True)
        check("try: a larger --depth than 2" in r.err, True, r.err)
        whole = crawl(o.url("/p/0"), "-l", "off", "--sitemap", "off", "--robots", "off")
        check((summary(whole.out)["ok"], reasons(whole.out)), (400, {}))


@case
def scope_and_patterns_say_what_was_left_out():
    with origin("--site", "7:60:hosts=3") as o:
        seed = o.url("/p/0", "127.1.0.1")
        r = crawl(seed)
        check({x["host"] for x in results(r.out) if x["type"] == "result"}, {"127.1.0.1"})
        check(set(reasons(r.out)), {"offsite"})
        check({x["rule"] for x in skips(r.out)}, {"--scope host"})
        check(re.search(r"skipped \(\d+ offsite\)", r.err) is not None, True, r.err)
        for words in (["--scope", "any"], ["-D", "127.1.0.2,127.1.0.3"], ["--domains", "127.1.0.*"]):
            r = crawl(seed, *words)
            check((summary(r.out)["ok"], reasons(r.out)), (60, {}), str(words) + r.err)
        r = crawl(seed, "--scope", "any", "--exclude", "/p/[0-9]*[13579]$")
        check(set(reasons(r.out)), {"pattern"})
        check(all(int(x["url"].rsplit("/", 1)[1]) % 2 == 0 for x in results(r.out) if x["type"] == "result"), True)
        r = crawl(seed, "--scope", "any", "--include", "/p/[1-9]$")
        check(sorted(int(x["url"].rsplit("/", 1)[1]) for x in results(r.out) if x["type"] == "result" )[:2], [0, 1])  # the seed need not match
        r = crawl(seed, "--scope", "any", "--no-skips")
        check(skips(r.out), [])


@case
def budgets_end_a_crawl_in_skips_and_exit_0():
    with origin("--site", "7:60") as o:
        r = crawl(o.url("/p/0"), "-n", "10")
        check((r.code, summary(r.out)["ok"], set(reasons(r.out))), (0, 10, {"budget"}), r.err)
        r = crawl(o.url("/p/0"), "--max-pages-per-host", "10")
        check((r.code, summary(r.out)["ok"], set(reasons(r.out))), (0, 10, {"budget"}), r.err)
        r = crawl(o.url("/p/0"), "--max-bytes", "5k")
        check(r.code == 0 and 1 <= summary(r.out)["ok"] < 60 and set(reasons(r.out)) == {"budget"}, True, r.err)
        r = crawl(o.url("/p/0"), "--pattern-budget", "10")  # pages with texts of their own
        check((r.code, summary(r.out)["ok"], reasons(r.out)), (0, 60, {}), r.err)


@case
def other_types_are_not_loaded():
    with origin() as o:
        r = crawl(o.url("/html:5"), o.url("/json"), "--robots", "off", "--sitemap", "off", "-l", "0")
        check([x["reason"] for x in skips(r.out)][:1], ["mime"], r.out)
        check("application/json" in skips(r.out)[0]["rule"], True)
        r = crawl(o.url("/json"), "--robots", "off", "--sitemap", "off", "--accept-type", "application/json")
        check(summary(r.out)["ok"], 1)


@case
def robots_are_obeyed_audited_or_not_asked():
    spec = "7:60:robots=20"
    with origin("--site", spec) as o:
        want = sum(t["kind"] == "disallowed" for t in truth(o, spec).values())
        check(want > 3, True)
        on = crawl(o.url("/p/0"), "--sitemap", "off")
        check(reasons(on.out), {"robots": want})
        check({x["rule"] for x in skips(on.out)}, {"robots.txt:2 Disallow: /x/"})
        check(o.log()[0]["path"], "/robots.txt")  # before anything else
        off = crawl(o.url("/p/0"), "--sitemap", "off", "--robots", "off")
        check((summary(off.out)["ok"], reasons(off.out)), (60, {}))
        audit = crawl(o.url("/p/0"), "--sitemap", "off", "--robots", "audit")
        check((summary(audit.out)["ok"], reasons(audit.out)), (60, {}))


@case
def fetch_obeys_robots_and_patterns_when_asked():
    with origin("--site", "7:60:robots=20") as o:
        bad = next(u for u, t in truth(o, "7:60:robots=20").items() if t["kind"] == "disallowed")
        words = ("fetch", *FAST, bad, o.url("/p/0"), o.url("/p/1"))
        r = seine(*words, "--robots", "on")
        check((reasons(r.out), summary(r.out)["ok"]), ({"robots": 1}, 2), r.out)
        check(summary(seine(*words).out)["ok"], 3)
        r = seine(*words, "--exclude", "/p/1$")
        check((reasons(r.out), summary(r.out)["ok"]), ({"pattern": 1}, 2))
        r = seine(*words, "--include", "/p/")
        check((reasons(r.out), summary(r.out)["ok"]), ({"pattern": 1}, 2))
        r = seine(*words, "--accept-type", "text/plain")
        check((reasons(r.out), summary(r.out)["ok"]), ({"mime": 3}, 0))


@case
def sitemaps_alone_or_not_at_all():
    with origin("--site", "7:60:sitemap=on") as o:
        only = crawl(o.url("/p/0"), "--sitemap", "only", "-l", "1")
        check(summary(only.out)["ok"], 60)
        check({x["parent"] for x in results(only.out) if x["url"] != o.url("/p/0")}, {o.url("/sitemap.xml")})
        before = len(o.log())
        crawl(o.url("/p/0"), "--sitemap", "off")
        check([x["path"] for x in o.log()[before:] if "sitemap" in x["path"]], [])


# Outputs


@case
def all_outputs_get_the_same_records():
    with origin("--site", SITE) as o, tempfile.TemporaryDirectory() as where:
        r = crawl(o.url("/p/0"), "-o", "a.jsonl", "-o", "a.csv", "-o", "a.sqlite", "-o", "a.warc.gz", "--save", "pages", cwd=where)
        check((r.code, r.out), (1, ""), r.err)  # the site has broken pages
        with open(os.path.join(where, "a.jsonl"), encoding="utf-8") as f:
            text = f.read()
        with open(os.path.join(where, "a.csv"), encoding="utf-8") as f:
            pages = sum(x["type"] == "result" for x in results(text))
            check(len(f.read().splitlines()) - 1 in (pages, len(results(text))), True)
        base = sqlite3.connect(os.path.join(where, "a.sqlite"))
        check(base.execute("SELECT count(*), sum(depth IS NOT NULL), sum(parent IS NOT NULL) FROM result").fetchone(), (pages, pages, pages - 1))
        check(base.execute("SELECT count(*) FROM skip WHERE reason = 'robots' AND parent IS NOT NULL").fetchone(), (len(skips(text)),))
        base.close()
        check(json.loads(seine("warc", "check", os.path.join(where, "a.warc.gz"), "--jsonl").out.splitlines()[-1]).get("ok"), True)
        check(b"robots: classic" in subprocess.run(["zcat", os.path.join(where, "a.warc.gz")], capture_output=True, check=True).stdout[:2000], True)


# Progress


@case
def on_a_terminal_it_is_a_table_a_bar_and_a_closing_table():
    with origin("--site", SITE) as o:
        t = Terminal(["crawl", o.url("/p/0"), "--host-rate", "40/s", "--no-adaptive"], columns=110)
        check(t.wait(), 1)
        text = t.text()
        check("━" in text and "limited by --host-rate on 127.0.0.1" in text, True)
        last = "\n".join(t.screen())
        for word in ("Page 0: ", "skipped: robots, robots.txt:2", "done: ", "outcomes", "skips", "robots: ", "limited by"):
            check(word in last, True, word + "\n" + last)


# Ends


@rows([(signal.SIGINT, 130), (signal.SIGTERM, 143)], name=lambda row: str(row[0]))
def a_signal_in_the_middle_cancels_what_waits(number, code):
    with origin("--site", "7:2000:fan=40") as o:
        p = start(o.url("/p/0"), "--host-rate", "50/s", "--no-adaptive", "-j")
        until(lambda: len(o.log()) >= 20)
        p.send_signal(number)
        out, err = (x.decode() for x in p.communicate(timeout=PATIENCE))
        check(p.returncode, code, err)
        got = results(out)
        check(len(got), len({x["url"] for x in got}))
        kinds = collections.Counter(x["outcome"] for x in got if x["type"] == "result")
        check(set(kinds), {"ok", "canceled"})
        check(kinds["canceled"] > 10, True, str(kinds))
        s = summary(out)
        check((s["stopped_by"], s["exit_code"], s["total"]), ("signal", code, len(got)))
        check("stopped by a signal" in err, True, err)
        asked = {o.base + row["path"] for row in o.log() if row["path"].startswith("/p/")}
        check(asked, {x["url"] for x in got if x.get("attempts")})  # what was asked has come home, and nothing is asked afterwards


@case
def a_reader_that_leaves_ends_it():
    with origin("--site", "7:2000:fan=40") as o:
        p = start(o.url("/p/0"), *FAST, "-j")
        p.stdout.readline()
        p.stdout.close()
        err = p.stderr.read().decode()
        check(p.wait(timeout=PATIENCE), 141, err)
        check("stopped by its reader" in err, True, err)


@case
def time_that_runs_out_is_exit_4():
    def run(scale):
        with origin("--site", "7:2000:fan=40") as o:
            r = seine("crawl", o.url("/p/0"), "--host-rate", "20/s", "--no-adaptive", "-m", f"{scale}s")
            check((r.code, summary(r.out)["stopped_by"]), (4, "max_time"), r.err)
            check(collections.Counter(x.get("error", {}).get("kind") for x in results(r.out))["deadline"] > 10, True)
    patiently(run)


@case
def errors_that_run_out_are_exit_4():
    with origin("--site", "7:200:broken=60") as o:
        r = seine("crawl", o.url("/p/0"), "--host-rate", "100/s", "--no-adaptive", "--max-errors", "3")
        check((r.code, summary(r.out)["stopped_by"]), (4, "max_errors"), r.err)


@case
def a_broken_page_in_scope_is_a_failure_unless_it_is_made_none():
    with origin("--site", "7:60:broken=20") as o:
        check(crawl(o.url("/p/0")).code, 1)
        check(crawl(o.url("/p/0"), "--fail-on", "none").code, 0)
        check(crawl(o.url("/p/0"), "--fail-on", "all").code, 0)
        check(crawl(o.url("/p/0"), "--fail-on", "50%").code, 0)
        check(crawl(o.url("/status:404")).code, 1)  # nothing came at all
        check(crawl("http://[nonsense").code, 1)


@case
def a_host_that_cannot_be_reached_is_exit_5():
    with origin("--site", "7:60:hosts=3:dead=1") as o:
        r = crawl(o.url("/p/0", "127.1.0.1"), "--scope", "any", "--retries", "1")
        left = reasons(r.out).get("robots_unreachable", 0)
        check(left > 0, True, r.err)
        check((r.code, summary(r.out)["stopped_by"], summary(r.out)["exit_code"]), (5, "parked", 5), r.err)
        check(f"seine: robots.txt of 127.1.0.3:{o.places['dead'].rsplit(':', 1)[1]} could not be had: {left} URL" in r.err, True, r.err)
        check("try: the same command later" in r.err, True, r.err)


@case
def usr1_tells_where_it_stands():
    with origin("--site", "7:300") as o:
        p = start(o.url("/p/0"), "--host-rate", "20/s", "--no-adaptive")
        until(lambda: len(o.log()) >= 5)
        p.send_signal(signal.SIGUSR1)
        line = p.stderr.readline().decode()
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=PATIENCE)
        check(re.match(r"seine: 127\.0\.0\.1:\d+  \d+/\d+  \d+ %", line) is not None, True, line)


finish(at_once=12)
