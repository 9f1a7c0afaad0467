/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an entry from a line of records. */
#include <stdlib.h>
#include <string.h>

#include <seine/calendar.h>
#include <seine/timestamp.h>

#include "report/entry.h"
#include "screen/xalloc.h"

typedef struct reading {
    entry_reader *reader;
    entry *out;
    char *room; /* what is left of the reader's */
    bool has_version;
} reading;

typedef void take_fn(reading *r, const json_value *v);

static seine_view
text_of(reading *r, const json_value *v)
{
    return json_text(v, &r->room);
}

static void
take_version(reading *r, const json_value *v)
{
    r->has_version = json_count(v) == 1;
}

static void
take_type(reading *r, const json_value *v)
{
    static const struct {
        const char *name;
        entry_kind kind;
    } types[] = {{"result", ENTRY_RESULT},
                 {"skip", ENTRY_SKIP},
                 {"summary", ENTRY_SUMMARY},
                 {"link", ENTRY_LINK},
                 {"item", ENTRY_ITEM}};

    r->out->kind = ENTRY_OTHER;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (v->kind == JSON_STRING && json_is(v->text, types[i].name))
            r->out->kind = types[i].kind;
}

static int
two_digits(const char *at)
{
    return (at[0] - '0') * 10 + at[1] - '0';
}

/* Most stamps of a file share their minute, so that a date is computed once. */
static void
take_stamp(reading *r, const json_value *v)
{
    entry_reader *c = r->reader;
    const char *at = v->text.ptr;
    char text[48];
    seine_timestamp t;

    if (v->kind != JSON_STRING || v->text.len < 20 || v->text.len >= sizeof text)
        return;
    if (memcmp(at, c->stamp, 16) != 0 || at[v->text.len - 1] != 'Z') {
        memcpy(text, at, v->text.len);
        text[v->text.len] = '\0';
        if (!seine_timestamp_rfc3339(text, &t))
            return;
        r->out->wall = t.wall;
        if (at[v->text.len - 1] == 'Z') {
            memcpy(c->stamp, at, 16);
            c->minute = t.wall - t.wall % SEINE_SECS(60);
        }
        return;
    }
    seine_span scale = SEINE_SECS(1);
    r->out->wall = c->minute + SEINE_SECS((seine_span)two_digits(at + 17));
    for (at += 20; *at >= '0' && *at <= '9' && scale >= 10; at++) {
        scale /= 10;
        r->out->wall += (*at - '0') * scale;
    }
}

static void
take_outcome(reading *r, const json_value *v)
{
    r->out->fate = SEINE_FATE_GAVE_UP;
    for (int i = 0; i < SEINE_FATE_ROOM; i++) {
        const char *name = seine_fate_name((seine_fate)i);

        if (name && json_is(v->text, name)) {
            r->out->fate = (seine_fate)i;
            break;
        }
    }
    r->out->is_ok = r->out->fate == SEINE_FATE_OK;
}

/* Items of recipes have no outcome. */
static void
take_ok(reading *r, const json_value *v)
{
    r->out->is_ok = v->kind == JSON_WORD && json_is(v->text, "true");
}

static void
take_error(reading *r, const json_value *v)
{
    json_scan s = json_scan_object(v->text);
    seine_view name;
    json_value inner;

    while (json_scan_next(&s, &name, &inner))
        if (json_is(name, "kind"))
            r->out->error = text_of(r, &inner);
        else if (json_is(name, "message"))
            r->out->message = text_of(r, &inner);
        else if (json_is(name, "hint"))
            r->out->hint = text_of(r, &inner);
}

static void
take_via(reading *r, const json_value *v)
{
    json_scan s = json_scan_object(v->text);
    seine_view name;
    json_value inner;

    while (json_scan_next(&s, &name, &inner))
        if (json_is(name, "line"))
            r->out->line = (uint32_t)json_count(&inner);
}

static void
take_line(reading *r, const json_value *v)
{
    if (r->out->kind == ENTRY_LINK)
        r->out->line = (uint32_t)json_count(v);
}

static void
take_redirects(reading *r, const json_value *v)
{
    json_scan s = json_scan_array(v->text);
    json_value item, inner;
    seine_view name;

    while (json_scan_item(&s, &item)) {
        json_scan hop = json_scan_object(item.text);

        while (r->out->n_redirects == 0 && json_scan_next(&hop, &name, &inner))
            if (json_is(name, "status"))
                r->out->redirect = (unsigned)json_count(&inner);
        r->out->n_redirects++;
    }
}

static seine_wait
wait_by_name(seine_view name)
{
    for (int i = 0; i < SEINE_WAIT_ROOM; i++) {
        const char *word = seine_wait_name((seine_wait)i);

        if (word && json_is(name, word))
            return (seine_wait)i;
    }
    return SEINE_WAIT_QUEUE;
}

static void
take_tries(reading *r, const json_value *v)
{
    json_scan s = json_scan_array(v->text);
    json_value item, inner;
    seine_view name;

    while (json_scan_item(&s, &item)) {
        json_scan try = json_scan_object(item.text);
        seine_wait why = SEINE_WAIT_QUEUE;
        seine_span wait = 0;

        while (json_scan_next(&try, &name, &inner))
            if (json_is(name, "wait_ms"))
                wait = json_ms(&inner);
            else if (json_is(name, "wait_reason"))
                why = wait_by_name(inner.text);
        r->out->waits[why] = entry_sum(r->out->waits[why], wait);
    }
}

static void
take_time(reading *r, const json_value *v)
{
    static const char *const names[SPANS] = {
        "queue",   "throttle", "backoff", "retry_budget", "dns",
        "connect", "tls",      "ttfb",    "body",         "total"};
    json_scan s = json_scan_object(v->text);
    size_t at = 0;
    seine_view name;
    json_value inner;

    while (json_scan_next(&s, &name, &inner))
        for (size_t i = 0; i < SPANS; i++) {
            size_t k = (at + i) % SPANS;

            if (json_is(name, names[k])) {
                r->out->spans[k] = json_ms(&inner);
                r->out->has_times = r->out->has_times || k == SPAN_TTFB;
                at = k + 1;
                break;
            }
        }
}

/* Makes a function that keeps a text or a count. */
#define TEXT(name, member)                            \
    static void name(reading *r, const json_value *v) \
    {                                                 \
        r->out->member = text_of(r, v);               \
    }
#define COUNT(name, member, type)                     \
    static void name(reading *r, const json_value *v) \
    {                                                 \
        r->out->member = (type)json_count(v);         \
    }

/* clang-format off */
TEXT(take_url, url)
TEXT(take_key, key)
TEXT(take_final_url, final_url)
TEXT(take_host, host)
TEXT(take_parent, parent)
TEXT(take_title, title)
TEXT(take_content_type, content_type)
TEXT(take_sha256, sha256)
TEXT(take_reason, error)
TEXT(take_rule, message)
TEXT(take_verdict, verdict)
COUNT(take_status, status, unsigned)
COUNT(take_attempts, attempts, uint32_t)
COUNT(take_bytes_in, bytes_in, uint64_t)
/* clang-format on */

static void
take_bytes_body(reading *r, const json_value *v)
{
    r->out->bytes_body = json_count(v);
    r->out->has_bytes = true;
}

static void
take_data(reading *r, const json_value *v)
{
    r->out->data = v->text;
}

/* A link stands on `source` and leads to `target`. */
static void
take_target(reading *r, const json_value *v)
{
    if (r->out->kind == ENTRY_LINK)
        r->out->url = text_of(r, v);
}

static void
take_source(reading *r, const json_value *v)
{
    if (r->out->kind == ENTRY_LINK)
        r->out->parent = text_of(r, v);
}

/* The members in the order in which seine writes them. */
static const struct {
    const char *name;
    take_fn *take;
} members[] = {
    {"v", take_version},
    {"type", take_type},
    {"ts", take_stamp},
    {"source", take_source},
    {"line", take_line},
    {"target", take_target},
    {"verdict", take_verdict},
    {"url", take_url},
    {"key", take_key},
    {"final_url", take_final_url},
    {"redirects", take_redirects},
    {"host", take_host},
    {"parent", take_parent},
    {"via", take_via},
    {"reason", take_reason},
    {"rule", take_rule},
    {"outcome", take_outcome},
    {"ok", take_ok},
    {"status", take_status},
    {"error", take_error},
    {"attempts", take_attempts},
    {"tries", take_tries},
    {"content_type", take_content_type},
    {"bytes_in", take_bytes_in},
    {"bytes_body", take_bytes_body},
    {"time", take_time},
    {"title", take_title},
    {"sha256", take_sha256},
    {"data", take_data},
};

enum { MEMBERS = sizeof members / sizeof *members };

static void
take_member(reading *r, seine_view name, const json_value *v)
{
    size_t next = r->reader->next;

    for (size_t i = 0; i < MEMBERS; i++) {
        size_t k = next + i < MEMBERS ? next + i : next + i - MEMBERS;

        if (members[k].name[0] == name.ptr[0] && json_is(name, members[k].name)) {
            members[k].take(r, v);
            r->reader->next = k + 1 < MEMBERS ? k + 1 : 0;
            return;
        }
    }
}

static void
make_room(entry_reader *r, size_t n)
{
    if (n <= r->cap)
        return;
    r->cap = n + n / 2;
    r->room = xalloc_resize(r->room, r->cap, 1);
}

entry_kind
entry_read(entry_reader *reader, seine_view line, entry *out)
{
    reading r = {.reader = reader, .out = out};
    json_scan s = json_scan_object(line);
    seine_view name;
    json_value v;

    memset(out, 0, sizeof *out);
    out->kind = ENTRY_BAD;
    make_room(reader, line.len + 1);
    r.room = reader->room;
    while (json_scan_next(&s, &name, &v))
        if (name.len > 0)
            take_member(&r, name, &v);
    if (!json_scan_is_whole(&s) || !r.has_version)
        out->kind = ENTRY_BAD;
    entry_name_host(out);
    return out->kind;
}

void
entry_reader_free(entry_reader *r)
{
    free(r->room);
    *r = (entry_reader){.room = NULL};
}
