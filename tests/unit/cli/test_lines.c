/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/lines.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

/* A reader of a pipe that holds `text`. More may be written into *out_end. */
static lines
lines_of_pipe(const char *text, int *out_end)
{
    lines in = {.name = "a pipe"};
    int ends[2];

    CHECK_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    CHECK_EQ(write(ends[1], text, strlen(text)), strlen(text));
    in.fd = ends[0];
    *out_end = ends[1];
    return in;
}

TEST(lines_that_are_in_a_pipe_already_are_not_waited_for)
{
    int end;
    lines in = lines_of_pipe("a\n", &end);

    CHECK_EQ(lines_next(&in), LINES_ONE);
    CHECK_EQ(write(end, "b\n", 2), 2);
    CHECK_EQ(lines_next(&in), LINES_ONE);
    CHECK_STR(in.text, "b");
    CHECK_EQ(in.waits, 0);
    close(end);
    CHECK_EQ(lines_next(&in), LINES_END);
    CHECK_EQ(in.waits, 0);
    lines_close(&in);
}

/* The pipe does not block, so that the reader fails where it would have waited. */
TEST(lines_count_a_wait_when_the_pipe_is_empty)
{
    int end;
    lines in = lines_of_pipe("a\n", &end);

    CHECK_EQ(lines_next(&in), LINES_ONE);
    CHECK_EQ(lines_next(&in), LINES_FAILED);
    CHECK_EQ(in.waits, 1);
    close(end);
    lines_close(&in);
}

TEST(lines_of_a_file_are_never_waited_for)
{
    char name[] = "/tmp/test_lines.XXXXXX";
    int fd = mkstemp(name), count = 0;
    FILE *f = fdopen(fd, "w");
    lines in;

    for (int i = 0; i < 100000; i++)
        fprintf(f, "%d\n", i);
    fclose(f);
    CHECK_EQ(lines_open(&in, name), 0);
    while (lines_next(&in) == LINES_ONE)
        count++;
    CHECK_EQ(count, 100000);
    CHECK_EQ(in.waits, 0);
    lines_close(&in);
    unlink(name);
}
