// SPDX-License-Identifier: Apache-2.0
// What pages live from: the one socket, topics as hooks, answers as hooks, the status line, the frozen view.
import { effect, signal } from "@preact/signals"
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import { get, session, token } from "./api.js"
import { merge, Socket } from "./socket.js"

export const frozen = signal(false)   // `p`: the view stands still, the run goes on
export const said = signal("")        // the one role="status" line
export const toasts = signal([])      // {id, text, tone, action?}
export const nameSignal = signal("")

// Names of people by the id of their token, as far as this page has met them.
export const names = new Map()
export function nameOf(id) {
    if (id && id === session.value?.user?.id) return "you"
    return names.get(id) ?? (/^[0-9A-Z]{26}$/.test(id ?? "") ? "…" + id.slice(-5) : id)
}

let lastSaid = -Infinity, waiting = null, timer = null
// At most one message per 5 s; the newest wins.
export function announce(text) {
    const now = performance.now()
    if (now - lastSaid > 5000) {
        lastSaid = now
        said.value = text
        return
    }
    waiting = text
    timer ??= setTimeout(() => { timer = null; lastSaid = performance.now(); said.value = waiting }, 5000 - (now - lastSaid))
}
let nextToast = 1
export function toast(text, tone = "", ms = 6000) {
    const id = nextToast++
    toasts.value = [...toasts.value.slice(-2), { id, text, tone }]
    announce(text)
    if (ms) setTimeout(() => dropToast(id), ms)
    return id
}
export function dropToast(id) {
    toasts.value = toasts.value.filter(t => t.id !== id)
}

const scheme = globalThis.location?.protocol === "https:" ? "wss://" : "ws://"
export const socket = new Socket({ url: scheme + (globalThis.location?.host ?? ""), token: () => token.value, name: () => nameSignal.value,
    ...(globalThis.location ? { url: scheme + location.host + "/ws" } : {}) })

export function startLive() {
    addEventListener("online", () => socket.hurry())
    addEventListener("offline", () => socket.lost())
    document.addEventListener("visibilitychange", () => socket.hide(document.hidden))
    let was = "idle"
    effect(() => {
        const { word } = socket.status.value
        if (word === "live" && was === "waiting") announce("Connected again")
        if ((word === "waiting" || word === "offline") && was === "live") announce("Connection lost; the page shows what it has")
        was = word === "connecting" ? was : word
    })
}

// The newest state of a topic: {data, at, error, gap}. Frames wait while the view is frozen.
export function useTopic(topic, options = {}, onFrame) {
    const [value, set] = useState({ data: undefined, at: 0, n: 0 })
    const handler = useRef(onFrame)
    handler.current = onFrame
    const key = JSON.stringify(options)
    useEffect(() => {
        set({ data: undefined, at: 0, n: 0 })
        if (!topic) return
        let data, held = null, n = 0
        const show = frame => {
            data = merge(data, frame)
            const gap = n && frame.n > n + 1
            n = frame.n
            handler.current?.(frame, data, gap)
            if (frozen.value) held = { data, at: frame.at, n, gap }
            else set({ data, at: frame.at, n, gap })
        }
        const end = socket.sub(topic, JSON.parse(key), show)
        const stopEffect = effect(() => { if (!frozen.value && held) { const h = held; held = null; set(h) } })
        return () => { end(); stopEffect() }
    }, [topic, key])
    return value
}

// The answer of a GET: {data, error, reload, at}.
export function useGet(path, options = {}) {
    const [value, set] = useState({ data: undefined, error: null, at: 0 })
    const [n, again] = useState(0)
    const reload = useCallback(() => again(x => x + 1), [])
    const last = useRef(null)
    useEffect(() => {
        if (!path) return
        if (last.current !== path) set({ data: undefined, error: null, at: 0 })
        last.current = path
        const abort = new AbortController()
        get(path, { signal: abort.signal, text: options.text }).then(
            data => { if (!abort.signal.aborted) set({ data, error: null, at: Date.now() }) },
            error => { if (!abort.signal.aborted && error.name !== "AbortError") set(v => ({ ...v, error })) })
        return () => abort.abort()
    }, [path, n])
    return { ...value, reload }
}

// Runs an action, tells its end, and says whether it is under way.
export function useAction(done) {
    const [busy, setBusy] = useState("")
    const act = async (name, f) => {
        setBusy(name)
        try {
            const value = await f()
            if (done) toast(done(name, value))
            return value
        } catch (e) {
            toast(e.message + (e.hint ? ". " + e.hint : ""), "bad", 10_000)
            return undefined
        } finally {
            setBusy("")
        }
    }
    return [busy, act]
}
export function useNow(ms = 1000) {
    const [now, set] = useState(Date.now())
    useEffect(() => {
        const t = setInterval(() => { if (!frozen.value) set(Date.now()) }, ms)
        return () => clearInterval(t)
    }, [ms])
    return now
}
