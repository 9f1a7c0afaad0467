/* SPDX-License-Identifier: Apache-2.0 */
/* doc_dump.h - the events of a reader as one text: "1:3 a url (text) | #anchor". */
#ifndef DOC_DUMP_H
#define DOC_DUMP_H

#include <stdio.h>
#include <string.h>

#include "text/doc_event.h"

typedef struct doc_dump {
    char links[4096], anchors[4096];
} doc_dump;

static inline void
doc_dump_add(char *to, const char *text)
{
    size_t n = strlen(to);

    snprintf(to + n, 4096 - n, "%s%s", n > 0 ? " | " : "", text);
}

static inline void
doc_dump_event(void *user, const sn_doc_event *e)
{
    doc_dump *d = user;
    char text[1024];

    if (e->is_anchor) {
        snprintf(text, sizeof text, "%.*s", SN_FMT(e->value));
        doc_dump_add(d->anchors, text);
        return;
    }
    snprintf(text, sizeof text, "%u:%u %s %.*s (%.*s)", e->line, e->col, e->tag,
             SN_FMT(e->value), SN_FMT(e->text));
    doc_dump_add(d->links, text);
}

#endif
