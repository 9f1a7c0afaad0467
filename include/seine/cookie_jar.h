/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cookie_jar.h - which cookies does this request carry?
 *
 * A jar takes the cookies that servers set and returns those that a request to a URL may
 * carry, by RFC 6265bis: domain and path match, Secure, HttpOnly, the prefixes __Host-
 * and __Secure-, Max-Age before Expires, at most 400 days. A Domain that is a public
 * suffix, an address, or not a parent of the host is refused. Limits: 4,096 bytes of name
 * and value, 50 cookies per response, 50 per host, 3,000 in all, 8 KiB sent; the least
 * recently used cookie is dropped first.
 *
 *     e = seine_cookie_jar_new(&jar);
 *     e = seine_cookie_jar_load(jar, "cookies.txt", wall, &diag);
 *     e = seine_cookie_jar_take(jar, &url, value, len, wall);       a Set-Cookie value
 *     n = seine_cookie_jar_field(jar, &url, wall, buf, cap);        the Cookie value
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

#define SEINE_COOKIE_JAR_SENT 8192 /* longest Cookie field */

/* Why a request does not carry a cookie. Names are stable, texts are for people. */
/* clang-format off */
#define SEINE_COOKIE_WHYS(X) \
    X(SENT,       "sent",          "it is sent") \
    X(NO_HTTP,    "no_http",       "the URL is not of http or https, or has no host") \
    X(NO_NAME,    "no_name",       "it has no name") \
    X(TOO_LONG,   "too_long",      "its name and value have more than 4,096 bytes") \
    X(CONTROL,    "control",       "it holds a control character") \
    X(SECURE_SET, "secure_set",    "it is Secure, and was set over http") \
    X(DOMAIN,     "domain",        "its Domain is not the host that set it, or above it") \
    X(SUFFIX,     "public_suffix", "its Domain is a public suffix") \
    X(PREFIX,     "prefix",        "its name begins with __Secure- or __Host-, whose rules it breaks") \
    X(EXPIRED,    "expired",       "it has expired") \
    X(HIDDEN,     "hidden",        "it was set over http, and a Secure cookie has its name") \
    X(REPLACED,   "replaced",      "a later cookie with its name, domain and path replaced it") \
    X(DROPPED,    "dropped",       "the jar dropped it: too many cookies, or one that deleted it") \
    X(HOST,       "host",          "it is for another host") \
    X(PATH,       "path",          "it is for another path") \
    X(SECURE,     "secure",        "it is Secure, and the request goes over http")
/* clang-format on */
typedef enum seine_cookie_why {
#define X(id, name, text) SEINE_COOKIE_##id,
    SEINE_COOKIE_WHYS(X)
#undef X
} seine_cookie_why;

SEINE_BEGIN

SEINE_MUST_CHECK seine_err seine_cookie_jar_new(seine_cookie_jar **out_jar);
void seine_cookie_jar_free(seine_cookie_jar *jar); /* NULL is fine */

/* Takes one Set-Cookie value of a response from that URL. INVAL: refused, the jar is
 * unchanged. NOMEM. */
SEINE_MUST_CHECK seine_err seine_cookie_jar_take(seine_cookie_jar *jar,
                                                 const seine_url *url, const char *value,
                                                 size_t len, int64_t wall);

/* Writes the Cookie field for a request to that URL, not terminated, at most `cap` and
 * SEINE_COOKIE_JAR_SENT bytes; the least recently used cookies are left out. 0: no
 * cookie. */
size_t seine_cookie_jar_field(seine_cookie_jar *jar, const seine_url *url, int64_t wall,
                              char *buf, size_t cap);

/* Says why a request to `to` would not carry the cookie that a response from `from` has
 * set with this value, after the jar has taken it and what came behind it. SENT: it
 * would, if the field has room. */
seine_cookie_why seine_cookie_jar_why(seine_cookie_jar *jar, const seine_url *from,
                                      const char *value, size_t len, const seine_url *to,
                                      int64_t wall);
const char *seine_cookie_why_name(seine_cookie_why why); /* "public_suffix" */
const char *seine_cookie_why_text(seine_cookie_why why); /* "its Domain is …" */

/* Returns the number of cookies; expired ones may be counted until they are found. */
size_t seine_cookie_jar_count(const seine_cookie_jar *jar);

/* Files are in the Netscape format, like those of curl and wget. `load` adds cookies; a
 * file that does not exist counts as empty. CONFIG: a line is invalid, and no cookie was
 * taken; the diag names the line. IO, DISK_FULL, NOMEM. `save` replaces the file
 * atomically by a new one of mode 0600; a symbolic link is replaced, not followed. */
SEINE_MUST_CHECK seine_err seine_cookie_jar_load(seine_cookie_jar *jar, const char *path,
                                                 int64_t wall, seine_diag *diag);
SEINE_MUST_CHECK seine_err seine_cookie_jar_save(seine_cookie_jar *jar, const char *path,
                                                 int64_t wall, seine_diag *diag);

SEINE_END

#endif
