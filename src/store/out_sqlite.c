/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as rows of a database. Others may read the database meanwhile: it is in WAL
 * mode, and a batch of records, 100 ms or a thousand, is one transaction.
 *
 * A new database is made under another name and then renamed. So a file of that name is
 * either a complete database with all tables, or still the empty file that claimed the
 * name.
 */
#include "store/out_sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "seine/clock.h"
#include "seine/version.h"
#include "store/outfile.h"
#include "store/record_items.h"
#include "store/sqlite_beside.h"
#include "store/sqlite_schema.h"

enum {
    BATCH = 1000 /* records per transaction … */
};
/* … and its longest duration while more records come. A batch writes every index page it
 * touches once, so at 10,000 records a second batches of 1,000 cost two thirds of batches
 * of 200. When no record comes for a moment the batch is committed at once. */
#define PATIENCE SEINE_MS(100)

/* The columns of a result, in the order of out_sqlite_row.c. Those of values follow. */
#define COLUMNS                                                                          \
    "seq, key, ts, input, url, final_url, host, ip, depth, parent, outcome, status, "    \
    "error_kind, error_message, attempts, content_type, charset, bytes_in, bytes_body, " \
    "time_total, time_wait, sha256, title, change, body, json"
#define VALUES \
    "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"

static seine_err
fail_db(const sn_out *o, seine_err e, seine_diag *diag)
{
    sn_base *b = o->self;

    b->has_failed = true;
    if (e == SEINE_E_NOMEM)
        sn_diag_text(diag, "%s", seine_err_text(e));
    else
        sn_outfile_fail(o, b->db ? sn_sqlite_errno(b->db) : errno, diag);
    return e;
}

static seine_err
refuse_file(const sn_out *o, seine_err e, const char *what, seine_diag *diag)
{
    sn_diag_text(diag, "%s %s", o->name, what);
    return e;
}

static seine_err
fail_open(const sn_out *o, int error, seine_diag *diag)
{
    char text[SN_DIAG_ERRNO];

    sn_diag_errno(error, text);
    sn_diag_text(diag, "cannot open %s: %s", o->name, text);
    return error == ENOSPC || error == EDQUOT ? SEINE_E_DISK_FULL : SEINE_E_IO;
}

/* One writer at a time; the lock is released when its holder dies. SQLite uses other
 * locks. */
static seine_err
lock(const sn_out *o, int fd, seine_diag *diag)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return SEINE_OK;
    sn_diag_text(diag, "%s is being written by another process", o->name);
    return SEINE_E_STATE_LOCKED;
}

static uint32_t
big_endian(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Checks the first bytes, because SQLite would change a file by opening it. They never
 * change after the file got its name. */
static seine_err
check_head(const sn_out *o, int fd, seine_diag *diag)
{
    uint8_t head[100];
    char what[64];

    if (pread(fd, head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head, "SQLite format 3", 16) != 0)
        return refuse_file(o, SEINE_E_STATE_FOREIGN, "is no SQLite database", diag);
    if (big_endian(head + 68) != SN_APPLICATION_ID)
        return refuse_file(o, SEINE_E_STATE_FOREIGN, "is a database of another program",
                           diag);
    if (big_endian(head + 60) <= SN_SCHEMA)
        return SEINE_OK;
    snprintf(what, sizeof what, "has schema %u, and this version writes %d",
             big_endian(head + 60), SN_SCHEMA);
    return refuse_file(o, SEINE_E_STATE_NEWER, what, diag);
}

/* A WAL is what a killed run of ours left; it is recovered. */
static seine_err
check_beside(const sn_out *o, seine_diag *diag)
{
    sn_beside side;

    sn_beside_look(o->opts.path, &side);
    return side.foreign ? sn_beside_refuse(o->name, side.foreign, diag) : SEINE_OK;
}

seine_err
sn_base_ask(sn_base *b, const char *sql, int64_t otherwise, int64_t *out_n)
{
    sn_sqlite_stmt *stmt;
    bool there = false;
    seine_err e = sn_sqlite_prepare(b->db, sql, &stmt);

    if (e != SEINE_OK)
        return e;
    e = sn_sqlite_next(stmt, &there);
    *out_n = there && !sn_sqlite_is_null(stmt, 0) ? sn_sqlite_int(stmt, 0) : otherwise;
    sn_sqlite_finalize(stmt);
    return e;
}

static seine_err
prepare(sn_base *b)
{
    const struct {
        sn_sqlite_stmt **to;
        const char *sql;
    } all[] = {
        {&b->skip, "INSERT INTO skip VALUES (?, ?, ?, ?, ?, ?)"},
        {&b->link, "INSERT INTO link VALUES (?, ?, ?, ?, ?, ?, ?)"},
        {&b->summary, "INSERT OR REPLACE INTO summary VALUES (?, ?)"},
        {&b->meta, "INSERT OR REPLACE INTO seine_meta VALUES (?, ?)"},
    };
    seine_err e = SEINE_OK;

    for (size_t i = 0; i < sizeof all / sizeof *all && e == SEINE_OK; i++)
        e = sn_sqlite_prepare(b->db, all[i].sql, all[i].to);
    return e;
}

/* Appends the name of a field's column, quoted. */
static void
put_column(sn_buf *sql, const char *field)
{
    sn_buf name;

    sn_buf_init(&name, SIZE_MAX - 1);
    sn_data_column_name(field, &name);
    sn_buf_char(sql, '"');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '"')
            sn_buf_char(sql, '"');
        sn_buf_char(sql, name.ptr[i]);
    }
    sn_buf_char(sql, '"');
    if (sn_buf_done(&name) != SEINE_OK)
        sql->err = SEINE_E_NOMEM;
    sn_buf_fini(&name);
}

/* Runs a text of SQL, or prepares it if there is a place for the statement. */
static seine_err
use_sql(sn_base *b, sn_buf *sql, sn_sqlite_stmt **to)
{
    sn_buf_char(sql, '\0');
    seine_err e = sn_buf_done(sql);

    if (e == SEINE_OK)
        e = to ? sn_sqlite_prepare(b->db, sql->ptr, to) : sn_sqlite_exec(b->db, sql->ptr);
    sn_buf_reset(sql);
    return e;
}

/* Adds a column unless the table has it. Without the name of the table SQLite would take
 * an unknown column for a text. */
static seine_err
add_column(sn_base *b, sn_buf *sql, const char *field)
{
    sn_sqlite_stmt *stmt = NULL;

    sn_buf_text(sql, "SELECT result.");
    put_column(sql, field);
    sn_buf_text(sql, " FROM result LIMIT 0");
    if (use_sql(b, sql, &stmt) == SEINE_OK) {
        sn_sqlite_finalize(stmt);
        return SEINE_OK;
    }
    sn_buf_text(sql, "ALTER TABLE result ADD COLUMN ");
    put_column(sql, field);
    sn_buf_text(sql, " ANY");
    return use_sql(b, sql, NULL);
}

/* Adds the columns of values that the table lacks, and prepares rows with them. */
static seine_err
prepare_result(sn_base *b, bool repeats)
{
    seine_err e = SEINE_OK;
    sn_buf sql;

    sn_buf_init(&sql, SIZE_MAX - 1);
    for (size_t i = 0; e == SEINE_OK && i < b->data.n; i++)
        e = add_column(b, &sql, b->data.names[i]);
    sn_buf_printf(&sql, "INSERT%s INTO result(" COLUMNS, repeats ? "" : " OR REPLACE");
    for (size_t i = 0; i < b->data.n; i++) {
        sn_buf_text(&sql, ", ");
        put_column(&sql, b->data.names[i]);
    }
    sn_buf_text(&sql, ") VALUES (" VALUES);
    for (size_t i = 0; i < b->data.n; i++)
        sn_buf_text(&sql, ", ?");
    sn_buf_text(&sql, ")");
    if (e == SEINE_OK)
        e = use_sql(b, &sql, &b->result);
    sn_buf_fini(&sql);
    return e;
}

/* Checks that the tables are ours, and how far they go. */
static seine_err
look_into(sn_out *o, seine_diag *diag)
{
    sn_base *b = o->self;
    int64_t version = 0, last = 0;
    bool is_unique = false;
    seine_err e = sn_schema_check(b->db, &is_unique);

    if (e == SEINE_OK)
        e = prepare(b);
    if (e == SEINE_OK)
        e = sn_base_ask(
            b, "SELECT CAST(value AS INTEGER) FROM seine_meta WHERE key = 'schema'", 0,
            &version);
    if (e == SEINE_OK)
        e = sn_base_ask(
            b,
            "SELECT max((SELECT ifnull(max(seq), 0) FROM result), (SELECT "
            "ifnull(max(seq), 0) FROM skip), (SELECT ifnull(max(seq), 0) FROM link), "
            "(SELECT ifnull(max(seq), 0) FROM item_error), (SELECT "
            "ifnull(max(json_extract(json, '$.seq')), 0) FROM summary))",
            0, &last);
    if (e == SEINE_OK)
        e = sn_base_ask(b, "SELECT max(run) + 1 FROM summary", 1, &b->run);
    if (e == SEINE_OK) {
        e = sn_base_check_items(o, diag);
        if (e == SEINE_E_OUTPUT_CHANGED)
            return e;
    }
    if (e == SEINE_OK)
        e = sn_base_last_item(o, &last);
    if (e == SEINE_E_NOMEM)
        return e;
    if (e == SEINE_E_STATE_LOCKED) {
        sn_diag_text(diag, "%s is locked by another process", o->name);
        return e;
    }
    if (e == SEINE_E_STATE_CORRUPT)
        return refuse_file(o, e, "is damaged", diag);
    if (e != SEINE_OK || version != SN_SCHEMA)
        return refuse_file(o, SEINE_E_OUTPUT_CHANGED, "has other tables", diag);
    if (is_unique && o->opts.repeats)
        return refuse_file(o, SEINE_E_OUTPUT_CHANGED,
                           "holds every key once, and keys repeat", diag);
    if (last > INT64_MAX / 2) /* rows of a run would get numbers below zero */
        return refuse_file(o, SEINE_E_OUTPUT_CHANGED, "has rows with the last numbers",
                           diag);
    o->last_seq = last > 0 ? (uint64_t)last : 0;
    return SEINE_OK;
}

static seine_err
connect_it(sn_out *o, seine_diag *diag)
{
    sn_base *b = o->self;
    char text[SN_DIAG_ERRNO];
    seine_err e = sn_sqlite_open(o->opts.path, SN_SQLITE_WRITE, &b->db);

    sn_diag_errno(errno, text);
    if (e != SEINE_OK && e != SEINE_E_NOMEM)
        sn_diag_text(diag, "cannot open %s: %s", o->name,
                     e == SEINE_E_IO || e == SEINE_E_DISK_FULL ? text
                                                               : seine_err_text(e));
    return e;
}

static seine_err
open_existing(sn_out *o, seine_diag *diag)
{
    sn_base *b = o->self;
    const char *path = o->opts.path;
    struct stat st;

    if (lstat(path, &st) != 0)
        return fail_open(o, errno, diag);
    if (S_ISLNK(st.st_mode)) {
        sn_diag_text(diag, "%s is a symbolic link: not followed; try its target",
                     o->name);
        return SEINE_E_IO;
    }
    if (!S_ISREG(st.st_mode)) {
        sn_diag_text(diag, "%s is no plain file, as a database has to be", o->name);
        return SEINE_E_IO;
    }
    if (!o->opts.append && !o->opts.overwrite)
        return sn_outfile_exists(o, st.st_size, diag);
    b->fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
    if (b->fd < 0)
        return fail_open(o, errno, diag);
    seine_err e = lock(o, b->fd, diag);
    if (e != SEINE_OK || !o->opts.append || st.st_size == 0)
        return e;
    e = check_head(o, b->fd, diag);
    if (e == SEINE_OK)
        e = check_beside(o, diag);
    if (e == SEINE_OK)
        e = connect_it(o, diag);
    b->is_there = e == SEINE_OK;
    return e == SEINE_OK ? look_into(o, diag) : e;
}

static seine_err
open_sqlite(sn_out *o, seine_diag *diag)
{
    sn_base *b = o->self;
    const char *path = o->opts.path;
    struct stat st;
    seine_err e = SEINE_OK;

    *b = (sn_base){.is_open = true, .fd = -1, .run = 1};
    if (o->members & SN_MEMBER(DATA))
        e = sn_data_columns_copy(&b->data, o->opts.data);
    if (e != SEINE_OK)
        return e;
    if (!path || strcmp(path, "-") == 0) {
        sn_diag_text(diag, "%s cannot be a database", o->name);
        return SEINE_E_INVAL;
    }
    b->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
    b->is_new = b->fd >= 0;
    if (b->is_new)
        e = lock(o, b->fd, diag);
    else
        e = errno == EEXIST ? open_existing(o, diag) : fail_open(o, errno, diag);
    if (e != SEINE_OK)
        return e;
    if (fstat(b->fd, &st) != 0)
        return fail_open(o, errno, diag);
    o->dev = st.st_dev;
    o->ino = st.st_ino;
    return SEINE_OK;
}

/* Returns the path with an ending appended; the caller frees it. */
static char *
beside(const sn_out *o, const char *ending)
{
    size_t n = strlen(o->opts.path) + strlen(ending) + 1;
    char *path = sn_alloc(n);

    if (path)
        snprintf(path, n, "%s%s", o->opts.path, ending);
    return path;
}

/* SQLite would take the side files of a removed database for part of the new one. */
static seine_err
remove_beside(const sn_out *o, const char *const endings[3])
{
    for (size_t i = 0; i < 3; i++) {
        char *path SN_AUTOFREE = beside(o, endings[i]);

        if (!path)
            return SEINE_E_NOMEM;
        (void)unlink(path);
    }
    return SEINE_OK;
}

/* Makes a file of that name with all tables. It has no journal: on failure it is
 * deleted. */
static seine_err
make_tables(sn_out *o, const char *path, seine_diag *diag)
{
    sn_base *b = o->self;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

    if (fd < 0 && errno == EEXIST && unlink(path) == 0) /* left by a killed process */
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return sn_outfile_fail(o, errno, diag);

    /* closed with the database: an earlier close would drop SQLite's locks */
    int before = b->fd;
    b->fd = fd;
    close(before);
    seine_err e = lock(o, fd, diag);
    if (e == SEINE_OK)
        e = sn_sqlite_open(path, SN_SQLITE_WRITE, &b->db);
    if (e == SEINE_OK)
        e = sn_sqlite_exec(b->db, "PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE");
    if (e == SEINE_OK)
        e = sn_schema_make(b->db, o->opts.repeats);
    if (e == SEINE_OK)
        e = sn_sqlite_exec(b->db, "COMMIT; PRAGMA journal_mode = WAL");
    if (e != SEINE_OK)
        fail_db(o, e, diag);
    sn_sqlite_close(SN_STEAL(b->db));
    return e;
}

static seine_err
make_database(sn_out *o, seine_diag *diag)
{
    static const char *const ours[] = {".part-wal", ".part-shm", ".part-journal"};
    static const char *const replaced[] = {"-wal", "-shm", "-journal"};
    char *path SN_AUTOFREE = beside(o, ".part");

    if (!path)
        return SEINE_E_NOMEM;
    seine_err e = remove_beside(o, ours);
    if (e == SEINE_OK)
        e = make_tables(o, path, diag);
    if (e == SEINE_OK)
        e = remove_beside(o, replaced);
    if (e == SEINE_OK && rename(path, o->opts.path) != 0)
        e = sn_outfile_fail(o, errno, diag);
    if (e != SEINE_OK) {
        (void)unlink(path);
        return e;
    }
    e = connect_it(o, diag);
    return e == SEINE_OK ? prepare(o->self) : e;
}

static seine_err
put_meta(sn_base *b, const char *key, const char *value)
{
    sn_sqlite_row row = sn_sqlite_bind(b->meta);

    sn_sqlite_put_text(&row, sn_str_of(key));
    sn_sqlite_put_text(&row, sn_str_of(value));
    return sn_sqlite_done(&row);
}

static seine_err
put_moment(sn_base *b, const char *key)
{
    seine_clock *clock = seine_clock_system();
    char text[SN_STAMP + 1] = "";
    sn_text_writer p = sn_text_writer_on(text, SN_STAMP);

    sn_text_writer_stamp(&p, clock->wall(clock));
    return put_meta(b, key, text);
}

static seine_err
begin_batch(sn_base *b)
{
    if (b->in_batch)
        return SEINE_OK;
    seine_err e = sn_sqlite_exec(b->db, "BEGIN IMMEDIATE");
    b->in_batch = e == SEINE_OK;
    return e;
}

/* Rolls back what could not be committed; the file is then as before. */
static seine_err
commit(sn_out *o, seine_diag *diag)
{
    sn_base *b = o->self;

    if (!b->in_batch)
        return SEINE_OK;
    seine_err e = sn_sqlite_exec(b->db, "COMMIT");
    b->in_batch = false;
    if (e == SEINE_OK) {
        o->records += b->held;
        o->bytes += b->held_bytes;
    } else {
        fail_db(o, e, diag);
        seine_err back = sn_sqlite_exec(b->db, "ROLLBACK");
        (void)back; /* may be rolled back already */
    }
    b->held = b->held_bytes = 0;
    return e;
}

/* A batch is complete or absent. */
static seine_err
fail_batch(sn_out *o, seine_err e, seine_diag *diag)
{
    sn_base *b = o->self;

    fail_db(o, e, diag);
    if (b->in_batch) {
        seine_err back = sn_sqlite_exec(b->db, "ROLLBACK");

        (void)back;
    }
    b->in_batch = false;
    b->held = b->held_bytes = 0;
    return e;
}

/* Removes what no commit of the job has. */
static seine_err
cut_rows(sn_base *b, uint64_t last)
{
    static const char *const tables[] = {"result", "skip", "link", "item_error"};
    char sql[96];
    seine_err e = SEINE_OK;

    for (size_t i = 0; i < sizeof tables / sizeof *tables && e == SEINE_OK; i++) {
        snprintf(sql, sizeof sql, "DELETE FROM %s WHERE seq > %llu", tables[i],
                 (unsigned long long)last);
        e = sn_sqlite_exec(b->db, sql);
    }
    snprintf(sql, sizeof sql,
             "DELETE FROM summary WHERE json_extract(json, '$.seq') > %llu",
             (unsigned long long)last);
    return e == SEINE_OK ? sn_sqlite_exec(b->db, sql) : e;
}

/* Is the last row there that the job has committed? */
static seine_err
check_last(sn_out *o)
{
    sn_base *b = o->self;
    int64_t last = 0;
    seine_err e =
        sn_base_ask(b,
                    "SELECT max((SELECT ifnull(max(seq), 0) FROM result), (SELECT "
                    "ifnull(max(seq), 0) FROM skip), (SELECT ifnull(max(seq), 0) FROM "
                    "link))",
                    0, &last);

    if (e == SEINE_OK)
        e = sn_base_last_item(o, &last);
    b->last_put = o->marked_seq;
    return e == SEINE_OK && (uint64_t)last < o->marked_seq ? SEINE_E_OUTPUT_CHANGED : e;
}

/* The tables of links are ours, and what no commit of the job has is removed. */
static seine_err
start_links(sn_out *o)
{
    sn_base *b = o->self;
    char sql[64];
    seine_err e = o->opts.links ? sn_base_start_links(b) : SEINE_OK;

    if (e != SEINE_OK || !o->opts.links || !o->is_durable || !o->opts.append)
        return e;
    snprintf(sql, sizeof sql, "DELETE FROM target WHERE seq > %llu",
             (unsigned long long)o->cut_seq);
    return sn_sqlite_exec(b->db, sql);
}

static seine_err
start_sqlite(sn_out *o, seine_diag *diag)
{
    sn_base *b = o->self;
    seine_err e = b->is_there ? SEINE_OK : make_database(o, diag);

    if (e != SEINE_OK)
        return e;
    b->is_there = true;
    e = sn_sqlite_exec(b->db,
                       "PRAGMA journal_mode = WAL;" /* others may have changed it */
                       "PRAGMA synchronous = NORMAL;"
                       "PRAGMA wal_autocheckpoint = 8000");
    if (e == SEINE_OK && o->is_durable)
        e = sn_sqlite_exec(b->db, "PRAGMA synchronous = FULL");
    if (e == SEINE_OK)
        e = begin_batch(b);
    if (e == SEINE_OK)
        e = prepare_result(b, o->opts.repeats);
    if (e == SEINE_OK)
        e = sn_base_start_items(o);
    if (e == SEINE_OK && o->is_durable && o->opts.append) {
        e = cut_rows(b, o->cut_seq);
        if (e == SEINE_OK)
            e = check_last(o);
        if (e == SEINE_E_OUTPUT_CHANGED) {
            (void)fail_batch(o, e, NULL);
            sn_diag_text(diag,
                         "%s was changed since the job has written it: put it back, or "
                         "start the job over",
                         o->name);
            return e;
        }
        if (e == SEINE_OK)
            e = sn_base_ask(b, "SELECT max(run) + 1 FROM summary", 1, &b->run);
        o->last_seq = o->cut_seq;
    }
    if (e == SEINE_OK)
        e = start_links(o);
    if (e == SEINE_E_OUTPUT_CHANGED) {
        (void)fail_batch(o, e, NULL);
        return refuse_file(o, e, "has other tables", diag);
    }
    if (e == SEINE_OK)
        e = put_meta(b, "version", seine_version());
    if (e == SEINE_OK && o->opts.command)
        e = put_meta(b, "command", o->opts.command);
    if (e == SEINE_OK)
        e = put_moment(b, "started");
    if (e == SEINE_OK)
        e = sn_sqlite_exec(b->db,
                           "DELETE FROM seine_meta WHERE key IN ('finished', 'job')");
    if (e == SEINE_OK && o->job.ptr)
        e = put_meta(b, "job", o->job.ptr);
    return e == SEINE_OK ? commit(o, diag) : fail_batch(o, e, diag);
}

static seine_err
record_sqlite(sn_out *o, seine_record *r, uint64_t seq, seine_diag *diag)
{
    sn_base *b = o->self;
    seine_err e = begin_batch(b);

    if (e == SEINE_OK)
        e = sn_base_put(o, r, seq);
    if (e != SEINE_OK)
        return fail_batch(o, e, diag);
    b->last_put = seq;
    return ++b->held >= BATCH ? commit(o, diag) : SEINE_OK;
}

static seine_err
links_sqlite(sn_out *o, const seine_record *r, uint64_t seq, seine_diag *diag)
{
    sn_base *b = o->self;
    seine_err e = begin_batch(b);

    if (e == SEINE_OK)
        e = sn_base_put_links(o, r, seq);
    if (e != SEINE_OK)
        return fail_batch(o, e, diag);
    size_t n = seine_record_links(r, NULL, NULL);
    if (n > 0)
        b->last_put = seq + n;
    return SEINE_OK;
}

static seine_err
items_sqlite(sn_out *o, const seine_record *r, uint64_t seq, seine_diag *diag)
{
    sn_base *b = o->self;
    seine_err e = begin_batch(b);

    if (e == SEINE_OK)
        e = sn_base_put_items(o, r, seq);
    if (e != SEINE_OK)
        return fail_batch(o, e, diag);
    b->last_put = seq + sn_record_items_count(r);
    return SEINE_OK;
}

static seine_err
line_sqlite(sn_out *o, const sn_said *said, seine_diag *diag)
{
    sn_base *b = o->self;
    sn_str json = sn_str_slice(said->text, 0, said->text.len - 1);
    bool is_link = sn_str_eq(said->type, SN_STR("link"));

    if (!is_link && !sn_str_eq(said->type, SN_STR("summary")))
        return SEINE_OK;
    seine_err e = begin_batch(b);
    if (e == SEINE_OK && is_link) {
        e = sn_base_put_link(b, json, said->seq);
        if (e == SEINE_OK)
            return ++b->held >= BATCH ? commit(o, diag) : SEINE_OK;
    } else if (e == SEINE_OK) {
        sn_sqlite_row row = sn_sqlite_bind(b->summary);

        sn_sqlite_put_int(&row, b->run);
        sn_sqlite_put_text(&row, json);
        e = sn_sqlite_done(&row);
    }
    return e == SEINE_OK ? SEINE_OK : fail_batch(o, e, diag);
}

static seine_err
slices_sqlite(sn_out *o, sn_str lines, seine_diag *diag)
{
    sn_base *b = o->self;
    seine_err e = begin_batch(b);

    if (e == SEINE_OK)
        e = sn_base_put_slices(b, lines);
    return e == SEINE_OK ? SEINE_OK : fail_batch(o, e, diag);
}

static seine_err
flush_sqlite(sn_out *o, bool all, seine_diag *diag)
{
    return all ? commit(o, diag) : SEINE_OK;
}

static bool
length_of_sqlite(sn_out *o, sn_out_length *out)
{
    const sn_base *b = o->self;

    *out = (sn_out_length){.fd = b->fd, .size = b->last_put, .is_database = true};
    return true;
}

/* Writes `finished` if all went well. */
static void
note_finished(sn_base *b)
{
    if (b->db && b->meta) {
        seine_err e = put_moment(b, "finished");

        (void)e; /* every record is there without it */
    }
}

/* Moves the WAL into the database while there is somebody to tell: closing does so too,
 * and is silent when it fails. Readers keep it from moving all, which is no failure. */
static seine_err
finish_wal(sn_out *o, seine_diag *diag)
{
    sn_base *b = o->self;
    seine_err e = sn_sqlite_exec(b->db, "PRAGMA wal_checkpoint(PASSIVE)");

    if (e == SEINE_OK || e == SEINE_E_STATE_LOCKED)
        return SEINE_OK;
    return sn_outfile_fail_end(o, e, sn_sqlite_errno(b->db), diag);
}

static seine_err
judge_links(sn_out *o, seine_diag *diag)
{
    sn_base *b = o->self;
    seine_err e = sn_base_judge_links(b);

    return e == SEINE_OK ? e : sn_outfile_fail_end(o, e, sn_sqlite_errno(b->db), diag);
}

static seine_err
close_sqlite(sn_out *o, seine_diag *diag)
{
    sn_base *b = o->self;
    seine_err e = SEINE_OK;

    if (!b->is_open)
        return SEINE_OK;
    if (o->is_started && b->is_there && !b->in_batch && !b->has_failed) {
        if (o->opts.links)
            e = judge_links(o, diag);
        if (e == SEINE_OK) {
            note_finished(b);
            e = finish_wal(o, diag);
        }
    }
    sn_sqlite_close(b->db);
    if (b->fd >= 0)
        close(b->fd);
    if (b->is_new && !o->is_started)
        (void)unlink(o->opts.path);
    sn_data_columns_fini(&b->data);
    sn_free(b->items);
    sn_free(b->json);
    sn_free(b->clean);
    return e;
}

const sn_out_ops sn_out_sqlite = {
    .size = sizeof(sn_base),
    .patience = PATIENCE,
    .open = open_sqlite,
    .start = start_sqlite,
    .record = record_sqlite,
    .links = links_sqlite,
    .items = items_sqlite,
    .line = line_sqlite,
    .slices = slices_sqlite,
    .flush = flush_sqlite,
    .length = length_of_sqlite,
    .close = close_sqlite,
};
