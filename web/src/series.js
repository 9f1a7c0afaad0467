// SPDX-License-Identifier: Apache-2.0
// The rings behind the charts of a run: seconds, then minutes. A point: {at (ms), rps, bps, dps, records_s, p:[4], cls:[6],
// in_flight, slots, waiting}. Missed points are gaps, never interpolated. Pure.
export const WAITS = ["ready", "slot", "limiter", "rate", "breaker", "backoff", "robots", "paused", "parked"]
export const CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx", "none"]

export class Rings {
    constructor() {
        this.seconds = []
        this.minutes = []
    }

    // The first frame brings the history; a later one a point.
    load(history) {
        this.seconds = clean(history?.seconds ?? history?.sec ?? [])
        this.minutes = clean(history?.minutes ?? history?.min ?? [])
    }

    add(point) {
        const last = this.seconds.at(-1)
        if (last && point.at <= last.at) return
        this.seconds.push(point)
        if (this.seconds.length > 600) this.seconds.shift()
        const minute = this.minutes.at(-1)
        if (!minute || point.at - minute.at >= 60_000) {
            this.minutes.push(point)
            if (this.minutes.length > 1440) this.minutes.shift()
        }
    }

    end() {
        return this.seconds.at(-1)?.at ?? this.minutes.at(-1)?.at
    }

    // Points of the last `ms` ("all": everything), oldest first.
    last(ms, now) {
        if (ms === "all") return this.minutes.length > 10 ? joined(this.minutes, this.seconds) : this.seconds
        const from = now - ms
        const seconds = this.seconds.filter(p => p.at >= from)
        if (this.seconds.length && this.seconds[0].at <= from + 1500) return seconds
        return joined(this.minutes.filter(p => p.at >= from), seconds)
    }
}
function clean(points) {
    return points.filter(p => p && typeof p.at === "number").sort((a, b) => a.at - b.at)
}
function joined(minutes, seconds) {
    const begin = seconds[0]?.at ?? Infinity
    return [...minutes.filter(p => p.at < begin), ...seconds]
}

// Columns for a chart: x in seconds, and one column per reader; a hole longer than three steps becomes a null between.
export function columns(points, readers) {
    const x = [], ys = readers.map(() => [])
    points.forEach((p, i) => {
        if (i) {
            const gap = p.at - points[i - 1].at, usual = i > 1 ? points[i - 1].at - points[i - 2].at : gap
            if (gap > 3 * Math.max(1000, Math.min(usual, 60_000))) {
                x.push((points[i - 1].at + 1) / 1000)
                ys.forEach(y => y.push(null))
            }
        }
        x.push(p.at / 1000)
        readers.forEach((r, n) => {
            const v = r(p)
            ys[n].push(typeof v === "number" && Number.isFinite(v) ? v : null)
        })
    })
    return [x, ...ys]
}
// Sums from the first column on, for stacked areas.
export function stacked(cols) {
    const [x, ...ys] = cols
    const below = x.map(() => 0)
    return [x, ...ys.map(y => y.map((v, i) => (v === null ? null : (below[i] += v))))]
}
export function pointOf(d, at) {
    const waiting = d.waiting && typeof d.waiting === "object" ? d.waiting : {}
    return { at, rps: d.rps, bps: d.bps, dps: d.dps ?? d.decoded_bps, records_s: d.records_s, p: d.p, cls: d.cls, in_flight: d.in_flight, slots: d.slots, waiting }
}
export function summary(values, unit, ended = false) {
    const known = values.filter(v => v !== null)
    if (!known.length) return "no values yet"
    const f = n => String(Math.round(n * 10) / 10)
    return `${ended ? "at the end" : "now"} ${f(known.at(-1))}${unit}, lowest ${f(Math.min(...known))}${unit}, highest ${f(Math.max(...known))}${unit}`
}
