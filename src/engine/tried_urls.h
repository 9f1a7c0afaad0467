/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tried_urls.h - how often have earlier runs of the job asked for a URL in vain?
 *
 * A URL that failed and waits for its next attempt when a run ends goes on with that one:
 * a run that is stopped or killed gives no URL more attempts than its options allow. It
 * is asked for at least once more, since it has no record yet.
 *
 *     e = sn_tried_urls_add(&t, &u);                                while a job is read
 *     sn_tried_urls_sort(&t);
 *     sn_tried_urls_begin(&t, number, &retry, now);                 of every visit
 *
 * Time    is passed in; how long a URL was tried before counts as well.
 * Memory  24 bytes of each URL that failed and was not done.
 * Threads any, once it is sorted.
 */
#ifndef SN_TRIED_URLS_H
#define SN_TRIED_URLS_H

#include "seine/retry.h"

typedef struct sn_tried_url {
    uint64_t number;
    uint32_t attempts;
    int64_t elapsed_ms;
} sn_tried_url;

typedef struct sn_tried_urls { /* zeroed: empty */
    sn_tried_url *all;
    size_t n, room;
} sn_tried_urls;

void sn_tried_urls_fini(sn_tried_urls *t);

SEINE_MUST_CHECK seine_err sn_tried_urls_add(sn_tried_urls *t, const sn_tried_url *u);
void sn_tried_urls_sort(sn_tried_urls *t);

/* Lets the attempts of the URL go on from those that were made. */
void sn_tried_urls_begin(const sn_tried_urls *t, uint64_t number, seine_retry *retry,
                         seine_time now);

#endif
