/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_count.h - what would a tree of this page cost?
 *
 * The tokenizer reports every tag. A stack of names follows the rules of tree
 * construction: which tag ends which element, scopes, and formatting elements that are
 * reopened. The stack gives the depth of the tree and the number of open formatting
 * elements. Some pages of 80 KB cost a standard tree builder 20 seconds; this count finds
 * them before a tree is built.
 *
 *     sn_html_count_init(&c, max_tags);
 *     read_page((sn_html_options){.count = &c});    to its end
 *     e = sn_html_count_verdict(&c, bytes);     OK, HTML_TOO_DEEP, HTML_TOO_COMPLEX
 *
 * Limits: 150,000 tags and comments; depth 256; 256 attributes per tag; 32 open
 * formatting elements. The sum over all tags of the open formatting elements may reach a
 * third of the bytes plus 1,000, and at most 150,000. In that sum an element counts once
 * more per 512 bytes of its tag, because reopening copies its attributes. The count may
 * be too high, never too low.
 *
 * Time    plays no part; a tag takes constant time, whatever is open.
 * Memory  the struct, 29 KiB.
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
    SN_HTML_KINDS = 192 /* known names, and slots for unknown ones */
};

/* The name of an element: its kind, or its letters if the name is unknown. */
typedef struct sn_html_count_named {
    uint8_t kind, len;
    char name[SN_HTML_NAME];
    uint64_t rest;
} sn_html_count_named;

typedef struct sn_html_count_open {
    sn_html_count_named is;
    bool foreign, dead;            /* dead: removed from under other entries */
    uint16_t before;               /* the next entry below of the same kind; 0: none */
    uint16_t special, scope, item; /* the nearest entry of this sort, itself included */
} sn_html_count_open;

typedef struct sn_html_count_format {
    uint8_t kind; /* 0: a marker, up to which a cell or an object clears the list */
    bool plain;   /* without attributes */
    uint32_t weight;
} sn_html_count_format;

typedef struct sn_html_count {
    uint64_t tags, reopened; /* the verdict and the memory estimate use these */
    uint32_t deepest, most_open, most_attrs;

    uint64_t max_tags; /* below: private */
    seine_err err;     /* over a limit; counting stops */
    sn_html_count_named tag;
    uint32_t tag_len;
    bool raw_end, pushed; /* pushed: by the last start tag */
    uint32_t depth, open, formats;
    uint64_t weight;              /* of all open elements */
    uint16_t top;                 /* stack[0] is a sentinel */
    uint16_t last[SN_HTML_KINDS]; /* the topmost of each kind; 0: none */
    sn_html_count_open stack[SN_HTML_STACK];
    sn_html_count_format format[2 * SN_HTML_MAX_OPEN + SN_HTML_STACK];
} sn_html_count;

/* max_tags 0 means the default. */
void sn_html_count_init(sn_html_count *c, uint64_t max_tags);

/* Judges a page of `bytes` bytes after it was read. */
SEINE_MUST_CHECK seine_err sn_html_count_verdict(const sn_html_count *c, uint64_t bytes);

/* The tokenizer reports: a tag name is complete; raw text ended; the tag is complete; the
 * tag has too many attributes; a node that is no element. */
void sn_html_count_name(sn_html_count *c, const sn_html *t);
void sn_html_count_raw_end(sn_html_count *c);
void sn_html_count_tag(sn_html_count *c, const sn_html *t, uint64_t tag_len);
void sn_html_count_attrs(sn_html_count *c);
void sn_html_count_node(sn_html_count *c);

#endif
