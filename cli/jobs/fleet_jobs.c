/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs/fleet_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/fleet_view.h>
#include <seine/plumbing.h>

#include "gate_run/redis_url.h"
#include "jobs/control_answer.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/fleet_run.h"
#include "verbs/jsonl.h"

static int
refuse(seine_err e, const seine_diag *diag)
{
    return say_fail(e == SEINE_E_STORE_UNAVAILABLE || e == SEINE_E_NOMEM ? SAY_MACHINE
                                                                         : SAY_USAGE,
                    NULL, "--store: %s", diag->text[0] ? diag->text : seine_err_text(e));
}

static int
open_view(const texts *typed, bool has_name, seine_fleet_view **out)
{
    const char *stores[16];
    seine_diag diag = SEINE_DIAG;
    char *urls = NULL;

    if (!has_name)
        return say_fail(SAY_USAGE, "seine jobs ls --store URL", "no job given");
    if (typed->count > 16)
        return say_fail(SAY_USAGE, "16 of them", "--store: too many servers");
    int code = fleet_run_urls(typed, &urls);
    if (code != SAY_DONE)
        return code;
    for (size_t i = 0; i < typed->count; i++)
        stores[i] = urls + i * REDIS_URL_ROOM;
    seine_err e = seine_fleet_view_open(stores, typed->count, out, &diag);
    seine_wipe(urls, typed->count * REDIS_URL_ROOM);
    free(urls);
    return e == SEINE_OK ? SAY_DONE : refuse(e, &diag);
}

static void
put_count(seine_json *to, const char *name, uint64_t n)
{
    jsonl_set(to, name, xalloc_json(seine_json_new_int((int64_t)n)));
}

static seine_json *
json_of(const seine_fleet_about *a)
{
    seine_json *o = xalloc_json(seine_json_new_object());

    jsonl_set(o, "name", jsonl_string(a->name));
    jsonl_set(o, "state", jsonl_string(a->state));
    put_count(o, "created_ms", (uint64_t)a->created);
    put_count(o, "partitions", a->partitions);
    put_count(o, "held", a->held);
    put_count(o, "workers", a->workers);
    put_count(o, "servers", a->servers);
    put_count(o, "blocks", a->blocks);
    put_count(o, "ended", a->ended);
    put_count(o, "records", a->emitted);
    put_count(o, "ok", a->ok);
    put_count(o, "failed", a->failed);
    put_count(o, "refused", a->refused);
    put_count(o, "redis_bytes", a->memory);
    jsonl_set(o, "seeded", xalloc_json(seine_json_new_bool(a->is_seeded)));
    return o;
}

static void
print_json(seine_json *give)
{
    seine_text text = {NULL, 0};

    if (seine_json_print(give, &text) == SEINE_OK)
        out_print("%s\n", text.bytes);
    seine_text_free(&text);
    seine_json_free(give);
}

typedef struct names {
    char **items;
    size_t n, cap;
} names;

static void
keep_name(seine_view name, void *arg)
{
    names *all = arg;

    all->items = xalloc_room(all->items, all->n + 1, &all->cap, sizeof *all->items);
    all->items[all->n++] = xalloc_copy(name.ptr, name.len);
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int
fleet_jobs_ls(const texts *stores, bool json)
{
    seine_diag diag = SEINE_DIAG;
    seine_fleet_view *v = NULL;
    names all = {NULL, 0, 0};
    int code = open_view(stores, true, &v);

    if (code != SAY_DONE)
        return code;
    seine_err e = seine_fleet_view_names(v, keep_name, &all, &diag);
    if (all.n > 0)
        qsort(all.items, all.n, sizeof *all.items, by_name);
    if (e == SEINE_OK && !json && all.n > 0)
        out_print("%-24s %-9s %8s %10s %8s %8s\n", "JOB", "STATE", "WORKERS", "RECORDS",
                  "FAILED", "BLOCKS");
    for (size_t i = 0; i < all.n && e == SEINE_OK; i++) {
        seine_fleet_about a;

        e = seine_fleet_view_job(v, all.items[i], &a, &diag);
        if (e == SEINE_OK && json)
            print_json(json_of(&a));
        else if (e == SEINE_OK)
            out_print("%-24s %-9s %8u %10llu %8llu %8llu\n", show(a.name).text, a.state,
                      a.workers, (unsigned long long)a.emitted,
                      (unsigned long long)a.failed, (unsigned long long)a.blocks);
    }
    for (size_t i = 0; i < all.n; i++)
        free(all.items[i]);
    free(all.items);
    seine_fleet_view_free(v);
    return e == SEINE_OK ? SAY_DONE : refuse(e, &diag);
}

/* One job */

typedef struct shown_parts {
    seine_json *list; /* NULL: as text */
    uint64_t n;
} shown_parts;

static void
show_worker(const seine_fleet_worker *w, void *arg)
{
    shown_parts *s = arg;

    if (!s->list) {
        out_print("  worker %s at %s, weight %llu, heard of %lld ms ago\n",
                  show_bytes(w->id.ptr, 8).text,
                  show_bytes(w->host.ptr, w->host.len).text,
                  (unsigned long long)w->weight, (long long)w->silent_ms);
        return;
    }
    seine_json *o = xalloc_json(seine_json_new_object());
    jsonl_set(o, "id", jsonl_string(show_bytes(w->id.ptr, w->id.len).text));
    jsonl_set(o, "host", jsonl_string(show_bytes(w->host.ptr, w->host.len).text));
    put_count(o, "weight", w->weight);
    put_count(o, "silent_ms", (uint64_t)w->silent_ms);
    jsonl_add(s->list, o);
}

static void
show_partition(const seine_fleet_partition *p, void *arg)
{
    shown_parts *s = arg;

    if (p->blocks == 0 && p->ended == 0)
        return;
    if (!s->list) {
        out_print(
            "  partition %u: %s, epoch %llu, %llu blocks wait, %llu URLs have ended\n",
            p->number, p->owner.len > 0 ? show_bytes(p->owner.ptr, 8).text : "free",
            (unsigned long long)p->epoch, (unsigned long long)p->blocks,
            (unsigned long long)p->ended);
        return;
    }
    seine_json *o = xalloc_json(seine_json_new_object());
    put_count(o, "partition", p->number);
    jsonl_set(o, "owner", jsonl_string(show_bytes(p->owner.ptr, p->owner.len).text));
    put_count(o, "epoch", p->epoch);
    put_count(o, "blocks", p->blocks);
    put_count(o, "ended", p->ended);
    jsonl_add(s->list, o);
}

static void
show_about(const seine_fleet_about *a)
{
    out_print("job %s: %s%s\n", show(a->name).text, a->state,
              a->is_seeded ? "" : ", its seeds are not all given");
    out_print("  %llu records: %llu ok, %llu failed; %llu refused\n",
              (unsigned long long)a->emitted, (unsigned long long)a->ok,
              (unsigned long long)a->failed, (unsigned long long)a->refused);
    out_print("  %u of %u partitions held, %llu blocks wait, Redis uses %llu KiB\n",
              a->held, a->partitions, (unsigned long long)a->blocks,
              (unsigned long long)(a->memory / 1024));
}

int
fleet_jobs_show(const texts *stores, const char *name, bool json)
{
    seine_diag diag = SEINE_DIAG;
    seine_fleet_view *v = NULL;
    seine_fleet_about a;
    shown_parts workers = {NULL, 0}, parts = {NULL, 0};
    seine_json *all = NULL;
    int code = open_view(stores, name != NULL, &v);

    if (code != SAY_DONE)
        return code;
    seine_err e = seine_fleet_view_job(v, name, &a, &diag);
    if (e == SEINE_OK && json) {
        all = json_of(&a);
        workers.list = xalloc_json(seine_json_new_array());
        parts.list = xalloc_json(seine_json_new_array());
    } else if (e == SEINE_OK) {
        show_about(&a);
    }
    if (e == SEINE_OK)
        e = seine_fleet_view_workers(v, name, show_worker, &workers, &diag);
    if (e == SEINE_OK)
        e = seine_fleet_view_partitions(v, name, show_partition, &parts, &diag);
    if (all) {
        jsonl_set(all, "worker_list", workers.list);
        jsonl_set(all, "partition_list", parts.list);
        print_json(all);
    }
    seine_fleet_view_free(v);
    return e == SEINE_OK ? SAY_DONE : refuse(e, &diag);
}

int
fleet_jobs_steer(const texts *stores, const char *name, const char *state)
{
    seine_diag diag = SEINE_DIAG;
    seine_fleet_view *v = NULL;
    int code = open_view(stores, name != NULL, &v);

    if (code != SAY_DONE)
        return code;
    seine_err e = seine_fleet_view_steer(v, name, state, &diag);
    seine_fleet_view_free(v);
    return e == SEINE_OK ? SAY_DONE : refuse(e, &diag);
}

static bool
copy_member(const char *name, const seine_json *value, void *arg)
{
    const char *text;
    size_t len;
    int64_t n;

    if (strcmp(name, "cmd") == 0)
        return true;
    if (seine_json_string(value, &text, &len))
        jsonl_set(arg, name, jsonl_string(text));
    else if (seine_json_int(value, &n))
        jsonl_set(arg, name, xalloc_json(seine_json_new_int(n)));
    return true;
}

/* What was said before stays, unless it is said anew: who joins later hears all of it. */
static int
say_settings(seine_fleet_view *v, const char *name, const seine_json *line)
{
    seine_diag diag = SEINE_DIAG;
    seine_fleet_about about;
    seine_json *all = xalloc_json(seine_json_new_object()), *before = NULL;
    seine_text text = {NULL, 0};
    seine_json_fault fault;
    seine_err e = seine_fleet_view_job(v, name, &about, &diag);

    if (e == SEINE_OK &&
        seine_json_parse(about.said, strlen(about.said), &before, &fault) == SEINE_OK)
        (void)seine_json_each(before, copy_member, all);
    (void)seine_json_each(line, copy_member, all);
    if (e == SEINE_OK)
        e = seine_json_print(all, &text);
    if (e == SEINE_OK)
        e = seine_fleet_view_say(v, name, text.bytes, &diag);
    seine_text_free(&text);
    seine_json_free(before);
    seine_json_free(all);
    return e == SEINE_OK ? SAY_DONE : refuse(e, &diag);
}

int
fleet_jobs_set(const texts *stores, const char *name, const seine_json *line)
{
    seine_fleet_view *v = NULL;
    char why[320];

    if (!control_set_check(line, why))
        return say_fail(SAY_USAGE, NULL, "%s", why);
    int code = open_view(stores, name != NULL, &v);
    if (code == SAY_DONE)
        code = say_settings(v, name, line);
    seine_fleet_view_free(v);
    return code;
}

int
fleet_jobs_rm(const texts *stores, const char *const *all, size_t n)
{
    seine_diag diag = SEINE_DIAG;
    seine_fleet_view *v = NULL;
    seine_err e = SEINE_OK;
    int code = n > 0
                   ? open_view(stores, n > 0, &v)
                   : say_fail(SAY_USAGE, "seine jobs rm JOB --store URL", "no job given");

    if (code != SAY_DONE)
        return code;
    for (size_t i = 0; i < n && e == SEINE_OK; i++)
        e = seine_fleet_view_remove(v, all[i], &diag);
    seine_fleet_view_free(v);
    return e == SEINE_OK ? SAY_DONE : refuse(e, &diag);
}
