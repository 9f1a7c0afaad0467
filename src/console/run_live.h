/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_live.h - what a run shows while it lives: figures over time, errors, hosts, a log.
 *
 * Four times a second the console reads the snapshots and events of all shards, which are
 * values (engine/fetch_watch.h). It makes of them a point per second and per minute, the
 * verdict what limits the run, groups of errors and of skipped URLs, and lines of a log.
 * When the run has ended they stay, and the points are saved with it.
 *
 *     e = sn_run_live_new(run, &live);
 *     sn_run_live_look(live, now);                    every 250 ms
 *     sn_run_frame_figures(run, &buf);                members of a `data` frame
 *
 * Time    the loop's; points carry wall time.
 * Memory  about 500 KiB.
 * Threads the console's.
 */
#ifndef SN_RUN_LIVE_H
#define SN_RUN_LIVE_H

#include "console/run.h"
#include "console/run_hosts.h"
#include "engine/fetch_watch.h"
#include "engine/shard_ping.h"
#include "seine/eta.h"
#include "seine/fetch_control.h"
#include "seine/limited.h"

enum {
    SN_LIVE_SECONDS = 600,
    SN_LIVE_MINUTES = 1440,
    SN_LIVE_WAITS = 9,
    SN_LIVE_ERRORS = 100, /* groups */
    SN_LIVE_SKIPS = 64,
    SN_LIVE_SAMPLES = 5, /* URLs of a group of skips */
    SN_LIVE_LINES = 500,
    SN_LIVE_LINE = 1024, /* bytes */
    SN_LIVE_BACK = 10    /* seconds of latencies */
};

/* A second or a minute. Rates are per second. */
typedef struct sn_run_point {
    int64_t at; /* wall time of its end, ms; 0: there is none */
    float rps, bps, dps, records;
    float cls[6]; /* 1xx … 5xx, none */
    float p[4];   /* 50, 90, 95, 99; ms; < 0: no request ended */
    uint32_t in_flight, slots;
    uint32_t waiting[SN_LIVE_WAITS];
} sn_run_point;

typedef struct sn_run_error {
    uint32_t code; /* seine_err */
    char host[104];
    uint64_t count, attempts;
    int64_t first, last; /* wall, ms */
    char url[248];
} sn_run_error;

typedef struct sn_run_skip {
    uint32_t reason; /* seine_skip */
    uint64_t count;
    char rule[160];
    char urls[SN_LIVE_SAMPLES][200];
    unsigned n_urls;
} sn_run_skip;

typedef struct sn_run_totals {
    seine_fetch_stats stats;
    uint64_t rows; /* of a recipe */
    uint64_t attempts[6];
    uint64_t latency[SN_SNAPSHOT_BINS];
} sn_run_totals;

typedef struct sn_run_live {
    sn_console_run *run;
    uint32_t shards;
    sn_snapshot *last; /* of each */
    uint64_t *event_at;
    uint64_t lost; /* events */
    bool is_watching;
    /* The newest; at the beginning of this second, and of the one before. */
    sn_run_totals now, second, before;
    sn_run_totals base; /* of an earlier fetch of this process */
    uint64_t back[SN_LIVE_BACK][SN_SNAPSHOT_BINS]; /* latencies of the last seconds */
    unsigned back_at, back_n;
    seine_time second_at, minute_at;
    seine_time before_at; /* 0: there is no second before */
    sn_run_point seconds[SN_LIVE_SECONDS], minutes[SN_LIVE_MINUTES], minute;
    uint64_t minute_in_flight; /* sum over its seconds */
    unsigned n_seconds, at_second, n_minutes, at_minute, in_minute;
    sn_run_point newest;
    seine_limited limited;
    seine_limited_verdict verdict;
    char verdict_text[200];
    seine_eta eta;
    sn_run_hosts hosts;
    sn_shard_ping *ping; /* on its way; NULL: none */
    seine_time pinged;   /* when the newest was sent */
    sn_run_error errors[SN_LIVE_ERRORS];
    size_t n_errors;
    uint64_t other_errors; /* that found no group */
    sn_run_skip skips[SN_LIVE_SKIPS];
    size_t n_skips;
    char *lines[SN_LIVE_LINES]; /* a ring of JSON objects */
    uint64_t n_lines;           /* that were ever written */
} sn_run_live;

SEINE_MUST_CHECK seine_err sn_run_live_new(sn_console_run *r, sn_run_live **out_live);
void sn_run_live_free(sn_run_live *l); /* NULL is fine */

void sn_run_live_begin(sn_run_live *l); /* its fetch is there */
void sn_run_live_look(sn_run_live *l, seine_time now);
void sn_run_live_second(sn_run_live *l, seine_time now); /* a second ends: look does it */
void sn_run_live_end(sn_run_live *l);

/* When its shards were asked whether they turn, and one has not answered; 0: all have. */
seine_time sn_run_live_asked(const sn_run_live *l);

/* Figures over time: runs/ID/series.json. */
SEINE_MUST_CHECK seine_err sn_run_live_save(const sn_run_live *l);

/* A line of the log of the run; `detail` NULL: none. */
void sn_run_live_log(sn_run_live *l, const char *level, const char *event,
                     const char *message, const char *detail);

/* Somebody wants to see hosts; NULL: those with most URLs. NULL: too many want others. */
const sn_run_look *sn_run_live_want_hosts(sn_run_live *l, const seine_fetch_look *look);

/* run_frame.c: members of JSON, without braces. */
void sn_run_frame_row(sn_console_run *r, sn_buf *b);     /* of the list of runs */
void sn_run_frame_figures(sn_console_run *r, sn_buf *b); /* of the dashboard */
void sn_run_frame_series(const sn_run_live *l, sn_buf *b, unsigned most);
void sn_run_frame_hosts(const sn_run_live *l, const sn_run_look *look, sn_buf *b);
void sn_run_frame_host(const sn_run_live *l, const sn_host_row *row, sn_buf *b);
const char *sn_run_breaker_name(seine_breaker_state s); /* "half_open" */
seine_fetch_sort sn_run_frame_sort(sn_str column);      /* of the table of hosts */
void sn_run_frame_errors(const sn_run_live *l, sn_buf *b);
void sn_run_frame_skips(const sn_run_live *l, sn_buf *b);
/* Lines behind number *at, which moves on; at most `most`. */
void sn_run_frame_lines(const sn_run_live *l, uint64_t *at, unsigned most, sn_buf *b,
                        uint64_t *out_lost);

#endif
