// SPDX-License-Identifier: Apache-2.0
// REST calls with the bearer token. A refused call throws an ApiError that every page can show.
import { signal } from "@preact/signals"

const KEY = "seine.token"
export const TOKEN = /^[A-Za-z0-9_-]{1,200}$/

export class ApiError extends Error {
    constructor(status, body) {
        super(body.message || "the server answered " + status)
        this.status = status
        this.code = body.code || "http_" + status
        this.hint = body.hint || ""
        this.request = body.request || ""
        this.cause = body.cause || ""
        this.retryMs = body.retry_ms || 0
    }
}

function stored() {
    try { return sessionStorage.getItem(KEY) || localStorage.getItem(KEY) || "" } catch { return "" }
}
export const token = signal(stored())
export const session = signal(null) // {user:{id,name,color,role}, limits, version}

export function setToken(value, where = "tab") {
    token.value = value
    try {
        sessionStorage.removeItem(KEY)
        localStorage.removeItem(KEY)
        if (value) (where === "device" ? localStorage : sessionStorage).setItem(KEY, value)
    } catch { /* kept for this page alone */ }
}
// The token of the link that `seine serve` prints: taken once, then gone from the address bar and the history.
export function takeLinkToken() {
    const found = /[#&]token=([^&]+)/.exec(location.hash)
    if (!found) return false
    history.replaceState(null, "", location.pathname + "#/runs")
    if (!TOKEN.test(found[1])) return false
    setToken(found[1], "tab")
    return true
}

// The link of `seine serve --open` holds a key that is worth a token, once.
export async function takeLinkOnce() {
    const found = /[#&]once=([^&]+)/.exec(location.hash)
    if (!found) return false
    history.replaceState(null, "", location.pathname + "#/runs")
    if (!TOKEN.test(found[1])) return false
    setToken("")
    setToken((await call("POST", "/api/once", { once: found[1] })).token, "tab")
    return true
}

const RANK = { none: 0, viewer: 1, editor: 2, admin: 3 }
export const role = () => session.value?.user?.role ?? session.value?.role ?? "none"
export const may = need => RANK[role()] >= RANK[need]

export async function call(method, path, body, options = {}) {
    const headers = {}
    if (token.value) headers.Authorization = "Bearer " + token.value
    if (body !== undefined) headers["Content-Type"] = "application/json"
    else if (method !== "GET") headers["Content-Type"] = "application/json"
    let answer
    try {
        answer = await fetch(path, { method, headers, body: body === undefined ? (method === "GET" ? undefined : "{}") : JSON.stringify(body),
            signal: options.signal, cache: "no-store", credentials: "omit" })
    } catch (e) {
        if (e.name === "AbortError") throw e
        throw new ApiError(0, { code: "unreachable", message: "the server does not answer", hint: "Is seine serve still running?" })
    }
    if (answer.ok) {
        if (options.text) return answer.text()
        if (answer.status === 204) return null
        const text = await answer.text()
        try {
            return text ? JSON.parse(text) : null
        } catch {
            throw new ApiError(answer.status, { code: "bad_answer", message: "the answer is not JSON" })
        }
    }
    let error = {}
    try { error = (await answer.json()).error || {} } catch { /* an error without a body still has its status */ }
    const failed = new ApiError(answer.status, error)
    if (failed.status === 401 && !options.quiet) session.value = null
    throw failed
}
export const get = (path, options) => call("GET", path, undefined, options)
export const post = (path, body) => call("POST", path, body ?? {})
export const patch = (path, body) => call("PATCH", path, body)
export const del = path => call("DELETE", path)

export function query(params) {
    const q = new URLSearchParams()
    for (const [k, v] of Object.entries(params)) if (v !== undefined && v !== null && v !== "") q.set(k, v)
    return q.size ? "?" + q : ""
}
// Lists come under their own name; `next` is the cursor of the page that follows.
export function list(answer, name) {
    if (Array.isArray(answer)) return answer
    return answer?.[name] ?? answer?.items ?? answer?.rows ?? []
}
export async function signIn() {
    session.value = await get("/api/session", { quiet: true })
    return session.value
}
// Follows a ticket: the browser saves what /dl/ answers.
export function download(url) {
    if (!/^\/dl\/[A-Za-z0-9_-]+$/.test(url)) throw new ApiError(0, { code: "bad_answer", message: "the server named no download" })
    const a = document.createElement("a")
    a.href = url
    a.download = ""
    document.body.append(a)
    a.click()
    a.remove()
}
