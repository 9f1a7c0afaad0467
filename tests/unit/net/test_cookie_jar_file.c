/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "cookies.h"
#include "diag_line.h"
#include "failing.h"

/* A directory of the test's own, and names in it. */
typedef struct home {
    char dir[64], path[96], other[96];
} home;

static home
home_new(void)
{
    home h = {.dir = "/tmp/seine-cookie-XXXXXX"};

    CHECK(mkdtemp(h.dir) != NULL);
    snprintf(h.path, sizeof h.path, "%s/jar.txt", h.dir);
    snprintf(h.other, sizeof h.other, "%s/other.txt", h.dir);
    return h;
}

static void
home_free(const home *h)
{
    DIR *d = opendir(h->dir);
    int strays = 0;

    for (struct dirent *e; d && (e = readdir(d));)
        strays += strncmp(e->d_name, ".seine", 6) == 0;
    CHECK_EQ(strays, 0); /* no temporary file is left */
    if (d)
        closedir(d);
    unlink(h->path);
    unlink(h->other);
    CHECK_EQ(rmdir(h->dir), 0);
}

static void
write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");

    CHECK(out && fputs(text, out) >= 0);
    if (out)
        fclose(out);
}

static const char *
read_file(const char *path)
{
    static char text[1 << 16];
    FILE *in = fopen(path, "r");
    size_t n = in ? fread(text, 1, sizeof text - 1, in) : 0;

    text[n] = '\0';
    if (in)
        fclose(in);
    return text;
}

/* What is left of a file without its comments. */
static const char *
lines_of(const char *path)
{
    const char *text = strstr(read_file(path), "\n\n");

    return text ? text + 2 : "?";
}

static seine_cookie_jar *
loaded(const char *path, const char *text)
{
    seine_cookie_jar *jar = new_jar();
    seine_diag diag = SEINE_DIAG;

    write_file(path, text);
    CHECK_EQ(seine_cookie_jar_load(jar, path, T0, &diag), SEINE_OK);
    CHECK_STR(diag_line(&diag), "");
    return jar;
}

TEST(cookie_jar_file_is_written_as_curl_and_wget_read_it)
{
    home h = home_new();
    seine_cookie_jar *jar = new_jar();

    CHECK_EQ(set_at(jar, "http://a.example.com/d/x", "one=1", T0), SEINE_OK);
    CHECK_EQ(set_at(jar, "https://a.example.com/",
                    "two=2 \"x\"; Domain=example.com; Secure; HttpOnly; Max-Age=60", T0),
             SEINE_OK);
    CHECK_EQ(set_at(jar, "http://127.0.0.1:81/", "three=; Path=/p", T0), SEINE_OK);
    CHECK_EQ(set_at(jar, "http://[::1]/", "four=4", T0), SEINE_OK);
    CHECK_EQ(set_at(jar, "http://a.example.com/", "gone=1; Max-Age=5", T0), SEINE_OK);
    CHECK_EQ(seine_cookie_jar_save(jar, h.path, T0 + SEINE_SECS(5), NULL), SEINE_OK);
    CHECK(strncmp(read_file(h.path), "# Netscape HTTP Cookie File\n", 28) == 0);
    CHECK_STR(lines_of(h.path),
              "a.example.com\tFALSE\t/d\tFALSE\t0\tone\t1\n"
              "#HttpOnly_.example.com\tTRUE\t/\tTRUE\t1700000060\ttwo\t2 \"x\"\n"
              "127.0.0.1\tFALSE\t/p\tFALSE\t0\tthree\t\n"
              "[::1]\tFALSE\t/\tFALSE\t0\tfour\t4\n");
    seine_cookie_jar_free(jar);
    home_free(&h);
}

TEST(cookie_jar_file_brings_back_what_was_saved)
{
    home h = home_new();
    seine_cookie_jar *jar = new_jar(), *again = new_jar();
    char first[SEINE_COOKIE_JAR_SENT + 1];

    CHECK_EQ(set_at(jar, "https://a.example.com/", "z=1; Path=/p; Secure", T0), SEINE_OK);
    CHECK_EQ(set_at(jar, "https://a.example.com/", "a=2; Domain=example.com", T0),
             SEINE_OK);
    CHECK_EQ(set_at(jar, "https://a.example.com/", "m=\xc3\xa9; Max-Age=77", T0),
             SEINE_OK);
    CHECK_EQ(seine_cookie_jar_save(jar, h.path, T0, NULL), SEINE_OK);
    snprintf(first, sizeof first, "%s", read_file(h.path));
    CHECK_EQ(seine_cookie_jar_load(again, h.path, T0, NULL), SEINE_OK);
    CHECK_EQ(seine_cookie_jar_count(again), 3);
    snprintf(first, sizeof first, "%s", sent_at(jar, "https://a.example.com/p", T0));
    CHECK_STR(sent_at(again, "https://a.example.com/p", T0), first);
    CHECK_STR(sent_at(again, "http://b.example.com/", T0), "a=2");
    CHECK_EQ(seine_cookie_jar_save(again, h.other, T0, NULL), SEINE_OK);
    snprintf(first, sizeof first, "%s", read_file(h.path));
    CHECK_STR(read_file(h.other), first);
    seine_cookie_jar_free(jar);
    seine_cookie_jar_free(again);
    home_free(&h);
}

TEST(cookie_jar_file_lines_of_others_are_understood)
{
    static const struct {
        const char *line, *url, *sent;
    } rows[] = {
        {"h.example\tFALSE\t/\tFALSE\t0\tk\tv\n", "http://h.example/", "k=v"},
        {"h.example\tFALSE\t/\tFALSE\t0\tk\tv\r\n", "http://h.example/",
         "k=v"},                                                             /* CRLF */
        {"h.example\tFALSE\t/\tFALSE\t0\tk\tv", "http://h.example/", "k=v"}, /* no end */
        {"#HttpOnly_h.example\tFALSE\t/\tFALSE\t0\tk\tv\n", "http://h.example/", "k=v"},
        {"# h.example\tFALSE\t/\tFALSE\t0\tk\tv\n", "http://h.example/", ""},
        {"#h.example\tFALSE\t/\tFALSE\t0\tk\tv\n", "http://h.example/", ""},
        {"\n  \t \n\r\n", "http://h.example/", ""},
        {".example.com\tTRUE\t/\tFALSE\t0\tk\tv\n", "http://a.example.com/", "k=v"},
        {"example.com\tTRUE\t/\tFALSE\t0\tk\tv\n", "http://a.example.com/", "k=v"},
        {".example.com\tFALSE\t/\tFALSE\t0\tk\tv\n", "http://a.example.com/", ""},
        {".example.com\tFALSE\t/\tFALSE\t0\tk\tv\n", "http://example.com/", "k=v"},
        {"H.Example\tfalse\t/\tFalse\t0\tk\tv\n", "http://h.example/", "k=v"},
        {"h.example:8080\tFALSE\t/\tFALSE\t0\tk\tv\n", "http://h.example/",
         "k=v"}, /* wget */
        {"::1\tFALSE\t/\tFALSE\t0\tk\tv\n", "http://[::1]/", "k=v"},
        {"[::1]\tFALSE\t/\tFALSE\t0\tk\tv\n", "http://[::1]/", "k=v"},
        {"b\xc3\xbc"
         "cher.example\tFALSE\t/\tFALSE\t0\tk\tv\n",
         "http://xn--bcher-kva.example/", "k=v"},
        {"h.example\tFALSE\t/\tTRUE\t0\tk\tv\n", "http://h.example/", ""},
        {"h.example\tFALSE\t/\tTRUE\t0\tk\tv\n", "https://h.example/", "k=v"},
        {"h.example\tFALSE\t/a\tFALSE\t0\tk\tv\n", "http://h.example/", ""},
        {"h.example\tFALSE\t/\tFALSE\t0\tk\n", "http://h.example/", "k="}, /* no value */
        {"h.example\tFALSE\t/\tFALSE\t0\tk\t\n", "http://h.example/", "k="},
        {"h.example\tFALSE\t/\tFALSE\t\tk\tv\n", "http://h.example/", "k=v"}, /* Python */
        {"h.example\tFALSE\t/\tFALSE\t1700000001\tk\tv\n", "http://h.example/", "k=v"},
        {"h.example\tFALSE\t/\tFALSE\t1700000000\tk\tv\n", "http://h.example/", ""},
        {"h.example\tFALSE\t/\tFALSE\t1700000001.75\tk\tv\n", "http://h.example/", "k=v"},
        {"h.example\tFALSE\t/\tFALSE\t-1\tk\tv\n", "http://h.example/", ""},
        {"h.example\tFALSE\t/\tFALSE\t99999999999999999999\tk\tv\n", "http://h.example/",
         "k=v"},
        {"h.example\tFALSE\t/\tFALSE\t-99999999999999999999\tk\tv\n", "http://h.example/",
         ""},
        /* Lines that no server could have set are skipped. */
        {".com\tTRUE\t/\tFALSE\t0\tk\tv\n", "http://example.com/", ""},
        {".co.uk\tTRUE\t/\tFALSE\t0\tk\tv\n", "http://x.co.uk/", ""},
        {"127.0.0.1\tTRUE\t/\tFALSE\t0\tk\tv\n", "http://127.0.0.1/", "k=v"},
        {"h.example\tFALSE\t/\tFALSE\t0\t__Host-k\tv\n", "https://h.example/", ""},
        {"h.example\tFALSE\t/\tTRUE\t0\t__Host-k\tv\n", "https://h.example/",
         "__Host-k=v"},
        {".h.example.com\tTRUE\t/\tTRUE\t0\t__Host-k\tv\n", "https://h.example.com/", ""},
        {"h.example\tFALSE\t/\tFALSE\t0\t\tv\n", "http://h.example/", ""}, /* no name */
    };
    home h = home_new();

    EACH_ROW(i, rows) {
        seine_cookie_jar *jar = loaded(h.path, rows[i].line);

        CHECK_STR(sent_at(jar, rows[i].url, T0), rows[i].sent);
        seine_cookie_jar_free(jar);
    }
    home_free(&h);
}

TEST(cookie_jar_file_with_a_bad_line_is_refused_whole)
{
    static const struct {
        const char *line, *why;
    } rows[] = {
        {"h.example", "not seven fields with tabs between them"},
        {"h.example FALSE / FALSE 0 k v", "not seven fields with tabs between them"},
        {"h.example\tFALSE\t/\tFALSE\t0", "not seven fields with tabs between them"},
        {"h.example\tFALSE\t/\tFALSE\t0\tk\tv\tw",
         "not seven fields with tabs between them"},
        {"\tFALSE\t/\tFALSE\t0\tk\tv", "not a host"},
        {".\tFALSE\t/\tFALSE\t0\tk\tv", "not a host"},
        {"a b\tFALSE\t/\tFALSE\t0\tk\tv", "not a host"},
        {"a/b\tFALSE\t/\tFALSE\t0\tk\tv", "not a host"},
        {"a@b\tFALSE\t/\tFALSE\t0\tk\tv", "not a host"},
        {"h.example\tYES\t/\tFALSE\t0\tk\tv", "neither TRUE nor FALSE"},
        {"h.example\tTRUE\t/\t\t0\tk\tv", "neither TRUE nor FALSE"},
        {"h.example\tFALSE\t\tFALSE\t0\tk\tv", "not a path"},
        {"h.example\tFALSE\tx\tFALSE\t0\tk\tv", "not a path"},
        {"h.example\tFALSE\t/\tFALSE\tsoon\tk\tv", "not a time"},
        {"h.example\tFALSE\t/\tFALSE\t1.x\tk\tv", "not a time"},
        {"h.example\tFALSE\t/\tFALSE\t0\tk=\tv", "not a name and a value"},
        {"h.example\tFALSE\t/\tFALSE\t0\tk\tv;w", "not a name and a value"},
        {"h.example\tFALSE\t/\tFALSE\t0\tk\tv\x01", "not a name and a value"},
        {"#HttpOnly_nothing", "not seven fields with tabs between them"},
        {"<!DOCTYPE html>", "not seven fields with tabs between them"},
    };
    home h = home_new();

    EACH_ROW(i, rows) {
        seine_cookie_jar *jar = new_jar();
        seine_diag diag = SEINE_DIAG;
        char text[256], want[SEINE_DIAG_ROOM];

        snprintf(text, sizeof text,
                 "# Netscape\nh.example\tFALSE\t/\tFALSE\t0\tgood\t1\n\n%s\n",
                 rows[i].line);
        write_file(h.path, text);
        CHECK_EQ(seine_cookie_jar_load(jar, h.path, T0, &diag), SEINE_E_CONFIG);
        snprintf(want, sizeof want, "%.60s:4: %s", h.path, rows[i].why);
        CHECK_STR(diag_line(&diag), want);
        CHECK_EQ(seine_cookie_jar_load(jar, h.path, T0, NULL), SEINE_E_CONFIG);
        CHECK_EQ(seine_cookie_jar_count(jar), 0); /* not even the good one */
        seine_cookie_jar_free(jar);
    }
    home_free(&h);
}

TEST(cookie_jar_file_lives_400_days_at_most)
{
    home h = home_new();
    seine_cookie_jar *jar =
        loaded(h.path, "h.example\tFALSE\t/\tFALSE\t9999999999\tk\tv\n");

    CHECK_STR(sent_at(jar, "http://h.example/", T0 + SN_COOKIE_LIFE - 1), "k=v");
    CHECK_STR(sent_at(jar, "http://h.example/", T0 + SN_COOKIE_LIFE), "");
    seine_cookie_jar_free(jar);
    home_free(&h);
}

TEST(cookie_jar_file_that_is_not_there_is_empty)
{
    home h = home_new();
    seine_cookie_jar *jar = new_jar();
    seine_diag diag = {.text = "old"};
    char long_path[400];

    CHECK_EQ(seine_cookie_jar_load(jar, h.path, T0, &diag), SEINE_OK);
    CHECK_STR(diag_line(&diag), "");
    CHECK_EQ(seine_cookie_jar_load(jar, h.dir, T0, &diag), SEINE_E_IO);
    CHECK(strstr(diag_line(&diag), ": not a regular file"));
    snprintf(long_path, sizeof long_path, "%s/%0300d", h.dir, 0);
    CHECK_EQ(seine_cookie_jar_load(jar, long_path, T0, &diag), SEINE_E_IO);
    CHECK(strncmp(diag.file, "…", strlen("…")) == 0);
    CHECK_STR(diag.text, "file name too long");
    CHECK_EQ(seine_cookie_jar_save(jar, long_path, T0, &diag), SEINE_E_IO);
    seine_cookie_jar_free(jar);
    home_free(&h);
}

TEST(cookie_jar_file_over_16_mib_is_refused)
{
    home h = home_new();
    seine_cookie_jar *jar = new_jar();
    seine_diag diag = SEINE_DIAG;
    FILE *out = fopen(h.path, "w");

    for (int i = 0; out && i < (16 << 20) / 1024 + 64; i++)
        fprintf(out, "#%01022d\n", i);
    if (out)
        fclose(out);
    CHECK_EQ(seine_cookie_jar_load(jar, h.path, T0, &diag), SEINE_E_CONFIG);
    CHECK(strstr(diag_line(&diag), ": larger than 16 MiB"));
    seine_cookie_jar_free(jar);
    home_free(&h);
}

TEST(cookie_jar_file_is_for_its_owner_alone_and_replaces_what_was_there)
{
    home h = home_new();
    seine_cookie_jar *jar = new_jar();
    struct stat about;

    write_file(h.path, "old");
    CHECK_EQ(chmod(h.path, 0644), 0);
    CHECK_EQ(set_at(jar, "http://h.example/", "k=v", T0), SEINE_OK);
    CHECK_EQ(seine_cookie_jar_save(jar, h.path, T0, NULL), SEINE_OK);
    CHECK_EQ(stat(h.path, &about), 0);
    CHECK_EQ(about.st_mode & 0777, 0600);
    CHECK_STR(lines_of(h.path), "h.example\tFALSE\t/\tFALSE\t0\tk\tv\n");
    seine_cookie_jar_free(jar);
    home_free(&h);
}

TEST(cookie_jar_file_never_goes_where_a_link_leads)
{
    home h = home_new();
    seine_cookie_jar *jar = new_jar();
    struct stat about;

    write_file(h.other, "precious");
    CHECK_EQ(symlink(h.other, h.path), 0);
    CHECK_EQ(seine_cookie_jar_save(jar, h.path, T0, NULL), SEINE_OK);
    CHECK_STR(read_file(h.other), "precious");
    CHECK_EQ(lstat(h.path, &about), 0);
    CHECK(S_ISREG(about.st_mode));
    seine_cookie_jar_free(jar);
    home_free(&h);
}

TEST(cookie_jar_file_that_cannot_be_written_is_an_error)
{
    static const struct {
        const char *path, *why;
    } rows[] = {
        {"/dev/null", "/dev/null: not a regular file"}, /* and is still there */
        {"/nowhere/jar", "/nowhere/jar: no such file or directory"},
        {"/tmp/", "/tmp/: not a regular file"},
        {"/tmp", "/tmp: not a regular file"},
        {"/dev/null/jar", "/dev/null/jar: not a directory"},
        {"/proc/jar\n", "/proc/jar?: no such file or directory"},
    };
    seine_cookie_jar *jar = new_jar();

    EACH_ROW(i, rows) {
        seine_diag diag = SEINE_DIAG;

        CHECK_EQ(seine_cookie_jar_save(jar, rows[i].path, T0, &diag), SEINE_E_IO);
        CHECK_STR(diag_line(&diag), rows[i].why);
        CHECK_EQ(seine_cookie_jar_save(jar, rows[i].path, T0, NULL), SEINE_E_IO);
    }
    CHECK_EQ(access("/dev/null", F_OK), 0);
    seine_cookie_jar_free(jar);
}

TEST(cookie_jar_file_without_a_directory_is_in_this_one)
{
    home h = home_new();
    seine_cookie_jar *jar = new_jar();
    char *back = getcwd(NULL, 0);

    CHECK_EQ(chdir(h.dir), 0);
    CHECK_EQ(seine_cookie_jar_save(jar, "jar.txt", T0, NULL), SEINE_OK);
    CHECK_EQ(access(h.path, F_OK), 0);
    CHECK_EQ(chdir(back), 0);
    free(back);
    seine_cookie_jar_free(jar);
    home_free(&h);
}

TEST(cookie_jar_file_survives_any_failed_allocation)
{
    home h = home_new();

    write_file(h.other, ".example.com\tTRUE\t/\tFALSE\t0\tk\tv\n"
                        "h.example\tFALSE\t/\tFALSE\t0\tk\tv\n");
    FAIL_EACH(n)
    {
        seine_cookie_jar *jar = NULL;
        seine_err e = seine_cookie_jar_new(&jar);

        if (e == SEINE_OK)
            e = seine_cookie_jar_load(jar, h.other, T0, NULL);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        if (e == SEINE_OK)
            e = seine_cookie_jar_save(jar, h.path, T0, NULL);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        seine_cookie_jar_free(jar);
    }
    home_free(&h);
}

TEST(cookie_jar_file_reads_back_whatever_a_jar_holds)
{
    static const char alphabet[] = "ab=/\"#\\%$ .-_\xc3\xa9";
    home h = home_new();
    sn_rng rng = sn_rng_seed(check_seed());
    seine_cookie_jar *jar = new_jar(), *again = new_jar();
    char before[SEINE_COOKIE_JAR_SENT + 1];

    for (int round = 0; round < 300; round++) {
        char value[24];
        size_t n = 3 + sn_rng_below(&rng, sizeof value - 4);

        for (size_t i = 0; i < n; i++)
            value[i] = alphabet[sn_rng_below(&rng, sizeof alphabet - 1)];
        value[n] = '\0';
        if (set_at(jar, "http://h.example/", value, T0) == SEINE_E_NOMEM)
            CHECK(false);
    }
    CHECK(seine_cookie_jar_count(jar) > 10);
    CHECK_EQ(seine_cookie_jar_save(jar, h.path, T0, NULL), SEINE_OK);
    CHECK_EQ(seine_cookie_jar_load(again, h.path, T0, NULL), SEINE_OK);
    CHECK_EQ(seine_cookie_jar_count(again), seine_cookie_jar_count(jar));
    snprintf(before, sizeof before, "%s", sent_at(jar, "http://h.example/", T0));
    CHECK_STR(sent_at(again, "http://h.example/", T0), before);
    seine_cookie_jar_free(jar);
    seine_cookie_jar_free(again);
    home_free(&h);
}

TEST(cookie_file_goes_on_behind_one_for_which_there_is_no_room)
{
    seine_cookie_jar *jar = new_jar();
    char set[64];

    for (int i = 0; i < 50; i++) {
        snprintf(set, sizeof set, "s%d=1; Secure; Path=/s", i);
        CHECK_EQ(set_at(jar, "https://a.example/", set, T0), SEINE_OK);
    }
    CHECK_EQ(sn_cookie_jar_read(jar,
                                SN_STR("a.example\tFALSE\t/\tFALSE\t0\tplain\t1\n"
                                       "b.example\tFALSE\t/\tFALSE\t0\tk\tv\n"),
                                "file", T0, NULL),
             SEINE_OK);
    CHECK_STR(sent_at(jar, "https://a.example/", T0), "");
    CHECK_STR(sent_at(jar, "https://b.example/", T0), "k=v");
    seine_cookie_jar_free(jar);
}
