// SPDX-License-Identifier: Apache-2.0
// A server that speaks what the pages speak, with made-up runs: for looking at pages and for tests of states that are hard
// to bring about (forbidden, failed, hostile text). It serves the built pages with the headers of the real one.
//
//     node mock_server.mjs DIST NPM [PORT]      NPM: a folder whose node_modules has ws; prints http://127.0.0.1:PORT
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { ChangeSet, Text } from "@codemirror/state"

const LIMITS = { doc_units: 262_144, frame: 262_144, updates: 64, sections: 1000, sessions: 32, docs: 8, push_rate: 20, cursor_rate: 10 }
const COLOURS = ["#0072b2", "#a94b86", "#17713f", "#b87400", "#6a5acd"]
const B32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
export const ulid = (n, head = "01KAH") => head + [...Array(26 - head.length - 8)].map((_, i) => B32[(i * 7 + 3) % 32]).join("") + [...Array(8)].map((_, i) => B32[(n >> (5 * (7 - i))) & 31]).join("")

export function policy(nonce) {
    return `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`
}

// The server side of one document: the order of all updates. `after` delays what is told, to shake the order of events.
class Doc {
    constructor(id, title, text) {
        Object.assign(this, { id, title, kind: "recipe", epoch: ulid(Number(randomBytes(4).readUInt32BE()), "01KEP"), text: Text.of(text.split("\n")), first: text, updates: [], seqs: new Map(), sessions: new Map(), labels: [], modified: Date.now() - 3_600_000, oldest: 0 })
    }
    get version() {
        return this.updates.length
    }
    textAt(v) {
        let t = Text.of(this.first.split("\n"))
        for (const u of this.updates.slice(0, v)) t = ChangeSet.fromJSON(u.ch).apply(t)
        return t.toString()
    }
    // The push algorithm: returns an error code or the updates that were accepted.
    push(client, user, base, seq, updates) {
        const v = this.version, last = this.seqs.get(client) ?? 0
        if (base > v) return "bad_base"
        if (base < this.oldest) return "too_old"
        if (seq < 1 || seq > last + 1) return "bad_seq"
        const d = Math.min(updates.length, last + 1 - seq)
        let m
        try { m = updates.map(ch => ChangeSet.fromJSON(ch)) } catch { return "bad_change" }
        let dropped = 0
        try {
            for (const u of this.updates.slice(base)) {
                if (u.c === client) { m.shift(); dropped++; continue }
                let o = ChangeSet.fromJSON(u.ch)
                m = m.map(x => { const y = x.map(o, false); o = o.map(x, true); return y })
            }
            if (dropped !== d) return "bad_seq"
            let t = this.text
            for (const x of m) t = x.apply(t)
            this.text = t
        } catch { return "bad_change" }
        const made = m.map(x => ({ c: client, u: user, ch: x.toJSON(), ts: Date.now() }))
        this.updates.push(...made)
        this.seqs.set(client, last + made.length)
        this.modified = Date.now()
        return made
    }
}

const RECIPE = `seine: 1
name: books
start: https://books.example/list
next: {css: a.next, attr: href, max: 200}
items:
  kind: book
  each: li.book
  unique: link
  fields:
    title: {css: h2 a, required: true}
    link:  {css: h2 a, attr: href, type: url, required: true}
    price: {css: .price, type: money, decimal: ","}
    stars: {css: .stars, attr: data-n, type: int, min: 1, max: 5}
  derive:
    cheap: price.amount < 10
expect: {items: ">= 20"}
`
const PAGE = `<!doctype html>
<html lang="en"><head><title>Books</title></head>
<body>
<main id="list">
<ul class="books">
${Array.from({ length: 12 }, (_, i) => `<li class="book"><h2><a href="/b/${i + 1}">${["The Sea", "The Net", "The Knot", "A Year of Tides", "Salt", "The Long Haul"][i % 6]}</a></h2>
  <b class="price">${(8 + i * 1.5).toFixed(2).replace(".", ",")} €</b> <span class="stars" data-n="${1 + (i % 5)}">★</span></li>`).join("\n")}
</ul>
<a class="next" href="/list?page=2">next</a>
</main>
</body></html>
`
export const HOSTILE = '<img src=x onerror="document.title=\'pwned\'"><script>document.title="pwned"</script>\u202egnp.exe\u0007\u0000&amp;{{x}}'

export function world(options = {}) {
    const hostile = s => (options.hostile ? HOSTILE + " " + s : s)
    const titles = ["books", "news front pages", "prices of parts", "weather stations", "job adverts", "recipes of soups", "museum catalogue", "train tables"]
    const states = ["running", "paused", "running", "finished", "failed", "finished", "stopped", "finished"]
    const limited = ["limited by politeness on 3 hosts (e.org 5/s, a.example 1/s, …)", "paused", "limited by concurrency 64", "", "", "", "", ""]
    const now = Date.now()
    const docs = new Map()
    if (!options.empty) ["books", "news front pages", "prices of parts", "weather stations"].forEach((t, i) => docs.set(ulid(900 - i, "01KAD"), new Doc(ulid(900 - i, "01KAD"), hostile(t), RECIPE.replace("name: books", "name: " + t))))
    const ids = [...docs.keys()]
    const runs = options.empty ? [] : titles.map((title, i) => ({ id: ulid(5000 - i), doc: ids[i % ids.length], title: hostile(title), version: 42 - i, state: states[i], started: now - (i + 1) * 761_000 * (i > 2 ? 40 : 1), by: hostile(["desk 1", "desk 2", "desk 3"][i % 3]),
        elapsed_ms: 761_000 * (i > 2 ? 3 : 1) + i * 3111, emitted: { ok: 47_830 - i * 4000, failed: 310 + i * 7, skipped: 44, blocked: 26 }, rps: i < 3 && states[i] === "running" ? 412 - i * 90 : 0, ok_pct: 99.2 - i * 0.6, records: 46_112 - i * 3900,
        limited: limited[i] ? { code: "politeness", text: hostile(limited[i]), hosts: 3, since: now - 571_000 } : null }))
    return { options, hostile, now, docs, runs, pages: new Map(), tokens: [{ id: ulid(1, "01KTK"), name: hostile("first start"), role: "admin", created: now - 9e8 }, { id: ulid(2, "01KTK"), name: "dashboard in the kitchen", role: "viewer", created: now - 4e8, expires: now + 9e8 }], audit: [] }
}

const wave = (t, base, spread, n) => base + spread * Math.sin(t / 17 + n) + (spread / 2) * Math.sin(t / 5.3 + n * 2)
function point(at, i) {
    const t = at / 1000, dip = Math.abs((t % 190) - 95) < 7 ? 0.35 : 1, rps = Math.max(5, wave(t, 405, 28, i) * dip)
    return { at, rps, bps: rps * 11_200, dps: rps * 38_400, records_s: rps * 0.96, p: [wave(t, 64, 6, 1), wave(t, 131, 11, 2), wave(t, 182, 16, 3), wave(t, 420, 60, 4) / dip], cls: [0, rps * 0.957, rps * 0.022, rps * 0.014, rps * 0.005, rps * 0.002],
        in_flight: Math.round(wave(t, 34, 6, 5)), slots: 64, waiting: { ready: 0, slot: 310, limiter: Math.round(wave(t, 80_000, 900, 1)), rate: 0, breaker: 1480, backoff: Math.round(wave(t, 220, 60, 3)), robots: 12, paused: 0, parked: 0 } }
}
function frame(run, at, full) {
    const p = point(at, 1), d = { state: run.state, elapsed_ms: run.elapsed_ms + (run.state === "running" ? at - run.base : 0), seen: 140_220, refused: 9216, admitted: 131_004, emitted: run.emitted, ...p, records: run.records, eta: [1_500_000, 1_860_000], limited: run.limited }
    delete d.at
    if (full) d.history = { seconds: Array.from({ length: 600 }, (_, i) => point(at - (600 - i) * 1000, 1)).filter(x => Math.abs((at - x.at) / 1000 - 130) > 9), minutes: Array.from({ length: 300 }, (_, i) => point(at - (300 - i) * 60_000, 1)) }
    return d
}

export async function startMock({ dist, npm, port = 0, options = {} }) {
    const { WebSocketServer } = createRequire(join(resolve(npm), "package.json"))("ws")
    const w = world(options), manifest = JSON.parse(readFileSync(join(dist, "manifest.json"), "utf8")), index = readFileSync(join(dist, "index.html"), "utf8")
    const files = new Map(manifest.files.map(f => [f.name, f])), host = h => w.hostile(h)
    const TOKENS = { sn_admin: "admin", sn_editor: "editor", sn_viewer: "viewer" }
    const hosts = ["e.org", "a.example", "books.example", "parts.example.net", "slow.example.org", "museum.example", "news.example", "xn--bcher-kva.example"].map((h, i) => ({ host: host(h), done: 12_400 - i * 1300, in_flight: 8 - i, waiting: 41_200 - i * 5100, ok_pct: 99.6 - i * 1.7, p95: 120 + i * 61,
        breaker: ["closed", "closed", "closed", "closed", "half_open", "open", "closed", "closed"][i], open_until: i === 5 ? w.now + 55_000 : 0, tokens: 3 - (i % 3), burst: 5, next_ms: i * 130, backoff_ms: i === 4 ? 8000 : 0, robots: i === 6 ? "unreachable" : "allow", delay_ms: i === 1 ? 1000 : 0, error: i > 3 ? host(["header_timeout", "refused", "http_busy", "reset"][i - 4]) : "" }))
    const errors = () => ({ groups: [["header_timeout", "slow.example.org", "no header within 15 s", "raise --header-timeout if this host is always slow"], ["refused", "museum.example", "the connection was refused", ""], ["http_busy", "news.example", "503 after 6 attempts", ""], ["tls", "a.example", "certificate not trusted: expired yesterday", ""]].map(([error, h, text, hint], i) => ({ error, host: host(h), text: host(text), hint, count: 180 - i * 51, attempts: 980 - i * 200, first: w.now - 640_000, last: w.now - 9000 * (i + 1), url: options.hostile && i === 0 ? "javascript:alert(1)" : `https://${h}/p/${i}` })), skips: skips() })
    const skips = () => [["robots", "Disallow: /search"], ["scope", "other host"], ["trap", "calendar/*/*/*"], ["duplicate", ""]].map(([reason, rule], i) => ({ reason: host(reason), rule: host(rule), count: 5210 - i * 1400, samples: [1, 2, 3].map(n => `https://e.org/search?q=${n}`) }))
    const log = n => Array.from({ length: n }, (_, i) => ({ "@timestamp": new Date(Date.now() - (n - i) * 900).toISOString(), "log.level": ["info", "info", "warn", "info", "error", "debug"][i % 6], message: host(["robots read", "host added", "breaker opened", "checkpoint written", "record refused", "connection reused"][i % 6]), "seine.host": hosts[i % 8].host, ...(i % 6 === 2 ? { "error.type": "header_timeout" } : {}) }))
    const record = seq => ({ seq, url: options.hostile ? "javascript:alert(document.domain)//" + seq : `https://books.example/b/${seq}`, outcome: seq % 37 ? "ok" : "failed", status: seq % 37 ? 200 : 404, ms: 40 + ((seq * 13) % 160), bytes: 9000 + ((seq * 71) % 4000), item: { title: host(["The Sea", "The Net", "The Knot", "A Year of Tides", "Salt"][seq % 5]), price: { amount: 8.5 + (seq % 20), currency: "EUR" }, stars: 1 + (seq % 5), stock: seq % 3 ? "in stock" : null } })
    const health = () => ["database", "disk", "engine", "output", "redis"].map((name, i) => ({ name, status: i === 4 ? "unhealthy" : "healthy", reason: host(i === 4 ? "connection refused" : i === 1 ? "212 GB free" : ""), at: Date.now() - 4000 * (i + 1), took_ms: 0.4 + i }))
    const system = () => ({ health: health(), rss: 41_230_336, fds: 87, cpu: 12.4, loops: [{ loop: "engine", lag_p99_ms: 0.7 }, { loop: "console", lag_p99_ms: 1.1 }], workers: [{ name: "worker-1", state: "running", host: "10.0.0.11", in_flight: 64, rps: 380.2, seen: Date.now() - 2000 }, { name: "worker-2", state: "running", host: "10.0.0.12", in_flight: 61, rps: 366.9, seen: Date.now() - 1000 }], redis: { state: "unreachable", url: "redis://127.0.0.1:6379", streams: 4, pending: 128 },
        build: { version: "0.1.0", revision: "1488c458", compiler: "gcc 12.2", console: true }, limits: { connections: 256, websockets: 192, document_units: 262_144, body_bytes: 65_536, rest_per_second: 50, request_ms: 15_000 } })
    const metricsText = () => ["# HELP seine_urls_emitted_total Final records", "# TYPE seine_urls_emitted_total counter", ...["ok", "failed", "skipped", "blocked"].map((o, i) => `seine_urls_emitted_total{outcome="${o}"} ${Math.floor(Date.now() / 1000) - 1.7e9 + i}`), "# HELP active_connections Connections open now", "# TYPE active_connections gauge", 'active_connections{server="console",kind="ws"} 3', "# HELP seine_loop_lag_seconds How late a 100 ms timer fired", "# TYPE seine_loop_lag_seconds histogram", 'seine_loop_lag_seconds_bucket{le="0.005"} 812', "seine_loop_lag_seconds_sum 0.9", "seine_loop_lag_seconds_count 814", "# HELP process_resident_memory_bytes Resident memory", "# TYPE process_resident_memory_bytes gauge", "process_resident_memory_bytes 41230336", ""].join("\n")
    const schema = { keys: [["seine", "int"], ["name", "string"], ["about", "string"], ["start", "url"], ["next", "map"], ["follow", "list"], ["items", "map"], ["pages", "map"], ["expect", "map"], ["items.kind", "string"], ["items.each", "selector"], ["items.fields", "map"], ["items.unique", "string"], ["items.derive", "map"], ["items.where", "expr"], ["items.on-error", "enum", ["report", "drop", "stop"]], ["items.fields.*.css", "selector"], ["items.fields.*.attr", "string"], ["items.fields.*.type", "enum", ["string", "int", "number", "bool", "date", "datetime", "money", "url", "email"]], ["items.fields.*.required", "bool"], ["next.css", "selector"], ["next.max", "int"]].map(([path, type, values]) => ({ path, type, values, about: "" })) }

    const docJson = d => ({ id: d.id, title: d.title, content: d.text.toString(), version: d.version, last_modified: new Date(d.modified).toISOString(), collaborators: [...new Map([...d.sessions.values()].map(s => [s.client, { id: s.client, name: s.name, color: s.color, cursor_position: 0 }])).values()], epoch: d.epoch, kind: d.kind, by: "desk 1", last_run: w.runs.find(r => r.doc === d.id) && { id: w.runs.find(r => r.doc === d.id).id, state: w.runs.find(r => r.doc === d.id).state }, last_runs: ["finished", "finished", "failed", "finished", "finished", "stopped", "finished", "finished"] })
    const deny = (code, status, message, hint = "") => ({ status, body: { error: { code, message, hint, request: ulid(77, "01KRQ") } } })
    const NEED = { GET: "viewer", POST: "editor", PATCH: "editor", DELETE: "admin" }, RANK = { viewer: 1, editor: 2, admin: 3 }

    function api(method, url, role, body) {
        const p = url.pathname.split("/").slice(2), q = url.searchParams
        const admin = p[0] === "tokens" || p[0] === "audit"
        const need = admin ? "admin" : p.at(-1) === "export" ? "viewer" : NEED[method]
        if (RANK[role] < RANK[need]) return deny("forbidden", 403, "the role " + need + " is needed", "ask an admin for a token")
        if (options.fail && options.fail.test(url.pathname)) return deny("unavailable", 503, "the store does not answer", "try again in a second")
        if (p[0] === "session") return { user: { id: ulid(1, "01KUS"), name: w.hostile("desk 1"), color: COLOURS[0], role }, limits: LIMITS, version: "0.1.0" }
        if (p[0] === "schema") return schema
        if (p[0] === "system") return system()
        if (p[0] === "logs") return { lines: log(60) }
        if (p[0] === "audit") return { audit: [{ seq: 3, at: w.now - 9000, user: w.hostile("desk 1"), peer: "127.0.0.1", action: "POST /api/runs", target: w.runs[0]?.id, code: 201 }, { seq: 2, at: w.now - 69_000, user: "desk 2", peer: "127.0.0.1", action: "PATCH /api/runs/{id}/limits", target: w.runs[1]?.id, code: 202 }, ...w.audit] }
        if (p[0] === "tokens") {
            if (method === "POST") { const t = { id: ulid(w.tokens.length + 5, "01KTK"), name: body.name, role: body.role, created: Date.now(), expires: body.expires_ms }; w.tokens.push(t); return { status: 201, body: { ...t, token: "sn_" + "a".repeat(43) } } }
            if (method === "DELETE") { const t = w.tokens.find(x => x.id === p[1]); t.revoked = Date.now(); return null }
            return { tokens: w.tokens }
        }
        if (p[0] === "runs") {
            if (p.length === 1) {
                if (method === "POST") {
                    const d = w.docs.get(body.doc)
                    if (!d) return deny("not_found", 404, "no such recipe")
                    const r = { ...(w.runs[0] || {}), id: ulid(6000 + w.runs.length), doc: d.id, title: d.title, version: body.version, state: "running", started: Date.now(), base: Date.now(), elapsed_ms: 0, emitted: { ok: 0, failed: 0, skipped: 0, blocked: 0 }, records: 0, rps: 0, limited: null }
                    w.runs.unshift(r)
                    return { status: 201, body: r }
                }
                return { runs: w.runs }
            }
            const r = w.runs.find(x => x.id === p[1])
            if (!r) return deny("not_found", 404, "no such run", "it may have been deleted")
            if (p.length === 2) return { ...r, admitted: 131_004, refused: 9216 }
            const act = { pause: "paused", resume: "running", cancel: "stopped" }[p[2]]
            if (act) { r.state = act; return { status: 202, body: { state: act } } }
            if (p[2] === "limits") return { status: 202, body: body }
            if (p[2] === "retry") return { status: 202, body: { queued: 180 } }
            if (p[2] === "hosts") return p[4] ? {} : p[3] ? { ...hosts.find(h => h.host === decodeURIComponent(p[3])), rate: 4.8, timeline: [{ at: w.now - 90_000, text: w.hostile("breaker opened: 5 failures in a row") }, { at: w.now - 30_000, text: "probe allowed" }] } : { age_ms: 900, total: 1204, rows: hosts }
            if (p[2] === "errors") return errors()
            if (p[2] === "skips") return { skips: skips() }
            if (p[2] === "log") return { lines: log(40) }
            if (p[2] === "series") return frame({ ...r, base: w.now }, r.state === "running" ? Date.now() : r.started + r.elapsed_ms, true).history
            if (p[2] === "explain") return { url: q.get("url"), state: "skipped", answer: w.hostile("Skipped: robots.txt of the host forbids it."), steps: [{ step: "found", text: "on https://e.org/ as a link" }, { step: "scope", text: "inside: host e.org" }, { step: "robots", text: w.hostile("line 7: Disallow: /search") }], host: "e.org", depth: 3 }
            if (p[2] === "export") return { url: "/dl/" + randomBytes(32).toString("base64url") }
            if (p[2] === "records") {
                if (p[4] === "source") return { text: PAGE }
                if (p[3]) return record(Number(p[3]))
                const after = Number(q.get("after") || 0), total = options.empty ? 0 : 2400
                if (q.get("where") === "bad(") return deny("bad_message", 400, "where: expected a name after '('", "column 5")
                return { records: Array.from({ length: Math.max(0, Math.min(200, total - after)) }, (_, i) => record(after + i + 1)), total }
            }
        }
        if (p[0] === "pages") {
            if (method === "POST") {
                if (/refused/.test(body.url)) return { status: 502, body: { error: { code: "fetch_failed", message: "the page could not be fetched", cause: "refused", hint: "the host refused the connection", request: ulid(78, "01KRQ") } } }
                const page = { id: ulid(w.pages.size + 1, "01KPG"), url: body.url, final_url: body.url, status: 200, content_type: "text/html" }
                w.pages.set(page.id, page)
                return { status: 201, body: page }
            }
            return p[2] === "source" ? { text: options.hostile ? HOSTILE + PAGE : PAGE } : w.pages.get(p[1])
        }
        if (p[0] === "docs") {
            if (p.length === 1) {
                if (method === "POST") { const d = new Doc(ulid(2000 + w.docs.size, "01KAD"), body.title, body.text || ""); w.docs.set(d.id, d); return { status: 201, body: { id: d.id, version: 0 } } }
                return { docs: [...w.docs.values()].map(docJson) }
            }
            const d = w.docs.get(p[1])
            if (!d) return deny("not_found", 404, "no such document")
            if (p.length === 2) {
                if (method === "PATCH") { d.title = body.title; tell(d, { t: "doc", doc: d.id, ev: "title", title: d.title }) }
                if (method === "DELETE") w.docs.delete(d.id)
                return docJson(d)
            }
            if (p[2] === "text") return { text: q.get("v") === null ? d.text.toString() : d.textAt(Number(q.get("v"))) }
            if (p[2] === "history") return { updates: d.updates.map((u, i) => ({ version: i + 1, user: u.u, name: u.u, ts: u.ts, client: u.c })).reverse().slice(0, 200), labels: d.labels }
            if (p[2] === "labels") { d.labels.push({ version: body.version, label: body.label, at: Date.now() }); tell(d, { t: "doc", doc: d.id, ev: "label", v: body.version, label: body.label }); return { status: 201, body: {} } }
            if (p[2] === "restore") { const old = d.textAt(body.version), ch = ChangeSet.of({ from: 0, to: d.text.length, insert: Text.of(old.split("\n")) }, d.text.length).toJSON(); const v = d.version; tell(d, { t: "updates", doc: d.id, v, updates: d.push(body.client, "restore", v, 1, [ch]) }); return { version: d.version } }
        }
        return deny("not_found", 404, "no such route")
    }

    const server = createServer((req, res) => {
        const url = new URL(req.url, "http://127.0.0.1"), nonce = randomBytes(16).toString("base64")
        const head = { "Content-Security-Policy": policy(nonce), "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin" }
        const send = (status, type, body, more = {}) => { res.writeHead(status, { ...head, "Content-Type": type, ...more }); res.end(body) }
        const asset = n => { const f = files.get(n); if (!f) return send(404, "text/plain", "no"); send(200, f.type, readFileSync(join(dist, f.path)), { "Content-Encoding": "gzip", "Cache-Control": "public, max-age=31536000, immutable" }) }
        if (url.pathname === "/") return send(200, "text/html; charset=utf-8", index.replaceAll("{{NONCE}}", nonce), { "Cache-Control": "no-store" })
        if (url.pathname === "/favicon.svg") return asset("favicon.svg")
        if (url.pathname.startsWith("/assets/")) return asset(url.pathname.slice(8))
        if (url.pathname.startsWith("/dl/")) return send(200, "application/octet-stream", "{}\n", { "Content-Disposition": 'attachment; filename="export.jsonl"' })
        const role = TOKENS[(req.headers.authorization || "").replace("Bearer ", "")]
        const json = (status, body) => send(status, "application/json", JSON.stringify(body), { "Cache-Control": "no-store" })
        if (url.pathname === "/api/once") return req.on("data", c => (JSON.parse(c).once === "right" ? json(200, { token: "sn_admin" }) : json(404, deny("not_found", 404, "this link was used already, or is too old").body)))
        if (!role) return json(401, deny("unauthorized", 401, "the token is not known").body)
        if (url.pathname === "/metrics") return send(200, "text/plain; version=0.0.4", metricsText())
        let text = ""
        req.on("data", c => { text += c })
        req.on("end", () => {
            const a = api(req.method, url, role, text ? JSON.parse(text) : {})
            if (a === null) return json(204, undefined) // no content
            if (a && typeof a.text === "string" && Object.keys(a).length === 1) return send(200, "text/plain; charset=utf-8", a.text)
            if (a && typeof a.status === "number" && a.body) return json(a.status, a.body)
            json(200, a)
        })
    })
    const sockets = new Set(), tell = (d, m, but) => { for (const s of d.sessions.values()) if (s !== but) s.send(m) }
    const wss = new WebSocketServer({ server, path: "/ws", handleProtocols: () => "seine.v1" })
    let joined = 0
    wss.on("connection", ws => {
        const s = { ws, docs: new Set(), topics: new Map(), send: m => { if (ws.readyState === 1) ws.send(JSON.stringify(m)) } }
        sockets.add(s)
        const leave = (d, why) => { if (d.sessions.get(s.client) !== s) return; d.sessions.delete(s.client); tell(d, { t: "peer", doc: d.id, v: d.version, ev: "leave", client: s.client, why }) }
        ws.on("close", () => { sockets.delete(s); for (const t of s.topics.values()) clearInterval(t); for (const id of s.docs) leave(w.docs.get(id), "gone") })
        ws.on("message", data => setTimeout(() => {
            const m = JSON.parse(data)
            if (m.t === "hello") {
                const role = TOKENS[m.token]
                if (!role) { s.send({ t: "err", code: "unauthorized", msg: "no", scope: "conn", re: "hello" }); return ws.close(4001) }
                for (const o of sockets) if (o !== s && o.client === m.client) { for (const id of o.docs) w.docs.get(id)?.sessions.delete(o.client); o.docs.clear(); o.ws.close(4009) }
                Object.assign(s, { client: m.client, role, name: w.hostile(["desk 1", "desk 2", "desk 3", "desk 4"][joined % 4]), color: COLOURS[joined++ % 5] })
                return s.send({ t: "welcome", proto: 1, server: "seine mock", session: ulid(joined, "01KSE"), user: { id: s.name, name: s.name, color: s.color, role }, now: Date.now(), limits: LIMITS })
            }
            if (m.t === "sub") return subscribe(s, m)
            if (m.t === "unsub") { clearInterval(s.topics.get(m.topic)); return s.topics.delete(m.topic) }
            const d = w.docs.get(m.doc), refuse = (code, scope) => s.send({ t: "err", code, msg: code, scope, re: m.t, doc: m.doc })
            if (!d) return refuse("not_found", "frame")
            if (m.t === "open") {
                const fresh = m.v === undefined || m.epoch !== d.epoch || m.v < d.oldest || m.v > d.version
                d.sessions.set(s.client, s)
                s.docs.add(d.id)
                s.send({ t: "opened", doc: d.id, kind: d.kind, title: d.title, epoch: d.epoch, v: d.version, seq: d.seqs.get(s.client) ?? 0, ro: s.role === "viewer", peers: [...d.sessions.values()].filter(x => x !== s).map(x => ({ client: x.client, user: x.name, name: x.name, color: x.color, sel: x.sel ?? null })), ...(fresh ? { text: d.text.toString() } : { from: m.v, updates: d.updates.slice(m.v) }) })
                tell(d, { t: "peer", doc: d.id, v: d.version, ev: "join", client: s.client, user: s.name, name: s.name, color: s.color, sel: null }, s)
                return diagnose(d)
            }
            if (d.sessions.get(s.client) !== s) return refuse("not_open", "frame")
            if (m.t === "push") {
                if (s.role === "viewer") return refuse("read_only", "frame")
                const v = d.version, made = d.push(s.client, s.name, m.base, m.seq, m.updates)
                if (typeof made === "string") return refuse(made, "doc")
                if (made.length) tell(d, { t: "updates", doc: d.id, v, updates: made })
                clearTimeout(d.timer)
                d.timer = setTimeout(() => diagnose(d), 150)
            } else if (m.t === "cursor") {
                s.sel = m.sel
                tell(d, { t: "peer", doc: d.id, v: d.version, ev: "cursor", client: s.client, name: s.name, color: s.color, sel: m.sel }, s)
            } else if (m.t === "close") { leave(d, "close"); s.docs.delete(d.id) } else if (m.t === "preview") {
                const rows = Array.from({ length: 12 }, (_, i) => ({ title: w.hostile(["The Sea", "The Net", "The Knot", "A Year of Tides", "Salt", "The Long Haul"][i % 6]), link: `https://books.example/b/${i + 1}`, price: { amount: 8 + i * 1.5, currency: "EUR" }, stars: null, cheap: i < 2 }))
                s.send({ t: "preview", doc: d.id, v: d.version, page: m.page, rows, count: rows.length, fields: [{ name: "title", matched: 12, empty: 0, type: "string" }, { name: "link", matched: 12, empty: 0, type: "url" }, { name: "price", matched: 12, empty: 2, type: "money" }, { name: "stars", matched: 0, empty: 0, type: "int" }, { name: "cheap", matched: 12, empty: 0, type: "bool" }], ms: 3.4, truncated: false })
            }
        }, options.lag ? Math.random() * options.lag : 0))
    })
    function diagnose(d) {
        const text = d.text.toString(), items = []
        for (const m of text.matchAll(/\b(filds|eech|stars)\b/g)) items.push(m[1] === "stars" ? { from: m.index, to: m.index + 5, severity: "warning", code: "no_match", message: w.hostile("`.stars` matches nothing on the stored page"), hint: "nearest: .star (12)" } : { from: m.index, to: m.index + m[1].length, severity: "error", code: "unknown_key", message: `unknown key '${m[1]}' in items`, hint: "did you mean " + (m[1] === "eech" ? "each" : "fields") + "?" })
        tell(d, { t: "diag", doc: d.id, v: d.version, items: items.slice(0, 200) })
    }
    function subscribe(s, m) {
        clearInterval(s.topics.get(m.topic))
        let n = 0
        const [kind, id] = m.topic.split(":")
        const told = () => {
            const at = Date.now(), full = n === 0, run = w.runs.find(r => r.id === id)
            if (run) run.base ??= at
            if (["run", "hosts", "errors", "log"].includes(kind) && !run) return s.send({ t: "err", code: "not_found", msg: "no such run", scope: "frame", re: "sub" })
            const d = kind === "runs" ? w.runs.map((r, i) => ({ ...r, rps: r.rps ? wave(at / 1000, r.rps, 22, i) : 0 })) : kind === "run" ? frame(run, at, full) : kind === "hosts" ? { age_ms: 300, total: 1204, rows: hosts.filter(h => !m.q || h.host.includes(m.q)) } : kind === "errors" ? errors() : kind === "log" ? { lines: log(full ? 30 : 2), lost: 0 } : kind === "system" ? system() : null
            s.send({ t: "data", topic: m.topic, n: ++n, at, full, d })
        }
        told()
        s.topics.set(m.topic, setInterval(told, Math.max(500, m.every_ms ?? 1000)))
    }
    await new Promise(done => server.listen(port, "127.0.0.1", done))
    return {
        url: `http://127.0.0.1:${server.address().port}`, world: w,
        dropAll: () => { for (const s of sockets) s.ws.terminate() },
        drop: name => { for (const s of sockets) if (s.client === name) s.ws.terminate() },
        close: () => new Promise(done => { for (const s of sockets) s.ws.terminate(); wss.close(); server.closeAllConnections(); server.close(done) }),
    }
}

if (import.meta.url === pathToFileURL(process.argv[1] || "").href) {
    const [dist, npm, port = "0", ...flags] = process.argv.slice(2)
    const mock = await startMock({ dist, npm, port: Number(port), options: { hostile: flags.includes("hostile"), empty: flags.includes("empty") } })
    console.log(mock.url)
}
