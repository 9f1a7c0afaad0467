/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/console_run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "console/run.h"

TEST(console_run_calls_without_a_run_do_nothing)
{
    seine_console_run *r = NULL;

    seine_console_run_begin(NULL, NULL, NULL, NULL);
    seine_console_run_end(NULL);
    seine_console_run_rows(NULL, 1);
    seine_console_run_say(NULL, "a line");
    seine_console_run_done(NULL, 0);
    CHECK_STR(seine_console_run_id(NULL), "");
    CHECK_EQ(seine_console_run_add(NULL, "title", &r), SEINE_E_INVAL);
    CHECK(r == NULL);
}

/* A run whose directory is there. */
static void
make_run(sn_console_run *r, seine_console *c, char *dir)
{
    *r = (sn_console_run){.console = c, .dir = dir};
    CHECK(mkdtemp(dir) != NULL);
}

static void
drop_run(sn_console_run *r, size_t own)
{
    char path[256];

    CHECK(sn_run_path(r, "run.json", path, sizeof path));
    unlink(path);
    rmdir(r->dir);
    for (size_t i = 0; own && i < r->n_urls; i++)
        free(r->urls[i]);
    if (own)
        free(r->urls);
}

TEST(console_run_what_is_known_of_a_run_is_read_back)
{
    static seine_console c;
    static sn_console_run r, back;
    char dir[] = "/tmp/run-XXXXXX";
    char first[] = "https://e.example/\xc3\xa9", second[] = "https://e.example/\"q\"";
    char *urls[] = {first, second, NULL};

    make_run(&r, &c, dir);
    memcpy(r.meta.id, "01JD2Z6W9N0000000000000000", 27);
    memcpy(r.meta.title, "books \"new\"\n", 13);
    memcpy(r.meta.verb, "run", 4);
    memcpy(r.meta.host_rate, "5/s", 4);
    r.meta.version = 42;
    r.meta.state = SN_RUN_PAUSED;
    r.meta.started_ms = 1794956953925;
    r.meta.lived = SEINE_MS(1500);
    r.meta.last.ok = 7;
    r.meta.rows = 70;
    r.meta.code = 143;
    r.urls = urls;
    r.n_urls = 2;
    CHECK_EQ(sn_run_meta_save(&r), SEINE_OK);
    back = (sn_console_run){.console = &c, .dir = dir};
    CHECK_EQ(sn_run_meta_load(&back), SEINE_OK);
    CHECK_STR(back.meta.id, r.meta.id);
    CHECK_STR(back.meta.title, r.meta.title);
    CHECK_STR(back.meta.verb, "run");
    CHECK_STR(back.meta.host_rate, "5/s");
    CHECK_EQ(back.meta.version, 42);
    CHECK_EQ(back.meta.state, SN_RUN_PAUSED);
    CHECK_EQ(back.meta.started_ms, r.meta.started_ms);
    CHECK_EQ(back.meta.lived, SEINE_MS(1500));
    CHECK_EQ(back.meta.last.ok, 7);
    CHECK_EQ(back.meta.rows, 70);
    CHECK_EQ(back.meta.code, 143);
    CHECK_EQ(back.n_urls, 2);
    CHECK_STR(back.urls[0], first);
    CHECK_STR(back.urls[1], second);
    drop_run(&back, 1);
}

TEST(console_run_a_file_that_is_no_run_is_refused)
{
    static seine_console c;
    static sn_console_run r;
    char dir[] = "/tmp/run-XXXXXX";

    make_run(&r, &c, dir);
    CHECK_EQ(sn_run_meta_load(&r), SEINE_E_UNKNOWN);
    memcpy(r.meta.id, "not a ulid", 11);
    CHECK_EQ(sn_run_meta_save(&r), SEINE_OK);
    r = (sn_console_run){.console = &c, .dir = dir};
    CHECK_EQ(sn_run_meta_load(&r), SEINE_E_PARSE);
    drop_run(&r, 0);
}

TEST(console_run_states_have_the_names_of_the_page)
{
    sn_run_state s;

    for (int i = 0; i < SN_RUN_STATES; i++) {
        const char *name = sn_run_state_name((sn_run_state)i);

        CHECK(sn_run_state_parse(sn_str_of(name), &s));
        CHECK_EQ(s, i);
    }
    CHECK(!sn_run_state_parse(SN_STR("done"), &s));
}
