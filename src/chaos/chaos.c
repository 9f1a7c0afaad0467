/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/chaos.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/opts.h"
#include "chaos/resolver.h"
#include "chaos/server.h"

/* What the owner asks the server's thread to do, one order at a time. */
typedef enum order { NOTHING, REPORT, RESET, ADD, STOP } order;

struct seine_chaos {
    snc_server server; /* only the thread uses it while it runs */
    pthread_t thread;
    bool running;
    int bell;
    snc_watch answering;

    pthread_mutex_t lock;
    pthread_cond_t done;
    order order; /* under the lock, as all below */
    const char *word;
    const seine_chaos_fault *fault;
    seine_err result;
    sn_buf text;

    char http[40], https[40], socks[40], dead[40], hole[40], dns[40];
};

static seine_err
carry_out(seine_chaos *c, order what)
{
    snc_world *w = &c->server.world;

    switch (what) {
    case REPORT:
        snc_world_report(w, &c->text);
        return sn_buf_done(&c->text);
    case RESET:
        snc_world_reset(w);
        break;
    case ADD:
        return snc_world_add(w, sn_str_of(c->word), sn_str_of(c->fault->words),
                             (sn_str){c->fault->bytes, c->fault->len});
    default:
        c->server.stop = true;
    }
    return SEINE_OK;
}

/* On the server's thread. The owner waits, so the order does not change meanwhile. */
static void
on_bell(snc_watch *watch, uint32_t events)
{
    seine_chaos *c =
        (seine_chaos *)(void *)((char *)watch - offsetof(seine_chaos, answering));
    uint64_t rings;

    (void)events;
    while (read(c->bell, &rings, sizeof rings) > 0)
        continue;
    pthread_mutex_lock(&c->lock);
    order what = c->order;
    pthread_mutex_unlock(&c->lock);
    if (what == NOTHING)
        return;
    seine_err e = carry_out(c, what);
    pthread_mutex_lock(&c->lock);
    c->order = NOTHING;
    c->result = e;
    pthread_cond_signal(&c->done);
    pthread_mutex_unlock(&c->lock);
}

static seine_err
give_order(seine_chaos *c, order what)
{
    const uint64_t one = 1;
    seine_err e;

    pthread_mutex_lock(&c->lock);
    c->order = what;
    pthread_mutex_unlock(&c->lock);
    while (write(c->bell, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    pthread_mutex_lock(&c->lock);
    while (c->order != NOTHING)
        pthread_cond_wait(&c->done, &c->lock);
    e = c->result;
    pthread_mutex_unlock(&c->lock);
    return e;
}

static void *
serve(void *arg)
{
    seine_chaos *c = arg;

    while (!c->server.stop)
        snc_server_turn(&c->server);
    return NULL;
}

/* The thread blocks all signals: they belong to the program. */
static seine_err
start_thread(seine_chaos *c)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&c->thread, NULL, serve, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    c->running = rc == 0;
    return c->running ? SEINE_OK : SEINE_E_NOMEM;
}

static void
address(char *out, size_t room, const char *scheme, uint16_t port)
{
    snprintf(out, room, "%s127.0.0.1:%u", scheme, port);
}

seine_err
seine_chaos_new(const seine_chaos_opts *opts, seine_chaos **out_chaos)
{
    static const seine_chaos_opts usual = SEINE_CHAOS_OPTS;

    if (opts && !sn_opts_fit(opts, sizeof *opts))
        return SEINE_E_INVAL;
    seine_chaos *c = sn_zalloc(sizeof *c);
    if (!c)
        return SEINE_E_NOMEM;
    seine_err e = snc_server_init(&c->server, opts ? opts : &usual);
    if (e != SEINE_OK) {
        sn_free(c);
        return e;
    }
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->done, NULL);
    sn_buf_init(&c->text, (size_t)1 << 30);
    address(c->http, sizeof c->http, "http://", c->server.world.port);
    address(c->socks, sizeof c->socks, "socks5://", c->server.world.socks_port);
    if (c->server.tls)
        address(c->https, sizeof c->https, "https://", c->server.world.tls_port);
    address(c->dead, sizeof c->dead, "http://", c->server.world.dead_port);
    address(c->hole, sizeof c->hole, "http://", c->server.world.hole_port);
    if (c->server.resolver)
        address(c->dns, sizeof c->dns, "", snc_resolver_port(c->server.resolver));
    c->answering.ready = on_bell;
    c->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    e = c->bell < 0 ? SEINE_E_NO_FILES
                    : snc_server_watch(&c->server, c->bell, EPOLLIN, &c->answering);
    if (e == SEINE_OK)
        e = start_thread(c);
    if (e != SEINE_OK) {
        seine_chaos_free(c);
        return e;
    }
    *out_chaos = c;
    return SEINE_OK;
}

void
seine_chaos_free(seine_chaos *c)
{
    if (!c)
        return;
    if (c->running) {
        give_order(c, STOP);
        pthread_join(c->thread, NULL);
    }
    if (c->bell >= 0)
        close(c->bell);
    snc_server_fini(&c->server);
    sn_buf_fini(&c->text);
    pthread_cond_destroy(&c->done);
    pthread_mutex_destroy(&c->lock);
    sn_free(c);
}

const char *
seine_chaos_url(const seine_chaos *c)
{
    return c->http;
}

const char *
seine_chaos_where(const seine_chaos *c, const char *place)
{
    const struct {
        const char *name, *text;
    } places[] = {
        {"http", c->http},   {"https", c->https},
        {"socks", c->socks}, {"ca", c->server.tls ? snc_tls_ca(c->server.tls) : ""},
        {"dead", c->dead},   {"hole", c->hole},
        {"dns", c->dns},     {"range", c->server.range}};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(places[i].name, place) == 0 && places[i].text[0])
            return places[i].text;
    return NULL;
}

seine_err
seine_chaos_report(seine_chaos *c, char **out_json)
{
    seine_text text = {NULL, 0};
    seine_err e = give_order(c, REPORT);

    if (e == SEINE_OK)
        e = sn_buf_take(&c->text, &text);
    if (e == SEINE_OK)
        *out_json = text.bytes;
    else
        sn_buf_fini(&c->text);
    sn_buf_init(&c->text, (size_t)1 << 30);
    return e;
}

void
seine_chaos_text_free(char *text)
{
    sn_free(text);
}

void
seine_chaos_reset(seine_chaos *c)
{
    give_order(c, RESET);
}

seine_err
seine_chaos_add(seine_chaos *c, const char *word, const seine_chaos_fault *f)
{
    if (!f || (!f->bytes && f->len > 0))
        return SEINE_E_INVAL;
    c->word = word;
    c->fault = f;
    return give_order(c, ADD);
}

seine_err
seine_chaos_check(const char *script, seine_diag *diag)
{
    snc_script s;
    snc_script_fault fault = {.line = 0};

    snc_script_init(&s);
    seine_err e = snc_script_add(&s, sn_str_of(script), &fault);
    sn_diag_clear(diag);
    if (e != SEINE_OK) {
        sn_diag_text(diag, "%s", fault.why ? fault.why : seine_err_text(e));
        sn_diag_place(diag, NULL, fault.line, 0);
    }
    snc_script_fini(&s);
    return e;
}
