// SPDX-License-Identifier: Apache-2.0
// Hash routes. `route` is a signal: {page, id, tab, query}.
import { signal } from "@preact/signals"

const ULID = /^[0-9A-Za-z]{26}$/

// Pure: what a hash means.
export function parse(hash) {
    const [path, search = ""] = hash.replace(/^#\/?/, "").split("?")
    const parts = path.split("/").filter(Boolean).map(p => { try { return decodeURIComponent(p) } catch { return p } })
    const query = Object.fromEntries(new URLSearchParams(search))
    const [page = "runs", id, sub] = parts
    if (page === "signin" && parts.length === 1) return { page, query }
    if (page === "runs" && !id) return { page: "runs", query }
    if (page === "runs" && ULID.test(id)) {
        if (!sub) return { page: "run", id, tab: query.tab || "hosts", query }
        if (sub === "records") return { page: "records", id, query }
    }
    if (page === "recipes" && !id) return { page: "recipes", query }
    if (page === "recipes" && ULID.test(id) && !sub) return { page: "editor", id, tab: query.tab || "preview", query }
    if (page === "system" && !id) return { page: "system", tab: query.tab || "health", query }
    return { page: "missing", query }
}

let shown = globalThis.location ? location.hash : ""
export const route = signal(parse(shown))

// The route is the new one when this returns: the event of the browser comes later, and a second key may come before it.
export function go(hash) {
    if (location.hash !== hash) location.hash = hash
    route.value = parse(shown = hash)
}
// Changes the query without a new entry in the history: tabs and filters.
export function setQuery(changes) {
    const [path, search = ""] = (location.hash || "#/runs").split("?")
    const q = new URLSearchParams(search)
    for (const [k, v] of Object.entries(changes)) v === null || v === "" ? q.delete(k) : q.set(k, v)
    const next = path + (q.size ? "?" + q : "")
    history.replaceState(null, "", next)
    route.value = parse(shown = next)
}
export function startRouter() {
    addEventListener("hashchange", () => { if (location.hash !== shown) route.value = parse(shown = location.hash) })
}
