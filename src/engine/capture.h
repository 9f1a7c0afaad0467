/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h - which bytes were sent and received for a visit? Kept for a web archive.
 *
 * Every hop of a chain of redirects has one capture, and so has the last attempt: the
 * request as it was written, with secrets REDACTED, and the bytes of the response as they
 * came. The capture of an attempt that is tried again is dropped.
 *
 *     e = sn_capture_begin(v, &request, wall);
 *     sn_capture_wire(v, bytes);          as often as the transport has some
 *     sn_capture_end(v);                  v->end says why it ended
 *     if (is_redirect)
 *         sn_capture_keep(v);             the next hop gets a capture of its own
 *     if (is_retry)
 *         sn_capture_back(v);             the next attempt replaces this one
 *     list = sn_capture_list(v, &n);      for the record
 *     sn_capture_drop(v);
 *
 * When there is no room for more bytes the exchange is cut off, and v->kept.err says why.
 *
 * Time    wall time is passed in.
 * Memory  one buffer a visit, reserved from the budget before it grows.
 * Threads one owner: that of the visit.
 */
#ifndef SN_CAPTURE_H
#define SN_CAPTURE_H

#include "engine/visit.h"

typedef struct sn_captures sn_captures;

SEINE_MUST_CHECK seine_err sn_capture_begin(sn_visit *v, const sn_request *request,
                                            int64_t wall);
void sn_capture_wire(sn_visit *v, sn_str bytes);
void sn_capture_end(sn_visit *v);

/* The last one stays: it is followed to another URL. Or it goes. */
void sn_capture_keep(sn_visit *v);
void sn_capture_back(sn_visit *v);

/* Those kept and the last one; valid until the visit changes. NULL: none. */
const seine_capture *sn_capture_list(sn_visit *v, size_t *out_n);

/* The bytes of memory beyond a small buffer. */
size_t sn_capture_memory(const sn_visit *v);

/* The bytes that still fit into the small buffer. */
size_t sn_capture_free_room(const sn_visit *v);

/* Moves the bytes out to which the list points, which stays as it is. */
void sn_capture_take(sn_visit *v, sn_buf *out_bytes);

/* All go, with their memory; a small buffer stays for the next visit. */
void sn_capture_drop(sn_visit *v);
void sn_capture_free(sn_captures *c); /* NULL is fine */

/* Why the bytes of a response end where they do; `lack`: there was no room for more. */
seine_cut sn_capture_cut(const sn_end *end, seine_err lack);

#endif
