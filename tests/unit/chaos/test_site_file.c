/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/site_file.h"

#include <string.h>

#include "check.h"
#include "seine/plumbing.h"

static snc_site
site(const char *spec)
{
    snc_site s = {.pages = 0};
    const char *why;

    CHECK(snc_site_parse(sn_str_of(spec), &s, &why));
    return s;
}

static const snc_site_base base = {
    .origin = {"http://e.org", 12}, .prefix = {"", 0}, .port = 8080, .dead_port = 9};

/* Counts the lines with that text. */
static size_t
count(sn_str text, const char *part)
{
    sn_str line;
    size_t n = 0;

    while (sn_str_next(&text, '\n', &line))
        n += memmem(line.ptr, line.len, part, strlen(part)) != NULL;
    return n;
}

/* Reads a whole file, in pieces of `want`. */
static void
collect(snc_site_file file, size_t want, sn_buf *out)
{
    size_t before;

    sn_buf_reset(out);
    do {
        before = out->len;
        snc_site_file_add(&file, out, want);
    } while (out->len > before);
    CHECK_EQ(sn_buf_done(out), SEINE_OK);
}

TEST(the_list_has_a_line_of_json_for_every_page_whatever_the_pieces)
{
    snc_site s = site("1:300:dup=9:broken=9:redir=9:robots=9:fail=50:hosts=4:dead=1");
    sn_buf out, again;
    sn_str rest, line;
    uint64_t n = 0;

    sn_buf_init(&out, 1 << 20);
    sn_buf_init(&again, 1 << 20);
    collect(snc_site_file_list(&s, &base), 1, &out);
    collect(snc_site_file_list(&s, &base), 4096, &again);
    CHECK_STR(out.ptr, again.ptr);
    rest = sn_buf_view(&out);
    for (; sn_str_next(&rest, '\n', &line); n++) {
        snc_page page = snc_site_page(&s, n);
        seine_json *json = NULL;
        int64_t status;
        const char *kind = "", *error = "";
        size_t len;

        CHECK_EQ(seine_json_parse(line.ptr, line.len, &json, NULL), SEINE_OK);
        CHECK(seine_json_int(seine_json_get(json, "status"), &status));
        CHECK_EQ(status, snc_fate_status(page.fate));
        CHECK(seine_json_string(seine_json_get(json, "kind"), &kind, &len));
        CHECK_STR(kind, snc_fate_name(page.fate));
        bool has_error = seine_json_string(seine_json_get(json, "error"), &error, &len);
        CHECK_EQ(has_error, page.fate == SNC_FATE_BROKEN ||
                                page.fate == SNC_FATE_DISALLOWED ||
                                page.fate == SNC_FATE_DEAD);
        CHECK_EQ(seine_json_get(json, "to") != NULL, page.fate == SNC_FATE_REDIRECT);
        CHECK_EQ(seine_json_get(json, "of") != NULL, page.fate == SNC_FATE_DUPLICATE);
        CHECK_EQ(seine_json_get(json, "fails") != NULL, page.fails > 0);
        seine_json_free(json);
    }
    CHECK_EQ(n, 300);
    sn_buf_fini(&out);
    sn_buf_fini(&again);
}

TEST(a_small_site_has_one_sitemap_with_all_pages)
{
    snc_site s = site("1:40:sitemap=on:robots=20");
    snc_site_file file;
    sn_buf out;

    sn_buf_init(&out, 1 << 20);
    CHECK(snc_site_file_sitemap(&s, &base, 0, SN_STR("sitemap.xml"), &file));
    collect(file, 100, &out);
    CHECK_EQ(count(sn_buf_view(&out), "<url><loc>http://e.org/"), 40);
    CHECK_EQ(count(sn_buf_view(&out), "<urlset"), 1);
    CHECK_EQ(count(sn_buf_view(&out), "</urlset>"), 1);
    CHECK(!snc_site_file_sitemap(&s, &base, 0, SN_STR("sitemap-0.xml"), &file));
    s.sitemap = false;
    CHECK(!snc_site_file_sitemap(&s, &base, 0, SN_STR("sitemap.xml"), &file));
    sn_buf_fini(&out);
}

TEST(a_large_site_has_an_index_of_sitemaps_of_fifty_thousand)
{
    snc_site s = site("1:100001:sitemap=on");
    snc_site_file file;
    sn_buf out;

    sn_buf_init(&out, 8 << 20);
    CHECK(snc_site_file_sitemap(&s, &base, 0, SN_STR("sitemap.xml"), &file));
    collect(file, 4096, &out);
    CHECK_EQ(count(sn_buf_view(&out), "<sitemap><loc>http://e.org/sitemap-"), 3);
    CHECK(snc_site_file_sitemap(&s, &base, 0, SN_STR("sitemap-1.xml"), &file));
    collect(file, 4096, &out);
    CHECK_EQ(count(sn_buf_view(&out), "<url>"), 50000);
    CHECK(snc_site_file_sitemap(&s, &base, 0, SN_STR("sitemap-2.xml"), &file));
    collect(file, 4096, &out);
    CHECK_EQ(count(sn_buf_view(&out), "<url>"), 1);
    CHECK(!snc_site_file_sitemap(&s, &base, 0, SN_STR("sitemap-3.xml"), &file));
    CHECK(!snc_site_file_sitemap(&s, &base, 0, SN_STR("sitemap-x.xml"), &file));
    sn_buf_fini(&out);
}

TEST(a_host_lists_its_own_pages_and_together_they_have_all)
{
    snc_site s = site("1:500:sitemap=on:hosts=5:dead=1");
    size_t sum = 0;
    sn_buf out;

    sn_buf_init(&out, 1 << 20);
    for (uint32_t host = 0; host < 5; host++) {
        snc_site_file file;
        sn_buf name;

        sn_buf_init(&name, 64);
        snc_site_origin(&s, &base, host, &name);
        CHECK(snc_site_file_sitemap(&s, &base, host, SN_STR("sitemap.xml"), &file));
        collect(file, 4096, &out);
        CHECK_EQ(count(sn_buf_view(&out), "<url>"), count(sn_buf_view(&out), name.ptr));
        sum += count(sn_buf_view(&out), "<url>");
        sn_buf_fini(&name);
    }
    CHECK_EQ(sum, 500);
    sn_buf_fini(&out);
}

TEST(robots_txt_forbids_what_is_forbidden_and_names_the_sitemap)
{
    static const struct {
        const char *spec, *text;
    } rows[] = {
        {"1:9", ""},
        {"1:9:robots=5", "User-agent: *\nDisallow: /x/\n"},
        {"1:9:sitemap=on",
         "User-agent: *\nDisallow:\nSitemap: http://e.org/sitemap.xml\n"},
        {"1:9:sitemap=on:robots=5",
         "User-agent: *\nDisallow: /x/\nSitemap: http://e.org/sitemap.xml\n"},
    };

    EACH_ROW(i, rows) {
        snc_site s = site(rows[i].spec);
        sn_buf out;

        sn_buf_init(&out, 4096);
        CHECK_EQ(snc_site_file_robots(&s, &base, 0, &out), rows[i].text[0] != '\0');
        CHECK_STR(out.ptr ? out.ptr : "", rows[i].text);
        sn_buf_fini(&out);
    }
}
