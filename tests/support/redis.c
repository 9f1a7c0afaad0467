/* SPDX-License-Identifier: Apache-2.0 */
#include "redis.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { MOST_EXTRA = 16, TRIES = 3000 };

struct test_redis {
    char folder[64], path[80], url[96];
    const char *extra[MOST_EXTRA + 1];
    pid_t pid; /* 0: dead */
};

static void
pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* Does the server answer PING, though it may ask for a password first? */
static bool
answers(const test_redis *r)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct timeval patience = {5, 0};
    char reply[9] = "";
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(to.sun_path, r->path, strlen(r->path) + 1);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    bool ok = connect(fd, (struct sockaddr *)&to, sizeof to) == 0 &&
              send(fd, "PING\r\n", 6, MSG_NOSIGNAL) == 6 &&
              recv(fd, reply, sizeof reply - 1, 0) > 0 &&
              (strncmp(reply, "+PONG", 5) == 0 || strncmp(reply, "-NOAUTH", 7) == 0);
    close(fd);
    return ok;
}

static void
run_server(const test_redis *r, pid_t parent)
{
    const char *words[40] = {
        "redis-server", "--port",    "0",  "--unixsocket", r->path, "--dir",
        r->folder,      "--save",    "",   "--appendonly", "yes",   "--appendfsync",
        "no",           "--logfile", "log"};
    size_t n = 0;

    while (words[n])
        n++;
    for (size_t i = 0; r->extra[i]; i++)
        words[n++] = r->extra[i];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int null = open("/dev/null", O_RDWR);
    if (getppid() == parent && null >= 0) {
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        execvp("redis-server", (char **)(void *)words);
    }
    _exit(127);
}

bool
test_redis_again(test_redis *r)
{
    pid_t parent = getpid();

    unlink(r->path);
    r->pid = fork();
    if (r->pid == 0)
        run_server(r, parent);
    for (int i = 0; i < TRIES && r->pid > 0; i++) {
        if (answers(r))
            return true;
        if (waitpid(r->pid, NULL, WNOHANG) == r->pid)
            break;
        pause_ms(10);
    }
    check_fail(__FILE__, __LINE__, "redis-server does not start");
    r->pid = 0;
    return false;
}

test_redis *
test_redis_start(const char *const *extra)
{
    test_redis *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    snprintf(r->folder, sizeof r->folder, "/tmp/seine-redis-XXXXXX");
    if (!mkdtemp(r->folder)) {
        check_fail(__FILE__, __LINE__, "mkdtemp: %s", strerror(errno));
        free(r);
        return NULL;
    }
    snprintf(r->path, sizeof r->path, "%s/s", r->folder);
    snprintf(r->url, sizeof r->url, "unix://%s", r->path);
    for (size_t i = 0; extra && extra[i] && i < MOST_EXTRA; i++)
        r->extra[i] = extra[i];
    if (test_redis_again(r))
        return r;
    test_redis_free(r);
    return NULL;
}

const char *
test_redis_url(const test_redis *r)
{
    return r->url;
}

const char *
test_redis_path(const test_redis *r)
{
    return r->path;
}

void
test_redis_kill9(test_redis *r)
{
    if (r->pid > 0) {
        kill(r->pid, SIGKILL);
        waitpid(r->pid, NULL, 0);
    }
    r->pid = 0;
}

static int
remove_one(const char *path, const struct stat *s, int kind, struct FTW *where)
{
    (void)s;
    (void)kind;
    return where->level == 0 ? 0 : remove(path);
}

void
test_redis_forget(test_redis *r)
{
    nftw(r->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void
test_redis_free(test_redis *r)
{
    if (!r)
        return;
    test_redis_kill9(r);
    test_redis_forget(r);
    rmdir(r->folder);
    free(r);
}
