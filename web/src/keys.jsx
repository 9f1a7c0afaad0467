// SPDX-License-Identifier: Apache-2.0
// Keys of the whole console, their help, and the palette. Single keys are off in inputs and can be switched off.
import { signal } from "@preact/signals"
import { useEffect, useRef, useState } from "preact/hooks"
import { get, list, session } from "./api.js"
import { inert } from "./format.js"
import { announce, frozen } from "./live.js"
import { Dialog } from "./parts/basic.jsx"
import { go, route } from "./router.js"
import { keysOn, nextTheme, setKeys } from "./theme.js"

export const help = signal(false)
export const palette = signal(false)
export const runOrder = signal([]) // ids of the runs in the order of the list: [ and ] walk it
// Actions of the page that is open: [{id, label, run, key?}]
export const pageActions = signal([])

const KEYS = [["?", "this help"], ["/", "filter"], ["g r", "go to runs"], ["g e", "go to recipes"], ["g s", "go to system"], ["p", "freeze the view, not the run"], ["[ ]", "previous, next run"],
    ["Ctrl+Enter", "preview the recipe"], ["Ctrl+S", "label this version"], ["F8", "next problem in the recipe"], ["Ctrl+K", "find anything"], ["Esc", "close"], ["Tab", "leave the editor"]]

const typing = e => e.target.closest?.("input,textarea,select,[contenteditable=true],.cm-editor") || document.querySelector("dialog[open]")
const PAIR = 1500 // milliseconds within which the second key of "g r" counts
let began = -Infinity // when "g" was pressed, by the clock of events: no timer of an earlier pair can end a later one
export function startKeys() {
    document.addEventListener("keydown", e => {
        if (!session.value) return
        if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
            e.preventDefault()
            palette.value = !palette.value
            return
        }
        if ((e.ctrlKey || e.metaKey) && (e.key === "Enter" || e.key.toLowerCase() === "s")) {
            const action = pageActions.value.find(a => a.key === (e.key === "Enter" ? "run" : "label"))
            if (action && !e.defaultPrevented) { e.preventDefault(); action.run() }
            return
        }
        if (e.ctrlKey || e.metaKey || e.altKey || !keysOn.value || typing(e)) return
        if (e.timeStamp - began < PAIR) {
            began = -Infinity
            const to = { r: "#/runs", e: "#/recipes", s: "#/system" }[e.key]
            if (to) { e.preventDefault(); go(to) }
            return
        }
        if (e.key === "g") began = e.timeStamp
        else if (e.key === "?") help.value = true
        else if (e.key === "/") {
            const filter = document.querySelector("[data-filter]")
            if (filter) { e.preventDefault(); filter.focus(); filter.select?.() }
        } else if (e.key === "p") {
            frozen.value = !frozen.value
            announce(frozen.value ? "The view stands still" : "The view follows again")
        } else if (e.key === "[" || e.key === "]") step(e.key === "]" ? 1 : -1)
    })
}
async function step(by) {
    if (!["run", "records"].includes(route.value.page)) return
    if (!runOrder.value.length) {
        try { runOrder.value = list(await get("/api/runs"), "runs").map(r => r.id) } catch { return }
    }
    const i = runOrder.value.indexOf(route.value.id), next = runOrder.value[i + by]
    if (next) go("#/runs/" + next)
    else announce(by > 0 ? "This is the last run" : "This is the first run")
}

export function Help() {
    return <Dialog title="Keyboard" open={help.value} onClose={() => { help.value = false }}>
        <dl class="keys">{KEYS.map(([k, what]) => <div key={k}><dt>{k.split(/(?<=[^+ ]) /).map(x => <kbd key={x}>{x}</kbd>)}</dt><dd>{what}</dd></div>)}</dl>
        <label class="check"><input type="checkbox" checked={keysOn.value} onChange={e => setKeys(e.currentTarget.checked)} /> Single keys work outside of inputs</label>
    </Dialog>
}

export function Palette() {
    const [q, setQ] = useState(""), [at, setAt] = useState(0), [found, setFound] = useState([])
    const box = useRef()
    const open = palette.value
    useEffect(() => {
        if (!open) return
        setQ("")
        setAt(0)
        Promise.allSettled([get("/api/runs?limit=100"), get("/api/docs")]).then(([runs, docs]) => setFound([
            ...(docs.status === "fulfilled" ? list(docs.value, "docs").map(d => ({ id: d.id, label: inert(d.title, 80), kind: "recipe", run: () => go("#/recipes/" + d.id) })) : []),
            ...(runs.status === "fulfilled" ? list(runs.value, "runs").map(r => ({ id: r.id, label: `${inert(r.title, 60)} · ${r.state} · ${r.id.slice(-6)}`, kind: "run", run: () => go("#/runs/" + r.id) })) : [])]))
    }, [open])
    const fixed = [...pageActions.value.map(a => ({ ...a, kind: "here" })), { label: "Runs", kind: "go to", run: () => go("#/runs") }, { label: "Recipes", kind: "go to", run: () => go("#/recipes") },
        { label: "System", kind: "go to", run: () => go("#/system") }, { label: "Change the theme", kind: "do", run: nextTheme }, { label: "Keyboard help", kind: "do", run: () => { help.value = true } }]
    const words = q.toLowerCase().split(/\s+/).filter(Boolean)
    const items = [...fixed, ...found].filter(i => words.every(w => (i.label + " " + i.kind + " " + (i.id || "")).toLowerCase().includes(w))).slice(0, 12)
    const run = i => { palette.value = false; i?.run() }
    const key = e => {
        if (e.key === "ArrowDown" || e.key === "ArrowUp") {
            e.preventDefault()
            setAt((at + (e.key === "ArrowDown" ? 1 : -1) + items.length) % Math.max(1, items.length))
        } else if (e.key === "Enter") { e.preventDefault(); run(items[at]) }
    }
    return <Dialog title="Find anything" open={open} onClose={() => { palette.value = false }}>
        <input class="palette-input" ref={box} autofocus role="combobox" aria-expanded="true" aria-controls="palette-list" aria-activedescendant={items.length ? "palette-" + at : undefined} aria-label="Runs, recipes, actions"
            placeholder="Runs, recipes, actions" value={q} onInput={e => { setQ(e.currentTarget.value); setAt(0) }} onKeyDown={key} spellcheck={false} autocomplete="off" />
        <ul class="palette" id="palette-list" role="listbox" aria-label="Found">{items.map((i, n) => <li key={n} id={"palette-" + n} role="option" aria-selected={n === at} onClick={() => run(i)} onMouseMove={() => setAt(n)}><span><bdi>{i.label}</bdi></span><small>{i.kind}</small></li>)}
            {!items.length && <li role="option" aria-selected="false" aria-disabled="true" class="muted">Nothing fits.</li>}</ul>
    </Dialog>
}
