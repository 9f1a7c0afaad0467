/* SPDX-License-Identifier: Apache-2.0 */
#include "console/topic.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "console/json_out.h"
#include "console/monitor.h"
#include "console/run_live.h"
#include "console/run_table.h"

enum {
    FRAME_MOST = 1 << 20,
    ROWS_MOST = 200,
    LINES_MOST = 100,
    FULL_QUEUE = 256 << 10, /* bytes that wait: no further frame */
    LEAST_MS = 500,
    MOST_MS = 60000
};

typedef enum topic_kind { RUNS, RUN, HOSTS, ERRORS, LOG, SYSTEM, KINDS } topic_kind;

static const char *const names[KINDS] = {"runs",   "run", "hosts",
                                         "errors", "log", "system"};

typedef struct subscription {
    struct subscription *next;
    sn_socket *socket;
    topic_kind kind;
    char id[SN_ULID];
    seine_span every;
    seine_time due;
    uint64_t n;       /* frames, those that were left out included */
    bool is_begun;    /* the full frame has left */
    int state;        /* of the run in the newest frame */
    uint64_t line_at; /* of a log */
    seine_fetch_look look;
} subscription;

struct sn_topics {
    seine_console *console;
    subscription *first;
    sn_timer timer;
    /* The newest frame that several may get. */
    topic_kind made_kind;
    char made_id[SN_ULID];
    seine_time made_at;
    sn_buf made;
};

static void fire(sn_timer *timer, seine_time now);

seine_err
sn_topics_new(seine_console *c, sn_topics **out_topics)
{
    sn_topics *t = sn_zalloc(sizeof *t);

    if (!t)
        return SEINE_E_NOMEM;
    t->console = c;
    t->timer.fire = fire;
    t->made_at = -1;
    sn_buf_init(&t->made, FRAME_MOST);
    seine_err e = sn_timer_reserve(&c->loop);
    if (e != SEINE_OK) {
        sn_topics_free(t);
        return e;
    }
    *out_topics = t;
    return SEINE_OK;
}

void
sn_topics_free(sn_topics *t)
{
    if (!t)
        return;
    for (subscription *s = t->first, *next; s; s = next) {
        next = s->next;
        sn_free(s);
    }
    sn_buf_fini(&t->made);
    sn_free(t);
}

/* Frames */

static void
put_runs(seine_console *c, sn_buf *b)
{
    unsigned n = 0;

    sn_buf_char(b, '[');
    for (sn_console_run *r = sn_runs_of(c)->first; r && n < ROWS_MOST; r = r->next, n++) {
        sn_json_out_next(b);
        if (r->live && sn_run_is_live(r)) /* the verdict names hosts */
            (void)sn_run_live_want_hosts(r->live, NULL);
        sn_buf_char(b, '{');
        sn_run_frame_row(r, b);
        sn_buf_char(b, '}');
    }
    sn_buf_char(b, ']');
}

/* A number of /proc/self/status, in KiB. */
static int64_t
memory_of_process(void)
{
    char line[256];
    long long kib = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (!f)
        return 0;
    if (fgets(line, sizeof line, f)) {
        const char *at = strchr(line, ' ');

        for (at = at ? at + 1 : line; *at >= '0' && *at <= '9'; at++)
            kib = kib * 10 + (*at - '0');
    }
    fclose(f);
    return kib * sysconf(_SC_PAGESIZE);
}

static int64_t
open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int64_t n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n > 3 ? n - 3 : 0; /* two dots, and the directory itself */
}

/* The results that the checks left; none is run here. */
static void
put_health(const seine_console *c, sn_buf *b)
{
    static const char *const words[] = {"unknown", "healthy", "unhealthy"};
    const sn_monitor *m = c->part[SN_PART_MONITOR];
    const char *name;

    sn_json_out_name(b, "health");
    sn_buf_char(b, '[');
    for (size_t i = 0; m && (name = seine_health_name(m->health, i)); i++) {
        seine_health_result r;

        if (seine_health_get(m->health, name, &r) != SEINE_OK)
            continue;
        sn_json_out_next(b);
        sn_buf_char(b, '{');
        sn_json_out_text(b, "name", name);
        sn_json_out_text(b, "status", words[r.status]);
        sn_json_out_text(b, "reason", r.reason);
        if (r.at > 0)
            sn_json_out_int(b, "at",
                            sn_console_wall_ms(c) - (c->loop.now - r.at) / SEINE_MS(1));
        sn_json_out_real(b, "took_ms", (double)r.took / 1e6);
        sn_buf_char(b, '}');
    }
    sn_buf_char(b, ']');
}

static void
put_system(seine_console *c, sn_buf *b)
{
    struct rusage use;
    double busy = 0, up = (double)(c->loop.now - c->since) / 1e9;

    if (getrusage(RUSAGE_SELF, &use) == 0)
        busy = (double)use.ru_utime.tv_sec + (double)use.ru_stime.tv_sec +
               (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
    sn_buf_char(b, '{');
    put_health(c, b);
    sn_json_out_int(b, "rss", memory_of_process());
    sn_json_out_int(b, "fds", open_files());
    sn_json_out_real(b, "cpu", up > 0 ? 100 * busy / up : 0);
    sn_monitor_put_loops(c, b);
    sn_json_out_int(b, "runs", (int64_t)sn_runs_of(c)->running);
    sn_buf_char(b, '}');
}

static void
put_log(subscription *s, const sn_run_live *l, sn_buf *b)
{
    uint64_t lost = 0;

    if (!s->is_begun && l->n_lines > LINES_MOST)
        s->line_at = l->n_lines - LINES_MOST;
    sn_buf_char(b, '{');
    sn_run_frame_lines(l, &s->line_at, LINES_MOST, b, &lost);
    sn_json_out_int(b, "lost", (int64_t)lost);
    sn_buf_char(b, '}');
}

static void
put_run(const subscription *s, sn_console_run *r, sn_buf *b)
{
    sn_buf_char(b, '{');
    sn_run_frame_figures(r, b);
    if (!s->is_begun && r->live) {
        sn_json_out_name(b, "history");
        sn_buf_char(b, '{');
        sn_run_frame_series(r->live, b, SN_LIVE_SECONDS);
        sn_buf_char(b, '}');
    }
    sn_buf_char(b, '}');
}

/* The value of `d`. False: there is nothing to say. */
static bool
put_data(subscription *s, sn_console_run *r, sn_buf *b)
{
    sn_run_live *l = r ? r->live : NULL;

    switch (s->kind) {
    case RUNS:
        put_runs(s->socket->console, b);
        return true;
    case SYSTEM:
        put_system(s->socket->console, b);
        return true;
    case RUN:
        if (!r)
            break;
        if (l) /* the verdict names hosts */
            (void)sn_run_live_want_hosts(l, NULL);
        put_run(s, r, b);
        return true;
    case HOSTS:
        if (!l)
            break;
        sn_buf_char(b, '{');
        sn_run_frame_hosts(l, sn_run_live_want_hosts(l, &s->look), b);
        sn_buf_char(b, '}');
        return true;
    case ERRORS:
        if (!l)
            break;
        sn_buf_char(b, '{');
        sn_run_frame_errors(l, b);
        sn_run_frame_skips(l, b);
        sn_buf_char(b, '}');
        return true;
    case LOG:
        if (!l || (s->is_begun && s->line_at == l->n_lines))
            break;
        put_log(s, l, b);
        return true;
    default:
        break;
    }
    return false;
}

/* Frames that do not depend on who gets them are made once in a turn. */
static bool
make_data(sn_topics *t, subscription *s, sn_console_run *r, sn_buf *out)
{
    bool is_shared =
        s->is_begun && (s->kind == RUNS || s->kind == RUN || s->kind == ERRORS);

    if (!is_shared)
        return put_data(s, r, out);
    if (t->made_at != t->console->loop.now || t->made_kind != s->kind ||
        strcmp(t->made_id, s->id) != 0) {
        sn_buf_reset(&t->made);
        if (!put_data(s, r, &t->made))
            return false;
        t->made_at = t->console->loop.now;
        t->made_kind = s->kind;
        memcpy(t->made_id, s->id, sizeof t->made_id);
    }
    sn_buf_str(out, sn_buf_view(&t->made));
    return true;
}

static void
send_frame(sn_topics *t, subscription *s)
{
    sn_console_run *r = s->id[0] ? sn_runs_find(t->console, sn_str_of(s->id)) : NULL;
    int state = r ? (int)r->meta.state : 0;
    sn_buf data, frame;

    if (s->id[0] && !r)
        return;
    if (r && s->is_begun && !sn_run_is_live(r) && s->state == state)
        return; /* nothing of it changes any more */
    s->n++;
    if (s->is_begun && sn_socket_waiting(s->socket) > FULL_QUEUE)
        return;
    sn_buf_init(&data, FRAME_MOST);
    if (!make_data(t, s, r, &data)) {
        s->n--;
        sn_buf_fini(&data);
        return;
    }
    sn_buf_init(&frame, FRAME_MOST + 512);
    sn_buf_printf(&frame,
                  "{\"t\":\"data\",\"topic\":\"%s%s%s\",\"n\":%llu,\"at\":%lld,"
                  "\"full\":%s,\"d\":",
                  names[s->kind], s->id[0] ? ":" : "", s->id, (unsigned long long)s->n,
                  (long long)sn_console_wall_ms(t->console),
                  s->is_begun ? "false" : "true");
    sn_buf_str(&frame, sn_buf_view(&data));
    sn_buf_char(&frame, '}');
    if (sn_buf_done(&frame) == SEINE_OK && sn_buf_done(&data) == SEINE_OK &&
        sn_socket_send(s->socket, sn_buf_view(&frame), SN_SEND_DATA)) {
        s->is_begun = true;
        s->state = state;
    }
    sn_buf_fini(&data);
    sn_buf_fini(&frame);
}

static void
arm(sn_topics *t)
{
    seine_time first = SEINE_NEVER;

    for (subscription *s = t->first; s; s = s->next)
        first = s->due < first ? s->due : first;
    sn_timer_set(&t->console->loop, &t->timer, first);
}

static void
fire(sn_timer *timer, seine_time now)
{
    sn_topics *t = (sn_topics *)(void *)((char *)timer - offsetof(sn_topics, timer));

    for (subscription *s = t->first; s; s = s->next) {
        if (s->due > now)
            continue;
        send_frame(t, s);
        s->due += s->every;
        if (s->due <= now) /* the console was held up: frames are not caught up */
            s->due = now + s->every;
    }
    arm(t);
}

/* Subscribing */

static bool
refuse(sn_topic_flaw *out, sn_api_error error, const char *text)
{
    *out = (sn_topic_flaw){error, text};
    return false;
}

static bool
read_topic(const seine_json *json, topic_kind *out_kind, char id[SN_ULID])
{
    sn_str topic, kind, rest;

    if (!seine_json_string(seine_json_get(json, "topic"), &topic.ptr, &topic.len))
        return false;
    bool has_id = sn_str_cut(topic, ':', &kind, &rest);
    id[0] = '\0';
    for (int i = 0; i < KINDS; i++) {
        bool needs_id = i != RUNS && i != SYSTEM;

        if (!sn_str_eq(kind, sn_str_of(names[i])) || has_id != needs_id)
            continue;
        if (needs_id && !sn_ulid_is(rest))
            return false;
        if (needs_id) {
            memcpy(id, rest.ptr, SN_ULID - 1);
            id[SN_ULID - 1] = '\0';
        }
        *out_kind = (topic_kind)i;
        return true;
    }
    return false;
}

static subscription **
find(sn_topics *t, const sn_socket *s, topic_kind kind, const char *id)
{
    subscription **at = &t->first;

    while (*at &&
           !((*at)->socket == s && (*at)->kind == kind && strcmp((*at)->id, id) == 0))
        at = &(*at)->next;
    return at;
}

static size_t
count(const sn_topics *t, const sn_socket *s)
{
    size_t n = 0;

    for (const subscription *x = t->first; x; x = x->next)
        n += x->socket == s;
    return n;
}

static void
read_look(const seine_json *json, seine_fetch_look *look)
{
    sn_str text;

    *look = (seine_fetch_look){.is_all = true};
    if (seine_json_string(seine_json_get(json, "sort"), &text.ptr, &text.len))
        look->sort = sn_run_frame_sort(text);
    if (seine_json_string(seine_json_get(json, "q"), &text.ptr, &text.len) &&
        text.len < sizeof look->match)
        memcpy(look->match, text.ptr, text.len);
}

bool
sn_topic_subscribe(sn_socket *s, const seine_json *json, sn_topic_flaw *out_flaw)
{
    sn_runs *runs = sn_runs_of(s->console);
    sn_topics *t = runs ? runs->topics : NULL;
    topic_kind kind;
    char id[SN_ULID];
    int64_t every = 1000;

    if (!t)
        return refuse(out_flaw, SN_API_UNAVAILABLE,
                      "the console is starting or stopping");
    if (!read_topic(json, &kind, id))
        return refuse(out_flaw, SN_API_NOT_FOUND, "no such topic");
    if (id[0] && !sn_runs_find(s->console, sn_str_of(id)))
        return refuse(out_flaw, SN_API_NOT_FOUND, "no such run");
    if (seine_json_get(json, "every_ms") &&
        (!seine_json_int(seine_json_get(json, "every_ms"), &every) || every < LEAST_MS ||
         every > MOST_MS))
        return refuse(out_flaw, SN_API_BAD_MESSAGE, "every_ms is from 500 to 60000");
    subscription *x = *find(t, s, kind, id);
    if (!x) {
        if (count(t, s) >= s->console->opts.limits.subscriptions)
            return refuse(out_flaw, SN_API_TOO_MANY, "too many subscriptions");
        x = sn_zalloc(sizeof *x);
        if (!x)
            return refuse(out_flaw, SN_API_UNAVAILABLE, "out of memory");
        x->next = t->first;
        t->first = x;
        x->socket = s;
        x->kind = kind;
        memcpy(x->id, id, sizeof x->id);
    }
    read_look(json, &x->look);
    x->every = SEINE_MS(every);
    x->is_begun = false; /* whoever asks again wants all of it */
    x->due = s->console->loop.now;
    send_frame(t, x);
    x->due += x->every;
    arm(t);
    return true;
}

bool
sn_topic_unsubscribe(sn_socket *s, const seine_json *json, sn_topic_flaw *out_flaw)
{
    sn_runs *runs = sn_runs_of(s->console);
    sn_topics *t = runs ? runs->topics : NULL;
    topic_kind kind;
    char id[SN_ULID];

    if (!t || !read_topic(json, &kind, id))
        return refuse(out_flaw, SN_API_NOT_FOUND, "no such topic");
    subscription **at = find(t, s, kind, id), *x = *at;
    if (x) {
        *at = x->next;
        sn_free(x);
    }
    return true;
}

static void
drop(sn_topics *t, const sn_socket *s, const char *id)
{
    for (subscription **at = &t->first; *at;) {
        subscription *x = *at;

        if ((s && x->socket == s) || (id && strcmp(x->id, id) == 0)) {
            *at = x->next;
            sn_free(x);
        } else {
            at = &x->next;
        }
    }
}

void
sn_topic_closed(sn_socket *s)
{
    sn_runs *runs = sn_runs_of(s->console);

    if (runs && runs->topics)
        drop(runs->topics, s, NULL);
}

void
sn_topics_forget(const sn_console_run *r)
{
    sn_runs *runs = sn_runs_of(r->console);

    if (runs && runs->topics)
        drop(runs->topics, NULL, r->meta.id);
}
