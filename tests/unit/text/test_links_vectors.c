/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of the web, and the refreshes browsers understand, found through SEINE_VECTORS:
 * they are no part of the project. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "check.h"
#include "seine/links.h"
#include "seine/plumbing.h"

static sn_str
member(const seine_json *object, const char *name)
{
    const char *bytes = NULL;
    size_t len = 0;

    seine_json_string(seine_json_get(object, name), &bytes, &len);
    return (sn_str){bytes, len};
}

/* A tab or newline is no part of a URL, nor is a blank at its end. */
static bool
same_url(seine_view got, sn_str want)
{
    size_t n = 0;

    got.len = sn_str_trim(got).len;
    for (size_t i = 0; i < got.len; i++)
        if (got.ptr[i] != '\t' && got.ptr[i] != '\n' &&
            (n == want.len || got.ptr[i] != want.ptr[n++]))
            return false;
    return n == want.len;
}

TEST(links_know_the_refreshes_that_browsers_do)
{
    size_t len;
    char *text = check_vector("html-links/meta-refresh-wpt.json", &len);
    seine_json *all = NULL;

    if (!text)
        return;
    CHECK_EQ(seine_json_parse(text, len, &all, NULL), SEINE_OK);
    CHECK(seine_json_size(all) == 73);
    for (size_t i = 0; i < seine_json_size(all) && check_row(i); i++) {
        const seine_json *one = seine_json_at(all, i), *want;
        sn_str input = member(one, "input"), url;
        uint32_t seconds = 0;
        seine_view got = {0};
        int64_t delay = -1;

        want = seine_json_get(one, "expected");
        bool good = seine_refresh_parse(input.ptr, input.len, &seconds, &got);
        CHECK_EQ(good, seine_json_size(want) == 2);
        if (!good)
            continue;
        CHECK(seine_json_int(seine_json_at(want, 0), &delay));
        CHECK_EQ(seconds, delay);
        CHECK(seine_json_string(seine_json_at(want, 1), &url.ptr, &url.len));
        if (sn_str_eq(url, SN_STR("__filename__")))
            url = SN_STR("");
        if (!same_url(got, url))
            check_fail(__FILE__, __LINE__, "'%.*s', want '%.*s'", (int)got.len, got.ptr,
                       SN_FMT(url));
    }
    seine_json_free(all);
    free(text);
}

static sn_str
first_robots(const seine_links *l)
{
    seine_meta m;

    for (size_t i = 0; seine_links_meta(l, i, &m); i++)
        if (strcmp(m.attr, "name") == 0 && sn_str_eq_nocase(m.name, SN_STR("robots")))
            return m.content;
    return (sn_str){NULL, 0};
}

static void
check_page(const seine_json *want, const seine_links *l)
{
    char base_mem[SEINE_URL_ROOM], mem[SEINE_URL_ROOM], page_mem[SEINE_URL_ROOM];
    sn_str url = member(want, "url");
    seine_view canonical = seine_links_canonical(l), script;
    seine_url page, base, u;
    int64_t scripts = -1;
    size_t n = 0;

    seine_url_init(&page, page_mem, sizeof page_mem);
    seine_url_init(&base, base_mem, sizeof base_mem);
    seine_url_init(&u, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&page, url.ptr, url.len, NULL), SEINE_OK);
    CHECK_EQ(seine_links_base_url(l, &page, &base), SEINE_OK);
    CHECK(sn_str_eq((sn_str){base.href, base.len}, member(want, "base")));
    CHECK_EQ(canonical.ptr != NULL, member(want, "canonical").ptr != NULL);
    if (canonical.ptr) {
        CHECK_EQ(seine_url_resolve(&u, &base, canonical.ptr, canonical.len, NULL),
                 SEINE_OK);
        CHECK(sn_str_eq((sn_str){u.href, u.len}, member(want, "canonical")));
    }
    CHECK(sn_str_eq(first_robots(l), member(want, "meta_robots")));
    CHECK(seine_json_int(seine_json_get(want, "json_ld"), &scripts));
    while (seine_links_jsonld(l, n, &script)) {
        seine_json *json = NULL;

        CHECK(seine_json_parse(script.ptr, script.len, &json, NULL) == SEINE_OK);
        seine_json_free(json);
        n++;
    }
    CHECK_EQ(n, scripts);
}

TEST(links_of_pages_of_the_web_have_the_facts_a_browser_finds)
{
    size_t len = 0, page_len, row = 0;
    char *text = check_vector("html-links/pages.sample.jsonl", &len);
    sn_str rest = {text, len}, line;

    while (text && sn_str_next(&rest, '\n', &line) && check_row(row++)) {
        seine_json *want = NULL;
        seine_links *l = NULL;

        CHECK_EQ(seine_json_parse(line.ptr, line.len, &want, NULL), SEINE_OK);
        CHECK_EQ(seine_links_new(NULL, &l), SEINE_OK);
        sn_str name = member(want, "file");
        char *page =
            sn_str_ends(name, SN_STR(".gz")) ? NULL : check_vector(name.ptr, &page_len);
        if (page) {
            CHECK_EQ(seine_links_feed(l, page, page_len), SEINE_OK);
            CHECK_EQ(seine_links_end(l), SEINE_OK);
            check_page(want, l);
        }
        free(page);
        seine_json_free(want);
        seine_links_free(l);
    }
    free(text);
}
