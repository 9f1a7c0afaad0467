#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`seine crate audit`: versions and lock files against advisories at hand."""
import csv
import decimal
import io
import json
import os
import re
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from crates import advisories, affected, allows, edge_versions  # noqa: E402
from e2e import SANITIZED, SOAKED, VECTORS, case, check, finish, needs_vectors, rows, seine  # noqa: E402

CRITICAL = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"


def advisory(name="X-1", package="leaky", patched='">= 1.2.0"', more="", versions=""):
    return f'```toml\n[advisory]\nid = "{name}"\npackage = "{package}"\n{more}\n[versions]\npatched = [{patched}]\n{versions}```\n\n# It leaks\n\nAll of it.\n'


class Database(tempfile.TemporaryDirectory):
    """A folder with the files; files: {path: text}."""

    def __init__(self, files):
        super().__init__()
        os.mkdir(os.path.join(self.name, "crates"))
        for path, text in files.items():
            full = os.path.join(self.name, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as f:
                f.write(text if isinstance(text, bytes) else text.encode())

    def audit(self, *words, **more):
        words = [os.path.join(self.name, w[5:]) if w.startswith("file:") else w for w in words]
        return seine("crate", "audit", "--advisory-db", self.name, *words, **more)


def objects(result):
    return [json.loads(line) for line in result.out.splitlines()]


def lock(*packages):
    return "version = 3\n" + "".join(f'\n[[package]]\nname = "{n}"\nversion = "{v}"\n' + (f'source = "{s}"\n' if s else "") for n, v, s in packages)


REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


@case
def an_advisory_counts_unless_a_requirement_matches():
    more = 'aliases = ["CVE-1"]\ncvss = "' + CRITICAL + '"'
    db = Database({"crates/leaky/X-1.md": advisory(more=more, versions='unaffected = ["< 0.5"]\n')})
    r = db.audit("leaky@1.1.9", "leaky@1.2.0", "leaky@0.4.9", "leaky@0.5.0", "leaky@1.2.0-rc.1", "other@1.0.0", "-j")
    check((r.code, {o["version"] for o in objects(r) if o["security_audit"]["vulnerabilities"]}), (0, {"1.1.9", "0.5.0", "1.2.0-rc.1"}), r.err)
    o = next(o for o in objects(r) if o["version"] == "1.1.9")
    check(list(o), ["name", "version", "security_audit", "maintenance_status", "maintenance_reason", "recommendation", "reasons", "file"])
    check(o["security_audit"]["advisories"], [{"id": "X-1", "aliases": ["CVE-1"], "kind": "vulnerability", "severity": "critical", "score": 9.8,
                                               "cvss": CRITICAL, "title": "It leaks", "patched": [">= 1.2.0"]}])
    check((o["recommendation"], o["reasons"], o["file"]), ("avoid", ["X-1 critical (9.8)"], None))
    db.cleanup()


@case
def a_lock_file_is_audited_whole_each_version_once():
    packages = [("leaky", "1.0.0", REGISTRY), ("leaky", "1.0.0", REGISTRY), ("leaky", "1.3.0", REGISTRY), ("fine", "0.1.0", None),
                ("leaky", "1.1.0", "git+https://git.e.example/leaky#abc"), ("leaky", "1.1.1", "registry+https://e.example/index"),
                ("leaky", "1.1.2", "sparse+https://index.crates.io/")]
    with Database({"crates/leaky/X-1.md": advisory(), "Cargo.lock": lock(*packages)}) as name:
        r = seine("crate", "audit", os.path.join(name, "Cargo.lock"), "leaky@1.0.0", "--advisory-db", name, "-j")
        text = seine("crate", "audit", os.path.join(name, "Cargo.lock"), "--advisory-db", name, "-f", "text")
        table = seine("crate", "audit", os.path.join(name, "Cargo.lock"), "--advisory-db", name, "-f", "csv")
    check((r.code, sorted((o["name"], o["version"], o["file"] is None) for o in objects(r))),
          (0, [("fine", "0.1.0", False), ("leaky", "1.0.0", True), ("leaky", "1.1.2", False), ("leaky", "1.3.0", False)]), r.err)
    check(r.err, "seine: 4 packages audited, 2 vulnerable, 2 not from crates.io and left out\n")
    check(text.out, "CRATE  VERSION  SECURITY     VERDICT\n"
                    "leaky  1.0.0    0.80 (1)     caution: X-1 vulnerability of unknown severity\n"
                    "leaky  1.1.2    0.80 (1)     caution: X-1 vulnerability of unknown severity\n")
    found = list(csv.DictReader(io.StringIO(table.out)))
    check([(row["name"], row["version"], row["advisories"]) for row in found],
          [("fine", "0.1.0", ""), ("leaky", "1.3.0", ""), ("leaky", "1.0.0", "X-1"), ("leaky", "1.1.2", "X-1")])


@rows([("vulnerable", "", 6), ("unsound", "", 0), ("unsound", 'informational = "unsound"', 6), ("unmaintained", 'informational = "unmaintained"', 6),
       ("unmaintained", 'informational = "notice"', 0), ("vulnerable", 'informational = "unmaintained"', 0), ("vulnerable", "withdrawn = 2026-01-01", 0)],
      name=lambda row: f"{row[0]} {row[1]}")
def gates_decide_the_exit_code(what, more, code):
    db = Database({"crates/leaky/X-1.md": advisory(more=more)})
    r = db.audit("leaky@1.0.0", "--deny", what)
    check((r.code, "gate: leaky 1.0.0: " in r.err), (code, code == 6), r.err)
    db.cleanup()


BROKEN = {
    "no fence": "# X-1\n", "no end": "```toml\n[advisory]\n", "no TOML": "```toml\n[advisory\n```\n", "empty": "", "no UTF-8": b"```toml\na = '\xff'\n```\n",
    "no id": advisory().replace('id = "X-1"', ""), "no versions": advisory().replace("[versions]", "[other]"), "another package": advisory(package="other"),
    "patched is a text": advisory().replace('[">= 1.2.0"]', '">= 1.2.0"'), "patched has a number": advisory(patched="7"),
    "no requirement": advisory(patched='"since 1.2"'), "unknown kind": advisory(more='informational = "fun"'), "aliases": advisory(more='aliases = "CVE-1"'),
    "too long": advisory() + "x" * (1 << 20), "control": "\x1b[2J",
}


@rows([(name,) for name in BROKEN])
def an_advisory_that_cannot_be_used_is_named_and_the_rest_goes_on(name):
    db = Database({"crates/leaky/X-0.md": BROKEN[name], "crates/leaky/X-2.md": advisory("X-2")})
    r = db.audit("leaky@1.0.0", "leaky@1.1.0", "fine@1.0.0", "-j", "-q")
    check((r.code, [len(o["security_audit"]["advisories"]) for o in objects(r)]), (1, [0, 1, 1]), r.err)
    check(re.fullmatch(r"seine: \S*/crates/leaky/X-0\.md cannot be used: [^\x1b\n]+\n", r.err) is not None, True, r.err)
    check(db.audit("fine@1.0.0").code, 0)
    db.cleanup()


@case
def a_requirement_that_no_version_can_match_is_said_and_the_advisory_counts():
    db = Database({"crates/leaky/X-1.md": advisory(patched='">= 2, < 1", ">= 1.5"')})
    r = db.audit("leaky@1.4.9", "leaky@1.5.0", "-j", "-q")
    check((r.code, [(o["version"], o["security_audit"]["vulnerabilities"]) for o in objects(r)]), (1, [("1.5.0", 0), ("1.4.9", 1)]), r.err)
    check(r.err.endswith("X-1.md: no version can match '>= 2, < 1'\n") and r.err.count("\n") == 1, True, r.err)
    db.cleanup()


@case
def files_that_are_no_advisories_are_passed_over():
    db = Database({"crates/leaky/X-1.md": advisory(), "crates/leaky/README": "x", "crates/leaky/X-1.md~": "x", "crates/.git/x.md": "x", "crates/top.md": "x"})
    os.mkfifo(os.path.join(db.name, "crates", "leaky", "X-3.md"))
    os.mkdir(os.path.join(db.name, "crates", "leaky", "X-4.md"))
    r = db.audit("leaky@1.0.0", "-j", "-q")
    check((r.code, r.err.count("it is no plain file")), (1, 2), r.err)
    check(objects(r)[0]["security_audit"]["vulnerabilities"], 1)
    db.cleanup()


@case
def a_crate_is_found_as_crates_io_would_find_it():
    db = Database({"crates/Leaky_Crate/X-1.md": advisory(package="Leaky_Crate")})
    r = db.audit("leaky-crate@1.0.0", "-j")
    check((r.code, objects(r)[0]["security_audit"]["vulnerabilities"]), (0, 1), r.err)
    db.cleanup()


@rows([(["leaky"], "is no file, and has no version"), (["../x@1.0.0"], "cannot"), (["nosuch.lock"], "cannot"), (["leaky@1.0"], "'leaky@1.0': '1.0' is no version like 1.2.3"), (["leaky@=1.0.0"], "is no version"), (["."], "'.' is a directory\ntry: the Cargo.lock in it"),
       (["leaky@1.0.0", "--deny", "MIT"], "--deny"),
       (["leaky@1.0.0", "--advisory-db", "/nowhere"], "/nowhere"), ([], "needs")], name=lambda row: " ".join(row[0]))
def what_cannot_be_audited_is_refused_at_once(words, why):
    db = Database({})
    r = db.audit(*words)
    check((r.code, r.out), (2, ""), r.err)
    check(why in r.err or not words, True, r.err)
    db.cleanup()


@case
def a_lock_file_may_come_through_a_pipe():
    db = Database({"crates/leaky/X-1.md": advisory()})
    r = db.audit("-", "-j", stdin=lock(("leaky", "1.0.0", REGISTRY)))
    check((r.code, [o["name"] for o in objects(r)]), (0, ["leaky"]), r.err)
    db.cleanup()


@case
def without_a_database_there_is_no_audit():
    r = seine("crate", "audit", "a@1.0.0")
    check((r.code, r.err.splitlines()[0]), (2, "seine: no --advisory-db given"))


@rows([("no TOML", "[[package]\n", r"Cargo\.lock:1:11: \] is missing"), ("no packages", "version = 3\n", r"there is no \[\[package\]\]"),
       ("a table", "[package]\nname = 'a'\n", r"there is no \[\[package\]\]"), ("binary", b"\x00\xff", "not UTF-8"), ("twice", "a = 1\na = 2\n", ":2:1: this key is given twice")])
def a_lock_file_that_does_not_parse_is_named_and_the_rest_goes_on(_, text, why):
    db = Database({"crates/leaky/X-1.md": advisory(), "Cargo.lock": text, "good.lock": lock(("leaky", "1.0.0", REGISTRY))})
    r = db.audit("file:Cargo.lock", "file:good.lock", "-j", "-q")
    check((r.code, [o["name"] for o in objects(r)]), (1, ["leaky"]), r.err)
    check(re.search(why, r.err) is not None, True, r.err)
    db.cleanup()


@case
def packages_that_are_none_are_named_and_the_rest_goes_on():
    bad = [("../../etc", "1.0.0", None), ("a" * 65, "1.0.0", None), ("a", "latest", None), ("x\\u001b[2J", "1.0.0", None)] + [("b c", "1.0.0", None)] * 100
    db = Database({"crates/leaky/X-1.md": advisory(), "Cargo.lock": lock(*bad, ("leaky", "1.0.0", REGISTRY)) + "\n[[package]]\nname = 7\n"})
    r = db.audit("file:Cargo.lock", "-j", "-q")
    check((r.code, [o["name"] for o in objects(r)]), (1, ["leaky"]), r.err)
    check(("'../../etc'" in r.err, "\x1b" in r.err, r.err.count("\n")), (True, False, 21))
    db.cleanup()


@case
def a_lock_file_of_5000_packages_takes_a_moment():
    packages = [(f"crate-{i % 4000}", f"1.{i}.0", REGISTRY) for i in range(4990)] + [("leaky", f"1.1.{i}", REGISTRY) for i in range(10)]
    db = Database({"crates/leaky/X-1.md": advisory(), "Cargo.lock": lock(*packages)})
    begun = time.monotonic()
    r = db.audit("file:Cargo.lock", "-j")
    took = time.monotonic() - begun
    check((r.code, len(objects(r)), r.err), (0, 5000, "seine: 5,000 packages audited, 10 vulnerable\n"))
    print(f"# 5,000 packages in {took:.2f} s")
    check(took < (60 if SANITIZED else 10), True, f"{took:.2f} s")
    db.cleanup()


WEIGHTS = {"AV": {"N": "0.85", "A": "0.62", "L": "0.55", "P": "0.2"}, "AC": {"L": "0.77", "H": "0.44"}, "UI": {"N": "0.85", "R": "0.62"},
           "C": {"H": "0.56", "L": "0.22", "N": "0"}, "PR": {"N": ("0.85", "0.85"), "L": ("0.62", "0.68"), "H": ("0.27", "0.5")}}


def base_score(vector):
    """By the equations of CVSS 3, in decimals; None: another version."""
    if not vector.startswith("CVSS:3."):
        return None
    m = dict(part.split(":") for part in vector.split("/")[1:])
    d = decimal.Decimal
    changed = m["S"] == "C"
    iss = 1 - (1 - d(WEIGHTS["C"][m["C"]])) * (1 - d(WEIGHTS["C"][m["I"]])) * (1 - d(WEIGHTS["C"][m["A"]]))
    impact = d("7.52") * (iss - d("0.029")) - d("3.25") * (iss - d("0.02")) ** 15 if changed else d("6.42") * iss
    can = d("8.22") * d(WEIGHTS["AV"][m["AV"]]) * d(WEIGHTS["AC"][m["AC"]]) * d(WEIGHTS["PR"][m["PR"]][changed]) * d(WEIGHTS["UI"][m["UI"]])
    if impact <= 0:
        return 0.0
    whole = min((d("1.08") if changed else 1) * (impact + can), d(10))
    return float(whole.quantize(d("0.00001")).quantize(d("0.1"), rounding=decimal.ROUND_CEILING))


@case
def the_oracle_knows_the_tables_of_the_cargo_book():
    for req, yes, no in (("^0.2.3", "0.2.9", "0.3.0"), ("~1.2", "1.2.9", "1.3.0"), ("1.*", "1.9.9", "2.0.0"), ("> 1.2", "1.3.0", "1.2.9"), ("0.0", "0.0.9", "0.1.0"),
                         ("^0.0.3", "0.0.3", "0.0.4"), ("< 1.0.0-rc.1", "1.0.0-beta.11", "1.0.0-rc.1"), (">= 1.0.0-alpha.2", "1.0.0-alpha.10", "1.0.0-alpha.1")):
        check((allows(req, yes), allows(req, no)), (True, False), req)


@case
@needs_vectors
def every_range_of_the_advisories_is_read_as_its_words_say():
    folder = os.path.join(VECTORS, "rustsec")
    known = advisories(folder)
    want = {}
    for package, entries in known.items():
        edges = edge_versions([req for a in entries for req in a["versions"].get("patched", []) + a["versions"].get("unaffected", [])])
        for num in edges if SOAKED else edges[::2] + edges[1:2]:
            want[package, num] = [a for a in entries if "withdrawn" not in a["advisory"] and affected(a, num)]
    with Database({"Cargo.lock": lock(*((name, num, REGISTRY) for name, num in want))}) as name:
        r = seine("crate", "audit", os.path.join(name, "Cargo.lock"), "--advisory-db", folder, "-j")
    check((r.code, len(r.out.splitlines())), (0, len(want)), r.err)
    seen = hits = 0
    for o in objects(r):
        entries = want[o["name"], o["version"]]
        kinds = {a["advisory"]["id"]: a["advisory"].get("informational") or "vulnerability" for a in entries}
        ids = {i for a in o["security_audit"]["advisories"] for i in [a["id"], *a["aliases"]]} | {o["maintenance_reason"].split()[0] if o["maintenance_reason"] else ""}
        told = [i for i, kind in kinds.items() if kind != "unmaintained" or o["maintenance_status"] != "Archived"]
        check([i for i in told if i not in ids], [], f"{o['name']} {o['version']}")
        check(o["maintenance_status"], "Archived" if "unmaintained" in kinds.values() else None, f"{o['name']} {o['version']}")
        check({a["id"] for a in o["security_audit"]["advisories"]} <= set(kinds), True, f"{o['name']} {o['version']}")
        scores = {a["advisory"]["id"]: base_score(a["advisory"].get("cvss", "")) for a in entries}
        for a in o["security_audit"]["advisories"]:
            shared = [scores[i] for i in [a["id"], *a["aliases"]] if scores.get(i) is not None]
            check(a["score"], max(shared) if shared else None, a["id"])
        seen, hits = seen + 1, hits + len(kinds)
    print(f"# {seen} versions, {hits} hits")


finish(at_once=2)
