/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

static check_test *tests, **tail = &tests;
static atomic_int failures;
static int row;             /* of the table being walked; -1 outside of one */
static uint64_t seed;       /* of the random test that runs; 0 none */
static int before;          /* failures when it began */
static const char *skipped; /* why the test that runs was skipped; NULL it was not */

int check_at_once = 1;

void
check_add(check_test *t)
{
    *tail = t;
    tail = &t->next;
}

bool
check_row(size_t n)
{
    row = (int)n;
    return true;
}

uint64_t
check_seed(void)
{
    const char *given = getenv("CHECK_SEED");

    if (given)
        seed = strtoull(given, NULL, 10);
    else if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        seed = 1;
    seed |= !seed;
    return seed;
}

void
check_skip(const char *why)
{
    skipped = why;
}

const char *
check_vectors(void)
{
    const char *home = getenv("SEINE_VECTORS");

    if (!home)
        check_skip("SEINE_VECTORS, the folder of conformance vectors, is not set");
    return home;
}

char *
check_vector(const char *name, size_t *out_len)
{
    const size_t room = (size_t)4 << 20;
    const char *home = check_vectors();
    char path[4096];

    *out_len = 0;
    if (!home)
        return NULL;
    snprintf(path, sizeof path, "%s/%s", home, name);
    FILE *f = fopen(path, "rb");
    char *bytes = f ? malloc(room) : NULL;
    CHECK(bytes != NULL);
    if (bytes)
        *out_len = fread(bytes, 1, room, f);
    CHECK(*out_len < room); /* there is no more */
    if (f)
        fclose(f);
    return bytes;
}

void
check_fail(const char *file, int line, const char *fmt, ...)
{
    char text[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);

    if (failures++ - before >= 10) /* a loop gone wrong; the first lines tell */
        return;
    if (row >= 0)
        printf("  %s:%d: row %d: %s\n", file, line, row, text);
    else
        printf("  %s:%d: %s\n", file, line, text);
    if (getenv("CHECK_FIRST")) {
        fflush(stdout);
        _exit(1);
    }
}

void
check_eq(const char *file, int line, const char *what, long long got, long long want)
{
    if (got != want)
        check_fail(file, line, "%s: got %lld, want %lld", what, got, want);
}

void
check_str(const char *file, int line, const char *what, const char *got, const char *want)
{
    if (!got || !want ? got != want : strcmp(got, want) != 0)
        check_fail(file, line, "%s: got \"%s\", want \"%s\"", what, got ? got : "(null)",
                   want ? want : "(null)");
}

typedef enum outcome { PASSED, FAILED, SKIPPED } outcome;

static outcome
run_test(const check_test *t)
{
    before = failures;
    seed = 0;
    skipped = NULL;
    for (int i = 0; i < t->times && failures == before && !skipped; i++) {
        row = -1;
        t->run();
    }
    if (failures > before && seed)
        printf("  repeat it with CHECK_SEED=%" PRIu64 "\n", seed);
    return failures > before ? FAILED : skipped ? SKIPPED : PASSED;
}

/* Runs the test and prints how it ended. */
static outcome
tell_test(const check_test *t)
{
    static const char *const words[] = {"ok", "not ok", "skipped"};
    outcome o = run_test(t);

    printf("%s %s%s%s\n", words[o], t->name, o == SKIPPED ? ": " : "",
           o == SKIPPED ? skipped : "");
    return o;
}

/* A test in a process of its own. */
typedef struct job {
    const check_test *test;
    FILE *said;
    pid_t pid;
    bool is_over;
    int status;
} job;

static void
start_job(job *j)
{
    j->said = tmpfile();
    fflush(stdout);
    j->pid = j->said ? fork() : -1;
    if (j->pid == 0) {
        dup2(fileno(j->said), STDOUT_FILENO);
        exit((int)tell_test(j->test));
    }
    if (j->pid < 0) {
        perror("check");
        exit(2);
    }
}

/* Prints what the test said. A sanitizer's report, a signal and an exit are failures. */
static outcome
tell_job(job *j)
{
    char text[4096];
    size_t n;

    rewind(j->said);
    while ((n = fread(text, 1, sizeof text, j->said)) > 0)
        fwrite(text, 1, n, stdout);
    fclose(j->said);
    if (WIFEXITED(j->status) && WEXITSTATUS(j->status) <= SKIPPED)
        return (outcome)WEXITSTATUS(j->status);
    printf("  ended by %s %d\nnot ok %s\n", WIFSIGNALED(j->status) ? "signal" : "exit",
           WIFSIGNALED(j->status) ? WTERMSIG(j->status) : WEXITSTATUS(j->status),
           j->test->name);
    if (getenv("CHECK_FIRST"))
        exit(1);
    return FAILED;
}

static void
await_job(job *jobs, int n)
{
    int status;
    pid_t pid = wait(&status);

    for (int i = 0; i < n; i++)
        if (jobs[i].pid == pid) {
            jobs[i].is_over = true;
            jobs[i].status = status;
        }
}

static void
run_jobs(job *jobs, int n, int at_once, int counts[3])
{
    int started = 0, told = 0, running = 0;

    while (told < n) {
        while (started < n && running < at_once) {
            start_job(&jobs[started++]);
            running++;
        }
        await_job(jobs, started);
        running--;
        for (; told < started && jobs[told].is_over; told++)
            counts[tell_job(&jobs[told])]++;
    }
}

int
main(int argc, char **argv)
{
    const char *given = getenv("CHECK_AT_ONCE");
    int counts[3] = {0}, n = 0,
        at_once = given ? (int)strtol(given, NULL, 10) : check_at_once;
    static job jobs[4096];

    /* A crash must not swallow the lines that lead up to it. */
    setvbuf(stdout, NULL, _IOLBF, 0);

    for (check_test *t = tests; t; t = t->next) {
        if (argc > 1 && !strstr(t->name, argv[1]))
            continue;
        if (at_once <= 1)
            counts[tell_test(t)]++;
        else if (n < 4096)
            jobs[n++].test = t;
    }
    run_jobs(jobs, n, at_once, counts);
    printf("%d passed, %d failed, %d skipped\n", counts[PASSED], counts[FAILED],
           counts[SKIPPED]);
    return counts[FAILED] > 0 || counts[PASSED] + counts[SKIPPED] == 0;
}
