/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <seine/clock.h>

static seine_time
now_is(void)
{
    seine_clock *c = seine_clock_system();

    return c->now(c);
}

/* Runs between fork and exec, where nothing may take a lock. */
static void
become_command(const char *command, int out)
{
    sigset_t none;
    int null = open("/dev/null", O_RDWR);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
        dup2(out, STDOUT_FILENO) < 0)
        _exit(127);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

/* Milliseconds until `until`, at most `most`. */
static int
time_left(seine_time until, int most)
{
    seine_span span = until - now_is();

    return span <= 0                   ? 0
           : span / SEINE_MS(1) < most ? (int)(span / SEINE_MS(1)) + 1
                                       : most;
}

/* Reads until the other side closes. False: the time is over. */
static bool
drain_pipes(int fd, seine_time until, uint64_t *bytes)
{
    static char piece[65536];
    struct pollfd wait = {.fd = fd, .events = POLLIN};

    for (;;) {
        int ready = poll(&wait, 1, time_left(until, 1000));
        ssize_t n = ready > 0 ? read(fd, piece, sizeof piece) : -1;

        if (n > 0)
            *bytes += (uint64_t)n;
        else if (n == 0)
            return true;
        if (now_is() >= until)
            return false;
    }
}

static void
note_memory(const struct rusage *used, child_end *end)
{
    uint64_t rss = (uint64_t)used->ru_maxrss * 1024;

    end->rss = rss > end->rss ? rss : end->rss;
}

/* Waits for the shell and for the processes that it leaves behind. As their reaper, this
 * process learns of the memory that a child of a killed shell took. */
static void
reap_child(pid_t pid, seine_time until, child_end *end)
{
    struct rusage used;
    int status = 0;
    pid_t got;

    while ((got = wait4(pid, &status, WNOHANG, &used)) == 0 && now_is() < until)
        poll(NULL, 0, 2);
    end->late = got == 0;
    kill(-pid, SIGKILL);
    while (got == 0 || (got < 0 && errno == EINTR))
        got = wait4(pid, &status, 0, &used);
    if (got == pid) {
        note_memory(&used, end);
        end->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    while (wait4(-pid, &status, 0, &used) > 0)
        note_memory(&used, end);
}

bool
child_run(const char *command, seine_span limit, child_end *out_end)
{
    seine_time from = now_is(), until = from + limit;
    int ends[2];

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0)
        become_command(command, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    setpgid(pid, pid); /* parent and child both do this, whichever runs first */
    *out_end = (child_end){.code = -1};
    drain_pipes(ends[0], until, &out_end->bytes);
    reap_child(pid, until, out_end);
    out_end->took = now_is() - from;
    close(ends[0]);
    return true;
}
