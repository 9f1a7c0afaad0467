/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope_set.h - is this place on the web in the set? The set only grows.
 *
 * A place is a host name, a port and perhaps a directory. Asking takes no lock and sees
 * every place whose add has returned; adding takes a lock.
 *
 *     sn_scope_place docs = {SN_STR("e.example"), SN_STR("/docs/"), 8080};
 *     sn_scope_place page = {SN_STR("e.example"), SN_STR("/docs/a/b.html"), 8080};
 *     e = sn_scope_set_add(&set, &docs);
 *     sn_scope_set_has(&set, &page);           false
 *     sn_scope_set_has_above(&set, &page);     true
 *
 * The hash runs over the name and then over one segment of the directory after the
 * other, so that all directories above a page are looked up in one walk of its path.
 *
 * Time    plays no part.
 * Memory  the texts and 48 bytes a place; 8 to 16 bytes a slot. Tables that were outgrown
 *         stay until fini, together no more than the last one.
 * Threads any thread; init and fini: one owner.
 */
#ifndef SN_SCOPE_SET_H
#define SN_SCOPE_SET_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/str.h"

enum {
    SN_PORT_OWN = -1, /* the scheme's: http and https alike */
    SN_PORT_ANY = -2
};

typedef struct sn_scope_place {
    sn_str name;
    sn_str dir; /* "/docs/"; empty: all of the host */
    int32_t port;
} sn_scope_place;

typedef struct sn_scope_set {
    _Atomic(struct sn_scope_table *) table; /* NULL: empty */
    _Atomic uint64_t depths; /* bit n: a directory of n slashes is there; 63: or more */
    uint64_t secret[2];
    pthread_mutex_t lock; /* of those who add */
} sn_scope_set;

void sn_scope_set_init(sn_scope_set *p);
void sn_scope_set_fini(sn_scope_set *p);

/* OK also when it is there already. With a directory its host is in the set, too. NOMEM.
 */
SEINE_MUST_CHECK seine_err sn_scope_set_add(sn_scope_set *p, const sn_scope_place *place);

/* This very place. */
bool sn_scope_set_has(const sn_scope_set *p, const sn_scope_place *place);

/* Is a directory above this path in the set? `place->dir` is the path. */
bool sn_scope_set_has_above(const sn_scope_set *p, const sn_scope_place *place);

#endif
