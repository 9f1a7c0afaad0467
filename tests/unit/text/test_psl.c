/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/psl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/str.h"
#include "check.h"
#include "failing.h"
#include "seine/url.h"

/* Returns the last n bytes of the name; "-": none. */
static const char *
tail(const char *name, size_t len, size_t n)
{
    static char out[2][SEINE_PSL_NAME + 1];
    static int turn;
    char *to = out[turn ^= 1];

    CHECK(n <= len);
    snprintf(to, sizeof out[0], "%.*s", (int)n, name + len - n);
    return n > 0 ? to : "-";
}

static const char *
site(const seine_psl *psl, const char *name)
{
    return tail(name, strlen(name), seine_psl_site(psl, name, strlen(name)));
}

static const char *
suffix(const seine_psl *psl, const char *name)
{
    return tail(name, strlen(name), seine_psl_suffix(psl, name, strlen(name)));
}

static seine_psl *
built_in(void)
{
    seine_psl *psl = NULL;

    CHECK_EQ(seine_psl_new(NULL, &psl), SEINE_OK);
    return psl;
}

/* Writes the lines to a file and reads them as a list. */
static seine_psl *
list_of(const char *lines)
{
    char path[] = "/tmp/seine-psl-XXXXXX";
    seine_psl *psl = NULL;
    int fd = mkstemp(path);

    CHECK(fd >= 0 && write(fd, lines, strlen(lines)) == (ssize_t)strlen(lines));
    close(fd);
    CHECK_EQ(seine_psl_new(path, &psl), SEINE_OK);
    unlink(path);
    return psl;
}

TEST(psl_tells_the_site_and_the_suffix_of_a_name)
{
    static const struct {
        const char *name, *site, *suffix;
    } rows[] = {
        {"example.com", "example.com", "com"},
        {"a.b.example.com", "example.com", "com"},
        {"www.example.co.uk", "example.co.uk", "co.uk"},
        {"com", "-", "com"},                           /* a suffix has no site */
        {"co.uk", "-", "co.uk"},                       /* of two labels neither */
        {"b.c.mm", "b.c.mm", "c.mm"},                  /* *.mm */
        {"www.ck", "www.ck", "ck"},                    /* !www.ck below *.ck */
        {"x.www.ck", "www.ck", "ck"},                  /* and below that */
        {"test.ck", "-", "test.ck"},                   /* *.ck */
        {"me.github.io", "me.github.io", "github.io"}, /* the private part of the list */
        {"localhost", "-", "localhost"},               /* a TLD nobody listed */
        {"a.example", "a.example", "example"},         /* likewise */
        {"www.xn--85x722f.com.cn", "xn--85x722f.com.cn", "com.cn"}, /* A-labels */
        {"xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn", "xn--55qx5d.cn"},
        {"www.食狮.公司.cn", "食狮.公司.cn", "公司.cn"}, /* the same in UTF-8 */
    };
    seine_psl *psl = built_in();

    EACH_ROW(i, rows) {
        CHECK_STR(site(psl, rows[i].name), rows[i].site);
        CHECK_STR(suffix(psl, rows[i].name), rows[i].suffix);
    }
    CHECK(seine_psl_count(psl) > 5000);
    seine_psl_free(psl);
}

TEST(psl_finds_nothing_in_what_is_no_name)
{
    static const struct {
        const char *name;
        size_t len;
    } rows[] = {
        {"", 0},
        {".", 1},
        {".com", 4},          /* an empty label first */
        {".example.com", 12}, /* the same before a site */
        {"a..example.com", 14},
        {"example.com.", 12}, /* the caller takes the last dot away */
        {"a\0.example.com", 14},
    };
    static char longest[SEINE_PSL_NAME + 1];
    seine_psl *psl = built_in();

    EACH_ROW(i, rows) {
        CHECK_EQ(seine_psl_site(psl, rows[i].name, rows[i].len), 0);
        CHECK_EQ(seine_psl_suffix(psl, rows[i].name, rows[i].len), 0);
    }
    memset(longest, 'a', sizeof longest);
    memcpy(longest + SEINE_PSL_NAME - 4, ".com", 4);
    CHECK_EQ(seine_psl_site(psl, longest, SEINE_PSL_NAME), SEINE_PSL_NAME);
    memcpy(longest + SEINE_PSL_NAME - 3, ".com", 4);
    CHECK_EQ(seine_psl_site(psl, longest, SEINE_PSL_NAME + 1), 0);
    seine_psl_free(psl);
}

TEST(psl_takes_another_list_from_a_file)
{
    seine_psl *psl = list_of("// ===BEGIN ICANN DOMAINS===\n"
                             "zz\nshop.zz\n*.any.zz\n!one.any.zz\n"
                             "// ===END ICANN DOMAINS===\n");

    CHECK_STR(site(psl, "a.b.zz"), "b.zz");
    CHECK_STR(site(psl, "a.b.shop.zz"), "b.shop.zz");
    CHECK_STR(site(psl, "a.b.any.zz"), "a.b.any.zz");
    CHECK_STR(site(psl, "a.one.any.zz"), "one.any.zz");
    CHECK_STR(site(psl, "a.b.co.uk"), "co.uk"); /* this list does not know better */
    seine_psl_free(psl);
}

TEST(psl_without_a_list_in_the_file_is_an_error)
{
    seine_psl *psl = NULL;

    CHECK_EQ(seine_psl_new("/nowhere/list.dat", &psl), SEINE_E_IO);
    CHECK_EQ(seine_psl_new("/dev/null", &psl), SEINE_E_IO);
    CHECK(psl == NULL);
    seine_psl_free(NULL);
}

TEST(psl_survives_any_failed_allocation)
{
    FAIL_EACH(n)
    {
        seine_psl *psl = NULL;
        seine_err e = seine_psl_new(NULL, &psl);

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        seine_psl_free(psl);
    }
}

/* What the algorithm of publicsuffix.org says, read by a second reader: of the rules
 * that match the labels from the right an exception wins, else the longest. libpsl adds
 * that the parent of a wildcard is a suffix, too, which is the safe side. */

static const char *const rules[] = {"com", "b.com", "*.a.com", "!b.a.com", "*.a.b",
                                    "a",   "!c.a",  "*.a",     "a.c.b.com"};

static size_t
labels(const char *name)
{
    size_t n = 1;

    for (; *name; name++)
        n += *name == '.';
    return n;
}

static const char *
last_labels(const char *name, size_t n)
{
    for (size_t all = labels(name); all > n; all--)
        name = strchr(name, '.') + 1;
    return name;
}

static bool
rule_matches(const char *rule, const char *name)
{
    size_t n = labels(rule);

    if (n > labels(name))
        return false;
    name = last_labels(name, n);
    if (strncmp(rule, "*.", 2) == 0)
        return strcmp(strchr(name, '.') + 1, rule + 2) == 0;
    return strcmp(name, rule) == 0;
}

static size_t
suffix_labels(const char *name)
{
    size_t longest = 1; /* "*", when none is found */

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        bool exception = rules[i][0] == '!';

        if (!rule_matches(rules[i] + exception, name))
            continue;
        if (exception)
            return labels(rules[i]) - 1;
        if (labels(rules[i]) > longest)
            longest = labels(rules[i]);
    }
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i][0] == '*' && labels(rules[i]) - 1 > longest &&
            rule_matches(rules[i] + 2, name))
            longest = labels(rules[i]) - 1;
    return longest;
}

TEST(psl_agrees_with_a_second_reader_of_the_rules)
{
    static const char *const words[] = {"a", "b", "c", "com"};
    char lines[512] = "// ===BEGIN ICANN DOMAINS===\n";
    sn_rng rng = sn_rng_seed(check_seed());

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%s\n", rules[i]);
    seine_psl *psl = list_of(lines);
    for (int round = 0; round < 3000; round++) {
        char name[64] = "";
        size_t n = 1 + sn_rng_below(&rng, 5);

        for (size_t i = 0; i < n; i++)
            snprintf(name + strlen(name), sizeof name - strlen(name), "%s%s",
                     i > 0 ? "." : "", words[sn_rng_below(&rng, 4)]);
        size_t k = suffix_labels(name);
        CHECK_STR(suffix(psl, name), last_labels(name, k));
        CHECK_STR(site(psl, name), k < n ? last_labels(name, k + 1) : "-");
    }
    seine_psl_free(psl);
}

/* The checks that come with the list, by the list they come with: libpsl's own may be
 * older. */

static const char *
canonical(const char *host, char out[SEINE_URL_ROOM])
{
    char text[512], mem[SEINE_URL_ROOM];
    seine_url url;
    seine_view name;

    snprintf(text, sizeof text, "http://%s/", host);
    seine_url_init(&url, mem, sizeof mem);
    if (strcmp(host, "null") == 0 ||
        seine_url_parse(&url, text, strlen(text), NULL) != SEINE_OK ||
        seine_url_name(&url, &name) != SEINE_OK)
        return "";
    snprintf(out, SEINE_URL_ROOM, "%.*s", (int)name.len, name.ptr);
    return out;
}

static int
check_line(const seine_psl *psl, char *line)
{
    char host[SEINE_URL_ROOM], want[SEINE_URL_ROOM];
    char *blank = strchr(line, ' ');

    line[strcspn(line, "\n")] = '\0';
    if (!blank || strncmp(line, "//", 2) == 0)
        return 0;
    *blank = '\0';
    const char *expected = canonical(blank + 1, want);
    CHECK_STR(site(psl, canonical(line, host)), *expected ? expected : "-");
    return 1;
}

TEST(psl_agrees_with_the_checks_that_come_with_the_list)
{
    const char *home = check_vectors();
    char path[512], line[512];
    seine_psl *psl = NULL;
    int n = 0;

    if (!home)
        return;
    snprintf(path, sizeof path, "%s/psl/public_suffix_list.dat", home);
    CHECK_EQ(seine_psl_new(path, &psl), SEINE_OK);
    snprintf(path, sizeof path, "%s/psl/tests/tests.txt", home);
    FILE *in = fopen(path, "r");
    CHECK(in != NULL);
    while (in && psl && fgets(line, sizeof line, in))
        n += check_line(psl, line);
    CHECK(n > 70);
    if (in)
        fclose(in);
    seine_psl_free(psl);
}
