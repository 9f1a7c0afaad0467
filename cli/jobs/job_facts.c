/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs/job_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/clock.h>

#include "jobs/control.h"
#include "jobs/job_command.h"
#include "jobs/job_hint.h"
#include "screen/out.h"
#include "screen/record_table.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/fetch_state.h"
#include "verbs/jsonl.h"

enum { HOSTS_SHOWN = 50, PATIENCE_MS = 2000 };

int64_t
job_facts_wall(void)
{
    seine_clock *c = seine_clock_system();

    return c->wall(c);
}

figure
figure_age(int64_t wall, int64_t now)
{
    static const struct {
        int64_t seconds;
        const char *unit;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    int64_t age = wall < now ? (now - wall) / SEINE_SECS(1) : 0;
    figure f;

    for (size_t i = 0;; i++)
        if (age >= units[i].seconds || units[i].seconds == 1) {
            snprintf(f.text, sizeof f.text, "%lld %s",
                     (long long)(age / units[i].seconds), units[i].unit);
            return f;
        }
}

static void
set_count(seine_json *to, const char *name, uint64_t n)
{
    jsonl_set(to, name, seine_json_new_int((int64_t)(n & INT64_MAX)));
}

static const char *
status_name(seine_job_status s)
{
    static const char *const names[] = {[SEINE_JOB_IS_RUNNING] = "running",
                                        [SEINE_JOB_IS_FINISHED] = "finished",
                                        [SEINE_JOB_IS_STOPPED] = "stopped",
                                        [SEINE_JOB_IS_FAILED] = "failed"};

    return names[s];
}

seine_json *
job_facts_of(const seine_job_about *a)
{
    seine_json *f = xalloc_json(seine_json_new_object());
    char *typed = job_command_text(a);

    jsonl_set(f, "name", jsonl_string(a->name));
    jsonl_set(f, "command", jsonl_string(typed));
    free(typed);
    jsonl_set(f, "state", jsonl_string(status_name(a->status)));
    if (a->pid > 0)
        jsonl_set(f, "pid", seine_json_new_int(a->pid));
    if (a->err != SEINE_OK) {
        jsonl_set(f, "error", jsonl_string(seine_err_name(a->err)));
        jsonl_set(f, "message", jsonl_string(a->why));
    } else {
        set_count(f, "done", a->ok + a->failed);
        set_count(f, "pending", a->pending);
        set_count(f, "failed", a->failed);
        set_count(f, "skipped", a->skipped);
        set_count(f, "run", a->run);
    }
    jsonl_set(f, "created", jsonl_string(stamp_of(a->created).text));
    jsonl_set(f, "updated", jsonl_string(stamp_of(a->updated).text));
    set_count(f, "age_s", (uint64_t)((job_facts_wall() - a->updated) / SEINE_SECS(1)));
    set_count(f, "bytes", a->bytes);
    return f;
}

/* What the state says of outputs and hosts */

static void
add_output(const seine_job_output *o, void *arg)
{
    seine_json *out = xalloc_json(seine_json_new_object());

    jsonl_set(out, "path", jsonl_string(o->path));
    set_count(out, "committed", o->committed);
    jsonl_add(arg, out);
}

/* What a host of a job that does not run would wait for first, if it ran now. */
static const char *
wait_of(const seine_job_host *h, int64_t *out_until)
{
    *out_until = 0;
    if (h->pause > 0 && h->pause >= h->open) {
        *out_until = h->pause;
        return "retry_after";
    }
    if (h->open > 0) {
        *out_until = h->open;
        return "breaker";
    }
    *out_until = h->next;
    return h->delay > 0 ? "crawl_delay" : "host_rate";
}

static void
add_host(const seine_job_host *h, void *arg)
{
    seine_json *out = xalloc_json(seine_json_new_object());
    int64_t until;

    jsonl_set(out, "host", jsonl_string(show_host(h->host.ptr, h->host.len).text));
    set_count(out, "done", h->done);
    set_count(out, "pending", h->pending);
    if (h->pending > 0) {
        const char *why = wait_of(h, &until);

        if (until > 0) {
            jsonl_set(out, "waits_for", jsonl_string(why));
            jsonl_set(out, "until", jsonl_string(stamp_of(until).text));
            jsonl_set(out, "in_s", jsonl_in(until - job_facts_wall(), SEINE_SECS(1)));
        }
    }
    if (h->every > 0)
        jsonl_set(out, "every_s", jsonl_in(h->every, SEINE_SECS(1)));
    jsonl_add(arg, out);
}

int
job_facts_add_hosts(seine_json *facts, seine_job_view *v)
{
    seine_json *hosts = xalloc_json(seine_json_new_array());
    seine_diag diag = SEINE_DIAG;
    char line[SEINE_DIAG_ROOM];

    seine_err e = seine_job_view_hosts(v, add_host, hosts, &diag);
    jsonl_set(facts, "hosts", hosts);
    if (e == SEINE_OK)
        return SAY_DONE;
    if (seine_diag_print(&diag, NULL, line, sizeof line) == 0)
        snprintf(line, sizeof line, "%s", seine_err_text(e));
    return say_fail(e == SEINE_E_NOMEM ? SAY_MACHINE : SAY_USAGE,
                    e == SEINE_E_STATE_CORRUPT
                        ? job_hint_about("jobs repair", seine_job_view_about(v)).text
                        : NULL,
                    "%s", line);
}

/* What the job says itself replaces what its state says. */
static bool
take_over(const char *name, const seine_json *value, void *arg)
{
    jsonl_set(arg, name, seine_json_new_copy(value));
    return true;
}

bool
job_facts_add_live(seine_json *facts, const char *dir, const char *cmd)
{
    seine_json *line = control_line(cmd), *live = NULL;
    char why[320];
    bool fine = control_ask(dir, line, PATIENCE_MS, &live, why) == CONTROL_OK;

    seine_json_free(line);
    if (fine)
        (void)seine_json_each(live, take_over, facts);
    seine_json_free(live);
    return fine;
}

void
job_facts_add_outputs(seine_json *facts, const seine_job_view *v)
{
    seine_json *files = xalloc_json(seine_json_new_array());

    seine_job_view_outputs(v, add_output, files);
    jsonl_set(facts, "outputs", files);
}

/* For people */

const char *
job_facts_text(const seine_json *facts, const char *name)
{
    const char *text = "";
    size_t len;

    (void)seine_json_string(seine_json_get(facts, name), &text, &len);
    return text;
}

uint64_t
job_facts_count(const seine_json *facts, const char *name)
{
    int64_t n = 0;

    (void)seine_json_int(seine_json_get(facts, name), &n);
    return n > 0 ? (uint64_t)n : 0;
}

/* "breaker open, probe in 31 s (connect_refused)" */
static void
print_wait(const seine_json *host)
{
    const char *why = job_facts_text(host, "waits_for"),
               *cause = job_facts_text(host, "cause");
    double left = 0;

    if (!*why)
        return;
    (void)seine_json_number(seine_json_get(host, "in_s"), &left);
    bool is_open = strcmp(why, "breaker") == 0;
    out_print("  %s%s", is_open ? "breaker open, probe" : "waits for ",
              is_open ? "" : why);
    if (left > 0)
        out_print("%s %s", is_open ? " in" : ", until in",
                  figure_span((seine_span)(left * 1e9)).text);
    uint64_t failures = job_facts_count(host, "failures");
    if (*cause && failures > 0)
        out_print(" (%s ×%s)", show(cause).text, figure_count(failures).text);
    else if (*cause)
        out_print(" (%s)", show(cause).text);
}

static size_t
widest_host(const seine_json *hosts)
{
    size_t most = 0;

    for (size_t i = 0; i < seine_json_size(hosts) && i < HOSTS_SHOWN; i++) {
        size_t n = strlen(job_facts_text(seine_json_at(hosts, i), "host"));

        most = n > most ? n : most;
    }
    return most < 48 ? most : 48;
}

static void
print_hosts(const seine_json *hosts)
{
    size_t n = seine_json_size(hosts);
    int wide = (int)widest_host(hosts);

    for (size_t i = 0; i < n && i < HOSTS_SHOWN; i++) {
        const seine_json *h = seine_json_at(hosts, i);

        out_print("host      %-*s  %s pending", wide,
                  show(job_facts_text(h, "host")).text,
                  figure_count(job_facts_count(h, "pending")).text);
        if (job_facts_count(h, "in_flight") > 0)
            out_print("  %s in flight",
                      figure_count(job_facts_count(h, "in_flight")).text);
        print_wait(h);
        out_text("\n");
    }
    if (n > HOSTS_SHOWN)
        out_print("host      and %s more: -j lists them\n",
                  figure_count(n - HOSTS_SHOWN).text);
}

void
job_facts_print(const seine_json *facts)
{
    const seine_json *files = seine_json_get(facts, "outputs");

    out_print("job       %s\n", show(job_facts_text(facts, "name")).text);
    out_print("command   seine %s\n", job_facts_text(facts, "command"));
    out_print("state     %s", job_facts_text(facts, "state"));
    if (job_facts_count(facts, "pid") > 0)
        out_print(", process %llu", (unsigned long long)job_facts_count(facts, "pid"));
    out_print(", run %s, last change %s ago\n",
              figure_count(job_facts_count(facts, "run")).text,
              figure_age(job_facts_wall() -
                             (int64_t)job_facts_count(facts, "age_s") * SEINE_SECS(1),
                         job_facts_wall())
                  .text);
    out_print("urls      %s done, %s pending, %s failed, %s skipped",
              figure_count(job_facts_count(facts, "done")).text,
              figure_count(job_facts_count(facts, "pending")).text,
              figure_count(job_facts_count(facts, "failed")).text,
              figure_count(job_facts_count(facts, "skipped")).text);
    if (seine_json_get(facts, "in_flight"))
        out_print(", %s in flight",
                  figure_count(job_facts_count(facts, "in_flight")).text);
    out_print("\ndisk      %s\n", figure_bytes(job_facts_count(facts, "bytes")).text);
    for (size_t i = 0; i < seine_json_size(files); i++) {
        const seine_json *o = seine_json_at(files, i);
        uint64_t n = job_facts_count(o, "committed");

        out_print("output    %s%s%s\n", job_facts_text(o, "path"), n > 0 ? "  " : "",
                  n > 0 ? figure_bytes(n).text : "");
    }
    print_hosts(seine_json_get(facts, "hosts"));
}
