/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of the web, with what a browser's tree has in them. They are found through
 * SEINE_VECTORS and are no part of the project. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/codec.h"
#include "check.h"
#include "seine/plumbing.h"
#include "seine/url.h"
#include "text/html.h"

enum { LISTS = 6, ROOM = 4 << 20 };

/* A list of a recorded page, and the link that belongs in it. */
static const struct {
    const char *name;
    sn_html_tag tag;
} lists[LISTS] = {
    {"a", SN_TAG_A},           {"img", SN_TAG_IMG},       {"link", SN_TAG_LINK},
    {"script", SN_TAG_SCRIPT}, {"iframe", SN_TAG_IFRAME}, {"form", SN_TAG_FORM},
};

typedef struct page {
    const seine_json *want;
    size_t at[LISTS];
    char base_mem[SEINE_URL_ROOM], mem[SEINE_URL_ROOM];
    seine_url base;
    bool titled;
    unsigned cut; /* values over 64 KiB */
} page;

static sn_str
member(const seine_json *object, const char *name)
{
    const char *bytes = "";
    size_t len = 0;

    seine_json_string(seine_json_get(object, name), &bytes, &len);
    return (sn_str){bytes, len};
}

/* Converts bytes as a browser does that reads them as windows-1252. */
static void
as_utf8(sn_str s, bool windows, sn_buf *out)
{
    sn_buf_reset(out);
    for (size_t i = 0; i < s.len; i++) {
        char ref[16];

        if (!windows || (unsigned char)s.ptr[i] < 0x80) {
            sn_buf_char(out, s.ptr[i]);
            continue;
        }
        snprintf(ref, sizeof ref, "&#%d;", (unsigned char)s.ptr[i]);
        sn_html_decode(out, sn_str_of(ref), false, 8);
    }
}

static void
check_title(const page *p, sn_str title)
{
    sn_str want = member(p->want, "title");
    bool windows = sn_str_eq(member(p->want, "charset"), SN_STR("windows-1252"));
    sn_buf text;

    sn_buf_init(&text, ROOM);
    as_utf8(title, windows, &text);
    if (!sn_str_eq(sn_buf_view(&text), want))
        check_fail(__FILE__, __LINE__, "title '%.*s', want '%.*s'", SN_FMT(title),
                   SN_FMT(want));
    sn_buf_fini(&text);
}

/* A browser keeps the text of a reference that is no URL. */
static sn_str
resolved(page *p, sn_str ref)
{
    seine_url u;

    seine_url_init(&u, p->mem, sizeof p->mem);
    if (seine_url_resolve(&u, &p->base, ref.ptr, ref.len, NULL) != SEINE_OK)
        return ref;
    return (sn_str){u.href, u.len};
}

/* The next of a list; "" behind its end. */
static sn_str
next_of(page *p, size_t i)
{
    const char *bytes = "";
    size_t len = 0;

    seine_json_string(seine_json_at(seine_json_get(p->want, lists[i].name), p->at[i]),
                      &bytes, &len);
    return (sn_str){bytes, len};
}

/* A browser's tree repeats an unclosed <a> in each block that it reaches into. */
static bool
skip_again(page *p, size_t i)
{
    if (lists[i].tag != SN_TAG_A || p->at[i] == 0)
        return false;
    p->at[i]--;
    sn_str last = next_of(p, i);
    p->at[i]++;
    if (last.len == 0 || !sn_str_eq(last, next_of(p, i)))
        return false;
    p->at[i]++;
    return true;
}

static void
check_link(page *p, const sn_html_event *e)
{
    for (size_t i = 0; i < LISTS; i++) {
        if (lists[i].tag != e->tag || e->attr == SN_ATTR_SRCSET ||
            e->attr == SN_ATTR_IMAGESRCSET)
            continue;
        sn_str got = resolved(p, e->value);
        while (!sn_str_eq(got, next_of(p, i)) && skip_again(p, i))
            continue;
        sn_str want = next_of(p, i);
        p->cut += e->cut;
        if (!e->cut && !sn_str_eq(got, want))
            check_fail(__FILE__, __LINE__, "%s %zu: %.*s, want %.*s", lists[i].name,
                       p->at[i], SN_FMT(got), SN_FMT(want));
        p->at[i]++;
    }
}

static bool
see(void *user, const sn_html_event *e)
{
    page *p = user;

    if (e->what == SN_HTML_TITLE) {
        check_title(p, e->value);
        p->titled = true;
    } else if (e->what == SN_HTML_BASE) {
        sn_str base = resolved(p, e->value);
        char href[SEINE_URL_ROOM];

        memcpy(href, base.ptr, base.len);
        CHECK_EQ(seine_url_parse(&p->base, href, base.len, NULL), SEINE_OK);
    } else {
        check_link(p, e);
    }
    return true;
}

static void
read_page(page *p, unsigned want, const char *bytes, size_t len)
{
    sn_html t;

    sn_html_init(&t, &(sn_html_options){.want = want}, see, p);
    for (size_t at = 0; at < len; at += 4096)
        CHECK_EQ(sn_html_feed(&t, bytes + at, len - at < 4096 ? len - at : 4096),
                 SEINE_OK);
    CHECK_EQ(sn_html_end(&t), SEINE_OK);
    CHECK_EQ(sn_html_notes(&t), p->cut > 0 ? SN_HTML_NOTE_VALUE : 0);
    CHECK(t.steps <= 16 * len + 4096);
    sn_html_fini(&t);
    CHECK(p->cut <= 1);
}

/* The same of what a gzip file holds. */
static char *
unpack(char *packed, size_t *len)
{
    char *mem = malloc(ROOM);
    sn_str in = {packed, *len};
    sn_codec_room room = {mem, ROOM};
    sn_codec c;

    sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_DECODE});
    CHECK_EQ(sn_codec_begin(&c, SN_CODEC_GZIP), SEINE_OK);
    CHECK_EQ(sn_codec_step(&c, &in, &room, true), SN_CODEC_END);
    sn_codec_fini(&c);
    *len = ROOM - room.len;
    free(packed);
    return mem;
}

static void
check_page(const seine_json *want)
{
    static page p;
    sn_str name = member(want, "file"), url = member(want, "url");
    size_t len;

    char *bytes = check_vector(name.ptr, &len);
    CHECK(bytes);
    if (sn_str_ends(name, SN_STR(".gz")))
        bytes = unpack(bytes, &len);
    p = (page){.want = want};
    seine_url_init(&p.base, p.base_mem, sizeof p.base_mem);
    CHECK_EQ(seine_url_parse(&p.base, url.ptr, url.len, NULL), SEINE_OK);
    read_page(&p, SN_HTML_BASE, bytes, len);
    CHECK(sn_str_eq((sn_str){p.base.href, p.base.len}, member(want, "base")));
    read_page(&p, SN_HTML_TITLE | SN_HTML_LINK, bytes, len);
    CHECK(p.titled || member(want, "title").len == 0);
    for (size_t i = 0; i < LISTS; i++) {
        while (skip_again(&p, i))
            continue;
        CHECK_EQ(p.at[i], seine_json_size(seine_json_get(want, lists[i].name)));
    }
    free(bytes);
}

TEST(html_finds_in_pages_of_the_web_what_a_browser_does)
{
    size_t len, checked = 0, row = 0;
    char *text = check_vector("html-links/pages.sample.jsonl", &len);
    sn_str rest = {text, len}, line;

    if (!text)
        return;
    while (sn_str_next(&rest, '\n', &line) && check_row(row++)) {
        seine_json *want = NULL;

        CHECK_EQ(seine_json_parse(line.ptr, line.len, &want, NULL), SEINE_OK);
        if (want)
            check_page(want);
        checked += want != NULL;
        seine_json_free(want);
    }
    CHECK_EQ(checked, 24);
    free(text);
}
