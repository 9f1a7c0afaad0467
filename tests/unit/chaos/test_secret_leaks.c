/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/secret_leaks.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"

static snc_secret_leaks leaks;

static void
look(const char *origin, const char *where, const char *text)
{
    snc_secret_leaks_search(&leaks, sn_str_of(origin), SN_STR("/p"), where,
                            sn_str_of(text));
}

TEST(a_secret_at_home_is_none_that_leaked)
{
    CHECK_EQ(
        snc_secret_leaks_register(&leaks, SN_STR("hunter2"), SN_STR("http://a.test:81")),
        SEINE_OK);
    look("http://A.test:81", "url", "/?hunter2");
    look("http://b.test:81", "url", "/?hunter");
    CHECK_EQ(leaks.found_count, 0);
    look("http://b.test:81", "url", "/?hunter2=");
    look("http://a.test", "body", "hunter2"); /* another port is another origin */
    CHECK_EQ(leaks.found_count, 2);
    snc_secret_leaks_reset(&leaks);
    look("http://b.test:81", "url", "/?hunter2");
    CHECK_EQ(leaks.found_count, 0);
}

TEST(a_secret_is_known_in_base64_as_a_whole_and_as_the_start_of_more)
{
    CHECK_EQ(snc_secret_leaks_register(&leaks, SN_STR("user:pass"), SN_STR("http://a")),
             SEINE_OK);
    look("http://b", "header authorization", "Basic dXNlcjpwYXNz"); /* user:pass */
    look("http://b", "header authorization",
         "Basic dXNlcjpwYXNzd29yZA=="); /* user:password */
    CHECK_EQ(leaks.found_count, 2);
    snc_secret_leaks_reset(&leaks);
}

/* user:hunter22, ab:hunter22, a:hunter22: the secret begins at another bit each time. */
TEST(a_secret_is_known_inside_of_base64_wherever_it_begins)
{
    static const char *const texts[] = {
        "Basic dXNlcjpodW50ZXIyMg==", "Basic YWI6aHVudGVyMjI=", "Basic YTpodW50ZXIyMg==",
        "eA.aHVudGVyMjI.eA",         /* alone */
        "dXNlcjpodW50ZXIyMnh4eHg="}; /* and something behind it */

    CHECK_EQ(snc_secret_leaks_register(&leaks, SN_STR("hunter22"), SN_STR("http://a")),
             SEINE_OK);
    EACH_ROW(i, texts) {
        look("http://b", "header x", texts[i]);
        CHECK_EQ(leaks.found_count, i + 1);
    }
    look("http://b", "header x", "dXNlcjpodW50ZXIzMg=="); /* user:hunter32 */
    CHECK_EQ(leaks.found_count, 5);
    snc_secret_leaks_reset(&leaks);
    CHECK_EQ(snc_secret_leaks_register(&leaks, SN_STR("\xfb\xff\xfe\xfb\xff\xfe"),
                                       SN_STR("x")),
             SEINE_OK);
    look("http://b", "url", "-__--__-"); /* the alphabet of URLs */
    look("http://b", "url", "+//++//+");
    CHECK_EQ(leaks.found_count, 2);
    snc_secret_leaks_reset(&leaks);
}

TEST(a_secret_may_be_at_home_at_several_origins)
{
    CHECK_EQ(snc_secret_leaks_register(&leaks, SN_STR("abc"), SN_STR("http://a")),
             SEINE_OK);
    CHECK_EQ(snc_secret_leaks_register(&leaks, SN_STR("abc"), SN_STR("https://b:443")),
             SEINE_OK);
    look("http://a:80", "url", "abc");
    look("https://b", "url", "abc");
    CHECK_EQ(leaks.found_count, 0);
    look("http://b", "url", "abc"); /* another scheme */
    look("http://a:443", "url", "abc");
    CHECK_EQ(leaks.found_count, 2); /* once each */
    snc_secret_leaks_reset(&leaks);
}

TEST(the_report_is_sorted_json)
{
    sn_buf out;

    sn_buf_init(&out, 4096);
    CHECK_EQ(snc_secret_leaks_register(&leaks, SN_STR("secret"), SN_STR("http://a")),
             SEINE_OK);
    look("http://c", "url", "secret");
    look("http://b", "url", "secret");
    look("http://b", "body", "secret");
    snc_secret_leaks_report(&leaks, &out);
    CHECK_STR(out.ptr, "[{\"origin\":\"http://b\",\"where\":\"body\",\"path\":\"/p\"},"
                       "{\"origin\":\"http://b\",\"where\":\"url\",\"path\":\"/p\"},"
                       "{\"origin\":\"http://c\",\"where\":\"url\",\"path\":\"/p\"}]");
    snc_secret_leaks_reset(&leaks);
    sn_buf_fini(&out);
}

TEST(secrets_and_leaks_have_their_numbers)
{
    static char longer[SNC_SECRET_LEAKS_LONGEST + 1];
    sn_str too_long = {longer, sizeof longer};

    CHECK_EQ(snc_secret_leaks_register(&leaks, SN_STR(""), SN_STR("http://a")),
             SEINE_E_INVAL);
    CHECK_EQ(snc_secret_leaks_register(&leaks, too_long, SN_STR("http://a")),
             SEINE_E_INVAL);
    CHECK_EQ(snc_secret_leaks_register(&leaks, SN_STR("abc"), too_long), SEINE_E_INVAL);
    for (int i = 0; i < SNC_SECRET_LEAKS_SECRETS; i++) {
        char value[16];

        snprintf(value, sizeof value, "secret-%02d", i);
        CHECK_EQ(snc_secret_leaks_register(&leaks, sn_str_of(value), SN_STR("http://a")),
                 SEINE_OK);
    }
    CHECK_EQ(snc_secret_leaks_register(&leaks, SN_STR("x"), SN_STR("http://a")),
             SEINE_E_FULL);
    for (int i = 0; i < SNC_SECRET_LEAKS_FOUND + 7; i++)
        look("http://b", "url", "secret-00");
    CHECK_EQ(leaks.found_count, SNC_SECRET_LEAKS_FOUND);
    CHECK_EQ(leaks.dropped, 7);
    snc_secret_leaks_reset(&leaks);
}

TEST(without_memory_nothing_is_registered_and_what_is_found_is_counted)
{
    FAIL_EACH(r)
    {
        seine_err e =
            snc_secret_leaks_register(&leaks, SN_STR("abc"), SN_STR("http://a"));

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        look("http://b", "url", "abc");
        CHECK_EQ(leaks.found_count + leaks.dropped, e == SEINE_OK ? 1 : 0);
        snc_secret_leaks_reset(&leaks);
    }
}
