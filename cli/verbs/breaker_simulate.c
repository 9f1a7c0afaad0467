/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/parse.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "sim/log_date.h"
#include "sim/sim_breaker.h"
#include "sim/traffic.h"
#include "verbs/jsonl.h"
#include "verbs/verbs.h"

typedef struct settings {
    const char *breaker, *traffic, *outage;
    uint64_t fail, window_calls, min, probes, close, growth, park, seed;
    uint32_t rate, slow_rate, errors;
    seine_span open, max_open, window, slow, length, bin;
    bool json, jsonl, decisions, plot, skip_bad, spread;
} settings;

static int run_breaker(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"breaker", NULL, KIND_TEXT, "SPEC", AT(breaker), .env = true,
     .help = "several of the following in one: fail=5,open=60s",
     .more = "The same text as in the commands that use the network, so that a setting can be tried before it is deployed. Its key "
             "`park` is about giving up a host and plays no part here."},
    {"fail", NULL, KIND_COUNT, "N", "5", AT(fail), .max = UINT32_MAX,
     .help = "opens after so many failures in a row; 0: never"},
    {"rate", NULL, KIND_SHARE, "P", AT(rate), .off = true,
     .help = "opens when so many calls of the window failed",
     .more = "The window is the last 100 calls when neither --window-calls nor --window is given."},
    {"slow-rate", NULL, KIND_SHARE, "P", AT(slow_rate), .rare = true, .off = true,
     .help = "opens when so many took longer than --slow"},
    {"slow", NULL, KIND_SPAN, "D", AT(slow), .rare = true,
     .help = "what slow means"},
    {"window-calls", NULL, KIND_COUNT, "N", AT(window_calls), .min = 1, .max = 1024,
     .help = "the window is the last N calls"},
    {"window", NULL, KIND_SPAN, "D", AT(window),
     .help = "or those of the last D"},
    {"min", NULL, KIND_COUNT, "N", "10", AT(min), .min = 1, .max = UINT32_MAX,
     .help = "calls in the window before it is judged"},
    {"open", NULL, KIND_SPAN, "D", "60s", AT(open),
     .help = "how long it stays open"},
    {"max-open", NULL, KIND_SPAN, "D", "5m", AT(max_open), .rare = true,
     .help = "the longest it may grow to"},
    {"growth", NULL, KIND_COUNT, "N", "100", AT(growth), .rare = true, .min = 100, .max = 1000,
     .help = "open time at each reopening, in % of the last"},
    {"probes", NULL, KIND_COUNT, "N", "1", AT(probes), .min = 1, .max = 64,
     .help = "calls let through at once when half-open"},
    {"close", NULL, KIND_COUNT, "N", "1", AT(close), .min = 1, .max = UINT32_MAX,
     .help = "successful probes that close it"},
    {"park", NULL, KIND_COUNT, "N", AT(park), .rare = true,
     .help = "accepted, and without effect here"},
    {"traffic", NULL, KIND_TEXT, "[KIND:]R", AT(traffic),
     .help = "made-up calls instead of a trace, for --for D"},
    {"for", NULL, KIND_SPAN, "D", "5m", AT(length),
     .help = "how long --traffic lasts"},
    {"outage", NULL, KIND_TEXT, "D..D", AT(outage),
     .help = "made-up calls fail from then to then"},
    {"errors", NULL, KIND_SHARE, "P", "0%", AT(errors), .rare = true,
     .help = "and so many of them at any time"},
    {"seed", NULL, KIND_COUNT, "N", "1", AT(seed), .rare = true,
     .help = "the same seed makes the same calls"},
    {"spread", NULL, KIND_FLAG, AT(spread), .rare = true,
     .help = "space out calls that a log gives the same second"},
    {"skip-bad", NULL, KIND_FLAG, AT(skip_bad), .rare = true,
     .help = "leave out lines without sense; a note counts them"},
    {"bin", NULL, KIND_SPAN, "D", AT(bin), .rare = true,
     .help = "time one column of the plot covers"},
    {"plot", NULL, KIND_FLAG, .initial = "on", AT(plot),
     .help = "the plot above the figures; --no-plot: without"},
    {"decisions", NULL, KIND_FLAG, AT(decisions),
     .help = "one JSON line per call, with the state that decided"},
    {"json", "j", KIND_FLAG, AT(json),
     .help = "the figures as one JSON object"},
    {"jsonl", NULL, KIND_FLAG, AT(jsonl),
     .help = "many cases: one JSON object per line, in and out",
     .more = "In: `trip` consecutive_failures with `k`, or failure_ratio with `min_requests` and `ratio`; `half_open_max` (probes at "
             "once, and successes that close), `open_timeout_ms`, `steps` [{`op`: success|failure|ignored|advance, `ms`}]; with "
             "`window_calls` also `slow_ms` and `ms` as the length of a call. Out: `steps` [{`admitted`, `state`}], with a window "
             "also `failure_rate` and `slow_rate` in percent. `id` is copied; a bad case is {`ok`:false, `error`} and the exit "
             "code stays 0."},
    {.name = NULL},
};

static const example examples[] = {
    {"seine breaker simulate --fail 5 --open 30s /var/log/nginx/access.log",
     "Would a breaker have helped yesterday? Failures are 5xx answers, but not 501 and 505:"},
    {"seine breaker simulate --fail 3 --open 20s --traffic 5/s --outage 60s..100s",
     "Without a log at hand:"},
    {"printf '0 ok 20ms\\n1 fail 2s\\n4 503\\n9 ok\\n' | seine breaker simulate --fail 2 --open 5s",
     "Calls by hand: when, how it went, how long it took:"},
    {NULL, NULL},
};

const command cmd_breaker_simulate = {
    .name = "breaker simulate",
    .is_small = true,
    .arguments = "[TRACE|-]",
    .about = "try a circuit breaker on a trace of calls",
    .text = "The trace has one call per line: its time, as in limit simulate, then `ok`, `fail` or an HTTP status, then how long it took if "
            "that is known; or a line of an access log; or JSON with `t` or `ts`, `ok` or `status`, and `duration_ms`. Without TRACE "
            "and --traffic, standard input is read.\n\n"
            "The breaker is the library's (seine/breaker.h), the clock is the trace's. A call the breaker refuses is never made; what "
            "the trace says about it shows which failures were spared and which successes were lost. The calls that are made go as "
            "they went: the trace cannot know how a server would have done under less load.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .max_args = 1,
    .run = run_breaker,
};
/* clang-format on */

/* One case: its breaker, its clock and its answers. */
typedef struct game {
    seine_breaker_opts opts;
    seine_breaker breaker;
    seine_time now;
    bool windowed;
    seine_json *steps;
} game;

static bool
read_trip(const seine_json *in, seine_breaker_opts *opts, reason *why)
{
    const char *trip = "consecutive_failures";
    int64_t k = opts->failure_threshold, min_requests = opts->min_calls;
    double ratio = 0;

    if (!jsonl_text(in, "trip", &trip, why) ||
        !jsonl_int(in, "k", 0, UINT32_MAX, &k, why) ||
        !jsonl_int(in, "min_requests", 1, 1024, &min_requests, why))
        return false;
    if (strcmp(trip, "consecutive_failures") == 0) {
        opts->failure_threshold = (uint32_t)k;
        return true;
    }
    if (strcmp(trip, "failure_ratio") != 0)
        return reason_set(why, "trip: unknown '%s'", show(trip).text);
    if (!seine_json_number(seine_json_get(in, "ratio"), &ratio) || !(ratio > 0) ||
        ratio > 1 || fabs(ratio * 100 - round(ratio * 100)) > 1e-9)
        return reason_set(why, "ratio: not a whole number of hundredths up to 1");
    opts->failure_threshold = 0;
    opts->window_calls =
        1024; /* without a window: the calls since the breaker closed, up to 1024 */
    opts->min_calls = (uint32_t)min_requests;
    opts->failure_pct = (uint32_t)round(ratio * 100);
    return true;
}

static bool
read_case(const seine_json *in, game *g, reason *why)
{
    int64_t probes = 1, calls = 0;
    seine_span interval = 0;

    if (!jsonl_known(in,
                     "id trip k ratio min_requests half_open_max open_timeout_ms "
                     "closed_interval_ms window_calls slow_ms steps",
                     why) ||
        !jsonl_span(in, "closed_interval_ms", SEINE_MS(1), &interval, why) ||
        !jsonl_int(in, "half_open_max", 1, 64, &probes, why) ||
        !jsonl_span(in, "open_timeout_ms", SEINE_MS(1), &g->opts.open_for, why) ||
        !jsonl_int(in, "window_calls", 1, 1024, &calls, why) ||
        !jsonl_span(in, "slow_ms", SEINE_MS(1), &g->opts.slow, why) ||
        !read_trip(in, &g->opts, why))
        return false;
    if (interval != 0)
        return reason_set(why, "closed_interval_ms: counts are never cleared by time "
                               "here, so only 0 can be had");
    g->opts.half_open_max = g->opts.success_threshold = (uint32_t)probes;
    if (g->opts.open_max < g->opts.open_for)
        g->opts.open_max = g->opts.open_for;
    g->windowed = jsonl_has(in, "window_calls");
    if (g->windowed)
        g->opts.window_calls = (uint32_t)calls;
    return true;
}

/* The state that the next caller meets: an open breaker whose time is up would admit it
 * as a probe. */
static seine_breaker_state
seen_state(game *g)
{
    seine_breaker_state state = seine_breaker_state_get(&g->breaker);

    if (state == SEINE_BREAKER_OPEN && seine_breaker_when(&g->breaker, g->now) <= g->now)
        return SEINE_BREAKER_HALF_OPEN;
    return state;
}

static void
answer_breaker_step(game *g, const seine_outcome *how, seine_span took)
{
    seine_json *out = xalloc_json(seine_json_new_object());
    seine_permit permit;

    if (how) {
        bool admitted = seine_breaker_acquire(&g->breaker, g->now, &permit) == SEINE_OK;

        jsonl_set(out, "admitted", seine_json_new_bool(admitted));
        g->now += took;
        if (admitted &&
            seine_breaker_settle(&g->breaker, &permit, *how, g->now) != SEINE_OK)
            xalloc_json(NULL);
    }
    jsonl_set(out, "state", jsonl_string(sim_breaker_state(seen_state(g))));
    if (g->windowed) {
        seine_breaker_stats stats;

        seine_breaker_stats_get(&g->breaker, &stats);
        jsonl_set(out, "failure_rate", seine_json_new_real(stats.failure_rate));
        jsonl_set(out, "slow_rate", seine_json_new_real(stats.slow_rate));
    }
    jsonl_add(g->steps, out);
}

static bool
play_step(game *g, const seine_json *step, reason *why)
{
    static const struct {
        const char *name;
        seine_outcome how;
    } ops[] = {{"success", SEINE_SUCCESS},
               {"failure", SEINE_FAILURE},
               {"ignored", SEINE_IGNORED}};
    const char *op = NULL;
    seine_span span = 0;

    if (seine_json_type_of(step) != SEINE_JSON_OBJECT)
        return reason_set(why, "not an object");
    /* A recorded case may hold the expected results as well. */
    if (!jsonl_known(step, "op ms admitted state_after", why) ||
        !jsonl_text(step, "op", &op, why) ||
        !jsonl_span(step, "ms", SEINE_MS(1), &span, why))
        return false;
    if (!op)
        return reason_set(why, "no member 'op'");
    if (span < 0 || span > SEINE_NEVER / 2 - g->now)
        return reason_set(why,
                          "ms: must be 0 or more, and no more than 146 years in all");
    if (strcmp(op, "advance") == 0) {
        if (!jsonl_has(step, "ms"))
            return reason_set(why, "no member 'ms'");
        g->now += span;
        answer_breaker_step(g, NULL, 0);
        return true;
    }
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(op, ops[i].name) == 0) {
            answer_breaker_step(g, &ops[i].how, span);
            return true;
        }
    return reason_set(why, "unknown op '%s'", show(op).text);
}

static bool
answer_breaker_case(const seine_json *in, seine_json *out, reason *why)
{
    game g = {.opts = SEINE_BREAKER_OPTS};
    const seine_json *steps = jsonl_array(in, "steps", why);

    if (!steps || !read_case(in, &g, why))
        return false;
    seine_err e = seine_breaker_init(&g.breaker, &g.opts);
    if (e != SEINE_OK)
        return reason_set(why, "%s: no breaker can be made of this", seine_err_name(e));

    bool good = true;
    g.steps = xalloc_json(seine_json_new_array());
    jsonl_set(out, "ok", seine_json_new_bool(true));
    jsonl_set(out, "steps", g.steps);
    for (size_t i = 0; good && i < seine_json_size(steps); i++) {
        reason inner = {""};

        good = play_step(&g, seine_json_at(steps, i), &inner);
        if (!good)
            reason_set(why, "steps[%zu]: %s", i, inner.text);
    }
    seine_breaker_fini(&g.breaker);
    return good;
}

/* "60s..100s" */
static int
read_range(const char *name, const char *text, seine_span *from, seine_span *to)
{
    const char *dots = strstr(text, "..");
    const char *why = dots ? NULL : "not two durations";

    if (dots) {
        char *first = xalloc_copy(text, (size_t)(dots - text));

        why = seine_units_span(first, from);
        free(first);
        if (!why)
            why = seine_units_span(dots + 2, to);
        if (!why && *to < *from)
            why = "it ends before it begins";
    }
    if (why)
        return say_fail(SAY_USAGE, "--outage 60s..100s", "--%s '%s': %s", name,
                        show(text).text, why);
    return SAY_DONE;
}

static int
make_calls(const settings *set, trace *t)
{
    seine_span from = SEINE_NEVER, to = SEINE_NEVER;
    uint64_t dice = set->seed ^ UINT64_C(0x5e11e);

    if (set->outage && read_range("outage", set->outage, &from, &to) != SAY_DONE)
        return SAY_USAGE;
    int code = traffic_make(t, set->traffic, set->length, set->seed);
    for (size_t i = 0; code == SAY_DONE && i < t->count; i++) {
        event *e = &t->events[i];
        bool unlucky = traffic_dice(&dice) % 100 < set->errors;

        e->how = unlucky || (e->at >= from && e->at < to) ? SEINE_FAILURE : SEINE_SUCCESS;
    }
    return code;
}

static int
get_breaker_trace(const args *a, trace *t)
{
    const settings *set = a->settings;
    trace_opts opts = {
        .kind = TRACE_OUTCOMES, .skip_bad = set->skip_bad, .spread = set->spread};

    *t = (trace){.events = NULL};
    if (set->traffic)
        return make_calls(set, t);
    return trace_read(t, a->count ? a->words[0] : NULL, &opts);
}

static seine_breaker_opts
policy_of(const settings *set)
{
    seine_breaker_opts o = SEINE_BREAKER_OPTS;

    o.failure_threshold = (uint32_t)set->fail;
    o.failure_pct = set->rate;
    o.slow_pct = set->slow_rate;
    o.slow = set->slow;
    o.window_calls = (uint32_t)set->window_calls;
    o.window_time = set->window;
    if ((set->rate || set->slow_rate) && !o.window_calls && !o.window_time)
        o.window_calls = 100;
    o.min_calls = (uint32_t)set->min;
    o.open_for = set->open;
    o.open_max = set->max_open;
    o.open_growth_pct = (uint32_t)set->growth;
    o.half_open_max = (uint32_t)set->probes;
    o.success_threshold = (uint32_t)set->close;
    return o;
}

static int
check_breaker_options(const args *a, const seine_breaker_opts *o)
{
    const settings *set = a->settings;
    static const char *const made_up[] = {"for", "outage", "errors", "seed"};

    if (set->traffic && a->count)
        return say_fail(SAY_USAGE, "one of the two", "--traffic and the trace '%s'",
                        show(a->words[0]).text);
    for (size_t i = 0; i < 4; i++)
        if (!set->traffic && options_given(a, made_up[i]))
            return say_fail(SAY_USAGE, "--traffic 5/s", "--%s goes with --traffic",
                            made_up[i]);
    if (set->window_calls && set->window)
        return say_fail(SAY_USAGE, "one of the two", "--window-calls and --window");
    if ((set->window_calls || set->window) && !set->rate && !set->slow_rate)
        return say_fail(SAY_USAGE, "--rate 50%",
                        "a window without --rate or --slow-rate");
    if (!o->failure_threshold && !o->failure_pct && !o->slow_pct)
        return say_fail(SAY_USAGE, "--fail 5, or --rate 50%", "nothing would open it");
    if (!set->slow != !set->slow_rate)
        return say_fail(SAY_USAGE, "--slow 2s --slow-rate 50%",
                        "--slow and --slow-rate go together");
    if (o->window_calls && o->min_calls > o->window_calls)
        return say_fail(SAY_USAGE, "a smaller --min",
                        "--min %u calls never fit a window of %u", o->min_calls,
                        o->window_calls);
    if (set->open <= 0)
        return say_fail(SAY_USAGE, "--open 60s", "--open: must be above 0");
    if (o->open_max < o->open_for)
        return say_fail(SAY_USAGE, "a --max-open of at least --open",
                        "--max-open: shorter than --open");
    if (options_given(a, "bin") && set->bin < SEINE_US(1))
        return say_fail(SAY_USAGE, "--bin 1s", "--bin: must be at least 1us");
    return SAY_DONE;
}

static void
introduce_breaker(const sim_breaker *sim, const settings *set, const screen *s)
{
    const trace *t = sim->trace;
    const seine_breaker_opts *o = sim->opts;
    const char *also = "";

    screen_put(s, INK_BOLD, "breaker  ");
    out_text("opens ");
    if (o->failure_threshold) {
        out_print("after %s failure%s in a row", figure_count(o->failure_threshold).text,
                  o->failure_threshold == 1 ? "" : "s");
        also = " or ";
    }
    if (o->failure_pct) {
        out_print("%swhen %u %% fail", also, o->failure_pct);
        also = " or ";
    }
    if (o->slow_pct)
        out_print("%swhen %u %% take over %s", also, o->slow_pct,
                  figure_span(o->slow).text);
    if (o->window_calls)
        out_print(" of the last %u calls", o->window_calls);
    if (o->window_time)
        out_print(" of the last %s", figure_span(o->window_time).text);
    out_print(", for %s\n", figure_span(o->open_for).text);
    screen_put(s, INK_BOLD, "trace    ");
    out_print("%s%s: %s call%s in %s", set->traffic ? "made-up " : "", show(t->name).text,
              figure_count(t->count).text, t->count == 1 ? "" : "s",
              figure_span(set->traffic ? set->length : trace_length(t)).text);
    if (t->dated)
        out_print(" from %s", log_date_date(t->epoch, t->zone).text);
    out_print(", %s failed\n\n", figure_share(sim->failed, t->count).text);
}

static int
simulate_breaker(const args *a, const trace *t, const seine_breaker_opts *o)
{
    const settings *set = a->settings;
    sim_breaker sim;
    int code = sim_breaker_run(&sim, t, o);

    if (code != SAY_DONE)
        return code;
    if (set->bin > 0 && (sim.end - t->events[0].at) / set->bin >= 1000) {
        sim_breaker_free(&sim);
        return say_fail(SAY_USAGE, "a longer --bin", "--bin: more than 1000 columns");
    }
    if (set->decisions)
        sim_breaker_decisions(&sim);
    if (set->json)
        out_json(sim_breaker_summary(&sim));
    if (!set->decisions && !set->json) {
        introduce_breaker(&sim, set, &a->screen);
        if (set->plot)
            sim_breaker_plot(&sim, &a->screen, set->bin);
        sim_breaker_changes(&sim, &a->screen);
        sim_breaker_sum_up(&sim, &a->screen);
    }
    sim_breaker_free(&sim);
    return SAY_DONE;
}

static int
run_breaker(const args *a)
{
    settings *set = a->settings;
    trace t;

    if (set->jsonl)
        return jsonl_only(a)
                   ? jsonl_run(a->count ? a->words[0] : NULL, answer_breaker_case)
                   : SAY_USAGE;
    int code = parse_spec(a, "breaker", set->breaker,
                          "fail|rate|slow-rate|slow|window-calls|window|min|open|"
                          "max-open|growth|probes|close|park");
    if (code != SAY_DONE)
        return code;
    seine_breaker_opts o = policy_of(set);
    bool is_max_given = options_given(a, "max-open") ||
                        (set->breaker && strstr(set->breaker, "max-open="));
    if (!is_max_given && o.open_max < o.open_for)
        o.open_max = o.open_for; /* the standard ceiling bends, one's own does not */
    code = check_breaker_options(a, &o);
    if (code != SAY_DONE)
        return code;
    code = get_breaker_trace(a, &t);
    if (code == SAY_DONE)
        code = simulate_breaker(a, &t, &o);
    if (code == SAY_DONE && !a->quiet)
        trace_notes(&t, set->spread);
    trace_free(&t);
    return code;
}
