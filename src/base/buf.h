/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf.h - bytes that grow, up to a hard cap and never beyond.
 *
 * The functions that add return nothing. The first failure is kept, later additions do
 * nothing, and one call at the end says whether everything was added. An addition is
 * made whole or not at all.
 *
 *     sn_buf b;
 *     sn_buf_init(&b, 64 * 1024);
 *     sn_buf_str(&b, SN_STR("GET "));
 *     sn_buf_printf(&b, "%s HTTP/1.1\r\n", "/index.html");
 *     seine_err e = sn_buf_take(&b, out_text);    OK, FULL or NOMEM
 *     sn_buf_fini(&b);
 *
 * Time    plays no part.
 * Memory  nothing before the first byte is added; then doubles as it fills, up to `cap`
 *         + 1 bytes: a terminator, which is not counted, always follows the content.
 * Threads one owner.
 */
#ifndef SN_BUF_H
#define SN_BUF_H

#include <stdarg.h>

#include "base/str.h"
#include "seine/alloc.h"

typedef struct sn_buf {
    char *ptr; /* NULL before the first addition */
    size_t len;
    size_t room; /* bytes allocated */
    size_t cap;
    seine_err err; /* SEINE_OK, or why an addition is missing */
    bool wipes;    /* writes zeros over what it holds before it lets go of it */
} sn_buf;

void sn_buf_init(sn_buf *b, size_t cap);
void sn_buf_init_secret(sn_buf *b, size_t cap); /* for secrets: it wipes */
void sn_buf_fini(sn_buf *b);

/* Empties the buffer and clears the error; keeps the memory. */
void sn_buf_reset(sn_buf *b);

void sn_buf_add(sn_buf *b, const void *bytes, size_t n);
void sn_buf_str(sn_buf *b, sn_str s);
void sn_buf_text(sn_buf *b, const char *terminated);
void sn_buf_char(sn_buf *b, char c);
void sn_buf_u64(sn_buf *b, uint64_t n);
void sn_buf_i64(sn_buf *b, int64_t n);
void sn_buf_printf(sn_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sn_buf_vprintf(sn_buf *b, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Room for `n` bytes that the caller writes and then reports with sn_buf_commit. NULL
 * when there is no room; the error is kept. */
char *sn_buf_reserve(sn_buf *b, size_t n);

/* Makes room for `n` more bytes and no more than that, where doubling would waste what
 * a large array has no use for. The caller asks for a part of its length, so that
 * appending stays linear. */
void sn_buf_reserve_exactly(sn_buf *b, size_t n);
void sn_buf_commit(sn_buf *b, size_t n);

/* Removes bytes: all behind the first `len`, or the first `n`. */
void sn_buf_truncate(sn_buf *b, size_t len);
void sn_buf_drop(sn_buf *b, size_t n);

/* The content now; valid until the buffer changes. */
sn_str sn_buf_view(const sn_buf *b);

/* OK when every addition since init or reset was made. */
SEINE_MUST_CHECK seine_err sn_buf_done(const sn_buf *b);

/* Moves the content out and leaves the buffer as just initialised. When an addition
 * failed, returns that error and changes nothing. */
SEINE_MUST_CHECK seine_err sn_buf_take(sn_buf *b, seine_text *out_text);

#endif
