/* SPDX-License-Identifier: Apache-2.0 */
/* A byte that says how to cut, then a page: cut or whole, the same is found. Pages of odd
 * length are read as a crawl reads them: neither texts nor parts of a page are told. */
#include <stdlib.h>
#include <string.h>

#include "text/html.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

enum {
    ALL = SN_HTML_TITLE | SN_HTML_BASE | SN_HTML_LINK | SN_HTML_META | SN_HTML_LANG |
          SN_HTML_JSONLD
};

/* What was found, and the tokenizer that found it. */
typedef struct seen {
    sn_buf log;
    sn_html html;
    uint64_t size;
    unsigned links, titles, bases, langs;
} seen;

static void
put(sn_buf *log, sn_str s)
{
    sn_buf_u64(log, s.len);
    sn_buf_char(log, ':');
    sn_buf_str(log, s);
}

static bool
see(void *user, const sn_html_event *e)
{
    seen *s = user;

    REQUIRE(e->tag > SN_TAG_OTHER && e->tag < SN_TAG_COUNT);
    REQUIRE(e->offset < s->size);
    REQUIRE(e->value.len <= SN_HTML_VALUE || e->what == SN_HTML_JSONLD);
    REQUIRE(e->rel.len <= SN_HTML_VALUE && e->hreflang.len <= SN_HTML_VALUE);
    REQUIRE(e->line >= 1 && e->col >= 1 && e->line + (uint64_t)e->col <= e->offset + 2);
    REQUIRE(e->text.len <= SN_HTML_TEXT_LEN);
    REQUIRE(!memchr(e->text.len ? e->text.ptr : "", '\n', e->text.len));
    if (e->what == SN_HTML_TITLE)
        REQUIRE(++s->titles == 1 && e->value.len <= SN_HTML_TITLE_LEN);
    else if (e->what == SN_HTML_BASE)
        REQUIRE(++s->bases == 1);
    else if (e->what == SN_HTML_LANG)
        REQUIRE(++s->langs == 1);
    else if (e->what == SN_HTML_LINK)
        REQUIRE(++s->links <= SN_HTML_LINKS);
    sn_buf_printf(&s->log, "%d %d %d %llu %u:%u %d ", (int)e->what, (int)e->tag,
                  (int)e->attr, (unsigned long long)e->offset, e->line, e->col, e->cut);
    put(&s->log, e->value);
    put(&s->log, e->rel);
    put(&s->log, e->hreflang);
    put(&s->log, e->name);
    put(&s->log, e->text);
    return true;
}

static void
read_page(seen *s, const sn_html_options *opts, const char *page, size_t len,
          size_t piece)
{
    memset(s, 0, sizeof *s);
    s->size = len;
    sn_buf_init(&s->log, (size_t)1 << 30);
    sn_html_init(&s->html, opts, see, s);
    for (size_t at = 0; at < len; at += piece) {
        size_t n = piece < len - at ? piece : len - at;
        char *copy = n > 1 ? malloc(n) : NULL; /* a sanitizer sees its end */

        if (copy)
            memcpy(copy, page + at, n);
        REQUIRE(sn_html_feed(&s->html, copy ? copy : page + at, n) == SEINE_OK);
        free(copy);
    }
    REQUIRE(sn_html_end(&s->html) == SEINE_OK);
    REQUIRE(sn_html_enough(&s->html));
    REQUIRE(s->html.steps <= 16 * len + 4096);
    REQUIRE(sn_buf_done(&s->log) == SEINE_OK);
}

static void
seen_fini(seen *s)
{
    sn_buf_fini(&s->log);
    sn_html_fini(&s->html);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const char *page = (const char *)bytes + 1;
    size_t len = n > 0 ? n - 1 : 0;
    unsigned how = n > 0 ? bytes[0] : 0;
    sn_html_options opts = {.want = how & 0x80 ? SN_HTML_TITLE : ALL,
                            .until_title = how & 0x40,
                            .scripting = how & 0x20,
                            .lines = true,
                            .no_text = len & 1,
                            .no_parts = len & 1};
    static seen whole, cut, single;

    if (n == 0)
        return 0;
    read_page(&whole, &opts, page, len, len ? len : 1);
    read_page(&cut, &opts, page, len, 2 + (how & 0x1f));
    read_page(&single, &opts, page, len, len <= 1024 ? 1 : 64); /* slow in bytes */
    REQUIRE(sn_str_eq(sn_buf_view(&whole.log), sn_buf_view(&cut.log)));
    REQUIRE(sn_str_eq(sn_buf_view(&whole.log), sn_buf_view(&single.log)));
    REQUIRE(whole.html.notes == cut.html.notes && cut.html.notes == single.html.notes);
    seen_fini(&whole);
    seen_fini(&cut);
    seen_fini(&single);
    return 0;
}
