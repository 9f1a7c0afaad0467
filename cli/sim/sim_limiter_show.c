/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "sim/bins.h"
#include "sim/sim_limiter.h"
#include "verbs/jsonl.h"

enum { ROWS = 20, PARTS = 3 };

typedef struct row {
    uint64_t part[PARTS]; /* at once, after a wait, refused */
} row;

static const struct {
    ink ink;
    glyph glyph;
    const char *name;
} parts[PARTS] = {{INK_GOOD, GLYPH_FULL, "at once"},
                  {INK_WARN, GLYPH_MIDDLE, "after a wait"},
                  {INK_BAD, GLYPH_LIGHT, "refused"}};

static uint64_t
row_sum(const row *r)
{
    return r->part[0] + r->part[1] + r->part[2];
}

/* Shares the cells between the parts; a part above 0 gets at least one. */
static void
share_cells(const row *r, uint64_t most, size_t width, size_t cells[PARTS])
{
    for (size_t k = 0; k < PARTS; k++) {
        cells[k] = (size_t)((double)r->part[k] * (double)width / (double)most + 0.5);
        if (cells[k] == 0 && r->part[k] > 0)
            cells[k] = 1;
    }
    for (size_t k = 0; cells[0] + cells[1] + cells[2] > width; k = (k + 1) % PARTS)
        cells[k] -= cells[k] > 1;
}

static void
put_bar(const screen *s, const row *r, uint64_t most, size_t width, size_t mark)
{
    size_t cells[PARTS], at = 0;

    share_cells(r, most, width, cells);
    if (row_sum(r) > 0 || mark < width)
        out_text("  ");
    for (size_t k = 0; k < PARTS; at += cells[k++]) {
        char bar[1024] = "";
        size_t n = 0;

        for (size_t i = 0; i < cells[k] && n + 4 < sizeof bar; i++)
            n += (size_t)snprintf(bar + n, sizeof bar - n, "%s",
                                  screen_glyph(s, parts[k].glyph));
        screen_put(s, parts[k].ink, "%s", bar);
    }
    if (mark >= at && mark < width) {
        out_fill(" ", mark - at);
        screen_put(s, INK_DIM, "%s", screen_glyph(s, GLYPH_MARK));
    }
    out_text("\n");
}

static void
put_figure(const screen *s, uint64_t n, int width, ink colour)
{
    out_text("  ");
    screen_put(s, n ? colour : INK_DIM, "%*s", width, figure_count(n).text);
}

static void
put_legend(const sim_limiter *sim, const screen *s, size_t indent, double per_row,
           bool mark)
{
    out_fill(" ", indent - 2);
    for (size_t k = 0; k < PARTS; k++) {
        if ((k == 1 && !sim->waited) || (k == 2 && !sim->refused))
            continue;
        out_text("  ");
        screen_put(s, parts[k].ink, "%s", screen_glyph(s, parts[k].glyph));
        out_print(" %s", parts[k].name);
    }
    if (mark) {
        char text[32];

        snprintf(text, sizeof text, per_row < 10 ? "%.1f" : "%.0f", per_row);
        out_text("  ");
        screen_put(s, INK_DIM, "%s", screen_glyph(s, GLYPH_MARK));
        out_print(" the rate: %s a row", text);
    }
    out_text("\n");
}

/* The width of a column: that of its widest figure, or of its title. */
static int
column_width(const row *rows, size_t count, int part, const char *title)
{
    size_t width = strlen(title);

    for (size_t i = 0; i < count; i++) {
        uint64_t n = part < 0 ? row_sum(&rows[i]) : rows[i].part[part];
        size_t len = strlen(figure_count(n).text);

        width = len > width ? len : width;
    }
    return (int)width;
}

static void
put_rows(const sim_limiter *sim, const screen *s, const bins *b, const row *rows)
{
    bool waits = sim->policy.max_wait != 0;
    int label = 4;
    int wide[] = {column_width(rows, b->count, -1, "requests"),
                  column_width(rows, b->count, 1, "waited"),
                  column_width(rows, b->count, 2, "refused")};
    uint64_t most = 1;

    for (size_t i = 0; i < b->count; i++) {
        int n = (int)strlen(bins_label(b, i).text);

        label = n > label ? n : label;
        most = row_sum(&rows[i]) > most ? row_sum(&rows[i]) : most;
    }
    int columns = label + 2 + wide[0] + 2 + (waits ? wide[1] + 2 : 0) + wide[2] + 2;
    size_t used = (size_t)columns;
    size_t width = s->width > used + 4 ? s->width - used : 4;
    double rate = sim->policy.rate.count ? seine_frequency_per_second(sim->policy.rate) *
                                               (double)b->width / 1e9
                                         : 0;
    size_t mark = (size_t)(rate / (double)most * (double)width + 0.5);
    bool marked = false;

    for (size_t i = 0; i < b->count; i++)
        marked |= row_sum(&rows[i]) < (uint64_t)rate;
    marked &= sim->policy.rate.count && !sim->weighted && !sim->trace->keys &&
              rate <= (double)most;

    screen_put(s, INK_DIM, "%*s  %*s  ", label, "time", wide[0], "requests");
    if (waits)
        screen_put(s, INK_DIM, "%*s  ", wide[1], "waited");
    screen_put(s, INK_DIM, "%*s\n", wide[2], "refused");
    for (size_t i = 0; i < b->count; i++) {
        out_print("%*s", label, bins_label(b, i).text);
        put_figure(s, row_sum(&rows[i]), wide[0], INK_NONE);
        if (waits)
            put_figure(s, rows[i].part[1], wide[1], INK_WARN);
        put_figure(s, rows[i].part[2], wide[2], INK_BAD);
        put_bar(s, &rows[i], most, width, marked ? mark : width);
    }
    put_legend(sim, s, (size_t)label + 2, rate, marked);
}

void
sim_limiter_plot(const sim_limiter *sim, const screen *s, seine_span bin)
{
    const trace *t = sim->trace;
    bins b = bins_make(t, t->events[t->count - 1].at, bin, ROWS);
    row *rows = xalloc_zeroed(b.count, sizeof *rows);

    for (size_t i = 0; i < t->count; i++) {
        size_t part = sim->waits[i] == SIM_LIMITER_REFUSED ? 2 : sim->waits[i] > 0;

        rows[bins_place(&b, t->events[i].at)].part[part]++;
    }
    put_rows(sim, s, &b, rows);
    out_text("\n");
    free(rows);
}

static void
put_share(const screen *s, const char *name, uint64_t n, uint64_t of, ink colour)
{
    out_print("%-12s", name);
    screen_put(s, n ? colour : INK_NONE, "%10s", figure_count(n).text);
    out_print("  %7s", figure_share(n, of).text);
}

static void
put_peaks(const sim_limiter *sim)
{
    const char *what = sim->weighted ? " tokens" : "";

    out_print("%-12s%10s%s offered, %s admitted", "peak in 1 s",
              figure_count(sim->peak_offered).text, what,
              figure_count(sim->peak_admitted).text);
    if (sim->policy.rate.count && !sim->trace->keys) {
        double bound =
            (double)sim->policy.burst + seine_frequency_per_second(sim->policy.rate);

        out_print(" (at most %s)", figure_count((uint64_t)bound).text);
    }
    out_text("\n");
}

static void
put_waits(const sim_limiter *sim, const screen *s)
{
    put_share(s, "  waited", sim->waited, sim->trace->count, INK_WARN);
    if (sim->waited)
        out_print("  %s on average, %s at most",
                  figure_span(sim->sum / (seine_span)sim->waited).text,
                  figure_span(sim->longest).text);
    out_text("\n");
}

/* The requests of one key. */
typedef struct client {
    const char *name;
    uint64_t requests, refused;
} client;

static int
by_refusals(const void *left, const void *right)
{
    const client *a = left, *b = right;

    if (a->refused != b->refused)
        return a->refused > b->refused ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void
put_clients(const sim_limiter *sim, const screen *s)
{
    enum { SHOWN_MOST = 5 };
    const trace *t = sim->trace;
    client *all = xalloc_zeroed(sim->keys, sizeof *all);
    uint64_t hit = 0;
    size_t at = 0;
    int widest = 0;

    for (size_t i = 0; i < t->count; i++) {
        size_t place = sim->by_key[i];

        at += sim->begins[i];
        all[at].name = t->keys + t->events[place].key;
        all[at].requests++;
        all[at].refused += sim->waits[place] == SIM_LIMITER_REFUSED;
    }
    qsort(all, sim->keys, sizeof *all, by_refusals);
    while (hit < sim->keys && all[hit].refused)
        hit++;
    for (size_t i = 0; i < hit && i < SHOWN_MOST; i++) {
        int n = (int)strlen(show(all[i].name).text);

        widest = n > widest ? n : widest;
    }
    out_print("%-12s%10s", "keys", figure_count(sim->keys).text);
    out_print(", %s of which %s refused something\n",
              hit ? figure_count(hit).text : "none", hit > 1 ? "were" : "was");
    for (size_t i = 0; i < hit && i < SHOWN_MOST; i++) {
        out_print("  %-*s  %8s requests, ", widest, show(all[i].name).text,
                  figure_count(all[i].requests).text);
        screen_put(s, INK_BAD, "%8s refused", figure_count(all[i].refused).text);
        out_print("  %7s\n", figure_share(all[i].refused, all[i].requests).text);
    }
    if (sim->overflowed)
        out_print("%-12s%10s requests of keys beyond 65,536 shared one bucket\n",
                  "overflow", figure_count(sim->overflowed).text);
    free(all);
}

void
sim_limiter_sum_up(const sim_limiter *sim, const screen *s)
{
    const trace *t = sim->trace;
    uint64_t admitted = t->count - sim->refused;

    out_print("%-12s%10s\n", "requests", figure_count(t->count).text);
    put_share(s, "  admitted", admitted, t->count, INK_GOOD);
    out_text("\n");
    if (sim->policy.max_wait)
        put_waits(sim, s);
    put_share(s, "  refused", sim->refused, t->count, INK_BAD);
    out_text("\n");
    put_peaks(sim);
    if (t->keys)
        put_clients(sim, s);
    else if (sim->policy.rate.count)
        out_print("%-12s%10s of %s\n", "tokens left",
                  figure_count(sim->left[t->count - 1]).text,
                  figure_count(sim->policy.burst).text);
    if (sim->enough_burst || sim->enough_rate.rate.count) {
        out_text("\nNobody is refused or waits with ");
        if (sim->enough_burst)
            screen_put(s, INK_BOLD, "--burst %" PRIu64, sim->enough_burst);
        if (sim->enough_burst && sim->enough_rate.rate.count)
            out_text(", or with ");
        if (sim->enough_rate.rate.count)
            screen_put(s, INK_BOLD, "--rate %s", sim->enough_rate.text);
        out_text(".\n");
    }
}

void
sim_limiter_decisions(const sim_limiter *sim)
{
    for (size_t i = 0; i < sim->trace->count; i++) {
        const event *e = &sim->trace->events[i];
        seine_json *line = xalloc_json(seine_json_new_object());
        bool ok = sim->waits[i] != SIM_LIMITER_REFUSED;

        jsonl_set(line, "type", jsonl_string("decision"));
        jsonl_set(line, "line", seine_json_new_int((int64_t)e->line));
        jsonl_set(line, "t", jsonl_in(e->at, SEINE_SECS(1)));
        if (sim->trace->keys)
            jsonl_set(line, "key", jsonl_string(sim->trace->keys + e->key));
        jsonl_set(line, "n", seine_json_new_int(e->n));
        jsonl_set(line, "ok", seine_json_new_bool(ok));
        if (ok)
            jsonl_set(line, "wait_us", seine_json_new_int(sim->waits[i] / 1000));
        jsonl_set(line, "left", seine_json_new_int(sim->left[i]));
        out_json(line);
    }
}

seine_json *
sim_limiter_summary(const sim_limiter *sim)
{
    const trace *t = sim->trace;
    seine_json *out = xalloc_json(seine_json_new_object());
    seine_span mean = sim->waited ? sim->sum / (seine_span)sim->waited : 0;

    jsonl_set(out, "type", jsonl_string("summary"));
    jsonl_set(out, "rate",
              sim->policy.rate.count
                  ? seine_json_new_real(seine_frequency_per_second(sim->policy.rate))
                  : jsonl_string("off"));
    jsonl_set(out, "burst", seine_json_new_int(sim->policy.burst));
    jsonl_set(out, "requests", seine_json_new_int((int64_t)t->count));
    jsonl_set(out, "length_s", jsonl_in(trace_length(t), SEINE_SECS(1)));
    jsonl_set(out, "admitted", seine_json_new_int((int64_t)(t->count - sim->refused)));
    jsonl_set(out, "waited", seine_json_new_int((int64_t)sim->waited));
    jsonl_set(out, "refused", seine_json_new_int((int64_t)sim->refused));
    jsonl_set(out, "wait_mean_us", seine_json_new_int(mean / 1000));
    jsonl_set(out, "wait_max_us", seine_json_new_int(sim->longest / 1000));
    jsonl_set(out, "peak_offered_1s", seine_json_new_int((int64_t)sim->peak_offered));
    jsonl_set(out, "peak_admitted_1s", seine_json_new_int((int64_t)sim->peak_admitted));
    if (t->keys) {
        jsonl_set(out, "keys", seine_json_new_int((int64_t)sim->keys));
        jsonl_set(out, "overflowed", seine_json_new_int((int64_t)sim->overflowed));
    } else if (sim->policy.rate.count)
        jsonl_set(out, "left", seine_json_new_int(sim->left[t->count - 1]));
    if (sim->enough_burst)
        jsonl_set(out, "enough_burst", seine_json_new_int((int64_t)sim->enough_burst));
    if (sim->enough_rate.rate.count)
        jsonl_set(out, "enough_rate",
                  seine_json_new_real(seine_frequency_per_second(sim->enough_rate.rate)));
    return out;
}
