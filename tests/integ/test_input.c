/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs through real pipes: read as they come, ended by another thread, in bounded
 * memory. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <seine/input.h>

#include "check.h"
#include "failing.h"

/* A pipe to read from, and the end to write to. */
static seine_input *
open_pipe(int *out_fd)
{
    char path[64];
    seine_diag diag = SEINE_DIAG;
    seine_input *in = NULL;
    int ends[2];

    CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    CHECK_EQ(seine_input_open(
                 &(seine_input_opts){.size = sizeof(seine_input_opts), .path = path}, &in,
                 &diag),
             SEINE_OK);
    close(ends[0]);
    *out_fd = ends[1];
    return in;
}

static void
say(int fd, const char *text)
{
    CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void
expect(seine_input *in, const char *url, uint64_t line)
{
    seine_ask ask;

    CHECK_EQ(seine_input_next(in, &ask), SEINE_OK);
    CHECK_EQ(ask.url.len, strlen(url));
    CHECK(memcmp(ask.url.ptr, url, ask.url.len) == 0);
    CHECK_EQ(ask.line, line);
}

/* A line is there as soon as its newline is; four bytes tell what kind of file it is. */
TEST(input_line_is_read_before_the_end_is_there)
{
    seine_ask ask;
    int fd;
    seine_input *in = open_pipe(&fd);

    say(fd, "http://a/\nhttp");
    expect(in, "http://a/", 1);
    say(fd, "://b/\n");
    expect(in, "http://b/", 2);
    say(fd, "c");
    close(fd);
    expect(in, "c", 3);
    CHECK_EQ(seine_input_next(in, &ask), SEINE_E_CLOSED);
    seine_input_free(in);
}

static void *
stop_later(void *arg)
{
    struct timespec pause = {0, 20000000};

    nanosleep(&pause, NULL);
    seine_input_stop(arg);
    return NULL;
}

TEST(input_stop_ends_a_read_that_blocks)
{
    seine_ask ask;
    pthread_t thread;
    int fd;

    for (int i = 0; i < 2; i++) { /* before the first byte, and in the middle of a line */
        seine_input *in = open_pipe(&fd);

        if (i == 1)
            say(fd, "begun and not");
        pthread_create(&thread, NULL, stop_later, in);
        CHECK_EQ(seine_input_next(in, &ask), SEINE_E_CLOSED);
        CHECK_EQ(seine_input_next(in, &ask), SEINE_E_CLOSED);
        pthread_join(thread, NULL);
        seine_input_free(in);
        close(fd);
    }
}

/* Whatever pieces the bytes come in, the asks are the same. */
TEST(input_is_the_same_in_any_pieces)
{
    static const char text[] = "\xef\xbb\xbf# c\r\nhttp://a/ \n\n\nb\r\nlast";

    for (size_t piece = 1; piece < sizeof text; piece++) {
        int fd, status;
        seine_ask ask;
        seine_input *in = open_pipe(&fd);
        pid_t child = fork();

        if (child == 0) {
            for (size_t i = 0; i < sizeof text - 1; i += piece) {
                size_t n = sizeof text - 1 - i < piece ? sizeof text - 1 - i : piece;

                if (write(fd, text + i, n) != (ssize_t)n)
                    _exit(1);
                sched_yield();
            }
            _exit(0);
        }
        close(fd);
        expect(in, "http://a/", 2);
        expect(in, "b", 5);
        expect(in, "last", 6);
        CHECK_EQ(seine_input_next(in, &ask), SEINE_E_CLOSED);
        seine_input_free(in);
        CHECK_EQ(waitpid(child, &status, 0), child);
    }
}

/* A line of 64 MiB costs as much memory as one of one. */
TEST(input_memory_is_bounded_whatever_comes)
{
    int fd, status;
    seine_ask ask;

    count_begin();
    seine_input *in = open_pipe(&fd);
    pid_t child = fork();
    if (child == 0) {
        static char block[1 << 20];

        memset(block, 'x', sizeof block);
        for (int i = 0; i < 64; i++)
            if (write(fd, block, sizeof block) != (ssize_t)sizeof block)
                _exit(1);
        _exit(write(fd, "\nnext\n", 6) != 6);
    }
    close(fd);
    CHECK_EQ(seine_input_next(in, &ask), SEINE_OK);
    CHECK(ask.is_bad);
    CHECK(count_bytes() < (3 << 20) / 2);
    expect(in, "next", 2);
    CHECK_EQ(seine_input_next(in, &ask), SEINE_E_CLOSED);
    CHECK(count_bytes() < (3 << 20) / 2);
    seine_input_free(in);
    CHECK_EQ(count_out(), 0);
    count_end();
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}
