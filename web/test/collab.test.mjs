// SPDX-License-Identifier: Apache-2.0
// Clients that edit one document over channels that lose and delay: they converge, nothing typed is lost or doubled.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ChangeSet, EditorSelection, EditorState, Text } from "@codemirror/state"
import { DocSession, rebase, textOf } from "../src/collab.js"

function random(seed) {
    let s = seed >>> 0
    return () => { s = (s + 0x6d2b79f5) >>> 0; let t = Math.imul(s ^ (s >>> 15), 1 | s); t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t; return ((t ^ (t >>> 14)) >>> 0) / 4294967296 }
}

// The server of the specification: accepts, orders, tells everyone.
class Server {
    constructor(text = "") {
        Object.assign(this, { epoch: "e1", text: textOf(text), updates: [], seqs: new Map(), sessions: new Map(), oldest: 0, told: [] })
    }
    receive(c, m) {
        const send = x => c.fromServer.push(x)
        const refuse = (code, scope = "doc") => { this.told.push(code); send({ t: "err", code, msg: code, scope, re: m.t, doc: "d" }) }
        if (m.t === "open") {
            this.sessions.set(c.id, c)
            const fresh = m.v === undefined || m.epoch !== this.epoch || m.v < this.oldest || m.v > this.updates.length
            return send({ t: "opened", doc: "d", kind: "recipe", title: "t", epoch: this.epoch, v: this.updates.length, seq: this.seqs.get(c.id) ?? 0, ro: false, peers: [], ...(fresh ? { text: this.text.toString() } : { from: m.v, updates: this.updates.slice(m.v) }) })
        }
        if (m.t === "cursor") { for (const o of this.sessions.values()) if (o !== c) o.fromServer.push({ t: "peer", doc: "d", v: this.updates.length, ev: "cursor", client: c.id, sel: m.sel }); return }
        if (m.t !== "push") return
        const last = this.seqs.get(c.id) ?? 0
        if (m.base > this.updates.length) return refuse("bad_base")
        if (m.base < this.oldest) return refuse("too_old")
        if (m.seq < 1 || m.seq > last + 1) return refuse("bad_seq")
        let list = m.updates.map(u => ChangeSet.fromJSON(u)), dropped = 0
        for (const u of this.updates.slice(m.base)) {
            if (u.c === c.id) { list.shift(); dropped++; continue }
            let o = ChangeSet.fromJSON(u.ch)
            list = list.map(x => { const y = x.map(o, false); o = o.map(x, true); return y })
        }
        if (dropped !== Math.min(m.updates.length, last + 1 - m.seq)) return refuse("bad_seq")
        const v = this.updates.length
        for (const x of list) { this.text = x.apply(this.text); this.updates.push({ c: c.id, u: c.id, ch: x.toJSON(), ts: 0 }) }
        this.seqs.set(c.id, last + list.length)
        if (list.length) for (const o of this.sessions.values()) o.fromServer.push({ t: "updates", doc: "d", v, updates: this.updates.slice(v) })
    }
}

class Client {
    constructor(id, server, clock) {
        Object.assign(this, { id, server, fromServer: [], toServer: [], up: false, resyncs: 0 })
        this.session = new DocSession({ doc: "d", client: id, now: () => clock.now, later: (f, ms) => clock.later(f, ms), send: m => { if (!this.up) return false; this.toServer.push(m); return true }, onresync: () => { this.resyncs++ },
            make: (doc, sync) => {
                let state = EditorState.create({ doc, extensions: sync })
                const view = this.view = { get state() { return state }, apply: trs => { state = trs.at(-1).state }, replace: (text, next, mine, selection) => { state = EditorState.create({ doc: text, extensions: next }); if (mine) state = state.update({ changes: mine, selection }).state }, type: spec => { state = state.update(spec).state } }
                return view
            } })
    }
    connect() { this.up = true; this.session.up({ limits: {} }) }
    // A drop loses what is on its way, both ways.
    drop() { this.up = false; this.fromServer = []; this.toServer = []; this.server.sessions.delete(this.id); this.session.down() }
    get text() { return this.view.state.doc.toString() }
    insert(at, text) { this.view.type({ changes: { from: Math.min(at, this.view.state.doc.length), insert: text } }); this.session.push() }
    edit(rng) {
        const n = this.view.state.doc.length, from = Math.floor(rng() * (n + 1)), kind = rng()
        const words = ["a", "xy", "\n", "𝒳", "é", "line\ntwo"], cut = p => (p > 0 && p < n && /[\udc00-\udfff]/.test(this.view.state.doc.sliceString(p, p + 1)) ? p - 1 : p)
        if (kind < 0.65 || !n) this.view.type({ changes: { from: cut(from), insert: Text.of(words[Math.floor(rng() * words.length)].split("\n")) } })
        else this.view.type({ changes: { from: cut(from), to: cut(Math.min(n, from + Math.floor(rng() * 4))), insert: kind < 0.8 ? "R" : "" } })
        this.session.push()
    }
}
function makeClock() {
    const timers = []
    return { now: 0, later(f, ms) { timers.push({ f, at: this.now + ms }) }, pass(ms) { this.now += ms; for (;;) { const i = timers.findIndex(t => t.at <= this.now); if (i < 0) return; timers.splice(i, 1)[0].f() } } }
}
function settle(server, clients, clock) {
    for (const c of clients) if (!c.up) c.connect()
    for (let i = 0; i < 4000; i++) {
        let busy = false
        for (const c of clients) {
            while (c.toServer.length) { server.receive(c, c.toServer.shift()); busy = true }
            while (c.fromServer.length) { c.session.frame(c.fromServer.shift()); busy = true }
        }
        clock.pass(100)
        if (!busy && clients.every(c => !c.session.unconfirmed().length)) return
    }
    throw new Error("it does not come to rest")
}

test("own update confirms and is never applied again", () => {
    const clock = makeClock(), server = new Server("name: demo"), a = new Client("a", server, clock)
    settle(server, [a], clock)
    a.insert(10, "\nrate: 1/s")
    settle(server, [a], clock)
    assert.equal(a.text, "name: demo\nrate: 1/s")
    assert.equal(a.session.confirmed, 1)
    assert.equal(server.text.toString(), a.text)
})
test("updates are mapped one at a time, never composed", () => {
    const clock = makeClock(), server = new Server("01234567"), a = new Client("a", server, clock), b = new Client("b", server, clock)
    settle(server, [a, b], clock)
    server.receive(a, { t: "push", doc: "d", base: 0, seq: 1, updates: [[2, [3], 3]] })
    server.receive(a, { t: "push", doc: "d", base: 1, seq: 2, updates: [[2, [0, "x"], 3]] })
    a.session.confirmed = -2 // the test pushed in its place
    b.insert(2, "C")
    settle(server, [b], clock)
    assert.equal(server.text.toString(), "01xC567")
    assert.equal(b.text, "01xC567")
})
test("one push is in flight, and the next takes what was typed meanwhile", () => {
    const clock = makeClock(), server = new Server(""), a = new Client("a", server, clock)
    settle(server, [a], clock)
    clock.pass(1000)
    for (const x of "abc") a.insert(99, x)
    assert.deepEqual(a.toServer.filter(m => m.t === "push").map(m => [m.seq, m.updates.length]), [[1, 1]])
    server.receive(a, a.toServer.find(m => m.t === "push"))
    a.toServer = []
    clock.pass(100)
    while (a.fromServer.length) a.session.frame(a.fromServer.shift())
    clock.pass(100)
    assert.deepEqual(a.toServer.filter(m => m.t === "push").map(m => [m.base, m.seq, m.updates.length]), [[1, 2, 2]])
})
test("random editing with drops, delays and lost acknowledgements converges", () => {
    let versions = 0
    const seeds = Number(process.env.SEEDS || 60), base = Number(process.env.SEED || 1)
    for (let seed = base; seed < base + seeds; seed++) {
        const rng = random(seed), clock = makeClock(), server = new Server("seine: 1\nname: x\n"), clients = ["a", "b", "c"].map(id => new Client(id, server, clock))
        settle(server, clients, clock)
        for (let step = 0; step < 160; step++) {
            const c = clients[Math.floor(rng() * 3)], what = rng()
            if (what < 0.45) c.edit(rng)
            else if (what < 0.7 && c.toServer.length) server.receive(c, c.toServer.shift())
            else if (what < 0.93 && c.fromServer.length) c.session.frame(c.fromServer.shift())
            else if (what < 0.95 && c.up) c.drop()
            else if (what < 0.99 && !c.up) c.connect()
            else if (what > 0.997) server.oldest = Math.max(server.oldest, server.updates.length - 3) // history is cut: a resync
            clock.pass(rng() * 80)
        }
        settle(server, clients, clock)
        for (const c of clients) {
            assert.equal(c.text, server.text.toString(), `seed ${seed}`)
            assert.equal(c.session.synced.toString(), c.text, `seed ${seed}`)
            assert.equal(c.session.version, server.updates.length, `seed ${seed}`)
        }
        versions += server.updates.length
        assert.deepEqual(server.told.filter(x => x !== "too_old"), [], `seed ${seed}`)
    }
    assert.ok(versions > seeds * 20, String(versions))
})
test("with inserts alone every typed mark is there exactly once, resyncs included", () => {
    for (let seed = 1; seed <= 40; seed++) {
        const rng = random(seed), clock = makeClock(), server = new Server("start"), clients = ["a", "b", "c"].map(id => new Client(id, server, clock))
        settle(server, clients, clock)
        let mark = 0x4e00
        for (let step = 0; step < 120; step++) {
            const c = clients[Math.floor(rng() * 3)], what = rng()
            if (what < 0.4) c.insert(Math.floor(rng() * (c.view.state.doc.length + 1)), String.fromCharCode(mark++))
            else if (what < 0.65 && c.toServer.length) server.receive(c, c.toServer.shift())
            else if (what < 0.9 && c.fromServer.length) c.session.frame(c.fromServer.shift())
            else if (what < 0.94 && c.up) c.drop()
            else if (!c.up) c.connect()
            if (rng() < 0.02) server.oldest = server.updates.length
            clock.pass(rng() * 80)
        }
        settle(server, clients, clock)
        const text = server.text.toString()
        for (let m = 0x4e00; m < mark; m++) assert.equal(text.split(String.fromCharCode(m)).length, 2, `seed ${seed}, mark ${m.toString(16)}`)
        for (const c of clients) assert.equal(c.text, text)
    }
})
test("a resync keeps local text and does not send accepted text twice", () => {
    const clock = makeClock(), server = new Server("one two"), a = new Client("a", server, clock), b = new Client("b", server, clock)
    settle(server, [a, b], clock)
    clock.pass(1000)
    a.insert(0, "A")
    server.receive(a, a.toServer.find(m => m.t === "push")) // accepted, its confirmation is lost
    a.drop()
    a.insert(8, "Z")
    b.insert(7, "!")
    settle(server, [b], clock)
    server.oldest = server.updates.length
    settle(server, [a, b], clock)
    assert.equal(a.resyncs, 1)
    assert.equal(server.text.toString().split("A").length, 2)
    assert.equal(server.text.toString().split("Z").length, 2)
    assert.equal(a.text, server.text.toString())
    assert.equal(a.session.confirmed, server.seqs.get("a"))
})
test("blamed twice within a minute it stops and keeps the text", () => {
    const clock = makeClock(), server = new Server("x"), a = new Client("a", server, clock)
    settle(server, [a], clock)
    a.session.frame({ t: "err", code: "bad_change", scope: "doc", re: "push", doc: "d" })
    settle(server, [a], clock)
    assert.equal(a.session.status().word, "saved")
    a.insert(1, "mine")
    a.session.frame({ t: "err", code: "bad_seq", scope: "doc", re: "push", doc: "d" })
    assert.equal(a.session.status().word, "problem")
    assert.equal(a.text, "xmine")
})
test("a refusal to wait for is tried again with the same number", () => {
    const clock = makeClock(), server = new Server(""), a = new Client("a", server, clock)
    settle(server, [a], clock)
    clock.pass(1000)
    a.insert(0, "q")
    const first = a.toServer.splice(0).find(m => m.t === "push")
    a.session.frame({ t: "err", code: "unavailable", retry_ms: 300, scope: "frame", re: "push", doc: "d" })
    clock.pass(200)
    assert.equal(a.toServer.filter(m => m.t === "push").length, 0)
    clock.pass(300)
    assert.deepEqual(a.toServer.find(m => m.t === "push"), first)
})
test("cursors are told only while nothing is unconfirmed, and peers' move with the text", () => {
    const clock = makeClock(), server = new Server("hello world"), a = new Client("a", server, clock), b = new Client("b", server, clock)
    settle(server, [a, b], clock)
    b.view.type({ selection: EditorSelection.single(6, 11) })
    b.session.cursor()
    settle(server, [a, b], clock)
    assert.deepEqual(a.session.peers.get("b").sel, [[6, 11]])
    a.insert(0, "oh ")
    a.view.type({ selection: EditorSelection.single(2) })
    clock.pass(500)
    a.session.cursor()
    assert.equal(a.toServer.filter(m => m.t === "cursor").length, 0)
    assert.deepEqual(a.session.localPeers()[0].ranges, [{ anchor: 9, head: 14 }])
    settle(server, [a, b], clock)
    assert.deepEqual(a.session.peers.get("b").sel, [[9, 14]])
})
test("diagnostics of an older version are moved to where their text is now", () => {
    const clock = makeClock(), server = new Server("a: 1\nb: 2"), a = new Client("a", server, clock)
    settle(server, [a], clock)
    a.insert(0, "x: 0\n")
    settle(server, [a], clock)
    a.insert(0, "# ")
    assert.equal(a.session.toLocal(5, 0), 12)
    assert.equal(a.session.toLocal(5, 99), null)
})
test("rebase puts local edits onto the server's text", () => {
    for (const [S, local, server, want] of [["abc", "abXc", "Yabc", "YabXc"], ["abc", "abc", "zzz", "zzz"], ["abc", "", "abc", ""], ["a\nb", "a\nb\nc", "0\na\nb", "0\na\nb\nc"]]) assert.equal(rebase(S, local, server).mine.apply(textOf(server)).toString(), want)
})
