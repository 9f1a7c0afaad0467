// SPDX-License-Identifier: Apache-2.0
// One document edited together: the client side of `seine.v1`. The server orders all updates; this end maps its own
// unconfirmed ones over each accepted update, one at a time, has one push in flight, and survives drops and restarts.
//
// The view is anything with `state`, `apply(transactions)` and `replace(state)`; the editor gives CodeMirror's, tests a
// plain object. `send` returns false when nothing is connected.
import { collab, getClientID, getSyncedVersion, receiveUpdates, sendableUpdates } from "@codemirror/collab"
import { diff } from "@codemirror/merge"
import { ChangeSet, EditorSelection, Text } from "@codemirror/state"

const RESYNC_WITHIN = 60_000
const BLAMED = new Set(["bad_change", "bad_base", "bad_seq"])
const RESYNC = new Set(["bad_change", "bad_base", "bad_seq", "too_old", "epoch_changed"])
const RETRY = new Set(["rate_limited", "unavailable", "too_many"])
const PUSH_GAP = 60 // ms: at most 20 pushes a second are allowed
const KEPT = 500    // accepted updates kept, to map diagnostics of older versions

export function textOf(string) {
    return Text.of(string.split("\n"))
}
// The change set that turns string a into string b; it cuts no character.
export function diffChanges(a, b) {
    const changes = diff(a, b, { scanLimit: 500, timeout: 200 })
    return ChangeSet.of(changes.map(c => ({ from: c.fromA, to: c.toA, insert: textOf(b.slice(c.fromB, c.toB)) })), a.length)
}
// Resync, pure: S is the last text both sides know, `local` what the editor shows, `server` what the server has. Gives the
// one change that brings the local edits onto the server's text.
export function rebase(S, local, server) {
    const c = diffChanges(S, local), r = diffChanges(S, server)
    return { mine: c.map(r, false), theirs: r.map(c, true) }
}

export class DocSession {
    constructor(options) {
        this.options = { now: Date.now, later: (f, ms) => setTimeout(f, ms), ...options }
        this.doc = options.doc
        this.client = options.client
        this.view = null         // set by `made`
        this.epoch = null
        this.version = 0
        this.synced = Text.empty // the server's text at `version`
        this.confirmed = 0       // own updates accepted
        this.inFlight = null     // {n}: updates pushed and not confirmed
        this.connected = false
        this.opened = false
        this.readOnly = false
        this.problem = null      // {code, message} that stops pushing
        this.peers = new Map()
        this.recent = []         // {v, changes}: version before, server's coordinates
        this.limits = { updates: 64, frame: 262_144 }
        this.resyncedAt = -Infinity
        this.blame = null
        this.lastPush = -Infinity
        this.timer = false
        this.cursorSent = ""
        this.cursorAt = -Infinity
        this.cursorTimer = false
        this.batch = 0           // fewer updates per push after too_large
    }

    extension(version) {
        return collab({ startVersion: version, clientID: this.client })
    }

    unconfirmed() {
        return this.view ? sendableUpdates(this.view.state) : []
    }

    changed() {
        this.options.onchange?.(this)
    }

    // The connection stands: open, with what is known.
    up(welcome) {
        this.connected = true
        this.opened = false
        this.inFlight = null
        if (welcome?.limits) this.limits = { ...this.limits, ...welcome.limits }
        if (this.problem && this.problem.code !== "not_found") this.ask(true)
        else this.ask(false)
        this.changed()
    }

    ask(fresh) {
        if (this.stopped) return
        const known = this.epoch !== null && !fresh
        this.options.send(known ? { t: "open", doc: this.doc, v: this.version, epoch: this.epoch } : { t: "open", doc: this.doc })
    }

    down() {
        this.connected = false
        this.opened = false
        this.inFlight = null
        this.peers.clear()
        this.options.onpeers?.(this)
        this.changed()
    }

    frame(m) {
        if (m.t === "opened") this.isOpened(m)
        else if (m.t === "updates") this.updates(m)
        else if (m.t === "peer") this.peer(m)
        else if (m.t === "err") this.refused(m)
        else this.options.onframe?.(m, this)
    }

    isOpened(m) {
        this.readOnly = m.ro
        this.problem = null
        this.peers = new Map((m.peers || []).filter(p => p.client !== this.client).map(p => [p.client, p]))
        if (m.text !== undefined) {
            if (this.view) this.resync(m)
            else this.begin(m)
        } else {
            this.version = m.from ?? this.version
            this.opened = true
            this.accept(m.updates || [])
        }
        this.epoch = m.epoch
        this.opened = true
        this.inFlight = null
        this.options.onopened?.(m, this)
        this.options.onpeers?.(this)
        this.push()
        this.changed()
    }

    begin(m) {
        this.version = m.v
        this.confirmed = m.seq
        this.synced = textOf(m.text)
        this.view = this.options.make(this.synced, this.extension(m.v))
    }

    // The server's text came although a version was known: keeps local text, sends nothing twice.
    resync(m) {
        const pending = this.unconfirmed(), accepted = Math.max(0, Math.min(pending.length, m.seq - this.confirmed))
        let S = this.synced
        for (let i = 0; i < accepted; i++) S = pending[i].changes.apply(S)
        const local = this.view.state.doc.toString(), { mine, theirs } = rebase(S.toString(), local, m.text)
        const server = textOf(m.text)
        let selection = this.view.state.selection
        try {
            selection = selection.map(theirs)
        } catch {
            selection = EditorSelection.single(0)
        }
        this.version = m.v
        this.confirmed = m.seq
        this.synced = server
        this.recent = []
        this.view.replace(server, this.extension(m.v), mine.empty ? null : mine, selection)
        this.options.onresync?.({ changed: local !== m.text, kept: !mine.empty }, this)
    }

    updates(m) {
        if (!this.view || !this.opened) return
        // A catch-up may overlap what was told already.
        const skip = this.version - m.v
        if (skip < 0) return this.ask(false)
        this.accept(m.updates.slice(skip))
        this.push()
        this.changed()
    }

    accept(updates) {
        if (!updates.length) return
        let state = this.view.state
        const transactions = []
        for (const u of updates) {
            const changes = ChangeSet.fromJSON(u.ch)
            this.synced = changes.apply(this.synced)
            this.recent.push({ v: this.version, changes })
            this.version++
            for (const p of this.peers.values()) if (p.sel) p.sel = p.sel.map(r => r.map(x => Math.min(changes.newLength, changes.mapPos(Math.min(x, changes.length), p.client === u.c ? 1 : -1))))
            if (u.c === this.client) {
                this.confirmed++
                if (this.inFlight && --this.inFlight.n <= 0) this.inFlight = null
            }
            const tr = receiveUpdates(state, [{ changes, clientID: u.c }])
            transactions.push(tr)
            state = tr.state
        }
        if (this.recent.length > KEPT) this.recent.splice(0, this.recent.length - KEPT)
        this.view.apply(transactions)
        this.options.onpeers?.(this)
    }

    peer(m) {
        if (m.client === this.client) return
        if (m.ev === "leave") this.peers.delete(m.client)
        else this.peers.set(m.client, { ...this.peers.get(m.client), ...Object.fromEntries(Object.entries(m).filter(([k]) => ["client", "user", "name", "color", "sel"].includes(k))) })
        this.options.onpeers?.(this)
        this.changed()
    }

    refused(m) {
        if (m.re === "push") this.inFlight = null
        if (RESYNC.has(m.code)) return this.begone(m)
        if (m.code === "not_open") return this.ask(false)
        if (RETRY.has(m.code)) {
            if (m.re === "push") this.lastPush = this.options.now() + (m.retry_ms || 500)
            this.pushLater(m.retry_ms || 500)
            if (m.re === "open") this.options.later(() => this.connected && !this.opened && this.ask(this.epoch === null), m.retry_ms || 1000)
        } else if (m.code === "too_large" && m.re === "push" && this.batch !== 1) {
            this.batch = Math.max(1, Math.floor((this.batch || this.limits.updates) / 2))
            this.pushLater(PUSH_GAP)
        } else if (m.code === "read_only") {
            this.readOnly = true
        } else if (["doc_full", "too_large", "not_found", "forbidden"].includes(m.code) && m.re !== "cursor" && m.re !== "preview") {
            this.problem = { code: m.code, message: m.msg }
        }
        this.options.onerror?.(m, this)
        this.changed()
    }

    // A refusal about the document: open it afresh. Blamed twice within a minute, this end stops and keeps its text.
    begone(m) {
        const now = this.options.now()
        if (BLAMED.has(m.code) && this.blame && now - this.resyncedAt < RESYNC_WITHIN) {
            this.stopped = true
            this.problem = { code: m.code, message: "This text and the server's no longer fit. Copy your text, then reload." }
            this.options.onerror?.(m, this)
            return this.changed()
        }
        this.blame = BLAMED.has(m.code) ? m.code : null
        this.resyncedAt = now
        this.opened = false
        this.ask(true)
        this.changed()
    }

    pushLater(ms) {
        if (this.timer) return
        this.timer = true
        this.options.later(() => { this.timer = false; this.push() }, ms)
    }

    push() {
        if (!this.connected || !this.opened || this.inFlight || this.readOnly || this.stopped || this.problem) return
        const all = this.unconfirmed()
        if (!all.length) return this.cursor()
        const wait = this.lastPush + PUSH_GAP - this.options.now()
        if (wait > 0) return this.pushLater(wait)
        const updates = []
        let size = 200
        for (const u of all.slice(0, Math.min(this.batch || 64, this.limits.updates))) {
            const ch = u.changes.toJSON()
            size += new Blob([JSON.stringify(ch)]).size + 1
            if (updates.length && size > this.limits.frame) break
            updates.push(ch)
        }
        if (!this.options.send({ t: "push", doc: this.doc, base: this.version, seq: this.confirmed + 1, updates })) return
        this.lastPush = this.options.now()
        this.inFlight = { n: updates.length }
        this.changed()
    }

    // Where this person is; told only while nothing is unconfirmed, so that its positions are the server's.
    cursor() {
        if (!this.connected || !this.opened || !this.view || this.unconfirmed().length) return
        const sel = this.options.hidden?.() ? null : this.view.state.selection.ranges.slice(0, 16).map(r => [r.anchor, r.head])
        const said = JSON.stringify(sel)
        if (said === this.cursorSent) return
        const wait = this.cursorAt + 110 - this.options.now()
        if (wait > 0) {
            if (!this.cursorTimer) {
                this.cursorTimer = true
                this.options.later(() => { this.cursorTimer = false; this.cursor() }, wait)
            }
            return
        }
        this.cursorAt = this.options.now()
        if (this.options.send({ t: "cursor", doc: this.doc, v: this.version, sel })) this.cursorSent = said
    }

    // A position of server version v, as the editor shows it now; null when that version is no longer known.
    toLocal(position, v, assoc = -1) {
        let p = position
        if (v > this.version || (v < this.version && (!this.recent.length || this.recent[0].v > v))) return null
        for (const r of this.recent) if (r.v >= v) p = r.changes.mapPos(Math.min(p, r.changes.length), assoc)
        for (const u of this.unconfirmed()) p = u.changes.mapPos(Math.min(p, u.changes.length), assoc)
        return Math.min(p, this.view.state.doc.length)
    }

    localPeers() {
        const out = []
        for (const p of this.peers.values()) {
            if (!p.sel) continue
            out.push({ ...p, ranges: p.sel.map(([a, h]) => ({ anchor: this.toLocal(a, this.version), head: this.toLocal(h, this.version) })) })
        }
        return out
    }

    // What the status line says.
    status() {
        const n = this.unconfirmed().length
        if (this.problem) return { word: "problem", n, text: this.problem.message }
        if (!this.connected) return { word: "offline", n, text: n ? `offline, ${n} unsent` : "offline" }
        if (!this.opened) return { word: "opening", n, text: "opening" }
        if (this.readOnly) return { word: "readonly", n, text: "read only" }
        if (n) return { word: "sending", n, text: `sending ${n}` }
        return { word: "saved", n, text: `saved v${this.version}` }
    }
}
export { getClientID, getSyncedVersion }
