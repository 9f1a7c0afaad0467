/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "world.h"

enum { JOBS = 512 };
#define T0_MS INT64_C(1763234401123)

struct store {
    char dir[64], path[96];
    sn_docstore *docs;
    uint64_t n_docs;
};

/* A job that waits for the store: one of the three. */
typedef struct job {
    bool loads;
    sn_append *append;
    sn_snapshot *snapshot;
} job;

struct server {
    world *w;
    store *s;
    sn_hub *hub;
    char doc[SN_ULID];
    job jobs[JOBS];
    size_t n_jobs;
};

store *
store_open(void)
{
    store *s = calloc(1, sizeof *s);
    seine_diag diag;

    snprintf(s->dir, sizeof s->dir, "%s/sim-collab-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(s->dir)) {
        perror(s->dir);
        exit(1);
    }
    snprintf(s->path, sizeof s->path, "%s/console.db", s->dir);
    if (sn_docstore_open(s->path, SN_SQLITE_WRITE, &s->docs, &diag) != SEINE_OK) {
        fprintf(stderr, "%s\n", diag.text);
        exit(1);
    }
    return s;
}

void
store_close(store *s)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    char name[128];

    sn_docstore_close(s->docs);
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", s->path, endings[i]);
        (void)unlink(name);
    }
    (void)rmdir(s->dir);
    free(s);
}

/* What the hub asks of the world. */

static int64_t
wall_ms(void *arg)
{
    const server *v = arg;

    return T0_MS + v->w->now / SEINE_MS(1);
}

static void
send_text(void *peer, sn_str text, void *arg)
{
    client *c = peer;

    (void)arg;
    if (c->is_joined && c->is_connected)
        put_text(c->w, &c->in, text);
}

static bool
has_room(void *arg)
{
    const server *v = arg;

    return v->n_jobs + 2 < JOBS;
}

static void
add_job(server *v, job j)
{
    must(v->w, v->n_jobs < JOBS, "too many jobs");
    v->jobs[v->n_jobs++] = j;
}

static void
ask_load(const char *doc, void *arg)
{
    (void)doc;
    add_job(arg, (job){.loads = true});
}

static void
ask_append(sn_append *give, void *arg)
{
    add_job(arg, (job){.append = give});
}

static void
ask_snapshot(sn_snapshot *give, void *arg)
{
    add_job(arg, (job){.snapshot = give});
}

static void
new_hub(server *v)
{
    sn_hub_opts opts = {.send = send_text,
                        .has_room = has_room,
                        .load = ask_load,
                        .append = ask_append,
                        .snapshot = ask_snapshot,
                        .wall_ms = wall_ms,
                        .arg = v,
                        .max_kept = 100};

    must(v->w, sn_hub_new(&opts, &v->hub) == SEINE_OK, "no memory");
}

server *
server_new(world *w, store *s)
{
    server *v = calloc(1, sizeof *v);
    sn_doc_facts f = {.title = "sim", .created_ms = T0_MS, .modified_ms = T0_MS};

    v->w = w;
    v->s = s;
    snprintf(v->doc, sizeof v->doc, "01JD2Z6W9N%016llu", (unsigned long long)++s->n_docs);
    memcpy(w->doc, v->doc, sizeof w->doc);
    memcpy(f.id, v->doc, sizeof f.id);
    memcpy(f.epoch, v->doc, sizeof f.epoch);
    must(w, sn_docstore_create(s->docs, &f, (sn_str){"", 0}) == SEINE_OK,
         "cannot create the document");
    new_hub(v);
    return v;
}

static void
free_job(job *j)
{
    sn_append_free(j->append);
    sn_snapshot_free(j->snapshot);
}

static void
drop_hub(server *v)
{
    for (unsigned i = 0; i < v->w->n_clients; i++)
        server_gone(v, &v->w->clients[i]);
    for (size_t i = 0; i < v->n_jobs; i++)
        free_job(&v->jobs[i]);
    v->n_jobs = 0;
    sn_hub_free(v->hub);
}

void
server_free(server *v)
{
    drop_hub(v);
    free(v);
}

/* Sessions. */

void
server_hello(server *v, client *c)
{
    if (c->is_joined) { /* the newer connection replaces the older one */
        sn_hub_leave(v->hub, &c->session, "replaced", v->w->now);
        c->is_joined = false;
    }
    c->session = (sn_session){.peer = c, .color = "#0072B2", .may_edit = true};
    memcpy(c->session.client, c->id, sizeof c->id);
    snprintf(c->session.user, sizeof c->session.user, "01JD2Z6W9N000000%.10s",
             c->id + 12);
    sn_hub_join(v->hub, &c->session, v->w->now);
    c->is_joined = true;
}

void
server_gone(server *v, client *c)
{
    if (!c->is_joined)
        return;
    sn_hub_leave(v->hub, &c->session, "gone", v->w->now);
    c->is_joined = false;
}

static void
refuse(client *c, sn_api_error error, const char *re)
{
    char text[200];
    const sn_api_error_row *row = sn_api_error_of(error);

    snprintf(text, sizeof text,
             "{\"t\":\"err\",\"code\":\"%s\",\"scope\":\"%s\",\"re\":\"%s\"}", row->word,
             sn_api_scope_name(row->scope), re);
    put_text(c->w, &c->in, sn_str_of(text));
}

static sn_api_error
dispatch(server *v, client *c, sn_message *m)
{
    sn_hub_why why;
    size_t again = 0;
    sn_live_doc *d;
    sn_api_error refused;

    switch (m->type) {
    case SN_MESSAGE_OPEN:
        return sn_hub_open(v->hub, &c->session, &m->open, v->w->now, &why);
    case SN_MESSAGE_PUSH:
        d = sn_hub_opened(&c->session, m->doc);
        if (!d) /* a duplicate that comes behind an error */
            return SN_API_ERROR_COUNT;
        sn_hub_edit edit = {.client = c->id,
                            .user = c->session.user,
                            .base = m->base,
                            .seq = m->seq,
                            .sets = m->sets,
                            .n = m->n,
                            .session = c->session.number};
        refused = sn_hub_push(d, &edit, v->w->now, &again, &why);
        v->w->versions += refused == SN_API_ERROR_COUNT ? m->n - again : 0;
        return refused;
    case SN_MESSAGE_CURSOR:
        refused = sn_hub_select(v->hub, &c->session, m->doc, m->version,
                                (const uint64_t(*)[2])m->sel, m->n, m->is_shown);
        return refused == SN_API_NOT_OPEN ? SN_API_ERROR_COUNT : refused;
    default:
        return SN_API_BAD_MESSAGE;
    }
}

void
server_hear(server *v, client *c)
{
    seine_text text;
    sn_message m;
    sn_message_why why;

    if (!c->is_joined || !c->is_connected || !take_text(&c->out, &text))
        return;
    sn_api_error refused = sn_message_read((sn_str){text.bytes, text.len}, &m, &why);
    must(v->w, refused == SN_API_ERROR_COUNT, "%s: %s", text.bytes, why.text);
    refused = dispatch(v, c, &m);
    if (refused != SN_API_ERROR_COUNT)
        refuse(c, refused, m.t);
    sn_message_fini(&m);
    seine_text_free(&text);
}

/* The store. */

static seine_err
run(server *v, job *j)
{
    if (j->append)
        return sn_docstore_append(v->s->docs, j->append->doc, j->append->rows,
                                  j->append->n);
    if (j->snapshot)
        return sn_docstore_snapshot(
            v->s->docs, j->snapshot->doc, j->snapshot->version,
            (sn_str){j->snapshot->text.bytes, j->snapshot->text.len}, NULL, NULL,
            wall_ms(v));
    return SEINE_OK;
}

static void
answer(server *v, job *j, seine_err e)
{
    sn_doc_loaded loaded;

    if (j->loads) {
        e = sn_docstore_load(v->s->docs, v->doc, &loaded);
        must(v->w, e == SEINE_OK && !loaded.damage, "the document cannot be loaded");
        sn_hub_loaded(v->hub, v->doc, e, &loaded, v->w->now);
    }
    if (j->append)
        sn_hub_committed(v->hub, j->append, e, v->w->now);
    sn_snapshot_free(j->snapshot);
}

void
server_commit(server *v, size_t most, bool fails)
{
    job jobs[JOBS];
    seine_err errs[JOBS];
    size_t n = v->n_jobs < most ? v->n_jobs : most;

    if (n == 0)
        return;
    memcpy(jobs, v->jobs, n * sizeof *jobs);
    memmove(v->jobs, v->jobs + n, (v->n_jobs - n) * sizeof *jobs);
    v->n_jobs -= n;
    must(v->w, sn_docstore_begin(v->s->docs) == SEINE_OK, "cannot begin");
    for (size_t i = 0; i < n; i++) {
        must(v->w, sn_docstore_mark(v->s->docs) == SEINE_OK, "cannot mark");
        errs[i] = run(v, &jobs[i]);
        must(v->w, sn_docstore_unmark(v->s->docs, errs[i] == SEINE_OK) == SEINE_OK,
             "cannot unmark");
    }
    if (fails)
        sn_docstore_rollback(v->s->docs);
    else
        must(v->w, sn_docstore_commit(v->s->docs) == SEINE_OK, "cannot commit");
    for (size_t i = 0; i < n; i++)
        answer(v, &jobs[i], fails ? SEINE_E_DISK_FULL : errs[i]);
}

bool
server_is_busy(const server *v)
{
    return v->n_jobs > 0;
}

void
server_truncate(server *v)
{
    sn_live_doc *d = sn_hub_find(v->hub, v->doc);

    if (d && d->doc && d->doc->committed > d->doc->first)
        must(v->w,
             sn_doc_forget(d->doc, d->doc->first + sn_rng_below(&v->w->dice,
                                                                d->doc->committed -
                                                                    d->doc->first + 1)) ==
                 SEINE_OK,
             "no memory");
}

void
server_restart(server *v)
{
    v->w->restarts++;
    drop_hub(v);
    for (unsigned i = 0; i < v->w->n_clients; i++)
        client_drop(&v->w->clients[i]);
    new_hub(v);
}

void
server_sweep(server *v)
{
    sn_hub_sweep(v->hub, v->w->now);
}

void
server_check(server *v, seine_text *out_text, uint64_t *out_version)
{
    sn_doc_loaded loaded;
    const sn_live_doc *d = sn_hub_find(v->hub, v->doc);

    must(v->w,
         sn_docstore_load(v->s->docs, v->doc, &loaded) == SEINE_OK && !loaded.damage,
         "the document cannot be loaded");
    must(v->w, d && d->doc && d->doc->committed == d->doc->version, "commits are left");
    must(v->w, loaded.doc->version == d->doc->version, "the store has %llu, the hub %llu",
         (unsigned long long)loaded.doc->version, (unsigned long long)d->doc->version);
    must(v->w, strcmp(loaded.doc->text.bytes, d->doc->text.bytes) == 0,
         "the store has another text");
    *out_text = loaded.doc->text;
    *out_version = loaded.doc->version;
    loaded.doc->text = (seine_text){0};
    sn_doc_free(loaded.doc);
}
