/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h - stage 6: a visit that is done becomes its one record.
 *
 * The record is a set of views into the visit. The callback looks at the record or copies
 * it; then the visit goes back to its pool.
 *
 *     sn_emit_record(v, opts, wall, &e);           e.record, and what it points to
 *     on_record(&e.record, shard, arg);
 *
 * Messages for people say what happened and name the limit that was hit: "no answer
 * within 5 s". A hint says what to do.
 *
 * Time    wall time is passed in.
 * Memory  the caller's; views into the visit.
 * Threads one owner.
 */
#ifndef SN_EMIT_H
#define SN_EMIT_H

#include "engine/mail.h"
#include "engine/shared_state.h"
#include "engine/values.h"
#include "net/note.h"
#include "seine/links.h"

/* Room for what a record points to beside the visit. */
typedef struct sn_emit {
    seine_record record;
    seine_fault fault;
    char message[320], hint[128];
    char ip[48];
    uint8_t sha256[32];
    const char *notes[SN_NOTE_COUNT + 1 + SEINE_LINKS_NOTES];
} sn_emit;

/* The visit is DONE, and its page is still there. One whose type is not wanted becomes a
 * skip here. */
void sn_emit_record(sn_visit *v, const seine_fetch_opts *o, int64_t wall, sn_emit *out);

/* The record of a URL that was found and refused. */
void sn_emit_skip(const sn_link *link, sn_str key, seine_skip reason, sn_str rule,
                  int64_t wall, sn_emit *out);

/* An address as text: 203.0.113.5, 2001:db8::1. */
void sn_emit_ip(const sn_ip *ip, char out[48]);

/* One sentence about a fault, for the record; at most `cap` bytes with the terminator.
 * Returns its length. */
size_t sn_emit_message(const seine_fault *f, char *buf, size_t cap);

/* What to do about the fault of the visit, a template for sn_diag_expand: "raise
 * @timeout"; NULL: nobody knows. */
const char *sn_emit_hint(const sn_visit *v, const seine_fetch_opts *o);

/* Takes out of the message what is in the set. */
void sn_emit_redact(sn_emit *e, const seine_secrets *secrets);

/* Moves a large body and large captures out of the visit, with their memory, so that the
 * record can be kept without a copy; let_go drops the engine's reference to them. */
void sn_emit_hold(sn_visit *v, sn_memory_brake *brake, seine_record *r);
void sn_emit_let_go(seine_record *r);

/* The links of the page join the record. False: no memory, and the record lacks them. */
SEINE_MUST_CHECK bool sn_emit_links(sn_visit *v, const seine_fetch_opts *o,
                                    seine_record *r);

/* The values of a page that ended well move into the record; why some are missing becomes
 * its `extract`. False: no memory. */
SEINE_MUST_CHECK bool sn_emit_values(sn_values *values, sn_memory_brake *brake,
                                     seine_record *r);

/* In an incremental crawl: what became of the page, and what the job keeps of it, join
 * the record. False: no memory, and the job would lose the page. */
SEINE_MUST_CHECK bool sn_emit_change(sn_visit *v, const sn_shared_state *c,
                                     seine_record *r);

#endif
