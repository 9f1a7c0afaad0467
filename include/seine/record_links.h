/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_links.h - where do the links of a page lead, and which pages link to a URL?
 *
 * A crawl follows every URL once, and its record names one page that links there. Who
 * wants all of them sets SEINE_KEEP_TARGETS in seine_fetch_opts.keep. Then the record of
 * a page has every link of the page, also those that were not followed:
 *
 *     seine_fetch_opts o = SEINE_FETCH_OPTS;
 *     o.keep |= SEINE_KEEP_TARGETS;
 *     …                                             and in o.on_record
 *     n = seine_record_links(record, on_link, arg);  on_link gets one after the other
 *
 * The outputs make two things of them: rows of the table `link` (seine_sink_opts.links),
 * and the pages that link to a URL that has failed (seine_sink_opts.referrers):
 *
 *     seine_referrer pages[10];
 *     n = seine_record_referrers(record, pages, 10, &count);  n of count pages
 *
 * Time    plays no part.
 * Memory  as long as the page's own text of its links; on the stack 32 KiB.
 * Threads as the record.
 */
#ifndef SEINE_RECORD_LINKS_H
#define SEINE_RECORD_LINKS_H

#include "seine/record.h"

typedef struct seine_record_link { /* valid until the function returns */
    seine_view url;       /* absolute, without fragment; as it stands there, if it is no
                             URL */
    seine_view key;       /* equal for all spellings of the URL */
    seine_view tag, attr; /* "a", "href"; absent: the page is a redirect */
    uint32_t line;        /* 0: the page is a redirect */
    uint32_t col;         /* of the tag, from 1, in bytes; 0: likewise */
} seine_record_link;
typedef void (*seine_record_link_fn)(const seine_record_link *l, void *arg);

/* A page that links to a URL. */
typedef struct seine_referrer {
    seine_view url;
    uint32_t line; /* of the first link there; 0: not known */
} seine_referrer;

SEINE_BEGIN

/* Calls `fn` for every link in the order of the page; returns their number. A NULL `fn`
 * only counts. 0: the page has none, or they were not asked for. */
size_t seine_record_links(const seine_record *r, seine_record_link_fn fn, void *arg);

/* Writes the first pages that link to the URL, at most `room`; returns how many it wrote.
 * *out_count: how many there are, NULL is fine. 0: none is known, or nobody asked. */
size_t seine_record_referrers(const seine_record *r, seine_referrer *out_pages,
                              size_t room, size_t *out_count);

SEINE_END

#endif
