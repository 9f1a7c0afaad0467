/* SPDX-License-Identifier: Apache-2.0 */
/* The net of the engine's tests, and what it promises. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/time.h"
#include "check.h"
#include "script.h"

#define MAX_ASKED 4096
#define HEAD_ROOM 4096
#define TIGHT     8
#define PIECE     16384

typedef struct line {
    char url[256];
    answer answers[12];
    unsigned n, asked;
    struct line *next;
} line;

typedef struct jumping {
    seine_clock base;
    script *of;
} jumping;

struct script {
    jumping clock; /* first: the clock leads back to it */
    seine_clock *used;
    seine_time now;
    sn_rng dice;
    pthread_mutex_t lock; /* of what follows: shards may be threads */
    line *lines;
    asked *asked;
    unsigned n_asked, in_flight, peak, refuse;
    seine_err refuse_why;
    bool is_random, is_flaky, is_tight, in_pieces;
    flaky flaky;
    script_fn by;
    void *by_arg;
    const sn_shared_state *shared;
    sn_rng fate;
    sn_net net;
};

struct sn_exchange {
    sn_exchange *next;
    const sn_request *request;
    sn_handler handler;
    answer answer;
    seine_time start, due;
    seine_err canceled;
    bool admitted, left;
    bool begun, stands; /* in pieces: the head is out; nobody has room */
    size_t given;       /* of the body */
    unsigned asked;     /* where it is written down; MAX_ASKED: nowhere */
    uint64_t n;
};

typedef struct wirelike {
    sn_transport base;
    script *of;
    unsigned shard;
    sn_exchange *live;
    uint32_t word;
    _Atomic bool woken;
    uint64_t n;
    sn_head head;
} wirelike;

/* Time that jumps. */

static seine_time
jump_now(seine_clock *c)
{
    return ((jumping *)(void *)c)->of->now;
}

static int64_t
jump_wall(seine_clock *c)
{
    return jump_now(c) + SEINE_SECS(1700000000);
}

static uint64_t
jump_dice(seine_clock *c)
{
    return sn_rng_next(&((jumping *)(void *)c)->of->dice);
}

static bool
jump_wait(seine_clock *c, const uint32_t *word, uint32_t seen, seine_time until)
{
    script *s = ((jumping *)(void *)c)->of;

    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != seen)
        return true;
    if (until != SEINE_NEVER && until > s->now)
        s->now = until;
    return false;
}

static void
jump_wake(seine_clock *c, const uint32_t *word, int n)
{
    (void)c;
    (void)word;
    (void)n;
}

/* The transport. */

static line *
find(script *s, const char *url)
{
    line *l = s->lines;

    while (l && strcmp(l->url, url) != 0)
        l = l->next;
    return l;
}

static answer
draw(script *s)
{
    static const seine_err errs[] = {
        SEINE_E_CONNECT_REFUSED, SEINE_E_CONN_RESET,     SEINE_E_HEADER_TIMEOUT,
        SEINE_E_BODY_TRUNCATED,  SEINE_E_DNS_NXDOMAIN,   SEINE_E_BAD_FRAMING,
        SEINE_E_CONN_STALE,      SEINE_E_NO_FILES,       SEINE_E_BLOCKED_ADDRESS,
        SEINE_E_BODY_TOO_LARGE,  SEINE_E_UNEXPECTED_304, SEINE_E_DNS_SERVFAIL};
    static const uint16_t statuses[] = {404, 500, 503, 429, 301, 302, 307, 204, 418};
    static const char *const places[] = {"/next", "http://b.test/", "http://c.test/x",
                                         "",      "ftp://d.test/",  "http://"};
    static char location[6][64];
    answer a = {.takes = (seine_span)sn_rng_below(&s->fate, SEINE_MS(50)) + 1};
    unsigned kind = (unsigned)sn_rng_below(&s->fate, 10);

    if (kind < 3) {
        a.err = errs[sn_rng_below(&s->fate, sizeof errs / sizeof *errs)];
        a.unsent = seine_err_class(a.err) == SEINE_LOCAL;
        a.reused = a.replayable = a.err == SEINE_E_CONN_STALE;
        a.partial = a.err == SEINE_E_BODY_TRUNCATED;
        a.status = a.partial ? 200 : a.err == SEINE_E_UNEXPECTED_304 ? 304 : 0;
    } else if (kind < 6) {
        a.status = statuses[sn_rng_below(&s->fate, sizeof statuses / sizeof *statuses)];
        if (a.status > 300 && a.status < 400) {
            unsigned i = (unsigned)sn_rng_below(&s->fate, 6);
            snprintf(location[i], sizeof location[i], "Location: %s", places[i]);
            a.fields = location[i];
        }
        if (a.status == 503 && sn_rng_below(&s->fate, 2))
            a.fields = "Retry-After: 1";
    } else {
        a.body = "<title>t</title>";
        a.fields = "Content-Type: text/html";
    }
    return a;
}

static answer
fail_or_not(script *s)
{
    seine_time now = s->used->now(s->used);
    bool fails = sn_rng_below(&s->fate, 100) < s->flaky.pct ||
                 (now >= s->flaky.down_from && now < s->flaky.down_until);
    seine_span takes = SEINE_MS(20) + (seine_span)sn_rng_below(&s->fate, SEINE_MS(180));

    return fails ? s->flaky.failure : (answer){.takes = takes};
}

static answer
next_answer(script *s, const char *url)
{
    line *l = find(s, url);

    if (s->is_flaky)
        return fail_or_not(s);

    if (s->is_random)
        return draw(s);
    if (!l)
        return (answer){0};
    unsigned i = l->asked < l->n ? l->asked : l->n - 1;
    l->asked++;
    return l->n > 0 ? l->answers[i] : (answer){0};
}

static asked
describe(const wirelike *w, const sn_request *r, const char *url, seine_time now)
{
    asked of, *a = &of;
    size_t at = 0;

    *a = (asked){.at = now,
                 .sent_at = SEINE_NEVER,
                 .ceiling = r->ceiling,
                 .limits = *r->limits,
                 .insecure = r->insecure,
                 .identify = r->identify,
                 .fresh = r->fresh,
                 .conditional = r->conditional,
                 .range = r->range,
                 .shard = w->shard};
    snprintf(a->url, sizeof a->url, "%s", url);
    if (r->proxy)
        snprintf(a->proxy, sizeof a->proxy, "%.*s", SN_FMT(r->proxy->shown));
    snprintf(a->method, sizeof a->method, "%.*s", SN_FMT(r->method));
    snprintf(a->body, sizeof a->body, "%.*s", SN_FMT(r->body));
    for (size_t i = 0; i < r->n_fields && at < sizeof a->fields; i++)
        at += (size_t)snprintf(a->fields + at, sizeof a->fields - at, "%.*s: %.*s\n",
                               SN_FMT(r->fields[i].name), SN_FMT(r->fields[i].value));
    return of;
}

static void
write_down(script *s, const asked *a)
{
    if (s->n_asked < MAX_ASKED)
        s->asked[s->n_asked++] = *a;
}

static seine_err
start(sn_transport *t, const sn_request *request, const sn_handler *handler,
      sn_exchange **out_exchange)
{
    wirelike *w = (wirelike *)(void *)t;
    script *s = w->of;
    seine_time now = s->used->now(s->used);
    sn_exchange *x = NULL;
    seine_err e = SEINE_OK;
    char url[256];

    CHECK(request->deadline != SEINE_NEVER);
    snprintf(url, sizeof url, "%s", seine_url_href(request->url).ptr);
    pthread_mutex_lock(&s->lock);
    if (s->refuse > 0) {
        s->refuse--;
        e = s->refuse_why;
    } else {
        x = calloc(1, sizeof *x);
        asked a = describe(w, request, url, now);

        x->answer = s->by ? s->by(&a, s->by_arg) : next_answer(s, url);
        x->asked = s->n_asked;
        write_down(s, &a);
        if (++s->in_flight > s->peak)
            s->peak = s->in_flight;
    }
    pthread_mutex_unlock(&s->lock);
    if (e != SEINE_OK)
        return e;
    x->request = request;
    x->handler = *handler;
    x->start = now;
    x->due = sn_time_add(now, x->answer.takes > 0 ? x->answer.takes : SEINE_MS(10));
    x->n = w->n++;
    x->next = w->live;
    w->live = x;
    *out_exchange = x;
    return SEINE_OK;
}

static void
cancel(sn_transport *t, sn_exchange *x, seine_err why)
{
    wirelike *w = (wirelike *)(void *)t;

    CHECK(x != NULL);
    x->canceled = why;
    x->due = w->of->used->now(w->of->used);
}

static seine_time
due_end(const sn_exchange *x)
{
    return sn_time_min(x->due, x->request->deadline);
}

static seine_time
due(const sn_exchange *x)
{
    if (x->stands && x->canceled == SEINE_OK)
        return SEINE_NEVER;
    if (!x->admitted)
        return x->start;
    if (!x->left && !x->answer.unsent)
        return sn_time_min(x->start + x->answer.connects, due_end(x));
    return due_end(x);
}

/* It leaves now. */
static void
leave(script *s, sn_exchange *x, seine_time now)
{
    x->left = true;
    pthread_mutex_lock(&s->lock);
    if (x->asked < MAX_ASKED)
        s->asked[x->asked].sent_at = now;
    pthread_mutex_unlock(&s->lock);
    if (x->handler.ops->sent)
        x->handler.ops->sent(x->handler.arg);
}

/* The next one: the earliest, then the first to come. */
static sn_exchange *
first(const wirelike *w)
{
    sn_exchange *best = NULL;

    for (sn_exchange *x = w->live; x; x = x->next)
        if (!best || due(x) < due(best) || (due(x) == due(best) && x->n < best->n))
            best = x;
    return best;
}

static void
give_head(wirelike *w, const sn_exchange *x)
{
    sn_str rest = sn_str_of(x->answer.fields), one, name, value;

    sn_head_reset(&w->head);
    w->head.status = x->answer.status ? x->answer.status : 200;
    w->head.minor = 1;
    while (sn_str_next(&rest, '\n', &one)) {
        sn_str_cut(one, ':', &name, &value);
        value = sn_str_trim(value);
        CHECK(one.len + sizeof(sn_head_field) * 8 < HEAD_ROOM - w->head.len);
        memcpy(w->head.text + w->head.len, name.ptr, name.len);
        memcpy(w->head.text + w->head.len + name.len, value.ptr, value.len);
        uint32_t at = w->head.len, len = (uint32_t)name.len;
        sn_head_add(&w->head, (sn_head_field){at, len, at + len, (uint32_t)value.len});
        w->head.len += len + (uint32_t)value.len;
    }
    x->handler.ops->head(&w->head, x->handler.arg);
}

/* False: the handler has enough. */
static bool
give_body(const sn_exchange *x, uint64_t *out_bytes)
{
    char page[1024];
    sn_str body = sn_str_of(x->answer.body);
    size_t left = x->answer.fill;

    memset(page, 'x', sizeof page);
    *out_bytes = body.len + left;
    if (body.len > 0 &&
        (!x->handler.ops->body(sn_str_slice(body, 0, body.len / 2), x->handler.arg) ||
         !x->handler.ops->body(sn_str_slice(body, body.len / 2, body.len),
                               x->handler.arg)))
        return false;
    for (; left > 0; left -= left < 1024 ? left : 1024)
        if (!x->handler.ops->body((sn_str){page, left < 1024 ? left : 1024},
                                  x->handler.arg))
            return false;
    return true;
}

/* Bytes of a body that is filled; a text comes first. */
static sn_str
piece_of(const sn_exchange *x, size_t at, size_t most)
{
    static char page[PIECE];
    sn_str body = sn_str_of(x->answer.body);

    if (at < body.len)
        return sn_str_slice(body, at, at + most);
    size_t left = body.len + x->answer.fill - at;
    memset(page, 'x', sizeof page);
    return (sn_str){page, left < most ? left : most};
}

static void
archive(const sn_exchange *x, sn_str bytes)
{
    if (x->handler.ops->wire)
        x->handler.ops->wire(bytes, x->handler.arg);
}

static void
give_head_in_pieces(wirelike *w, sn_exchange *x)
{
    if (x->begun)
        return;
    x->begun = true;
    archive(x, SN_STR("HTTP/1.1 200 OK\r\n\r\n"));
    give_head(w, x);
}

/* A piece a millisecond, as large as there is room for. True: all of it was given, or
 * nobody wants more. */
static bool
give_piece(wirelike *w, sn_exchange *x, seine_time now)
{
    size_t all = sn_str_of(x->answer.body).len + x->answer.fill;

    give_head_in_pieces(w, x);
    if (x->given == all)
        return true;
    size_t room = x->handler.ops->room(x->handler.arg);
    x->stands = room == 0;
    x->due = now + SEINE_MS(1);
    if (x->stands)
        return false;
    sn_str piece = piece_of(x, x->given, room < PIECE ? room : PIECE);
    x->given += piece.len;
    archive(x, piece);
    if (x->handler.ops->body(piece, x->handler.arg))
        return false;
    x->canceled = SEINE_E_CANCELED;
    return true;
}

static void
finish(wirelike *w, sn_exchange *x, seine_err err, seine_time now)
{
    const answer *a = &x->answer;
    bool has_head = err == SEINE_OK || (err == a->err && a->status > 0);
    sn_end end = {.fault = SN_FAULT,
                  .partial = a->partial,
                  .reused = a->reused,
                  .replayable = a->replayable,
                  .peer = {4, {192, 0, 2, 1}},
                  .zone = a->zone,
                  .via = a->via,
                  .http = has_head ? 1 : 255,
                  .notes = a->notes};

    if (x->begun) {
        end.fault.status = x->answer.status ? x->answer.status : 200;
        end.body_bytes = end.wire_bytes = x->given;
        end.http = 1;
        end.partial = err != SEINE_OK;
    } else if (has_head) {
        give_head(w, x);
        end.fault.status = w->head.status;
        if (!give_body(x, &end.body_bytes)) {
            err = SEINE_E_CANCELED;
            end.partial = true;
        }
        end.wire_bytes = end.body_bytes;
    }
    end.fault.code = err;
    end.fault.phase = err == SEINE_OK ? SEINE_PHASE_NONE : a->phase;
    end.fault.sent = !(a->unsent && err != SEINE_OK);
    if (seine_err_group(err) == SEINE_E_TIMEOUT)
        end.fault.timeout_ms = x->request->limits->time.attempt / SEINE_MS(1);
    end.spent[SEINE_PHASE_HEAD] = now - x->start;
    for (sn_exchange **at = &w->live; *at; at = &(*at)->next)
        if (*at == x) {
            *at = x->next;
            break;
        }
    pthread_mutex_lock(&w->of->lock);
    w->of->in_flight--;
    pthread_mutex_unlock(&w->of->lock);
    x->handler.ops->end(&end, x->handler.arg);
    free(x);
}

static void
advance(wirelike *w, sn_exchange *x, seine_time now)
{
    if (x->canceled != SEINE_OK) {
        finish(w, x, x->canceled, now);
    } else if (!x->admitted) {
        x->admitted = true;
        seine_err e = x->handler.ops->admit(&(sn_ip){4, {192, 0, 2, 1}}, x->handler.arg);
        if (e != SEINE_OK) {
            x->answer.unsent = true;
            finish(w, x, e, now);
        }
    } else if (!x->left && !x->answer.unsent && now < due_end(x)) {
        seine_err e =
            x->answer.connects > 0 ? x->handler.ops->may_send(x->handler.arg) : SEINE_OK;
        if (e == SEINE_OK) {
            leave(w->of, x, now);
        } else {
            x->answer.unsent = true;
            finish(w, x, e, now);
        }
    } else if (now >= x->request->deadline) {
        finish(w, x, SEINE_E_TIMEOUT, now);
    } else if (!w->of->in_pieces || x->answer.err != SEINE_OK) {
        finish(w, x, x->answer.err, now);
    } else {
        bool has_all = give_piece(w, x, now); /* or was canceled with it */

        if (has_all)
            finish(w, x, x->canceled, now);
    }
}

static seine_time
turn(sn_transport *t, seine_time until)
{
    wirelike *w = (wirelike *)(void *)t;
    seine_clock *c = w->of->used;
    uint32_t seen = __atomic_load_n(&w->word, __ATOMIC_SEQ_CST);
    sn_exchange *x = first(w);
    seine_time at = sn_time_min(until, x ? due(x) : SEINE_NEVER);

    if (!atomic_exchange(&w->woken, false) && at > c->now(c))
        c->wait(c, &w->word, seen, at);
    seine_time now = c->now(c);
    while ((x = first(w)) && due(x) <= now)
        advance(w, x, now);
    return now;
}

static void
wake(sn_transport *t)
{
    wirelike *w = (wirelike *)(void *)t;
    seine_clock *c = w->of->used;

    atomic_store(&w->woken, true);
    __atomic_add_fetch(&w->word, 1, __ATOMIC_SEQ_CST);
    c->wake(c, &w->word, 1);
}

static int
no_fd(sn_transport *t)
{
    (void)t;
    return -1;
}

static void
resume(sn_transport *t, sn_exchange *x)
{
    const wirelike *w = (wirelike *)(void *)t;

    x->stands = false;
    x->due = w->of->used->now(w->of->used);
}

static const sn_transport_ops ops = {start, cancel, turn, wake,
                                     no_fd, resume, NULL, NULL};

/* An arena of which every piece is an allocation of its own. */
static void
tighten(sn_arena *a)
{
    sn_arena_fini(a);
    a->cap = SIZE_MAX;
}

static void
tighten_visits(sn_visits *all)
{
    sn_visit *some[TIGHT];
    seine_err e;
    size_t n = 0;

    while (n < TIGHT && (some[n] = sn_visits_take(all, &e)))
        tighten(&some[n++]->arena);
    while (n > 0)
        sn_visits_give(all, some[--n]);
}

static seine_err
open_net(void *self, const sn_shared_state *shared, uint32_t shard, uint32_t n_shards,
         sn_transport **out_transport, seine_diag *diag)
{
    wirelike *w = calloc(1, sizeof *w);
    script *s = self;

    s->shared = shared;
    if (s->is_tight)
        tighten_visits(shared->visits);
    (void)n_shards;
    (void)diag;
    w->base.ops = &ops;
    w->of = self;
    w->shard = shard;
    sn_head_init(&w->head, NULL);
    w->head.text = calloc(1, HEAD_ROOM); /* not the library's memory, which may fail */
    w->head.room = HEAD_ROOM;
    *out_transport = &w->base;
    return SEINE_OK;
}

static void
close_net(void *self, sn_transport *t)
{
    wirelike *w = (wirelike *)(void *)t;

    (void)self;
    CHECK(w->live == NULL); /* nothing is in flight any more */
    free(w->head.text);
    free(w);
}

/* The script. */

script *
script_new(seine_clock *clock)
{
    script *s = calloc(1, sizeof *s);

    s->clock =
        (jumping){{jump_now, jump_wall, jump_dice, jump_wait, jump_wake, NULL, NULL}, s};
    s->used = clock ? clock : &s->clock.base;
    s->now = T0;
    s->dice = sn_rng_seed(7);
    s->asked = calloc(MAX_ASKED, sizeof *s->asked);
    s->net = (sn_net){.open = open_net, .close = close_net, .self = s};
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void
script_free(script *s)
{
    for (line *l = s->lines, *next; l; l = next) {
        next = l->next;
        free(l);
    }
    pthread_mutex_destroy(&s->lock);
    free(s->asked);
    free(s);
}

const sn_shared_state *
script_shared(const script *s)
{
    return s->shared;
}

void
script_in_pieces(script *s)
{
    s->in_pieces = true;
}

void
script_tighten(script *s)
{
    s->is_tight = true;
}

seine_clock *
script_clock(script *s)
{
    return s->used;
}

const sn_net *
script_net(script *s)
{
    return &s->net;
}

void
script_jump(script *s, seine_span by)
{
    s->now += by;
}

seine_time
script_now(script *s)
{
    return s->used->now(s->used);
}

void
script_add(script *s, const char *url, const answer *a)
{
    line *l = find(s, url);

    if (!l) {
        l = calloc(1, sizeof *l);
        snprintf(l->url, sizeof l->url, "%s", url);
        l->next = s->lines;
        s->lines = l;
    }
    l->answers[l->n++] = *a;
}

void
script_random(script *s, uint64_t seed)
{
    s->is_random = true;
    s->fate = sn_rng_seed(seed);
}

void
script_by(script *s, script_fn fn, void *arg)
{
    s->by = fn;
    s->by_arg = arg;
}

void
script_flaky(script *s, const flaky *how)
{
    s->is_flaky = true;
    s->flaky = *how;
    s->fate = sn_rng_seed(how->seed);
}

unsigned
script_asked(script *s, const char *url)
{
    unsigned n = 0;

    pthread_mutex_lock(&s->lock);
    for (unsigned i = 0; i < s->n_asked; i++)
        n += strcmp(s->asked[i].url, url) == 0;
    pthread_mutex_unlock(&s->lock);
    return n;
}

unsigned
script_requests(script *s)
{
    pthread_mutex_lock(&s->lock);
    unsigned n = s->n_asked;
    pthread_mutex_unlock(&s->lock);
    return n;
}

const asked *
script_request(script *s, unsigned i)
{
    return &s->asked[i];
}

unsigned
script_peak(script *s)
{
    return s->peak;
}

unsigned
script_in_flight(script *s)
{
    return s->in_flight;
}

void
script_refuse_starts(script *s, seine_err why, unsigned n)
{
    s->refuse = n;
    s->refuse_why = why;
}

seine_fetch_opts
script_opts(script *s)
{
    seine_fetch_opts o = SEINE_FETCH_OPTS;

    o.clock = script_clock(s);
    o.threads = 0;
    o.mine = true;
    o.retry.jitter = SEINE_JITTER_NONE;
    o.user_agent = "test";
    return o;
}

TEST(script_gives_its_answers_in_turn_and_the_last_one_for_ever)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    const char *urls[] = {"http://a.test/", "http://a.test/", "http://a.test/"};
    seine_fetched got[3];

    script_on(s, "http://a.test/", &(answer){.status = 404}, &(answer){.status = 410});
    o.concurrency = 1;
    CHECK_EQ(sn_fetch_all(&o, script_net(s), NULL, urls, 3, got, NULL), SEINE_OK);
    CHECK_EQ(got[0].status, 404);
    CHECK_EQ(got[1].status, 410);
    CHECK_EQ(got[2].status, 410);
    CHECK_EQ(script_now(s) - T0, SEINE_MS(30));
    CHECK_EQ(script_in_flight(s), 0);
    seine_fetched_free(got, 3);
    script_free(s);
}
