/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/breaker_spec.h"

#include <string.h>

#include "base/diag.h"
#include "seine/units.h"

enum { WINDOW = 100, LONGEST = 64 };

typedef struct spec {
    seine_breaker_opts opts;
    uint32_t park;
    bool has_park, has_fail, has_max_open;
} spec;

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

/* Reads one value; the reason why it is none, or NULL. */
static const char *
read_value(spec *s, const char *key, const char *value)
{
    seine_breaker_opts *o = &s->opts;

    s->has_fail |= strcmp(key, "fail") == 0;
    s->has_max_open |= strcmp(key, "max-open") == 0;
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
    if (strcmp(key, "park") == 0 && s->has_park)
        return read_small(value, 1, UINT32_MAX, &s->park);
    return "unknown key";
}

/* Reads "key=value". */
static seine_err
read_part(spec *s, const char *part, size_t len, seine_diag *diag)
{
    char text[LONGEST];
    const char *why = "too long";

    if (len < sizeof text) {
        memcpy(text, part, len);
        text[len] = '\0';
        char *equals = strchr(text, '=');

        if (equals)
            *equals = '\0';
        why = equals ? read_value(s, text, equals + 1) : "no value";
    } else {
        memcpy(text, part, sizeof text - 1);
        text[sizeof text - 1] = '\0';
    }
    return why ? sn_diag_option(diag, text, "%s", why) : SEINE_OK;
}

/* Fills in what follows from the given keys. Returns what contradicts itself, or NULL. */
static const char *
complete(spec *s)
{
    seine_breaker_opts *o = &s->opts;

    if (o->failure_pct && !s->has_fail) /* a rate replaces the failures in a row */
        o->failure_threshold = 0;
    if (o->failure_pct && o->window_calls == 0)
        o->window_calls = WINDOW;
    if (!s->has_max_open && o->open_max < o->open_for)
        o->open_max = o->open_for;
    if (o->failure_threshold == 0 && o->failure_pct == 0)
        return "nothing would open it; off switches it off";
    if (o->open_max < o->open_for)
        return "max-open is shorter than open";
    if (o->failure_pct && o->min_calls > o->window_calls)
        return "min is more than the window";
    return NULL;
}

seine_err
seine_breaker_spec(const char *text, seine_breaker_opts *opts, uint32_t *park,
                   seine_diag *diag)
{
    if (!text || !opts)
        return SEINE_E_INVAL;
    spec s = {.opts = *opts, .park = park ? *park : 0, .has_park = park != NULL};
    seine_err e = SEINE_OK;

    sn_diag_clear(diag);
    if (strcmp(text, "off") == 0) {
        opts->failure_threshold = opts->failure_pct = 0;
        return SEINE_OK;
    }
    for (const char *p = text, *end; p && e == SEINE_OK; p = *end ? end + 1 : NULL) {
        end = p + strcspn(p, ",");
        e = read_part(&s, p, (size_t)(end - p), diag);
    }
    const char *why = e == SEINE_OK ? complete(&s) : NULL;
    if (why)
        e = sn_diag_option(diag, "", "%s", why);
    if (e != SEINE_OK)
        return e;
    *opts = s.opts;
    if (park)
        *park = s.park;
    return SEINE_OK;
}
