/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The links of a crawl as rows of `link`, on request (seine_sink_opts.links).
 *
 * A page brings its links with its record, so they are in the same batch and, in a job,
 * in the same group. What became of the URL that a link leads to may be known much later:
 * each record leaves that in the table `target`, and the end of the run copies it to the
 * links. A redirect ends as the URL it leads to.
 */
#include "base/alloc.h"
#include "seine/link_verdict.h"
#include "store/out_sqlite.h"
#include "store/sqlite_schema.h"

/* The redirects of a chain are judged from its end on, one in each pass. */
enum { PASSES = 1000 };

#define UNJUDGED "next IS NOT NULL AND verdict = ''"

static const char begin_redirects[] =
    "UPDATE target SET verdict = '', status = own WHERE next IS NOT NULL;"
    "UPDATE target SET verdict = 'unknown' WHERE next IS NOT NULL AND NOT EXISTS "
    "(SELECT 1 FROM target n WHERE n.key = target.next)";

static const char judge_redirects[] =
    "UPDATE target SET status = n.status, verdict = CASE "
    "WHEN n.verdict NOT IN ('ok', 'redirected') THEN n.verdict "
    "WHEN n.verdict = 'redirected' OR own IN (301, 308) THEN 'redirected' ELSE 'ok' END "
    "FROM (SELECT key AS k, verdict, status FROM target WHERE verdict <> '') n "
    "WHERE n.k = target.next AND target.next IS NOT NULL AND target.verdict = ''";

/* Redirects that lead in a circle. */
static const char end_redirects[] =
    "UPDATE target SET verdict = 'broken' WHERE " UNJUDGED;

/* `fragment` is a member of links that `seine check` has judged itself. */
static const char judge_links[] =
    "UPDATE link SET verdict = t.verdict, status = t.status, "
    "json = json_set(json_remove(json, '$.status'), '$.verdict', t.verdict, "
    "iif(t.status IS NULL, '$.verdict', '$.status'), ifnull(t.status, t.verdict)) "
    "FROM target t WHERE t.key = ifnull(json_extract(json, '$.key'), target) "
    "AND (link.verdict <> t.verdict OR link.status IS NOT t.status) "
    "AND json_extract(json, '$.fragment') IS NULL";

static const char make_indexes[] =
    "CREATE INDEX IF NOT EXISTS link_target ON link(target);"
    "CREATE INDEX IF NOT EXISTS link_source ON link(source)";

seine_err
sn_base_start_links(sn_base *b)
{
    int64_t any = 0;
    seine_err e = sn_schema_make_target(b->db);

    if (e == SEINE_OK)
        e = sn_base_ask(b, "SELECT 1 FROM link LIMIT 1", 0, &any);
    if (e == SEINE_OK && any) {
        sn_sqlite_trust(b->db); /* as many rows as earlier runs have left */
        e = sn_sqlite_exec(b->db, make_indexes);
    }
    b->has_links = any != 0;
    if (e == SEINE_OK)
        e = sn_sqlite_prepare(
            b->db, "INSERT OR REPLACE INTO target VALUES (?, ?, ?, ?, ?, ?)", &b->target);
    if (e == SEINE_OK)
        e = sn_sqlite_prepare(b->db, "DELETE FROM link WHERE source = ?", &b->unlink);
    return e;
}

/* What one record has to say about its links. */
typedef struct putting {
    sn_out *out;
    const seine_record *record;
    uint64_t seq;
    seine_err err;
    seine_view next; /* of a redirect, in `next_mem` */
    char *next_mem;
} putting;

static void
write_link(sn_text_writer *p, const putting *x, const seine_record_link *l)
{
    SN_WRITE(p, "{\"v\":1,\"type\":\"link\",\"seq\":");
    sn_text_writer_u64(p, x->seq);
    SN_WRITE(p, ",\"ts\":\"");
    sn_text_writer_stamp(p, x->record->wall);
    SN_WRITE(p, "\",\"source\":");
    sn_text_writer_quoted(p, sn_base_url_of(x->record));
    if (l->line > 0) {
        SN_WRITE(p, ",\"line\":");
        sn_text_writer_u64(p, l->line);
    }
    if (l->col > 0) {
        SN_WRITE(p, ",\"col\":");
        sn_text_writer_u64(p, l->col);
    }
    if (l->tag.ptr) {
        SN_WRITE(p, ",\"tag\":");
        sn_text_writer_quoted(p, l->tag);
    }
    SN_WRITE(p, ",\"target\":");
    sn_text_writer_quoted(p, l->url);
    if (!sn_str_eq(l->key, l->url)) {
        SN_WRITE(p, ",\"key\":");
        sn_text_writer_quoted(p, l->key);
    }
    SN_WRITE(p, ",\"verdict\":\"unknown\"}");
}

static seine_err
render(const putting *x, const seine_record_link *l, sn_str *out_json)
{
    sn_base *b = x->out->self;

    for (;;) {
        sn_text_writer p = sn_text_writer_on(b->json, b->room);

        write_link(&p, x, l);
        size_t n = sn_text_writer_len(&p);
        if (n <= b->room) {
            *out_json = (sn_str){b->json, n};
            return SEINE_OK;
        }
        seine_err e = sn_base_make_json(b, n);
        if (e != SEINE_OK)
            return e;
    }
}

/* The key of a redirect's target is kept until the row of the redirect is made. */
static seine_err
keep_next(putting *x, seine_view key)
{
    x->next_mem = sn_alloc(key.len + 1);
    if (!x->next_mem)
        return SEINE_E_NOMEM;
    memcpy(x->next_mem, key.ptr, key.len);
    x->next = (seine_view){x->next_mem, key.len};
    return SEINE_OK;
}

static void
put_link(const seine_record_link *l, void *arg)
{
    putting *x = arg;
    sn_base_link row = {.source = sn_base_url_of(x->record),
                        .target = l->url,
                        .verdict = SN_STR("unknown"),
                        .line = l->line,
                        .seq = ++x->seq};

    if (x->err != SEINE_OK)
        return;
    if (!l->tag.ptr)
        x->err = keep_next(x, l->key);
    if (x->err == SEINE_OK)
        x->err = render(x, l, &row.json);
    if (x->err == SEINE_OK)
        x->err = sn_base_put_link_row(x->out->self, &row);
}

static bool
has_page(const seine_record *r)
{
    return seine_record_links(r, NULL, NULL) > 0 || r->has_links ||
           seine_record_change(r) == SEINE_CHANGE_GONE;
}

seine_err
sn_base_put_links(sn_out *o, const seine_record *r, uint64_t seq)
{
    sn_base *b = o->self;
    putting x = {.out = o, .record = r, .seq = seq};

    if (b->has_links && has_page(r)) /* a later round has come back to the page */
        x.err = sn_base_forget_links(b, sn_base_url_of(r));
    if (x.err == SEINE_OK)
        seine_record_links(r, put_link, &x);
    if (x.err == SEINE_OK)
        x.err = sn_base_put_target(b, r, seq, x.next);
    sn_free(x.next_mem);
    return x.err;
}

static seine_err
judge_all(sn_base *b)
{
    int64_t changed = 1;
    seine_err e = sn_sqlite_exec(b->db, begin_redirects);

    for (int i = 0; e == SEINE_OK && changed > 0 && i < PASSES; i++) {
        e = sn_sqlite_exec(b->db, judge_redirects);
        if (e == SEINE_OK)
            e = sn_base_ask(b, "SELECT changes()", 0, &changed);
    }
    if (e == SEINE_OK)
        e = sn_sqlite_exec(b->db, end_redirects);
    if (e == SEINE_OK)
        e = sn_sqlite_exec(b->db, judge_links);
    return e == SEINE_OK ? sn_sqlite_exec(b->db, make_indexes) : e;
}

seine_err
sn_base_judge_links(sn_base *b)
{
    sn_sqlite_trust(b->db);
    seine_err e = sn_sqlite_exec(b->db, "BEGIN IMMEDIATE");

    if (e != SEINE_OK)
        return e;
    e = judge_all(b);
    if (e == SEINE_OK)
        return sn_sqlite_exec(b->db, "COMMIT");
    seine_err back = sn_sqlite_exec(b->db, "ROLLBACK");
    (void)back; /* may be rolled back already */
    return e;
}
