/* SPDX-License-Identifier: Apache-2.0 */
/*
 * site_file.h - the long files of a generated site: sitemaps and the list of its pages.
 *
 * These files have a line per page; a million lines are never in memory together. A file
 * adds lines to a buffer until there are enough for now, or all:
 *
 *     snc_site_file file = snc_site_file_list(&site, &base);
 *     do {
 *         sn_buf_reset(&out);
 *         snc_site_file_add(&file, &out, 4096);
 *         send(out.ptr, out.len);
 *     } while (out.len > 0);
 *
 * A line of the list:  {"url":"http://127.0.0.1:8080/p/7","status":200,
 * "kind":"page","error":null,"fails":1}. `kind` is the page's fate, `error` the error
 * kind that a crawler ends with; a redirect names its target, `to`.
 *
 * Time    plays no part.
 * Memory  the buffer's; the texts of the base must outlive the file.
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
    uint32_t host;      /* a sitemap lists the pages of one host */
    uint64_t next, end; /* pages, or sitemaps of the index */
    bool begun, over;
} snc_site_file;

snc_site_file snc_site_file_list(const snc_site *s, const snc_site_base *b);

/* "sitemap.xml", "sitemap-3.xml": false when the site has no such file. With more
 * than 50,000 pages the first is an index of the others. */
bool snc_site_file_sitemap(const snc_site *s, const snc_site_base *b, uint32_t host,
                           sn_str name, snc_site_file *out_file);

/* Adds whole lines, `want` bytes or a little more; nothing at the end. */
void snc_site_file_add(snc_site_file *r, sn_buf *out, size_t want);

/* Writes robots.txt of a host; false when the site has none. */
bool snc_site_file_robots(const snc_site *s, const snc_site_base *b, uint32_t host,
                          sn_buf *out);

#endif
