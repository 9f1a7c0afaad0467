// SPDX-License-Identifier: Apache-2.0
// The four charts of a run, on uPlot: one cursor across all of them, each also as a table. Loaded with the run page.
import uPlot from "uplot"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { bytes, count, isNumber, rate, span, timeOfDay } from "./format.js"
import { CLASSES, columns, stacked, summary, WAITS } from "./series.js"
import { colour, painted } from "./theme.js"

const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3], [], [4, 4], [1, 3], [10, 4], [3, 1]]
const perS = v => rate(v) + "/s"
export const CHARTS = {
    throughput: { title: "Throughput", unit: "answers per second", stack: true, format: perS, series: ["2xx", "3xx", "4xx", "5xx", "none"].map(c => ({ label: c, read: p => p.cls?.[CLASSES.indexOf(c)] })),
        colours: ["s-ok", "s2", "s3", "s-bad", "s6"], whole: "Requests per second", total: p => p.rps },
    latency: { title: "Latency", unit: "time to the whole answer", log: true, floor: 0.05, format: span, series: ["p50", "p90", "p95", "p99"].map((l, i) => ({ label: l, read: p => p.p?.[i] })), colours: ["s1", "s2", "s5", "s4"],
        whole: "Latency p95 in milliseconds", total: p => p.p?.[2] },
    waiting: { title: "In flight and waiting", unit: "URLs", log: true, floor: 0.5, zero: true, format: count, series: [{ label: "in flight", read: p => p.in_flight }, { label: "limit", read: p => p.slots }, ...WAITS.filter(w => w !== "paused" && w !== "parked").map(w => ({ label: w, read: p => (p.waiting ? p.waiting[w] ?? 0 : undefined), optional: true }))],
        colours: ["s1", "s6", "s2", "s5", "s3", "s4", "s8", "s7", "s2"], whole: "Requests in flight", total: p => p.in_flight },
    bytes: { title: "Bytes", unit: "per second", format: v => bytes(v) + "/s", series: [{ label: "received", read: p => p.bps }, { label: "decoded", read: p => p.dps }], colours: ["s1", "s5"], whole: "Bytes received per second", total: p => p.bps },
}

// A value between two holes is no line: it is a dot.
export function alone(values) {
    const out = []
    values.forEach((v, i) => { if (isNumber(v) && !isNumber(values[i - 1]) && !isNumber(values[i + 1])) out.push(i) })
    return out
}
// A logarithm has no place for 0: where it counts, it lies on the edge, so that a gap is what was missed.
// 1, 2 and 5 of every power of ten, fewer where many powers are shown.
function logSplits(_u, _axis, min, max) {
    const out = [], many = Math.log10(max / min)
    for (let e = Math.floor(Math.log10(min)); e <= Math.ceil(Math.log10(max)); e++) for (const m of many > 3 ? [1] : many > 1.6 ? [1, 3] : [1, 2, 5]) {
        const v = m * 10 ** e
        if (v >= min && v <= max) out.push(v)
    }
    return out
}
function axisFormat(f) {
    return (_u, ticks) => ticks.map(t => (t === null ? "" : f(t).replace("/s", "")))
}

export function Chart({ kind, points, sync, range, height = 176, asTable, ended }) {
    const spec = CHARTS[kind]
    const box = useRef(), plot = useRef(null), legend = useRef()
    const used = useMemo(() => spec.series.map((s, i) => ({ ...s, i })).filter(s => !s.optional || points.some(p => s.read(p) > 0)), [spec, points])
    const names = used.map(s => s.label).join()
    const raw = useMemo(() => columns(points, used.map(s => s.read)), [points, names])
    const shape = painted.value + "|" + names + "|" + height
    const newest = ended ? "at the end" : "now", shown = useRef()
    shown.current = { raw, newest }
    const data = useMemo(() => {
        const cols = spec.stack ? stacked(raw) : raw
        return spec.log ? [cols[0], ...cols.slice(1).map(c => c.map(v => (v !== null && v > 0 ? v : v === 0 && spec.zero ? spec.floor : null)))] : cols
    }, [raw, spec])
    useEffect(() => {
        if (asTable) return
        const colours = used.map(s => colour(spec.colours[s.i])), grid = colour("grid"), text = colour("muted")
        const fill = c => c.replace("rgb(", "rgba(").replace(")", ", .55)")
        const series = used.map((s, n) => ({ label: s.label, stroke: colours[n], width: spec.stack ? 1 : 1.6, dash: spec.stack ? undefined : DASHES[s.i % DASHES.length], fill: spec.stack ? fill(colours[n]) : undefined, points: { show: true, size: 4, width: 0, fill: colours[n], filter: (u, k) => alone(u.data[k]) }, spanGaps: false }))
        const value = (n, i) => {
            const v = shown.current.raw[n + 1]?.[i]
            return isNumber(v) ? spec.format(v) : "–"
        }
        const tell = u => {
            if (!legend.current) return
            const i = u.cursor.idx ?? u.data[0].length - 1
            const items = legend.current.children
            for (let n = 0; n < used.length; n++) if (items[n]) items[n].lastChild.textContent = value(n, i)
            legend.current.parentElement.querySelector("time").textContent = u.cursor.idx === null || u.cursor.idx === undefined ? shown.current.newest : timeOfDay(u.data[0][i] * 1000)
        }
        const font = "11px system-ui, sans-serif"
        const u = new uPlot({
            width: Math.max(120, box.current.clientWidth), height, legend: { show: false }, padding: [8, 26, 0, 0],
            cursor: { sync: { key: sync, setSeries: false }, points: { size: 6 }, drag: { x: false, y: false }, y: false },
            scales: { x: { time: true, range: range ? (_u, min, max) => range(min, max) : undefined }, y: spec.log ? { distr: 3, range: (_u, min, max) => [Math.max(spec.floor, (min || 1) * 0.7), Math.max(10, (max || 10) * 1.4)] } : { range: (_u, _min, max) => [0, Math.max(1, (max || 0) * 1.12)] } },
            axes: [{ stroke: text, font, grid: { show: false }, ticks: { stroke: grid, size: 4, width: 1 }, gap: 3, size: 26, space: 70, values: (_u, ts) => ts.map(t => timeOfDay(t * 1000).slice(0, ts.length > 1 && ts[1] - ts[0] < 60 ? 8 : 5)) },
                { stroke: text, font, grid: { stroke: grid, width: 1 }, ticks: { show: false }, gap: 4, size: 52, space: 34, values: axisFormat(spec.format), ...(spec.log ? { splits: logSplits, filter: (_u, s) => s } : {}) }],
            series: [{}, ...series], bands: spec.stack ? used.slice(1).map((_, n) => ({ series: [n + 2, n + 1] })) : undefined,
            hooks: { setCursor: [tell], setData: [tell] },
        }, data, box.current)
        plot.current = u
        tell(u)
        const resize = new ResizeObserver(() => { if (box.current) u.setSize({ width: Math.max(120, box.current.clientWidth), height }) })
        resize.observe(box.current)
        return () => { resize.disconnect(); u.destroy(); plot.current = null }
    }, [shape, asTable])
    useEffect(() => { plot.current?.setData(data) }, [data])
    return <section class="chart panel" aria-label={spec.title}>
        <header><h3>{spec.title}</h3><span class="muted unit">{spec.unit}</span><time class="muted num">{newest}</time>
            <ul class="legend" ref={legend}>{used.map((s, n) => <li key={s.label}><i class={`key c-${spec.colours[s.i]} d${spec.stack ? 0 : s.i % DASHES.length}`} aria-hidden="true" /><span>{s.label}</span> <b class="num">{isNumber(raw[n + 1].at(-1)) ? spec.format(raw[n + 1].at(-1)) : "–"}</b></li>)}</ul></header>
        {asTable ? <ChartTable spec={spec} raw={raw} used={used} />
            : <div class="plot" ref={box} role="img" aria-label={`${spec.whole}: ${summary(points.map(p => (isNumber(spec.total(p)) ? spec.total(p) : null)), "", ended)}`} />}
    </section>
}

function ChartTable({ spec, raw, used }) {
    const n = raw[0].length, rows = []
    for (let i = n - 1; i >= 0 && rows.length < 120; i--) rows.push(i)
    return <div class="table-wrap chart-table" tabIndex={0} role="region" aria-label={spec.title + " as a table"}><table class="dense"><caption class="sr-only">{spec.title}, {spec.unit}</caption>
        <thead><tr><th scope="col">Time</th>{used.map(s => <th key={s.label} scope="col" class="num-col">{s.label}</th>)}</tr></thead>
        <tbody>{rows.map(i => <tr key={i}><th scope="row" class="num">{timeOfDay(raw[0][i] * 1000)}</th>{used.map((s, k) => <td key={s.label} class="num-col">{isNumber(raw[k + 1][i]) ? spec.format(raw[k + 1][i]) : "–"}</td>)}</tr>)}</tbody></table></div>
}

const SPANS = [["5 m", 300_000], ["30 m", 1_800_000], ["all", "all"]]
export function Charts({ rings, version, now, ended }) {
    const [ms, setMs] = useState(ended ? "all" : 300_000), [asTable, setAsTable] = useState(false)
    const points = useMemo(() => rings.last(ms, now), [version, ms, rings])
    const range = points.length === 1 ? min => [min - 5, min + 5] : ms === "all" ? null : (_min, max) => [Math.max((points[0]?.at ?? 0) / 1000, (points.at(-1)?.at ?? now) / 1000 - ms / 1000), max]
    return <div class="charts-box">
        <div class="charts-head"><div class="segments" role="group" aria-label="Stretch of time">{SPANS.map(([label, v]) => <button key={label} type="button" aria-pressed={ms === v} onClick={() => setMs(v)}>{label}</button>)}</div>
            <button type="button" class="linkish" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>{asTable ? "as charts" : "as table"}</button></div>
        {points.length ? <div class="charts">{Object.keys(CHARTS).map(k => <Chart key={k} kind={k} points={points} sync="run" range={range} asTable={asTable} ended={ended} />)}</div>
            : <p class="muted pad">{ended ? "The run was too short for figures over time." : "No figures yet; the first come within a second."}</p>}
    </div>
}
