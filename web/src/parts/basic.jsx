// SPDX-License-Identifier: Apache-2.0
// The small parts that all pages share: buttons, states, dialogs, tabs, tables.
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks"
import { may } from "../api.js"
import { dateTime, inert, safeUrl, utc } from "../format.js"
import { announce } from "../live.js"
import { Icon } from "./icons.jsx"

export function Button({ icon, kind = "", small, busy, need, children, disabled, title, ...rest }) {
    const forbidden = need && !may(need)
    return <button type="button" class={`button ${kind} ${small ? "small" : ""} ${children ? "" : "only-icon"}`} disabled={disabled || busy || forbidden}
        title={forbidden ? `This needs the role ${need}` : title} aria-busy={busy ? "true" : undefined} {...rest}>
        {icon && <Icon name={icon} size={16} />}{children && <span>{children}</span>}
    </button>
}

export function Time({ at, short }) {
    return <time class="num" title={utc(at)} dateTime={at ? new Date(typeof at === "number" ? at : Date.parse(at) || 0).toISOString() : undefined}>{short ? short(at) : dateTime(at)}</time>
}

const STATES = {
    running: ["●", "ok"], waiting: ["◌", "muted"], paused: ["‖", "warn"], stopping: ["◐", "warn"], finished: ["✓", "done"], stopped: ["■", "muted"], failed: ["✕", "bad"],
    healthy: ["●", "ok"], unhealthy: ["✕", "bad"], unknown: ["◌", "warn"], closed: ["●", "ok"], "half-open": ["◐", "warn"], half_open: ["◐", "warn"], open: ["○", "bad"],
    ok: ["●", "ok"], skipped: ["◌", "muted"], blocked: ["○", "warn"],
}
export function State({ word, extra }) {
    const [mark, tone] = STATES[word] || ["◌", "muted"]
    return <span class={`state ${tone}`}><i class={word === "running" ? "beat" : ""} aria-hidden="true">{mark}</i>{String(word || "unknown").replace("_", "-")}{extra && <small>{extra}</small>}</span>
}

// A link into the web: opened apart, told nothing, http and https alone.
export function WebLink({ url, children }) {
    const href = safeUrl(url)
    const text = children ?? inert(url, 300)
    return href ? <a class="web" href={href} target="_blank" rel="noopener noreferrer" title={inert(url, 500)}><bdi>{text}</bdi></a> : <span class="web" title="not a link of http or https"><bdi>{text}</bdi></span>
}

export function Empty({ title, children }) {
    return <div class="empty"><svg width="64" height="40" viewBox="0 0 64 40" aria-hidden="true"><g fill="none" stroke="currentColor" stroke-width="1.500" stroke-linecap="round"><path d="M4 10c9 8 19 8 28 0s19-8 28 0" /><path d="M9 20c8 7 15 7 23 0s15-7 23 0" opacity=".65" /><path d="M15 30c6 5 11 5 17 0s11-5 17 0" opacity=".35" /></g></svg>
        <p class="empty-title">{title}</p>{children}</div>
}

export function Skeleton({ rows = 6 }) {
    const [shown, show] = useState(false)
    useEffect(() => {
        const t = setTimeout(() => show(true), 150)
        return () => clearTimeout(t)
    }, [])
    return <div class={shown ? "skeleton shown" : "skeleton"} role="status" aria-label="Loading">{Array.from({ length: rows }, (_, i) => <i key={i} class={"w" + (i % 3)} />)}</div>
}

const ROLE_OF = { forbidden: true }
export function Failure({ error, retry }) {
    if (error.status === 403 || ROLE_OF[error.code]) {
        const need = /\b(viewer|editor|admin)\b/.exec(error.message + " " + error.hint)
        return <div class="failure" role="alert"><p class="empty-title">{need ? `This needs the role ${need[1]}.` : "You may not see this."}</p><p>{inert(error.message)}{error.hint && ". " + inert(error.hint)}</p></div>
    }
    return <div class="failure" role="alert">
        <p class="empty-title"><Icon name="warn" /> {inert(error.message)}</p>
        {error.hint && <p>{inert(error.hint)}</p>}
        <p class="muted"><code>{inert(error.code)}</code>{error.request && <> · request <code>{inert(error.request)}</code></>}</p>
        {retry && <Button icon="retry" onClick={retry}>Try again</Button>}
    </div>
}

// Shows what an answer is: loading, failed or there.
export function Loaded({ of, rows, children }) {
    if (of.error && of.data === undefined) return <Failure error={of.error} retry={of.reload} />
    if (of.data === undefined) return <Skeleton rows={rows} />
    return <>{of.error && <p class="banner warn" role="status">{inert(of.error.message)}. Showing what came before.</p>}{children(of.data)}</>
}

export function Dialog({ title, open, onClose, children, wide, side }) {
    const ref = useRef(), back = useRef(null), id = useId()
    useLayoutEffect(() => {
        const d = ref.current
        if (open && !d.open) {
            back.current = document.activeElement
            d.showModal()
        } else if (!open && d.open) d.close()
    }, [open])
    // The first field has the focus as soon as there is one, unless somebody has moved on by then.
    const isMet = useRef(false)
    useEffect(() => {
        if (!open) isMet.current = false
        const field = open && !isMet.current && ref.current.querySelector(".dialog-body :is(input, select, textarea)")
        if (!field) return
        isMet.current = true
        if (ref.current === document.activeElement || document.activeElement?.matches("dialog[open] > .dialog-body > header button")) field.focus()
    })
    useEffect(() => () => back.current?.isConnected && back.current.focus(), [])
    // A closed dialog has given the focus back. This event comes later, and takes it from nobody who has moved on; one
    // that is open again is not closed by it.
    const closed = () => {
        if (ref.current?.open) return
        onClose?.()
        if (document.activeElement === document.body && back.current?.isConnected) back.current.focus()
    }
    return <dialog ref={ref} class={side ? "drawer" : wide ? "wide" : ""} aria-labelledby={id} onClose={closed} onClick={e => { if (e.target === ref.current) ref.current.close() }}>
        {open && <div class="dialog-body"><header><h2 id={id}>{title}</h2><Button icon="close" kind="ghost" aria-label="Close" onClick={() => ref.current.close()} /></header>{children}</div>}
    </dialog>
}

export function Confirm({ open, title, text, yes, kind = "danger", onYes, onClose }) {
    const [busy, setBusy] = useState(false), [error, setError] = useState(null)
    const act = async () => {
        setBusy(true)
        setError(null)
        try {
            await onYes()
            onClose()
        } catch (e) { setError(e) }
        setBusy(false)
    }
    return <Dialog title={title} open={open} onClose={onClose}><p>{text}</p>{error && <Failure error={error} />}
        <footer><Button onClick={onClose}>Keep it</Button><Button kind={kind} busy={busy} onClick={act}>{yes}</Button></footer></Dialog>
}

// Tabs by the pattern of ARIA: arrows move, Home and End jump.
export function Tabs({ tabs, value, onChange, label }) {
    const ref = useRef(), moved = useRef(false)
    const key = e => {
        const i = tabs.findIndex(t => t.id === value)
        const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[e.key]
        if (to === undefined) return
        e.preventDefault()
        const next = tabs[(to + tabs.length) % tabs.length]
        moved.current = true
        onChange(next.id)
    }
    // The focus goes with the tab when it is drawn, and not a frame later: by then a key may have taken it elsewhere.
    useLayoutEffect(() => {
        if (moved.current) ref.current.querySelector("[aria-selected=true]")?.focus()
        moved.current = false
    }, [value])
    // On a narrow page the strip is longer than the page: the chosen tab is always in sight.
    useLayoutEffect(() => {
        const strip = ref.current, box = strip.getBoundingClientRect(), tab = strip.querySelector("[aria-selected=true]")?.getBoundingClientRect()
        if (tab && (tab.left < box.left || tab.right > box.right)) strip.scrollLeft += tab.left - box.left - (box.width - tab.width) / 2
    }, [value])
    return <div class="tabs" role="tablist" aria-label={label} ref={ref} onKeyDown={key}>
        {tabs.map(t => <button key={t.id} type="button" role="tab" data-tab={t.id} id={`tab-${t.id}`} aria-selected={t.id === value} aria-controls={`panel-${t.id}`} tabIndex={t.id === value ? 0 : -1} onClick={() => onChange(t.id)}>
            {t.label}{t.count !== undefined && t.count !== null && <span class={`badge ${t.tone || ""}`}>{t.count}</span>}</button>)}
    </div>
}
export function TabPanel({ id, children, ...rest }) {
    return <div role="tabpanel" id={`panel-${id}`} aria-labelledby={`tab-${id}`} class="tab-panel" tabIndex={-1} {...rest}>{children}</div>
}

// columns: [{id, label, num?, sort?, cell(row), hide?}]; rows carry `key`. `sort` is {id, dir}.
export function Table({ caption, columns, rows, keyOf, sort, onSort, onRow, rowLabel, dense }) {
    return <div class="table-wrap" tabIndex={0} role="region" aria-label={caption}>
        <table class={dense ? "dense" : ""}>
            <caption class="sr-only">{caption}</caption>
            <thead><tr>{columns.map(c => <th key={c.id} scope="col" class={`${c.num ? "num-col" : ""} ${c.hide || ""}`} aria-sort={sort?.id === c.id ? (sort.dir > 0 ? "ascending" : "descending") : undefined}>
                {c.sort && onSort ? <button type="button" class="sorter" onClick={() => onSort(c.id)}>{c.label}<span aria-hidden="true">{sort?.id === c.id ? (sort.dir > 0 ? " ↑" : " ↓") : ""}</span></button> : c.label || <span class="sr-only">{c.hidden}</span>}</th>)}</tr></thead>
            <tbody>{rows.map(r => <tr key={keyOf(r)} class={onRow ? "clickable" : ""} onClick={onRow && (e => { if (!e.target.closest("a,button,input,select")) onRow(r) })}>
                {columns.map((c, i) => {
                    const Cell = i === 0 ? "th" : "td"
                    return <Cell key={c.id} scope={i === 0 ? "row" : undefined} class={`${c.num ? "num-col" : ""} ${c.hide || ""} ${c.class || ""}`}>
                        {i === 0 && onRow ? <button type="button" class="row-link" title={rowLabel?.(r)} onClick={() => onRow(r)}>{c.cell(r)}</button> : c.cell(r)}</Cell>
                })}</tr>)}</tbody>
        </table>
    </div>
}

export function Field({ label, hint, error, children }) {
    const id = useId()
    return <div class="field"><label for={id}>{label}</label>{children(id, hint || error ? id + "-h" : undefined)}{(hint || error) && <p id={id + "-h"} class={error ? "hint bad" : "hint"}>{error || hint}</p>}</div>
}

export function Filter({ value, onInput, label, placeholder }) {
    return <label class="filter"><Icon name="search" size={15} /><span class="sr-only">{label}</span>
        <input type="search" data-filter value={value} placeholder={placeholder || label} onInput={e => onInput(e.currentTarget.value)} spellcheck={false} autocomplete="off" /><kbd aria-hidden="true">/</kbd></label>
}

export function Sparkline({ values, width = 84, height = 22, label }) {
    const known = values.filter(v => typeof v === "number")
    if (known.length < 2) return <svg class="spark" width={width} height={height} role="img" aria-label={label + ": not enough values yet"}><path d={`M1 ${height - 2}H${width - 1}`} class="flat" /></svg>
    const max = Math.max(...known, 1e-9), step = (width - 2) / Math.max(1, values.length - 1)
    let line = "", pen = false
    values.forEach((v, i) => {
        if (typeof v !== "number") { pen = false; return }
        line += (pen ? "L" : "M") + (1 + i * step).toFixed(1) + " " + (height - 2 - (v / max) * (height - 5)).toFixed(1)
        pen = true
    })
    const area = known.length === values.length ? `${line}L${(1 + (values.length - 1) * step).toFixed(1)} ${height}L1 ${height}Z` : null
    return <svg class="spark" width={width} height={height} role="img" aria-label={label}>{area && <path d={area} class="area" />}<path d={line} class="line" /></svg>
}

export function CopyButton({ text, label = "Copy", small }) {
    const [done, setDone] = useState(false)
    const copy = async () => {
        try {
            await navigator.clipboard.writeText(typeof text === "function" ? text() : text)
            setDone(true)
            announce("Copied")
            setTimeout(() => setDone(false), 1500)
        } catch { announce("The browser does not let this page copy") }
    }
    return <Button icon={done ? "check" : "copy"} small={small} kind="ghost" onClick={copy}>{done ? "Copied" : label}</Button>
}

export function Json({ value }) {
    return <pre class="json" tabIndex={0} aria-label="JSON">{jsonParts(value, 0)}</pre>
}
function jsonParts(v, depth) {
    const pad = "  ".repeat(depth + 1), end = "  ".repeat(depth)
    if (typeof v === "string") return <span class="j-string">{JSON.stringify(inert(v, 20_000))}</span>
    if (v === null || typeof v === "boolean" || typeof v === "number") return <span class="j-number">{String(v)}</span>
    if (Array.isArray(v)) return v.length ? ["[\n", v.slice(0, 1000).map((x, i) => [pad, jsonParts(x, depth + 1), i < v.length - 1 ? ",\n" : "\n"]), end, "]"] : "[]"
    const keys = Object.keys(v)
    return keys.length ? ["{\n", keys.map((k, i) => [pad, <span class="j-key">{JSON.stringify(inert(k, 500))}</span>, ": ", depth > 20 ? "…" : jsonParts(v[k], depth + 1), i < keys.length - 1 ? ",\n" : "\n"]), end, "}"] : "{}"
}
