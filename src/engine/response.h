/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response.h - the second half of stage 3: what the server sent is put into the visit.
 *
 * Of the head the visit gets type, charset, length, Location, what the server says about
 * waiting, and the fields if they are kept. Of the body it gets the bytes if they are
 * kept, and counted; while memory is short (engine/memory_brake.h) the connection stops
 * reading. A body that cannot fit at all is cut off, and the reason stands in
 * v->kept.err. A page is read while it arrives (engine/page.h): v->page is there when the
 * body ended well, and nothing that is made of a body is kept of one that did not. Where
 * the shard has more to do than to read, the bytes of a page wait in it (`reads_later`).
 *
 * Two things end an exchange early and well (v->enough): robots.txt beyond 512 KiB, and
 * a type that is not asked for (v->not_wanted).
 *
 * Time    plays no part.
 * Memory  the visit's arena and buffer; readers of pages from the pool of sn_requests.
 * Threads one owner.
 */
#ifndef SN_RESPONSE_H
#define SN_RESPONSE_H

#include "engine/request.h"

void sn_response_head(sn_requests *r, sn_visit *v, const sn_head *head);

/* A piece of the body. False: the exchange is to be cut off. */
SEINE_MUST_CHECK bool sn_response_body(sn_requests *r, sn_visit *v, sn_str piece);

/* Bytes of the response as received, for the archive. */
void sn_response_wire(sn_requests *r, sn_visit *v, sn_str bytes);

/* How many bytes may be read; 0: none until sn_requests_resume. */
size_t sn_response_room(sn_requests *r, sn_visit *v);

/* The exchange has ended, as v->end says. The reader of the page stays if the body ended
 * well. */
void sn_response_end(sn_requests *r, sn_visit *v);

/* The page of the visit waits to be read: by `read`, on any thread that has the visit,
 * and then the shard counts its memory. */
bool sn_response_is_unread(const sn_visit *v);
void sn_response_read(const sn_shared_state *c, sn_visit *v);
void sn_response_is_read(sn_requests *r, sn_visit *v);

/* Forgets what was kept of a body, its reader and its memory; before the visit waits or
 * is gone. */
void sn_response_drop(sn_requests *r, sn_visit *v);

/* Media type and charset of a Content-Type, in lower case; empty: it has none. False: no
 * memory. */
bool sn_response_content_type(sn_arena *arena, sn_str value, sn_str *out_type,
                              sn_str *out_charset);

#endif
