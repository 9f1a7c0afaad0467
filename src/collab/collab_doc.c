/* SPDX-License-Identifier: Apache-2.0 */
/* One document: its updates, and how new ones find their place among them. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "collab/changes.h"
#include "collab/collab_parts.h"

void
sn_doc_free(sn_doc *d)
{
    for (uint64_t i = 0; i < d->version - d->first; i++)
        seine_changes_free(d->updates[i].changes);
    for (size_t i = 0; i < d->n_clients; i++)
        sn_free(d->clients[i]);
    seine_text_free(&d->text);
    seine_text_free(&d->first_text);
    seine_text_free(&d->stable);
    sn_free(d->updates);
    sn_free(d);
}

/* Bytes that a set holds. */
static size_t
bytes_of(const seine_changes *c)
{
    return sizeof *c + c->sections.room + c->text.room;
}

/* Frees the changes of an update. */
static void
drop_changes(sn_doc *d, sn_update *u)
{
    d->kept -= bytes_of(u->changes);
    seine_changes_free(u->changes);
    u->changes = NULL;
}

seine_err
sn_doc_check_base(const sn_doc *d, uint64_t base)
{
    if (base > d->version)
        return SEINE_E_INVAL;
    return base < d->first ? SEINE_E_RANGE : SEINE_OK;
}

/* Replaces the text by what the changes make of it. */
static seine_err
change_text(const seine_changes *c, seine_text *text)
{
    seine_text next = {0};
    seine_err e = seine_changes_apply(c, text->bytes, text->len, &next);

    if (e != SEINE_OK)
        return e;
    seine_text_free(text);
    *text = next;
    return SEINE_OK;
}

static seine_err
copy_text(const seine_text *from, seine_text *out)
{
    *out = (seine_text){0};
    char *copy = sn_alloc(from->len + 1);

    if (!copy)
        return SEINE_E_NOMEM;
    if (from->bytes)
        memcpy(copy, from->bytes, from->len);
    copy[from->len] = '\0';
    *out = (seine_text){copy, from->len};
    return SEINE_OK;
}

seine_err
sn_doc_text(const sn_doc *d, uint64_t base, seine_text *out_text)
{
    seine_err e = copy_text(base == d->version ? &d->text : &d->first_text, out_text);

    for (uint64_t v = d->first; base != d->version && v < base && e == SEINE_OK; v++)
        e = change_text(d->updates[v - d->first].changes, out_text);
    if (e != SEINE_OK)
        seine_text_free(out_text);
    return e;
}

bool
sn_doc_is_far(const sn_doc *d, uint64_t base)
{
    size_t len = d->text.len > d->first_text.len ? d->text.len : d->first_text.len;

    return base != d->version && base > d->first &&
           base - d->first > SN_TEXT_STEPS / (len + 1);
}

/* Makes the document. */

sn_doc *
sn_doc_new(const char *id, const char *title, sn_str text, uint64_t version)
{
    sn_doc *d = sn_zalloc(sizeof *d);
    seine_text given = {(char *)(uintptr_t)text.ptr, text.len};

    if (!d)
        return NULL;
    snprintf(d->id, sizeof d->id, "%s", id);
    snprintf(d->title, sizeof d->title, "%s", title);
    d->version = d->first = d->committed = version;
    if (seine_changes_units(text.ptr ? text.ptr : "", text.len, &d->units) != SEINE_OK ||
        copy_text(&given, &d->text) != SEINE_OK ||
        copy_text(&given, &d->first_text) != SEINE_OK) {
        sn_doc_free(d);
        return NULL;
    }
    return d;
}

/* Forgets who was not heard for longest and is not here. */
static void
forget_client(sn_doc *d)
{
    size_t oldest = SN_CLIENTS;

    for (size_t i = 0; i < d->n_clients; i++)
        if (!d->clients[i]->is_here &&
            (oldest == SN_CLIENTS || d->clients[i]->heard < d->clients[oldest]->heard))
            oldest = i;
    if (oldest == SN_CLIENTS)
        return;
    sn_free(d->clients[oldest]);
    d->clients[oldest] = d->clients[--d->n_clients];
}

sn_client *
sn_doc_client(sn_doc *d, const char *id, bool makes)
{
    for (size_t i = 0; i < d->n_clients; i++)
        if (strcmp(d->clients[i]->id, id) == 0)
            return d->clients[i];
    if (makes && d->n_clients == SN_CLIENTS)
        forget_client(d);
    sn_client *p = makes && d->n_clients < SN_CLIENTS ? sn_zalloc(sizeof *p) : NULL;
    if (!p)
        return NULL;
    snprintf(p->id, sizeof p->id, "%s", id);
    d->clients[d->n_clients++] = p;
    return p;
}

const sn_update *
sn_doc_update(const sn_doc *d, uint64_t version)
{
    return &d->updates[version - 1 - d->first];
}

uint64_t
sn_doc_move(const sn_doc *d, const char *client, uint64_t from, uint64_t to,
            uint64_t place)
{
    for (uint64_t v = from + 1; v <= to; v++) {
        const sn_update *u = sn_doc_update(d, v);

        place = seine_changes_move(u->changes, place, strcmp(u->id, client) ? -1 : 1);
    }
    return place;
}

/* Mapping. */

/* What it costs to walk over a set: its sections, and its text in words of a cache. */
static uint64_t
cost_of(const seine_changes *c)
{
    return 1 + sn_changes_count(c) + c->text.len / 64;
}

/* Two sets of one text: each of them afterwards fits behind the other. `spare` holds two
 * sets for the answers. */
static seine_err
cross(seine_changes **fresh, seine_changes **accepted, seine_changes *spare[2])
{
    seine_err e = seine_changes_map(*fresh, *accepted, false, spare[0]);

    if (e == SEINE_OK)
        e = seine_changes_map(*accepted, *fresh, true, spare[1]);
    if (e != SEINE_OK)
        return e == SEINE_E_RANGE ? SEINE_E_INVAL : e;
    seine_changes *was = *fresh;
    *fresh = spare[0];
    spare[0] = was;
    was = *accepted;
    *accepted = spare[1];
    spare[1] = was;
    return SEINE_OK;
}

/* The sets from `at` on are mapped over one accepted update. LIMITED: *steps are spent.
 */
static seine_err
map_over(const sn_update *u, seine_changes **sets, size_t at, size_t n,
         seine_changes *tools[3], uint64_t *steps)
{
    seine_err e = sn_changes_copy(u->changes, tools[2]);

    for (size_t i = at; i < n && e == SEINE_OK; i++) {
        uint64_t cost = cost_of(sets[i]) + cost_of(tools[2]);

        if (cost > *steps)
            return SEINE_E_LIMITED;
        *steps -= cost;
        e = cross(&sets[i], &tools[2], tools);
    }
    return e;
}

/* Over all updates since the base, one at a time. An update of the client itself is the
 * head of the sets, which was accepted before. */
static seine_err
map_over_all(const sn_doc *d, const sn_client *who, uint64_t base, seine_changes **sets,
             size_t n, size_t *out_known)
{
    seine_changes *tools[3] = {NULL, NULL, NULL};
    uint64_t steps = SN_PLACE_STEPS;
    seine_err e = SEINE_OK;
    size_t known = 0;

    for (size_t i = 0; i < 3 && e == SEINE_OK; i++)
        e = seine_changes_new(&tools[i]);
    for (uint64_t v = base; v < d->version && e == SEINE_OK; v++) {
        const sn_update *u = &d->updates[v - d->first];

        if (strcmp(u->id, who->id) != 0)
            e = map_over(u, sets, known, n, tools, &steps);
        else if (known < n)
            known++;
    }
    for (size_t i = 0; i < 3; i++)
        seine_changes_free(tools[i]);
    *out_known = known;
    return e;
}

/* Accepting. */

seine_err
sn_doc_forget(sn_doc *d, uint64_t version)
{
    seine_text text;

    if (version > d->committed)
        version = d->committed;
    if (version <= d->first)
        return SEINE_OK;
    uint64_t n = version - d->first;
    seine_err e = sn_doc_text(d, version, &text);
    if (e != SEINE_OK)
        return e;
    for (uint64_t i = 0; i < n; i++)
        drop_changes(d, &d->updates[i]);
    memmove(d->updates, d->updates + n,
            (size_t)(d->version - d->first - n) * sizeof *d->updates);
    d->first += n;
    seine_text_free(&d->first_text);
    d->first_text = text;
    return SEINE_OK;
}

/* Half of the updates, but of a long text only as many as can be played at once; more
 * than come, so that there is room for all of them. */
static uint64_t
forget_at_once(const sn_doc *d, size_t more)
{
    uint64_t n = (d->version - d->first + 1) / 2;
    uint64_t quick = SN_TEXT_STEPS / (d->first_text.len + 1);

    quick = quick > more ? quick : more;
    return n < quick ? n : quick;
}

static seine_err
make_room(sn_doc *d, const seine_collab_opts *o, seine_changes *const *sets, size_t more)
{
    seine_err e = SEINE_OK;
    size_t bytes = 0;

    for (size_t i = 0; i < more; i++)
        bytes += bytes_of(sets[i]);
    while (e == SEINE_OK && d->committed > d->first &&
           (d->version - d->first + more > o->max_updates ||
            d->kept + bytes > SN_KEPT_BYTES))
        e = sn_doc_forget(d, d->first + forget_at_once(d, more));
    size_t want = (size_t)(d->version - d->first) + more;
    if (e != SEINE_OK || want <= d->room)
        return e;
    size_t room = want > 2 * d->room ? want : 2 * d->room;
    sn_update *updates = sn_realloc(d->updates, room * sizeof *updates);
    if (!updates)
        return SEINE_E_NOMEM;
    d->updates = updates;
    d->room = room;
    return SEINE_OK;
}

/* The text after the sets. */
static seine_err
try_text(const sn_doc *d, const seine_collab_opts *o, seine_changes *const *sets,
         size_t n, seine_text *out_text)
{
    seine_err e = copy_text(&d->text, out_text);

    for (size_t i = 0; i < n && e == SEINE_OK; i++)
        e = change_text(sets[i], out_text);
    if (e == SEINE_E_RANGE)
        e = SEINE_E_INVAL;
    if (e == SEINE_OK && n > 0 && seine_changes_to(sets[n - 1]) > o->max_units)
        e = SEINE_E_FULL;
    if (e != SEINE_OK)
        seine_text_free(out_text);
    return e;
}

/* Carets move with the text; that of the author stays behind what it wrote. */
static void
move_cursors(sn_doc *d, const sn_update *u)
{
    for (size_t i = 0; i < d->n_clients; i++) {
        sn_client *c = d->clients[i];

        c->cursor =
            seine_changes_move(u->changes, c->cursor, strcmp(c->id, u->id) ? -1 : 1);
    }
}

static void
append(sn_doc *d, sn_client *who, const sn_push *push, seine_changes *set)
{
    sn_update *u = &d->updates[d->version - d->first];

    *u = (sn_update){.changes = set, .seq = ++who->seq, .at = push->now};
    memcpy(u->id, who->id, sizeof u->id);
    snprintf(u->user, sizeof u->user, "%s", push->user ? push->user : "");
    d->units = seine_changes_to(set);
    d->kept += bytes_of(set);
    d->modified = push->now;
    d->version++;
    move_cursors(d, u);
}

/* The old text is kept while its version is the last that is committed. */
static void
take_text(sn_doc *d, seine_text text)
{
    if (d->committed == d->version)
        d->stable = d->text;
    else
        seine_text_free(&d->text);
    d->text = text;
}

static sn_refusal
refusal_of(seine_err e)
{
    return e == SEINE_OK                              ? SN_ACCEPTED
           : e == SEINE_E_INVAL || e == SEINE_E_RANGE ? SN_BAD_CHANGE
           : e == SEINE_E_FULL                        ? SN_DOC_FULL
                                                      : SN_NO_MEMORY;
}

/* Steps 2 and 3 of a push: does it fit into the history? */
static sn_refusal
place(const sn_doc *d, const sn_client *who, const sn_push *push, size_t *out_known)
{
    seine_err base = sn_doc_check_base(d, push->base);

    if (base != SEINE_OK)
        return base == SEINE_E_RANGE ? SN_TOO_OLD : SN_BAD_BASE;
    if (who->seq == 0 && push->seq > 1)
        return SN_TOO_OLD;
    if (push->n == 0 || push->seq < 1 || push->seq > who->seq + 1)
        return SN_BAD_SEQ;
    seine_err placed = map_over_all(d, who, push->base, push->sets, push->n, out_known);
    if (placed != SEINE_OK)
        return placed == SEINE_E_LIMITED ? SN_TOO_OLD : refusal_of(placed);
    uint64_t again = who->seq + 1 - push->seq;
    return *out_known == (again < push->n ? again : push->n) ? SN_ACCEPTED : SN_BAD_SEQ;
}

sn_refusal
sn_doc_accept(sn_doc *d, const seine_collab_opts *o, sn_client *who, const sn_push *push,
              size_t *out_again)
{
    size_t known = 0;
    seine_text text;
    sn_refusal why = place(d, who, push, &known);

    if (why != SN_ACCEPTED)
        return why;
    *out_again = known;
    if (known == push->n)
        return SN_ACCEPTED;
    why = refusal_of(make_room(d, o, push->sets + known, push->n - known));
    if (why == SN_ACCEPTED)
        why = refusal_of(try_text(d, o, push->sets + known, push->n - known, &text));
    if (why != SN_ACCEPTED)
        return why;
    take_text(d, text);
    for (size_t i = known; i < push->n; i++) {
        append(d, who, push, push->sets[i]);
        push->sets[i] = NULL; /* it is the document's now */
    }
    return SN_ACCEPTED;
}

/* Committing. */

seine_err
sn_doc_commit(sn_doc *d, uint64_t version)
{
    seine_err e = SEINE_OK;

    if (version <= d->committed)
        return SEINE_OK;
    if (version >= d->version) {
        seine_text_free(&d->stable);
        d->committed = d->version;
        return SEINE_OK;
    }
    while (e == SEINE_OK && d->committed < version) {
        e = change_text(sn_doc_update(d, d->committed + 1)->changes, &d->stable);
        d->committed += e == SEINE_OK;
    }
    return e;
}

void
sn_doc_rollback(sn_doc *d)
{
    if (d->committed == d->version)
        return;
    while (d->version > d->committed) {
        sn_update *u = &d->updates[--d->version - d->first];
        sn_client *who = sn_doc_client(d, u->id, false);

        if (who)
            who->seq--;
        if (d->version == d->committed)
            d->units = seine_changes_from(u->changes);
        drop_changes(d, u);
    }
    seine_text_free(&d->text);
    d->text = d->stable;
    d->stable = (seine_text){0};
    if (d->version > d->first)
        d->modified = sn_doc_update(d, d->version)->at;
}

sn_str
sn_doc_stable(const sn_doc *d, uint64_t *out_units)
{
    bool last = d->committed == d->version;
    const seine_text *text = last ? &d->text : &d->stable;

    *out_units =
        last ? d->units : seine_changes_from(sn_doc_update(d, d->committed + 1)->changes);
    return (sn_str){text->bytes, text->len};
}

seine_err
sn_doc_replay(sn_doc *d, const char *client, const char *user, uint64_t seq,
              seine_time at, seine_changes *give)
{
    seine_collab_opts o = SEINE_COLLAB_OPTS;
    sn_client *who = sn_doc_client(d, client, true);
    sn_push push = {.now = at, .user = user};
    seine_text text;

    o.max_updates = UINT32_MAX;
    o.max_units = SEINE_CHANGES_UNITS;
    seine_err e = who ? make_room(d, &o, &give, 1) : SEINE_E_NOMEM;
    if (e == SEINE_OK)
        e = try_text(d, &o, &give, 1, &text);
    if (e != SEINE_OK) {
        seine_changes_free(give);
        return e;
    }
    who->seq = seq - 1;
    who->heard = at;
    take_text(d, text);
    append(d, who, &push, give);
    return sn_doc_commit(d, d->version);
}
