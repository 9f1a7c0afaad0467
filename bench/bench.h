/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - what the programs of `make bench` share: clocks, memory, and how they give
 * up. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "seine/err.h"

/* How often a figure is taken, and over how many rounds. Without optimisation it is no
 * figure, and a test only wants to see that it can be printed. */
#ifdef __OPTIMIZE__
#define BENCH_RUNS(n)   (n)
#define BENCH_ROUNDS(n) (n)
#else
#define BENCH_RUNS(n)   1
#define BENCH_ROUNDS(n) ((n) / 20)
#endif

/* Ends the program with `what` unless `ok`. */
static inline void
bench_must(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "bench: %s\n", what);
        exit(1);
    }
}

/* Ends the program with the text of the error, if it is one. */
static inline void
bench_ok(seine_err e)
{
    bench_must(e == SEINE_OK, seine_err_text(e));
}

/* CPU time of this thread. */
static inline double
bench_cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline double
bench_cpu_seconds(void)
{
    return bench_cpu_ns() * 1e-9;
}

/* Bytes of this process that are in memory. */
static inline double
bench_resident(void)
{
    char text[128];
    FILE *f = fopen("/proc/self/statm", "r");

    bench_must(f && fgets(text, sizeof text, f), "no /proc/self/statm");
    fclose(f);
    return strtod(strchr(text, ' '), NULL) * (double)sysconf(_SC_PAGESIZE);
}

/* Sorts doubles, for qsort. */
static inline int
bench_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

#endif
