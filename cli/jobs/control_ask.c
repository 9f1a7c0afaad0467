/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <seine/clock.h>

#include "jobs/control.h"
#include "jobs/control_path.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"

enum { WHY = 320, MOST = 16 << 20 };

static seine_time
now_is(void)
{
    seine_clock *c = seine_clock_system();

    return c->now(c);
}

/* A socket that is ours: connect would follow a link. */
static bool
is_own_socket(int dir)
{
    struct stat st;

    return fstatat(dir, CONTROL_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISSOCK(st.st_mode) && (st.st_uid == geteuid() || geteuid() == 0);
}

/* A socket whose queue is full takes one more a moment later. */
static bool
reach(int fd, const struct sockaddr_un *address, seine_time until)
{
    struct timespec a_little = {0, 10000000};

    while (connect(fd, (const struct sockaddr *)address, sizeof *address) != 0) {
        if (errno != EAGAIN || now_is() >= until)
            return false;
        nanosleep(&a_little, NULL);
    }
    return true;
}

static int
connect_to(const char *path, seine_time until)
{
    struct sockaddr_un address;
    int dir = control_path(path, &address), fd = -1;

    if (dir < 0)
        return -1;
    if (is_own_socket(dir))
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && !reach(fd, &address, until)) {
        close(fd);
        fd = -1;
    }
    close(dir);
    return fd;
}

/* False: the time is over. */
static bool
wait_for(int fd, short events, seine_time until)
{
    struct pollfd polled = {.fd = fd, .events = events};
    seine_span left = until - now_is();

    return left > 0 && poll(&polled, 1, (int)(left / SEINE_MS(1)) + 1) > 0;
}

static bool
send_all(int fd, const char *bytes, size_t n, seine_time until)
{
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        if (sent > 0) {
            bytes += sent;
            n -= (size_t)sent;
        } else if (!wait_for(fd, POLLOUT, until)) {
            return false;
        }
    }
    return true;
}

/* Reads up to the end of the line. */
static bool
read_line(int fd, textbuf *out, seine_time until)
{
    char piece[8192];

    while (out->len < MOST && !(out->len > 0 && out->text[out->len - 1] == '\n')) {
        ssize_t n = recv(fd, piece, sizeof piece, MSG_DONTWAIT);

        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return false;
        if (n > 0)
            textbuf_add(out, piece, (size_t)n);
        else if (!wait_for(fd, POLLIN, until))
            return false;
    }
    return out->len < MOST;
}

static control_end
read_answer(const textbuf *line, seine_json **out_answer, char why[WHY])
{
    seine_json *all = NULL;
    seine_json_fault fault;
    const char *error;
    size_t len;

    if (seine_json_parse(line->text, line->len, &all, &fault) != SEINE_OK) {
        snprintf(why, WHY, "the job gave no answer");
        return CONTROL_ERROR;
    }
    if (seine_json_string(seine_json_get(all, "error"), &error, &len)) {
        snprintf(why, WHY, "%s", error);
        seine_json_free(all);
        return CONTROL_ERROR;
    }
    *out_answer = xalloc_json(seine_json_new_copy(seine_json_get(all, "ok")));
    seine_json_free(all);
    return CONTROL_OK;
}

control_end
control_ask(const char *dir, const seine_json *line, int patience_ms,
            seine_json **out_answer, char why[WHY])
{
    seine_time until = now_is() + SEINE_MS(patience_ms);
    seine_text text = {NULL, 0};
    textbuf answer = {NULL, 0, 0};
    int fd = connect_to(dir, until);

    if (fd < 0)
        return CONTROL_NOBODY;
    bool fine = seine_json_print(line, &text) == SEINE_OK &&
                send_all(fd, text.bytes, text.len, until) &&
                send_all(fd, "\n", 1, until) && read_line(fd, &answer, until);
    control_end end = CONTROL_ERROR;
    if (fine)
        end = read_answer(&answer, out_answer, why);
    else
        snprintf(why, WHY, "the job gave no answer");
    seine_text_free(&text);
    textbuf_free(&answer);
    close(fd);
    return end;
}

seine_json *
control_line(const char *cmd)
{
    seine_json *line = xalloc_json(seine_json_new_object());

    jsonl_set(line, "cmd", jsonl_string(cmd));
    return line;
}
