/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pen.h - writes text into memory of a given size, quickly, and counts what had no room.
 *
 *     sn_pen p = sn_pen_on(buf, cap);
 *     SN_PEN(&p, "{\"ms\":");
 *     sn_pen_ms(&p, SEINE_US(3100));                  3.1
 *     SN_PEN(&p, "}");
 *     return sn_pen_len(&p);                          as with snprintf: of the whole
 *
 * Nothing is formatted by printf: a record is some sixty of these calls and costs
 * hundreds of nanoseconds, not thousands.
 *
 * Time    stamps are Unix time in ns, written to the microsecond.
 * Memory  the caller's.
 * Threads one owner.
 */
#ifndef SN_PEN_H
#define SN_PEN_H

#include <string.h>

#include "base/str.h"
#include "seine/time.h"

typedef struct sn_pen {
    char *start, *at, *end;
    size_t lost; /* bytes that had no room */
} sn_pen;

static inline sn_pen
sn_pen_on(char *buf, size_t cap)
{
    if (cap == 0)
        buf = (char *)""; /* never written; NULL is fine */
    return (sn_pen){buf, buf, buf + cap, 0};
}

static inline size_t
sn_pen_len(const sn_pen *p)
{
    return (size_t)(p->at - p->start) + p->lost;
}

void sn_pen_over(sn_pen *p, const char *bytes, size_t n);

static inline void
sn_pen_add(sn_pen *p, const char *bytes, size_t n)
{
    if ((size_t)(p->end - p->at) < n) {
        sn_pen_over(p, bytes, n);
        return;
    }
    memcpy(p->at, bytes, n);
    p->at += n;
}

/* A literal. */
#define SN_PEN(p, text) sn_pen_add(p, "" text, sizeof(text) - 1)

static inline void
sn_pen_str(sn_pen *p, sn_str s)
{
    if (s.len > 0)
        sn_pen_add(p, s.ptr, s.len);
}

void sn_pen_text(sn_pen *p, const char *terminated);
void sn_pen_u64(sn_pen *p, uint64_t n);
void sn_pen_i64(sn_pen *p, int64_t n);

/* Milliseconds with at most three decimals: 0, 812.0, 38.25. Below 0 is 0. */
void sn_pen_ms(sn_pen *p, seine_span ns);

/* 2026-11-15T19:20:01.123456Z, 27 bytes. */
#define SN_STAMP 27
void sn_pen_stamp(sn_pen *p, int64_t wall);

/* 2026-11-15T19:20:01Z: Unix seconds, brought into the years 1 to 9999. */
void sn_pen_moment(sn_pen *p, int64_t seconds);

/* A JSON string with its quotes, as sn_json_quote writes it: valid UTF-8 on one line,
 * without control characters. */
void sn_pen_quoted(sn_pen *p, sn_str s);

/* The text of a JSON object, without blanks and as inert as a quoted string. False, and
 * nothing is written, when it is none. */
bool sn_pen_object(sn_pen *p, sn_str json);

void sn_pen_hex(sn_pen *p, const uint8_t *bytes, size_t n);
void sn_pen_base64(sn_pen *p, sn_str bytes);

/* How many bytes from the start are printable ASCII, but for " and \. */
size_t sn_pen_plain(const char *bytes, size_t n);

#endif
