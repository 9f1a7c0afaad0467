/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_refs.h - where in the bytes of a page do its URLs stand?
 *
 * text/html.h finds the links of a page while its bytes arrive. This scanner has the
 * whole page and tells the place of every attribute that holds a URL, so that a copy of
 * the page can have others there and keep all its other bytes; and it also looks where a
 * crawl does not: at style sheets inside of the page, style attributes, and the pictures
 * of svg. Both read tags, comments, scripts and attributes by the same rules of the HTML
 * standard, and fuzz/fuzz_html_refs.c compares them.
 *
 *     sn_html_refs(page, is_xml, on_ref, me);
 *
 * Time    plays no part; work is linear in the bytes.
 * Memory  none.
 * Threads any thread.
 */
#ifndef SN_HTML_REFS_H
#define SN_HTML_REFS_H

#include "base/str.h"
#include "text/html.h"

typedef enum sn_ref_kind {
    SN_REF_LINK,    /* leads elsewhere: the href of an <a>, the action of a form */
    SN_REF_FRAME,   /* a page inside of this one */
    SN_REF_NEEDED,  /* a part of the page: a picture, script, style sheet, icon */
    SN_REF_SRCSET,  /* a list of pictures */
    SN_REF_STYLE,   /* the value is CSS */
    SN_REF_SHEET,   /* the content of a <style> */
    SN_REF_REFRESH, /* the content of a meta refresh */
    SN_REF_BASE,    /* the href of a <base> */
    SN_REF_OFF,     /* an attribute that would break a copy: integrity, crossorigin, a
                       content security policy. `from` is its name, without a value */
    SN_REF_HEAD     /* the place right behind <head>, or where it would begin */
} sn_ref_kind;

typedef struct sn_html_ref {
    sn_ref_kind kind;
    sn_html_tag tag; /* OTHER: none of the table of text/html.h */
    sn_html_attr attr;
    size_t tag_at;   /* the first byte of the tag */
    size_t from, to; /* the value with its quotes */
    sn_str raw;      /* the same without them; references are not decoded */
} sn_html_ref;

/* Returns false to stop. */
typedef bool (*sn_html_ref_fn)(void *user, const sn_html_ref *ref);

/* `is_xml`: tags may close themselves, and there is CDATA. */
void sn_html_refs(sn_str page, bool is_xml, sn_html_ref_fn fn, void *user);

#endif
