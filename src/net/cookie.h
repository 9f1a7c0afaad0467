/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cookie.h - the parts of a jar: what a Set-Cookie says, and what is kept of it.
 *
 *     e = sn_cookie_parse(value, wall, &set);      bytes to views; INVAL: refused
 *     e = sn_cookie_scope(&set, url, psl, &c);     whose it is, by the URL it came from
 *     e = sn_jar_put(jar, &c, wall);               a copy in the jar
 *
 * A line of a cookie file takes the same way from the second step on.
 *
 * Time    is passed in: Unix time in ns.
 * Memory  views; the jar copies.
 * Threads parsing any thread; the jar has one lock, a leaf: memory is taken before it
 *         and given back after it.
 */
#ifndef SN_COOKIE_H
#define SN_COOKIE_H

#include <pthread.h>

#include "base/str.h"
#include "seine/cookie.h"
#include "seine/psl.h"

#define SN_COOKIE_BYTES  4096 /* of name and value */
#define SN_COOKIE_ATTR   1024 /* of an attribute's value; longer ones do not count */
#define SN_COOKIE_DOMAIN 256
#define SN_JAR_HOST      50
#define SN_JAR_ALL       3000
#define SN_JAR_SLOTS     4096
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

typedef struct sn_cookie sn_cookie;
struct sn_cookie {
    sn_cookie *newer, *older;              /* of all, by use */
    sn_cookie *next, **link;               /* those whose domain has the same slot */
    sn_cookie *next_secure, **link_secure; /* secure ones, by the slot of their site */
    uint64_t hash, site;                   /* of domain and site */
    uint64_t created, used;                /* counted, not timed */
    sn_cookie_view view;                   /* of `text` */
    char text[];
};

struct seine_jar {
    pthread_mutex_t lock;
    seine_psl *psl; /* NULL: none */
    uint64_t secret[2], ticks;
    sn_cookie *newest, *oldest;
    size_t count;
    int64_t soonest; /* nothing expires before */
    sn_cookie *slots[SN_JAR_SLOTS], *secure[SN_JAR_SLOTS];
    sn_cookie *found[SN_JAR_ALL]; /* under the lock: those in question */
};

/* With another list; it is the jar's from here on, also on failure. NULL: none. */
SEINE_MUST_CHECK seine_err sn_jar_new(seine_psl *give, seine_jar **out_jar);

/* Copies it in, in place of the one of the same name, domain and path. One that has
 * expired takes that out. INVAL: it would hide a secure one. */
SEINE_MUST_CHECK seine_err sn_jar_put(seine_jar *jar, const sn_cookie_view *c,
                                      int64_t wall);

/* Under the lock: all into `found`, oldest first; what has expired is left out. */
size_t sn_jar_list(seine_jar *jar, int64_t wall);

/* The text of a file, `path`, as `load` reads it; all lines are good before one is
 * taken. */
SEINE_MUST_CHECK seine_err sn_jar_read(seine_jar *jar, sn_str text, const char *path,
                                       int64_t wall, char *out_why);

/* The lines of a file; *out_text is freed by sn_free, also on failure: NOMEM. */
SEINE_MUST_CHECK seine_err sn_jar_print(seine_jar *jar, int64_t wall, char **out_text,
                                        size_t *out_len);

#endif
