/* SPDX-License-Identifier: Apache-2.0 */
#include "console/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/metrics.h"
#include "base/time.h"
#include "console/docs.h"
#include "console/json_out.h"
#include "engine/fetch_metrics.h"
#include "engine/otlp.h"
#include "seine/version.h"
#include "store/sqlite.h"

#define TICK     SEINE_MS(100)
#define ALIVE    SEINE_SECS(5)
#define DISK_MIN ((uint64_t)256 << 20)

static sn_monitor *
of(seine_console *c)
{
    return c->part[SN_PART_MONITOR];
}

static seine_health_status
fail(char reason[SEINE_HEALTH_REASON], const char *text)
{
    snprintf(reason, SEINE_HEALTH_REASON, "%s", text);
    return SEINE_HEALTH_UNHEALTHY;
}

/* Checks. They run on the threads of seine_health. */

/* A write in a transaction that is rolled back. */
static seine_health_status
ask_database(void *arg, seine_ctx *ctx, char reason[SEINE_HEALTH_REASON])
{
    const sn_monitor *m = arg;
    sn_sqlite *db = NULL;

    (void)ctx;
    seine_err e = sn_sqlite_open(m->database, SN_SQLITE_WRITE, &db);
    if (e == SEINE_OK)
        e = sn_sqlite_exec(db, "PRAGMA busy_timeout=3000;BEGIN IMMEDIATE;"
                               "CREATE TABLE health_check(at INTEGER);"
                               "INSERT INTO health_check VALUES(1);ROLLBACK");
    sn_sqlite_close(db);
    return e == SEINE_OK ? SEINE_HEALTH_HEALTHY : fail(reason, seine_err_text(e));
}

static seine_health_status
ask_disk(void *arg, seine_ctx *ctx, char reason[SEINE_HEALTH_REASON])
{
    const sn_monitor *m = arg;
    struct statvfs s;

    (void)ctx;
    if (statvfs(m->console->state_dir, &s) != 0)
        return fail(reason, "the state directory cannot be read");
    uint64_t room = (uint64_t)s.f_bavail * s.f_frsize;
    if (room >= DISK_MIN)
        return SEINE_HEALTH_HEALTHY;
    snprintf(reason, SEINE_HEALTH_REASON, "%llu MiB are free, at least 256 are needed",
             (unsigned long long)(room >> 20));
    return SEINE_HEALTH_UNHEALTHY;
}

/* Can a file be written where runs write theirs? */
static seine_health_status
ask_output(void *arg, seine_ctx *ctx, char reason[SEINE_HEALTH_REASON])
{
    const sn_monitor *m = arg;
    char path[1100];

    (void)ctx;
    if (!sn_console_path(m->console, "health.tmp", path, sizeof path))
        return fail(reason, "the state directory's name is too long");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool fine = fd >= 0 && write(fd, "ok\n", 3) == 3;
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    return fine ? SEINE_HEALTH_HEALTHY
                : fail(reason, "a file in the state directory cannot be written");
}

static bool
console_turns(const sn_monitor *m)
{
    return seine_now() - atomic_load(&m->ticked) < ALIVE;
}

/* A console that does not turn sends no pings: what it knows of shards is old. */
static bool
shards_turn(const sn_monitor *m)
{
    seine_time asked = atomic_load(&m->asked);

    return asked == 0 || seine_now() - asked < ALIVE;
}

static seine_health_status
ask_engine(void *arg, seine_ctx *ctx, char reason[SEINE_HEALTH_REASON])
{
    (void)ctx;
    if (!console_turns(arg))
        return fail(reason, "the loop of the console has not turned for 5 s");
    return shards_turn(arg) ? SEINE_HEALTH_HEALTHY
                            : fail(reason, "a shard of a run has not turned for 5 s");
}

static seine_health_status
ask_otlp(void *arg, seine_ctx *ctx, char reason[SEINE_HEALTH_REASON])
{
    (void)ctx;
    return sn_otlp_is_away(arg) ? fail(reason, "the collector takes no traces")
                                : SEINE_HEALTH_HEALTHY;
}

void
sn_monitor_shards(seine_console *c, seine_time asked)
{
    if (of(c))
        atomic_store(&of(c)->asked, asked);
}

bool
sn_monitor_is_alive(const sn_monitor *m)
{
    return console_turns(m) && shards_turn(m);
}

static seine_err
add_checks(sn_monitor *m)
{
    const seine_health_check all[] = {
        SEINE_HEALTH_CHECK("database", ask_database, m),
        SEINE_HEALTH_CHECK("disk", ask_disk, m),
        SEINE_HEALTH_CHECK("output", ask_output, m),
        SEINE_HEALTH_CHECK("engine", ask_engine, m),
    };
    const seine_health_check redis =
        SEINE_HEALTH_CHECK("redis", sn_redis_check_ask, m->redis);
    seine_health_check otlp =
        SEINE_HEALTH_CHECK("otlp", ask_otlp, m->console->opts.traces);
    seine_err e = SEINE_OK;

    for (size_t i = 0; i < sizeof all / sizeof *all && e == SEINE_OK; i++)
        e = seine_health_add(m->health, &all[i]);
    if (e == SEINE_OK && m->redis)
        e = seine_health_add(m->health, &redis);
    otlp.critical = false; /* a console without traces serves on */
    if (e == SEINE_OK && otlp.arg)
        e = seine_health_add(m->health, &otlp);
    return e;
}

/* The loop. */

static void
on_tick(sn_timer *t, seine_time now)
{
    sn_monitor *m = (sn_monitor *)(void *)((char *)t - offsetof(sn_monitor, tick));

    seine_histogram_observe(m->lag, 0, now - m->due);
    sn_docs_note_queues(sn_docs_of(m->console));
    atomic_store(&m->ticked, now);
    m->due = sn_time_add(now, TICK);
    sn_timer_set(&m->console->loop, &m->tick, m->due);
}

static seine_err
watch_loop(sn_monitor *m)
{
    static const char *const loops[] = {"console"};
    const seine_label label = {"loop", loops, 1};
    seine_buckets fine = seine_buckets_fine();
    seine_err e = sn_timer_reserve(&m->console->loop);

    if (e != SEINE_OK)
        return e;
    m->has_timer = true;
    m->tick.fire = on_tick;
    m->due = sn_time_add(m->console->loop.now, TICK);
    sn_timer_set(&m->console->loop, &m->tick, m->due);
    return seine_metrics_histogram(m->console->metrics, "seine_loop_lag_seconds",
                                   "How late a timer of 100 ms fired.", &label, 1, &fine,
                                   &m->lag);
}

/* A bound that 99 of 100 lags keep; null: longer than all bounds. */
static void
put_loop(sn_buf *b, const char *name, const seine_histogram *lags)
{
    seine_span p99 = sn_histogram_quantile(lags, 0, 0.99);

    if (p99 == 0) /* it has not turned yet */
        return;
    sn_json_out_next(b);
    sn_buf_char(b, '{');
    sn_json_out_text(b, "loop", name);
    sn_json_out_name(b, "lag_p99_ms");
    if (p99 == SEINE_NEVER)
        sn_buf_text(b, "null");
    else
        sn_buf_printf(b, "%.1f", (double)p99 / 1e6);
    sn_buf_char(b, '}');
}

void
sn_monitor_put_loops(const seine_console *c, sn_buf *b)
{
    const sn_monitor *m = c->part[SN_PART_MONITOR];

    sn_json_out_name(b, "loops");
    sn_buf_char(b, '[');
    put_loop(b, "console", m ? m->lag : NULL);
    put_loop(b, "engine", sn_fetch_metrics_lags(c->metrics));
    sn_buf_char(b, ']');
}

/* Life. */

seine_err
sn_monitor_start(seine_console *c, seine_diag *d)
{
    const seine_build build = {seine_version(), "unknown", "unknown"};
    sn_monitor *m = sn_zalloc(sizeof *m);

    if (!m)
        return SEINE_E_NOMEM;
    c->part[SN_PART_MONITOR] = m;
    m->console = c;
    atomic_store(&m->ticked, seine_now());
    if (!sn_console_database(c, m->database))
        return SEINE_E_INVAL;
    seine_err e = watch_loop(m);
    if (e == SEINE_OK && c->opts.redis)
        e = sn_redis_check_new(c->opts.redis, &m->redis, d);
    if (e == SEINE_OK && !c->opts.metrics)
        e = seine_process_metrics_new(c->metrics, &build, c->log, &m->process);
    if (e == SEINE_OK)
        e = seine_health_new(NULL, &m->health);
    if (e == SEINE_OK)
        e = add_checks(m);
    return e == SEINE_OK ? seine_health_start(m->health, c->log, c->metrics) : e;
}

void
sn_monitor_stop(seine_console *c)
{
    if (of(c))
        seine_health_stopping(of(c)->health);
}

bool
sn_monitor_is_busy(seine_console *c)
{
    (void)c;
    return false;
}

void
sn_monitor_fini(seine_console *c)
{
    sn_monitor *m = of(c);

    if (!m)
        return;
    seine_health_free(m->health);
    sn_redis_check_free(m->redis);
    seine_process_metrics_free(m->process);
    if (m->has_timer)
        sn_timer_forget(&c->loop, &m->tick);
    sn_free(m);
}

const seine_health *
seine_console_health(const seine_console *c)
{
    const sn_monitor *m = c ? c->part[SN_PART_MONITOR] : NULL;

    return m ? m->health : NULL;
}
