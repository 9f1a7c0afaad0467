/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_run/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 2000 }; /* what stays longer has found a browser */

static bool
has_display(void)
{
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

    return (x && x[0]) || (wayland && wayland[0]);
}

/* A session of its own, so that the keys that stop us leave the browser alone; the
 * signals that we wait for are not blocked in it. */
static bool
start(const char *link, pid_t *out_pid)
{
    char name[] = "xdg-open", *const argv[] = {name, (char *)link, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;

    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&files) != 0)
        return false;
    if (posix_spawnattr_init(&how) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return false;
    }
    bool fine =
        posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK) ==
            0 &&
        posix_spawnattr_setsigmask(&how, &none) == 0 &&
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0) == 0 &&
        posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawnp(out_pid, argv[0], &files, &how, argv, environ) == 0;
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return fine;
}

/* Has it ended in time, and badly? */
static bool
has_failed(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0), status = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};

    if (fd < 0)
        return false;
    while (poll(&p, 1, PATIENCE_MS) < 0 && errno == EINTR)
        continue;
    close(fd);
    return waitpid(pid, &status, WNOHANG) == pid &&
           !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

const char *
browser_open(const char *link)
{
    pid_t pid = 0;

    if (!has_display())
        return "there is no display";
    if (!start(link, &pid))
        return "there is no xdg-open";
    return has_failed(pid) ? "xdg-open found no browser" : NULL;
}
