/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "failing.h"

/* A folder "in" with files, and a secret beside it. */
typedef struct tree {
    char root[32];
    int folder, home; /* `home`: where the tests run */
    sn_buf text;
} tree;

static void
put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static const char *const made[] = {"in/sub/link-in", "in/sub/p1.html", "in/fifo",
                                   "in/link-out",    "in/link-dir",    "in/empty",
                                   "in/a b",         "secret"};

static void
plant(tree *t)
{
    *t = (tree){.root = "/tmp/seine-folder-XXXXXX"};
    t->home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(t->home >= 0 && mkdtemp(t->root) && chdir(t->root) == 0);
    CHECK(mkdir("in", 0700) == 0 && mkdir("in/sub", 0700) == 0);
    put("in/sub/p1.html", "<p>one\n");
    put("in/empty", "");
    put("in/a b", "blank\n");
    put("secret", "secret\n");
    CHECK(symlink("../secret", "in/link-out") == 0);
    CHECK(symlink("..", "in/link-dir") == 0);
    CHECK(symlink("p1.html", "in/sub/link-in") == 0);
    CHECK(mkfifo("in/fifo", 0600) == 0);
    t->folder = snc_folder_open("in");
    CHECK(t->folder >= 0);
    sn_buf_init(&t->text, SNC_FOLDER_MOST);
}

static void
clear(tree *t)
{
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        CHECK_EQ(unlink(made[i]), 0);
    CHECK(rmdir("in/sub") == 0 && rmdir("in") == 0);
    CHECK(fchdir(t->home) == 0 && rmdir(t->root) == 0);
    close(t->home);
    close(t->folder);
    sn_buf_fini(&t->text);
}

static seine_err
read_file(tree *t, sn_str name)
{
    sn_buf_reset(&t->text);
    return snc_folder_read(t->folder, name, &t->text);
}

TEST(a_file_below_the_folder_is_read_whole)
{
    tree t;

    plant(&t);
    CHECK_EQ(read_file(&t, SN_STR("sub/p1.html")), SEINE_OK);
    CHECK(sn_str_eq(sn_buf_view(&t.text), SN_STR("<p>one\n")));
    CHECK_EQ(read_file(&t, SN_STR("a b")), SEINE_OK);
    CHECK(sn_str_eq(sn_buf_view(&t.text), SN_STR("blank\n")));
    CHECK_EQ(read_file(&t, SN_STR("empty")), SEINE_OK);
    CHECK_EQ(t.text.len, 0);
    clear(&t);
}

TEST(no_name_leaves_the_folder)
{
    static const sn_str names[] = {{"../secret", 9},
                                   {"sub/../../secret", 16},
                                   {"sub/../sub/p1.html", 18},
                                   {"/etc/passwd", 11},
                                   {"link-out", 8},
                                   {"link-dir/secret", 15},
                                   {"sub/link-in", 11},
                                   {"./sub/p1.html", 13},
                                   {"sub//p1.html", 12},
                                   {"sub/p1.html/", 12},
                                   {"sub/p1.html/x", 13},
                                   {"sub", 3},
                                   {"", 0},
                                   {"/", 1},
                                   {"..", 2},
                                   {"sub/p1.html\0.png", 16},
                                   {"fifo", 4},
                                   {"nothing", 7}};
    tree t;

    plant(&t);
    EACH_ROW(i, names) {
        CHECK_EQ(read_file(&t, names[i]), SEINE_E_UNKNOWN);
        CHECK_EQ(t.text.len, 0);
    }
    char longer[300];
    memset(longer, 'a', sizeof longer);
    CHECK_EQ(read_file(&t, (sn_str){longer, sizeof longer}), SEINE_E_UNKNOWN);
    CHECK(snc_folder_open("in/empty") < 0 && snc_folder_open("nowhere") < 0);
    clear(&t);
}

TEST(a_file_that_is_too_large_is_refused_before_it_is_read)
{
    tree t;

    plant(&t);
    CHECK_EQ(truncate("in/empty", (off_t)SNC_FOLDER_MOST + 1), 0);
    CHECK_EQ(read_file(&t, SN_STR("empty")), SEINE_E_RANGE);
    CHECK_EQ(t.text.room, 0);
    clear(&t);
}

TEST(without_memory_a_file_is_not_read)
{
    tree t;

    plant(&t);
    FAIL_EACH(r)
    {
        sn_buf text;

        sn_buf_init(&text, SNC_FOLDER_MOST);
        seine_err e = snc_folder_read(t.folder, SN_STR("sub/p1.html"), &text);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        CHECK_EQ(text.len, e == SEINE_OK ? 7u : 0u);
        sn_buf_fini(&text);
    }
    clear(&t);
}

TEST(the_end_of_a_name_gives_its_type)
{
    static const char *const rows[][2] = {
        {"a/list.html", "text/html"},
        {"LIST.HTM", "text/html"},
        {"tickets-1.json", "application/json"},
        {"items.jsonl", "application/x-ndjson"},
        {"feed.xml", "application/xml"},
        {"feed.atom", "application/atom+xml"},
        {"feed.rss", "application/rss+xml"},
        {"t.csv", "text/csv"},
        {"robots.txt", "text/plain"},
        {"s.css", "text/css"},
        {"p.png", "image/png"},
        {"all.tar.gz", "application/gzip"},
        {"README", "application/octet-stream"},
        {"a.html/README", "application/octet-stream"},
        {".", "application/octet-stream"},
        {"", "application/octet-stream"},
        {"x.unknown", "application/octet-stream"},
    };

    EACH_ROW(i, rows) {
        CHECK_STR(snc_folder_type(sn_str_of(rows[i][0])), rows[i][1]);
    }
}
