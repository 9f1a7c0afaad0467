/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lines and lets each of them start when its token is due. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "config/config.h"
#include "config/config_values.h"
#include "limit/limit.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "verbs/signals.h"

#define BAR_EVERY SEINE_MS(200)

void
limit_count(limit_run *r, uint64_t *one)
{
    pthread_mutex_lock(&r->lock);
    ++*one;
    pthread_mutex_unlock(&r->lock);
}

static limit_counts
counts_of(limit_run *r)
{
    pthread_mutex_lock(&r->lock);
    limit_counts c = r->counts;
    pthread_mutex_unlock(&r->lock);
    return c;
}

static void
draw_bar(limit_run *r, seine_time now)
{
    limit_counts c = counts_of(r);
    double seconds = (double)(now - r->from) / 1e9;
    textbuf text = {0};

    textbuf_put(&text, "limit: %s started, %s", figure_count(c.started).text,
                figure_rate(seconds > 0 ? (double)c.started / seconds : 0).text);
    if (r->exec)
        textbuf_put(&text, ", %s running",
                    figure_count(c.started - c.ok - c.failed).text);
    if (c.failed)
        textbuf_put(&text, ", %s failed", figure_count(c.failed).text);
    if (c.limited)
        textbuf_put(&text, ", %s over --max-wait", figure_count(c.limited).text);
    terminal_bar(&r->term, text.text);
    textbuf_free(&text);
}

/* Sleeps; a terminal sees the pace meanwhile. Ends early when HUP has come. False:
 * another signal came. */
static bool
sleep_until(limit_run *r, seine_time at)
{
    seine_time now = seine_now();

    for (; !atomic_load(&r->has_hup); now = seine_now()) {
        if (r->shows_bar)
            draw_bar(r, now);
        if (at - now <= BAR_EVERY)
            return seine_ctx_sleep(r->ctx, at) == SEINE_OK;
        if (seine_ctx_sleep(r->ctx, now + BAR_EVERY) != SEINE_OK)
            return false;
    }
    return true;
}

/* The line is not started; the next one is tried. */
static void
refuse(limit_run *r, const paced_line *line, bool is_limited, const char *why)
{
    limit_count(r, is_limited ? &r->counts.limited : &r->counts.bad);
    if (!is_limited)
        say_note("line %llu: %s; it is left out", (unsigned long long)line->number, why);
    if (r->exec)
        limit_exec_refuse(r, line, is_limited, why);
}

/* Is the pipe full? A disk never is. */
static bool
must_wait_for_reader(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return poll(&out, 1, 0) == 0;
}

/* Writes the line. False: nobody can read it. A reader that pauses earns no more than
 * the burst, so that the time until it went on counts for no line. */
static bool
pass_line(limit_run *r, const char *text, size_t len)
{
    bool waits = must_wait_for_reader();
    textbuf whole = {0};

    textbuf_add(&whole, text, len);
    textbuf_add(&whole, "\n", 1);
    terminal_text(&r->term, whole.text, whole.len);
    int failed = terminal_flush(&r->term);
    textbuf_free(&whole);
    atomic_store(&r->failed, failed);
    if (waits)
        r->ready = seine_now();
    if (failed == 0)
        limit_count(r, &r->counts.started);
    return failed == 0;
}

static void
print_moment(limit_run *r, const paced_line *line, seine_time at)
{
    out_print("%lld.%03lld\t", (long long)(at / SEINE_SECS(1)),
              (long long)(at % SEINE_SECS(1) / SEINE_MS(1)));
    out_line(line->text, line->len);
    limit_count(r, &r->counts.started);
}

/* HUP: rate and burst are those of the configuration as it is now, unless they are typed.
 * A file that is wrong changes nothing. */
static void
reload(limit_run *r)
{
    limit_settings is = *r->set;
    config *now = NULL;
    char why[CONFIG_WHY] = "";

    if (config_load(r->args->config_path, &now, why) == SAY_DONE) {
        config_value_again(r->args, now, "rate", &is);
        config_value_again(r->args, now, "burst", &is);
        if (!pacer_set(&r->pacer, is.rate, (uint32_t)is.burst, seine_now()))
            snprintf(why, sizeof why, "no bucket can be made of rate and burst");
    }
    if (why[0])
        say_note("the old pace stays: %s", why);
    else if (!r->args->quiet)
        say_note("the pace of the configuration holds");
    config_free(now);
}

/* Waits for the moment of the line, by the pace that holds then. */
static pacer_answer
wait_for_token(limit_run *r, const paced_line *line, char why[128])
{
    pacer_answer answer;
    seine_time at;

    do {
        if (atomic_exchange(&r->has_hup, false))
            reload(r);
        answer = pacer_reserve(&r->pacer, line, r->ready, seine_now(), &at, why);
        if (answer == PACER_DUE && !sleep_until(r, at))
            return PACER_ENDED;
    } while (answer == PACER_DUE && atomic_load(&r->has_hup) && seine_now() < at);
    return answer;
}

/* Lets a line start at its moment. False: a signal came, or nobody reads. */
static bool
start_line(limit_run *r, const paced_line *line)
{
    seine_time at = 0;
    char why[128] = "it would wait longer than --max-wait";
    pacer_answer answer = r->set->dry_run ? pacer_reserve(&r->pacer, line, 0, 0, &at, why)
                                          : wait_for_token(r, line, why);

    if (answer == PACER_ENDED || atomic_load(&r->failed))
        return false;
    if (answer != PACER_DUE) {
        refuse(r, line, answer == PACER_LIMITED, why);
        return true;
    }
    if (r->set->dry_run) {
        print_moment(r, line, at);
        return true;
    }
    if (!r->exec)
        return pass_line(r, r->in.text, r->in.len);
    limit_exec_start(r, line);
    return true;
}

/* --pass takes every line as it is; else blank lines and those with a # are passed over.
 */
static bool
is_meant(const limit_run *r, const paced_line *line)
{
    return r->set->pass || (line->len > 0 && line->text[0] != '#');
}

/* Reads and starts all lines. Returns the exit code of the reading. */
static int
start_all(limit_run *r)
{
    uint64_t waits = 0;
    lines_got got;
    paced_line line;
    bool goes_on = true;

    while (goes_on && (got = lines_next(&r->in)) != LINES_END) {
        char why[128] = "longer than 16 MiB";

        if (got == LINES_FAILED)
            return SAY_MACHINE;
        if (r->in.waits != waits)
            r->ready = seine_now();
        waits = r->in.waits;
        bool is_sound =
            got == LINES_ONE && paced_line_read(&line, r->in.text, r->in.len, why);
        if (got != LINES_ONE)
            line = (paced_line){.text = ""};
        line.number = r->in.number;
        if (r->exec)
            limit_exec_wait_for_slot(r);
        if (!is_sound &&
            !(r->set->pass && got == LINES_ONE && r->pacer.opts.key[0] == 'n'))
            refuse(r, &line, false, why);
        else if (is_meant(r, &line))
            goes_on = start_line(r, &line);
        paced_line_clear(&line);
    }
    return SAY_DONE;
}

static void
say_end(limit_run *r)
{
    limit_counts c = counts_of(r);
    textbuf text = {0};
    seine_span took = seine_now() - r->from;

    terminal_bar(&r->term, "");
    if (r->args->quiet && c.failed + c.limited + c.bad == 0)
        return;
    textbuf_put(&text, "done: %s %s in %s", figure_count(c.started).text,
                r->exec ? (c.started == 1 ? "command" : "commands")
                        : (c.started == 1 ? "line" : "lines"),
                figure_span(took).text);
    if (c.failed)
        textbuf_put(&text, ", %s failed", figure_count(c.failed).text);
    if (c.limited)
        textbuf_put(&text, ", %s refused: they would wait longer than --max-wait",
                    figure_count(c.limited).text);
    if (c.bad)
        textbuf_put(&text, ", %s left out", figure_count(c.bad).text);
    textbuf_put(&text, "\n");
    terminal_err(&r->term, text.text, text.len);
    textbuf_free(&text);
}

/* Waits for what runs, says how it went, and returns the exit code. */
static int
finish(limit_run *r, int code)
{
    if (r->exec)
        limit_exec_drain(r);
    if (!r->set->dry_run)
        say_end(r);
    if (r->exec && !limit_exec_close(r))
        code = SAY_MACHINE;
    limit_counts c = counts_of(r);
    int failed = atomic_load(&r->failed);
    if (failed)
        return failed == EPIPE
                   ? SAY_PIPE
                   : say_fail(SAY_MACHINE, say_write_advice(show_errno(failed).text),
                              "cannot write standard output: %s",
                              show_errno(failed).text);
    return code == SAY_DONE && c.failed + c.limited + c.bad > 0 ? SAY_FAILED : code;
}

/* Hears signals. After the first nothing new starts, and the program ends when the
 * commands that run have ended; after the second they are killed. The program ends here,
 * because the thread that reads may wait for a line for ever. */
static void *
hear_signals(void *arg)
{
    limit_run *r = arg;
    struct pollfd wait[2] = {{.fd = r->signals, .events = POLLIN},
                             {.fd = r->over, .events = POLLIN}};

    for (;;) {
        poll(wait, 2, atomic_load(&r->signal) ? 20 : -1);
        if (wait[1].revents)
            return NULL;
        int number = signals_next(r->signals);

        if (number == SIGHUP && !r->ends_on_hangup) {
            atomic_store(&r->has_hup, true);
        } else if (number == SIGINT || number == SIGTERM || number == SIGHUP) {
            if (atomic_load(&r->signal)) {
                limit_exec_kill(r);
                _exit(SAY_SIGNAL + number);
            }
            atomic_store(&r->signal, number);
            seine_ctx_cancel(r->ctx, SEINE_E_CANCELED);
        }
        number = atomic_load(&r->signal);
        if (number == 0 || (r->set->exec && !limit_exec_is_idle(r)))
            continue;
        if (atomic_exchange(&r->is_ending, true))
            return NULL; /* the other thread was faster */
        (void)finish(r, SAY_DONE);
        _exit(SAY_SIGNAL + number);
    }
}

static int
begin(limit_run *r)
{
    const limit_settings *set = r->set;
    const char *term = getenv("TERM");

    r->shows_bar =
        !r->args->quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    r->ends_on_hangup =
        isatty(STDIN_FILENO) || isatty(STDOUT_FILENO) || isatty(STDERR_FILENO);
    if (seine_ctx_root(seine_clock_system(), &r->ctx) != SEINE_OK)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    prctl(PR_SET_TIMERSLACK, 1000); /* ns: the default is 50,000 */
    r->from = r->ready = seine_now();
    if (set->dry_run)
        return SAY_DONE;
    r->signals = signals_open();
    int code = set->exec ? limit_exec_open(r) : SAY_DONE;
    if (code != SAY_DONE)
        return code;
    r->over = eventfd(0, EFD_CLOEXEC);
    r->hears = r->signals >= 0 && r->over >= 0 &&
               pthread_create(&r->ears, NULL, hear_signals, r) == 0;
    return r->hears ? SAY_DONE : say_fail(SAY_MACHINE, NULL, "no thread to be had");
}

static void
free_all(limit_run *r)
{
    if (r->hears && eventfd_write(r->over, 1) == 0)
        pthread_join(r->ears, NULL);
    if (r->signals >= 0)
        close(r->signals);
    if (r->over >= 0)
        close(r->over);
    if (r->exec)
        (void)limit_exec_close(r);
    seine_ctx_unref(r->ctx);
    lines_close(&r->in);
    pacer_close(&r->pacer);
    terminal_fini(&r->term);
    pthread_mutex_destroy(&r->lock);
}

int
limit_run_lines(const args *a)
{
    const limit_settings *set = a->settings;
    limit_run r = {.args = a, .set = set, .signals = -1, .over = -1};
    pacer_opts pace = {set->rate, (uint32_t)set->burst, set->key, set->max_wait};

    pthread_mutex_init(&r.lock, NULL);
    terminal_init(&r.term, true);
    int code = pacer_open(&r.pacer, &pace);
    if (code == SAY_DONE)
        code = lines_open(&r.in, a->count ? a->words[0] : "-");
    if (code == SAY_DONE)
        code = begin(&r);
    if (code == SAY_DONE) {
        code = start_all(&r);
        while (atomic_load(&r.signal) || atomic_exchange(&r.is_ending, true))
            pause(); /* the other thread ends the program */
        code = finish(&r, code);
    }
    free_all(&r);
    return code;
}
