# SPDX-License-Identifier: Apache-2.0
"""bench/RESULTS.md, made from the lines of a measurement and nothing else."""
import re

from measure import median

WRK, OURS = "wrk", "seine"
CLIENTS = ("reqwest", "Go net/http", "curl", "wget2")
SECTIONS = (
    ("tls", "HTTPS, keep-alive, 64 in flight, one client thread\nnginx, one worker, ECDSA P-256, TLS 1.3 where the client has it."),
    ("tls-new", "HTTPS, a new connection for each page, sessions may be resumed\nnginx closes every connection after one answer."),
    ("tls-full", "HTTPS, a new connection for each page, no resumption\nnginx has neither session cache nor tickets."),
    ("gzip", "20 KB pages packed by gzip, keep-alive, 64 in flight, one client thread\nPacked once, served as they are; wrk does not unpack."),
)


def number(value, digits=1):
    return "–" if value is None else f"{value:,.{digits}f}"


def table(head, rows, text=("program", "note")):
    """A Markdown table; columns are numbers unless they are named in text."""
    lines = ["| " + " | ".join(head) + " |", "|" + "".join("---|" if name in text else "---:|" for name in head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def joined(old, part):
    """The page with this part in place of the one of the same title, or behind the others. A part begins with a title of
    the first rank; each is written by its own measurement and keeps what the others wrote."""
    title = part.split("\n", 1)[0]
    parts = [p for p in re.split(r"^(?=# )", old, flags=re.M) if p.strip()]
    found = [i for i, p in enumerate(parts) if p.split("\n", 1)[0] == title]
    parts[found[0] if found else len(parts):(found[0] if found else len(parts)) + 1] = [part]
    return "\n".join(p.rstrip("\n") + "\n" for p in parts)


class Figures:
    """The medians of one scene: figures(program, member) and what failed or was absent."""

    def __init__(self, lines, scene):
        self.runs, self.absent, self.set_up, self.instructions = {}, {}, None, {}
        for line in lines:
            if line.get("scene") != scene:
                continue
            if line["type"] == "run":
                self.runs.setdefault(line["program"], []).append(line)
            elif line["type"] == "absent":
                self.absent[line["program"]] = line["why"]
            elif line["type"] == "instructions":
                self.instructions[line["program"]] = line["each"]
            elif line["type"] == "set_up":
                self.set_up = line["ms"] / 1000

    def __bool__(self):
        return bool(self.runs or self.absent)

    def failed(self, program):
        """Why a program has no figure here, or None."""
        if program in self.absent:
            return self.absent[program]
        for run in self.runs.get(program, []):
            if "failed" in run:
                return f"failed: {run['failed']}"
        return None if program in self.runs else "not measured"

    def get(self, program, member):
        return None if self.failed(program) else median([run.get(member) for run in self.runs[program]])

    def spread(self, program, member):
        values = [run[member] for run in self.runs[program]]
        return f"{min(values):,.0f} – {max(values):,.0f}"

    def ratio(self, program, member, other=WRK):
        a, b = self.get(program, member), self.get(other, member)
        return None if a is None or not b else a / b

    def beyond_ideal(self, program):
        """(time − what this machine needs to open the connections) ÷ ideal time."""
        took, ideal = self.get(program, "seconds"), self.get(program, "ideal_s")
        return None if took is None or self.set_up is None else (took - self.set_up) / ideal

    def programs(self, member, best=max):
        """Those with figures, best first, then the others."""
        there = [p for p in self.runs if not self.failed(p)]
        there.sort(key=lambda p: self.get(p, member), reverse=best is max)
        return there, [p for p in [*self.runs, *self.absent] if self.failed(p)]


def foreign(f, program):
    """The most that others took of the CPUs during a run of the program, and how many runs were repeated for it."""
    runs = [run for run in f.runs[program] if "foreign" in run]
    again = sum(run.get("repeats", 0) for run in runs)
    return "–" if not runs else f"{max(run['foreign'] for run in runs):.2f}" + (f", {again} repeated" if again else "")


def pages(f):
    there, others = f.programs("per_second")
    rows = [[p, number(f.get(p, "per_second"), 0), number(f.ratio(p, "per_second"), 2), number(f.get(p, "cpu_us"), 2), number(f.ratio(p, "cpu_us"), 2),
             number(f.instructions.get(p), 0), number(f.get(p, "peak_mb"), 1), f.spread(p, "per_second"), foreign(f, p), number(f.get(p, "requests"), 0),
             str(len(f.runs[p])), f.runs[p][0]["note"]] for p in there]
    head = ["program", "requests/s", "× wrk", "CPU µs/request", "× wrk", "instructions/request", "peak MB", "slowest – fastest run", "foreign load, CPUs", "requests",
            "runs", "note"]
    rows += [[p, f.failed(p), *[""] * (len(head) - 2)] for p in others]
    return table(head, rows)


def flight(f):
    def late(p):
        return f.get(p, "seconds") / f.get(p, "ideal_s")
    there, others = f.programs("seconds")
    rows = [[p, number(f.get(p, "requests"), 0), number(f.get(p, "ideal_s"), 2), number(f.get(p, "seconds"), 2), number(late(p), 2),
             number(f.beyond_ideal(p), 2), number(f.get(p, "cpu_us"), 1), number(f.get(p, "peak_mb"), 1), number(f.get(p, "open_seen"), 0),
             number(f.get(p, "waiting_seen"), 0), number(f.get(p, "set_up_ms"), 0), number(f.get(p, "server_us"), 1), str(len(f.runs[p]))] for p in sorted(there, key=late)]
    rows += [[p, f.failed(p), *[""] * 11] for p in others]
    return table(["program", "requests", "ideal s", "time s", "× ideal", "× ideal after set-up", "CPU µs/request", "peak MB", "connections at once",
                  "waiting at once", "set-up ms", "server's CPU µs/request", "runs"], rows)


class Bar:
    """One promise: met, missed, or not measured and why."""

    def __init__(self, what, wanted, measured=None, met=None, absent="not measured"):
        self.what, self.wanted = what, wanted
        self.measured = absent if met is None else measured
        self.verdict = "not measured" if met is None else "**met**" if met else "**missed**"


def judged(what, wanted, value, limit, text, absent, at_least=False):
    met = None if value is None else (value >= limit if at_least else value <= limit)
    return Bar(what, wanted, None if value is None else text, met, absent or "not measured")


def bars_of_pages(f, what="2 KB pages, 64 in flight, records written"):
    absent = f.failed(OURS) or f.failed(WRK)
    rate, cpu = f.ratio(OURS, "per_second"), f.ratio(OURS, "cpu_us")
    yield judged(what, "≥ 0.85 × wrk", rate, 0.85, f"{number(rate, 2)} × wrk", absent, at_least=True)
    there, _ = f.programs("per_second")
    peers = [p for p in there if p not in (WRK, OURS)]
    if f.failed(OURS) or not peers:
        yield Bar("the same", "ahead of every peer", absent=f.failed(OURS) or "no peer")
    else:
        ahead = [p for p in peers if f.get(p, "per_second") >= f.get(OURS, "per_second")]
        yield Bar("the same", "ahead of every peer", f"behind {', '.join(ahead)}" if ahead else f"{number(f.ratio(OURS, 'per_second', peers[0]), 2)} × {peers[0]}, the next",
                  not ahead)
        yield from bars_of_clients(f, 1.3 if "HTTPS" in what else 1.5)
    yield from bars_of_instructions(f)
    if "HTTPS" not in what:
        yield judged("the same", "CPU per request ≤ 1.4 × wrk's", cpu, 1.4, f"{number(cpu, 2)} × wrk's", absent)


def bars_of_clients(f, factor):
    """Against the programs that people fetch with; a load generator is none."""
    there, _ = f.programs("per_second")
    peers = [p for p in there if p in CLIENTS]
    ratio = f.ratio(OURS, "per_second", peers[0]) if peers else None
    text = f"{number(ratio, 2)} × {peers[0]}, the fastest of them" if peers else None
    yield judged("the same", f"≥ {factor} × reqwest, Go, curl and wget2", ratio, factor, text, "no peer", at_least=True)


def bars_of_instructions(f):
    each = f.instructions.get(OURS)
    if each is not None:
        yield judged("the same", "≤ 20,000 instructions per request", each, 20000, number(each, 0), None)


def bars_of_flight(f):
    absent = f.failed(OURS)
    ratio, mb = f.beyond_ideal(OURS), f.get(OURS, "peak_mb")
    text = f"{number(ratio, 2)} × ({number(f.get(OURS, 'seconds'), 2)} s, set-up {number(f.set_up, 2)} s, ideal {number(f.get(OURS, 'ideal_s'), 2)} s)"
    if f.beyond_ideal(WRK) is not None:
        text += f"; wrk {number(f.beyond_ideal(WRK), 2)} ×"
    yield judged("10,000 in flight, 100 ms server", "≤ 1.3 × the ideal time after connection set-up", ratio, 1.3, text, absent)
    took, other = f.get(OURS, "seconds"), f.get("h2load", "seconds")
    yield judged("the same", "not slower than h2load", None if other is None or took is None else took / other, 1.0, f"{number(took, 2)} s, h2load {number(other, 2)} s",
                 absent or f.failed("h2load"))
    yield judged("the same", "≤ 40 MB", mb, 40, f"{number(mb)} MB", absent)


def rows_of(lines, bar):
    return [line for line in lines if line["type"] == "bar" and line["bar"] == bar]


def bad(rows):
    """Why rows give no figure, or None."""
    for row in rows:
        if "failed" in row:
            return row["failed"]
    return None if rows else "not measured"


def bars_of_half(rows):
    wrong = bad(rows)
    share = None if wrong else median([100 * r["ok"] / r["urls"] for r in rows])
    took, mb = (None, None) if wrong else (max(r["seconds"] for r in rows), max(r["peak_mb"] for r in rows))
    what = "S0-29: 1,000 URLs, every request fails with probability ½"
    least = None if wrong else min(100 * r["ok"] / r["urls"] for r in rows)
    yield judged(what, "≥ 99 % succeed (7 attempts: 99.2 % expected)", share, 99, f"{number(share)} % (median of {len(rows)} seeds, least {number(least)} %)", wrong, at_least=True)
    yield judged("the same", "≤ 10 s", took, 10, f"{number(took)} s (slowest)", wrong)
    yield judged("the same", "≤ 20 MB", mb, 20, f"{number(mb)} MB (most)", wrong)


def bars_of_dead(rows):
    if not rows:
        yield Bar("dead host, 1,000 URLs", "attempts on the wire ≤ threshold + concurrency − 1 + probes")
    for row in rows:
        wrong = row.get("failed")
        most = row.get("most", 0)
        yield judged(f"dead host, 1,000 URLs, it {row['host']}", "attempts on the wire ≤ threshold + concurrency − 1 + probes", row.get("attempts"), most,
                     f"{row.get('attempts')}, {most} allowed", wrong)


def bars_of_million(rows):
    wrong = bad(rows)
    row = {} if wrong else rows[0]
    what = f"{number(row.get('urls', 1000000), 0)} URLs from standard input"
    yield judged(what, "≤ 128 MB", row.get("peak_mb"), 128, f"{number(row.get('peak_mb'))} MB", wrong)
    yield judged("the same", "first record before the end of input", row.get("first_record_s"), row.get("end_of_input_s"),
                 f"first record after {number(row.get('first_record_s'), 3)} s, end of input after {number(row.get('end_of_input_s'))} s", wrong)


def bars_of_paced(rows):
    if not rows:
        yield Bar("paced starts at 1, 100 and 10,000 per second", "never early, ≤ 1 % late on average")
    for row in rows:
        wrong = row.get("failed")
        early, slower = row.get("early_us"), row.get("slower")
        what = f"paced starts at {row['rate']:,} per second"
        yield judged(what, "never early", early, 0, f"earliest arrival {number(early, 0)} µs before its time; closest two {number(row.get('min_gap_us'), 0)} µs apart", wrong)
        yield judged("the same", "≤ 1 % late on average", slower, 0.01, f"{number(100 * (slower or 0), 2)} % ({number(row.get('late_us'), 0)} µs)", wrong)


def bars_of_secure(rows):
    wrong = bad(rows)
    row = {} if wrong else rows[0]
    kb, new = row.get("kb_each"), row.get("handshakes")
    share = None if wrong else 100 * row["resumed"] / new
    count = number(row.get("connections", 1000), 0)
    yield judged(f"{count} TLS connections that wait", "≤ 48 KB each, beside as many plain ones", kb, 48,
                 f"{number(kb)} KB ({number(row.get('tls_mb'))} MB, plain {number(row.get('plain_mb'))} MB)", wrong)
    yield judged(f"{number(new, 0)} new TLS connections to one host", "≥ 95 % take up a session", share, 95, f"{number(share)} %", wrong, at_least=True)


def by_output(rows):
    found = {}
    for row in rows:
        found.setdefault(row.get("output"), []).append(row)
    return found


def bars_of_sinks(rows):
    found = by_output(rows)
    for name in (".warc.gz", ".sqlite"):
        wrong = bad(found.get(name, []))
        rate = None if wrong else median([r["per_second"] for r in found[name]])
        yield judged(f"10,000 pages a second asked for, written as {name}", "≥ 7,000 a second", rate, 7000, f"{number(rate, 0)} a second", wrong, at_least=True)


def outputs(rows):
    body = [[name, *(number(median([r.get(m) for r in got]), d) for m, d in (("per_second", 0), ("cpu_us", 1), ("peak_mb", 1), ("bytes_each", 0))), str(len(got))]
            for name, got in by_output(rows).items()]
    return table(["output", "pages/s", "CPU µs/page", "peak MB", "bytes/page", "runs"], body, text=("output",))


def bars(lines):
    found = [*bars_of_pages(Figures(lines, "pages")), *bars_of_pages(Figures(lines, "tls"), "HTTPS, 2 KB pages, 64 in flight, records written"),
             *bars_of_flight(Figures(lines, "flight-10000"))]
    for name, judge in (("secure", bars_of_secure), ("sinks", bars_of_sinks), ("half", bars_of_half), ("dead", bars_of_dead), ("million", bars_of_million),
                        ("paced", bars_of_paced)):
        found += judge(rows_of(lines, name))
    return found


def verdicts(found):
    head = ["what", "bar", "measured", "verdict"]
    return table(head, [[b.what, b.wanted, b.measured, b.verdict] for b in found], text=head)


def commands(lines):
    """What was run, once per program; in the other scenes only the number in flight differs."""
    seen = {}
    for line in lines:
        if line["type"] == "run":
            seen.setdefault(line["program"], [line["program"], line["version"], f"`{line['command']}`"])
    head = ["program", "version", "command"]
    return table(head, seen.values(), text=head)


def tables(lines):
    """What --table prints: the machine, then the scenes that were measured."""
    m = next(line for line in lines if line["type"] == "machine")
    parts = [f"{m['cpu']}, {m['cpus']} CPUs, Linux {m['kernel']}, load {m.get('load', '?')} at the start; commit {m['commit']}, {m['date']}; {m['rounds']} rounds, "
             f"medians; pinned: {m['pinned']}\n"]
    for scene, title, shown in (("pages", "2 KB pages, 64 in flight", pages), ("tls", "the same over HTTPS", pages), ("flight-10000", "10,000 in flight, 100 ms server", flight)):
        f = Figures(lines, scene)
        if f:
            parts += [f"{title}\n", shown(f)]
    return "\n".join(parts)


def render(lines):
    """The page, or what can be said of it from these lines."""
    m = next(line for line in lines if line["type"] == "machine")
    parts = [f"""# Figures of the fetch engine

Written by `make bench-net` from one measurement, never by hand. What the columns mean:
[docs/internals/bench.md](../docs/internals/bench.md).

| | |
|---|---|
| machine | {m['cpu']}, {m['cpus']} CPUs, Linux {m['kernel']}; records on {m['files']} |
| date, commit | {m['date']}, {m['commit']} |
| command | `{m['command']}` |
| rounds | {m['rounds']}, all programs in each; figures are medians |
| pinned | {m['pinned']} |
""", "## Bars\n", verdicts(bars(lines))]
    one = Figures(lines, "pages")
    if one:
        parts += ["## 2 KB pages, keep-alive, 64 in flight, one client thread\nnginx, one worker.\n", pages(one)]
    for scene, title in SECTIONS:
        f = Figures(lines, scene)
        if f:
            parts += [f"## {title}\n", pages(f)]
    written = [row for row in rows_of(lines, "sinks") if "failed" not in row]
    if written:
        parts += ["## What outputs cost\n10,000 pages of 2 KB a second are asked for, one client thread and the thread of the outputs.\n", outputs(written)]
    for count in (1000, 10000):
        f = Figures(lines, f"flight-{count}")
        if f:
            set_up = f" Opening {count:,} connections takes {f.set_up * 1000:,.0f} ms here when nothing else happens." if f.set_up else ""
            parts += [f"## {count:,} in flight against a 100 ms server\nIdeal: requests ÷ in flight × 100 ms.{set_up}\n", flight(f)]
    parts += ["## Commands\n", commands(lines)]
    return "\n".join(parts)
