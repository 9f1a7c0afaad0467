#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The unit tests of web/src, run by node --test where its packages are.
import { spawnSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { sources } from "./console.mjs"

const dir = sources(process.argv[2])
const files = readdirSync(join(dir, "test")).filter(f => f.endsWith(".test.mjs")).map(f => join(dir, "test", f))
const r = spawnSync(process.execPath, ["--test", "--test-reporter=tap", ...files], { encoding: "utf8", timeout: 240_000 })
const number = what => Number(new RegExp(`^# ${what} (\\d+)`, "m").exec(r.stdout)?.[1] ?? 0)
const passed = number("pass"), failed = number("tests") - passed
if (r.status !== 0 || failed) console.log(r.stdout, r.stderr)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = r.status === 0 && passed > 0 && failed === 0 ? 0 : 1
