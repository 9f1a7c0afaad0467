/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"

int
lines_open(lines *in, const char *path)
{
    bool stream = !path || strcmp(path, "-") == 0;
    struct stat about;

    *in = (lines){.name = stream ? "standard input" : path, .fd = STDIN_FILENO};
    if (!stream)
        in->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0)
        return say_fail(SAY_USAGE, "another name, or - for standard input",
                        "cannot read '%s': %s", show(path).text, show_errno(errno).text);
    if (!stream && fstat(in->fd, &about) == 0 && S_ISDIR(about.st_mode)) {
        close(in->fd);
        return say_fail(SAY_USAGE, "a file in it", "cannot read '%s': is a directory",
                        show(path).text);
    }
    return SAY_DONE;
}

void
lines_close(lines *in)
{
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    free(in->buf);
    in->buf = NULL;
}

/* Bytes that wait in a pipe came before this moment, like those of a file. */
static bool
must_wait(int fd)
{
    struct pollfd in = {.fd = fd, .events = POLLIN};

    return poll(&in, 1, 0) == 0;
}

/* Reads more bytes behind those in the buffer. False: reading fails. */
static bool
refill(lines *in)
{
    if (in->start > 0) {
        memmove(in->buf, in->buf + in->start, in->end - in->start);
        in->end -= in->start;
        in->start = 0;
    }
    if (in->end + 1 >= in->cap) {
        in->cap = in->cap ? 2 * in->cap : 64 << 10;
        in->buf = xalloc_resize(in->buf, in->cap, 1);
    }
    out_flush();
    in->waits += must_wait(in->fd);

    ssize_t n;
    do
        n = read(in->fd, in->buf + in->end, in->cap - in->end - 1);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return false;
    in->end += (size_t)n;
    in->at_end = n == 0;
    return true;
}

/* Hands out the first `n` bytes, the last of which may be the line feed. */
static lines_got
hand_out(lines *in, size_t n, bool dropped)
{
    in->text = in->buf + in->start;
    in->len = n;
    in->start += n;
    in->number++;
    if (dropped)
        return LINES_TOO_LONG;
    if (n > 0 && in->text[n - 1] == '\n')
        in->len--;
    if (in->len > 0 && in->text[in->len - 1] == '\r')
        in->len--;
    in->text[in->len] = '\0';
    return LINES_ONE;
}

lines_got
lines_next(lines *in)
{
    bool dropped = false;
    size_t looked = 0;

    for (;;) {
        size_t have = in->end - in->start;
        char *feed = have > looked
                         ? memchr(in->buf + in->start + looked, '\n', have - looked)
                         : NULL;

        if (feed)
            return hand_out(in, (size_t)(feed - in->buf) + 1 - in->start, dropped);
        if (in->at_end && have == 0 && !dropped)
            return LINES_END;
        if (in->at_end)
            return hand_out(in, have, dropped);
        looked = have;
        if (have > LINES_LONGEST) {
            in->start = in->end;
            looked = 0;
            dropped = true;
        }
        if (!refill(in)) {
            say_fail(SAY_MACHINE, NULL, "cannot read %s: %s", in->name,
                     show_errno(errno).text);
            return LINES_FAILED;
        }
    }
}
