/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_links.h - the links of a page, on their way with its record.
 *
 * They travel as they stand in the page, with the base they are resolved against: a
 * thousand links below one long URL are not a thousand long URLs. Whoever reads them
 * resolves them.
 *
 *     sn_record_links_init(&l, seine_url_href(&base), strip);
 *     sn_record_links_add(&l, &link);                 once for each
 *     e = sn_record_links_done(&l);
 *     …                                               the hold of a record points to them
 *     sn_record_links_fini(&l);
 *
 * Time    plays no part.
 * Memory  20 bytes a link, and their text.
 * Threads one owner; then any number of readers.
 */
#ifndef SN_RECORD_LINKS_H
#define SN_RECORD_LINKS_H

#include "base/buf.h"
#include "seine/record_links.h"

/* A link as it stands in the page. */
typedef struct sn_raw_link {
    sn_str value;
    uint32_t line, col;
    uint8_t tag, attr; /* of the tables of text/html.h; tag 0: a redirect */
} sn_raw_link;

typedef struct sn_record_links {
    sn_buf rows, text;        /* text: strip, then the base, then the values */
    uint32_t base_at, values; /* where they begin in the text */
} sn_record_links;

/* `strip`: as of seine_url_key; NULL: none. */
void sn_record_links_init(sn_record_links *l, sn_str base, const char *strip);
void sn_record_links_add(sn_record_links *l, const sn_raw_link *link);
SEINE_MUST_CHECK seine_err sn_record_links_done(const sn_record_links *l); /* NOMEM */
void sn_record_links_fini(sn_record_links *l);
size_t sn_record_links_bytes(const sn_record_links *l); /* NULL: 0 */

#endif
