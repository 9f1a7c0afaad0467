/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host_list.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

static sn_host_list *
list_of(const char *const *texts)
{
    sn_host_list *l = NULL;
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(sn_host_list_new(texts, &l, &diag), SEINE_OK);
    CHECK_STR(diag.text, "");
    return l;
}

TEST(host_list_names_hosts_and_all_below_them)
{
    static const struct {
        const char *pattern, *name;
        int port;
        bool has;
    } rows[] = {
        {"e.example", "e.example", 80, true},
        {"e.example", "a.e.example", 80, true}, /* below it */
        {"e.example", "a.b.e.example", 80, true},
        {"e.example", "fe.example", 80, false}, /* no label of its own */
        {"e.example", "example", 80, false},    /* above it */
        {"e.example", "e.example.org", 80, false},
        {".e.example", "e.example", 80, true}, /* a dot changes nothing */
        {"*.e.example", "e.example", 80, true},
        {"*.e.example", "a.e.example", 80, true},
        {"E.Example", "e.example", 80, true}, /* letters of any case */
        {"\xc3\xbc.example", "xn--tda.example", 80, true},
        {"img*.e.example", "img7.e.example", 80, true},
        {"img*.e.example", "img.e.example", 80, true},     /* a star is nothing, too */
        {"img*.e.example", "img.a.b.e.example", 80, true}, /* and dots */
        {"img*.e.example", "a.img7.e.example", 80, false}, /* the whole name */
        {"IMG?.e.example", "img7.e.example", 80, true},
        {"img?.e.example", "img77.e.example", 80, false},
        {"e.example:8080", "e.example", 8080, true}, /* on that port alone */
        {"e.example:8080", "a.e.example", 8080, true},
        {"e.example:8080", "e.example", 8081, false},
        {"img*.e.example:81", "img7.e.example", 81, true},
        {"img*.e.example:81", "img7.e.example", 80, false},
        {"10.0.0.5", "10.0.0.5", 80, true},
        {"10.0.0.5", "10.0.0.50", 80, false},
        {"[::1]", "[::1]", 80, true},
        {"[0:0:0:0:0:0:0:1]", "[::1]", 80, true}, /* one form of an address */
        {"[::1]:8080", "[::1]", 80, false},
    };

    EACH_ROW(i, rows) {
        const char *texts[] = {rows[i].pattern, NULL};
        sn_host_list *l = list_of(texts);

        CHECK_EQ(sn_host_list_has(l, sn_str_of(rows[i].name), rows[i].port), rows[i].has);
        sn_host_list_free(l);
    }
}

TEST(host_list_of_nothing_names_nobody)
{
    const char *texts[] = {NULL};
    sn_host_list *l = list_of(texts);

    CHECK(!sn_host_list_has(l, SN_STR("e.example"), 80));
    CHECK(!sn_host_list_has(l, (sn_str){0}, 80));
    sn_host_list_free(l);
    sn_host_list_free(NULL);
}

TEST(host_list_says_which_text_is_no_host)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "'': not the name of a host"},
        {"http://e.example", "'http://e.example': a URL, not the name of a host"},
        {"e.example:", "'e.example:': not a port"},
        {"e.example:0", "'e.example:0': not a port"},
        {"e.example:65536", "'e.example:65536': not a port"},
        {"e.example/a", "'e.example/a': not the name of a host"},
        {"a@e.example", "'a@e.example': not the name of a host"},
        {"a%41.example", "'a%41.example': not the name of a host"},
        {"a*/", "'a*/': not the name of a host"},
        {"::1", "'::1': not the name of a host"}, /* without brackets a port is cut off */
    };

    EACH_ROW(i, rows) {
        const char *texts[] = {"good.example", rows[i].text, NULL};
        sn_host_list *l = NULL;
        seine_diag diag = SEINE_DIAG;

        CHECK_EQ(sn_host_list_new(texts, &l, &diag), SEINE_E_CONFIG);
        CHECK(!l); /* untouched */
        CHECK_STR(diag.member, "domains");
        CHECK_STR(diag.text, rows[i].says);
    }
}

/* Names without wildcards do not count. */
TEST(host_list_has_1000_wildcards_at_most)
{
    static char texts[SN_HOST_LIST_GLOBS + 1][24];
    static const char *list[SN_HOST_LIST_GLOBS + 3];

    for (int n = SN_HOST_LIST_GLOBS; n <= SN_HOST_LIST_GLOBS + 1; n++) {
        sn_host_list *l = NULL;
        seine_diag diag = SEINE_DIAG;

        list[0] = "plain.example";
        for (int i = 0; i < n; i++) {
            snprintf(texts[i], sizeof texts[i], "a%d*.example", i);
            list[i + 1] = texts[i];
        }
        list[n + 1] = NULL;
        seine_err e = sn_host_list_new(list, &l, &diag);
        CHECK_EQ(e, n == SN_HOST_LIST_GLOBS ? SEINE_OK : SEINE_E_CONFIG);
        if (e == SEINE_OK)
            CHECK(sn_host_list_has(l, SN_STR("a999x.example"), 80));
        sn_host_list_free(l);
    }
}

/* A second implementation: the name ends with the one in the list, at a label. */
static bool
ends_with(const char *name, const char *of)
{
    size_t n = strlen(name), m = strlen(of);

    return n >= m && strcmp(name + n - m, of) == 0 && (n == m || name[n - m - 1] == '.');
}

static void
random_name(sn_rng *r, char out[32])
{
    size_t n = 0;
    uint64_t labels = 1 + sn_rng_below(r, 4);

    for (uint64_t i = 0; i < labels; i++) {
        out[n++] = (char)('a' + sn_rng_below(r, 2));
        if (sn_rng_below(r, 2))
            out[n++] = 'a';
        out[n++] = '.';
    }
    out[n - 1] = '\0';
}

TEST(host_list_agrees_with_a_look_at_every_name)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int round = 0; round < 200; round++) {
        char names[5][32], asked[32];
        const char *texts[6] = {0};

        for (int i = 0; i < 5; i++) {
            random_name(&r, names[i]);
            texts[i] = names[i];
        }
        sn_host_list *l = list_of(texts);
        for (int i = 0; i < 50; i++) {
            bool want = false;

            random_name(&r, asked);
            for (int k = 0; k < 5; k++)
                want |= ends_with(asked, names[k]);
            CHECK_EQ(sn_host_list_has(l, sn_str_of(asked), 80), want);
        }
        sn_host_list_free(l);
    }
}

TEST(host_list_without_memory_is_not_made)
{
    const char *texts[] = {"a.example", "b.example:81", "c*.example", NULL};

    FAIL_EACH(n)
    {
        sn_host_list *l = NULL;
        seine_err e = sn_host_list_new(texts, &l, NULL);

        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        CHECK_EQ(l != NULL, e == SEINE_OK);
        if (e == SEINE_OK)
            CHECK(sn_host_list_has(l, SN_STR("c1.example"), 1));
        sn_host_list_free(l);
    }
}
