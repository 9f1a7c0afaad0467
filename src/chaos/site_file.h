/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site_file.h - the long texts of a generated site, made line by line.
 *
 * The sitemap and the list of truths have a line per page; a million of them are
 * never in memory together. A roll adds lines to a buffer until there is enough
 * for now, or all of it:
 *
 *     snc_site_file roll = snc_site_file_list(&site, &base);
 *     do {
 *         sn_buf_reset(&out);
 *         snc_site_file_add(&roll, &out, 4096);
 *         send(out.ptr, out.len);
 *     } while (out.len > 0);
 *
 * A line of the list:  {"url":"http://127.0.0.1:8080/p/7","status":200,
 * "kind":"page","error":null,"fails":1}. `kind` is the page's fate, `error` the kind
 * of error a crawler ends with; a redirect names its target, `to`.
 *
 * Time    plays no part.
 * Memory  the buffer's; the texts of the base must outlive the roll.
 * Threads one owner.
 */
#ifndef SNC_SITE_FILE_H
#define SNC_SITE_FILE_H

#include "base/buf.h"
#include "chaos/site.h"

#define SNC_SITE_FILE_PAGES 50000 /* pages of one sitemap */

typedef enum snc_site_file_kind {
    SNC_SITE_FILE_LIST,
    SNC_SITE_FILE_SITEMAP,
    SNC_SITE_FILE_INDEX
} snc_site_file_kind;

typedef struct snc_site_file {
    snc_site_file_kind kind;
    snc_site site;
    snc_site_base base;
    uint32_t host;      /* a sitemap has the pages of one host */
    uint64_t next, end; /* pages, or sitemaps of the index */
    bool begun, over;
} snc_site_file;

snc_site_file snc_site_file_list(const snc_site *s, const snc_site_base *b);

/* "sitemap.xml", "sitemap-3.xml": false when the site has no such file. With more
 * than 50,000 pages the first is an index of the others. */
bool snc_site_file_sitemap(const snc_site *s, const snc_site_base *b, uint32_t host,
                           sn_str name, snc_site_file *out_file);

/* Whole lines, `want` bytes or a little more; nothing when all of them were there. */
void snc_site_file_add(snc_site_file *r, sn_buf *out, size_t want);

/* The text of robots.txt of a host; false when the site has none. */
bool snc_site_file_robots(const snc_site *s, const snc_site_base *b, uint32_t host,
                          sn_buf *out);

#endif
