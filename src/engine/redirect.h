/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redirect.h - where does a redirect lead, may we follow it, and what goes along?
 *
 * These are the rules alone; the scheduler lets the visit wait for the next host. 301,
 * 302, 303, 307 and 308 with a Location are followed up to a limit. 303, and 301 and 302
 * of a POST, go on as GET without body; the others keep method and body, and a body
 * reaches another origin only if that was allowed.
 *
 *     e = sn_redirect_next(&(sn_redirect){…}, &url, &as_get);    OK: ask `url` next
 *
 * The other ends are TOO_MANY_REDIRECTS, BAD_REDIRECT, REDIRECT_REFUSED, BLOCKED_SCHEME
 * and BLOCKED_PORT.
 *
 * An origin is scheme, host and port. What a user added to requests stays with the
 * origin it was added for; conditions and ranges stay with their very URL.
 *
 * Time    plays no part.
 * Memory  the target is written to the memory of `out_url`.
 * Threads any thread: pure.
 */
#ifndef SN_REDIRECT_H
#define SN_REDIRECT_H

#include "base/str.h"
#include "seine/url.h"

typedef struct sn_redirect {
    const seine_url *from; /* who sent the response */
    uint16_t status;
    sn_str location;     /* empty: none */
    uint8_t n_locations; /* different ones */
    sn_str method;
    bool has_body;
    uint32_t hops, max; /* followed so far, and at most */
    bool follow_body;   /* a body may go to another origin */
    bool https_only;
} sn_redirect;

/* 301 302 303 307 308. */
bool sn_redirect_is(uint16_t status);

/* OK: *out_url is the target without user and fragment; *out_get: it is asked with GET
 * and no body. NOMEM. */
SEINE_MUST_CHECK seine_err sn_redirect_next(const sn_redirect *r, seine_url *out_url,
                                            bool *out_get);

bool sn_redirect_is_same_origin(const seine_url *a, const seine_url *b);

/* How far a field of a request may go. */
typedef enum sn_reach {
    SN_REACH_ALL,     /* who we are and what we can read */
    SN_REACH_ORIGIN,  /* everything else */
    SN_REACH_URL,     /* conditions, Range: the very URL */
    SN_REACH_BODY,    /* Content-*: the origin, and only with the body they describe */
    SN_REACH_REFERER, /* as sn_redirect_referer says */
} sn_reach;

sn_reach sn_redirect_reach(sn_str field);

/* The Referer of a request to an origin that is not the one it was typed for, by
 * strict-origin-when-cross-origin: whole to its own origin, the origin alone to others,
 * none (empty) from https to http, or where it is no URL. Written to `mem`,
 * SEINE_URL_ROOM bytes. */
sn_str sn_redirect_referer(sn_str referer, const seine_url *to, char *mem);

/* Takes user information and fragment out of a Referer, in place; its new length. */
size_t sn_redirect_bare(char *referer, size_t n);

#endif
