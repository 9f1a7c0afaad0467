/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/otlp.h"

#include <string.h>

#include "check.h"
#include "seine/metrics.h"

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
        {"http://127.0.0.1:9/", "=value", 10000, "headers"},
        {"http://127.0.0.1:9/", "a=1,b=x%0ay", 10000, "headers"}, /* two lines */
        {"http://127.0.0.1:9/", "a b=1", 10000, "headers"},       /* no name of a field */
        {"http://127.0.0.1:9/", "Content-Length=5", 10000,
         "headers"}, /* the exporter's */
        {"http://127.0.0.1:9/", "a=,b=,c=,d=,e=,f=,g=,h=,i=,j=,k=,l=,m=,n=", 10000,
         "headers"},
        {"http://127.0.0.1:9/", NULL, 1000001, "ratio_ppm"}, /* more than all */
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

TEST(otlp_takes_headers_of_which_each_can_be_sent)
{
    static const char *const rows[] = {
        "",
        "a=",
        "a=1,",
        ",,a=1",
        " authorization = Bearer%20x%3D ",
        "a=%zz%4",
        "a=,b=,c=,d=,e=,f=,g=,h=,i=,j=,k=,l=,m=" /* 13, and three of its own */};

    EACH_ROW(i, rows) {
        seine_otlp_opts opts = SEINE_OTLP_OPTS;
        seine_diag diag = {0};
        seine_otlp *o = NULL;

        opts.endpoint = "http://127.0.0.1:9/";
        opts.headers = rows[i];
        opts.ratio_ppm = 1000000;
        CHECK_EQ(seine_otlp_new(&opts, &o, &diag), SEINE_OK);
        seine_otlp_free(o);
    }
}

TEST(otlp_names_a_resource_that_is_no_list)
{
    seine_otlp_opts opts = SEINE_OTLP_OPTS;
    seine_diag diag = {0};
    seine_otlp *o = NULL;

    opts.endpoint = "http://127.0.0.1:9";
    opts.resource = "novalue";
    CHECK_EQ(seine_otlp_new(&opts, &o, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "resource");
    CHECK(!o);
}

/* The last seven bytes of a trace, as a share of all that they can be. */
TEST(otlp_keeps_the_traces_of_its_share)
{
    static const struct {
        uint32_t ratio;
        uint8_t begin, middle, last; /* byte 9, those behind it, and the last */
        bool want;
    } rows[] = {
        {0, 0, 0, 0, false},           {1000000, 255, 255, 255, true},
        {500000, 127, 255, 255, true}, {500000, 128, 0, 0, false},
        {250000, 63, 255, 255, true},  {250000, 64, 0, 0, false},
        {250000, 0, 0, 0, true},       {1, 0, 0, 255, true},
        {1, 1, 0, 0, false},
    };

    EACH_ROW(i, rows) {
        seine_otlp_opts opts = SEINE_OTLP_OPTS;
        uint8_t trace[16];
        seine_otlp *o;

        opts.endpoint = "http://127.0.0.1:9";
        opts.ratio_ppm = rows[i].ratio;
        opts.failed_rate = 3;
        CHECK_EQ(seine_otlp_new(&opts, &o, NULL), SEINE_OK);
        for (unsigned high = 0; high < 256; high += 255) { /* they play no part */
            memset(trace, (int)high, 9);
            trace[9] = rows[i].begin;
            memset(trace + 10, rows[i].middle, 5);
            trace[15] = rows[i].last;
            CHECK_EQ(sn_otlp_samples(o, trace), rows[i].want);
        }
        CHECK_EQ(sn_otlp_failed_rate(o), 3);
        CHECK(!sn_otlp_is_away(o));
        seine_otlp_free(o);
    }
}

TEST(otlp_tells_how_much_its_queue_holds)
{
    static const char *const want[] = {"seine_queue_capacity{queue=\"trace\"} 4096",
                                       "seine_queue_depth{queue=\"trace\"} 0"};
    seine_otlp_opts opts = SEINE_OTLP_OPTS;
    seine_text text = {NULL, 0};
    seine_otlp *o;

    CHECK_EQ(seine_metrics_new(&opts.metrics), SEINE_OK);
    opts.endpoint = "http://127.0.0.1:9";
    CHECK_EQ(seine_otlp_new(&opts, &o, NULL), SEINE_OK);
    CHECK_EQ(seine_metrics_text(opts.metrics, SEINE_METRICS_PROMETHEUS, &text), SEINE_OK);
    EACH_ROW(i, want)
        CHECK(text.bytes && strstr(text.bytes, want[i]));
    seine_text_free(&text);
    seine_otlp_free(o);
    seine_metrics_free(opts.metrics);
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
