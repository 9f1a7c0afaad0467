# SPDX-License-Identifier: Apache-2.0
"""The figures of a report, computed a second time from its records: plain sums and exact percentiles.

    figures = Figures(records)        a list of dicts
    compare(report, figures)          the object of `seine report -f json`
"""
import collections
import math
import urllib.parse

from e2e import check

PHASES = ("dns", "connect", "tls", "ttfb", "body")
PARTS = ("queue", "throttle", "backoff", "retry_budget") + PHASES


def latency(r):
    return sum(r["time"].get(p, 0) for p in PHASES)


def is_timed(r):
    return r.get("attempts", 0) > 0 and "ttfb" in r.get("time", {})


def rank(values, percent):
    values = sorted(values)
    return values[max(1, math.ceil(len(values) * percent / 100)) - 1]


def failure(r):
    return str(r["status"]) if r["outcome"] == "http_error" else r["error"]["kind"]


class Figures:
    def __init__(self, records):
        self.results = [r for r in records if r["type"] == "result"]
        self.skips = [r for r in records if r["type"] == "skip"]
        self.hosts = collections.defaultdict(list)
        for r in self.results:
            self.hosts[urllib.parse.urlsplit(r["url"]).netloc.rpartition("@")[2]].append(r)

    def count(self, of):
        return dict(collections.Counter(v for v in map(of, self.results) if v is not None))

    def spent(self):
        out = {p: sum(r.get("time", {}).get(p, 0) for r in self.results) for p in PARTS}
        rest = [(r.get("attempts", 0) > 1 or bool(r.get("redirects")), max(0, r["time"].get("total", 0) - sum(r["time"].get(p, 0) for p in PARTS)))
                for r in self.results if "time" in r]
        out["earlier"] = sum(ms for is_earlier, ms in rest if is_earlier)
        out["other"] = sum(ms for is_earlier, ms in rest if not is_earlier)
        return out


def near(got, want, what, share=0.033, beside=0.002):
    if abs(got - want) > share * want + beside:
        raise AssertionError(f"{what}: got {got}, want {want}")


def compare_latency(got, timed, what):
    if not timed:
        return
    values = [latency(r) for r in timed]
    for percent in (50, 90, 95, 99):
        # bins begin at 64 us; what is shorter counts as one of those
        near(max(got[f"p{percent}"], 0.066), max(rank(values, percent), 0.066), f"{what} p{percent}")
    near(got["max"], max(values), what + " max", 0)


def compare(report, f):
    ok = [r for r in f.results if r["outcome"] == "ok"]
    blocked = [r for r in f.results if r["outcome"] == "blocked"]
    check((report["total"], report["ok"], report["blocked"], report["skipped"]), (len(f.results) + len(f.skips), len(ok), len(blocked), len(f.skips)))
    check(report["failed"], len(f.results) - len(ok) - len(blocked))
    check(report["outcomes"], f.count(lambda r: r["outcome"]))
    check(report["statuses"], {str(k): n for k, n in f.count(lambda r: r.get("status")).items()})
    check(report["requests"], sum(r.get("attempts", 0) for r in f.results))
    check(report["retries"], sum(max(0, r.get("attempts", 0) - 1) for r in f.results))
    for member in ("bytes_in", "bytes_body"):
        check(report[member], sum(r.get(member, 0) for r in f.results), member)
    compare_latency(report["latency_ms"], [r for r in f.results if is_timed(r)], "latency")
    for part, want in f.spent().items():
        near(report["time_ms"][part], want, "time " + part, 1e-6, 0.01 * len(f.results))  # records have whole microseconds
    if "advice" in report:
        check(report["advice"]["largest"], max(report["time_ms"], key=lambda p: report["time_ms"][p]))
    compare_groups(report, f)
    compare_hosts(report, f)
    check(sum(sum(n for k, n in m.items() if k in ("2xx", "3xx", "4xx", "5xx", "none")) for m in report["over_time"]), len(f.results))
    check(sum(m["bytes_in"] for m in report["over_time"]), report["bytes_in"])
    slowest = sorted((latency(r) for r in f.results if is_timed(r)), reverse=True)[:20]
    for u, want in zip(report["slowest"], slowest):
        near(u["ms"], want, "slowest", 0, 0.003)
    check(len(report["slowest"]), len([s for s in slowest if s > 0]))


def compare_groups(report, f):
    bad = [r for r in f.results if r["outcome"] != "ok"]
    want = collections.defaultdict(list)
    for r in bad:
        want[failure(r)].append(r)
    check({g["kind"]: g["count"] for g in report["failures"]}, {k: len(v) for k, v in want.items()})
    for g in report["failures"]:
        check([u["url"] for u in g.get("urls", [])], [r["url"] for r in want[g["kind"]][:20]], g["kind"])
        check([u.get("found_on") for u in g.get("urls", [])], [r.get("parent") for r in want[g["kind"]][:20]], g["kind"])
    check({g["kind"]: g["count"] for g in report["skips"]}, dict(collections.Counter(s["reason"] for s in f.skips)))
    check(report["redirected"], sum(bool(r.get("redirects")) for r in f.results))


def compare_hosts(report, f):
    shown = {h["host"]: h for h in report["hosts"]}
    for name, all_of in f.hosts.items():
        h = shown[name]
        check((h["urls"], h["requests"], h["ok"], h["bytes_in"]),
              (len(all_of), sum(r.get("attempts", 0) for r in all_of), sum(r["outcome"] == "ok" for r in all_of), sum(r.get("bytes_in", 0) for r in all_of)), name)
        compare_latency(h["latency_ms"], [r for r in all_of if is_timed(r)], name)
