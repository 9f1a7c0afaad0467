/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sitemap_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "failing.h"
#include "script.h"

/* What a walk told: "source loc\n" for entries, "! source error: text\n" for troubles. */
typedef struct told {
    char text[8192];
    size_t len;
} told;

static void
on_entry(const seine_sitemap_entry *e, const char *source, seine_sitemap_kind kind,
         void *arg)
{
    told *t = arg;

    (void)kind;
    t->len += (size_t)snprintf(t->text + t->len, sizeof t->text - t->len, "%s %.*s\n",
                               source, (int)e->loc.len, e->loc.ptr);
}

static void
on_trouble(const char *source, seine_err e, const char *text, void *arg)
{
    told *t = arg;

    t->len += (size_t)snprintf(t->text + t->len, sizeof t->text - t->len, "! %s %s: %s\n",
                               source, seine_err_name(e), text);
}

static seine_sitemap_walk *
new_walk(script *s, seine_fetch_opts *o, told *t, bool no_follow, int64_t since)
{
    seine_sitemap_walk_opts opts = {.size = sizeof opts,
                                    .fetch = o,
                                    .no_follow = no_follow,
                                    .since = since,
                                    .on_entry = on_entry,
                                    .on_trouble = on_trouble,
                                    .arg = t};
    seine_sitemap_walk *w = NULL;

    *o = script_opts(s);
    o->retry.max_attempts = 1;
    CHECK_EQ(sn_sitemap_walk_new(&opts, script_net(s), &w), SEINE_OK);
    return w;
}

static void
walk(script *s, told *t, bool no_follow, int64_t since, const char *url)
{
    seine_fetch_opts o;
    seine_sitemap_walk *w = new_walk(s, &o, t, no_follow, since);

    CHECK_EQ(seine_sitemap_walk_add(w, url), SEINE_OK);
    CHECK_EQ(seine_sitemap_walk_run(w, NULL, NULL), SEINE_OK);
    seine_sitemap_walk_free(w);
}

#define INDEX(maps)   "<sitemapindex>" maps "</sitemapindex>"
#define MAP(url)      "<sitemap><loc>" url "</loc></sitemap>"
#define SET(pages)    "<urlset>" pages "</urlset>"
#define PAGE(url)     "<url><loc>" url "</loc></url>"
#define OLD(url, day) "<sitemap><loc>" url "</loc><lastmod>" day "</lastmod></sitemap>"

/* The first sitemap takes longest; its entries come first all the same. */
TEST(sitemap_walk_gives_entries_in_the_order_of_the_index)
{
    script *s = script_new(NULL);
    told t = {.len = 0};

    script_on(s, "http://a.test/i",
              &(answer){.body = INDEX(MAP("http://a.test/1") MAP("http://a.test/2"))});
    script_on(s, "http://a.test/1",
              &(answer){.takes = SEINE_SECS(2), .body = SET(PAGE("http://a.test/x"))});
    script_on(s, "http://a.test/2", &(answer){.body = SET(PAGE("http://a.test/y"))});
    walk(s, &t, false, 0, "http://a.test/i");
    CHECK_STR(t.text,
              "http://a.test/1 http://a.test/x\nhttp://a.test/2 http://a.test/y\n");
    CHECK_EQ(script_now(s) < T0 + SEINE_SECS(3), true); /* asked for ahead */
    script_free(s);
}

/* The first one takes so long that all that may be asked for ahead is. */
TEST(sitemap_walk_asks_for_four_at_once)
{
    script *s = script_new(NULL);
    told t = {.len = 0};

    script_on(
        s, "http://a.test/i",
        &(answer){.body = INDEX(MAP("http://a.test/1") MAP("http://a.test/2")
                                    MAP("http://a.test/3") MAP("http://a.test/4")
                                        MAP("http://a.test/5") MAP("http://a.test/6"))});
    for (int i = 1; i <= 6; i++) {
        char url[32];

        snprintf(url, sizeof url, "http://a.test/%d", i);
        script_on(
            s, url,
            &(answer){.takes = SEINE_SECS(10), .body = SET(PAGE("http://a.test/x"))});
    }
    walk(s, &t, false, 0, "http://a.test/i");
    CHECK_EQ(script_requests(s), 7);
    CHECK_EQ(script_peak(s), 4);
    script_free(s);
}

/* The head takes two seconds; those of other hosts move twice meanwhile. */
TEST(sitemap_walk_goes_on_with_other_hosts_while_one_is_slow)
{
    script *s = script_new(NULL);
    told t = {.len = 0};

    script_on(s, "http://a.test/i",
              &(answer){.body = INDEX(MAP("http://a.test/1") MAP("http://b.test/2"))});
    script_on(s, "http://a.test/1",
              &(answer){.takes = SEINE_SECS(2), .body = SET(PAGE("http://a.test/x"))});
    script_on(s, "http://b.test/2",
              &(answer){.status = 302,
                        .fields = "Location: http://b.test/3",
                        .takes = SEINE_SECS(1)});
    script_on(s, "http://b.test/3",
              &(answer){.takes = SEINE_MS(900), .body = SET(PAGE("http://b.test/y"))});
    walk(s, &t, false, 0, "http://a.test/i");
    CHECK_STR(t.text,
              "http://a.test/1 http://a.test/x\nhttp://b.test/2 http://b.test/y\n");
    CHECK(script_now(s) < T0 + SEINE_MS(2100));
    script_free(s);
}

/* A caller with a loop of its own never calls run. */
TEST(sitemap_walk_comes_to_its_end_by_steps_alone)
{
    script *s = script_new(NULL);
    told t = {.len = 0};
    seine_fetch_opts o;
    seine_diag diag = {.text = "of something else"};
    seine_sitemap_walk *w = new_walk(s, &o, &t, false, 0);
    unsigned steps = 0;

    script_on(s, "http://a.test/i",
              &(answer){.body = INDEX(MAP("http://b.test/1") MAP("http://a.test/2"))});
    script_on(s, "http://b.test/1", &(answer){.body = SET(PAGE("http://b.test/x"))});
    script_on(s, "http://a.test/2", &(answer){.body = SET(PAGE("http://a.test/y"))});
    CHECK(seine_sitemap_walk_fd(w) > 2);
    CHECK_EQ(seine_sitemap_walk_fd(NULL), -1);
    CHECK_EQ(seine_sitemap_walk_add(w, "http://a.test/i"), SEINE_OK);
    while (seine_sitemap_walk_step(w, &diag) == SEINE_OK && steps++ < 1000) {
        script_jump(s, SEINE_MS(1));
        CHECK_EQ(diag.text[0], '\0');
        diag.text[0] = 'x'; /* of whatever else the caller does */
    }
    CHECK(steps >= 10 && steps < 100);
    CHECK_STR(t.text,
              "http://b.test/1 http://b.test/x\nhttp://a.test/2 http://a.test/y\n");
    CHECK_EQ(seine_sitemap_walk_step(w, NULL), SEINE_E_CLOSED);
    seine_sitemap_walk_free(w);
    script_free(s);
}

TEST(sitemap_walk_reads_each_sitemap_once_though_indexes_go_round)
{
    script *s = script_new(NULL);
    told t = {.len = 0};

    script_on(s, "http://a.test/i",
              &(answer){.body = INDEX(MAP("http://a.test/i") MAP("http://a.test/j")
                                          MAP("http://a.test/j"))});
    script_on(s, "http://a.test/j", &(answer){.body = INDEX(MAP("http://a.test/i"))});
    walk(s, &t, false, 0, "http://a.test/i");
    CHECK_STR(t.text, "");
    CHECK_EQ(script_requests(s), 2);
    script_free(s);
}

/* Levels 0 to 5 are read, and 6 is not. */
TEST(sitemap_walk_follows_five_levels_and_notes_the_sixth)
{
    script *s = script_new(NULL);
    told t = {.len = 0};
    char url[64], bodies[7][128];

    for (int i = 0; i < 7; i++) {
        snprintf(url, sizeof url, "http://a.test/%d", i);
        snprintf(bodies[i], sizeof bodies[i], INDEX(MAP("http://a.test/%d")), i + 1);
        script_on(s, url, &(answer){.body = bodies[i]});
    }
    walk(s, &t, false, 0, "http://a.test/0");
    CHECK_STR(t.text,
              "! http://a.test/5 ok: its index is 5 levels deep: not followed further\n");
    CHECK_EQ(script_asked(s, "http://a.test/5"), 1);
    CHECK_EQ(script_asked(s, "http://a.test/6"), 0);
    script_free(s);
}

TEST(sitemap_walk_gives_the_sitemaps_of_an_index_where_it_does_not_follow)
{
    script *s = script_new(NULL);
    told t = {.len = 0};

    script_on(s, "http://a.test/i", &(answer){.body = INDEX(MAP("http://a.test/1"))});
    walk(s, &t, true, 0, "http://a.test/i");
    CHECK_STR(t.text, "http://a.test/i http://a.test/1\n");
    CHECK_EQ(script_requests(s), 1);
    script_free(s);
}

/* A day means its last moment: what changed on the day of `since` is read. */
TEST(sitemap_walk_skips_what_an_index_calls_older)
{
    script *s = script_new(NULL);
    told t = {.len = 0};
    int64_t since =
        SEINE_SECS(INT64_C(1794700800)) + 1; /* just after 2026-11-15 begins */

    script_on(s, "http://a.test/i",
              &(answer){.body = INDEX(OLD("http://a.test/old", "2026-11-14")
                                          OLD("http://a.test/new", "2026-11-15")
                                              MAP("http://a.test/undated"))});
    walk(s, &t, false, since, "http://a.test/i");
    CHECK_EQ(script_asked(s, "http://a.test/old"), 0);
    CHECK_EQ(script_asked(s, "http://a.test/new"), 1);
    CHECK_EQ(script_asked(s, "http://a.test/undated"), 1);
    script_free(s);
}

TEST(sitemap_walk_resolves_relative_urls_where_redirects_led)
{
    script *s = script_new(NULL);
    told t = {.len = 0};

    script_on(s, "http://a.test/s",
              &(answer){.status = 301, .fields = "Location: http://a.test/d/s"});
    script_on(s, "http://a.test/d/s", &(answer){.body = SET(PAGE("page"))});
    walk(s, &t, false, 0, "http://a.test/s");
    CHECK_STR(t.text, "http://a.test/s http://a.test/d/page\n");
    script_free(s);
}

/* A failure is told between the entries around it, and the walk goes on. */
TEST(sitemap_walk_tells_what_is_wrong_and_goes_on)
{
    script *s = script_new(NULL);
    told t = {.len = 0};

    script_on(s, "http://a.test/i",
              &(answer){.body = INDEX(MAP("http://a.test/404") MAP("http://a.test/bad")
                                          MAP("mailto:x") MAP("http://a.test/3"))});
    script_on(s, "http://a.test/404", &(answer){.status = 404});
    script_on(s, "http://a.test/bad",
              &(answer){.body = "<urlset>" PAGE("http://a.test/x") "</oops>"});
    script_on(s, "http://a.test/3", &(answer){.body = SET(PAGE("http://a.test/y"))});
    walk(s, &t, false, 0, "http://a.test/i");
    const char *no_url = strstr(t.text, "! http://a.test/i bad_url: names a sitemap");
    const char *gone = strstr(t.text, "! http://a.test/404 http: http: ");
    const char *before = strstr(t.text, "http://a.test/bad http://a.test/x\n");
    const char *broken = strstr(t.text, "! http://a.test/bad bad_xml: bad_xml: line 1: ");
    const char *after = strstr(t.text, "http://a.test/3 http://a.test/y\n");
    CHECK(no_url && gone && before && broken && after);
    CHECK(no_url < gone && gone < before && before < broken && broken < after);
    script_free(s);
}

/* A note would be no error, and a script would take the walk for whole. */
TEST(sitemap_walk_calls_a_sitemap_that_may_not_be_asked_for_an_error)
{
    script *s = script_new(NULL);
    told t = {.len = 0};
    seine_fetch_opts o;
    seine_sitemap_walk *w = NULL;
    seine_sitemap_walk_opts opts = {.size = sizeof opts,
                                    .fetch = &o,
                                    .on_entry = on_entry,
                                    .on_trouble = on_trouble,
                                    .arg = &t};

    o = script_opts(s);
    o.https_only = true;
    script_on(s, "https://a.test/i",
              &(answer){.body = INDEX(MAP("http://a.test/1") MAP("https://b.test:22/"))});
    CHECK_EQ(sn_sitemap_walk_new(&opts, script_net(s), &w), SEINE_OK);
    CHECK_EQ(seine_sitemap_walk_add(w, "https://a.test/i"), SEINE_OK);
    CHECK_EQ(seine_sitemap_walk_run(w, NULL, NULL), SEINE_OK);
    CHECK_STR(t.text, "! http://a.test/1 blocked_scheme: scheme: https only\n"
                      "! https://b.test:22/ bad_url: port: a port of another protocol\n");
    CHECK_EQ(script_requests(s), 1);
    seine_sitemap_walk_free(w);
    script_free(s);
}

/* Credentials are for the hosts that the caller has added. */
TEST(sitemap_walk_sends_fields_to_added_hosts_alone)
{
    static const seine_field secret = {{"X-Key", 5}, {"7", 1}};
    script *s = script_new(NULL);
    told t = {.len = 0};
    seine_fetch_opts o;
    seine_sitemap_walk_opts opts = {.size = sizeof opts,
                                    .fetch = &o,
                                    .on_entry = on_entry,
                                    .on_trouble = on_trouble,
                                    .arg = &t};
    seine_sitemap_walk *w = NULL;

    o = script_opts(s);
    o.fields = &secret;
    o.n_fields = 1;
    o.insecure = true; /* of hosts that were named */
    o.threads = 3;     /* a walk has none of its own */
    script_on(s, "http://a.test/i",
              &(answer){.body = INDEX(MAP("http://a.test/1") MAP("http://b.test/2"))});
    CHECK_EQ(sn_sitemap_walk_new(&opts, script_net(s), &w), SEINE_OK);
    CHECK_EQ(seine_sitemap_walk_add(w, "http://a.test/i"), SEINE_OK);
    CHECK_EQ(seine_sitemap_walk_run(w, NULL, NULL), SEINE_OK);
    CHECK_EQ(script_requests(s), 3);
    for (unsigned i = 0; i < script_requests(s); i++) {
        const asked *a = script_request(s, i);
        bool is_added = strncmp(a->url, "http://a.test/", 14) == 0;

        CHECK_EQ(strcasestr(a->fields, "x-key") != NULL, is_added);
        CHECK_EQ(a->insecure, is_added);
        CHECK_EQ(a->shard, 0);
    }
    seine_sitemap_walk_free(w);
    script_free(s);
}

static void
count_entry(const seine_sitemap_entry *e, const char *source, seine_sitemap_kind kind,
            void *arg)
{
    (void)e;
    (void)source;
    (void)kind;
    ++*(unsigned *)arg;
}

static char last_trouble[160];

static void
keep_trouble(const char *source, seine_err e, const char *text, void *arg)
{
    (void)source;
    (void)e;
    (void)arg;
    snprintf(last_trouble, sizeof last_trouble, "%s", text);
}

/* So many pages in one sitemap; the text is the caller's. */
static char *
pages(unsigned n)
{
    static const char page[] = "<url><loc>http://a.test/x</loc></url>";
    size_t room = n * sizeof page + 64;
    char *text = malloc(room);
    size_t len = (size_t)snprintf(text, room, "<urlset>");

    for (unsigned i = 0; i < n; i++)
        len += (size_t)snprintf(text + len, room - len, "%s", page);
    snprintf(text + len, room - len, "</urlset>");
    return text;
}

TEST(sitemap_walk_says_that_it_reads_50000_urls_of_a_file_and_no_more)
{
    for (unsigned more = 0; more < 2; more++) {
        script *s = script_new(NULL);
        char *body = pages(50000 + more);
        unsigned n = 0;
        seine_fetch_opts o = script_opts(s);
        seine_sitemap_walk_opts opts = {.size = sizeof opts,
                                        .fetch = &o,
                                        .on_entry = count_entry,
                                        .on_trouble = keep_trouble,
                                        .arg = &n};
        seine_sitemap_walk *w = NULL;

        last_trouble[0] = '\0';
        script_on(s, "http://a.test/s", &(answer){.body = body});
        CHECK_EQ(sn_sitemap_walk_new(&opts, script_net(s), &w), SEINE_OK);
        CHECK_EQ(seine_sitemap_walk_add(w, "http://a.test/s"), SEINE_OK);
        CHECK_EQ(seine_sitemap_walk_run(w, NULL, NULL), SEINE_OK);
        CHECK_EQ(n, 50000);
        CHECK_EQ(strncmp(last_trouble, "sitemap_capped: ", 16) == 0, more == 1);
        seine_sitemap_walk_free(w);
        free(body);
        script_free(s);
    }
}

/* So many sitemaps in one index; the text is the caller's. */
static char *
maps(unsigned n)
{
    size_t room = n * sizeof MAP("http://a.test/000000") + 64;
    char *text = malloc(room);
    size_t len = (size_t)snprintf(text, room, "<sitemapindex>");

    for (unsigned i = 0; i < n; i++)
        len += (size_t)snprintf(text + len, room - len, MAP("http://a.test/%06u"), i);
    snprintf(text + len, room - len, "</sitemapindex>");
    return text;
}

/* Two indexes, of 49,997 sitemaps and of five: 50,000 files, and two are left out. */
TEST(sitemap_walk_follows_50000_files_and_says_once_that_there_are_more)
{
    script *s = script_new(NULL);
    char *body = maps(49997);
    told t = {.len = 0};
    seine_fetch_opts o;
    seine_sitemap_walk *w = new_walk(s, &o, &t, false, 0);

    script_on(s, "http://a.test/i", &(answer){.body = body});
    script_on(s, "http://a.test/j",
              &(answer){.body = INDEX(MAP("http://a.test/v") MAP("http://a.test/w")
                                          MAP("http://a.test/x") MAP("http://a.test/y")
                                              MAP("http://a.test/z"))});
    CHECK_EQ(seine_sitemap_walk_add(w, "http://a.test/i"), SEINE_OK);
    CHECK_EQ(seine_sitemap_walk_add(w, "http://a.test/j"), SEINE_OK);
    for (unsigned i = 0; i < 200 && t.len == 0; i++) {
        CHECK_EQ(seine_sitemap_walk_step(w, NULL), SEINE_OK);
        script_jump(s, SEINE_MS(1));
    }
    char *end = strchr(t.text, '\n'); /* what follows is of the first sitemaps */
    if (end)
        end[1] = '\0';
    CHECK_STR(t.text,
              "! http://a.test/j ok: more than 50,000 files: the rest is not followed\n");
    CHECK(!end || !strstr(end + 2, "more than"));
    seine_sitemap_walk_free(w);
    free(body);
    script_free(s);
}

/* An open file with that text. */
static int
file_of(const char *text)
{
    ssize_t len = (ssize_t)strlen(text);
    int fd = memfd_create("sitemap", MFD_CLOEXEC);

    CHECK(fd >= 0 && write(fd, text, (size_t)len) == len);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

/* Opens that file as descriptor 0; returns what restore_0 needs. */
static int
put_on_0(const char *text)
{
    int input = dup(0), fd = file_of(text);

    CHECK_EQ(dup2(fd, 0), 0);
    if (fd > 0)
        close(fd);
    return input;
}

static void
restore_0(int input)
{
    if (input < 0)
        return;
    CHECK_EQ(dup2(input, 0), 0);
    close(input);
}

TEST(sitemap_walk_reads_open_files_and_follows_none_of_their_indexes)
{
    static const char text[] = INDEX(MAP("http://a.test/1"));
    script *s = script_new(NULL);
    told t = {.len = 0};
    seine_fetch_opts o;
    seine_sitemap_walk *w = new_walk(s, &o, &t, false, 0);
    int fd = file_of(text);

    CHECK_EQ(seine_sitemap_walk_add_fd(w, "a.xml", fd), SEINE_OK);
    CHECK_EQ(seine_sitemap_walk_step(w, NULL), SEINE_E_CLOSED); /* it need not wait */
    CHECK_STR(t.text, "a.xml http://a.test/1\n");
    CHECK_EQ(script_requests(s), 0);
    CHECK_EQ(close(fd), -1); /* the walk has closed it */
    seine_sitemap_walk_free(w);
    script_free(s);
}

TEST(sitemap_walk_resolves_relative_urls_of_files_against_their_base)
{
    static const struct {
        const char *base, *want;
    } rows[] = {
        {NULL, "a.xml /1\na.xml http://a.test/2\n"},
        {"http://b.test/x/y", "a.xml http://b.test/1\na.xml http://a.test/2\n"},
        {"nothing", NULL},
        {"mailto:a@b.test", NULL},
    };

    EACH_ROW(i, rows) {
        told t = {.len = 0};
        seine_sitemap_walk *w = NULL;
        seine_sitemap_walk_opts opts = {
            .size = sizeof opts, .on_entry = on_entry, .arg = &t, .base = rows[i].base};

        CHECK_EQ(seine_sitemap_walk_new(&opts, &w),
                 rows[i].want ? SEINE_OK : SEINE_E_INVAL);
        if (!w)
            continue;
        int input = put_on_0(INDEX(MAP("/1") MAP("http://a.test/2")));
        CHECK_EQ(seine_sitemap_walk_add_fd(w, "a.xml", 0), SEINE_OK);
        CHECK_EQ(seine_sitemap_walk_step(w, NULL), SEINE_E_CLOSED);
        CHECK_STR(t.text, rows[i].want);
        seine_sitemap_walk_free(w);
        restore_0(input);
    }
}

/* A program whose standard input is closed gets that number for its first file. */
TEST(sitemap_walk_reads_and_closes_descriptor_0_like_any_other)
{
    static const char text[] = INDEX(MAP("http://a.test/1"));
    script *s = script_new(NULL);
    told t = {.len = 0};
    seine_fetch_opts o;
    seine_sitemap_walk *w = new_walk(s, &o, &t, false, 0);
    int input = put_on_0(text);

    CHECK_EQ(seine_sitemap_walk_add_fd(w, "a.xml", 0), SEINE_OK);
    CHECK_EQ(seine_sitemap_walk_step(w, NULL), SEINE_E_CLOSED);
    CHECK_STR(t.text, "a.xml http://a.test/1\n");
    CHECK_EQ(script_requests(s), 0);
    seine_sitemap_walk_free(w);
    CHECK_EQ(close(0), -1);
    restore_0(input);
    script_free(s);
}

/* It stands behind a URL here, and is not asked for ahead. */
TEST(sitemap_walk_asks_nobody_for_an_open_file)
{
    static const char text[] = SET(PAGE("http://a.test/x"));
    script *s = script_new(NULL);
    told t = {.len = 0};
    seine_fetch_opts o;
    seine_sitemap_walk *w = new_walk(s, &o, &t, false, 0);
    int input = put_on_0(text);

    script_on(s, "http://a.test/1", &(answer){.body = SET(PAGE("http://a.test/y"))});
    CHECK_EQ(seine_sitemap_walk_add(w, "http://a.test/1"), SEINE_OK);
    CHECK_EQ(seine_sitemap_walk_add_fd(w, "http://a.test/2", 0), SEINE_OK);
    CHECK_EQ(seine_sitemap_walk_run(w, NULL, NULL), SEINE_OK);
    CHECK_STR(t.text,
              "http://a.test/1 http://a.test/y\nhttp://a.test/2 http://a.test/x\n");
    CHECK_EQ(script_requests(s), 1);
    seine_sitemap_walk_free(w);
    restore_0(input);
    script_free(s);
}

/* The first descriptor of a program that has closed its standard input. */
TEST(sitemap_walk_may_have_descriptor_0_itself)
{
    script *s = script_new(NULL);
    told t = {.len = 0};
    seine_fetch_opts o;
    int input = dup(0);

    close(0);
    seine_sitemap_walk *w = new_walk(s, &o, &t, false, 0);
    CHECK_EQ(seine_sitemap_walk_fd(w), 0);
    CHECK_EQ(seine_sitemap_walk_add(w, "http://a.test/i"), SEINE_OK);
    CHECK_EQ(seine_sitemap_walk_run(w, NULL, NULL), SEINE_OK);
    seine_sitemap_walk_free(w);
    CHECK_EQ(close(0), -1);
    restore_0(input);
    script_free(s);
}

TEST(sitemap_walk_refuses_other_schemes_and_a_walk_without_a_callback)
{
    script *s = script_new(NULL);
    told t = {.len = 0};
    seine_fetch_opts o;
    seine_sitemap_walk_opts none = SEINE_SITEMAP_WALK_OPTS;
    seine_sitemap_walk *w = new_walk(s, &o, &t, false, 0), *other = NULL;

    CHECK_EQ(seine_sitemap_walk_add(w, "ftp://a.test/"), SEINE_E_BAD_URL);
    CHECK_EQ(seine_sitemap_walk_add(w, "nonsense"), SEINE_E_BAD_URL);
    CHECK_EQ(seine_sitemap_walk_run(w, NULL, NULL), SEINE_OK); /* nothing to do */
    CHECK_EQ(seine_sitemap_walk_new(&none, &other), SEINE_E_INVAL);
    none.on_entry = on_entry;
    none.size = 1;
    CHECK_EQ(seine_sitemap_walk_new(&none, &other), SEINE_E_INVAL);
    seine_sitemap_walk_free(w);
    seine_sitemap_walk_free(NULL);
    script_free(s);
}

TEST(sitemap_walk_ends_with_its_ctx)
{
    script *s = script_new(NULL);
    told t = {.len = 0};
    seine_fetch_opts o;
    seine_sitemap_walk *w = new_walk(s, &o, &t, false, 0);
    seine_ctx *root, *ctx;

    script_on(s, "http://a.test/i", &(answer){.takes = SEINE_SECS(20)});
    CHECK_EQ(seine_ctx_root(script_clock(s), &root), SEINE_OK);
    CHECK_EQ(seine_ctx_new(root, T0 + SEINE_MS(1005), &ctx), SEINE_OK);
    CHECK_EQ(seine_sitemap_walk_add(w, "http://a.test/i"), SEINE_OK);
    CHECK_EQ(seine_sitemap_walk_run(w, ctx, NULL), SEINE_E_DEADLINE);
    CHECK_EQ(script_now(s), T0 + SEINE_MS(1005));
    seine_sitemap_walk_free(w);
    seine_ctx_unref(ctx);
    seine_ctx_unref(root);
    script_free(s);
}

TEST(sitemap_walk_without_memory_says_so)
{
    FAIL_EACH(n)
    {
        script *s = script_new(NULL);
        told t = {.len = 0};
        seine_fetch_opts o = script_opts(s);
        seine_sitemap_walk_opts opts = {.size = sizeof opts,
                                        .fetch = &o,
                                        .on_entry = on_entry,
                                        .on_trouble = on_trouble,
                                        .arg = &t};
        seine_sitemap_walk *w = NULL;

        script_on(s, "http://a.test/i", &(answer){.body = INDEX(MAP("http://b.test/1"))});
        script_on(s, "http://b.test/1", &(answer){.body = SET(PAGE("http://b.test/x"))});
        seine_err e = sn_sitemap_walk_new(&opts, script_net(s), &w);
        if (e == SEINE_OK)
            e = seine_sitemap_walk_add(w, "http://a.test/i");
        if (e == SEINE_OK)
            e = seine_sitemap_walk_run(w, NULL, NULL);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        if (e == SEINE_OK && t.text[0] != '!')
            CHECK_STR(t.text, "http://b.test/1 http://b.test/x\n");
        seine_sitemap_walk_free(w);
        script_free(s);
    }
}
