/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe_run.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <seine/calendar.h>
#include <seine/seen.h>
#include <seine/sitemap_walk.h>
#include <seine/url.h>

#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/signals.h"

/* A page to fetch. */
typedef struct target {
    char *url, *kind, *vars;
    uint32_t number;
    bool is_start; /* of the chain of start pages: it has the method and the body */
    struct target *next;
} target;

/* A host that leads may go to. */
typedef struct known_host {
    char *name;
    bool is_start; /* the recipe names it: it gets the headers */
} known_host;

typedef struct run {
    const recipe_run_opts *o;
    recipe_run_end *end;
    seine_fetch *fetch;
    seine_seen *urls, *rows;
    char run_date[16];
    int wake, signals;
    seine_time deadline;
    bool is_stopped;
    int code;

    bytes *files;
    size_t n_files, cap_files;
    seine_json *request;
    seine_field fields[64];
    size_t n_fields;
    const char *method, *body;

    target **given; /* by id */
    size_t n_given, cap_given;
    uint64_t seq; /* of items; the thread of the fetch counts */

    pthread_mutex_t lock; /* of what follows */
    target *first, *last; /* leads that wait */
    size_t out;           /* given and not ended */
    known_host *hosts;
    size_t n_hosts, cap_hosts;
} run;

static void
free_target(target *t)
{
    if (!t)
        return;
    free(t->url);
    free(t->kind);
    free(t->vars);
    free(t);
}

static target *
new_target(const char *url, const char *of_kind, const char *vars, uint32_t number,
           bool is_start)
{
    target *t = xalloc_zeroed(1, sizeof *t);

    t->url = xalloc_copy(url, strlen(url));
    t->kind = xalloc_copy(of_kind, strlen(of_kind));
    t->vars = vars ? xalloc_copy(vars, strlen(vars)) : NULL;
    t->number = number;
    t->is_start = is_start;
    return t;
}

static void
wake_main(run *r)
{
    uint64_t one = 1;

    if (write(r->wake, &one, sizeof one) < 0)
        return; /* it polls again soon */
}

/* The host of a URL as a key, or "" for none; the caller frees it. */
static char *
host_of(const char *url)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;
    seine_view host = {"", 0};

    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_parse(&u, url, strlen(url), NULL) == SEINE_OK)
        host = seine_url_host_port(&u);
    return xalloc_copy(host.ptr, host.len);
}

/* Is this one of the hosts, of those that the recipe names or of all? */
static bool
is_known_host(run *r, const char *url, bool named)
{
    char *host = host_of(url);
    bool is = false;

    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->n_hosts && !is; i++)
        is = strcmp(r->hosts[i].name, host) == 0 && (r->hosts[i].is_start || !named);
    pthread_mutex_unlock(&r->lock);
    free(host);
    return is;
}

static void
know_host(run *r, const char *url, bool is_start)
{
    if (is_known_host(r, url, is_start))
        return;
    pthread_mutex_lock(&r->lock);
    r->hosts = xalloc_room(r->hosts, r->n_hosts, &r->cap_hosts, sizeof *r->hosts);
    r->hosts[r->n_hosts++] = (known_host){host_of(url), is_start};
    pthread_mutex_unlock(&r->lock);
}

/* On the thread of the fetch. */

/* A page while the recipe is applied to it. */
typedef struct page_of {
    run *r;
    const target *t;
    char *url; /* without secrets */
    const char *ts;
} page_of;

static bool
on_row(const seine_row *row, void *arg)
{
    page_of *p = arg;
    item_of of = {seine_recipe_name(p->r->o->recipe->recipe), p->url, ++p->r->seq, p->ts};

    expectations_row(p->r->o->expect, p->url, row);
    item_out_row(p->r->o->out, &of, row);
    return true;
}

typedef struct merging {
    seine_json *all;
} merging;

static bool
put_member(const char *name, const seine_json *value, void *arg)
{
    merging *m = arg;

    jsonl_set(m->all, name, seine_json_new_copy(value));
    return true;
}

static void
put_members(merging *m, const char *text)
{
    seine_json *json = NULL;

    if (text && seine_json_parse(text, strlen(text), &json, NULL) == SEINE_OK)
        (void)seine_json_each(json, put_member, m);
    seine_json_free(json);
}

/* The variables of a page, with the carried fields of the row that leads on. */
static char *
merged(const char *vars, const char *carry)
{
    merging m = {xalloc_json(seine_json_new_object())};
    seine_text text = {NULL, 0};

    put_members(&m, vars);
    put_members(&m, carry);
    if (seine_json_print(m.all, &text) != SEINE_OK)
        xalloc_json(NULL);
    char *copy = xalloc_copy(text.bytes, text.len);
    seine_text_free(&text);
    seine_json_free(m.all);
    return copy;
}

static void
push(run *r, target *t)
{
    pthread_mutex_lock(&r->lock);
    if (r->last)
        r->last->next = t;
    else
        r->first = t;
    r->last = t;
    pthread_mutex_unlock(&r->lock);
}

static void
on_lead(const seine_lead *lead, void *arg)
{
    page_of *p = arg;
    char *vars = merged(p->t->vars, lead->carry);

    push(p->r, new_target(lead->url, lead->kind, vars, lead->number,
                          lead->is_next && p->t->is_start));
    free(vars);
}

static bool
is_new(const char *of_kind, const char *key, void *arg)
{
    page_of *p = arg;
    size_t n = strlen(of_kind) + strlen(key) + 2;
    char *both = xalloc_zeroed(n, 1);
    bool is = true;

    snprintf(both, n, "%s %s", of_kind, key);
    if (seine_seen_add(p->r->rows, both, n - 1, &is) == SEINE_E_NOMEM)
        xalloc_json(NULL);
    free(both);
    return is;
}

/* "2026-11-17T19:20:04.000000Z" */
static void
print_time(int64_t wall, char *out, size_t cap)
{
    seine_date d = seine_calendar_date(wall / 1000000000);

    snprintf(out, cap, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", d.year, d.month, d.day,
             d.hour, d.minute, d.second, (int)(wall / 1000 % 1000000));
}

static void
fail_page(run *r, const char *url, const char *why)
{
    if (r->end->failed++ == 0)
        snprintf(r->end->first_failure, sizeof r->end->first_failure, "%.120s: %.100s",
                 url, why);
}

static void
apply(run *r, const target *t, const seine_record *record)
{
    char *final = record->final_url.len > 0
                      ? xalloc_copy(record->final_url.ptr, record->final_url.len)
                      : xalloc_copy(t->url, strlen(t->url));
    char *type = xalloc_copy(record->content_type.ptr ? record->content_type.ptr : "",
                             record->content_type.len);
    char ts[40];
    size_t n;
    page_of p = {r, t, say_clean(final, strlen(final), &n), ts};
    seine_page page = SEINE_PAGE;
    seine_applied got = {0};

    if (t->is_start) /* it may have been redirected, to www. for instance */
        know_host(r, final, false);
    print_time(record->wall, ts, sizeof ts);
    page.url = final;
    page.kind = t->kind;
    page.content_type = type;
    page.body = record->body.ptr;
    page.len = record->body.ptr ? record->body.len : 0;
    page.vars = t->vars;
    page.run_date = r->run_date;
    page.fields = record->fields;
    page.n_fields = record->fields ? record->n_fields : 0;
    page.number = t->number;
    page.status = record->status;
    page.is_new = is_new;
    page.on_lead = on_lead;
    if (seine_recipe_apply(r->o->recipe->recipe, &page, on_row, &p, &got) != SEINE_OK)
        xalloc_json(NULL);
    if (got.err == SEINE_OK) {
        r->end->ok++;
        expectations_page(r->o->expect, p.url, t->is_start, got.good);
    } else {
        fail_page(r, p.url, seine_err_text(got.err));
    }
    free(p.url);
    free(type);
    free(final);
}

/* The page that a record belongs to; NULL: robots.txt or another that was not given. */
static const target *
target_of(const run *r, const seine_record *record)
{
    char text[24] = "";

    if (record->id.len == 0 || record->id.len >= sizeof text)
        return NULL;
    memcpy(text, record->id.ptr, record->id.len);
    size_t id = strtoull(text, NULL, 10);
    return id < r->n_given ? r->given[id] : NULL;
}

static void
on_record(const seine_record *record, unsigned shard, void *arg)
{
    run *r = arg;

    (void)shard;
    pthread_mutex_lock(&r->lock); /* `given` may grow meanwhile */
    const target *t = target_of(r, record);
    pthread_mutex_unlock(&r->lock);
    if (!t)
        return;
    if (record->type == SEINE_RECORD_RESULT && record->fate == SEINE_FATE_OK) {
        apply(r, t, record);
    } else if (record->type == SEINE_RECORD_SKIP) {
        r->end->skipped++;
    } else {
        char why[128];
        size_t n;
        char *url = say_clean(t->url, strlen(t->url), &n);
        snprintf(why, sizeof why, "%.*s",
                 (int)(record->message.len < 120 ? record->message.len : 120),
                 record->message.ptr ? record->message.ptr : "");
        fail_page(r, url, why[0] ? why : "failed");
        free(url);
    }
    pthread_mutex_lock(&r->lock);
    r->out--;
    pthread_mutex_unlock(&r->lock);
    wake_main(r);
}

/* On the main thread. */

static void
stop(run *r, seine_err why)
{
    r->is_stopped = true;
    seine_fetch_stop(r->fetch, why);
}

/* Waits until something happens, or a little; hears signals and the deadline. */
static void
wait_a_little(run *r, int ms)
{
    struct pollfd fds[2] = {{.fd = r->wake, .events = POLLIN},
                            {.fd = r->signals, .events = POLLIN}};
    seine_clock *clock = seine_clock_system();
    uint64_t count;
    int signal;

    if (poll(fds, 2, ms) > 0 && fds[0].revents && read(r->wake, &count, sizeof count) < 0)
        count = 0;
    while ((signal = signals_next(r->signals)) != 0)
        if (signal == 2 || signal == 15 || signal == 1) {
            if (r->is_stopped)
                _exit(SAY_SIGNAL + signal);
            r->end->signal = signal;
            stop(r, SEINE_E_CANCELED);
        }
    if (!r->is_stopped && clock->now(clock) >= r->deadline) {
        r->end->is_late = true;
        stop(r, SEINE_E_DEADLINE);
    }
}

/* Was this URL not given before? What is no URL gets its record. */
static bool
is_new_url(run *r, const char *url)
{
    char mem[SEINE_URL_ROOM], key[SEINE_URL_ROOM];
    seine_url u;
    size_t n;
    bool is = true;

    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_parse(&u, url, strlen(url), NULL) != SEINE_OK ||
        seine_url_key(&u, r->o->options->set->strip_params, key, sizeof key, &n) !=
            SEINE_OK)
        return true;
    if (seine_seen_add(r->urls, key, n, &is) == SEINE_E_NOMEM)
        xalloc_json(NULL);
    return is;
}

/* Gives one page to the fetch; waits while its queue is full. Takes the target over. */
static void
give(run *r, target *t)
{
    seine_ask ask = SEINE_ASK;
    char id[24];
    seine_err e = SEINE_E_FULL;

    if (r->is_stopped || !is_new_url(r, t->url)) {
        free_target(t);
        return;
    }
    pthread_mutex_lock(&r->lock);
    r->given = xalloc_room(r->given, r->n_given, &r->cap_given, sizeof *r->given);
    r->given[r->n_given++] = t;
    r->out++;
    pthread_mutex_unlock(&r->lock);
    snprintf(id, sizeof id, "%zu", r->n_given - 1);
    ask.url = (seine_view){t->url, strlen(t->url)};
    ask.id = (seine_view){id, strlen(id)};
    if (is_known_host(r, t->url, true)) {
        ask.fields = r->fields;
        ask.n_fields = r->n_fields;
    }
    if (t->is_start && r->method)
        ask.method = (seine_view){r->method, strlen(r->method)};
    if (t->is_start && r->body)
        ask.body = (seine_view){r->body, strlen(r->body)};
    while ((e = seine_fetch_add(r->fetch, &ask, NULL)) == SEINE_E_FULL)
        wait_a_little(r, 50);
    if (e == SEINE_OK)
        return;
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    pthread_mutex_lock(&r->lock);
    r->out--; /* the fetch is closed: there will be no record */
    pthread_mutex_unlock(&r->lock);
}

static target *
pop(run *r, bool *out_is_done)
{
    pthread_mutex_lock(&r->lock);
    target *t = r->first;
    if (t)
        r->first = t->next;
    if (!r->first)
        r->last = NULL;
    *out_is_done = !t && r->out == 0;
    pthread_mutex_unlock(&r->lock);
    if (t)
        t->next = NULL;
    return t;
}

/* Leads stay on the hosts of the start pages: a page cannot send the run elsewhere. */
static void
give_lead(run *r, target *t)
{
    if (is_known_host(r, t->url, false)) {
        give(r, t);
    } else {
        r->end->off_site++;
        free_target(t);
    }
}

/* Gives leads until none is left and no page is out. */
static void
follow_leads(run *r)
{
    bool is_done = false;

    while (!is_done) {
        target *t = pop(r, &is_done);
        if (t)
            give_lead(r, t);
        else if (!is_done)
            wait_a_little(r, 1000);
    }
}

/* A sitemap whose pages are start pages. */
typedef struct sitemap {
    run *r;
    const seine_lead *lead;
    uint64_t pages;
} sitemap;

static void
on_entry(const seine_sitemap_entry *e, const char *source, seine_sitemap_kind what,
         void *arg)
{
    sitemap *m = arg;
    char *url = xalloc_copy(e->loc.ptr ? e->loc.ptr : "", e->loc.len);

    (void)source;
    (void)what;
    m->pages++;
    if (is_known_host(m->r, url, false))
        give(m->r, new_target(url, m->lead->kind, m->lead->carry, 1, true));
    else
        m->r->end->off_site++;
    free(url);
}

static void
on_trouble(const char *source, seine_err e, const char *text, void *arg)
{
    sitemap *m = arg;
    size_t n;
    char *url = say_clean(source, strlen(source), &n);

    if (e != SEINE_OK)
        fail_page(m->r, url, text);
    free(url);
}

/* Reads it step by step and hears signals meanwhile. */
static seine_err
walk(run *r, seine_sitemap_walk *w, seine_diag *diag)
{
    seine_err e;

    while ((e = seine_sitemap_walk_step(w, diag)) == SEINE_OK && !r->is_stopped) {
        struct pollfd fd = {.fd = seine_sitemap_walk_fd(w), .events = POLLIN};
        if (poll(&fd, 1, 100) >= 0)
            wait_a_little(r, 0);
    }
    return e;
}

/* Gives the pages of a sitemap; those of other hosts are not followed. */
static void
give_sitemap(run *r, const seine_lead *lead)
{
    seine_fetch_opts fetch = r->o->options->plan.opts;
    seine_sitemap_walk_opts o = SEINE_SITEMAP_WALK_OPTS;
    seine_sitemap_walk *w = NULL;
    seine_diag diag = SEINE_DIAG;
    sitemap m = {r, lead, 0};

    fetch.on_record = NULL;
    fetch.arg = NULL;
    fetch.fields = r->fields;
    fetch.n_fields = r->n_fields;
    fetch.keep = SEINE_KEEP_TITLE;
    o.fetch = &fetch;
    o.on_entry = on_entry;
    o.on_trouble = on_trouble;
    o.arg = &m;
    seine_err e = seine_sitemap_walk_new(&o, &w);
    if (e == SEINE_OK)
        e = seine_sitemap_walk_add(w, lead->url);
    if (e == SEINE_OK)
        e = walk(r, w, &diag);
    seine_sitemap_walk_free(w);
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    if (e != SEINE_OK && e != SEINE_E_CLOSED)
        r->code =
            say_fail(SAY_USAGE, NULL, "start: the sitemap %s cannot be read: %s",
                     show(lead->url).text, diag.text[0] ? diag.text : seine_err_text(e));
}

static bool
on_start(const seine_lead *lead, void *arg)
{
    run *r = arg;

    know_host(r, lead->url, true);
    if (lead->is_sitemap)
        give_sitemap(r, lead);
    else
        give(r, new_target(lead->url, lead->kind, lead->carry, 1, true));
    return !r->is_stopped && r->code == SAY_DONE;
}

/* Files stay in memory until the end of the run. */
static bool
read_lines(const char *path, seine_view *out, void *arg)
{
    run *r = arg;
    char *whole = recipe_path(r->o->recipe, path);

    r->files = xalloc_room(r->files, r->n_files, &r->cap_files, sizeof *r->files);
    bytes *file = &r->files[r->n_files++];
    r->code = bytes_file(whole, file);
    free(whole);
    *out = (seine_view){file->ptr, file->len};
    return r->code == SAY_DONE;
}

/* Start pages of the recipe, or the URLs that were typed. */
static void
give_starts(run *r)
{
    const recipe_run_opts *o = r->o;
    seine_diag diag = SEINE_DIAG;

    for (size_t i = 0; i < o->n_urls; i++) {
        know_host(r, o->urls[i], true);
        give(r, new_target(o->urls[i], "", o->vars, 1, true));
    }
    if (o->n_urls > 0)
        return;
    seine_err e =
        seine_recipe_start(o->recipe->recipe, o->vars, read_lines, on_start, r, &diag);
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    if (e != SEINE_OK && r->code == SAY_DONE)
        r->code = say_fail(SAY_USAGE, NULL, "%s: '%s' %s", show(o->recipe->path).text,
                           diag.member, diag.text);
}

static bool
add_header(const char *name, const seine_json *value, void *arg)
{
    run *r = arg;
    const char *text = "";
    size_t n = 0;

    (void)seine_json_string(value, &text, &n);
    if (r->n_fields == sizeof r->fields / sizeof *r->fields)
        return false;
    r->fields[r->n_fields++] = (seine_field){{name, strlen(name)}, {text, n}};
    if (r->o->secrets && seine_secrets_add_field(r->o->secrets, name, strlen(name), text,
                                                 n) == SEINE_E_NOMEM)
        xalloc_json(NULL);
    return true;
}

/* What `request` of the recipe says. */
static int
read_request(run *r)
{
    seine_diag diag = SEINE_DIAG;
    seine_text text = {NULL, 0};
    const char *value;
    size_t n;
    seine_err e = seine_recipe_request(r->o->recipe->recipe, r->o->vars, &text, &diag);

    if (e == SEINE_E_CONFIG)
        return say_fail(SAY_USAGE, NULL, "%s: request: '%s' %s",
                        show(r->o->recipe->path).text, diag.member, diag.text);
    if (e != SEINE_OK ||
        seine_json_parse(text.bytes, text.len, &r->request, NULL) != SEINE_OK)
        xalloc_json(NULL);
    seine_text_free(&text);
    (void)seine_json_each(seine_json_get(r->request, "headers"), add_header, r);
    if (seine_json_string(seine_json_get(r->request, "method"), &value, &n))
        r->method = value;
    if (seine_json_string(seine_json_get(r->request, "body"), &value, &n))
        r->body = value;
    if (r->body && !r->method)
        r->method = "POST";
    return SAY_DONE;
}

static int
open_fetch(run *r)
{
    seine_fetch_opts *f = &r->o->options->plan.opts;
    seine_diag diag = SEINE_DIAG;
    char line[SEINE_DIAG_ROOM];

    f->on_record = on_record;
    f->arg = r;
    f->keep = SEINE_KEEP_BODY | SEINE_KEEP_FIELDS;
    f->dedup = false;
    f->threads = 1;
    f->secrets = r->o->secrets;
    seine_err e = seine_fetch_new(f, &r->fetch, &diag);
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    if (e == SEINE_OK)
        return SAY_DONE;
    seine_diag_print(&diag, f->names, line, sizeof line);
    return say_fail(SAY_USAGE, NULL, "%s", line);
}

static void
init(run *r)
{
    seine_clock *clock = seine_clock_system();
    seine_date d = seine_calendar_date(clock->wall(clock) / 1000000000);
    seine_span most = r->o->options->set->max_time;

    snprintf(r->run_date, sizeof r->run_date, "%04d-%02d-%02d", d.year, d.month, d.day);
    r->deadline = most > 0 && most < SEINE_NEVER ? clock->now(clock) + most : SEINE_NEVER;
    pthread_mutex_init(&r->lock, NULL);
    r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    r->signals = signals_open();
    if (seine_seen_new(NULL, &r->urls) != SEINE_OK ||
        seine_seen_new(NULL, &r->rows) != SEINE_OK)
        xalloc_json(NULL);
}

static void
fini(run *r)
{
    seine_fetch_free(r->fetch);
    while (r->first) {
        target *t = r->first;
        r->first = t->next;
        free_target(t);
    }
    for (size_t i = 0; i < r->n_given; i++)
        free_target(r->given[i]);
    for (size_t i = 0; i < r->n_hosts; i++)
        free(r->hosts[i].name);
    for (size_t i = 0; i < r->n_files; i++)
        bytes_free(&r->files[i]);
    free(r->given);
    free(r->hosts);
    free(r->files);
    seine_json_free(r->request);
    seine_seen_free(r->urls);
    seine_seen_free(r->rows);
    pthread_mutex_destroy(&r->lock);
    close(r->wake);
}

int
recipe_run(const recipe_run_opts *o, recipe_run_end *out_end)
{
    run *r = xalloc_zeroed(1, sizeof *r);

    memset(out_end, 0, sizeof *out_end);
    r->o = o;
    r->end = out_end;
    init(r);
    r->code = read_request(r);
    if (r->code == SAY_DONE)
        r->code = open_fetch(r);
    if (r->code == SAY_DONE)
        give_starts(r);
    if (r->fetch && r->code != SAY_DONE)
        stop(r, SEINE_E_CANCELED);
    if (r->fetch) {
        follow_leads(r);
        if (seine_fetch_finish(r->fetch, NULL) == SEINE_E_NOMEM)
            xalloc_json(NULL);
    }
    int code = r->code;
    fini(r);
    free(r);
    return code;
}
