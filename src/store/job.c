/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/crashpoint.h"
#include "base/hash.h"
#include "base/opts.h"
#include "base/rng.h"
#include "store/job_parts.h"
#include "store/job_spec.h"
#include "store/sqlite_beside.h"
#include "store/text_writer.h"

enum { PATH_ROOM = 4096, NAME_MOST = 128 };

bool
sn_job_is_name(const char *name)
{
    size_t n = name ? strlen(name) : 0;

    return n >= 1 && n <= NAME_MOST && name[0] != '.' && name[0] != '-' &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                        "._-") == n;
}

static void
free_facts(sn_job_facts *f)
{
    sn_free(f->name);
    sn_free(f->verb);
    sn_free(f->spec);
    sn_free(f->command);
    sn_free(f->boot_id);
    *f = (sn_job_facts){.name = NULL};
}

void
sn_job_free(seine_durable_job *j)
{
    sn_sqlite_close(j->db);
    sn_job_batch_fini(&j->new_urls);
    sn_job_batch_fini(&j->new_results);
    for (unsigned i = 0; i < j->n_lanes; i++)
        sn_job_lane_fini(&j->lanes[i]);
    sn_free_line(j->lanes);
    sn_job_outputs_free(j);
    free_facts(&j->facts);
    sn_map_fini(&j->hosts);
    sn_arena_fini(&j->names);
    sn_free(j->by_id);
    sn_free(j->done.words);
    sn_free(j->has_page.words);
    sn_buf_fini(&j->pages);
    sn_buf_fini(&j->kept);
    sn_free(j->results);
    sn_free(j->prints);
    sn_free(j->tried);
    sn_free(j->held);
    sn_free(j->taken);
    if (j->dir_fd >= 0)
        (void)close(j->dir_fd);
    if (j->lock_fd >= 0)
        (void)close(j->lock_fd);
    sn_free(j->dir);
    sn_free(j);
}

static char *
copy(sn_str s)
{
    char *text = sn_alloc(s.len + 1);

    if (text) {
        if (s.len > 0)
            memcpy(text, s.ptr, s.len);
        text[s.len] = '\0';
    }
    return text;
}

static bool
set_text(char **to, sn_str s)
{
    sn_free(*to);
    *to = copy(s);
    return *to;
}

/* What this run says the job is. */
static seine_err
set_facts(sn_job_facts *f, const seine_job_opts *o)
{
    const char *spec = o->spec ? o->spec : "{}",
               *command = o->command ? o->command : "[]";

    return set_text(&f->name, sn_str_of(o->name)) &&
                   set_text(&f->verb, sn_str_of(o->verb)) &&
                   set_text(&f->spec, sn_str_of(spec)) &&
                   set_text(&f->command, sn_str_of(command))
               ? SEINE_OK
               : SEINE_E_NOMEM;
}

static seine_err
set_boot(sn_job_facts *f)
{
    char boot[64];

    sn_job_boot_id(boot);
    return set_text(&f->boot_id, sn_str_of(boot)) ? SEINE_OK : SEINE_E_NOMEM;
}

static seine_err
say_db(const seine_durable_job *j, sn_sqlite *db, seine_err e, seine_diag *diag)
{
    char name[SEINE_DIAG_FILE], text[SN_DIAG_ERRNO];

    sn_diag_path(j->dir, name);
    if (e == SEINE_E_STATE_CORRUPT || e == SEINE_E_STATE_FOREIGN) {
        sn_diag_text(diag, "%s/job.db is damaged: nothing was changed", name);
        return SEINE_E_STATE_CORRUPT;
    }
    if (e == SEINE_E_NOMEM || !db) {
        sn_diag_text(diag, "cannot open %s/job.db: %s", name, seine_err_text(e));
        return e;
    }
    sn_diag_errno(sn_sqlite_errno(db), text);
    sn_diag_text(diag, "cannot open %s/job.db: %s", name, text);
    return e;
}

void
sn_job_say_db(const seine_durable_job *j, seine_err e, seine_diag *diag)
{
    if (diag && diag->text[0] == '\0')
        (void)!say_db(j, j->db, e, diag);
}

static seine_err
fill_new(seine_durable_job *j, sn_sqlite *db)
{
    sn_job_head head = {.next_seq = 1};
    sn_job_round round = {.number = 1, .begun_ms = j->facts.created_ms};
    seine_err e =
        sn_sqlite_exec(db, "PRAGMA page_size = 8192; PRAGMA auto_vacuum = NONE; "
                           "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; "
                           "BEGIN");

    if (e == SEINE_OK)
        e = sn_job_tables_make(db);
    if (e == SEINE_OK)
        e = sn_job_tables_open(db, j->tables);
    if (e == SEINE_OK)
        e = sn_job_put_facts(j);
    if (e == SEINE_OK)
        e = sn_job_put_head(j, &head);
    if (e == SEINE_OK)
        e = sn_job_put_round(j, &round);
    if (e == SEINE_OK)
        e = sn_sqlite_exec(db, "COMMIT; PRAGMA journal_mode = WAL");
    return e;
}

/* Makes the database under another name: job.db is whole or not there. Nothing of it is
 * synced before all of it is. Its name is durable with the first commit, since SQLite
 * syncs the directory together with a new WAL; a job that has committed nothing may be
 * lost. */
static seine_err
make_db(seine_durable_job *j, seine_diag *diag)
{
    char path[PATH_ROOM];
    sn_sqlite *db = NULL;

    if (snprintf(path, sizeof path, "%s/job.db.new", j->dir) >= PATH_ROOM)
        return sn_job_fail("write to", j->dir, ENAMETOOLONG, diag);
    int fd = openat(j->dir_fd, "job.db.new", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return sn_job_fail("write to", j->dir, errno, diag);
    seine_err e = sn_sqlite_open(path, SN_SQLITE_WRITE, &db);
    if (e == SEINE_OK)
        e = fill_new(j, db);
    if (e != SEINE_OK)
        e = say_db(j, db, e, diag);
    sn_sqlite_close(db);
    SN_CRASHPOINT("state.made");
    if (e == SEINE_OK)
        e = sn_job_rename_new(j, fd, diag);
    (void)close(fd);
    return e;
}

seine_err
sn_job_read_facts(seine_durable_job *j)
{
    sn_job_facts *f = &j->facts;
    sn_job_row row;
    bool there = false;
    seine_err e = sn_job_table_get(&j->tables[SN_TABLE_JOB], 1, &row, &there);

    if (e != SEINE_OK || !there)
        return e == SEINE_OK ? SEINE_E_STATE_CORRUPT : e;
    f->created_ms = row.ints[1];
    f->run = row.ints[2];
    f->state = row.ints[3];
    f->clean = row.ints[4];
    f->durability = row.ints[5];
    f->secret[0] = (uint64_t)row.ints[6];
    f->secret[1] = (uint64_t)row.ints[7];
    bool ok = set_text(&f->name, row.texts[0]) && set_text(&f->verb, row.texts[1]) &&
              set_text(&f->spec, row.texts[2]) && set_text(&f->command, row.texts[3]) &&
              set_text(&f->boot_id, row.texts[4]);
    sn_job_table_reset(&j->tables[SN_TABLE_JOB]);
    return ok ? SEINE_OK : SEINE_E_NOMEM;
}

seine_err
sn_job_read_head(seine_durable_job *j)
{
    sn_job_head *h = &j->head;
    sn_job_row row;
    bool there = false;
    unsigned i = 1;
    seine_err e = sn_job_table_get(&j->tables[SN_TABLE_HEAD], 1, &row, &there);

    if (e != SEINE_OK || !there)
        return e == SEINE_OK ? SEINE_E_STATE_CORRUPT : e;
#define X(column) h->column = row.ints[i++];
    SN_JOB_HEAD(X)
    SN_JOB_SUMS(X)
#undef X
    sn_job_table_reset(&j->tables[SN_TABLE_HEAD]);
    j->last_seq = (uint64_t)h->next_seq - 1;
    return h->next_seq >= 1 && h->next_number >= 0 ? SEINE_OK : SEINE_E_STATE_CORRUPT;
}

seine_err
sn_job_open_pages(seine_durable_job *j, sn_sqlite_pages *out)
{
    bool is_settled = false;
    seine_err e = sn_sqlite_settle(j->db, &is_settled);

    *out = (sn_sqlite_pages){.n = 0};
    return e == SEINE_OK && is_settled ? sn_sqlite_pages_open(j->db, out) : e;
}

/* The structure of the file, by its pages; while somebody else reads it, by SQLite. */
static seine_err
check_pages(seine_durable_job *j)
{
    uint32_t roots[SN_TABLES];
    sn_sqlite_pages pages;
    seine_err e = sn_job_open_pages(j, &pages);

    if (e != SEINE_OK)
        return e;
    for (unsigned i = 0; i < SN_TABLES; i++)
        roots[i] = j->tables[i].root;
    return pages.n > 0 ? sn_sqlite_pages_check(&pages, roots, SN_TABLES)
                       : sn_job_quick_check(j);
}

seine_err
sn_job_quick_check(seine_durable_job *j)
{
    sn_sqlite_stmt *stmt;
    bool there = false;
    seine_err e = sn_sqlite_prepare(j->db, "PRAGMA quick_check(1)", &stmt);

    if (e != SEINE_OK)
        return e;
    e = sn_sqlite_next(stmt, &there);
    if (e == SEINE_OK && (!there || !sn_str_eq(sn_sqlite_text(stmt, 0), SN_STR("ok"))))
        e = SEINE_E_STATE_CORRUPT;
    sn_sqlite_finalize(stmt);
    return e;
}

static seine_err
set_sync(seine_durable_job *j, const seine_job_opts *o)
{
    return sn_sqlite_exec(j->db, o->durability == SEINE_DURABILITY_FAST
                                     ? "PRAGMA synchronous = NORMAL"
                                     : "PRAGMA synchronous = FULL");
}

static seine_err
open_tables(seine_durable_job *j, const seine_job_opts *o)
{
    seine_err e = sn_sqlite_exec(
        j->db, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 4096; "
               "PRAGMA cache_size = -8192; PRAGMA mmap_size = 0; "
               "PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON");

    sn_sqlite_trust(j->db);
    if (e == SEINE_OK)
        e = set_sync(j, o);
    if (e == SEINE_OK)
        e = sn_job_upgrade(j);
    if (e == SEINE_OK)
        e = sn_job_tables_open(j->db, j->tables);
    if (e == SEINE_OK)
        e = sn_job_read_round(j);
    if (e == SEINE_OK)
        e = sn_job_read_facts(j);
    if (e == SEINE_OK)
        e = check_pages(j);
    return e == SEINE_OK ? sn_job_read_head(j) : e;
}

static seine_err
open_db(seine_durable_job *j, const seine_job_opts *o, seine_diag *diag)
{
    char path[PATH_ROOM];
    sn_beside beside;
    seine_err e = sn_job_check_head(j, diag);

    if (e != SEINE_OK)
        return e;
    snprintf(path, sizeof path, "%s/job.db", j->dir);
    sn_beside_look(path, &beside);
    if (beside.foreign)
        return sn_beside_refuse("job.db", beside.foreign, diag);
    e = sn_sqlite_open(path, SN_SQLITE_WRITE, &j->db);
    if (e == SEINE_OK)
        e = open_tables(j, o);
    if (e == SEINE_OK)
        e = sn_job_outputs_load(j);
    return e == SEINE_OK ? SEINE_OK : say_db(j, j->db, e, diag);
}

/* How many pages the job has fetched. */
static seine_err
count_pages(seine_durable_job *j, uint64_t *out_n)
{
    sn_job_table *t = &j->tables[SN_TABLE_RESULT];
    sn_job_row row = {.ints = {0}};
    bool there = true;
    seine_err e;

    *out_n = 0;
    while ((e = sn_job_table_next(t, &row, &there)) == SEINE_OK && there)
        *out_n += row.ints[2] < SN_JOB_SKIP;
    sn_job_table_reset(t);
    return e;
}

/* That, and when it ended. */
static seine_err
say_finished(seine_durable_job *j, seine_diag *diag)
{
    char count[SN_DIAG_COUNT], stamp[SN_STAMP], name[SEINE_DIAG_FILE];
    sn_text_writer w = sn_text_writer_on(stamp, sizeof stamp);
    uint64_t pages;
    seine_err e = count_pages(j, &pages);

    if (e != SEINE_OK)
        return say_db(j, j->db, e, diag);
    sn_diag_count(pages, count);
    sn_text_writer_stamp(&w, j->head.updated_ms * 1000000);
    sn_diag_path(j->facts.name, name);
    sn_diag_text(diag, "job '%s' is finished: %s page%s on %.10s", name, count,
                 pages == 1 ? "" : "s", stamp);
    return SEINE_E_ALREADY;
}

/* May this run go on with the job as it is? */
static seine_err
check_job(seine_durable_job *j, const seine_job_opts *o, seine_diag *diag)
{
    if (o->any_spec)
        return SEINE_OK;
    bool is_next = j->facts.state == SN_JOB_FINISHED && (o->next_round || o->next_run);
    if (is_next && o->next_run)
        return SEINE_OK;
    seine_err e = sn_job_spec_check(j->facts.spec, o->spec ? o->spec : "{}",
                                    is_next ? o->round_members : NULL, diag);
    if (e != SEINE_OK || is_next)
        return e;
    return j->facts.state == SN_JOB_FINISHED ? say_finished(j, diag) : SEINE_OK;
}

/* An earlier run has left nothing but the claim. */
static bool
is_untouched(const seine_durable_job *j)
{
    return j->head.urls == 0 && j->head.results == 0 && j->head.outputs == 0 &&
           j->facts.state != SN_JOB_FINISHED;
}

static seine_err
begin_run(seine_durable_job *j, const seine_job_opts *o, seine_diag *diag)
{
    seine_err e = SEINE_OK;
    bool is_next = j->facts.state == SN_JOB_FINISHED && (o->next_round || o->next_run) &&
                   !o->any_spec;

    j->is_resumed = !is_untouched(j);
    if (j->is_resumed)
        e = check_job(j, o, diag);
    if (e == SEINE_OK && (!j->is_resumed || is_next) && !o->any_spec)
        e = set_facts(&j->facts, o);
    if (e == SEINE_OK)
        e = set_boot(&j->facts);
    if (e != SEINE_OK)
        return e;
    j->facts.run++;
    j->facts.clean = 0;
    j->facts.state = SN_JOB_RUNNING;
    j->facts.durability = o->durability;
    e = is_next ? sn_job_next_round(j) : sn_job_put_facts(j);
    j->is_resumed &= !is_next;
    SN_CRASHPOINT("round.begun");
    return e == SEINE_OK ? SEINE_OK : say_db(j, j->db, e, diag);
}

/* SQLite syncs the head of a WAL before its first frame, for the sake of frames that an
 * earlier WAL has left in the file. A new file has none: the facts are written once more
 * without a sync, and the first group syncs head and frames together. */
static seine_err
begin_wal(seine_durable_job *j, const seine_job_opts *o, seine_diag *diag)
{
    seine_err e = sn_sqlite_exec(j->db, "PRAGMA synchronous = OFF");

    if (e == SEINE_OK)
        e = sn_job_put_facts(j);
    if (e == SEINE_OK)
        e = set_sync(j, o);
    return e == SEINE_OK ? SEINE_OK : say_db(j, j->db, e, diag);
}

/* A job in its first run, which needs no begin_run. */
static seine_err
make_job(seine_durable_job *j, const seine_job_opts *o, seine_diag *diag)
{
    sn_job_facts *f = &j->facts;

    sn_job_remove_state(j);
    f->run = 1;
    f->state = SN_JOB_RUNNING;
    f->durability = o->durability;
    f->created_ms = sn_job_wall_ms();
    sn_rng_secret(f->secret, sizeof f->secret);
    seine_err e = set_facts(f, o);
    if (e == SEINE_OK)
        e = set_boot(f);
    return e == SEINE_OK ? make_db(j, diag) : e;
}

static seine_err
open_job(seine_durable_job *j, const seine_job_opts *o, seine_diag *diag)
{
    seine_err e = sn_job_dir_open(j, o, diag);
    bool is_new = false;

    if (e == SEINE_OK && o->must_exist && !sn_job_file_exists(j, "job.db")) {
        sn_diag_text(diag, "there is no job '%s'", o->name);
        return SEINE_E_IO;
    }
    if (e == SEINE_OK)
        e = sn_job_lock(j, o->name, diag);
    if (e != SEINE_OK)
        return e;
    SN_CRASHPOINT("recover.locked");
    if (o->fresh || !sn_job_file_exists(j, "job.db")) {
        is_new = true;
        e = make_job(j, o, diag);
    }
    if (e == SEINE_OK)
        e = open_db(j, o, diag);
    if (e == SEINE_OK)
        e = is_new ? begin_wal(j, o, diag) : begin_run(j, o, diag);
    SN_CRASHPOINT("recover.replayed");
    if (e == SEINE_OK)
        sn_job_make_ballast(j);
    return e;
}

seine_durable_job *
sn_job_new(void)
{
    seine_durable_job *j = sn_zalloc(sizeof *j);

    if (!j)
        return NULL;
    j->dir_fd = j->lock_fd = -1;
    sn_map_init(&j->hosts, UINT32_MAX);
    sn_arena_init(&j->names, 16 << 10, SIZE_MAX / 2);
    sn_buf_init(&j->pages, SIZE_MAX - 1);
    sn_buf_init(&j->kept, SIZE_MAX - 1);
    return j;
}

seine_err
seine_job_open(const seine_job_opts *opts, seine_durable_job **out_job, seine_diag *diag)
{
    seine_job_opts own;

    sn_diag_clear(diag);
    if (!out_job ||
        !sn_opts_read(&own, sizeof own, offsetof(seine_job_opts, next_run), opts))
        return SEINE_E_INVAL;
    if (!sn_job_is_name(own.name)) {
        sn_diag_option(diag, "name",
                       "1 to %d of letters, digits and . _ -, none of . - first",
                       NAME_MOST);
        return SEINE_E_INVAL;
    }
    seine_durable_job *j = sn_job_new();
    if (!j)
        return SEINE_E_NOMEM;
    j->forgets = own.next_run;
    j->keeps_kept = own.keep_kept;
    seine_err e = open_job(j, &own, diag);
    if (e != SEINE_OK) {
        if (diag && diag->text[0] == '\0')
            sn_diag_text(diag, "%s", seine_err_text(e));
        sn_job_free(j);
        return e;
    }
    sn_job_show(j);
    *out_job = j;
    return SEINE_OK;
}

bool
sn_job_forgets(const seine_durable_job *j)
{
    return j->forgets;
}

seine_err
sn_job_start(seine_durable_job *j, unsigned shards)
{
    static const sn_job_scan nothing;
    seine_err e = j->is_scanned ? SEINE_OK : sn_job_scan_all(j, &nothing, NULL);

    if (e != SEINE_OK)
        return e;
    j->lanes = sn_zalloc_line((shards + 1) * sizeof *j->lanes);
    if (!j->lanes)
        return SEINE_E_NOMEM;
    for (unsigned i = 0; i <= shards; i++)
        j->lanes[i].job = j;
    j->n_lanes = shards + 1;
    if (j->wake) /* records in order may pass what has ended */
        j->wake(j->wake_arg);
    return SEINE_OK;
}

bool
sn_job_is_started(const seine_durable_job *j)
{
    return atomic_load(&j->n_lanes) > 0;
}

bool
sn_job_has_ended(const seine_durable_job *j, uint64_t number)
{
    return sn_job_bit_get(&j->done, number);
}

sn_job_lane *
sn_job_lane_at(seine_durable_job *j, unsigned i)
{
    return &j->lanes[i];
}

void
sn_job_listen(seine_durable_job *j, void (*wake)(void *arg), void *arg)
{
    j->wake_arg = arg;
    j->wake = wake;
}

/* Moving the WAL into the database syncs both, so the commit before needs no sync. While
 * another process reads the WAL stays, and the commit is made again, with a sync. */
static seine_err
put_last_facts(seine_durable_job *j)
{
    bool is_moved = false;
    seine_err e = sn_sqlite_exec(j->db, "PRAGMA synchronous = NORMAL");

    if (e == SEINE_OK)
        e = sn_job_put_end(j);
    if (e == SEINE_OK)
        e = sn_sqlite_settle(j->db, &is_moved);
    if (e != SEINE_OK || is_moved)
        return e;
    e = sn_sqlite_exec(j->db, "PRAGMA synchronous = FULL");
    return e == SEINE_OK ? sn_job_put_end(j) : e;
}

/* Everything is durable, and the job says how it ended. */
static seine_err
end_run(seine_durable_job *j, bool is_finished, seine_diag *diag)
{
    seine_err e = sn_job_commit(j, diag);

    if (e == SEINE_OK) /* what ended in that group */
        e = sn_job_commit(j, diag);
    if (e != SEINE_OK)
        return e;
    j->facts.state = is_finished ? SN_JOB_FINISHED : SN_JOB_STOPPED;
    j->facts.clean = 1;
    e = put_last_facts(j);
    if (e == SEINE_OK)
        return SEINE_OK;
    sn_job_say_why(j, e);
    if (diag)
        *diag = j->why;
    return e;
}

seine_err
seine_job_end(seine_durable_job *j, bool is_finished, seine_diag *diag)
{
    seine_err e = SEINE_OK;

    sn_diag_clear(diag);
    if (!j)
        return SEINE_OK;
    if (j->remote) {
        e = j->is_given_up ? SEINE_OK : sn_job_remote_commit(j, true, diag);
        sn_job_free(j);
        return e;
    }
    SN_CRASHPOINT("stop.drained");
    if (!j->is_given_up) /* else as after kill -9: the next run goes on from the last
                            commit */
        e = end_run(j, is_finished, diag);
    SN_CRASHPOINT("stop.flushed");
    (void)sn_job_drop_ballast(j);
    sn_job_free(j);
    return e;
}

seine_err
seine_job_close(seine_durable_job *j, bool is_finished)
{
    return seine_job_end(j, is_finished, NULL);
}

void
seine_job_figures_get(const seine_durable_job *j, seine_job_figures *out)
{
    if (!j || !out)
        return;
    *out = (seine_job_figures){.found = atomic_load(&j->shown_found),
                               .ended = atomic_load(&j->shown_ended),
                               .emitted = atomic_load(&j->shown_emitted),
                               .next_seq = atomic_load(&j->shown_seq),
                               .groups = atomic_load(&j->shown_groups),
                               .bytes = sn_job_disk_use(j),
                               .run = (uint32_t)j->facts.run,
                               .is_resumed = j->is_resumed,
                               .is_finished = j->facts.state == SN_JOB_FINISHED,
                               .created = j->facts.created_ms * 1000000,
                               .updated = atomic_load(&j->shown_updated) * 1000000,
                               .round = (uint32_t)j->round.number,
                               .pages = atomic_load(&j->shown_pages)};
}

const char *
seine_job_spec(const seine_durable_job *j)
{
    return j ? j->facts.spec : NULL;
}

const char *
seine_job_command(const seine_durable_job *j)
{
    return j ? j->facts.command : NULL;
}

const char *
seine_job_path(const seine_durable_job *j)
{
    return j ? j->dir : NULL;
}

sn_str
sn_job_name_of(const seine_durable_job *j)
{
    return sn_str_of(j->facts.name);
}

int64_t
sn_job_boot(const seine_durable_job *j)
{
    sn_str id = sn_str_of(j->facts.boot_id);

    return sn_crc32(0, id.ptr, id.len);
}

const uint64_t *
sn_job_secret(const seine_durable_job *j)
{
    return j->facts.secret;
}

uint64_t
sn_job_next_number(const seine_durable_job *j)
{
    return (uint64_t)j->head.next_number;
}

void
sn_job_sums_get(const seine_durable_job *j, sn_job_sums *out)
{
#define X(column) out->column = j->head.column;
    SN_JOB_SUMS(X)
#undef X
}

uint64_t
sn_job_emitted(const seine_durable_job *j)
{
    return atomic_load(&j->shown_emitted);
}

uint64_t
sn_job_last_seq(const seine_durable_job *j)
{
    return j->last_seq;
}
