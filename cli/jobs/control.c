/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seine/clock.h>

#include "jobs/control_answer.h"
#include "jobs/control_path.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"

enum { CLIENTS = 16, LINE = 64 << 10, PATIENCE_MS = 5000 };

typedef struct client {
    int fd;
    seine_time deadline;
    char *in; /* LINE bytes */
    size_t in_len;
    char *out;
    size_t out_len, sent;
    bool is_last; /* it is dropped when the answer was sent */
} client;

struct control {
    control_hooks hooks;
    int dir, listener, wake;
    bool is_deaf; /* there was no descriptor for a client: those who knock wait for a
                     while */
    pthread_t thread;
    client clients[CLIENTS];
    size_t count;
};

static seine_time
now_is(void)
{
    seine_clock *c = seine_clock_system();

    return c->now(c);
}

static void
drop_client(control *c, client *x)
{
    close(x->fd);
    free(x->in);
    free(x->out);
    *x = c->clients[--c->count];
}

static void
set_answer(client *x, seine_json *give)
{
    seine_text text = {NULL, 0};

    if (seine_json_print(give, &text) != SEINE_OK) {
        x->is_last = true;
        x->out = xalloc_copy("{\"error\":\"no memory\"}\n", 22);
        x->out_len = 22;
    } else {
        x->out = xalloc_zeroed(text.len + 1, 1);
        memcpy(x->out, text.bytes, text.len);
        x->out[text.len] = '\n';
        x->out_len = text.len + 1;
    }
    seine_text_free(&text);
    seine_json_free(give);
    x->sent = 0;
    x->deadline = now_is() + SEINE_MS(PATIENCE_MS);
}

/* Answers the first line of what has come, if there is a whole one. */
static void
answer_line(control *c, client *x)
{
    char *end = memchr(x->in, '\n', x->in_len);

    if (!end && x->in_len == LINE) {
        x->is_last = true;
        set_answer(x, control_error("a line has at most 65536 bytes"));
        return;
    }
    if (!end)
        return;
    size_t n = (size_t)(end - x->in);
    set_answer(x, control_answer(&c->hooks, x->in, n));
    x->in_len -= n + 1;
    memmove(x->in, end + 1, x->in_len);
}

/* False: the client has gone. */
static bool
receive_line(control *c, client *x)
{
    ssize_t n = recv(x->fd, x->in + x->in_len, LINE - x->in_len, MSG_DONTWAIT);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0)
        return false;
    x->in_len += (size_t)n;
    answer_line(c, x);
    return true;
}

static bool
send_answer(control *c, client *x)
{
    ssize_t n =
        send(x->fd, x->out + x->sent, x->out_len - x->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    x->sent += (size_t)n;
    if (x->sent < x->out_len)
        return true;
    free(x->out);
    x->out = NULL;
    if (x->is_last)
        return false;
    answer_line(c, x); /* it may have sent more than one */
    return true;
}

/* Nobody but the owner of the job, and root. */
static bool
is_owner(int fd)
{
    struct ucred who;
    socklen_t len = sizeof who;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 &&
           (who.uid == geteuid() || who.uid == 0);
}

static void
accept_client(control *c)
{
    int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    c->is_deaf = fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
    if (fd < 0)
        return;
    if (c->count == CLIENTS || !is_owner(fd)) {
        close(fd);
        return;
    }
    c->clients[c->count++] = (client){.fd = fd,
                                      .deadline = now_is() + SEINE_MS(PATIENCE_MS),
                                      .in = xalloc_zeroed(LINE, 1)};
}

/* From the last to the first, because a dropped client is replaced by the last. */
static void
serve_clients(control *c, const struct pollfd *polled, size_t n)
{
    seine_time now = now_is();

    for (size_t i = n; i-- > 0;) {
        client *x = &c->clients[i];
        bool stays = now < x->deadline;

        if (stays && polled[i].revents)
            stays = x->out ? send_answer(c, x) : receive_line(c, x);
        if (!stays)
            drop_client(c, x);
    }
}

/* The run ends: who has told it to stop still hears that it does. */
static void
send_last(control *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->clients[i].out)
            (void)send_answer(c, &c->clients[i]);
}

static void *
serve(void *arg)
{
    control *c = arg;

    pthread_setname_np(pthread_self(), "sn-control");
    for (;;) {
        struct pollfd polled[CLIENTS + 2];
        size_t n = c->count;

        for (size_t i = 0; i < n; i++)
            polled[i] = (struct pollfd){.fd = c->clients[i].fd,
                                        .events = c->clients[i].out ? POLLOUT : POLLIN};
        polled[n] =
            (struct pollfd){.fd = c->is_deaf ? -1 : c->listener, .events = POLLIN};
        polled[n + 1] = (struct pollfd){.fd = c->wake, .events = POLLIN};
        if (poll(polled, n + 2, n || c->is_deaf ? 250 : -1) < 0 && errno != EINTR)
            return NULL;
        c->is_deaf = false;
        if (polled[n + 1].revents) {
            send_last(c);
            return NULL;
        }
        serve_clients(c, polled, n);
        if (polled[n].revents)
            accept_client(c);
    }
}

/* Opening */

static bool
listen_in(control *c, const char *dir)
{
    struct sockaddr_un address;

    c->dir = control_path(dir, &address);
    c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (c->dir < 0 || c->listener < 0)
        return false;
    (void)unlinkat(c->dir, CONTROL_NAME, 0); /* of a process that was killed */
    /* The mode of the socket is that of the file it becomes. */
    return fchmod(c->listener, 0600) == 0 &&
           bind(c->listener, (struct sockaddr *)&address, sizeof address) == 0 &&
           listen(c->listener, CLIENTS) == 0;
}

static void
close_all(control *c)
{
    while (c->count > 0)
        drop_client(c, &c->clients[c->count - 1]);
    if (c->dir >= 0) {
        (void)unlinkat(c->dir, CONTROL_NAME, 0);
        close(c->dir);
    }
    if (c->listener >= 0)
        close(c->listener);
    if (c->wake >= 0)
        close(c->wake);
    free(c);
}

control *
control_open(const char *dir, const control_hooks *hooks)
{
    control *c = xalloc_zeroed(1, sizeof *c);

    c->hooks = *hooks;
    c->listener = -1;
    c->wake = eventfd(0, EFD_CLOEXEC);
    if (listen_in(c, dir) && c->wake >= 0 &&
        (errno = pthread_create(&c->thread, NULL, serve, c)) == 0)
        return c;
    int why = errno;
    close_all(c);
    errno = why;
    return NULL;
}

void
control_close(control *c)
{
    uint64_t one = 1;

    if (!c)
        return;
    if (write(c->wake, &one, sizeof one) == (ssize_t)sizeof one)
        pthread_join(c->thread, NULL);
    close_all(c);
}
