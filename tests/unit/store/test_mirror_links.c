/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mirror_links.h"

#include <string.h>

#include "check.h"

TEST(mirror_links_are_relative_from_file_to_file)
{
    static const struct {
        const char *from, *to, *want;
    } rows[] = {
        {"h/a.html", "h/b.html", "b.html"},
        {"h/a.html", "h/a.html", "a.html"},
        {"h/a/b.html", "h/c.html", "../c.html"},
        {"h/a.html", "h/b/c.html", "b/c.html"},
        {"h/a/b.html", "i/c.png", "../../i/c.png"},
        {"h/ab.html", "h/ac/d.html", "ac/d.html"},
        {"h/a.html", "h/%43ON.html", "%2543ON.html"},
        {"h/a.html", "h/p@x=1&y=2.html", "p@x=1%26y=2.html"},
        {"h/a.html", "h/[b] c.html", "%5Bb%5D%20c.html"},
    };

    EACH_ROW(i, rows) {
        sn_buf out;

        sn_buf_init(&out, 1000);
        sn_mirror_links_relative(sn_str_of(rows[i].from), sn_str_of(rows[i].to), &out);
        CHECK_STR(out.ptr, rows[i].want);
        sn_buf_fini(&out);
    }
}

enum { ENTRIES = 5 };

/* A copy of four files and a redirect. */
static void
make_copy(sn_mirror_entry all[ENTRIES], sn_mirror_index *x, sn_map *by_name)
{
    static const char *const keys[] = {
        "https://e.example/", "https://e.example/d/a", "https://e.example/i.png",
        "https://e.example/s.css", "https://e.example/moved"};
    static const char *const names[] = {"e.example/index.html", "e.example/d/a.html",
                                        "e.example/i.png", "e.example/s.css", ""};
    static const char *const types[] = {"text/html", "text/html", "image/png", "text/css",
                                        ""};

    sn_mirror_index_init(x);
    sn_map_init(by_name, 100);
    for (int i = 0; i < ENTRIES; i++) {
        all[i] = (sn_mirror_entry){.key = sn_str_of(keys[i]),
                                   .type = sn_str_of(types[i]),
                                   .charset = {"", 0},
                                   .name = sn_str_of(names[i]),
                                   .given = sn_str_of(names[i]),
                                   .target = {"", 0}};
        CHECK_EQ(sn_map_add(&x->by_key, all[i].key, &all[i]), SEINE_OK);
        if (all[i].name.len > 0)
            CHECK_EQ(sn_map_add(by_name, all[i].name, &all[i]), SEINE_OK);
    }
    all[4].target = all[1].key;
}

TEST(mirror_links_lead_into_the_copy_or_to_the_site_and_stay_so)
{
    static const struct {
        int of;
        const char *page, *want;
    } rows[] = {
        {0, "<a href=d/a#x>", "<a href=\"d/a.html#x\">"},
        {0, "<a href='/moved'>", "<a href=\"d/a.html\">"},
        {0, "<a href='/none?a=1&amp;b#c'>",
         "<a href=\"https://e.example/none?a=1&amp;b#c\">"},
        {0, "<a href='#x'><a href=''><a href='mailto:x'>", NULL},
        {1, "<img src=../i.png><a href=/>",
         "<img src=../i.png><a href=\"../index.html\">"},
        {1, "<base href=/><a href=d/a><a href='#x'>",
         "<base href=\"\"><a href=\"a.html\"><a href=\"../index.html#x\">"},
        {3, "a{b:url(i.png);c:url(none.png)}",
         "a{b:url(i.png);c:url(https://e.example/none.png)}"},
    };

    EACH_ROW(i, rows) {
        sn_mirror_entry all[ENTRIES];
        sn_mirror_index x;
        sn_map by_name;
        sn_buf out, again;

        make_copy(all, &x, &by_name);
        sn_mirror_links l = {.index = &x, .by_name = &by_name, .entry = &all[rows[i].of]};
        sn_buf_init(&out, 1000);
        sn_buf_init(&again, 1000);
        CHECK_EQ(sn_mirror_links_rewrite(&l, sn_str_of(rows[i].page), true, &out),
                 SEINE_OK);
        CHECK_STR(out.ptr, rows[i].want ? rows[i].want : rows[i].page);
        CHECK_EQ(sn_mirror_links_rewrite(&l, sn_buf_view(&out), false, &again), SEINE_OK);
        CHECK_STR(again.ptr, out.ptr); /* a file that was rewritten stays the same */
        sn_buf_fini(&out);
        sn_buf_fini(&again);
        sn_map_fini(&by_name);
        sn_mirror_index_fini(&x);
    }
}

TEST(mirror_links_of_a_rewritten_file_follow_files_that_move_come_and_go)
{
    sn_mirror_entry all[ENTRIES];
    sn_mirror_index x;
    sn_map by_name;
    sn_buf out;

    make_copy(all, &x, &by_name);
    all[1].given = SN_STR("e.example/d/a~hash.html"); /* moves */
    all[2].given = SN_STR("");                        /* goes */
    sn_mirror_links l = {.index = &x, .by_name = &by_name, .entry = &all[0]};
    sn_buf_init(&out, 1000);
    CHECK_EQ(sn_mirror_links_rewrite(
                 &l,
                 SN_STR("<a href=\"d/a.html#x\"><img src=\"i.png\">"
                        "<a href=\"https://e.example/s.css\"><a href=\"own.html\">"),
                 false, &out),
             SEINE_OK);
    CHECK_STR(out.ptr, "<a href=\"d/a~hash.html#x\"><img src=\"https://e.example/i.png\">"
                       "<a href=\"s.css\"><a href=\"own.html\">");
    sn_buf_fini(&out);
    sn_map_fini(&by_name);
    sn_mirror_index_fini(&x);
}

TEST(mirror_links_of_wide_encodings_become_utf8)
{
    const struct {
        const char *type;
        sn_str page;
        const char *want;
    } rows[] = {
        {"text/html", SN_STR("\xff\xfe<\0a\0 \0h\0r\0e\0f\0=\0/\0>\0\xe9\0"),
         "\xef\xbb\xbf<a href=\"index.html\">\xc3\xa9"},
        {"text/html", SN_STR("\xfe\xff\0<\0a\0 \0h\0r\0e\0f\0=\0/\0>\0\xe9"),
         "\xef\xbb\xbf<a href=\"index.html\">\xc3\xa9"},
        {"text/css", SN_STR("\xff\xfe@\0i\0m\0p\0o\0r\0t\0'\0i\0.\0p\0n\0g\0'\0"),
         "\xef\xbb\xbf@import'i.png'"},
        {"application/xhtml+xml", SN_STR("\xff\xfe<\0?\0x\0m\0l\0 \0?\0>\0<\0a\0/\0>\0"),
         "\xef\xbb\xbf<a/>"},
        {"text/html", SN_STR("\xff\xfe<\0a\0>\0x"), /* half a character */
         "\xef\xbb\xbf<a>\xef\xbf\xbd"},
        {"text/html", SN_STR("\xff\xfe"), "\xef\xbb\xbf"},
    };

    EACH_ROW(i, rows) {
        sn_mirror_entry all[ENTRIES];
        sn_mirror_index x;
        sn_map by_name;
        sn_buf out, again;

        make_copy(all, &x, &by_name);
        all[0].type = sn_str_of(rows[i].type);
        all[0].charset = SN_STR("utf-16be"); /* the header may be wrong */
        sn_mirror_links l = {.index = &x, .by_name = &by_name, .entry = &all[0]};
        sn_buf_init(&out, 1000);
        sn_buf_init(&again, 1000);
        CHECK_EQ(sn_mirror_links_rewrite(&l, rows[i].page, true, &out), SEINE_OK);
        CHECK_STR(out.ptr, rows[i].want);
        CHECK_EQ(sn_mirror_links_rewrite(&l, sn_buf_view(&out), false, &again), SEINE_OK);
        CHECK_STR(again.ptr, rows[i].want);
        sn_buf_fini(&out);
        sn_buf_fini(&again);
        sn_map_fini(&by_name);
        sn_mirror_index_fini(&x);
    }
}
