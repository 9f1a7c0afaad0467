// SPDX-License-Identifier: Apache-2.0
// All runs, newest first, live.
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { get, list, may, post } from "../api.js"
import { clockSpan, count, inert, percent, rate, span, sum } from "../format.js"
import { announce, useAction, useGet, useTopic } from "../live.js"
import { Button, Confirm, Dialog, Empty, Failure, Field, Filter, Loaded, Sparkline, State, Table, Time } from "../parts/basic.jsx"
import { runOrder } from "../keys.jsx"
import { go, route, setQuery } from "../router.js"

const rates = new Map() // run → the last 40 rates that this page saw
function remember(rows) {
    for (const r of rows) {
        const ring = rates.get(r.id) || []
        ring.push(typeof r.rps === "number" ? r.rps : 0)
        if (ring.length > 40) ring.shift()
        rates.set(r.id, ring)
    }
    if (rates.size > 400) rates.delete(rates.keys().next().value)
}
export const isLive = state => ["waiting", "running", "paused", "stopping"].includes(state)
const limitedText = l => (l && typeof l === "object" ? l.text || l.code : l) || ""

export function Runs({ query }) {
    const first = useGet("/api/runs?limit=200")
    const states = useRef(new Map())
    const live = useTopic("runs", {}, (frame, data) => {
        if (!Array.isArray(data)) return
        remember(data)
        for (const r of data) {
            const was = states.current.get(r.id)
            if (was && was !== r.state) announce(`Run ${r.title} is ${r.state}`)
            states.current.set(r.id, r.state)
        }
    })
    const [more, setMore] = useState([])
    const rows = useMemo(() => {
        const seen = new Map()
        for (const r of [...(Array.isArray(live.data) ? live.data : []), ...list(first.data, "runs"), ...more]) if (!seen.has(r.id)) seen.set(r.id, r)
        else { const s = seen.get(r.id); for (const k in r) if (s[k] === undefined) s[k] = r[k] }
        return [...seen.values()].sort((a, b) => (a.id < b.id ? 1 : -1))
    }, [live.data, first.data, more])
    useEffect(() => { runOrder.value = rows.map(r => r.id) }, [rows])
    const [asking, setAsking] = useState(null), [busy, act] = useAction((name, r) => ({ pause: "Paused", resume: "Goes on", cancel: "Stopping" }[name] || "Done"))
    const text = query.q || "", state = query.state || ""
    const shown = rows.filter(r => (!state || (state === "live" ? isLive(r.state) : r.state === state)) && (!text || (r.title + " " + r.id + " " + limitedText(r.limited)).toLowerCase().includes(text.toLowerCase())))
    const verb = (r, name) => act(name, () => post(`/api/runs/${r.id}/${name}`))
    const columns = [
        { id: "title", label: "Run", cell: r => <><strong><bdi>{inert(r.title, 80)}</bdi></strong><span class="sub">{r.doc && `v${r.version} · `}<span class="mono">{r.id.slice(-6)}</span></span></> },
        { id: "state", label: "State", cell: r => <State word={r.state} /> },
        { id: "done", label: "Done", num: true, cell: r => count(sum(r.emitted)) },
        { id: "ok", label: "OK", num: true, hide: "narrow", cell: r => percent(r.ok_pct) },
        { id: "records", label: "Records", num: true, hide: "narrow", cell: r => count(r.records) },
        { id: "rate", label: "Rate", num: true, hide: "medium", cell: r => (isLive(r.state) ? <span class="with-spark"><Sparkline values={rates.get(r.id) || []} label={`Requests per second of ${inert(r.title, 40)}`} /><span>{rate(r.rps)}<small> /s</small></span></span> : <span class="muted">–</span>) },
        { id: "limited", label: "Limited by", hide: "medium", class: "ellipsis", cell: r => <span class="muted" title={inert(limitedText(r.limited))}>{inert(limitedText(r.limited), 90) || "–"}</span> },
        { id: "started", label: "Started", hide: "narrow", cell: r => <><Time at={r.started} />{r.by && <span class="sub"><bdi>{inert(r.by, 40)}</bdi></span>}</> },
        { id: "took", label: "Duration", num: true, hide: "narrow", cell: r => (isLive(r.state) ? clockSpan(r.elapsed_ms) : span(r.elapsed_ms)) },
        { id: "actions", label: "", hidden: "Actions", cell: r => <span class="row-actions">
            {r.state === "running" && <Button small kind="ghost" icon="pause" need="editor" aria-label={`Pause ${inert(r.title, 40)}`} busy={busy === "pause" + r.id} onClick={() => verb(r, "pause")} />}
            {r.state === "paused" && <Button small kind="ghost" icon="play" need="editor" aria-label={`Resume ${inert(r.title, 40)}`} onClick={() => verb(r, "resume")} />}
            {isLive(r.state) && <Button small kind="ghost" icon="stop" need="editor" aria-label={`Cancel ${inert(r.title, 40)}`} onClick={() => setAsking(r)} />}</span> },
    ]
    const next = first.data?.next
    const loadMore = async () => setMore([...more, ...list(await get(`/api/runs?limit=200&after=${rows.at(-1).id}`), "runs")])
    const running = rows.filter(r => isLive(r.state)).length
    return <div class="page">
        <div class="page-head"><div><h1>Runs</h1><p class="muted">{rows.length ? `${count(running)} running · ${count(rows.length)} shown` : " "}</p></div>
            <div class="head-actions"><Filter label="Filter runs" value={text} onInput={q => setQuery({ q })} />
                <select aria-label="State" value={state} onChange={e => setQuery({ state: e.currentTarget.value })}><option value="">All states</option><option value="live">Not ended</option>{["waiting", "running", "paused", "finished", "stopped", "failed"].map(s => <option key={s} value={s}>{s}</option>)}</select>
                <Button kind="primary" icon="plus" need="editor" onClick={() => setQuery({ new: "1" })}>New run</Button></div></div>
        <Loaded of={first.data === undefined && live.data !== undefined ? { data: live.data } : first} rows={8}>{() => !rows.length
            ? <Empty title="No runs yet. Start one from a recipe."><p><Button kind="primary" icon="plus" need="editor" onClick={() => setQuery({ new: "1" })}>New run</Button> <a class="button" href="#/recipes">Look at recipes</a></p></Empty>
            : !shown.length ? <Empty title="No run fits the filter."><Button onClick={() => setQuery({ q: "", state: "" })}>Show all</Button></Empty>
                : <div class="panel flush"><Table caption="Runs" columns={columns} rows={shown} keyOf={r => r.id} onRow={r => go("#/runs/" + r.id)} rowLabel={r => `Open run ${inert(r.title, 60)}, ${r.state}`} />
                    {next && <p class="more"><Button onClick={loadMore}>Older runs</Button></p>}</div>}</Loaded>
        <NewRun open={query.new === "1"} doc={query.doc} onClose={() => setQuery({ new: "", doc: "" })} />
        <Confirm open={!!asking} title="Cancel this run?" text={asking && `${inert(asking.title, 80)} lets requests in flight end, writes what it has and stops. It can be resumed from the command line.`} yes="Cancel the run" onYes={() => post(`/api/runs/${asking.id}/cancel`)} onClose={() => setAsking(null)} />
    </div>
}

const NUMBER = /^\d+(\.\d+)?$/
export function NewRun({ open, doc, onClose }) {
    const docs = useGet(open ? "/api/docs" : null)
    const [form, setForm] = useState({}), [error, setError] = useState(null), [busy, setBusy] = useState(false)
    useEffect(() => { if (open) { setForm({ doc: doc || "" }); setError(null) } }, [open, doc])
    const recipes = list(docs.data, "docs").filter(d => d.kind !== "note")
    const chosen = recipes.find(d => d.id === form.doc) || (form.doc ? null : recipes[0])
    const set = (k, v) => setForm({ ...form, [k]: v })
    const submit = async e => {
        e.preventDefault()
        const body = { doc: chosen?.id ?? form.doc, version: form.version ? Number(form.version) : chosen?.version }
        const start = (form.start || "").split(/\s+/).filter(Boolean)
        if (start.length) body.start = start
        const limits = {}
        for (const k of ["concurrency", "rate", "host_rate"]) if (form[k]) {
            if (!NUMBER.test(form[k])) return setError({ message: `${k.replace("_", " ")} is a number`, code: "form", hint: "", request: "" })
            limits[k] = Number(form[k])
        }
        if (Object.keys(limits).length) body.limits = limits
        setBusy(true)
        setError(null)
        try {
            const made = await post("/api/runs", body)
            onClose()
            go("#/runs/" + made.id)
        } catch (e2) { setError(e2) }
        setBusy(false)
    }
    return <Dialog title="New run" open={open} onClose={onClose}><Loaded of={docs} rows={4}>{() => !recipes.length
        ? <Empty title="A run needs a recipe, and there is none yet."><a class="button primary" href="#/recipes">Make a recipe</a></Empty>
        : <form onSubmit={submit}>
            <div class="form-row"><Field label="Recipe">{id => <select id={id} value={chosen?.id} onChange={e => setForm({ ...form, doc: e.currentTarget.value, version: "" })}>{recipes.map(d => <option key={d.id} value={d.id}>{inert(d.title, 80)}</option>)}</select>}</Field>
                <Field label="Version">{id => <input id={id} inputMode="numeric" value={form.version ?? ""} placeholder={"latest, v" + (chosen?.version ?? 0)} onInput={e => set("version", e.currentTarget.value.replace(/\D/g, ""))} />}</Field></div>
            <Field label="Start URLs" hint="One per line. Left empty, the recipe's own are taken.">{(id, hint) => <textarea id={id} aria-describedby={hint} rows={3} spellcheck={false} value={form.start ?? ""} onInput={e => set("start", e.currentTarget.value)} placeholder="https://" />}</Field>
            <div class="form-row three">
                <Field label="Concurrency" hint="requests in flight">{(id, h) => <input id={id} inputMode="numeric" aria-describedby={h} value={form.concurrency ?? ""} onInput={e => set("concurrency", e.currentTarget.value)} placeholder="default" />}</Field>
                <Field label="Rate" hint="requests per second">{(id, h) => <input id={id} inputMode="decimal" aria-describedby={h} value={form.rate ?? ""} onInput={e => set("rate", e.currentTarget.value)} placeholder="no limit" />}</Field>
                <Field label="Host rate" hint="per host and second">{(id, h) => <input id={id} inputMode="decimal" aria-describedby={h} value={form.host_rate ?? ""} onInput={e => set("host_rate", e.currentTarget.value)} placeholder="polite" />}</Field></div>
            {error && <Failure error={error} />}
            <footer><Button onClick={onClose}>Not now</Button><Button kind="primary" type="submit" busy={busy} disabled={!may("editor")}>Start the run</Button></footer>
        </form>}</Loaded></Dialog>
}
