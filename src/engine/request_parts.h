/* SPDX-License-Identifier: Apache-2.0 */
/* request_parts.h - what the files of a request know of each other: request.c starts a
 * request and hears its end, request_fields.c writes its header fields, and
 * request_cookies.c stands between it and the cookie jar. */
#ifndef SN_REQUEST_PARTS_H
#define SN_REQUEST_PARTS_H

#include "engine/request.h"

/* Does this hop go to an origin that the user named? */
bool sn_request_is_at_home(const sn_visit *v);

/* request_fields.c: the fields that requests share. False: no memory. */
SEINE_MUST_CHECK bool sn_requests_init_fields(sn_requests *r);

/* request_cookies.c */

/* Adds what the jar has for this hop, and behind it what the user gave for this origin.
 * False: no memory. */
SEINE_MUST_CHECK bool sn_request_add_cookies(const sn_requests *r, sn_visit *v);

/* They were sent, or will not be. */
void sn_request_drop_cookies(sn_flight *f);

/* Gives the cookies of a head to the jar. The head is whole, so they count, whatever
 * becomes of the body. */
void sn_request_take_cookies(const sn_requests *r, sn_visit *v, const sn_head *head);

#endif
