/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cookie.h - parse Set-Cookie, and find the hosts and paths of a cookie.
 *
 *     e = sn_cookie_parse(value, wall, &set);               INVAL: refused
 *     e = sn_cookie_place_of(&url, &from);                  the URL that it came from
 *     e = sn_cookie_scope(&set, &from, psl, mem, &cookie);  its domain and path
 *
 * A line of a cookie file enters at the third step. The jar stores the cookies:
 * net/cookie_jar.h.
 *
 * Time    is passed in: Unix time in ns.
 * Memory  views.
 * Threads any thread.
 */
#ifndef SN_COOKIE_H
#define SN_COOKIE_H

#include "base/str.h"
#include "seine/psl.h"
#include "seine/url.h"

#define SN_COOKIE_BYTES  4096 /* of name and value */
#define SN_COOKIE_ATTR   1024 /* longest value of an attribute that counts */
#define SN_COOKIE_DOMAIN 256
#define SN_COOKIE_LIFE   (INT64_C(400) * 86400 * 1000000000)

/* A client without pages does not use SameSite; it is kept for readers of the jar. */
typedef enum sn_same_site {
    SN_SITE_UNSET,
    SN_SITE_NONE,
    SN_SITE_LAX,
    SN_SITE_STRICT
} sn_same_site;

/* A parsed Set-Cookie, without its origin. */
typedef struct sn_set_cookie {
    sn_str name, value;
    sn_str domain;   /* without leading dot; empty: not given */
    sn_str path;     /* begins with a slash; empty: not given */
    int64_t expires; /* at most 400 days from now; SEINE_NEVER: not given */
    bool secure, http_only;
    sn_same_site same_site;
} sn_set_cookie;

/* INVAL: no name, too long, a control byte. */
SEINE_MUST_CHECK seine_err sn_cookie_parse(sn_str value, int64_t wall,
                                           sn_set_cookie *out_set);

/* Parses the lenient dates of RFC 6265, 5.1.1, to Unix seconds. False: not a date. */
bool sn_cookie_date(sn_str text, int64_t *out_epoch);

/* A cookie with its domain and path. */
typedef struct sn_cookie_view {
    sn_str name, value, domain, path;
    int64_t expires; /* SEINE_NEVER: a session cookie */
    bool secure, http_only;
    bool host_only; /* for `domain` itself, not for its subdomains */
    bool plain;     /* came over http: may not replace one from https */
    sn_same_site same_site;
} sn_cookie_view;

/* Host and path of a URL for cookies. INVAL: not http or https, or no host. */
typedef struct sn_cookie_place {
    sn_str host, path;
    bool secure, is_address;
} sn_cookie_place;
SEINE_MUST_CHECK seine_err sn_cookie_place_of(const seine_url *url,
                                              sn_cookie_place *out_place);

/* Applies the rules of 5.7; INVAL: refused. `mem` holds a Domain that is not ASCII.
 * Without a public suffix list Domain is ignored. NOMEM. */
SEINE_MUST_CHECK seine_err sn_cookie_scope(const sn_set_cookie *set,
                                           const sn_cookie_place *from,
                                           const seine_psl *psl,
                                           char mem[SN_COOKIE_DOMAIN],
                                           sn_cookie_view *out_cookie);

/* True if the cookie meets the rules of its __Secure- or __Host- prefix, in any case. */
bool sn_cookie_prefix_holds(const sn_cookie_view *c);

bool sn_cookie_path_matches(sn_str request, sn_str cookie);

#endif
