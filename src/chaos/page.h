/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - the pages of a generated site, and its endless calendar.
 *
 *     snc_page_html(&site, &base, &page, &out);
 *
 * A page has a title, three paragraphs, links to its children, its parent and a few
 * others, about 2 KB in all; with `trap=on` one in ten also links to the calendar, where
 * every day has a next one. A duplicate equals its original byte by byte, even if its
 * relative links then lead elsewhere.
 *
 * Time    plays no part.
 * Memory  the caller's buffer.
 * Threads any thread.
 */
#ifndef SNC_PAGE_H
#define SNC_PAGE_H

#include "base/buf.h"
#include "chaos/site.h"

void snc_page_html(const snc_site *s, const snc_site_base *b, const snc_page *page,
                   sn_buf *out);

/* The day "2026/11/15", linked to its neighbours under `prefix`; any other text is the
 * first day. */
void snc_calendar_html(sn_str prefix, sn_str rest, sn_buf *out);

/* Writes `count` made-up words, twelve to a sentence. */
void snc_page_words(uint64_t seed, uint64_t count, sn_buf *out);

#endif
