#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The pages on a real `seine serve`: what the server says is what they show.
import { readFileSync } from "node:fs"
import { check, chromium, run, until } from "./console.mjs"
import { startConsole, startShop } from "./serve.mjs"

const build = process.argv[2], server = await startConsole(build), shop = await startShop(6), b = await chromium()
const page = await b.page({ url: server.url }), keys = page.keyboard
const seen = selector => page.waitForSelector(selector)
const go = hash => page.evaluate(h => { location.hash = h }, hash)
const saved = () => until("saved", async () => (await page.getAttribute(".doc-status", "data-status")) === "saved")
const value = () => page.evaluate(() => { const c = document.querySelector(".cm-content"); return (c.cmTile ?? c.cmView).view.state.doc.toString() })

await run({
    "the link signs in and leaves no token behind": async () => {
        await page.goto(server.url + "/#token=" + server.token)
        await seen(".pill.ok")
        check(page.url().includes("token"), false)
    },
    "a starter recipe opens in the editor and is valid": async () => {
        await go("#/recipes")
        await page.click(".starter >> nth=0")
        await page.click("dialog[open] .primary")
        await seen("[data-status=saved]")
        check((await value()).startsWith("seine: 1\nname: list\n"), true)
        await page.click("[data-tab=problems]")
        await seen("text=No problems")
    },
    "the parser's own words stand at the mistake": async () => {
        await page.click(".cm-content")
        await keys.press("Control+End")
        await keys.type("filds: 1")
        await seen(".problems :text(\"unknown key 'filds'\")")
        await seen(".cm-lintRange-error")
        for (let i = 0; i < 8; i++) await keys.press("Backspace")
        await seen("text=No problems")
        await saved()
    },
    "keys of the recipe are proposed": async () => {
        await keys.press("Control+End")
        await keys.type("ab")
        await seen(".cm-tooltip-autocomplete")
        check((await page.innerText(".cm-tooltip-autocomplete")).includes("about"), true)
        await keys.press("Escape")
        await keys.press("Backspace")
        await keys.press("Backspace")
        await saved()
    },
    "a label is in the history, and an older text comes back": async () => {
        const before = await value()
        await page.click("button:has-text('Label')")
        await page.fill("dialog[open] input", "as it was")
        await keys.press("Enter")
        await page.waitForSelector("dialog[open]", { state: "detached" })
        await page.click(".cm-content")
        await keys.press("Control+End")
        await keys.type("# a word")
        await saved()
        await page.click("[data-tab=history]")
        await seen("text=as it was")
        const row = page.locator(".versions li", { hasText: "as it was" })
        await row.locator("button:has-text('To now')").click()
        await seen(".diff .cm-editor")
        await row.locator("[aria-label^='Restore']").click()
        await until("the older text", async () => (await value()) === before)
    },
    "the preview shows rows of a stored page, and the selector that finds none": async () => {
        const made = await (await server.ask("POST", "/api/docs", { title: "shop", kind: "recipe", text: shop.recipe })).json()
        await go("#/recipes/" + made.id)
        await seen("[data-status=saved]")
        await page.click("text=Fetch page")
        await seen("#panel-preview tbody tr")
        check(await page.locator("#panel-preview tbody tr").count(), 10)
        const row = await page.innerText("#panel-preview tbody tr >> nth=0")
        check(row.includes("Book 10") && row.includes("1.50 EUR"), true, row)
        await seen(".cm-lintRange-warning")
        await page.click("[data-tab=source]")
        await page.click("pre.source .tag.row >> nth=0")
        await seen(".idea:has-text('li.book')")
    },
    "a run is started, watched to its end, and its records are there": async () => {
        await go("#/recipes")
        await page.click("[aria-label='Run shop']")
        await page.fill("dialog[open] input[placeholder=polite]", "50")
        await page.click("dialog[open] .primary")
        await seen(".run-head")
        await seen(".u-over")
        await until("the end", async () => (await page.innerText(".run-state")).includes("finished"))
        check((await page.innerText(".verdict")).startsWith("6 of 6 URLs"), true)
        await page.click("[data-tab=records]")
        await seen(".window tbody tr:has-text('Book 10')")
        const saved = page.waitForEvent("download")
        await page.click("button:has-text('Export')")
        await page.click(".choice >> nth=0")
        const text = readFileSync(await (await saved).path(), "utf8")
        check(text.trimEnd().split("\n").filter(l => JSON.parse(l).item?.title).length, 60)
        await page.click("[data-tab=explain]")
        await page.fill("#panel-explain input", shop.url + "/list")
        await keys.press("Enter")
        await seen(".story:has-text('fetched')")
        await go("#/runs")
        await seen("tr:has-text('shop') .state:has-text('finished')")
    },
    "the title changes for everybody": async () => {
        await go("#/recipes")
        await page.click("tr:has-text('A list of things')")
        await seen("[data-status=saved]")
        await page.click("[aria-label='Change the title']")
        await page.fill(".title-input", "books of the sea")
        await keys.press("Enter")
        await seen("h1:has-text('books of the sea')")
        await go("#/recipes")
        await seen("tr:has-text('books of the sea')")
    },
    "a viewer's token is made, shown once, and may only read": async () => {
        await go("#/system?tab=tokens")
        await page.click("button:has-text('New token')")
        await page.fill("dialog[open] input", "kitchen")
        await keys.press("Enter")
        const token = (await page.innerText(".secret")).trim()
        check(/^sn_[A-Za-z0-9_-]{43}$/.test(token), true, token)
        await page.click("dialog[open] footer .primary")
        await seen("tr:has-text('kitchen')")
        const other = await b.page({ url: server.url })
        other.expected = /401|WebSocket/
        await other.goto(server.url + "/#token=" + token)
        await other.waitForSelector(".pill.ok")
        await other.evaluate(() => { location.hash = "#/recipes" })
        await other.click("tr:has-text('books of the sea')")
        await other.waitForSelector("[data-status=readonly]")
        await page.click("[aria-label='Revoke kitchen']")
        await page.click("dialog[open] .danger")
        await other.waitForSelector("#signin-title")
        check(other.troubles, [])
        await other.done()
        await go("#/system?tab=audit")
        await seen("#panel-audit tbody tr")
        check((await page.innerText("#panel-audit")).includes(token), false)
    },
    "the system page has build, limits and a log": async () => {
        await go("#/system?tab=limits")
        await seen("dd:has-text('262')")
        await go("#/system?tab=metrics")
        await seen(".metrics details")
        await go("#/system")
        await seen("#panel-health tr:has-text('database') .state:has-text('healthy')")
    },
    "no page said an error on the way": async () => check(page.troubles, []),
})
await b.end()
shop.end()
await server.end()
