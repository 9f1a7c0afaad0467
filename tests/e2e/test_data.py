#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--css, --json-pointer, --meta, --jsonld and --text of fetch and crawl: values of pages in records, CSV and SQLite.

What is right is said by html5lib and lxml (tests/support/html_oracle.py), and for JSON by Python.
"""
import base64
import contextlib
import csv
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
SUPPORT = os.path.join(os.path.dirname(__file__), "..", "support")
sys.path.insert(0, SUPPORT)
from e2e import PATIENCE, PROGRAM, SANITIZED, case, check, environment, finish, rows, seine  # noqa: E402
from job_runs import PACE, to_the_end  # noqa: E402
from pages import pages  # noqa: E402

FIELDS = ("--css", "h1", "--css", "price=.price", "--css", "hrefs=a@href", "--css", "first=td:first-child", "--css", "items=ul > li@id",
          "--css", "alt=div img[src^='/i']@alt", "--meta=description")
NAMES = ["h1", "price", "hrefs", "first", "items", "alt", "description"]
QUIET = ("--mine", "-q", "--no-job", "--sitemap", "off", "--fail-on", "none")
CHARSETS = (("utf-8", "Käse ‚x‘ 日本"), ("windows-1251", "Цена"), ("shift_jis", "テスト"), ("iso-8859-1", "Käse"), ("euc-kr", "가격"))


def page(dice, n):
    """A page with all that the fields ask for, some of it broken as pages are."""
    charset, word = dice.choice(CHARSETS)
    parts = [f"<title>{n}</title>", dice.choice(["", f'<meta name=Description content="{word} &amp; {n}">']), dice.choice(["", "<base href=/b/>"])]
    blocks = [
        f"<h1> {word}\n  &quot;{n}&quot; </h1>",
        f'<p class="big price x">{n}.50 &euro;</p><b class=prices>no</b>',
        f"<span class=price>=1+{n}</span>",
        f"<a href=/p/{(n + 1) % 60}>next <i>{word}</i></a><a>none</a><a href='x?q={n}&amp;r=1#f'>x</a>",
        f"<table><tr><td>a{n}<td>b<tr><th>h<td>c</table>",
        f"<ul><li id=i{n}>a<li>b<li id=j{n}>c</ul>",
        f'<div><p><img src=/i/{n}.png alt="{word}|{n}"><img src=/x.png alt=no></div>',
        "<b><p>not <i>closed</b> well</i></p><div><!-- c --><script>'<h1>no</h1>'</script>",
    ]
    dice.shuffle(blocks)
    return charset, ("<!doctype html>" * dice.randrange(2) + "".join(parts) + "\n".join(blocks)).encode(charset, "xmlcharrefreplace")


def site(seed, count=60):
    """Pages /p/0 … and what the oracle reads in each."""
    dice = random.Random(seed)
    made = {f"/p/{n}": page(dice, n) for n in range(count)}
    return {path: (200, {"Content-Type": f"text/html; charset={charset}"}, body) for path, (charset, body) in made.items()}, made


def oracle(base, made):
    cases = [{"url": base + path, "charset": charset, "body_b64": base64.b64encode(body).decode()} for path, (charset, body) in made.items()]
    r = subprocess.run(["/usr/bin/python3", os.path.join(SUPPORT, "html_oracle.py")], input="\n".join(map(json.dumps, cases)),
                       capture_output=True, text=True, timeout=PATIENCE, check=False)
    check(r.returncode, 0, r.stderr[-1000:])
    return dict(zip((base + path for path in made), map(json.loads, r.stdout.splitlines())))


def records(out):
    return [r for r in map(json.loads, out.splitlines()) if r["type"] == "result"]


def flat(values):
    """A cell of CSV."""
    return "|".join(v if isinstance(v, str) else json.dumps(v, separators=(",", ":")) for v in values)


@contextlib.contextmanager
def served(seed=17):
    table, made = site(seed)
    with pages(table) as p, tempfile.TemporaryDirectory() as where:
        yield p, oracle(p.base, made), where


@case
def every_value_is_what_html5lib_and_lxml_find():
    with served() as (p, want, where):
        r = seine("crawl", p.base + "/p/1", *QUIET, *FIELDS, "-l", "off", "-o", "all.jsonl", cwd=where)
        check(r.code, 0, r.err)
        with open(os.path.join(where, "all.jsonl"), encoding="utf-8") as f:
            got = {x["url"]: x for x in records(f.read()) if x["ok"]}
        check(len(got) > 50, True, f"{len(got)} pages")
        for url, record in got.items():
            check(list(record["data"]), NAMES, "the order of the fields")
            check(record["data"], want[url], url)
            check("body" in record or "extract" in record, False, "what nobody asked for")


@case
def columns_of_csv_and_sqlite_hold_the_values_of_the_records():
    with served() as (p, want, where):
        urls = "\n".join(want)
        r = seine("fetch", "-", "--mine", "-q", *FIELDS, "--css", "title=title", "--css", 'td[class="a,b"], h1', "-o", "a.csv", "-o", "a.sqlite",
                  "-o", "a.jsonl", "--ordered", stdin=urls, cwd=where)
        check(r.code, 0, r.err)
        with open(os.path.join(where, "a.jsonl"), encoding="utf-8") as f:
            data = {x["url"]: x["data"] for x in records(f.read())}
        with open(os.path.join(where, "a.csv"), encoding="utf-8", newline="") as f:
            table = list(csv.reader(f))
        columns = NAMES[:-1] + ["data.title", 'td[class="a,b"], h1', "description"]
        fields = NAMES[:-1] + ["title", 'td[class="a,b"], h1', "description"]
        check(table[0][-len(columns):], columns)
        cells = {row[3]: dict(zip(fields, row[-len(columns):])) for row in table[1:]}
        guarded = {u: {k: v[1:] if v.startswith("'=") else v for k, v in row.items()} for u, row in cells.items()}
        check(guarded, {u: {k: flat(v) for k, v in row.items()} for u, row in data.items()})
        check(all(not v.startswith("=") for row in cells.values() for v in row.values()), True, "no cell is a formula")
        quoted = ", ".join('"' + c.replace('"', '""') + '"' for c in columns)
        with sqlite3.connect(os.path.join(where, "a.sqlite")) as db:
            found = {row[0]: dict(zip(fields, row[1:])) for row in db.execute(f"SELECT url, {quoted} FROM result")}
            check(found, {u: {k: flat(v) if v else None for k, v in row.items()} for u, row in data.items()})
            check({u: json.loads(j)["data"] for u, j in db.execute("SELECT url, json FROM result")}, data)


def pointed(value, path):
    """The values at a pointer, in which - means every element."""
    if not path:
        return [value]
    name, rest = path[0], path[1:]
    if isinstance(value, list):
        some = value if name == "-" else [value[int(name)]] if name.isdigit() and int(name) < len(value) else []
    else:
        some = [value[name]] if isinstance(value, dict) and name in value else []
    return [v for one in some for v in pointed(one, rest)]


@case
def pointers_find_what_python_finds():
    dice = random.Random(5)
    documents = {f"/{n}": {"id": n, "name": dice.choice(["ä\u2028", "\"q\"", ""]), "price": n / 4, "ok": bool(n % 2), "none": None,
                           "a/b": [{"x": i, "y": {"z": str(i)}} for i in range(n % 4)]} for n in range(20)}
    kinds = ["application/json", "application/vnd.api+json", "text/json; charset=utf-8", "text/plain"]
    table = {path: (200, {"Content-Type": kinds[d["id"] % 4]}, json.dumps(d)) for path, d in documents.items()}
    asked = {"id": "/id", "name": "/name", "price": "/price", "ok": "/ok", "none": "/none", "z": "/a~1b/-/y/z", "last": "/a~1b/2/x", "all": ""}
    words = [w for name, pointer in asked.items() for w in ("--json-pointer", f"{name}={pointer}")]
    with pages(table) as p, tempfile.TemporaryDirectory() as where:
        r = seine("fetch", "-", "--mine", "-q", *words, "--css", "p", "-o", "a.jsonl", "-o", "a.sqlite",
                  stdin="\n".join(p.base + path for path in table), cwd=where)
        check(r.code, 0, r.err)
        with open(os.path.join(where, "a.jsonl"), encoding="utf-8") as f:
            for x in records(f.read()):
                d = documents[x["url"][len(p.base):]]
                want = {name: pointed(d, [w.replace("~1", "/") for w in pointer.split("/")[1:]]) for name, pointer in asked.items()}
                check(x["data"], want, x["url"])
        with sqlite3.connect(os.path.join(where, "a.sqlite")) as db:
            types = set(db.execute('SELECT typeof("id"), typeof(price), typeof("ok"), typeof("none") FROM result'))
            check(types, {("integer", "real", "text", "null")})
            check(sorted(r[0] for r in db.execute('SELECT "id" FROM result')), list(range(20)))


@case
def a_crawl_takes_json_when_pointers_ask_for_it():
    table = {"/": '<a href="/a.json">a</a><a href="/b.pdf">b</a>', "/a.json": (200, {"Content-Type": "application/json"}, '{"id":3}'),
             "/b.pdf": (200, {"Content-Type": "application/pdf"}, "%PDF")}
    with pages(table) as p:
        for words, want in ((("--json-pointer", "/id"), {"/a.json": {"/id": [3]}, "/": None}), (("--css", "h1"), {"/": {"h1": []}})):
            r = seine("crawl", p.base + "/", *QUIET, "-j", *words)
            check({x["url"][len(p.base):]: x.get("data") for x in records(r.out)}, want)


@case
def one_machine_serves_files_and_runs():
    table, made = site(3, 8)
    with pages(table) as p, tempfile.TemporaryDirectory() as where:
        r = seine("fetch", "-", "--mine", "-q", "-j", *FIELDS, "--text", "--jsonld", "--meta", "--ordered", stdin="\n".join(p.base + x for x in made))
        for x, (path, (charset, body)) in zip(records(r.out), made.items()):
            with open(os.path.join(where, "page.html"), "wb") as f:
                f.write(body)
            one = seine("extract", "page.html", "--base", p.base + path, "--charset", charset, *FIELDS, "--text", "--jsonld", "--meta", cwd=where)
            said = json.loads(one.out)
            check({k: said[k] for k in x["data"]}, x["data"], path)


@rows([
    ("%{data.price} %{data.title} %{status}\\n", "1.50|x Home 200\n"),
    ("%{data.none}.%{data.h2 > a}\\n", ".one|two\n"),
    ("%{data.jsonld}\\n", '{"a":1}|[2]\n'),
])
def write_out_prints_values(template, want):
    html = ("<title>Home</title><p class=price>1.50<p class=price>x<h2><a>one</a><a>two</a></h2>"
            '<script type="application/ld+json">{"a":1}</script><script type="application/ld+json">[2]</script>')
    with pages({"/": html}) as p:
        r = seine("fetch", p.base + "/", "--mine", "-q", "--css", "price=.price", "--css", "title=title", "--css", "h2 > a", "--css", "none=q",
                  "--jsonld", "-w", template)
        check((r.out, r.code), (want, 0), r.err)


@rows([
    ("url,data.price", "url,price\n{u},1|2\n"),
    ("data.b,status,data.price", "b,status,price\nx,200,1|2\n"),
    ("status,data.*", "status,price,b\n200,1|2,x\n"),
    ("status", "status\n200\n"),
    ("data", 'data\n"{{""price"":[""1"",""2""],""b"":[""x""]}}"\n'),
])
def fields_choose_columns_of_values(fields, want):
    with pages({"/": "<i>1</i><i>2</i><b>x</b>"}) as p:
        r = seine("fetch", p.base + "/", "--mine", "-q", "-f", "csv", "--css", "price=i", "--css", "b", "--fields", fields)
        check((r.out, r.code), (want.format(u=p.base + "/"), 0), r.err)


@rows([
    ("html_too_deep", "text/html", "<div>" * 300, ("--css", "div", "--meta=a"), {"a": []}),
    ("html_too_complex", "text/html", "<b></b>" * 160000, ("--css", "b"), {}),
    ("selector_timeout", "text/html", "<div>" * 240 + "<b></b>" * 60000, ("--css", "div"), None),
    ("budget", "text/html", "<div>" * 240 + "words and words " * 20000, ("--css", "div@html"), None),
    ("bad_json", "application/json", '{"a":', ("--json-pointer", "/a"), {}),
    ("json_too_deep", "application/json", "[" * 1000, ("--json-pointer", "/a"), {}),
])
def what_cannot_be_read_is_named_and_fails_nothing(kind, content_type, body, words, data):
    with pages({"/": (200, {"Content-Type": content_type}, body)}) as p:
        r = seine("fetch", p.base + "/", "--mine", "-q", "-j", *words)
        one = records(r.out)[0]
        check((r.code, one["ok"], one["extract"]), (0, True, {"error": {"kind": kind}}), r.err)
        if data is not None:
            check(one["data"], data)


@case
def pages_that_failed_and_other_kinds_have_no_data():
    table = {"/gone": (404, {}, "<p>gone</p>"), "/pdf": (200, {"Content-Type": "application/pdf"}, "<p>x</p>"), "/cut": (200, {"Content-Length": 99, "Connection": "close"}, "<p>x</p>")}
    with pages(table) as p:
        r = seine("fetch", *(p.base + path for path in table), "--mine", "-q", "-j", "--css", "p", "--retries", "0", "-m", "2s", "--fail-on", "none")
        check([x for x in records(r.out) if "data" in x], [])
        check(len(records(r.out)), 3)
        r = seine("fetch", p.base + "/gone", "--mine", "-q", "-j", "--css", "p", "--accept", "200-299,404")
        check(records(r.out)[0]["data"], {"p": ["gone"]}, "a status that is accepted")


@case
def mistakes_are_said_before_the_first_request():
    with pages({}) as p:
        for words, said in ((("--css", "p["), "--css: selector 'p[' is not valid: expected an attribute name after '[', at byte 2"),
                            (("--css", "a::text"), "try: a@text"),
                            (("--json-pointer", "x"), "--json-pointer: 'x' is no JSON pointer"),
                            (("--css", "x=a", "--css", "X=b"), "--css: a field of the name 'X' is there already"),
                            (("--css", "x=a", "--fields", "url,data.y", "-f", "csv"), "data.y")):
            r = seine("fetch", p.base + "/", *words)
            check((r.code, said in r.err), (2, True), r.err)
        check(p.asked, [])


@case
def rows_are_added_to_a_database_that_lacks_their_columns():
    with pages({"/a": "<b>1</b>", "/b": "<i>2</i>", "/c": "<u>3</u>"}) as p, tempfile.TemporaryDirectory() as where:
        for path, words in (("/a", ()), ("/b", ("--css", "two=i")), ("/c", ("--css", "three=u")), ("/a", ())):
            r = seine("fetch", p.base + path, "--mine", "-q", *words, "-o", "a.sqlite", "--append", cwd=where)
            check(r.code, 0, r.err)
        with sqlite3.connect(os.path.join(where, "a.sqlite")) as db:
            check(sorted(db.execute("SELECT substr(url, -1), two, three FROM result")), [("a", None, None), ("b", "2", None), ("c", None, "3")])
        r = seine("convert", "a.sqlite", "-", cwd=where)
        check([x.get("data") for x in records(r.out) if "data" in x], [{"two": ["2"]}, {"three": ["3"]}], "convert keeps data")


@case
def a_killed_job_loses_no_value_and_doubles_none():
    with served(23) as (p, want, where):
        words = ("crawl", p.base + "/p/1", *PACE, *FIELDS, "--job", "j", "-o", "all.jsonl", "-o", "all.csv", "-o", "all.sqlite")
        _, r = to_the_end(where, *words, kills=3, step=40000)
        check(r is None or r.code == 0, True, r and r.err)
        with open(os.path.join(where, "all.jsonl"), encoding="utf-8") as f:
            got = [(x["url"], x["data"]) for x in records(f.read()) if x["ok"]]
        check(len(got), len(dict(got)))
        check(len(got) > 50, True, f"{len(got)} pages")
        for url, data in got:
            check(data, want[url], url)
        with sqlite3.connect(os.path.join(where, "all.sqlite")) as db:
            check(dict(db.execute("SELECT url, h1 FROM result WHERE outcome = 'ok'")), {u: flat(d["h1"]) or None for u, d in got})
        with open(os.path.join(where, "all.csv"), encoding="utf-8", newline="") as f:
            check({row["url"]: row["h1"] for row in csv.DictReader(f) if row["outcome"] == "ok"}, {u: flat(d["h1"]) for u, d in got})


@case
def bodies_that_are_read_stay_within_the_memory():
    body = "<p>" + "words and words " * 400000  # 6.4 MB
    with pages({f"/{n}": body for n in range(12)}) as p, tempfile.TemporaryDirectory() as where:
        words = ("fetch", *(f"{p.base}/{n}" for n in range(12)), "--mine", "-q", "--css", "n=p[id]", "--max-memory", "48M", "-c", "12", "-o", "a.jsonl")
        child = subprocess.Popen([os.path.abspath(PROGRAM), *words], cwd=where, env=environment())
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        with open(os.path.join(where, "a.jsonl"), encoding="utf-8") as f:
            check((child.returncode, [x["data"] for x in records(f.read())]), (0, [{"n": []}] * 12))
        if not SANITIZED:
            check(usage.ru_maxrss < 60 << 10, True, f"{usage.ru_maxrss} KiB of memory")


finish(at_once=4)
