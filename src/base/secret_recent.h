/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_recent.h - finds values in a text that came while the program ran.
 *
 * Servers set cookies without number, which an automaton (secret_trie.h) would have to be
 * made anew for. Here each pattern stands in a table under its last four bytes; a text is
 * read once, and at each byte the table says which patterns may end there. The newest 4
 * MiB are kept.
 *
 *     e = sn_recent_give(&r, patterns);                     any thread
 *     sn_recent_begin(&r);
 *     for (p = sn_recent_first(&r, tail); p; p = sn_recent_next(p))
 *         …                                                 p may end here;
 *     sn_recent_end(&r);
 *
 * Time    a step per byte of the text and per pattern with the same last four bytes.
 * Memory  4 MiB at most, nothing before the first pattern; wiped before it is freed.
 * Threads any thread; the lock is a leaf, held from begin to end.
 */
#ifndef SN_SECRET_RECENT_H
#define SN_SECRET_RECENT_H

#include <pthread.h>

#include "base/str.h"

enum { SN_RECENT_TAIL = 4, SN_RECENT_SLOTS = 16384, SN_RECENT_BYTES = 4 << 20 };

typedef struct sn_recent_pattern {
    struct sn_recent_pattern *next;  /* of its slot */
    struct sn_recent_pattern *newer; /* of all */
    uint64_t tail;                   /* its last four bytes */
    uint32_t len;
    uint8_t flags;
    bool is_coded; /* of base64 text */
    char bytes[];
} sn_recent_pattern;

typedef struct sn_recent {
    pthread_mutex_t lock;
    sn_recent_pattern **slots; /* NULL: nothing was added */
    sn_recent_pattern *oldest, *newest;
    size_t bytes;
    uint64_t secret;
    _Atomic bool has_any;
} sn_recent;

void sn_recent_init(sn_recent *r);
void sn_recent_fini(sn_recent *r);

/* Makes a pattern of at least SN_RECENT_TAIL bytes; NULL: no memory. */
sn_recent_pattern *sn_recent_pattern_new(sn_str bytes, uint8_t flags, bool is_coded);

/* Adds all patterns of the list, by `newer`, which are the table's from here on, unless
 * the first is there already. NOMEM: none was added. */
SEINE_MUST_CHECK seine_err sn_recent_give(sn_recent *r, sn_recent_pattern *give);
void sn_recent_drop(sn_recent_pattern *list); /* wipes and frees them */

/* True if these bytes are there, as a pattern of plain text. */
bool sn_recent_has(sn_recent *r, sn_str bytes);

/* True if nothing was ever added; takes no lock. */
bool sn_recent_is_empty(const sn_recent *r);

void sn_recent_begin(sn_recent *r);
void sn_recent_end(sn_recent *r);

/* Between begin and end: the first pattern with this tail, and the next one. */
const sn_recent_pattern *sn_recent_first(const sn_recent *r, uint64_t tail);
const sn_recent_pattern *sn_recent_next(const sn_recent_pattern *p);

#endif
