/* SPDX-License-Identifier: Apache-2.0 */
/* A slice as JSON: in the notes of a job, and in the table `timeline` of a database. */
#include "seine/plumbing.h"
#include "store/text_writer.h"
#include "store/timeline.h"

/* Numbers that are written under their own names. */
/* clang-format off */
#define NUMBERS(X) \
    X(shards) X(ok) X(failed) X(blocked) X(skipped) X(retries) X(bytes_in) X(bytes_body) \
    X(in_flight) X(slots) X(cpu_us) X(output_us) X(memory_us) X(paused_us)
/* clang-format on */

/* Reasons to wait that have a name. */
#define X(id, name) +1
enum { WAITS = 0 SEINE_WAITS(X) };
#undef X

/* A number that JSON takes. */
static void
put_value(sn_text_writer *p, uint64_t n)
{
    sn_text_writer_u64(p, n > INT64_MAX ? INT64_MAX : n);
}

static void
put_name(sn_text_writer *p, const char *name)
{
    SN_WRITE(p, ",\"");
    sn_text_writer_add(p, name, strlen(name));
    SN_WRITE(p, "\":");
}

static void
put_number(sn_text_writer *p, const char *name, uint64_t n)
{
    if (n == 0)
        return;
    put_name(p, name);
    put_value(p, n);
}

/* "NAME":[i,n,i,n…] of those that are not 0. */
static void
begin_pair(sn_text_writer *p, const char *name, bool *io_any)
{
    if (*io_any) {
        SN_WRITE(p, ",");
    } else {
        put_name(p, name);
        SN_WRITE(p, "[");
    }
    *io_any = true;
}

static void
put_pair(sn_text_writer *p, const char *name, bool *io_any, uint64_t i, uint64_t n)
{
    if (n == 0)
        return;
    begin_pair(p, name, io_any);
    sn_text_writer_u64(p, i);
    SN_WRITE(p, ",");
    put_value(p, n);
}

static void
end_pairs(sn_text_writer *p, bool any)
{
    if (any)
        SN_WRITE(p, "]");
}

static void
put_waits(sn_text_writer *p, const seine_slice *s)
{
    bool any = false;

    for (int i = 0; i < WAITS; i++) {
        const char *name = seine_wait_name((seine_wait)i);

        if (s->waiting[i] == 0)
            continue;
        if (any)
            SN_WRITE(p, ",\"");
        else
            SN_WRITE(p, ",\"waiting\":{\"");
        any = true;
        sn_text_writer_add(p, name, strlen(name));
        SN_WRITE(p, "\":");
        put_value(p, s->waiting[i]);
    }
    if (any)
        SN_WRITE(p, "}");
}

static void
put_errors(sn_text_writer *p, const seine_slice *s)
{
    bool any = false;

    for (int i = 0; i < SEINE_SLICE_KINDS; i++)
        put_pair(p, "errors", &any, s->errors[i].err, s->errors[i].n);
    end_pairs(p, any);
}

size_t
sn_slice_write(const seine_slice *s, char out[SN_SLICE_TEXT])
{
    sn_text_writer w = sn_text_writer_on(out, SN_SLICE_TEXT), *p = &w;
    bool any = false;

    SN_WRITE(p, "{\"at\":");
    sn_text_writer_u64(p, s->wall > 0 ? (uint64_t)(s->wall / SEINE_SECS(1)) : 0);
    put_number(p, "seconds", (uint64_t)(s->width / SEINE_SECS(1)));
    put_number(p, "lived_us", (uint64_t)(s->lived / 1000));
#define X(member) put_number(p, #member, s->member);
    NUMBERS(X)
#undef X
    put_number(p, "slowest_us", (uint64_t)(s->slowest / 1000));
    for (unsigned i = 0; i < 6; i++)
        put_pair(p, "requests", &any, i, s->requests[i]);
    end_pairs(p, any);
    put_waits(p, s);
    put_errors(p, s);
    any = false;
    for (unsigned i = 0; i < SEINE_SLICE_BINS; i++)
        put_pair(p, "latency", &any, i, s->latency[i]);
    end_pairs(p, any);
    SN_WRITE(p, "}");
    size_t n = sn_text_writer_len(p);
    return n <= SN_SLICE_TEXT ? n : 0;
}

/* Reading. */

static uint64_t
number_of(const seine_json *j, const char *name)
{
    int64_t n;

    return seine_json_int(seine_json_get(j, name), &n) && n > 0 ? (uint64_t)n : 0;
}

static uint64_t
at(const seine_json *list, size_t i)
{
    int64_t n;

    return seine_json_int(seine_json_at(list, i), &n) && n > 0 ? (uint64_t)n : 0;
}

static uint32_t
cut32(uint64_t n)
{
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static seine_span
span_of(const seine_json *j, const char *name)
{
    uint64_t us = number_of(j, name);

    return us > INT64_MAX / 1000 ? INT64_MAX : (seine_span)us * 1000;
}

static void
read_lists(const seine_json *j, seine_slice *s)
{
    const seine_json *requests = seine_json_get(j, "requests"),
                     *latency = seine_json_get(j, "latency"),
                     *errors = seine_json_get(j, "errors"),
                     *waiting = seine_json_get(j, "waiting");

    for (size_t i = 0; i + 1 < seine_json_size(requests); i += 2)
        if (at(requests, i) < 6)
            s->requests[at(requests, i)] = at(requests, i + 1);
    for (size_t i = 0; i + 1 < seine_json_size(latency); i += 2)
        if (at(latency, i) < SEINE_SLICE_BINS)
            s->latency[at(latency, i)] = cut32(at(latency, i + 1));
    for (size_t i = 0; i + 1 < seine_json_size(errors); i += 2)
        if (at(errors, i) < SEINE_ERR_ROOM && at(errors, i + 1) > 0)
            sn_slice_fail(s, (uint32_t)at(errors, i), at(errors, i + 1));
    for (int i = 0; i < WAITS; i++)
        s->waiting[i] = number_of(waiting, seine_wait_name((seine_wait)i));
}

bool
sn_slice_read(sn_str json, seine_slice *out_slice)
{
    seine_slice s = {0};
    seine_json *j = NULL;

    if (seine_json_parse(json.ptr, json.len, &j, NULL) != SEINE_OK)
        return false;
    uint64_t from = number_of(j, "at"), seconds = number_of(j, "seconds");
    bool ok = from < UINT32_MAX && (seconds == 1 || seconds == 60) && from % seconds == 0;
    if (ok) {
        s.wall = SEINE_SECS((int64_t)from);
        s.width = SEINE_SECS((int64_t)seconds);
        s.lived = span_of(j, "lived_us");
        if (s.lived > s.width)
            s.lived = s.width;
        s.slowest = span_of(j, "slowest_us");
#define X(member) s.member = number_of(j, #member);
        NUMBERS(X)
#undef X
        read_lists(j, &s);
        *out_slice = s;
    }
    seine_json_free(j);
    return ok;
}
