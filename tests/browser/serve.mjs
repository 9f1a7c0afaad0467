// SPDX-License-Identifier: Apache-2.0
// A real `seine serve` in a directory of its own, and what tests ask of it.
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PATIENCE } from "./console.mjs"

export async function startConsole(build, ...more) {
    const state = mkdtempSync(join(tmpdir(), "seine-console-"))
    const config = join(state, "seine.yaml")
    writeFileSync(config, "egress:\n  allow_net: [127.0.0.0/8]\n", { mode: 0o600 }) // origins of tests are on this machine
    const child = spawn(join(build, "seine"), ["serve", "--config", config, "--listen", "127.0.0.1:0", "--state", state, "--log", "off", ...more], { stdio: ["ignore", "ignore", "pipe"] })
    let said = ""
    const link = await new Promise((done, fail) => {
        const timer = setTimeout(() => fail(new Error("seine serve printed no link: " + said)), PATIENCE)
        child.stderr.on("data", d => {
            said += d
            const found = /(http:\/\/[^\s/#]+)\/#token=(\S+)/.exec(said)
            if (found) { clearTimeout(timer); done(found) }
        })
        child.on("exit", code => fail(new Error(`seine serve ended with ${code}: ${said}`)))
    })
    const [, url, token] = link
    const ask = async (method, path, body) => {
        const r = await fetch(url + path, { method, headers: { Authorization: "Bearer " + token, ...(body ? { "Content-Type": "application/json" } : {}) }, body: body && JSON.stringify(body) })
        if (!r.ok) throw new Error(`${method} ${path}: ${r.status} ${await r.text()}`)
        return r
    }
    return {
        url, token, ask, state,
        make: async (title, text) => (await (await ask("POST", "/api/docs", { title, kind: "note", text })).json()).id,
        text: async doc => (await ask("GET", `/api/docs/${doc}/text`)).text(),
        end: () => new Promise(done => {
            child.removeAllListeners("exit")
            child.on("exit", code => { rmSync(state, { recursive: true, force: true }); done(code) })
            child.kill("SIGTERM")
        }),
    }
}

// A shop of `pages` pages with ten books each, on this machine.
export async function startShop(pages) {
    const server = createServer((req, res) => {
        const n = Number(new URL(req.url, "http://x").searchParams.get("page") || 1)
        if (!req.url.startsWith("/list")) { res.writeHead(404); return res.end("no") }
        const rows = Array.from({ length: 10 }, (_, i) => `<li class="book"><h2><a href="/b/${n * 10 + i}">Book ${n * 10 + i}</a></h2><b class="price">${n + i},50 €</b></li>`).join("\n")
        res.writeHead(200, { "Content-Type": "text/html; charset=utf-8" })
        res.end(`<!doctype html><title>Books</title><ul>${rows}</ul>${n < pages ? `<a class="next" href="/list?page=${n + 1}">next</a>` : ""}`)
    })
    await new Promise(done => server.listen(0, "127.0.0.1", done))
    const url = `http://127.0.0.1:${server.address().port}`
    return { url, end: () => { server.closeAllConnections(); server.close() },
        recipe: `seine: 1\nname: shop\nstart: ${url}/list\nnext: {css: a.next, attr: href}\nitems:\n  kind: book\n  each: li.book\n  fields:\n    title: {css: h2 a, required: true}\n    link: {css: h2 a, attr: href, type: url}\n    price: {css: .price, type: money, decimal: ","}\n    stars: {css: .stars, type: int}\n` }
}
