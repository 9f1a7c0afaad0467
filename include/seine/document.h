/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document.h - which links does this document hold, and where may links to it lead?
 *
 * A document is a file as people write it: HTML, Markdown, reStructuredText or plain
 * text. Reading it gives its links in order, each with line and column, and its anchors:
 * the names that a link may have behind its "#". Anchors are ids, names of <a>, and those
 * that GitHub and docutils make of headings.
 *
 *     seine_document *d;
 *     seine_document_kind kind;
 *     bool known = seine_document_kind_of("docs/install.md", &kind);
 *     e = seine_document_new(&d);
 *     e = seine_document_read(d, kind, bytes, len);
 *     for (size_t i = 0; seine_document_at(d, i, &link); i++)
 *         check(link.line, link.col, link.value);
 *     seine_document_free(d);
 *
 * A comment says that links are not to be checked: <!-- seine-ignore --> behind text
 * means the links of its line, and alone on a line those of the next paragraph;
 * everything from <!-- seine-ignore-begin --> to <!-- seine-ignore-end --> is ignored,
 * too. In reStructuredText the comments are .. seine-ignore and so on.
 *
 * Time    plays no part. Work is linear in the bytes.
 * Memory  the links and anchors, 56 bytes each and their text; Markdown and
 *         reStructuredText take a small multiple of the document besides. A document has
 *         at most 64 MiB and a million links.
 * Threads one owner.
 */
#ifndef SEINE_DOCUMENT_H
#define SEINE_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/view.h"

typedef struct seine_document seine_document;

typedef enum seine_document_kind {
    SEINE_DOCUMENT_HTML,
    SEINE_DOCUMENT_MARKDOWN,
    SEINE_DOCUMENT_RST, /* reStructuredText */
    SEINE_DOCUMENT_TEXT /* URLs in running text, no anchors */
} seine_document_kind;

/* Views are valid until the next reading. */
typedef struct seine_document_link {
    const char *tag, *attr; /* "a", "href", as if it were HTML */
    seine_view value;       /* decoded, not resolved */
    seine_view text;        /* blanks collapsed; at most 256 bytes */
    uint32_t line, col;     /* from 1, columns in bytes */
    bool is_ignored;        /* a comment says so */
} seine_document_link;

SEINE_BEGIN

/* NOMEM. */
SEINE_MUST_CHECK seine_err seine_document_new(seine_document **out_document);
void seine_document_free(seine_document *d); /* NULL is fine */

/* Reads another document. BUDGET: longer than 64 MiB. NOMEM. On failure it is empty. */
SEINE_MUST_CHECK seine_err seine_document_read(seine_document *d,
                                               seine_document_kind kind,
                                               const char *bytes, size_t len);

/* False if there are fewer. */
bool seine_document_at(const seine_document *d, size_t i, seine_document_link *out_link);
bool seine_document_anchor(const seine_document *d, size_t i, seine_view *out_name);

/* The value of an HTML document's <base href>; ptr is NULL if it has none. */
seine_view seine_document_base(const seine_document *d);

/* Links beyond the first million were dropped. */
bool seine_document_is_cut(const seine_document *d);

/* The kind by the end of a file's name: .html .htm .xhtml, .md .markdown .mdown .mkd,
 * .rst .rest, .txt; in any case. False: by its name it is no document. */
bool seine_document_kind_of(const char *path, seine_document_kind *out_kind);

SEINE_END

#endif
