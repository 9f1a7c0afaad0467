/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_front.h - the last origin that was parsed, so that the next URL of it is parsed
 * from its path on.
 *
 * Lists of URLs stay with an origin for long. Scheme, host and port of a URL that was
 * parsed stand in its text as they are written anew, so a text that begins with the same
 * bytes has the same origin, and what is left is a reference to that origin.
 *
 *     if (!sn_url_front_parse(&f, text, &u)) {       the origin is another one
 *         e = seine_url_parse(&u, text.ptr, text.len, &flaw);
 *         if (e == SEINE_OK)
 *             sn_url_front_note(&f, &u);
 *     }
 *
 * Memory  the caller's, zero at the start; origins beyond 256 bytes are not noted.
 * Threads one owner.
 */
#ifndef SN_URL_FRONT_H
#define SN_URL_FRONT_H

#include "base/str.h"
#include "seine/url.h"

enum { SN_URL_FRONT_ROOM = 256 };

typedef struct sn_url_front {
    seine_url base; /* len 0: nothing was noted */
    char mem[SN_URL_FRONT_ROOM];
} sn_url_front;

/* True: u is the URL, as seine_url_parse makes it. False: the text is to be parsed as a
 * whole, since its origin is another one, or it has a flaw. */
bool sn_url_front_parse(const sn_url_front *f, sn_str text, seine_url *u);

/* Notes the origin of a URL of http or https without user. Others change nothing. */
void sn_url_front_note(sn_url_front *f, const seine_url *u);

#endif
