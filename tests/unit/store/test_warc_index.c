/* SPDX-License-Identifier: Apache-2.0 */
#include "store/warc_index.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

/* The forms are those of the `surt` package that other archives' tools share. */
TEST(warc_index_keys_turn_the_host_round)
{
    static const struct {
        const char *url, *key;
    } rows[] = {
        {"http://example.com/", "com,example)/"},
        {"https://www.Example.com/A/B/?b=2&A=1", "com,example)/a/b?a=1&b=2"},
        {"http://www2.a.b.example/x//", "example,b,a)/x"},
        {"http://wwwa.example/", "example,wwwa)/"},
        {"http://www.com/", "com)/"},
        {"http://e.example:8080/", "example,e:8080)/"},
        {"http://e.example:80/x#frag", "example,e)/x"},
        {"http://10.0.0.5/a", "10.0.0.5)/a"},
        {"http://[::1]:81/", "[::1]:81)/"},
        {"http://e.example/?", "example,e)/"},
        {"http://e.example/?a&b=&a", "example,e)/?a&a&b="},
        {"http://localhost/", "localhost)/"},
        {"mailto:a b@c", "mailto:a%20b@c"},
        {"no url\n", "no%20url%0A"},
        {"", ""},
    };

    EACH_ROW(i, rows) {
        sn_buf out;

        sn_buf_init(&out, 1000);
        sn_buf_char(&out, '|');
        sn_warc_surt(sn_str_of(rows[i].url), &out);
        CHECK_STR(out.ptr + 1, rows[i].key);
        sn_buf_fini(&out);
    }
}

TEST(warc_index_stamps_are_fourteen_digits)
{
    static const struct {
        const char *date, *stamp;
    } rows[] = {
        {"2026-11-15T19:20:01Z", "20261115192001"},
        {"2026-11-15T19:20:01.987654Z", "20261115192001"},
        {"2026-11-15", "20261115000000"},
        {"", ""},
        {"x", ""},
    };
    char stamp[15];

    EACH_ROW(i, rows) {
        sn_warc_stamp_of(sn_str_of(rows[i].date), stamp);
        CHECK_STR(stamp, rows[i].stamp);
    }
    sn_warc_stamp(INT64_C(1794770401123456000), stamp);
    CHECK_STR(stamp, "20261115192001");
}

static sn_warc_line
line_of(const char *url, uint64_t offset)
{
    return (sn_warc_line){.url = sn_str_of(url),
                          .stamp = "20261115192001",
                          .media = SN_STR("text/html"),
                          .status = 200,
                          .digest = SN_STR("sha1:X"),
                          .offset = offset,
                          .length = 9,
                          .file = SN_STR("x.warc")};
}

static char *
slurp(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 4 << 20);

    CHECK(f != NULL);
    if (f) {
        CHECK(fread(text, 1, (4 << 20) - 1, f) > 0);
        fclose(f);
    }
    return text;
}

typedef struct place {
    char dir[64], path[80];
} place;

static place
make_place(void)
{
    place p = {.dir = "/tmp/seine-index-XXXXXX"};

    CHECK(mkdtemp(p.dir) != NULL);
    snprintf(p.path, sizeof p.path, "%s/x.cdxj", p.dir);
    return p;
}

static void
clear_place(const place *p)
{
    unlink(p->path);
    CHECK_EQ(rmdir(p->dir), 0); /* nothing else was left there */
}

TEST(warc_index_lines_are_cdxj)
{
    place p = make_place();
    sn_warc_index x;
    sn_warc_line line = line_of("http://e.example/\"", 7);

    CHECK_EQ(sn_warc_index_init(&x, p.path), SEINE_OK);
    CHECK_EQ(sn_warc_index_add(&x, &line), SEINE_OK);
    line = (sn_warc_line){.url = SN_STR("http://b.example/"),
                          .stamp = "2026",
                          .length = 1,
                          .file = SN_STR("y")};
    CHECK_EQ(sn_warc_index_add(&x, &line), SEINE_OK);
    CHECK_EQ(sn_warc_index_write(&x), SEINE_OK);
    char *text = slurp(p.path);
    CHECK_STR(text,
              "example,b)/ 2026 {\"url\": \"http://b.example/\", \"length\": \"1\", "
              "\"offset\": \"0\", \"filename\": \"y\"}\n"
              "example,e)/%22 20261115192001 {\"url\": \"http://e.example/\\\"\", "
              "\"mime\": \"text/html\", \"status\": \"200\", \"digest\": \"sha1:X\", "
              "\"length\": \"9\", \"offset\": \"7\", \"filename\": \"x.warc\"}\n");
    free(text);
    sn_warc_index_fini(&x);
    clear_place(&p);
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Any number of runs gives the same as sorting all lines at once. */
TEST(warc_index_of_runs_is_sorted_as_a_whole)
{
    enum { LINES = 2000 };
    static const size_t limits[] = {1, 1000, 50000, 8 << 20};
    sn_rng rng = sn_rng_seed(check_seed());

    EACH_ROW(i, limits) {
        place p = make_place();
        sn_warc_index x;
        char *want[LINES], *text, *at;

        CHECK_EQ(sn_warc_index_init(&x, p.path), SEINE_OK);
        x.limit = limits[i];
        for (int n = 0; n < LINES; n++) {
            char url[64];
            unsigned long long number = sn_rng_below(&rng, 1000000);

            snprintf(url, sizeof url, "http://e.example/%llu", number);
            sn_warc_line line = line_of(url, (uint64_t)n);
            CHECK_EQ(sn_warc_index_add(&x, &line), SEINE_OK);
            want[n] = malloc(64);
            snprintf(want[n], 64, "example,e)/%llu 20261115192001 ", number);
        }
        CHECK_EQ(sn_warc_index_write(&x), SEINE_OK);
        qsort(want, LINES, sizeof *want, by_text);
        at = text = slurp(p.path);
        for (int n = 0; n < LINES; n++) {
            CHECK(at && strncmp(at, want[n], strlen(want[n])) == 0);
            at = at ? strchr(at, '\n') : NULL;
            at = at ? at + 1 : NULL;
            free(want[n]);
        }
        CHECK(at && *at == '\0');
        free(text);
        sn_warc_index_fini(&x);
        clear_place(&p);
    }
}

TEST(warc_index_that_cannot_be_written_says_so_and_leaves_nothing)
{
    sn_warc_index x;
    sn_warc_line line = line_of("http://e.example/", 0);

    CHECK_EQ(sn_warc_index_init(&x, "/nowhere/at/all/x.cdxj"), SEINE_OK);
    CHECK_EQ(sn_warc_index_add(&x, &line), SEINE_OK);
    CHECK_EQ(sn_warc_index_write(&x), SEINE_E_IO);
    x.limit = 1;
    CHECK_EQ(sn_warc_index_add(&x, &line), SEINE_E_IO);
    sn_warc_index_fini(&x);
    sn_warc_index_fini(&x);
}

TEST(warc_index_without_memory_fails_whole)
{
    place p = make_place();

    FAIL_EACH(round)
    {
        sn_warc_index x;
        seine_err e = sn_warc_index_init(&x, p.path);

        if (e == SEINE_OK) {
            x.limit = 100;
            for (int n = 0; n < 3 && e == SEINE_OK; n++) {
                sn_warc_line line = line_of("http://e.example/", 0);
                e = sn_warc_index_add(&x, &line);
            }
            if (e == SEINE_OK)
                e = sn_warc_index_write(&x);
        }
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        CHECK_EQ(access(p.path, F_OK) == 0, e == SEINE_OK);
        unlink(p.path);
        sn_warc_index_fini(&x);
    }
    clear_place(&p);
}
