/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h - read lines from a descriptor, and a seine_ask from each line.
 *
 * Time    reading blocks until there is data, the end, or a stop.
 * Memory  one line and a buffer.
 * Threads one owner; stop and progress from any thread.
 */
#ifndef SN_INPUT_H
#define SN_INPUT_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/codec.h"
#include "base/diag.h"
#include "seine/alloc.h"
#include "seine/input.h"
#include "seine/url.h"

#define SN_LINE_MAX ((size_t)1 << 20)

#define SN_LINES_BLOCK (64 << 10)

/* The decompressor of an input. */
typedef struct sn_input_unpack {
    sn_codec codec;
    sn_codec_kind kind;
    bool is_between; /* a stream has ended, the next has not begun */
    sn_str in;       /* the rest of packed */
    char packed[SN_LINES_BLOCK];
} sn_input_unpack;

/* Lines of any length from a descriptor, in bounded memory. */
typedef struct sn_lines {
    int fd, stop; /* stop: an eventfd that ends a read */
    char *buf;
    size_t at, end, room;
    bool is_over;     /* the descriptor is at its end */
    bool is_skipping; /* in a line that is too long */
    int error; /* errno of a read; EBADMSG, ENODATA: damaged, truncated gzip or zstd */
    sn_input_unpack *unpack; /* NULL: not compressed */
    atomic_bool is_packed;
    _Atomic uint64_t lines, bytes, raw; /* raw: bytes of the descriptor */
} sn_lines;

/* The result of reading a line. */
typedef enum sn_line_kind {
    SN_LINE_WHOLE,
    SN_LINE_LONG, /* its first SN_LINE_MAX bytes */
    SN_LINE_NONE  /* the end, a stop, or `error` */
} sn_line_kind;

SEINE_MUST_CHECK seine_err sn_lines_init(sn_lines *l, int fd, int stop);
void sn_lines_fini(sn_lines *l);

/* Call before the first line: the input is compressed. NOMEM. */
SEINE_MUST_CHECK seine_err sn_lines_unpack(sn_lines *l, sn_codec_kind kind);

/* Returns the next line without its newline, valid until the next call. */
sn_line_kind sn_lines_next(sn_lines *l, sn_str *out_line);

/* Takes all bytes that were read, valid until the next call; none: the end, a stop, or
 * `error`. */
sn_str sn_lines_take(sn_lines *l);

/* Returns up to four first bytes without taking them; fewer only at the end. */
sn_str sn_lines_peek(sn_lines *l);

struct seine_input {
    sn_lines lines;
    seine_input_format format;
    bool is_own, is_begun;
    bool may_mix; /* nobody has named the format: URLs and JSON may take turns */
    atomic_bool stopped;
    uint64_t size;
    char name[SEINE_DIAG_FILE];
    seine_diag diag; /* why reading failed */
    seine_diag bad;  /* what is wrong with a bad line */
    char shown[264]; /* excerpt of a bad line */
    bool has_base;
    seine_url base, url;
    char base_mem[SEINE_URL_ROOM], url_mem[SEINE_URL_ROOM];
    const char *url_column;
    struct sn_input_rows *rows; /* of CSV */
    sn_arena arena;             /* of one line */
    seine_text tags;
    struct seine_json *json; /* the ask points into it */
    struct seine_warc *warc; /* of an archive */
    seine_view warc_in;
    struct sn_input_markup *markup; /* of a sitemap or a page */
};

/* Makes the ask a skip with that reason; the caller writes in->bad. */
void sn_input_bad(seine_input *in, seine_skip reason, sn_str line, seine_ask *ask);

/* CSV: returns an ask, also for a bad row. CLOSED: the end. IO: in->diag. NOMEM. */
SEINE_MUST_CHECK seine_err sn_input_csv_new(seine_input *in);
SEINE_MUST_CHECK seine_err sn_input_csv(seine_input *in, seine_ask *ask);
void sn_input_csv_free(struct sn_input_rows *rows); /* NULL is fine */

/* Reads a JSON line: OK, also for a bad one, or NOMEM. An ask without a URL: the line is
 * passed over. */
SEINE_MUST_CHECK seine_err sn_input_json(seine_input *in, sn_str line, seine_ask *ask);

/* Whether an object is a record of ours: it has `v` and `type`. */
bool sn_input_is_record(const struct seine_json *json);

/* Reads the URL of a record, its method, id and tags; none of a record without a URL.
 * INVAL with in->bad, NOMEM. */
SEINE_MUST_CHECK seine_err sn_input_record(seine_input *in, const struct seine_json *json,
                                           seine_ask *ask);

/* Returns the target of the next response in an archive. CLOSED: no more, or unreadable;
 * IO with in->diag; NOMEM. */
SEINE_MUST_CHECK seine_err sn_input_warc(seine_input *in, seine_ask *ask);

/* Returns the next URL of a sitemap or a page, unresolved; errors as above. */
SEINE_MUST_CHECK seine_err sn_input_markup(seine_input *in, seine_ask *ask);
void sn_input_markup_free(struct sn_input_markup *m); /* NULL is fine */

#endif
