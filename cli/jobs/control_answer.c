/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs/control_answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seine/clock.h>

#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/fetch_state.h"
#include "verbs/jsonl.h"

enum { HOSTS = 256, LOOKS = 100, LOOK_MS = 5 };

seine_json *
control_error(const char *fmt, ...)
{
    char text[400];
    va_list values;
    seine_json *out = xalloc_json(seine_json_new_object());

    va_start(values, fmt);
    vsnprintf(text, sizeof text, fmt, values);
    va_end(values);
    jsonl_set(out, "error", jsonl_string(text));
    return out;
}

static seine_json *
ok_of(seine_json *give)
{
    seine_json *out = xalloc_json(seine_json_new_object());

    jsonl_set(out, "ok", give);
    return out;
}

static void
set_count(seine_json *to, const char *name, uint64_t n)
{
    jsonl_set(to, name, seine_json_new_int((int64_t)(n & INT64_MAX)));
}

/* The hosts, as soon as the shards have looked: they do so within a turn. */
static size_t
look_at_hosts(seine_fetch *f, seine_fetch_wait waits[HOSTS])
{
    uint64_t ticket = seine_fetch_waits_ask(f);
    struct timespec a_little = {0, LOOK_MS * 1000000};
    size_t n = 0;

    for (int i = 0; i < LOOKS; i++) {
        if (seine_fetch_waits_get(f, ticket, waits, HOSTS, &n))
            return n;
        nanosleep(&a_little, NULL);
    }
    return 0;
}

/* As a record calls it: "retry_after". */
static const char *
wait_name(const seine_fetch_wait *w)
{
    if (w->is_parked)
        return "parked";
    return w->is_robots ? "robots" : seine_wait_name(w->why);
}

static seine_json *
host_of(const seine_fetch_wait *w, bool is_paused)
{
    seine_clock *clock = seine_clock_system();
    seine_json *out = xalloc_json(seine_json_new_object());

    jsonl_set(out, "host", jsonl_string(w->host));
    set_count(out, "pending", w->waiting + w->in_flight);
    set_count(out, "in_flight", w->in_flight);
    if (is_paused && w->waiting > 0)
        jsonl_set(out, "waits_for", jsonl_string("resume"));
    else if (w->is_held || w->is_parked)
        jsonl_set(out, "waits_for", jsonl_string(wait_name(w)));
    if (w->until > 0 && !is_paused) {
        seine_span left = w->until - clock->now(clock);

        jsonl_set(out, "until", jsonl_string(stamp_of(clock->wall(clock) + left).text));
        jsonl_set(out, "in_s", jsonl_in(left > 0 ? left : 0, SEINE_SECS(1)));
    }
    if (w->cause != SEINE_OK)
        jsonl_set(out, "cause", jsonl_string(seine_err_name(w->cause)));
    if (w->failures > 0)
        set_count(out, "failures", w->failures);
    if (w->every > 0)
        jsonl_set(out, "every_s", jsonl_in(w->every, SEINE_SECS(1)));
    return out;
}

/* Is nothing in flight, and every host held for a second or longer? */
static bool
is_waiting(const seine_fetch_wait *w, size_t n)
{
    seine_clock *clock = seine_clock_system();
    seine_time soon = clock->now(clock) + SEINE_SECS(1);

    for (size_t i = 0; i < n; i++)
        if (w[i].in_flight > 0 ||
            (!w[i].is_parked && !(w[i].is_held && w[i].until >= soon)))
            return false;
    return n > 0;
}

static seine_json *
status_of(const control_hooks *h, bool with_hosts)
{
    seine_json *out = xalloc_json(seine_json_new_object());
    seine_json *hosts = xalloc_json(seine_json_new_array());
    seine_fetch_wait *waits = xalloc_zeroed(HOSTS, sizeof *waits);
    size_t n = look_at_hosts(h->fetch, waits);
    bool is_paused = seine_fetch_is_paused(h->fetch);
    seine_fetch_stats s;

    seine_fetch_stats_get(h->fetch, &s);
    jsonl_set(out, "state",
              jsonl_string(is_paused              ? "paused"
                           : is_waiting(waits, n) ? "waiting"
                                                  : "running"));
    set_count(out, "done", s.done);
    set_count(out, "pending", s.admitted - s.done);
    set_count(out, "failed", s.failed + s.blocked);
    set_count(out, "skipped", s.refused);
    set_count(out, "in_flight", s.in_flight);
    for (size_t i = 0; i < n && with_hosts; i++)
        jsonl_add(hosts, host_of(&waits[i], is_paused));
    free(waits);
    if (with_hosts)
        jsonl_set(out, "hosts", hosts);
    else
        seine_json_free(hosts);
    return out;
}

static seine_json *
obey(const control_hooks *h, const char *cmd, const seine_json *line)
{
    char why[320];
    seine_json *nothing = xalloc_json(seine_json_new_object());

    if (strcmp(cmd, "pause") == 0 || strcmp(cmd, "resume") == 0) {
        bool is_paused = cmd[0] == 'p';

        if (seine_fetch_is_paused(h->fetch) != is_paused)
            h->say(is_paused ? "paused by: seine jobs pause" : "goes on", h->arg);
        seine_fetch_pause(h->fetch, is_paused);
        return ok_of(nothing);
    }
    if (strcmp(cmd, "stop") == 0) {
        h->stop(h->arg);
        return ok_of(nothing);
    }
    if (strcmp(cmd, "set") == 0 && control_set(h, line, why))
        return ok_of(nothing);
    seine_json_free(nothing);
    if (strcmp(cmd, "set") == 0)
        return control_error("%s", why);
    return control_error("no command '%s': show, status, pause, resume, stop or set",
                         show(cmd).text);
}

seine_json *
control_answer(const control_hooks *h, const char *bytes, size_t n)
{
    seine_json_fault fault = {.offset = 0};
    seine_json *line = NULL, *answer;
    const char *cmd;
    size_t len;

    if (seine_json_parse(bytes, n, &line, &fault) != SEINE_OK)
        return control_error("not JSON: %s", fault.text);
    if (!seine_json_string(seine_json_get(line, "cmd"), &cmd, &len))
        answer = control_error("no member 'cmd'");
    else if (strcmp(cmd, "show") == 0 || strcmp(cmd, "status") == 0)
        answer = ok_of(status_of(h, cmd[1] == 'h'));
    else
        answer = obey(h, cmd, line);
    seine_json_free(line);
    return answer;
}
