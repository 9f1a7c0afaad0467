/* SPDX-License-Identifier: Apache-2.0 */
/* doc_oracle.h - what holds for the links and anchors of any document, however it was
 * read: they stand where they are said to stand, and reading again tells the same. */
#ifndef FUZZ_DOC_ORACLE_H
#define FUZZ_DOC_ORACLE_H

#include <stdlib.h>

#include "text/doc_event.h"

#define REQUIRE(c) ((c) ? (void)0 : abort())

typedef struct seen {
    sn_str doc;
    uint64_t links, anchors, sum;
} seen;

/* The line and column of an offset, counted again. */
static void
check_place(const seen *s, const sn_doc_event *e)
{
    size_t from = sn_str_starts(s->doc, SN_STR("\xef\xbb\xbf")) ? 3 : 0;
    uint32_t line = 1;

    REQUIRE(e->offset < s->doc.len);
    for (size_t i = 0; i < e->offset; i++)
        if (s->doc.ptr[i] == '\n') {
            line++;
            from = i + 1;
        }
    REQUIRE(e->line == line);
    REQUIRE(e->col == e->offset - from + 1 || line == 1);
}

static void
on_event(void *user, const sn_doc_event *e)
{
    seen *s = user;

    s->sum = s->sum * 31 + e->value.len * 7 + e->text.len;
    if (e->is_anchor) {
        REQUIRE(e->value.len > 0 && e->value.ptr);
        s->anchors++;
        return;
    }
    s->links++;
    REQUIRE(e->tag && e->attr && *e->tag && *e->attr);
    if (s->links < 50)
        check_place(s, e);
}

typedef seine_err (*doc_reader)(sn_str doc, sn_doc_fn to);

static inline void
check_document(sn_str doc, doc_reader read)
{
    seen first = {.doc = doc}, second = {.doc = doc};

    REQUIRE(read(doc, (sn_doc_fn){on_event, &first}) == SEINE_OK);
    REQUIRE(read(doc, (sn_doc_fn){on_event, &second}) == SEINE_OK);
    REQUIRE(first.links == second.links && first.anchors == second.anchors);
    REQUIRE(first.sum == second.sum);
}

#endif
