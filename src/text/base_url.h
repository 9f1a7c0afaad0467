/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base_url.h - which URL do the links of a page start from?
 *
 * Links start from the value of the first <base href>, resolved against the page's URL. A
 * page without <base href> uses its own URL, and so does a page whose value is no URL or
 * has the scheme data: or javascript: (HTML standard, 4.2.3, "set the frozen base URL").
 * Every other scheme counts, even mailto:, although no relative link can start there. The
 * same base holds for all links of the page, also for those before the <base>.
 *
 *     seine_url_init(&base, mem, sizeof mem);
 *     const seine_url *from = sn_base_url(href, &page, &base) ? &base : &page;
 *     e = seine_url_resolve(&url, from, link, strlen(link), NULL);
 *
 * Time    plays no part.
 * Memory  the caller's.
 * Threads any thread.
 */
#ifndef SN_BASE_URL_H
#define SN_BASE_URL_H

#include "base/str.h"
#include "seine/url.h"

/* `href` is the value of the first <base href>; ptr is NULL if there is none. Returns
 * true if the value counts: out_base is then where links start. Returns false if links
 * start at `page`; out_base is then undefined. If `page` is empty, only an absolute URL
 * counts. */
bool sn_base_url(sn_str href, const seine_url *page, seine_url *out_base);

#endif
