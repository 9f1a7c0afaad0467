/* SPDX-License-Identifier: Apache-2.0 */
/*
 * console.h - pages on which people watch and steer runs and edit recipes together.
 *
 *     seine_console *console;
 *     seine_console_opts opts = SEINE_CONSOLE_OPTS;
 *     opts.state_dir = "/var/lib/seine";
 *     if (seine_console_new(&opts, &console, &diag) != SEINE_OK)
 *         return usage();
 *     printf("%s\n", seine_console_url(console));
 *     serve_until_a_signal_comes();
 *     seine_console_free(console);
 *
 * An HTTP server with an API, WebSockets and pages that are compiled in. It is closed by
 * default: it listens on the loopback device, asks everybody for a token, and refuses
 * requests that name another host or come from another site.
 *
 * This header belongs to the archive libseine-console.a, which needs libseine.a,
 * libmicrohttpd and libwslay.
 *
 * Time    the system's clocks.
 * Memory  at most 1 MiB of queue and 256 KiB of message per WebSocket, 96 KiB per HTTP
 *         connection, besides documents and runs.
 * Threads one owner; the console runs on threads of its own at nice +10.
 */
#ifndef SEINE_CONSOLE_H
#define SEINE_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/diag.h"
#include "seine/err.h"
#include "seine/log.h"
#include "seine/log_tail.h"
#include "seine/metrics.h"
#include "seine/time.h"
#include "seine/units.h"

typedef struct seine_console seine_console;

/* Of downloads, documents and WebSockets; the configuration has the same names. */
typedef struct seine_console_limits {
    uint32_t exports_per_user, exports; /* downloads at once; up to 64 */
    uint32_t doc_units;                 /* of a text, in UTF-16; 1,024 to 262,144 */
    uint32_t frame;                     /* bytes of a message; 4,096 to 262,144 */
    uint32_t send_queue;                /* bytes for a slow reader; 64 KiB to 16 MiB */
    uint32_t updates, sections;         /* of a push; of an update: up to 64 and 1,000 */
    uint32_t sessions;                  /* in one document, up to 256 */
    uint32_t docs, subscriptions;       /* of one connection, up to 64 */
    uint32_t push_burst, message_burst; /* of one session, at once */
    seine_frequency push_rate, cursor_rate, message_rate;
} seine_console_limits;

#define SEINE_CONSOLE_LIMITS                                                \
    {                                                                       \
        1, 2, 262144, 262144, 1048576, 64, 1000, 32, 8, 16, 40, 200,        \
            {20, SEINE_SECS(1)}, {10, SEINE_SECS(1)}, {100, SEINE_SECS(1)}, \
    }

typedef struct seine_console_opts {
    size_t size;           /* of this struct: SEINE_CONSOLE_OPTS sets it */
    const char *listen;    /* "127.0.0.1:8787", "unix:/path"; port 0: any */
    const char *state_dir; /* made if it is not there; NULL: none, nothing is kept */
    const char *origin;    /* how browsers reach it: "https://seine.example" */
    bool behind_proxy;     /* a proxy ends TLS; any address may be listened on */
    bool insecure_listen;  /* any address, although nothing encrypts */
    bool no_auth;          /* everybody is admin: loopback and Unix sockets alone */
    bool ws_echo;          /* /ws/echo answers what it hears: for tests */
    const char *const *trusted_proxies; /* networks, NULL-terminated; NULL: loopback */
    seine_span grace;                   /* of a stop */
    seine_log *log;                     /* borrowed; NULL: none */
    seine_metrics *metrics;             /* borrowed; NULL: its own */
    seine_log_tail *log_tail;           /* borrowed; NULL: /api/logs shows nothing */
    uint32_t max_connections, max_per_ip, max_sockets, max_strangers;
    uint32_t rest_rate, rest_burst; /* calls of one token: per second, at once */
    uint32_t bad_tokens;            /* per address and minute */
    seine_span request_time, hello_time;
    /* With `metrics`: brings them up to date before a scrape, on the console's thread;
     * NULL: nothing to do. */
    void (*refresh)(void *arg);
    void *refresh_arg;
    const struct seine_console_runner *runner; /* console_run.h, outlives it; NULL: no
                                                  run can be started */
    uint32_t workers;                          /* threads of a crawl; 0: one */
    /* Networks that runs may reach beside public ones, and others that they may not;
     * variables that recipes may read. Ended by NULL, outlive it; NULL: none. */
    const char *const *allow_net, *const *deny_net, *const *recipe_env;
    const char *database; /* a path, in the state directory unless it begins with /;
                             NULL: console.db */
    uint32_t readers_min; /* threads that read it: from the start, */
    uint32_t readers_max; /* and when there is more to read; up to 64 */
    const char *redis;    /* "redis://db.example:6379": of a fleet; it is checked, and
                             shown on the system page; NULL: none */
    seine_span idle_time; /* a connection that asks nothing is closed */
    seine_console_limits limits;
    bool one_time_link;        /* there is a seine_console_link_once */
    struct seine_otlp *traces; /* gets a span of each request, and is checked; outlives
                                  it; NULL: none */
} seine_console_opts;

#define SEINE_CONSOLE_OPTS                                                               \
    {                                                                                    \
        sizeof(seine_console_opts), "127.0.0.1:8787", NULL, NULL, false, false, false,   \
            false, NULL, SEINE_SECS(10), NULL, NULL, NULL, 256, 64, 192, 16, 50, 100, 5, \
            SEINE_SECS(15), SEINE_SECS(5), NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL,  \
            1, 4, NULL, SEINE_SECS(15), SEINE_CONSOLE_LIMITS, false, NULL                \
    }

SEINE_BEGIN

/* Listens and serves on return. CONFIG: the diag says what is wrong with an option; IO:
 * the address or the state directory cannot be had, and the diag says why; STATE_…: so
 * is the database; INVAL, NO_FILES, NOMEM. */
SEINE_MUST_CHECK seine_err seine_console_new(const seine_console_opts *opts,
                                             seine_console **out_console,
                                             seine_diag *diag);

/* Begins an orderly stop and returns; any thread. */
void seine_console_stop(seine_console *c);

/* Stops, waits for at most the grace period, and frees; NULL is fine. */
void seine_console_free(seine_console *c);

/* "http://127.0.0.1:8787/", or "unix:/path". Borrowed. */
const char *seine_console_url(const seine_console *c);
/* The same with the first token in its fragment, which a log must not see; NULL: it was
 * revoked, or nobody needs one. Borrowed. */
const char *seine_console_link(const seine_console *c);

/* A link that signs in as the first token does, once and within a minute: for arguments
 * of programs, which everybody on the machine can see. NULL: nobody asked for one.
 * Borrowed.
 */
const char *seine_console_link_once(const seine_console *c);

/* Reads the first token from the state directory. UNKNOWN: there is none yet; IO. */
SEINE_MUST_CHECK seine_err seine_console_token(const char *state_dir, char *out_token,
                                               size_t cap);

/* Its health checks: database, disk, output, engine, redis and otlp where there is one.
 * Borrowed. */
const struct seine_health *seine_console_health(const seine_console *c);

/* Were the pages compiled in? */
bool seine_console_has_pages(void);
/* The i-th library that the pages contain; false: there are no more. */
bool seine_console_licence_get(size_t i, const char **out_name, const char **out_version,
                               const char **out_licence);

SEINE_END

#endif
