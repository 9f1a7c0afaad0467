/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/scope_set.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

static sn_scope_place
place(const char *name, const char *dir, int32_t port)
{
    return (sn_scope_place){sn_str_of(name), sn_str_of(dir), port};
}

static void
add(sn_scope_set *p, const char *name, const char *dir, int32_t port)
{
    sn_scope_place at = place(name, dir, port);

    CHECK_EQ(sn_scope_set_add(p, &at), SEINE_OK);
}

static bool
has(const sn_scope_set *p, const char *name, const char *dir, int32_t port)
{
    sn_scope_place at = place(name, dir, port);

    return sn_scope_set_has(p, &at);
}

static bool
has_above(const sn_scope_set *p, const char *name, const char *path, int32_t port)
{
    sn_scope_place at = place(name, path, port);

    return sn_scope_set_has_above(p, &at);
}

TEST(scope_set_has_the_very_places_that_were_added)
{
    sn_scope_set p;

    sn_scope_set_init(&p);
    CHECK(!has(&p, "a.example", "", SN_PORT_OWN)); /* nothing is there yet */
    add(&p, "a.example", "", SN_PORT_OWN);
    add(&p, "a.example", "", SN_PORT_OWN); /* twice is once */
    add(&p, "b.example", "/docs/", 8080);
    CHECK(has(&p, "a.example", "", SN_PORT_OWN));
    CHECK(!has(&p, "a.example", "", SN_PORT_ANY)); /* a port is part of a place */
    CHECK(!has(&p, "a.example", "", 80));
    CHECK(!has(&p, "a.exampl", "", SN_PORT_OWN));
    CHECK(!has(&p, "a.example", "/", SN_PORT_OWN));
    CHECK(has(&p, "b.example", "/docs/", 8080));
    CHECK(!has(&p, "b.example", "/docs/a/", 8080));
    CHECK(!has(&p, "b.example", "/", 8080));
    CHECK(has(&p, "b.example", "", 8080)); /* a directory brings its host */
    sn_scope_set_fini(&p);
}

TEST(scope_set_finds_the_directories_above_a_path)
{
    static const struct {
        const char *name, *path;
        int32_t port;
        bool above;
    } rows[] = {
        {"a.example", "/docs/", 80, true},
        {"a.example", "/docs/x.html", 80, true},
        {"a.example", "/docs/a/b/c", 80, true},
        {"a.example", "/docs", 80, false}, /* a file */
        {"a.example", "/docsx/a", 80, false},
        {"a.example", "/", 80, false},
        {"a.example", "", 80, false},
        {"a.example", "/Docs/", 80, false},
        {"a.example", "/docs/", 81, false},
        {"b.example", "/docs/", 80, false},
        {"a.example", "/deep/er/", 80, true},
        {"a.example", "/deep/x", 80, false}, /* above what was added */
        {"a.example", "//docs/", 80, false}, /* an empty segment is one, too */
        {"c.example", "/anything", 80, true},
    };
    sn_scope_set p;

    sn_scope_set_init(&p);
    add(&p, "a.example", "/docs/", 80);
    add(&p, "a.example", "/deep/er/", 80);
    add(&p, "c.example", "/", 80);
    EACH_ROW(i, rows)
        CHECK_EQ(has_above(&p, rows[i].name, rows[i].path, rows[i].port), rows[i].above);
    sn_scope_set_fini(&p);
}

/* Depths from 63 on share a bit. */
TEST(scope_set_knows_directories_of_any_depth)
{
    char dir[300] = "/", path[310];
    sn_scope_set p;

    for (int depth = 1; depth <= 70; depth++) {
        sn_scope_set_init(&p);
        add(&p, "a.example", dir, 80);
        snprintf(path, sizeof path, "%sx", dir);
        CHECK(has_above(&p, "a.example", path, 80));
        CHECK(has(&p, "a.example", dir, 80));
        path[1] = 'y'; /* another directory; the root has none */
        CHECK_EQ(has_above(&p, "a.example", path, 80), depth == 1);
        sn_scope_set_fini(&p);
        memcpy(dir + 1 + 3 * (depth - 1), "ab/", 4);
    }
}

enum { PLACES = 300, DIRS = 6 };

static void
random_place(sn_rng *r, char name[8], char dir[32])
{
    size_t n = 0;

    snprintf(name, 8, "h%u", (unsigned)sn_rng_below(r, 40));
    dir[n++] = '/';
    for (uint64_t k = sn_rng_below(r, 4); k > 0; k--) {
        dir[n++] = (char)('a' + sn_rng_below(r, DIRS));
        dir[n++] = '/';
    }
    dir[n] = '\0';
}

/* A second implementation: a list, and string comparison. */
TEST(scope_set_agrees_with_a_list)
{
    sn_rng r = sn_rng_seed(check_seed());
    static char names[PLACES][8], dirs[PLACES][32];
    sn_scope_set p;

    sn_scope_set_init(&p);
    for (int n = 0; n < PLACES; n++) {
        char name[8], dir[32];

        random_place(&r, names[n], dirs[n]);
        add(&p, names[n], dirs[n], 80);
        random_place(&r, name, dir);
        bool is_there = false, is_above = false;
        for (int i = 0; i <= n; i++) {
            bool same = strcmp(names[i], name) == 0;
            is_there |= same && strcmp(dirs[i], dir) == 0;
            is_above |= same && strncmp(dirs[i], dir, strlen(dirs[i])) == 0;
            CHECK(has(&p, names[i], dirs[i], 80)); /* none is lost while it grows */
        }
        CHECK_EQ(has(&p, name, dir, 80), is_there);
        CHECK_EQ(has_above(&p, name, dir, 80), is_above);
    }
    sn_scope_set_fini(&p);
}

/* Nobody can choose names that fall into one slot of every crawl. */
TEST(scope_set_hashes_with_a_secret_of_its_own)
{
    sn_scope_set a, b;

    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    sn_scope_set_init(&a);
    sn_scope_set_init(&b);
    CHECK(memcmp(a.secret, b.secret, sizeof a.secret) != 0);
    sn_scope_set_fini(&a);
    sn_scope_set_fini(&b);
}

/* The text with the number in the place of its zeros "000000", if it has any. */
static void
put_number(char *out, size_t room, const char *text, unsigned number)
{
    snprintf(out, room, "%s", text);
    char *at = strstr(out, "000000");

    for (int digit = 5; at && digit >= 0; digit--, number /= 10)
        at[digit] = (char)('0' + number % 10);
}

/* Places spread over the table, whatever they differ in; comparing each with each would
 * take minutes. */
TEST(scope_set_finds_one_of_very_many_places_at_once)
{
    static const struct {
        const char *name, *dir;
    } rows[] = {
        {"host000000.example", "/"},
        {"a.example", "/000000/"},
        {"a.example", "/article-000000/"}, /* in the second word of a segment */
        {"a.example", "/1234567-000000-9/x/"},
    };
    enum { MANY = 40000 };

    EACH_ROW(i, rows) {
        char name[32], dir[64];
        unsigned found = 0;
        sn_scope_set p;

        sn_scope_set_init(&p);
        for (unsigned k = 0; k < 2 * MANY; k++) {
            put_number(name, sizeof name, rows[i].name, k / 2);
            put_number(dir, sizeof dir, rows[i].dir, k / 2);
            if (k % 2 == 0)
                add(&p, name, dir, 80);
            else
                found += has(&p, name, dir, 80);
        }
        CHECK_EQ(found, MANY);
        sn_scope_set_fini(&p);
    }
}

TEST(scope_set_without_memory_is_as_it_was)
{
    FAIL_EACH(n)
    {
        sn_scope_set p;
        char name[16];
        int added = 0;

        sn_scope_set_init(&p);
        for (; added < 30; added++) {
            snprintf(name, sizeof name, "h%d", added);
            sn_scope_place at = place(name, "/d/", 80);
            seine_err e = sn_scope_set_add(&p, &at);
            CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
            if (e != SEINE_OK)
                break;
        }
        CHECK(added == 30 || !has(&p, name, "/d/", 80));
        for (int i = 0; i < added; i++) {
            snprintf(name, sizeof name, "h%d", i);
            CHECK(has(&p, name, "/d/", 80));
        }
        sn_scope_set_fini(&p);
    }
}

/* Threads: two add what others ask for, and nobody misses a place that is told. */

enum { ADDED = 200 };

static struct {
    sn_scope_set set;
    _Atomic int told[2]; /* so many of each have been added */
} stage;

static void
name_of(char out[16], int who, int i)
{
    snprintf(out, 16, "%c%d", 'a' + who, i);
}

static void *
adder(void *arg)
{
    int who = *(int *)arg;
    char name[16];

    for (int i = 0; i < ADDED; i++) {
        name_of(name, who, i);
        add(&stage.set, name, "/d/", 80);
        stage.told[who] = i + 1;
    }
    return NULL;
}

static void *
asker(void *arg)
{
    int who = *(int *)arg, told, missed = 0;
    char name[16];

    do {
        sched_yield();
        told = stage.told[who];
        for (int i = told > 8 ? told - 8 : 0; i < told; i++) {
            name_of(name, who, i);
            missed += !has(&stage.set, name, "/d/", 80);
            missed += !has_above(&stage.set, name, "/d/x", 80);
        }
    } while (told < ADDED);
    CHECK_EQ(missed, 0);
    return NULL;
}

TEST_THREADS(scope_set_shows_every_place_whose_add_has_returned)
{
    static int who[2] = {0, 1};
    pthread_t threads[4];
    char name[16];

    sn_scope_set_init(&stage.set);
    stage.told[0] = stage.told[1] = 0;
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, i < 2 ? adder : asker, &who[i % 2]),
                 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < ADDED; i++) {
        name_of(name, i % 2, i);
        CHECK(has(&stage.set, name, "/d/", 80));
    }
    sn_scope_set_fini(&stage.set);
}
