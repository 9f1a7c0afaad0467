/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rst.h - which links and anchors does a reStructuredText document hold?
 *
 * This reads the markup of docutils as far as links depend on it: section titles,
 * literal blocks, comments, directives and explicit targets line by line, and the text of
 * paragraphs for links.
 *
 *     sn_rst r;
 *     sn_rst_init(&r);
 *     e = sn_rst_read(&r, bytes, to);
 *     sn_rst_fini(&r);
 *
 * Links are `text <url>`_, bare https:// and www. URLs, what ".. _name: url" and "__ url"
 * define (told where it is defined, used or not), the files of image, figure and include,
 * and :target: of an image. Of the roles of Sphinx, :download: is a link, :doc: one with
 * the tag "doc" whose value is a document without its ending, and :ref: one with the tag
 * "ref" whose value is a label. Literals, code, comments and other roles have no links.
 *
 * Anchors are explicit targets and section titles, in the form of docutils and in that of
 * GitHub.
 *
 * Time    plays no part. Work is linear in the bytes.
 * Memory  the longest paragraph. Kept for the next document.
 * Threads one owner.
 */
#ifndef SN_RST_H
#define SN_RST_H

#include "base/buf.h"
#include "text/anchor.h"
#include "text/doc_event.h"

#define SN_RST_MAX ((size_t)64 << 20)

typedef struct sn_rst_line { /* private */
    size_t at, end;          /* in the document, without CR LF */
    size_t text;             /* behind the blanks */
    uint32_t no, indent;
} sn_rst_line;

typedef struct sn_rst { /* private */
    sn_doc_fn to;
    sn_str doc;
    seine_err err;
    size_t next; /* where the line after `line` begins */
    sn_rst_line line;
    sn_rst_line title; /* the last line of text, which an underline makes a title */
    bool has_title;

    uint32_t skip;      /* lines indented deeper are skipped; UINT32_MAX: none are */
    bool is_literal;    /* … once the paragraph has ended: it ended in "::" */
    uint32_t paragraph; /* the indentation of its last line */

    sn_buf text; /* of the paragraph */
    sn_buf lines;
    sn_buf scratch;
    sn_anchors anchors, slugs;
} sn_rst;

void sn_rst_init(sn_rst *r);
void sn_rst_fini(sn_rst *r);

/* Tells everything about one document. BUDGET: longer than 64 MiB. NOMEM. */
SEINE_MUST_CHECK seine_err sn_rst_read(sn_rst *r, sn_str doc, sn_doc_fn to);

#endif
