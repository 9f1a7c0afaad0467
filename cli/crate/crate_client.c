/* SPDX-License-Identifier: Apache-2.0 */
#include "crate/crate_client.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "crate/crate.h"
#include "options/fetch_opts.h"
#include "options/values.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/signals.h"
#include "verbs/verbs.h"

struct crate_client {
    args args; /* of fetch, whose settings these are */
    fetch_settings *set;
    fetch_plan plan;
    seine_fetch *fetch;
    int wake, signals;
    seine_time deadline;
    bool is_stopped;
    int code;

    pthread_mutex_t lock; /* of what follows */
    crate_reply *first, *last;
    size_t out; /* asked and not replied to */
};

void
crate_reply_free(crate_reply *reply)
{
    if (!reply)
        return;
    seine_json_free(reply->json);
    free(reply);
}

static void
push(crate_client *c, crate_reply *reply)
{
    pthread_mutex_lock(&c->lock);
    if (c->last)
        c->last->next = reply;
    else
        c->first = reply;
    c->last = reply;
    pthread_mutex_unlock(&c->lock);
}

static void
explain(const seine_record *record, reason *why)
{
    shown url = show_bytes(record->url.ptr ? record->url.ptr : "", record->url.len);
    shown said =
        show_bytes(record->message.ptr ? record->message.ptr : "", record->message.len);

    if (record->status > 0 && record->fate == SEINE_FATE_HTTP_ERROR)
        reason_set(why, "%s: status %u", url.text, record->status);
    else
        reason_set(why, "%s: %s", url.text, said.text[0] ? said.text : "failed");
}

static void
parse_body(const seine_record *record, crate_reply *reply)
{
    shown url = show_bytes(record->url.ptr ? record->url.ptr : "", record->url.len);
    seine_json_fault fault = {0};
    seine_err e = seine_json_parse(record->body.ptr ? record->body.ptr : "",
                                   record->body.len, &reply->json, &fault);

    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    if (e != SEINE_OK)
        reason_set(&reply->why, "%s: the answer is no JSON: byte %zu: %s", url.text,
                   fault.offset, show(fault.text).text);
}

/* On the thread of the engine. */
static void
on_record(const seine_record *record, unsigned shard, void *arg)
{
    crate_client *c = arg;
    crate_reply *reply = xalloc_zeroed(1, sizeof *reply);
    char id[24] = "";
    uint64_t one = 1;

    (void)shard;
    if (record->id.len > 0 && record->id.len < sizeof id)
        memcpy(id, record->id.ptr, record->id.len);
    reply->ticket = strtoull(id, NULL, 10);
    reply->status = record->status;
    reply->fate = record->type == SEINE_RECORD_RESULT ? record->fate : SEINE_FATE_BLOCKED;
    if (reply->fate == SEINE_FATE_OK)
        parse_body(record, reply);
    else
        explain(record, &reply->why);
    push(c, reply);
    if (write(c->wake, &one, sizeof one) < 0)
        return; /* the other thread looks again soon */
}

static void
stop(crate_client *c, seine_err why, int code)
{
    c->is_stopped = true;
    c->code = code;
    seine_fetch_stop(c->fetch, why);
}

/* Waits until something happens, or a little; hears signals and --max-time. */
static void
wait_a_little(crate_client *c)
{
    struct pollfd fds[2] = {{.fd = c->wake, .events = POLLIN},
                            {.fd = c->signals, .events = POLLIN}};
    seine_clock *clock = seine_clock_system();
    uint64_t count;
    int number;

    if (poll(fds, 2, 200) > 0 && fds[0].revents &&
        read(c->wake, &count, sizeof count) < 0)
        count = 0;
    while ((number = signals_next(c->signals)) != 0)
        if (number == SIGINT || number == SIGTERM || number == SIGHUP) {
            if (c->is_stopped)
                _exit(SAY_SIGNAL + number);
            stop(c, SEINE_E_CANCELED, SAY_SIGNAL + number);
        }
    if (!c->is_stopped && clock->now(clock) >= c->deadline)
        stop(c, SEINE_E_DEADLINE, SAY_EARLY);
}

void
crate_client_ask(crate_client *c, size_t ticket, const char *url, const char *body)
{
    static const seine_field json[] = {{{"Content-Type", 12}, {"application/json", 16}}};
    seine_ask ask = SEINE_ASK;
    char id[24];
    seine_err e;

    snprintf(id, sizeof id, "%zu", ticket);
    ask.url = (seine_view){url, strlen(url)};
    ask.id = (seine_view){id, strlen(id)};
    if (body) {
        ask.method = (seine_view){"POST", 4};
        ask.body = (seine_view){body, strlen(body)};
        ask.fields = json;
        ask.n_fields = 1;
        ask.idempotent = true; /* it is a question */
    }
    c->out++;
    while ((e = seine_fetch_add(c->fetch, &ask, NULL)) == SEINE_E_FULL)
        wait_a_little(c);
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    if (e != SEINE_OK) { /* it is closed: there will be no record */
        crate_reply *reply = xalloc_zeroed(1, sizeof *reply);

        reply->ticket = ticket;
        reply->fate = SEINE_FATE_CANCELED;
        reason_set(&reply->why, "%s: stopped", show(url).text);
        push(c, reply);
    }
}

static crate_reply *
pop(crate_client *c)
{
    pthread_mutex_lock(&c->lock);
    crate_reply *reply = c->first;
    if (reply) {
        c->first = reply->next;
        reply->next = NULL;
    }
    if (!c->first)
        c->last = NULL;
    pthread_mutex_unlock(&c->lock);
    return reply;
}

crate_reply *
crate_client_wait(crate_client *c)
{
    crate_reply *reply = NULL;

    while (c->out > 0 && !(reply = pop(c)))
        wait_a_little(c);
    c->out -= reply != NULL;
    return reply;
}

/* The settings of fetch, with what `seine crate` lets people change. */
static void
copy_settings(crate_client *c, const crate_settings *from)
{
    fetch_settings *to = xalloc_zeroed(1, cmd_fetch.settings_size);

    c->set = to;
    values_defaults(&cmd_fetch, to);
    to->host_rate = from->net.host_rate;
    to->timeout = from->net.timeout;
    to->max_time = from->net.max_time;
    to->retries = from->net.retries;
    to->backoff = from->net.backoff;
    to->breaker = from->net.breaker;
    to->header = from->net.header;
    to->user = from->net.user;
    to->user_agent = from->net.user_agent;
    to->contact = from->net.contact;
    to->insecure = from->insecure ? "" : NULL;
    to->cacert = from->net.cacert;
    to->proxy = from->net.proxy;
    to->no_proxy = from->net.no_proxy;
    to->resolve = from->net.resolve;
    to->allow_net = from->net.allow_net;
}

int
crate_client_open(const args *a, crate_client **out_client)
{
    const crate_settings *set = a->settings;
    crate_client *c = xalloc_zeroed(1, sizeof *c);
    seine_clock *clock = seine_clock_system();
    seine_diag diag = SEINE_DIAG;

    copy_settings(c, set);
    c->args = *a;
    c->args.command = &cmd_fetch;
    c->args.settings = c->set;
    c->args.count = 0;
    memset(c->args.given, 0, sizeof c->args.given);
    int code = fetch_plan_make(&c->args, &c->plan);
    if (code != SAY_DONE) {
        free(c->set);
        free(c);
        return code;
    }
    seine_span most = set->net.max_time;
    c->deadline = most > 0 && most < SEINE_NEVER ? clock->now(clock) + most : SEINE_NEVER;
    pthread_mutex_init(&c->lock, NULL);
    c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    c->signals = signals_open();
    c->plan.opts.on_record = on_record;
    c->plan.opts.arg = c;
    c->plan.opts.keep = SEINE_KEEP_BODY;
    c->plan.opts.dedup = false;
    c->plan.opts.threads = 1;
    seine_err e = seine_fetch_new(&c->plan.opts, &c->fetch, &diag);
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    if (e != SEINE_OK) {
        code = option_names_fail(c->plan.opts.names, SAY_USAGE, NULL, &diag, e);
        crate_client_close(c);
        return code;
    }
    *out_client = c;
    return SAY_DONE;
}

int
crate_client_close(crate_client *c)
{
    int code = c->code;
    crate_reply *reply;

    seine_fetch_free(c->fetch);
    while ((reply = pop(c)))
        crate_reply_free(reply);
    fetch_plan_free(&c->plan);
    pthread_mutex_destroy(&c->lock);
    close(c->wake);
    if (c->signals >= 0)
        close(c->signals);
    free(c->set);
    free(c);
    return code;
}
