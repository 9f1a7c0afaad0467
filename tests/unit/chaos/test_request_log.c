/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/request_log.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

TEST(lines_come_back_in_order_and_whole)
{
    snc_request_log d = {0};
    sn_buf out;
    uint64_t at = 0;

    sn_buf_init(&out, 4096);
    snc_request_log_read(&d, &at, &out, 10);
    CHECK_EQ(out.len, 0);
    snc_request_log_add(&d, SN_STR("one\n"));
    snc_request_log_add(&d, SN_STR("two\n"));
    snc_request_log_add(&d, SN_STR("three\n"));
    snc_request_log_read(&d, &at, &out, 5); /* enough after two */
    CHECK_STR(out.ptr, "one\ntwo\n");
    snc_request_log_read(&d, &at, &out, 100);
    CHECK_STR(out.ptr, "one\ntwo\nthree\n");
    snc_request_log_reset(&d);
    snc_request_log_add(&d, SN_STR("four\n"));
    at = 0;
    sn_buf_reset(&out);
    snc_request_log_read(&d, &at, &out, 100);
    CHECK_STR(out.ptr, "four\n");
    sn_buf_fini(&out);
    snc_request_log_fini(&d);
}

TEST(the_oldest_lines_make_room_and_are_counted)
{
    enum { LINE = 4093 }; /* does not divide the ring */
    static char line[LINE];
    snc_request_log d = {0};
    sn_buf out;
    uint64_t at = 0, lines = SNC_REQUEST_LOG_BYTES / LINE, added = 3 * lines + 5,
             n = added - lines;

    sn_buf_init(&out, 2 * SNC_REQUEST_LOG_BYTES);
    memset(line, 'x', sizeof line);
    line[LINE - 1] = '\n';
    for (uint64_t i = 0; i < added; i++) {
        char number[16];

        memcpy(line, number,
               (size_t)snprintf(number, sizeof number, "%010u", (unsigned)i));
        snc_request_log_add(&d, (sn_str){line, LINE});
    }
    CHECK_EQ(d.dropped, added - lines);
    snc_request_log_read(&d, &at, &out, SIZE_MAX);
    CHECK_EQ(out.len, lines * LINE);
    for (size_t k = 0; k < out.len; k += LINE, n++) {
        char number[16];

        snprintf(number, sizeof number, "%010u", (unsigned)n);
        CHECK(memcmp(out.ptr + k, number, 10) == 0 && out.ptr[k + LINE - 1] == '\n');
    }
    sn_buf_fini(&out);
    snc_request_log_fini(&d);
}

TEST(a_line_that_is_too_long_is_not_kept)
{
    static char line[SNC_REQUEST_LOG_LINE + 1];
    snc_request_log d = {0};

    memset(line, '\n', sizeof line);
    snc_request_log_add(&d, (sn_str){line, sizeof line});
    CHECK_EQ(d.dropped, 1);
    CHECK_EQ(d.end, 0);
    snc_request_log_fini(&d);
}
