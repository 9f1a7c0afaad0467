/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/run_metrics.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <seine/clock.h>
#include <seine/plumbing.h>
#include <seine/version.h>

#include "screen/say.h"
#include "screen/xalloc.h"

#define EVERY SEINE_SECS(10)

static seine_time
now_is(void)
{
    seine_clock *c = seine_clock_system();

    return c->now(c);
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

/* Updates the metrics of the process, on the thread that asks for them. */
static void
refresh_process(void *arg)
{
    run_metrics *o = arg;
    struct rlimit limit = {0, 0};
    uint64_t cpu = cpu_time();

    getrlimit(RLIMIT_NOFILE, &limit);
    pthread_mutex_lock(&o->lock);
    seine_gauge_set(o->memory, 0, resident_bytes());
    seine_gauge_set(o->open_files, 0, open_files());
    seine_gauge_set(o->most_files, 0, (int64_t)limit.rlim_cur);
    if (cpu > o->cpu_told)
        seine_counter_add(o->cpu, 0, cpu - o->cpu_told);
    o->cpu_told = cpu > o->cpu_told ? cpu : o->cpu_told;
    pthread_mutex_unlock(&o->lock);
}

static bool
is_alive(void *arg)
{
    run_metrics *o = arg;

    return now_is() - atomic_load(&o->ticked) < SEINE_SECS(5);
}

static bool
is_ready(void *arg)
{
    run_metrics *o = arg;

    return is_alive(arg) && atomic_load(&o->ready);
}

static bool
register_process(run_metrics *o)
{
    static const char *const compilers[] = {SEINE_COMPILER};
    const char *const versions[] = {seine_version()};
    static const char *const commits[] = {SEINE_COMMIT};
    seine_label labels[] = {
        {"version", versions, 1}, {"revision", commits, 1}, {"compiler", compilers, 1}};
    seine_gauge *build = NULL;
    seine_clock *c = seine_clock_system();
    seine_metrics *m = o->metrics;

    if (seine_metrics_gauge(m, "seine_build_info",
                            "Always 1; the labels say which seine.", labels, 3,
                            &build) != SEINE_OK ||
        seine_metrics_counter(m, "process_cpu_seconds_total", "Processor time used.",
                              NULL, 0, &o->cpu) != SEINE_OK ||
        seine_metrics_gauge(m, "process_resident_memory_bytes", "Memory in use.", NULL, 0,
                            &o->memory) != SEINE_OK ||
        seine_metrics_gauge(m, "process_open_fds", "Open file descriptors.", NULL, 0,
                            &o->open_files) != SEINE_OK ||
        seine_metrics_gauge(m, "process_max_fds", "File descriptors there may be.", NULL,
                            0, &o->most_files) != SEINE_OK ||
        seine_metrics_gauge(m, "process_start_time_seconds", "Start, in Unix time.", NULL,
                            0, &o->started) != SEINE_OK)
        return false;
    seine_gauge_set(build, 0, 1);
    seine_gauge_set(o->started, 0, c->wall(c));
    return true;
}

bool
run_metrics_write(run_metrics *o)
{
    seine_text text = {NULL, 0};

    if (!o->file || !o->metrics)
        return true;
    refresh_process(o);
    if (seine_metrics_text(o->metrics, SEINE_METRICS_PROMETHEUS, &text) != SEINE_OK) {
        errno = ENOMEM;
        return false;
    }
    bool fine = seine_file_replace(o->file, text.bytes, text.len);
    seine_text_free(&text);
    return fine;
}

int
run_metrics_open(run_metrics *o, const args *a)
{
    const fetch_settings *set = a->settings;
    metrics_http_opts opts = {
        .refresh = refresh_process, .is_alive = is_alive, .is_ready = is_ready, .arg = o};
    int code = SAY_DONE;

    *o = (run_metrics){.file = set->metrics_file, .next_write = SEINE_NEVER};
    if (!set->metrics && !set->metrics_file)
        return SAY_DONE;
    pthread_mutex_init(&o->lock, NULL);
    atomic_store(&o->ticked, now_is());
    if (seine_metrics_new(&o->metrics) != SEINE_OK || !register_process(o))
        code = say_fail(SAY_MACHINE, NULL, "out of memory");
    if (code == SAY_DONE && o->file && !run_metrics_write(o))
        code =
            say_fail(SAY_USAGE, "another name", "--metrics-file: cannot write '%s': %s",
                     show(o->file).text, show_errno(errno).text);
    o->next_write = o->file ? now_is() + EVERY : SEINE_NEVER;
    opts.metrics = o->metrics;
    if (code == SAY_DONE && set->metrics)
        code = metrics_http_new(set->metrics, &opts, &o->http);
    if (code != SAY_DONE)
        run_metrics_close(o);
    return code;
}

void
run_metrics_close(run_metrics *o)
{
    metrics_http_free(o->http);
    seine_metrics_free(o->metrics);
    o->http = NULL;
    o->metrics = NULL;
}

void
run_metrics_tick(run_metrics *o, seine_time now)
{
    atomic_store(&o->ticked, now);
    if (now < o->next_write)
        return;
    run_metrics_write(o);
    o->next_write = now + EVERY;
}

void
run_metrics_set_ready(run_metrics *o, bool ready)
{
    atomic_store(&o->ready, ready);
}

seine_time
run_metrics_when(const run_metrics *o)
{
    return o->next_write;
}
