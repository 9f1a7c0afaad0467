/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/doctor_checks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <seine/calendar.h>
#include <seine/clock.h>
#include <seine/fetch.h>

#include "screen/record_table.h"
#include "screen/say.h"
#include "screen/xalloc.h"

enum { PATIENCE_S = 5 };
#define LITTLE_SPACE ((uint64_t)256 << 20)

static check_status __attribute__((format(printf, 3, 4)))
say_check(checked *c, check_status status, const char *fmt, ...)
{
    va_list list;

    va_start(list, fmt);
    vsnprintf(c->reason, sizeof c->reason, fmt, list);
    va_end(list);
    return status;
}

static check_status
check_files(const doctor_settings *set, size_t i, checked *c)
{
    enum { FEW = 64, WISH = 256 };
    struct rlimit limit;

    (void)set, (void)i;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return say_check(c, CHECK_UNKNOWN, "%s", show_errno(errno).text);
    unsigned long long most = limit.rlim_max;
    if (most < FEW)
        return say_check(c, CHECK_FAIL,
                         "at most %llu descriptors, %d are needed; try: ulimit -n 4096",
                         most, FEW);
    return say_check(c, CHECK_OK, "%llu descriptors%s", most,
                     most < WISH ? ", enough for a low --concurrency" : "");
}

/* Lists the name servers of this machine. */
static size_t
name_servers(char *out, size_t cap)
{
    FILE *f = fopen("/etc/resolv.conf", "re");
    char line[256];
    size_t n = 0, used = 0;

    out[0] = '\0';
    while (f && fgets(line, sizeof line, f)) {
        size_t word = strcspn(line, " \t");

        if (strncmp(line, "nameserver", word) != 0 || word != 10)
            continue;
        char *address = line + word + strspn(line + word, " \t");
        address[strcspn(address, " \t\r\n")] = '\0';
        if (used < cap)
            used += (size_t)snprintf(out + used, cap - used, "%s%s", n ? ", " : "",
                                     show(address).text);
        n++;
    }
    if (f)
        fclose(f);
    return n;
}

static check_status
check_dns(const doctor_settings *set, size_t i, checked *c)
{
    char servers[96];

    (void)set, (void)i;
    if (name_servers(servers, sizeof servers) == 0)
        return say_check(c, CHECK_UNKNOWN, "no name server in /etc/resolv.conf");
    return say_check(c, CHECK_OK, "name server %s (not asked)", servers);
}

static check_status
check_clock(const doctor_settings *set, size_t i, checked *c)
{
    seine_clock *clock = seine_clock_system();
    struct timex state = {.modes = 0};
    seine_time before = clock->now(clock);
    seine_date d = seine_calendar_date(clock->wall(clock) / SEINE_SECS(1));
    char date[80];

    (void)set, (void)i;
    snprintf(date, sizeof date, "%04d-%02d-%02d %02d:%02d:%02d UTC", d.year, d.month,
             d.day, d.hour, d.minute, d.second);
    if (d.year < 2024)
        return say_check(c, CHECK_FAIL, "it is not %s; try: set the clock", date);
    if (clock->now(clock) < before)
        return say_check(c, CHECK_FAIL, "the monotonic clock runs backwards");
    int how = adjtimex(&state);
    return say_check(c, CHECK_OK, "%s%s", date,
                     how == TIME_ERROR || how < 0 ? ", not known to be synchronised"
                                                  : ", synchronised");
}

static check_status
check_zones(const doctor_settings *set, size_t i, checked *c)
{
    const char *directory = getenv("TZDIR");
    char path[512];

    (void)set, (void)i;
    if (!directory || !directory[0])
        directory = "/usr/share/zoneinfo";
    snprintf(path, sizeof path, "%s/America/New_York", directory);
    if (access(path, R_OK) == 0)
        return say_check(c, CHECK_OK, "%s", show(directory).text);
    return say_check(c, CHECK_UNKNOWN, "no time zones in %s; try: apt install tzdata",
                     show(directory).text);
}

/* Finds the nearest existing directory: `path` itself or one above it. */
static void
existing_folder(const char *path, char *out, size_t cap)
{
    struct stat about;

    snprintf(out, cap, "%s", path);
    while (stat(out, &about) != 0 || !S_ISDIR(about.st_mode)) {
        char *slash = strrchr(out, '/');

        if (slash == out) {
            snprintf(out, cap, "/");
            return;
        }
        if (!slash) {
            snprintf(out, cap, ".");
            return;
        }
        *slash = '\0';
    }
}

/* Whether a file can be created in the directory, by creating and removing one. */
static bool
can_make(const char *directory)
{
    char path[1100];

    snprintf(path, sizeof path, "%s/.seine-doctor-%ld", directory, (long)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    close(fd);
    unlink(path);
    return true;
}

static check_status
check_place(const char *directory, const char *what, checked *c)
{
    struct statvfs space;

    if (!can_make(directory))
        return say_check(c, CHECK_FAIL, "%s: cannot write in %s: %s", what,
                         show(directory).text, show_errno(errno).text);
    if (statvfs(directory, &space) != 0)
        return say_check(c, CHECK_UNKNOWN, "%s: %s", what, show_errno(errno).text);
    uint64_t left = (uint64_t)space.f_bavail * space.f_frsize;
    if (left < LITTLE_SPACE)
        return say_check(c, CHECK_FAIL, "%s: only %s left in %s", what,
                         figure_bytes(left).text, show(directory).text);
    return say_check(c, CHECK_OK, "%s: can be written, %s left", what,
                     figure_bytes(left).text);
}

static check_status
check_state(const doctor_settings *set, size_t i, checked *c)
{
    char where[1024];
    struct stat about;

    (void)i;
    if (stat(set->state, &about) == 0 && !S_ISDIR(about.st_mode))
        return say_check(c, CHECK_FAIL, "%s is no directory", show(set->state).text);
    existing_folder(set->state, where, sizeof where);
    return check_place(where, show(set->state).text, c);
}

static check_status
check_output(const doctor_settings *set, size_t i, checked *c)
{
    const char *name = set->output.items[i];
    char where[1024];
    struct stat about;

    for (size_t k = 0; k < 2; k++) {
        const char *format = k ? "csv:" : "jsonl:";

        if (strncmp(name, format, strlen(format)) == 0)
            name += strlen(format);
    }
    if (strcmp(name, "-") == 0)
        return say_check(c, CHECK_OK, "standard output");
    if (stat(name, &about) == 0) {
        if (S_ISDIR(about.st_mode))
            return say_check(c, CHECK_FAIL, "%s is a directory", show(name).text);
        if (access(name, W_OK) != 0)
            return say_check(c, CHECK_FAIL, "%s: %s", show(name).text,
                             show_errno(errno).text);
        return say_check(c, CHECK_OK, "%s exists; --append or --overwrite",
                         show(name).text);
    }
    char *copy = xalloc_copy(name, strlen(name)), *slash = strrchr(copy, '/');
    snprintf(where, sizeof where, "%s", !slash ? "." : slash == copy ? "/" : copy);
    if (slash && slash != copy)
        where[slash - copy] = '\0';
    free(copy);
    return check_place(where, show(name).text, c);
}

static check_status
check_target(const doctor_settings *set, size_t i, checked *c)
{
    seine_fetch_opts opts = SEINE_FETCH_OPTS;
    seine_ctx *ctx = NULL;
    seine_fetched got;
    size_t n = strlen(set->target);
    char *url = xalloc_zeroed(n + 8, 1);
    const char *const urls[] = {url};

    (void)i;
    while (n > 0 && set->target[n - 1] == '/')
        n--;
    snprintf(url, strlen(set->target) + 8, "%.*s/readyz", (int)n, set->target);
    opts.threads = 1;
    opts.timeout = SEINE_SECS(4);
    opts.retry.max_attempts = 1;
    check_status status = CHECK_UNKNOWN;
    seine_err e = seine_ctx_root(seine_clock_system(), &ctx);
    if (e == SEINE_OK)
        e = seine_fetch_all(&opts, ctx, urls, 1, &got, NULL);
    if (e != SEINE_OK)
        status = say_check(c, CHECK_UNKNOWN, "%s", seine_err_text(e));
    else if (seine_fetched_is_ok(&got))
        status = say_check(c, CHECK_OK, "%s is ready", show(set->target).text);
    else
        status = say_check(c, CHECK_FAIL, "%s: %s", show(set->target).text,
                           show(got.status == 503 ? "not ready" : got.error).text);
    if (e == SEINE_OK)
        seine_fetched_free(&got, 1);
    seine_ctx_unref(ctx);
    free(url);
    return status;
}

typedef check_status (*check_fn)(const doctor_settings *set, size_t i, checked *c);

/* A check on a thread of its own. A check that takes too long is left behind. */
typedef struct errand {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool done, left;
    doctor_settings set;
    size_t i;
    check_fn fn;
    checked result;
} errand;

static void
errand_free(errand *e)
{
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->cond);
    free(e);
}

static void *
errand_main(void *arg)
{
    errand *e = arg;

    e->result.status = e->fn(&e->set, e->i, &e->result);
    pthread_mutex_lock(&e->lock);
    e->done = true;
    bool left = e->left;
    pthread_cond_signal(&e->cond);
    pthread_mutex_unlock(&e->lock);
    if (left)
        errand_free(e);
    return NULL;
}

/* False: the check took too long, and frees itself when it ends. */
static bool
errand_wait(errand *e)
{
    struct timespec until;
    int why = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&e->lock);
    while (!e->done && why == 0)
        why = pthread_cond_timedwait(&e->cond, &e->lock, &until);
    bool done = e->done;
    e->left = !done;
    pthread_mutex_unlock(&e->lock);
    return done;
}

static void
timed_check(const doctor_settings *set, size_t i, check_fn fn, checked *c)
{
    seine_clock *clock = seine_clock_system();
    seine_time start = clock->now(clock);
    errand *e = xalloc_zeroed(1, sizeof *e);
    pthread_condattr_t attr;
    pthread_t thread;

    e->set = *set;
    e->i = i;
    e->fn = fn;
    pthread_mutex_init(&e->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&e->cond, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&thread, NULL, errand_main, e) != 0) {
        c->status = say_check(c, CHECK_UNKNOWN, "no thread for it");
        errand_free(e);
    } else if (errand_wait(e)) {
        pthread_join(thread, NULL);
        c->status = e->result.status;
        memcpy(c->reason, e->result.reason, sizeof c->reason);
        errand_free(e);
    } else {
        pthread_detach(thread);
        c->status = say_check(c, CHECK_UNKNOWN, "timed out after %d s", PATIENCE_S);
    }
    c->took = clock->now(clock) - start;
}

bool
checks_run(const doctor_settings *set, size_t i, checked *out)
{
    static const struct {
        const char *name;
        check_fn fn;
    } list[] = {{"files", check_files},
                {"dns", check_dns},
                {"clock", check_clock},
                {"zoneinfo", check_zones},
                {"state", check_state}};
    enum { FIXED = sizeof list / sizeof *list };

    *out = (checked){.name = "target"};
    if (i < FIXED) {
        out->name = list[i].name;
        timed_check(set, i, list[i].fn, out);
        return true;
    }
    i -= FIXED;
    if (i < set->output.count) {
        out->name = "output";
        timed_check(set, i, check_output, out);
        return true;
    }
    if (i > set->output.count || !set->target)
        return false;
    timed_check(set, i, check_target, out);
    return true;
}
