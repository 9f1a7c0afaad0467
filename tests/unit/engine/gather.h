/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.h - records as they come, kept for a test to look at.
 *
 *     gather g = {0};
 *     opts.on_record = gather_record;
 *     opts.arg = &g;
 */
#ifndef GATHER_H
#define GATHER_H

#include <seine/fetch.h>
#include <stdatomic.h>
#include <stdio.h>

#define GATHER_MAX 512

typedef struct gathered {
    seine_record_type type;
    seine_fate fate;
    seine_err code;
    seine_skip reason;
    uint64_t number;
    uint16_t status;
    uint32_t attempts, n_hops, n_tries, n_fields;
    seine_record_try tries[8];
    seine_span queue, throttle, backoff, total;
    int64_t wall;
    char url[128], final_url[128], title[64], body[64], message[128];
    char content_type[32], charset[32], lang[16], canonical[128], meta_robots[64],
        rule[128], note[32];
    bool partial, has_sha256, has_links;
    seine_err extract;
    uint64_t charset_errors;
    uint32_t n_links;
    int64_t content_length;
    unsigned shard;
} gathered;

typedef struct gathered_event {
    char name[32], host[64];
    seine_err cause;
    seine_time until;
    int64_t from, to;
} gathered_event;

typedef struct gather {
    atomic_uint n;
    atomic_uint of[GATHER_MAX]; /* records of each number */
    gathered all[GATHER_MAX];
    bool full; /* what ready says is the opposite */
    unsigned asked_ready;
    unsigned events;
    char last_event[32];
    gathered_event told[32]; /* the first of them */
} gather;

static inline void
gather_view(char *out, size_t cap, seine_view v)
{
    snprintf(out, cap, "%.*s", (int)v.len, v.ptr ? v.ptr : "");
}

static inline void
gather_record(const seine_record *r, unsigned shard, void *arg)
{
    gather *g = arg;
    unsigned i = atomic_fetch_add(&g->n, 1);

    if (r->number < GATHER_MAX)
        atomic_fetch_add(&g->of[r->number], 1);
    if (i >= GATHER_MAX)
        return;
    gathered *to = &g->all[i];
    *to = (gathered){.type = r->type,
                     .fate = r->fate,
                     .code = r->fault ? r->fault->code : SEINE_OK,
                     .reason = r->reason,
                     .number = r->number,
                     .status = r->status,
                     .attempts = r->attempts,
                     .n_hops = (uint32_t)r->n_hops,
                     .n_tries = (uint32_t)r->n_tries,
                     .n_fields = (uint32_t)r->n_fields,
                     .queue = r->queue,
                     .throttle = r->throttle,
                     .backoff = r->backoff,
                     .total = r->total,
                     .wall = r->wall,
                     .partial = r->partial,
                     .has_sha256 = r->sha256 != NULL,
                     .has_links = r->has_links,
                     .extract = r->extract,
                     .charset_errors = r->charset_errors,
                     .n_links = r->n_links,
                     .content_length = r->content_length,
                     .shard = shard};
    for (size_t t = 0; t < r->n_tries && t < 8; t++)
        to->tries[t] = r->tries[t];
    gather_view(to->url, sizeof to->url, r->url);
    gather_view(to->final_url, sizeof to->final_url, r->final_url);
    gather_view(to->title, sizeof to->title, r->title);
    gather_view(to->body, sizeof to->body, r->body);
    gather_view(to->message, sizeof to->message, r->message);
    gather_view(to->content_type, sizeof to->content_type, r->content_type);
    gather_view(to->charset, sizeof to->charset, r->charset);
    gather_view(to->lang, sizeof to->lang, r->lang);
    gather_view(to->canonical, sizeof to->canonical, r->canonical);
    gather_view(to->meta_robots, sizeof to->meta_robots, r->meta_robots);
    gather_view(to->rule, sizeof to->rule, r->rule);
    if (r->n_notes > 0)
        snprintf(to->note, sizeof to->note, "%s", r->notes[0]);
}

static inline bool
gather_ready(unsigned shard, void *arg)
{
    gather *g = arg;

    (void)shard;
    g->asked_ready++;
    return !g->full;
}

static inline void
gather_event(const seine_event *e, unsigned shard, void *arg)
{
    gather *g = arg;

    (void)shard;
    if (g->events < 32) {
        gathered_event *to = &g->told[g->events];

        *to = (gathered_event){
            .cause = e->cause, .until = e->until, .from = e->from, .to = e->to};
        snprintf(to->name, sizeof to->name, "%s", e->name);
        gather_view(to->host, sizeof to->host, e->host);
    }
    g->events++;
    snprintf(g->last_event, sizeof g->last_event, "%s", e->name);
}

#endif
