/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/otlp.h"

#include "check.h"

TEST(otlp_names_the_member_that_is_wrong)
{
    static const struct {
        const char *endpoint, *headers;
        uint32_t ratio;
        const char *want; /* the member that the diag names */
    } rows[] = {
        {NULL, NULL, 10000, "endpoint"},                      /* nobody to send to */
        {"collector:4318", NULL, 10000, "endpoint"},          /* no scheme of HTTP */
        {"ftp://127.0.0.1/", NULL, 10000, "endpoint"},        /* nor this one */
        {"http://127.0.0.1:9/", "novalue", 10000, "headers"}, /* no = */
    };

    EACH_ROW(i, rows) {
        seine_otlp_opts opts = SEINE_OTLP_OPTS;
        seine_diag diag = {0};
        seine_otlp *o = NULL;

        opts.endpoint = rows[i].endpoint;
        opts.headers = rows[i].headers;
        opts.ratio_ppm = rows[i].ratio;
        CHECK_EQ(seine_otlp_new(&opts, &o, &diag), SEINE_E_CONFIG);
        CHECK(!o);
        CHECK_STR(diag.member, rows[i].want);
    }
}

TEST(otlp_refuses_what_is_missing)
{
    seine_otlp_opts opts = SEINE_OTLP_OPTS;
    seine_otlp_stats stats;
    seine_otlp *o;

    CHECK_EQ(seine_otlp_new(NULL, &o, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_otlp_new(&opts, NULL, NULL), SEINE_E_INVAL);
    seine_otlp_stats_get(NULL, &stats);
    seine_otlp_free(NULL);
}

TEST(otlp_without_spans_sends_nothing)
{
    seine_otlp_opts opts = SEINE_OTLP_OPTS;
    seine_otlp_stats stats = {1, 1, 1, 1};
    seine_otlp *o;

    opts.endpoint = "http://127.0.0.1:9";
    CHECK_EQ(seine_otlp_new(&opts, &o, NULL), SEINE_OK);
    seine_otlp_stats_get(o, &stats);
    CHECK_EQ(stats.exported + stats.failed + stats.dropped + stats.requests, 0);
    seine_otlp_free(o);
}
