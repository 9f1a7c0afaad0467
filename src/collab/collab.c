/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/collab.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "base/time.h"
#include "collab/changes.h"
#include "collab/collab_parts.h"

seine_err
seine_collab_new(const seine_collab_opts *opts, seine_collab **out_c)
{
    uint64_t seed;

    if (!out_c || !sn_opts_fit(opts, sizeof *opts) || opts->max_docs == 0 ||
        opts->max_people == 0 || opts->max_people > SN_CLIENTS || opts->max_units == 0 ||
        opts->max_units > SEINE_CHANGES_UNITS || opts->max_updates < SN_PUSH_MOST ||
        opts->quiet <= 0)
        return SEINE_E_INVAL;
    seine_collab *c = sn_zalloc(sizeof *c);
    *out_c = c;
    if (!c)
        return SEINE_E_NOMEM;
    c->opts = *opts;
    seed = opts->seed;
    if (seed == 0)
        sn_rng_secret(&seed, sizeof seed);
    c->dice = sn_rng_seed(seed);
    sn_map_init(&c->docs, opts->max_docs);
    return SEINE_OK;
}

void
seine_collab_free(seine_collab *c)
{
    if (!c)
        return;
    SN_MAP_EACH(entry, &c->docs)
        sn_doc_free(entry->value);
    sn_map_fini(&c->docs);
    sn_free(c);
}

/* Finding. */

static sn_doc *
find_doc(const seine_collab *c, const char *id)
{
    return c && id ? sn_map_get(&c->docs, sn_str_of(id)) : NULL;
}

/* The document, and the client who is in it. */
static seine_err
find_both(const seine_collab *c, const char *doc, const char *client, sn_doc **out_doc,
          sn_client **out_client)
{
    if (!c || !doc || !client)
        return SEINE_E_INVAL;
    *out_doc = find_doc(c, doc);
    if (!*out_doc)
        return SEINE_E_UNKNOWN;
    *out_client = sn_doc_client(*out_doc, client, false);
    return *out_client && (*out_client)->is_here ? SEINE_OK : SEINE_E_CLOSED;
}

/* Documents. */

/* A ULID: milliseconds, then dice, 5 bits a character. */
static void
draw_id(seine_collab *c, seine_time now, char out_id[SEINE_COLLAB_ID])
{
    static const char letters[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    uint64_t ms = now > 0 ? (uint64_t)(now / SEINE_MS(1)) : 0;

    for (int i = 0; i < 10; i++)
        out_id[i] = letters[ms >> 5 * (9 - i) & 31];
    for (int i = 10; i < 26; i++)
        out_id[i] = letters[sn_rng_below(&c->dice, 32)];
    out_id[26] = '\0';
}

static bool
is_text(const char *s, size_t most)
{
    return s && strlen(s) <= most && sn_utf8_valid(sn_str_of(s));
}

seine_err
seine_collab_create(seine_collab *c, const char *title, seine_time now,
                    char out_id[SEINE_COLLAB_ID])
{
    if (!c || !out_id || !is_text(title, SN_TITLE_MOST) || title[0] == '\0')
        return SEINE_E_INVAL;
    char id[SEINE_COLLAB_ID];
    draw_id(c, now, id);
    sn_doc *d = sn_doc_new(id, title, (sn_str){"", 0}, 0);
    if (!d)
        return SEINE_E_NOMEM;
    d->modified = now;
    seine_err e = sn_map_add(&c->docs, sn_str_of(d->id), d);
    if (e != SEINE_OK) {
        sn_doc_free(d);
        return e;
    }
    memcpy(out_id, d->id, sizeof d->id);
    return SEINE_OK;
}

seine_err
seine_collab_get(const seine_collab *c, const char *doc, seine_collab_doc *out_doc)
{
    if (!c || !doc || !out_doc)
        return SEINE_E_INVAL;
    const sn_doc *d = find_doc(c, doc);
    if (!d)
        return SEINE_E_UNKNOWN;
    *out_doc = (seine_collab_doc){.id = d->id,
                                  .title = d->title,
                                  .content = {d->text.bytes, d->text.len},
                                  .units = d->units,
                                  .version = d->version,
                                  .oldest = d->first,
                                  .last_modified = d->modified};
    for (size_t i = 0; i < d->n_clients; i++)
        out_doc->n_collaborators += d->clients[i]->is_here;
    return SEINE_OK;
}

seine_err
seine_collab_update(const seine_collab *c, const char *doc, uint64_t version,
                    seine_update *out_update)
{
    if (!c || !doc || !out_update)
        return SEINE_E_INVAL;
    const sn_doc *d = find_doc(c, doc);
    if (!d)
        return SEINE_E_UNKNOWN;
    if (version <= d->first || version > d->version)
        return SEINE_E_RANGE;
    const sn_update *u = &d->updates[version - 1 - d->first];
    *out_update = (seine_update){u->id, u->seq, u->changes};
    return SEINE_OK;
}

/* People. */

static bool
is_client_id(const char *s)
{
    size_t n = s ? strlen(s) : 0;

    for (size_t i = 0; i < n; i++)
        if (!sn_is_alpha(s[i]) && !sn_is_digit(s[i]) && s[i] != '-' && s[i] != '_')
            return false;
    return n > 0 && n <= SN_CLIENT_MOST;
}

/* The colour that fewest people have. */
static unsigned
choose_color(const sn_doc *d)
{
    unsigned used[SN_COLORS] = {0}, best = 0;

    for (size_t i = 0; i < d->n_clients; i++)
        used[d->clients[i]->color] += d->clients[i]->is_here;
    for (unsigned i = 1; i < SN_COLORS; i++)
        if (used[i] < used[best])
            best = i;
    return best;
}

seine_err
seine_collab_join(seine_collab *c, const char *doc, const char *client, const char *name,
                  seine_time now, uint64_t *out_version)
{
    seine_collab_doc said;

    if (!out_version || !is_client_id(client) || !is_text(name, SN_NAME_MOST))
        return SEINE_E_INVAL;
    seine_err e = seine_collab_get(c, doc, &said);
    if (e != SEINE_OK)
        return e;
    sn_doc *d = find_doc(c, doc);
    sn_client *p = sn_doc_client(d, client, false);
    if (!(p && p->is_here) && said.n_collaborators >= c->opts.max_people)
        return SEINE_E_FULL;
    if (!p && !(p = sn_doc_client(d, client, true)))
        return SEINE_E_NOMEM;
    snprintf(p->name, sizeof p->name, "%s", name);
    p->heard = now;
    if (!p->is_here) {
        p->color = choose_color(d);
        p->cursor = 0;
        p->is_here = true;
    }
    *out_version = d->version;
    return SEINE_OK;
}

seine_err
seine_collab_leave(seine_collab *c, const char *doc, const char *client)
{
    sn_doc *d;
    sn_client *p;
    seine_err e = find_both(c, doc, client, &d, &p);

    if (e == SEINE_OK)
        p->is_here = false;
    return e;
}

seine_err
seine_collab_person(const seine_collab *c, const char *doc, size_t i,
                    seine_collaborator *out_person)
{
    if (!c || !doc || !out_person)
        return SEINE_E_INVAL;
    const sn_doc *d = find_doc(c, doc);
    if (!d)
        return SEINE_E_UNKNOWN;
    for (size_t k = 0; k < d->n_clients; k++) {
        const sn_client *p = d->clients[k];

        if (p->is_here && i-- == 0) {
            *out_person = (seine_collaborator){p->id, p->name, p->cursor, p->color};
            return SEINE_OK;
        }
    }
    return SEINE_E_RANGE;
}

seine_err
seine_collab_cursor(seine_collab *c, const char *doc, const char *client, uint64_t base,
                    uint64_t position, seine_time now)
{
    sn_doc *d;
    sn_client *p;
    seine_err e = find_both(c, doc, client, &d, &p);

    if (e == SEINE_OK)
        e = sn_doc_check_base(d, base);
    if (e != SEINE_OK)
        return e;
    position = sn_doc_move(d, p->id, base, d->version, position);
    p->cursor = position < d->units ? position : d->units;
    p->heard = now;
    return SEINE_OK;
}

size_t
seine_collab_sweep(seine_collab *c, seine_time now)
{
    size_t left = 0;

    if (!c)
        return 0;
    SN_MAP_EACH(entry, &c->docs) {
        const sn_doc *d = entry->value;

        for (size_t i = 0; i < d->n_clients; i++) {
            sn_client *p = d->clients[i];

            if (p->is_here && sn_time_sub(now, p->heard) >= c->opts.quiet) {
                p->is_here = false;
                left++;
            }
        }
    }
    return left;
}

/* Updates. */

static void
free_sets(seine_changes **sets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        seine_changes_free(sets[i]);
}

static seine_err
err_of(sn_refusal why)
{
    static const seine_err errs[] = {
        [SN_ACCEPTED] = SEINE_OK,        [SN_BAD_BASE] = SEINE_E_INVAL,
        [SN_TOO_OLD] = SEINE_E_RANGE,    [SN_BAD_SEQ] = SEINE_E_INVAL,
        [SN_BAD_CHANGE] = SEINE_E_INVAL, [SN_DOC_FULL] = SEINE_E_FULL,
        [SN_NO_MEMORY] = SEINE_E_NOMEM};

    return errs[why];
}

/* Nothing is stored here, so what is accepted is committed. */
static seine_err
accept(const seine_collab *c, sn_doc *d, sn_client *p, const sn_push *push,
       uint64_t *out_version)
{
    size_t again;
    seine_err e = err_of(sn_doc_accept(d, &c->opts, p, push, &again));

    if (e == SEINE_OK)
        e = sn_doc_commit(d, d->version);
    if (e == SEINE_OK) {
        p->heard = push->now;
        *out_version = d->version;
    }
    return e;
}

seine_err
seine_collab_edit(seine_collab *c, const char *doc, const char *client, uint64_t seq,
                  uint64_t base, seine_unit unit, const seine_edit *edits, size_t n,
                  seine_time now, uint64_t *out_version)
{
    seine_changes *sets[SN_PUSH_MOST] = {NULL};
    seine_text text;
    size_t made = 0;
    sn_doc *d;
    sn_client *p;
    seine_err e = find_both(c, doc, client, &d, &p);

    if (e != SEINE_OK)
        return e;
    if (!edits || n == 0 || n > SN_PUSH_MOST || !out_version || unit > SEINE_UTF8)
        return SEINE_E_INVAL;
    e = sn_doc_check_base(d, base);
    if (e == SEINE_OK)
        e = sn_doc_text(d, base, &text);
    if (e != SEINE_OK)
        return e;
    e = sn_edits_read(edits, n, unit, &text, sets, &made);
    seine_text_free(&text);
    if (e == SEINE_OK)
        e = accept(c, d, p, &(sn_push){seq, base, sets, n, now, NULL}, out_version);
    free_sets(sets, made);
    return e;
}

static seine_err
copy_sets(const seine_changes *const *from, size_t n, seine_changes **to)
{
    seine_err e = SEINE_OK;

    for (size_t i = 0; i < n && e == SEINE_OK; i++) {
        e = from[i] ? seine_changes_new(&to[i]) : SEINE_E_INVAL;
        if (e == SEINE_OK)
            e = sn_changes_copy(from[i], to[i]);
    }
    return e;
}

seine_err
seine_collab_push(seine_collab *c, const char *doc, const char *client, uint64_t seq,
                  uint64_t base, const seine_changes *const *sets, size_t n,
                  seine_time now, uint64_t *out_version)
{
    seine_changes *own[SN_PUSH_MOST] = {NULL};
    sn_doc *d;
    sn_client *p;
    seine_err e = find_both(c, doc, client, &d, &p);

    if (e != SEINE_OK)
        return e;
    if (!sets || n == 0 || n > SN_PUSH_MOST || !out_version)
        return SEINE_E_INVAL;
    e = copy_sets(sets, n, own);
    if (e == SEINE_OK)
        e = accept(c, d, p, &(sn_push){seq, base, own, n, now, NULL}, out_version);
    free_sets(own, n);
    return e;
}
