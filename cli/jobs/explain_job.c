/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs/explain_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/convert.h>
#include <seine/explain.h>

#include "jobs/control.h"
#include "jobs/job_facts.h"
#include "jobs/job_hint.h"
#include "options/parse.h"
#include "options/values.h"
#include "screen/out.h"
#include "screen/record_table.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/fetch_state.h"
#include "verbs/jsonl.h"
#include "verbs/verbs.h"

enum { PATIENCE_MS = 2000 };

/* Opening */

/* Hands options of one command over to another, which has those that both know at the
 * same place of its settings. */
static void
become(args *io, const command *to)
{
    uint64_t given[OPTIONS_MOST / 64] = {0};

    for (const option *o = to->options; o->name; o++) {
        size_t place = (size_t)(o - to->options);

        if (options_given(io, o->name))
            given[place / 64] |= UINT64_C(1) << place % 64;
    }
    memcpy(io->given, given, sizeof given);
    io->command = to;
}

/* The options of the crawl or fetch, as its command line gives them. */
static int
parse_command(const args *a, explain_job *j)
{
    shared common = {0};
    job_command *c = &j->command;

    j->args.settings = xalloc_zeroed(1, a->command->settings_size);
    j->args.words = xalloc_zeroed(c->count + 1, sizeof *j->args.words);
    j->parsed = j->is_fetch ? &cmd_fetch : a->command;
    j->args.command = j->parsed;
    values_defaults(a->command, j->args.settings);
    values_defaults(j->parsed, j->args.settings);
    if (!j->is_crawl && !j->is_fetch)
        return SAY_DONE;
    int code =
        parse_words(&j->args, &common, c->words + c->options, c->count - c->options);
    become(&j->args, a->command);
    if (j->is_fetch)
        j->args.count = 0; /* it has no seeds */
    return code == PARSE_RUN ? SAY_DONE : code;
}

int
explain_job_open(const args *a, const char *state, const char *name, explain_job *out)
{
    seine_diag diag = SEINE_DIAG;
    char line[SEINE_DIAG_ROOM];

    *out = (explain_job){.args = {.command = a->command, .screen = a->screen}};
    seine_err e = seine_job_view_open(state, name, &out->view, &diag);
    if (e != SEINE_OK) {
        (void)seine_diag_print(&diag, NULL, line, sizeof line);
        return say_fail(SAY_USAGE, "seine jobs ls", "%s", line);
    }
    const seine_job_about *about = seine_job_view_about(out->view);
    if (about->err != SEINE_OK)
        return say_fail(SAY_USAGE, job_hint_about("jobs repair", about).text, "%s",
                        about->why);
    out->is_crawl =
        strcmp(about->verb, "crawl") == 0 || strcmp(about->verb, "mirror") == 0;
    out->is_fetch = strcmp(about->verb, "fetch") == 0;
    int code = job_command_load(about, &out->command);
    return code == SAY_DONE ? parse_command(a, out) : code;
}

void
explain_job_close(explain_job *j)
{
    if (j->args.settings) {
        become(&j->args, j->parsed);
        parse_free(&j->args);
    }
    free(j->args.settings);
    free(j->args.words);
    job_command_free(&j->command);
    seine_job_view_free(j->view);
}

/* "https://e.example:443" of a URL. */
static bool
host_of(const char *text, char *out, size_t cap)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    if (seine_url_parse(&url, text, strlen(text), NULL) != SEINE_OK)
        return false;
    size_t n = seine_url_authority(&url, out, cap);
    return n > 0 && n < cap;
}

bool
explain_job_robots(const explain_job *j, const char *url, seine_robots_answer *out)
{
    seine_fault fine = SEINE_FAULT;
    char host[300];
    seine_view text;
    int64_t wall;

    if (!host_of(url, host, sizeof host) ||
        !seine_job_view_robots(j->view, host, &text, &wall))
        return false;
    fine.status = 200;
    *out = (seine_robots_answer){.wall = wall, .status = 200, .authority = ""};
    seine_explain_robots(&fine, text, &out->state, &out->robots);
    return true;
}

/* Facts */

static void
set_count(seine_json *to, const char *name, uint64_t n)
{
    jsonl_set(to, name, seine_json_new_int((int64_t)(n & INT64_MAX)));
}

static const char *
state_of(const seine_job_url *u, seine_job_status job)
{
    if (!u->is_known)
        return "unknown";
    if (!u->has_ended)
        return job == SEINE_JOB_IS_FINISHED ? "not due" : "pending";
    if (!u->has_record)
        return "done";
    if (u->is_skip)
        return "skipped";
    return u->kind == SEINE_OK ? "fetched" : "failed";
}

static void
add_place(seine_json *to, const seine_job_url *u)
{
    jsonl_set(to, "given", seine_json_new_bool(u->is_given));
    set_count(to, "depth", u->depth);
    if (u->line > 0)
        set_count(to, "line", u->line);
    if (u->parent[0])
        jsonl_set(to, "parent", jsonl_string(u->parent));
    if (u->tag[0])
        jsonl_set(to, "tag", jsonl_string(u->tag));
    if (u->attr[0])
        jsonl_set(to, "attr", jsonl_string(u->attr));
}

static void
add_record(seine_json *to, const seine_job_url *u)
{
    set_count(to, "seq", u->seq);
    jsonl_set(to, "ts", jsonl_string(stamp_of(u->at).text));
    if (u->is_skip) {
        jsonl_set(to, "reason", jsonl_string(seine_skip_name(u->reason)));
        return;
    }
    jsonl_set(to, "outcome", jsonl_string(seine_fate_name(seine_fate_of(u->kind))));
    if (u->kind != SEINE_OK)
        jsonl_set(to, "error", jsonl_string(seine_err_name(u->kind)));
    if (u->status > 0)
        set_count(to, "status", u->status);
    set_count(to, "attempts", u->attempts);
    set_count(to, "bytes_body", u->bytes_body);
    jsonl_set(to, "total_ms", jsonl_in(u->total, SEINE_MS(1)));
    jsonl_set(to, "last_attempt_ms", jsonl_in(u->latency, SEINE_MS(1)));
}

/* The record itself says where the time went, and by which rule it was skipped. */

typedef struct search {
    char mark[40];            /* "seq":42, */
    seine_json *found, *next; /* the best so far; that of the output being read */
} search;

static bool
take_line(const char *line, size_t n, void *arg)
{
    search *s = arg;
    seine_json_fault fault;

    if (memmem(line, n < 4096 ? n : 4096, s->mark, strlen(s->mark)) &&
        seine_json_parse(line, n, &s->next, &fault) != SEINE_OK)
        s->next = NULL;
    return !s->next;
}

/* Does the record say where the time went? A table knows the sum alone. */
static bool
has_parts(const seine_json *record)
{
    return seine_json_size(seine_json_get(record, "time")) > 1;
}

/* Looks into an output, whatever its format, unless another one has said all. */
static void
search_output(const seine_job_output *o, void *arg)
{
    search *s = arg;

    if (has_parts(s->found))
        return;
    s->next = NULL;
    (void)!seine_lines_each(o->path, take_line, s, NULL);
    if (s->next && (!s->found || has_parts(s->next))) {
        seine_json_free(s->found);
        s->found = s->next;
    } else {
        seine_json_free(s->next);
    }
}

static void
copy_member(seine_json *to, const seine_json *from, const char *name)
{
    const seine_json *value = seine_json_get(from, name);

    if (value)
        jsonl_set(to, name, seine_json_new_copy(value));
}

static void
add_from_output(seine_json *to, const explain_job *j, const seine_job_url *u)
{
    search s = {.found = NULL};

    snprintf(s.mark, sizeof s.mark, "\"seq\":%llu,", (unsigned long long)u->seq);
    seine_job_view_outputs(j->view, search_output, &s);
    if (!s.found)
        return;
    copy_member(to, s.found, "rule");
    copy_member(to, s.found, "time");
    copy_member(to, s.found, "tries");
    seine_json_free(s.found);
}

/* What its host waits for: as the job says it, or as its state has it. */

typedef struct wanted {
    const char *host; /* "https://e.example:443" */
    seine_json *to;
} wanted;

static void
take_host(const seine_job_host *h, void *arg)
{
    wanted *w = arg;
    int64_t until = h->pause > h->open ? h->pause : h->open;

    if (strlen(w->host) != h->host.len || memcmp(w->host, h->host.ptr, h->host.len) != 0)
        return;
    set_count(w->to, "host_pending", h->pending);
    if (until > 0) {
        jsonl_set(w->to, "waits_for",
                  jsonl_string(h->pause >= h->open ? "retry_after" : "breaker"));
        jsonl_set(w->to, "until", jsonl_string(stamp_of(until).text));
    }
    if (h->every > 0)
        jsonl_set(w->to, "every_s", jsonl_in(h->every, SEINE_SECS(1)));
}

static bool
add_live(seine_json *to, const char *dir, const char *host)
{
    seine_json *line = control_line("show"), *live = NULL;
    char why[320];
    bool fine = control_ask(dir, line, PATIENCE_MS, &live, why) == CONTROL_OK;
    const seine_json *hosts = seine_json_get(live, "hosts");

    seine_json_free(line);
    for (size_t i = 0; i < seine_json_size(hosts); i++) {
        const seine_json *h = seine_json_at(hosts, i);

        if (strcmp(job_facts_text(h, "host"), host) != 0)
            continue;
        set_count(to, "host_pending", job_facts_count(h, "pending"));
        copy_member(to, h, "waits_for");
        copy_member(to, h, "until");
        copy_member(to, h, "in_s");
        copy_member(to, h, "cause");
        copy_member(to, h, "every_s");
    }
    seine_json_free(live);
    return fine;
}

static void
add_waits(seine_json *to, const explain_job *j, const char *url)
{
    const seine_job_about *a = seine_job_view_about(j->view);
    char host[300];
    seine_diag diag = SEINE_DIAG;

    if (!host_of(url, host, sizeof host))
        return;
    if (a->status == SEINE_JOB_IS_RUNNING &&
        add_live(to, a->path, show_host(host, strlen(host)).text))
        return;
    wanted w = {host, to};
    (void)!seine_job_view_hosts(j->view, take_host, &w, &diag);
}

seine_json *
explain_job_facts(const explain_job *j, const char *key, const char *url)
{
    seine_job_url *u = xalloc_zeroed(1, sizeof *u);
    seine_json *out = xalloc_json(seine_json_new_object());

    jsonl_set(out, "name", jsonl_string(seine_job_view_about(j->view)->name));
    if (seine_job_view_url(j->view, key, u) != SEINE_OK) {
        free(u);
        seine_json_free(out);
        return NULL;
    }
    jsonl_set(out, "state",
              jsonl_string(state_of(u, seine_job_view_about(j->view)->status)));
    if (u->has_place)
        add_place(out, u);
    if (u->has_record) {
        add_record(out, u);
        add_from_output(out, j, u);
    }
    if (u->is_known && !u->has_ended &&
        seine_job_view_about(j->view)->status != SEINE_JOB_IS_FINISHED)
        add_waits(out, j, url);
    free(u);
    return out;
}

/* For people */

static void
print_place(const seine_json *f)
{
    const char *parent = job_facts_text(f, "parent");
    bool is_given = false;
    uint64_t line = job_facts_count(f, "line");

    if (!seine_json_bool(seine_json_get(f, "given"), &is_given))
        return;
    if (is_given) {
        out_text(", given");
        if (line > 0)
            out_print(" in line %llu", (unsigned long long)line);
        return;
    }
    if (*parent)
        out_print(", found on %s", parent);
    if (line > 0)
        out_print(" line %llu", (unsigned long long)line);
    if (*job_facts_text(f, "tag"))
        out_print(" <%s %s>", job_facts_text(f, "tag"), job_facts_text(f, "attr"));
    out_print(", depth %llu", (unsigned long long)job_facts_count(f, "depth"));
}

static void
print_state(const seine_json *f, const screen *s)
{
    const char *state = job_facts_text(f, "state");
    bool is_good = strcmp(state, "fetched") == 0, is_bad = strcmp(state, "failed") == 0;

    out_print("%-9s ", "state");
    screen_put(s, is_good ? INK_GOOD : is_bad ? INK_BAD : INK_WARN, "%-8s", state);
    if (strcmp(state, "unknown") == 0) {
        out_print(" job %s has not found it\n", show(job_facts_text(f, "name")).text);
        return;
    }
    if (seine_json_get(f, "seq"))
        out_print(" seq %llu", (unsigned long long)job_facts_count(f, "seq"));
    else
        out_text(" no record yet");
    if (*job_facts_text(f, "reason"))
        out_print(", %s", job_facts_text(f, "reason"));
    if (*job_facts_text(f, "rule"))
        out_print(": %s", show(job_facts_text(f, "rule")).text);
    if (is_bad)
        out_print(", %s", job_facts_text(f, "error"));
    if (job_facts_count(f, "status") > 0)
        out_print(", status %llu", (unsigned long long)job_facts_count(f, "status"));
    print_place(f);
    out_text("\n");
}

/* "throttle 812 ms" for each part that took time. */
static void
print_times(const seine_json *f)
{
    static const char *const parts[] = {"queue", "throttle", "backoff", "dns",  "connect",
                                        "tls",   "ttfb",     "body",    "total"};
    const seine_json *t = seine_json_get(f, "time");
    size_t n = 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        double ms = 0;

        if (!seine_json_number(seine_json_get(t, parts[i]), &ms) || ms <= 0)
            continue;
        out_print("%s%s %s", n++ ? ", " : "", parts[i],
                  figure_span((seine_span)(ms * 1e6)).text);
    }
    if (n == 0) {
        double total = 0, last = 0;

        (void)seine_json_number(seine_json_get(f, "total_ms"), &total);
        (void)seine_json_number(seine_json_get(f, "last_attempt_ms"), &last);
        out_print("%s in all, of which the last attempt %s",
                  figure_span((seine_span)(total * 1e6)).text,
                  figure_span((seine_span)(last * 1e6)).text);
    }
}

static void
print_tries(const seine_json *tries)
{
    for (size_t i = 0; i < seine_json_size(tries); i++) {
        const seine_json *t = seine_json_at(tries, i);
        double ms = 0;

        out_print("try %-5llu ", (unsigned long long)job_facts_count(t, "n"));
        if (job_facts_count(t, "status") > 0)
            out_print("status %llu", (unsigned long long)job_facts_count(t, "status"));
        else
            out_text(show(job_facts_text(t, "error")).text);
        if (seine_json_number(seine_json_get(t, "wait_ms"), &ms) && ms > 0)
            out_print(", then waited %s for %s", figure_span((seine_span)(ms * 1e6)).text,
                      job_facts_text(t, "wait_reason"));
        out_text("\n");
    }
}

static void
print_waits(const seine_json *f)
{
    const char *why = job_facts_text(f, "waits_for"), *until = job_facts_text(f, "until");
    double every = 0;

    out_print("%-9s %s URLs of its host are pending", "waits",
              figure_count(job_facts_count(f, "host_pending")).text);
    if (*why)
        out_print(", for %s", why);
    if (*until)
        out_print(" until %s", until);
    if (*job_facts_text(f, "cause"))
        out_print(" (%s)", job_facts_text(f, "cause"));
    if (seine_json_number(seine_json_get(f, "every_s"), &every) && every > 0)
        out_print(", one request each %s", figure_span((seine_span)(every * 1e9)).text);
    out_text("\n");
}

void
explain_job_print(const seine_json *f, const screen *s)
{
    print_state(f, s);
    if (seine_json_get(f, "total_ms")) {
        out_print("%-9s %s attempt%s, ", "time",
                  figure_count(job_facts_count(f, "attempts")).text,
                  job_facts_count(f, "attempts") == 1 ? "" : "s");
        print_times(f);
        out_text("\n");
    }
    print_tries(seine_json_get(f, "tries"));
    if (seine_json_get(f, "host_pending"))
        print_waits(f);
}
