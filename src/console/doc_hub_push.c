/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a document and pushing updates to it. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "console/doc_hub_parts.h"

enum { CATCH_UP_BYTES = 1 << 20, APPEND_BYTES = 2 << 20 };

/* Opening. */

/* An open that waits: for the document, then for the commits that are on their way. */
typedef struct opening {
    sn_hub_wait wait;
    sn_hub *hub;
    uint64_t session;
    sn_hub_open_ask ask;
    seine_time now;
} opening;

static bool
is_stranger(const sn_live_doc *d, const sn_session *s)
{
    const sn_client *c = sn_doc_client(d->doc, s->client, false);

    if (c && c->user[0] && strcmp(c->user, s->user) != 0)
        return true;
    for (size_t i = 0; i < d->n_members; i++)
        if (strcmp(d->members[i]->session->client, s->client) == 0)
            return true;
    return false;
}

/* The updates behind a version. False: they are not known, or are too many. */
static bool
put_catch_up(sn_buf *b, const sn_doc *d, uint64_t from)
{
    size_t start = b->len;

    if (from < d->first || d->committed - from > SN_HUB_CATCH_UP)
        return false;
    sn_buf_printf(b, ",\"from\":%llu,\"updates\":[", (unsigned long long)from);
    for (uint64_t v = from + 1; v <= d->committed; v++) {
        const sn_update *u = sn_doc_update(d, v);
        seine_text changes;

        if (b->len - start > CATCH_UP_BYTES ||
            seine_changes_print(u->changes, &changes) != SEINE_OK) {
            sn_buf_truncate(b, start);
            return false;
        }
        sn_buf_printf(b, "%s{\"c\":\"%s\",\"u\":\"%s\",\"ch\":", v > from + 1 ? "," : "",
                      u->id, u->user);
        sn_buf_add(b, changes.bytes, changes.len);
        sn_buf_printf(b, ",\"ts\":%lld}", (long long)(u->at / SEINE_MS(1)));
        seine_text_free(&changes);
    }
    sn_buf_char(b, ']');
    return true;
}

static void
put_peers(sn_buf *b, const sn_live_doc *d, const sn_member *but)
{
    bool first = true;

    sn_buf_text(b, ",\"peers\":[");
    for (size_t i = 0; i < d->n_members; i++) {
        const sn_member *m = d->members[i];

        if (m == but)
            continue;
        sn_buf_printf(b,
                      "%s{\"client\":\"%s\",\"user\":\"%s\",\"name\":", first ? "" : ",",
                      m->session->client, m->session->user);
        sn_hub_quote(b, sn_str_of(m->session->name));
        sn_buf_printf(b, ",\"color\":\"%s\",\"sel\":", m->session->color);
        sn_hub_put_sel(b, m);
        sn_buf_char(b, '}');
        first = false;
    }
    sn_buf_char(b, ']');
}

/* The number of the last update of this client that is committed. */
static uint64_t
committed_seq(const sn_live_doc *d, const char *client)
{
    const sn_client *c = sn_doc_client(d->doc, client, false);
    uint64_t seq = c ? c->seq : 0;

    for (uint64_t v = d->doc->committed + 1; v <= d->doc->version; v++)
        seq -= strcmp(sn_doc_update(d->doc, v)->id, client) == 0;
    return seq;
}

static void
tell_opened(const sn_member *m, const sn_hub_open_ask *ask)
{
    const sn_live_doc *d = m->d;
    sn_buf *b = &d->hub->out;
    uint64_t units;
    sn_str text = sn_doc_stable(d->doc, &units);

    sn_buf_printf(b, "{\"t\":\"opened\",\"doc\":\"%s\",\"kind\":\"%s\",\"title\":",
                  d->facts.id, d->facts.kind == SN_DOC_NOTE ? "note" : "recipe");
    sn_hub_quote(b, sn_str_of(d->facts.title));
    sn_buf_printf(b, ",\"epoch\":\"%s\",\"v\":%llu,\"seq\":%llu,\"ro\":%s",
                  d->facts.epoch, (unsigned long long)d->doc->committed,
                  (unsigned long long)committed_seq(d, m->session->client),
                  m->session->may_edit && !d->damage ? "false" : "true");
    if (d->damage) {
        sn_buf_text(b, ",\"frozen\":");
        sn_hub_quote(b, sn_str_of(d->damage));
    }
    put_peers(b, d, m);
    if (!ask->has_version || !put_catch_up(b, d->doc, ask->version)) {
        sn_buf_text(b, ",\"text\":");
        sn_hub_quote(b, text);
    }
    sn_buf_char(b, '}');
    sn_hub_send(d->hub, m->session);
}

static sn_api_error
enter(sn_live_doc *d, sn_session *s, const opening *o, const char **out_why)
{
    sn_member *again = sn_hub_member(s, d->facts.id);

    *out_why = "";
    if (again)
        sn_hub_part(again, "close", o->now);
    if (is_stranger(d, s)) {
        *out_why = "this client id belongs to somebody else";
        return SN_API_FORBIDDEN;
    }
    if (d->is_deleted) {
        *out_why = "no such document";
        return SN_API_NOT_FOUND;
    }
    if (d->n_members >= d->hub->opts.max_sessions ||
        s->n_members >= d->hub->opts.max_docs) {
        *out_why = d->n_members >= d->hub->opts.max_sessions
                       ? "as many people as may have this document open"
                       : "as many documents are open as may be";
        return SN_API_TOO_MANY;
    }
    if (o->ask.has_version && (strcmp(o->ask.epoch, d->facts.epoch) != 0 ||
                               o->ask.version > d->doc->committed)) {
        *out_why = "the document is another one now: open it afresh";
        return SN_API_EPOCH_CHANGED;
    }
    sn_member *m = sn_zalloc(sizeof *m);
    if (!m) {
        *out_why = "out of memory";
        return SN_API_UNAVAILABLE;
    }
    m->session = s;
    m->d = d;
    d->members[d->n_members++] = m;
    s->members[s->n_members++] = m;
    tell_opened(m, &o->ask);
    sn_hub_tell_join(m);
    d->has_checked = false; /* whoever comes later wants to know its problems, too */
    if (d->hub->opts.changed)
        d->hub->opts.changed(d, d->hub->opts.arg);
    return SN_REFUSE_NONE;
}

/* Ends an opening, well or not. */
static void
finish_open(opening *o, sn_live_doc *d, sn_api_error why, const char *text)
{
    sn_session *s = sn_hub_session(o->hub, o->session);

    if (s) {
        s->n_opening--;
        if (d)
            why = enter(d, s, o, &text);
        if (why != SN_REFUSE_NONE)
            sn_hub_refuse(o->hub, s, why, "open", o->ask.doc,
                          o->ask.has_id ? &o->ask.id : NULL, text);
    }
    sn_free(o);
}

static void
on_settled(sn_hub_wait *w, sn_live_doc *d, sn_api_error why)
{
    opening *o = (opening *)(void *)w;
    sn_live_doc *pinned = sn_hub_find(o->hub, o->ask.doc);
    seine_time now = o->now;

    finish_open(o, d, why, "the store failed; open again");
    sn_hub_unpin(pinned, now);
}

static void
on_there(sn_hub_wait *w, sn_live_doc *d, sn_api_error why)
{
    opening *o = (opening *)(void *)w;

    if (!d) {
        finish_open(o, NULL, why,
                    why == SN_API_NOT_FOUND ? "no such document"
                                            : "the store cannot be asked now");
        return;
    }
    o->wait.fn = on_settled;
    sn_hub_settled(d, &o->wait);
}

sn_api_error
sn_hub_open(sn_hub *h, sn_session *s, const sn_hub_open_ask *ask, seine_time now,
            sn_hub_why *why)
{
    sn_member *m = sn_hub_member(s, ask->doc);

    if (m) /* once more: it gets a fresh start */
        sn_hub_part(m, "close", now);
    if (s->n_members + s->n_opening >= h->opts.max_docs) {
        snprintf(why->text, sizeof why->text, "%u documents are open already",
                 h->opts.max_docs);
        return SN_API_TOO_MANY;
    }
    opening *o = sn_zalloc(sizeof *o);
    if (!o) {
        snprintf(why->text, sizeof why->text, "out of memory");
        return SN_API_UNAVAILABLE;
    }
    *o = (opening){.wait = {.fn = on_there},
                   .hub = h,
                   .session = s->number,
                   .ask = *ask,
                   .now = now};
    s->n_opening++;
    sn_hub_want(h, ask->doc, &o->wait, now);
    return SN_REFUSE_NONE;
}

/* Pushing. */

static sn_api_error
explain(sn_refusal refusal, const sn_doc *d, const sn_client *c, const sn_hub_edit *edit,
        sn_hub_why *why)
{
    char *out = why->text;
    size_t cap = sizeof why->text;

    switch (refusal) {
    case SN_ACCEPTED:
        return SN_REFUSE_NONE;
    case SN_BAD_BASE:
        snprintf(out, cap, "base %llu is beyond version %llu",
                 (unsigned long long)edit->base, (unsigned long long)d->version);
        return SN_API_BAD_BASE;
    case SN_TOO_OLD:
        snprintf(out, cap, "the history since version %llu is not kept",
                 (unsigned long long)edit->base);
        return SN_API_TOO_OLD;
    case SN_BAD_SEQ:
        snprintf(out, cap, "expected seq %llu, got %llu",
                 (unsigned long long)(c ? c->seq : 0) + 1, (unsigned long long)edit->seq);
        return SN_API_BAD_SEQ;
    case SN_BAD_CHANGE:
        snprintf(out, cap, "the changes do not fit the text");
        return SN_API_BAD_CHANGE;
    case SN_DOC_FULL:
        snprintf(out, cap, "the text would be longer than it may be");
        return SN_API_DOC_FULL;
    case SN_NO_MEMORY:
        break;
    }
    snprintf(out, cap, "out of memory");
    return SN_API_UNAVAILABLE;
}

/* The rows of the versions behind `before`. */
static seine_err
fill(sn_append *a, const sn_doc *d, uint64_t before)
{
    size_t ends[SN_PUSH_MOST] = {0};
    size_t at = 0;

    for (uint64_t v = before + 1; v <= d->version; v++) {
        const sn_update *u = sn_doc_update(d, v);
        seine_text text;
        seine_err e = seine_changes_print(u->changes, &text);

        if (e != SEINE_OK)
            return e;
        sn_buf_add(&a->texts, text.bytes, text.len);
        seine_text_free(&text);
        a->rows[a->n] = (sn_doc_update_row){.version = v,
                                            .seq = u->seq,
                                            .client = a->client,
                                            .user = a->user,
                                            .at_ms = u->at / SEINE_MS(1)};
        ends[a->n++] = a->texts.len;
    }
    for (size_t i = 0; i < a->n; i++) {
        a->rows[i].changes = sn_str_slice(sn_buf_view(&a->texts), at, ends[i]);
        at = ends[i];
    }
    return sn_buf_done(&a->texts);
}

static sn_append *
new_append(sn_live_doc *d, const sn_hub_edit *edit, seine_time now)
{
    sn_append *a = sn_zalloc(sizeof *a);

    if (!a)
        return NULL;
    a->d = d;
    memcpy(a->doc, d->facts.id, sizeof a->doc);
    snprintf(a->client, sizeof a->client, "%s", edit->client);
    snprintf(a->user, sizeof a->user, "%s", edit->user);
    sn_buf_init(&a->texts, APPEND_BYTES);
    a->generation = d->generation;
    a->session = edit->session;
    a->has_id = edit->has_id;
    a->id = edit->id;
    a->began = now;
    return a;
}

/* Has every set at most so many sections? */
static bool
are_small(const sn_hub_edit *edit, const sn_hub_opts *o)
{
    seine_section s;

    for (size_t i = 0; i < edit->n; i++)
        if (seine_changes_at(edit->sets[i], o->max_sections, &s))
            return false;
    return edit->n <= o->max_updates;
}

static sn_api_error
check(const sn_live_doc *d, const sn_hub_edit *edit, sn_hub_why *why)
{
    const sn_client *c = sn_doc_client(d->doc, edit->client, false);

    if (d->damage) {
        snprintf(why->text, sizeof why->text, "the document is frozen: %s", d->damage);
        return SN_API_READ_ONLY;
    }
    if (!are_small(edit, &d->hub->opts)) {
        snprintf(why->text, sizeof why->text,
                 "at most %u updates of %u sections in one push",
                 d->hub->opts.max_updates, d->hub->opts.max_sections);
        return SN_API_TOO_LARGE;
    }
    if (c && c->user[0] && strcmp(c->user, edit->user) != 0) {
        snprintf(why->text, sizeof why->text, "this client id belongs to somebody else");
        return SN_API_FORBIDDEN;
    }
    if (!d->hub->opts.has_room(d->hub->opts.arg)) {
        snprintf(why->text, sizeof why->text, "the store has too much to do");
        return SN_API_UNAVAILABLE;
    }
    return SN_REFUSE_NONE;
}

/* What cannot be handed to the store is never committed: the document is frozen, and
 * read again when all have left. */
static sn_api_error
give_up(sn_live_doc *d, sn_append *a, sn_hub_why *why)
{
    sn_append_free(a);
    d->damage = "out of memory; it is read again when all have left";
    if (d->appends == 0)
        sn_hub_wake(d, SN_API_UNAVAILABLE);
    snprintf(why->text, sizeof why->text, "out of memory");
    return SN_API_UNAVAILABLE;
}

static sn_api_error
push_edit(sn_live_doc *d, const sn_hub_edit *edit, seine_time now, size_t *out_again,
          sn_hub_why *why)
{
    sn_hub *h = d->hub;
    sn_client none = {.seq = 0};
    sn_push push = {edit->seq,
                    edit->base,
                    edit->sets,
                    edit->n,
                    SEINE_MS(h->opts.wall_ms(h->opts.arg)),
                    edit->user};
    uint64_t before = d->doc->version;
    sn_api_error refused = check(d, edit, why);

    if (refused != SN_REFUSE_NONE)
        return refused;
    sn_client *c = sn_doc_client(d->doc, edit->client, false);
    if (!c && edit->seq == 1)
        c = sn_doc_client(d->doc, edit->client, true);
    refused = explain(c || edit->seq > 1 ? sn_doc_accept(d->doc, &h->collab,
                                                         c ? c : &none, &push, out_again)
                                         : SN_NO_MEMORY,
                      d->doc, c, edit, why);
    if (refused != SN_REFUSE_NONE || d->doc->version == before || !c)
        return refused;
    snprintf(c->user, sizeof c->user, "%s", edit->user);
    c->heard = push.now;
    sn_append *a = new_append(d, edit, now);
    if (!a || fill(a, d->doc, before) != SEINE_OK)
        return give_up(d, a, why);
    d->appends++;
    h->in_flight++;
    h->opts.append(a, h->opts.arg);
    return SN_REFUSE_NONE;
}

sn_api_error
sn_hub_push(sn_live_doc *d, const sn_hub_edit *edit, seine_time now, size_t *out_again,
            sn_hub_why *why)
{
    bool is_last = edit->base == d->doc->version;

    *out_again = 0;
    sn_api_error refused = push_edit(d, edit, now, out_again, why);
    if (refused != SN_REFUSE_NONE) {
        sn_hub_note_down(d->hub, SN_NOTE_REJECTED, 1);
        return refused;
    }
    if (*out_again > 0)
        sn_hub_note_down(d->hub, SN_NOTE_DUPLICATE, (int64_t)*out_again);
    if (*out_again < edit->n)
        sn_hub_note_down(d->hub, is_last ? SN_NOTE_ACCEPTED : SN_NOTE_REBASED,
                         (int64_t)(edit->n - *out_again));
    return SN_REFUSE_NONE;
}
