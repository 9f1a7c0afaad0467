// SPDX-License-Identifier: Apache-2.0
// What may be typed at a place of a recipe, from the schema that the server makes from the parser's own tables:
// {"keys":[{"path":"items.fields.*.type","type":"enum","values":[…],"about":"…"}]}; "*" stands for any name.

// The keys above a line by indentation, outermost first, and the key that starts the line. Pure: lines, index.
export function pathAt(lines, index) {
    const parts = []
    const own = /^(\s*)(- +)?/.exec(lines[index])
    let indent = own[1].length + (own[2] ? own[2].length : 0)
    if (/^\s*$/.test(lines[index])) indent = lines[index].length
    for (let i = index; i >= 0 && indent > 0; i--) {
        const m = /^(\s*)(- +)?([A-Za-z0-9_-]+):(?:\s|$)/.exec(lines[i])
        if (!m) continue
        const at = m[1].length + (m[2] ? m[2].length : 0)
        if (at >= indent) continue
        parts.unshift(m[3])
        indent = m[2] && i !== index ? Math.min(at, indent) : at
    }
    return parts
}

const norm = key => key.replaceAll("_", "-")
export function fits(pattern, path) {
    const a = pattern.split("."), b = path
    return a.length === b.length && a.every((p, i) => p === "*" || norm(p) === norm(b[i]))
}

export function keysOf(schema) {
    return schema?.keys ?? []
}

// Inside a flow map, {css: a, attr: …}, the keys typed so far and the key of the value under the cursor.
function flow(before) {
    const open = before.lastIndexOf("{")
    if (open < 0 || before.indexOf("}", open) >= 0) return null
    const key = /^\s*(?:- +)?([A-Za-z0-9_-]+):\s*\{/.exec(before)
    const last = before.slice(open + 1).split(",").pop()
    const value = /^\s*([A-Za-z0-9_-]+):\s*(\S*)$/.exec(last)
    return { parent: key?.[1], value: value?.[1], typed: value ? value[2] : last.trim() }
}

export function suggest(schema, lines, index, before) {
    const keys = keysOf(schema), path = pathAt(lines, index)
    const f = flow(before)
    const children = parent => {
        const depth = parent.length
        const out = new Map()
        for (const k of keys) {
            const p = k.path.split(".")
            if (p.length === depth + 1 && fits(p.slice(0, depth).join(".") || "", parent.length ? parent : [""]) | (depth === 0) && p[depth] !== "*") out.set(p[depth], k)
        }
        return [...out].map(([label, k]) => ({ label, apply: label + ": ", type: "property", detail: k.type, info: k.about }))
    }
    const values = full => {
        const k = keys.find(x => fits(x.path, full))
        return (k?.values ?? (k?.type === "bool" ? ["true", "false"] : [])).map(v => ({ label: String(v), type: "enum", detail: k.type, info: k.about }))
    }
    if (f && f.parent) return f.value ? values([...path, f.parent, f.value]) : children([...path, f.parent])
    const value = /^\s*(?:- +)?([A-Za-z0-9_-]+):\s+(\S*)$/.exec(before)
    if (value) return values([...path, value[1]])
    if (/^\s*(?:- +)?[A-Za-z0-9_-]*$/.test(before)) return children(path)
    return []
}

export function completions(context, schema) {
    if (!schema) return null
    const line = context.state.doc.lineAt(context.pos), before = line.text.slice(0, context.pos - line.from)
    const word = context.matchBefore(/[A-Za-z0-9_-]*/)
    if (!context.explicit && word.from === word.to) return null
    const lines = []
    for (let n = Math.max(1, line.number - 400); n <= line.number; n++) lines.push(context.state.doc.line(n).text)
    const options = suggest(schema, lines, lines.length - 1, before)
    return options.length ? { from: word.from, options, validFor: /^[A-Za-z0-9_-]*$/ } : null
}
