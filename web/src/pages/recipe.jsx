// SPDX-License-Identifier: Apache-2.0
// The recipe editor: text on the left, what it does on the right.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks"
import { get, list, may, patch, post, query as qs } from "../api.js"
import { ago, cellText, count, inert, inertText, plural, span } from "../format.js"
import { pageActions } from "../keys.jsx"
import { announce, nameOf, names, socket, toast, useAction, useGet } from "../live.js"
import { Button, CopyButton, Dialog, Empty, Failure, Field, Loaded, Skeleton, TabPanel, Tabs, Time, WebLink } from "../parts/basic.jsx"
import { Icon } from "../parts/icons.jsx"
import { matches, parseMarkup, selectorsIn, suggestSelectors } from "../markup.js"
import { go, setQuery } from "../router.js"
import { People } from "./recipes.jsx"

const nonce = () => document.querySelector("meta[name=csp-nonce]")?.content || ""
const TONE = { saved: "ok", sending: "warn", offline: "bad", opening: "muted", readonly: "muted", problem: "bad" }

export function Recipe({ id, tab, query }) {
    const box = useRef(), editor = useRef(null), schema = useRef(null)
    const [failed, setFailed] = useState(null), [status, setStatus] = useState({ word: "opening", text: "opening", n: 0 }), [peers, setPeers] = useState([]), [meta, setMeta] = useState(null)
    const [diags, setDiags] = useState([]), [preview, setPreview] = useState(null), [page, setPage] = useState(null), [labeling, setLabeling] = useState(false), [running, setRunning] = useState(false), [cursor, setCursor] = useState({ line: 1, col: 1 })
    const pageRef = useRef(null), pause = useRef(null), lastShown = useRef(-1), [pane, setPane] = useState(query.tab ? "side" : "text")
    const ask = useCallback(() => {
        if (pageRef.current) socket.send({ t: "preview", doc: id, page: pageRef.current })
    }, [id])
    const setPageId = p => { pageRef.current = p; setPage(p); setPreview(null); lastShown.current = -1; if (p) ask() }
    useEffect(() => {
        let gone = false, detach = () => {}
        get("/api/schema/recipe").then(s => { schema.current = s }, () => {})
        import("../editor.js").then(m => {
            if (gone) return
            const e = m.openEditor(box.current, {
                doc: id, client: socket.client, nonce: nonce(), send: x => socket.send(x), schema: () => schema.current,
                onstate: s => { setStatus(s.status()) },
                onpeers: s => { const all = [...s.peers.values()]; for (const p of all) if (p.user && p.name) names.set(p.user, p.name); setPeers(all) },
                onopened: o => { setMeta({ title: o.title, kind: o.kind, ro: o.ro }); setFailed(null); if (pageRef.current) ask() },
                ondiag: setDiags, onnotice: text => toast(text, "bad"),
                oncursor: state => {
                    const head = state.selection.main.head, line = state.doc.lineAt(head)
                    setCursor({ line: line.number, col: head - line.from + 1 })
                    clearTimeout(pause.current)
                    pause.current = setTimeout(ask, 300)
                },
                onresync: w => toast(w.kept ? "The server's text was taken and your edits were put onto it." : "The text was loaded again from the server.", "warn", 10_000),
                onerror: (err, s) => {
                    if (err.code === "not_found") setFailed({ message: "no such recipe", code: "not_found", hint: "It may have been deleted.", request: "" })
                    else if (s.problem) announce(s.problem.message)
                    else if (err.code === "read_only") toast("You may read this recipe, not change it.", "warn")
                    else if (err.re === "preview") setPreview(p => ({ ...p, error: { message: err.msg, code: err.code } }))
                },
                onframe: f => {
                    if (f.t === "preview" && f.v >= lastShown.current && (!f.page || f.page === pageRef.current)) { lastShown.current = f.v; setPreview(f) }
                    if (f.t === "doc" && f.ev === "title") setMeta(o => ({ ...o, title: f.title }))
                    if (f.t === "doc" && f.ev === "deleted") setFailed({ message: "this recipe was deleted", code: "deleted", hint: "An admin can bring it back within 30 days.", request: "" })
                    if (f.t === "doc" && f.ev === "label") announce("Version " + f.v + " is labelled " + f.label)
                },
                onrun: () => { setQuery({ tab: "preview" }); setPane("side"); ask() }, onlabel: () => may("editor") && setLabeling(true),
            })
            editor.current = e
            detach = socket.attach(id, e.handlers)
        }, e => setFailed({ message: "the editor could not be loaded", hint: e.message, code: "load", request: "" }))
        return () => { gone = true; clearTimeout(pause.current); detach(); editor.current?.destroy(); editor.current = null }
    }, [id])
    useEffect(() => {
        pageActions.value = [{ id: "preview", key: "run", label: "Preview the recipe", run: () => { setQuery({ tab: "preview" }); setPane("side"); ask() } }, { id: "label", key: "label", label: "Label this version", run: () => may("editor") && setLabeling(true) },
            { id: "run", label: "Run this recipe", run: () => go(`#/runs?new=1&doc=${id}`) }]
        return () => { pageActions.value = [] }
    }, [id])
    const errors = diags.filter(d => d.severity === "error").length
    const tabs = [{ id: "preview", label: "Preview" }, { id: "source", label: "Source" }, { id: "problems", label: "Problems", count: diags.length || null, tone: errors ? "bad" : "warn" }, { id: "history", label: "History" }]
    const now = tabs.some(t => t.id === tab) ? tab : "preview"
    if (failed) return <div class="page"><Failure error={failed} retry={() => location.reload()} />{editor.current && <CopyButton label="Copy my text" text={() => editor.current.text()} />}</div>
    return <div class="editor-page">
        <div class="editor-head"><div class="editor-title"><p class="crumb"><a href="#/recipes">Recipes</a> <span aria-hidden="true">/</span></p><Title id={id} meta={meta} /></div>
            <div class="head-actions">{peers.length > 0 && <People people={peers} />}<Button icon="tag" need="editor" onClick={() => setLabeling(true)} disabled={!meta}>Label</Button><Button kind="primary" icon="play" need="editor" onClick={() => go(`#/runs?new=1&doc=${id}`)}>Run</Button></div></div>
        {status.word === "problem" && <p class="banner bad" role="alert"><span>{status.text}</span> <CopyButton small label="Copy my text" text={() => editor.current.text()} /></p>}
        <div class="pane-switch segments" role="group" aria-label="What to show"><button type="button" aria-pressed={pane === "text"} onClick={() => setPane("text")}>Text</button><button type="button" aria-pressed={pane === "side"} onClick={() => setPane("side")}>Preview and more{diags.length ? ` (${diags.length})` : ""}</button></div>
        <div class={`editor-split show-${pane}`}>
            <section class="editor-pane panel flush" aria-label="Recipe text"><div class="editor-box" ref={box}>{!meta && <Skeleton rows={10} />}</div>
                <footer class="status-line"><span class={`doc-status ${TONE[status.word] || ""}`} data-status={status.word} role="status"><i aria-hidden="true" />{status.text}</span>{diags.length > 0 && <button type="button" class="linkish" onClick={() => { setQuery({ tab: "problems" }); setPane("side") }}>{errors ? plural(errors, "error") : plural(diags.length, "warning")}</button>}<span class="spring" /><span class="muted num">{cursor.line}:{cursor.col}</span></footer></section>
            <section class="side-pane panel flush" aria-label="Preview and more"><Tabs label="What the recipe does" tabs={tabs} value={now} onChange={t => setQuery({ tab: t })} />
                <TabPanel id={now}>{now === "preview" ? <Preview id={id} page={page} setPage={setPageId} preview={preview} text={() => editor.current?.text() ?? ""} ask={ask} />
                    : now === "source" ? <Source page={page} preview={preview} text={editor.current?.text() ?? ""} insert={s => { editor.current.insert(s); setPane("text") }} />
                        : now === "problems" ? <Problems diags={diags} jump={d => { setPane("text"); editor.current.jump(d.from, d.to) }} /> : <History id={id} version={editor.current?.session.version} />}</TabPanel></section>
        </div>
        <LabelDialog id={id} open={labeling} version={() => editor.current?.session.version ?? 0} onClose={() => setLabeling(false)} />
    </div>
}

function Title({ id, meta }) {
    const [editing, setEditing] = useState(false), [value, setValue] = useState("")
    const save = async () => {
        setEditing(false)
        if (value.trim() && value.trim() !== meta.title) try { await patch("/api/docs/" + id, { title: value.trim() }) } catch (e) { toast(e.message, "bad") }
    }
    if (!meta) return <h1>…</h1>
    if (editing) return <form onSubmit={e => { e.preventDefault(); save() }}><input class="title-input" aria-label="Title" autofocus maxLength={200} value={value} onInput={e => setValue(e.currentTarget.value)} onBlur={save} onKeyDown={e => { if (e.key === "Escape") setEditing(false) }} /></form>
    return <h1><bdi>{inert(meta.title, 120)}</bdi>{may("editor") && <Button kind="ghost" small icon="edit" aria-label="Change the title" onClick={() => { setValue(meta.title); setEditing(true) }} />}</h1>
}

function LabelDialog({ id, open, version, onClose }) {
    const [label, setLabel] = useState(""), [error, setError] = useState(null)
    const submit = async e => {
        e.preventDefault()
        try {
            await post(`/api/docs/${id}/labels`, { version: version(), label: label.trim() })
            toast("This version is labelled")
            setLabel("")
            setError(null)
            onClose()
        } catch (e2) { setError(e2) }
    }
    return <Dialog title="Label this version" open={open} onClose={onClose}><form onSubmit={submit}><Field label="Label" hint="A labelled version is kept for ever.">{(fid, h) => <input id={fid} autofocus required maxLength={80} aria-describedby={h} value={label} onInput={e => setLabel(e.currentTarget.value)} placeholder="works for all shops" />}</Field>
        {error && <Failure error={error} />}<footer><Button onClick={onClose}>Not now</Button><Button kind="primary" type="submit" disabled={!label.trim()}>Label</Button></footer></form></Dialog>
}

const startOf = text => /^start:\s*(?:\[?\s*)?["']?(https?:\/\/[^\s"',\]]+)/m.exec(text)?.[1] || ""
function Preview({ id, page, setPage, preview, text, ask }) {
    const [url, setUrl] = useState(""), [busy, setBusy] = useState(false), [error, setError] = useState(null), [meta, setMeta] = useState(null)
    useEffect(() => { if (!url) setUrl(startOf(text())) }, [page])
    useEffect(() => { if (page && !meta) get("/api/pages/" + page).then(setMeta, () => {}) }, [page])
    const fetchPage = async e => {
        e?.preventDefault()
        setBusy(true)
        setError(null)
        try {
            const made = await post("/api/pages", { url: (url || startOf(text())).trim() })
            setMeta(made)
            setPage(made.id)
        } catch (e2) { setError(e2) }
        setBusy(false)
    }
    return <div class="preview"><form class="tab-tools" onSubmit={fetchPage}><div class="input-button"><input type="url" aria-label="Page to try the recipe on" value={url} onInput={e => setUrl(e.currentTarget.value)} placeholder={startOf(text()) || "https://"} spellcheck={false} /><Button type="submit" need="editor" busy={busy} icon="download">Fetch page</Button></div></form>
        {error && <Failure error={{ ...error, message: error.message, hint: [error.cause, error.hint].filter(Boolean).join(". "), code: error.code, request: error.request, status: error.status === 403 ? 0 : error.status }} retry={fetchPage} />}
        {!page && !error && <Empty title="Fetch a page to see its rows."><p class="muted">A copy is kept on the server; the recipe runs on the copy at every pause in typing.</p></Empty>}
        {page && <p class="preview-meta muted">{meta?.status && <b class="num">{meta.status}</b>}<WebLink url={meta?.final_url || meta?.url || url} />{preview?.ms !== undefined && <span>{plural(preview.count ?? rowsOf(preview).length, "row")} in {span(preview.ms)}</span>}<Button small kind="ghost" icon="retry" aria-label="Preview again" title="Ctrl+Enter" onClick={ask} /></p>}
        {page && !preview && <Skeleton rows={5} />}
        {preview && <PreviewTable preview={preview} />}</div>
}
const isFigure = f => ["int", "number", "money", "duration"].includes(f.type)
const rowsOf = p => (Array.isArray(p?.rows) ? p.rows : [])
function PreviewTable({ preview }) {
    const rows = rowsOf(preview), fields = preview.fields?.length ? preview.fields : Object.keys(rows[0] || {}).map(name => ({ name }))
    const why = preview.error && (typeof preview.error === "string" ? preview.error : preview.error.message || preview.error.code)
    return <>{why && <p class="banner bad" role="status">{inert(why, 400)}</p>}{preview.dead?.length > 0 && <ul class="dead">{preview.dead.slice(0, 8).map((d, i) => <li key={i}><code>{inert(d.selector, 100)}</code> of <code>{inert(d.field, 60)}</code> matches nothing{d.nearest && <>; nearest: <code>{inert(d.nearest, 100)}</code> ({count(d.finds)})</>}</li>)}</ul>}{preview.truncated && <p class="banner warn" role="status">{typeof preview.truncated === "string" ? inert(preview.truncated) : `Stopped after ${span(preview.ms)}; these rows are a part.`}</p>}
        {fields.length > 0 && <ul class="field-counts" aria-label="Fields">{fields.map(f => <li key={f.name} class={f.matched === 0 ? "bad" : f.empty ? "warn" : ""}><code><bdi>{inert(f.name, 60)}</bdi></code>{f.type && <small>{inert(f.type, 20)}</small>}<span class="num">{f.matched === undefined ? "" : f.matched === 0 ? "matches nothing" : count(f.matched)}{f.empty ? `, ${count(f.empty)} empty` : ""}</span></li>)}</ul>}
        {rows.length ? <div class="table-wrap" tabIndex={0} role="region" aria-label="Rows of the preview"><table class="dense"><caption class="sr-only">Rows of the preview</caption><thead><tr><th scope="col" class="num-col">#</th>{fields.map(f => <th key={f.name} scope="col" class={isFigure(f) ? "num-col" : ""}><bdi>{inert(f.name, 60)}</bdi></th>)}</tr></thead>
            <tbody>{rows.slice(0, 100).map((r, i) => <tr key={i}><th scope="row" class="num-col faint">{i + 1}</th>{fields.map((f, n) => { const v = Array.isArray(r) ? r[n] : (r.item ?? r.data ?? r)[f.name]; return <td key={f.name} class={v === null || v === undefined || v === "" ? (isFigure(f) ? "faint num-col" : "faint") : typeof v === "number" || v?.amount !== undefined ? "num-col" : "clip"}><bdi>{v === null || v === undefined || v === "" ? "–" : cellText(v, 160)}</bdi></td> })}</tr>)}</tbody></table></div>
            : !why && <Empty title="No rows on this page."><p class="muted">Look at the Source tab: click a node for a selector.</p></Empty>}</>
}

const LINES = 1500
function Source({ page, text, insert }) {
    const of = useGet(page ? `/api/pages/${page}/source` : null, { text: true })
    if (!page) return <Empty title="No page yet. Fetch one in the Preview tab." />
    return <Loaded of={of}>{source => <SourceText source={inertText(source, 400_000)} text={text} insert={insert} />}</Loaded>
}
function SourceText({ source, text, insert }) {
    const nodes = useMemo(() => parseMarkup(source), [source])
    const [chosen, choose] = useState(null), [lines, setLines] = useState(LINES), box = useRef()
    const marks = useMemo(() => {
        const m = new Map()
        for (const { kind, selector } of selectorsIn(text)) for (const n of matches(selector, nodes)) if (m.get(n) !== "row") m.set(n, kind)
        return m
    }, [nodes, text])
    const ideas = useMemo(() => (chosen ? suggestSelectors(chosen, nodes) : []), [chosen, nodes])
    const cut = useMemo(() => { let at = -1; for (let i = 0; i < lines; i++) { at = source.indexOf("\n", at + 1); if (at < 0) return source.length } return at }, [source, lines])
    const parts = useMemo(() => {
        const out = []
        let at = 0
        for (const n of nodes) {
            if (n.from >= cut) break
            if (n.from > at) out.push(source.slice(at, n.from))
            out.push(<span key={n.n} data-n={n.n} class={`tag ${marks.get(n) || ""} ${chosen === n ? "chosen" : ""}`}>{source.slice(n.from, n.to)}</span>)
            at = n.to
        }
        if (at < cut) out.push(source.slice(at, cut))
        return out
    }, [source, nodes, marks, chosen, cut])
    const key = e => {
        const i = chosen ? chosen.n : -1
        const next = { ArrowDown: i + 1, ArrowRight: i + 1, ArrowUp: i - 1, ArrowLeft: i - 1 }[e.key]
        if (next === undefined || !nodes[next]) return
        e.preventDefault()
        choose(nodes[next])
        box.current.querySelector(`[data-n="${next}"]`)?.scrollIntoView({ block: "nearest" })
    }
    return <div class="source-view"><div class="ideas" aria-live="polite">{chosen ? <>{ideas.map(i => <span key={i.selector} class="idea"><code>{i.selector}</code><small class="muted">{plural(i.count, "node")}</small><Button small kind="ghost" icon="edit" need="editor" onClick={() => insert(i.selector)}>Insert</Button><CopyButton small label="Copy" text={i.selector} /></span>)}{!ideas.length && <span class="muted">No short selector names this node.</span>}</>
        : <span class="muted">Click a tag, or walk with the arrow keys: selectors for it appear here. <i class="tag row">rows</i> and <i class="tag field">fields</i> of the recipe are marked.</span>}</div>
        <pre class="source" tabIndex={0} ref={box} aria-label="Source of the page; arrow keys walk its tags" onKeyDown={key} onClick={e => { const n = e.target.closest?.("[data-n]"); if (n) choose(nodes[Number(n.dataset.n)]) }}>{parts}</pre>
        {cut < source.length && <p class="more"><Button onClick={() => setLines(lines + LINES)}>More lines</Button></p>}</div>
}

function Problems({ diags, jump }) {
    if (!diags.length) return <Empty title="No problems. The recipe is valid." />
    return <ul class="problems">{diags.map((d, i) => <li key={i}><button type="button" onClick={() => jump(d)}><b class={d.severity === "error" ? "bad" : d.severity === "warning" ? "warn" : "info"}>{d.severity}</b><span class="num muted">line {d.line}</span><span><bdi>{inert(d.message, 400)}</bdi>{d.hint && <small>{inert(d.hint, 300)}</small>}</span></button></li>)}</ul>
}

// Updates by one author within a minute are one entry.
export function groups(updates) {
    const out = []
    for (const u of [...updates].sort((a, b) => b.version - a.version)) {
        const last = out.at(-1), at = typeof u.ts === "number" ? u.ts : Date.parse(u.ts ?? u.at), user = u.user ?? u.u ?? ""
        if (last && !u.label && !last.label && last.user === user && Math.abs(last.at - at) < 60_000) { last.from = u.version; last.n++ } else out.push({ to: u.version, from: u.version, user, name: u.name ?? nameOf(user), at, n: 1, label: u.label || "" })
    }
    return out
}
function History({ id, version }) {
    const of = useGet(`/api/docs/${id}/history?limit=200`), [pair, setPair] = useState([null, null]), [restoring, act] = useAction((_n, _r) => "The older text is back, as a new version"), reload = useRef(version)
    useEffect(() => { if (version !== reload.current) { const t = setTimeout(() => { reload.current = version; of.reload() }, 1500); return () => clearTimeout(t) } }, [version])
    return <Loaded of={of}>{data => {
        const updates = list(data.updates ?? data, "updates").map(u => ({ ...u, version: u.version ?? u.v })), labels = new Map((data.labels || []).map(l => [l.version ?? l.v, l.label]))
        for (const u of updates) if (labels.has(u.version)) u.label ||= labels.get(u.version)
        for (const [v, label] of labels) if (!updates.some(u => u.version === v)) { const of = data.labels.find(l => (l.version ?? l.v) === v); updates.push({ version: v, label, user: of?.author ?? "", name: of?.name ?? undefined, ts: of?.at ?? 0 }) }
        const entries = groups(updates)
        if (!entries.length) return <Empty title="No edits yet." />
        const restore = v => act("restore" + v, async () => { const doc = await get("/api/docs/" + id); await post(`/api/docs/${id}/restore`, { version: v, base: doc.version, client: restoreClient(), seq: 1 }) })
        const older = pair[0] ?? null
        return <div class="history">{pair[1] !== null && <Diff id={id} from={pair[0]} to={pair[1]} onClose={() => setPair([null, null])} />}
            <ol class="versions">{entries.map(g => <li key={g.to}><span class="version num">v{g.to}</span><span class="who"><strong><bdi>{inert(g.name, 40) || "somebody"}</bdi></strong>{g.label && <span class="label-chip"><Icon name="tag" size={12} /><bdi>{inert(g.label, 80)}</bdi></span>}<small class="muted">{g.at ? <Time at={g.at} short={ago} /> : ""}{g.n > 1 ? ` · ${g.n} edits` : ""}</small></span>
                <span class="row-actions"><Button small kind="ghost" aria-label={`Changes of version ${g.to}`} onClick={() => setPair([Math.max(0, g.from - 1), g.to])}>Diff</Button><Button small kind="ghost" aria-label={`Compare version ${g.to} with now`} onClick={() => setPair([g.to, "now"])}>To now</Button><Button small kind="ghost" icon="retry" need="editor" busy={restoring === "restore" + g.to} aria-label={`Restore version ${g.to}`} title="Restore" onClick={() => restore(g.to)} /></span></li>)}</ol></div>
    }}</Loaded>
}
const restoreClient = () => { const b = crypto.getRandomValues(new Uint8Array(16)); return btoa(String.fromCharCode(...b)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "") }
function Diff({ id, from, to, onClose }) {
    const a = useGet(`/api/docs/${id}/text${qs({ v: from })}`, { text: true }), b = useGet(`/api/docs/${id}/text${to === "now" ? "" : qs({ v: to })}`, { text: true }), box = useRef()
    useEffect(() => {
        if (a.data === undefined || b.data === undefined) return
        let end = () => {}, gone = false
        import("../editor.js").then(m => { if (!gone) end = m.openDiff(box.current, a.data, b.data, nonce()) })
        return () => { gone = true; end() }
    }, [a.data, b.data])
    return <section class="diff" aria-label="Difference"><header><strong class="num">v{from} → {to === "now" ? "now" : "v" + to}</strong><span class="spring" /><Button small kind="ghost" icon="close" aria-label="Close the difference" onClick={onClose} /></header>
        {a.error || b.error ? <Failure error={a.error || b.error} /> : a.data === b.data && a.data !== undefined ? <p class="pad muted">Both versions have the same text.</p> : <div ref={box} class="diff-box" />}</section>
}
