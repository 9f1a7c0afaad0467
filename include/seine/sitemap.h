/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sitemap.h - which pages does a site say it has?
 *
 * The bytes of a sitemap go in, in pieces of any size and while they arrive; each entry
 * comes out as soon as it is complete. What the file is its first bytes tell: a urlset
 * or an index of further sitemaps (sitemaps.org), a feed (RSS, Atom), or plain text with
 * one URL a line. gzip is unpacked on the way, whatever the name says.
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
 * Where a file breaks, the entries before are given and stand. At most 50,000 entries
 * and 50 MiB unpacked are read of a file: what is beyond is ignored, and the notes tell.
 * gzip may make no more than 200 times its bytes of them, once that is over 1 MiB.
 *
 * Time    plays no part. Work is linear in the bytes unpacked, whatever they are.
 * Memory  50 KiB, 60 KiB more once gzip was met, 8 KiB for another encoding than UTF-8;
 *         kept by reset.
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
    SEINE_SITEMAP_NONE, /* not known yet, or it is none */
    SEINE_SITEMAP_URLSET,
    SEINE_SITEMAP_INDEX,
    SEINE_SITEMAP_RSS, /* also of RDF */
    SEINE_SITEMAP_ATOM,
    SEINE_SITEMAP_TEXT,
    SEINE_SITEMAP_KINDS
} seine_sitemap_kind;

/* Views are valid during the call; ptr NULL: the file does not say. Texts are as they
 * stand there, without blanks at their ends, and in UTF-8 where the file is what it
 * says: a loc may be no URL, a lastmod no date. */
typedef struct seine_sitemap_entry {
    seine_view loc;     /* never empty */
    seine_view lastmod; /* of a feed: pubDate, updated, published */
    seine_view changefreq;
    double priority; /* 0 to 1; < 0: not said */
    bool is_map;     /* leads to a further sitemap */
} seine_sitemap_entry;

/* False: enough, the rest of the file is ignored. */
typedef bool (*seine_sitemap_fn)(const seine_sitemap_entry *e, void *arg);

typedef struct seine_sitemap_opts {
    size_t size;        /* of this struct: SEINE_SITEMAP_OPTS sets it */
    uint64_t max_urls;  /* 0: 50,000 */
    uint64_t max_bytes; /* unpacked; 0: 50 MiB */
} seine_sitemap_opts;

/* clang-format off */
#define SEINE_SITEMAP_OPTS {sizeof(seine_sitemap_opts), 0, 0}
/* clang-format on */

/* What was left out. */
enum {
    SEINE_SITEMAP_CAPPED = 1, /* "sitemap_capped": more than max_urls or max_bytes */
    SEINE_SITEMAP_NOTES = 1   /* how many notes there are */
};

SEINE_BEGIN

/* `opts` may be NULL. NOMEM. */
SEINE_MUST_CHECK seine_err seine_sitemap_new(const seine_sitemap_opts *opts,
                                             seine_sitemap_fn fn, void *arg,
                                             seine_sitemap **out_sitemap);
void seine_sitemap_free(seine_sitemap *s); /* NULL is fine */

/* Ready for another file. */
void seine_sitemap_reset(seine_sitemap *s);

/* BAD_XML: broken, or no sitemap. BAD_CHARSET: in an encoding nobody knows.
 * BAD_ENCODING, BODY_TOO_LARGE: gzip is damaged, or makes too much. NOMEM. An error
 * stays, and nothing more is read. */
SEINE_MUST_CHECK seine_err seine_sitemap_feed(seine_sitemap *s, const char *bytes,
                                              size_t n);

/* There is no more. BAD_XML too where it ends too early, and BODY_TRUNCATED where gzip
 * does. */
SEINE_MUST_CHECK seine_err seine_sitemap_end(seine_sitemap *s);

seine_sitemap_kind seine_sitemap_what(const seine_sitemap *s);

/* "urlset", "index", "rss", "atom", "text"; "none". */
const char *seine_sitemap_kind_name(seine_sitemap_kind kind);

/* Entries so far. */
uint64_t seine_sitemap_count(const seine_sitemap *s);

/* Says what is wrong, and in which line if it is one of XML; empty: nothing is. */
void seine_sitemap_diag(const seine_sitemap *s, seine_diag *out_diag);

/* SEINE_SITEMAP_CAPPED, and the name of the n-th note, "sitemap_capped". */
unsigned seine_sitemap_notes(const seine_sitemap *s);
const char *seine_sitemap_note_name(unsigned n); /* NULL behind the last */

SEINE_END

#endif
