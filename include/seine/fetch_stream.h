/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_stream.h - take the records of a fetch, many at a time, on a thread of one's own.
 *
 * on_record of fetch.h is called on the threads of the shards, while they wait. A program
 * that cannot be called there (a script language with one lock) takes the records
 * instead: they wait in a queue, and each is the caller's until it is freed.
 *
 *     seine_fetch_stream *s;
 *     seine_record *got[64];
 *     size_t n;
 *     e = seine_fetch_stream_new(&opts, &s, &diag);
 *     seine_fetch *f = seine_fetch_stream_fetch(s);
 *     e = seine_fetch_add(f, &ask, NULL);
 *     seine_fetch_close(f);
 *     while ((e = seine_fetch_stream_take(s, SEINE_SECS(1), got, 64, &n)) == SEINE_OK)
 *         for (size_t i = 0; i < n; i++)
 *             seine_fetch_stream_record_free(got[i]);
 *     seine_fetch_stream_free(s);
 *
 * A fetch starts no request while 1,000 records or 8 MiB of them wait to be taken.
 *
 * Time    through the clock of the options. After a record was taken, an empty queue is
 *         given 2 ms to fill, so that a busy fetch does not wake the caller for each.
 * Memory  a copy of each record until it is freed. A body counts for `max_memory` until
 *         its record is taken.
 * Threads take: one owner. record_free: any thread, also after the stream is gone.
 */
#ifndef SEINE_FETCH_STREAM_H
#define SEINE_FETCH_STREAM_H

#include <stddef.h>

#include "seine/fetch.h"

#define SEINE_FETCH_STREAM_RECORDS 1000
#define SEINE_FETCH_STREAM_BYTES   ((size_t)8 << 20)

typedef struct seine_fetch_stream seine_fetch_stream;

SEINE_BEGIN

/* What seine_fetch_new says. CONFIG, too: on_record, ready or due are set, or a job,
 * whose records are durable in outputs alone. */
SEINE_MUST_CHECK seine_err seine_fetch_stream_new(const seine_fetch_opts *opts,
                                                  seine_fetch_stream **out_stream,
                                                  seine_diag *diag);

/* Stops at once what still runs; drops records that were not taken. NULL is fine. */
void seine_fetch_stream_free(seine_fetch_stream *s);

/* The fetch: to give it URLs, close it, stop it, look at it; not to free or finish it. */
seine_fetch *seine_fetch_stream_fetch(seine_fetch_stream *s);

/* Gives many URLs in one call: texts that a NUL ends, one after the other, in `len`
 * bytes. *out_used: the bytes of those that were given, in every case. FULL: there is no
 * room for the rest now. CLOSED, NOMEM: as seine_fetch_add says. INVAL: the last text has
 * no end. */
SEINE_MUST_CHECK seine_err seine_fetch_stream_add(seine_fetch_stream *s, const char *urls,
                                                  size_t len, size_t *out_used);

/* Moves up to `room` records out, those that ended first before others. Waits for the
 * first one, at most `patience`: then OK with *out_n 0. With threads = 0 the call does
 * the work meanwhile. CLOSED: all URLs have ended, and all records were taken. NOMEM: so,
 * too, but a record was lost for want of memory, and the fetch stopped. */
SEINE_MUST_CHECK seine_err seine_fetch_stream_take(seine_fetch_stream *s,
                                                   seine_span patience,
                                                   seine_record **out_records,
                                                   size_t room, size_t *out_n);

/* Frees a record that was taken; NULL is fine. */
void seine_fetch_stream_record_free(seine_record *r);

SEINE_END

#endif
