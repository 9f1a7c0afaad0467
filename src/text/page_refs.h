/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_refs.h - every URL of a page or a style sheet, one after the other, and the same
 * page with others in their places.
 *
 * Lists of pictures, style attributes and style sheets inside of a page are taken apart:
 * the callback gets single URLs, as text in UTF-8, not resolved. With a buffer the page
 * is copied to it. A URL for which the callback writes another text is replaced; all
 * other bytes stay what they are, whatever the encoding of the page.
 *
 *     sn_page_refs_opts o = {.form = SN_FORM_HTML, .charset = charset, .fn = fn, .user =
 * me}; e = sn_page_refs(page, &o, NULL);              looks e = sn_page_refs(page, &o,
 * &copy);             rewrites
 *
 * In a copy the href of <base> is empty, so that the page stands for itself, and
 * integrity, crossorigin and content security policies are renamed to data-…, since no
 * browser loads a changed file from disk against them.
 *
 * Time    plays no part; work is linear in the bytes.
 * Memory  the longest value, and the copy.
 * Threads any thread.
 */
#ifndef SN_PAGE_REFS_H
#define SN_PAGE_REFS_H

#include "base/buf.h"
#include "seine/charset.h"
#include "text/html_refs.h"

typedef struct sn_page_ref { /* views: valid during the call */
    sn_ref_kind kind;        /* LINK, FRAME, NEEDED or BASE */
    sn_html_tag tag;         /* STYLE for what CSS names */
    sn_html_attr attr;
    size_t at;    /* of its tag, or in a style sheet of the value */
    sn_str value; /* in UTF-8; what is not ASCII in a query is percent-encoded */
} sn_page_ref;

/* Writes another text to `out`, which is NULL if nothing is rewritten, and returns true;
 * false: the value stays. */
typedef bool (*sn_page_ref_fn)(void *user, const sn_page_ref *ref, sn_buf *out);

typedef enum sn_page_form { SN_FORM_HTML, SN_FORM_XML, SN_FORM_CSS } sn_page_form;

typedef struct sn_page_refs_opts {
    sn_page_form form;
    seine_charset charset;
    const char *meta; /* a <meta charset> to add in a copy; NULL: none */
    sn_page_ref_fn fn;
    void *user;
} sn_page_refs_opts;

/* How files of this content type are read; false: they name no URLs. */
bool sn_page_refs_form(sn_str type, sn_page_form *out_form);

/* NOMEM. */
SEINE_MUST_CHECK seine_err sn_page_refs(sn_str page, const sn_page_refs_opts *opts,
                                        sn_buf *out);

#endif
