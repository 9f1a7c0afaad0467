/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a style sheet: the places of URLs lie inside of it, in order and without
 * overlap; a sheet in which each URL is written again by sn_css_put has the same URLs. */
#include <stdlib.h>
#include <string.h>

#include "text/css_refs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

typedef struct copy {
    sn_str css;
    size_t done, count;
    sn_buf text, values;
} copy;

static bool
on_ref(void *user, const sn_css_ref *r)
{
    copy *c = user;

    REQUIRE(r->from >= c->done && r->from <= r->to && r->to <= c->css.len);
    sn_buf_str(&c->text, sn_str_slice(c->css, c->done, r->from));
    sn_css_put(&c->text, r->value);
    sn_buf_str(&c->values, r->value);
    sn_buf_char(&c->values, '\0');
    c->done = r->to;
    c->count++;
    return true;
}

static void
read_all(copy *c, sn_str css)
{
    *c = (copy){.css = css};
    sn_buf_init(&c->text, SIZE_MAX / 4);
    sn_buf_init(&c->values, SIZE_MAX / 4);
    REQUIRE(sn_css_refs(css, on_ref, c) == SEINE_OK);
    sn_buf_str(&c->text, sn_str_slice(css, c->done, css.len));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    copy first, second;

    read_all(&first, (sn_str){(const char *)bytes, n});
    read_all(&second, sn_buf_view(&first.text));
    REQUIRE(first.count == second.count);
    REQUIRE(sn_str_eq(sn_buf_view(&first.values), sn_buf_view(&second.values)));
    sn_buf_fini(&first.text);
    sn_buf_fini(&first.values);
    sn_buf_fini(&second.text);
    sn_buf_fini(&second.values);
    return 0;
}
