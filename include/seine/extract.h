/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract.h - take named values out of pages: texts, attributes, JSON values.
 *
 * The fields are written down once. An extractor reads one page after the other and gives
 * an object of JSON with a member for each field, in the order of the fields:
 *
 *     seine_extract *fields;
 *     seine_extractor *reader;
 *     seine_extract_page page = SEINE_EXTRACT_PAGE;
 *     seine_view html = {"<p class=price>12.00", 20};
 *     e = seine_extract_new(&fields);
 *     e = seine_extract_add(fields, SEINE_EXTRACT_CSS, "price=.price", &diag);
 *     e = seine_extract_add(fields, SEINE_EXTRACT_CSS, "links=h2 a@href", &diag);
 *     e = seine_extractor_new(fields, &reader);
 *     page.body = html;
 *     e = seine_extractor_read(reader, &page, &data);
 *     seine_extractor_free(reader);
 *     seine_extract_free(fields);
 *
 * Then `data` is {"price":["12.00"],"links":[]}. A field is a list,
 * since a selector may match any number of nodes; the text of a page alone is one string.
 *
 * Selectors, metas, JSON-LD and the text are those of HTML, which is decoded by the
 * charset of its header or the one that it declares. Pointers are those of JSON. A page
 * that is neither has no data.
 *
 * Every page costs a bounded number of steps: those of tree.h and select.h, and beyond
 * them texts of (8 + fields) times the page + 1 MiB are looked at, and (4 + fields) times
 * the page + 256 KiB are kept, of which 16 MiB of JSON.
 *
 * Time    plays no part.
 * Memory  of a page: its tree (tree.h), or three times its JSON and 64 bytes a name
 *         (1,000,000 values at most), and the data; it asks the gate first. An extractor
 *         keeps 1 MiB of it.
 * Threads fields that do not change any more: any thread. An extractor: one owner.
 */
#ifndef SEINE_EXTRACT_H
#define SEINE_EXTRACT_H

#include <stdbool.h>
#include <stddef.h>

#include "seine/abi.h"
#include "seine/alloc.h"
#include "seine/diag.h"
#include "seine/err.h"
#include "seine/tree.h"
#include "seine/url.h"
#include "seine/view.h"

#define SEINE_EXTRACT_FIELDS 256 /* at most */

typedef struct seine_extract seine_extract;
typedef struct seine_extractor seine_extractor;

typedef enum seine_extract_what {
    SEINE_EXTRACT_CSS,     /* "[NAME=]SELECTOR[@ATTR]": texts, or values of an attribute;
                              @text is the text, @html the element as HTML */
    SEINE_EXTRACT_POINTER, /* "[NAME=]POINTER", see jsonptr.h; "-" is every element */
    SEINE_EXTRACT_META,    /* the contents of metas of this name or property; NULL: all
                              metas, as {"name":…,"content":…} */
    SEINE_EXTRACT_JSONLD,  /* all scripts of JSON-LD; one that is no JSON is a string */
    SEINE_EXTRACT_TEXT     /* the text as people see it */
} seine_extract_what;

enum { /* how a page is read */
       SEINE_EXTRACT_HTML = 1,
       SEINE_EXTRACT_JSON = 2
};

typedef struct seine_extract_page {
    size_t size; /* of this struct: SEINE_EXTRACT_PAGE sets it */
    seine_view body;
    seine_view content_type; /* "text/html", in lower case; absent: by its first byte */
    seine_view charset;      /* of the header; absent: as the page declares */
    seine_view url;          /* attributes that are URLs are resolved against it */
    unsigned as;             /* SEINE_EXTRACT_HTML, _JSON, or both; 0: by its type */
    const seine_tree_gate *gate; /* asked before memory is taken; NULL */
} seine_extract_page;

/* clang-format off */
#define SEINE_EXTRACT_PAGE {sizeof(seine_extract_page), {0, 0}, {0, 0}, {0, 0}, {0, 0}, 0, 0}
/* clang-format on */

SEINE_BEGIN

SEINE_MUST_CHECK seine_err seine_extract_new(seine_extract **out_extract);
void seine_extract_free(seine_extract *x); /* NULL is fine */

/* Adds a field. NAME is what stands before the first "=" if it is a name, a letter or _
 * and then letters, digits and _; a field without one is called after its selector or
 * pointer, and the others meta, jsonld and text. CONFIG: it is no selector or pointer,
 * its name is there already, letters of either case alike, or there are 256; the diag
 * says why, and in `column` at which byte of the selector. NOMEM. */
SEINE_MUST_CHECK seine_err seine_extract_add(seine_extract *x, seine_extract_what what,
                                             const char *text, seine_diag *diag);

size_t seine_extract_count(const seine_extract *x);
const char *seine_extract_name(const seine_extract *x, size_t i); /* NULL: fewer */

/* Cuts "[NAME=]REST" and, with out_attr, "REST[@ATTR]". Parts that are not there are
 * absent; what nobody asks for may be NULL. */
void seine_extract_split(const char *text, seine_view *out_name, seine_view *out_rest,
                         seine_view *out_attr);

/* True if a page of this media type has data for one of the fields, or may have. */
bool seine_extract_takes(const seine_extract *x, const char *type, size_t len);

/* Borrows the fields. NOMEM. */
SEINE_MUST_CHECK seine_err seine_extractor_new(const seine_extract *x,
                                               seine_extractor **out_extractor);
void seine_extractor_free(seine_extractor *r); /* NULL is fine */

/* Reads a page. *out_data is valid until the next one; absent: the page is of no kind
 * that the fields are for. HTML_TOO_DEEP, HTML_TOO_COMPLEX, SELECTOR_TIMEOUT, BAD_JSON,
 * JSON_TOO_DEEP, BUDGET (over a limit of size): *out_data is what could be read. INVAL:
 * `url` is no URL. NOMEM, or the error of the gate. */
SEINE_MUST_CHECK seine_err seine_extractor_read(seine_extractor *r,
                                                const seine_extract_page *page,
                                                seine_view *out_data);

/* The value of a node as a field has it: `attr` NULL or "text": its text on one line;
 * "html"; else that attribute, resolved against `base` (NULL or empty: as it stands) if
 * it is a URL. *out_has: false, it has no such attribute. NOMEM. */
SEINE_MUST_CHECK seine_err seine_extract_value(const seine_tree *tree, seine_node n,
                                               const char *attr, const seine_url *base,
                                               seine_text *out_text, bool *out_has);

SEINE_END

#endif
