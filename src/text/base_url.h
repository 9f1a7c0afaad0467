/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base_url.h - which URL do the links of a page start from?
 *
 * From the page's own URL, unless the page has a <base href>: then from the value of the
 * first one, resolved against the page's URL. A value that is no URL, or is one of data:
 * or javascript:, does not count (HTML standard, 4.2.3, "set the frozen base URL"). Any
 * other one does, mailto: among them, although no relative link can start there. The
 * rule is the same for every link of the page, also for those before the <base>.
 *
 *     seine_url_init(&base, mem, sizeof mem);
 *     from = sn_base_url(href, &page, &base) ? &base : &page;
 *     e = seine_url_resolve(&url, from, link.ptr, link.len, NULL);
 *
 * Time    plays no part.
 * Memory  the caller's.
 * Threads any thread.
 */
#ifndef SN_BASE_URL_H
#define SN_BASE_URL_H

#include "base/str.h"
#include "seine/url.h"

/* `href` is the value of the first <base href>, absent (ptr NULL) if there is none. True:
 * it counts, and out_base is where links start. False: they start at `page`, and out_base
 * holds nothing of use. If `page` is empty, only a whole URL counts. */
bool sn_base_url(sn_str href, const seine_url *page, seine_url *out_base);

#endif
