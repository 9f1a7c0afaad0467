/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cookie.h - what does a Set-Cookie say, and to which hosts and paths does it belong?
 *
 *     e = sn_cookie_parse(value, wall, &set);              bytes to views; INVAL: refused
 *     e = sn_cookie_place_of(&url, &from);                 the URL that it came from
 *     e = sn_cookie_scope(&set, &from, psl, mem, &cookie); its domain and path
 *
 * A line of a cookie file takes the same way from the third step on. The jar keeps the
 * cookies: net/cookie_jar.h.
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
#define SN_COOKIE_ATTR   1024 /* of an attribute's value; longer ones do not count */
#define SN_COOKIE_DOMAIN 256
#define SN_COOKIE_LIFE   (INT64_C(400) * 86400 * 1000000000)

/* Of no use to a client without pages; kept for whoever reads the jar. */
typedef enum sn_same_site {
    SN_SITE_UNSET,
    SN_SITE_NONE,
    SN_SITE_LAX,
    SN_SITE_STRICT
} sn_same_site;

/* What was said, whoever said it. */
typedef struct sn_set_cookie {
    sn_str name, value;
    sn_str domain;   /* without a dot before it; empty: not said */
    sn_str path;     /* begins with a slash; empty: not said */
    int64_t expires; /* at most 400 days from now; SEINE_NEVER: not said */
    bool secure, http_only;
    sn_same_site same_site;
} sn_set_cookie;

/* INVAL: no name, too long, a control byte. */
SEINE_MUST_CHECK seine_err sn_cookie_parse(sn_str value, int64_t wall,
                                           sn_set_cookie *out_set);

/* The lenient dates of RFC 6265, 5.1.1, in Unix seconds. False: none. */
bool sn_cookie_date(sn_str text, int64_t *out_epoch);

/* A cookie with its place. */
typedef struct sn_cookie_view {
    sn_str name, value, domain, path;
    int64_t expires; /* SEINE_NEVER: until the jar is gone */
    bool secure, http_only;
    bool host_only; /* to `domain` itself, not to what is below it */
    bool plain;     /* came over http: leaves what came over https alone */
    sn_same_site same_site;
} sn_cookie_view;

/* Name and path of a URL as cookies see them. INVAL: not http or https, no host. */
typedef struct sn_cookie_place {
    sn_str host, path;
    bool secure, is_address;
} sn_cookie_place;
SEINE_MUST_CHECK seine_err sn_cookie_place_of(const seine_url *url,
                                              sn_cookie_place *out_place);

/* Applies the rules of 5.7: INVAL is refused. `mem` holds a Domain that is not ASCII.
 * Without a list no Domain counts. NOMEM. */
SEINE_MUST_CHECK seine_err sn_cookie_scope(const sn_set_cookie *set,
                                           const sn_cookie_place *from,
                                           const seine_psl *psl,
                                           char mem[SN_COOKIE_DOMAIN],
                                           sn_cookie_view *out_cookie);

/* __Secure- and __Host- in any case keep what they promise. */
bool sn_cookie_prefix_holds(const sn_cookie_view *c);

bool sn_cookie_path_matches(sn_str request, sn_str cookie);

#endif
