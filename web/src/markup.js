// SPDX-License-Identifier: Apache-2.0
// A small reader of HTML source for the Source tab: where tags stand, which selector names one, which nodes a selector
// fits. It builds no DOM, so nothing in a page can act; it is a guide for people, the preview is the judge. Linear.
const VOID = new Set(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
const RAW = new Set(["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"])
const CLOSES = { li: ["li"], tr: ["tr", "td", "th"], td: ["td", "th"], th: ["td", "th"], p: ["p"], option: ["option"], dt: ["dt", "dd"], dd: ["dt", "dd"] }
const STOPS = new Set(["ul", "ol", "table", "dl", "select", "tbody", "thead"])

// The nodes of a page in order: {name, attrs, from, to (of the start tag), end, parent, n}.
export function parseMarkup(source, maxNodes = 50_000) {
    const nodes = [], open = []
    const tag = /<(?:!--[\s\S]*?(?:-->|$)|!?[A-Za-z/][^\s>/]*|\?[^>]*>?)/g
    let m
    while ((m = tag.exec(source)) && nodes.length < maxNodes) {
        const word = m[0]
        if (word.startsWith("<!--") || word.startsWith("<?")) continue
        const from = m.index
        let to = tag.lastIndex, attrs = {}
        const head = /\s*(?:([^\s=>/"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?|\/|["'])/y
        head.lastIndex = to
        for (let a; (a = head.exec(source)); to = head.lastIndex) if (a[1]) attrs[a[1].toLowerCase()] ??= a[2] ?? a[3] ?? a[4] ?? ""
        const close = source.indexOf(">", to)
        to = close < 0 ? source.length : close + 1
        tag.lastIndex = to
        if (word.startsWith("<!")) continue
        const isEnd = word[1] === "/", name = word.slice(isEnd ? 2 : 1).toLowerCase()
        if (isEnd) {
            const at = open.map(o => o.name).lastIndexOf(name)
            if (at >= 0) for (const o of open.splice(at)) o.end = o.name === name ? to : from
            continue
        }
        const shut = CLOSES[name]
        if (shut) while (open.length && shut.includes(open.at(-1).name) && !STOPS.has(open.at(-1).name)) open.pop().end = from
        const node = { name, attrs, from, to, end: to, parent: open.at(-1) ?? null, n: nodes.length, classes: (attrs.class || "").split(/\s+/).filter(Boolean) }
        nodes.push(node)
        if (RAW.has(name)) {
            const end = source.toLowerCase().indexOf("</" + name, to)
            tag.lastIndex = node.end = end < 0 ? source.length : end
        } else if (!VOID.has(name) && source[to - 2] !== "/") {
            node.end = source.length
            if (open.length < 500) open.push(node)
        }
    }
    return nodes
}

// A compound selector with child and descendant combinators; null where it uses more than that.
export function parseSelector(text) {
    const groups = []
    for (const part of String(text).split(",")) {
        const steps = []
        let rest = part.trim(), combine = " "
        while (rest) {
            const m = /^([A-Za-z][\w-]*|\*)?((?:[.#][\w-]+|\[[\w-]+(?:=(?:"[^"]*"|'[^']*'|[\w-]+))?\])*)/.exec(rest)
            if (!m[0]) return null
            const step = { combine, name: m[1] && m[1] !== "*" ? m[1].toLowerCase() : null, classes: [], id: null, attrs: [] }
            for (const x of m[2].match(/[.#][\w-]+|\[[^\]]+\]/g) || []) {
                if (x[0] === ".") step.classes.push(x.slice(1))
                else if (x[0] === "#") step.id = x.slice(1)
                else {
                    const [, k, , v] = /^\[([\w-]+)(=(.*))?\]$/.exec(x)
                    step.attrs.push([k.toLowerCase(), v === undefined ? null : v.replace(/^["']|["']$/g, "")])
                }
            }
            steps.push(step)
            rest = rest.slice(m[0].length)
            const c = /^(\s*>\s*|\s+)/.exec(rest)
            if (!c) { if (rest) return null; break }
            combine = c[0].includes(">") ? ">" : " "
            rest = rest.slice(c[0].length)
        }
        if (!steps.length) return null
        groups.push(steps)
    }
    return groups
}
const one = (s, n) => (!s.name || s.name === n.name) && (s.id === null || s.id === n.attrs.id) && s.classes.every(c => n.classes.includes(c)) && s.attrs.every(([k, v]) => (v === null ? k in n.attrs : n.attrs[k] === v))
function fits(steps, i, node) {
    if (!one(steps[i], node)) return false
    if (i === 0) return true
    for (let p = node.parent; p; p = p.parent) {
        if (fits(steps, i - 1, p)) return true
        if (steps[i].combine === ">") return false
    }
    return false
}
export function matches(selector, nodes) {
    const groups = parseSelector(selector)
    return groups ? nodes.filter(n => groups.some(g => fits(g, g.length - 1, n))) : []
}

const plainName = c => /^[A-Za-z][\w-]*$/.test(c)
function wordOf(node) {
    const classes = node.classes.filter(plainName).filter(c => !/\d{3,}|^(active|hover|selected|odd|even|first|last)$/.test(c)).slice(0, 2)
    return node.name + classes.map(c => "." + c).join("")
}
// Selectors for a node, the best first: {selector, count}. `within` is the row's selector, if there is one.
export function suggestSelectors(node, nodes) {
    const out = [], seen = new Set()
    const add = selector => {
        if (seen.has(selector)) return
        seen.add(selector)
        const found = matches(selector, nodes)
        if (found.includes(node)) out.push({ selector, count: found.length })
    }
    if (node.attrs.id && plainName(node.attrs.id) && !/\d{3,}/.test(node.attrs.id)) add("#" + node.attrs.id)
    for (const k of ["itemprop", "data-testid", "rel", "name"]) if (node.attrs[k] && /^[\w-]+$/.test(node.attrs[k])) add(`${node.name}[${k}=${node.attrs[k]}]`)
    add(wordOf(node))
    for (let p = node.parent, path = wordOf(node), steps = 0; p && steps < 4; p = p.parent, steps++) {
        if (["html", "body"].includes(p.name)) break
        path = (p.attrs.id && plainName(p.attrs.id) ? "#" + p.attrs.id : wordOf(p)) + " " + path
        add(path)
        if (path.startsWith("#")) break
    }
    return out.slice(0, 5)
}

// Selectors that a recipe's text names, with their kind: the rows, or a field.
export function selectorsIn(recipe) {
    const out = []
    for (const m of recipe.matchAll(/\b(each|css):\s*(?:"([^"]+)"|'([^']+)'|([^,{}\n#][^,{}\n]*?))\s*(?=[,}\n]|$)/g)) {
        const selector = (m[2] ?? m[3] ?? m[4]).trim()
        if (parseSelector(selector)) out.push({ kind: m[1] === "each" ? "row" : "field", selector })
    }
    return out
}
