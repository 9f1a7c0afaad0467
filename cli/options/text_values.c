/* SPDX-License-Identifier: Apache-2.0 */
#include "options/text_values.h"

#include <stdio.h>
#include <string.h>

#include <seine/breaker_spec.h>
#include <seine/status_set.h>
#include <seine/units.h>

#include "options/option_specs.h"
#include "screen/say.h"

static const char *
check_range(const char *text, char *why)
{
    seine_span first, last;

    (void)why;
    return option_specs_range(text, &first, &last);
}

static const char *
check_speed(const char *text, char *why)
{
    uint64_t bytes;
    seine_span span;

    (void)why;
    return option_specs_speed(text, &bytes, &span);
}

static const char *
check_ratio(const char *text, char *why)
{
    uint64_t ratio, from = 0;

    (void)why;
    return option_specs_ratio(text, &ratio, &from);
}

static const char *
check_fail_on(const char *text, char *why)
{
    quota q;

    (void)why;
    return option_specs_fail_on(text, &q);
}

static const char *
check_max_errors(const char *text, char *why)
{
    quota q;
    const char *bad = option_specs_max_errors(text, &q);

    if (bad)
        snprintf(why, VALUES_WHY, "%s; try 100, 20%% or off", bad);
    return bad ? why : NULL;
}

/* The reader of values tells what is no duration. */
static const char *
check_timeout(const char *text, char *why)
{
    seine_span span = 1;

    (void)why;
    return !seine_units_span(text, &span) && span == 0 ? "a timeout must be above 0"
                                                       : NULL;
}

static const char *
check_types(const char *text, char *why)
{
    seine_view bad = {NULL, 0};

    if (option_specs_are_types(text, &bad))
        return NULL;
    snprintf(why, VALUES_WHY, "'%.30s' is no media type; try text/html,image/*",
             show_bytes(bad.ptr, bad.len).text);
    return why;
}

static const char *
check_line(const char *text, char *why)
{
    (void)why;
    return option_specs_is_line(text) ? NULL
                                      : "not a value; try one line of at most 256 bytes";
}

/* A product token, no longer than the fetcher takes it. */
static const char *
check_token(const char *text, char *why)
{
    static const char signs[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t n = strlen(text);

    (void)why;
    return n < 64 && strspn(text, signs) == n ? NULL
                                              : "letters, digits, '-' and '_'; try mybot";
}

static const char *
check_share(const char *text, char *why)
{
    uint32_t percent;

    (void)why;
    return strcmp(text, "off") == 0 ? NULL : seine_units_share(text, 100000, &percent);
}

static const char *
check_breaker(const char *text, char *why)
{
    seine_breaker_opts o = SEINE_BREAKER_OPTS;
    uint32_t park = 0;
    seine_diag diag = SEINE_DIAG;

    if (seine_breaker_spec(text, &o, &park, &diag) == SEINE_OK)
        return NULL;
    if (diag.member[0])
        snprintf(why, VALUES_WHY, "'%.30s': %.60s", show(diag.member).text, diag.text);
    else
        snprintf(why, VALUES_WHY, "%.90s", diag.text);
    return why;
}

static const char *
check_statuses(const char *text, const char *const *words, char *why)
{
    seine_status_set set;
    uint32_t found = 0;
    seine_view word = {NULL, 0};

    if (seine_status_set_parse(text, words, &set, words ? &found : NULL, &word) ==
        SEINE_OK)
        return NULL;
    snprintf(why, VALUES_WHY, "'%.40s' is no status",
             show_bytes(word.ptr ? word.ptr : "", word.len).text);
    return why;
}

static const char *
check_accept(const char *text, char *why)
{
    return check_statuses(text, NULL, why);
}

static const char *
check_retry_on(const char *text, char *why)
{
    static const char *const also[] = {"net", "timeout", NULL};

    return check_statuses(text, also, why);
}

const char *
text_values_check(const char *name, const char *text, char why[VALUES_WHY])
{
    static const struct {
        const char *name;
        const char *(*check)(const char *text, char *why);
    } rows[] = {
        {"backoff", check_range},
        {"min-speed", check_speed},
        {"max-ratio", check_ratio},
        {"fail-on", check_fail_on},
        {"max-errors", check_max_errors},
        {"retry-budget", check_share},
        {"breaker", check_breaker},
        {"accept", check_accept},
        {"retry-on", check_retry_on},
        {"timeout", check_timeout},
        {"connect-timeout", check_timeout},
        {"dns-timeout", check_timeout},
        {"tcp-timeout", check_timeout},
        {"tls-timeout", check_timeout},
        {"head-timeout", check_timeout},
        {"accept-type", check_types},
        {"user-agent", check_line},
        {"contact", check_line},
        {"referer", check_line},
        {"robots-agent", check_token},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].check(text, why);
    return NULL;
}
