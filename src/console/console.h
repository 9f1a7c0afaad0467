/* SPDX-License-Identifier: Apache-2.0 */
/*
 * console.h - the console's thread, and how its parts and other threads reach it.
 *
 * One thread, `sn-console` at nice +10, owns a loop, the HTTP daemon, every WebSocket and
 * what the parts keep in memory. A part (documents, runs, health) is a row of
 * SN_CONSOLE_PARTS with four functions and a pointer of its own; route handlers and
 * WebSocket messages find it in console->part[SN_PART_ACCESS].
 *
 * Other threads send values, never pointers into the console. A worker owns a node from
 * the start, so that posting its answer allocates nothing and cannot fail:
 *
 *     typedef struct job { sn_mail mail; … } job;            mail first
 *     static job j;
 *     j.mail = (sn_mail){.deliver = on_done};     called on the console's thread
 *     sn_console_post(console, &j.mail);          any thread
 *
 * Timers are the loop's: `sn_timer_reserve(&c->loop)`, `sn_timer_set(&c->loop, …)`.
 *
 * Time    `c->loop.now`, monotonic; sn_console_wall is the clock on the wall.
 * Memory  bounded by the limits of seine_console_opts.
 * Threads the console's alone, but for sn_console_post.
 */
#ifndef SN_CONSOLE_H
#define SN_CONSOLE_H

#include <pthread.h>
#include <stdatomic.h>

#include "console/api_call.h"
#include "net/loop.h"
#include "seine/console.h"
#include "seine/keyed.h"
#include "seine/metrics.h"

/* A message to the console's thread, part of its sender. */
typedef struct sn_mail {
    struct sn_mail *next;
    void (*deliver)(struct sn_mail *m, seine_console *c);
} sn_mail;

/* clang-format off */
/* name, and functions: start(c, diag) before the thread runs, may block; stop(c) on the
 * console's thread when it begins to stop; is_busy(c): must the thread go on, within the
 * grace period?; fini(c) after the thread has ended, also when start failed or was not
 * reached (`part` is NULL then). Started in this order, ended in the opposite one; SOCKETS
 * stays the last, so that its closes find everybody. */
#define SN_CONSOLE_PARTS(X)     \
    X(ACCESS, access)           \
    X(DOWNLOADS, downloads)     \
    X(DOCS, docs)               \
    X(MONITOR, monitor)         \
    X(RUN_TABLE, run_table)     \
    X(RUNS, runs)               \
    X(SOCKETS, sockets)
/* clang-format on */

typedef enum sn_part {
#define SN_PART_ENUM_(upper, lower) SN_PART_##upper,
    SN_CONSOLE_PARTS(SN_PART_ENUM_)
#undef SN_PART_ENUM_
        SN_PARTS
} sn_part;

#define SN_PART_DECLARE_(upper, lower)                                              \
    SEINE_MUST_CHECK seine_err sn_##lower##_start(seine_console *c, seine_diag *d); \
    void sn_##lower##_stop(seine_console *c);                                       \
    bool sn_##lower##_is_busy(seine_console *c);                                    \
    void sn_##lower##_fini(seine_console *c);
SN_CONSOLE_PARTS(SN_PART_DECLARE_)
#undef SN_PART_DECLARE_

enum { SN_ROUTES_MOST = 128, SN_CONSOLE_PATH = 1200 };

struct seine_console {
    seine_console_opts opts;
    char state_dir[1024]; /* absolute or relative; exists */
    sn_loop loop;
    seine_log *log; /* NULL: none */
    seine_metrics *metrics;
    seine_http_metrics *http_metrics;
    struct sn_http_daemon *http;
    struct sn_sockets *sockets;
    void *part[SN_PARTS];
    sn_part started; /* parts below this one have been started */

    const char **deny_net; /* of the options, and our own port; ended by NULL */
    char own_port[16];     /* "local:8787" */
    int listener;          /* until the daemon has it; -1: none */

    char where[128];     /* "127.0.0.1:8787", "unix:/path" */
    char url[200];       /* "http://127.0.0.1:8787/" */
    char link[256];      /* with the first token in its fragment; "": none */
    char link_once[256]; /* with a key that works once; "": none */
    uint8_t route_number[SN_ROUTES_MOST]; /* of a row of the routes, in metrics */
    seine_time since;
    int64_t since_wall;

    pthread_t thread;
    bool is_running;          /* the thread is there */
    atomic_bool is_asked;     /* somebody wants it to stop */
    bool is_stopping;         /* it has begun to */
    seine_time stop_at;       /* when the grace period ends */
    _Atomic(sn_mail *) mails; /* newest first */
};

/* Any thread. `m` is the console's until deliver is called; deliver may free it. What
 * arrives when the thread has ended is delivered by seine_console_free. */
void sn_console_post(seine_console *c, sn_mail *m);
/* Delivers what was posted; for a part that ends, after its threads have. */
void sn_console_deliver(seine_console *c);

int64_t sn_console_wall(const seine_console *c);    /* ns since 1970 */
int64_t sn_console_wall_ms(const seine_console *c); /* as JSON has it */

/* A path in the state directory; false: too long. */
bool sn_console_path(const seine_console *c, const char *name, char *out, size_t cap);
/* Where the database is; false: too long. */
bool sn_console_database(const seine_console *c, char out[SN_CONSOLE_PATH]);

#endif
