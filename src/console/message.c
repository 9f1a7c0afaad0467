/* SPDX-License-Identifier: Apache-2.0 */
#include "console/message.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "console/docs.h"
#include "console/message_read.h"
#include "console/preview.h"
#include "console/topics.h"
#include "seine/limiter.h"
#include "seine/units.h"
#include "seine/version.h"

#define FINE SN_API_ERROR_COUNT

enum { STUBBORN_S = 10, CALM_S = 2 };

/* What message.c knows about a socket. */
typedef struct visitor {
    sn_session session;
    bool is_joined;
    seine_limiter messages, pushes, cursors;
    seine_time limited, limited_last; /* refused for its rate: first, last; 0: not */
} visitor;

/* Colours that people with any eyes tell apart. */
static const char *const colors[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                     "#B8860B", "#3E8FC1", "#8B4513", "#6A3D9A"};
enum { COLORS = sizeof colors / sizeof *colors };

void
sn_message_refuse(sn_socket *s, const sn_message_refusal *r)
{
    const sn_api_error_row *row = sn_api_error_of(r->error);
    sn_api_scope scope = s->is_welcome ? row->scope : SN_API_CONN;
    sn_buf b;

    sn_buf_init(&b, 4096);
    sn_buf_printf(&b, "{\"t\":\"err\",\"code\":\"%s\",\"msg\":", row->word);
    sn_hub_quote(&b, sn_str_of(r->text));
    sn_buf_printf(&b, ",\"scope\":\"%s\",\"re\":\"%s\"", sn_api_scope_name(scope),
                  r->re ? r->re : "");
    if (r->id)
        sn_buf_printf(&b, ",\"id\":%lld", (long long)*r->id);
    if (r->doc && r->doc[0])
        sn_buf_printf(&b, ",\"doc\":\"%s\"", r->doc);
    if (r->retry_ms > 0)
        sn_buf_printf(&b, ",\"retry_ms\":%u", r->retry_ms);
    sn_buf_char(&b, '}');
    if (sn_buf_done(&b) == SEINE_OK)
        (void)sn_socket_send(s, sn_buf_view(&b), SN_SEND_MUST);
    sn_buf_fini(&b);
    if (scope == SN_API_CONN)
        sn_socket_close(s, row->close, row->word);
}

static void
refuse(sn_socket *s, const sn_message *m, sn_api_error error, const char *text)
{
    sn_message_refuse(
        s, &(sn_message_refusal){.error = error,
                                 .text = text,
                                 .re = m->t,
                                 .doc = m->doc,
                                 .id = m->has_id ? &m->id : NULL,
                                 .retry_ms = error == SN_API_UNAVAILABLE ? 1000 : 0});
}

/* Coming and going. */

/* Whole ones, and at least one. */
static uint32_t
per_second(seine_frequency f)
{
    double n = seine_frequency_per_second(f);

    return n < 1 ? 1 : n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static bool
begin_limit(seine_limiter *limiter, seine_frequency f, uint32_t burst)
{
    return seine_limiter_init(limiter, seine_every(f.count, f.per), burst) == SEINE_OK;
}

void
sn_message_opened(sn_socket *s)
{
    const seine_console_limits *l = &s->console->opts.limits;
    visitor *v = sn_zalloc(sizeof *v);

    s->docs = v;
    if (!v || !begin_limit(&v->messages, l->message_rate, l->message_burst) ||
        !begin_limit(&v->pushes, l->push_rate, l->push_burst) ||
        !begin_limit(&v->cursors, l->cursor_rate, per_second(l->cursor_rate)))
        sn_socket_close(s, 1011, "internal");
}

static void
leave(sn_socket *s, const char *why)
{
    visitor *v = s->docs;
    sn_docs *docs = sn_docs_of(s->console);

    if (v && v->is_joined && docs)
        sn_hub_leave(docs->hub, &v->session, why, s->console->loop.now);
    if (v)
        v->is_joined = false;
}

void
sn_message_closed(sn_socket *s, sn_socket_end why)
{
    static const char *const words[] = {[SN_SOCKET_CLOSED] = "close",
                                        [SN_SOCKET_GONE] = "gone",
                                        [SN_SOCKET_TIMEOUT] = "timeout",
                                        [SN_SOCKET_REPLACED] = "replaced",
                                        [SN_SOCKET_SHUTDOWN] = "shutdown"};

    leave(s, words[why]);
    sn_topics_closed(s);
    sn_free(s->docs);
    s->docs = NULL;
}

/* The colour that fewest sessions have. */
static const char *
choose_color(const seine_console *c)
{
    unsigned used[COLORS] = {0}, best = 0;

    for (const sn_socket *s = sn_sockets_first(c); s; s = s->next) {
        const visitor *v = s->docs;

        for (unsigned i = 0; v && v->is_joined && i < COLORS; i++)
            used[i] += v->session.color == colors[i];
    }
    for (unsigned i = 1; i < COLORS; i++)
        if (used[i] < used[best])
            best = i;
    return colors[best];
}

static void
tell_welcome(sn_socket *s, const char *color)
{
    const seine_console_limits *l = &s->console->opts.limits;
    sn_buf b;

    sn_buf_init(&b, 4096);
    sn_buf_printf(&b,
                  "{\"t\":\"welcome\",\"proto\":1,\"server\":\"seine %s\",\"session\":"
                  "\"%s\",\"user\":{\"id\":\"%s\",\"name\":",
                  SEINE_VERSION_TEXT, s->id, s->user.id);
    sn_hub_quote(&b, sn_str_of(s->name));
    sn_buf_printf(&b,
                  ",\"color\":\"%s\",\"role\":\"%s\"},\"now\":%lld,\"limits\":{"
                  "\"doc_units\":%u,\"frame\":%u,\"updates\":%u,\"sections\":%u,"
                  "\"sessions\":%u,\"docs\":%u,\"push_rate\":%u,\"cursor_rate\":%u}}",
                  color, sn_role_name(s->user.role),
                  (long long)sn_console_wall_ms(s->console), l->doc_units, l->frame,
                  l->updates, l->sections, l->sessions, l->docs, per_second(l->push_rate),
                  per_second(l->cursor_rate));
    if (sn_buf_done(&b) == SEINE_OK)
        (void)sn_socket_send(s, sn_buf_view(&b), SN_SEND_MUST);
    sn_buf_fini(&b);
}

static void
join(sn_socket *s, visitor *v)
{
    sn_docs *docs = sn_docs_of(s->console);

    v->session = (sn_session){.peer = s,
                              .color = choose_color(s->console),
                              .may_edit = s->user.role >= SN_ROLE_EDITOR};
    memcpy(v->session.client, s->client, sizeof v->session.client);
    snprintf(v->session.user, sizeof v->session.user, "%s", s->user.id);
    snprintf(v->session.name, sizeof v->session.name, "%s", s->name);
    if (docs)
        sn_hub_join(docs->hub, &v->session, s->console->loop.now);
    v->is_joined = docs != NULL;
}

static void
take_hello(sn_socket *s, visitor *v, const sn_message *m)
{
    sn_socket *older;

    if (s->is_welcome) {
        refuse(s, m, SN_API_BAD_MESSAGE, "hello was said already");
        return;
    }
    switch (sn_socket_login(s, m->token)) {
    case SEINE_OK:
        break;
    case SEINE_E_LIMITED:
        refuse(s, m, SN_API_RATE_LIMITED, "too many wrong tokens; wait a minute");
        return;
    default:
        refuse(s, m, SN_API_UNAUTHORIZED, "the token is missing or not valid");
        return;
    }
    snprintf(s->client, sizeof s->client, "%.*s", SN_FMT(m->client));
    snprintf(s->name, sizeof s->name, "%s", m->name[0] ? m->name : s->user.name);
    while ((older = sn_sockets_find(s->console, &s->user, s->client, s))) {
        leave(older, "replaced");
        sn_socket_replace(older);
        if (sn_sockets_find(s->console, &s->user, s->client, s) == older)
            break; /* it closes */
    }
    sn_socket_welcome(s);
    join(s, v);
    tell_welcome(s, v->session.color);
}

/* Documents. */

static void
take_push(sn_socket *s, visitor *v, sn_message *m)
{
    sn_live_doc *d = sn_hub_opened(&v->session, m->doc);
    sn_hub_edit edit = {.client = v->session.client,
                        .user = v->session.user,
                        .base = m->base,
                        .seq = m->seq,
                        .sets = m->sets,
                        .n = m->n,
                        .session = v->session.number,
                        .has_id = m->has_id,
                        .id = m->id};
    sn_hub_why why;
    size_t again;

    if (!d) {
        refuse(s, m, SN_API_NOT_OPEN, "the document is not open");
        return;
    }
    if (!v->session.may_edit) {
        refuse(s, m, SN_API_READ_ONLY, "an editor's token is needed to edit");
        return;
    }
    sn_api_error refused = sn_hub_push(d, &edit, s->console->loop.now, &again, &why);
    if (refused != FINE)
        refuse(s, m, refused, why.text);
}

static void
take_cursor(sn_socket *s, visitor *v, const sn_message *m)
{
    sn_docs *docs = sn_docs_of(s->console);
    sn_api_error refused = sn_hub_select(docs->hub, &v->session, m->doc, m->version,
                                         (const uint64_t(*)[2])m->sel, m->n, m->is_shown);

    if (refused == FINE)
        return;
    refuse(s, m, refused == SN_API_NOT_OPEN ? refused : SN_API_BAD_MESSAGE,
           refused == SN_API_NOT_OPEN ? "the document is not open"
                                      : "a position beyond the text of that version");
}

static void
take_open(sn_socket *s, visitor *v, const sn_message *m)
{
    sn_docs *docs = sn_docs_of(s->console);
    sn_hub_why why;
    sn_api_error refused =
        sn_hub_open(docs->hub, &v->session, &m->open, s->console->loop.now, &why);

    if (refused != FINE)
        refuse(s, m, refused, why.text);
}

static void
take_close(sn_socket *s, visitor *v, const sn_message *m)
{
    sn_docs *docs = sn_docs_of(s->console);

    if (sn_hub_close(docs->hub, &v->session, m->doc, s->console->loop.now) != FINE)
        refuse(s, m, SN_API_NOT_OPEN, "the document is not open");
}

static void
take_ping(sn_socket *s, const sn_message *m)
{
    char text[64];
    int n =
        snprintf(text, sizeof text, "{\"t\":\"pong\",\"n\":%lld}", (long long)m->ping);

    (void)sn_socket_send(s, (sn_str){text, (size_t)n}, SN_SEND_MUST);
}

/* Rates. */

/* A client that goes on for 10 s without a pause loses its connection. */
static bool
is_stubborn(visitor *v, seine_time now)
{
    if (v->limited == 0 || now - v->limited_last > SEINE_SECS(CALM_S))
        v->limited = now;
    v->limited_last = now;
    return now - v->limited >= SEINE_SECS(STUBBORN_S);
}

static bool
allow(sn_socket *s, visitor *v, seine_limiter *limiter, const sn_message *m)
{
    seine_time now = s->console->loop.now;
    seine_time when = seine_limiter_when(limiter, now, 1);

    if (seine_limiter_allow(limiter, now, 1))
        return true;
    sn_message_refuse(
        s, &(sn_message_refusal){.error = SN_API_RATE_LIMITED,
                                 .text = "too many messages",
                                 .re = m->t,
                                 .doc = m->doc,
                                 .id = m->has_id ? &m->id : NULL,
                                 .retry_ms = (uint32_t)((when - now) / SEINE_MS(1) + 1)});
    if (is_stubborn(v, now))
        sn_socket_close(s, 1008, "rate_limited");
    return false;
}

/* Dispatch. */

static void
dispatch(sn_socket *s, visitor *v, sn_message *m)
{
    sn_docs *docs = sn_docs_of(s->console);

    sn_hub_active(docs ? docs->hub : NULL, &v->session, s->console->loop.now);
    switch (m->type) {
    case SN_MESSAGE_SUB:
    case SN_MESSAGE_UNSUB:
        sn_topics_take(s, m);
        return;
    case SN_MESSAGE_PING:
        take_ping(s, m);
        return;
    case SN_MESSAGE_HELLO:
        take_hello(s, v, m);
        return;
    default:
        break;
    }
    if (!docs) {
        refuse(s, m, SN_API_UNAVAILABLE, "this console keeps no documents");
        return;
    }
    if (m->type == SN_MESSAGE_OPEN)
        take_open(s, v, m);
    else if (m->type == SN_MESSAGE_CLOSE)
        take_close(s, v, m);
    else if (m->type == SN_MESSAGE_PREVIEW)
        sn_preview_ask(s, &v->session, m);
    else if (m->type == SN_MESSAGE_PUSH && allow(s, v, &v->pushes, m))
        take_push(s, v, m);
    else if (m->type == SN_MESSAGE_CURSOR && allow(s, v, &v->cursors, m))
        take_cursor(s, v, m);
}

void
sn_message_take(sn_socket *s, sn_str text)
{
    visitor *v = s->docs;
    sn_message m;
    sn_message_why why;

    if (!v || s->is_closing)
        return;
    sn_api_error refused = sn_message_read(text, &m, &why);
    if (!allow(s, v, &v->messages, &m)) {
        sn_message_fini(&m);
        return;
    }
    if (refused != FINE)
        refuse(s, &m, refused, why.text);
    else if (!s->is_welcome && m.type != SN_MESSAGE_HELLO)
        refuse(s, &m, SN_API_BAD_MESSAGE, "hello comes first");
    else
        dispatch(s, v, &m);
    sn_message_fini(&m);
}
