// SPDX-License-Identifier: Apache-2.0
// The dashboard of one run: state, verdict, tiles, charts, and what lies behind them.
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { del, download, get, list, may, patch, post, query as qs } from "../api.js"
import { ago, bytesParts, clockSpan, count, eta, inert, percent, rate, span, spanParts, sum, timeOfDay } from "../format.js"
import { pageActions } from "../keys.jsx"
import { announce, frozen, toast, useAction, useGet, useNow, useTopic } from "../live.js"
import { Button, Confirm, CopyButton, Dialog, Empty, Failure, Field, Filter, Loaded, Skeleton, State, Table, TabPanel, Tabs, Time, WebLink } from "../parts/basic.jsx"
import { go, setQuery } from "../router.js"
import { pointOf, Rings, WAITS } from "../series.js"
import { RecordsTable } from "./records.jsx"
import { isLive } from "./runs.jsx"

function LazyCharts(props) {
    const [m, setModule] = useState(null)
    useEffect(() => { import("../charts.jsx").then(setModule, () => setModule({ Charts: () => <p class="pad">The charts could not be loaded; reload the page.</p> })) }, [])
    return m ? <m.Charts {...props} /> : <div class="charts-wait"><Skeleton rows={4} /></div>
}

export const okPercent = e => {
    const done = sum(e)
    return e && done ? (100 * (e.ok ?? 0)) / done : null
}

export function Run({ id, tab, query }) {
    const meta = useGet("/api/runs/" + id), rings = useRef(null), [version, bump] = useState(0), state = useRef(null)
    rings.current ??= new Rings()
    const live = useTopic("run:" + id, {}, (frame, data) => {
        if (frame.full && (frame.d.history || frame.d.series)) rings.current.load(frame.d.history || frame.d.series)
        if (isLive(data.state)) rings.current.add(pointOf(data, frame.at)) // the charts of a run end with it
        if (!frozen.value) bump(n => n + 1)
        if (state.current && state.current !== data.state) announce("The run is " + data.state)
        // The last point is of the end itself, when nothing waits any more: it comes with the series.
        if (isLive(state.current) && !isLive(data.state)) loadSeries()
        state.current = data.state
    })
    const loadSeries = () => get(`/api/runs/${id}/series`).then(s => { rings.current.load(s); bump(n => n + 1) }, () => {})
    const asked = useRef(false)
    useEffect(() => {
        if (asked.current || !live.data || live.data.history || live.data.series) return
        asked.current = true
        get(`/api/runs/${id}/series`).then(s => {
            const now = rings.current.seconds
            rings.current.load(s)
            now.forEach(p => rings.current.add(p))
            bump(n => n + 1)
        }, () => {})
    }, [live.data, id])
    // A run that has ended tells its figures once.
    useEffect(() => {
        if (meta.data && !isLive(meta.data.state) && !rings.current.seconds.length && !rings.current.minutes.length)
            loadSeries()
    }, [meta.data, id])
    const d = live.data ? { ...meta.data, ...live.data } : meta.data
    if (!d) return <div class="page">{meta.error ? <Failure error={meta.error} retry={meta.reload} /> : <Skeleton rows={10} />}</div>
    return <div class="page run">
        <RunHead id={id} d={d} at={live.at} />
        {d.state === "waiting" || (sum(d.emitted) === 0 && isLive(d.state) && !rings.current.seconds.length)
            ? <Empty title="Waiting for the first answer">{d.limited && <p class="muted">{inert(d.limited.text || d.limited.code || d.limited)}</p>}</Empty> : null}
        <Tiles d={d} />
        <LazyCharts rings={rings.current} version={version} now={rings.current.end() ?? Date.now()} ended={!isLive(d.state)} />
        <RunTabs id={id} d={d} tab={tab} query={query} />
    </div>
}

function RunHead({ id, d, at }) {
    const [busy, act] = useAction(name => ({ pause: "Pausing", resume: "Goes on", cancel: "Stopping: requests in flight end first", report: "The report is on its way" }[name]))
    const [asking, setAsking] = useState(false), [limits, setLimits] = useState(false), [deleting, setDeleting] = useState(false)
    const alive = isLive(d.state), verb = name => act(name, () => post(`/api/runs/${id}/${name}`))
    const report = () => act("report", async () => download((await post(`/api/runs/${id}/export`, { format: "html" })).url))
    const done = sum(d.emitted) ?? 0, admitted = d.admitted ?? done, part = admitted ? Math.min(100, (100 * done) / admitted) : 0
    const known = d.limited && (d.limited.text || d.limited.code || (typeof d.limited === "string" ? d.limited : ""))
    useEffect(() => {
        pageActions.value = [
            ...(d.state === "running" && may("editor") ? [{ id: "pause", label: "Pause this run", run: () => verb("pause") }] : []),
            ...(d.state === "paused" && may("editor") ? [{ id: "resume", label: "Resume this run", run: () => verb("resume") }] : []),
            { id: "records", label: "Records of this run", run: () => go(`#/runs/${id}/records`) }, { id: "report", label: "Report of this run", run: report }]
        return () => { pageActions.value = [] }
    }, [d.state, id])
    return <section class="panel run-head" aria-label="The run">
        <div class="run-line">
            <div class="run-title"><p class="crumb"><a href="#/runs">Runs</a> <span aria-hidden="true">/</span> <span class="mono">{id}</span></p>
                <h1><bdi>{inert(d.title, 120) || "Run"}</bdi> {d.doc && <a class="version" href={d.doc ? "#/recipes/" + d.doc : undefined}>v{d.version}</a>}</h1></div>
            <div class="head-actions">
                {d.state === "paused" ? <Button icon="play" kind="primary" need="editor" busy={busy === "resume"} onClick={() => verb("resume")}>Resume</Button>
                    : alive && <Button icon="pause" need="editor" busy={busy === "pause"} disabled={d.state !== "running"} onClick={() => verb("pause")}>Pause</Button>}
                {alive && <Button icon="stop" need="editor" disabled={d.state === "stopping"} onClick={() => setAsking(true)}>Cancel</Button>}
                {alive && <Button icon="sliders" need="editor" onClick={() => setLimits(true)}>Limits…</Button>}
                <Button icon="report" busy={busy === "report"} onClick={report}>Report</Button>
                {!alive && may("admin") && <Button icon="trash" kind="ghost" aria-label="Delete this run" title="Delete this run" onClick={() => setDeleting(true)} />}</div>
        </div>
        <div class="run-state"><State word={d.state} /><span class="num strong">{alive ? clockSpan(d.elapsed_ms) : span(d.elapsed_ms)}</span>
            {d.eta && alive && <span class="muted">ETA <span class="num">{eta(d.eta)}</span></span>}
            {d.started && <span class="muted hide-narrow">started <Time at={d.started} />{d.by && <> by <bdi>{inert(d.by, 40)}</bdi></>}</span>}</div>
        <div class="progress" role="progressbar" aria-label="URLs done" aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(part)}><i class="bar-ok" style={{ width: barWidth(d.emitted?.ok, admitted, part) }} /><i class="bar-bad" style={{ width: barWidth(d.emitted?.failed, admitted, 0) }} /><i class="bar-skip" style={{ width: barWidth((d.emitted?.skipped ?? 0) + (d.emitted?.blocked ?? 0), admitted, 0) }} /></div>
        <p class="verdict"><span><b class="num">{count(done)}</b> of {alive ? "at least " : ""}<span class="num">{count(admitted)}</span> URLs</span>
            {known && <span class="limited"><Icon2 />{inert(d.limited.text || d.limited.code || d.limited, 300)}{d.limited.since ? <span class="muted"> since {isBig(d.limited.since) ? <Time at={d.limited.since} short={timeOfDay} /> : clockSpan(d.limited.since)}</span> : null}</span>}</p>
        <Confirm open={asking} title="Cancel this run?" text="Requests in flight end, what it has is written, then it stops. The rest of its URLs stays in the job." yes="Cancel the run" onYes={() => post(`/api/runs/${id}/cancel`)} onClose={() => setAsking(false)} />
        <Confirm open={deleting} title="Delete this run?" text="Its records, pages and figures go with it, for ever." yes="Delete" onYes={async () => { await del("/api/runs/" + id); go("#/runs") }} onClose={() => setDeleting(false)} />
        <Limits id={id} open={limits} d={d} onClose={() => setLimits(false)} />
    </section>
}
const isBig = n => typeof n === "string" || n > 1e11
const barWidth = (n, all, otherwise) => (typeof n === "number" && all ? (100 * n) / all : otherwise) + "%"
function Icon2() {
    return <svg class="icon" width="15" height="15" viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.700" stroke-linecap="round" aria-hidden="true"><path d="M4 15a7 7 0 1112 0M10 12l3-4" /></svg>
}

function Limits({ id, open, d, onClose }) {
    const [form, setForm] = useState({}), [error, setError] = useState(null), [busy, setBusy] = useState(false)
    const submit = async e => {
        e.preventDefault()
        const body = {}
        for (const [k, v] of Object.entries(form)) if (v !== "") body[k] = Number(v)
        setBusy(true)
        try {
            await patch(`/api/runs/${id}/limits`, body)
            toast("The new limits are in force")
            onClose()
        } catch (e2) { setError(e2) }
        setBusy(false)
    }
    const input = (k, label, hint, placeholder) => <Field label={label} hint={hint}>{(fid, h) => <input id={fid} aria-describedby={h} type="number" min="0" step="any" value={form[k] ?? ""} placeholder={placeholder} onInput={e => setForm({ ...form, [k]: e.currentTarget.value })} />}</Field>
    return <Dialog title="Limits of this run" open={open} onClose={onClose}><form onSubmit={submit}>
        {input("concurrency", "Concurrency", "requests in flight at once", String(d.slots ?? ""))}{input("rate", "Rate", "requests per second over all hosts", "unchanged")}{input("host_rate", "Host rate", "requests per second and host; never faster than a host allows", "unchanged")}
        {error && <Failure error={error} />}<footer><Button onClick={onClose}>Leave as it is</Button><Button kind="primary" type="submit" busy={busy}>Set limits</Button></footer></form></Dialog>
}

function Tile({ label, value, unit, sub, tone }) {
    return <div class="tile"><dt>{label}</dt><dd class={tone || ""}><b class="num">{value}</b>{unit && <span class="unit">{unit}</span>}{sub && <small>{sub}</small>}</dd></div>
}
function Tiles({ d }) {
    const [mb, mbUnit] = bytesParts(d.bps), [p95, p95Unit] = spanParts(d.p?.[2]), ok = d.ok_pct ?? okPercent(d.emitted)
    const waiting = d.waiting && typeof d.waiting === "object" ? WAITS.reduce((n, w) => n + (d.waiting[w] ?? 0), 0) : d.waiting
    const most = d.waiting && typeof d.waiting === "object" && waiting ? Object.entries(d.waiting).sort((a, b) => b[1] - a[1])[0] : null
    return <dl class="tiles panel">
        <Tile label="Requests" value={rate(d.rps)} unit="/s" /><Tile label="Received" value={mb} unit={mbUnit && mbUnit + "/s"} />
        <Tile label="In flight" value={count(d.in_flight)} unit={d.slots ? "/ " + count(d.slots) : ""} />
        <Tile label="OK" value={percent(ok).replace("\u202f%", "")} unit="%" tone={ok !== null && ok < 90 ? "warn" : ""} />
        <Tile label="Latency p95" value={p95} unit={p95Unit} /><Tile label="Records" value={rate(d.records_s)} unit="/s" />
        <Tile label="Waiting" value={count(waiting)} sub={most && most[1] ? `most: ${most[0]}` : ""} />
    </dl>
}

function RunTabs({ id, d, tab, query }) {
    const errors = useTopic(isLive(d.state) ? "errors:" + id : null)
    const e = d.emitted || {}
    const tabs = [{ id: "hosts", label: "Hosts" }, { id: "errors", label: "Errors", count: e.failed ? count(e.failed) : null, tone: "bad" }, { id: "skipped", label: "Skipped", count: d.refused ? count(d.refused) : null },
        { id: "records", label: "Records", count: d.records ? count(d.records) : null }, { id: "log", label: "Log" }, { id: "explain", label: "Explain" }]
    const now = tabs.some(t => t.id === tab) ? tab : "hosts"
    const Body = { hosts: Hosts, errors: Errors, skipped: Skipped, records: RunRecords, log: Log, explain: Explain }[now]
    return <section class="panel flush" aria-label="Details"><Tabs label="Details of the run" tabs={tabs} value={now} onChange={t => setQuery({ tab: t, q: "", sort: "" })} />
        <TabPanel id={now}><Body id={id} d={d} query={query} errors={errors} /></TabPanel></section>
}

export function useFresh(live, path, isOver = false) {
    const once = useGet(path), was = useRef(isOver)
    // What was asked for while the run went on is old when it has ended.
    useEffect(() => {
        if (isOver && !was.current) once.reload()
        was.current = isOver
    }, [isOver])
    return live.data !== undefined ? { data: live.data, error: null, reload: once.reload } : once
}

// The server brings the best of a column; equal columns of one page are in the order that the heading says.
const RISING = new Set(["host", "ok_pct"])
export function inOrder(rows, column) {
    const value = h => h[column] ?? (column === "host" ? "" : -Infinity), sign = RISING.has(column) ? 1 : -1
    return [...rows].sort((a, b) => (value(a) === value(b) ? (a.host < b.host ? -1 : 1) : value(a) < value(b) ? -sign : sign))
}
const BREAKER = { half_open: "half-open", halfopen: "half-open" }
function Hosts({ id, d, query }) {
    const sort = query.sort || "waiting", q = query.q || "", [open, setOpen] = useState(null), now = useNow()
    const live = useTopic(isLive(d.state) ? "hosts:" + id : null, { sort, ...(q ? { q } : {}) })
    const of = useFresh(live, `/api/runs/${id}/hosts${qs({ sort, q })}`, !isLive(d.state))
    const columns = [
        { id: "host", label: "Host", sort: true, cell: h => <span class="mono"><bdi>{inert(h.host, 120)}</bdi></span> },
        { id: "done", label: "Done", num: true, sort: true, cell: h => count(h.done) }, { id: "in_flight", label: "In flight", num: true, sort: true, hide: "narrow", cell: h => count(h.in_flight) },
        { id: "waiting", label: "Waiting", num: true, sort: true, cell: h => count(h.waiting) }, { id: "ok_pct", label: "OK", num: true, sort: true, cell: h => percent(h.ok_pct) }, { id: "p95", label: "p95", num: true, sort: true, hide: "narrow", cell: h => span(h.p95) },
        { id: "breaker", label: "Breaker", cell: h => <State word={BREAKER[h.breaker] || h.breaker || "closed"} extra={h.open_until && h.open_until > now ? ` probe in ${span(h.open_until - now)}` : ""} /> },
        { id: "tokens", label: "Tokens", num: true, hide: "medium", cell: h => (h.burst ? <span>{count(Math.floor(h.tokens ?? 0))}<span class="muted">/{count(h.burst)}</span></span> : "–") },
        { id: "next_ms", label: "Next slot", num: true, hide: "medium", cell: h => (h.next_ms ? "in " + span(h.next_ms) : h.next_ms === 0 ? "now" : "–") },
        { id: "backoff_ms", label: "Backoff", num: true, hide: "medium", cell: h => (h.backoff_ms ? span(h.backoff_ms) : "–") },
        { id: "robots", label: "Robots", hide: "medium", cell: h => <span class="muted">{inert(h.robots, 40) || "–"}{h.delay_ms ? `, delay ${span(h.delay_ms)}` : ""}</span> },
        { id: "error", label: "Last error", hide: "medium", class: "ellipsis", cell: h => (h.error ? <code class="bad">{inert(h.error, 80)}</code> : <span class="muted">–</span>) },
    ]
    return <><div class="tab-tools"><Filter label="Filter hosts" value={q} onInput={v => setQuery({ q: v })} />{of.data?.rows?.length > 0 && of.data.total !== undefined && <span class="muted">best {count(of.data.rows?.length)} of {count(of.data.total)}{of.data.age_ms > 2000 ? `, ${span(of.data.age_ms)} old` : ""}</span>}</div>
        <Loaded of={of.data?.pending ? { ...of, data: undefined } : of}>{data => (data.rows?.length ? <Table dense caption="Hosts of this run" columns={columns} rows={inOrder(data.rows, sort)} keyOf={h => h.host} sort={{ id: sort, dir: RISING.has(sort) ? 1 : -1 }} onSort={s => setQuery({ sort: s })} onRow={h => setOpen(h.host)} rowLabel={h => "Open host " + inert(h.host, 120)} />
            : <Empty title={q ? "No host fits the filter." : "No host has been asked yet."} />)}</Loaded>
        <HostDrawer id={id} host={open} live={isLive(d.state)} onClose={() => setOpen(null)} /></>
}
function HostDrawer({ id, host, live, onClose }) {
    const of = useGet(host ? `/api/runs/${id}/hosts/${encodeURIComponent(host)}` : null), [busy, act] = useAction(() => "The breaker is closed")
    useEffect(() => {
        if (!host || !live) return
        const timer = setInterval(() => { if (!document.hidden && !frozen.value) of.reload() }, 2000)
        return () => clearInterval(timer)
    }, [host, live])
    return <Dialog side title={inert(host, 120)} open={!!host} onClose={onClose}><Loaded of={of}>{h => <>
        <dl class="facts">{[["Breaker", <State word={BREAKER[h.breaker] || h.breaker || "closed"} />], ["Done", count(h.done)], ["Waiting", count(h.waiting)], ["In flight", count(h.in_flight)], ["OK", percent(h.ok_pct)], ["Latency p95", span(h.p95)],
            ["Learned rate", h.rate ? rate(h.rate) + "/s" : "–"], ["Tokens", h.burst ? `${count(Math.floor(h.tokens))} of ${count(h.burst)}` : "–"], ["Robots", inert(h.robots) || "–"], ["Last error", inert(h.error) || "–"]].map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
        {list(h.timeline ?? h.events, "events").length > 0 && <><h3>Timeline</h3><ol class="timeline">{list(h.timeline ?? h.events, "events").slice(0, 100).map((e, i) => <li key={i}><Time at={e.at} short={timeOfDay} /><span>{inert(e.text || e.message || e.event, 200)}</span></li>)}</ol></>}
        {live && <footer><Button icon="retry" need="editor" busy={!!busy} onClick={() => act("reset", () => post(`/api/runs/${id}/hosts/${encodeURIComponent(host)}/reset`)).then(of.reload)}>Reset the breaker</Button></footer>}</>}</Loaded></Dialog>
}

const quote = s => '"' + String(s).replace(/["\\]/g, c => "\\" + c) + '"'
function Errors({ id, d, errors }) {
    const of = useFresh(errors, `/api/runs/${id}/errors`, !isLive(d.state)), [busy, act] = useAction((_n, r) => `${count(r?.queued ?? 0)} URLs are queued again`)
    const again = g => act(g.error + g.host, () => post(`/api/runs/${id}/retry`, { where: `error == ${quote(g.error)} && host == ${quote(g.host)}` }))
    const columns = [
        { id: "error", label: "Error", cell: g => <><code class="bad">{inert(g.error, 60)}</code>{(g.text || g.hint) && <span class="sub wide-sub">{inert(g.text, 160)}{g.hint && <> {inert(g.hint, 160)}</>}</span>}</> },
        { id: "host", label: "Host", cell: g => <span class="mono"><bdi>{inert(g.host, 100)}</bdi></span> }, { id: "count", label: "Count", num: true, cell: g => count(g.count) }, { id: "attempts", label: "Attempts", num: true, hide: "narrow", cell: g => count(g.attempts) },
        { id: "first", label: "First", hide: "medium", cell: g => <Time at={g.first} /> }, { id: "last", label: "Last", hide: "narrow", cell: g => <Time at={g.last} /> }, { id: "url", label: "Sample", hide: "medium", class: "ellipsis", cell: g => <WebLink url={g.url} /> },
        { id: "act", label: "", hidden: "Actions", cell: g => <Button small icon="retry" need="editor" busy={busy === g.error + g.host} onClick={() => again(g)}>Retry these</Button> }]
    return <Loaded of={of}>{data => { const groups = list(data.groups ?? data, "groups"); return groups.length ? <Table dense caption="Errors by name and host" columns={columns} rows={groups} keyOf={g => g.error + " " + g.host} /> : <Empty title="No errors." /> }}</Loaded>
}
function Skipped({ id, d, errors }) {
    const of = useFresh(errors, `/api/runs/${id}/skips`, !isLive(d.state))
    const columns = [{ id: "reason", label: "Reason", cell: s => <strong>{inert(s.reason, 80)}</strong> }, { id: "count", label: "Count", num: true, cell: s => count(s.count) },
        { id: "rule", label: "Rule", cell: s => <code>{inert(s.rule, 200) || "–"}</code> }, { id: "samples", label: "Samples", hide: "narrow", cell: s => <ul class="samples">{(s.samples || []).slice(0, 5).map((u, i) => <li key={i}><WebLink url={typeof u === "string" ? u : u.url} /></li>)}</ul> }]
    return <Loaded of={of}>{data => { const skips = list(data.skips ?? data, "skips"); return skips.length ? <Table dense caption="Skipped URLs by reason" columns={columns} rows={skips} keyOf={s => s.reason + (s.rule || "")} /> : <Empty title="Nothing was skipped." /> }}</Loaded>
}
function RunRecords({ id, d }) {
    return <><div class="tab-tools"><a class="button small" href={`#/runs/${id}/records`}>Open all records</a></div><RecordsTable id={id} height={420} counts={d.emitted} /></>
}

const LEVELS = ["debug", "info", "warn", "error"]
export function LogView({ lines, lost }) {
    const [level, setLevel] = useState("debug"), [q, setQ] = useState("")
    const shown = lines.filter(l => LEVELS.indexOf(l["log.level"] ?? l.level) >= LEVELS.indexOf(level) || !LEVELS.includes(l["log.level"] ?? l.level)).filter(l => !q || JSON.stringify(l).toLowerCase().includes(q.toLowerCase())).slice(-400)
    const box = useRef(), follow = useRef(true)
    useEffect(() => { if (follow.current && box.current) box.current.scrollTop = box.current.scrollHeight }, [shown.length])
    return <><div class="tab-tools"><Filter label="Filter the log" value={q} onInput={setQ} /><select aria-label="Level" value={level} onChange={e => setLevel(e.currentTarget.value)}>{LEVELS.map(l => <option key={l} value={l}>{l === "debug" ? "all levels" : l + " and above"}</option>)}</select>{lost > 0 && <span class="muted">{count(lost)} lines lost</span>}</div>
        {shown.length ? <div class="log" role="log" aria-label="Log" tabIndex={0} ref={box} onScroll={e => { const b = e.currentTarget; follow.current = b.scrollHeight - b.scrollTop - b.clientHeight < 30 }}>{shown.map((l, i) => <p key={i} class={l["log.level"] ?? l.level}><time class="num" title={inert(l["@timestamp"])}>{timeOfDay(l["@timestamp"] ?? l.at)}</time><b>{inert(l["log.level"] ?? l.level, 8)}</b><span>{inert(l.message, 500)} <span class="muted">{rest(l)}</span></span></p>)}</div> : <Empty title={lines.length ? "No line fits." : "No lines yet."} />}</>
}
const BASE = new Set(["@timestamp", "log.level", "message", "service.name", "service.version", "thread.id", "thread.name", "level", "at", "event.name"])
const rest = l => inert(Object.entries(l).filter(([k]) => !BASE.has(k)).map(([k, v]) => k.replace(/^seine\./, "") + "=" + (typeof v === "object" ? JSON.stringify(v) : v)).join("  "), 600)
function Log({ id, d }) {
    const [lines, setLines] = useState([]), [lost, setLost] = useState(0), of = useGet(`/api/runs/${id}/log`)
    useTopic(isLive(d.state) ? "log:" + id : null, {}, frame => {
        setLines(l => [...(frame.full ? [] : l), ...(frame.d.lines || [])].slice(-1000))
        setLost(n => n + (frame.d.lost || 0))
    })
    const all = lines.length ? lines : list(of.data?.lines ?? of.data, "lines")
    return <Loaded of={lines.length ? { data: lines } : of}>{() => <LogView lines={all} lost={lost} />}</Loaded>
}

function Explain({ id, query }) {
    const [text, setText] = useState(query.url || ""), of = useGet(query.url ? `/api/runs/${id}/explain${qs({ url: query.url })}` : null)
    return <div class="explain"><form onSubmit={e => { e.preventDefault(); setQuery({ url: text.trim() }); of.reload() }}><Field label="Which URL?" hint="Its whole story: the rule, the line of robots.txt, the limiter, the breaker.">{(fid, h) => <div class="input-button"><input id={fid} data-filter type="url" aria-describedby={h} value={text} onInput={e => setText(e.currentTarget.value)} placeholder="https://" spellcheck={false} /><Button kind="primary" type="submit" disabled={!text.trim()}>Explain</Button></div>}</Field></form>
        {query.url && <Loaded of={of} rows={4}>{story => <Story story={story} />}</Loaded>}</div>
}
function Story({ story }) {
    const steps = list(story.steps ?? story.story, "steps"), facts = Object.entries(story).filter(([k, v]) => !["steps", "story", "url", "answer", "text", "state", "robots", "limiter", "breaker"].includes(k) && v !== null && v !== "")
    return <div class="story"><p class="story-head">{story.state && <State word={story.state} />} <strong>{inert(story.answer || story.text || "", 300)}</strong></p>
        {steps.length > 0 && <ol class="timeline">{steps.map((s, i) => <li key={i}>{s.at ? <Time at={s.at} short={timeOfDay} /> : <b>{inert(s.step || s.name, 40)}</b>}<span>{inert(s.text || s.message || s, 400)}</span></li>)}</ol>}
        {facts.length > 0 && <dl class="facts">{facts.map(([k, v]) => <div key={k}><dt>{inert(k.replaceAll("_", " "), 60)}</dt><dd>{typeof v === "object" ? <code>{inert(v, 600)}</code> : inert(v, 600)}</dd></div>)}</dl>}<CopyButton small label="Copy as JSON" text={() => JSON.stringify(story, null, 2)} /></div>
}
