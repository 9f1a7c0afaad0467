/* SPDX-License-Identifier: Apache-2.0 */
#include "console/api_docs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "console/json_out.h"
#include "console/message_read.h"
#include "console/preview.h"
#include "console/run_table.h"
#include "recipe/recipe_keys.h"

enum { ANSWER = 8 << 20, LIST = 200, IMPORT = 1 << 20 };

/* Calls that wait. */

void *
sn_doc_call_new(sn_call *call, size_t size)
{
    sn_docs *docs = sn_docs_of(call->console);
    sn_doc_call *w = docs ? sn_zalloc(size) : NULL;

    if (!w) {
        sn_call_fail(call, SN_API_UNAVAILABLE,
                     docs ? "out of memory" : "this console keeps no documents", NULL);
        return NULL;
    }
    w->call = call;
    w->docs = docs;
    w->status = 200;
    if (call->param[0].len < sizeof w->id)
        snprintf(w->id, sizeof w->id, "%.*s", SN_FMT(call->param[0]));
    sn_buf_init(&w->out, ANSWER);
    return w;
}

void
sn_doc_call_free(void *call)
{
    sn_doc_call *w = call;

    if (w->fini)
        w->fini(w);
    sn_buf_fini(&w->out);
    sn_free(w);
}

void
sn_doc_call_fail(void *call, seine_err e)
{
    sn_doc_call *w = call;

    if (e == SEINE_E_UNKNOWN)
        sn_call_fail(w->call, SN_API_NOT_FOUND,
                     w->unknown ? w->unknown : "no such document", NULL);
    else if (e == SEINE_E_RANGE)
        sn_call_fail(w->call, SN_API_TOO_OLD, "this version is not kept",
                     "history lists what is");
    else
        sn_call_fail_err(w->call, e);
    sn_doc_call_free(w);
}

static void
on_answer(sn_doc_job *j)
{
    sn_doc_call *w = (sn_doc_call *)(void *)j;

    if (j->job.err != SEINE_OK) {
        sn_doc_call_fail(w, j->job.err);
        return;
    }
    if (w->done)
        w->done(w);
    if (w->audit)
        sn_docs_audit(w->call, w->audit, w->id[0] ? w->id : NULL);
    if (w->type)
        sn_call_text(w->call, w->status, w->type, &w->out);
    else if (w->out.len == 0)
        sn_call_empty(w->call, w->status);
    else
        sn_call_json(w->call, w->status, &w->out);
    sn_doc_call_free(w);
}

void
sn_doc_call_read(void *call, seine_err (*run)(sn_docstore *s, sn_store_job *job))
{
    sn_doc_call *w = call;

    if (!sn_docs_read(w->docs, &w->job, run, on_answer))
        sn_doc_call_fail(w, SEINE_E_FULL);
}

void
sn_doc_call_write(void *call, seine_err (*run)(sn_docstore *s, sn_store_job *job))
{
    sn_doc_call *w = call;

    if (!sn_docs_write(w->docs, &w->job, run, on_answer))
        sn_doc_call_fail(w, SEINE_E_FULL);
}

bool
sn_doc_call_line(sn_call *call, const char *name, sn_str text, size_t most, char *out,
                 size_t room)
{
    char why[80];

    sn_message_clean(text, most, out, room);
    if (out[0])
        return true;
    snprintf(why, sizeof why, "%s: 1 to %zu characters", name, most);
    sn_call_fail(call, SN_API_BAD_MESSAGE, why, NULL);
    return false;
}

static int64_t
wall_ms(const sn_doc_call *w)
{
    return sn_console_wall_ms(w->docs->console);
}

/* Reading. */

static void
put_people(sn_buf *b, const sn_live_doc *d)
{
    sn_json_out_name(b, "collaborators");
    sn_buf_char(b, '[');
    for (size_t i = 0; d && i < d->n_members; i++) {
        const sn_member *m = d->members[i];

        sn_json_out_next(b);
        sn_buf_char(b, '{');
        sn_json_out_text(b, "id", m->session->client);
        sn_json_out_text(b, "user", m->session->user);
        sn_json_out_text(b, "name", m->session->name);
        sn_json_out_name(b, "cursor_position");
        if (m->is_shown && m->n_sel > 0)
            sn_buf_u64(b, m->sel[0][1]);
        else
            sn_buf_text(b, "null");
        sn_json_out_text(b, "color", m->session->color);
        sn_buf_char(b, '}');
    }
    sn_buf_char(b, ']');
}

enum { LAST_RUNS = 10 };

/* The newest runs of a document, the newest first. */
typedef struct doc_runs {
    const sn_console_run *run[LAST_RUNS];
    size_t n;
} doc_runs;

typedef struct list_call {
    sn_doc_call base;
    char after[SN_ULID];
    size_t limit, n;
    sn_doc_facts *rows; /* by their ids */
    doc_runs *runs;     /* of each */
} list_call;

static bool
take_row(const sn_doc_facts *f, void *arg)
{
    list_call *l = arg;

    l->rows[l->n++] = *f;
    return true;
}

static seine_err
run_list(sn_docstore *s, sn_store_job *job)
{
    list_call *l = (list_call *)(void *)job;

    return sn_docstore_list(s, l->after, l->limit, take_row, l);
}

static int
by_id(const void *id, const void *facts)
{
    return strcmp(id, ((const sn_doc_facts *)facts)->id);
}

/* One way through all runs, which stand the newest first. */
static void
find_runs(list_call *l)
{
    const sn_runs *t = sn_runs_of(l->base.docs->console);

    for (const sn_console_run *r = t ? t->first : NULL; r; r = r->next) {
        const sn_doc_facts *f =
            r->meta.doc[0] && l->n > 0
                ? bsearch(r->meta.doc, l->rows, l->n, sizeof *l->rows, by_id)
                : NULL;
        doc_runs *of = f ? &l->runs[f - l->rows] : NULL;

        if (of && of->n < LAST_RUNS)
            of->run[of->n++] = r;
    }
}

static void
put_runs(sn_buf *b, const doc_runs *of)
{
    if (of->n == 0)
        return;
    sn_json_out_name(b, "last_run");
    sn_buf_char(b, '{');
    sn_json_out_text(b, "id", of->run[0]->meta.id);
    sn_json_out_text(b, "state", sn_run_state_name(of->run[0]->meta.state));
    sn_json_out_int(b, "version", (int64_t)of->run[0]->meta.version);
    sn_json_out_time(b, "started", of->run[0]->meta.started_ms);
    sn_buf_char(b, '}');
    sn_json_out_name(b, "last_runs");
    sn_buf_char(b, '[');
    for (size_t i = of->n; i > 0; i--) { /* the oldest first, as one reads */
        sn_json_out_next(b);
        sn_json_out_quoted(b, sn_str_of(sn_run_state_name(of->run[i - 1]->meta.state)));
    }
    sn_buf_char(b, ']');
}

static void
put_list(sn_doc_call *w)
{
    list_call *l = (list_call *)(void *)w;
    sn_buf *b = &w->out;

    find_runs(l);
    sn_buf_text(b, "{\"docs\":[");
    for (size_t i = 0; i < l->n; i++) {
        const sn_doc_facts *f = &l->rows[i];

        sn_json_out_next(b);
        sn_buf_char(b, '{');
        sn_json_out_text(b, "id", f->id);
        sn_json_out_text(b, "kind", f->kind == SN_DOC_NOTE ? "note" : "recipe");
        sn_json_out_text(b, "title", f->title);
        sn_json_out_int(b, "version", (int64_t)f->version);
        sn_json_out_time(b, "created", f->created_ms);
        sn_json_out_time(b, "last_modified", f->modified_ms);
        if (f->by[0])
            sn_json_out_text(b, "by", f->by);
        put_people(b, sn_hub_find(w->docs->hub, f->id));
        put_runs(b, &l->runs[i]);
        sn_buf_char(b, '}');
    }
    sn_buf_char(b, ']');
    sn_json_out_text(b, "next", l->n == l->limit ? l->rows[l->n - 1].id : NULL);
    sn_buf_char(b, '}');
}

static void
free_rows(sn_doc_call *w)
{
    list_call *l = (list_call *)(void *)w;

    sn_free(l->rows);
    sn_free(l->runs);
}

void
sn_api_docs(sn_call *call)
{
    sn_str after = {"", 0};
    uint64_t limit;

    if (!sn_call_query_u64(call, "limit", 1, LIST, LIST, &limit))
        return;
    if (sn_call_query(call, "after", &after) && !sn_ulid_is(after)) {
        sn_call_fail(call, SN_API_BAD_MESSAGE, "parameter after: an id", NULL);
        return;
    }
    list_call *l = sn_doc_call_new(call, sizeof *l);
    if (!l)
        return;
    snprintf(l->after, sizeof l->after, "%.*s", SN_FMT(after));
    l->limit = limit;
    l->rows = sn_zalloc(limit * sizeof *l->rows);
    l->runs = sn_zalloc(limit * sizeof *l->runs);
    l->base.done = put_list;
    l->base.fini = free_rows;
    if (!l->rows || !l->runs) {
        sn_doc_call_fail(l, SEINE_E_NOMEM);
        return;
    }
    sn_doc_call_read(l, run_list);
}

typedef struct get_call {
    sn_doc_call base;
    sn_doc_loaded loaded;
    uint64_t version; /* of the text; UINT64_MAX: the last */
} get_call;

static seine_err
run_get(sn_docstore *s, sn_store_job *job)
{
    get_call *g = (get_call *)(void *)job;

    return sn_docstore_load(s, g->base.id, &g->loaded);
}

/* The six members of a document, and its epoch. */
static void
put_doc(sn_doc_call *w)
{
    get_call *g = (get_call *)(void *)w;
    const sn_doc *d = g->loaded.doc;
    sn_buf *b = &w->out;

    sn_buf_char(b, '{');
    sn_json_out_text(b, "id", w->id);
    sn_json_out_text(b, "title", g->loaded.facts.title);
    sn_json_out_str(b, "content", (sn_str){d->text.bytes, d->text.len});
    sn_json_out_int(b, "version", (int64_t)d->version);
    sn_json_out_time(b, "last_modified", g->loaded.facts.modified_ms);
    put_people(b, sn_hub_find(w->docs->hub, w->id));
    sn_json_out_text(b, "epoch", g->loaded.facts.epoch);
    sn_buf_char(b, '}');
    sn_doc_free(g->loaded.doc);
}

void
sn_api_doc(sn_call *call)
{
    get_call *g = sn_doc_call_new(call, sizeof *g);

    if (!g)
        return;
    g->base.done = put_doc;
    sn_doc_call_read(g, run_get);
}

static seine_err
run_text(sn_docstore *s, sn_store_job *job)
{
    get_call *g = (get_call *)(void *)job;
    sn_doc_facts facts;
    seine_text text;
    seine_err e = sn_docstore_find(s, g->base.id, &facts);

    if (e == SEINE_OK && g->version == UINT64_MAX)
        g->version = facts.version;
    if (e == SEINE_OK)
        e = sn_docstore_text(s, g->base.id, g->version, &text);
    if (e != SEINE_OK)
        return e;
    sn_buf_add(&g->base.out, text.bytes, text.len);
    seine_text_free(&text);
    return SEINE_OK;
}

void
sn_api_doc_text(sn_call *call)
{
    uint64_t version;

    if (!sn_call_query_u64(call, "v", 0, SN_MESSAGE_INT, UINT64_MAX, &version))
        return;
    get_call *g = sn_doc_call_new(call, sizeof *g);
    if (!g)
        return;
    g->version = version;
    g->base.type = "text/plain; charset=utf-8";
    sn_doc_call_read(g, run_text);
}

typedef struct history_call {
    sn_doc_call base;
    uint64_t before, limit;
} history_call;

/* Without tokens everybody is one user (access.c). */
static const char *
name_of(const char *user, const char *name)
{
    return name || strspn(user, "0") != strlen(user) ? name : "everybody";
}

static bool
put_update(const sn_doc_update_row *u, void *arg)
{
    sn_buf *b = arg;

    sn_json_out_next(b);
    sn_buf_char(b, '{');
    sn_json_out_int(b, "version", (int64_t)u->version);
    sn_json_out_text(b, "client", u->client);
    sn_json_out_int(b, "seq", (int64_t)u->seq);
    sn_json_out_text(b, "user", u->user);
    sn_json_out_text(b, "name", name_of(u->user, u->name));
    sn_json_out_int(b, "ts", u->at_ms);
    sn_json_out_name(b, "changes");
    sn_buf_str(b, u->changes);
    sn_buf_char(b, '}');
    return b->len < ANSWER / 2;
}

static bool
put_label(const sn_doc_label_row *l, void *arg)
{
    sn_buf *b = arg;

    sn_json_out_next(b);
    sn_buf_char(b, '{');
    sn_json_out_int(b, "version", (int64_t)l->version);
    sn_json_out_text(b, "label", l->label);
    sn_json_out_text(b, "author", l->author);
    sn_json_out_text(b, "name", l->author ? name_of(l->author, l->name) : NULL);
    sn_json_out_int(b, "at", l->at_ms);
    sn_buf_char(b, '}');
    return true;
}

static seine_err
run_history(sn_docstore *s, sn_store_job *job)
{
    history_call *h = (history_call *)(void *)job;
    sn_buf *b = &h->base.out;
    sn_doc_facts facts;
    seine_err e = sn_docstore_find(s, h->base.id, &facts);

    sn_buf_text(b, "{\"updates\":[");
    if (e == SEINE_OK)
        e = sn_docstore_history(s, h->base.id, h->before, h->limit, put_update, b);
    sn_buf_text(b, "],\"labels\":[");
    if (e == SEINE_OK)
        e = sn_docstore_labels(s, h->base.id, put_label, b);
    sn_buf_text(b, "]}");
    return e;
}

void
sn_api_doc_history(sn_call *call)
{
    uint64_t before, limit;

    if (!sn_call_query_u64(call, "before", 0, SN_MESSAGE_INT, SN_MESSAGE_INT, &before) ||
        !sn_call_query_u64(call, "limit", 1, LIST, LIST, &limit))
        return;
    history_call *h = sn_doc_call_new(call, sizeof *h);
    if (!h)
        return;
    h->before = before;
    h->limit = limit;
    sn_doc_call_read(h, run_history);
}

/* Validation. */

static void
on_text(sn_doc_job *j)
{
    get_call *g = (get_call *)(void *)j;

    if (j->job.err != SEINE_OK) {
        sn_doc_call_fail(g, j->job.err);
        return;
    }
    sn_preview_validate(g->base.docs, g->base.call, sn_buf_view(&g->base.out),
                        g->version);
    sn_doc_call_free(g);
}

void
sn_api_doc_validate(sn_call *call)
{
    get_call *g = sn_doc_call_new(call, sizeof *g);

    if (!g)
        return;
    g->version = UINT64_MAX;
    if (!sn_docs_read(g->base.docs, &g->base.job, run_text, on_text))
        sn_doc_call_fail(g, SEINE_E_FULL);
}

void
sn_api_recipe_schema(sn_call *call)
{
    sn_buf out;

    sn_buf_init(&out, 64 << 10);
    sn_recipe_schema(&out);
    sn_call_json(call, 200, &out);
    sn_buf_fini(&out);
}

/* Writing. */

typedef struct write_call {
    sn_doc_call base;
    sn_doc_facts facts;
    seine_text text;
    char label[4 * SN_DOC_LABEL + 1], author[SN_ULID];
    uint64_t version;
    int64_t ms;
} write_call;

static void
free_text(sn_doc_call *w)
{
    seine_text_free(&((write_call *)(void *)w)->text);
}

static seine_err
run_add(sn_docstore *s, sn_store_job *job)
{
    write_call *w = (write_call *)(void *)job;

    return sn_docstore_create(s, &w->facts, (sn_str){w->text.bytes, w->text.len});
}

/* Copies a text with the line ends of editors. False: it has a lone CR or a NUL. */
static bool
import_text(sn_str from, seine_text *out)
{
    char *to = sn_alloc(from.len + 1);
    size_t n = 0;

    if (!to)
        return false;
    for (size_t i = 0; i < from.len; i++) {
        if (from.ptr[i] == '\r' && i + 1 < from.len && from.ptr[i + 1] == '\n')
            continue;
        if (from.ptr[i] == '\r' || from.ptr[i] == '\0') {
            sn_free(to);
            return false;
        }
        to[n++] = from.ptr[i];
    }
    to[n] = '\0';
    *out = (seine_text){to, n};
    return true;
}

/* Checks what a new document is made of. False: the call is answered. */
static bool
read_new(write_call *w, const seine_json *object)
{
    sn_call *call = w->base.call;
    sn_str title = {NULL, 0}, kind = SN_STR("recipe"), text = {"", 0};
    uint64_t units = 0;

    if (!sn_call_member_text(call, object, "title", true, 4 * SN_TITLE_MOST, &title) ||
        !sn_call_member_text(call, object, "kind", false, 16, &kind) ||
        !sn_call_member_text(call, object, "text", false, IMPORT, &text) ||
        !sn_doc_call_line(call, "title", title, SN_TITLE_MOST, w->facts.title,
                          sizeof w->facts.title))
        return false;
    w->facts.kind = sn_str_eq(kind, SN_STR("note")) ? SN_DOC_NOTE : SN_DOC_RECIPE;
    if (w->facts.kind == SN_DOC_RECIPE && !sn_str_eq(kind, SN_STR("recipe"))) {
        sn_call_fail(call, SN_API_BAD_MESSAGE, "kind: recipe or note", NULL);
        return false;
    }
    if (!import_text(text, &w->text) ||
        seine_changes_units(w->text.bytes, w->text.len, &units) != SEINE_OK) {
        sn_call_fail(call, SN_API_BAD_CHANGE,
                     "the text has a NUL or a carriage return without a newline", NULL);
        return false;
    }
    if (units > call->console->opts.limits.doc_units) {
        sn_call_fail(call, SN_API_DOC_FULL, "the text is longer than console.doc_units",
                     NULL);
        return false;
    }
    return true;
}

void
sn_api_docs_add(sn_call *call)
{
    const seine_json *object = sn_call_object(call);
    write_call *w = object ? sn_doc_call_new(call, sizeof *w) : NULL;

    if (!w)
        return;
    w->base.fini = free_text;
    if (!read_new(w, object)) {
        sn_doc_call_free(w);
        return;
    }
    sn_ulid_new(sn_console_wall(call->console), w->facts.id);
    sn_ulid_new(sn_console_wall(call->console), w->facts.epoch);
    w->facts.created_ms = w->facts.modified_ms = wall_ms(&w->base);
    memcpy(w->base.id, w->facts.id, sizeof w->base.id);
    w->base.status = 201;
    w->base.audit = "doc.create";
    sn_buf_printf(&w->base.out, "{\"id\":\"%s\",\"version\":0,\"epoch\":\"%s\"}",
                  w->facts.id, w->facts.epoch);
    sn_doc_call_write(w, run_add);
}

static seine_err
run_title(sn_docstore *s, sn_store_job *job)
{
    write_call *w = (write_call *)(void *)job;
    sn_doc_facts facts;
    seine_err e = sn_docstore_find(s, w->base.id, &facts);

    return e == SEINE_OK ? sn_docstore_title(s, w->base.id, w->facts.title, w->ms) : e;
}

static void
tell_title(sn_doc_call *w)
{
    const write_call *t = (write_call *)(void *)w;

    sn_hub_retitle(w->docs->hub, w->id, t->facts.title, t->ms);
}

void
sn_api_doc_patch(sn_call *call)
{
    const seine_json *object = sn_call_object(call);
    write_call *w = object ? sn_doc_call_new(call, sizeof *w) : NULL;
    sn_str title = {NULL, 0};

    if (!w)
        return;
    if (!sn_call_member_text(call, object, "title", true, 4 * SN_TITLE_MOST, &title) ||
        !sn_doc_call_line(call, "title", title, SN_TITLE_MOST, w->facts.title,
                          sizeof w->facts.title)) {
        sn_doc_call_free(w);
        return;
    }
    w->ms = wall_ms(&w->base);
    w->base.audit = "doc.title";
    w->base.done = tell_title;
    sn_buf_char(&w->base.out, '{');
    sn_json_out_text(&w->base.out, "id", w->base.id);
    sn_json_out_text(&w->base.out, "title", w->facts.title);
    sn_buf_char(&w->base.out, '}');
    sn_doc_call_write(w, run_title);
}

static seine_err
run_delete(sn_docstore *s, sn_store_job *job)
{
    write_call *w = (write_call *)(void *)job;
    sn_doc_facts facts;
    seine_err e = sn_docstore_find(s, w->base.id, &facts);

    return e == SEINE_OK ? sn_docstore_delete(s, w->base.id, w->ms) : e;
}

static void
tell_delete(sn_doc_call *w)
{
    sn_hub_deleted(w->docs->hub, w->id, w->docs->console->loop.now);
}

void
sn_api_doc_delete(sn_call *call)
{
    write_call *w = sn_doc_call_new(call, sizeof *w);

    if (!w)
        return;
    w->ms = wall_ms(&w->base);
    w->base.status = 204;
    w->base.audit = "doc.delete";
    w->base.done = tell_delete;
    sn_doc_call_write(w, run_delete);
}

static seine_err
run_label(sn_docstore *s, sn_store_job *job)
{
    write_call *w = (write_call *)(void *)job;
    seine_text text;
    seine_err e = sn_docstore_text(s, w->base.id, w->version, &text);

    if (e != SEINE_OK)
        return e;
    e = sn_docstore_snapshot(s, w->base.id, w->version, (sn_str){text.bytes, text.len},
                             w->label, w->author, w->ms);
    seine_text_free(&text);
    return e;
}

static void
tell_label(sn_doc_call *w)
{
    const write_call *l = (write_call *)(void *)w;

    sn_hub_labelled(w->docs->hub, w->id, l->version, l->label);
}

void
sn_api_doc_label(sn_call *call)
{
    const seine_json *object = sn_call_object(call);
    write_call *w = object ? sn_doc_call_new(call, sizeof *w) : NULL;
    sn_str label = {NULL, 0};

    if (!w)
        return;
    if (!sn_call_member_u64(call, object, "version", true, SN_MESSAGE_INT, &w->version) ||
        !sn_call_member_text(call, object, "label", true, 4 * SN_DOC_LABEL, &label) ||
        !sn_doc_call_line(call, "label", label, SN_DOC_LABEL, w->label,
                          sizeof w->label)) {
        sn_doc_call_free(w);
        return;
    }
    snprintf(w->author, sizeof w->author, "%s", call->user.id);
    w->ms = wall_ms(&w->base);
    w->base.audit = "doc.label";
    w->base.done = tell_label;
    sn_buf_printf(&w->base.out, "{\"version\":%llu", (unsigned long long)w->version);
    sn_json_out_text(&w->base.out, "label", w->label);
    sn_buf_char(&w->base.out, '}');
    sn_doc_call_write(w, run_label);
}
