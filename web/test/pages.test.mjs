// SPDX-License-Identifier: Apache-2.0
// The pure parts of pages: routes, completion, source, series, metrics.
import assert from "node:assert/strict"
import { test } from "node:test"
import { fits, pathAt, suggest } from "../src/completion.js"
import { matches, parseMarkup, parseSelector, selectorsIn, suggestSelectors } from "../src/markup.js"
import { parseMetrics } from "../src/metrics.js"
import { parse } from "../src/router.js"
import { columns, Rings, stacked } from "../src/series.js"

const ID = "01KAH3AHRZ6DMV29GQH00004W8"
test("hashes name pages", () => {
    for (const [hash, page] of [["", "runs"], ["#/runs", "runs"], [`#/runs/${ID}`, "run"], [`#/runs/${ID}/records`, "records"], ["#/recipes", "recipes"], [`#/recipes/${ID}`, "editor"], ["#/system", "system"], ["#/signin", "signin"], ["#/runs/short", "missing"], ["#/other", "missing"], [`#/runs/${ID}/x`, "missing"]]) assert.equal(parse(hash).page, page, hash)
    assert.equal(parse(`#/runs/${ID}?tab=log&q=a%20b`).tab, "log")
    assert.equal(parse(`#/runs/${ID}?tab=log&q=a%20b`).query.q, "a b")
})

const schema = { keys: [{ path: "name", type: "string" }, { path: "items", type: "map" }, { path: "items.each", type: "selector" }, { path: "items.fields", type: "map" }, { path: "items.on-error", type: "enum", values: ["report", "drop"] }, { path: "items.fields.*.css", type: "selector" }, { path: "items.fields.*.type", type: "enum", values: ["int", "url"] }, { path: "items.fields.*.required", type: "bool" }] }
const labels = text => { const lines = text.split("\n"); return suggest(schema, lines, lines.length - 1, lines.at(-1)).map(o => o.label) }
test("completion knows where in the recipe it is", () => {
    assert.deepEqual(pathAt(["items:", "  fields:", "    title:", "      "], 3), ["items", "fields", "title"])
    assert.deepEqual(pathAt(["items:", "  - kind: a", "    "], 2), ["items"])
    assert.ok(fits("items.on_error", ["items", "on-error"]))
    assert.deepEqual(labels("n"), ["name", "items"])
    assert.deepEqual(labels("items:\n  e"), ["each", "fields", "on-error"])
    assert.deepEqual(labels("items:\n  on-error: d"), ["report", "drop"])
    assert.deepEqual(labels("items:\n  fields:\n    title: {css: a, t"), ["css", "type", "required"])
    assert.deepEqual(labels("items:\n  fields:\n    title: {css: a, type: u"), ["int", "url"])
    assert.deepEqual(labels("items:\n  fields:\n    title:\n      required: t"), ["true", "false"])
    assert.deepEqual(labels("items:\n  fields:\n    t"), [])
})

const HTML = '<!doctype html><body><ul id="list"><li class="book odd"><a href="/1">x</a><li class="book"><a href=/2 rel=next>y</a></ul><script>"<li class=book>"</script><img src=x><p>a<p>b</body>'
test("source is read into nodes without acting on it", () => {
    const nodes = parseMarkup(HTML)
    assert.deepEqual(nodes.map(n => n.name), ["body", "ul", "li", "a", "li", "a", "script", "img", "p", "p"])
    assert.equal(nodes[4].parent.name, "ul") // an li ends the li before it
    assert.equal(nodes[9].parent.name, "body")
    assert.equal(HTML.slice(nodes[3].from, nodes[3].to), '<a href="/1">')
    assert.equal(nodes[5].attrs.rel, "next")
})
test("reading source is linear, whatever it holds", () => {
    for (const piece of ["<a ", "<!--", "<li>", "<a b=\"", "</", "<script>", "<p class='x' "]) {
        const begin = Date.now()
        parseMarkup(piece.repeat(60_000))
        assert.ok(Date.now() - begin < 5000, piece)
    }
})
test("selectors fit nodes, and a node gets selectors that name it", () => {
    const nodes = parseMarkup(HTML)
    assert.equal(matches("li.book a", nodes).length, 2)
    assert.equal(matches("ul > a", nodes).length, 0)
    assert.equal(matches("#list > li > a[rel=next], p", nodes).length, 3)
    assert.equal(parseSelector("a:hover"), null)
    const ideas = suggestSelectors(nodes[5], nodes)
    assert.ok(ideas.some(i => i.selector === "a[rel=next]" && i.count === 1), JSON.stringify(ideas))
    assert.deepEqual(suggestSelectors(nodes[2], nodes)[0], { selector: "li.book", count: 2 })
    for (const i of ideas) assert.equal(matches(i.selector, nodes).length, i.count)
})
test("selectors of a recipe are found in its text", () => {
    assert.deepEqual(selectorsIn('items:\n  each: li.book\n  fields:\n    a: {css: "h2 a", attr: href}\n    b: {css: .price}\n'), [{ kind: "row", selector: "li.book" }, { kind: "field", selector: "h2 a" }, { kind: "field", selector: ".price" }])
})

test("a missed stretch is a hole in the line", () => {
    const at = n => ({ at: n * 1000, rps: n })
    const [x, y] = columns([at(1), at(2), at(3), at(9), at(10)], [p => p.rps])
    assert.deepEqual(y, [1, 2, 3, null, 9, 10])
    assert.equal(x.length, 6)
    assert.deepEqual(stacked([[1, 2], [1, null], [2, 3]]), [[1, 2], [1, null], [3, 3]])
})
test("rings keep 600 seconds and 1,440 minutes, in order", () => {
    const r = new Rings()
    for (let i = 0; i < 2000; i++) r.add({ at: i * 1000, rps: 1 })
    r.add({ at: 5, rps: 9 })
    assert.equal(r.seconds.length, 600)
    assert.equal(r.seconds[0].at, 1_400_000)
    assert.equal(r.minutes.length, 34)
    assert.equal(r.last(300_000, 1_999_000).length, 301)
    const all = r.last("all", 1_999_000)
    assert.ok(all.every((p, i) => !i || p.at > all[i - 1].at))
})
test("metrics become families", () => {
    const [c, h] = parseMetrics('# HELP a_total Things\n# TYPE a_total counter\na_total{x="1"} 2\na_total{x="2"} 3\n# TYPE d_seconds histogram\nd_seconds_bucket{le="1"} 4\nd_seconds_sum 2\nd_seconds_count 4\n')
    assert.deepEqual([c.name, c.type, c.help, c.total, c.series.length], ["a_total", "counter", "Things", 5, 2])
    assert.deepEqual([h.name, h.type, h.series.length], ["d_seconds", "histogram", 3])
})
