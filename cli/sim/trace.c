/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/screen.h"
#include "screen/xalloc.h"
#include "sim/traceline.h"
#include "verbs/lines.h"

enum { SHOW_MOST = 20 };

/* Prints the line with a caret below the mistake, if the line is short and plain. */
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
show_mistake(reading *in, const lines *from, const traceline *r)
{
    if (++in->mistakes > SHOW_MOST)
        return;
    size_t column = (size_t)(r->p - r->line);

    say_fail(SAY_USAGE, NULL, "%s:%zu:%zu: %s", show(from->name).text,
             (size_t)from->number, (size_t)(r->line - from->text) + column + 1, r->why);
    point_at(r->line, column);
}

static bool
add_event(reading *in, const lines *from, traceline *r)
{
    trace *t = in->trace;
    bool keyed = r->opts->key_word || r->opts->key_member;

    if (t->count == 0) {
        t->dated = r->dated;
        t->zone = r->date.zone;
        t->epoch = r->dated ? r->date.wall : 0;
    }
    if (r->dated != t->dated)
        return traceline_wrong(r, r->line,
                               r->dated ? "a date among times without one"
                                        : "a time without a date among dates");
    if (r->dated) {
        r->event.at = r->date.wall;
        in->fine += r->date.is_fine;
    }
    r->event.line = (size_t)from->number;
    if (keyed) {
        size_t n = strlen(r->key) + 1;

        while (in->keys_cap - in->keys_len < n) {
            in->keys_cap = in->keys_cap ? 2 * in->keys_cap : 4096;
            t->keys = xalloc_resize(t->keys, in->keys_cap, 1);
        }
        memcpy(t->keys + in->keys_len, r->key, n);
        r->event.key = in->keys_len;
        in->keys_len += n;
    }
    t->events = xalloc_room(t->events, t->count, &in->cap, sizeof *t->events);
    t->events[t->count++] = r->event;
    return true;
}

/* The line without the blanks around it and without a byte order mark. */
static char *
trimmed_line(const lines *from, size_t *out_len)
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
compare_events(const void *left, const void *right)
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
        qsort(t->events, t->count, sizeof *t->events, compare_events);
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
finish_trace(reading *in, const char *name, trace_kind kind)
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
        traceline r = {.opts = opts, .event = {.n = 1}};

        r.line = r.p = got == LINES_ONE ? trimmed_line(&from, &r.len) : from.text;
        if (got == LINES_ONE && (r.len == 0 || r.line[0] == '#'))
            continue;
        if (got == LINES_TOO_LONG) {
            from.text[0] = '\0';
            traceline_wrong(&r, r.line, "the line is too long");
        }
        if (got == LINES_ONE && traceline_read(&r) && add_event(&in, &from, &r))
            continue;
        if (opts->skip_bad)
            t->left_out++;
        else
            show_mistake(&in, &from, &r);
    }
    lines_close(&from);
    if (got == LINES_FAILED)
        return SAY_MACHINE;
    t->coarse = t->dated && in.fine == 0;
    put_in_order(t, opts->spread);
    return finish_trace(&in, show(t->name).text, opts->kind);
}

/* Writes "1 line was", "2 lines were". */
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
    out_flush(); /* so that the notes stand below the output that they are about */
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
    size_t *places = xalloc_zeroed(t->count, sizeof *places);

    for (size_t i = 0; i < t->count; i++)
        places[i] = i;
    if (t->keys)
        qsort_r(places, t->count, sizeof *places, by_key, (void *)t);
    return places;
}
