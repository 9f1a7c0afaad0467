/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/watchdog.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <seine/clock.h>

#include "screen/say.h"
#include "verbs/signals.h"

#define LAST_SPAN SEINE_MS(50)  /* between the second signal and the end */
#define STUCK     SEINE_MS(100) /* without progress */
#define LATE_SPAN SEINE_SECS(1) /* between the time limit and the end */

/* What the thread knows. */
typedef struct vigil {
    seine_time end;  /* of the process */
    seine_time look; /* when to compare the progress */
    uint64_t progress;
    bool has_progress;
    int code;
    unsigned stops;
} vigil;

static seine_time
now_is(void)
{
    seine_clock *c = seine_clock_system();

    return c->now(c);
}

static bool
ends_run(const watchdog *w, int number)
{
    return number == SIGINT || number == SIGTERM || (number == SIGHUP && w->on_terminal);
}

/* Notes the first signal that ends the run. True: the run has begun. */
static bool
note_number(watchdog *w, int number)
{
    pthread_mutex_lock(&w->lock);
    if (!w->number)
        w->number = number;
    bool is_begun = w->is_begun;
    pthread_mutex_unlock(&w->lock);
    return is_begun;
}

static void
end_by(watchdog *w, vigil *v, seine_time when, int code)
{
    if (w->hooks.hurry)
        w->hooks.hurry(w->hooks.arg);
    if (v->end > when) {
        v->end = when;
        v->code = code;
    }
}

static void
take_signal(watchdog *w, vigil *v, int number)
{
    char byte = (char)number;
    bool ends = ends_run(w, number);
    bool is_begun = ends && note_number(w, number);
    ssize_t n = write(w->to_main, &byte, 1);

    (void)n; /* a full pipe holds enough signals for the main thread */
    if (!ends)
        return;
    v->stops++;
    if (v->stops >= 2 || !is_begun)
        end_by(w, v, now_is() + LAST_SPAN, SAY_SIGNAL + w->number);
}

/* The limit, and whether the thread has to go. */
static bool
read_orders(watchdog *w, seine_time *out_limit)
{
    uint64_t count;

    if (read(w->wake, &count, sizeof count) < 0)
        count = 0;
    pthread_mutex_lock(&w->lock);
    *out_limit = w->limit;
    bool is_stopped = w->is_stopped;
    pthread_mutex_unlock(&w->lock);
    return is_stopped;
}

/* Compares the progress at the limit with that 100 ms before. */
static void
watch_limit(watchdog *w, vigil *v, seine_time limit, seine_time now)
{
    if (limit == SEINE_NEVER || v->code == SAY_EARLY || now < limit - STUCK)
        return;
    if (v->has_progress && now < v->look)
        return;
    uint64_t is = w->hooks.progress ? w->hooks.progress(w->hooks.arg) : 0;

    if (v->has_progress && is == v->progress && now >= limit)
        end_by(w, v, now + LATE_SPAN, SAY_EARLY);
    v->progress = is;
    v->has_progress = true;
    v->look = now + STUCK;
}

/* Milliseconds to the next moment at which there is something to do. */
static int
time_left(const vigil *v, seine_time limit, seine_time now)
{
    seine_time next = v->end;

    if (limit != SEINE_NEVER && v->code != SAY_EARLY) {
        seine_time look = v->has_progress ? v->look : limit - STUCK;

        next = look < next ? look : next;
    }
    if (next == SEINE_NEVER)
        return -1;
    seine_span left = next - now;
    if (left > SEINE_SECS(3600))
        left = SEINE_SECS(3600);
    return left <= 0 ? 0 : (int)((left + SEINE_MS(1) - 1) / SEINE_MS(1));
}

static void *
watch(void *arg)
{
    watchdog *w = arg;
    vigil v = {.end = SEINE_NEVER};
    seine_time limit;

    pthread_setname_np(pthread_self(), "sn-watchdog");
    while (!read_orders(w, &limit)) {
        struct pollfd polled[] = {{.fd = w->signals, .events = POLLIN},
                                  {.fd = w->wake, .events = POLLIN}};
        seine_time now = now_is();
        int number;

        watch_limit(w, &v, limit, now);
        if (now >= v.end) {
            if (w->hooks.halt)
                w->hooks.halt(w->hooks.arg);
            _exit(v.code);
        }
        poll(polled, 2, time_left(&v, limit, now));
        while ((number = signals_next(w->signals)) != 0)
            take_signal(w, &v, number);
    }
    return NULL;
}

static bool
open_descriptors(watchdog *w)
{
    int ends[2];

    w->signals = signals_open();
    w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
        w->fd = ends[0];
        w->to_main = ends[1];
    }
    return w->signals >= 0 && w->wake >= 0 && w->fd >= 0;
}

bool
watchdog_start(watchdog *w, const watchdog_hooks *hooks, seine_time limit)
{
    *w = (watchdog){.hooks = *hooks,
                    .fd = -1,
                    .to_main = -1,
                    .limit = limit,
                    .on_terminal = isatty(STDIN_FILENO) || isatty(STDOUT_FILENO) ||
                                   isatty(STDERR_FILENO)};
    pthread_mutex_init(&w->lock, NULL);
    w->is_started =
        open_descriptors(w) && pthread_create(&w->thread, NULL, watch, w) == 0;
    return w->is_started;
}

static void
wake_thread(watchdog *w)
{
    ssize_t n = write(w->wake, &(uint64_t){1}, sizeof(uint64_t));

    (void)n; /* the count is far from its maximum */
}

int
watchdog_begin(watchdog *w, seine_time limit)
{
    pthread_mutex_lock(&w->lock);
    int number = w->number;
    w->is_begun = number == 0;
    w->limit = limit;
    pthread_mutex_unlock(&w->lock);
    wake_thread(w);
    return number;
}

int
watchdog_number(watchdog *w)
{
    pthread_mutex_lock(&w->lock);
    int number = w->number;
    pthread_mutex_unlock(&w->lock);
    return number;
}

int
watchdog_next(watchdog *w)
{
    char byte;

    return read(w->fd, &byte, 1) == 1 ? byte : 0;
}

void
watchdog_stop(watchdog *w)
{
    int fds[] = {w->fd, w->to_main, w->signals, w->wake};

    if (w->is_started) {
        pthread_mutex_lock(&w->lock);
        w->is_stopped = true;
        pthread_mutex_unlock(&w->lock);
        wake_thread(w);
        pthread_join(w->thread, NULL);
    }
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    pthread_mutex_destroy(&w->lock);
    w->is_started = false;
}
