/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_writer.h - a fast writer of text into a fixed buffer, which counts what did not
 * fit.
 *
 *     sn_text_writer p = sn_text_writer_on(buf, cap);
 *     SN_WRITE(&p, "{\"ms\":");
 *     sn_text_writer_ms(&p, SEINE_US(3100));                  3.1
 *     SN_WRITE(&p, "}");
 *     return sn_text_writer_len(&p);                          the full length
 *
 * Like snprintf the writer returns the full length, but it does not use printf: a record
 * is about sixty of these calls and costs hundreds of nanoseconds, not thousands.
 *
 * A long text need not fit: with `spill` set the buffer is handed on whenever it is full,
 * and the writer goes on at its start.
 *
 * Time    stamps are Unix time in ns, written to the microsecond.
 * Memory  the caller's.
 * Threads one owner.
 */
#ifndef SN_TEXT_WRITER_H
#define SN_TEXT_WRITER_H

#include <string.h>

#include "base/str.h"
#include "seine/time.h"

typedef struct sn_text_writer {
    char *start, *at, *end;
    size_t lost; /* bytes that did not fit, or were spilled */
    /* Takes the text from start to at, when the buffer is full. NULL: what does not fit
     * is only counted. */
    void (*spill)(struct sn_text_writer *p, void *arg);
    void *arg;
    char *opening; /* becomes '{' before it is spilled; NULL: there is none */
} sn_text_writer;

static inline sn_text_writer
sn_text_writer_on(char *buf, size_t cap)
{
    if (cap == 0)
        buf = (char *)""; /* never written; NULL is fine */
    return (sn_text_writer){.start = buf, .at = buf, .end = buf + cap};
}

static inline size_t
sn_text_writer_len(const sn_text_writer *p)
{
    return (size_t)(p->at - p->start) + p->lost;
}

void sn_text_writer_over(sn_text_writer *p, const char *bytes, size_t n);

/* A writer that spills does so now if fewer than `n` bytes would fit. */
void sn_text_writer_make_room(sn_text_writer *p, size_t n);

static inline void
sn_text_writer_add(sn_text_writer *p, const char *bytes, size_t n)
{
    if ((size_t)(p->end - p->at) < n) {
        sn_text_writer_over(p, bytes, n);
        return;
    }
    memcpy(p->at, bytes, n);
    p->at += n;
}

/* Writes a literal. */
#define SN_WRITE(p, text) sn_text_writer_add(p, "" text, sizeof(text) - 1)

static inline void
sn_text_writer_str(sn_text_writer *p, sn_str s)
{
    if (s.len > 0)
        sn_text_writer_add(p, s.ptr, s.len);
}

void sn_text_writer_text(sn_text_writer *p, const char *terminated);
void sn_text_writer_u64(sn_text_writer *p, uint64_t n);
void sn_text_writer_i64(sn_text_writer *p, int64_t n);

/* Writes milliseconds with at most three decimals: 0, 812.0, 38.25. Below 0 is 0. */
void sn_text_writer_ms(sn_text_writer *p, seine_span ns);

/* 2026-11-15T19:20:01.123456Z, 27 bytes. */
#define SN_STAMP 27
void sn_text_writer_stamp(sn_text_writer *p, int64_t wall);

/* Writes Unix seconds as 2026-11-15T19:20:01Z, limited to the years 1 to 9999. */
void sn_text_writer_moment(sn_text_writer *p, int64_t seconds);

/* Writes a JSON string with its quotes, as sn_json_quote does: valid UTF-8 on one line,
 * without control characters. */
void sn_text_writer_quoted(sn_text_writer *p, sn_str s);

/* Writes the text of a JSON object without blanks and with strings escaped as above.
 * False, with nothing written, if it is no JSON object. */
bool sn_text_writer_object(sn_text_writer *p, sn_str json);

void sn_text_writer_hex(sn_text_writer *p, const uint8_t *bytes, size_t n);
void sn_text_writer_base64(sn_text_writer *p, sn_str bytes);

/* Returns how many bytes at the start are printable ASCII except " and \. */
size_t sn_text_writer_plain(const char *bytes, size_t n);

#endif
