#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Three browsers type 500 keys each into one recipe at the same time; one goes offline while typing, all lose their
// connection, one takes its own typing back. They end with the same text, and nothing is lost or doubled.
import { check, chromium, run, until } from "./console.mjs"
import { startConsole } from "./serve.mjs"

const build = process.argv[2], server = await startConsole(build), b = await chromium(), KEYS = 500
const count = (text, mark) => text.split(mark).length - 1
const expected = /WebSocket|ERR_INTERNET|ERR_NETWORK|Failed to load/
const status = page => page.getAttribute(".doc-status", "data-status")
// What the editor holds, all of it: lines out of sight are not in the page.
async function text(page) {
    const id = await page.evaluate(() => location.hash.slice(10, 36))
    check(id.length, 26)
    return page.evaluate(() => document.querySelector(".cm-content").cmTile?.view?.state.doc.toString() ?? document.querySelector(".cm-content").cmView.view.state.doc.toString())
}

await run({
    "three people converge, and undo takes back one's own typing alone": async () => {
        const doc = await server.make("together", "0123456789\n9876543210\n")
        const pages = await Promise.all([1, 2, 3].map(() => b.page({ url: server.url })))
        for (const p of pages) {
            p.expected = expected
            await p.goto(server.url + "/#token=" + server.token)
            await p.waitForSelector(".pill.ok")
            await p.evaluate(h => { location.hash = h }, "#/recipes/" + doc)
            await p.waitForSelector("[data-status=saved]")
            await p.focus(".cm-content")
        }
        const type = async (p, mark, home) => {
            for (let done = 0; done < KEYS; done += 50) {
                await p.keyboard.press(["Control+Home", "Control+End", "Home", "End"][(done / 50 + home) % 4])
                await p.keyboard.type(mark.repeat(50))
                if (mark === "B" && done === 150) await p.context().setOffline(true)
                if (mark === "B" && done === 300) {
                    check(await status(p), "offline")
                    await p.context().setOffline(false)
                }
                if (done === 250 && mark !== "B") {
                    await p.context().setOffline(true)
                    await p.context().setOffline(false)
                }
            }
        }
        await Promise.all([type(pages[0], "A", 0), type(pages[1], "B", 1), type(pages[2], "C", 2)])
        const rest = async () => {
            for (const p of pages) await until("saved", async () => (await status(p)) === "saved")
            await until("one text", async () => { const t = await Promise.all(pages.map(text)); return t[0] === t[1] && t[1] === t[2] })
            return text(pages[0])
        }
        let all = await rest()
        check([count(all, "A"), count(all, "B"), count(all, "C")], [KEYS, KEYS, KEYS])
        check(all.replace(/[ABC]/g, ""), "0123456789\n9876543210\n")
        for (let i = 0; i < 300 && count(await text(pages[2]), "C"); i++) await pages[2].keyboard.press("Control+z")
        all = await rest()
        check([count(all, "A"), count(all, "B"), count(all, "C")], [KEYS, KEYS, 0], "after undo")
        check(await server.text(doc), all, "the server's text")
        await until("two others are shown", async () => (await pages[0].locator(".person").count()) === 2)
        for (const p of pages) {
            check(p.troubles, [])
            await p.done()
        }
    },
})
await b.end()
await server.end()
