/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics - what counting costs: an addition, an observation, a scrape.
 *
 * Thread CPU time, five runs, median and best. The bars are those of the console: 5 ns
 * for an addition, 15 ns for an observation, 5 ms for a scrape of 2,000 series. A table,
 * JSON lines with -j.
 */
#include "seine/metrics.h"
#include "bench.h"

enum { RUNS = BENCH_RUNS(5), MANY = BENCH_ROUNDS(20000000), SCRAPES = BENCH_ROUNDS(200) };

static bool as_json;
static int missed;

static void
report(const char *name, double *runs, const char *unit, double bar)
{
    qsort(runs, RUNS, sizeof *runs, bench_by_value);
    double median = runs[RUNS / 2];
    bool ok = median <= bar;

    missed += !ok;
    if (as_json)
        printf("{\"name\":\"%s\",\"value\":%.3f,\"best\":%.3f,\"unit\":\"%s\",\"bar\":%g,"
               "\"ok\":%s}\n",
               name, median, runs[0], unit, bar, ok ? "true" : "false");
    else
        printf("%-22s %8.3f %s  best %.3f  bar %g  %s\n", name, median, unit, runs[0],
               bar, ok ? "ok" : "MISSED");
}

static void
time_adding(seine_counter *c)
{
    double runs[RUNS];

    for (int r = 0; r < RUNS; r++) {
        double began = bench_cpu_ns();

        for (int i = 0; i < MANY; i++)
            seine_counter_add(c, 3, 1);
        runs[r] = (bench_cpu_ns() - began) / MANY;
    }
    report("counter_add", runs, "ns", 5);
}

static void
time_observing(seine_histogram *h)
{
    double runs[RUNS];

    for (int r = 0; r < RUNS; r++) {
        double began = bench_cpu_ns();

        for (int i = 0; i < MANY; i++)
            seine_histogram_observe(h, 0, SEINE_US(1) * (i & 0xffff));
        runs[r] = (bench_cpu_ns() - began) / MANY;
    }
    report("histogram_observe", runs, "ns", 15);
}

static void
time_scraping(const seine_metrics *m)
{
    double runs[RUNS];

    for (int r = 0; r < RUNS; r++) {
        double began = bench_cpu_ns();

        for (int i = 0; i < SCRAPES; i++) {
            seine_text text = {NULL, 0};

            bench_ok(seine_metrics_text(m, SEINE_METRICS_PROMETHEUS, &text));
            seine_text_free(&text);
        }
        runs[r] = (bench_cpu_ns() - began) / SCRAPES / 1e6;
    }
    report("scrape_2000_series", runs, "ms", 5);
}

int
main(int argc, char **argv)
{
    static const char *values[1900];
    static char texts[1900][8];
    seine_label many = {"which", values, 1900};
    seine_metrics *m;
    seine_counter *c;
    seine_histogram *h;

    as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    for (size_t i = 0; i < 1900; i++) {
        snprintf(texts[i], sizeof texts[i], "v%zu", i);
        values[i] = texts[i];
    }
    bench_ok(seine_metrics_new(&m));
    bench_ok(seine_metrics_counter(m, "bench_adds_total", "Adds.", &many, 1, &c));
    seine_label few = {"which", values, 5};
    bench_ok(
        seine_metrics_histogram(m, "bench_wait_seconds", "Waits.", &few, 1, NULL, &h));
    time_adding(c);
    time_observing(h);
    time_scraping(m);
    seine_metrics_free(m);
    return missed > 0;
}
