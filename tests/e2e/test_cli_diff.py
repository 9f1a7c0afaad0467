#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine diff: what it says is what a second comparison of the records says."""
import csv
import io
import json
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import SEED, case, check, finish, patiently, rows, seine  # noqa: E402
from origin import origin  # noqa: E402


def record(url, status=200, **more):
    r = {"v": 1, "type": "result", "url": url, "key": url, "outcome": "ok" if status == 200 else "http_error", "status": status, "attempts": 1,
         "bytes_body": 10, "time": {"ttfb": 40}, "title": "T"}
    if status != 200:
        r["error"] = {"kind": "http"}
    r.update(more)
    return r


def write(folder, name, records):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        f.writelines(json.dumps(r) + "\n" for r in records)


def two_runs(seed):
    rng = random.Random(seed)
    old = [record(f"http://e.example/{i}", title=f"T{i}") for i in range(800)]
    new = []
    for r in rng.sample(old, 760):
        r = json.loads(json.dumps(r))
        what = rng.random()
        if what < 0.05:
            r.update(status=404, outcome="http_error", error={"kind": "http"})
        elif what < 0.1:
            r["title"] += " \u00e4 <b>"
        elif what < 0.15:
            r["bytes_body"] += 5
        elif what < 0.2:
            r["time"]["ttfb"] = 400
        new.append(r)
    return old, new + [record(f"http://e.example/new/{i}") for i in range(30)]


def second(old, new):
    """The same comparison, plainly."""
    a, b = {r["key"]: r for r in old}, {r["key"]: r for r in new}
    out = {"added": set(b) - set(a), "removed": set(a) - set(b), "changed": set(), "slower": set(), "faster": set(), "same": set()}
    for key in set(a) & set(b):
        x, y = a[key], b[key]
        if any(x[m] != y[m] for m in ("status", "outcome", "title", "bytes_body")):
            out["changed"].add(key)
        elif y["time"]["ttfb"] >= 2 * x["time"]["ttfb"] and y["time"]["ttfb"] - x["time"]["ttfb"] >= 100:
            out["slower"].add(key)
        else:
            out["same"].add(key)
    return out


@case
def it_says_what_a_second_comparison_says():
    with tempfile.TemporaryDirectory() as folder:
        old, new = two_runs(SEED)
        write(folder, "a.jsonl", old)
        write(folder, "b.jsonl", new)
        r = seine("diff", "a.jsonl", "b.jsonl", "-f", "json", cwd=folder)
        lines, want = [json.loads(line) for line in r.out.splitlines()], second(old, new)
        check((r.code, r.err), (1, ""))
        for kind in ("added", "removed", "changed", "slower", "faster"):
            check({x["url"] for x in lines if x["kind"] == kind}, want[kind], kind)
        check({k: lines[-1][k] for k in want}, {k: len(v) for k, v in want.items()})
        b = {x["key"]: x for x in new}
        for x in lines:
            if "title" in x.get("changes", {}):
                check(x["changes"]["title"], [b[x["url"]]["title"].split(" ")[0], b[x["url"]]["title"]])


@rows([("b.sqlite",), ("b.jsonl.gz",)])
def the_format_of_a_run_is_no_difference(name):
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "a.jsonl", two_runs(SEED)[0])
        check(seine("convert", "-q", "a.jsonl", name, cwd=folder).code, 0)
        r = seine("diff", "a.jsonl", name, cwd=folder)
        check((r.code, r.out.splitlines()[0]), (0, "0 added, 0 removed, 0 changed, 0 slower, 0 faster, 800 same"), r.err)


@rows([("text", "- http://e.example/<b>|x\n+ http://e.example/2\n~ http://e.example/1  outcome ok → 404, status 200 → 404\n> http://e.example/3  40 ms → 400 ms\n"
                "1 added, 1 removed, 1 changed (outcome ×1, status ×1), 1 slower, 0 faster, 0 same\n"
                "latency p50 40 ms → 40 ms, p95 40 ms → 400 ms, p99 40 ms → 400 ms\n"),
       ("csv", "kind,url,field,old,new\nremoved,http://e.example/<b>|x,outcome,ok,\nadded,http://e.example/2,outcome,,ok\n"
               "changed,http://e.example/1,outcome,ok,404\nchanged,http://e.example/1,status,200,404\nslower,http://e.example/3,ms,40.000,400.000\n"),
       ("md", "# a.jsonl → b.jsonl\n\n## 1 removed\n\n- http://e.example/&lt;b>\\|x\n\n## 1 added\n\n- http://e.example/2\n\n## 1 changed\n\n"
              "- http://e.example/1  outcome ok → 404, status 200 → 404\n\n## 1 slower\n\n- http://e.example/3  40 ms → 400 ms\n\n"
              "1 added, 1 removed, 1 changed (outcome ×1, status ×1), 1 slower, 0 faster, 0 same\n"
              "latency p50 40 ms → 40 ms, p95 40 ms → 400 ms, p99 40 ms → 400 ms\n")], name=lambda row: row[0])
def each_form_is_as_documented(form, want):
    with tempfile.TemporaryDirectory() as folder:
        base = "http://e.example/"
        write(folder, "a.jsonl", [record(base + "1"), record(base + "3"), record(base + "<b>|x")])
        write(folder, "b.jsonl", [record(base + "1", 404), record(base + "2"), record(base + "3", time={"ttfb": 400})])
        r = seine("diff", "a.jsonl", "b.jsonl", "-f", form, cwd=folder)
        check(r.out, want)
        check(r.code, 1)


@case
def a_long_list_of_markdown_ends_with_its_number_and_csv_has_all():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "a.jsonl", [record("http://e.example/")])
        write(folder, "b.jsonl", [record("http://e.example/")] + [record(f"http://e.example/{i}") for i in range(1205)])
        check("and 1,005 more" in seine("diff", "a.jsonl", "b.jsonl", "-f", "md", cwd=folder).out, True)
        check(len(list(csv.reader(io.StringIO(seine("diff", "a.jsonl", "b.jsonl", "-f", "csv", cwd=folder).out)))), 1206)


@case
def fields_are_those_that_are_asked_for():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "a.jsonl", [record("http://e.example/", title="a")])
        write(folder, "b.jsonl", [record("http://e.example/", title="b")])
        check(seine("diff", "a.jsonl", "b.jsonl", "--fields", "status,length", cwd=folder).code, 0)
        check(seine("diff", "a.jsonl", "b.jsonl", "--fields", "title", cwd=folder).code, 1)
        r = seine("diff", "a.jsonl", "b.jsonl", "--fields", "tilte", cwd=folder)
        check((r.code, "'tilte'" in r.err), (2, True), r.err)


@rows([(("a.jsonl", "none.jsonl"), "no file and no job"), (("-", "a.jsonl"), "only once"), (("a.jsonl", "x.csv"), "no records"), (("a.jsonl",), "")])
def what_cannot_be_compared_is_exit_2(words, why):
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "a.jsonl", [record("http://e.example/")])
        with open(os.path.join(folder, "x.csv"), "w", encoding="utf-8") as f:
            f.write("name,n\nUlm,1\n")
        r = seine("diff", *words, cwd=folder)
        check((r.code, r.out, why in r.err), (2, "", True), r.err)


@case
def two_runs_of_a_site_differ_in_what_the_site_changed():
    """A machine with other things to do is twice as slow at times, and what differs then is not the site."""
    def run(_):
        with tempfile.TemporaryDirectory() as folder, origin() as o:
            for name, last in (("a.jsonl", "/status:404"), ("b.jsonl", "/bytes:9")):
                seine("fetch", o.url("/ok"), o.url("/bytes:5"), o.url(last), "-o", name, "--mine", "--proxy", "off", cwd=folder)
            r = seine("diff", "a.jsonl", "b.jsonl", cwd=folder)
            check((r.code, r.out.splitlines()[:3]), (1, ["- " + o.url("/status:404") + "  404", "+ " + o.url("/bytes:9"),
                                                        "1 added, 1 removed, 0 changed, 0 slower, 0 faster, 2 same"]), r.out)
    patiently(run)


finish()
