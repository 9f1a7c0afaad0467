/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc.h - read a web archive (WARC), and check it.
 *
 * The reader knows WARC/1.0 and 1.1 (ISO 28500), uncompressed, or compressed with a gzip
 * member or a zstd frame per record, and detects this from the first bytes. The reader
 * opens no file: bytes go in as they come, records come out.
 *
 *     seine_warc_opts opts = {.size = sizeof opts, .check = true};
 *     e = seine_warc_new(&opts, &w);
 *     for (;;)
 *         switch (seine_warc_next(w, &in, is_last, &piece)) {
 *         case SEINE_WARC_MORE: …              all of `in` was taken: give it more
 *         case SEINE_WARC_RECORD: …            its head: seine_warc_at, seine_warc_field
 *         case SEINE_WARC_BLOCK: …             a piece of its block
 *         case SEINE_WARC_END: …               its length, and the status it holds
 *         case SEINE_WARC_FLAW: …              found by `check`
 *         case SEINE_WARC_DONE: …              the end, in order
 *         case SEINE_WARC_FAIL: …              damaged: reading ends here
 *         }
 *
 * `check` finds what a plain reader tolerates: wrong digests of blocks and payloads (md5,
 * sha1, sha256, sha512, in base32 or hex), missing fields, invalid dates, duplicate ids,
 * references to missing records, several records in one member. The flaws of a record
 * come before its END.
 *
 * Time    plays no part. Linear in the bytes.
 * Memory  a head, at most 64 KiB and 1,000 fields, and 64 KiB of decompressed bytes; with
 *         `check` 11 bytes per record.
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

/* The current record; views are valid until the next record. Absent: no such field. */
typedef struct seine_warc_entry {
    uint64_t offset; /* in the file, compressed or not */
    uint64_t length; /* in the file; known from END on */
    uint64_t block;  /* bytes of its block */
    uint8_t version; /* 10, 11 */
    seine_view type, id, date, target;
    seine_view media;     /* Content-Type of the record */
    uint16_t status;      /* of its HTTP response; from END on; 0: none */
    char media_type[128]; /* of that response, or of the record; from END on; "": none */
} seine_warc_entry;

SEINE_BEGIN

/* NULL: default options. NOMEM. */
SEINE_MUST_CHECK seine_err seine_warc_new(const seine_warc_opts *opts,
                                          seine_warc **out_warc);
void seine_warc_free(seine_warc *w); /* NULL is fine */

/* Returns the next event. `in` moves past what was taken; its bytes are borrowed until
 * MORE, which asks for more. `is_last`: no bytes follow. *out_piece is set for BLOCK,
 * valid until the next call. After DONE and FAIL it returns the same event again. */
seine_warc_event seine_warc_next(seine_warc *w, seine_view *in, bool is_last,
                                 seine_view *out_piece);

const seine_warc_entry *seine_warc_at(const seine_warc *w);

/* Returns the value of the first field of that name, without case; absent if none. */
seine_view seine_warc_field(const seine_warc *w, const char *name);

/* For FLAW and FAIL: one line, and the offset of the record. */
const char *seine_warc_why(const seine_warc *w, uint64_t *out_offset);

/* Returns where the last complete record ends; what follows is truncated. */
uint64_t seine_warc_sound(const seine_warc *w);

SEINE_END

#endif
