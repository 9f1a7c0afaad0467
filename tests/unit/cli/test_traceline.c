/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/traceline.h"

#include <string.h>

#include "check.h"

static bool
read_line(traceline *r, const trace_opts *opts, const char *text)
{
    *r = (traceline){
        .opts = opts, .line = text, .p = text, .len = strlen(text), .event = {.n = 1}};
    return traceline_read(r);
}

TEST(traceline_reads_times_in_five_forms)
{
    static const trace_opts opts = {.kind = TRACE_TOKENS};
    static const struct {
        const char *text;
        seine_time at; /* since 1970 if dated */
        bool dated;
        uint32_t n;
    } rows[] = {
        {"12.345", SEINE_MS(12345), false, 1},
        {"12.345 3", SEINE_MS(12345), false, 3},
        {"1m30s", SEINE_SECS(90), false, 1},
        {"1763234401", SEINE_SECS(INT64_C(1763234401)), true, 1}, /* above ten years */
        {"2026-11-15T19:20:01.5Z", SEINE_MS(INT64_C(1794770401500)), true, 1},
        {"{\"t\":12.345,\"n\":2}", SEINE_MS(12345), false, 2},
    };

    EACH_ROW(i, rows) {
        traceline r;

        CHECK(read_line(&r, &opts, rows[i].text));
        CHECK_EQ(r.dated, rows[i].dated);
        CHECK_EQ(r.dated ? r.date.wall : r.event.at, rows[i].at);
        CHECK_EQ(r.event.n, rows[i].n);
    }
}

TEST(traceline_of_an_access_log_has_time_status_and_client)
{
    trace_opts opts = {.kind = TRACE_OUTCOMES, .key_word = 1};
    traceline r;

    CHECK(read_line(&r, &opts,
                    "192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] \"GET /\\\"x HTTP/1.1\" "
                    "503 12"));
    CHECK(r.dated);
    CHECK_EQ(r.date.wall, SEINE_SECS(INT64_C(971211336)));
    CHECK_EQ(r.date.zone, -420);
    CHECK_EQ(r.event.how, SEINE_FAILURE);
    CHECK_STR(r.key, "192.0.2.7");
}

TEST(traceline_for_a_breaker_says_how_the_call_ended)
{
    static const trace_opts opts = {.kind = TRACE_OUTCOMES};
    traceline r;

    CHECK(read_line(&r, &opts, "12.345 ok 80ms"));
    CHECK_EQ(r.event.how, SEINE_SUCCESS);
    CHECK_EQ(r.event.took, SEINE_MS(80));
    CHECK(read_line(&r, &opts, "12.345 503"));
    CHECK_EQ(r.event.how, SEINE_FAILURE);
    CHECK(!read_line(&r, &opts, "12.345 perhaps"));
    CHECK(r.why[0] != '\0');
}

TEST(traceline_says_where_a_line_is_wrong)
{
    static const trace_opts opts = {.kind = TRACE_TOKENS};
    traceline r;

    CHECK(!read_line(&r, &opts, "soon"));
    CHECK_EQ(r.p - r.line, 0);
    CHECK(!read_line(&r, &opts, "12.345 many"));
    CHECK_EQ(r.p - r.line, 7);
    CHECK(!read_line(&r, &opts, "{\"t\":"));
}
