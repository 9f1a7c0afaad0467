/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sitemap.h - which pages does a sitemap list?
 *
 * The bytes of a sitemap go in while they arrive, in pieces of any size; each entry comes
 * out as soon as it is complete. The reader detects the format from the first bytes: a
 * urlset or a sitemap index (sitemaps.org), a feed (RSS, Atom), or plain text with one
 * URL per line. It decompresses gzip, whatever the file name says.
 *
 *     static bool on_entry(const seine_sitemap_entry *e, void *arg) { … return true; }
 *
 *     e = seine_sitemap_new(NULL, on_entry, NULL, &s);
 *     while (more && e == SEINE_OK)
 *         e = seine_sitemap_feed(s, bytes, n);
 *     if (e == SEINE_OK)
 *         e = seine_sitemap_end(s);            BAD_XML: seine_sitemap_diag
 *     seine_sitemap_free(s);
 *
 * If a file is broken, the entries before the error remain valid. The reader takes at
 * most 50,000 entries and 50 MiB of decompressed data per file; it ignores the rest, and
 * the notes say so. Above 1 MiB gzip may expand at most 200 times.
 *
 * Time    plays no part. Work is linear in the bytes unpacked, whatever they are.
 * Memory  50 KiB, plus 60 KiB for gzip and 8 KiB for encodings other than UTF-8; reset
 *         keeps it.
 * Threads one owner.
 */
#ifndef SEINE_SITEMAP_H
#define SEINE_SITEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/diag.h"
#include "seine/err.h"
#include "seine/view.h"

#define SEINE_SITEMAP_URLS  50000
#define SEINE_SITEMAP_BYTES ((uint64_t)50 << 20)

typedef struct seine_sitemap seine_sitemap;

typedef enum seine_sitemap_kind {
    SEINE_SITEMAP_NONE, /* not known yet, or no sitemap */
    SEINE_SITEMAP_URLSET,
    SEINE_SITEMAP_INDEX,
    SEINE_SITEMAP_RSS, /* RDF too */
    SEINE_SITEMAP_ATOM,
    SEINE_SITEMAP_TEXT,
    SEINE_SITEMAP_KINDS
} seine_sitemap_kind;

/* Views are valid during the call; ptr is NULL if the file does not say. Texts are not
 * checked: a loc may be no URL, a lastmod no date. They have no blanks at their ends and
 * are UTF-8 if the file names its encoding correctly. */
typedef struct seine_sitemap_entry {
    seine_view loc;     /* never empty */
    seine_view lastmod; /* of a feed: pubDate, updated, published */
    seine_view changefreq;
    double priority; /* 0 to 1; < 0: not given */
    bool is_map;     /* loc is a further sitemap */
} seine_sitemap_entry;

/* Returns false to stop: the rest of the file is ignored. */
typedef bool (*seine_sitemap_fn)(const seine_sitemap_entry *e, void *arg);

typedef struct seine_sitemap_opts {
    size_t size;        /* of this struct: SEINE_SITEMAP_OPTS sets it */
    uint64_t max_urls;  /* 0: 50,000 */
    uint64_t max_bytes; /* decompressed; 0: 50 MiB */
} seine_sitemap_opts;

/* clang-format off */
#define SEINE_SITEMAP_OPTS {sizeof(seine_sitemap_opts), 0, 0}
/* clang-format on */

/* Notes: what was left out. */
enum {
    SEINE_SITEMAP_CAPPED = 1, /* "sitemap_capped": more than max_urls or max_bytes */
    SEINE_SITEMAP_NOTES = 1   /* number of notes */
};

SEINE_BEGIN

/* `opts` may be NULL. NOMEM. */
SEINE_MUST_CHECK seine_err seine_sitemap_new(const seine_sitemap_opts *opts,
                                             seine_sitemap_fn fn, void *arg,
                                             seine_sitemap **out_sitemap);
void seine_sitemap_free(seine_sitemap *s); /* NULL is fine */

/* Ready for another file. */
void seine_sitemap_reset(seine_sitemap *s);

/* BAD_XML: broken, or not a sitemap. BAD_CHARSET: an unknown encoding. BAD_ENCODING: gzip
 * is damaged. BODY_TOO_LARGE: gzip expands too much. NOMEM. An error is permanent:
 * nothing more is read. */
SEINE_MUST_CHECK seine_err seine_sitemap_feed(seine_sitemap *s, const char *bytes,
                                              size_t n);

/* Ends the file. BAD_XML also if the file ends too early, BODY_TRUNCATED if gzip does. */
SEINE_MUST_CHECK seine_err seine_sitemap_end(seine_sitemap *s);

seine_sitemap_kind seine_sitemap_what(const seine_sitemap *s);

/* "urlset", "index", "rss", "atom", "text"; "none". */
const char *seine_sitemap_kind_name(seine_sitemap_kind kind);

/* Returns the number of entries so far. */
uint64_t seine_sitemap_count(const seine_sitemap *s);

/* Writes what is wrong, and in which line of XML; empty if nothing is. */
void seine_sitemap_diag(const seine_sitemap *s, seine_diag *out_diag);

/* Writes the same as one line behind the name of the error that feed or end returned:
 * "bad_xml: line 7: it ends too early". Returns its length, as snprintf does. */
size_t seine_sitemap_flaw(const seine_sitemap *s, seine_err e, char *buf, size_t cap);

/* Return a mask of notes, and the name of the n-th, "sitemap_capped". */
unsigned seine_sitemap_notes(const seine_sitemap *s);
const char *seine_sitemap_note_name(unsigned n); /* NULL after the last */

SEINE_END

#endif
