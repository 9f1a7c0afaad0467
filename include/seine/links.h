/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.h - which links and metadata does this HTML page hold?
 *
 * The bytes of a page go in while they arrive, in pieces of any size. At the end there is
 * a list of the links in page order, with title, base, language, metas and JSON-LD. There
 * is no tree and no recursion.
 *
 *     seine_links *l;
 *     e = seine_links_new(NULL, &l);
 *     while (more)
 *         e = seine_links_feed(l, bytes, n);
 *     e = seine_links_end(l);
 *     e = seine_links_base_url(l, &page, &base);
 *     for (size_t i = 0; seine_links_at(l, i, &link); i++)
 *         e = seine_url_resolve(&url, &base, link.value.ptr, link.value.len, NULL);
 *     seine_links_free(l);
 *
 * Links are a, area and link href; img, script, iframe, frame, embed, source, video,
 * audio, track and input[type=image] src; every URL of srcset and imagesrcset; video
 * poster, object data, form action, and where a meta refresh leads. The content of
 * <template> is no part of the page; that of <noscript> is, unless `scripting` is set.
 *
 * Input is ASCII or a superset of ASCII, best UTF-8, and bytes above 0x7f come out
 * unchanged; character references become UTF-8. Limits: 50,000 links, 256 attributes per
 * tag, 64 KiB per value, 4 KiB of title, 256 bytes of link text, 4,096 metas, 1,024
 * JSON-LD scripts of 1 MiB. The rest is dropped, and the notes say so.
 *
 * Time    plays no part. Work is linear in the bytes, whatever they are.
 * Memory  the results, at most `max_bytes`, plus 1 MiB; reset keeps it.
 * Threads one owner; after the end any number of threads may read.
 */
#ifndef SEINE_LINKS_H
#define SEINE_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/url.h"
#include "seine/view.h"

#define SEINE_LINKS_MOST 50000

typedef struct seine_links seine_links;

typedef struct seine_links_opts {
    size_t size;      /* of this struct: SEINE_LINKS_OPTS sets it */
    bool scripting;   /* <noscript> is text, as for a browser that runs scripts */
    size_t max_bytes; /* of all results; 0: 64 MiB */
} seine_links_opts;

/* clang-format off */
#define SEINE_LINKS_OPTS {sizeof(seine_links_opts), false, 0}
/* clang-format on */

/* Views are valid until the next reset. */
typedef struct seine_link {
    const char *tag, *attr; /* "a", "href" */
    seine_view value;       /* references decoded, not resolved */
    seine_view text;        /* of an <a>, blanks collapsed */
    seine_view rel, hreflang;
    uint64_t offset;    /* of its tag */
    uint32_t line, col; /* the same, from 1, columns in bytes */
} seine_link;

typedef struct seine_meta {
    const char *attr; /* "name", "property" or "http-equiv" */
    seine_view name, content;
} seine_meta;

/* Notes: what was dropped. */
enum {
    SEINE_LINKS_CAPPED = 1, /* "links_capped" */
    SEINE_ATTRS_CAPPED = 2,
    SEINE_VALUE_CUT = 4,
    SEINE_TITLE_CUT = 8,
    SEINE_JSONLD_CUT = 16, /* or there are too many, or metas */
    SEINE_LINKS_NOTES = 5  /* number of notes */
};

/* What a page asks of robots, in metas named robots or like the agent. */
enum { SEINE_NOINDEX = 1, SEINE_NOFOLLOW = 2, SEINE_NOARCHIVE = 4 };

SEINE_BEGIN

/* `opts` may be NULL. NOMEM. */
SEINE_MUST_CHECK seine_err seine_links_new(const seine_links_opts *opts,
                                           seine_links **out_links);
void seine_links_free(seine_links *l); /* NULL is fine */

/* Ready for another page. */
void seine_links_reset(seine_links *l);

/* NOMEM is permanent: nothing more is read. */
SEINE_MUST_CHECK seine_err seine_links_feed(seine_links *l, const char *bytes, size_t n);
SEINE_MUST_CHECK seine_err seine_links_end(seine_links *l);

/* Valid after the end. False if there are fewer links. */
size_t seine_links_count(const seine_links *l);
bool seine_links_at(const seine_links *l, size_t i, seine_link *out_link);
bool seine_links_meta(const seine_links *l, size_t i, seine_meta *out_meta);
bool seine_links_jsonld(const seine_links *l, size_t i, seine_view *out_text);

/* ptr is NULL if the page does not say. The base is the value of the first <base href>,
 * canonical that of the first link with rel=canonical. */
seine_view seine_links_title(const seine_links *l);
seine_view seine_links_base(const seine_links *l);
seine_view seine_links_lang(const seine_links *l);
seine_view seine_links_canonical(const seine_links *l);

/* Writes the base URL of the links: the page's <base>, if it is valid, else `page`
 * itself. If the URL of the page is not known, `page` is empty; out_base is then empty
 * unless the <base> is an absolute URL. RANGE: `page` does not fit into out_base. */
SEINE_MUST_CHECK seine_err seine_links_base_url(const seine_links *l,
                                                const seine_url *page,
                                                seine_url *out_base);

/* Returns a mask of SEINE_NOINDEX and the others; `agent` ("seine") may be NULL. */
unsigned seine_links_robots(const seine_links *l, const char *agent);

/* True if the link's rel has this word. */
bool seine_link_has_rel(const seine_link *link, const char *word);

/* The URL of the page's meta refresh and its delay; an empty URL means the page
 * itself. False if there is none. seine_refresh_parse does the same for one value of
 * `content`. */
bool seine_links_refresh(const seine_links *l, uint32_t *out_seconds,
                         seine_view *out_url);
bool seine_refresh_parse(const char *content, size_t len, uint32_t *out_seconds,
                         seine_view *out_url);

/* A mask of SEINE_LINKS_CAPPED and the others, and the name of the n-th note. */
unsigned seine_links_notes(const seine_links *l);
const char *seine_links_note_name(unsigned n); /* NULL after the last */

SEINE_END

#endif
