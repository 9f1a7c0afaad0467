# SPDX-License-Identifier: Apache-2.0
"""The figures of a measurement, each with its bar: {name, value, unit, limit, ratio, bar, ok}."""
from measure import median

OURS, PEER = "seine", "wget2 -r -O /dev/null"


def runs(lines, scene, **same):
    return [r for r in lines if r["type"] == "run" and r["scene"] == scene and all(r.get(k) == v for k, v in same.items())]


def middle(rows, member):
    """The median, None when a run failed or there is none."""
    return None if not rows or any("failed" in r for r in rows) else median([r[member] for r in rows])


def figure(name, value, unit, limit, bar, ok, digits=2):
    return {"name": name, "value": round(value, digits), "unit": unit, "limit": round(limit, digits), "ratio": round(value / limit, 3), "bar": bar, "ok": ok}


def of_peers(lines):
    ours, peer = (runs(lines, "peers", program=p) for p in (OURS, PEER))
    rate, other = middle(ours, "per_second"), middle(peer, "per_second")
    if rate and other:
        yield figure("crawl, 10 KB pages, 30 links", rate, "pages/s", other, f"≥ 2 × {PEER}", rate >= 2 * other, 0)
    cpu, other = middle(ours, "cpu_us"), middle(peer, "cpu_us")
    if cpu and other:
        yield figure("crawl, CPU per page", cpu, "µs", other, f"≤ 0.5 × {PEER}", cpu <= 0.5 * other)


def of_growth(lines):
    base = middle(runs(lines, "growth", urls=10000), "cpu_us")
    for urls in (100000, 1000000):
        cpu = middle(runs(lines, "growth", urls=urls), "cpu_us")
        if base and cpu:
            yield figure(f"CPU per page at {urls:,} URLs", cpu, "µs", base, "≤ 1.2 × at 10,000", cpu <= 1.2 * base)


def of_queue(lines):
    rows = runs(lines, "queue")
    peak = middle(rows, "peak_mb")
    if peak:
        yield figure(f"resident with {rows[0]['urls']:,} URLs that wait", peak, "MB", 256, "≤ 256 MB", peak <= 256, 1)


def of_parts(lines):
    for r in lines:
        if r["type"] == "part" and "bar" in r and "ok" in r:
            yield {"name": f"{r['program']}: {r['name']}", "value": r["value"], "unit": r["unit"], "limit": r["bar"], "ratio": r.get("ratio"),
                   "bar": r["bar"], "ok": r["ok"]}


def of(lines):
    return [*of_peers(lines), *of_growth(lines), *of_queue(lines), *of_parts(lines)]
