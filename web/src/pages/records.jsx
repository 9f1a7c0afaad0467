// SPDX-License-Identifier: Apache-2.0
// Records of a run: a windowed table over pages that come by cursor.
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { download, get, list, post, query as qs } from "../api.js"
import { cellText, count, inert, inertText, isNumber } from "../format.js"
import { toast, useGet } from "../live.js"
import { Button, CopyButton, Dialog, Empty, Failure, Filter, Json, Loaded, Skeleton, TabPanel, Tabs, WebLink } from "../parts/basic.jsx"
import { Icon } from "../parts/icons.jsx"
import { go, setQuery } from "../router.js"

const ROW = 28, PAGE = 200, KEPT = 20_000

// Columns of records: their fields first where a recipe made them, then what each record has.
export function fieldsOf(rows) {
    const found = new Map()
    for (const r of rows.slice(0, 500)) {
        const item = r.item && typeof r.item === "object" ? r.item : r.fields && typeof r.fields === "object" ? r.fields : null
        for (const [k, v] of Object.entries(r)) if (k !== "item" && k !== "fields" && (v === null || typeof v !== "object" || isNumber(v.amount))) found.set(k, (found.get(k) || 0) + 1)
        if (item) for (const k of Object.keys(item)) found.set((r.item ? "item." : "fields.") + k, (found.get((r.item ? "item." : "fields.") + k) || 0) + 1)
    }
    const rank = k => (k === "seq" ? 0 : k.includes(".") ? 1 : k === "url" ? 2 : k === "outcome" || k === "status" ? 3 : 4)
    return [...found.keys()].sort((a, b) => rank(a) - rank(b))
}
export function valueAt(record, path) {
    return path.split(".").reduce((v, k) => (v && typeof v === "object" ? v[k] : undefined), record)
}

// What a table shows at first; the rest is a click away. Nothing is left out of a record or an export.
const FIRST = new Set(["seq", "url", "outcome", "status", "error", "reason", "rule", "attempts", "content_type", "bytes_body", "bytes", "title", "ms"])
const OF_ROWS = new Set(["seq", "url", "outcome", "error"]) // beside the fields of a recipe
const isQuiet = (f, hasRows) => !f.includes(".") && !(hasRows ? OF_ROWS : FIRST).has(f)
const numeric = (rows, f) => rows.slice(0, 20).some(r => { const v = valueAt(r, f); return isNumber(v) || isNumber(v?.amount) })

export function Records({ id, query }) {
    const meta = useGet("/api/runs/" + id)
    return <div class="page tall"><div class="page-head"><div><p class="crumb"><a href="#/runs">Runs</a> <span aria-hidden="true">/</span> <a href={"#/runs/" + id}><bdi>{inert(meta.data?.title, 60) || id}</bdi></a></p><h1>Records</h1></div></div>
        <div class="panel flush grow"><RecordsTable id={id} query={query} counts={meta.data?.emitted} full /></div></div>
}

export function RecordsTable({ id, query = {}, height, counts, full }) {
    const [rows, setRows] = useState([]), [end, setEnd] = useState(false), [error, setError] = useState(null), [total, setTotal] = useState(null), [ready, setReady] = useState(false)
    const [where, setWhere] = useState(query.where || ""), [text, setText] = useState(query.where || ""), [open, setOpen] = useState(null), [choosing, setChoosing] = useState(false), [exporting, setExporting] = useState(false)
    const [chosen, setChosen] = useState(null)
    const loading = useRef(false), top = useRef(0), [first, setFirst] = useState(0), box = useRef(), [view, setView] = useState(height || 500), generation = useRef(0)
    const load = async (fresh) => {
        if (loading.current && !fresh) return
        loading.current = true
        const mine = fresh ? ++generation.current : generation.current
        const known = fresh ? [] : rows
        try {
            const answer = await get(`/api/runs/${id}/records${qs({ after: known.at(-1)?.seq, limit: PAGE, where: where.trim() })}`)
            if (mine !== generation.current) return
            const page = list(answer, "records")
            setRows([...known, ...page].slice(0, KEPT))
            setEnd(page.length < PAGE && !answer.next || known.length + page.length >= KEPT)
            if (isNumber(answer.total)) setTotal(answer.total)
            setError(null)
        } catch (e) { if (mine === generation.current) { setError(e); setEnd(true) } }
        setReady(true)
        loading.current = false
    }
    useEffect(() => { setReady(false); setEnd(false); load(true); box.current && (box.current.scrollTop = 0) }, [id, where])
    useEffect(() => {
        if (!full || !box.current) return
        const watch = new ResizeObserver(() => setView(box.current?.clientHeight || 500))
        watch.observe(box.current)
        return () => watch.disconnect()
    }, [full, ready, rows.length > 0])
    const fields = useMemo(() => fieldsOf(rows), [rows.length, rows[0]])
    const hasRows = fields.some(f => f.startsWith("item."))
    const isShown = f => (chosen ? chosen.has(f) : !isQuiet(f, hasRows))
    const shown = fields.filter(isShown).slice(0, 24)
    const many = Math.ceil(view / ROW) + 12, from = Math.max(0, Math.min(first - 6, rows.length - many)), window = rows.slice(from, from + many)
    const scroll = e => {
        top.current = e.currentTarget.scrollTop
        const f = Math.floor(top.current / ROW)
        if (Math.abs(f - first) > 3) setFirst(f)
        if (!end && f + many > rows.length - 40) load()
    }
    const submit = e => { e.preventDefault(); setWhere(text); if (full) setQuery({ where: text }) }
    const give = async format => {
        setExporting(false)
        try {
            const body = { format }
            if (chosen) body.fields = shown
            if (where) body.where = where.trim()
            download((await post(`/api/runs/${id}/export`, body)).url)
            toast("The export is on its way")
        } catch (e) { toast(e.message + (e.hint ? ". " + e.hint : ""), "bad", 10_000) }
    }
    return <div class="records">
        <form class="tab-tools" onSubmit={submit}><Filter label="Filter records" placeholder='Text, or status == 404 && host == "…"' value={text} onInput={setText} /><Button type="submit" small>Filter</Button><Button small kind="ghost" icon="retry" aria-label="Load again" title="Load again" onClick={() => load(true)} />
            <span class="muted">{rows.length ? `${count(rows.length)}${end ? "" : "+"}${total !== null ? " of " + count(total) : ""} records` : ""}</span><span class="spring" />
            <Button small icon="columns" onClick={() => setChoosing(true)}>Columns</Button><Button small icon="download" onClick={() => setExporting(true)}>Export</Button></form>
        {error && <Failure error={error} retry={() => load(true)} />}
        {!ready && !rows.length ? <Skeleton rows={8} /> : !rows.length && !error ? <Empty title="No records">{where ? <><p class="muted">Nothing fits this filter.</p><Button onClick={() => { setText(""); setWhere(""); if (full) setQuery({ where: "" }) }}>Show all</Button></>
            : counts && <p class="muted">{Object.entries(counts).map(([k, v]) => `${count(v)} ${k}`).join(" · ")}</p>}</Empty>
            : rows.length > 0 && <div class="window" ref={box} onScroll={scroll} tabIndex={0} role="region" aria-label="Records" style={height ? { height: height + "px", flex: "none" } : undefined}>
                <table class="dense fixed" aria-rowcount={end ? rows.length + 1 : -1}><caption class="sr-only">Records</caption>
                    <thead><tr aria-rowindex={1}>{shown.map(f => <th key={f} scope="col" class={numeric(rows, f) ? "num-col" : ""}><bdi>{inert(f.replace(/^(item|fields)\./, ""), 40)}</bdi></th>)}</tr></thead>
                    <tbody>{from > 0 && <tr aria-hidden="true" class="spacer"><td colSpan={shown.length} style={{ height: from * ROW + "px" }} /></tr>}
                        {window.map((r, i) => <tr key={r.seq ?? from + i} aria-rowindex={from + i + 2} class="clickable" onClick={e => { if (!e.target.closest("a,button")) setOpen(r) }}>{shown.map((f, n) => <Cell key={f} first={n === 0} record={r} field={f} onOpen={() => setOpen(r)} />)}</tr>)}
                        {rows.length > from + window.length && <tr aria-hidden="true" class="spacer"><td colSpan={shown.length} style={{ height: (rows.length - from - window.length) * ROW + "px" }} /></tr>}</tbody></table></div>}
        <RecordDialog id={id} record={open} onClose={() => setOpen(null)} />
        <Dialog title="Columns" open={choosing} onClose={() => setChoosing(false)}><div class="checks">{fields.map(f => <label key={f} class="check"><input type="checkbox" checked={isShown(f)} onChange={e => { const c = new Set(chosen ?? fields.filter(isShown)); e.currentTarget.checked ? c.add(f) : c.delete(f); setChosen(c) }} /> <code><bdi>{inert(f, 60)}</bdi></code></label>)}</div>
            <footer><Button onClick={() => setChosen(new Set(fields))}>All</Button><Button onClick={() => setChosen(null)}>As at first</Button><Button kind="primary" onClick={() => setChoosing(false)}>Done</Button></footer></Dialog>
        <Dialog title="Export" open={exporting} onClose={() => setExporting(false)}><p>{where ? "Records that fit the filter, " : "All records, "}{chosen ? "the chosen columns." : "every column."}</p>
            <div class="choices"><button type="button" class="choice" onClick={() => give("jsonl")}><Icon name="download" /><strong>JSON lines</strong><span>one record per line, nothing lost</span></button>
                <button type="button" class="choice" onClick={() => give("csv")}><Icon name="columns" /><strong>CSV</strong><span>for spreadsheets; cells that look like formulas are made harmless</span></button></div></Dialog>
    </div>
}
function Cell({ first, record, field, onOpen }) {
    const v = valueAt(record, field), text = cellText(v, 200)
    if (first) return <th scope="row" class={isNumber(v) ? "num-col" : ""}><button type="button" class="row-link" onClick={onOpen} aria-label={`Open record ${inert(record.seq ?? text, 40)}`}>{text || "–"}</button></th>
    if (v === undefined || v === null || v === "") return <td class="faint">–</td>
    if (/(^|\.)(url|link|href)$/.test(field) && typeof v === "string") return <td title={text}><WebLink url={v}>{text}</WebLink></td>
    return <td class={isNumber(v) || isNumber(v.amount) ? "num-col" : ""} title={text.length > 30 ? text : undefined}><bdi>{text}</bdi></td>
}
function RecordDialog({ id, record, onClose }) {
    const [tab, setTab] = useState("json"), seq = record?.seq
    const of = useGet(record && seq !== undefined ? `/api/runs/${id}/records/${seq}` : null)
    const source = useGet(record && tab === "source" && seq !== undefined ? `/api/runs/${id}/records/${seq}/source` : null, { text: true })
    const shown = of.data?.record ?? of.data ?? record
    return <Dialog side title={`Record ${seq ?? ""}`} open={!!record} onClose={() => { setTab("json"); onClose() }}>
        {record?.url && <p><WebLink url={record.url} /></p>}
        <Tabs label="Record" tabs={[{ id: "json", label: "JSON" }, { id: "source", label: "Stored page" }]} value={tab} onChange={setTab} />
        <TabPanel id={tab}>{tab === "json" ? <><Json value={shown} /><CopyButton small label="Copy JSON" text={() => JSON.stringify(shown, null, 2)} /></> : <Loaded of={source}>{body => <pre class="source" tabIndex={0} aria-label="Stored page">{inertText(body, 400_000)}</pre>}</Loaded>}</TabPanel></Dialog>
}
