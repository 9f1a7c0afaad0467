/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "sim/log_date.h"
#include "sim/sim_limiter.h"
#include "sim/traffic.h"
#include "verbs/jsonl.h"
#include "verbs/verbs.h"

typedef struct settings {
    seine_frequency rate;
    uint64_t burst, initial, seed;
    bool wait, json, jsonl, decisions, plot, skip_bad, spread;
    seine_span max_wait, length, bin;
    const char *traffic, *key;
} settings;

static int run_limiter(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"rate", "r", KIND_PACE, "R", AT(rate), .env = true,
     .help = "one token comes back every so often: 10/s, 30/m",
     .more = "`off` is no limit."},
    {"burst", NULL, KIND_COUNT, "N", "1", AT(burst), .min = 1, .max = UINT32_MAX, .env = true,
     .help = "the bucket holds so many tokens"},
    {"initial", NULL, KIND_COUNT, "N", AT(initial), .max = UINT32_MAX,
     .help = "and starts with so many, at the first request",
     .more = "Full when not given; more than the burst is the burst. They are there at the time of the first request of the trace, whatever "
             "that time is; from then on tokens come back."},
    {"wait", NULL, KIND_FLAG, AT(wait),
     .help = "requests wait for their token instead of being refused"},
    {"max-wait", NULL, KIND_SPAN, "D", AT(max_wait), .off = true,
     .help = "the same, but who would wait longer is refused",
     .more = "A refused request takes no token; the next one is tried."},
    {"key", NULL, KIND_TEXT, "N|/NAME", AT(key),
     .help = "a bucket per client: the N-th word of a line, a JSON member",
     .more = "`--key 1` is the client's address in an access log, `--key /host` the member `host` of JSON lines. With a key nobody "
             "waits. At most 65,536 buckets that owe something are kept, as in a server; further keys share one."},
    {"traffic", NULL, KIND_TEXT, "[KIND:]R", AT(traffic),
     .help = "made-up requests instead of a trace",
     .more = "KIND is `poisson` (each on its own, the default), `steady`, or `bursty`: one second in five brings three fifths of all."},
    {"for", NULL, KIND_SPAN, "D", "30s", AT(length),
     .help = "how long --traffic lasts"},
    {"seed", NULL, KIND_COUNT, "N", "1", AT(seed),
     .help = "the same seed makes the same traffic"},
    {"spread", NULL, KIND_FLAG, AT(spread),
     .help = "space out requests that a log gives the same second",
     .more = "Access logs know whole seconds. As they stand, the requests of one second arrive together, which is harder on "
             "the policy than the truth; spaced out evenly they are easier on it."},
    {"skip-bad", NULL, KIND_FLAG, AT(skip_bad),
     .help = "leave out lines without a time; a note counts them"},
    {"bin", NULL, KIND_SPAN, "D", AT(bin),
     .help = "time one row of the plot covers"},
    {"plot", NULL, KIND_FLAG, .initial = "on", AT(plot),
     .help = "the plot above the figures; --no-plot: without"},
    {"decisions", NULL, KIND_FLAG, AT(decisions),
     .help = "one JSON line per request instead of plot and figures"},
    {"json", "j", KIND_FLAG, AT(json),
     .help = "the figures as one JSON object"},
    {"jsonl", NULL, KIND_FLAG, AT(jsonl),
     .help = "many cases: one JSON object per line, in and out",
     .more = "In: `rate` (a number per second, or a text like `30/m`), `burst`, `initial`, "
             "`steps` [{`op`: allow|reserve, `t_us` or `t_ms`, `n`, `max_wait_us` or `max_wait_ms`}]. Out, an entry per step: `ok`, "
             "`wait_us` (null: refused), `left`, `reset_us` until the bucket is full, `retry_us` until a refused step would "
             "pass (null: never). `id` is copied; a bad case is {`ok`:false, `error`} and the exit code stays 0."},
    {.name = NULL},
};

static const example examples[] = {
    {"seine limit simulate --rate 10/s --burst 20 /var/log/nginx/access.log",
     "What a limit would have done to yesterday's traffic:"},
    {"seine limit simulate --rate 2/s --burst 10 --key 1 /var/log/nginx/access.log",
     "The same with a bucket for each client address:"},
    {"seine limit simulate --rate 10/s --burst 20 --traffic bursty:12/s",
     "Without a log at hand:"},
    {"seine limit simulate --rate 5/s --max-wait 500ms --traffic 5/s",
     "A queue of half a second instead of refusals:"},
    {"printf '0\\n0.1\\n0.2 3\\n' | seine limit simulate --rate 1/s --burst 2 --decisions",
     "A trace by hand, request by request; the third wants 3 tokens:"},
    {NULL, NULL},
};

const command cmd_limit_simulate = {
    .name = "limit simulate",
    .arguments = "[TRACE|-]",
    .about = "try a rate limit on a trace of requests",
    .text = "The trace has one request per line: seconds (`12.345`), a duration (`1m30s`), an RFC 3339 date, a line of an access log "
            "(`[10/Oct/2000:13:55:36 -0700]`), or JSON with a member `t` or `ts`. A second word is the number of tokens the request "
            "wants. Without TRACE and --traffic, standard input is read.\n\n"
            "The bucket is the library's (seine/limiter.h), the clock is the trace's. Each row of the plot is a piece of time; the "
            "figures say how many were admitted, how long they waited, what the busiest second was, and which burst or rate "
            "would have let everybody through.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .max_args = 1,
    .run = run_limiter,
};
/* clang-format on */

/* The answers to the steps of a case, as arrays that grow together. */
typedef struct columns {
    seine_json *ok, *wait, *left, *reset, *retry;
} columns;

/* Rounds a wait up to microseconds: a moment too early would be refused again. */
static seine_json *
json_microseconds(seine_span span)
{
    return span == SEINE_NEVER ? seine_json_new_null()
                               : seine_json_new_int(span / 1000 + (span % 1000 > 0));
}

static void
answer_limiter_step(columns *out, seine_limiter *lim, seine_time now, uint32_t n,
                    seine_time latest)
{
    seine_time at = now;
    bool ok = seine_limiter_reserve(lim, now, n, latest, &at);
    seine_time retry = ok ? now : seine_limiter_when(lim, now, n);

    jsonl_add(out->ok, seine_json_new_bool(ok));
    jsonl_add(out->wait,
              ok ? seine_json_new_int((at - now) / 1000) : seine_json_new_null());
    jsonl_add(out->left, seine_json_new_int(seine_limiter_left(lim, now)));
    jsonl_add(out->reset, json_microseconds(lim->full > now ? lim->full - now : 0));
    jsonl_add(out->retry, json_microseconds(retry == SEINE_NEVER ? retry : retry - now));
}

static bool
read_step(const seine_json *step, seine_time *now, uint32_t *n, seine_time *latest,
          reason *why)
{
    const char *op = NULL;
    int64_t tokens = 1;
    seine_span wait = SEINE_NEVER;

    if (seine_json_type_of(step) != SEINE_JSON_OBJECT)
        return reason_set(why, "not an object");
    /* A recorded case may hold the expected results as well. */
    if (!jsonl_known(step,
                     "op t_us t_ms n max_wait_us max_wait_ms ok wait_us act_ms "
                     "tokens_before remaining reset_ms retry_after_ms",
                     why) ||
        !jsonl_text(step, "op", &op, why) ||
        !jsonl_int(step, "n", 0, UINT32_MAX, &tokens, why) ||
        !jsonl_span(step, "t_us", SEINE_US(1), now, why) ||
        !jsonl_span(step, "t_ms", SEINE_MS(1), now, why) ||
        !jsonl_span(step, "max_wait_us", SEINE_US(1), &wait, why) ||
        !jsonl_span(step, "max_wait_ms", SEINE_MS(1), &wait, why))
        return false;
    if (!jsonl_has(step, "t_us") && !jsonl_has(step, "t_ms"))
        return reason_set(why, "no member 't_us'");
    if (wait < 0)
        return reason_set(why, "max_wait_us: must not be negative");
    if (op && strcmp(op, "allow") == 0)
        wait = 0;
    else if (!op || strcmp(op, "reserve") != 0)
        return op ? reason_set(why, "unknown op '%s'", show(op).text)
                  : reason_set(why, "no member 'op'");
    *n = (uint32_t)tokens;
    if (__builtin_add_overflow(*now, wait, latest))
        *latest = SEINE_NEVER;
    return true;
}

static bool
play_trace(const seine_json *steps, const policy *p, columns *out, reason *why)
{
    seine_limiter lim = {0, 0, 0, 0};

    for (size_t i = 0; i < seine_json_size(steps); i++) {
        seine_time now = 0, latest = 0;
        uint32_t n = 0;
        reason inner = {""};

        if (!read_step(seine_json_at(steps, i), &now, &n, &latest, &inner))
            return reason_set(why, "steps[%zu]: %s", i, inner.text);
        const char *bad = i == 0 ? sim_limiter_bucket(p, now, &lim) : NULL;
        if (bad)
            return reason_set(why, "rate: %s", bad);
        answer_limiter_step(out, &lim, now, n, latest);
    }
    return true;
}

static bool
answer_limiter_case(const seine_json *in, seine_json *out, reason *why)
{
    policy p = {{0, 0}, 1, SEINE_FULL, 0};
    int64_t burst = 1;
    const seine_json *steps = jsonl_array(in, "steps", why);

    if (!steps ||
        !jsonl_known(in, "id rate burst initial steps clock_goes_back note", why) ||
        !jsonl_pace(in, "rate", &p.rate, why) ||
        !jsonl_int(in, "burst", 1, UINT32_MAX, &burst, why) ||
        !jsonl_int(in, "initial", 0, UINT32_MAX, &p.initial, why))
        return false;
    if (!jsonl_has(in, "rate"))
        return reason_set(why, "no member 'rate'");
    p.burst = (uint32_t)burst;

    columns c = {seine_json_new_array(), seine_json_new_array(), seine_json_new_array(),
                 seine_json_new_array(), seine_json_new_array()};
    jsonl_set(out, "ok", c.ok);
    jsonl_set(out, "wait_us", c.wait);
    jsonl_set(out, "left", c.left);
    jsonl_set(out, "reset_us", c.reset);
    jsonl_set(out, "retry_us", c.retry);
    return play_trace(steps, &p, &c, why);
}

/* Prints one line about the policy and one about the trace. */
static void
introduce_limiter(const sim_limiter *sim, const settings *set, const screen *s)
{
    const trace *t = sim->trace;
    const policy *p = &sim->policy;
    seine_span length = trace_length(t);

    screen_put(s, INK_BOLD, "limit  ");
    if (p->rate.count == 0)
        out_text("off");
    else
        out_print("%s, burst %s", figure_rate(seine_frequency_per_second(p->rate)).text,
                  figure_count(p->burst).text);
    out_print("%s; what is over it %s%s\n", t->keys ? " for each key" : "",
              p->max_wait == 0             ? "is refused"
              : p->max_wait == SEINE_NEVER ? "waits"
                                           : "waits, at most ",
              p->max_wait == 0 || p->max_wait == SEINE_NEVER
                  ? ""
                  : figure_span(p->max_wait).text);
    screen_put(s, INK_BOLD, "trace  ");
    out_print("%s%s: %s request%s in %s", set->traffic ? "made-up " : "",
              show(t->name).text, figure_count(t->count).text, t->count == 1 ? "" : "s",
              figure_span(set->traffic ? set->length : length).text);
    if (t->dated)
        out_print(" from %s", log_date_date(t->epoch, t->zone).text);
    if (length > 0 && t->count > 1)
        out_print(", %s on average",
                  figure_rate((double)(t->count - 1) * 1e9 / (double)length).text);
    out_text("\n\n");
}

static int
show_all(const args *a, const sim_limiter *sim)
{
    const settings *set = a->settings;

    if (set->decisions)
        sim_limiter_decisions(sim);
    if (set->json)
        out_json(sim_limiter_summary(sim));
    if (set->decisions || set->json)
        return SAY_DONE;
    introduce_limiter(sim, set, &a->screen);
    if (set->plot)
        sim_limiter_plot(sim, &a->screen, set->bin);
    sim_limiter_sum_up(sim, &a->screen);
    return SAY_DONE;
}

static int
check_limiter_options(const args *a)
{
    const settings *set = a->settings;

    if (!options_given(a, "rate") && set->rate.per == 0)
        return say_fail(SAY_USAGE, "--rate 10/s", "no --rate given");
    if (set->traffic && a->count)
        return say_fail(SAY_USAGE, "one of the two", "--traffic and the trace '%s'",
                        show(a->words[0]).text);
    if (!set->traffic && (options_given(a, "for") || options_given(a, "seed")))
        return say_fail(SAY_USAGE, "--traffic 50/s", "--%s goes with --traffic",
                        options_given(a, "for") ? "for" : "seed");
    if (set->key &&
        (set->wait || options_given(a, "max-wait") || options_given(a, "initial")))
        return say_fail(SAY_USAGE, "one of the two", "--%s does not go with --key",
                        set->wait                      ? "wait"
                        : options_given(a, "max-wait") ? "max-wait"
                                                       : "initial");
    if (set->key && set->traffic)
        return say_fail(SAY_USAGE, "a trace with a key in it",
                        "--traffic does not go with --key");
    if (set->key && set->rate.count == 0)
        return say_fail(SAY_USAGE, "--rate 10/s", "--rate off does not go with --key");
    if (options_given(a, "bin") && set->bin < SEINE_US(1))
        return say_fail(SAY_USAGE, "--bin 1s", "--bin: must be at least 1us");
    return SAY_DONE;
}

/* Reads a key: "2" is the second word, "/host" the member `host`. */
static int
read_key(const char *key, trace_opts *opts)
{
    uint64_t word = 0;

    if (!key)
        return SAY_DONE;
    if (key[0] == '/' && key[1] && !strchr(key + 1, '/')) {
        opts->key_member = key + 1;
        return SAY_DONE;
    }
    if (seine_units_count(key, &word) || word == 0 || word > 1000)
        return say_fail(SAY_USAGE, "--key 1, or --key /host for JSON lines",
                        "--key '%s': neither a word's number nor /NAME", show(key).text);
    opts->key_word = word;
    return SAY_DONE;
}

static int
get_limiter_trace(const args *a, trace *t)
{
    const settings *set = a->settings;
    trace_opts opts = {
        .kind = TRACE_TOKENS, .skip_bad = set->skip_bad, .spread = set->spread};

    *t = (trace){.events = NULL};
    if (read_key(set->key, &opts) != SAY_DONE)
        return SAY_USAGE;
    if (set->traffic)
        return traffic_make(t, set->traffic, set->length, set->seed);
    return trace_read(t, a->count ? a->words[0] : NULL, &opts);
}

static int
simulate_limiter(const args *a, const trace *t)
{
    const settings *set = a->settings;
    policy p = {set->rate, (uint32_t)set->burst, SEINE_FULL, set->max_wait};
    sim_limiter sim;
    enum { MOST_ROWS = 1000 };

    if (set->wait && !options_given(a, "max-wait"))
        p.max_wait = SEINE_NEVER;
    if (options_given(a, "initial"))
        p.initial = (int64_t)set->initial;
    if (set->bin > 0 && trace_length(t) / set->bin >= MOST_ROWS)
        return say_fail(SAY_USAGE, "a longer --bin", "--bin: more than %d rows",
                        MOST_ROWS);
    int code = sim_limiter_run(&sim, t, &p);
    if (code != SAY_DONE)
        return code;
    code = show_all(a, &sim);
    sim_limiter_free(&sim);
    return code;
}

static int
run_limiter(const args *a)
{
    const settings *set = a->settings;
    trace t;

    if (set->jsonl)
        return jsonl_only(a)
                   ? jsonl_run(a->count ? a->words[0] : NULL, answer_limiter_case)
                   : SAY_USAGE;
    int code = check_limiter_options(a);
    if (code != SAY_DONE)
        return code;
    code = get_limiter_trace(a, &t);
    if (code == SAY_DONE)
        code = simulate_limiter(a, &t);
    if (code == SAY_DONE && !a->quiet)
        trace_notes(&t, set->spread);
    trace_free(&t);
    return code;
}
