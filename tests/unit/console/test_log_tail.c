/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/log_tail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

TEST(log_tail_keeps_the_newest_whole_lines)
{
    seine_log_tail *t = NULL;
    char line[64], *out = malloc(SEINE_LOG_TAIL_BYTES + 1);
    uint64_t lines = 0;

    CHECK_EQ(seine_log_tail_new(-1, &t), SEINE_OK);
    CHECK_EQ(seine_log_tail_copy(t, out, 100, &lines), 0);
    seine_log_tail_sink("one\n", 4, t);
    seine_log_tail_sink("two\n", 4, t);
    CHECK_EQ(seine_log_tail_copy(t, out, 100, &lines), 8);
    CHECK_STR(out, "one\ntwo\n");
    CHECK_EQ(lines, 2);
    CHECK_EQ(seine_log_tail_copy(t, out, 8, &lines), 4); /* no room for both */
    CHECK_STR(out, "two\n");
    for (int i = 0; i < 20000; i++) {
        int n = snprintf(line, sizeof line, "this is line number %d\n", i);

        seine_log_tail_sink(line, (size_t)n, t);
    }
    size_t n = seine_log_tail_copy(t, out, SEINE_LOG_TAIL_BYTES + 1, &lines);
    CHECK_EQ(lines, 20002);
    CHECK(n > SEINE_LOG_TAIL_BYTES - 64 && n <= SEINE_LOG_TAIL_BYTES);
    CHECK(strncmp(out, "this is line number ", 20) == 0);
    CHECK_STR(out + n - 26, "this is line number 19999\n");
    seine_log_tail_free(t);
    free(out);
}

TEST(log_tail_takes_nothing_for_nothing)
{
    char out[8];

    seine_log_tail_free(NULL);
    seine_log_tail_sink("x\n", 2, NULL);
    seine_log_tail_set_fd(NULL, 1);
    CHECK_EQ(seine_log_tail_copy(NULL, out, sizeof out, NULL), 0);
    CHECK_EQ(seine_log_tail_new(-1, NULL), SEINE_E_INVAL);
}
