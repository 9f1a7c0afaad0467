// SPDX-License-Identifier: Apache-2.0
// What the browser tests share: Chromium, pages that tell every error they meet, cases and their count.
//
//     const b = await chromium(); const page = await b.page({ theme: "dark", width: 360 }); …; await b.end()
//     await run({ "a fact": async () => {} })          prints "N passed, N failed"
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs"
import { execFileSync } from "node:child_process"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..")
export const NPM = join(ROOT, "build", "npm")
export const PATIENCE = Number(process.env.PATIENCE || 240_000)
const require = createRequire(join(NPM, "package.json"))
export const AXE = () => require.resolve("axe-core/axe.min.js")

const ARGS = ["--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"]
export async function chromium() {
    const { chromium: driver } = require("playwright-core")
    const executablePath = process.env.SEINE_CHROMIUM || execFileSync("sh", ["-c", "command -v chromium"], { encoding: "utf8" }).trim()
    const browser = await driver.launch({ executablePath, headless: true, args: [...ARGS, ...(process.getuid() === 0 ? ["--no-sandbox"] : [])] })
    return {
        browser,
        end: () => browser.close(),
        async page({ url, theme = "light", width = 1280, height = width < 600 ? 740 : 800, offline = false } = {}) {
            const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce", acceptDownloads: true })
            await context.grantPermissions(["clipboard-read", "clipboard-write"])
            const page = await context.newPage(), troubles = []
            page.setDefaultTimeout(PATIENCE)
            page.troubles = troubles
            page.expectOffline = offline
            page.on("console", m => { if (m.type() === "error" && !(page.expected && page.expected.test(m.text()))) troubles.push("console: " + m.text()) })
            page.on("response", async r => { if (r.status() >= 500 && !(page.expected && page.expected.test("status of " + r.status()))) troubles.push(`${r.request().method()} ${r.url()}: ${r.status()} ` + await r.text().catch(() => "")) })
            page.on("pageerror", e => troubles.push("error: " + e.message))
            page.on("request", r => { if (url && !r.url().startsWith(url) && !r.url().startsWith("data:") && !r.url().startsWith("blob:")) troubles.push("request: " + r.url()) })
            await page.addInitScript(() => { document.addEventListener("securitypolicyviolation", e => console.error("CSP " + e.violatedDirective + " " + e.blockedURI)) })
            page.done = () => context.close()
            return page
        },
    }
}

export function check(got, want, what = "") {
    const a = JSON.stringify(got), b = JSON.stringify(want)
    if (a !== b) throw new Error(`${what ? what + ": " : ""}got ${a}, want ${b}`)
}
export async function until(what, f, ms = PATIENCE) {
    const end = Date.now() + ms
    for (;;) {
        const value = await f()
        if (value) return value
        if (Date.now() > end) throw new Error("waited in vain: " + what)
        await new Promise(done => setTimeout(done, 50))
    }
}
export async function run(cases) {
    let passed = 0, failed = 0
    const only = process.env.CASE
    for (const [name, f] of Object.entries(cases)) {
        if (only && !name.includes(only)) continue
        try {
            await f()
            passed++
        } catch (e) {
            failed++
            console.log(`FAIL ${name}\n     ${String(e.stack || e).replaceAll("\n", "\n     ")}`)
        }
    }
    console.log(`${passed} passed, ${failed} failed`)
    process.exitCode = failed || !passed ? 1 : 0
}
// The built pages: the build directory is the first argument of a test.
export function distOf(build) {
    const dist = join(build, "made", "pages")
    if (existsSync(join(dist, "index.html"))) return dist
    throw new Error("the pages are not built: cmake builds them where Node and npm are installed")
}
// A copy of web/ beside the packages of npm that the build installed; gone when the test ends.
export function sources(build) {
    const near = [join(ROOT, "build", "web"), join(build, "web")].find(d => existsSync(join(d, "node_modules")))
    if (!near) throw new Error("the packages of web/ are not installed: the build does that")
    const dir = mkdtempSync(join(near, "test-"))
    for (const part of ["src", "test", "package.json"]) cpSync(join(ROOT, "web", part), join(dir, part), { recursive: true })
    process.on("exit", () => rmSync(dir, { recursive: true, force: true }))
    return dir
}
export async function mock(build, options = {}) {
    const { startMock } = await import(pathToFileURL(join(sources(build), "test", "mock_server.mjs")).href)
    return startMock({ dist: distOf(build), npm: NPM, options })
}
