/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/title.h"

#include "base/alloc.h"
#include "text/html.h"

#define MAX_KEPT 8192 /* what a page made the reader grow beyond is given back */

struct sn_title {
    sn_html html;
    sn_buf text;
    bool has; /* a title, which may be empty */
    bool failed;
};

static bool
on_title(void *user, const sn_html_event *e)
{
    sn_title *t = user;

    sn_buf_str(&t->text, e->value);
    t->has = true;
    return false;
}

static void
open(sn_title *t)
{
    sn_html_init(&t->html, &(sn_html_options){.want = SN_HTML_TITLE, .until_title = true},
                 on_title, t);
}

sn_title *
sn_title_new(void)
{
    sn_title *t = sn_zalloc(sizeof *t);

    if (!t)
        return NULL;
    sn_buf_init(&t->text, SN_HTML_TITLE_LEN);
    open(t);
    return t;
}

void
sn_title_free(sn_title *t)
{
    if (!t)
        return;
    sn_html_fini(&t->html);
    sn_buf_fini(&t->text);
    sn_free(t);
}

void
sn_title_begin(sn_title *t)
{
    if (t->html.values.room > MAX_KEPT) {
        sn_html_fini(&t->html);
        open(t);
    } else {
        sn_html_reset(&t->html);
    }
    sn_buf_reset(&t->text);
    t->has = t->failed = false;
}

void
sn_title_feed(sn_title *t, sn_str piece)
{
    if (!t->failed && !sn_html_enough(&t->html))
        t->failed = sn_html_feed(&t->html, piece.ptr, piece.len) != SEINE_OK;
}

sn_str
sn_title_end(sn_title *t, sn_arena *arena)
{
    if (!t->failed && !sn_html_enough(&t->html))
        t->failed = sn_html_end(&t->html) != SEINE_OK;
    if (!t->has || t->failed || sn_buf_done(&t->text) != SEINE_OK)
        return (sn_str){0};
    sn_str text = sn_buf_view(&t->text);
    char *copy = sn_arena_text(arena, text);
    return copy ? (sn_str){copy, text.len} : (sn_str){0};
}

bool
sn_title_is_wanted(sn_str content_type)
{
    return sn_str_eq(content_type, SN_STR("text/html")) ||
           sn_str_eq(content_type, SN_STR("application/xhtml+xml"));
}
