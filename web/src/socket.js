// SPDX-License-Identifier: Apache-2.0
// One WebSocket `seine.v1` per page load: hello, topics, documents, reconnect. Knows no page and no editor.
//
//     const socket = new Socket({ url, token: () => "sn_…", name: () => "" })
//     socket.start()
//     const end = socket.sub("run:ID", {}, frame => …)      frame = {topic, n, at, full, d}
//     socket.attach(docId, { up(welcome), down(), frame(message) })
//
// `status` is a signal: {word: "idle" | "connecting" | "live" | "waiting" | "offline" | "signedout" | "replaced", until, since}.
import { signal } from "@preact/signals"

export function backoff(tries, random) {
    return Math.min(10_000, 200 * 2 ** Math.min(tries, 16)) * random()
}
export function newClientId(bytes = crypto.getRandomValues(new Uint8Array(16))) {
    return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
}

const OPEN = 1
export class Socket {
    constructor(options) {
        this.options = { WebSocket: globalThis.WebSocket, random: Math.random, now: Date.now, later: (f, ms) => setTimeout(f, ms), cancel: id => clearTimeout(id), ...options }
        this.client = options.client || newClientId()
        this.status = signal({ word: "idle", until: 0, since: 0 })
        this.welcome = signal(null)
        this.lastError = signal(null)
        this.topics = new Map() // topic → {options, handlers:Set, last}
        this.docs = new Map()   // doc → {up, down, frame}
        this.tries = 0
        this.socket = null
        this.timer = null
        this.hidden = false
        this.wanted = false
    }

    start() {
        this.wanted = true
        this.connect()
    }

    stop(word = "idle") {
        this.wanted = false
        this.options.cancel(this.timer)
        this.drop()
        this.tell(word)
    }

    tell(word, until = 0) {
        const was = this.status.value
        this.status.value = { word, until, since: was.word === word ? was.since : this.options.now() }
    }

    // Lets go of the socket; whatever it still says is nobody's.
    drop(code = 1000) {
        const old = this.socket
        this.socket = null
        if (old) {
            old.onopen = old.onmessage = old.onclose = old.onerror = null
            try { old.close(code) } catch { /* it is closed already */ }
        }
        if (this.welcome.value) {
            this.welcome.value = null
            for (const d of this.docs.values()) d.down()
        }
    }

    connect() {
        this.options.cancel(this.timer)
        this.drop()
        if (!this.wanted) return
        this.tell("connecting")
        let socket
        try {
            socket = new this.options.WebSocket(this.options.url, "seine.v1")
        } catch {
            this.wait()
            return
        }
        this.socket = socket
        this.timer = this.options.later(() => { if (socket === this.socket && !this.welcome.value) { this.drop(); this.wait() } }, 10_000)
        socket.onopen = () => {
            const hello = { t: "hello", proto: 1, client: this.client }
            if (this.options.token()) hello.token = this.options.token()
            if (this.options.name?.()) hello.name = this.options.name()
            socket.send(JSON.stringify(hello))
        }
        socket.onmessage = event => { if (socket === this.socket) this.receive(event.data) }
        socket.onclose = event => { if (socket === this.socket) this.closed(event.code) }
        socket.onerror = () => {}
    }

    closed(code) {
        this.drop()
        this.options.cancel(this.timer)
        if (code === 4001) return this.stopped("signedout")
        if (code === 4009) return this.stopped("replaced")
        if (this.wanted) this.wait()
    }

    stopped(word) {
        this.wanted = false
        this.tell(word)
        this.options.onstop?.(word)
    }

    wait() {
        const ms = backoff(this.tries++, this.options.random)
        this.tell(globalThis.navigator?.onLine === false ? "offline" : "waiting", this.options.now() + ms)
        this.timer = this.options.later(() => this.connect(), ms)
    }

    // The network or the person is back: no waiting.
    hurry() {
        if (this.wanted && !this.socket) this.connect()
    }

    // A lost network is told by the browser long before the socket notices.
    lost() {
        if (!this.wanted) return
        this.options.cancel(this.timer)
        this.drop()
        this.wait()
    }

    receive(text) {
        let m
        try { m = JSON.parse(text) } catch { return }
        if (m.t === "welcome") return this.welcomed(m)
        if (m.t === "data") return this.data(m)
        if (m.t === "err") return this.refused(m)
        if (m.doc && this.docs.has(m.doc)) this.docs.get(m.doc).frame(m)
    }

    welcomed(m) {
        this.options.cancel(this.timer)
        this.tries = 0
        this.welcome.value = m
        this.tell("live")
        for (const [topic, t] of this.topics) if (!this.hidden) this.send({ t: "sub", topic, ...t.options })
        for (const d of this.docs.values()) d.up(m)
    }

    data(m) {
        const t = this.topics.get(m.topic)
        if (!t) return
        t.last = m
        for (const h of t.handlers) h(m)
    }

    refused(m) {
        if (m.doc && this.docs.has(m.doc)) return this.docs.get(m.doc).frame(m)
        if (m.scope === "conn" && m.code === "unauthorized") return this.stopped("signedout")
        this.lastError.value = m
    }

    send(message) {
        if (!this.socket || !this.welcome.value || this.socket.readyState !== OPEN) return false
        this.socket.send(JSON.stringify(message))
        return true
    }

    sub(topic, options, handler) {
        let t = this.topics.get(topic)
        const same = t && JSON.stringify(t.options) === JSON.stringify(options)
        if (!t) this.topics.set(topic, t = { options, handlers: new Set(), last: null })
        t.handlers.add(handler)
        if (!same) {
            t.options = options
            if (!this.hidden) this.send({ t: "sub", topic, ...options })
        }
        return () => {
            t.handlers.delete(handler)
            if (t.handlers.size || this.topics.get(topic) !== t) return
            this.topics.delete(topic)
            this.send({ t: "unsub", topic })
        }
    }

    // A hidden tab asks for nothing; documents stay open.
    hide(hidden) {
        if (hidden === this.hidden) return
        this.hidden = hidden
        for (const [topic, t] of this.topics) this.send(hidden ? { t: "unsub", topic } : { t: "sub", topic, ...t.options })
        if (!hidden) this.hurry()
    }

    attach(doc, handlers) {
        this.docs.set(doc, handlers)
        if (this.welcome.value) handlers.up(this.welcome.value)
        return () => {
            if (this.docs.get(doc) !== handlers) return
            this.docs.delete(doc)
            this.send({ t: "close", doc })
        }
    }
}

// Merges a frame into what a topic showed: `full` replaces, else members replace members.
export function merge(before, frame) {
    if (frame.full || before === null || before === undefined || Array.isArray(frame.d) || typeof frame.d !== "object") return frame.d
    return { ...before, ...frame.d }
}
