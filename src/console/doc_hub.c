/* SPDX-License-Identifier: Apache-2.0 */
#include "console/doc_hub.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "console/doc_hub_parts.h"

enum { MESSAGE_MOST = 4 << 20, UNLOAD_S = 60, SESSIONS = 32, DOCS = 8 };

seine_err
sn_hub_new(const sn_hub_opts *opts, sn_hub **out_hub)
{
    sn_hub *h = sn_zalloc(sizeof *h);

    if (!h)
        return SEINE_E_NOMEM;
    h->opts = *opts;
    h->opts.max_units = opts->max_units ? opts->max_units : SN_HUB_UNITS;
    h->opts.max_updates = opts->max_updates ? opts->max_updates : SN_PUSH_MOST;
    h->opts.max_sections = opts->max_sections ? opts->max_sections : SN_HUB_SECTIONS;
    h->opts.max_sessions = opts->max_sessions ? opts->max_sessions : SESSIONS;
    h->opts.max_docs = opts->max_docs ? opts->max_docs : DOCS;
    h->collab = (seine_collab_opts)SEINE_COLLAB_OPTS;
    h->collab.max_units = h->opts.max_units;
    if (opts->max_kept > 0)
        h->collab.max_updates = opts->max_kept;
    sn_map_init(&h->docs, SN_HUB_OPEN);
    sn_buf_init(&h->out, MESSAGE_MOST);
    *out_hub = h;
    return SEINE_OK;
}

void
sn_hub_note_down(const sn_hub *h, sn_hub_note what, int64_t value)
{
    if (h->opts.note)
        h->opts.note(what, value, h->opts.arg);
}

static void
free_doc(sn_live_doc *d)
{
    if (d->doc)
        sn_doc_free(d->doc);
    sn_free(d);
}

/* Whoever still waits when the hub ends hears that nothing comes any more. */
static void
end_waits(sn_live_doc *d)
{
    sn_hub_wait *lists[] = {d->for_load, d->for_commit};

    d->for_load = d->for_commit = NULL;
    for (int i = 0; i < 2; i++)
        for (sn_hub_wait *w = lists[i], *next; w; w = next) {
            next = w->next;
            w->fn(w, NULL, SN_API_UNAVAILABLE);
        }
}

void
sn_hub_free(sn_hub *h)
{
    if (!h)
        return;
    SN_MAP_EACH(entry, &h->docs)
        end_waits(entry->value);
    SN_MAP_EACH(entry, &h->docs)
        free_doc(entry->value);
    sn_map_fini(&h->docs);
    sn_buf_fini(&h->out);
    sn_free(h);
}

void
sn_append_free(sn_append *a)
{
    if (!a)
        return;
    sn_buf_fini(&a->texts);
    sn_free(a);
}

void
sn_snapshot_free(sn_snapshot *s)
{
    if (!s)
        return;
    seine_text_free(&s->text);
    sn_free(s);
}

/* Messages. */

void
sn_hub_quote(sn_buf *b, sn_str text)
{
    size_t n = sn_json_quote(text.ptr, text.len, NULL, 0);
    char *to = sn_buf_reserve(b, n + 1);

    if (to) {
        (void)sn_json_quote(text.ptr, text.len, to, n + 1);
        sn_buf_commit(b, n);
    }
}

void
sn_hub_send(sn_hub *h, sn_session *s)
{
    if (sn_buf_done(&h->out) == SEINE_OK)
        h->opts.send(s->peer, sn_buf_view(&h->out), h->opts.arg);
    sn_buf_reset(&h->out);
}

void
sn_hub_tell(sn_live_doc *d, sn_str text)
{
    for (size_t i = 0; i < d->n_members; i++)
        d->hub->opts.send(d->members[i]->session->peer, text, d->hub->opts.arg);
}

void
sn_hub_refuse(sn_hub *h, sn_session *s, sn_api_error error, const char *re,
              const char *doc, const int64_t *id, const char *text)
{
    const sn_api_error_row *row = sn_api_error_of(error);

    sn_buf_printf(&h->out, "{\"t\":\"err\",\"code\":\"%s\",\"msg\":", row->word);
    sn_hub_quote(&h->out, sn_str_of(text));
    sn_buf_printf(&h->out, ",\"scope\":\"%s\",\"re\":\"%s\"",
                  sn_api_scope_name(row->scope), re);
    if (id)
        sn_buf_printf(&h->out, ",\"id\":%lld", (long long)*id);
    if (doc)
        sn_buf_printf(&h->out, ",\"doc\":\"%s\"", doc);
    if (error == SN_API_UNAVAILABLE)
        sn_buf_text(&h->out, ",\"retry_ms\":1000");
    sn_buf_char(&h->out, '}');
    sn_hub_send(h, s);
}

/* Finding. */

sn_session *
sn_hub_session(const sn_hub *h, uint64_t number)
{
    for (sn_session *s = h->sessions; s; s = s->next)
        if (s->number == number)
            return s;
    return NULL;
}

sn_member *
sn_hub_member(const sn_session *s, const char *doc)
{
    for (size_t i = 0; i < s->n_members; i++)
        if (strcmp(s->members[i]->d->facts.id, doc) == 0)
            return s->members[i];
    return NULL;
}

sn_live_doc *
sn_hub_opened(const sn_session *s, const char *doc)
{
    sn_member *m = sn_hub_member(s, doc);

    return m ? m->d : NULL;
}

sn_live_doc *
sn_hub_find(const sn_hub *h, const char *doc)
{
    return sn_map_get(&h->docs, sn_str_of(doc));
}

size_t
sn_hub_docs(const sn_hub *h)
{
    return h->docs.count;
}

size_t
sn_hub_sessions(const sn_hub *h)
{
    return h->n_sessions;
}

/* Sessions. */

void
sn_hub_join(sn_hub *h, sn_session *s, seine_time now)
{
    s->number = ++h->last_number;
    s->active = now;
    s->n_members = s->n_opening = 0;
    s->prev = NULL;
    s->next = h->sessions;
    if (h->sessions)
        h->sessions->prev = s;
    h->sessions = s;
    sn_hub_note_down(h, SN_NOTE_SESSIONS, (int64_t)++h->n_sessions);
}

void
sn_hub_leave(sn_hub *h, sn_session *s, const char *why, seine_time now)
{
    while (s->n_members > 0)
        sn_hub_part(s->members[0], why, now);
    if (s->prev)
        s->prev->next = s->next;
    else
        h->sessions = s->next;
    if (s->next)
        s->next->prev = s->prev;
    s->next = s->prev = NULL;
    sn_hub_note_down(h, SN_NOTE_SESSIONS, (int64_t)--h->n_sessions);
}

/* Loading. */

static void
wait_for(sn_hub_wait **list, sn_hub_wait *w)
{
    while (*list)
        list = &(*list)->next;
    w->next = NULL;
    *list = w;
}

void
sn_hub_unpin(sn_live_doc *d, seine_time now)
{
    d->pins--;
    d->idle = now;
}

void
sn_hub_want(sn_hub *h, const char *doc, sn_hub_wait *w, seine_time now)
{
    sn_live_doc *d = sn_hub_find(h, doc);

    if (d && d->doc) {
        d->pins++;
        w->fn(w, d, SN_REFUSE_NONE);
        return;
    }
    if (!d) {
        d = h->opts.has_room(h->opts.arg) ? sn_zalloc(sizeof *d) : NULL;
        if (!d) {
            w->fn(w, NULL, SN_API_UNAVAILABLE);
            return;
        }
        d->hub = h;
        d->idle = now;
        snprintf(d->facts.id, sizeof d->facts.id, "%s", doc);
        if (sn_map_add(&h->docs, sn_str_of(d->facts.id), d) != SEINE_OK) {
            sn_free(d);
            w->fn(w, NULL, SN_API_TOO_MANY);
            return;
        }
        wait_for(&d->for_load, w);
        h->in_flight++;
        h->opts.load(doc, h->opts.arg);
        return;
    }
    wait_for(&d->for_load, w);
}

static void
forget(sn_hub *h, sn_live_doc *d)
{
    (void)sn_map_take(&h->docs, sn_str_of(d->facts.id));
    free_doc(d);
    sn_hub_note_down(h, SN_NOTE_DOCS, (int64_t)h->docs.count);
}

void
sn_hub_loaded(sn_hub *h, const char *doc, seine_err err, sn_doc_loaded *loaded,
              seine_time now)
{
    sn_live_doc *d = sn_hub_find(h, doc);
    sn_hub_wait *w;

    h->in_flight--;
    if (!d || d->doc) {
        if (err == SEINE_OK)
            sn_doc_free(loaded->doc);
        return;
    }
    w = d->for_load;
    d->for_load = NULL;
    if (err != SEINE_OK) {
        forget(h, d);
        d = NULL;
    } else {
        d->facts = loaded->facts;
        d->doc = loaded->doc;
        d->damage = loaded->damage;
        d->snapshot = loaded->snapshot;
        d->idle = now;
        sn_hub_note_down(h, SN_NOTE_DOCS, (int64_t)h->docs.count);
    }
    while (w) {
        sn_hub_wait *next = w->next;

        if (d)
            d->pins++;
        w->fn(w, d,
              err == SEINE_OK          ? SN_REFUSE_NONE
              : err == SEINE_E_UNKNOWN ? SN_API_NOT_FOUND
                                       : SN_API_UNAVAILABLE);
        w = next;
    }
    if (d && h->opts.changed)
        h->opts.changed(d, h->opts.arg);
}

void
sn_hub_settled(sn_live_doc *d, sn_hub_wait *w)
{
    w->version = d->doc->version;
    /* What nobody has handed to the store never comes. */
    if (d->doc->committed >= w->version || (d->damage && d->appends == 0)) {
        w->fn(w, d, SN_REFUSE_NONE);
        return;
    }
    wait_for(&d->for_commit, w);
}

/* Memory. */

static void
take_snapshot(sn_live_doc *d)
{
    uint64_t units;
    sn_str text = sn_doc_stable(d->doc, &units);
    sn_snapshot *snap = d->damage ? NULL : sn_zalloc(sizeof *snap);

    if (!snap || !(snap->text.bytes = sn_alloc(text.len + 1))) {
        sn_snapshot_free(snap);
        return;
    }
    memcpy(snap->doc, d->facts.id, sizeof snap->doc);
    if (text.len > 0)
        memcpy(snap->text.bytes, text.ptr, text.len);
    snap->text.bytes[text.len] = '\0';
    snap->text.len = text.len;
    snap->version = d->doc->committed;
    d->snapshot = d->doc->committed;
    d->hub->opts.snapshot(snap, d->hub->opts.arg);
}

static void
save(sn_live_doc *d)
{
    if (d->doc && d->doc->committed > d->snapshot && !d->is_deleted)
        take_snapshot(d);
}

void
sn_hub_save(sn_hub *h)
{
    SN_MAP_EACH(entry, &h->docs)
        save(entry->value);
}

bool
sn_hub_is_busy(const sn_hub *h)
{
    return h->in_flight > 0;
}

static bool
is_idle(const sn_live_doc *d, seine_time now)
{
    return d->doc && d->n_members == 0 && d->pins == 0 && d->appends == 0 &&
           (d->is_deleted || now - d->idle >= SEINE_SECS(UNLOAD_S));
}

void
sn_hub_sweep(sn_hub *h, seine_time now)
{
    sn_live_doc *idle;

    for (sn_session *s = h->sessions; s; s = s->next)
        for (size_t i = 0; i < s->n_members; i++)
            if (s->members[i]->is_shown && now - s->active >= SEINE_SECS(30 * 60)) {
                s->members[i]->is_shown = false;
                sn_hub_tell_cursor(s->members[i]);
            }
    do {
        idle = NULL;
        SN_MAP_EACH(entry, &h->docs)
            if (is_idle(entry->value, now))
                idle = entry->value;
        if (idle) {
            save(idle);
            forget(h, idle);
        }
    } while (idle);
}

/* Committing. */

static void
put_update(sn_buf *b, const sn_doc_update_row *u)
{
    sn_buf_printf(b, "{\"c\":\"%s\",\"u\":\"%s\",\"ch\":", u->client, u->user);
    sn_buf_str(b, u->changes);
    sn_buf_printf(b, ",\"ts\":%lld}", (long long)u->at_ms);
}

static void
broadcast(sn_live_doc *d, const sn_append *a)
{
    sn_buf *b = &d->hub->out;

    sn_buf_printf(b, "{\"t\":\"updates\",\"doc\":\"%s\",\"v\":%llu,\"updates\":[",
                  d->facts.id, (unsigned long long)a->rows[0].version - 1);
    for (size_t i = 0; i < a->n; i++) {
        if (i > 0)
            sn_buf_char(b, ',');
        put_update(b, &a->rows[i]);
    }
    sn_buf_text(b, "]}");
    if (sn_buf_done(b) == SEINE_OK)
        sn_hub_tell(d, sn_buf_view(b));
    sn_buf_reset(b);
}

/* Selections are of the committed version. */
static void
move_selections(sn_live_doc *d, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < d->n_members; i++) {
        sn_member *m = d->members[i];

        for (size_t k = 0; k < m->n_sel; k++)
            for (size_t end = 0; end < 2; end++)
                m->sel[k][end] =
                    sn_doc_move(d->doc, m->session->client, from, to, m->sel[k][end]);
    }
}

/* Tells those who wait for versions that are settled now, in either way. */
void
sn_hub_wake(sn_live_doc *d, sn_api_error why)
{
    sn_hub_wait *w = d->for_commit, **left = &d->for_commit;

    d->for_commit = NULL;
    while (w) {
        sn_hub_wait *next = w->next;

        w->next = NULL;
        if (why != SN_REFUSE_NONE)
            w->fn(w, NULL, why);
        else if (w->version <= d->doc->committed)
            w->fn(w, d, why);
        else {
            while (*left)
                left = &(*left)->next;
            *left = w;
        }
        w = next;
    }
}

static void
take_back(sn_live_doc *d, const sn_append *a, seine_err err)
{
    sn_hub *h = d->hub;
    sn_session *author = sn_hub_session(h, a->session);

    if (a->generation == d->generation) {
        if (err == SEINE_E_INVAL && !d->damage)
            d->damage = "the store holds another version; it is read again later";
        sn_doc_rollback(d->doc);
        d->generation++;
        sn_hub_wake(d, SN_API_UNAVAILABLE);
    }
    if (author)
        sn_hub_refuse(h, author, SN_API_UNAVAILABLE, "push", d->facts.id,
                      a->has_id ? &a->id : NULL, "the store failed; push again");
}

void
sn_hub_committed(sn_hub *h, sn_append *give, seine_err err, seine_time now)
{
    sn_live_doc *d = give->d;
    uint64_t before = d->doc->committed, last = give->rows[give->n - 1].version;

    h->in_flight--;
    d->appends--;
    d->idle = now;
    if (err == SEINE_OK && sn_doc_commit(d->doc, last) != SEINE_OK) {
        d->damage = "out of memory; it is read again when all have left";
    } else if (err == SEINE_OK) {
        d->facts.modified_ms = give->rows[give->n - 1].at_ms;
        d->changed = now;
        move_selections(d, before, last);
        broadcast(d, give);
        sn_hub_note_down(h, SN_NOTE_BROADCAST, now - give->began);
        sn_hub_wake(d, SN_REFUSE_NONE);
        if (last >= d->snapshot + SN_DOC_SNAPSHOT_EVERY)
            take_snapshot(d);
        if (h->opts.changed)
            h->opts.changed(d, h->opts.arg);
    } else {
        take_back(d, give, err);
    }
    if (d->damage && d->appends == 0) /* later versions were not handed to the store */
        sn_hub_wake(d, SN_API_UNAVAILABLE);
    sn_append_free(give);
}
