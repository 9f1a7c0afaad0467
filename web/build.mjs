// SPDX-License-Identifier: Apache-2.0
// Bundles web/src into OUT (default: dist beside this file): files with hashed names, packed with gzip -9, index.html
// with the place of the nonce, favicon.svg, and manifest.json. Two builds of one source are equal byte for byte.
//
//     node build.mjs [OUT]
//
// manifest.json: {"version":1, "entry", "style", "icon", "index", "nonce":"{{NONCE}}",
//                 "files":[{"name","path","type","bytes","gzip","sha256"}], "licences":[{"name","version","licence"}]}
// `name` is what /assets/ serves, `path` the packed file in OUT, `bytes` its size unpacked, `sha256` that of the unpacked
// bytes. index.html is not packed: the server puts a fresh nonce in the place of {{NONCE}} in every answer.
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import * as esbuild from "esbuild"

const here = dirname(fileURLToPath(import.meta.url))
const out = resolve(process.argv[2] || join(here, "dist"))
const TYPES = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", svg: "image/svg+xml" }
// Bytes, unpacked and packed. The first load is what index.html names and what that imports without being asked.
const BUDGETS = { first: [120_000, 45_000], editor: [480_000, 160_000], all: [Infinity, 260_000] }

const result = await esbuild.build({
    absWorkingDir: here, entryPoints: { main: "src/main.jsx" }, bundle: true, splitting: true, format: "esm", target: "es2022", minify: true,
    jsx: "automatic", jsxImportSource: "preact", entryNames: "[name]-[hash]", chunkNames: "[name]-[hash]", assetNames: "[name]-[hash]",
    outdir: "/out", write: false, metafile: true, legalComments: "none", charset: "utf8", logLevel: "warning",
    preserveSymlinks: true, // names carry a hash of paths: they are those below this directory, wherever node_modules lies
    define: { "process.env.NODE_ENV": '"production"' },
})

const sha256 = bytes => createHash("sha256").update(bytes).digest("hex")
function pack(bytes) {
    const packed = gzipSync(bytes, { level: 9 })
    packed.writeUInt32LE(0, 4) // no time
    packed[9] = 255            // no operating system
    return packed
}

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const files = new Map()
function add(name, bytes) {
    const packed = pack(bytes)
    writeFileSync(join(out, name + ".gz"), packed)
    files.set(name, { name, path: name + ".gz", type: TYPES[name.split(".").pop()], bytes: bytes.length, gzip: packed.length, sha256: sha256(bytes) })
}
const base = path => path.split("/").pop()
for (const file of result.outputFiles.sort((a, b) => (a.path < b.path ? -1 : 1))) add(base(file.path), Buffer.from(file.contents))
add("favicon.svg", readFileSync(join(here, "src", "favicon.svg")))

const outputs = Object.entries(result.metafile.outputs).map(([path, o]) => ({ ...o, name: base(path) }))
const entry = outputs.find(o => o.entryPoint === "src/main.jsx")
const style = entry.cssBundle && base(entry.cssBundle)
// All that a file imports without being asked, itself included.
function closure(name, seen = new Set()) {
    if (seen.has(name)) return seen
    seen.add(name)
    for (const i of outputs.find(o => o.name === name).imports) if (i.kind === "import-statement") closure(base(i.path), seen)
    return seen
}
const first = closure(entry.name)
const dynamic = point => {
    const found = outputs.find(o => o.entryPoint === point)
    return found ? [...closure(found.name)].filter(n => !first.has(n)) : []
}
const editor = dynamic("src/editor.js")
const sums = {
    first: [...first, style].filter(Boolean), editor, all: [...files.keys()],
}
let over = 0
for (const [what, names] of Object.entries(sums)) {
    const bytes = names.reduce((n, f) => n + files.get(f).bytes, 0), gzip = names.reduce((n, f) => n + files.get(f).gzip, 0)
    const [max, maxGzip] = BUDGETS[what], bad = bytes > max || gzip > maxGzip
    over += bad
    console.log(`${what.padEnd(6)} ${String(bytes).padStart(7)} bytes ${String(gzip).padStart(7)} gzip of ${maxGzip}${bad ? "  OVER ITS BUDGET" : ""}`)
}

const preload = [...first].filter(n => n !== entry.name).sort()
const index = readFileSync(join(here, "src", "index.html"), "utf8")
    .replace("%STYLE%", "/assets/" + style).replace("%ENTRY%", "/assets/" + entry.name)
    .replace("%PRELOAD%", preload.map(n => `<link rel="modulepreload" href="/assets/${n}">`).join("\n"))
writeFileSync(join(out, "index.html"), index)

const lock = JSON.parse(readFileSync(join(here, "package-lock.json"), "utf8"))
const bundled = new Set(Object.keys(result.metafile.inputs).filter(p => p.includes("node_modules/"))
    .map(p => p.slice(p.lastIndexOf("node_modules/") + 13).split("/")).map(p => (p[0][0] === "@" ? p[0] + "/" + p[1] : p[0])))
const licences = [...bundled].sort().map(name => ({ name, version: lock.packages["node_modules/" + name].version, licence: lock.packages["node_modules/" + name].license }))
const manifest = {
    version: 1, entry: entry.name, style, icon: "favicon.svg", index: "index.html", nonce: "{{NONCE}}",
    files: [...files.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), licences,
}
writeFileSync(join(out, "manifest.json"), JSON.stringify(manifest, null, 1) + "\n")
process.exitCode = over ? 1 : 0
