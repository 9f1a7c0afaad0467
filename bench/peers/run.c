/* SPDX-License-Identifier: Apache-2.0 */
/* run REPORT SECONDS PROGRAM [ARGUMENT…]: runs a program and writes what it cost.
 *
 * A process inherits the peak memory of the one that starts it until it has more
 * itself, so a harness of 30 MB cannot see a client of 8 MB. This one has 1 MB. The
 * times and the memory are those of the program and of the children it waited for.
 * It gets as many files as the machine allows, and SECONDS, after which it is ended
 * together with its process group. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t child;
static volatile sig_atomic_t late;

static void
end(int signal)
{
    (void)signal;
    late = 1;
    if (child > 0)
        kill(-child, SIGKILL);
}

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double
seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int
main(int argc, char **argv)
{
    struct rlimit files;
    struct rusage used;
    int status;

    if (argc < 4) {
        fputs("use: run REPORT SECONDS PROGRAM [ARGUMENT...]\n", stderr);
        return 2;
    }
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    signal(SIGALRM, end);
    signal(SIGTERM, end);
    alarm((unsigned)strtoul(argv[2], NULL, 10));

    double start = now();
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execvp(argv[3], argv + 3);
        _exit(127);
    }
    if (pid < 0)
        return 1;
    setpgid(pid, pid);
    child = pid;
    if (late)
        kill(-pid, SIGKILL);
    while (wait4(pid, &status, 0, &used) < 0)
        ;
    double took = now() - start;

    FILE *f = fopen(argv[1], "w");
    if (f == NULL)
        return 1;
    fprintf(f,
            "{\"code\":%d,\"late\":%s,\"seconds\":%.6f,\"cpu\":%.6f,\"peak_kb\":%ld}\n",
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            late ? "true" : "false", took,
            seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss);
    return fclose(f) != 0;
}
