/* SPDX-License-Identifier: Apache-2.0 */
#include "console/recipe_check.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "console/preview_rows.h"

static const char recipe[] = "seine: 1\n"
                             "name: books\n"
                             "start: {url: 'http://shop.example/'}\n"
                             "items:\n"
                             "  kind: book\n"
                             "  each: .book\n"
                             "  fields:\n"
                             "    title: {css: h2, required: true}\n"
                             "    price: {css: .price, type: number}\n"
                             "    none: {css: .nothing}\n";

static void
check_recipe(const char *text, sn_buf *out)
{
    sn_recipe_zones zones = {.n = 0};
    seine_recipe *r;

    sn_buf_init(out, 65536);
    sn_recipe_check(sn_str_of(text), &zones, &r, out);
    seine_recipe_free(r);
    sn_recipe_zones_fini(&zones);
}

TEST(recipe_check_finds_nothing_wrong_with_a_good_recipe)
{
    sn_buf out;

    check_recipe(recipe, &out);
    CHECK_STR(out.ptr, "[]");
    sn_buf_fini(&out);
}

/* Ranges are units of UTF-16: the character before the mistake has two. */
TEST(recipe_check_places_a_mistake_in_units_and_proposes_a_word)
{
    sn_buf out;

    check_recipe("seine: 1\nname: x\nabout: '\xf0\x9f\x98\x80'\nitmes: 3\n", &out);
    CHECK(strstr(out.ptr, "\"from\":29,\"to\":34,\"severity\":\"error\""));
    CHECK(strstr(out.ptr, "\"line\":4,\"column\":1"));
    CHECK(strstr(out.ptr, "\"hint\":\"try items\""));
    sn_buf_fini(&out);
}

static void
preview(const char *text, const char *html, sn_buf *out)
{
    sn_preview_page page = {.url = "http://shop.example/",
                            .content_type = "text/html",
                            .body = sn_str_of(html),
                            .status = 200};

    sn_buf_init(out, 4 << 20);
    sn_buf_char(out, '{');
    sn_preview_rows(sn_str_of(text), &page, out);
    sn_buf_char(out, '}');
}

TEST(preview_shows_rows_counts_fields_and_names_dead_selectors)
{
    sn_buf out;

    preview(recipe,
            "<div class=book><h2>One</h2><p class=price>1.50</p></div>"
            "<div class=book><h2>Two</h2></div>",
            &out);
    CHECK(strstr(out.ptr, "\"count\":2"));
    CHECK(strstr(out.ptr, "\"title\":\"One\""));
    CHECK(strstr(out.ptr, "{\"name\":\"price\",\"kind\":\"book\",\"matched\":1,\"empty\":"
                          "1,\"type\":\"number\"}"));
    CHECK(strstr(out.ptr, "\"selector\":\".nothing\",\"from\":"));
    CHECK(strstr(out.ptr, "\"truncated\":false"));
    sn_buf_fini(&out);
}

TEST(preview_shows_at_most_100_rows)
{
    static char html[65536];
    sn_buf out;
    size_t n = 0;

    for (int i = 0; i < 150; i++)
        n += (size_t)snprintf(html + n, sizeof html - n,
                              "<div class=book><h2>%d</h2></div>", i);
    preview(recipe, html, &out);
    CHECK(strstr(out.ptr, "\"count\":100"));
    CHECK(strstr(out.ptr, "\"truncated\":\"the first 100 rows are shown\""));
    sn_buf_fini(&out);
}

TEST(preview_of_a_recipe_with_mistakes_says_so)
{
    sn_buf out;

    preview("nothing", "<p>", &out);
    CHECK(strstr(out.ptr, "\"count\":0"));
    CHECK(strstr(out.ptr, "\"error\":{\"code\":\"config\""));
    sn_buf_fini(&out);
}
