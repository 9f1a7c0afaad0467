/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc_event.h - what a reader of documents tells: a link, or an anchor.
 *
 * The readers of Markdown and reStructuredText call `fn` for every link and for every
 * name that a fragment may lead to. The value of a link is decoded and not resolved.
 *
 *     sn_doc_fn to = {.fn = NULL};
 *     sn_doc_event event = {.is_anchor = true};
 *     to.fn(to.user, &event);
 *
 * Time    plays no part.
 * Memory  the views of an event are valid during the call.
 * Threads one owner.
 */
#ifndef SN_DOC_EVENT_H
#define SN_DOC_EVENT_H

#include "text/html.h"

typedef struct sn_doc_event {
    bool is_anchor;
    const char *tag;    /* of a link: "a", "img" … as if it were HTML */
    const char *attr;   /* "href", "src" */
    sn_str value;       /* where the link leads; the name of the anchor */
    sn_str text;        /* of a link, blanks collapsed; may be empty */
    uint64_t offset;    /* of its first byte */
    uint32_t line, col; /* the same, from 1, columns in bytes */
} sn_doc_event;

/* A link or an anchor of HTML as one of a document. */
static inline sn_doc_event
sn_doc_event_of_html(const sn_html_event *e)
{
    return (sn_doc_event){.is_anchor = e->what == SN_HTML_ANCHOR,
                          .tag = sn_html_tag_name(e->tag),
                          .attr = sn_html_attr_name(e->attr),
                          .value = e->value,
                          .text = e->text,
                          .offset = e->offset,
                          .line = e->line,
                          .col = e->col};
}

typedef struct sn_doc_fn {
    void (*fn)(void *user, const sn_doc_event *e);
    void *user;
} sn_doc_fn;

#endif
