/* SPDX-License-Identifier: Apache-2.0 */
#include "options/option_specs.h"

#include <stdlib.h>
#include <string.h>

#include <seine/units.h>

#include "screen/xalloc.h"

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

const char *
option_specs_ratio(const char *text, uint64_t *out_ratio, uint64_t *out_from)
{
    const char *colon = strchr(text, ':');
    uint64_t ratio, from = *out_from;

    if (strcmp(text, "off") == 0) {
        *out_ratio = 0;
        return NULL;
    }
    char *copy = xalloc_copy(text, colon ? (size_t)(colon - text) : strlen(text));
    const char *why = seine_units_count(copy, &ratio);
    free(copy);
    if (!why && ratio == 0)
        why = "must be above 0";
    if (!why && colon)
        why = seine_units_size(colon + 1, &from);
    if (why)
        return why;
    *out_ratio = ratio;
    *out_from = from;
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

const char *
option_specs_fail_on(const char *text, quota *out_quota)
{
    return strcmp(text, "off") == 0 ? "not a number of URLs"
                                    : option_specs_quota(text, out_quota);
}

const char *
option_specs_max_errors(const char *text, quota *out_quota)
{
    quota q;
    bool is_word = strspn(text, "0123456789") == 0 && strcmp(text, "off") != 0;
    const char *why = option_specs_quota(text, &q);

    if (!why && is_word)
        why = "not a number of errors";
    if (!why)
        *out_quota = q;
    return why;
}

static bool
is_token(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] <= ' ' || text[i] >= 0x7f || strchr("/()<>@,;:\\\"[]?=", text[i]))
            return false;
    return n > 0;
}

bool
option_specs_are_types(const char *text, seine_view *out_bad)
{
    for (const char *p = text; *p;) {
        p += strspn(p, " ");
        size_t n = strcspn(p, ","), slash = strcspn(p, "/");
        bool fine = (n == 1 && *p == '*') || (slash < n && is_token(p, slash) &&
                                              is_token(p + slash + 1, n - slash - 1));
        if (!fine) {
            *out_bad = (seine_view){p, n};
            return false;
        }
        p += n + (p[n] == ',');
    }
    return true;
}

bool
option_specs_is_line(const char *text)
{
    size_t n = 0;

    for (; text[n]; n++)
        if (((unsigned char)text[n] < ' ' && text[n] != '\t') || text[n] == 0x7f)
            return false;
    return n <= OPTION_LINE_MOST;
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
