/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_read.h - parse a JSON line of schema v1 into a record.
 *
 *     sn_record_reader rr;
 *     sn_record_reader_init(&rr);
 *     e = sn_record_read(&rr, line, &diag);    OK: look at rr.kind
 *     if (e == SEINE_OK && rr.kind == SN_READ_RECORD)
 *         use(&rr.record, rr.seq);             valid until the next line
 *     sn_record_reader_fini(&rr);
 *
 * Unknown members are ignored. A known member of the wrong type makes the line bad, and
 * the diag names it. null means absent. If the record is written again with all members
 * and rr.form, it is the same line, byte for byte.
 *
 * Time    timestamps are RFC 3339 and become Unix time in ns.
 * Memory  one tree and an arena, of one line.
 * Threads one owner.
 */
#ifndef SN_RECORD_READ_H
#define SN_RECORD_READ_H

#include "base/arena.h"
#include "base/buf.h"
#include "seine/alloc.h"
#include "seine/diag.h"
#include "seine/plumbing.h"
#include "store/record.h"
#include "store/record_hold.h"

typedef enum sn_read_kind {
    SN_READ_RECORD, /* a result or a skip: `record` */
    SN_READ_OTHER,  /* schema v1, but another type: summary, event … */
    SN_READ_FOREIGN /* an object, but not schema v1 */
} sn_read_kind;

typedef struct sn_record_reader {
    sn_read_kind kind;
    seine_record record;
    uint64_t seq;         /* 0: none */
    seine_body_form form; /* how the line holds the body */
    sn_str type;          /* of OTHER */
    seine_json *json;     /* the line as a tree */

    seine_fault fault; /* below: private */
    sn_record_hold hold;
    sn_arena arena;
    sn_str line;
    seine_diag *diag;
} sn_record_reader;

void sn_record_reader_init(sn_record_reader *rr);
void sn_record_reader_fini(sn_record_reader *rr);

/* BAD_JSON, JSON_TOO_DEEP: not JSON. INVAL: not an object, or a member is wrong.
 * NOMEM. */
SEINE_MUST_CHECK seine_err sn_record_read(sn_record_reader *rr, sn_str line,
                                          seine_diag *diag);

/* Returns the text of a member of a JSON object, where numbers keep their spelling;
 * absent if there is no such name, or it is spelled with escapes. */
sn_str sn_line_member(sn_str s, sn_str name);

/* Appends the line, a JSON object, without the member of that name. */
void sn_line_without(sn_buf *to, sn_str line, sn_str name);

/* Parses "2026-11-15T19:20:01.123456Z", up to nine decimals, or with an offset (+01:00).
 * INVAL; RANGE: before 1678 or after 2261. */
SEINE_MUST_CHECK seine_err sn_stamp_read(sn_str text, int64_t *out_wall);

#endif
