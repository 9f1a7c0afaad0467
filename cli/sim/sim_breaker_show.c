/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/out.h"
#include "screen/xalloc.h"
#include "sim/bins.h"
#include "sim/sim_breaker.h"
#include "verbs/jsonl.h"

enum { LABEL = 9 };

typedef struct slot {
    seine_span open, half;
    uint64_t calls, failed, refused;
} slot;

/* The bins as they are drawn; where there are few, each is several columns wide. */
typedef struct strip {
    const screen *screen;
    bins bins;
    slot *slots;
    size_t columns; /* of one bin */
} strip;

/* Adds one period of a state to the slots that it touches. */
static void
spread_state(const bins *b, slot *slots, seine_time from, seine_time to,
             seine_breaker_state state)
{
    if (state != SEINE_BREAKER_OPEN && state != SEINE_BREAKER_HALF_OPEN)
        return;
    for (size_t i = bins_place(b, from); i < b->count && bins_edge(b, i) < to; i++) {
        seine_time begin = bins_edge(b, i), end = bins_edge(b, i + 1);
        seine_span part = (to < end ? to : end) - (from > begin ? from : begin);

        *(state == SEINE_BREAKER_OPEN ? &slots[i].open : &slots[i].half) += part;
    }
}

static slot *
make_slots(const sim_breaker *sim, const bins *b)
{
    slot *slots = xalloc_zeroed(b->count, sizeof *slots);
    const trace *t = sim->trace;

    for (size_t i = 0; i < sim->changed; i++)
        spread_state(b, slots, sim->changes[i].at,
                     i + 1 < sim->changed ? sim->changes[i + 1].at : sim->end,
                     sim->changes[i].to);
    for (size_t i = 0; i < t->count; i++) {
        slot *s = &slots[bins_place(b, t->events[i].at)];

        s->calls++;
        s->refused += !sim->admitted[i];
        s->failed += sim->admitted[i] && t->events[i].how == SEINE_FAILURE;
    }
    return slots;
}

static void
put_cell(const strip *d, ink colour, const char *cell)
{
    for (size_t i = 0; i < d->columns; i++)
        screen_put(d->screen, colour, "%s", cell);
}

static void
put_states(const strip *d)
{
    const screen *s = d->screen;

    screen_put(s, INK_DIM, "%-*s", LABEL, "state");
    for (size_t i = 0; i < d->bins.count; i++) {
        uint64_t open = (uint64_t)d->slots[i].open;

        if (open > 0)
            put_cell(d, INK_BAD, screen_level(s, open, (uint64_t)d->bins.width));
        else if (d->slots[i].half > 0)
            put_cell(d, INK_WARN, screen_glyph(s, GLYPH_MIDDLE));
        else
            put_cell(d, INK_GOOD, screen_glyph(s, GLYPH_LINE));
    }
    out_text("\n");
}

typedef enum measure { CALLS, FAILED, REFUSED } measure;

static uint64_t
slot_measure(const slot *s, measure what)
{
    return what == CALLS ? s->calls : what == FAILED ? s->failed : s->refused;
}

/* Draws a strip; all three strips have the same scale. */
static void
put_strip(const strip *d, measure what)
{
    static const struct {
        const char *name;
        ink ink;
    } looks[] = {{"calls", INK_NONE}, {"failed", INK_BAD}, {"refused", INK_WARN}};
    uint64_t most = 0;
    size_t last = 0;

    for (size_t i = 0; i < d->bins.count; i++) {
        most = d->slots[i].calls > most ? d->slots[i].calls : most;
        if (slot_measure(&d->slots[i], what))
            last = i + 1;
    }
    screen_put(d->screen, INK_DIM, "%-*s", last ? LABEL : 0, looks[what].name);
    for (size_t i = 0; i < last; i++)
        put_cell(d, looks[what].ink,
                 screen_level(d->screen, slot_measure(&d->slots[i], what), most));
    out_text("\n");
}

/* Writes round times below the bins that they fall into. */
static void
put_axis(const strip *d)
{
    enum { ROOM = 12 };
    const bins *b = &d->bins;
    size_t at = 0;
    char line[1024] = "";
    seine_time tick;
    seine_span step = bins_ticks(b, (ROOM + d->columns - 1) / d->columns, &tick);

    for (; tick < bins_edge(b, b->count); tick += step) {
        clock_text label = bins_tick(b, tick, step);
        size_t place = bins_place(b, tick) * d->columns;

        if (place + strlen(label.text) > b->count * d->columns + 2 || place < at ||
            place + sizeof label > sizeof line)
            continue;
        at += (size_t)snprintf(line + at, sizeof line - at, "%*s%s", (int)(place - at),
                               "", label.text);
    }
    if (at == 0)
        return;
    out_fill(" ", LABEL);
    screen_put(d->screen, INK_DIM, "%s", line);
    out_text("\n");
}

static void
put_legend(const screen *s, bool half)
{
    out_fill(" ", LABEL);
    screen_put(s, INK_GOOD, "%s", screen_glyph(s, GLYPH_LINE));
    out_text(" closed  ");
    if (half) {
        screen_put(s, INK_WARN, "%s", screen_glyph(s, GLYPH_MIDDLE));
        out_text(" half-open  ");
    }
    screen_put(s, INK_BAD, "%s", screen_level(s, 1, 1));
    out_print(" open; the other strips: %s is the busiest piece\n",
              screen_level(s, 1, 1));
}

void
sim_breaker_plot(const sim_breaker *sim, const screen *s, seine_span bin)
{
    size_t width = s->width > LABEL + 20 ? s->width - LABEL : 20;
    bins b = bin > 0 ? bins_make(sim->trace, sim->end, bin, width)
                     : bins_fill(sim->trace, sim->end, width);
    strip d = {s, b, make_slots(sim, &b), b.count < width ? width / b.count : 1};
    bool half = false;

    for (size_t i = 0; i < b.count; i++)
        half |= d.slots[i].half > 0 && d.slots[i].open == 0;
    put_states(&d);
    put_strip(&d, CALLS);
    put_strip(&d, FAILED);
    put_strip(&d, REFUSED);
    put_axis(&d);
    put_legend(s, half);
    out_text("\n");
    free(d.slots);
}

static ink
state_ink(seine_breaker_state state)
{
    return state == SEINE_BREAKER_OPEN        ? INK_BAD
           : state == SEINE_BREAKER_HALF_OPEN ? INK_WARN
                                              : INK_GOOD;
}

/* Whether a half-open state ended at once; it is then told with the state behind it. */
static bool
is_passing(const sim_breaker *sim, size_t i)
{
    return i + 1 < sim->changed && sim->changes[i].to == SEINE_BREAKER_HALF_OPEN &&
           sim->changes[i + 1].at == sim->changes[i].at;
}

static void
put_change(const sim_breaker *sim, const screen *s, const bins *b, size_t i)
{
    const change *c = &sim->changes[i];
    bool again = c->from == SEINE_BREAKER_HALF_OPEN;
    char name[32];

    snprintf(name, sizeof name, "%s%s", sim_breaker_state(c->to), again ? " again" : "");
    out_print("%14s  ", bins_moment(b, c->at).text);
    screen_put(s, state_ink(c->to), "%s", name);
    if (again || i + 1 < sim->changed)
        out_fill(" ", 14 - strlen(name));
    if (i + 1 < sim->changed)
        out_print("for %s", figure_span(sim->changes[i + 1].at - c->at).text);
    if (again)
        screen_put(s, INK_DIM, "%s%s", i + 1 < sim->changed ? ": " : "",
                   c->to == SEINE_BREAKER_OPEN         ? "a probe failed"
                   : sim->opts->success_threshold == 1 ? "a probe succeeded"
                                                       : "probes succeeded");
    out_text("\n");
}

void
sim_breaker_changes(const sim_breaker *sim, const screen *s)
{
    enum { MOST = 12 };
    bins b = bins_make(sim->trace, sim->end, 0, 20);
    size_t told = 0;

    for (size_t i = 0; i < sim->changed; i++) {
        if (is_passing(sim, i))
            continue;
        if (++told <= MOST)
            put_change(sim, s, &b, i);
    }
    if (told > MOST)
        out_print("%14s  and %s more\n", "…", figure_count(told - MOST).text);
    if (told)
        out_text("\n");
}

static void
put_share(const screen *s, const char *name, uint64_t n, uint64_t of, ink colour)
{
    out_print("%-12s", name);
    screen_put(s, n ? colour : INK_NONE, "%10s", figure_count(n).text);
    out_print("  %7s", figure_share(n, of).text);
}

void
sim_breaker_sum_up(const sim_breaker *sim, const screen *s)
{
    const trace *t = sim->trace;
    uint64_t spared = sim->failed - sim->reached;
    seine_span length = sim->end - t->events[0].at;
    bins b = bins_make(t, sim->end, 0, 20);

    out_print("%-12s%10s\n", "calls", figure_count(t->count).text);
    put_share(s, "  admitted", t->count - sim->refused, t->count, INK_GOOD);
    out_text("\n");
    put_share(s, "  refused", sim->refused, t->count, INK_WARN);
    if (sim->refused)
        out_print("  of which %s would have succeeded", figure_count(sim->lost).text);
    out_text("\n");
    out_print("%-12s%10s in the trace, ", "failures", figure_count(sim->failed).text);
    screen_put(s, sim->reached ? INK_BAD : INK_NONE, "%s",
               figure_count(sim->reached).text);
    out_print(" met, %s spared\n", figure_count(spared).text);
    out_print("%-12s%10s time%s", "opened", figure_count(sim->opened).text,
              sim->opened == 1 ? "" : "s");
    for (size_t i = 0; i < sim->changed; i++)
        if (sim->changes[i].to == SEINE_BREAKER_OPEN) {
            out_print(", first at %s", bins_moment(&b, sim->changes[i].at).text);
            break;
        }
    out_text("\n");
    if (sim->opened)
        out_print("%-12s%10s  %7s of the time\n", "  open for",
                  figure_span(sim->open).text,
                  figure_share((uint64_t)sim->open, (uint64_t)length).text);
}

void
sim_breaker_decisions(const sim_breaker *sim)
{
    for (size_t i = 0; i < sim->trace->count; i++) {
        const event *e = &sim->trace->events[i];
        seine_json *line = xalloc_json(seine_json_new_object());

        jsonl_set(line, "type", jsonl_string("decision"));
        jsonl_set(line, "line", seine_json_new_int((int64_t)e->line));
        jsonl_set(line, "t", jsonl_in(e->at, SEINE_SECS(1)));
        jsonl_set(line, "admitted", seine_json_new_bool(sim->admitted[i]));
        jsonl_set(line, "state",
                  jsonl_string(sim_breaker_state((seine_breaker_state)sim->states[i])));
        out_json(line);
    }
}

seine_json *
sim_breaker_summary(const sim_breaker *sim)
{
    const trace *t = sim->trace;
    seine_json *out = xalloc_json(seine_json_new_object());
    seine_json *changes = xalloc_json(seine_json_new_array());

    jsonl_set(out, "type", jsonl_string("summary"));
    jsonl_set(out, "calls", seine_json_new_int((int64_t)t->count));
    jsonl_set(out, "admitted", seine_json_new_int((int64_t)(t->count - sim->refused)));
    jsonl_set(out, "refused", seine_json_new_int((int64_t)sim->refused));
    jsonl_set(out, "failed", seine_json_new_int((int64_t)sim->failed));
    jsonl_set(out, "met", seine_json_new_int((int64_t)sim->reached));
    jsonl_set(out, "spared", seine_json_new_int((int64_t)(sim->failed - sim->reached)));
    jsonl_set(out, "lost", seine_json_new_int((int64_t)sim->lost));
    jsonl_set(out, "opened", seine_json_new_int((int64_t)sim->opened));
    jsonl_set(out, "open_s", jsonl_in(sim->open, SEINE_SECS(1)));
    for (size_t i = 0; i < sim->changed; i++) {
        seine_json *c = xalloc_json(seine_json_new_object());

        jsonl_set(c, "t", jsonl_in(sim->changes[i].at, SEINE_SECS(1)));
        jsonl_set(c, "to", jsonl_string(sim_breaker_state(sim->changes[i].to)));
        jsonl_add(changes, c);
    }
    jsonl_set(out, "changes", changes);
    return out;
}
