/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <seine/retry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "sim/traffic.h"
#include "verbs/jsonl.h"
#include "verbs/verbs.h"

typedef struct settings {
    const char *backoff;
    seine_span base, max;
    uint64_t attempts, n, seed;
    int jitter;
    uint32_t jitter_pct;
    bool json, jsonl;
} settings;

static int run_backoff(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"backoff", NULL, KIND_TEXT, "D..D", AT(backoff), .env = true,
     .help = "first and longest wait in one: 1s..30s"},
    {"base", NULL, KIND_SPAN, "D", "1s", AT(base),
     .help = "the first wait; each further one is twice as long"},
    {"max", NULL, KIND_SPAN, "D", "30s", AT(max),
     .help = "but never longer than this"},
    {"attempts", NULL, KIND_COUNT, "N", "3", AT(attempts), .min = 1, .max = 1001,
     .help = "tries in all, the first included"},
    {"jitter", NULL, KIND_CHOICE, "minus|plusminus|full|equal|decorrelated|none", "plusminus", AT(jitter), .env = true,
     .help = "how chance spreads the waits",
     .more = "For a wait of d: `minus` up to --jitter-pct less (as fetch and crawl do), `plusminus` d ± --jitter-pct of it, `full` 0 to d, "
             "`equal` d/2 to d, `decorrelated` the first wait to three times the one before, `none` d. No wait is longer than --max."},
    {"jitter-pct", NULL, KIND_SHARE, "P", "10%", AT(jitter_pct),
     .help = "for minus and plusminus"},
    {"n", NULL, KIND_COUNT, "N", AT(n), .min = 1, .max = 1000,
     .help = "show so many waits, whatever --attempts says"},
    {"seed", NULL, KIND_COUNT, "N", "1", AT(seed),
     .help = "the same seed draws the same waits"},
    {"json", "j", KIND_FLAG, AT(json),
     .help = "as one JSON object"},
    {"jsonl", NULL, KIND_FLAG, AT(jsonl),
     .help = "many cases: one JSON object per line, in and out",
     .more = "In: `initial_ms`, `multiplier` (2), `max_ms`, `jitter` (a share like 0.1, or a name), `n`, `seed`. Out: `base_ms`, "
             "`delay_ms`. With `max_elapsed_ms` and `elapsed_ms`, `stop` says whether that time is up. `id` is copied; a bad case is "
             "{`ok`:false, `error`} and the exit code stays 0."},
    {.name = NULL},
};

static const example examples[] = {
    {"seine backoff simulate --backoff 1s..30s --attempts 7", "What seven tries at a broken server look like:"},
    {"seine backoff simulate --jitter full --n 10 --seed 4", "Another way to spread them:"},
    {NULL, NULL},
};

const command cmd_backoff_simulate = {
    .name = "backoff simulate",
    .is_small = true,
    .arguments = "",
    .about = "see when failed requests are tried again, and how long",
    .text = "The waits are those of the library (seine/retry.h). One draw is shown in figures; the bars are a thousand: solid up to the "
            "shortest wait chance gave, shaded up to the longest.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .run = run_backoff,
};
/* clang-format on */

enum { DRAWS = 1000 };

/* In the order of the choices of --jitter. */
static const seine_jitter jitters[] = {SEINE_JITTER_MINUS,        SEINE_JITTER_PLUSMINUS,
                                       SEINE_JITTER_FULL,         SEINE_JITTER_EQUAL,
                                       SEINE_JITTER_DECORRELATED, SEINE_JITTER_NONE};
static const char *const jitter_names[] = {"minus", "plusminus",    "full",
                                           "equal", "decorrelated", "none"};

static seine_span
draw_delays(const seine_retry_opts *opts, uint32_t k, seine_span prev, uint64_t *state)
{
    return seine_retry_delay(opts, k, prev, traffic_dice(state));
}

/* A thousand requests that fail every time. */
typedef struct waits {
    size_t count;
    seine_span *base, *first, *least, *most;   /* one for each retry */
    seine_span total_least, total_most, total; /* total: of the first request */
    double total_mean;
} waits;

static seine_span
add_up(seine_span a, seine_span b)
{
    return a > SEINE_NEVER - b ? SEINE_NEVER : a + b;
}

static waits
draw_all(const seine_retry_opts *opts, size_t count, uint64_t seed)
{
    waits w = {.count = count, .total_least = SEINE_NEVER};

    w.base = xalloc_zeroed(4 * count, sizeof *w.base);
    w.first = w.base + count;
    w.least = w.first + count;
    w.most = w.least + count;
    for (int i = 0; i < DRAWS; i++) {
        seine_span prev = opts->base, total = 0;

        for (uint32_t k = 0; k < count; k++) {
            seine_span wait = draw_delays(opts, k, prev, &seed);

            if (i == 0) {
                w.base[k] = seine_retry_backoff(opts, k);
                w.first[k] = w.least[k] = w.most[k] = wait;
            }
            w.least[k] = wait < w.least[k] ? wait : w.least[k];
            w.most[k] = wait > w.most[k] ? wait : w.most[k];
            total = add_up(total, wait);
            prev = wait;
        }
        w.total = i == 0 ? total : w.total;
        w.total_least = total < w.total_least ? total : w.total_least;
        w.total_most = total > w.total_most ? total : w.total_most;
        w.total_mean += (double)total / DRAWS;
    }
    return w;
}

static void
put_bar(const screen *s, glyph g, ink colour, size_t cells)
{
    char bar[1024] = "";
    size_t n = 0;

    for (size_t i = 0; i < cells && n + 4 < sizeof bar; i++)
        n += (size_t)snprintf(bar + n, sizeof bar - n, "%s", screen_glyph(s, g));
    screen_put(s, colour, "%s", bar);
}

static void
put_waits(const waits *w, const screen *s)
{
    enum { USED = 5 + 12 + 12 + 13 + 2 };
    size_t width = s->width > USED + 4 ? s->width - USED : 4;
    seine_span longest = 1, after = 0;

    for (size_t k = 0; k < w->count; k++)
        longest = w->most[k] > longest ? w->most[k] : longest;
    screen_put(s, INK_DIM, "%5s%12s%12s%13s\n", "retry", "base", "drawn", "in all");
    for (size_t k = 0; k < w->count; k++) {
        size_t solid =
            (size_t)((double)w->least[k] / (double)longest * (double)width + 0.5);
        size_t end = (size_t)((double)w->most[k] / (double)longest * (double)width + 0.5);

        after = add_up(after, w->first[k]);
        out_print("%5zu%12s%12s%13s", k + 1, figure_span(w->base[k]).text,
                  figure_span(w->first[k]).text, figure_span(after).text);
        if (end > 0)
            out_text("  ");
        put_bar(s, GLYPH_FULL, INK_GOOD, solid);
        put_bar(s, GLYPH_MIDDLE, INK_WARN, end - solid);
        out_text("\n");
    }
}

static void
show_text(const args *a, const seine_retry_opts *opts, const waits *w)
{
    const settings *set = a->settings;
    const screen *s = &a->screen;

    screen_put(s, INK_BOLD, "backoff  ");
    out_print("%zu retries, waits from %s to at most %s, jitter %s", w->count,
              figure_span(opts->base).text, figure_span(opts->max).text,
              jitter_names[set->jitter]);
    if (opts->jitter == SEINE_JITTER_PLUSMINUS || opts->jitter == SEINE_JITTER_MINUS)
        out_print(" %u %%", opts->jitter_pct);
    out_text("\n\n");
    if (w->count == 0) {
        out_text("One attempt: nothing is tried again.\n");
        return;
    }
    put_waits(w, s);
    if (opts->jitter != SEINE_JITTER_NONE) {
        out_text("       ");
        put_bar(s, GLYPH_FULL, INK_GOOD, 1);
        out_text(" the shortest  ");
        put_bar(s, GLYPH_MIDDLE, INK_WARN, 1);
        out_print(" to the longest of %s draws\n", figure_count(DRAWS).text);
    }
    out_print("\nAll waits together: %s", figure_span((seine_span)w->total_mean).text);
    if (w->total_least < w->total_most)
        out_print(" on average, %s to %s", figure_span(w->total_least).text,
                  figure_span(w->total_most).text);
    out_text(".\n");
}

static seine_json *
in_ms(const seine_span *spans, size_t count)
{
    seine_json *array = xalloc_json(seine_json_new_array());

    for (size_t i = 0; i < count; i++)
        jsonl_add(array, jsonl_in(spans[i], SEINE_MS(1)));
    return array;
}

static void
show_json(const waits *w)
{
    seine_json *out = xalloc_json(seine_json_new_object());

    jsonl_set(out, "type", jsonl_string("summary"));
    jsonl_set(out, "retries", seine_json_new_int((int64_t)w->count));
    jsonl_set(out, "base_ms", in_ms(w->base, w->count));
    jsonl_set(out, "delay_ms", in_ms(w->first, w->count));
    jsonl_set(out, "total_ms", jsonl_in(w->total, SEINE_MS(1)));
    jsonl_set(out, "total_mean_ms", seine_json_new_real(w->total_mean / 1e6));
    jsonl_set(out, "total_min_ms", jsonl_in(w->total_least, SEINE_MS(1)));
    jsonl_set(out, "total_max_ms", jsonl_in(w->total_most, SEINE_MS(1)));
    out_json(out);
}

/* Reads `jitter`: a share like 0.1, or a name. */
static bool
case_jitter(const seine_json *in, seine_retry_opts *opts, reason *why)
{
    const seine_json *value = seine_json_get(in, "jitter");
    const char *name;
    size_t len;
    double share;

    if (!jsonl_has(in, "jitter"))
        return true;
    if (seine_json_number(value, &share)) {
        double percent = round(share * 100);

        if (!(share >= 0 && share <= 1) || fabs(percent - share * 100) > 1e-9)
            return reason_set(why,
                              "jitter: not a whole number of hundredths from 0 to 1");
        opts->jitter = SEINE_JITTER_PLUSMINUS;
        opts->jitter_pct = (uint32_t)percent;
        return true;
    }
    if (!seine_json_string(value, &name, &len))
        return reason_set(why, "jitter: neither a share nor a name");
    for (size_t i = 0; i < sizeof jitters / sizeof *jitters; i++)
        if (strcmp(name, jitter_names[i]) == 0) {
            opts->jitter = jitters[i];
            return true;
        }
    return reason_set(why, "jitter: unknown name '%s'", show(name).text);
}

/* Says whether the time of a request is up after its first failure. */
static void
answer_elapsed(seine_retry_opts *opts, seine_span max_elapsed, seine_span elapsed,
               seine_json *out)
{
    seine_retry r = {.opts = opts, .deadline = SEINE_NEVER, .idempotent = true};
    seine_fault f = SEINE_FAULT;

    opts->max_elapsed = max_elapsed;
    f.code = SEINE_E_TIMEOUT;
    seine_retry_begin(&r, 0);
    seine_verdict v = seine_retry_next(&r, &f, elapsed, 0);
    jsonl_set(out, "stop", seine_json_new_bool(v.stop == SEINE_STOP_ELAPSED));
}

static bool
answer_backoff_case(const seine_json *in, seine_json *out, reason *why)
{
    seine_retry_opts opts = SEINE_RETRY_OPTS;
    seine_span max_elapsed = SEINE_NEVER, elapsed = -1;
    int64_t n = 10, seed = 1;
    double multiplier = 2;

    /* A recorded case may hold the expected results as well. */
    if (!jsonl_known(in,
                     "id initial_ms multiplier max_ms jitter n seed max_elapsed_ms "
                     "elapsed_ms expect expect_base_ms range",
                     why) ||
        !jsonl_span(in, "initial_ms", SEINE_MS(1), &opts.base, why) ||
        !jsonl_span(in, "max_ms", SEINE_MS(1), &opts.max, why) ||
        !jsonl_span(in, "max_elapsed_ms", SEINE_MS(1), &max_elapsed, why) ||
        !jsonl_span(in, "elapsed_ms", SEINE_MS(1), &elapsed, why) ||
        !jsonl_int(in, "n", 0, 10000, &n, why) ||
        !jsonl_int(in, "seed", INT64_MIN, INT64_MAX, &seed, why) ||
        !case_jitter(in, &opts, why))
        return false;
    if (jsonl_has(in, "multiplier") &&
        (!seine_json_number(seine_json_get(in, "multiplier"), &multiplier) ||
         multiplier != 2))
        return reason_set(why, "multiplier: waits double here, so only 2 can be had");
    if (opts.max < opts.base && !jsonl_has(in, "max_ms"))
        opts.max = opts.base;
    if (max_elapsed < 0 || seine_retry_check(&opts) != SEINE_OK)
        return reason_set(why, "%s",
                          max_elapsed < 0        ? "max_elapsed_ms: must not be negative"
                          : opts.base < 0        ? "initial_ms: must not be negative"
                          : opts.max < opts.base ? "max_ms: is below initial_ms"
                                                 : "no policy can be made of this");
    jsonl_set(out, "ok", seine_json_new_bool(true));
    if (elapsed >= 0)
        answer_elapsed(&opts, max_elapsed, elapsed, out);

    seine_json *base = xalloc_json(seine_json_new_array());
    seine_json *delay = xalloc_json(seine_json_new_array());
    seine_span prev = opts.base;
    uint64_t state = (uint64_t)seed;

    jsonl_set(out, "base_ms", base);
    jsonl_set(out, "delay_ms", delay);
    for (uint32_t k = 0; k < (uint32_t)n; k++) {
        prev = draw_delays(&opts, k, prev, &state);
        jsonl_add(base, jsonl_in(seine_retry_backoff(&opts, k), SEINE_MS(1)));
        jsonl_add(delay, jsonl_in(prev, SEINE_MS(1)));
    }
    return true;
}

/* "1s..30s" */
static int
read_backoff(const args *a, seine_retry_opts *opts)
{
    const settings *set = a->settings;
    const char *dots = set->backoff ? strstr(set->backoff, "..") : NULL;
    static const char hint[] = "--backoff 1s..30s";

    if (!set->backoff)
        return SAY_DONE;
    if (!dots)
        return say_fail(SAY_USAGE, hint, "--backoff '%s': not two durations",
                        show(set->backoff).text);
    char *first = xalloc_copy(set->backoff, (size_t)(dots - set->backoff));
    seine_span base, max;
    const char *why = seine_units_span(first, &base);
    if (!why)
        why = seine_units_span(dots + 2, &max);
    free(first);
    if (why)
        return say_fail(SAY_USAGE, hint, "--backoff '%s': %s", show(set->backoff).text,
                        why);
    if (!options_given(a, "base"))
        opts->base = base;
    if (!options_given(a, "max"))
        opts->max = max;
    return SAY_DONE;
}

static int
run_backoff(const args *a)
{
    const settings *set = a->settings;
    seine_retry_opts opts = SEINE_RETRY_OPTS;
    size_t count = options_given(a, "n") ? set->n : set->attempts - 1;

    if (set->jsonl)
        return jsonl_only(a) ? jsonl_run(NULL, answer_backoff_case) : SAY_USAGE;
    opts.base = set->base;
    opts.max = set->max;
    opts.jitter = jitters[set->jitter];
    opts.jitter_pct = set->jitter_pct;
    if (read_backoff(a, &opts) != SAY_DONE)
        return SAY_USAGE;
    if (opts.max < opts.base)
        return say_fail(SAY_USAGE, "a longer --max",
                        "the longest wait, %s, is below the first, %s",
                        figure_span(opts.max).text, figure_span(opts.base).text);
    if (seine_retry_check(&opts) != SEINE_OK)
        return say_fail(SAY_USAGE, "seine backoff simulate --help",
                        "no policy can be made of this");

    waits w = draw_all(&opts, count, set->seed);
    if (set->json)
        show_json(&w);
    else
        show_text(a, &opts, &w);
    free(w.base);
    return SAY_DONE;
}
