/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - the whole unit test framework.
 *
 *     TEST(limiter_refuses_when_empty)
 *     {
 *         CHECK(!seine_limiter_allow(&lim, T0, 1));
 *         CHECK_EQ(seine_limiter_when(&lim, T0, 1), T0 + SEINE_MS(100));
 *     }
 *
 * A test goes on after a failed check. The program prints a line per test and
 * closes with "N passed, N failed, N skipped"; its first argument selects tests
 * by part of their name. It fails when a test failed, and when none was found.
 *
 * A test that lacks what it needs calls check_skip and returns: it is counted as
 * skipped, with its reason, unless a check failed before. check_vectors returns
 * the folder with the recorded cases of other projects (SEINE_VECTORS), or NULL
 * after it has skipped the test; check_vector the bytes of one of its files, for free(),
 * or NULL after it has skipped or failed the test.
 *
 * TEST_THREADS is a test with threads in it: its body runs 50 times. A random
 * test draws its seed from check_seed, which prints it when a check fails and
 * takes it back from the environment: CHECK_SEED=123 unit-guard limiter.
 *
 * With CHECK_FIRST in the environment the program ends with the first check that fails.
 *
 * TESTS_AT_ONCE(8) in a file whose tests wait for clocks and sockets, and share nothing,
 * runs so many of them at a time, each in a process of its own; CHECK_AT_ONCE=1 in the
 * environment has the last word. Their lines keep their order.
 *
 * Threads: checks may fail on any thread; EACH_ROW belongs to the main one.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct check_test {
    const char *name;
    void (*run)(void);
    int times;
    struct check_test *next;
} check_test;

void check_add(check_test *t);
bool check_row(size_t row);
uint64_t check_seed(void);
void check_skip(const char *why);
const char *check_vectors(void);
char *check_vector(const char *name, size_t *out_len);
void check_fail(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void check_eq(const char *file, int line, const char *what, long long got,
              long long want);
void check_str(const char *file, int line, const char *what, const char *got,
               const char *want);

/* Nanoseconds that a test with a real clock may take over what would be at once on a
 * machine with nothing else to do. A fault that it rules out lasts longer. */
#define CHECK_PATIENCE 20000000000LL

/* Defines a test and registers it before main runs: no list to keep in step. */
#define TEST(id)         TEST_TIMES(id, 1)
#define TEST_THREADS(id) TEST_TIMES(id, 50)
#define TEST_TIMES(id, n)                                             \
    static void id(void);                                             \
    __attribute__((constructor)) static void id##_add(void)           \
    {                                                                 \
        static check_test t = {.name = #id, .run = id, .times = (n)}; \
        check_add(&t);                                                \
    }                                                                 \
    static void id(void)

extern int check_at_once;

#define TESTS_AT_ONCE(n)                                   \
    __attribute__((constructor)) static void at_once(void) \
    {                                                      \
        check_at_once = (n);                               \
    }

/* Walks a table of cases; a failed check then names the row. */
#define EACH_ROW(i, rows) \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows) && check_row(i); i++)

#define CHECK(c) ((c) ? (void)0 : check_fail(__FILE__, __LINE__, "%s", #c))
#define CHECK_EQ(got, want) \
    check_eq(__FILE__, __LINE__, #got, (long long)(got), (long long)(want))
#define CHECK_STR(got, want) check_str(__FILE__, __LINE__, #got, got, want)

#endif
