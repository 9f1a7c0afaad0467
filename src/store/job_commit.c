/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/crashpoint.h"
#include "base/hash.h"
#include "base/time.h"
#include "seine/clock.h"
#include "store/job_parts.h"

int64_t
sn_job_wall_ms(void)
{
    seine_clock *clock = seine_clock_system();

    return clock->wall(clock) / 1000000;
}

/* A growing array: room for one more. */
static bool
grow(void *array, size_t n, size_t *room, size_t size)
{
    void **at = array;

    if (n < *room)
        return true;
    size_t more = *room ? *room * 2 : 64;
    void *p = sn_realloc(*at, more * size);

    if (!p)
        return false;
    *at = p;
    *room = more;
    return true;
}

static int64_t
us(seine_span t)
{
    return t > 0 ? t / 1000 : 0;
}

seine_err
sn_job_result(seine_durable_job *j, const seine_record *r, uint64_t seq)
{
    if (j->remote)
        return j->remote->result(j->self, r, seq);
    if (sn_job_bit_get(&j->done, r->number))
        return SEINE_E_STATE_CORRUPT;
    if (r->number > INT64_MAX / 2 ||
        !grow(&j->results, j->n_results, &j->results_room, sizeof *j->results))
        return SEINE_E_NOMEM;
    seine_err e = sn_job_bit_set(&j->done, r->number);

    if (e == SEINE_OK)
        e = sn_job_take_page(j, r);
    if (e == SEINE_OK)
        e = sn_job_take_kept(j, r);
    if (e != SEINE_OK)
        return e;
    j->results[j->n_results++] =
        (sn_job_ended_row){.seq = seq,
                           .number = r->number,
                           .type = r->type,
                           .kind = r->fault ? r->fault->code : SEINE_OK,
                           .reason = r->reason,
                           .status = r->status,
                           .attempts = r->attempts,
                           .at_ms = r->wall / 1000000,
                           .bytes_in = r->bytes_in,
                           .bytes_body = r->bytes_body,
                           .total_us = us(r->total),
                           .latency_us = us(seine_record_latency(r))};
    if (r->type == SEINE_RECORD_RESULT) {
        j->sums.queue_us += us(r->queue);
        j->sums.throttle_us += us(r->throttle);
        j->sums.backoff_us += us(r->backoff);
        j->sums.retry_budget_us += us(r->retry_budget);
    }
    sn_job_seq(j, seq);
    return SEINE_OK;
}

void
sn_job_end_seq(seine_durable_job *j, uint64_t last_seq)
{
    j->end_seq = last_seq;
}

void
sn_job_seq(seine_durable_job *j, uint64_t last_seq)
{
    if (last_seq > j->last_seq)
        j->last_seq = last_seq;
}

seine_err
sn_job_put_facts(seine_durable_job *j)
{
    const sn_job_facts *f = &j->facts;
    sn_job_row row = {{1, f->created_ms, f->run, f->state, f->clean, f->durability,
                       (int64_t)f->secret[0], (int64_t)f->secret[1]},
                      {sn_str_of(f->name), sn_str_of(f->verb), sn_str_of(f->spec),
                       sn_str_of(f->command), sn_str_of(f->boot_id)}};

    return sn_job_table_put(&j->tables[SN_TABLE_JOB], &row);
}

seine_err
sn_job_put_head(seine_durable_job *j, const sn_job_head *h)
{
    sn_job_row row = {.ints = {1,
#define X(column) h->column,
                               SN_JOB_HEAD(X) SN_JOB_SUMS(X)
#undef X
                      }};

    return sn_job_table_put(&j->tables[SN_TABLE_HEAD], &row);
}

void
sn_job_show(seine_durable_job *j)
{
    const sn_job_head *h = &j->head;

    atomic_store(&j->shown_found, (uint64_t)h->urls);
    atomic_store(&j->shown_ended, (uint64_t)(h->results + h->ended));
    atomic_store(&j->shown_emitted, (uint64_t)h->results);
    atomic_store(&j->shown_seq, (uint64_t)h->next_seq);
    atomic_store(&j->shown_groups, (uint64_t)h->grp);
    atomic_store(&j->shown_updated, h->updated_ms);
    atomic_store(&j->shown_pages, (uint64_t)j->round.pages);
}

/* Hosts get their numbers in the order of their rows: those above h->hosts have none. */
static seine_err
store_host(seine_durable_job *j, const sn_job_name *n, const int64_t *values,
           sn_job_head *h)
{
    sn_job_row row = {.ints = {n->id}, .texts = {n->name}};

    if (n->id > h->hosts)
        h->hosts = n->id;
    if (values)
        memcpy(row.ints + 1, values,
               (j->tables[SN_TABLE_HOST].n_ints - 1) * sizeof *values);
    return sn_job_table_put(&j->tables[SN_TABLE_HOST], &row);
}

static seine_err
host_of(seine_durable_job *j, sn_str name, sn_job_head *h, int64_t *out_id)
{
    sn_job_name *n;

    *out_id = 0;
    if (name.len == 0)
        return SEINE_OK;
    if (j->last_host && j->last_host->id <= h->hosts &&
        sn_str_eq(name, j->last_host->name)) { /* most links stay where they are */
        *out_id = j->last_host->id;
        return SEINE_OK;
    }
    seine_err e = sn_job_host_find(j, name, &n);
    if (e != SEINE_OK)
        return e;
    j->last_host = n;
    *out_id = n->id;
    return n->id > h->hosts ? store_host(j, n, NULL, h) : SEINE_OK;
}

static void
note_number(sn_job_head *h, int64_t number)
{
    if (number >= h->next_number)
        h->next_number = number + 1;
}

static seine_err
apply_found(seine_durable_job *j, const sn_job_op *op, sn_job_head *h)
{
    const int64_t *v = op->ints;
    sn_str parent = sn_job_op_text(op, 2), ask = sn_job_op_text(op, 3);
    int64_t host;
    seine_err e = host_of(j, sn_job_op_text(op, 0), h, &host);

    if (e == SEINE_OK) {
        sn_job_row row = {{v[0], host, v[1], v[2], v[3], v[4], v[5]},
                          {sn_job_op_text(op, 1)}};

        e = sn_job_batch_add(&j->new_urls, j->db, &j->tables[SN_TABLE_URL], &row);
        h->urls++;
        note_number(h, v[0]);
    }
    if (e == SEINE_OK && parent.len + ask.len > 0) {
        sn_job_row row = {{v[0]}, {parent, ask}};

        e = sn_job_table_put(&j->tables[SN_TABLE_REQUEST], &row);
        h->requests++;
    }
    return e;
}

/* Ended without a record: records that were put before may not be taken yet. So it counts
 * with the next group, which takes them. */
static seine_err
hold_ended(seine_durable_job *j, const sn_job_op *op)
{
    if (!grow(&j->taken, j->n_taken, &j->taken_room, sizeof *j->taken))
        return SEINE_E_NOMEM;
    j->taken[j->n_taken++] = (uint64_t)op->ints[0];
    return SEINE_OK;
}

/* One that has ended already is no news. */
static seine_err
apply_ended(seine_durable_job *j, uint64_t number, sn_job_head *h)
{
    if (sn_job_bit_get(&j->done, number))
        return SEINE_OK;
    if (!grow(&j->tried, j->n_tried, &j->tried_room, sizeof *j->tried))
        return SEINE_E_NOMEM;
    seine_err e = sn_job_bit_set(&j->done, number);
    if (e != SEINE_OK)
        return e;
    j->tried[j->n_tried++] = number;
    h->ended++;
    note_number(h, (int64_t)number);
    return sn_job_table_put(&j->tables[SN_TABLE_ENDED],
                            &(sn_job_row){.ints = {(int64_t)number}});
}

static seine_err
apply_host(seine_durable_job *j, const sn_job_op *op, sn_job_head *h)
{
    sn_job_name *n;
    seine_err e = sn_job_host_find(j, sn_job_op_text(op, 0), &n);

    return e == SEINE_OK ? store_host(j, n, op->ints, h) : e;
}

/* Is there a row of that key already? */
static seine_err
has_row(sn_job_table *t, int64_t key, bool *out_there)
{
    sn_job_row row;
    seine_err e = sn_job_table_get(t, key, &row, out_there);

    sn_job_table_reset(t);
    return e;
}

static seine_err
apply_robots(seine_durable_job *j, const sn_job_op *op, sn_job_head *h)
{
    sn_job_table *t = &j->tables[SN_TABLE_ROBOTS];
    int64_t host;
    bool there = false;
    seine_err e = host_of(j, sn_job_op_text(op, 0), h, &host);

    if (e == SEINE_OK)
        e = has_row(t, host, &there);
    if (e != SEINE_OK)
        return e;
    h->robots += !there;
    sn_job_row row = {{host, op->ints[0], op->ints[1]}, {sn_job_op_text(op, 1)}};
    return sn_job_table_put(t, &row);
}

static seine_err
apply(seine_durable_job *j, const sn_job_op *op, sn_job_head *h)
{
    switch ((sn_job_kind)op->kind) {
    case SN_JOB_FOUND:
        return apply_found(j, op, h);
    case SN_JOB_ENDED:
        return hold_ended(j, op);
    case SN_JOB_HOST_ROW:
        return apply_host(j, op, h);
    case SN_JOB_ROBOTS_ROW:
        return apply_robots(j, op, h);
    case SN_JOB_NOTE_ROW:
        return sn_job_apply_note(j, op, h);
    case SN_JOB_COUNTED:
        sn_job_apply_counted(j, op);
        break;
    case SN_JOB_REFUSED:
        break; /* by collect_prints */
    }
    return SEINE_OK;
}

static int
by_number(const void *a, const void *b)
{
    const sn_job_print *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

/* Of a refused URL: its record follows in this group or a later one. */
static seine_err
collect_prints(seine_durable_job *j, sn_job_cursor c)
{
    const sn_job_op *op;

    while ((op = sn_job_lane_next(&c))) {
        if (op->kind != SN_JOB_REFUSED)
            continue;
        if (!grow(&j->prints, j->n_prints, &j->prints_room, sizeof *j->prints))
            return SEINE_E_NOMEM;
        j->prints[j->n_prints++] =
            (sn_job_print){(uint64_t)op->ints[0], (uint64_t)op->ints[1]};
    }
    return SEINE_OK;
}

static void
drop_prints(seine_durable_job *j)
{
    size_t n = 0;

    for (size_t i = 0; i < j->n_prints; i++)
        if (!sn_job_bit_get(&j->done, j->prints[i].number))
            j->prints[n++] = j->prints[i];
    j->n_prints = n;
}

static seine_err
store_result(seine_durable_job *j, const sn_job_ended_row *r, sn_job_head *h)
{
    bool is_skip = r->type == SEINE_RECORD_SKIP;
    sn_job_print key = {r->number, 0};
    const sn_job_print *found =
        is_skip && j->n_prints > 0
            ? bsearch(&key, j->prints, j->n_prints, sizeof key, by_number)
            : NULL;
    sn_job_row row = {
        .ints = {(int64_t)r->seq, (int64_t)r->number,
                 is_skip ? SN_JOB_SKIP + (int64_t)r->reason : (int64_t)r->kind, r->status,
                 r->attempts, r->at_ms, (int64_t)r->bytes_in, (int64_t)r->bytes_body,
                 r->total_us, r->latency_us, found ? (int64_t)found->print : 0}};

    h->results++;
    note_number(h, (int64_t)r->number);
    return sn_job_batch_add(&j->new_results, j->db, &j->tables[SN_TABLE_RESULT], &row);
}

static seine_err
store_outputs(seine_durable_job *j, sn_job_head *h)
{
    seine_err e = SEINE_OK;

    for (unsigned i = 0; i < j->n_outputs && e == SEINE_OK; i++) {
        sn_job_mark *m = j->outputs[i];
        sn_job_row row = {{m->id, m->out.dev, m->out.ino, m->out.committed,
                           m->out.tail_crc, m->synced, m->synced_crc},
                          {m->out.path, m->out.detail}};

        if (m->is_dirty)
            e = sn_job_table_put(&j->tables[SN_TABLE_OUTPUT], &row);
    }
    h->outputs = j->n_outputs;
    return e;
}

/* Runs a statement that is prepared once. */
static seine_err
run(seine_durable_job *j, const char *sql, sn_sqlite_stmt **stmt)
{
    seine_err e = *stmt ? SEINE_OK : sn_sqlite_prepare(j->db, sql, stmt);

    if (e != SEINE_OK)
        return e;
    sn_sqlite_row none = sn_sqlite_bind(*stmt);
    return sn_sqlite_done(&none);
}

/* The head is that of the last group, but for the numbers of what ends the outputs. */
static seine_err
put_outputs_end(seine_durable_job *j)
{
    sn_job_head h = j->head;
    seine_err e = sn_job_outputs_end(j);

    if ((uint64_t)h.next_seq <= j->end_seq)
        h.next_seq = (int64_t)j->end_seq + 1;
    if (e == SEINE_OK)
        e = sn_job_put_facts(j);
    if (e == SEINE_OK)
        e = store_outputs(j, &h);
    return e == SEINE_OK ? sn_job_put_head(j, &h) : e;
}

seine_err
sn_job_put_end(seine_durable_job *j)
{
    if (j->facts.state != SN_JOB_FINISHED || j->end_seq == 0)
        return sn_job_put_facts(j);
    seine_err e = run(j, "BEGIN IMMEDIATE", &j->begin);

    if (e == SEINE_OK)
        e = put_outputs_end(j);
    SN_CRASHPOINT("end.written");
    if (e == SEINE_OK)
        e = run(j, "COMMIT", &j->commit);
    if (e == SEINE_OK)
        return SEINE_OK;
    seine_err ignored = sn_sqlite_exec(j->db, "ROLLBACK");
    (void)ignored;
    return e;
}

/* Everything of the group but its commit. */
static seine_err
write_group(seine_durable_job *j, sn_job_cursor *cursors, sn_job_head *h)
{
    seine_err e = SEINE_OK;

    j->n_taken = 0;
    j->counted = j->counts;
    for (size_t i = 0; i < j->n_held && e == SEINE_OK; i++)
        e = apply_ended(j, j->held[i], h);
    for (unsigned i = 0; i < j->n_open && e == SEINE_OK; i++) {
        const sn_job_op *op;

        while (e == SEINE_OK && (op = sn_job_lane_next(&cursors[i])))
            e = apply(j, op, h);
    }
    for (size_t i = 0; i < j->n_results && e == SEINE_OK; i++)
        e = store_result(j, &j->results[i], h);
    if (e == SEINE_OK)
        e = sn_job_batch_flush(&j->new_urls);
    if (e == SEINE_OK)
        e = sn_job_batch_flush(&j->new_results);
    if (e == SEINE_OK)
        e = sn_job_put_pages(j);
    if (e == SEINE_OK)
        e = sn_job_put_kept(j, h);
    if (e == SEINE_OK)
        e = sn_job_put_counts(j, h);
    if (e == SEINE_OK)
        e = store_outputs(j, h);
#define X(column) h->column += j->sums.column;
    SN_JOB_SUMS(X)
#undef X
    if ((uint64_t)h->next_seq <= j->last_seq)
        h->next_seq = (int64_t)j->last_seq + 1;
    h->updated_ms = sn_job_wall_ms();
    return e == SEINE_OK ? sn_job_put_head(j, h) : e;
}

void
sn_job_say_why(seine_durable_job *j, seine_err e)
{
    char name[SEINE_DIAG_FILE], text[SN_DIAG_ERRNO], count[SN_DIAG_COUNT];

    if (j->cause == 0)
        j->cause = sn_sqlite_errno(j->db);
    sn_diag_path(j->dir, name);
    if (e == SEINE_E_NOMEM || e == SEINE_E_STATE_CORRUPT) {
        sn_diag_text(&j->why, "%s/job.db: %s", name, seine_err_text(e));
        return;
    }
    sn_diag_errno(j->cause, text);
    sn_diag_count((uint64_t)j->head.results, count);
    sn_diag_text(&j->why, "cannot write %s/job.db: %s; %s record%s safe", name, text,
                 count, j->head.results == 1 ? " is" : "s are");
}

/* FAST: the WAL is synced by one commit a second, with all that was written before, so
 * that a loss of power costs no more than that. It cannot be said inside a transaction.
 */
static seine_err
choose_sync(seine_durable_job *j)
{
    seine_clock *clock = seine_clock_system();
    seine_time now = clock->now(clock);
    bool is_due = now >= j->synced_at;

    if (j->facts.durability != SEINE_DURABILITY_FAST)
        return SEINE_OK;
    if (is_due)
        j->synced_at = sn_time_add(now, SEINE_SECS(1));
    if (is_due == j->is_synced)
        return SEINE_OK;
    j->is_synced = is_due;
    return sn_sqlite_exec(j->db, is_due ? "PRAGMA synchronous = FULL"
                                        : "PRAGMA synchronous = NORMAL");
}

/* One try; a failed one leaves nothing behind. */
static seine_err
try_group(seine_durable_job *j, sn_job_cursor *cursors, sn_job_head *h)
{
    seine_err e = choose_sync(j);

    if (e == SEINE_OK)
        e = run(j, "BEGIN IMMEDIATE", &j->begin);
    *h = j->head;
    h->grp++;
    j->n_tried = 0;
    SN_CRASHPOINT("db.begin");
    if (e == SEINE_OK)
        e = write_group(j, cursors, h);
    SN_CRASHPOINT("db.commit.before");
    if (e == SEINE_OK)
        e = run(j, "COMMIT", &j->commit);
    SN_CRASHPOINT("db.commit.after");
    if (e == SEINE_OK)
        return SEINE_OK;
    sn_job_say_why(j, e);
    sn_job_batch_reset(&j->new_urls);
    sn_job_batch_reset(&j->new_results);
    for (size_t i = 0; i < j->n_tried; i++)
        sn_job_bit_clear(&j->done, j->tried[i]);
    seine_err ignored = sn_sqlite_exec(j->db, "ROLLBACK");
    (void)ignored;
    return e;
}

static void
end_group(seine_durable_job *j, const sn_job_cursor *cursors, const sn_job_head *h)
{
    j->head = *h;
    j->counts = j->counted;
    for (unsigned i = 0; i < j->n_open; i++)
        sn_job_lane_release(&j->lanes[i], &cursors[i]);
    for (unsigned i = 0; i < j->n_outputs; i++)
        j->outputs[i]->is_dirty = false;
    drop_prints(j);
    sn_job_keep_pages(j);
    sn_buf_reset(&j->kept);
    uint64_t *held = j->held;
    size_t room = j->held_room;
    j->held = j->taken;
    j->n_held = j->n_taken;
    j->held_room = j->taken_room;
    j->taken = held;
    j->n_taken = 0;
    j->taken_room = room;
    j->n_results = 0;
    j->sums = (sn_job_sums){0};
    sn_job_show(j);
}

static bool
has_news(const seine_durable_job *j)
{
    bool any = j->n_results > 0 || j->n_held > 0 ||
               j->last_seq >= (uint64_t)j->head.next_seq || sn_job_has_work(j);

    for (unsigned i = 0; i < j->n_outputs && !any; i++)
        any = j->outputs[i]->is_dirty;
    return any;
}

/* A full disk has the ballast to give, once: what is done is committed, and the run
 * ends. */
static seine_err
commit(seine_durable_job *j, sn_job_cursor *cursors)
{
    sn_job_head h;
    size_t size = j->n_open * sizeof *cursors;
    sn_job_cursor *again SN_AUTOFREE = sn_alloc(size > 0 ? size : 1);

    if (!again)
        return SEINE_E_NOMEM;
    memcpy(again, cursors, size);
    seine_err e = SEINE_OK;
    for (unsigned i = 0; i < j->n_open && e == SEINE_OK; i++)
        e = collect_prints(j, cursors[i]);
    if (e != SEINE_OK)
        return e;
    if (j->n_prints > 1)
        qsort(j->prints, j->n_prints, sizeof *j->prints, by_number);
    e = try_group(j, cursors, &h);
    if (e == SEINE_E_DISK_FULL && sn_job_drop_ballast(j)) {
        if (try_group(j, again, &h) == SEINE_OK)
            end_group(j, again, &h);
        sn_job_say_why(j, e);
        return e; /* the run ends all the same */
    }
    if (e == SEINE_OK)
        end_group(j, cursors, &h);
    return e;
}

seine_err
sn_job_commit(seine_durable_job *j, seine_diag *diag)
{
    if (j->remote)
        return sn_job_remote_commit(j, false, diag);
    seine_err e = j->err;

    j->n_open = atomic_load(&j->n_lanes); /* they may be made meanwhile */
    for (unsigned i = 0; i < j->n_open && e == SEINE_OK; i++)
        if (atomic_load(&j->lanes[i].has_failed))
            e = SEINE_E_NOMEM; /* a record may lack what it led to */
    if (e == SEINE_OK && has_news(j)) {
        size_t size = (j->n_open + 1) * sizeof(sn_job_cursor);
        sn_job_cursor *cursors SN_AUTOFREE = sn_alloc(size);

        for (unsigned i = 0; i < j->n_open; i++)
            sn_job_lane_wait(&j->lanes[i]);
        for (unsigned i = 0; cursors && i < j->n_open; i++)
            cursors[i] = sn_job_lane_read(&j->lanes[i]);
        e = cursors ? commit(j, cursors) : SEINE_E_NOMEM;
    }
    if (e == SEINE_OK)
        return SEINE_OK;
    if (j->err == SEINE_OK && j->why.text[0] == '\0')
        sn_diag_text(&j->why, "%s", seine_err_text(e));
    j->err = e;
    if (diag)
        *diag = j->why;
    return e;
}

bool
sn_job_has_work(const seine_durable_job *j)
{
    if (j->remote && j->remote->has_work(j->self))
        return true;
    for (unsigned i = 0; i < j->n_lanes; i++)
        if (sn_job_lane_held(&j->lanes[i]) > 0)
            return true;
    return false;
}

bool
sn_job_is_ready(const seine_durable_job *j)
{
    if (j->remote && !j->remote->is_ready(j->self))
        return false;
    uint64_t held = 0;

    for (unsigned i = 0; i < j->n_lanes; i++)
        held += sn_job_lane_held(&j->lanes[i]);
    return held < SN_JOB_FULL;
}

void
sn_job_give_up(seine_durable_job *j, seine_err e)
{
    j->is_given_up |= j->err == SEINE_OK;
    if (j->err == SEINE_OK)
        j->err = e;
}
