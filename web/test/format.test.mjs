// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict"
import { test } from "node:test"
import { ago, bytes, cellText, clockSpan, count, eta, inert, inkOn, percent, personColour, rate, safeUrl, span, sum, toMs, utc } from "../src/format.js"

const T = "\u202f"
test("counts have thin spaces between groups of three", () => {
    for (const [n, want] of [[0, "0"], [999, "999"], [1000, `1${T}000`], [48210, `48${T}210`], [131004999, `131${T}004${T}999`], [-1234, `−1${T}234`], [null, "–"], [NaN, "–"]]) assert.equal(count(n), want)
})
test("rates keep three digits", () => {
    for (const [n, want] of [[0, "0"], [0.254, "0.25"], [4.567, "4.57"], [41.23, "41.2"], [412.4, "412"], [12400, `12${T}400`]]) assert.equal(rate(n), want)
})
test("bytes and spans carry their unit", () => {
    assert.equal(bytes(999), `999${T}B`)
    assert.equal(bytes(4_600_000), `4.6${T}MB`)
    assert.equal(span(182), `182${T}ms`)
    assert.equal(span(4200), `4.2${T}s`)
    assert.equal(span(0.4), `0.4${T}ms`)
    for (const [ms, want] of [[999.4, `999${T}ms`], [999.6, `1${T}s`], [59_949, `59.9${T}s`], [59_960, `60${T}s`], [95_000, `95${T}s`], [119_499, `119${T}s`], [150_000, `2.5${T}min`], [597_000, `10${T}min`], [3_569_999, `59${T}min`], [3_570_000, `1${T}h`]]) assert.equal(span(ms), want, String(ms))
    assert.equal(clockSpan(761_999), "00:12:41")
    assert.equal(clockSpan(90_061_000), `1${T}d${T}01:01:01`)
})
test("99.97 percent is not rounded to all of it", () => {
    assert.equal(percent(99.97), `99.9${T}%`)
    assert.equal(percent(100), `100${T}%`)
    assert.equal(percent(0.01), `0.1${T}%`)
    assert.equal(percent(null), "–")
})
test("an ETA is a range with one unit where both ends share it", () => {
    assert.equal(eta([1_500_000, 1_860_000]), `25–31${T}min`)
    assert.equal(eta([50_000, 130_000]), `50${T}s – 2.2${T}min`)
    assert.equal(eta(null), "")
})
test("times are milliseconds or RFC 3339", () => {
    assert.equal(toMs("2026-11-15T19:20:01.123Z"), 1794770401123)
    assert.equal(toMs("yesterday"), null)
    assert.equal(utc(1794770401123), "2026-11-15 19:20:01 UTC")
    assert.equal(ago(1000, 3000), "just now")
})
test("control and bidi characters become visible marks", () => {
    assert.equal(inert("a\u0000b\u202ec\u0007\ufeff"), "a\u2400b\ufffdc\u2407\ufffd")
    assert.equal(inert({ a: 1 }), '{"a":1}')
    assert.equal(inert("x".repeat(10), 4), "xxxx…")
})
test("only http and https are links", () => {
    assert.equal(safeUrl("https://e.org/a"), "https://e.org/a")
    for (const bad of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//e.org", "", null]) assert.equal(safeUrl(bad), null)
})
test("money reads as money, and sums take numbers and maps", () => {
    assert.equal(cellText({ amount: 8.5, currency: "EUR" }), "8.50 EUR")
    assert.equal(cellText('{"amount":8.5,"currency":"EUR"}'), "8.50 EUR")
    assert.equal(cellText('{"amount":x'), '{"amount":x')
    assert.equal(cellText(["a", "b"]), "a, b")
    assert.equal(sum({ ok: 3, failed: 2 }), 5)
    assert.equal(sum(7), 7)
    assert.equal(sum(undefined), null)
})
test("ink on a person's colour reads, and only colours are colours", () => {
    for (const [colour, ink] of [["#0072b2", "#ffffff"], ["#b87400", "#000000"], ["#ffffff", "#000000"], ["#000000", "#ffffff"]]) assert.equal(inkOn(colour), ink, colour)
    assert.equal(personColour("red;} body{display:none"), "#5a6670")
})
