/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/logline.h"
#include "base/opts.h"
#include "base/rng.h"
#include "base/time.h"

#define TEXT_MAX 64                    /* bytes of the service's name */
#define RING_MAX (1u << 20)            /* lines */
#define LINE_AVG ((size_t)256)         /* bytes reserved in the ring per line */
#define RING_LOW ((size_t)8 * SN_LINE) /* the smallest ring: 8 of the longest lines */
#define WARNINGS 64                    /* different warnings that are merged at a time */

_Static_assert(LINE_AVG == 256, "log.h says so");

/*
 * A thread that writes a record formats it on its own stack, then takes the lock only
 * to copy the line. The ring holds whole lines, each behind its length. One thread at a
 * time, the carrier, hands lines to the sink, without the lock: the log's own thread, a
 * thread that flushes, or, without a ring, the writer itself. A writer that finds a
 * carrier at work leaves its line to the carrier.
 */

/* A warning that was written and may be repeated; its line is in `lines`. */
typedef struct warning {
    uint64_t hash;
    seine_time until; /* end of the window */
    uint64_t repeats; /* in this window, not reported yet */
    bool is_used;
} warning;

struct seine_log {
    atomic_int level;
    seine_log_format format;
    int fd;
    seine_log_sink sink;
    void *arg;
    char service[TEXT_MAX + 1], version[TEXT_MAX + 1];
    const seine_secrets *secrets;
    seine_clock *clock;
    seine_span merge;
    uint64_t secret[2];
    bool has_thread;
    pthread_t thread;
    size_t mapped; /* bytes mapped: the ring, then the lines */
    size_t room;   /* bytes of the ring */
    uint32_t max;  /* lines in it */

    pthread_mutex_t lock;
    char *ring;
    size_t first, used; /* bytes */
    uint32_t waiting;   /* lines */
    sn_line *lines;
    warning warnings[WARNINGS];
    seine_log_stats stats;
    uint64_t untold;      /* dropped lines that no line has reported yet */
    uint64_t in, out;     /* lines since the start: into the ring, and to the sink */
    bool is_carried;      /* a thread hands lines to the sink */
    bool is_torn;         /* the descriptor took half a line; only the carrier knows */
    bool is_parked, stop; /* state of the log's own thread */
    uint32_t work, done;  /* futex words: for that thread, and for threads that flush */
    uint32_t flushing;
};

/* The ring, under the lock. */

static void
copy_in(seine_log *log, const void *bytes, size_t n)
{
    size_t at = (log->first + log->used) % log->room, tail = log->room - at;
    size_t k = n < tail ? n : tail;

    memcpy(log->ring + at, bytes, k);
    memcpy(log->ring, (const char *)bytes + k, n - k);
    log->used += n;
}

static void
copy_out(seine_log *log, void *bytes, size_t n)
{
    size_t tail = log->room - log->first, k = n < tail ? n : tail;

    memcpy(bytes, log->ring + log->first, k);
    memcpy((char *)bytes + k, log->ring, n - k);
    log->first = (log->first + n) % log->room;
    log->used -= n;
}

static bool
push_line(seine_log *log, const sn_line *line)
{
    uint16_t len = (uint16_t)line->len;

    if (log->waiting >= log->max || sizeof len + len > log->room - log->used)
        return false;
    copy_in(log, &len, sizeof len);
    copy_in(log, line->bytes, len);
    log->waiting++;
    log->in++;
    return true;
}

static void
pop(seine_log *log, sn_line *out_line)
{
    uint16_t len;

    copy_out(log, &len, sizeof len);
    copy_out(log, out_line->bytes, len);
    out_line->len = len;
    log->waiting--;
}

static void
count_dropped(seine_log *log, uint64_t n)
{
    log->stats.dropped += n;
    log->untold += n;
}

/* Merging equal warnings, under the lock. */

/* Puts a line with the count of repeats into the ring; false when the ring is full. */
static bool
tell_repeats(seine_log *log, size_t i)
{
    warning *w = &log->warnings[i];
    sn_line *line = &log->lines[i];
    size_t begun = line->len;

    if (w->repeats == 0)
        return true;
    sn_line_end(line, log->format, w->repeats);
    bool is_in = push_line(log, line);
    line->len = begun;
    if (is_in)
        w->repeats = 0;
    return is_in;
}

/* Closes the windows that have ended. A window with repeats is followed by another; a
 * quiet one is not. */
static void
close_windows(seine_log *log, seine_time now)
{
    for (size_t i = 0; i < WARNINGS; i++) {
        warning *w = &log->warnings[i];

        if (!w->is_used || now < w->until)
            continue;
        w->is_used = w->repeats > 0;
        if (tell_repeats(log, i))
            w->until = sn_time_add(now, log->merge);
    }
}

/* When settle has repeats to report; SEINE_NEVER when there are none. */
static seine_time
next_telling(const seine_log *log)
{
    seine_time at = SEINE_NEVER;

    for (size_t i = 0; i < WARNINGS; i++)
        if (log->warnings[i].is_used && log->warnings[i].repeats > 0)
            at = sn_time_min(at, log->warnings[i].until);
    return at;
}

/* A slot for a new warning; evicts the warning whose window ends first. */
static size_t
slot_for_warning(seine_log *log)
{
    size_t oldest = 0;

    for (size_t i = 0; i < WARNINGS; i++) {
        if (!log->warnings[i].is_used)
            return i;
        if (log->warnings[i].until < log->warnings[oldest].until)
            oldest = i;
    }
    if (!tell_repeats(log, oldest)) {
        log->stats.merged -= log->warnings[oldest].repeats;
        count_dropped(log, log->warnings[oldest].repeats);
    }
    return oldest;
}

static warning *
keep_warning(seine_log *log, const sn_line *line, uint64_t hash, seine_time now)
{
    size_t i = slot_for_warning(log);
    sn_line *kept = &log->lines[i];

    memcpy(kept, line, offsetof(sn_line, bytes));
    memcpy(kept->bytes, line->bytes, line->len);
    log->warnings[i] = (warning){hash, sn_time_add(now, log->merge), 0, true};
    return &log->warnings[i];
}

static warning *
find_warning(seine_log *log, uint64_t hash)
{
    for (size_t i = 0; i < WARNINGS; i++)
        if (log->warnings[i].is_used && log->warnings[i].hash == hash)
            return &log->warnings[i];
    return NULL;
}

static void
count(seine_log *log, warning *w, int64_t wall)
{
    w->repeats++;
    log->stats.merged++;
    sn_line_stamp(&log->lines[w - log->warnings], log->format, wall);
}

/* Returns how many bytes the descriptor took; waits at most a second for room. */
static size_t
write_fd(int fd, const char *p, size_t n)
{
    size_t done = 0;

    while (done < n) {
        ssize_t k = write(fd, p + done, n - done);

        if (k >= 0) {
            done += (size_t)k;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd room = {.fd = fd, .events = POLLOUT};

            if (poll(&room, 1, 1000) == 0)
                break;
        } else if (errno != EINTR) {
            break;
        }
    }
    return done;
}

/* Ends a half-written line first, so that it does not swallow the next one. */
static bool
hand_over(seine_log *log, const sn_line *line)
{
    if (log->sink) {
        log->sink(line->bytes, line->len, log->arg);
        return true;
    }
    if (log->is_torn && write_fd(log->fd, "\n", 1) == 1)
        log->is_torn = false;
    size_t n = log->is_torn ? 0 : write_fd(log->fd, line->bytes, line->len);
    log->is_torn = log->is_torn || (n > 0 && n < line->len);
    return n == line->len;
}

/* Only JSON names the thread, so only JSON looks the name up. */
static void
begin_line(const seine_log *log, sn_line *line, const sn_record *r)
{
    char name[16] = "";
    sn_record full = *r;

    if (log->format == SEINE_LOG_JSON) {
        pthread_getname_np(pthread_self(), name, sizeof name);
        full.thread_id = gettid();
    }
    full.thread = name;
    full.service = log->service;
    full.version = log->version;
    full.secrets = log->secrets;
    sn_line_begin(line, log->format, &full);
}

static void
tell_dropped(seine_log *log, sn_line *line, uint64_t n)
{
    seine_log_field field = seine_log_uint("dropped", n);
    sn_record r = {.level = SEINE_LOG_WARN,
                   .event = "log.dropped",
                   .message = "log records dropped: they came faster than they were read",
                   .fields = &field,
                   .n = 1,
                   .wall = log->clock->wall(log->clock)};

    begin_line(log, line, &r);
    sn_line_end(line, log->format, 0);
}

/* Hands every waiting line to the sink, unless another thread does. Entered and left with
 * the lock; works without it. */
static void
carry(seine_log *log)
{
    sn_line line;

    while (!log->is_carried && (log->waiting > 0 || log->untold > 0)) {
        bool is_line = log->waiting > 0;
        uint64_t untold = is_line ? 0 : log->untold;

        log->is_carried = true;
        log->untold -= untold;
        if (is_line)
            pop(log, &line);
        pthread_mutex_unlock(&log->lock);
        if (!is_line)
            tell_dropped(log, &line, untold);
        bool ok = hand_over(log, &line);
        pthread_mutex_lock(&log->lock);
        log->is_carried = false;
        log->stats.failed += !ok;
        log->out += is_line;
        if (log->flushing > 0) {
            __atomic_add_fetch(&log->done, 1, __ATOMIC_SEQ_CST);
            pthread_mutex_unlock(&log->lock);
            log->clock->wake(log->clock, &log->done, INT32_MAX);
            pthread_mutex_lock(&log->lock);
        }
    }
}

static void *
run_writer(void *arg)
{
    seine_log *log = arg;
    seine_clock *clock = log->clock;

    pthread_setname_np(pthread_self(), "sn-log");
    if (clock->enter)
        clock->enter(clock);
    for (bool stop = false; !stop;) {
        seine_time now = clock->now(clock);

        pthread_mutex_lock(&log->lock);
        log->is_parked = false;
        close_windows(log, now);
        carry(log);
        log->is_parked = true;
        uint32_t seen = log->work;
        seine_time until = next_telling(log);
        stop = log->stop;
        pthread_mutex_unlock(&log->lock);
        if (!stop)
            clock->wait(clock, &log->work, seen, until);
    }
    if (clock->leave)
        clock->leave(clock);
    return NULL;
}

static bool
is_sound(const seine_log_opts *o)
{
    return (unsigned)o->level <= SEINE_LOG_OFF && (unsigned)o->format <= SEINE_LOG_JSON &&
           (o->sink || o->fd >= 0) && sn_str_of(o->service).len <= TEXT_MAX &&
           sn_str_of(o->version).len <= TEXT_MAX && o->merge >= 0 && o->ring <= RING_MAX;
}

/* Blocks signals in the log's thread: they are for the program's own threads. */
static bool
start(seine_log *log)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    log->has_thread = pthread_create(&log->thread, NULL, run_writer, log) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return log->has_thread;
}

static void
destroy(seine_log *log)
{
    pthread_mutex_destroy(&log->lock);
    sn_pages_free(log->ring, log->mapped);
    sn_free(log);
}

seine_err
seine_log_new(const seine_log_opts *opts, seine_log **out_log)
{
    if (!out_log)
        return SEINE_E_INVAL;
    if (!sn_opts_fit(opts, sizeof *opts) || !is_sound(opts))
        return SEINE_E_INVAL;
    seine_log *log = sn_zalloc(sizeof *log);
    if (!log)
        return SEINE_E_NOMEM;

    atomic_init(&log->level, (int)opts->level);
    log->format = opts->format;
    log->fd = opts->fd;
    log->sink = opts->sink;
    log->arg = opts->arg;
    log->clock = opts->clock ? opts->clock : seine_clock_system();
    log->merge = opts->merge;
    log->secrets = opts->secrets;
    log->max = opts->ring > 0 ? opts->ring : RING_MAX;
    log->room = opts->ring * LINE_AVG > RING_LOW ? opts->ring * LINE_AVG : RING_LOW;
    if (opts->service)
        memcpy(log->service, opts->service, strlen(opts->service));
    if (opts->version)
        memcpy(log->version, opts->version, strlen(opts->version));
    sn_rng_secret(log->secret, sizeof log->secret);
    pthread_mutex_init(&log->lock, NULL);

    log->mapped = log->room + WARNINGS * sizeof *log->lines;
    log->ring = sn_pages(log->mapped);
    log->lines = log->ring ? (sn_line *)(void *)(log->ring + log->room) : NULL;
    if (!log->ring || (opts->ring > 0 && !start(log))) {
        destroy(log);
        return SEINE_E_NOMEM;
    }
    *out_log = log;
    return SEINE_OK;
}

/* Under the lock. Returns true when the log's own thread has work. */
static bool
accept(seine_log *log, sn_line *line, uint64_t hash, const sn_record *r, seine_time now)
{
    bool is_warning = r->level >= SEINE_LOG_WARN && log->merge > 0;
    warning *w = NULL;

    log->stats.records[r->level]++;
    if (is_warning || !log->has_thread)
        close_windows(log, now);
    if (is_warning) {
        w = find_warning(log, hash);
        if (w) {
            count(log, w, r->wall);
            return w->repeats == 1;
        }
        w = keep_warning(log, line, hash, now);
    }
    sn_line_end(line, log->format, 0);
    if (push_line(log, line))
        return true;
    if (w)
        count(log, w, r->wall);
    else
        count_dropped(log, 1);
    return true;
}

/* Under the lock. Returns true when the caller must wake the log's own thread after it
 * released the lock. */
static bool
rouse(seine_log *log)
{
    if (!log->has_thread || !log->is_parked)
        return false;
    log->is_parked = false;
    __atomic_add_fetch(&log->work, 1, __ATOMIC_SEQ_CST);
    return true;
}

void
seine_log_write(seine_log *log, seine_log_level level, const char *event,
                const char *message, const seine_log_field *fields, size_t n)
{
    if (!seine_log_on(log, level))
        return;

    seine_clock *clock = log->clock;
    sn_record r = {.level = level,
                   .event = event,
                   .message = message,
                   .fields = fields,
                   .n = n,
                   .wall = clock->wall(clock)};
    sn_line line;
    seine_time now = clock->now(clock);
    begin_line(log, &line, &r);
    uint64_t hash = sn_line_hash(&line, log->format, log->secret);

    pthread_mutex_lock(&log->lock);
    bool is_news = accept(log, &line, hash, &r, now), wake = is_news && rouse(log);
    if (!log->has_thread)
        carry(log);
    pthread_mutex_unlock(&log->lock);
    if (wake)
        clock->wake(clock, &log->work, 1);
}

void
sn_log(seine_log *log, seine_log_level level, const char *event, const char *message,
       const seine_log_field *fields)
{
    size_t n = 0;

    while (fields[n].name)
        n++;
    seine_log_write(log, level, event, message, fields, n);
}

/* Enters with the lock and releases it to work or wait. Returns when the sink has every
 * line that is in the ring now. */
static void
await(seine_log *log)
{
    uint64_t goal = log->in;

    for (;;) {
        carry(log);
        if (log->out >= goal)
            return;
        uint32_t seen = log->done;
        log->flushing++;
        pthread_mutex_unlock(&log->lock);
        log->clock->wait(log->clock, &log->done, seen, SEINE_NEVER);
        pthread_mutex_lock(&log->lock);
        log->flushing--;
    }
}

void
seine_log_flush(seine_log *log)
{
    if (!log)
        return;
    pthread_mutex_lock(&log->lock);
    for (size_t i = 0; i < WARNINGS; i++)
        while (!tell_repeats(log, i))
            await(log);
    await(log);
    pthread_mutex_unlock(&log->lock);
}

void
seine_log_free(seine_log *log)
{
    if (!log)
        return;
    if (log->has_thread) {
        pthread_mutex_lock(&log->lock);
        log->stop = true;
        bool wake = rouse(log);
        pthread_mutex_unlock(&log->lock);
        if (wake)
            log->clock->wake(log->clock, &log->work, 1);
        pthread_join(log->thread, NULL);
    }
    seine_log_flush(log);
    destroy(log);
}

bool
seine_log_on(const seine_log *log, seine_log_level level)
{
    return log && (unsigned)level < SEINE_LOG_OFF &&
           (int)level >= atomic_load_explicit(&log->level, memory_order_relaxed);
}

void
seine_log_set_level(seine_log *log, seine_log_level level)
{
    if (log && (unsigned)level <= SEINE_LOG_OFF)
        atomic_store_explicit(&log->level, (int)level, memory_order_relaxed);
}

void
seine_log_stats_get(const seine_log *log, seine_log_stats *out_stats)
{
    if (!log || !out_stats)
        return;
    pthread_mutex_t *lock = (pthread_mutex_t *)&log->lock;

    pthread_mutex_lock(lock);
    *out_stats = log->stats;
    pthread_mutex_unlock(lock);
}

uint32_t
sn_log_waiting(const seine_log *log, uint32_t *out_room)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)&log->lock;

    pthread_mutex_lock(lock);
    uint32_t n = log->waiting;
    pthread_mutex_unlock(lock);
    *out_room = log->max;
    return n;
}
