/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/traceline.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <seine/plumbing.h>
#include <seine/retry.h>
#include <seine/units.h>

#include "screen/say.h"

bool
traceline_wrong(traceline *r, const char *at, const char *fmt, ...)
{
    va_list list;

    r->p = at;
    va_start(list, fmt);
    vsnprintf(r->why, sizeof r->why, fmt, list);
    va_end(list);
    return false;
}

static size_t
word_length(const char *p)
{
    return strcspn(p, " \t");
}

static const char *
next_word(const char *p)
{
    p += word_length(p);
    return p + strspn(p, " \t");
}

/* Reads a time: seconds (above ten years since 1970), a duration, or a date. */
static bool
read_time(traceline *r, const char *p, const char *after)
{
    char word[64];
    size_t n = (size_t)(after - p);
    const char *end = seine_timestamp_rfc3339(p, &r->date);

    if (end && (end == after || *end == ' ' || *end == '\t' || !*end)) {
        r->dated = true;
        r->p = end;
        return true;
    }
    r->p = after;
    if (seine_units_decimal(p, n, SEINE_SECS(1), &r->event.at)) {
        r->dated = r->event.at > SEINE_UNITS_TEN_YEARS;
        r->date = (seine_timestamp){r->event.at, 0, memchr(p, '.', n) != NULL};
        return true;
    }
    snprintf(word, sizeof word, "%.*s", (int)n, p);
    if (n < sizeof word && seine_units_span(word, &r->event.at) == NULL)
        return true;
    return traceline_wrong(r, p, "'%s' is not a time", show_bytes(p, n).text);
}

static bool
read_tokens(traceline *r, const char *p)
{
    char word[32];
    uint64_t n;

    snprintf(word, sizeof word, "%.*s", (int)word_length(p), p);
    if (word_length(p) >= sizeof word || seine_units_count(word, &n) || n > UINT32_MAX)
        return traceline_wrong(r, p, "'%s' is not a number of tokens",
                               show_bytes(p, word_length(p)).text);
    r->event.n = (uint32_t)n;
    return true;
}

/* The outcome that a breaker is told for a response of this status. */
static seine_outcome
status_outcome(unsigned status)
{
    static const seine_retry_opts opts = SEINE_RETRY_OPTS;
    seine_fault fault = SEINE_FAULT;

    fault.code = seine_retry_classify(&opts, status);
    fault.status = (uint16_t)status;
    return seine_outcome_breaker(&fault);
}

static bool
read_status(const char *p, size_t n, seine_outcome *out)
{
    if (n != 3 || p[0] < '1' || p[0] > '5' || !isdigit((unsigned char)p[1]) ||
        !isdigit((unsigned char)p[2]))
        return false;
    *out =
        status_outcome((unsigned)((p[0] - '0') * 100 + (p[1] - '0') * 10 + p[2] - '0'));
    return true;
}

static bool
read_outcome(traceline *r, const char *p)
{
    static const struct {
        const char *name;
        seine_outcome how;
    } words[] = {{"ok", SEINE_SUCCESS},      {"success", SEINE_SUCCESS},
                 {"fail", SEINE_FAILURE},    {"failure", SEINE_FAILURE},
                 {"error", SEINE_FAILURE},   {"timeout", SEINE_FAILURE},
                 {"ignored", SEINE_IGNORED}, {"canceled", SEINE_IGNORED}};
    size_t n = word_length(p);

    if (n == 0)
        return traceline_wrong(r, p, "the line does not say how the call went");
    if (read_status(p, n, &r->event.how))
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].name) == n && strncmp(words[i].name, p, n) == 0) {
            r->event.how = words[i].how;
            return true;
        }
    return traceline_wrong(r, p, "'%s' is neither ok nor fail nor an HTTP status",
                           show_bytes(p, n).text);
}

static bool
read_took(traceline *r, const char *p)
{
    char word[64];
    size_t n = word_length(p);

    snprintf(word, sizeof word, "%.*s", (int)n, p);
    if (n >= sizeof word || seine_units_span(word, &r->event.took))
        return traceline_wrong(r, p, "'%s' is not a duration", show_bytes(p, n).text);
    return true;
}

static bool
take_key(traceline *r, const char *at, const char *bytes, size_t n)
{
    if (n >= sizeof r->key)
        return traceline_wrong(r, at, "a key of more than %zu bytes", sizeof r->key - 1);
    memcpy(r->key, bytes, n);
    r->key[n] = '\0';
    return true;
}

static bool
word_key(traceline *r)
{
    const char *p = r->line;

    for (size_t i = 1; i < r->opts->key_word && *p; i++)
        p = next_word(p);
    if (!*p)
        return traceline_wrong(r, p, "no word %zu to be the key", r->opts->key_word);
    return take_key(r, p, p, word_length(p));
}

static bool
read_plain(traceline *r)
{
    const char *p = r->line;

    if (!read_time(r, p, p + word_length(p)))
        return false;
    p = next_word(r->p);
    if (r->opts->key_word == 2)
        p = next_word(p);
    if (r->opts->kind == TRACE_TOKENS && *p) {
        if (!read_tokens(r, p))
            return false;
        p = next_word(p);
    }
    if (r->opts->kind == TRACE_OUTCOMES) {
        if (!read_outcome(r, p))
            return false;
        p = next_word(p);
        if (*p && !read_took(r, p))
            return false;
        p = next_word(p);
    }
    return !*p || traceline_wrong(r, p, "'%s' is one word too many",
                                  show_bytes(p, word_length(p)).text);
}

/* Reads the status behind the quoted request line, in which \" does not end the quote. */
static bool
access_status(traceline *r, const char *p)
{
    while (*p && *p != '"')
        p++;
    for (p += *p == '"'; *p && *p != '"'; p++)
        p += *p == '\\' && p[1];
    const char *status = next_word(p);
    if (read_status(status, word_length(status), &r->event.how))
        return true;
    return traceline_wrong(r, status, "no HTTP status after the request");
}

/* Reads a line with the date of an access log in it. False: the line has none. */
static bool
find_access_log(traceline *r, const char **out_after)
{
    for (const char *p = strchr(r->line, '['); p; p = strchr(p + 1, '[')) {
        const char *end = seine_timestamp_access_log(p + 1, &r->date);

        if (end && *end == ']') {
            r->dated = true;
            *out_after = end + 1;
            return true;
        }
    }
    return false;
}

static bool
json_time(traceline *r, const seine_json *json)
{
    const seine_json *t = seine_json_get(json, "t"), *ts = seine_json_get(json, "ts");
    const char *text = NULL;
    size_t len = 0;
    double number;
    seine_text digits = {NULL, 0};
    bool good = false;

    if (!t)
        t = ts;
    if (seine_json_string(t, &text, &len))
        good = read_time(r, text, text + len);
    else if (seine_json_number(t, &number) && seine_json_print(t, &digits) == SEINE_OK)
        good = read_time(r, digits.bytes, digits.bytes + digits.len);
    if (!good)
        traceline_wrong(r, r->line, t ? "its time is not one" : "no member 't' or 'ts'");
    seine_text_free(&digits);
    r->p = r->line;
    return good;
}

static bool
json_outcome(traceline *r, const seine_json *json)
{
    int64_t status;
    bool ok;
    double ms = 0;

    if (seine_json_int(seine_json_get(json, "status"), &status)) {
        if (status < 100 || status > 599)
            return traceline_wrong(r, r->line, "'status' is not an HTTP status");
        r->event.how = status_outcome((unsigned)status);
    } else if (seine_json_bool(seine_json_get(json, "ok"), &ok))
        r->event.how = ok ? SEINE_SUCCESS : SEINE_FAILURE;
    else
        return traceline_wrong(r, r->line, "no member 'ok' or 'status'");
    if (seine_json_number(seine_json_get(json, "duration_ms"), &ms)) {
        if (!(ms >= 0 && ms < 1e12))
            return traceline_wrong(r, r->line, "'duration_ms' is not a duration");
        r->event.took = (seine_span)(ms * 1e6 + 0.5);
    }
    return true;
}

static bool
json_tokens(traceline *r, const seine_json *json)
{
    const seine_json *value = seine_json_get(json, "n");
    int64_t n = 1;

    if (value && (!seine_json_int(value, &n) || n < 0 || n > UINT32_MAX))
        return traceline_wrong(r, r->line, "'n' is not a number of tokens");
    r->event.n = (uint32_t)n;
    return true;
}

static bool
json_key(traceline *r, const seine_json *json)
{
    const char *name = r->opts->key_member;
    const seine_json *value = name ? seine_json_get(json, name) : NULL;
    const char *text;
    size_t len;
    int64_t number;

    if (!name)
        return r->opts->key_word == 0 ||
               traceline_wrong(r, r->line, "a JSON object has no words");
    if (seine_json_string(value, &text, &len))
        return strlen(text) == len
                   ? take_key(r, r->line, text, len)
                   : traceline_wrong(r, r->line, "a zero byte in the key");
    if (seine_json_int(value, &number)) {
        snprintf(r->key, sizeof r->key, "%lld", (long long)number);
        return true;
    }
    return traceline_wrong(r, r->line, "no text in '%s' to be the key", show(name).text);
}

static bool
read_json(traceline *r)
{
    seine_json *json = NULL;
    seine_json_fault fault;

    if (seine_json_parse(r->line, strlen(r->line), &json, &fault) != SEINE_OK)
        return traceline_wrong(r, r->line + fault.offset, "%s", show(fault.text).text);
    bool good =
        json_time(r, json) && json_key(r, json) &&
        (r->opts->kind == TRACE_OUTCOMES ? json_outcome(r, json) : json_tokens(r, json));
    seine_json_free(json);
    return good;
}

bool
traceline_read(traceline *r)
{
    const char *after;

    if (strlen(r->line) < r->len)
        return traceline_wrong(r, r->line + strlen(r->line), "a zero byte");
    if (r->line[0] == '{')
        return read_json(r);
    if (r->opts->key_member)
        return traceline_wrong(r, r->line, "a key by name needs JSON lines");
    if (r->opts->key_word && !word_key(r))
        return false;
    if (!find_access_log(r, &after))
        return read_plain(r);
    return r->opts->kind == TRACE_TOKENS || access_status(r, after);
}
