/* SPDX-License-Identifier: Apache-2.0 */
#include "text/base_url.h"

#include <string.h>

#include "check.h"

typedef struct base_row {
    const char *href; /* NULL: the page has no <base href> */
    const char *want; /* NULL: it does not count */
} base_row;

static void
check_base(const char *page_text, const base_row *row)
{
    char page_mem[SEINE_URL_ROOM], mem[SEINE_URL_ROOM];
    seine_url page, base;

    seine_url_init(&page, page_mem, sizeof page_mem);
    seine_url_init(&base, mem, sizeof mem);
    if (page_text)
        CHECK_EQ(seine_url_parse(&page, page_text, strlen(page_text), NULL), SEINE_OK);
    sn_str href = row->href ? sn_str_of(row->href) : (sn_str){NULL, 0};
    bool counts = sn_base_url(href, &page, &base);
    CHECK_EQ(counts, row->want != NULL);
    if (counts && row->want)
        CHECK_STR(seine_url_href(&base).ptr, row->want);
}

/* HTML standard, 4.2.3, "set the frozen base URL". */
TEST(base_url_counts_unless_it_is_no_url_or_holds_its_own_content)
{
    static const base_row rows[] = {
        {NULL, NULL},
        {"", "http://e.example/d/p?q"},
        {"/z/", "http://e.example/z/"},
        {" \t../z/\n", "http://e.example/z/"},
        {"//o.example", "http://o.example/"},
        {"?x#f", "http://e.example/d/p?x#f"},
        {"http://[", NULL},
        {"http://e.example:65536/", NULL},
        {"data:,x", NULL},
        {"DATA:/z/", NULL}, /* a path that links could start from */
        {"javascript:x", NULL},
        {"javascript:/z/", NULL},
        {"mailto:a@b.example", "mailto:a@b.example"},
        {"datax:/z/", "datax:/z/"},
    };

    EACH_ROW(i, rows)
        check_base("http://e.example/d/p?q", &rows[i]);
}

TEST(base_url_of_a_page_without_a_url_must_be_whole)
{
    static const base_row rows[] = {
        {NULL, NULL},       {"", NULL},
        {"/z/", NULL},      {"http://o.example/z/", "http://o.example/z/"},
        {"data:/z/", NULL},
    };

    EACH_ROW(i, rows)
        check_base(NULL, &rows[i]);
}
