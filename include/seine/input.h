/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h - read a list of URLs, one at a time.
 *
 * A list has one URL per line, or one JSON object per line with the URL and its options
 * (method, headers, body, timeout, retries, priority, tags, id). The default is text. A
 * file is JSON lines if its name ends in .jsonl or .ndjson or its first byte is "{"; .csv
 * has a header line, with the URL in one column and tags in the others; .xml is a sitemap
 * or a feed, .html a page, and so is a file that begins like one: `line` is then the
 * index of the URL. Blank lines, lines that begin with #, a byte order mark, CR and
 * blanks at the ends are ignored. A bad line does not stop the reading: it becomes an ask
 * with is_bad, and its record names the line and the reason.
 *
 *     seine_input_opts opts = SEINE_INPUT_OPTS;
 *     opts.path = "urls.txt";
 *     e = seine_input_open(&opts, &in, &diag);
 *     while ((e = seine_input_next(in, &ask)) == SEINE_OK)
 *         …                                     ask is valid until the next call
 *     if (e != SEINE_E_CLOSED)                  CLOSED is the end of the list
 *         complain(e);
 *
 * Time    plays no part; reading blocks.
 * Memory  one line of at most 1 MiB (a longer one is bad and skipped) and a 64 KiB
 *         buffer, however many lines there are.
 * Threads one owner. seine_input_stop from any thread ends a read that blocks.
 */
#ifndef SEINE_INPUT_H
#define SEINE_INPUT_H

#include <stddef.h>

#include "seine/diag.h"
#include "seine/record.h"

typedef struct seine_input seine_input;

/* The options of one URL. seine_fetch_add copies the views. */
typedef struct seine_ask {
    seine_view url;   /* without scheme: https://, or http:// for addresses, localhost */
    seine_view input; /* how the record shows it; absent: the url */
    uint64_t line;
    seine_view id, tags;
    seine_view method;         /* absent: that of the options */
    const seine_field *fields; /* for this URL alone; sent to its origin only */
    size_t n_fields;
    seine_view body;
    seine_span timeout; /* 0: that of the options */
    int32_t retries;    /* -1: that of the options */
    int8_t priority;    /* -9 … 9 */
    bool idempotent;    /* the caller vouches that the method is idempotent */
    bool is_bad;        /* a bad line: becomes a skip with reason and rule */
    seine_skip reason;
    seine_view rule;
} seine_ask;

/* clang-format off */
#define SEINE_ASK {{0, 0}, {0, 0}, 0, {0, 0}, {0, 0}, {0, 0}, 0, 0, {0, 0}, 0, -1, 0, false, false, SEINE_SKIP_BAD_INPUT, {0, 0}}
/* clang-format on */

typedef enum seine_input_format {
    SEINE_INPUT_AUTO,
    SEINE_INPUT_TEXT,
    SEINE_INPUT_JSONL,
    SEINE_INPUT_CSV,     /* a header line; the other columns become tags */
    SEINE_INPUT_WARC,    /* the targets of its responses */
    SEINE_INPUT_SITEMAP, /* every loc: a urlset, an index, a feed */
    SEINE_INPUT_HTML     /* the links of <a> and <area> */
} seine_input_format;

typedef struct seine_input_opts {
    size_t size;      /* of this struct: SEINE_INPUT_OPTS sets it */
    const char *path; /* "-": standard input */
    seine_input_format format;
    const char *base;       /* relative URLs resolve against it; NULL: none */
    const char *url_column; /* of CSV; NULL: "url" */
} seine_input_opts;

/* clang-format off */
#define SEINE_INPUT_OPTS {sizeof(seine_input_opts), NULL, SEINE_INPUT_AUTO, NULL, NULL}
/* clang-format on */

SEINE_BEGIN

/* IO, INVAL (base is no URL): see the diag. NOMEM. */
SEINE_MUST_CHECK seine_err seine_input_open(const seine_input_opts *opts,
                                            seine_input **out_input, seine_diag *diag);
void seine_input_free(seine_input *in);

/* OK with an ask; CLOSED at the end or after stop; IO with seine_input_diag. */
SEINE_MUST_CHECK seine_err seine_input_next(seine_input *in, seine_ask *out_ask);
const seine_diag *seine_input_diag(const seine_input *in);
void seine_input_stop(seine_input *in);

/* Lines read so far, and bytes if the size of the file is known (else 0). Any thread. */
void seine_input_progress_get(const seine_input *in, uint64_t *out_lines,
                              uint64_t *out_bytes, uint64_t *out_size);

SEINE_END

#endif
