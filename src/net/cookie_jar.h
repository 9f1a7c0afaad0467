/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cookie_jar.h - how a cookie jar stores, finds and drops cookies.
 *
 *     e = sn_cookie_jar_put(jar, &cookie, wall);      a copy in the jar
 *     n = sn_cookie_jar_list(jar, wall);              under the lock: all of them
 *
 * Cookies are chained by the hash of their domain; secure ones are also chained by the
 * hash of their site. One list holds all cookies in order of use. The public interface is
 * seine/cookie_jar.h; net/cookie.h parses Set-Cookie.
 *
 * Time    is passed in: Unix time in ns.
 * Memory  one allocation per cookie, at most SN_COOKIE_JAR_ALL cookies.
 * Threads any thread. The lock is a leaf: memory is allocated before it is taken and
 *         freed after it is released.
 */
#ifndef SN_COOKIE_JAR_H
#define SN_COOKIE_JAR_H

#include <pthread.h>

#include "net/cookie.h"
#include "seine/cookie_jar.h"

#define SN_COOKIE_JAR_HOST  50
#define SN_COOKIE_JAR_SITE  300 /* a site with so many makes room among its own */
#define SN_COOKIE_JAR_ALL   3000
#define SN_COOKIE_JAR_SLOTS 4096

typedef struct sn_cookie sn_cookie;
struct sn_cookie {
    sn_cookie *newer, *older;              /* of all cookies, by use */
    sn_cookie *next, **link;               /* chain of the domain's slot */
    sn_cookie *next_secure, **link_secure; /* secure cookies: chain of the site's slot */
    uint64_t hash, site;                   /* of domain and site */
    uint64_t created, used;                /* sequence numbers, not times */
    sn_cookie_view view;                   /* points into `text` */
    char text[];
};

struct seine_cookie_jar {
    pthread_mutex_t lock;
    seine_psl *psl; /* NULL: none */
    uint64_t secret[2], ticks;
    sn_cookie *newest, *oldest;
    size_t count;
    int64_t soonest; /* no cookie expires before this */
    sn_cookie *slots[SN_COOKIE_JAR_SLOTS], *secure[SN_COOKIE_JAR_SLOTS];
    sn_cookie *found[SN_COOKIE_JAR_ALL]; /* under the lock: the current selection */
};

/* Makes a jar with another public suffix list, or NULL; the jar owns the list from here
 * on, also on failure. */
SEINE_MUST_CHECK seine_err sn_cookie_jar_new(seine_psl *give, seine_cookie_jar **out_jar);

/* Adds a copy, which replaces a cookie of the same name, domain and path. An expired
 * cookie removes that one. INVAL: it would replace a secure one, or is not secure and
 * only secure ones could make room for it. */
SEINE_MUST_CHECK seine_err sn_cookie_jar_put(seine_cookie_jar *jar,
                                             const sn_cookie_view *c, int64_t wall);

/* Under the lock: lists all cookies that are not expired in `found`, oldest first. */
size_t sn_cookie_jar_list(seine_cookie_jar *jar, int64_t wall);

/* Reads the text of a cookie file; `path` is for messages. Takes no cookie unless all
 * lines are valid. */
SEINE_MUST_CHECK seine_err sn_cookie_jar_read(seine_cookie_jar *jar, sn_str text,
                                              const char *path, int64_t wall,
                                              seine_diag *diag);

/* Prints the lines of a cookie file; free *out_text with sn_free, also on failure.
 * NOMEM. */
SEINE_MUST_CHECK seine_err sn_cookie_jar_print(seine_cookie_jar *jar, int64_t wall,
                                               char **out_text, size_t *out_len);

#endif
