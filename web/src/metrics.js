// SPDX-License-Identifier: Apache-2.0
// The text of /metrics as families: {name, type, help, series: [{labels, value}], total}. Pure.
export function parseMetrics(text) {
    const families = new Map()
    const family = name => {
        if (!families.has(name)) families.set(name, { name, type: "untyped", help: "", series: [], total: 0 })
        return families.get(name)
    }
    for (const line of text.split("\n")) {
        const meta = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line)
        if (meta) family(meta[2])[meta[1] === "HELP" ? "help" : "type"] = meta[3]
        if (!line || line[0] === "#") continue
        const m = /^([A-Za-z_:][\w:]*)(\{.*\})? (\S+)/.exec(line)
        if (!m) continue
        const base = families.has(m[1]) ? m[1] : m[1].replace(/_(bucket|sum|count|total)$/, "")
        const f = family(families.has(base) ? base : m[1]), value = Number(m[3])
        f.series.push({ name: m[1], labels: m[2] ? m[1] + m[2] : m[1], value })
        if (m[1] === f.name || m[1] === f.name + "_total") f.total += value
    }
    return [...families.values()].filter(f => f.series.length)
}
