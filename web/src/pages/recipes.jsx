// SPDX-License-Identifier: Apache-2.0
// All recipes: who is in them, how their runs went.
import { useRef, useState } from "preact/hooks"
import { del, get, list, may, post } from "../api.js"
import { ago, count, inert, inkOn, percent, personColour, plural } from "../format.js"
import { toast, useAction, useGet } from "../live.js"
import { Button, Confirm, Dialog, Empty, Failure, Field, Filter, Loaded, State, Table, Time } from "../parts/basic.jsx"
import { Icon } from "../parts/icons.jsx"
import { go, setQuery } from "../router.js"
import { STARTERS, TEMPLATE } from "../starters.js"

const MAX_IMPORT = 900_000
export function People({ people }) {
    if (!people?.length) return <span class="muted">–</span>
    return <span class="people">{people.slice(0, 5).map((p, i) => <span key={i} class="person" style={{ "--peer": personColour(p.color), "--peer-ink": inkOn(personColour(p.color)) }} title={inert(p.name, 40)}>{[...inert(p.name || "?", 40)][0]?.toUpperCase()}</span>)}<span class="sr-only">{people.map(p => inert(p.name, 40)).join(", ")}</span>{people.length > 5 && <small>+{people.length - 5}</small>}</span>
}
export function Recipes({ query }) {
    const of = useGet("/api/docs"), [making, setMaking] = useState(null), [asking, setAsking] = useState(null), [busy, act] = useAction(), file = useRef()
    const docs = list(of.data, "docs"), q = query.q || "", shown = docs.filter(d => !q || d.title.toLowerCase().includes(q.toLowerCase()))
    const copy = d => act(d.id, async () => { const text = await get(`/api/docs/${d.id}/text`, { text: true }); const made = await post("/api/docs", { title: (d.title + " copy").slice(0, 200), kind: d.kind || "recipe", text }); go("#/recipes/" + made.id) })
    const read = async e => {
        const f = e.currentTarget.files[0]
        e.currentTarget.value = ""
        if (!f) return
        if (f.size > MAX_IMPORT) return toast("This file is larger than a recipe may be.", "bad")
        setMaking({ title: f.name.replace(/\.ya?ml$/i, ""), text: (await f.text()).replaceAll("\r\n", "\n") })
    }
    const columns = [
        { id: "title", label: "Recipe", cell: d => <><strong><bdi>{inert(d.title, 100)}</bdi></strong><span class="sub">v{d.version}{d.kind === "note" ? " · note" : ""}</span></> },
        { id: "edit", label: "Last edit", cell: d => <><Time at={d.last_modified} short={ago} />{d.by && <span class="sub"><bdi>{inert(d.by.name ?? d.by, 40)}</bdi></span>}</> },
        { id: "who", label: "In it now", hide: "narrow", cell: d => <People people={d.collaborators} /> },
        { id: "run", label: "Last run", hide: "narrow", cell: d => (d.last_run ? <a href={"#/runs/" + d.last_run.id}><State word={d.last_run.state} /></a> : <span class="muted">never</span>) },
        { id: "ok", label: "Last 10 runs", hide: "medium", cell: d => <Last runs={d.last_runs} pct={d.success_pct} /> },
        { id: "actions", label: "", hidden: "Actions", cell: d => <span class="row-actions">
            <Button small kind="ghost" icon="play" need="editor" aria-label={`Run ${inert(d.title, 40)}`} title="Run" onClick={() => go(`#/runs?new=1&doc=${d.id}`)} />
            <Button small kind="ghost" icon="copy" need="editor" busy={busy === d.id} aria-label={`Duplicate ${inert(d.title, 40)}`} title="Duplicate" onClick={() => copy(d)} />
            {may("admin") && <Button small kind="ghost" icon="trash" aria-label={`Delete ${inert(d.title, 40)}`} title="Delete" onClick={() => setAsking(d)} />}</span> }]
    return <div class="page">
        <div class="page-head"><div><h1>Recipes</h1><p class="muted">{docs.length ? plural(docs.length, "recipe") : " "}</p></div><div class="head-actions"><Filter label="Filter recipes" value={q} onInput={v => setQuery({ q: v })} />
            <input ref={file} type="file" accept=".yaml,.yml,text/yaml" class="sr-only" tabIndex={-1} aria-label="Import a recipe" onChange={read} /><Button icon="up" need="editor" onClick={() => file.current.click()}>Import</Button>
            <Button kind="primary" icon="plus" need="editor" onClick={() => setMaking({ title: "", text: TEMPLATE })}>New recipe</Button></div></div>
        <Loaded of={of} rows={8}>{() => <>
            {shown.length > 0 && <div class="panel flush"><Table caption="Recipes" columns={columns} rows={shown} keyOf={d => d.id} onRow={d => go("#/recipes/" + d.id)} rowLabel={d => "Open recipe " + inert(d.title, 80)} /></div>}
            {docs.length > 0 && !shown.length && <Empty title="No recipe fits the filter."><Button onClick={() => setQuery({ q: "" })}>Show all</Button></Empty>}
            {(docs.length < 3) && <section aria-label="Starter recipes"><h2 class="starters-head">{docs.length ? "Begin with one of these" : "No recipes yet. Begin with one of these."}</h2><div class="starters">{STARTERS.map(s => <button key={s.title} type="button" class="starter panel" disabled={!may("editor")} onClick={() => setMaking({ title: s.title, text: s.text })}>
                <Icon name="recipes" /><strong>{s.title}</strong><span>{s.about}</span><pre aria-hidden="true">{s.text.split("\n").slice(3, 11).join("\n")}</pre></button>)}</div></section>}</>}</Loaded>
        <Make value={making} onClose={() => setMaking(null)} />
        <Confirm open={!!asking} title="Delete this recipe?" text={asking && `“${inert(asking.title, 80)}” leaves the list. It is kept for 30 days; its runs stay.`} yes="Delete" onYes={async () => { await del("/api/docs/" + asking.id); of.reload() }} onClose={() => setAsking(null)} />
    </div>
}
function Last({ runs, pct }) {
    if (Array.isArray(runs) && runs.length) return <span class="ticks" role="img" aria-label={`${runs.filter(r => (r.state ?? r) === "finished").length} of ${runs.length} runs finished`}>{runs.slice(-10).map((r, i) => <i key={i} class={(r.state ?? r) === "finished" ? "ok" : (r.state ?? r) === "failed" ? "bad" : ""} />)}</span>
    return <span class="muted num">{pct === undefined || pct === null ? "–" : percent(pct)}</span>
}
function Make({ value, onClose }) {
    const [title, setTitle] = useState(null), [busy, setBusy] = useState(false), [error, setError] = useState(null)
    const name = title ?? value?.title ?? ""
    const submit = async e => {
        e.preventDefault()
        setBusy(true)
        try {
            const made = await post("/api/docs", { title: name.trim(), kind: "recipe", text: value.text })
            close()
            go("#/recipes/" + made.id)
        } catch (e2) { setError(e2) }
        setBusy(false)
    }
    const close = () => { setTitle(null); setError(null); onClose() }
    return <Dialog title="New recipe" open={!!value} onClose={close}><form onSubmit={submit}><Field label="Name">{id => <input id={id} autofocus required maxLength={200} value={name} onInput={e => setTitle(e.currentTarget.value)} placeholder="books" />}</Field>
        {error && <Failure error={error} />}<footer><Button onClick={close}>Not now</Button><Button kind="primary" type="submit" busy={busy} disabled={!name.trim()}>Create</Button></footer></form></Dialog>
}
