#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A recipe as a job in Redis: every row once whoever dies, carried fields, expectations at the export, and what is refused."""
import collections
import contextlib
import http.server
import json
import os
import socket
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import ROOT, case, check, finish, rows, seine  # noqa: E402
from fleet import fleet  # noqa: E402
from pages import pages  # noqa: E402

POLITE = ("--allow-net", "127.0.0.0/8", "--host-rate", "5/s", "--per-host", "1", "-q")
LEADS = "follow: [{css: a, attr: href, to: page}]"
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
"""
SITE = ("seine: 1\nname: site\nstart: 'http://127.0.0.1/'\n" + LEADS + ROWS + "pages:\n  page:\n    " + LEADS + ROWS.replace("\n", "\n    "))


def written(f, text, name="r.yaml"):
    path = os.path.join(f.folder, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def hosts(f):
    """A start page of each host: leads go to no other hosts."""
    first = {}
    for url in sorted(f.listed(), key=len):
        first.setdefault(url.split("/")[2], url)
    return list(first.values())


def submit(f, path, *words, job="one", env=None):
    return seine("run", path, *words, *f.at_store(), "--job", job, "--submit", "--partitions", "32", env=env)


def exported(f, *words, job="one"):
    """Exit code, what was said, and the rows."""
    path = os.path.join(f.folder, "all.jsonl")
    r = f.jobs("export", job, os.path.join(f.folder, "segments"), "-o", path, *words)
    with open(path, encoding="utf-8") as lines:
        return r, [json.loads(line) for line in lines]


def data(items, kind):
    return sorted(json.dumps(i["data"], sort_keys=True) for i in items if i["type"] == "item" and i["kind"] == kind and i["ok"])


@case
def two_workers_one_killed_find_the_rows_of_one_machine_and_none_twice():
    with fleet("41:150:hosts=6") as f:
        path = written(f, SITE)
        starts = hosts(f)
        calm = seine("run", path, *starts, "--allow-net", "127.0.0.0/8", "--mine", "--robots", "off", "--no-job", "-q")
        check(calm.code, 0, calm.err)
        want = [json.loads(line) for line in calm.out.splitlines()]
        seen = len(f.site.log())
        r = submit(f, path, *starts, *POLITE)
        check((r.code, r.err), (0, ""))
        workers = [f.worker("-q") for _ in range(2)]
        f.until_records(40)
        workers[0].kill()
        check(workers[1].wait(), 0, workers[1].said)
        r, got = exported(f)
        check(r.code, 0, r.err)
        pages = collections.Counter(i["url"] for i in got if i["type"] == "result")
        check(([u for u, n in pages.items() if n > 1], set(pages)), ([], set(f.listed())))
        places = collections.Counter((i["kind"], i["url"], i["n"]) for i in got if i["type"] == "item")
        check([p for p, n in places.items() if n > 1], [])
        check(set(places), {(i["kind"], i["url"], i["n"]) for i in want if i["type"] == "item"})
        for kind in ("page", "link"):
            check(data(got, kind), data(want, kind), kind)
        check(sorted(i["seq"] for i in got), list(range(1, len(got) + 1)))
        at = collections.defaultdict(list)
        for row in f.site.log()[seen:]:
            at[row["host"]].append(row["t_us"])
        early = [(h, b - a) for h, times in at.items() for a, b in zip(sorted(times), sorted(times)[1:]) if b - a < 0.19e6]
        check(early, [])


def saved(name):
    with open(os.path.join(ROOT, "recipes", "shop", "pages", name), encoding="utf-8") as f:
        return f.read()


DETAILS = {f"/p/{n}": saved("detail-1001.html") for n in range(1001, 1007)}
SHOP = {"/list?page=1": saved("list-1.html"), "/list?page=2": saved("list-2.html"), **DETAILS}
SHOP_YAML = os.path.join(ROOT, "recipes", "shop", "shop.yaml")


@case
def carried_fields_and_the_next_page_go_with_a_page_to_another_worker():
    with pages(SHOP) as p, fleet("42:2") as f:
        r = submit(f, SHOP_YAML, "--var", f"base={p.base}", "--max-pages", "off", "-q")
        check((r.code, r.err), (0, ""))
        first = f.worker("-q")
        f.until_records(1)
        first.kill()
        check(f.about()["state"], "running")
        second = f.worker("-q")
        check(second.wait(), 0, second.said)
        r, got = exported(f)
        check(r.code, 0, r.err)
        found = {kind: sorted(i["data"]["sku"] for i in got if i["type"] == "item" and i["kind"] == kind) for kind in ("product", "detail")}
        skus = [f"A-{n}" for n in range(1001, 1007)]
        check(found, {"product": skus, "detail": skus})
        check(all(i["provenance"]["url"] == i["url"] and i["recipe"] == "shop" for i in got if i["type"] == "item"), True)


@case
def who_makes_the_job_may_work_on_it_and_flat_rows_are_data_alone():
    with pages(SHOP) as p, fleet("43:2") as f:
        words = ("run", SHOP_YAML, "--var", f"base={p.base}", "--max-pages", "off", "--host-rate", "off", *f.at_store(), "--job", "one", "--out", os.path.join(f.folder, "segments"))
        r = seine(*words)
        check((r.code, r.out, "done: 8 pages, 12 items" in r.err), (0, "", True), r.err)
        r = seine(*words)
        check((r.code, "is finished" in r.err, "seine jobs export one" in r.err), (2, True, True), r.err)
        r, got = exported(f, "--flat")
        check((r.code, sorted(i["sku"] for i in got if "name" in i)), (0, [f"A-{n}" for n in range(1001, 1007)]), r.err)


EXPECTED = """seine: 1
name: twice
vars: {base: {type: url}}
start: ["{base}/list?page=1", "{base}/list?page=2", "{base}/again"]
items:
  kind: product
  each: article.product
  unique: sku
  ON_ERROR
  fields: {sku: {attr: data-sku, required: true}, name: h2}
expect: {items: 6, unique: UNIQUE, bad-rows: "BAD"}
"""
JUDGED = (  # on-error, unique, bad rows that are expected, exit code, what is said, rows that are bad
    ("", "false", "<= 4", 0, None, 4),
    ("", "true", "<= 4", 6, "expectation not met: unique: 4 rows came twice", 4),
    ("", "false", "<= 3", 6, "expectation not met: bad-rows: 4 of 10, expected <= 3", 4),
    ("on-error: drop", "false", "<= 4", 0, None, 0),
)


@rows(JUDGED)
def a_row_of_two_pages_is_a_bad_one_at_the_export_which_judges_what_is_expected(on_error, unique, bad, code, says, n_bad):
    text = EXPECTED.replace("ON_ERROR", on_error).replace("UNIQUE", unique).replace("BAD", bad)
    with pages({**SHOP, "/again": SHOP["/list?page=1"]}) as p, fleet("44:2") as f:
        r = submit(f, written(f, text), "--var", f"base={p.base}", "--host-rate", "off", "-q")
        check((r.code, r.err), (0, ""))
        r, _ = exported(f)
        check((r.code, "is not finished: what its recipe expects is not judged" in r.err), (0, True), r.err)
        w = f.worker("-q")
        check(w.wait(), 0, w.said)
        r, got = exported(f)
        items = [i for i in got if i["type"] == "item"]
        check((r.code, sorted(i["data"]["sku"] for i in items if i["ok"])), (code, [f"A-{n}" for n in range(1001, 1007)]), r.err)
        check([i["errors"] for i in items if not i["ok"]], n_bad * [[{"field": "sku", "why": "duplicate", "message": "duplicate"}]])
        check(says is None or says in r.err, True, r.err)


@case
def a_redirect_to_another_domain_is_not_followed_since_another_worker_may_have_it():
    with pages({}, "127.0.0.2") as other, pages({"/list?page=1": (302, {"Location": other.base + "/x"}, "")}) as p, fleet("45:2") as f:
        r = submit(f, SHOP_YAML, "--var", f"base={p.base}", "--max-pages", "off", "--allow-net", "127.0.0.0/8", "-q")
        check((r.code, r.err), (0, ""))
        w = f.worker("-q")
        check(w.wait(), 0, w.said)
        r, got = exported(f)
        check((r.code, [(i["type"], i["reason"], i["rule"]) for i in got], other.asked), (1, [("skip", "offsite", "a redirect to another domain")], []), r.err)


MOVED = """seine: 1
name: moved
vars: {base: {type: url}}
start: ["{base}/", "{base}/second"]
follow: [{css: a, attr: href, to: page}]
items: {kind: title, fields: {title: {css: title, required: true}}}
pages: {page: {items: {kind: title, fields: {title: {css: title, required: true}}}}}
"""


@case
def a_worker_that_takes_over_knows_where_a_start_page_was_redirected():
    is_killed = threading.Event()

    def second(_):
        is_killed.wait(60)  # the first worker waits for it until it dies
        return f'<title>second</title><a href="{www}/deep">deep</a>'

    with pages({"/w": "<title>w</title>", "/second": second, "/deep": "<title>deep</title>"}) as p, fleet("49:2") as f:
        port = p.base.split(":")[2]
        base, www = f"http://shop.example:{port}", f"http://www.shop.example:{port}"
        p.table["/"] = (302, {"Location": www + "/w"}, "")
        near = [word for host in ("shop.example", "www.shop.example") for word in ("--resolve", f"{host}:{port}:127.0.0.1")]
        r = submit(f, written(f, MOVED), "--var", f"base={base}", *near, "--allow-net", "127.0.0.0/8", "--per-host", "1", "-q")
        check((r.code, r.err), (0, ""))
        first = f.worker("-q")
        f.until_records(1)
        first.kill()
        is_killed.set()
        check(f.about()["state"], "running")
        w = f.worker("-q")
        check(w.wait(), 0, w.said)
        r, got = exported(f)
        check((r.code, sorted(i["data"]["title"] for i in got if i["type"] == "item")), (0, ["deep", "second", "w"]), r.err)


STARTS = (  # of a list and of a sitemap, which the maker of the job reads
    ("{file: starts.txt}",),
    ('{sitemap: "{base}/sitemap.xml"}',),
)


@rows(STARTS)
def start_pages_are_read_by_who_makes_the_job_and_no_worker_needs_the_file(start):
    with pages({f"/{n}": f"<title>{n}</title>" for n in range(3)}) as p, fleet("50:2") as f:
        p.table["/sitemap.xml"] = ("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>" +
                                   "".join(f"<url><loc>{p.base}/{n}</loc></url>" for n in range(3)) + "</urlset>")
        written(f, "".join(f"{p.base}/{n}\n" for n in range(3)), "starts.txt")
        path = written(f, MOVED.replace('["{base}/", "{base}/second"]', start))
        r = submit(f, path, "--var", f"base={p.base}", "--host-rate", "off", "-q")
        check((r.code, r.err), (0, ""))
        for name in (path, os.path.join(f.folder, "starts.txt")):
            os.remove(name)
        w = f.worker("-q")
        check(w.wait(), 0, w.said)
        r, got = exported(f)
        check((r.code, sorted(i["data"]["title"] for i in got if i["type"] == "item")), (0, ["0", "1", "2"]), r.err)


# Secrets.

class Headers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.tokens.append(self.headers.get("X-Token"))
        body = SHOP["/list?page=2"].encode() if self.path != "/robots.txt" else b""
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def headers():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Headers)
    server.tokens, server.base = [], f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


TOKEN = """seine: 1
name: token
vars: {base: {type: url}, token: {secret: true, default: "env:SHOP_TOKEN"}}
start: "{base}/list"
request: {headers: {X-Token: "{token}"}}
items: {kind: product, each: article.product, fields: {sku: {attr: data-sku, required: true}}}
"""


@case
def a_secret_is_read_from_the_environment_of_each_worker_and_is_not_in_redis():
    with headers() as p, fleet("46:2") as f:
        r = submit(f, written(f, TOKEN), "--var", f"base={p.base}", "-q", env={"SHOP_TOKEN": "s3cr3t-of-the-shop"})
        check((r.code, r.err), (0, ""))
        w = f.worker("-q")
        check((w.wait(), "variable 'token' is read from SHOP_TOKEN, which is not set" in w.said), (2, True), w.said)
        os.environ["SHOP_TOKEN"] = "s3cr3t-of-the-shop"
        try:
            w = f.worker("-q")
        finally:
            del os.environ["SHOP_TOKEN"]
        check(w.wait(), 0, w.said)
        check(p.tokens[-1], "s3cr3t-of-the-shop")
        r, got = exported(f)
        check((r.code, len([i for i in got if i["type"] == "item"])), (0, 2), r.err)
        for folder in (f.redis[0].folder, f.folder):
            for where, _, names in os.walk(folder):
                for name in names:
                    with open(os.path.join(where, name), "rb") as file:
                        check(b"s3cr3t" in file.read(), False, name)


# What is refused.

REFUSED = (  # what is changed in the recipe, further words, what is said
    (("name: token", "name: token\noptions: {dedup: job}"), (), "'dedup: job' does not go with --store"),
    (("", ""), ("--flat",), "--flat does not go with --store; try: seine jobs export JOB DIR --flat"),
    (("", ""), ("-o", "rows.csv"), "--output does not go with --store"),
    (("name: token", "name: token\noptions: {max-pages: 5}"), (), "--max-pages does not go with --store; try: --max-pages off"),
    (("env:SHOP_TOKEN", "file:/etc/hostname"), (), "variable 'token' is read from a file, which a recipe of a job in Redis may not do; try: env:NAME, which every worker has"),
    (("", ""), ("--var", "token=typed"), "a secret that is typed is not kept with a job of --store"),
    (("{base}/list", "{base}/list?key={token}"), (), "start: a URL with a secret is not given to a job of --store"),
    (('start: "{base}/list"', "start: []"), (), "start"),
    (('start: "{base}/list"', "start: {file: no-such-file}"), (), "no-such-file"),
)


@rows(REFUSED)
def what_workers_cannot_share_is_refused_in_one_line_before_there_is_a_job(change, words, says):
    with fleet("47:2") as f:
        text = TOKEN.replace(*change) if change[0] else TOKEN
        r = submit(f, written(f, text), "--var", "base=http://127.0.0.1:1", *words, env={"SHOP_TOKEN": "s3cr3t-of-the-shop"})
        check((r.code, says in r.err.replace("\ntry", "; try")), (2, True), r.err)
        check(f.jobs("ls").out, "")


def speak(redis, *words):
    """The reply to a command of whole texts."""
    said = b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w.encode()), w.encode()) for w in words)
    with socket.create_connection(("127.0.0.1", redis.port), 5) as s:
        s.sendall(said)
        s.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: s.recv(65536), b"")).decode()


def forged(f, field, text):
    name = f.redis[0].ask("HGET sn:jobs one").split()[1]
    speak(f.redis[0], "HSET", "sn:{%s}:cfg" % name, field, text)


EVIL = TOKEN.replace("env:SHOP_TOKEN", "file:/etc/passwd").replace('"{base}/list"', "{file: /etc/passwd}")
FORGED = (  # of a stranger, what he writes, what is said
    ("spec", json.dumps({"recipe_text": EVIL, "var": '{"base":"http://127.0.0.1:1"}'}), "variable 'token' is read from a file, which a recipe of a job in Redis may not do"),
    ("spec", json.dumps({"recipe_text": "seine: 1\nname: [", "var": "{}"}), "recipe of job 'one':"),
    ("spec", json.dumps({"recipe_text": 7, "var": "{}"}), "job 'one' has no recipe that can be read"),
    ("spec", "{", "job 'one' has no recipe that can be read"),
    ("verb", "crawl", "job 'one' is no recipe"),
    ("command", json.dumps({"words": ["seine", "run", "/nonexistent.yaml", "--no-join", "--submit"]}), "--no-join"),
    ("verb", "--", "job 'one' is no recipe"),
    ("command", json.dumps({"words": ["seine", "test", "/nonexistent.yaml"]}), "its command in Redis is neither seine crawl nor seine run"),
)


@rows(FORGED)
def what_a_stranger_writes_to_redis_reads_no_file_and_starts_nothing_else(field, text, says):
    with pages(SHOP) as p, fleet("48:2") as f:
        check(submit(f, SHOP_YAML, "--var", f"base={p.base}", "--max-pages", "off", "-q").code, 0)
        forged(f, field, text)
        w = f.worker()
        check((w.wait(), says in w.said, p.asked), (2, True, []), w.said)


finish(at_once=4)
