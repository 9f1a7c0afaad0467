// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict"
import { test } from "node:test"
import { backoff, merge, newClientId, Socket } from "../src/socket.js"

// A browser's socket that does what the test says, on a clock that the test moves.
function bench() {
    const made = [], timers = []
    let now = 0
    class Fake {
        constructor(url, protocol) { Object.assign(this, { url, protocol, readyState: 0, sent: [] }); made.push(this) }
        send(text) { this.sent.push(JSON.parse(text)) }
        close(code) { this.readyState = 3; this.closed = code }
        opens() { this.readyState = 1; this.onopen?.() }
        says(m) { this.onmessage?.({ data: JSON.stringify(m) }) }
        dies(code = 1006) { this.readyState = 3; this.onclose?.({ code }) }
    }
    const socket = new Socket({ url: "ws://x/ws", WebSocket: Fake, random: () => 1, now: () => now, token: () => "sn_t", later: (f, ms) => { const t = { f, at: now + ms }; timers.push(t); return t }, cancel: t => { const i = timers.indexOf(t); if (i >= 0) timers.splice(i, 1) } })
    const pass = ms => { now += ms; for (;;) { const i = timers.findIndex(t => t.at <= now); if (i < 0) return; timers.splice(i, 1)[0].f() } }
    const live = () => { made.at(-1).opens(); made.at(-1).says({ t: "welcome", limits: {} }) }
    return { socket, made, pass, live }
}

test("a client id is 22 characters of base64url", () => {
    assert.match(newClientId(), /^[A-Za-z0-9_-]{22}$/)
    assert.equal(newClientId(new Uint8Array(16).fill(255)), "_____________________w")
})
test("waits double from 0.2 s to 10 s with full jitter", () => {
    assert.deepEqual([0, 1, 2, 5, 6, 60].map(n => backoff(n, () => 1)), [200, 400, 800, 6400, 10_000, 10_000])
    assert.equal(backoff(3, () => 0), 0)
})
test("hello comes first and carries the token", () => {
    const b = bench()
    b.socket.start()
    b.made[0].opens()
    assert.equal(b.made[0].protocol, "seine.v1")
    assert.deepEqual(b.made[0].sent, [{ t: "hello", proto: 1, client: b.socket.client, token: "sn_t" }])
    assert.equal(b.socket.send({ t: "ping", n: 1 }), false) // not before welcome
    b.made[0].says({ t: "welcome", limits: {} })
    assert.equal(b.socket.status.value.word, "live")
})
test("a lost connection comes back with its topics", () => {
    const b = bench(), seen = []
    b.socket.sub("run:1", {}, m => seen.push(m.n))
    b.socket.start()
    b.live()
    assert.deepEqual(b.made[0].sent.at(-1), { t: "sub", topic: "run:1" })
    b.made[0].says({ t: "data", topic: "run:1", n: 1, d: {} })
    b.made[0].dies()
    assert.equal(b.socket.status.value.word, "waiting")
    b.pass(199)
    assert.equal(b.made.length, 1)
    b.pass(1)
    assert.equal(b.made.length, 2)
    b.live()
    assert.deepEqual(b.made[1].sent.at(-1), { t: "sub", topic: "run:1" })
    b.made[0].onmessage?.({ data: "{}" }) // nobody listens to the old socket
    assert.deepEqual(seen, [1])
})
test("a revoked token and a replaced socket are not tried again", () => {
    for (const [code, word] of [[4001, "signedout"], [4009, "replaced"]]) {
        const b = bench()
        b.socket.start()
        b.live()
        b.made[0].dies(code)
        b.pass(60_000)
        assert.equal(b.made.length, 1)
        assert.equal(b.socket.status.value.word, word)
    }
})
test("a hidden tab asks for nothing and asks again when it is seen", () => {
    const b = bench()
    b.socket.sub("runs", {}, () => {})
    b.socket.start()
    b.live()
    b.socket.hide(true)
    assert.deepEqual(b.made[0].sent.at(-1), { t: "unsub", topic: "runs" })
    b.socket.hide(false)
    assert.deepEqual(b.made[0].sent.at(-1), { t: "sub", topic: "runs" })
})
test("the last reader of a topic ends it", () => {
    const b = bench()
    b.socket.start()
    b.live()
    const one = b.socket.sub("runs", {}, () => {}), two = b.socket.sub("runs", {}, () => {})
    one()
    assert.equal(b.made[0].sent.at(-1).t, "sub")
    two()
    assert.deepEqual(b.made[0].sent.at(-1), { t: "unsub", topic: "runs" })
})
test("coming online does not wait", () => {
    const b = bench()
    b.socket.start()
    b.live()
    b.socket.lost()
    b.socket.hurry()
    assert.equal(b.made.length, 2)
})
test("a socket that never welcomes is given up after 10 s", () => {
    const b = bench()
    b.socket.start()
    b.made[0].opens()
    b.pass(10_000)
    assert.equal(b.socket.status.value.word, "waiting")
})
test("full frames replace, others merge", () => {
    assert.deepEqual(merge({ a: 1, b: 2 }, { full: false, d: { b: 3 } }), { a: 1, b: 3 })
    assert.deepEqual(merge({ a: 1 }, { full: true, d: { b: 3 } }), { b: 3 })
    assert.deepEqual(merge([1], { full: false, d: [2] }), [2])
})
