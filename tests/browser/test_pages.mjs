#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Every page in both themes and both widths: no error, no violation of the policy, no request to another host, nothing
// serious found by axe, nothing wider than the screen. Then the states: empty, failed, forbidden, lost connection.
import { readFileSync } from "node:fs"
import { AXE, check, chromium, mock, run, until } from "./console.mjs"

const build = process.argv[2], server = await mock(build), axe = readFileSync(AXE(), "utf8")
const id = server.world.runs[0].id, ended = server.world.runs[3].id, doc = [...server.world.docs.keys()][0]
const PAGES = {
    signin: ["#/signin", "#signin-title"], runs: ["#/runs", "table tbody tr"], "new run": ["#/runs?new=1", "dialog[open] form"], run: [`#/runs/${id}`, ".u-over"], "ended run": [`#/runs/${ended}?tab=errors`, ".u-over"],
    skipped: [`#/runs/${id}?tab=skipped`, "#panel-skipped table"], log: [`#/runs/${id}?tab=log`, ".log p"], explain: [`#/runs/${id}?tab=explain&url=https://e.org/`, ".story"], records: [`#/runs/${id}/records`, ".window tbody tr"],
    recipes: ["#/recipes", "table tbody tr"], editor: [`#/recipes/${doc}`, ".cm-content"], history: [`#/recipes/${doc}?tab=history`, ".editor-head h1 bdi"], system: ["#/system", "#panel-health table"],
    metrics: ["#/system?tab=metrics", ".metrics details"], limits: ["#/system?tab=limits", ".facts"], tokens: ["#/system?tab=tokens", "#panel-tokens table"], audit: ["#/system?tab=audit", "#panel-audit table"],
}
// A theme is colours: the page is the same, and what axe finds in its structure it finds in the light.
const RULES = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }
const COLOURS = { type: "rule", values: ["color-contrast", "link-in-text-block"] }
const b = await chromium()

async function look(theme, width) {
    const page = await b.page({ url: server.url, theme, width }), found = []
    await page.goto(server.url + "/#token=sn_admin")
    await page.waitForSelector("table tbody tr")
    check(new URL(page.url()).hash, "#/runs", "the token leaves the address bar")
    await page.evaluate(axe)
    for (const [name, [hash, ready]] of Object.entries(PAGES)) {
        await page.evaluate(h => { location.hash = h }, hash)
        await page.waitForSelector(ready)
        const got = await page.evaluate(async runOnly => {
            const r = await globalThis.axe.run(document, { resultTypes: ["violations"], runOnly })
            return { wide: document.documentElement.scrollWidth - innerWidth, found: r.violations.filter(v => ["serious", "critical"].includes(v.impact)).map(v => `${v.id}: ${v.nodes.slice(0, 3).map(n => n.target.join(" ") + " " + (n.any[0]?.message || "")).join(" | ")}`) }
        }, theme === "light" ? RULES : COLOURS)
        if (got.wide > 0) found.push(`${name}: ${got.wide} px too wide`)
        for (const f of got.found) found.push(name + ": " + f)
    }
    found.push(...page.troubles)
    await page.done()
    check(found, [], `${theme} ${width}`)
}

async function state(options, role, hash, ready, expected) {
    const s = options ? await mock(build, options) : server, page = await b.page({ url: s.url })
    page.expected = expected
    await page.goto(s.url + "/#token=sn_" + role)
    await page.waitForSelector("main")
    await page.evaluate(h => { location.hash = h }, hash)
    await page.waitForSelector(ready)
    return { page, s, end: async () => { check(page.troubles, []); await page.done(); if (options) await s.close() } }
}

await run({
    "light and dark on a desk": () => Promise.all([look("light", 1280), look("dark", 1280)]),
    "light and dark on a telephone": () => Promise.all([look("light", 360), look("dark", 360)]),
    "an empty console says what to do next": async () => {
        const { page, end } = await state({ empty: true }, "admin", "#/runs", "text=No runs yet. Start one from a recipe.")
        await page.evaluate(() => { location.hash = "#/recipes" })
        await page.waitForSelector(".starter")
        check(await page.locator(".starter").count(), 3)
        await end()
    },
    "a failure names its code and request and can be tried again": async () => {
        const { page, end } = await state({ fail: /^\/api\/docs/ }, "admin", "#/recipes", ".failure", /503/)
        const text = await page.innerText(".failure")
        for (const part of ["the store does not answer", "unavailable", "01KRQ", "Try again"]) check(text.includes(part), true, part)
        await end()
    },
    "a viewer sees actions it may not use as such, and which role is needed": async () => {
        const { page, end } = await state(null, "viewer", "#/runs", "table tbody tr")
        const button = page.locator("button:has-text('New run')")
        check(await button.isDisabled(), true)
        check(await button.getAttribute("title"), "This needs the role editor")
        await page.evaluate(h => { location.hash = h }, `#/recipes/${doc}`)
        await page.waitForSelector("[data-status=readonly]")
        check(await page.getAttribute(".cm-content", "contenteditable"), "false")
        await end()
    },
    "a wrong token is refused with a reason and no page": async () => {
        const page = await b.page({ url: server.url })
        page.expected = /401/
        await page.goto(server.url + "/#token=sn_wrong")
        await page.waitForSelector(".hint.bad")
        check((await page.innerText(".hint.bad")).includes("not known"), true)
        check(await page.locator("nav").count(), 0)
        check(page.troubles, [])
        await page.done()
    },
    "a link that works once signs in, and a second time says why not": async () => {
        const page = await b.page({ url: server.url })
        page.expected = /401|404/
        await page.goto(server.url + "/#once=right")
        await page.waitForSelector("nav")
        check(await page.evaluate(() => location.hash), "#/runs")
        check(page.troubles, [])
        await page.done()
        const other = await b.page({ url: server.url })
        other.expected = /401|404/
        await other.goto(server.url + "/#once=used")
        await other.waitForSelector(".hint.bad")
        check((await other.innerText(".hint.bad")).includes("used already"), true)
        check(await other.locator("nav").count(), 0)
        check(other.troubles, [])
        await other.done()
    },
    "a lost connection leaves the page readable and says how old it is": async () => {
        const s = await mock(build, {}), page = await b.page({ url: s.url })
        page.expected = /WebSocket|ERR_CONNECTION|Failed to load/
        await page.goto(s.url + "/#token=sn_admin")
        await page.waitForSelector("table tbody tr")
        await s.close()
        await page.waitForSelector("text=Showing data of")
        check(await page.locator("table tbody tr").count(), 8)
        await until("the pill", async () => /reconnecting|offline/.test(await page.innerText(".pill")))
        check(page.troubles, [])
        await page.done()
    },
    "content of the web is text and nothing else": async () => {
        const { page, end, s } = await state({ hostile: true }, "admin", "#/runs", "table tbody tr")
        const [r] = s.world.runs, d = [...s.world.docs.keys()][0]
        for (const [hash, ready] of [["#/runs", "table tbody tr"], [`#/runs/${r.id}`, "#panel-hosts table"], [`#/runs/${r.id}?tab=errors`, "#panel-errors table"], [`#/runs/${r.id}?tab=skipped`, "#panel-skipped table"], [`#/runs/${r.id}?tab=log`, ".log p"], [`#/runs/${r.id}?tab=explain&url=x`, ".story"], [`#/runs/${r.id}/records`, ".window tbody tr"], ["#/recipes", "table"], [`#/recipes/${d}`, ".cm-content"], ["#/system", "#panel-health table"], ["#/system?tab=tokens", "#panel-tokens table"], ["#/system?tab=audit", "#panel-audit table"]]) {
            await page.evaluate(h => { location.hash = h }, hash)
            await page.waitForSelector(ready)
            const got = await page.evaluate(() => ({ title: document.title, images: document.querySelectorAll("img, iframe, object, #app script").length, odd: /[\u202a-\u202e\u2066-\u2069\u0007]/.test(document.body.innerText), bad: [...document.querySelectorAll("a[href]")].filter(a => !["http:", "https:"].includes(a.protocol)).length, shown: document.body.innerText.includes("<img src=x") }))
            check(got, { title: got.title.endsWith("· seine") ? got.title : "a title of ours", images: 0, odd: false, bad: 0, shown: true }, hash)
        }
        await page.evaluate(h => { location.hash = h }, `#/recipes/${d}`)
        await page.waitForSelector(".cm-content")
        await page.fill("input[type=url]", "https://books.example/list")
        await page.click("text=Fetch page")
        await page.waitForSelector("#panel-preview table")
        await page.click("[data-tab=source]")
        await page.waitForSelector("pre.source .tag")
        check(await page.evaluate(() => document.querySelectorAll("img, #app script").length), 0)
        await end()
    },
})
await b.end()
await server.close()
