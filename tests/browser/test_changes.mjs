#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Our change sets and those of the editor, case by case: mapping, applying and moving places have the same shape, composed
// sets included. CHANGES_CASES says how many.
import { spawn } from "node:child_process"
import { createRequire } from "node:module"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { sources } from "./console.mjs"

const build = process.argv[2], require = createRequire(join(sources(build), "package.json"))
const { ChangeSet, Text } = require("@codemirror/state")
const CASES = Number(process.env.CHANGES_CASES || 100_000), SEED = Number(process.env.CHECK_SEED || 1)

let state = SEED >>> 0 || 1
const rand = n => { state = Math.imul(state ^ state >>> 15, 0x2c1b3c6d) + 0x9e3779b9 >>> 0; return ((state ^ state >>> 13) >>> 0) % n }
const PARTS = ["a", "b", "xyz", "\n", "é", "漢字", "😀", " ", "\n\n", "𝒳y"]
const words = n => Array.from({ length: rand(n + 1) }, () => PARTS[rand(PARTS.length)]).join("")
const border = (s, at) => at > 0 && at < s.length && s.charCodeAt(at) >= 0xdc00 && s.charCodeAt(at) < 0xe000 ? at - 1 : at
const textOf = s => Text.of(s.split("\n"))

// One set of random replacements that cut no character.
function changes(s) {
    const specs = []
    let at = 0
    for (let n = 1 + rand(4); n > 0; n--) {
        const from = border(s, at + rand(s.length - at + 1)), to = border(s, Math.min(s.length, from + (rand(2) ? rand(5) : 0)))
        const insert = to > from && rand(2) ? "" : words(2)
        if (to < from || (to === from && !insert)) continue
        specs.push({ from, to, insert: textOf(insert) })
        at = to
        if (at >= s.length) break
    }
    return ChangeSet.of(specs, s.length)
}
// Two sets put together: shapes that no single edit has.
const composed = s => { const a = changes(s); return rand(3) ? a : a.compose(changes(a.apply(textOf(s)).toString())) }

const child = spawn(build + "/changes-lines", { stdio: ["pipe", "pipe", "inherit"] })
const wanted = []
let done = 0, failed = 0
const lines = createInterface({ input: child.stdout })
lines.on("line", line => {
    const want = wanted[done]
    if (JSON.stringify(JSON.parse(line)) !== want.answer && failed++ < 5) console.log(`not ok case ${done} of seed ${SEED}\n  asked ${want.asked}\n  got   ${line}\n  want  ${want.answer}`)
    wanted[done++] = null
})
for (let i = 0; i < CASES; i++) {
    const s = words(12), a = composed(s), b = composed(s), before = rand(2) === 1, at = [rand(s.length + 1), s.length]
    const asked = JSON.stringify({ a: a.toJSON(), b: b.toJSON(), before, text: s, at })
    wanted.push({ asked, answer: JSON.stringify({ map: a.map(b.desc, before).toJSON(), text: a.apply(textOf(s)).toString(), moved: at.map(p => [a.mapPos(p, -1), a.mapPos(p, 1)]) }) })
    if (!child.stdin.write(asked + "\n")) await new Promise(next => child.stdin.once("drain", next))
}
child.stdin.end()
await new Promise(next => lines.once("close", next))
if (done !== CASES) failed++
console.log(`${done} cases of change sets\n${failed ? 0 : 1} passed, ${failed ? 1 : 0} failed`)
process.exit(failed ? 1 : 0)
