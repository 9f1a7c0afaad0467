/* SPDX-License-Identifier: Apache-2.0 */
/* Sites and links over the network: a crawl of the sites, then one request for each
 * target that the crawl has not answered. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <seine/ctx.h>
#include <seine/url.h>

#include "check/check.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/run_start.h"

/* A target whose HEAD was refused and that is asked for again with GET. */
typedef struct second_ask {
    uint32_t target;
    bool is_last; /* its failures have been tried again already */
} second_ask;

typedef struct asking {
    check *c;
    seine_fetch *fetch;
    pthread_mutex_t lock; /* guards the check and everything below while shards run */
    int wake;
    second_ask *again;
    size_t n_again, cap_again, done_again;
    uint32_t *queue; /* the targets to ask for */
    size_t n_queue, cap_queue, at;
    size_t in_flight;
    bool is_crawl;
    bool is_public; /* a page came from a public address */
    seine_time deadline;
    unsigned stops;
    seine_eta eta;
    uint64_t ok, bad; /* answers */
    char name[128];   /* of a crawl: the host of its first seed */
} asking;

static seine_time
now_is(void)
{
    seine_clock *c = seine_clock_system();

    return c->now(c);
}

static char *
copy_view(seine_view v)
{
    return v.len > 0 ? xalloc_copy(v.ptr, v.len) : NULL;
}

/* Verdicts */

/* "404", "429, come back in 600 s", "certificate expired" */
static char *
why_of(const seine_record *r)
{
    char text[200];
    seine_span wait = r->fault ? r->fault->retry_after : -1;

    if (r->type == SEINE_RECORD_SKIP)
        snprintf(text, sizeof text, "%s", seine_skip_name(r->reason));
    else if (r->fate == SEINE_FATE_HTTP_ERROR || (r->status >= 400 && r->status <= 999))
        snprintf(text, sizeof text, "%u", r->status);
    else if (r->message.len > 0)
        snprintf(text, sizeof text, "%.*s",
                 (int)(r->message.len < 180 ? r->message.len : 180), r->message.ptr);
    else
        snprintf(text, sizeof text, "%s", seine_fate_name(r->fate));
    if (r->type == SEINE_RECORD_RESULT && r->status == 429 && wait > 0) {
        size_t n = strlen(text);

        snprintf(text + n, sizeof text - n, ", come back in %lld s",
                 (long long)((wait + SEINE_SECS(1) - 1) / SEINE_SECS(1)));
    }
    return xalloc_copy(text, strlen(text));
}

static void
judge_target(check_target *t, const seine_record *r)
{
    t->verdict = seine_link_verdict_of(r);
    t->is_judged = true;
    t->status = r->status;
    free(t->why);
    free(t->final_url);
    t->why = t->verdict == SEINE_LINK_OK ? NULL : why_of(r);
    t->final_url = r->n_hops > 0 ? copy_view(r->final_url) : NULL;
    t->kind = r->type == SEINE_RECORD_RESULT && r->fault && r->fault->code != SEINE_OK
                  ? seine_err_name(r->fault->code)
                  : NULL;
    if (t->verdict == SEINE_LINK_REDIRECTED) {
        free(t->why);
        t->why = NULL;
        for (size_t i = 0; i < r->n_hops && !t->why; i++)
            if (r->hops[i].status == 301 || r->hops[i].status == 308)
                t->why = xalloc_copy(r->hops[i].status == 301 ? "301" : "308", 3);
    }
}

static bool
is_html(const seine_record *r)
{
    return r->content_type.len == 0 ||
           memmem(r->content_type.ptr, r->content_type.len, "html", 4) != NULL;
}

/* The form of the document that a response holds; false: it has no anchors. */
static bool
kind_of(const seine_record *r, seine_document_kind *out_kind)
{
    *out_kind = SEINE_DOCUMENT_HTML;
    return is_html(r);
}

/* Whether an address is one that only a neighbour reaches. */
static bool
is_private(seine_view ip)
{
    static const char *const begins[] = {"127.", "10.",  "192.168.", "169.254.",
                                         "::1",  "fe80", "fc",       "fd"};
    char text[64];

    snprintf(text, sizeof text, "%.*s", (int)(ip.len < 60 ? ip.len : 60),
             ip.ptr ? ip.ptr : "");
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncasecmp(text, begins[i], strlen(begins[i])) == 0)
            return true;
    long second = strncmp(text, "172.", 4) == 0 ? strtol(text + 4, NULL, 10) : 0;
    return second >= 16 && second <= 31;
}

/* The crawl */

/* Keeps links and anchors of a page that came whole. */
static void
take_page(check *c, const seine_record *r, uint32_t n)
{
    char mem[SEINE_URL_ROOM], base_mem[SEINE_URL_ROOM];
    seine_url url, base;
    seine_document_link l;
    seine_document_kind form;

    seine_url_init(&url, mem, sizeof mem);
    seine_url_init(&base, base_mem, sizeof base_mem);
    if (!kind_of(r, &form) || seine_url_parse(&url, r->url.ptr, r->url.len, NULL) ||
        seine_document_read(c->document, form, r->body.ptr, r->body.len))
        return;
    check_take_anchors(c, &c->targets[n].anchors);
    uint32_t page = check_add_page(c, c->targets[n].url);
    c->pages[page].is_site = true;
    c->n_crawled++;
    seine_view own = seine_document_base(c->document);
    bool has_base =
        own.ptr && seine_url_resolve(&base, &url, own.ptr, own.len, NULL) == SEINE_OK;
    for (size_t i = 0; seine_document_at(c->document, i, &l); i++)
        if (strcmp(l.tag, "form") != 0)
            check_add_link(c, page, &l, has_base ? &base : &url, NULL);
    check_note_cut(c, c->targets[n].url);
}

/* The page redirects: its target is judged by itself. */
static void
take_redirect(check *c, const seine_record *r, uint32_t from)
{
    char mem[SEINE_URL_ROOM];
    seine_url to;

    seine_url_init(&to, mem, sizeof mem);
    if (seine_url_parse(&to, r->final_url.ptr, r->final_url.len, NULL) != SEINE_OK)
        return;
    uint32_t next = check_target_of(c, &to);
    if (next == NAME_MAP_NONE)
        return;
    c->targets[from].next = next;
    c->targets[from].hop = r->hops[r->n_hops - 1].status;
}

static bool
is_redirect(const seine_record *r)
{
    return r->type == SEINE_RECORD_RESULT && r->n_hops > 0 && r->status >= 300 &&
           r->status < 400 && r->final_url.len > 0;
}

static void
count_answer(asking *a, const seine_record *r)
{
    if (r->type != SEINE_RECORD_RESULT)
        return;
    a->ok += r->fate == SEINE_FATE_OK;
    a->bad += r->fate != SEINE_FATE_OK;
    a->c->answers++;
    a->c->failures += r->fate != SEINE_FATE_OK;
}

/* Whether --max-errors is reached; a share counts from 100 answers on. */
static bool
has_failed_enough(const check *c)
{
    enum { ENOUGH = 100 };
    const quota *q = &c->plan.max_errors;

    return !(q->percent && c->answers < ENOUGH) &&
           quota_is_reached(q, c->failures, c->answers);
}

/* Takes a record of the crawl, of this run or of an earlier one. */
static void
take_crawled(const seine_record *r, void *arg)
{
    asking *a = arg;
    check *c = a->c;
    char mem[SEINE_URL_ROOM];
    seine_url url;

    pthread_mutex_lock(&a->lock);
    count_answer(a, r);
    seine_url_init(&url, mem, sizeof mem);
    a->is_public |= r->ip.len > 0 && !is_private(r->ip);
    uint32_t n = seine_url_parse(&url, r->url.ptr, r->url.len, NULL) == SEINE_OK
                     ? check_target_of(c, &url)
                     : NAME_MAP_NONE;
    if (n != NAME_MAP_NONE && is_redirect(r)) {
        judge_target(&c->targets[n], r);
        take_redirect(c, r, n);
    } else if (n != NAME_MAP_NONE) {
        seine_skip why = r->type == SEINE_RECORD_SKIP ? r->reason : SEINE_SKIP_BAD_INPUT;
        bool asks_later = why == SEINE_SKIP_OFFSITE || why == SEINE_SKIP_DEPTH ||
                          why == SEINE_SKIP_NOFOLLOW;

        judge_target(&c->targets[n], r);
        c->targets[n].is_judged = !asks_later;
        if (r->type == SEINE_RECORD_RESULT && r->fate == SEINE_FATE_OK && r->body.len > 0)
            take_page(c, r, n);
    }
    pthread_mutex_unlock(&a->lock);
}

static void
on_crawled(const seine_record *r, unsigned shard, void *arg)
{
    asking *a = arg;

    if (check_job_is_on(a->c))
        check_job_put(a->c, shard, r);
    else
        take_crawled(r, a);
}

static bool
is_room(unsigned shard, void *arg)
{
    asking *a = arg;

    return check_job_has_room(a->c, shard);
}

/* Waiting */

static void
stop(asking *a, seine_err why)
{
    seine_fetch_stop(a->fetch, why);
    a->stops++;
}

/* How far the fetch is. */
static check_phase
phase_of(asking *a)
{
    pthread_mutex_lock(&a->lock);
    check_phase p = {.fetch = a->fetch,
                     .eta = &a->eta,
                     .name = a->name[0] ? a->name : NULL,
                     .ok = a->ok,
                     .bad = a->bad,
                     .total = a->n_queue + a->n_again,
                     .is_crawl = a->is_crawl,
                     .is_stopping = a->stops > 0};
    pthread_mutex_unlock(&a->lock);
    return p;
}

/* Hears signals and the deadline, and waits a little. */
static void
wait_a_little(asking *a)
{
    check *c = a->c;
    struct pollfd polled[] = {{.fd = c->watchdog.fd, .events = POLLIN},
                              {.fd = a->wake, .events = POLLIN}};
    uint64_t count;

    poll(polled, 2, 100);
    if (read(a->wake, &count, sizeof count) < 0)
        count = 0;
    check_phase p = phase_of(a);
    check_run_show(c, &p);
    if (check_run_hear(c, &p))
        stop(a, SEINE_E_CANCELED);
    pthread_mutex_lock(&a->lock);
    bool is_full = a->c->n_left > 0;
    a->c->too_many |= has_failed_enough(a->c);
    pthread_mutex_unlock(&a->lock);
    if (a->stops == 0 && atomic_load(&c->job.is_told)) {
        c->signal = c->signal ? c->signal : SIGTERM;
        stop(a, SEINE_E_CANCELED);
    }
    if (a->stops == 0 && (a->c->too_many || atomic_load(&c->job.failed) != SEINE_OK))
        stop(a, SEINE_E_CANCELED);
    if (a->stops == 0 && is_full && a->is_crawl)
        stop(a, SEINE_E_CANCELED);
    if (a->stops == 0 && now_is() >= a->deadline) {
        a->c->is_late = true;
        stop(a, SEINE_E_DEADLINE);
    }
}

static void
wake_main(asking *a)
{
    uint64_t one = 1;

    if (write(a->wake, &one, sizeof one) < 0)
        return;
}

static int
no_fetch(check *c, seine_err e, const seine_diag *diag)
{
    return option_names_fail(c->plan.names, e == SEINE_E_NOMEM ? SAY_MACHINE : SAY_USAGE,
                             "seine check --help", diag, e);
}

static void
init(asking *a, check *c, bool is_crawl)
{
    *a = (asking){
        .c = c, .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .is_crawl = is_crawl};
    pthread_mutex_init(&a->lock, NULL);
}

static int
begin(asking *a, seine_fetch_opts *o, seine_record_fn fn)
{
    seine_diag diag = SEINE_DIAG;
    check *c = a->c;

    bool limited = c->set->net.max_time > 0 && c->set->net.max_time != SEINE_NEVER;
    a->deadline = limited ? c->start + c->set->net.max_time : SEINE_NEVER;
    seine_eta_init(&a->eta, now_is());
    o->on_record = fn;
    o->arg = a;
    o->log = c->log.log;
    o->metrics = c->metrics.metrics;
    o->dedup = o->crawl != NULL; /* a GET may follow its HEAD */
    seine_err e = seine_fetch_new(o, &a->fetch, &diag);
    if (e != SEINE_OK)
        return no_fetch(c, e, &diag);
    if (!c->has_begun)
        run_start_say(&c->log, c->args->settings, &c->plan, &c->metrics, a->fetch);
    c->has_begun = true;
    check_run_keep_limits(c, a->fetch);
    check_job_listen(c, a->fetch);
    run_metrics_set_ready(&c->metrics, true);
    return SAY_DONE;
}

static void
end(asking *a)
{
    check_job_hang_up(a->c);
    seine_fetch_free(a->fetch);
    terminal_bar(&a->c->terminal, "");
    run_metrics_set_ready(&a->c->metrics, false);
    if (a->wake >= 0)
        close(a->wake);
    free(a->again);
    free(a->queue);
    pthread_mutex_destroy(&a->lock);
}

/* The host of the first seed, as the progress names the crawl. */
static void
name_crawl(asking *a, const char *site)
{
    const char *host = strstr(site, "://") + 3;
    size_t n = strcspn(host, "/?#");
    const char *at = memchr(host, '@', n);

    n -= at ? (size_t)(at + 1 - host) : 0;
    snprintf(a->name, sizeof a->name, "%s", show_host(at ? at + 1 : host, n).text);
}

/* Gives the seeds; a job has those of earlier runs, too. */
static void
give_seeds(asking *a)
{
    seine_ctx *ctx = NULL;

    if (check_job_is_on(a->c) && seine_ctx_root(seine_clock_system(), &ctx) == SEINE_OK) {
        (void)!seine_fetch_resume(a->fetch, ctx);
        seine_ctx_unref(ctx);
    }
    for (size_t i = 0; i < a->c->n_sites; i++) {
        seine_ask ask = SEINE_ASK;

        ask.url = (seine_view){a->c->sites[i], strlen(a->c->sites[i])};
        while (a->stops == 0 && seine_fetch_add(a->fetch, &ask, NULL) == SEINE_E_FULL)
            wait_a_little(a);
    }
}

/* Crawls the sites to their end, or to that of the run. */
static int
crawl_sites(asking *a, seine_fetch_opts *o)
{
    check *c = a->c;
    int code = SAY_DONE;

    if (check_job_is_on(c)) {
        code = check_job_begin_pages(c, o->threads, take_crawled, a);
        o->job = c->job.run.job;
        o->ready = is_room;
    }
    if (code == SAY_DONE)
        code = begin(a, o, on_crawled);
    if (code != SAY_DONE)
        return code;
    if (check_job_is_on(c))
        run_job_say(&c->job.run, c->args, &c->log);
    name_crawl(a, c->sites[0]);
    give_seeds(a);
    seine_fetch_close(a->fetch);
    while (!seine_fetch_is_done(a->fetch))
        wait_a_little(a);
    if (seine_fetch_finish(a->fetch, NULL) != SEINE_OK && a->stops == 0)
        return say_fail(SAY_MACHINE, "room in TMPDIR", "the crawl ended early");
    return SAY_DONE;
}

int
check_crawl(check *c)
{
    seine_fetch_opts o = c->plan.opts;
    asking a;

    if (c->n_sites == 0)
        return SAY_DONE;
    o.keep |= SEINE_KEEP_BODY;
    init(&a, c, true);
    int code = crawl_sites(&a, &o);
    if (check_job_is_on(c)) {
        int failed = check_job_end_pages(c);

        code = code == SAY_DONE ? failed : code;
    }
    if (a.is_public)
        c->plan.opts.untrusted = true; /* a public page leads to no private address */
    end(&a);
    return code;
}

/* Single links */

/* Whether a HEAD that failed is worth a GET: many servers do not know HEAD. */
static bool
is_head_refused(const seine_record *r, bool *out_last)
{
    *out_last = r->status >= 500 && r->status != 501 && r->status <= 599;
    if (r->type != SEINE_RECORD_RESULT)
        return false;
    if (r->fate == SEINE_FATE_BAD_RESPONSE)
        return r->fault && r->fault->code != SEINE_E_TOO_MANY_REDIRECTS &&
               r->fault->code != SEINE_E_BAD_REDIRECT;
    return r->fate == SEINE_FATE_HTTP_ERROR && r->status != 401 && r->status != 407 &&
           r->status != 429;
}

/* Queues the GET that follows a HEAD. */
static void
ask_again(asking *a, uint32_t target, bool is_last)
{
    a->again = xalloc_room(a->again, a->n_again, &a->cap_again, sizeof *a->again);
    a->again[a->n_again++] = (second_ask){target, is_last};
}

/* Judges the target by its last answer. */
static void
take_last_answer(asking *a, const seine_record *r, uint32_t n)
{
    check *c = a->c;
    check_target *t = &c->targets[n];
    seine_document_kind form;

    count_answer(a, r);
    judge_target(t, r);
    if (t->wants_anchors && r->fate == SEINE_FATE_OK && r->type == SEINE_RECORD_RESULT &&
        r->body.ptr && kind_of(r, &form) &&
        seine_document_read(c->document, form, r->body.ptr, r->body.len) == SEINE_OK)
        check_take_anchors(c, &t->anchors);
}

/* Takes an answer that an earlier run of the job has kept. */
static void
take_kept_answer(const seine_record *r, void *arg)
{
    asking *a = arg;
    char mem[SEINE_URL_ROOM];
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    if (seine_url_parse(&url, r->url.ptr, r->url.len, NULL) != SEINE_OK)
        return;
    uint32_t n = check_target_of(a->c, &url);
    if (n == NAME_MAP_NONE || a->c->targets[n].is_judged)
        return;
    check_target *t = &a->c->targets[n];
    if (r->method.len == 4 && memcmp(r->method.ptr, "HEAD", 4) == 0 &&
        is_head_refused(r, &t->is_tried)) {
        t->no_head = true;
        return;
    }
    take_last_answer(a, r, n);
    t->is_cached = true; /* asked again if its anchors are wanted now */
}

static void
take_answer(asking *a, const seine_record *r, uint32_t n)
{
    check *c = a->c;
    check_target *t = &c->targets[n];
    bool is_last;

    a->in_flight--;
    if (t->was_head && a->stops == 0 && is_head_refused(r, &is_last)) {
        ask_again(a, n, is_last);
        check_job_keep_answer(c, r, false);
        return;
    }
    take_last_answer(a, r, n);
    if (t->verdict != SEINE_LINK_UNKNOWN)
        check_job_keep_answer(c, r, t->wants_anchors);
}

static void
on_answer(const seine_record *r, unsigned shard, void *arg)
{
    asking *a = arg;
    uint32_t n = 0;

    (void)shard;
    for (size_t i = 0; i < r->id.len; i++)
        n = n * 10 + (uint32_t)(r->id.ptr[i] - '0');
    pthread_mutex_lock(&a->lock);
    if (n < a->c->n_targets)
        take_answer(a, r, n);
    pthread_mutex_unlock(&a->lock);
    wake_main(a);
}

/* Asks for a target. False: there is no room now. */
static bool
ask_one(asking *a, uint32_t n, bool with_get, int32_t retries)
{
    check_target *t = &a->c->targets[n];
    seine_ask ask = SEINE_ASK;
    char id[16];

    snprintf(id, sizeof id, "%u", n);
    t->was_head = !with_get && !t->wants_anchors;
    ask.url = (seine_view){t->url, strlen(t->url)};
    ask.id = (seine_view){id, strlen(id)};
    ask.method = t->was_head ? (seine_view){"HEAD", 4} : (seine_view){"GET", 3};
    ask.retries = retries;
    pthread_mutex_lock(&a->lock);
    a->in_flight++;
    pthread_mutex_unlock(&a->lock);
    seine_err e = seine_fetch_add(a->fetch, &ask, NULL);
    if (e == SEINE_OK)
        return true;
    pthread_mutex_lock(&a->lock);
    a->in_flight--;
    pthread_mutex_unlock(&a->lock);
    return e != SEINE_E_FULL; /* closed: it stays unknown */
}

/* Gives everything there is room for. True: something is left. */
static bool
ask_more(asking *a)
{
    while (a->stops == 0 && a->at < a->n_queue)
        if (ask_one(a, a->queue[a->at], false, -1))
            a->at++;
        else
            return true;
    for (;;) {
        second_ask next = {0, false};

        pthread_mutex_lock(&a->lock);
        bool more = a->stops == 0 && a->done_again < a->n_again;
        if (more)
            next = a->again[a->done_again];
        bool busy = a->in_flight > 0;
        pthread_mutex_unlock(&a->lock);
        if (!more)
            return busy;
        if (!ask_one(a, next.target, true, next.is_last ? 0 : -1))
            return true;
        a->done_again++;
    }
}

/* Whether the URL is of an origin that was typed. Secrets, -k and --mine go there and
 * nowhere else. */
static bool
is_own(const check *c, const char *url)
{
    for (size_t i = 0; i < c->n_sites; i++) {
        const char *host = strstr(c->sites[i], "://");
        size_t n = (size_t)(host + 3 - c->sites[i]) + strcspn(host + 3, "/?#");

        if (strncasecmp(url, c->sites[i], n) == 0 && strchr("/?#", url[n]))
            return true;
    }
    return false;
}

static bool
is_due(const check *c, const check_target *t, bool own)
{
    bool lacks_anchors = t->wants_anchors && !t->anchors.is_known;

    return (!t->is_judged || (t->is_cached && lacks_anchors)) && is_own(c, t->url) == own;
}

static void
queue_targets(asking *a, bool own)
{
    check *c = a->c;

    for (size_t i = 0; i < c->n_targets; i++) {
        if (!is_due(c, &c->targets[i], own))
            continue;
        if (c->targets[i].no_head) {
            ask_again(a, (uint32_t)i, c->targets[i].is_tried);
            continue;
        }
        a->queue = xalloc_room(a->queue, a->n_queue, &a->cap_queue, sizeof *a->queue);
        a->queue[a->n_queue++] = (uint32_t)i;
    }
}

/* One request after the crawl waits as long as one of the crawl would have. */
static void
keep_distance(const check *c)
{
    const seine_rate *r = &c->plan.opts.host_rate;

    if ((c->n_sites == 0 && !c->job.run.is_resumed) || c->plan.opts.mine || r->count == 0)
        return;
    struct pollfd none = {.fd = -1};
    poll(&none, 1, (int)((r->per / (seine_span)r->count) / SEINE_MS(1)) + 1);
}

/* The options for links: a stranger gets nothing that was meant for the typed hosts. */
static seine_fetch_opts
link_opts(const check *c, bool own)
{
    seine_fetch_opts o = c->plan.opts;

    o.crawl = NULL;
    o.robots = SEINE_OBEY_OFF;
    o.accept_type = NULL;
    if (own) {
        o.untrusted = c->set->net.untrusted_urls;
        return o;
    }
    o.mine = o.insecure = false;
    o.fields = NULL;
    o.n_fields = 0;
    o.cert = o.cert_key = NULL;
    return o;
}

static int
ask_these(check *c, bool own)
{
    seine_fetch_opts o = link_opts(c, own);
    asking a;
    bool any = false;

    for (size_t i = 0; i < c->n_targets; i++) {
        any |= is_due(c, &c->targets[i], own);
        if (c->targets[i].wants_anchors)
            o.keep |= SEINE_KEEP_BODY;
    }
    if (!any || c->signal || c->is_late || c->too_many)
        return SAY_DONE;
    if (own || c->job.run.is_resumed)
        keep_distance(c);
    init(&a, c, false);
    int code = begin(&a, &o, on_answer);
    if (code != SAY_DONE) {
        end(&a);
        return code;
    }
    queue_targets(&a, own);
    while (ask_more(&a))
        wait_a_little(&a);
    seine_fetch_close(a.fetch);
    while (!seine_fetch_is_done(a.fetch))
        wait_a_little(&a);
    end(&a);
    return SAY_DONE;
}

/* Reads what earlier runs of the job have been answered. */
static int
begin_answers(check *c)
{
    asking a;

    init(&a, c, false);
    int code = check_job_begin_answers(c, take_kept_answer, &a);
    end(&a);
    return code;
}

int
check_ask(check *c)
{
    int code = check_job_is_on(c) ? begin_answers(c) : SAY_DONE;

    if (code == SAY_DONE)
        code = ask_these(c, true);
    if (code == SAY_DONE)
        code = ask_these(c, false);
    check_job_end_answers(c);
    if (code == SAY_DONE && atomic_load(&c->job.failed) != SEINE_OK) {
        run_log_fail(&c->log, (seine_err)atomic_load(&c->job.failed),
                     "free some space, then the same command again",
                     "cannot write to '%s'", show(seine_job_path(c->job.run.job)).text);
        code = SAY_MACHINE;
    }
    return code;
}

/* Hosts that were given up */

static bool
is_left_by(const check_target *t, seine_err why)
{
    return t->verdict == SEINE_LINK_UNKNOWN && t->kind &&
           strcmp(t->kind, seine_err_name(why)) == 0;
}

/* Says how many links were not asked for because of `why`, and names a host of them. */
static void
say_left(check *c, seine_err why, const char *advice, const char *what)
{
    const check_target *first = NULL;
    size_t n = 0;

    for (size_t i = 0; i < c->n_targets; i++)
        if (is_left_by(&c->targets[i], why)) {
            first = first ? first : &c->targets[i];
            n++;
            c->is_parked |= is_own(c, c->targets[i].url);
        }
    if (!first)
        return;
    const char *host = strstr(first->url, "://") + 3;
    run_log_fail(&c->log, why, advice, "%s %s: %s link%s not asked for",
                 show_host(host, strcspn(host, "/?#")).text, what, figure_count(n).text,
                 n == 1 ? " was" : "s were");
}

bool
check_say_parked(check *c)
{
    char what[100];

    snprintf(what, sizeof what, "asks to wait longer than --max-retry-after %s",
             figure_span(c->plan.opts.max_retry_after).text);
    say_left(c, SEINE_E_RETRY_AFTER_TOO_LONG,
             "the same command later, or a longer --max-retry-after", what);
    say_left(c, SEINE_E_BREAKER, "the same command when it is back, or --breaker off",
             "kept failing");
    return c->is_parked;
}
