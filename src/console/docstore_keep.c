/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept: retention, pages, tokens, audit. */
#include <string.h>

#include "base/hash.h"
#include "console/docstore_parts.h"

#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)

/* Runs a statement with one number. */
static seine_err
run_before(sn_docstore *s, sn_doc_query q, int64_t ms)
{
    sn_sqlite_row row = sn_docstore_bind(s, q);

    sn_sqlite_put_int(&row, ms);
    return sn_sqlite_done(&row);
}

seine_err
sn_docstore_retain(sn_docstore *s, int64_t ms)
{
    seine_err e = run_before(s, SN_Q_OLD_DOCS, ms - 30 * DAY_MS);

    if (e == SEINE_OK)
        e = run_before(s, SN_Q_OLD_UPDATES, ms - DAY_MS);
    if (e == SEINE_OK)
        e = sn_docstore_run(s, SN_Q_OLD_SNAPS);
    if (e == SEINE_OK)
        e = run_before(s, SN_Q_OLD_CLIENTS, ms - 30 * DAY_MS);
    if (e == SEINE_OK)
        e = run_before(s, SN_Q_OLD_PAGES, ms - 7 * DAY_MS);
    return e == SEINE_OK ? sn_docstore_run(s, SN_Q_MANY_PAGES) : e;
}

/* Pages. */

seine_err
sn_docstore_put_page(sn_docstore *s, const sn_page_row *p)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_PAGE_ADD);
    sn_str body = {p->body.ptr ? p->body.ptr : "", p->body.len};
    uint8_t digest[32];
    seine_err e =
        body.len <= SN_PAGE_BYTES ? sn_sha256(body.ptr, body.len, digest) : SEINE_E_RANGE;

    if (e != SEINE_OK)
        return e;
    sn_sqlite_put_text(&row, sn_str_of(p->id));
    sn_sqlite_put_text(&row, sn_str_of(p->url));
    sn_sqlite_put_text(&row, sn_str_of(p->final_url));
    sn_sqlite_put_int(&row, p->status);
    sn_sqlite_put_text(&row, sn_str_of(p->content_type));
    sn_sqlite_put_text(&row, sn_str_of(p->charset));
    sn_sqlite_put_blob(&row, body);
    sn_sqlite_put_blob(&row, (sn_str){(const char *)digest, sizeof digest});
    sn_sqlite_put_int(&row, p->fetched_ms);
    sn_sqlite_put_int(&row, p->fetched_ms);
    e = sn_sqlite_done(&row);
    return e == SEINE_OK ? sn_docstore_run(s, SN_Q_MANY_PAGES) : e;
}

seine_err
sn_docstore_get_page(sn_docstore *s, const char *id,
                     void (*fn)(const sn_page_row *p, void *arg), void *arg)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_PAGE_GET);
    bool there = false;

    sn_sqlite_put_text(&row, sn_str_of(id));
    seine_err e = sn_sqlite_next(row.stmt, &there);
    if (e == SEINE_OK && there) {
        sn_page_row p = {.url = sn_sqlite_text(row.stmt, 1).ptr,
                         .final_url = sn_sqlite_text(row.stmt, 2).ptr,
                         .status = (int)sn_sqlite_int(row.stmt, 3),
                         .content_type = sn_sqlite_text(row.stmt, 4).ptr,
                         .charset = sn_sqlite_text(row.stmt, 5).ptr,
                         .body = sn_sqlite_blob(row.stmt, 6),
                         .fetched_ms = sn_sqlite_int(row.stmt, 8)};

        sn_docstore_copy(sn_sqlite_text(row.stmt, 0), p.id, sizeof p.id);
        fn(&p, arg);
    }
    sn_sqlite_reset(row.stmt);
    return e == SEINE_OK && !there ? SEINE_E_UNKNOWN : e;
}

seine_err
sn_docstore_use_page(sn_docstore *s, const char *id, int64_t ms)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_PAGE_USE);

    sn_sqlite_put_int(&row, ms);
    sn_sqlite_put_text(&row, sn_str_of(id));
    return sn_sqlite_done(&row);
}

/* Tokens. */

static void
put_moment(sn_sqlite_row *row, int64_t ms)
{
    if (ms != 0)
        sn_sqlite_put_int(row, ms);
    else
        sn_sqlite_put_null(row);
}

seine_err
sn_docstore_put_token(sn_docstore *s, const sn_token_row *t)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_TOKEN_ADD);
    int64_t n = 0;

    sn_sqlite_put_text(&row, sn_str_of(t->id));
    sn_sqlite_put_blob(&row, (sn_str){(const char *)t->hash, sizeof t->hash});
    sn_sqlite_put_text(&row, sn_str_of(t->role));
    sn_sqlite_put_text(&row, sn_str_of(t->name));
    sn_sqlite_put_int(&row, t->created_ms);
    put_moment(&row, t->expires_ms);
    put_moment(&row, t->revoked_ms);
    seine_err e = sn_sqlite_done(&row);
    if (e == SEINE_OK)
        e = sn_docstore_changed(s, &n);
    return e == SEINE_OK && n == 0 ? SEINE_E_ALREADY : e;
}

/* A token that is revoked already stays as it is. */
seine_err
sn_docstore_revoke(sn_docstore *s, const char *id, int64_t ms)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_TOKEN_REVOKE);
    sn_sqlite_stmt *get = s->stmts[SN_Q_TOKEN_GET];
    bool there = false;

    sn_sqlite_put_int(&row, ms);
    sn_sqlite_put_text(&row, sn_str_of(id));
    seine_err e = sn_sqlite_done(&row);
    if (e != SEINE_OK)
        return e;
    row = sn_sqlite_bind(get);
    sn_sqlite_put_text(&row, sn_str_of(id));
    e = sn_sqlite_next(get, &there);
    sn_sqlite_reset(get);
    return e == SEINE_OK && !there ? SEINE_E_UNKNOWN : e;
}

seine_err
sn_docstore_tokens(sn_docstore *s, bool (*fn)(const sn_token_row *t, void *arg),
                   void *arg)
{
    sn_sqlite_stmt *stmt = s->stmts[SN_Q_TOKEN_LIST];
    bool there = true;
    seine_err e;

    while ((e = sn_sqlite_next(stmt, &there)) == SEINE_OK && there) {
        sn_token_row t = {.created_ms = sn_sqlite_int(stmt, 4),
                          .expires_ms = sn_sqlite_int(stmt, 5),
                          .revoked_ms = sn_sqlite_int(stmt, 6)};
        sn_str hash = sn_sqlite_blob(stmt, 1);

        sn_docstore_copy(sn_sqlite_text(stmt, 0), t.id, sizeof t.id);
        memcpy(t.hash, hash.ptr, sizeof t.hash < hash.len ? sizeof t.hash : hash.len);
        sn_docstore_copy(sn_sqlite_text(stmt, 2), t.role, sizeof t.role);
        sn_docstore_copy(sn_sqlite_text(stmt, 3), t.name, sizeof t.name);
        if (!fn(&t, arg))
            break;
    }
    sn_sqlite_reset(stmt);
    return e;
}

/* Audit. */

seine_err
sn_docstore_audit(sn_docstore *s, const sn_audit_row *a)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_AUDIT_ADD);

    sn_sqlite_put_int(&row, a->at_ms);
    sn_sqlite_put_text(&row, sn_str_of(a->user));
    sn_sqlite_put_text(&row, sn_str_of(a->peer));
    sn_sqlite_put_text(&row, sn_str_of(a->action));
    sn_sqlite_put_text(&row, sn_str_of(a->target));
    sn_sqlite_put_int(&row, a->code);
    sn_sqlite_put_text(&row, sn_str_of(a->detail));
    return sn_sqlite_done(&row);
}

seine_err
sn_docstore_audits(sn_docstore *s, uint64_t before, size_t limit,
                   bool (*fn)(const sn_audit_row *a, void *arg), void *arg)
{
    sn_sqlite_row row = sn_docstore_bind(s, SN_Q_AUDIT_LIST);
    bool there = true;
    seine_err e;

    sn_sqlite_put_int(&row,
                      before == 0 || before > INT64_MAX ? INT64_MAX : (int64_t)before);
    sn_sqlite_put_int(&row, (int64_t)limit);
    while ((e = sn_sqlite_next(row.stmt, &there)) == SEINE_OK && there) {
        sn_audit_row a = {.seq = (uint64_t)sn_sqlite_int(row.stmt, 0),
                          .at_ms = sn_sqlite_int(row.stmt, 1),
                          .user = sn_sqlite_text(row.stmt, 2).ptr,
                          .peer = sn_sqlite_text(row.stmt, 3).ptr,
                          .action = sn_sqlite_text(row.stmt, 4).ptr,
                          .target = sn_sqlite_text(row.stmt, 5).ptr,
                          .code = (int)sn_sqlite_int(row.stmt, 6),
                          .detail = sn_sqlite_text(row.stmt, 7).ptr};

        if (!fn(&a, arg))
            break;
    }
    sn_sqlite_reset(row.stmt);
    return e;
}
