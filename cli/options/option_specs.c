/* SPDX-License-Identifier: Apache-2.0 */
#include "options/option_specs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/units.h>

#include "screen/say.h"
#include "screen/xalloc.h"

enum { LAST_STATUS = 599, FIRST_STATUS = 100 };

/* 200, 200-299, 2xx */
static bool
read_statuses(const char *word, unsigned *out_first, unsigned *out_last)
{
    size_t n = strlen(word);
    bool digits = true;
    unsigned value[2] = {0, 0};

    for (size_t i = 0; i < n; i++)
        digits =
            digits && (isdigit((unsigned char)word[i]) || (i == 3 && word[i] == '-'));
    if (n == 3 && isdigit((unsigned char)word[0]) &&
        tolower((unsigned char)word[1]) == 'x' &&
        tolower((unsigned char)word[2]) == 'x') {
        *out_first = 100 * (unsigned)(word[0] - '0');
        *out_last = *out_first + 99;
    } else if (digits && (n == 3 || n == 7)) {
        for (size_t k = 0; k < 2; k++)
            for (size_t i = 0; i < 3; i++)
                value[k] = 10 * value[k] + (unsigned)(word[(n == 7) * k * 4 + i] - '0');
        *out_first = value[0];
        *out_last = value[1];
    } else {
        return false;
    }
    return *out_first >= FIRST_STATUS && *out_last <= LAST_STATUS &&
           *out_first <= *out_last;
}

static bool
read_also(const char *word, const char *const *also, bool remove, uint32_t *bits)
{
    for (size_t i = 0; also && also[i]; i++)
        if (strcmp(word, also[i]) == 0) {
            *bits = remove ? *bits & ~(UINT32_C(1) << i) : *bits | UINT32_C(1) << i;
            return true;
        }
    return false;
}

const char *
option_specs_statuses(const char *text, const char *const *also,
                      seine_status_set *out_set, uint32_t *out_also, char why[SPECS_WHY])
{
    char *copy = xalloc_copy(text, strlen(text)), *rest = copy, *word;
    seine_status_set set = {{0}};
    uint32_t bits = 0;
    const char *bad = NULL;

    while (!bad && (word = strsep(&rest, ",")) != NULL) {
        bool remove = word[0] == '!';
        unsigned first, last;

        word += remove;
        if (read_also(word, also, remove, &bits))
            continue;
        if (!read_statuses(word, &first, &last)) {
            snprintf(why, SPECS_WHY, "'%.40s' is no status", show(word).text);
            bad = why;
            break;
        }
        if (remove)
            seine_status_set_remove(&set, first, last);
        else
            seine_status_set_add(&set, first, last);
    }
    free(copy);
    if (bad)
        return bad;
    *out_set = set;
    if (out_also)
        *out_also = bits;
    return NULL;
}

const char *
option_specs_range(const char *text, seine_span *out_first, seine_span *out_last)
{
    const char *dots = strstr(text, "..");
    seine_span first, last;

    if (!dots)
        return "not two durations";
    char *copy = xalloc_copy(text, (size_t)(dots - text));
    const char *why = seine_units_span(copy, &first);
    free(copy);
    if (!why)
        why = seine_units_span(dots + 2, &last);
    if (!why && last < first)
        why = "the second is shorter than the first";
    if (why)
        return why;
    *out_first = first;
    *out_last = last;
    return NULL;
}

const char *
option_specs_speed(const char *text, uint64_t *out_bytes, seine_span *out_span)
{
    const char *slash = strchr(text, '/');
    uint64_t bytes;
    seine_span span;

    if (strcmp(text, "off") == 0) {
        *out_bytes = 0;
        return NULL;
    }
    if (!slash)
        return "not SIZE/DURATION";
    char *copy = xalloc_copy(text, (size_t)(slash - text));
    const char *why = seine_units_size(copy, &bytes);
    free(copy);
    if (!why)
        why = seine_units_span(slash + 1, &span);
    if (!why && (bytes == 0 || span == 0))
        why = "must be above 0";
    if (why)
        return why;
    *out_bytes = bytes;
    *out_span = span;
    return NULL;
}

static const char *
read_small(const char *text, uint64_t min, uint64_t max, uint32_t *out)
{
    uint64_t n;
    const char *why = seine_units_count(text, &n);

    if (!why && (n < min || n > max))
        why = "out of its range";
    if (!why)
        *out = (uint32_t)n;
    return why;
}

static const char *
breaker_value(const char *key, const char *value, seine_breaker_opts *o, uint32_t *park)
{
    if (strcmp(key, "fail") == 0)
        return read_small(value, 0, UINT32_MAX, &o->failure_threshold);
    if (strcmp(key, "open") == 0)
        return seine_units_span(value, &o->open_for);
    if (strcmp(key, "max-open") == 0)
        return seine_units_span(value, &o->open_max);
    if (strcmp(key, "rate") == 0)
        return seine_units_share(value, 100, &o->failure_pct);
    if (strcmp(key, "min") == 0)
        return read_small(value, 1, 1024, &o->min_calls);
    if (strcmp(key, "window") == 0)
        return read_small(value, 1, 1024, &o->window_calls);
    if (strcmp(key, "probes") == 0)
        return read_small(value, 1, 64, &o->half_open_max);
    if (strcmp(key, "close") == 0)
        return read_small(value, 1, UINT32_MAX, &o->success_threshold);
    if (strcmp(key, "park") == 0)
        return read_small(value, 1, UINT32_MAX, park);
    return "unknown key";
}

const char *
option_specs_breaker(const char *text, seine_breaker_opts *breaker, uint32_t *park,
                     char why[SPECS_WHY])
{
    enum { WINDOW = 100 };
    seine_breaker_opts o = *breaker;
    uint32_t probes = *park;
    bool max_open = strstr(text, "max-open") != NULL;

    if (strcmp(text, "off") == 0) {
        breaker->failure_threshold = breaker->failure_pct = 0;
        return NULL;
    }
    char *copy = xalloc_copy(text, strlen(text)), *rest = copy, *part;
    const char *bad = NULL;
    while (!bad && (part = strsep(&rest, ",")) != NULL) {
        char *equals = strchr(part, '=');

        if (equals)
            *equals = '\0';
        bad = equals ? breaker_value(part, equals + 1, &o, &probes) : "no value";
        if (bad) {
            snprintf(why, SPECS_WHY, "'%.30s': %s", show(part).text, bad);
            bad = why;
        }
    }
    /* A rate alone means a rate alone. */
    if (o.failure_pct && !strstr(text, "fail="))
        o.failure_threshold = 0;
    if (o.failure_pct && o.window_calls == 0)
        o.window_calls = WINDOW;
    free(copy);
    if (!bad && o.failure_threshold == 0 && o.failure_pct == 0)
        bad = "nothing would open it; off switches it off";
    if (!max_open && o.open_max < o.open_for)
        o.open_max = o.open_for;
    if (!bad && o.open_max < o.open_for)
        bad = "max-open is shorter than open";
    if (!bad && o.failure_pct && o.min_calls > o.window_calls)
        bad = "min is more than the window";
    if (bad)
        return bad;
    *breaker = o;
    *park = probes;
    return NULL;
}

const char *
option_specs_quota(const char *text, quota *out_quota)
{
    quota q = {0, 0, false};
    const char *why = NULL;

    if (strcmp(text, "any") == 0)
        q.count = 1;
    else if (strcmp(text, "all") == 0)
        q.all = true;
    else if (strchr(text, '%'))
        why = seine_units_share(text, 100, &q.percent);
    else if (strcmp(text, "none") != 0 && strcmp(text, "off") != 0)
        why = seine_units_count(text, &q.count);
    if (!why && strchr("0123456789", text[0]) && q.count == 0 && q.percent == 0)
        why = "must be above 0";
    if (!why)
        *out_quota = q;
    return why;
}

bool
quota_is_reached(const quota *q, uint64_t n, uint64_t of)
{
    if (n == 0)
        return false;
    if (q->all)
        return n >= of;
    if (q->percent)
        return 100.0 * (double)n >= (double)q->percent * (double)of;
    return q->count > 0 && n >= q->count;
}
