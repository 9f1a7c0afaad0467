/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_page.h - what a job remembers of a page, so that its next round asks only whether
 * the page has changed.
 *
 * A round is one visit of everything a job knows. Its first round finds a site; every
 * later one begins with all URLs of the rounds before (job_round.c). A page that came
 * whole has a row here, which is committed with its record, never before and never after.
 * For that the packed row travels with the record (record_hold.h).
 *
 *     sn_str row = sn_job_page_pack(&page, &buf);    the shard, with the record
 *     e = sn_job_result(job, r, seq);                the sink thread takes both
 *
 *     e = sn_job_reader_new(job, &reader);           the shard, in a later round
 *     e = sn_job_reader_page(reader, number, &arena, &page, &there);
 *
 * Time    wall time in ms.
 * Memory  rows of the next group; a reader is a connection of its own.
 * Threads pack: any. A reader has one owner, which may be another thread than the job's.
 */
#ifndef SN_JOB_PAGE_H
#define SN_JOB_PAGE_H

#include "base/arena.h"
#include "base/buf.h"
#include "store/job.h"

enum {
    SN_JOB_VALIDATOR = 512, /* bytes of an etag or a date that are kept */
    SN_JOB_BODY_HASH = 16,  /* the first bytes of the SHA-256 of the decoded body */
    SN_JOB_LINKS = 4096     /* prints of links that are kept, 8 bytes each */
};

/* clang-format off */
#define SN_JOB_PAGE(X) \
    X(status)     /* of the last copy; 404, 410: the page is gone */ \
    X(spec)       /* hash of what shapes the response: method, headers */ \
    X(content)    /* hash of the visible words; 0: not known */ \
    X(seen_ms)    /* it was asked for last */ \
    X(changed_ms) /* it was new or other than before */ \
    X(every_s)    /* asked for so often */ \
    X(due_ms)     /* not before */

#define SN_JOB_ROUND(X) \
    X(number)       /* 1, 2 … */ \
    X(begun_ms) \
    X(first_number) /* URLs below it are known from earlier rounds */ \
    X(pages)        /* rows of the table */
/* clang-format on */

typedef struct sn_job_page {
    uint64_t number; /* of its URL */
#define X(column) int64_t column;
    SN_JOB_PAGE(X)
#undef X
    sn_str etag, modified; /* as the server wrote them; empty: none */
    sn_str body;           /* SN_JOB_BODY_HASH bytes, or empty */
    sn_str links;          /* prints of its links in scope */
} sn_job_page;

typedef struct sn_job_round {
#define X(column) int64_t column;
    SN_JOB_ROUND(X)
#undef X
} sn_job_round;

/* Appends the row to the buffer, whose error says whether that worked, and returns the
 * whole content. */
sn_str sn_job_page_pack(const sn_job_page *p, sn_buf *to);

/* Reads one packed row and moves *from behind it. False: there is none. */
bool sn_job_page_unpack(sn_str *from, sn_job_page *out);

/* The round that the job is in. */
const sn_job_round *sn_job_round_of(const seine_durable_job *j);

/* Had the URL a row when the job was scanned? Any thread, after the scan: a URL has one
 * record in a round, so nothing here changes. */
bool sn_job_has_page(const seine_durable_job *j, uint64_t number);

typedef struct sn_job_reader sn_job_reader;

/* NOMEM, IO, STATE_CORRUPT. */
SEINE_MUST_CHECK seine_err sn_job_reader_new(const seine_durable_job *j,
                                             sn_job_reader **out_reader);
void sn_job_reader_free(sn_job_reader *r);
/* The row of that URL, its texts in `mem`. STATE_CORRUPT, IO, NOMEM. */
SEINE_MUST_CHECK seine_err sn_job_reader_page(sn_job_reader *r, uint64_t number,
                                              sn_arena *mem, sn_job_page *out,
                                              bool *out_there);

#endif
