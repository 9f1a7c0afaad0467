/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "chaos/arg.h"
#include "chaos/decide.h"
#include "chaos/proxy.h"
#include "chaos/quote.h"
#include "chaos/retry_after.h"

#define LONGEST 512 /* bytes of a key or a path that are kept */

/* A longer text keeps its start and a hash of the whole. */
static sn_str
shorten(sn_str s, sn_arena *arena)
{
    if (s.len <= LONGEST)
        return s;
    char *text = sn_arena_get(arena, LONGEST + 24, 1, 1);
    if (!text)
        return sn_str_slice(s, 0, LONGEST);
    memcpy(text, s.ptr, LONGEST);
    int n = snprintf(text + LONGEST, 24, "#%016llx",
                     (unsigned long long)snc_dice(0, s, 0, 0));
    return (sn_str){text, LONGEST + (size_t)n};
}

static sn_str
lower(sn_str s, sn_arena *arena)
{
    char *text = sn_arena_text(arena, s);

    for (size_t i = 0; text && i < s.len; i++)
        text[i] = sn_lower(text[i]);
    return text ? (sn_str){text, s.len} : (sn_str){NULL, 0};
}

static sn_str
join_texts(sn_arena *arena, sn_str a, sn_str b)
{
    char *text = sn_arena_get(arena, a.len + b.len + 1, 1, 1);

    if (!text)
        return (sn_str){NULL, 0};
    if (a.len > 0)
        memcpy(text, a.ptr, a.len);
    if (b.len > 0)
        memcpy(text + a.len, b.ptr, b.len);
    return (sn_str){text, a.len + b.len};
}

/* The value of key= in the query, or host and path. */
static sn_str
key_of(const snc_request *req, sn_str host, sn_arena *arena)
{
    sn_str query = req->query, part, name, value;

    while (sn_str_next(&query, '&', &part))
        if (sn_str_cut(part, '=', &name, &value) && sn_str_eq(name, SN_STR("key")))
            return shorten(snc_arg_decode(value, arena), arena);
    return shorten(join_texts(arena, host, req->path), arena);
}

/* A cookie that `badcookie` set must not come back: no client may accept it. */
static void
look_for_traps(snc_secret_leaks *leaks, const snc_request *req, sn_str origin,
               sn_str path)
{
    for (size_t i = 0; i < req->count; i++) {
        sn_str rest = req->fields[i].value, pair, name, value;
        char where[64];

        if (!sn_str_eq_nocase(req->fields[i].name, SN_STR("cookie")))
            continue;
        while (sn_str_next(&rest, ';', &pair)) {
            sn_str_cut(sn_str_trim(pair), '=', &name, &value);
            if (!sn_str_starts(value, SN_STR("trap-")))
                continue;
            snprintf(where, sizeof where, "cookie %.*s",
                     (int)(value.len < 40 ? value.len : 40), value.ptr);
            snc_secret_leaks_note(leaks, origin, path, where);
        }
    }
}

static void
look_for_leaks(snc_world *w, const snc_request *req, const snc_visitor *v, sn_str origin,
               sn_str path)
{
    snc_secret_leaks *leaks = &w->leaks;
    char where[80];

    if (leaks->secret_count == 0)
        return;
    sn_str own =
        snc_proxy_origin(w, v, v->tls ? "https" : "http", v->tls ? w->tls_port : w->port);
    if (snc_secret_leaks_search(leaks, origin, path, "url", req->target) == 0)
        snc_secret_leaks_search(leaks, origin, path, "url",
                                snc_arg_decode(req->target, &w->arena));
    snc_secret_leaks_search(leaks, origin, path, "body", v->body);
    for (size_t i = 0; i < req->count; i++) {
        sn_str name = req->fields[i].name;
        bool to_proxy = req->absolute && sn_str_starts_nocase(name, SN_STR("proxy-"));

        snprintf(where, sizeof where, "header %.*s", SN_FMT(name));
        for (char *c = where; *c; c++)
            *c = sn_lower(*c);
        snc_secret_leaks_search(leaks, to_proxy ? own : origin, path, where,
                                req->fields[i].value);
    }
}

static void
note_request(snc_world *w, const snc_deciding *d, const snc_visitor *v, sn_str path,
             seine_time now)
{
    sn_buf *line = &w->line;

    sn_buf_reset(line);
    sn_buf_text(line, "{\"t_us\":");
    sn_buf_i64(line, now / 1000);
    sn_buf_text(line, ",\"host\":");
    snc_quote(line, d->host);
    sn_buf_text(line, ",\"method\":");
    snc_quote(line, d->req->method);
    sn_buf_text(line, ",\"path\":");
    snc_quote(line, path);
    sn_buf_text(line, ",\"connection\":");
    sn_buf_u64(line, v->connection);
    sn_buf_text(line, ",\"nth\":");
    sn_buf_u64(line, v->nth);
    sn_buf_text(line, ",\"hit\":");
    sn_buf_u64(line, d->scene.hit);
    sn_buf_text(line, ",\"status\":");
    sn_buf_u64(line, d->plan.status ? d->plan.status : 200);
    sn_buf_text(line, ",\"fault\":");
    if (d->fault.ptr)
        snc_quote(line, d->fault);
    else
        sn_buf_text(line, "null");
    sn_buf_text(line, ",\"from\":");
    snc_quote(line, v->peer);
    sn_buf_text(line, "}\n");
    snc_request_log_add(&w->request_log, sn_buf_view(line));
}

/* Counts the request everywhere and finds its plan. */
static void
admit(snc_world *w, const snc_visitor *v, snc_deciding *d, sn_str origin, seine_time now)
{
    sn_str path = shorten(d->req->target, &w->arena);
    snc_arrival arrival = {.at = now,
                           .host = snc_witness_host(&w->witness, d->host),
                           .address = v->address,
                           .path = path,
                           .agent = snc_request_field_of(d->req, SN_STR("user-agent"))};

    if (v->tunnelled || d->req->absolute) {
        w->witness.proxied++;
        if (arrival.host)
            arrival.host->proxied++;
    }
    d->trace->seen = snc_witness_arrive(&w->witness, &arrival);
    look_for_traps(&w->leaks, d->req, origin, path);
    look_for_leaks(w, d->req, v, origin, path);
    if (arrival.host && snc_script_disallows(&w->script, d->host, d->req->path))
        arrival.host->disallowed++;
    d->trace->key = snc_hit_counter_hit(&w->counter, d->scene.key);
    if (d->trace->key)
        d->trace->key->in_flight++;
    d->scene.hit = d->trace->key ? d->trace->key->hits : 1;
    snc_decide(d);
    note_request(w, d, v, path, now);

    sn_str wish = snc_response_retry_after(&d->plan);
    if (wish.ptr && d->plan.status >= 400)
        d->trace->retry_after = snc_retry_after_read(wish, v->wall);
}

seine_err
snc_world_request(snc_world *w, const snc_visitor *v, const snc_request *req,
                  seine_time now, snc_response *out_response, snc_trace *out_trace)
{
    sn_arena_reset(&w->arena);
    *out_trace = (snc_trace){.epoch = w->epoch};

    sn_str host = lower(sn_str_slice(snc_request_host_name(req), 0, 255), &w->arena);
    bool tls = v->tls && !req->absolute; /* an absolute target is for http:// */
    sn_str origin = join_texts(&w->arena, tls ? SN_STR("https://") : SN_STR("http://"),
                               lower(req->host, &w->arena));
    snc_deciding d = {
        .w = w, .req = req, .host = host, .tls = tls, .trace = out_trace, .now = now};
    d.scene = (snc_scene){.req = req,
                          .added = &w->added,
                          .arena = &w->arena,
                          .seed = w->seed,
                          .tls = tls,
                          .port = w->port,
                          .tls_port = w->tls_port,
                          .key = key_of(req, host, &w->arena),
                          .hit = 1,
                          .nth = v->nth};
    seine_err e = SEINE_OK;

    if (sn_str_starts(req->path, SN_STR("/_chaos/"))) {
        w->control++;
        e = snc_control(w, req, v->body, &d.plan);
    } else {
        admit(w, v, &d, origin, now);
    }
    snc_stage stage = {.req = req,
                       .text = &w->text,
                       .request_log = &w->request_log,
                       .seed = w->seed,
                       .hit = d.scene.hit,
                       .connection = v->connection,
                       .nth = v->nth,
                       .key = d.scene.key,
                       .peer = v->peer,
                       .origin = origin,
                       .body = v->body,
                       .body_len = v->body_len,
                       .tls = v->tls,
                       .secure = tls,
                       .port = tls ? w->tls_port : w->port,
                       .dead_port = w->dead_port};
    if (e == SEINE_OK)
        e = snc_response_make(out_response, &d.plan, &stage);
    if (e == SEINE_OK) {
        out_trace->status = out_response->status;
        out_trace->whole = out_response->whole;
    } else {
        const snc_ending nothing = {.bytes = 0};

        snc_world_end(w, out_trace, &nothing);
    }
    return e;
}
