#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The client of the pages against the real server: 12 of them edit one document at random, with delays, lost connections
// and undo, until 5,000 versions are there. All arrive at the server's text.
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { check, NPM, run, sources, until } from "./console.mjs"
import { startConsole } from "./serve.mjs"

const build = process.argv[2], dir = sources(build)
const near = name => import(pathToFileURL(join(dir, name)).href)
const local = createRequire(join(dir, "package.json"))
const { DocSession } = await near("src/collab.js"), { Socket, newClientId } = await near("src/socket.js")
const { EditorState, Text } = await import(pathToFileURL(local.resolve("@codemirror/state")).href.replace("index.cjs", "index.js"))
const { history, undo } = await import(pathToFileURL(local.resolve("@codemirror/commands")).href.replace("index.cjs", "index.js"))
const { WebSocket } = createRequire(join(NPM, "package.json"))("ws")
const seed = Number(process.env.SEED || Date.now() % 1e9)
let s = seed >>> 0
function rng() {
    s = (s + 0x6d2b79f5) >>> 0
    let t = Math.imul(s ^ (s >>> 15), 1 | s)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}
const sleep = ms => new Promise(done => setTimeout(done, ms))

// A WebSocket whose messages take up to 50 ms each way, in order.
class Lagged {
    constructor(url, protocol) {
        this.ws = new WebSocket(url, protocol, { origin: url.replace("ws:", "http:").replace(/\/ws$/, "") })
        const lane = f => { let last = Promise.resolve(); return x => { const wait = sleep(rng() * 50); last = last.then(() => wait).then(() => f(x)) } }
        this.out = lane(x => { if (this.ws.readyState === 1) this.ws.send(x) })
        const hear = lane(f => f())
        this.ws.onopen = () => hear(() => this.onopen?.())
        this.ws.onmessage = e => hear(() => this.onmessage?.({ data: String(e.data) }))
        this.ws.onclose = e => hear(() => this.onclose?.({ code: e.code }))
        this.ws.onerror = () => {}
    }
    get readyState() { return this.ws.readyState }
    send(text) { this.out(text) }
    close() { this.ws.terminate() }
}

class Peer {
    constructor(server, doc) {
        this.socket = new Socket({ url: server.url.replace("http", "ws") + "/ws", WebSocket: Lagged, token: () => server.token, client: newClientId(), random: rng })
        this.resyncs = 0
        this.session = new DocSession({ doc, client: this.socket.client, send: m => this.socket.send(m), onresync: () => { this.resyncs++ }, onerror: m => { this.error = m },
            make: (text, sync) => {
                let state = EditorState.create({ doc: text, extensions: [sync, history()] })
                const view = this.view = { get state() { return state }, apply: list => { state = list.at(-1).state }, dispatch: tr => { state = tr.state },
                    replace: (t, next, mine) => { state = EditorState.create({ doc: t, extensions: [next, history()] }); if (mine) state = state.update({ changes: mine }).state } }
                return view
            } })
        this.socket.attach(doc, { up: w => this.session.up(w), down: () => this.session.down(), frame: m => this.session.frame(m) })
        this.socket.start()
    }
    // Positions never cut a character.
    at(p) {
        const d = this.view.state.doc
        return p > 0 && p < d.length && /[\udc00-\udfff]/.test(d.sliceString(p, p + 1)) ? p - 1 : p
    }
    edit() {
        const { state } = this.view, n = state.doc.length, what = rng()
        if (what < 0.06) undo({ state, dispatch: tr => this.view.dispatch(tr) })
        else {
            const from = this.at(Math.floor(rng() * (n + 1))), long = what > 0.45 && n > 60, to = this.at(Math.min(n, from + (long ? Math.floor(rng() * 6) : 0)))
            const insert = what > 0.8 && long ? "" : ["a", "Bc", "\n", "𝒳", "é", "x\ny", "日本", "  - k: v\n"][Math.floor(rng() * 8)]
            this.view.dispatch(state.update({ changes: { from, to, insert: Text.of(insert.split("\n")) } }))
        }
        this.session.push()
    }
    drop() { this.socket.socket?.close() }
}

await run({
    [`12 clients converge over 5,000 versions (SEED=${seed})`]: async () => {
        const server = await startConsole(build), doc = await server.make("peers", "seine: 1\nname: x\n")
        const peers = Array.from({ length: 12 }, () => new Peer(server, doc))
        for (const p of peers) await until("open", () => p.session.opened)
        let drops = 0
        const life = async p => {
            while (peers[0].session.version < 5000) {
                if (p.session.unconfirmed().length < 60) p.edit()
                if (rng() < 0.004) { p.drop(); drops++ }
                await sleep(rng() * 12)
                if (p.session.stopped) throw new Error("a client stopped: " + JSON.stringify(p.error))
            }
        }
        await Promise.all(peers.map(life))
        while (drops < 50) { peers[drops % 12].drop(); peers[(drops + 5) % 12].edit(); drops++; await sleep(20) }
        for (const p of peers) await until("rest", () => p.session.status().word === "saved")
        const text = await server.text(doc), version = (await (await server.ask("GET", "/api/docs/" + doc)).json()).version
        for (const p of peers) await until("the last version", () => p.session.version === version)
        for (const p of peers) check(p.view.state.doc.toString() === text, true, "one text")
        console.log(`${version} versions, ${drops} drops, ${peers.reduce((n, p) => n + p.resyncs, 0)} resyncs`)
        for (const p of peers) p.socket.stop()
        check(await server.end(), 143, "a stop by TERM")
    },
})
