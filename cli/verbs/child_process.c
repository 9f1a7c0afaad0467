/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <seine/clock.h>

enum { OUT, ERR, END, WATCHED }; /* its two streams, and its end */
enum { PIECE = 16384, PIPE_HOLDS = 65536 };

typedef struct child {
    const child_spec *spec;
    child_end *end;
    pid_t pid;
    seine_time until;
    struct pollfd watch[WATCHED];
} child;

/* Runs between fork and exec, where nothing may take a lock. */
static void
become_command(const child_spec *spec, int out, int err)
{
    sigset_t none;
    int null = open("/dev/null", O_RDWR);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(err, STDERR_FILENO) < 0)
        _exit(127);
    if (spec->shell)
        execl("/bin/sh", "sh", "-c", spec->shell, (char *)NULL);
    else
        execvp(spec->argv[0], spec->argv);
    _exit(127);
}

/* Milliseconds until `until`, at most `most`. */
static int
time_left(seine_time until, int most)
{
    seine_span span = until - seine_now();

    return span <= 0                   ? 0
           : span / SEINE_MS(1) < most ? (int)(span / SEINE_MS(1)) + 1
                                       : most;
}

/* Hands out what a stream holds; at its end it is watched no longer. */
static void
read_stream(child *c, int which)
{
    char piece[PIECE];
    ssize_t n = read(c->watch[which].fd, piece, sizeof piece);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        close(c->watch[which].fd);
        c->watch[which].fd = -1;
        return;
    }
    if (which == OUT)
        c->end->bytes += (uint64_t)n;
    if (c->spec->on_bytes)
        c->spec->on_bytes(which == ERR, piece, (size_t)n, c->spec->arg);
}

/* The command has ended: its group ends with it, and what its pipes hold is read. They
 * hold no more than this, so that somebody who left the group cannot keep us here. */
static void
read_rest(child *c)
{
    kill(-c->pid, SIGKILL);
    for (int which = OUT; which <= ERR; which++)
        for (int left = PIPE_HOLDS / PIECE + 1; left > 0 && c->watch[which].fd >= 0;
             left--)
            read_stream(c, which);
}

/* Reads both streams until the command ends. False: the time is over. */
static bool
attend(child *c)
{
    for (;;) {
        int ready = poll(c->watch, WATCHED, time_left(c->until, 1000));

        if (ready > 0 && c->watch[END].revents) {
            read_rest(c);
            return true;
        }
        for (int i = OUT; ready > 0 && i <= ERR; i++)
            if (c->watch[i].fd >= 0 && c->watch[i].revents)
                read_stream(c, i);
        if (seine_now() >= c->until)
            return false;
    }
}

static void
note_memory(const struct rusage *used, child_end *end)
{
    uint64_t rss = (uint64_t)used->ru_maxrss * 1024;

    end->rss = rss > end->rss ? rss : end->rss;
}

/* Ends the group and waits for the processes that the command leaves behind. As their
 * reaper, this process learns of the memory that a child of a killed shell took. */
static void
reap(child *c)
{
    struct rusage used;
    int status = 0;
    pid_t got;

    kill(-c->pid, SIGKILL);
    do
        got = wait4(c->pid, &status, 0, &used);
    while (got < 0 && errno == EINTR);
    if (got == c->pid) {
        note_memory(&used, c->end);
        c->end->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        c->end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    while (wait4(-c->pid, &status, 0, &used) > 0)
        note_memory(&used, c->end);
}

/* Starts the command; its streams and its end are watched. */
static bool
start(child *c, int out[2], int err[2])
{
    c->pid = fork();
    if (c->pid == 0)
        become_command(c->spec, out[1], err[1]);
    close(out[1]);
    close(err[1]);
    c->watch[OUT] = (struct pollfd){.fd = out[0], .events = POLLIN};
    c->watch[ERR] = (struct pollfd){.fd = err[0], .events = POLLIN};
    c->watch[END] = (struct pollfd){.fd = -1, .events = POLLIN};
    if (c->pid < 0)
        return false;
    setpgid(c->pid, c->pid); /* parent and child both do this, whichever runs first */
    c->watch[END].fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    if (c->watch[END].fd < 0) {
        reap(c);
        return false;
    }
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    return true;
}

static bool
open_pipes(int out[2], int err[2])
{
    if (pipe2(out, O_CLOEXEC) != 0)
        return false;
    if (pipe2(err, O_CLOEXEC) == 0)
        return true;
    close(out[0]);
    close(out[1]);
    return false;
}

bool
child_run(const child_spec *spec, child_end *out_end)
{
    seine_time from = seine_now();
    child c = {.spec = spec, .end = out_end, .until = SEINE_NEVER};
    int out[2], err[2];

    if (spec->limit < SEINE_NEVER - from)
        c.until = from + spec->limit;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    *out_end = (child_end){.code = -1};
    if (!open_pipes(out, err))
        return false;
    bool started = start(&c, out, err);
    if (started) {
        if (spec->group)
            atomic_store(spec->group, (int)c.pid);
        out_end->late = !attend(&c);
        reap(&c);
        if (spec->group)
            atomic_store(spec->group, 0);
    }
    out_end->took = seine_now() - from;
    for (int i = 0; i < WATCHED; i++)
        if (c.watch[i].fd >= 0)
            close(c.watch[i].fd);
    return started;
}
