/* SPDX-License-Identifier: Apache-2.0 */
#include "console/traceparent.h"

#include <string.h>

#include "check.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN  "00f067aa0ba902b7"

TEST(traceparent_has_a_trace_and_a_parent)
{
    uint8_t trace[16] = {0}, parent[8] = {0};

    CHECK(sn_traceparent_read(SN_STR("00-" TRACE "-" SPAN "-01"), trace, parent));
    CHECK_EQ(trace[0], 0x4b);
    CHECK_EQ(trace[15], 0x36);
    CHECK_EQ(parent[0], 0x00);
    CHECK_EQ(parent[7], 0xb7);
}

TEST(traceparent_of_a_later_version_may_be_longer)
{
    uint8_t trace[16], parent[8];

    CHECK(sn_traceparent_read(SN_STR("cc-" TRACE "-" SPAN "-01"), trace, parent));
    CHECK(sn_traceparent_read(SN_STR("cc-" TRACE "-" SPAN "-01-x"), trace, parent));
    CHECK(!sn_traceparent_read(SN_STR("cc-" TRACE "-" SPAN "-01x"), trace, parent));
}

TEST(traceparent_that_does_not_count_leaves_its_outputs_alone)
{
    static const struct {
        const char *text;
    } rows[] = {{""},
                {"00"},
                {"00-" TRACE "-" SPAN "-0"},
                {"00-" TRACE "-" SPAN "-01-x"},
                {"ff-" TRACE "-" SPAN "-01"},
                {"00-" TRACE "-" SPAN "-0g"},
                {"00-00000000000000000000000000000000-" SPAN "-01"},
                {"00-" TRACE "-0000000000000000-01"},
                {"00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01"},
                {"00_" TRACE "-" SPAN "-01"},
                {"00-" TRACE "_" SPAN "-01"},
                {"00-" TRACE "-" SPAN "_01"}};

    EACH_ROW(i, rows) {
        uint8_t trace[16] = {7}, parent[8] = {7};

        CHECK(!sn_traceparent_read(sn_str_of(rows[i].text), trace, parent));
        CHECK_EQ(trace[0], 7);
        CHECK_EQ(parent[0], 7);
    }
}
