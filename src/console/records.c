/* SPDX-License-Identifier: Apache-2.0 */
#include "console/records.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/time.h"
#include "console/json_out.h"
#include "seine/record_where.h"
#include "store/sqlite.h"

enum { SQL_MOST = 256 << 10, TABLES_MOST = 64, NAME_MOST = 128 };
enum { PAIRS = 60 }; /* of names and values in one call: SQLite takes 127 arguments */
#define CPU_MOST SEINE_MS(500)
enum { RESULT, SKIP, ITEM, BAD_ITEM }; /* of which table a row is */
enum { C_SEQ, C_TABLE, C_JSON, C_URL, C_WORD, C_RULE, C_TS, C_PARENT, C_N };

/* UNKNOWN: the file is there, and its tables are not committed yet. */
static seine_err
find_results(sn_sqlite *db)
{
    sn_sqlite_stmt *stmt;
    bool there = false;
    seine_err e =
        sn_sqlite_prepare(db, "SELECT 1 FROM sqlite_schema WHERE name = 'result'", &stmt);

    if (e != SEINE_OK)
        return e;
    e = sn_sqlite_next(stmt, &there);
    sn_sqlite_finalize(stmt);
    return e == SEINE_OK && !there ? SEINE_E_UNKNOWN : e;
}

static seine_err
open_db(const char *path, sn_sqlite **out_db)
{
    if (access(path, R_OK) != 0)
        return SEINE_E_UNKNOWN;
    seine_err e = sn_sqlite_open(path, SN_SQLITE_READ, out_db);
    if (e != SEINE_OK) /* FOREIGN: it is just being made */
        return e == SEINE_E_STATE_FOREIGN ? SEINE_E_UNKNOWN : e;
    sn_sqlite_trust(*out_db); /* the console has made the file */
    e = find_results(*out_db);
    if (e != SEINE_OK) {
        sn_sqlite_close(*out_db);
        *out_db = NULL;
    }
    return e;
}

/* Tables of items */

/* A name in SQL, or in a text of SQL. */
static void
put_quoted(sn_buf *sql, sn_str name, char quote)
{
    sn_buf_char(sql, quote);
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == quote)
            sn_buf_char(sql, quote);
        sn_buf_char(sql, name.ptr[i]);
    }
    sn_buf_char(sql, quote);
}

typedef struct table_list {
    char names[TABLES_MOST][NAME_MOST]; /* "item_product" */
    size_t n;
} table_list;

static seine_err
find_tables(sn_sqlite *db, table_list *out)
{
    sn_sqlite_stmt *stmt;
    bool there = true;
    seine_err e = sn_sqlite_prepare(db,
                                    "SELECT name FROM sqlite_schema WHERE type = 'table' "
                                    "AND name GLOB 'item_*' AND name <> 'item_error' "
                                    "ORDER BY name",
                                    &stmt);

    out->n = 0;
    if (e != SEINE_OK)
        return e;
    while (out->n < TABLES_MOST && (e = sn_sqlite_next(stmt, &there)) == SEINE_OK &&
           there) {
        sn_str name = sn_sqlite_text(stmt, 0);

        if (name.len >= NAME_MOST)
            continue;
        memcpy(out->names[out->n], name.ptr, name.len);
        out->names[out->n++][name.len] = '\0';
    }
    sn_sqlite_finalize(stmt);
    return e;
}

/* Calls `put` with each column of the table that a recipe has named, and its number. */
static seine_err
each_column(sn_sqlite *db, const char *table,
            void (*put)(sn_buf *to, sn_str name, size_t i), sn_buf *to)
{
    sn_sqlite_stmt *stmt;
    bool there = true;
    size_t i = 0;
    seine_err e = sn_sqlite_prepare(
        db, "SELECT name FROM pragma_table_info(?) ORDER BY cid", &stmt);

    if (e != SEINE_OK)
        return e;
    sn_sqlite_row row = sn_sqlite_bind(stmt);
    sn_sqlite_put_text(&row, sn_str_of(table));
    while ((e = sn_sqlite_next(stmt, &there)) == SEINE_OK && there) {
        sn_str name = sn_sqlite_text(stmt, 0);

        if (name.len > 0 && name.ptr[0] != '_')
            put(to, name, i++);
    }
    sn_sqlite_finalize(stmt);
    return e;
}

/* Objects without their braces stand behind each other. No value ends in a brace: each is
 * a text, a number or null. */
static void
put_pair(sn_buf *sql, sn_str name, size_t i)
{
    if (i > 0 && i % PAIRS == 0)
        sn_buf_text(sql, "), '{}') || ',' || trim(json_object(");
    else if (i > 0)
        sn_buf_char(sql, ',');
    put_quoted(sql, name, '\'');
    sn_buf_char(sql, ',');
    put_quoted(sql, name, '"');
}

static seine_err
put_items(sn_sqlite *db, const char *table, const char *condition, sn_buf *sql)
{
    sn_str kind = sn_str_of(table + strlen("item_"));

    sn_buf_text(sql, " UNION ALL SELECT _seq, 2, '{' || trim(json_object(");
    seine_err e = each_column(db, table, put_pair, sql);
    sn_buf_text(sql, "), '{}') || '}', _url, ");
    put_quoted(sql, kind, '\'');
    sn_buf_text(sql, ", NULL, NULL, NULL, _n FROM ");
    put_quoted(sql, sn_str_of(table), '"');
    sn_buf_printf(sql, " WHERE _seq %s", condition);
    return e;
}

/* Rows of all tables whose number fits, in their order. */
static seine_err
make_sql(sn_sqlite *db, const char *condition, sn_buf *sql)
{
    table_list *tables = sn_zalloc(sizeof *tables);
    seine_err e = tables ? find_tables(db, tables) : SEINE_E_NOMEM;

    sn_buf_printf(sql,
                  "SELECT seq, 0, json, NULL, NULL, NULL, NULL, NULL, NULL FROM result "
                  "WHERE seq %s UNION ALL SELECT seq, 1, NULL, url, reason, rule, ts, "
                  "parent, NULL FROM skip WHERE seq %s UNION ALL SELECT seq, 3, data, "
                  "url, kind, errors, NULL, NULL, n FROM item_error WHERE seq %s",
                  condition, condition, condition);
    for (size_t i = 0; e == SEINE_OK && i < tables->n; i++)
        e = put_items(db, tables->names[i], condition, sql);
    sn_buf_text(sql, " ORDER BY 1");
    sn_buf_char(sql, '\0');
    sn_free(tables);
    return e == SEINE_OK ? sn_buf_done(sql) : e;
}

static void
make_skip(sn_sqlite_stmt *row, sn_buf *b)
{
    sn_buf_text(b, "{\"v\":1,\"type\":\"skip\"");
    sn_json_out_int(b, "seq", sn_sqlite_int(row, C_SEQ));
    sn_json_out_str(b, "ts", sn_sqlite_text(row, C_TS));
    sn_json_out_str(b, "url", sn_sqlite_text(row, C_URL));
    if (!sn_sqlite_is_null(row, C_PARENT))
        sn_json_out_str(b, "parent", sn_sqlite_text(row, C_PARENT));
    sn_json_out_str(b, "reason", sn_sqlite_text(row, C_WORD));
    if (!sn_sqlite_is_null(row, C_RULE))
        sn_json_out_str(b, "rule", sn_sqlite_text(row, C_RULE));
    sn_buf_char(b, '}');
}

static void
make_item(sn_sqlite_stmt *row, bool is_bad, sn_buf *b)
{
    sn_buf_text(b, "{\"v\":1,\"type\":\"item\"");
    sn_json_out_int(b, "seq", sn_sqlite_int(row, C_SEQ));
    sn_json_out_str(b, "kind", sn_sqlite_text(row, C_WORD));
    sn_json_out_str(b, "url", sn_sqlite_text(row, C_URL));
    sn_json_out_int(b, "n", sn_sqlite_int(row, C_N));
    sn_json_out_bool(b, "ok", !is_bad);
    if (is_bad) {
        sn_json_out_name(b, "errors");
        sn_buf_str(b, sn_sqlite_text(row, C_RULE));
    }
    sn_json_out_name(b, "item");
    sn_buf_str(b, sn_sqlite_text(row, C_JSON));
    sn_buf_char(b, '}');
}

static void
make_line(sn_sqlite_stmt *row, sn_buf *b)
{
    int64_t table = sn_sqlite_int(row, C_TABLE);

    sn_buf_reset(b);
    if (table == RESULT)
        sn_buf_str(b, sn_sqlite_text(row, C_JSON));
    else if (table == SKIP)
        make_skip(row, b);
    else
        make_item(row, table == BAD_ITEM, b);
}

/* Opens the database and begins the statement. */
static seine_err
begin(const char *path, const char *condition, int64_t n, sn_sqlite **out_db,
      sn_sqlite_stmt **out_stmt)
{
    sn_buf sql;
    seine_err e = open_db(path, out_db);

    if (e != SEINE_OK)
        return e;
    sn_buf_init(&sql, SQL_MOST);
    e = make_sql(*out_db, condition, &sql);
    if (e == SEINE_OK)
        e = sn_sqlite_prepare(*out_db, sql.ptr, out_stmt);
    sn_buf_fini(&sql);
    if (e != SEINE_OK) {
        sn_sqlite_close(*out_db);
        return e;
    }
    sn_sqlite_row row = sn_sqlite_bind(*out_stmt);
    sn_sqlite_put_int(&row, n);
    return SEINE_OK;
}

seine_err
sn_records_read(const sn_records_query *q, sn_records_fn fn, void *arg,
                sn_records_end *out_end, seine_diag *diag)
{
    seine_record_where *where = NULL;
    sn_sqlite *db;
    sn_sqlite_stmt *stmt;
    sn_buf line;
    bool there = true, goes_on = true;
    seine_span begin_cpu = sn_clock_cpu(), most = q->cpu > 0 ? q->cpu : CPU_MOST;

    *out_end = (sn_records_end){.next = q->after};
    seine_err e = q->where && q->where[0] ? seine_record_where_new(q->where, &where, diag)
                                          : SEINE_OK;
    if (e == SEINE_OK)
        e = begin(q->path, "> ?1", (int64_t)(q->after & INT64_MAX), &db, &stmt);
    if (e != SEINE_OK) {
        seine_record_where_free(where);
        return e;
    }
    sn_buf_init(&line, SN_RECORDS_LINE);
    for (uint64_t scanned = 0; goes_on && scanned < SN_RECORDS_SCAN; scanned++) {
        e = sn_sqlite_next(stmt, &there);
        if (e != SEINE_OK || !there)
            break;
        uint64_t seq = (uint64_t)sn_sqlite_int(stmt, C_SEQ);
        make_line(stmt, &line);
        if (line.err == SEINE_E_NOMEM)
            e = SEINE_E_NOMEM;
        if (e != SEINE_OK)
            break;
        if (line.err == SEINE_OK &&
            (!where || seine_record_where_has(where, line.ptr, line.len))) {
            goes_on = fn(seq, sn_buf_view(&line), arg);
            out_end->found++;
        }
        out_end->next = seq;
        goes_on = goes_on && (q->limit == 0 || out_end->found < q->limit) &&
                  (!where || sn_clock_cpu() - begin_cpu < most);
    }
    out_end->is_all = !there;
    sn_buf_fini(&line);
    sn_sqlite_finalize(stmt);
    sn_sqlite_close(db);
    seine_record_where_free(where);
    return e;
}

seine_err
sn_records_one(const char *path, uint64_t seq, sn_buf *out)
{
    sn_sqlite *db;
    sn_sqlite_stmt *stmt;
    bool there = false;
    seine_err e = begin(path, "= ?1", (int64_t)seq, &db, &stmt);

    if (e != SEINE_OK)
        return e;
    e = sn_sqlite_next(stmt, &there);
    if (e == SEINE_OK && there)
        make_line(stmt, out);
    sn_sqlite_finalize(stmt);
    sn_sqlite_close(db);
    return e == SEINE_OK && !there ? SEINE_E_UNKNOWN
           : e == SEINE_OK         ? sn_buf_done(out)
                                   : e;
}

/* UNKNOWN: there is no such record. */
static seine_err
find_record(const char *path, uint64_t seq)
{
    sn_sqlite *db;
    sn_sqlite_stmt *stmt;
    bool there = false;
    seine_err e = begin(path, "= ?1", (int64_t)seq, &db, &stmt);

    if (e != SEINE_OK)
        return e;
    e = sn_sqlite_next(stmt, &there);
    sn_sqlite_finalize(stmt);
    sn_sqlite_close(db);
    return e == SEINE_OK && !there ? SEINE_E_UNKNOWN : e;
}

seine_err
sn_records_body(const char *path, uint64_t seq, sn_buf *out)
{
    /* Rows of a recipe follow the result of their page. */
    static const char body_sql[] =
        "SELECT body FROM result WHERE seq = (SELECT max(seq) FROM result WHERE seq <= "
        "?1) AND NOT EXISTS (SELECT 1 FROM skip WHERE seq = ?1) AND NOT EXISTS (SELECT 1 "
        "FROM link WHERE seq = ?1)";
    sn_sqlite *db;
    sn_sqlite_stmt *stmt;
    bool there = false;
    seine_err e = find_record(path, seq);

    if (e == SEINE_OK)
        e = open_db(path, &db);
    if (e != SEINE_OK)
        return e;
    e = sn_sqlite_prepare(db, body_sql, &stmt);
    if (e == SEINE_OK) {
        sn_sqlite_row row = sn_sqlite_bind(stmt);

        sn_sqlite_put_int(&row, (int64_t)seq);
        e = sn_sqlite_next(stmt, &there);
        there = there && !sn_sqlite_is_null(stmt, 0);
        if (e == SEINE_OK && there)
            sn_buf_str(out, sn_sqlite_blob(stmt, 0));
        sn_sqlite_finalize(stmt);
    }
    sn_sqlite_close(db);
    return e == SEINE_OK && !there ? SEINE_E_UNKNOWN
           : e == SEINE_OK         ? sn_buf_done(out)
                                   : e;
}

/* Groups */

/* Runs a statement and calls `put` for each row, between brackets. */
static seine_err
list_rows(const char *path, const char *sql, sn_str bound,
          void (*put)(sn_sqlite_stmt *row, sn_buf *b), sn_buf *out)
{
    sn_sqlite *db;
    sn_sqlite_stmt *stmt;
    bool there = true;
    seine_err e = open_db(path, &db);

    if (e != SEINE_OK)
        return e;
    e = sn_sqlite_prepare(db, sql, &stmt);
    if (e == SEINE_OK) {
        sn_sqlite_row row = sn_sqlite_bind(stmt);

        if (bound.ptr)
            sn_sqlite_put_text(&row, bound);
        sn_buf_char(out, '[');
        while ((e = sn_sqlite_next(stmt, &there)) == SEINE_OK && there) {
            sn_json_out_next(out);
            sn_buf_char(out, '{');
            put(stmt, out);
            sn_buf_char(out, '}');
        }
        sn_buf_char(out, ']');
        sn_sqlite_finalize(stmt);
    }
    sn_sqlite_close(db);
    return e == SEINE_OK ? sn_buf_done(out) : e;
}

static void
put_error(sn_sqlite_stmt *row, sn_buf *b)
{
    sn_json_out_str(b, "error", sn_sqlite_text(row, 0));
    sn_json_out_str(b, "host", sn_sqlite_text(row, 1));
    sn_json_out_int(b, "count", sn_sqlite_int(row, 2));
    sn_json_out_str(b, "first", sn_sqlite_text(row, 3));
    sn_json_out_str(b, "last", sn_sqlite_text(row, 4));
    sn_json_out_int(b, "attempts", sn_sqlite_int(row, 5));
    sn_json_out_str(b, "url", sn_sqlite_text(row, 6));
    sn_json_out_str(b, "text", sn_sqlite_text(row, 7));
}

seine_err
sn_records_errors(const char *path, sn_buf *out)
{
    sn_json_out_name(out, "groups");
    return list_rows(path,
                     "SELECT coalesce(error_kind, outcome), coalesce(host, ''), count(*) "
                     "AS n, min(ts), max(ts), sum(attempts), min(url), "
                     "coalesce(min(error_message), '') FROM result WHERE outcome <> 'ok' "
                     "GROUP BY 1, 2 ORDER BY n DESC LIMIT 100",
                     (sn_str){NULL, 0}, put_error, out);
}

static void
put_skip(sn_sqlite_stmt *row, sn_buf *b)
{
    sn_json_out_str(b, "reason", sn_sqlite_text(row, 0));
    sn_json_out_str(b, "rule", sn_sqlite_text(row, 1));
    sn_json_out_int(b, "count", sn_sqlite_int(row, 2));
    sn_json_out_name(b, "samples");
    sn_buf_str(b, sn_sqlite_text(row, 3));
}

seine_err
sn_records_skips(const char *path, sn_buf *out)
{
    sn_json_out_name(out, "skips");
    return list_rows(
        path,
        "SELECT reason, rule_of, count(*) AS n, json_group_array(url) FILTER (WHERE k <= "
        "5) FROM (SELECT reason, coalesce(rule, '') AS rule_of, url, row_number() OVER "
        "(PARTITION BY reason, coalesce(rule, '') ORDER BY seq) AS k FROM skip) GROUP BY "
        "1, 2 ORDER BY n DESC LIMIT 100",
        (sn_str){NULL, 0}, put_skip, out);
}

static void
put_host(sn_sqlite_stmt *row, sn_buf *b)
{
    int64_t n = sn_sqlite_int(row, 1), ok = sn_sqlite_int(row, 2);

    sn_json_out_str(b, "host", sn_sqlite_text(row, 0));
    sn_json_out_int(b, "done", n);
    sn_json_out_int(b, "in_flight", 0);
    sn_json_out_int(b, "waiting", 0);
    sn_json_out_real(b, "ok_pct", n > 0 ? 100.0 * (double)ok / (double)n : 0);
    sn_json_out_text(b, "breaker", "closed");
    sn_json_out_str(b, "error", sn_sqlite_text(row, 3));
}

/* clang-format off */
/* A record has the host of its last address alone; the port stands in the URL. */
#define AUTHORITY(url) \
    "substr(" url ", instr(" url ", '://') + 3, instr(substr(" url ", instr(" url ", '://') + 3) || '/', '/') - 1)"
#define HAS_PORT(authority) "substr(" authority ", 1, length(host) + 1) = host || ':'"
#define RESULTS \
    "(SELECT seq, ts, url, outcome, error_kind, CASE WHEN " HAS_PORT("last") " THEN last WHEN last = host THEN host " \
    "WHEN " HAS_PORT("first") " THEN first ELSE coalesce(host, '') END AS place FROM " \
    "(SELECT *, " AUTHORITY("final_url") " AS last, " AUTHORITY("url") " AS first FROM result))"
#define HOSTS \
    "SELECT place, count(*) AS n, sum(outcome = 'ok'), coalesce(max(error_kind), '') FROM " RESULTS " WHERE "
/* clang-format on */

seine_err
sn_records_hosts(const char *path, sn_str match, sn_buf *out)
{
    sn_json_out_name(out, "rows");
    return list_rows(path,
                     HOSTS "instr(place, ?1) > 0 GROUP BY 1 ORDER BY n DESC LIMIT 50",
                     match.ptr ? match : SN_STR(""), put_host, out);
}

static void
put_failure(sn_sqlite_stmt *row, sn_buf *b)
{
    sn_json_out_str(b, "at", sn_sqlite_text(row, 0));
    sn_json_out_str(b, "text", sn_sqlite_text(row, 1));
}

seine_err
sn_records_host(const char *path, sn_str host, sn_buf *out)
{
    sn_buf rows;

    sn_buf_init(&rows, 8192);
    seine_err e = list_rows(path, HOSTS "place = ?1 GROUP BY 1", host, put_host, &rows);
    sn_str one = sn_buf_view(&rows); /* "[]" or "[{…}]" */
    if (e == SEINE_OK && one.len <= 2)
        e = SEINE_E_UNKNOWN;
    if (e == SEINE_OK) {
        sn_buf_str(out, (sn_str){one.ptr + 2, one.len - 4});
        sn_json_out_name(out, "timeline");
        e = list_rows(
            path,
            "SELECT ts, coalesce(error_kind, outcome) || ' ' || url FROM " RESULTS
            " WHERE place = ?1 AND outcome <> 'ok' ORDER BY seq LIMIT 100",
            host, put_failure, out);
    }
    sn_buf_fini(&rows);
    return e;
}

static void
put_column(sn_buf *to, sn_str name, size_t i)
{
    (void)i; /* of its table, and not of all */
    if (to->len > 0)
        sn_buf_char(to, ',');
    sn_buf_text(to, "item.");
    sn_buf_str(to, name);
}

seine_err
sn_records_columns(const char *path, sn_buf *out)
{
    sn_sqlite *db;
    table_list *tables = sn_zalloc(sizeof *tables);
    seine_err e = tables ? open_db(path, &db) : SEINE_E_NOMEM;

    if (e == SEINE_OK) {
        e = find_tables(db, tables);
        for (size_t i = 0; e == SEINE_OK && i < tables->n; i++)
            e = each_column(db, tables->names[i], put_column, out);
        sn_sqlite_close(db);
    }
    sn_free(tables);
    return e == SEINE_OK ? sn_buf_done(out) : e;
}
