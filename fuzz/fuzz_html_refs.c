/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a page: the places of URLs lie inside of it, in order and without overlap.
 * A page that is copied with the same URLs has the same URLs again. Every link that the
 * tokenizer of text/html.h finds is found at the same tag, unless svg, math or templates
 * make their own rules. */
#include <stdlib.h>
#include <string.h>

#include "seine/links.h"
#include "text/page_refs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

enum { MOST = 4096 };

typedef struct found {
    sn_str page;
    size_t done, n;
    size_t at[MOST]; /* tags with URLs */
    sn_buf values;
} found;

static bool
on_ref(void *user, const sn_html_ref *r)
{
    found *f = user;

    REQUIRE(r->from >= f->done && r->from <= r->to && r->to <= f->page.len);
    REQUIRE(r->tag_at <= r->from);
    f->done = r->to;
    if (f->n < MOST)
        f->at[f->n++] = r->tag_at;
    return true;
}

static bool
same(void *user, const sn_page_ref *r, sn_buf *out)
{
    found *f = user;

    if (r->kind == SN_REF_BASE)
        return false;
    sn_buf_str(&f->values, r->value);
    sn_buf_char(&f->values, '\n');
    if (out)
        sn_buf_str(out, r->value);
    return out != NULL;
}

static void
check_copy(sn_str page)
{
    static found f, again;
    sn_page_refs_opts o = {.charset = SEINE_CHARSET_UTF_8, .fn = same, .user = &f};
    sn_buf copy;

    sn_buf_init(&copy, SIZE_MAX / 4);
    sn_buf_init(&f.values, SIZE_MAX / 4);
    sn_buf_init(&again.values, SIZE_MAX / 4);
    REQUIRE(sn_page_refs(page, &o, &copy) == SEINE_OK);
    o.user = &again;
    REQUIRE(sn_page_refs(sn_buf_view(&copy), &o, NULL) == SEINE_OK);
    REQUIRE(sn_str_eq(sn_buf_view(&f.values), sn_buf_view(&again.values)));
    sn_buf_fini(&copy);
    sn_buf_fini(&f.values);
    sn_buf_fini(&again.values);
}

static bool
has(sn_str page, const char *word)
{
    for (size_t i = 0; i + strlen(word) <= page.len; i++)
        if (sn_str_starts_nocase(sn_str_slice(page, i, page.len), sn_str_of(word)))
            return true;
    return false;
}

/* What the tokenizer finds is there. */
static void
check_links(sn_str page, const found *f)
{
    seine_links *l;
    seine_link link;
    size_t at = 0;

    if (has(page, "<svg") || has(page, "<math") || has(page, "<template") ||
        has(page, "<frameset") || has(page, "<noembed") || page.len > 60000)
        return;
    REQUIRE(seine_links_new(NULL, &l) == SEINE_OK);
    REQUIRE(seine_links_feed(l, page.ptr, page.len) == SEINE_OK);
    REQUIRE(seine_links_end(l) == SEINE_OK);
    for (size_t i = 0; seine_links_notes(l) == 0 && seine_links_at(l, i, &link); i++) {
        if (link.value.len == 0) /* it may have no value at all */
            continue;
        while (at < f->n && f->at[at] < link.offset)
            at++;
        REQUIRE(f->n == MOST || (at < f->n && f->at[at] == link.offset));
    }
    seine_links_free(l);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static found f;
    sn_str page = {(const char *)bytes, n};

    f = (found){.page = page};
    sn_html_refs(page, true, on_ref, &f);
    f = (found){.page = page};
    sn_html_refs(page, false, on_ref, &f);
    check_links(page, &f);
    check_copy(page);
    return 0;
}
