/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/process_metrics.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "seine/clock.h"

struct seine_process_metrics {
    pthread_mutex_t lock; /* of what was told */
    seine_log *log;
    seine_counter *cpu, *records, *dropped;
    seine_gauge *memory, *open_files, *most_files, *waiting;
    uint64_t cpu_told;
    seine_log_stats log_told;
};

static seine_err
register_build(seine_metrics *m, const seine_build *b)
{
    const seine_label labels[] = {{"version", &b->version, 1},
                                  {"revision", &b->revision, 1},
                                  {"compiler", &b->compiler, 1}};
    seine_gauge *build = NULL;
    seine_err e =
        seine_metrics_gauge(m, "seine_build_info",
                            "Always 1; the labels say which seine.", labels, 3, &build);

    if (e == SEINE_OK)
        seine_gauge_set(build, 0, 1);
    return e;
}

static seine_err
register_process(seine_metrics *m, seine_process_metrics *p)
{
    seine_clock *c = seine_clock_system();
    seine_gauge *started = NULL;
    seine_err e = seine_metrics_counter(m, "process_cpu_seconds_total",
                                        "Processor time used.", NULL, 0, &p->cpu);

    if (e == SEINE_OK)
        e = seine_metrics_gauge(m, "process_resident_memory_bytes", "Memory in use.",
                                NULL, 0, &p->memory);
    if (e == SEINE_OK)
        e = seine_metrics_gauge(m, "process_open_fds", "Open file descriptors.", NULL, 0,
                                &p->open_files);
    if (e == SEINE_OK)
        e = seine_metrics_gauge(m, "process_max_fds", "File descriptors there may be.",
                                NULL, 0, &p->most_files);
    if (e == SEINE_OK)
        e = seine_metrics_gauge(m, "process_start_time_seconds", "Start, in Unix time.",
                                NULL, 0, &started);
    if (e == SEINE_OK)
        seine_gauge_set(started, 0, c->wall(c));
    return e;
}

static seine_err
register_log(seine_metrics *m, seine_process_metrics *p)
{
    static const char *const levels[] = {"trace", "debug", "info", "warn", "error"},
                             *const queues[] = {"log"};
    const seine_label level = {"level", levels, SEINE_LOG_OFF},
                      queue = {"queue", queues, 1};
    seine_gauge *room = NULL;
    uint32_t lines = 0;
    seine_err e = seine_metrics_counter(m, "seine_log_records_total",
                                        "Messages of the log, those dropped included.",
                                        &level, 1, &p->records);

    if (e == SEINE_OK)
        e = seine_metrics_counter(m, "seine_queue_rejected_total",
                                  "What a full queue did not take.", &queue, 1,
                                  &p->dropped);
    if (e == SEINE_OK)
        e = seine_metrics_gauge(m, "seine_queue_depth", "What waits in a queue.", &queue,
                                1, &p->waiting);
    if (e == SEINE_OK)
        e = seine_metrics_gauge(m, "seine_queue_capacity", "What a queue has room for.",
                                &queue, 1, &room);
    (void)sn_log_waiting(p->log, &lines);
    if (e == SEINE_OK)
        seine_gauge_set(room, 0, lines);
    return e;
}

seine_err
seine_process_metrics_new(seine_metrics *metrics, const seine_build *build,
                          seine_log *log, seine_process_metrics **out_metrics)
{
    if (!metrics || !build || !out_metrics)
        return SEINE_E_INVAL;
    seine_process_metrics *p = sn_zalloc(sizeof *p);
    if (!p)
        return SEINE_E_NOMEM;
    p->log = log;
    seine_err e = register_build(metrics, build);
    if (e == SEINE_OK)
        e = register_process(metrics, p);
    if (e == SEINE_OK && log)
        e = register_log(metrics, p);
    if (e != SEINE_OK) {
        sn_free(p);
        return e;
    }
    pthread_mutex_init(&p->lock, NULL);
    *out_metrics = p;
    return SEINE_OK;
}

void
seine_process_metrics_free(seine_process_metrics *p)
{
    if (!p)
        return;
    pthread_mutex_destroy(&p->lock);
    sn_free(p);
}

static int64_t
resident_bytes(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    char line[128] = "";
    int64_t pages = 0;

    if (!f)
        return 0;
    if (fgets(line, sizeof line, f)) {
        char *second = strchr(line, ' ');

        pages = second ? strtoll(second, NULL, 10) : 0;
    }
    fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

static int64_t
open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    int64_t n = -3; /* ".", ".." and the directory itself */

    if (!d)
        return 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static uint64_t
cpu_time(void)
{
    struct rusage use;

    if (getrusage(RUSAGE_SELF, &use) != 0)
        return 0;
    return (uint64_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000000 +
           (uint64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1000;
}

/* Under the lock. */
static void
tell_log(seine_process_metrics *p, const seine_log_stats *now)
{
    for (unsigned i = 0; i < SEINE_LOG_OFF; i++)
        seine_counter_add(p->records, i, now->records[i] - p->log_told.records[i]);
    seine_counter_add(p->dropped, 0, now->dropped - p->log_told.dropped);
    p->log_told = *now;
}

void
seine_process_metrics_refresh(seine_process_metrics *p)
{
    struct rlimit limit = {0, 0};
    seine_log_stats log = {.dropped = 0};
    uint64_t cpu = cpu_time();
    uint32_t room;

    if (!p)
        return;
    getrlimit(RLIMIT_NOFILE, &limit);
    seine_gauge_set(p->memory, 0, resident_bytes());
    seine_gauge_set(p->open_files, 0, open_files());
    seine_gauge_set(p->most_files, 0, (int64_t)limit.rlim_cur);
    if (p->log)
        seine_log_stats_get(p->log, &log);
    if (p->log)
        seine_gauge_set(p->waiting, 0, sn_log_waiting(p->log, &room));
    pthread_mutex_lock(&p->lock);
    if (cpu > p->cpu_told)
        seine_counter_add(p->cpu, 0, cpu - p->cpu_told);
    p->cpu_told = cpu > p->cpu_told ? cpu : p->cpu_told;
    if (p->log && log.records[SEINE_LOG_ERROR] >= p->log_told.records[SEINE_LOG_ERROR])
        tell_log(p, &log);
    pthread_mutex_unlock(&p->lock);
}
