/* SPDX-License-Identifier: Apache-2.0 */
/* Documents: written, read back whole, listed. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "console/docstore_parts.h"

enum { REPLAY_MOST = 5000 }; /* updates that are read from before the last snapshot */

static const char *const kinds[] = {"recipe", "note"};

/* Writing. */

seine_err
sn_docstore_snapshot(sn_docstore *s, const char *id, uint64_t version, sn_str text,
                     const char *label, const char *author, int64_t ms)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_SNAP_ADD);
    uint8_t digest[32];
    uint64_t units = 0;
    sn_str whole = {text.ptr ? text.ptr : "", text.len};
    seine_err e = sn_sha256(whole.ptr, whole.len, digest);

    if (e == SEINE_OK)
        e = seine_changes_units(whole.ptr, whole.len, &units);
    if (e != SEINE_OK)
        return e;
    sn_sqlite_put_text(&row, sn_str_of(id));
    sn_sqlite_put_int(&row, (int64_t)version);
    sn_sqlite_put_int(&row, (int64_t)units);
    sn_sqlite_put_text(&row, whole);
    sn_sqlite_put_blob(&row, (sn_str){(const char *)digest, sizeof digest});
    sn_sqlite_put_int(&row, ms);
    sn_sqlite_put_text(&row, sn_str_of(label));
    sn_sqlite_put_text(&row, sn_str_of(author));
    return sn_sqlite_done(&row);
}

seine_err
sn_docstore_create(sn_docstore *s, const sn_doc_facts *f, sn_str text)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_DOC_ADD);

    sn_sqlite_put_text(&row, sn_str_of(f->id));
    sn_sqlite_put_text(&row, sn_str_of(kinds[f->kind]));
    sn_sqlite_put_text(&row, sn_str_of(f->title));
    sn_sqlite_put_int(&row, (int64_t)f->version);
    sn_sqlite_put_text(&row, sn_str_of(f->epoch));
    sn_sqlite_put_int(&row, f->created_ms);
    sn_sqlite_put_int(&row, f->modified_ms);
    seine_err e = sn_sqlite_done(&row);
    return e == SEINE_OK ? sn_docstore_snapshot(s, f->id, f->version, text, NULL, NULL,
                                                f->created_ms)
                         : e;
}

static seine_err
add_update(sn_docstore *s, const char *id, const sn_doc_update_row *u)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_UPDATE_ADD);

    sn_sqlite_put_text(&row, sn_str_of(id));
    sn_sqlite_put_int(&row, (int64_t)u->version);
    sn_sqlite_put_text(&row, sn_str_of(u->client));
    sn_sqlite_put_int(&row, (int64_t)u->seq);
    sn_sqlite_put_text(&row, sn_str_of(u->user));
    sn_sqlite_put_text(&row, u->changes);
    sn_sqlite_put_int(&row, u->at_ms);
    return sn_sqlite_done(&row);
}

/* The last number of a client. */
static seine_err
set_client(sn_docstore *s, const char *id, const sn_doc_update_row *u)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_CLIENT_SET);

    sn_sqlite_put_text(&row, sn_str_of(id));
    sn_sqlite_put_text(&row, sn_str_of(u->client));
    sn_sqlite_put_int(&row, (int64_t)u->seq);
    sn_sqlite_put_text(&row, sn_str_of(u->user));
    sn_sqlite_put_int(&row, u->at_ms);
    return sn_sqlite_done(&row);
}

static seine_err
grow(sn_docstore *s, const char *id, const sn_doc_update_row *last)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_DOC_GROW);

    sn_sqlite_put_int(&row, (int64_t)last->version);
    sn_sqlite_put_int(&row, last->at_ms);
    sn_sqlite_put_text(&row, sn_str_of(id));
    return sn_sqlite_done(&row);
}

seine_err
sn_docstore_append(sn_docstore *s, const char *id, const sn_doc_update_row *rows,
                   size_t n)
{
    sn_doc_facts facts;
    seine_err e = n > 0 ? sn_docstore_find(s, id, &facts) : SEINE_E_INVAL;

    if (e != SEINE_OK)
        return e;
    if (facts.version + 1 != rows[0].version)
        return SEINE_E_INVAL;
    for (size_t i = 0; i < n && e == SEINE_OK; i++)
        e = add_update(s, id, &rows[i]);
    if (e == SEINE_OK)
        e = set_client(s, id, &rows[n - 1]);
    return e == SEINE_OK ? grow(s, id, &rows[n - 1]) : e;
}

/* UNKNOWN, if nothing was changed. */
static seine_err
finish_change(sn_docstore *s, sn_sqlite_row *row)
{
    int64_t n = 0;
    seine_err e = sn_sqlite_done(row);

    if (e == SEINE_OK)
        e = sn_docstore_changed(s, &n);
    return e == SEINE_OK && n == 0 ? SEINE_E_UNKNOWN : e;
}

seine_err
sn_docstore_title(sn_docstore *s, const char *id, const char *title, int64_t ms)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_DOC_TITLE);

    sn_sqlite_put_text(&row, sn_str_of(title));
    sn_sqlite_put_int(&row, ms);
    sn_sqlite_put_text(&row, sn_str_of(id));
    return finish_change(s, &row);
}

seine_err
sn_docstore_delete(sn_docstore *s, const char *id, int64_t ms)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_DOC_DELETE);

    sn_sqlite_put_int(&row, ms);
    sn_sqlite_put_text(&row, sn_str_of(id));
    return finish_change(s, &row);
}

/* Reading. */

static void
read_facts(sn_sqlite_stmt *stmt, sn_doc_facts *out)
{
    sn_docstore_copy(sn_sqlite_text(stmt, 0), out->id, sizeof out->id);
    out->kind =
        sn_str_eq(sn_sqlite_text(stmt, 1), SN_STR("note")) ? SN_DOC_NOTE : SN_DOC_RECIPE;
    sn_docstore_copy(sn_sqlite_text(stmt, 2), out->title, sizeof out->title);
    out->version = (uint64_t)sn_sqlite_int(stmt, 3);
    sn_docstore_copy(sn_sqlite_text(stmt, 4), out->epoch, sizeof out->epoch);
    out->created_ms = sn_sqlite_int(stmt, 5);
    out->modified_ms = sn_sqlite_int(stmt, 6);
}

seine_err
sn_docstore_find(sn_docstore *s, const char *id, sn_doc_facts *out_facts)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_DOC_GET);
    bool there = false;

    sn_sqlite_put_text(&row, sn_str_of(id));
    seine_err e = sn_sqlite_next(row.stmt, &there);
    if (e == SEINE_OK && there)
        read_facts(row.stmt, out_facts);
    out_facts->by[0] = '\0';
    sn_sqlite_reset(row.stmt);
    return e == SEINE_OK && !there ? SEINE_E_UNKNOWN : e;
}

seine_err
sn_docstore_list(sn_docstore *s, const char *after, size_t limit,
                 bool (*fn)(const sn_doc_facts *f, void *arg), void *arg)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_DOC_LIST);
    bool there = true;
    sn_doc_facts facts;
    seine_err e;

    sn_sqlite_put_text(&row, sn_str_of(after));
    sn_sqlite_put_int(&row, (int64_t)limit);
    while ((e = sn_sqlite_next(row.stmt, &there)) == SEINE_OK && there) {
        read_facts(row.stmt, &facts);
        sn_docstore_copy(sn_sqlite_text(row.stmt, 7), facts.by, sizeof facts.by);
        if (!fn(&facts, arg))
            break;
    }
    sn_sqlite_reset(row.stmt);
    return e;
}

/* A snapshot that was found. */
typedef struct found {
    uint64_t version;
    seine_text text;
    bool is_whole; /* the digest fits */
} found;

/* The newest two snapshots up to a version. */
static seine_err
find_snapshots(sn_docstore *s, const char *id, uint64_t most, found out[2], size_t *out_n)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_SNAP_LAST);
    bool there = true;
    seine_err e = SEINE_OK;

    *out_n = 0;
    sn_sqlite_put_text(&row, sn_str_of(id));
    sn_sqlite_put_int(&row, (int64_t)most);
    while (*out_n < 2 && (e = sn_sqlite_next(row.stmt, &there)) == SEINE_OK && there) {
        found *f = &out[*out_n];
        sn_str text = sn_sqlite_text(row.stmt, 1), sha = sn_sqlite_blob(row.stmt, 2);
        uint8_t digest[32];

        f->version = (uint64_t)sn_sqlite_int(row.stmt, 0);
        f->text = (seine_text){sn_alloc(text.len + 1), text.len};
        if (!f->text.bytes || sn_sha256(text.ptr, text.len, digest) != SEINE_OK) {
            seine_text_free(&f->text);
            e = SEINE_E_NOMEM;
            break;
        }
        if (text.len > 0)
            memcpy(f->text.bytes, text.ptr, text.len);
        f->text.bytes[text.len] = '\0';
        f->is_whole = sha.len == sizeof digest && memcmp(sha.ptr, digest, sha.len) == 0;
        (*out_n)++;
    }
    sn_sqlite_reset(row.stmt);
    return e;
}

static void
free_found(found *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        seine_text_free(&f[i].text);
}

/* One stored update, onto the document. INVAL: it does not fit. */
static seine_err
replay_row(sn_doc *d, sn_sqlite_stmt *stmt)
{
    sn_str changes = sn_sqlite_text(stmt, 4);
    char client[SN_CLIENT_MOST + 1], user[SN_USER_MOST + 1];
    seine_changes *set;
    seine_err e = seine_changes_new(&set);

    if (e != SEINE_OK)
        return e;
    e = (uint64_t)sn_sqlite_int(stmt, 0) == d->version + 1
            ? seine_changes_parse(set, changes.ptr, changes.len)
            : SEINE_E_INVAL;
    if (e != SEINE_OK) {
        seine_changes_free(set);
        return e;
    }
    sn_docstore_copy(sn_sqlite_text(stmt, 1), client, sizeof client);
    sn_docstore_copy(sn_sqlite_text(stmt, 3), user, sizeof user);
    return sn_doc_replay(d, client, user, (uint64_t)sn_sqlite_int(stmt, 2),
                         SEINE_MS(sn_sqlite_int(stmt, 5)), set);
}

static seine_err
replay(sn_docstore *s, sn_doc *d, uint64_t until)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_UPDATE_FROM);
    bool there = true;
    seine_err e = SEINE_OK;

    sn_sqlite_put_text(&row, sn_str_of(d->id));
    sn_sqlite_put_int(&row, (int64_t)d->version);
    sn_sqlite_put_int(&row, (int64_t)until);
    while (e == SEINE_OK && (e = sn_sqlite_next(row.stmt, &there)) == SEINE_OK && there)
        e = replay_row(d, row.stmt);
    sn_sqlite_reset(row.stmt);
    return e;
}

/* The last numbers of the clients, also of those whose updates are not kept. */
static seine_err
read_clients(sn_docstore *s, sn_doc *d)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_CLIENT_LIST);
    bool there = true;
    seine_err e = SEINE_OK;

    sn_sqlite_put_text(&row, sn_str_of(d->id));
    while (e == SEINE_OK && (e = sn_sqlite_next(row.stmt, &there)) == SEINE_OK && there) {
        char id[SN_CLIENT_MOST + 1];

        sn_docstore_copy(sn_sqlite_text(row.stmt, 0), id, sizeof id);
        sn_client *c = sn_doc_client(d, id, true);
        if (!c) {
            e = SEINE_E_NOMEM;
            break;
        }
        c->seq = (uint64_t)sn_sqlite_int(row.stmt, 1);
        sn_docstore_copy(sn_sqlite_text(row.stmt, 2), c->user, sizeof c->user);
        c->heard = SEINE_MS(sn_sqlite_int(row.stmt, 3));
    }
    sn_sqlite_reset(row.stmt);
    return e;
}

/* Tries one snapshot and what follows it. *out_doc: as far as it goes. */
static seine_err
load_from(sn_docstore *s, const sn_doc_facts *f, const found *from, sn_doc **out_doc)
{
    sn_doc *d = sn_doc_new(f->id, f->title, (sn_str){from->text.bytes, from->text.len},
                           from->version);

    *out_doc = d;
    if (!d)
        return SEINE_E_NOMEM;
    d->modified = SEINE_MS(f->modified_ms);
    return replay(s, d, UINT64_MAX >> 1);
}

/* The updates since the snapshot before last are read as well, so that a client that was
 * away finds its base. */
static seine_err
load_best(sn_docstore *s, const found *snaps, size_t n, sn_doc_loaded *out)
{
    const char *damage = NULL;
    seine_err e = SEINE_E_INVAL;

    for (size_t i = n; i-- > 0 && e != SEINE_OK;) {
        bool last = i == 0;

        if (!last &&
            (!snaps[i].is_whole || out->facts.version - snaps[i].version > REPLAY_MOST))
            continue;
        e = load_from(s, &out->facts, &snaps[i], &out->doc);
        if (e == SEINE_OK && out->doc->version != out->facts.version)
            e = SEINE_E_INVAL;
        if (e != SEINE_OK && e != SEINE_E_INVAL && e != SEINE_E_RANGE)
            return e;
        if (e == SEINE_OK && last && !snaps[i].is_whole)
            damage = "the stored text does not fit its checksum";
        if (e != SEINE_OK && last)
            damage = "the stored updates do not lead to the stored version";
        if (e != SEINE_OK && !last && out->doc) {
            sn_doc_free(out->doc);
            out->doc = NULL;
        }
    }
    out->damage = damage;
    return SEINE_OK;
}

seine_err
sn_docstore_load(sn_docstore *s, const char *id, sn_doc_loaded *out_loaded)
{
    sn_doc_loaded got = {.doc = NULL};
    found snaps[2];
    size_t n = 0;
    seine_err e = sn_docstore_find(s, id, &got.facts);

    if (e == SEINE_OK)
        e = find_snapshots(s, id, UINT64_MAX >> 1, snaps, &n);
    if (e == SEINE_OK && n == 0)
        e = SEINE_E_STATE_CORRUPT;
    if (e == SEINE_OK) {
        got.snapshot = snaps[0].version;
        e = load_best(s, snaps, n, &got);
    }
    free_found(snaps, n);
    if (e == SEINE_OK)
        e = read_clients(s, got.doc);
    if (e != SEINE_OK) {
        if (got.doc)
            sn_doc_free(got.doc);
        return e;
    }
    *out_loaded = got;
    return SEINE_OK;
}

seine_err
sn_docstore_text(sn_docstore *s, const char *id, uint64_t version, seine_text *out_text)
{
    sn_doc_facts facts;
    found snaps[2];
    size_t n = 0;
    sn_doc *d = NULL;
    seine_err e = sn_docstore_find(s, id, &facts);

    if (e == SEINE_OK && version > facts.version)
        e = SEINE_E_RANGE;
    if (e == SEINE_OK)
        e = find_snapshots(s, id, version, snaps, &n);
    if (e == SEINE_OK && n == 0)
        e = SEINE_E_RANGE;
    if (e == SEINE_OK) {
        d = sn_doc_new(id, facts.title, (sn_str){snaps[0].text.bytes, snaps[0].text.len},
                       snaps[0].version);
        e = d ? replay(s, d, version) : SEINE_E_NOMEM;
    }
    free_found(snaps, n);
    if (e == SEINE_E_INVAL || (e == SEINE_OK && d->version != version))
        e = SEINE_E_RANGE;
    if (e == SEINE_OK) {
        *out_text = d->text;
        d->text = (seine_text){0};
    }
    if (d)
        sn_doc_free(d);
    return e;
}

seine_err
sn_docstore_history(sn_docstore *s, const char *id, uint64_t before, size_t limit,
                    bool (*fn)(const sn_doc_update_row *u, void *arg), void *arg)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_UPDATE_BACK);
    bool there = true;
    seine_err e;

    sn_sqlite_put_text(&row, sn_str_of(id));
    sn_sqlite_put_int(&row, before > INT64_MAX ? INT64_MAX : (int64_t)before);
    sn_sqlite_put_int(&row, (int64_t)limit);
    while ((e = sn_sqlite_next(row.stmt, &there)) == SEINE_OK && there) {
        sn_doc_update_row u = {.version = (uint64_t)sn_sqlite_int(row.stmt, 0),
                               .client = sn_sqlite_text(row.stmt, 1).ptr,
                               .seq = (uint64_t)sn_sqlite_int(row.stmt, 2),
                               .user = sn_sqlite_text(row.stmt, 3).ptr,
                               .changes = sn_sqlite_text(row.stmt, 4),
                               .at_ms = sn_sqlite_int(row.stmt, 5),
                               .name = sn_sqlite_text(row.stmt, 6).ptr};

        if (!fn(&u, arg))
            break;
    }
    sn_sqlite_reset(row.stmt);
    return e;
}

seine_err
sn_docstore_labels(sn_docstore *s, const char *id,
                   bool (*fn)(const sn_doc_label_row *l, void *arg), void *arg)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_LABELS);
    bool there = true;
    seine_err e;

    sn_sqlite_put_text(&row, sn_str_of(id));
    while ((e = sn_sqlite_next(row.stmt, &there)) == SEINE_OK && there) {
        sn_doc_label_row l = {.version = (uint64_t)sn_sqlite_int(row.stmt, 0),
                              .label = sn_sqlite_text(row.stmt, 1).ptr,
                              .author = sn_sqlite_text(row.stmt, 2).ptr,
                              .at_ms = sn_sqlite_int(row.stmt, 3),
                              .name = sn_sqlite_text(row.stmt, 4).ptr};

        if (!fn(&l, arg))
            break;
    }
    sn_sqlite_reset(row.stmt);
    return e;
}
