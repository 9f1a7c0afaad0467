#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs of recipes are jobs: kill -9 at random moments, in all outputs; the next run, its history, and what is known for ever."""
import collections
import csv
import http.server
import io
import json
import os
import signal
import sqlite3
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import SOAKED, case, check, finish, rows, taken, until  # noqa: E402
from job_runs import DICE, SEED, ended, kill_later, read, run, start  # noqa: E402
from origin import origin  # noqa: E402
from pages import pages  # noqa: E402
from terminal import Terminal  # noqa: E402

KILLS = 60 if SOAKED else 5
PACE = ("--host-rate", "400/s", "--backoff", "5ms..20ms", "--robots", "off")
ROWS = """
items:
  - kind: page
    fields:
      title: {css: title, required: true}
      number: {page: url, regex: '/p/(\\d+)', type: int, required: true}
  - kind: link
    each: a
    unique: href
    fields:
      href: {attr: href, type: url, required: true}
      even: {attr: href, regex: '([02468])$', type: int, required: true}
"""
LEADS = "follow: [{css: a, attr: href, to: page}]"
SITE = ("seine: 1\nname: site\nvars: {base: {type: url}}\noptions: {queue: 9, concurrency: 4}  # leads wait for room\nstart: '{base}/p/0'\n" + LEADS + ROWS +
        "pages:\n  page:\n    " + LEADS + ROWS.replace("\n", "\n    "))
FILES = ("all.jsonl", "all.csv", "packed.csv.gz", "all.sqlite")


def written(where, text, name="r.yaml"):
    with open(os.path.join(where, name), "w", encoding="utf-8") as f:
        f.write(text)


def lines(where, name="all.jsonl"):
    return [json.loads(line) for line in read(where, name).splitlines()]


def table(where, name):
    return list(csv.DictReader(io.StringIO(read(where, name))))


def asked(db, sql):
    with sqlite3.connect(db) as d:
        return d.execute(sql).fetchall()


def places(where, name):
    """Kind, page and number of every row of an output, as often as it is there."""
    if name.endswith(".jsonl"):
        return sorted((o["kind"], o["url"], o["n"], o["ok"]) for o in lines(where, name) if o["type"] == "item")
    if name.endswith(".sqlite"):
        db = os.path.join(where, name)
        check(asked(db, "PRAGMA integrity_check"), [("ok",)])
        good = [(k, u, n, True) for k in ("page", "link") for u, n in asked(db, f"SELECT _url, _n FROM item_{k}")]
        return sorted(good + [(k, u, n, False) for k, u, n in asked(db, "SELECT kind, url, n FROM item_error")])
    name, dot, end = name.partition(".")
    good = [(k, r["_url"], int(r["_n"]), True) for k, word in (("page", ""), ("link", ".link")) for r in table(where, name + word + dot + end)]
    return sorted(good + [(r["_kind"], r["_url"], int(r["_n"]), False) for r in table(where, name + ".bad" + dot + end)])


def command(base):
    return ("run", "r.yaml", "--var", f"base={base}", *PACE, *(w for name in FILES for w in ("-o", name)))


def killed_at_random(where, process):
    """At any moment: while it starts and recovers, or while it works. False: it has ended before."""
    if DICE.random() < 0.3:
        time.sleep(DICE.random() * 0.15)
        process.kill()
        process.communicate()
        return process.returncode == -9
    return kill_later(where, process, DICE.randrange(1, 90000))


@case
def a_run_killed_at_random_moments_has_every_row_once_in_every_output():
    with origin() as o, tempfile.TemporaryDirectory() as calm, tempfile.TemporaryDirectory() as where:
        base = o.url("/site:7:150:fan=8:fail=10")
        for folder in (calm, where):
            written(folder, SITE)
        r = run(calm, *command(base))
        check(r.code, 0, r.err)
        want = sorted(json.dumps(i["data"], sort_keys=True) for i in lines(calm) if i["type"] == "item" and i["ok"])
        n = 0
        while n < KILLS and killed_at_random(where, start(where, *command(base))):
            n += 1
        r = run(where, *command(base))
        if r.code == 2:  # it had ended before the last kill could
            check("exists" in r.err, True, r.err)
        else:
            check(r.code, 0, f"seed {SEED}: {r.err}")
        print(f"{n} kills, seed {SEED}", flush=True)
        got = lines(where)
        check(sorted(json.dumps(i["data"], sort_keys=True) for i in got if i["type"] == "item" and i["ok"]), want, f"seed {SEED}")
        seqs = [i["seq"] for i in got]
        check(seqs, sorted(set(seqs)), "seq rises")
        first = places(where, FILES[0])
        check([p[:3] for p in first], [p[:3] for p in places(calm, FILES[0])], f"seed {SEED}: kind, page and number")
        for name in FILES[1:]:
            check(places(where, name), first, f"seed {SEED}: {name}")
        urls = collections.Counter(u for u, in asked(os.path.join(where, "all.sqlite"), "SELECT url FROM result"))
        check((len(urls), max(urls.values())), (150, 1))
        check([(i["items"], i["bad_rows"], i["ok"], i["errors"]) for i in got if i["type"] == "summary"],
              [(i["items"], i["bad_rows"], i["ok"], i["errors"]) for i in lines(calm) if i["type"] == "summary"], "the summary is about all runs")


LIST = """seine: 1
name: list
start: '%s/1'
next: {css: 'a.next', attr: href}
items: {kind: thing, each: li, unique: name, fields: {name: b, price: {css: i.price, type: number}, good: {css: u, type: bool}, tags: {css: s, all: true}}, derive: {twice: price * 2}}
expect: {drift: 20%%}
"""


def things(first, n, nxt="", price="price"):
    rows = "".join(f"<li><b>t{k}</b><i class='{price}'>{k}.5</i><u>yes</u><s>x</s><s>y</s></li>" for k in range(first, first + n))
    return f"<ul>{rows}</ul>" + (f'<a class="next" href="{nxt}">more</a>' if nxt else "")


@case
def a_stop_leaves_leads_to_the_next_run():
    held = []

    def slow(_):
        held.append(1)
        until(lambda: len(held) > 1 or stopped)
        return things(4, 3)

    stopped = []
    with tempfile.TemporaryDirectory() as where, pages({"/1": things(1, 3, "/2"), "/2": slow}) as p:
        written(where, LIST % p.base)
        words = ("run", "r.yaml", *PACE, "-o", "all.jsonl")
        process = start(where, *words)
        until(lambda: held, "the second page")
        process.send_signal(signal.SIGTERM)
        taken(process, signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        process.communicate()
        stopped.append(1)
        check(process.returncode, 143)
        r = run(where, "jobs", "resume", "list")
        check(r.code, 0, r.err)
        check(sorted(i["data"]["name"] for i in lines(where) if i["type"] == "item"), [f"t{k}" for k in range(1, 7)])
        check(len([i for i in lines(where) if i["type"] == "summary"]), 1)
        check(p.asked.count("/1"), 1)


@case
def columns_of_a_database_have_the_types_of_their_fields():
    with tempfile.TemporaryDirectory() as where, pages({"/1": things(1, 2) + "<li><b>t9</b><i class='price'>dear</i></li>"}) as p:
        written(where, (LIST % p.base).replace("type: number}", "type: number, required: true}"))
        r = run(where, "run", "r.yaml", *PACE, "-o", "all.sqlite")
        check(r.code, 0, r.err)
        db = os.path.join(where, "all.sqlite")
        check(asked(db, "SELECT name, type FROM pragma_table_info('item_thing')"),
              [("_seq", "INTEGER"), ("_url", "TEXT"), ("_n", "INTEGER"), ("name", "TEXT"), ("price", "REAL"), ("good", "INTEGER"), ("tags", "TEXT"), ("twice", "")])
        check(asked(db, "SELECT _url, _n, name, price, good, tags, twice, typeof(twice) FROM item_thing WHERE name = 't2'"),
              [(p.base + "/1", 2, "t2", 2.5, 1, '["x","y"]', 5, "integer")])
        check(asked(db, "SELECT kind, n, json_extract(errors, '$[0].text') FROM item_error"), [("thing", 3, "dear")])
        check(asked(db, "SELECT count(*), max(url) FROM result"), [(1, p.base + "/1")])


@case
def a_database_with_other_columns_is_left_alone():
    with tempfile.TemporaryDirectory() as where, pages({"/1": things(1, 2)}) as p:
        written(where, LIST % p.base)
        check(run(where, "run", "r.yaml", *PACE, "-o", "all.sqlite").code, 0)
        written(where, (LIST % p.base).replace("name: b,", "name: b, more: b,"))
        r = run(where, "run", "r.yaml", *PACE, "-o", "all.sqlite", "--append")
        check((r.code, "item_thing with other columns" in r.err), (2, True), r.err)


@case
def a_finished_run_is_followed_by_the_next_one():
    with tempfile.TemporaryDirectory() as where, pages({"/1": things(1, 3)}) as p:
        written(where, LIST % p.base)
        for n in (1, 2):
            r = run(where, "run", "r.yaml", *PACE, "-o", f"{n}.jsonl")
            check((r.code, len([i for i in lines(where, f"{n}.jsonl") if i["type"] == "item"])), (0, 3), r.err)
            check(lines(where, f"{n}.jsonl")[-1]["run"], n)
        check(p.asked.count("/1"), 2)
        r = run(where, "run", "r.yaml", *PACE, "-o", "2.jsonl")
        check((r.code, "exists" in r.err), (2, True), r.err)
        r = run(where, "retry", "list")
        check((r.code, "is a run of a recipe" in r.err), (2, True), r.err)


@case
def a_field_that_vanishes_since_the_last_runs_is_drift():
    with tempfile.TemporaryDirectory() as where, pages({"/1": things(1, 10)}) as p:
        written(where, LIST % p.base)
        for n in (1, 2):
            check(run(where, "run", "r.yaml", *PACE, "-o", f"{n}.jsonl").code, 0)
        p.table["/1"] = things(1, 10, price="prices")
        r = run(where, "run", "r.yaml", *PACE, "-o", "3.jsonl")
        check(r.code, 6, r.err)
        said = f"drift: price is in 0% of the rows, in 100% in the median of the last 2 runs, expected a fall of at most 20%; `i.price` matches nothing on {p.base}/1; nearest: `i.prices` (1)"
        check("expectation not met: " + said in r.err, True, r.err)
        check(said in lines(where, "3.jsonl")[-1]["expect"], True, lines(where, "3.jsonl")[-1])
        p.table["/1"] = things(1, 7)  # of 10, 10 and 10
        r = run(where, "run", "r.yaml", *PACE, "-o", "4.jsonl")
        check((r.code, "drift: 7 items, 10 in the median of the last 3 runs" in r.err), (6, True), r.err)
        p.table["/1"] = things(1, 8)
        check(run(where, "run", "r.yaml", *PACE, "-o", "5.jsonl").code, 0)


@case
def rows_that_vanish_name_the_selector_and_the_nearest():
    with tempfile.TemporaryDirectory() as where, pages({"/1": things(1, 10).replace("<ul>", "<ol>").replace("li>", "dd>")}) as p:
        written(where, (LIST % p.base).replace("drift: 20%", "items: '>= 5'"))
        r = run(where, "run", "r.yaml", *PACE)
        check((r.code, "items: 0, expected >= 5; `li` matches nothing on " in r.err), (6, True), r.err)


@rows([("{css: .gone, required: true}", "; `.gone` matches nothing on ", "; the first: price: is missing; `.gone` matches nothing on "),
       ("{css: i, type: int, max: 0, required: true}, other: .gone", "", "; the first: price: '")])
def bad_rows_name_the_selector_that_makes_them_bad_and_no_other(price, of_items, of_rows):
    with tempfile.TemporaryDirectory() as where, pages({"/1": "<ul><li><i>5</i><li><i>6</i></ul>"}) as p:
        written(where, f"seine: 1\nname: t\nstart: {p.base}/1\nitems: {{each: li, fields: {{price: {price}}}}}\nexpect: {{items: 5, bad-rows: 0}}\n")
        r = run(where, "run", "r.yaml", *PACE)
        said = [line.replace("seine: expectation not met: ", "") for line in r.err.splitlines() if "not met" in line]
        check((r.code, len(said)), (6, 2), r.err)
        check(said[0].startswith("items: 0, expected 5" + of_items) and (".gone" in said[0]) == bool(of_items), True, r.err)
        check(said[1].startswith("bad-rows: 2 of 2, expected 0" + of_rows) and (".gone" in said[1]) == bool(of_items), True, r.err)


def state_of(where):
    """The bytes of all that the job keeps, by name."""
    got = {}
    for folder, _, names in os.walk(os.path.join(where, ".seine")):
        for name in names:
            with open(os.path.join(folder, name), "rb") as f:
                got[name] = f.read()
    return got


@rows([("lines", "o.jsonl", "o.jsonl"), ("a table", "o.csv", "o.csv"), ("bad rows beside a table", "o.csv", "o.bad.csv"),
       ("a database", "o.sqlite", "o.sqlite"), ("a report", "o.html", "o.html")])
def a_next_run_that_would_write_to_an_old_file_leaves_the_job_as_it_is(_, output, there):
    with tempfile.TemporaryDirectory() as where, pages({"/1": things(1, 10)}) as p:
        written(where, LIST % p.base)
        check(run(where, "run", "r.yaml", *PACE, "-o", output).code, 0)
        for name in os.listdir(where):
            if name.startswith("o.") and name != there:
                os.remove(os.path.join(where, name))
        before = state_of(where)
        r = run(where, "run", "r.yaml", *PACE, "-o", output)
        check((r.code, f"{there} exists" in r.err and "belongs to no unfinished job" in r.err), (2, True), r.err)
        check(("--append" in r.err, "--overwrite, or another name" in r.err), (there != "o.html", True), r.err)
        check({name: bytes == before.get(name) for name, bytes in state_of(where).items()}, {name: True for name in before})
        check(p.asked.count("/1"), 1)
        check(run(where, "run", "r.yaml", *PACE, "-o", "new-" + output).code, 0)


@case
def what_is_known_for_ever_is_not_fetched_again():
    with tempfile.TemporaryDirectory() as where, pages({"/1": things(1, 3), "/2": things(3, 3)}) as p:
        text = (LIST % p.base).replace("expect:", "options: {dedup: job}\nexpect:")
        written(where, text)
        check(run(where, "run", "r.yaml", *PACE, "-o", "1.jsonl").code, 0)
        written(where, text.replace("'%s/1'" % p.base, "['%s/1', '%s/2']" % (p.base, p.base)))
        r = run(where, "run", "r.yaml", *PACE, "-o", "2.jsonl")
        check(r.code, 0, r.err)
        check([p.asked.count(u) for u in ("/1", "/2")], [1, 1])
        check([(i["data"]["name"], i["ok"]) for i in lines(where, "2.jsonl") if i["type"] == "item"], [("t3", False), ("t4", True), ("t5", True)])


@case
def headers_are_not_in_the_state_and_are_sent_again():
    tokens, dead = collections.defaultdict(list), []

    class Api(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            tokens[self.path].append(self.headers.get("X-Token"))
            if self.path == "/2" and len(tokens["/2"]) == 1:
                until(lambda: dead)
            body = things(1, 1, "/2").encode() if self.path == "/1" else things(4, 1).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    with tempfile.TemporaryDirectory() as where:
        base = f"http://127.0.0.1:{server.server_address[1]}"
        written(where, (LIST % base).replace("start:", "vars: {token: {type: string, secret: true}}\nrequest: {headers: {X-Token: '{token}'}}\nstart:"))
        written(where, "s3cr3t-of-the-run\n", "token")
        words = ("run", "r.yaml", "--var", "token=file:token", *PACE, "-o", "all.jsonl")
        process = start(where, *words)
        until(lambda: tokens["/2"] and "/1" in ended(where, "list"), "the second page")
        process.kill()
        dead.append(1)
        process.communicate()
        state = b""
        for name in ("job.db", "job.db-wal"):
            with open(os.path.join(where, ".seine", "list", name), "rb") as f:
                state += f.read()
        check((b"s3cr3t-of-the-run" in state, b"/2" in state), (False, True))
        r = run(where, *words)
        check((r.code, len([i for i in lines(where) if i["type"] == "item"])), (0, 2), r.err)
    server.shutdown()
    check(dict(tokens), {"/1": ["s3cr3t-of-the-run"], "/2": ["s3cr3t-of-the-run"] * 2})


@case
def a_recipe_that_was_changed_does_not_go_on():
    held = []

    def slow(_):
        held.append(1)
        until(lambda: dead)
        return things(1, 1)

    dead = []
    with tempfile.TemporaryDirectory() as where, pages({"/1": things(2, 1, "/2"), "/2": slow}) as p:
        written(where, LIST % p.base)
        process = start(where, "run", "r.yaml", *PACE)
        until(lambda: held and "/1" in ended(where, "list"))
        process.kill()
        dead.append(1)
        process.communicate()
        written(where, LIST % p.base + "# more\n")
        r = run(where, "run", "r.yaml", *PACE)
        check((r.code, "job 'list' was started with another recipe" in r.err, "--fresh" in r.err), (2, True, True), r.err)
        check(run(where, "run", "r.yaml", *PACE, "--fresh").code, 0)


@case
def a_run_tells_what_others_tell():
    with tempfile.TemporaryDirectory() as where, pages({"/1": things(1, 3)}) as p:
        written(where, LIST % p.base)
        r = run(where, "run", "r.yaml", *PACE, "-vv", "--metrics-file", "m.prom", "--summary", "s.json", "-o", "run.html", "-o", "all.jsonl", "--no-job")
        check(r.code, 0, r.err)
        check(f"url={p.base}/1 status=200" in r.err, True, r.err)
        check("seine_" in read(where, "m.prom"), True)
        check(json.loads(read(where, "s.json"))["items"], 3)
        check("<html" in read(where, "run.html"), True)
        check(os.path.exists(os.path.join(where, ".seine")), False)


@case
def a_terminal_shows_how_far_the_run_is():
    seen = []

    def slow(_):
        until(lambda: seen, "the bar")
        return things(4, 3)

    with tempfile.TemporaryDirectory() as where, pages({"/1": things(1, 3, "/2"), "/2": slow}) as p:
        written(where, LIST % p.base)
        t = Terminal(["run", "r.yaml", *PACE, "-o", "all.jsonl"], cwd=where)
        seen.append(t.until("1/2"))
        check((t.wait(), seen), (0, [True]), t.text())
        check("done: 2 pages, 6 things in " in t.text(), True, t.text())


finish(at_once=2)
