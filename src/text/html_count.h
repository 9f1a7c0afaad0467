/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_count.h - what would a tree of this page cost?
 *
 * The tokenizer tells of every tag; a stack of names alone, kept by the rules of the
 * tree (what ends what, what is in whose scope, formatting that outlives its block),
 * says how deep it gets and how many formatting elements are open. Some pages of
 * 80 KB cost a tree of the standard 20 seconds: they are known here, before it is
 * begun.
 *
 *     sn_html_count_init(&c, max_tags);
 *     … sn_html with .count = &c, to its end …
 *     e = sn_html_count_verdict(&c, bytes);     OK, HTML_TOO_DEEP, HTML_TOO_COMPLEX
 *
 * Limits: 150,000 tags, comments too; depth 256; 256 attributes of a tag; 32 open
 * formatting elements; and open formatting elements added up tag by tag, at most a
 * third of the bytes and 1,000, and 150,000. There an element counts once more for
 * each 512 bytes of its tag, since its attributes are opened again too. Where the count
 * is not sure it is too high, not too low.
 *
 * Time    plays no part; a tag takes a fixed number of steps, whatever is open.
 * Memory  the struct, 26 KiB.
 * Threads one owner.
 */
#ifndef SN_HTML_COUNT_H
#define SN_HTML_COUNT_H

#include "text/html.h"

enum {
    SN_HTML_MAX_TAGS = 150000,
    SN_HTML_MAX_DEPTH = 256,
    SN_HTML_MAX_OPEN = 32,
    SN_HTML_MAX_REOPENED = 150000,

    SN_HTML_STACK = 2 * SN_HTML_MAX_DEPTH,
    SN_HTML_KINDS = 192 /* names known, and slots for those that are not */
};

/* The name of an element: a kind, and for one without, its letters. */
typedef struct sn_html_count_named {
    uint8_t kind, len;
    char name[SN_HTML_NAME];
    uint64_t rest;
} sn_html_count_named;

typedef struct sn_html_count_open {
    sn_html_count_named is;
    bool foreign, dead;            /* dead: taken out from under others */
    uint16_t before;               /* the one below of the same kind; 0: none */
    uint16_t special, scope, item; /* the nearest such, itself included */
} sn_html_count_open;

typedef struct sn_html_count_format {
    uint8_t kind; /* 0: a mark, up to which a cell or an object clears the list */
    bool plain;   /* without attributes */
    uint32_t weight;
} sn_html_count_format;

typedef struct sn_html_count {
    uint64_t tags, reopened; /* what verdict and memory are reckoned from */
    uint32_t deepest, most_open, most_attrs;

    uint64_t max_tags; /* below: private */
    seine_err err;     /* over a limit; then nothing more is counted */
    sn_html_count_named tag;
    uint32_t tag_len;
    bool raw_end, pushed; /* pushed: by the last start tag */
    uint32_t depth, open, formats;
    uint64_t weight;              /* of all that are open */
    uint16_t top;                 /* stack[0] is nobody */
    uint16_t last[SN_HTML_KINDS]; /* the topmost of each kind; 0: none */
    sn_html_count_open stack[SN_HTML_STACK];
    sn_html_count_format format[2 * SN_HTML_MAX_OPEN + SN_HTML_STACK];
} sn_html_count;

/* max_tags 0: the usual. */
void sn_html_count_init(sn_html_count *c, uint64_t max_tags);

/* Of a page of so many bytes, when it was read. */
SEINE_MUST_CHECK seine_err sn_html_count_verdict(const sn_html_count *c, uint64_t bytes);

/* For the tokenizer: the name of a tag was read; that was the end of raw text; the
 * tag is whole; it has too many attributes; a node that is no element. */
void sn_html_count_name(sn_html_count *c, const sn_html *t);
void sn_html_count_raw_end(sn_html_count *c);
void sn_html_count_tag(sn_html_count *c, const sn_html *t, uint64_t tag_len);
void sn_html_count_attrs(sn_html_count *c);
void sn_html_count_node(sn_html_count *c);

#endif
