/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preview.h - recipes checked and tried while they are typed.
 *
 * 150 ms after the last update of a recipe its problems go to everyone who has it open
 * (`diag`). A `preview` asks for the rows on a stored page; one at a time runs for a
 * document, and of those that come meanwhile the newest is run next. Both run on a pool
 * of one worker, so that a slow recipe delays no edit.
 *
 * Time    the loop's.
 * Memory  copies of one text and one page for each job, at most 9 of them.
 * Threads the console's alone.
 */
#ifndef SN_PREVIEW_H
#define SN_PREVIEW_H

#include "console/api_call.h"
#include "console/docs.h"
#include "console/message_read.h"
#include "console/socket.h"

/* For the hub: a document has another text. `arg` is the sn_docs. */
void sn_preview_changed(sn_live_doc *d, void *arg);
/* The timer of the checks. */
void sn_preview_check(sn_timer *t, seine_time now);
/* A `preview` message; the answer comes later. */
void sn_preview_ask(sn_socket *s, sn_session *session, const sn_message *m);
/* Checks a text and answers the call: {"version":…,"items":[…]}. Copies the text. */
void sn_preview_validate(sn_docs *docs, sn_call *call, sn_str text, uint64_t version);

#endif
