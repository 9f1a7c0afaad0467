/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_read.h - a JSON line of schema v1 back into a record.
 *
 *     sn_record_reader rr;
 *     sn_record_reader_init(&rr);
 *     e = sn_record_read(&rr, line, &diag);    OK: look at rr.kind
 *     if (e == SEINE_OK && rr.kind == SN_READ_RECORD)
 *         use(&rr.record, rr.seq);             valid until the next line
 *     sn_record_reader_fini(&rr);
 *
 * Members the schema does not know are passed over; known ones have their type, or the
 * line is bad and the diag names the member. null is absence. Written again with all its
 * members and rr.form, the record is the same line, byte for byte.
 *
 * Time    stamps are RFC 3339 and become Unix time in ns.
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

typedef enum sn_read_kind {
    SN_READ_RECORD, /* a result or a skip: `record` */
    SN_READ_OTHER,  /* of schema v1, of another type: summary, event … */
    SN_READ_FOREIGN /* an object, but none of ours */
} sn_read_kind;

typedef struct sn_record_reader {
    sn_read_kind kind;
    seine_record record;
    uint64_t seq;         /* of every kind of ours; 0: none */
    seine_body_form form; /* in which the line has the body */
    sn_str type;          /* of OTHER */
    seine_json *json;     /* the line as a tree */

    seine_fault fault; /* below: private */
    sn_arena arena;
    sn_str line;
    seine_diag *diag;
} sn_record_reader;

void sn_record_reader_init(sn_record_reader *rr);
void sn_record_reader_fini(sn_record_reader *rr);

/* BAD_JSON, JSON_TOO_DEEP: no JSON; INVAL: no object, or a member is not what it has to
 * be; NOMEM. */
SEINE_MUST_CHECK seine_err sn_record_read(sn_record_reader *rr, sn_str line,
                                          seine_diag *diag);

/* The text of a member of a line that is an object of JSON, where numbers keep their
 * spelling; absent: there is none of that name, or it is spelled with escapes. */
sn_str sn_line_member(sn_str line, sn_str name);

/* Adds the line, an object of JSON, without its member of that name. */
void sn_line_without(sn_buf *to, sn_str line, sn_str name);

/* "2026-11-15T19:20:01.123456Z", up to nine decimals, or with an offset (+01:00). INVAL,
 * RANGE: before 1678 or behind 2261. */
SEINE_MUST_CHECK seine_err sn_stamp_read(sn_str text, int64_t *out_wall);

#endif
