/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markdown.h - which links and anchors does a Markdown document hold?
 *
 * This reads CommonMark with GitHub's additions as far as links depend on it. Blocks
 * (quotes, lists, code, headings, tables, HTML, definitions of references) are read line
 * by line; the text of paragraphs, headings and cells is read for links. Emphasis is read
 * in headings alone, whose text becomes an anchor.
 *
 *     sn_markdown m;
 *     sn_markdown_init(&m);
 *     e = sn_markdown_read(&m, bytes, to);
 *     sn_markdown_fini(&m);
 *
 * Links are [text](url "title"), [text][label], [label][], [label], the same with an
 * image's "!", <https://…>, <name@host>, and bare https:// and www. URLs. Links of HTML
 * that stands between are told, too, and so are its ids. Code, front matter and comments
 * have no links. A reference that nobody defines is text.
 *
 * References may be used before they are defined, so a document with definitions is read
 * twice. HTML is read from a copy in which everything else that has an angle bracket is
 * blanked; places in it are therefore those of the document.
 *
 * Limits: 64 MiB; 100 containers inside each other, deeper ones are text; 100,000
 * definitions; labels of 999 bytes; 32 parentheses inside each other in a URL; of one
 * paragraph 1,048,576 lines, and 64 MiB of open brackets and of links each.
 *
 * Time    plays no part. Work is linear in the bytes.
 * Memory  the longest paragraph twice, the definitions, and a copy of a document that has
 *         angle brackets. Kept for the next document.
 * Threads one owner.
 */
#ifndef SN_MARKDOWN_H
#define SN_MARKDOWN_H

#include "base/buf.h"
#include "text/anchor.h"
#include "text/doc_event.h"
#include "text/html.h"

enum { SN_MARKDOWN_DEEP = 100, SN_MARKDOWN_TICKS = 80, SN_MARKDOWN_LINES = 1 << 20 };

#define SN_MARKDOWN_MAX ((size_t)64 << 20)

/* A line of the text that is being read for links. */
typedef struct sn_markdown_line {
    size_t at;     /* where it begins in the text */
    size_t offset; /* and in the document */
    uint32_t line, col;
} sn_markdown_line;

/* A quote, or an item of a list. */
typedef struct sn_markdown_box {
    bool is_item;
    uint32_t indent; /* columns before the content of an item */
} sn_markdown_box;

typedef struct sn_markdown { /* private */
    sn_doc_fn to;
    sn_str doc;
    bool defining; /* the first of two readings: definitions alone */
    seine_err err;

    /* the line being read */
    size_t line_at, line_end, pos; /* in the document; line_end without CR LF */
    uint32_t line_no, column, spare;
    size_t ink;          /* its first byte from the cursor on that is not blank … */
    uint32_t ink_column; /* … and its column */

    /* the blocks that are open */
    sn_markdown_box boxes[SN_MARKDOWN_DEEP];
    uint32_t depth;
    uint8_t leaf;       /* markdown.c */
    char fence;         /* of fenced code: its character … */
    uint32_t fence_len; /* … and how many */
    uint8_t html_kind;  /* of HTML: 1 to 7, as the standard counts them */

    sn_buf text;  /* of the paragraph */
    sn_buf lines; /* sn_markdown_line */
    sn_map definitions;
    sn_arena names;
    sn_anchors anchors;

    /* reading text for links: markdown_inline.c */
    sn_buf brackets, links, bytes; /* open brackets; links found; what they hold */
    sn_buf plain;                  /* of a heading: its text without markup */
    bool is_heading;
    size_t ticks[SN_MARKDOWN_TICKS + 1]; /* where the last run of so many begins, + 1 */
    bool ticks_known, no_comment_end, no_instruction_end, no_cdata_end, no_tag_end;

    sn_buf mask;   /* the document with its HTML alone */
    bool has_html; /* there is some */
    sn_html html;
    sn_buf scratch;
} sn_markdown;

void sn_markdown_init(sn_markdown *m);
void sn_markdown_fini(sn_markdown *m);

/* Tells everything about one document. BUDGET: longer than 64 MiB. NOMEM. */
SEINE_MUST_CHECK seine_err sn_markdown_read(sn_markdown *m, sn_str doc, sn_doc_fn to);

/* The document with everything blanked that is neither HTML nor text; empty if there is
 * no angle bracket. Valid until the next reading. */
sn_str sn_markdown_masked(const sn_markdown *m);

/* Shared by the markdown*.c files only. */

/* Reads m->text for links; `is_heading`: and collects its text in m->plain. */
void sn_markdown_inline(sn_markdown *m, bool is_heading);

/* Takes the definitions from the beginning of m->text; returns how many bytes they
 * are. */
size_t sn_markdown_definitions(sn_markdown *m);

/* The destination of [label], or false. */
bool sn_markdown_lookup(sn_markdown *m, sn_str label, sn_str *out_value);

/* These read parts of a link at text[at]; 0: there is no such part, else where it ends.
 * The values are not decoded. */
size_t sn_markdown_destination(sn_str text, size_t at, sn_str *out_value);
size_t sn_markdown_title(sn_str text, size_t at);

/* Appends a destination, with its escapes and references decoded. */
void sn_markdown_decode(sn_buf *out, sn_str raw);

/* A tag, comment, instruction, declaration or CDATA section of HTML at text[at]; 0:
 * there is none, else where it ends. */
size_t sn_markdown_html(sn_markdown *m, sn_str text, size_t at);

/* True for tags that GitHub shows instead of obeying, such as <title>. */
bool sn_markdown_is_filtered(sn_str tag);

/* Blanks m->text from `at` up to `to` in the masked copy. */
void sn_markdown_blank(sn_markdown *m, size_t at, size_t to);

/* Empties a buffer; what could not be added before is not forgotten. */
void sn_markdown_renew(sn_markdown *m, sn_buf *b);

/* Where the byte m->text.ptr[at] stands. */
sn_markdown_line sn_markdown_place(const sn_markdown *m, size_t at);

#endif
