/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/job_repair.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/time.h"
#include "store/job_parts.h"

enum { PATH_ROOM = 4096, SEQ_GAP = 1000000 };

typedef struct repair {
    seine_durable_job *old, *new; /* both of one directory; `new` writes job.db.new */
    seine_job_repaired *out;
    bool has_head;
    sn_job_head head; /* of the old one, if it can be read */
    int64_t kept[SN_TABLES], bad[SN_TABLES];
    int64_t *hosts; /* numbers of hosts in the new state, by those in the old one */
    size_t n_hosts;
    sn_job_bits urls, done;
    int64_t last_number, last_seq;
} repair;

/* Reading */

/* The lowest key above `from` behind which something can be read, or the end seen. A page
 * that is damaged hides all its rows, so that the step doubles and is then halved. */
static seine_err
jump(repair *r, const sn_job_table *t, sn_sqlite_stmt **stmt, int64_t from, int64_t *out)
{
    sn_job_row row;
    bool there;
    int64_t low = from, high = from;

    for (int64_t step = 1; step > 0; step *= 2) {
        high = sn_time_add(from, step);
        seine_err e = sn_job_table_after(r->old->db, t, stmt, high, &row, &there);
        if (e == SEINE_OK || there)
            break;
        if (e != SEINE_E_STATE_CORRUPT)
            return e;
        low = high;
        if (high == INT64_MAX || step > INT64_MAX / 4)
            break;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        seine_err e = sn_job_table_after(r->old->db, t, stmt, middle, &row, &there);

        if (e == SEINE_OK || there)
            high = middle;
        else
            low = middle;
    }
    *out = high;
    return SEINE_OK;
}

typedef seine_err (*take_fn)(repair *r, sn_job_row *row);

static seine_err
read_table(repair *r, sn_job_table_id id, take_fn take)
{
    sn_job_table *t = &r->old->tables[id];
    sn_sqlite_stmt *stmt = NULL;
    int64_t at = -1; /* keys are not negative */
    unsigned jumps = 0;
    seine_err e = SEINE_OK;

    while (e == SEINE_OK) {
        sn_job_row row = {.ints = {0}};
        bool there = false;

        e = sn_job_table_after(r->old->db, t, &stmt, at, &row, &there);
        if (e == SEINE_OK && !there)
            break;
        if (e == SEINE_OK) {
            at = row.ints[0];
            e = take(r, &row);
        } else if (e == SEINE_E_STATE_CORRUPT && there && row.ints[0] > at) {
            at = row.ints[0];
            r->bad[id]++;
            e = SEINE_OK;
        } else if (e == SEINE_E_STATE_CORRUPT && stmt && jumps++ < 100000) {
            int64_t next = at;

            r->bad[id]++;
            e = jump(r, t, &stmt, at, &next);
            if (e == SEINE_OK && (next <= at || next == INT64_MAX))
                break;
            at = next;
        }
    }
    if (stmt)
        sn_sqlite_finalize(stmt);
    return e == SEINE_E_STATE_CORRUPT ? SEINE_OK : e;
}

static seine_err
keep(repair *r, sn_job_table_id id, const sn_job_row *row)
{
    seine_durable_job *to = r->new;

    r->kept[id]++;
    if (id == SN_TABLE_URL)
        return sn_job_batch_add(&to->new_urls, to->db, &to->tables[id], row);
    if (id == SN_TABLE_RESULT)
        return sn_job_batch_add(&to->new_results, to->db, &to->tables[id], row);
    return sn_job_table_put(&to->tables[id], row);
}

/* Saving: a row that refers to one that is lost is lost, too. */

static seine_err
take_host(repair *r, sn_job_row *row)
{
    size_t id = (size_t)row->ints[0];

    if (id == 0 || id > (size_t)1 << 31)
        return SEINE_OK;
    if (id >= r->n_hosts) {
        size_t more = id + id / 2 + 64;
        int64_t *all = sn_realloc(r->hosts, more * sizeof *all);

        if (!all)
            return SEINE_E_NOMEM;
        memset(all + r->n_hosts, 0, (more - r->n_hosts) * sizeof *all);
        r->hosts = all;
        r->n_hosts = more;
    }
    r->hosts[id] = r->kept[SN_TABLE_HOST] + 1; /* numbers have no gaps */
    row->ints[0] = r->hosts[id];
    return keep(r, SN_TABLE_HOST, row);
}

/* 0: it is lost. */
static int64_t
host_of(const repair *r, int64_t id)
{
    return id > 0 && (size_t)id < r->n_hosts ? r->hosts[id] : 0;
}

static seine_err
take_robots(repair *r, sn_job_row *row)
{
    row->ints[0] = host_of(r, row->ints[0]);
    return row->ints[0] > 0 ? keep(r, SN_TABLE_ROBOTS, row) : SEINE_OK;
}

static seine_err
take_url(repair *r, sn_job_row *row)
{
    if (row->ints[1] != 0 && (row->ints[1] = host_of(r, row->ints[1])) == 0)
        return SEINE_OK;
    if (row->ints[0] > r->last_number)
        r->last_number = row->ints[0];
    seine_err e = sn_job_bit_set(&r->urls, (uint64_t)row->ints[0]);
    return e == SEINE_OK ? keep(r, SN_TABLE_URL, row) : e;
}

static seine_err
take_request(repair *r, sn_job_row *row)
{
    return sn_job_bit_get(&r->urls, (uint64_t)row->ints[0])
               ? keep(r, SN_TABLE_REQUEST, row)
               : SEINE_OK;
}

/* One end for a number. */
static seine_err
take_end(repair *r, sn_job_table_id id, int64_t number, const sn_job_row *row)
{
    if (number < 0 || sn_job_bit_get(&r->done, (uint64_t)number))
        return SEINE_OK;
    if (number > r->last_number)
        r->last_number = number;
    seine_err e = sn_job_bit_set(&r->done, (uint64_t)number);
    return e == SEINE_OK ? keep(r, id, row) : e;
}

static seine_err
take_result(repair *r, sn_job_row *row)
{
    if (row->ints[0] > r->last_seq)
        r->last_seq = row->ints[0];
    return take_end(r, SN_TABLE_RESULT, row->ints[1], row);
}

static seine_err
take_ended(repair *r, sn_job_row *row)
{
    return take_end(r, SN_TABLE_ENDED, row->ints[0], row);
}

static seine_err
take_note(repair *r, sn_job_row *row)
{
    return keep(r, SN_TABLE_NOTE, row); /* its number is a hash of kind and key */
}

static seine_err
take_output(repair *r, sn_job_row *row)
{
    row->ints[0] = r->kept[SN_TABLE_OUTPUT] + 1;
    return keep(r, SN_TABLE_OUTPUT, row);
}

static seine_err
take_page(repair *r, sn_job_row *row)
{
    return sn_job_bit_get(&r->urls, (uint64_t)row->ints[0]) ? keep(r, SN_TABLE_PAGE, row)
                                                            : SEINE_OK;
}

static seine_err
save_rows(repair *r)
{
    static const struct {
        sn_job_table_id id;
        take_fn take;
    } order[] = {{SN_TABLE_HOST, take_host},     {SN_TABLE_ROBOTS, take_robots},
                 {SN_TABLE_URL, take_url},       {SN_TABLE_REQUEST, take_request},
                 {SN_TABLE_RESULT, take_result}, {SN_TABLE_ENDED, take_ended},
                 {SN_TABLE_NOTE, take_note},     {SN_TABLE_OUTPUT, take_output},
                 {SN_TABLE_PAGE, take_page}};
    seine_err e = SEINE_OK;

    for (size_t i = 0; i < sizeof order / sizeof *order && e == SEINE_OK; i++)
        e = read_table(r, order[i].id, order[i].take);
    if (e == SEINE_OK)
        e = sn_job_batch_flush(&r->new->new_urls);
    return e == SEINE_OK ? sn_job_batch_flush(&r->new->new_results) : e;
}

/* Counters that fit the rows. Without the old ones numbers go on well above those that
 * were seen, since outputs may have more. */
static seine_err
save_head(repair *r)
{
    sn_job_head h = r->head;
    sn_job_round round = {.number = 1};
    sn_job_row row;
    bool there = false;

    h.urls = r->kept[SN_TABLE_URL];
    h.requests = r->kept[SN_TABLE_REQUEST];
    h.results = r->kept[SN_TABLE_RESULT];
    h.ended = r->kept[SN_TABLE_ENDED];
    h.hosts = r->kept[SN_TABLE_HOST];
    h.robots = r->kept[SN_TABLE_ROBOTS];
    h.notes = r->kept[SN_TABLE_NOTE];
    h.outputs = r->kept[SN_TABLE_OUTPUT];
    if (h.next_number <= r->last_number || !r->has_head)
        h.next_number = r->last_number + 1 + (r->has_head ? 0 : SEQ_GAP);
    if (h.next_seq <= r->last_seq || !r->has_head)
        h.next_seq = r->last_seq + 1 + (r->has_head ? 0 : SEQ_GAP);
    if (!r->has_head)
        h.updated_ms = sn_job_wall_ms();
    if (sn_job_table_get(&r->old->tables[SN_TABLE_ROUND], 1, &row, &there) == SEINE_OK &&
        there) {
        unsigned i = 1;
#define X(column) round.column = row.ints[i++];
        SN_JOB_ROUND(X)
#undef X
    }
    round.pages = r->kept[SN_TABLE_PAGE];
    r->new->facts.state = SN_JOB_STOPPED;
    r->new->facts.clean = 1;
    seine_err e = sn_job_put_head(r->new, &h);
    if (e == SEINE_OK)
        e = sn_job_put_round(r->new, &round);
    return e == SEINE_OK ? sn_job_put_facts(r->new) : e;
}

static uint64_t
missing(const repair *r, sn_job_table_id id, int64_t had)
{
    int64_t lost = r->has_head && had > r->kept[id] ? had - r->kept[id] : r->bad[id];

    return lost > 0 ? (uint64_t)lost : 0;
}

static void
count(repair *r)
{
    const sn_job_head *h = &r->head;
    seine_job_repaired *o = r->out;

    o->has_guessed = !r->has_head;
    o->urls = (uint64_t)r->kept[SN_TABLE_URL];
    o->urls_lost = missing(r, SN_TABLE_URL, h->urls);
    o->results = (uint64_t)r->kept[SN_TABLE_RESULT];
    o->results_lost = missing(r, SN_TABLE_RESULT, h->results);
    o->others_lost =
        missing(r, SN_TABLE_HOST, h->hosts) + missing(r, SN_TABLE_ROBOTS, h->robots) +
        missing(r, SN_TABLE_REQUEST, h->requests) + missing(r, SN_TABLE_ENDED, h->ended) +
        missing(r, SN_TABLE_NOTE, h->notes) + missing(r, SN_TABLE_OUTPUT, h->outputs) +
        (uint64_t)r->bad[SN_TABLE_PAGE];
    for (unsigned i = SN_TABLE_HOST; i < SN_TABLES; i++)
        if (i != SN_TABLE_URL && i != SN_TABLE_RESULT)
            o->others += (uint64_t)r->kept[i];
}

/* Files */

static seine_err
cannot(const repair *r, seine_err e, seine_diag *diag)
{
    char name[SEINE_DIAG_FILE];

    sn_diag_path(r->old->dir, name);
    if (e == SEINE_E_STATE_CORRUPT)
        sn_diag_text(diag, "%s/job.db is damaged where it begins: nothing can be saved",
                     name);
    else
        sn_diag_text(diag, "cannot repair %s/job.db: %s", name, seine_err_text(e));
    return e;
}

/* What the job is has to be whole: name, command, and the secret of all prints. */
static seine_err
open_old(repair *r, seine_diag *diag)
{
    char path[PATH_ROOM];
    seine_err e = sn_job_check_head(r->old, diag);

    if (e != SEINE_OK)
        return e;
    if (snprintf(path, sizeof path, "%s/job.db", r->old->dir) >= PATH_ROOM)
        return cannot(r, SEINE_E_IO, diag);
    e = sn_sqlite_open(path, SN_SQLITE_READ, &r->old->db);
    if (e == SEINE_OK) {
        sn_sqlite_trust(r->old->db);
        e = sn_job_tables_open(r->old->db, r->old->tables);
    }
    if (e == SEINE_OK)
        e = sn_job_read_facts(r->old);
    if (e != SEINE_OK)
        return cannot(r, e == SEINE_E_STATE_FOREIGN ? SEINE_E_STATE_CORRUPT : e, diag);
    r->has_head = sn_job_read_head(r->old) == SEINE_OK;
    if (r->has_head)
        r->head = r->old->head;
    return SEINE_OK;
}

/* The job as it is, if it can be read without a fault. */
static bool
is_sound(repair *r)
{
    static const sn_job_scan nothing;

    return r->has_head && sn_job_quick_check(r->old) == SEINE_OK &&
           sn_job_read_round(r->old) == SEINE_OK &&
           sn_job_outputs_load(r->old) == SEINE_OK &&
           sn_job_scan_all(r->old, &nothing, NULL) == SEINE_OK;
}

static seine_err
make_new(repair *r)
{
    seine_durable_job *n = r->new;
    char path[PATH_ROOM];

    (void)unlinkat(n->dir_fd, "job.db.new", 0);
    snprintf(path, sizeof path, "%s/job.db.new", n->dir);
    int fd = openat(n->dir_fd, "job.db.new", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno == ENOSPC ? SEINE_E_DISK_FULL : SEINE_E_IO;
    (void)close(fd);
    seine_err e = sn_sqlite_open(path, SN_SQLITE_WRITE, &n->db);
    if (e == SEINE_OK)
        e = sn_sqlite_exec(n->db, "PRAGMA page_size = 8192; PRAGMA auto_vacuum = NONE; "
                                  "PRAGMA journal_mode = MEMORY; BEGIN");
    sn_sqlite_trust(n->db);
    if (e == SEINE_OK)
        e = sn_job_tables_make(n->db);
    if (e == SEINE_OK)
        e = sn_job_tables_open(n->db, n->tables);
    if (e == SEINE_OK)
        e = save_rows(r);
    if (e == SEINE_OK)
        e = save_head(r);
    if (e == SEINE_OK)
        e = sn_sqlite_exec(n->db, "COMMIT; PRAGMA journal_mode = WAL");
    return e;
}

/* The old state keeps another name; then the new one takes its place at once. */
static seine_err
swap(repair *r, seine_diag *diag)
{
    int dir = r->new->dir_fd;

    sn_sqlite_close(r->old->db);
    r->old->db = NULL;
    sn_sqlite_close(r->new->db);
    r->new->db = NULL;
    (void)unlinkat(dir, "job.db.damaged", 0);
    if (linkat(dir, "job.db", dir, "job.db.damaged", 0) != 0)
        return sn_job_fail("keep the damaged state of", r->new->dir, errno, diag);
    (void)renameat(dir, "job.db-wal", dir, "job.db.damaged-wal");
    (void)unlinkat(dir, "job.db-shm", 0);
    int fd = openat(dir, "job.db.new", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return sn_job_fail("open the new state of", r->new->dir, errno, diag);
    seine_err e = sn_job_settle(r->new, fd, diag);
    (void)close(fd);
    return e;
}

static seine_err
mend(repair *r, seine_diag *diag)
{
    seine_err e = open_old(r, diag);

    if (e != SEINE_OK)
        return e;
    r->out->is_sound = is_sound(r);
    if (r->out->is_sound)
        return SEINE_OK;
    r->new->facts = r->old->facts; /* lent */
    e = make_new(r);
    r->new->facts = (sn_job_facts){.name = NULL};
    if (e == SEINE_OK) {
        count(r);
        return swap(r, diag);
    }
    (void)unlinkat(r->new->dir_fd, "job.db.new", 0);
    return cannot(r, e, diag);
}

static seine_err
open_dirs(repair *r, const char *state, const char *name, seine_diag *diag)
{
    seine_job_opts o = SEINE_JOB_OPTS;

    r->old = sn_job_new();
    r->new = sn_job_new();
    if (!r->old || !r->new)
        return SEINE_E_NOMEM;
    o.state = state;
    o.name = name;
    o.must_exist = true;
    seine_err e = sn_job_dir_open(r->old, &o, diag);
    if (e == SEINE_OK)
        e = sn_job_dir_open(r->new, &o, diag);
    if (e == SEINE_OK && !sn_job_file_exists(r->old, "job.db")) {
        sn_diag_text(diag, "there is no job '%s'", name);
        e = SEINE_E_IO;
    }
    return e == SEINE_OK ? sn_job_lock(r->old, name, diag) : e;
}

seine_err
seine_job_repair(const char *state, const char *name, seine_job_repaired *out,
                 seine_diag *diag)
{
    repair *r SN_AUTOFREE = sn_zalloc(sizeof *r);

    sn_diag_clear(diag);
    if (!name || !out)
        return SEINE_E_INVAL;
    if (!r)
        return SEINE_E_NOMEM;
    *out = (seine_job_repaired){.is_sound = false};
    if (!sn_job_is_name(name)) {
        sn_diag_text(diag, "there is no job '%.100s'", name);
        return SEINE_E_IO;
    }
    r->out = out;
    r->last_number = r->last_seq = -1;
    r->head.next_seq = 1;
    seine_err e = open_dirs(r, state, name, diag);
    if (e == SEINE_OK)
        e = mend(r, diag);
    if (r->new)
        sn_job_free(r->new);
    if (r->old)
        sn_job_free(r->old);
    sn_free(r->hosts);
    sn_free(r->urls.words);
    sn_free(r->done.words);
    return e;
}
