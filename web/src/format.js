// SPDX-License-Identifier: Apache-2.0
// Values as people read them. Pure: the time zone and the current time are arguments or the machine's.
const THIN = "\u202f" // narrow no-break space between groups of digits
const DASH = "–"

export function isNumber(n) {
    return typeof n === "number" && Number.isFinite(n)
}

// 48210 → "48 210", with thin spaces.
export function count(n) {
    if (!isNumber(n)) return DASH
    const [whole, rest] = String(Math.round(Math.abs(n) * 10) / 10).split(".")
    return (n < 0 ? "−" : "") + whole.replace(/\B(?=(\d{3})+$)/g, THIN) + (rest && Math.abs(n) < 100 ? "." + rest : "")
}

// Three significant digits at most: 0.25, 4.6, 41.2, 412, 12 400.
export function rate(n) {
    if (!isNumber(n)) return DASH
    const a = Math.abs(n)
    if (a === 0) return "0"
    if (a < 10) return (Math.round(n * 100) / 100).toString()
    if (a < 100) return (Math.round(n * 10) / 10).toString()
    return count(Math.round(n))
}

const BYTES = ["B", "kB", "MB", "GB", "TB", "PB"]
export function bytesParts(n) {
    if (!isNumber(n)) return [DASH, ""]
    let i = 0, v = n
    while (Math.abs(v) >= 1000 && i < BYTES.length - 1) { v /= 1000; i++ }
    return [i === 0 ? String(Math.round(v)) : rate(v), BYTES[i]]
}
export const bytes = n => bytesParts(n).filter(Boolean).join(THIN)

export function percent(n) {
    if (!isNumber(n)) return DASH
    const v = n === 100 || n === 0 ? n : Math.min(99.9, Math.max(0.1, Math.round(n * 10) / 10))
    return v + THIN + "%"
}

// Milliseconds for a person: "182 ms", "4.2 s", "95 s", "2.5 min", "12 min".
export function spanParts(ms) {
    if (!isNumber(ms)) return [DASH, ""]
    if (ms < 1) return [rate(ms), "ms"]
    if (ms < 999.5) return [String(Math.round(ms)), "ms"]
    if (ms < 59_950) return [(Math.round(ms / 100) / 10).toString(), "s"]
    if (ms < 119_500) return [String(Math.round(ms / 1000)), "s"]
    if (ms < 597_000) return [String(Math.round(ms / 6000) / 10), "min"]
    if (ms < 3_570_000) return [String(Math.round(ms / 60_000)), "min"]
    if (ms < 172_800_000) return [String(Math.round(ms / 360_000) / 10), "h"]
    return [String(Math.round(ms / 86_400_000)), "d"]
}
export const span = ms => spanParts(ms).filter(Boolean).join(THIN)

const two = n => String(n).padStart(2, "0")
// 00:12:41, or 3 d 04:00:00 from a day on.
export function clockSpan(ms) {
    if (!isNumber(ms)) return DASH
    const s = Math.max(0, Math.floor(ms / 1000)), days = Math.floor(s / 86_400)
    return (days ? days + THIN + "d" + THIN : "") + two(Math.floor((s % 86_400) / 3600)) + ":" + two(Math.floor((s % 3600) / 60)) + ":" + two(s % 60)
}

// Anything the server calls a time: integer ms since 1970, or RFC 3339.
export function toMs(t) {
    if (isNumber(t)) return t
    const ms = typeof t === "string" ? Date.parse(t) : NaN
    return Number.isNaN(ms) ? null : ms
}
export function timeOfDay(t) {
    const ms = toMs(t)
    if (ms === null) return DASH
    const d = new Date(ms)
    return two(d.getHours()) + ":" + two(d.getMinutes()) + ":" + two(d.getSeconds())
}
// Today only the time, otherwise with the date.
export function dateTime(t, now = Date.now()) {
    const ms = toMs(t)
    if (ms === null) return DASH
    const d = new Date(ms), n = new Date(now)
    const day = d.getFullYear() + "-" + two(d.getMonth() + 1) + "-" + two(d.getDate())
    const same = d.toDateString() === n.toDateString()
    return same ? timeOfDay(ms) : day + " " + two(d.getHours()) + ":" + two(d.getMinutes())
}
export function utc(t) {
    const ms = toMs(t)
    return ms === null ? "" : new Date(ms).toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC")
}
export function ago(t, now = Date.now()) {
    const ms = toMs(t)
    if (ms === null) return DASH
    const d = now - ms
    return d < 5_000 ? "just now" : span(d) + " ago"
}

// The ETA as a range: "ETA 25–31 min".
export function eta(range) {
    if (!Array.isArray(range) || !isNumber(range[0]) || !isNumber(range[1])) return ""
    const [a, au] = spanParts(range[0]), [b, bu] = spanParts(range[1])
    if (au === bu) return a === b ? `${a}${THIN}${au}` : `${a}–${b}${THIN}${au}`
    return `${a}${THIN}${au} – ${b}${THIN}${bu}`
}

// A value of a row in a cell: money reads as money.
export function cellText(v, max = 200) {
    if (v && typeof v === "object" && isNumber(v.amount)) return inert(`${v.amount.toFixed(2)} ${v.currency ?? ""}`.trim(), max)
    if (typeof v === "string" && v.length < 200 && v.startsWith('{"amount":')) try { return cellText(JSON.parse(v), max) } catch { /* text that looks like money */ }
    if (Array.isArray(v)) return inert(v.map(x => cellText(x, max)).join(", "), max)
    return inert(v, max)
}
// Scraped text as one inert line: control and bidi characters become visible marks, length is bounded.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g
export function inert(text, max = 2000) {
    let s = typeof text === "string" ? text : text === undefined || text === null ? "" : typeof text === "object" ? JSON.stringify(text) : String(text)
    if (s.length > max) s = s.slice(0, max) + "…"
    return s.replace(UNSAFE, c => (c < "\u0020" ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : "\ufffd"))
}
// The same for text of several lines: newline and tab stay.
export function inertText(text, max = 4_000_000) {
    const s = String(text ?? "")
    return s.slice(0, max).replace(UNSAFE, c => (c === "\n" || c === "\t" ? c : c === "\r" ? "" : c < "\u0020" ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : "\ufffd"))
}
// A link may lead to http and https alone.
export function safeUrl(text) {
    try {
        const u = new URL(String(text))
        return u.protocol === "http:" || u.protocol === "https:" ? u.href : null
    } catch {
        return null
    }
}

// The colour of a person, and black or white on it, whichever reads better.
export const personColour = text => (/^#[0-9a-fA-F]{6}$/.test(text ?? "") ? text : "#5a6670")
export function inkOn(hex) {
    const [r, g, b] = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16) / 255).map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    const light = 0.2126 * r + 0.7152 * g + 0.0722 * b
    return 1.05 / (light + 0.05) >= 4.5 ? "#ffffff" : "#000000"
}

// A run's done URLs: a number, or the map {ok, failed, skipped, blocked}.
export function sum(value) {
    if (isNumber(value)) return value
    if (Array.isArray(value)) return value.reduce((a, b) => a + (isNumber(b) ? b : 0), 0)
    if (value && typeof value === "object") return Object.values(value).reduce((a, b) => a + (isNumber(b) ? b : 0), 0)
    return null
}
export const plural = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`
