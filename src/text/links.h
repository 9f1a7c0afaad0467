/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.h - the links of a page whose tree is built, from the same pass over its bytes.
 *
 *     sn_links_listen(links, &html);
 *     …
 *     sn_links_heard(links, &html, live);
 *
 * Threads one owner.
 */
#ifndef SN_LINKS_H
#define SN_LINKS_H

#include "seine/links.h"
#include "text/html.h"

/* Every event of `html` goes to `l` from here on. */
void sn_links_listen(seine_links *l, sn_html *html);

/* The page is read: drops the links of elements that the tree lost again. `live` has a
 * bit for each byte of the page, set where the tag of an element of the tree begins. */
SEINE_MUST_CHECK seine_err sn_links_heard(seine_links *l, const sn_html *html,
                                          const uint8_t *live);

#endif
