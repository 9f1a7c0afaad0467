/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - where does a page lead, and what does it say of itself? Read while it arrives.
 *
 *     p = sn_page_take(&pool);                at the head of a response
 *     sn_page_begin(p, &wants);
 *     sn_page_feed(p, piece);                  bytes of any number, until the end
 *     sn_page_end(p);                          the body is whole
 *     for (i = 0; sn_page_link_at(p, i, &link); i++)
 *         …                                    in the order of the page
 *     sn_page_give(&pool, p);
 *
 * Links and facts are there after sn_page_end. A body that did not end well has none.
 *
 * A crawl follows these links: a and area, link except for the parts of a page
 * (stylesheets, icons, preloads), iframe, frame, and the target of a meta refresh.
 * Pictures, scripts, media and forms are no links, unless sn_page_add_parts adds them. A
 * page keeps `max_links` of them and 16 MiB of them; facts.notes says when there were
 * more.
 *
 * A page is read in the encoding its mark, header or metas name (docs/user/charset.md);
 * texts and values come out as UTF-8.
 *
 * Time    plays no part; work is linear in the bytes.
 * Memory  what was found; used again, and given back beyond 64 KiB between two pages.
 * Threads one owner at a time.
 */
#ifndef SN_PAGE_H
#define SN_PAGE_H

#include "base/str.h"
#include "engine/visit.h"
#include "text/word_triples.h"

typedef struct sn_page sn_page;

typedef struct sn_page_wants {
    sn_visit_kind kind; /* PAGE: links, title, metas; SITEMAP: its URLs */
    bool links;         /* false: the title alone, and nothing is read behind it */
    bool dates;         /* SITEMAP: lastmod of its URLs is read, too */
    sn_str content_type, charset; /* of the header; lower case */
    unsigned robots;              /* SEINE_NOFOLLOW … of the header */
    sn_str own;                   /* path and query; ptr NULL: no words are wanted */
    uint32_t max_links;           /* 0: 50,000 */
    uint64_t max_text;            /* bytes of values; below 16 MiB: 16 MiB */
    bool is_sheet;                /* no HTML: nothing is read but the parts, at its end */
    bool later; /* PAGE: sn_page_read reads it, not sn_page_feed, unless it is large */
} sn_page_wants;

typedef struct sn_page_link { /* views into the page, valid until the next begin */
    sn_str value;             /* in UTF-8, to be resolved against the base */
    uint8_t tag, attr;        /* of the tables of text/html.h; 0: of a sitemap */
    uint32_t line, col;       /* from 1, columns in bytes; 0: of a sitemap */
    bool nofollow;            /* its rel says so */
    bool is_map;     /* an entry of a sitemap index: leads to a further sitemap */
    bool is_part;    /* the page needs it: a picture, a style sheet */
    int64_t lastmod; /* of a sitemap: the last moment it may mean, wall time in ms; 0 */
} sn_page_link;

typedef struct sn_page_facts { /* ptr NULL: it does not say; valid as the links are */
    sn_str title, lang;
    sn_str canonical, base; /* as they stand there */
    sn_str meta_robots;     /* of all metas for robots and for us, ", " between them */
    sn_str charset;
    const char *charset_from; /* "header"; NULL: not known */
    uint64_t charset_errors;  /* bytes that are no characters, as far as they were read */
    unsigned robots;          /* SEINE_NOFOLLOW …: metas and the header */
    uint32_t notes;           /* SEINE_LINKS_CAPPED … */
    uint32_t left_out;        /* links beyond a limit, as far as they were counted */
    bool is_cut;              /* of a sitemap: more was in it than a limit allows */
    bool has_links;           /* they were asked for, not the title alone */
    seine_err err;            /* why links are missing; OK */
} sn_page_facts;

/* NULL: no memory. */
sn_page *sn_page_new(void);
void sn_page_free(sn_page *p);

void sn_page_begin(sn_page *p, const sn_page_wants *wants);
void sn_page_feed(sn_page *p, sn_str piece);
void sn_page_end(sn_page *p);

/* A page that is read later keeps its bytes, 256 KiB at most, until sn_page_read, which
 * any thread may call that has the page; `content_type` and `charset` of what was wanted
 * are there until then. Such a page is unread after its end, and has nothing to tell. */
bool sn_page_is_unread(const sn_page *p);
void sn_page_read(sn_page *p);

/* After the end: adds the parts of the page, which its whole body names, as links. */
void sn_page_add_parts(sn_page *p, sn_str body, sn_str content_type);

/* After the end; before, there are none. */
size_t sn_page_n_links(const sn_page *p);
bool sn_page_link_at(const sn_page *p, size_t i, sn_page_link *out_link);
void sn_page_facts_get(const sn_page *p, sn_page_facts *out_facts);

/* What the values of a page at `url` are resolved against: its base, if it has a good
 * one, else the page itself. RANGE: the URL does not fit into that of the base. */
SEINE_MUST_CHECK seine_err sn_page_base(const sn_page *p, const seine_url *url,
                                        seine_url *out_base);

/* Its triples of words, if they were wanted and it ended well; else NULL. */
const sn_word_triples *sn_page_words(const sn_page *p);

/* Bytes it holds now. */
size_t sn_page_memory(const sn_page *p);

/* "text/html", "application/xhtml+xml". */
bool sn_page_is_html(sn_str content_type);

/* What the value of an X-Robots-Tag says to us. */
unsigned sn_page_robots_tag(sn_str value);

/* Those that are read at the same time. */
typedef struct sn_page_pool {
    sn_page *spare;
} sn_page_pool;

sn_page *sn_page_take(sn_page_pool *pool); /* NULL: no memory */
void sn_page_give(sn_page_pool *pool, sn_page *give);
void sn_page_pool_fini(sn_page_pool *pool); /* all are back */

#endif
