/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc.h - what is in a web archive, and is it whole? Bytes in, records out.
 *
 * WARC/1.0 and 1.1 (ISO 28500), plain, or packed with a gzip member or a zstd frame for
 * each record; which of them the first bytes tell. The reader opens no file: it is given
 * bytes as they come, and says what they are.
 *
 *     e = seine_warc_new(&(seine_warc_opts){.size = sizeof(seine_warc_opts), .check =
 * true}, &w); for (;;) switch (seine_warc_next(w, &in, is_last, &piece)) { case
 * SEINE_WARC_MORE: …              all of `in` was taken: give it more case
 * SEINE_WARC_RECORD: …            its head: seine_warc_at, seine_warc_field case
 * SEINE_WARC_BLOCK: …             a piece of its block case SEINE_WARC_END: … its length,
 * and the status it holds case SEINE_WARC_FLAW: …              of `check`: not as it
 * should be case SEINE_WARC_DONE: …              the end, in order case SEINE_WARC_FAIL:
 * …              damaged: it cannot be read any further
 *         }
 *
 * `check` looks at what a reader can do without: digests of blocks and payloads (md5,
 * sha1, sha256, sha512, in base32 or hex), fields that have to be there, dates, ids that
 * come twice, references to records that are not there, several records in one member.
 * Flaws of a record come before its END.
 *
 * Time    plays no part. Linear in the bytes.
 * Memory  a head, 64 KiB and 1,000 fields at most, and 64 KiB of unpacked bytes; with
 *         `check` 11 bytes for each record.
 * Threads one owner.
 */
#ifndef SEINE_WARC_H
#define SEINE_WARC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/view.h"

typedef struct seine_warc seine_warc;

typedef enum seine_warc_event {
    SEINE_WARC_MORE,
    SEINE_WARC_RECORD,
    SEINE_WARC_BLOCK,
    SEINE_WARC_END,
    SEINE_WARC_FLAW,
    SEINE_WARC_DONE,
    SEINE_WARC_FAIL
} seine_warc_event;

typedef struct seine_warc_opts {
    size_t size; /* of this struct: SEINE_WARC_OPTS sets it */
    bool check;
} seine_warc_opts;

/* clang-format off */
#define SEINE_WARC_OPTS {sizeof(seine_warc_opts), false}
/* clang-format on */

/* The record at hand; views last until the next record. Absent: it has no such field. */
typedef struct seine_warc_entry {
    uint64_t offset; /* in the file, packed as it is */
    uint64_t length; /* there; from END on */
    uint64_t block;  /* bytes of its block */
    uint8_t version; /* 10, 11 */
    seine_view type, id, date, target;
    seine_view media;     /* Content-Type of the record */
    uint16_t status;      /* of an HTTP answer in it; from END on; 0: none */
    char media_type[128]; /* of that answer, or of the record; from END on; "": none */
} seine_warc_entry;

SEINE_BEGIN

/* NULL options: none. NOMEM. */
SEINE_MUST_CHECK seine_err seine_warc_new(const seine_warc_opts *opts,
                                          seine_warc **out_warc);
void seine_warc_free(seine_warc *w); /* NULL is fine */

/* The next event. `in` moves past what was taken, and its bytes are borrowed until MORE
 * is said, which asks for others; `is_last` says that nothing follows them. *out_piece is
 * set for BLOCK, valid until the next call. After DONE and FAIL the same one again. */
seine_warc_event seine_warc_next(seine_warc *w, seine_view *in, bool is_last,
                                 seine_view *out_piece);

const seine_warc_entry *seine_warc_at(const seine_warc *w);

/* The value of the first field of that name, in any case; absent: there is none. */
seine_view seine_warc_field(const seine_warc *w, const char *name);

/* Of FLAW and FAIL: one line, and of which record. */
const char *seine_warc_why(const seine_warc *w, uint64_t *out_offset);

/* Where the last record ended that was read whole: what is behind is cut off. */
uint64_t seine_warc_sound(const seine_warc *w);

SEINE_END

#endif
