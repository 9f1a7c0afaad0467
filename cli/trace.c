/* SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/plumbing.h>
#include <seine/retry.h>

#include "heap.h"
#include "lines.h"
#include "moment.h"
#include "out.h"
#include "say.h"
#include "screen.h"
#include "units.h"

enum { SHOW_MOST = 20 };

/* One line being read. `p` is where the reader stands when it gives up. */
typedef struct reader {
    const trace_opts *opts;
    const char *line, *p;
    size_t len; /* of the line, zero bytes included */
    event event;
    moment moment;
    bool dated;
    char key[256];
    char why[160];
} reader;

static bool wrong(reader *r, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static bool
wrong(reader *r, const char *at, const char *fmt, ...)
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

/* Seconds, since 1970 when they are more than ten years; a duration; a date. */
static bool
read_time(reader *r, const char *p, const char *after)
{
    char word[64];
    size_t n = (size_t)(after - p);
    const char *end = moment_rfc3339(p, &r->moment);

    if (end && (end == after || *end == ' ' || *end == '\t' || !*end)) {
        r->dated = true;
        r->p = end;
        return true;
    }
    r->p = after;
    if (units_decimal(p, n, SEINE_SECS(1), &r->event.at)) {
        r->dated = r->event.at > UNITS_TEN_YEARS;
        r->moment = (moment){r->event.at, 0, memchr(p, '.', n) != NULL};
        return true;
    }
    snprintf(word, sizeof word, "%.*s", (int)n, p);
    if (n < sizeof word && units_span(word, &r->event.at) == NULL)
        return true;
    return wrong(r, p, "'%s' is not a time", show_bytes(p, n).text);
}

static bool
read_tokens(reader *r, const char *p)
{
    char word[32];
    uint64_t n;

    snprintf(word, sizeof word, "%.*s", (int)word_length(p), p);
    if (word_length(p) >= sizeof word || units_count(word, &n) || n > UINT32_MAX)
        return wrong(r, p, "'%s' is not a number of tokens",
                     show_bytes(p, word_length(p)).text);
    r->event.n = (uint32_t)n;
    return true;
}

/* What a breaker is told about an answer of this status. */
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
read_outcome(reader *r, const char *p)
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
        return wrong(r, p, "the line does not say how the call went");
    if (read_status(p, n, &r->event.how))
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].name) == n && strncmp(words[i].name, p, n) == 0) {
            r->event.how = words[i].how;
            return true;
        }
    return wrong(r, p, "'%s' is neither ok nor fail nor an HTTP status",
                 show_bytes(p, n).text);
}

static bool
read_took(reader *r, const char *p)
{
    char word[64];
    size_t n = word_length(p);

    snprintf(word, sizeof word, "%.*s", (int)n, p);
    if (n >= sizeof word || units_span(word, &r->event.took))
        return wrong(r, p, "'%s' is not a duration", show_bytes(p, n).text);
    return true;
}

static bool
take_key(reader *r, const char *at, const char *bytes, size_t n)
{
    if (n >= sizeof r->key)
        return wrong(r, at, "a key of more than %zu bytes", sizeof r->key - 1);
    memcpy(r->key, bytes, n);
    r->key[n] = '\0';
    return true;
}

static bool
word_key(reader *r)
{
    const char *p = r->line;

    for (size_t i = 1; i < r->opts->key_word && *p; i++)
        p = next_word(p);
    if (!*p)
        return wrong(r, p, "no word %zu to be the key", r->opts->key_word);
    return take_key(r, p, p, word_length(p));
}

static bool
read_plain(reader *r)
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
    return !*p ||
           wrong(r, p, "'%s' is one word too many", show_bytes(p, word_length(p)).text);
}

/* The status after the quoted request line, inside which \" is no end. */
static bool
access_status(reader *r, const char *p)
{
    while (*p && *p != '"')
        p++;
    for (p += *p == '"'; *p && *p != '"'; p++)
        p += *p == '\\' && p[1];
    const char *status = next_word(p);
    if (read_status(status, word_length(status), &r->event.how))
        return true;
    return wrong(r, status, "no HTTP status after the request");
}

/* Whether the line holds the date of an access log; then it is one. */
static bool
find_access_log(reader *r, const char **out_after)
{
    for (const char *p = strchr(r->line, '['); p; p = strchr(p + 1, '[')) {
        const char *end = moment_access_log(p + 1, &r->moment);

        if (end && *end == ']') {
            r->dated = true;
            *out_after = end + 1;
            return true;
        }
    }
    return false;
}

static bool
json_time(reader *r, const seine_json *json)
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
        wrong(r, r->line, t ? "its time is not one" : "no member 't' or 'ts'");
    seine_text_free(&digits);
    r->p = r->line;
    return good;
}

static bool
json_outcome(reader *r, const seine_json *json)
{
    int64_t status;
    bool ok;
    double ms = 0;

    if (seine_json_int(seine_json_get(json, "status"), &status)) {
        if (status < 100 || status > 599)
            return wrong(r, r->line, "'status' is not an HTTP status");
        r->event.how = status_outcome((unsigned)status);
    } else if (seine_json_bool(seine_json_get(json, "ok"), &ok))
        r->event.how = ok ? SEINE_SUCCESS : SEINE_FAILURE;
    else
        return wrong(r, r->line, "no member 'ok' or 'status'");
    if (seine_json_number(seine_json_get(json, "duration_ms"), &ms)) {
        if (!(ms >= 0 && ms < 1e12))
            return wrong(r, r->line, "'duration_ms' is not a duration");
        r->event.took = (seine_span)(ms * 1e6 + 0.5);
    }
    return true;
}

static bool
json_tokens(reader *r, const seine_json *json)
{
    const seine_json *value = seine_json_get(json, "n");
    int64_t n = 1;

    if (value && (!seine_json_int(value, &n) || n < 0 || n > UINT32_MAX))
        return wrong(r, r->line, "'n' is not a number of tokens");
    r->event.n = (uint32_t)n;
    return true;
}

static bool
json_key(reader *r, const seine_json *json)
{
    const char *name = r->opts->key_member;
    const seine_json *value = name ? seine_json_get(json, name) : NULL;
    const char *text;
    size_t len;
    int64_t number;

    if (!name)
        return r->opts->key_word == 0 || wrong(r, r->line, "a JSON object has no words");
    if (seine_json_string(value, &text, &len))
        return strlen(text) == len ? take_key(r, r->line, text, len)
                                   : wrong(r, r->line, "a zero byte in the key");
    if (seine_json_int(value, &number)) {
        snprintf(r->key, sizeof r->key, "%lld", (long long)number);
        return true;
    }
    return wrong(r, r->line, "no text in '%s' to be the key", show(name).text);
}

static bool
read_json(reader *r)
{
    seine_json *json = NULL;
    seine_json_fault fault;

    if (seine_json_parse(r->line, strlen(r->line), &json, &fault) != SEINE_OK)
        return wrong(r, r->line + fault.offset, "%s", show(fault.text).text);
    bool good =
        json_time(r, json) && json_key(r, json) &&
        (r->opts->kind == TRACE_OUTCOMES ? json_outcome(r, json) : json_tokens(r, json));
    seine_json_free(json);
    return good;
}

static bool
read_line(reader *r)
{
    const char *after;

    if (strlen(r->line) < r->len)
        return wrong(r, r->line + strlen(r->line), "a zero byte");
    if (r->line[0] == '{')
        return read_json(r);
    if (r->opts->key_member)
        return wrong(r, r->line, "a key by name needs JSON lines");
    if (r->opts->key_word && !word_key(r))
        return false;
    if (!find_access_log(r, &after))
        return read_plain(r);
    return r->opts->kind == TRACE_TOKENS || access_status(r, after);
}

/* The line with a caret under the place, when it is short and plain enough. */
static void
point_at(const char *line, size_t column)
{
    size_t n = strlen(line), plain = 0;

    while (plain < n && line[plain] >= ' ' && line[plain] < 0x7f)
        plain++;
    if (n > 76 || plain < n || column > n)
        return;
    fprintf(stderr, "  %s\n  %*s^\n", line, (int)column, "");
}

/* Collects the requests of a file and what is wrong with it. */
typedef struct reading {
    trace *trace;
    size_t cap, mistakes, fine, keys_len, keys_cap;
} reading;

static void
mistake(reading *in, const lines *from, const reader *r)
{
    if (++in->mistakes > SHOW_MOST)
        return;
    size_t column = (size_t)(r->p - r->line);

    say_fail(SAY_USAGE, NULL, "%s:%zu:%zu: %s", show(from->name).text,
             (size_t)from->number, (size_t)(r->line - from->text) + column + 1, r->why);
    point_at(r->line, column);
}

static bool
add(reading *in, const lines *from, reader *r)
{
    trace *t = in->trace;
    bool keyed = r->opts->key_word || r->opts->key_member;

    if (t->count == 0) {
        t->dated = r->dated;
        t->zone = r->moment.zone;
        t->epoch = r->dated ? r->moment.at : 0;
    }
    if (r->dated != t->dated)
        return wrong(r, r->line,
                     r->dated ? "a date among times without one"
                              : "a time without a date among dates");
    if (r->dated) {
        r->event.at = r->moment.at;
        in->fine += r->moment.fine;
    }
    r->event.line = (size_t)from->number;
    if (keyed) {
        size_t n = strlen(r->key) + 1;

        while (in->keys_cap - in->keys_len < n) {
            in->keys_cap = in->keys_cap ? 2 * in->keys_cap : 4096;
            t->keys = heap_resize(t->keys, in->keys_cap, 1);
        }
        memcpy(t->keys + in->keys_len, r->key, n);
        r->event.key = in->keys_len;
        in->keys_len += n;
    }
    t->events = heap_room(t->events, t->count, &in->cap, sizeof *t->events);
    t->events[t->count++] = r->event;
    return true;
}

/* Blanks and a byte order mark around what is meant. */
static char *
trimmed(const lines *from, size_t *out_len)
{
    char *p = from->text, *end = from->text + from->len;

    if (from->number == 1 && from->len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
        p += 3;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = '\0';
    *out_len = (size_t)(end - p);
    return p;
}

static int
compare(const void *left, const void *right)
{
    const event *a = left, *b = right;

    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static void
put_in_order(trace *t, bool spread)
{
    for (size_t i = 1; i < t->count; i++)
        t->moved += t->events[i].at < t->events[i - 1].at;
    if (t->moved)
        qsort(t->events, t->count, sizeof *t->events, compare);
    if (t->dated && t->count) {
        t->epoch = t->events[0].at;
        for (size_t i = 0; i < t->count; i++)
            t->events[i].at -= t->epoch;
    }
    for (size_t i = 0, next; spread && t->coarse && i < t->count; i = next) {
        for (next = i; next < t->count && t->events[next].at == t->events[i].at;)
            next++;
        for (size_t k = next; k-- > i;)
            t->events[k].at +=
                SEINE_SECS(1) / (seine_span)(next - i) * (seine_span)(k - i);
    }
}

static int
finish(reading *in, const char *name, trace_kind kind)
{
    static const char *const samples[] = {"'12.345' or '12.345 3'",
                                          "'12.345 ok 80ms' or '12.345 503'"};
    trace *t = in->trace;

    if (in->mistakes > SHOW_MOST)
        say_note("%s: and %zu more", name, in->mistakes - SHOW_MOST);
    if (in->mistakes) {
        fprintf(stderr, "try: lines like %s, an access log, or --skip-bad\n",
                samples[kind]);
        return SAY_USAGE;
    }
    if (t->count == 0)
        return say_fail(SAY_USAGE, samples[kind], "no requests in %s", name);
    return SAY_DONE;
}

int
trace_read(trace *t, const char *path, const trace_opts *opts)
{
    lines from;
    lines_got got;
    reading in = {.trace = t};

    *t = (trace){.events = NULL};
    if (lines_open(&from, path) != SAY_DONE)
        return SAY_USAGE;
    t->name = from.name;
    while ((got = lines_next(&from)) == LINES_ONE || got == LINES_TOO_LONG) {
        reader r = {.opts = opts, .event = {.n = 1}};

        r.line = r.p = got == LINES_ONE ? trimmed(&from, &r.len) : from.text;
        if (got == LINES_ONE && (r.len == 0 || r.line[0] == '#'))
            continue;
        if (got == LINES_TOO_LONG) {
            from.text[0] = '\0';
            wrong(&r, r.line, "the line is too long");
        }
        if (got == LINES_ONE && read_line(&r) && add(&in, &from, &r))
            continue;
        if (opts->skip_bad)
            t->left_out++;
        else
            mistake(&in, &from, &r);
    }
    lines_close(&from);
    if (got == LINES_FAILED)
        return SAY_MACHINE;
    t->coarse = t->dated && in.fine == 0;
    put_in_order(t, opts->spread);
    return finish(&in, show(t->name).text, opts->kind);
}

/* "1 line was", "2 lines were" */
static shown
count_of(size_t n, const char *one, const char *many)
{
    shown out;

    snprintf(out.text, sizeof out.text, "%s %s", figure_count(n).text,
             n == 1 ? one : many);
    return out;
}

void
trace_notes(const trace *t, bool spread)
{
    out_flush(); /* the notes stand below what they are about */
    if (t->left_out)
        say_note("%s left out",
                 count_of(t->left_out, "bad line was", "bad lines were").text);
    if (t->moved)
        say_note("%s out of order and put in %s place",
                 count_of(t->moved, "request was", "requests were").text,
                 t->moved == 1 ? "its" : "their");
    if (t->coarse && !spread && t->count > 1)
        say_note("the trace knows whole seconds only: requests of one second count as "
                 "arriving together (--spread spaces them out)");
}

void
trace_free(trace *t)
{
    free(t->events);
    free(t->keys);
    *t = (trace){.events = NULL};
}

seine_span
trace_length(const trace *t)
{
    return t->count < 2 ? 0 : t->events[t->count - 1].at - t->events[0].at;
}

bool
trace_same_key(const trace *t, size_t a, size_t b)
{
    return !t->keys ||
           strcmp(t->keys + t->events[a].key, t->keys + t->events[b].key) == 0;
}

static int
by_key(const void *left, const void *right, void *arg)
{
    const trace *t = arg;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    int order =
        t->keys ? strcmp(t->keys + t->events[a].key, t->keys + t->events[b].key) : 0;

    return order ? order : a < b ? -1 : a > b;
}

size_t *
trace_by_key(const trace *t)
{
    size_t *places = heap_zeroed(t->count, sizeof *places);

    for (size_t i = 0; i < t->count; i++)
        places[i] = i;
    if (t->keys)
        qsort_r(places, t->count, sizeof *places, by_key, (void *)(uintptr_t)t);
    return places;
}
