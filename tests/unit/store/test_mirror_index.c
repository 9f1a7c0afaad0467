/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mirror_index.h"

#include <string.h>
#include <unistd.h>

#include "check.h"

/* Loads an index with this text. */
static void
load(sn_mirror_index *x, const char *text)
{
    int ends[2];
    size_t n = strlen(text);

    sn_mirror_index_init(x);
    CHECK_EQ(pipe(ends), 0);
    CHECK_EQ(write(ends[1], text, n), (ssize_t)n);
    close(ends[1]);
    CHECK_EQ(sn_mirror_index_load(x, ends[0]), SEINE_OK);
    close(ends[0]);
}

TEST(mirror_index_the_last_line_about_a_url_counts)
{
    sn_mirror_index x;

    load(&x, "map\tabc\n"
             "new\tk\ttext/html\tutf-8\n"
             "in\tk\ttext/html\tutf-8\th/k.html\n"
             "new\tk\ttext/css\t\n"
             "to\tr\tk\n"
             "in\tg\timage/png\t\th/g.png\n"
             "gone\tg\n");
    CHECK_EQ(sn_mirror_index_count(&x), 3u);
    CHECK(sn_str_eq(x.map, SN_STR("abc")));
    const sn_mirror_entry *k = sn_mirror_index_find(&x, SN_STR("k"));
    CHECK(k && k->is_new && !k->is_gone);
    CHECK(sn_str_eq(k->type, SN_STR("text/css")) && k->charset.len == 0);
    CHECK(sn_str_eq(k->name, SN_STR("h/k.html"))); /* the file is still there */
    const sn_mirror_entry *r = sn_mirror_index_find(&x, SN_STR("r"));
    CHECK(r && sn_str_eq(r->target, SN_STR("k")));
    const sn_mirror_entry *g = sn_mirror_index_find(&x, SN_STR("g"));
    CHECK(g && g->is_gone && g->name.len > 0);
    sn_mirror_index_fini(&x);
}

TEST(mirror_index_passes_over_lines_that_are_none)
{
    sn_mirror_index x;

    load(&x, "\n\t\nxxx\tk\nnew\nnew\t\nin\tk\ttext/html\t\th/k.html\nnew\tcut");
    CHECK_EQ(sn_mirror_index_count(&x), 1u);
    CHECK(sn_mirror_index_find(&x, SN_STR("k")));
    sn_mirror_index_fini(&x);
}

TEST(mirror_index_reads_what_it_wrote)
{
    const char *text = "in\tk\ttext/html\tkoi8-r\th/k.html\n"
                       "new\tk\ttext/html\tkoi8-r\n"
                       "in\tg\timage/png\t\th/g.png\n"
                       "gone\tg\n"
                       "to\tr\tk\n";
    sn_mirror_index x;
    sn_buf out;

    load(&x, text);
    sn_buf_init(&out, 1000);
    for (size_t i = 0; i < sn_mirror_index_count(&x); i++)
        sn_mirror_line_entry(&out, sn_mirror_index_at(&x, i));
    CHECK_STR(out.ptr, text);
    sn_buf_fini(&out);
    sn_mirror_index_fini(&x);
}

TEST(mirror_index_no_value_ends_its_line)
{
    sn_buf out;

    sn_buf_init(&out, 1000);
    sn_mirror_line_new(&out, SN_STR("k"), SN_STR("text/x\nin\ty"), (sn_str){NULL, 0});
    CHECK_STR(out.ptr, "new\tk\t\t\n");
    sn_buf_fini(&out);
}
