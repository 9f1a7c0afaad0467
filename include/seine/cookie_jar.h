/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cookie_jar.h - which cookies does this request carry?
 *
 * A jar takes what servers set and gives back what a request to a URL may carry, by the
 * rules of RFC 6265 as its revision tells them: domain and path match, Secure, HttpOnly,
 * the prefixes __Host- and __Secure-, Max-Age before Expires, 400 days at most. A Domain
 * that is a public suffix, an address, or not a parent of the host is refused. It is
 * bounded: 4,096 bytes of name and value, 50 of one response, 50 of one host, 3,000 in
 * all, 8 KiB sent; the least recently used goes first.
 *
 *     e = seine_cookie_jar_new(&jar);
 *     e = seine_cookie_jar_load(jar, "cookies.txt", wall, &diag);    the format of
 * Netscape e = seine_cookie_jar_take(jar, &url, value, len, wall);      of a Set-Cookie
 * field n = seine_cookie_jar_field(jar, &url, wall, buf, cap);      of the Cookie field
 *     e = seine_cookie_jar_save(jar, "cookies.txt", wall, &diag);
 *
 * Time    is passed in: Unix time in ns.
 * Memory  90 KiB and at most 3,000 cookies.
 * Threads any thread; one lock, never held across I/O or an allocation.
 */
#ifndef SEINE_COOKIE_JAR_H
#define SEINE_COOKIE_JAR_H

#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/diag.h"
#include "seine/err.h"
#include "seine/url.h"
#include "seine/view.h"

typedef struct seine_cookie_jar seine_cookie_jar;

#define SEINE_COOKIE_JAR_SENT 8192 /* bytes of a Cookie field at most */

SEINE_BEGIN

SEINE_MUST_CHECK seine_err seine_cookie_jar_new(seine_cookie_jar **out_jar);
void seine_cookie_jar_free(seine_cookie_jar *jar); /* NULL is fine */

/* One Set-Cookie value of an answer from that URL. INVAL: refused, the jar is as it
 * was. NOMEM. */
SEINE_MUST_CHECK seine_err seine_cookie_jar_take(seine_cookie_jar *jar,
                                                 const seine_url *url, const char *value,
                                                 size_t len, int64_t wall);

/* The value of the Cookie field of a request to that URL, not terminated, in `cap` bytes
 * and SEINE_COOKIE_JAR_SENT at most; the least recently used are left out. 0: none is
 * sent. */
size_t seine_cookie_jar_field(seine_cookie_jar *jar, const seine_url *url, int64_t wall,
                              char *buf, size_t cap);

/* How many are there, also those that expired and were not missed yet. */
size_t seine_cookie_jar_count(const seine_cookie_jar *jar);

/* Files in the format of Netscape, as curl and wget have them. `load` adds to what is
 * there; a file that does not exist is empty. CONFIG: a line is no cookie, and none was
 * taken; the diag says which line. IO, DISK_FULL, NOMEM.
 * `save` puts a new file of mode 0600 in the place of the old one, whole or not at all,
 * and of a symbolic link, which is not followed. */
SEINE_MUST_CHECK seine_err seine_cookie_jar_load(seine_cookie_jar *jar, const char *path,
                                                 int64_t wall, seine_diag *diag);
SEINE_MUST_CHECK seine_err seine_cookie_jar_save(seine_cookie_jar *jar, const char *path,
                                                 int64_t wall, seine_diag *diag);

SEINE_END

#endif
