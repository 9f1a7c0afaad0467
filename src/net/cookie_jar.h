/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cookie_jar.h - the inside of a cookie jar: how cookies are kept, found and dropped.
 *
 *     e = sn_cookie_jar_put(jar, &cookie, wall);      a copy in the jar
 *     n = sn_cookie_jar_list(jar, wall);              under the lock: all of them
 *
 * Cookies hang in chains by the hash of their domain, secure ones in chains by the hash
 * of their site, too, and all of them in one list in the order of use. The calls of
 * programs are in seine/cookie_jar.h; net/cookie.h says what a Set-Cookie means.
 *
 * Time    is passed in: Unix time in ns.
 * Memory  one allocation for each cookie, SN_COOKIE_JAR_ALL cookies at most.
 * Threads any thread. The lock is a leaf: memory is taken before it and given back after
 *         it.
 */
#ifndef SN_COOKIE_JAR_H
#define SN_COOKIE_JAR_H

#include <pthread.h>

#include "net/cookie.h"
#include "seine/cookie_jar.h"

#define SN_COOKIE_JAR_HOST  50
#define SN_COOKIE_JAR_ALL   3000
#define SN_COOKIE_JAR_SLOTS 4096

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

struct seine_cookie_jar {
    pthread_mutex_t lock;
    seine_psl *psl; /* NULL: none */
    uint64_t secret[2], ticks;
    sn_cookie *newest, *oldest;
    size_t count;
    int64_t soonest; /* nothing expires before */
    sn_cookie *slots[SN_COOKIE_JAR_SLOTS], *secure[SN_COOKIE_JAR_SLOTS];
    sn_cookie *found[SN_COOKIE_JAR_ALL]; /* under the lock: those in question */
};

/* With another list; it is the jar's from here on, also on failure. NULL: none. */
SEINE_MUST_CHECK seine_err sn_cookie_jar_new(seine_psl *give, seine_cookie_jar **out_jar);

/* Copies it in, in place of the one of the same name, domain and path. One that has
 * expired takes that out. INVAL: it would hide a secure one. */
SEINE_MUST_CHECK seine_err sn_cookie_jar_put(seine_cookie_jar *jar,
                                             const sn_cookie_view *c, int64_t wall);

/* Under the lock: all into `found`, oldest first; what has expired is left out. */
size_t sn_cookie_jar_list(seine_cookie_jar *jar, int64_t wall);

/* The text of a file, `path`, as `load` reads it; all lines are good before one is
 * taken. */
SEINE_MUST_CHECK seine_err sn_cookie_jar_read(seine_cookie_jar *jar, sn_str text,
                                              const char *path, int64_t wall,
                                              seine_diag *diag);

/* The lines of a file; *out_text is freed by sn_free, also on failure: NOMEM. */
SEINE_MUST_CHECK seine_err sn_cookie_jar_print(seine_cookie_jar *jar, int64_t wall,
                                               char **out_text, size_t *out_len);

#endif
