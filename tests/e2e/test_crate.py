#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`seine crate`: what it asks, what follows from the answers, and what it says where there are none.

covers: S3-01, S3-06
"""
import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from crates import Registry, advisories, affected, answers_of_vectors, edge_versions, made_crate  # noqa: E402
from e2e import (PROGRAM, ROOT, SOAKED, VECTORS, case, check, environment, finish, needs_vectors, patiently, rows,  # noqa: E402
                 seine, taken, until)
from terminal import Terminal  # noqa: E402

NOW = ("--now", "2026-11-15")
MEMBERS = ["name", "version", "downloads", "recent_downloads", "documentation", "repository", "homepage", "license", "keywords", "categories",
           "dependencies", "dev_dependencies", "quality_score", "security_audit", "maintenance_status", "build_dependencies", "maintenance_reason",
           "recommendation", "reasons"]


def ask(site, *words, rate="off", env=None):
    return seine("crate", *words, "--api", site.api, *(() if "--osv-api" in words else ("--osv-api", site.osv)), "--host-rate", rate,
                 "--backoff", "1ms..2ms", *(() if "--now" in words else NOW), env=env)


def objects(result):
    return [json.loads(line) for line in result.out.splitlines()]


def one(site, *words):
    r = ask(site, *words)
    check(r.code, 0, r.err)
    return objects(r)[0]


def hang(handler, over):
    """Answers nothing until it is over, and then hangs up."""
    over.wait(60)
    handler.close_connection = True


@case
@needs_vectors
def the_scores_of_real_crates_are_those_of_the_seed():
    with Registry(answers_of_vectors(VECTORS)) as site:
        r = ask(site, "bitflags", "regex", "xdg", "elasticlunr-rs", "es-entity")
    check(r.code, 0, r.err)
    check([(o["name"], o["version"], o["quality_score"]) for o in objects(r)],
          [("bitflags", "1.0.1", 1.0), ("regex", "1.0.0", 0.9), ("xdg", "2.1.0", 0.85), ("elasticlunr-rs", "2.2.0", 0.8), ("es-entity", "0.3.23", 0.6)])
    check({o["maintenance_status"] for o in objects(r)}, {"Community"})
    for line in r.out.splitlines():
        check(re.search(r'"quality_score":[01]\.\d\d,', line) is not None, True, line)


@case
def members_stand_in_the_order_of_the_contract_and_absent_ones_are_null():
    dependencies = {"a": [("bytes", "^1.2.1", "normal", ["std"]), ("mockall", "^0.11", "dev", []), ("cc", "1", "build", [])]}
    with Registry({"a": made_crate("a", documentation={}, homepage="")}, dependencies) as site:
        o = one(site, "a")
    check(list(o), MEMBERS)
    check((o["documentation"], o["homepage"], o["license"]), (None, None, "MIT"))
    check(o["dependencies"], [{"name": "bytes", "version": "^1.2.1", "features": ["std"]}])
    check(o["dev_dependencies"], [{"name": "mockall", "version": "^0.11", "features": []}])
    check(o["build_dependencies"], [{"name": "cc", "version": "1", "features": []}])
    check(list(o["security_audit"]), ["vulnerabilities", "last_audit", "security_score", "advisories"])
    check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", o["security_audit"]["last_audit"]) is not None, True)
    check((o["maintenance_reason"], o["recommendation"], o["reasons"]), ("last release 41 days ago", "use", []))


@case
def the_requests_are_those_of_the_contract():
    with Registry({"a": made_crate("a", "1.2.3-rc.1+b")}) as site:
        check(ask(site, "a", "--contact", "me@e.example").code, 0)
        check(sorted(site.paths()), ["/api/v1/crates/a", "/api/v1/crates/a/1.2.3-rc.1+b", "/api/v1/crates/a/1.2.3-rc.1+b/dependencies", "/v1/query"])
        for _, method, path, headers, body in site.asked:
            check("(+me@e.example)" in headers["User-Agent"], True)
            if path == "/v1/query":
                check((method, json.loads(body)), ("POST", {"package": {"name": "a", "ecosystem": "crates.io"}, "version": "1.2.3-rc.1+b"}))


@case
def s3_06_requests_are_paced_and_tried_again():
    def run(scale):
        with Registry({"a": made_crate("a")}) as site:
            site.says["/api/v1/crates/a"] = [(503, {}), (500, {})]
            site.says["/v1/query"] = [(503, {})]
            r = ask(site, "a", rate=f"{20 / scale}/s")
            check((r.code, len(objects(r))), (0, 1), r.err)
            times = [at for at, *_ in site.asked]
        check(len(times), 7)  # four that are needed, three again
        check(min(b - a for a, b in zip(times, times[1:])) > 0.030 * scale, True)  # 50 ms apart as they leave, times the scale
    patiently(run)


@case
def by_default_a_host_is_asked_once_in_a_second():
    row = next(json.loads(line) for line in seine("help", "--json").out.splitlines() if '"crate"' in line and '"host-rate"' in line)
    check(row["default"], "1/s")


@case
def s3_01_the_breaker_ends_what_only_fails():
    with Registry({}) as site:
        for i in range(60):
            site.says[f"/api/v1/crates/c{i}"] = [(503, {})] * 3
        r = ask(site, *(f"c{i}" for i in range(60)), "--retries", "0", "--breaker", "fail=3,open=20ms")
        check(len(site.asked) < 40, True, str(len(site.asked)))
    check((r.code, r.out), (5, ""), r.err)
    check(len(re.findall(r"^seine: c\d+: ", r.err, re.M)), 60)  # each of them says how it ended


@case
def s3_01_a_success_sets_the_breaker_back():
    with Registry({f"c{i}": made_crate(f"c{i}") for i in range(30)}) as site:
        for i in (0, 8, 16, 24):  # more than three, never three in a row
            site.says[f"/api/v1/crates/c{i}"] = [(503, {})]
        r = ask(site, *(f"c{i}" for i in range(30)), "--retries", "0", "--breaker", "fail=3,open=60s")
    check((r.code, len(objects(r))), (1, 26), r.err)


@case
def an_unknown_crate_is_said_and_the_others_are_analysed():
    with Registry({"a": made_crate("a"), "b": made_crate("b")}) as site:
        r = ask(site, "a", "nosuch", "b", "a@9.9.9")
    check((r.code, [o["name"] for o in objects(r)]), (1, ["a", "b"]), r.err)
    check(r.err, "seine: nosuch: no such crate\ntry: another name\nseine: a: no version 9.9.9\ntry: another name\n"
          if r.err.startswith("seine: nosuch") else "seine: a: no version 9.9.9\ntry: another name\nseine: nosuch: no such crate\ntry: another name\n")


@case
def a_request_that_takes_too_long_fails_its_crate_alone():
    def run(scale):
        over = threading.Event()
        with Registry({"a": made_crate("a"), "slow": made_crate("slow")}) as site:
            site.says["/api/v1/crates/slow/1.0.0"] = [lambda handler: hang(handler, over)]
            try:
                r = ask(site, "a", "slow", "--retries", "0", "--timeout", f"{scale}s")
            finally:
                over.set()
        check((r.code, [o["name"] for o in objects(r)]), (1, ["a"]), r.err)
        check("seine: slow: http://127.0.0.1" in r.err and "/slow/1.0.0" in r.err, True, r.err)
    patiently(run)


CRATE = "/api/v1/crates/a"


@rows([
    (CRATE, b"<html>", "the answer is no JSON"),
    (CRATE, b"", "the answer is no JSON"),
    (CRATE, b"[]", "'crate' is missing"),
    (CRATE, b'{"crate":[]}', "'crate' is an array where an object is wanted"),
    (CRATE, b'{"crate":{"name":"b","downloads":1,"max_version":"1.0.0"}}', "it is about 'b'"),
    (CRATE, b'{"crate":{"name":"../x","downloads":1,"max_version":"1.0.0"}}', "it is about '../x'"),
    (CRATE, b'{"crate":{"name":"a","max_version":"1.0.0"}}', "'downloads' is missing"),
    (CRATE, b'{"crate":{"name":"a","downloads":-1,"max_version":"1.0.0"}}', "'downloads' is no count"),
    (CRATE, b'{"crate":{"name":"a","downloads":1.5,"max_version":"1.0.0"}}', "'downloads' is no count"),
    (CRATE, b'{"crate":{"name":"a","downloads":1,"recent_downloads":"9","max_version":"1.0.0"}}', "'recent_downloads' is no count"),
    (CRATE, b'{"crate":{"name":"a","downloads":1}}', "names no version"),
    (CRATE, b'{"crate":{"name":"a","downloads":1,"max_version":"../../x"}}', "names no version"),
    (CRATE, b'{"errors":[{"detail":"crate `a` does not exist"}]}', "'crate `a` does not exist'"),
    (CRATE + "/1.0.0", b'{"version":null}', "'version' is null where an object is wanted"),
    (CRATE + "/1.0.0", b'{"version":{"num":"2.0.0"}}', "it is about version '2.0.0'"),
    (CRATE + "/1.0.0/dependencies", b"{}", "'dependencies' is no list"),
    (CRATE + "/1.0.0/dependencies", b'{"dependencies":[{"crate_id":"x"}]}', "no 'crate_id' and 'req'"),
    (CRATE + "/1.0.0/dependencies", b'{"dependencies":[7]}', "no 'crate_id' and 'req'"),
    (CRATE + "/1.0.0/dependencies", b'{"dependencies":[{"crate_id":"x","req":"1","features":"std"}]}', "'features' of 'x' is no list of texts"),
], name=lambda row: f"{row[0][16:]} {row[1].decode()}")
def an_answer_of_another_shape_is_said_and_the_others_are_analysed(path, body, why):
    with Registry({"a": made_crate("a"), "b": made_crate("b")}) as site:
        site.says[path] = [(200, body)]
        r = ask(site, "a", "b")
    check((r.code, [o["name"] for o in objects(r)]), (1, ["b"]), r.err)
    check(r.err.startswith("seine: a: ") and why in r.err, True, r.err)
    check(r.err.count("seine: "), 1, r.err)


@rows([("status", (404, {}), "status 404"), ("no JSON", (200, b"no"), "the answer is no JSON"), ("a list", (200, []), "'vulns' is no list"),
       ("vulns", (200, {"vulns": {}}), "'vulns' is no list"), ("no id", (200, {"vulns": [{}]}), "an entry has no 'id'")])
def without_an_answer_of_osv_nothing_is_claimed(_, says, why):
    with Registry({"a": made_crate("a")}) as site:
        site.says["/v1/query"] = [says]
        r = ask(site, "a", "--retries", "0")
    check(r.code, 1, r.err)
    check("seine: a: no advisories from OSV: " in r.err and why in r.err, True, r.err)
    o = objects(r)[0]
    check(o["security_audit"], {"vulnerabilities": None, "last_audit": None, "security_score": None, "advisories": []})
    check((o["recommendation"], o["reasons"]), ("caution", ["unaudited"]))


@case
def osv_is_not_asked_when_it_is_off():
    with Registry({"a": made_crate("a")}) as site:
        r = ask(site, "a", "--osv-api", "off")
        check("/v1/query" in site.paths(), False)
    check((r.code, objects(r)[0]["security_audit"]["vulnerabilities"]), (0, None), r.err)


def advisory(name, vector=None, patched=(), **more):
    about = {"id": name, "package": "a", **more}
    if vector:
        about["cvss"] = vector
    return {"advisory": about, "versions": {"patched": list(patched)}}


CRITICAL = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"
HIGH = "CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N"
MEDIUM = "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N"
LOW = "CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:U/C:L/I:N/A:N"
V4 = "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N"


@rows([
    ("none", [], 0, 1.0, "use", []),
    ("critical", [advisory("X-1", CRITICAL)], 1, 0.5, "avoid", ["X-1 critical (9.8)"]),
    ("two critical", [advisory("X-1", CRITICAL), advisory("X-2", CRITICAL), advisory("X-3", CRITICAL)], 3, 0.0, "avoid",
     ["X-1 critical (9.8)", "X-2 critical (9.8)", "X-3 critical (9.8)"]),
    ("high", [advisory("X-1", HIGH)], 1, 0.7, "avoid", ["X-1 high (7.5)"]),
    ("medium", [advisory("X-1", MEDIUM)], 1, 0.85, "caution", ["X-1 medium (6.1)"]),
    ("low", [advisory("X-1", LOW)], 1, 0.95, "caution", ["X-1 low (3.1)"]),
    ("unknown", [advisory("X-1")], 1, 0.8, "caution", ["X-1 vulnerability of unknown severity"]),
    ("version 4 of CVSS", [advisory("X-1", V4)], 1, 0.8, "caution", ["X-1 vulnerability of unknown severity"]),
    ("unsound", [advisory("X-1", informational="unsound")], 0, 0.95, "caution", ["X-1 unsound"]),
    ("notice", [advisory("X-1", informational="notice")], 0, 1.0, "use", []),
    ("withdrawn", [advisory("X-1", CRITICAL, withdrawn="2026-01-01")], 0, 1.0, "use", []),
    ("patched", [advisory("X-1", CRITICAL, patched=[">= 1.0.0"])], 0, 1.0, "use", []),
    ("unmaintained", [advisory("X-1", informational="unmaintained")], 0, 1.0, "avoid", ["X-1 unmaintained"]),
    ("worst first", [advisory("X-1", LOW), advisory("X-2", HIGH), advisory("X-3", informational="unsound")], 2, 0.6, "avoid",
     ["X-2 high (7.5)", "X-1 low (3.1)", "X-3 unsound"]),
    ("an alias", [advisory("GHSA-1", aliases=["CVE-1"]), advisory("RUSTSEC-1", HIGH, aliases=["CVE-1"])], 1, 0.7, "avoid", ["RUSTSEC-1 high (7.5)"]),
    ("a chain of aliases", [advisory("A", aliases=["B"]), advisory("C", LOW, aliases=["D"]), advisory("D", aliases=["B"])], 1, 0.95, "caution",
     None),
])
def advisories_count_by_their_severity(_, known, count, score, verdict, reasons):
    for page in (None, 1):
        with Registry({"a": made_crate("a")}, known={"a": known}, page=page) as site:
            o = one(site, "a")
        audit = o["security_audit"]
        check((audit["vulnerabilities"], audit["security_score"], o["recommendation"]), (count, score, verdict))
        check(reasons is None or o["reasons"] == reasons, True, str(o["reasons"]))
        listed = sum(a["advisory"].get("informational") != "unmaintained" and "withdrawn" not in a["advisory"] for a in known)
        check(len(audit["advisories"]) <= listed, True)


@case
def the_severity_of_the_database_counts_where_there_is_no_vector():
    for word, score in (("CRITICAL", 0.5), ("HIGH", 0.7), ("MODERATE", 0.85), ("LOW", 0.95), ("WHO KNOWS", 0.8), (7, 0.8)):
        with Registry({"a": made_crate("a")}) as site:
            site.says["/v1/query"] = [(200, {"vulns": [{"id": "GHSA-1", "database_specific": {"severity": word}}]})]
            check(one(site, "a")["security_audit"]["security_score"], score, str(word))


@case
def pages_of_osv_that_never_end_are_no_answer():
    with Registry({"a": made_crate("a")}) as site:
        site.says["/v1/query"] = [(200, {"vulns": [{"id": f"X-{i}"}], "next_page_token": "again"}) for i in range(200)]
        r = ask(site, "a")
        check(site.paths().count("/v1/query"), 100)
    check((r.code, objects(r)[0]["security_audit"]["vulnerabilities"]), (1, None), r.err)
    check("more than 100 pages" in r.err, True)


OLD, DEAD = "2025-11-14T00:00:00Z", "2023-11-15T00:00:00Z"  # 366 and 1,096 days before


def aged(when, **more):
    crate = made_crate("a", **more)
    crate["versions"][0]["created_at"] = when
    return crate


def badge(status):
    return {"badges": [{"badge_type": "travis-ci", "attributes": {"status": "deprecated"}}, {"badge_type": "maintenance", "attributes": {"status": status}}]}


@rows([
    ("active", made_crate("a"), "Active", "last release 41 days ago"),
    ("today", aged("2026-11-15T23:59:59Z"), "Active", "last release today"),
    ("yesterday", aged("2026-11-14T23:59:59+00:00"), "Active", "last release 1 day ago"),
    ("365 days", aged("2025-11-15T00:00:00Z"), "Active", "last release 365 days ago"),
    ("366 days", aged(OLD), "Community", "last release 366 days ago"),
    ("1,096 days, used", aged(DEAD, recent_downloads=10000), "Community", "last release 1,096 days ago"),
    ("1,096 days, not used", aged(DEAD, recent_downloads=9999), "Archived", "last release 1,096 days ago, 9,999 recent downloads"),
    ("1,095 days, not used", aged("2023-11-16T00:00:00Z", recent_downloads=1), "Community", "last release 1,095 days ago"),
    ("as-is", made_crate("a", **badge("as-is")), "Community", "maintenance badge 'as-is'"),
    ("passive", made_crate("a", **badge("passively-maintained")), "Community", "maintenance badge 'passively-maintained'"),
    ("looking", made_crate("a", **badge("looking-for-maintainer")), "Community", "maintenance badge 'looking-for-maintainer'"),
    ("badge none", made_crate("a", **badge("none")), "Archived", "maintenance badge 'none'"),
    ("badge deprecated", made_crate("a", **badge("deprecated")), "Deprecated", "maintenance badge 'deprecated'"),
    ("badge active", made_crate("a", **badge("actively-developed")), "Active", "last release 41 days ago"),
    ("says so", made_crate("a", description="  [DEPRECATED] use b"), "Deprecated", "the description says so"),
    ("says so", made_crate("a", description="This crate has been deprecated."), "Deprecated", "the description says so"),
    ("says so", made_crate("a", description="Deprecated in favour of b"), "Deprecated", "the description says so"),
    ("says so", made_crate("a", description="A thing (unmaintained)"), "Deprecated", "the description says so"),
    ("says so", made_crate("a", description="superseded by b"), "Deprecated", "the description says so"),
    ("says so", made_crate("a", description="Has moved to b"), "Deprecated", "the description says so"),
    ("finds others", made_crate("a", description="Finds deprecated functions; well maintained, renamed often"), "Active", "last release 41 days ago"),
    ("yanked", {**made_crate("a"), "versions": [{"num": "1.0.0", "created_at": OLD, "yanked": True}]}, "Deprecated", "every version is yanked"),
    ("newest yanked", {**made_crate("a"), "versions": [{"num": "1.0.0", "created_at": OLD, "yanked": False},
                                                       {"num": "1.0.1", "created_at": "2026-11-01T00:00:00Z", "yanked": True}]},
     "Community", "last release 366 days ago"),
    ("no times", {**made_crate("a"), "versions": [{"num": "1.0.0", "created_at": "[datetime]", "yanked": False}]}, "Active",
     "the time of the last release is unknown"),
], name=lambda row: f"{row[0]}: {row[3]}")
def the_status_is_that_of_the_first_rule_that_fits(_, crate, status, why):
    with Registry({"a": crate}) as site:
        o = one(site, "a")
    check((o["maintenance_status"], o["maintenance_reason"]), (status, why))
    check(o["recommendation"], {"Active": "use", "Community": "caution"}.get(status, "avoid"))


@rows([(1000000, 25), (1000001, 30), (100000, 20), (100001, 25), (10000, 10), (10001, 20), (1000, 0), (1001, 10), (0, 0)], name=lambda row: row[0])
def downloads_count_strictly_above_each_step(downloads, points):
    bare = dict(documentation=None, repository=None, keywords=[], recent_downloads=None)
    with Registry({"a": made_crate("a", downloads=downloads, **bare)}) as site:
        o = one(site, "a", "-v")
    check(o["quality_score"], (points + 10) / 100)  # the licence counts 10
    check(o["quality_parts"], {"downloads": points / 100, "documentation": 0, "repository": 0, "license": 0.1, "keywords": 0, "recent": 0})


@case
def recent_downloads_are_more_than_a_tenth():
    for downloads, recent, has in ((109, 10, False), (109, 11, True), (9, 0, False), (9, 1, True)):
        with Registry({"a": made_crate("a", downloads=downloads, recent_downloads=recent)}) as site:
            check(one(site, "a")["quality_score"], 0.7 if has else 0.55, f"{recent} of {downloads}")


@case
def keywords_and_categories_may_stand_at_the_top_of_the_answer():
    top = {**made_crate("a", keywords=None, categories=None), "keywords": [{"id": "k1", "keyword": "k1"}], "categories": [{"id": "c::d", "slug": "c::d"}]}
    with Registry({"a": top}) as site:
        o = one(site, "a")
    check((o["keywords"], o["categories"], o["quality_score"]), (["k1"], ["c::d"], 1.0))


@case
def crates_are_listed_best_first():
    crates = {"worse": made_crate("worse", documentation=None), "z": made_crate("z"), "b": made_crate("b"), "more": made_crate("more", downloads=3_000_000),
              "old": aged(OLD), "gone": made_crate("gone", **badge("deprecated"))}
    crates["old"]["crate"]["name"] = "old"
    with Registry(crates) as site:
        r = ask(site, *crates)
    check([(o["name"], o["recommendation"]) for o in objects(r)],
          [("more", "use"), ("b", "use"), ("z", "use"), ("worse", "use"), ("old", "caution"), ("gone", "avoid")])


@rows([
    ("quality below", ["--fail-under", "1"], dict(documentation=None), [], "quality 0.80 is below --fail-under 1.00"),
    ("quality is enough", ["--fail-under", "0.80"], dict(documentation=None), [], None),
    ("vulnerable", ["--deny", "vulnerable"], {}, [advisory("X-1", LOW)], "vulnerable: X-1"),
    ("not vulnerable", ["--deny", "vulnerable"], {}, [advisory("X-1", informational="unsound")], None),
    ("unsound", ["--deny", "vulnerable,unsound"], {}, [advisory("X-1", informational="unsound")], "unsound"),
    ("unmaintained", ["--deny", "unmaintained"], {}, [advisory("X-1", informational="unmaintained")], "unmaintained: X-1 unmaintained"),
    ("maintained", ["--deny", "unmaintained", "--deny", "unsound", "--deny", "vulnerable"], {}, [], None),
    ("licence", ["--deny", "mit"], {}, [], "licence MIT"),
    ("another licence", ["--deny", "GPL-3.0"], {}, [], None),
    ("unaudited", ["--deny", "vulnerable", "--osv-api", "off"], {}, [], "unaudited: nobody can say whether it is vulnerable"),
])
def gates_that_are_not_met_exit_with_6(_, words, more, known, why):
    with Registry({"a": made_crate("a", **more), "b": made_crate("b")}, known={"a": known}) as site:
        r = ask(site, "a", "nosuch", *words)
    check((r.code, len(objects(r))), (6 if why else 1, 1), r.err)
    check(f"seine: gate: a 1.0.0: {why}\n" in r.err if why else "gate" not in r.err, True, r.err)


@case
def dependencies_are_analysed_as_deep_as_wished_each_once():
    crates = {name: made_crate(name) for name in ("a", "b", "c", "d", "e")}
    crates["b"]["versions"] = [{"num": num, "created_at": "2026-11-01T00:00:00Z", "yanked": num == "1.3.0", "license": "MIT"}
                               for num in ("2.0.0", "1.0.0", "1.4.0-rc.1", "1.3.0", "1.2.9", "1.10.0")]
    crates["b"]["crate"]["max_version"] = "2.0.0"
    dependencies = {"a": [("b", "^1.2, <1.9", "normal", []), ("c", "*", "normal", []), ("e", "1", "dev", [])],
                    "b": [("c", "1", "normal", []), ("d", "no requirement", "normal", [])], "d": [("a", "1", "normal", [])]}
    for levels, names in (("0", ["a"]), ("1", ["a", "b", "c"]), ("2", ["a", "b", "c", "d"]), ("9", ["a", "b", "c", "d"])):
        with Registry(crates, dependencies) as site:
            r = ask(site, "a", "-l", levels)
            check(len(set(site.paths()) - {"/v1/query"}), 3 * len(names), levels)
        check((r.code, sorted(o["name"] for o in objects(r))), (0, names), r.err)
        check([o["version"] for o in objects(r) if o["name"] == "b"], ["1.2.9"] * (levels != "0"))


@case
def a_dependency_without_a_name_is_said_and_not_asked_for():
    with Registry({"a": made_crate("a")}, {"a": [("../../x", "1", "normal", []), ("x?y", "1", "normal", [])]}) as site:
        r = ask(site, "a", "-l", "1")
        check(len(site.asked), 4)
    check((r.code, len(objects(r))), (1, 1))
    check(r.err, "seine: a: its dependency '../../x' has no name of a crate\nseine: a: its dependency 'x?y' has no name of a crate\n")


@case
def stable_passes_over_prereleases():
    with Registry({"a": {**made_crate("a", "2.0.0-rc.1", max_stable_version="1.0.0"),
                         "versions": [{"num": n, "created_at": OLD, "yanked": False, "license": None} for n in ("2.0.0-rc.1", "1.0.0", "0.9.0")]},
                   "b": made_crate("b", max_stable_version=None)}) as site:
        check(one(site, "a")["version"], "2.0.0-rc.1")
        check(one(site, "a", "--stable")["version"], "1.0.0")
        check(one(site, "analyze", "a@0.9.0", "--stable")["version"], "0.9.0")
        check(one(site, "b", "--stable")["version"], "1.0.0")


def listed(crate, *versions):
    """The answer about a crate with (number, is it yanked?) for its versions."""
    return {**crate, "versions": [{"num": num, "created_at": OLD, "yanked": yanked, "license": "MIT"} for num, yanked in versions]}


@rows([("all are yanked", "0.0.0", [("0.5.0", True), ("1.0.0", True)], "1.0.0", "Deprecated"),
       ("one is not", "0.0.0", [("1.0.0", True), ("0.5.1", False)], "0.5.1", "Community"),
       ("it is there", "0.0.0", [("0.0.0", False)], "0.0.0", "Community"),
       ("it is the newest", "2.0.0", [("1.0.0", False), ("2.0.0", False)], "2.0.0", "Community")], name=lambda row: row[0].replace(" ", "_"))
def a_version_that_the_registry_names_and_does_not_have_is_not_asked_for(_, named, versions, num, status):
    """crates.io names 0.0.0 as the newest where all versions are yanked."""
    with Registry({"a": listed(made_crate("a", named), *versions)}) as site:
        o = one(site, "a")
    check((o["version"], o["maintenance_status"]), (num, status), o)


@case
def a_dependency_is_one_of_the_versions_that_its_requirement_allows():
    crates = {"a": made_crate("a"), "b": listed(made_crate("b"), ("1.0.0", False), ("0.1.0", True), ("0.1.1", True)),
              "c": listed(made_crate("c"), ("1.0.0", False), ("0.2.0-rc.1", False))}
    with Registry(crates, {"a": [("b", "^0.1", "normal", []), ("c", "^0.2", "normal", [])]}) as site:
        r = ask(site, "a", "-l", "1")
    check((r.code, [(o["name"], o["version"]) for o in objects(r)]), (1, [("a", "1.0.0"), ("b", "0.1.1")]), r.err)
    check("seine: c: no version fits '^0.2'\n" in r.err, True, r.err)


@rows([("../x",), ("a/b",), ("",), ("a b",), ("é",), ("a?b",), ("a%2f",), ("x" * 65,), ("a@",), ("a@1",), ("a@../1.0.0",), ("a@1.0.0/x",), ("@1.0.0",)])
def what_is_no_crate_is_refused_before_anything_is_asked(word):
    with Registry({"a": made_crate("a")}) as site:
        r = ask(site, "a", "--", word)
        check(site.asked, [])
    check((r.code, r.out, r.err.count("seine: ")), (2, "", 1), r.err)


@rows([(["--api", "ftp://e.example"],), (["--api", "e.example"],), (["--api", "http://e.example/?x"],), (["--osv-api", "no"],), (["--now", "soon"],),
       (["--now", "2026"],), (["--fail-under", "1.01"],), (["--fail-under", "80%"],), (["--fail-under", "-1"],), (["--deny", "vulnerabel"],), (["--deny", "G P L"],),
       (["--deny", ""],), (["--advisory-db", "/nowhere"],), (["--format", "csv", "--json"],), (["--breaker", "fail=x"],), (["--backoff", "x"],), (["--timeout", "0"],)],
      name=lambda row: " ".join(row[0]))
def settings_are_checked_before_anything_is_asked(words):
    with Registry({"a": made_crate("a")}) as site:
        r = seine("crate", "a", "--api", site.api, "--osv-api", site.osv, *words)
        check(site.asked, [])
    check((r.code, r.out, r.err.count("seine: ")), (2, "", 1), r.err)


@case
def a_table_has_a_row_for_each_crate_and_colours_where_wished():
    with Registry({"tokio": {**made_crate("tokio", "1.40.0", downloads=250_000_000, recent_downloads=41_000_000)},
                   "badge": {**made_crate("badge", "0.3.0", downloads=21_300, recent_downloads=310, documentation=None, keywords=[])}},
                  known={"badge": [advisory("RUSTSEC-2022-0057", informational="unmaintained", package="badge")]}) as site:
        r = ask(site, "badge", "tokio", "-f", "text")
        coloured = ask(site, "badge", "tokio", "-f", "text", "--color", "always")
    check(r.out, "CRATE  VERSION  SCORE  SECURITY     STATUS    DOWNLOADS  RECENT  LICENSE  VERDICT\n"
                 "tokio  1.40.0    1.00  1.00 (0)     Active      250.0 M  41.0 M  MIT      use\n"
                 "badge  0.3.0     0.45  1.00 (0)     Archived     21.3 k     310  MIT      avoid: RUSTSEC-2022-0057 unmaintained\n")
    check("\x1b" in coloured.out and "\x1b" not in r.out, True)
    check(re.sub(r"\x1b\[[0-9;]*m", "", coloured.out), r.out)


@case
def a_narrow_terminal_gets_fewer_columns_and_no_line_that_wraps():
    long = "a-crate-with-a-long-name"
    with Registry({long: made_crate(long), "b": made_crate("b")}, known={long: [advisory("RUSTSEC-2026-0001-with-more", LOW, package=long)]}) as site:
        words = ["crate", long, "b", "--api", site.api, "--osv-api", site.osv, "--host-rate", "off", *NOW]
        for columns in (60, 80, 120):
            t = Terminal(words, columns=columns)
            check(t.wait(), 0)
            screen = re.sub(r"\x1b\[[0-9;]*m", "", t.bytes.decode())
            lines = [line.rstrip() for line in screen.splitlines() if line.strip()]
            check(len(lines), 3, screen)
            check([len(line) <= columns for line in lines], [True] * 3, screen)
            check("DOWNLOADS" in lines[0] and "RECENT" in lines[0], columns == 120, screen)
            check(lines[0].startswith("CRATE") and lines[0].endswith("VERDICT") and ("caution: RUSTSEC" if columns > 60 else "caution: RU…") in lines[2], True, screen)


@case
def csv_has_the_same_figures():
    with Registry({"a": made_crate("a", homepage="=cmd()")}, {"a": [("b", "^1, <2", "normal", []), ("c", "1", "dev", [])]}, known={"a": [advisory("X-1", LOW)]}) as site:
        r = ask(site, "a", "-f", "csv")
    row, = csv.DictReader(io.StringIO(r.out))
    check((row["name"], row["quality_score"], row["security_score"], row["vulnerabilities"], row["advisories"]), ("a", "1.00", "0.95", "1", "X-1"))
    check((row["dependencies"], row["dev_dependencies"], row["homepage"], row["reasons"]), ("b ^1, <2", "c 1", "'=cmd()", "X-1 low (3.1)"))
    check((row["maintenance_status"], row["recommendation"], row["keywords"]), ("Active", "caution", "one"))


@case
def control_characters_of_an_answer_reach_no_terminal():
    crate = made_crate("a")
    crate["versions"][0]["license"] = "\x1b]0;x\x07MIT"
    with Registry({"a": crate}, known={"a": [advisory("X-\x1b[2J", LOW)]}) as site:
        for words in (("-f", "text", "-v"), ("-j",), ("--deny", "vulnerable")):
            r = ask(site, "a", *words)
            check("\x1b" in r.out + r.err or "\x07" in r.out + r.err, False, str(words))


@case
def a_signal_ends_the_run_and_what_is_done_is_printed():
    over = threading.Event()
    with Registry({"a": made_crate("a"), "slow": made_crate("slow")}) as site:
        site.says["/api/v1/crates/slow"] = [lambda handler: hang(handler, over)]
        with subprocess.Popen([PROGRAM, "crate", "a", "slow", "--api", site.api, "--osv-api", "off", "--host-rate", "off", "-j"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as p:
            until(lambda: "/api/v1/crates/a/1.0.0/dependencies" in site.paths() and "/api/v1/crates/slow" in site.paths())
            p.send_signal(signal.SIGINT)
            taken(p, signal.SIGINT)
            over.set()
            out = p.communicate()[0]
            check(([json.loads(line)["name"] for line in out.splitlines()], p.returncode), (["a"], 130))


@case
def max_time_ends_the_run_with_4():
    over = threading.Event()
    with Registry({"slow": made_crate("slow")}) as site:
        site.says["/api/v1/crates/slow"] = [lambda handler: hang(handler, over)] * 9
        try:
            r = ask(site, "slow", "--max-time", "300ms", "--timeout", "4s", "--retries", "0")
        finally:
            over.set()
    check((r.code, r.out), (4, ""), r.err)


def sampled(known):
    """Versions of packages: of each the first that an advisory affects, and the last that none does."""
    for package, entries in sorted(known.items())[::1 if SOAKED else 25]:
        edges = edge_versions([req for a in entries for req in a["versions"].get("patched", []) + a["versions"].get("unaffected", [])])
        hit = [v for v in edges if any(affected(a, v) for a in entries)]
        free = [v for v in edges if not any(affected(a, v) for a in entries)]
        yield from ((package, v) for v in hit[:1] + free[-1:])


@case
@needs_vectors
def osv_and_the_advisories_themselves_give_the_same_verdicts():
    folder = os.path.join(VECTORS, "rustsec")
    known = advisories(folder)
    pairs = list(sampled(known))
    crates = {}
    for package, num in pairs:
        crates.setdefault(package, made_crate(package, num))["versions"].append({"num": num, "created_at": "2026-11-01T00:00:00Z", "yanked": False, "license": "MIT"})
    words = [f"{package}@{num}" for package, num in pairs]
    with Registry(crates, known=known) as site:
        by_osv = ask(site, *words)
        both = ask(site, *words, "--advisory-db", folder)
    by_files = seine("crate", "audit", *words, "--advisory-db", folder, "-j")

    def verdicts(result):
        out = {}
        for o in objects(result):
            audit = o["security_audit"]
            out[o["name"], o["version"]] = (audit["vulnerabilities"], audit["security_score"], o["recommendation"], sorted(o["reasons"]),
                                            sorted((a["id"], a["kind"], a["severity"], a["score"]) for a in audit["advisories"]))
        return out
    check(len(verdicts(by_osv)), len(words), by_osv.err)
    for got, name in ((verdicts(by_osv), "OSV"), (verdicts(both), "both")):
        for key, want in verdicts(by_files).items():
            check(got[key], want, f"{name}: {key}")


@case
def every_command_of_the_page_and_the_help_runs():
    with open(os.path.join(ROOT, "docs", "user", "crate.md"), encoding="utf-8") as f:
        page = f.read()
    lines = [line for block in re.findall(r"```sh site\n(.*?)```", page, re.S) for line in block.splitlines()]
    table = [json.loads(line) for line in seine("help", "--json").out.splitlines()]
    lines += [line for row in table if row.get("command") == "crate" for line in row.get("examples", [])]
    check(len(lines) > 6, True)
    crates = {name: made_crate(name, "1.0.100") for name in ("regex", "bitflags", "serde", "tokio", "smol")}
    with Registry(crates) as site, tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "advisory-db", "crates"))
        env = environment({"PATH": os.path.abspath(os.path.dirname(PROGRAM)) + os.pathsep + os.environ["PATH"], "SEINE_API": site.api,
                           "SEINE_OSV_API": site.osv, "SEINE_HOST_RATE": "off"})
        for line in lines:
            line = line.partition("  #")[0]
            p = subprocess.run(["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True)
            check((p.returncode, p.stderr), (0, ""), line)


finish(at_once=4)
