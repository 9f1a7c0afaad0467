/* SPDX-License-Identifier: Apache-2.0 */
/*
 * revisit.h - a crawl that comes back: which pages are asked for again, and when?
 *
 * A crawl with a job (job.h) and these options is incremental. Its job remembers of every
 * page what the last copy was like; the next round asks whether the page is still the
 * same, and the record says what became of it (seine_record_change).
 *
 *     seine_revisit_opts v = SEINE_REVISIT_OPTS;
 *     v.start = SEINE_SECS(3600);               for `revisit` of seine_fetch_opts
 *
 * A page that is still the same is asked for half as often again, up to `max`; one that
 * has changed twice as often, down to `min`. Cache-Control: max-age of a response makes
 * its page due no earlier, a newer lastmod in a sitemap makes it due at once.
 *
 * Time    intervals; due moments are wall time.
 * Memory  none.
 * Threads a set of options.
 */
#ifndef SEINE_REVISIT_H
#define SEINE_REVISIT_H

#include <stdbool.h>
#include <stddef.h>

#include "seine/abi.h"
#include "seine/time.h"

typedef struct seine_revisit_opts {
    size_t size;      /* of this struct: SEINE_REVISIT_OPTS sets it */
    bool refresh;     /* every page is fetched: no If-None-Match, no If-Modified-Since */
    bool by_content;  /* a page has changed if its visible words have, numbers aside */
    seine_span start; /* 1 d: the first interval; 0: every page is due in every round */
    seine_span min;   /* 1 h; `start` if that is shorter */
    seine_span max;   /* 30 d; `start` if that is longer */
} seine_revisit_opts;

/* clang-format off */
#define SEINE_REVISIT_OPTS {sizeof(seine_revisit_opts), false, false, SEINE_SECS(86400), SEINE_SECS(3600), SEINE_SECS(30 * 86400)}
/* clang-format on */

#endif
