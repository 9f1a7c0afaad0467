/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/flow.h"

#include <string.h>

#include "chaos/arg.h"

enum { FOR_P = 401 };

/* Reads 10, 30/m: requests per second, minute or hour. The window is a millisecond
 * shorter, because arrival times are no more exact than that. */
static bool
read_rate(snc_flow *f, sn_str value)
{
    sn_str count, unit;
    seine_span window = SEINE_SECS(1);

    sn_str_cut(value, '/', &count, &unit);
    if (sn_str_eq(unit, SN_STR("m")))
        window = SEINE_SECS(60);
    else if (sn_str_eq(unit, SN_STR("h")))
        window = SEINE_SECS(3600);
    else if (unit.len > 0 && !sn_str_eq(unit, SN_STR("s")))
        return false;
    f->window = window - SEINE_MS(1);
    return snc_arg_count(count, SNC_FLOW_RATE, &f->rate) && f->rate > 0;
}

/* Reads one step of 5ok5fail: its length, and whether it fails. */
static bool
next_step(sn_str *rest, uint64_t *out_times, bool *out_fails)
{
    size_t digits = 0;

    while (digits < rest->len && sn_is_digit(rest->ptr[digits]))
        digits++;
    if (!snc_arg_count(sn_str_slice(*rest, 0, digits), 1000000, out_times) ||
        *out_times == 0)
        return false;
    *rest = sn_str_slice(*rest, digits, rest->len);
    *out_fails = sn_str_starts(*rest, SN_STR("fail"));
    if (!*out_fails && !sn_str_starts(*rest, SN_STR("ok")))
        return false;
    *rest = sn_str_slice(*rest, *out_fails ? 4 : 2, rest->len);
    return true;
}

/* The length of the whole cycle; 0: the text is none. */
static uint64_t
cycle(sn_str pattern)
{
    uint64_t sum = 0, times;
    bool fails;

    while (pattern.len > 0) {
        if (!next_step(&pattern, &times, &fails))
            return 0;
        sum += times;
    }
    return sum;
}

static const char *
read_word(snc_flow *f, sn_str name, sn_str value)
{
    if (sn_str_eq(name, SN_STR("fail")))
        return snc_arg_count(value, UINT64_MAX, &f->fail) ? NULL : "fail wants a number";
    if (sn_str_eq(name, SN_STR("with")))
        return f->with = value, NULL;
    if (sn_str_eq(name, SN_STR("pattern")))
        return f->pattern = value,
               cycle(value) > 0 ? NULL : "pattern wants steps, like 5ok5fail";
    if (sn_str_eq(name, SN_STR("seq")))
        return f->seq = value,
               value.len > 0 ? NULL : "seq wants words, like status:500,ok";
    if (sn_str_eq(name, SN_STR("rate")))
        return read_rate(f, value)
                   ? NULL
                   : "rate wants a number, like 10 or 30/m, at most 10000";
    if (sn_str_eq(name, SN_STR("retry_after")))
        return f->retry_after = value, NULL;
    if (sn_str_eq(name, SN_STR("p")))
        return snc_arg_share(value, &f->p) ? NULL : "p wants a probability from 0 to 1";
    if (sn_str_eq(name, SN_STR("max")))
        return snc_arg_count(value, UINT32_MAX, &f->max) && f->max > 0
                   ? NULL
                   : "max wants a number";
    if (sn_str_eq(name, SN_STR("key")))
        f->key = value;
    return NULL;
}

bool
snc_flow_parse(sn_str query, sn_arena *arena, snc_flow *out_flow, const char **out_why)
{
    sn_str part, name, value;

    *out_flow = (snc_flow){.fail = 0};
    *out_why = NULL;
    while (!*out_why && sn_str_next(&query, '&', &part)) {
        sn_str_cut(part, '=', &name, &value);
        value = snc_arg_decode(value, arena);
        if (!value.ptr)
            value = SN_STR("");
        *out_why = read_word(out_flow, name, value);
    }
    return !*out_why;
}

static sn_str
nth_element(sn_str seq, uint64_t hit)
{
    sn_str part = {NULL, 0};

    for (uint64_t i = 0; i < hit && sn_str_next(&seq, ',', &part);)
        i++;
    return part;
}

static bool
pattern_fails(sn_str pattern, uint64_t hit)
{
    uint64_t length = cycle(pattern), times;
    uint64_t at = length > 0 ? (hit - 1) % length : 0;
    bool fails = false;

    while (next_step(&pattern, &times, &fails) && at >= times)
        at -= times;
    return fails;
}

snc_verdict
snc_flow_decide(const snc_flow *f, const snc_turn *turn)
{
    snc_verdict with = {true, f->with.len > 0 ? f->with : SN_STR("status:503")};

    if (f->max > 0 && turn->in_flight > f->max)
        return (snc_verdict){true, SN_STR("status:503")};
    if (turn->too_fast)
        return (snc_verdict){true, SN_STR("status:429")};
    if (f->seq.ptr) {
        sn_str words = nth_element(f->seq, turn->hit);

        if (words.len > 0 && !sn_str_eq(words, SN_STR("ok")))
            return (snc_verdict){true, words};
    }
    if (f->pattern.ptr && pattern_fails(f->pattern, turn->hit))
        return with;
    if (turn->hit <= f->fail)
        return with;
    if (f->p > 0 &&
        snc_below(snc_dice(turn->seed, turn->key, turn->hit, FOR_P), 1000000000) < f->p)
        return with;
    return (snc_verdict){false, {NULL, 0}};
}
