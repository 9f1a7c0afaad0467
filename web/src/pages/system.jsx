// SPDX-License-Identifier: Apache-2.0
// The server itself: health, build, limits, workers, metrics, log, tokens, audit.
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { del, get, list, may, post } from "../api.js"
import { ago, bytes, count, dateTime, inert, isNumber, percent, rate, span } from "../format.js"
import { parseMetrics } from "../metrics.js"
import { toast, useAction, useGet, useTopic } from "../live.js"
import { Button, Confirm, CopyButton, Dialog, Empty, Failure, Field, Filter, Loaded, Sparkline, State, Table, TabPanel, Tabs, Time } from "../parts/basic.jsx"
import { setQuery } from "../router.js"
import { LogView, useFresh } from "./run.jsx"

// 99 of 100 timers of a loop were at most so late, since the start; null: later than ten seconds.
const lag = l => (l ? (isNumber(l.lag_p99_ms) ? "≤ " + span(l.lag_p99_ms) : "> " + span(10_000)) : "–")
const late = l => l.lag_p99_ms ?? Infinity
const worst = loops => loops.reduce((w, l) => (!w || late(l) > late(w) ? l : w), null)

export function System({ tab, query }) {
    const live = useTopic("system"), once = useGet("/api/system"), d = { ...once.data, ...live.data, health: list(live.data?.health, "health").length ? live.data.health : once.data?.health ?? live.data?.health }
    const tabs = [{ id: "health", label: "Health" }, { id: "fleet", label: "Workers" }, { id: "limits", label: "Build and limits" }, { id: "metrics", label: "Metrics" }, { id: "log", label: "Log" }, ...(may("admin") ? [{ id: "tokens", label: "Tokens" }, { id: "audit", label: "Audit" }] : [])]
    const now = tabs.some(t => t.id === tab) ? tab : "health"
    const Body = { health: Health, fleet: Fleet, limits: Limits, metrics: Metrics, log: Log, tokens: Tokens, audit: Audit }[now]
    const bad = list(d.health, "health").filter(h => h.status !== "healthy")
    return <div class="page"><div class="page-head"><div><h1>System</h1><p class="muted">{list(d.health, "health").length ? (bad.length ? bad.map(h => h.name).join(", ") + (bad.length > 1 ? " need" : " needs") + " a look" : "All checks are healthy") : " "}</p></div>
        <dl class="mini">{[["Memory", bytes(d.rss)], ["Open files", count(d.fds)], ["CPU", isNumber(d.cpu) ? percent(d.cpu) : "–"], ["Loop lag p99", lag(worst(list(d.loops, "loops")))]].map(([k, v]) => <div key={k}><dt>{k}</dt><dd class="num">{v}</dd></div>)}</dl></div>
        <section class="panel flush" aria-label="Parts of the system"><Tabs label="System" tabs={tabs} value={now} onChange={t => setQuery({ tab: t, q: "" })} /><TabPanel id={now}><Loaded of={live.data ? { data: d } : once}>{() => <Body d={d} query={query} />}</Loaded></TabPanel></section></div>
}

function Health({ d }) {
    const columns = [{ id: "name", label: "Check", cell: h => <strong>{inert(h.name, 40)}</strong> }, { id: "status", label: "State", cell: h => <State word={h.status} /> }, { id: "reason", label: "Reason", cell: h => <span class="muted">{inert(h.reason, 200) || "–"}</span> },
        { id: "at", label: "Checked", num: true, cell: h => <Time at={h.at} short={ago} /> }, { id: "took", label: "Took", num: true, hide: "narrow", cell: h => span(h.took_ms) }]
    const rows = list(d.health, "health")
    return <>{rows.length ? <Table caption="Health checks" columns={columns} rows={rows} keyOf={h => h.name} /> : <Empty title="No check has run yet." />}
        {list(d.loops, "loops").length > 0 && <><h2 class="inner">Loops</h2><Table dense caption="Loops" columns={[{ id: "loop", label: "Loop", cell: l => <code>{inert(l.loop, 40)}</code> }, { id: "lag", label: "Lag p99", num: true, cell: l => lag(l) }]} rows={list(d.loops, "loops")} keyOf={l => l.loop} /></>}</>
}
function facts(value) {
    if (!value || typeof value !== "object") return []
    return Object.entries(value).filter(([, v]) => v !== null && v !== undefined)
}
const FACTS = { request_ms: "time for a request", hello_ms: "time to hello", idle_ms: "idle connection", message_bytes: "message", queue_bytes: "queue of a connection" }
function show(k, v) {
    if (typeof v === "boolean") return v ? "yes" : "no"
    if (k === "started") return <Time at={v} />
    if (isNumber(v)) return /bytes|memory|_mem|rss|size/.test(k) ? bytes(v) : /_ms$/.test(k) ? span(v) : count(v)
    return typeof v === "object" ? <code>{inert(v, 300)}</code> : inert(v, 200)
}
const Facts = ({ of }) => <dl class="facts">{facts(of).map(([k, v]) => <div key={k}><dt>{inert((FACTS[k] ?? k).replaceAll("_", " "), 60)}</dt><dd class="num">{show(k, v)}</dd></div>)}</dl>
function Limits({ d }) {
    return <div class="two"><section><h2 class="inner">Build</h2><Facts of={d.build ?? { version: d.version }} /></section><section><h2 class="inner">Limits in force</h2>{facts(d.limits).length ? <Facts of={d.limits} /> : <p class="pad muted">The server names none.</p>}</section></div>
}
function Fleet({ d }) {
    const workers = list(d.workers, "workers"), redis = d.redis
    const known = workers.filter(w => w && typeof w === "object")
    return <>{redis ? <section><h2 class="inner">Redis</h2><Facts of={typeof redis === "object" ? redis : { state: redis }} /></section> : <p class="pad muted">No Redis is configured: all runs are this process's own.</p>}
        <h2 class="inner">Workers</h2>{known.length ? <Table dense caption="Workers" columns={[{ id: "name", label: "Worker", cell: w => <strong><bdi>{inert(w.name ?? w.id, 60)}</bdi></strong> }, ...["state", "host", "run", "in_flight", "rps", "seen"].filter(k => known.some(w => w[k] !== undefined)).map(k => ({ id: k, label: k.replace("_", " "), num: isNumber(known[0][k]), cell: w => (k === "state" ? <State word={w.state} /> : k === "seen" ? <Time at={w.seen} short={ago} /> : k === "rps" ? rate(w.rps) + "/s" : show(k, w[k])) }))]} rows={known} keyOf={w => w.name ?? w.id} />
            : isNumber(d.workers) ? <p class="pad">{count(d.workers)} shards of the engine run in this process.</p> : <Empty title="No other workers. `seine worker` on other machines joins through Redis." />}</>
}

const seen = new Map() // series → [[at, value]…] of ten minutes
function Metrics({ query }) {
    const [text, setText] = useState(null), [error, setError] = useState(null), q = query.q || ""
    useEffect(() => {
        let gone = false
        const load = () => get("/metrics", { text: true }).then(t => { if (!gone) { setText(t); setError(null); keepSeries(t) } }, e => { if (!gone) setError(e) })
        load()
        const timer = setInterval(() => { if (!document.hidden) load() }, 5000)
        return () => { gone = true; clearInterval(timer) }
    }, [])
    const families = useMemo(() => (text ? parseMetrics(text) : []), [text])
    if (error && !text) return <Failure error={error} />
    const shown = families.filter(f => !q || (f.name + " " + f.help).toLowerCase().includes(q.toLowerCase())).slice(0, 80)
    return <><div class="tab-tools"><Filter label="Filter metrics" value={q} onInput={v => setQuery({ q: v })} /><span class="muted">{count(families.length)} families</span></div>
        <div class="metrics">{shown.map(f => <details key={f.name}><summary><code>{inert(f.name, 100)}</code><span class="muted">{f.type}</span><span class="muted help">{inert(f.help, 160)}</span>{f.type !== "histogram" && <Sparkline width={70} height={18} values={(seen.get(f.name) || []).map(p => p[1])} label={`${f.name}, the last ten minutes`} />}<b class="num">{f.type === "histogram" ? "" : rate(f.total)}</b></summary>
            <Series f={f} /></details>)}</div></>
}
function Series({ f }) {
    return <div class="table-wrap" tabIndex={0} role="region" aria-label={`Series of ${f.name}`}><table class="dense"><caption class="sr-only">{f.name}</caption><tbody>{f.series.slice(0, 60).map((s, i) => <tr key={i}><th scope="row"><code>{inert(s.labels || s.name, 200)}</code></th><td class="num-col">{isNumber(s.value) ? rate(s.value) : String(s.value)}</td></tr>)}</tbody></table></div>
}
function keepSeries(text) {
    const at = Date.now()
    for (const f of parseMetrics(text)) {
        if (f.type === "histogram") continue
        const ring = seen.get(f.name) || []
        ring.push([at, f.total])
        while (ring.length > 120) ring.shift()
        seen.set(f.name, ring)
    }
}
function Log() {
    const of = useGet("/api/logs")
    useEffect(() => { const t = setInterval(() => { if (!document.hidden) of.reload() }, 3000); return () => clearInterval(t) }, [])
    return <Loaded of={of}>{d => <LogView lines={list(d.lines ?? d, "lines")} lost={d.lost || 0} />}</Loaded>
}

function Tokens() {
    const of = useGet("/api/tokens"), [making, setMaking] = useState(false), [asking, setAsking] = useState(null), [made, setMade] = useState(null)
    const columns = [{ id: "name", label: "Name", cell: t => <strong><bdi>{inert(t.name, 60)}</bdi></strong> }, { id: "role", label: "Role", cell: t => t.role }, { id: "created", label: "Made", hide: "narrow", cell: t => <Time at={t.created ?? t.created_ms} /> },
        { id: "expires", label: "Ends", cell: t => (t.revoked ?? t.revoked_ms ? <span class="bad">revoked</span> : t.expires ?? t.expires_ms ? <Time at={t.expires ?? t.expires_ms} /> : <span class="muted">never</span>) },
        { id: "act", label: "", hidden: "Actions", cell: t => !(t.revoked ?? t.revoked_ms) && <Button small kind="ghost" icon="trash" aria-label={`Revoke ${inert(t.name, 40)}`} onClick={() => setAsking(t)} /> }]
    return <><div class="tab-tools"><span class="muted">A token is shown once, when it is made.</span><span class="spring" /><Button kind="primary" small icon="plus" onClick={() => setMaking(true)}>New token</Button></div>
        <Loaded of={of}>{data => <Table caption="Tokens" columns={columns} rows={list(data, "tokens")} keyOf={t => t.id} />}</Loaded>
        <NewToken open={making} made={made} setMade={setMade} onClose={() => { setMaking(false); setMade(null); of.reload() }} />
        <Confirm open={!!asking} title="Revoke this token?" text={asking && `${inert(asking.name, 60)} is signed out within a second.`} yes="Revoke" onYes={async () => { await del("/api/tokens/" + asking.id); of.reload() }} onClose={() => setAsking(null)} /></>
}
function NewToken({ open, made, setMade, onClose }) {
    const [form, setForm] = useState({ role: "viewer" }), [error, setError] = useState(null)
    const submit = async e => {
        e.preventDefault()
        try {
            const body = { name: form.name, role: form.role }
            if (form.days) body.expires_ms = Date.now() + form.days * 86_400_000
            setMade(await post("/api/tokens", body))
            setError(null)
        } catch (e2) { setError(e2) }
    }
    return <Dialog title="New token" open={open} onClose={onClose}>{made ? <><p>Copy it now; it is not shown again.</p><p class="secret"><code>{inert(made.token, 100)}</code></p><footer><CopyButton text={made.token} /><Button kind="primary" onClick={onClose}>Done</Button></footer></>
        : <form onSubmit={submit}><Field label="Name">{id => <input id={id} autofocus required maxLength={80} value={form.name ?? ""} onInput={e => setForm({ ...form, name: e.currentTarget.value })} placeholder="dashboard in the kitchen" />}</Field>
            <div class="form-row"><Field label="Role" hint={{ viewer: "sees everything, changes nothing", editor: "starts runs, edits recipes", admin: "also tokens, deleting, audit" }[form.role]}>{(id, h) => <select id={id} aria-describedby={h} value={form.role} onChange={e => setForm({ ...form, role: e.currentTarget.value })}><option>viewer</option><option>editor</option><option>admin</option></select>}</Field>
                <Field label="Days" hint="empty: for ever">{(id, h) => <input id={id} aria-describedby={h} type="number" min="1" value={form.days ?? ""} onInput={e => setForm({ ...form, days: e.currentTarget.value })} />}</Field></div>
            {error && <Failure error={error} />}<footer><Button onClick={onClose}>Not now</Button><Button kind="primary" type="submit" disabled={!form.name?.trim()}>Make it</Button></footer></form>}</Dialog>
}
function Audit() {
    const of = useGet("/api/audit")
    const columns = [{ id: "at", label: "When", cell: a => <Time at={a.at ?? a.at_ms} /> }, { id: "user", label: "Who", cell: a => <bdi>{inert(a.user, 60)}</bdi> }, { id: "action", label: "What", cell: a => <code>{inert(a.action, 80)}</code> }, { id: "target", label: "On", hide: "narrow", cell: a => <span class="mono muted">{inert(a.target, 80)}</span> }, { id: "code", label: "Answer", num: true, cell: a => a.code }, { id: "peer", label: "From", hide: "medium", cell: a => <span class="mono muted">{inert(a.peer, 60)}</span> }]
    return <Loaded of={of}>{data => <Table dense caption="Audit" columns={columns} rows={list(data, "audit")} keyOf={a => a.seq ?? `${a.at}${a.action}${a.target}`} />}</Loaded>
}
