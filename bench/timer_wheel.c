/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wheel - what it costs to take an item when it is due and to put it back.
 *
 * A fake clock jumps from moment to moment; every item taken is put back 0.2 to 2
 * seconds later. Records are 72 bytes, as hosts are, or 16, so that the memory
 * behind the items shows. The 4-ary heap does the same work beside it. Thread CPU
 * time, five runs, median and minimum. A table for people, JSON lines with -j.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/heap.h"
#include "base/timer_wheel.h"
#include "bench.h"

enum { RUNS = BENCH_RUNS(5), BAR = 60 };

typedef struct thin {
    seine_time at;
    uint32_t link;
} thin;

typedef struct host {
    seine_time next;
    uint32_t link;
    char rest[60];
} host;

static bool as_json;
static int missed;

/* 0.2 to 2 seconds, scattered; a table would cost more than what is measured. */
static seine_span
span_of(uint64_t n)
{
    n *= UINT64_C(0x9e3779b97f4a7c15);
    return SEINE_MS(200) + (seine_span)((n >> 32) * (uint64_t)SEINE_MS(1800) >> 32);
}

/* Nanoseconds per item taken and put back. */
static double
turn_wheel(const sn_timer_wheel_items *items, uint32_t ops)
{
    seine_time now = 0;
    uint32_t done = 0;
    sn_timer_wheel w;

    if (sn_timer_wheel_init(&w, items, now) != SEINE_OK)
        exit(1);
    for (uint32_t i = 0; i < items->max; i++)
        sn_timer_wheel_put(&w, i, span_of(i) + i);
    for (uint32_t warm = 2;;) { /* the first round takes what was put in order */
        double start = bench_cpu_ns();

        for (done = 0; done < ops;) {
            now = sn_timer_wheel_when(&w);
            for (uint32_t i; (i = sn_timer_wheel_take(&w, now)) != SN_NONE; done++)
                sn_timer_wheel_put(&w, i, now + span_of(i + done));
        }
        if (--warm == 0) {
            double took = (bench_cpu_ns() - start) / done;

            sn_timer_wheel_fini(&w);
            return took;
        }
    }
}

static double
turn_heap(uint32_t n, uint32_t ops)
{
    sn_heap h;

    sn_heap_init(&h, n);
    for (uint32_t i = 0; i < n; i++)
        if (sn_heap_put(&h, span_of(i) + i, i) != SEINE_OK)
            exit(1);
    for (uint32_t warm = 2;;) {
        double start = bench_cpu_ns();

        for (uint32_t i = 0; i < ops; i++) {
            sn_heap_entry e = sn_heap_take(&h);

            if (sn_heap_put(&h, e.at + span_of(e.item + i), e.item) != SEINE_OK)
                exit(1);
        }
        if (--warm == 0) {
            double took = (bench_cpu_ns() - start) / ops;

            sn_heap_fini(&h);
            return took;
        }
    }
}

/* The machine's part: to go from record to record in no order, each read telling
 * where the next one is. */
static double
miss(host *h, uint32_t n, uint32_t ops)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < n; i++)
        h[i].link = i;
    for (uint32_t i = n - 1; i > 0; i--) { /* one cycle through all of them */
        uint32_t j = (uint32_t)((uint64_t)span_of(i) * 2654435761u % i), link = h[i].link;

        h[i].link = h[j].link;
        h[j].link = link;
    }
    double start = bench_cpu_ns();
    for (uint32_t i = 0; i < ops; i++)
        at = h[at].link;
    double took = (bench_cpu_ns() - start) / ops;
    return at == n ? 0 : took;
}

static void
report(const char *what, uint32_t n, double runs[RUNS], double bar)
{
    qsort(runs, RUNS, sizeof *runs, bench_by_value);
    double value = runs[RUNS / 2];
    bool ok = bar == 0 || value <= bar;

    missed += !ok;
    if (as_json && bar > 0)
        printf(
            "{\"name\":\"%s/%u\",\"value\":%.1f,\"best\":%.1f,\"unit\":\"ns\",\"bar\":%g,"
            "\"ratio\":%.2f,\"ok\":%s}\n",
            what, n, value, runs[0], bar, value / bar, ok ? "true" : "false");
    else if (as_json)
        printf("{\"name\":\"%s/%u\",\"value\":%.1f,\"best\":%.1f,\"unit\":\"ns\"}\n",
               what, n, value, runs[0]);
    else
        printf("%-16s %8u %9.1f %9.1f  ns  %s\n", what, n, value, runs[0],
               bar == 0 ? ""
               : ok     ? "<= 60 met"
                        : "<= 60 MISSED");
}

int
main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    static const uint32_t sizes[] = {1000, 100000, 1000000};

    as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint32_t n = sizes[s], ops = BENCH_ROUNDS(n < 500000 ? 1000000u : 4000000u);
        double runs[RUNS];
        host *h = sn_pages(n * sizeof *h);
        thin *t = sn_pages(n * sizeof *t);

        if (!h || !t)
            return 1;
        for (int run = 0; run < RUNS; run++)
            runs[run] = turn_wheel(&SN_TIMER_WHEEL_ITEMS(h, link, next, n), ops);
        report("wheel, 72 B", n, runs, BAR);
        for (int run = 0; run < RUNS; run++)
            runs[run] = turn_wheel(&SN_TIMER_WHEEL_ITEMS(t, link, at, n), ops);
        report("wheel, 16 B", n, runs, 0);
        for (int run = 0; run < RUNS; run++)
            runs[run] = turn_heap(n, ops);
        report("heap", n, runs, 0);
        for (int run = 0; run < RUNS; run++)
            runs[run] = miss(h, n, ops);
        report("one miss", n, runs, 0);
        sn_pages_free(h, n * sizeof *h);
        sn_pages_free(t, n * sizeof *t);
    }
    return missed > 0;
}
