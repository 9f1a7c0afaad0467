/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "diag_line.h"
#include "failing.h"
#include "seine/input.h"

static seine_input *
open_csv(const char *bytes, size_t n, const char *column, const char *base)
{
    char path[64];
    seine_diag diag = SEINE_DIAG;
    seine_input *in = NULL;
    int fd = memfd_create("input", MFD_CLOEXEC);

    CHECK_EQ(write(fd, bytes, n), (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    seine_input_opts o = {sizeof(seine_input_opts), path, SEINE_INPUT_CSV, base, column};
    CHECK_EQ(seine_input_open(&o, &in, &diag), SEINE_OK);
    close(fd);
    return in;
}

/* "line url tags" of each ask, "line! rule" of a bad one. */
static void
tell_all(seine_input *in, char *to, size_t room)
{
    seine_ask ask;
    seine_err e;
    size_t n = 0;

    to[0] = '\0';
    while ((e = seine_input_next(in, &ask)) == SEINE_OK) {
        if (ask.is_bad)
            n += (size_t)snprintf(to + n, room - n, "%d! %.*s\n", (int)ask.line,
                                  (int)ask.rule.len, ask.rule.ptr);
        else
            n += (size_t)snprintf(to + n, room - n, "%d %.*s %.*s\n", (int)ask.line,
                                  (int)ask.url.len, ask.url.ptr, (int)ask.tags.len,
                                  ask.tags.ptr ? ask.tags.ptr : "");
        CHECK(ask.input.ptr != NULL);
    }
    if (e != SEINE_E_CLOSED)
        snprintf(to + n, room - n, "%s: %s\n", seine_err_name(e),
                 diag_line(seine_input_diag(in)));
}

TEST(input_csv_has_urls_in_a_column_and_tags_in_the_others)
{
    static const struct {
        const char *in, *column, *want;
    } rows[] = {
        {"url\nhttp://a/\nhttp://b/", NULL, "2 http://a/ \n3 http://b/ \n"},
        {"id,url,note\n7,http://a/,\"x, \"\"y\"\"\"\n", NULL,
         "2 http://a/ {\"id\":\"7\",\"note\":\"x, \\\"y\\\"\"}\n"},
        {"\xef\xbb\xbfurl,a\r\nhttp://a/,\"1\r\n2\"\r\n\r\nhttp://b/,3\r\n", NULL,
         "2 http://a/ {\"a\":\"1\\r\\n2\"}\n5 http://b/ {\"a\":\"3\"}\n"},
        {"url,Link\nx,http://a/\n", "Link", "2 http://a/ {\"url\":\"x\"}\n"},
        {"a,url,a\n1,http://a/,2\n", NULL, "2 http://a/ {\"a\":\"1\"}\n"}, /* once */
        {"url\n http://a/ \n", NULL, "2 http://a/ \n"},
        {"# no comment,url\n1,http://a/\n", NULL,
         "2 http://a/ {\"# no comment\":\"1\"}\n"},
        {"url\rhttp://a/\rhttp://b/\r", NULL, "2 http://a/ \n3 http://b/ \n"},
        /* a bad row never stops the run */
        {"url,b\nhttp://a/\nhttp://b/,2\n", NULL,
         "2! 1 cells under 2 columns\n3 http://b/ {\"b\":\"2\"}\n"},
        {"url,b\n\"http://a/\"x,1\nhttp://b/,2\n", NULL,
         "2! line 2, column 12: text behind a closing quote\n3 http://b/ "
         "{\"b\":\"2\"}\n"},
        {"url,b\n ,1\n", NULL, "2! there is no URL in the row\n"},
        {"url,b\nhttp://a/,\"1\n", NULL,
         "2! line 2, column 11: a quote that nobody closes\n"},
        {"", NULL, ""},
        {"\n\n", NULL, ""},
        {"url\n", NULL, ""},
    };

    EACH_ROW(i, rows) {
        char got[2048];
        seine_input *in = open_csv(rows[i].in, strlen(rows[i].in), rows[i].column, NULL);

        tell_all(in, got, sizeof got);
        CHECK_STR(got, rows[i].want);
        seine_input_free(in);
    }
}

TEST(input_csv_without_its_column_ends_with_one_clear_line)
{
    static const char *const heads[] = {"a,b\n1,2\n", "\"url\"x\nhttp://a/\n",
                                        "url,\xff\nhttp://a/,1\n"};
    static const char *const whys[] = {"no column 'url'", "text behind a closing quote",
                                       "the name of a column is no text"};
    static const char *const members[] = {"url_column", "", ""};

    EACH_ROW(i, heads) {
        char got[512];
        seine_input *in = open_csv(heads[i], strlen(heads[i]), NULL, NULL);

        tell_all(in, got, sizeof got);
        CHECK(strncmp(got, "io: ", 4) == 0);
        CHECK_STR(seine_input_diag(in)->text, whys[i]);
        CHECK_STR(seine_input_diag(in)->member, members[i]);
        seine_ask ask;
        CHECK_EQ(seine_input_next(in, &ask), SEINE_E_IO); /* and stays so */
        seine_input_free(in);
    }
}

TEST(input_csv_resolves_against_the_base)
{
    static const char text[] = "url,b\n../x,1\n";
    char got[512];
    seine_input *in = open_csv(text, strlen(text), NULL, "http://e/a/b");

    tell_all(in, got, sizeof got);
    CHECK_STR(got, "2 http://e/x {\"b\":\"1\"}\n");
    seine_input_free(in);
}

TEST(input_csv_passes_over_what_is_too_long)
{
    size_t n = (1 << 20) + 100;
    char *text = malloc(n + 64), got[512];

    memcpy(text, "url\n", 4);
    memset(text + 4, 'x', n);
    memcpy(text + 4 + n, "\nhttp://b/\n", 11);
    seine_input *in = open_csv(text, n + 15, NULL, NULL);
    tell_all(in, got, sizeof got);
    CHECK_STR(got, "2! the line is longer than 1 MiB\n3 http://b/ \n");
    seine_input_free(in);
    free(text);
}

TEST(input_csv_says_when_memory_runs_out)
{
    static const char text[] = "url,b\nhttp://a/,1\n";

    FAIL_EACH(f)
    {
        char path[64];
        seine_diag diag = SEINE_DIAG;
        seine_input *in = NULL;
        seine_ask ask;
        int fd = memfd_create("input", MFD_CLOEXEC);

        CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        seine_input_opts o = {sizeof(seine_input_opts), path, SEINE_INPUT_CSV, NULL,
                              NULL};
        seine_err e = seine_input_open(&o, &in, &diag);
        if (e == SEINE_OK)
            e = seine_input_next(in, &ask);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        seine_input_free(in);
        close(fd);
    }
}
