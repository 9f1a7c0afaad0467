/* SPDX-License-Identifier: Apache-2.0 */
/* Notes: small things that are kept by kind and key. Two kinds are the job's own. Counts
 * are summed up here, since every shard appends what it has done since it did so last;
 * attempts are replaced. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "store/job_parts.h"
#include "store/record_hold.h"

/* The number of a note is a hash of its kind and key. */
static int64_t
id_of(const seine_durable_job *j, int64_t kind, sn_str key)
{
    uint64_t secret[2] = {j->facts.secret[0] ^ (uint64_t)kind, j->facts.secret[1]};

    return (int64_t)(sn_siphash(secret, key.ptr, key.len) >> 1);
}

static seine_err
put(seine_durable_job *j, int64_t kind, sn_str key, sn_str value, sn_job_head *h)
{
    sn_job_table *t = &j->tables[SN_TABLE_NOTE];
    sn_job_row row = {.ints = {0}};
    int64_t id = id_of(j, kind, key);
    bool there = false;
    seine_err e = sn_job_table_get(t, id, &row, &there);

    sn_job_table_reset(t);
    if (e != SEINE_OK)
        return e;
    h->notes += !there;
    row = (sn_job_row){{id, kind}, {key, value}};
    return sn_job_table_put(t, &row);
}

seine_err
sn_job_apply_note(seine_durable_job *j, const sn_job_op *op, sn_job_head *h)
{
    return put(j, op->ints[0], sn_job_op_text(op, 0), sn_job_op_text(op, 1), h);
}

void
sn_job_apply_counted(seine_durable_job *j, const sn_job_op *op)
{
    unsigned i = 0;

#define X(column) j->counted.column += (uint64_t)op->ints[i++];
    SN_JOB_COUNTS(X)
#undef X
    j->counted.sitemap_bytes += (uint64_t)op->ints[i];
}

seine_err
sn_job_put_counts(seine_durable_job *j, sn_job_head *h)
{
    const sn_job_counts *c = &j->counted;

    if (memcmp(c, &j->counts, sizeof *c) == 0)
        return SEINE_OK;
    return put(j, SN_JOB_NOTE_COUNTS, SN_STR("all"), (sn_str){(const char *)c, sizeof *c},
               h);
}

typedef struct kept_head {
    uint64_t number, len;
    int64_t kind;
} kept_head;

static seine_err
keep(seine_durable_job *j, int64_t kind, uint64_t number, sn_str bytes)
{
    kept_head head = {number, bytes.len, kind};

    sn_buf_add(&j->kept, &head, sizeof head);
    sn_buf_str(&j->kept, bytes);
    return sn_buf_done(&j->kept);
}

seine_err
sn_job_take_kept(seine_durable_job *j, const seine_record *r)
{
    const sn_record_hold *hold = r->hold;

    if (!hold || hold->kept.len == 0)
        return SEINE_OK;
    return keep(j, SN_JOB_NOTE_KEPT, r->number, hold->kept);
}

seine_err
sn_job_keep_links(seine_durable_job *j, uint64_t number, sn_str packed)
{
    return j->remote || packed.len == 0 ? SEINE_OK
                                        : keep(j, SN_JOB_NOTE_LINKS, number, packed);
}

seine_err
sn_job_keep_told(seine_durable_job *j)
{
    return keep(j, SN_JOB_NOTE_TOLD, 0,
                (sn_str){(const char *)&j->round.number, sizeof j->round.number});
}

seine_err
sn_job_has_told(seine_durable_job *j, bool *out_is)
{
    sn_job_table *t = &j->tables[SN_TABLE_NOTE];
    sn_job_row row = {.ints = {0}};
    bool there = false;
    int64_t round = 0;
    seine_err e =
        sn_job_table_get(t, id_of(j, SN_JOB_NOTE_TOLD, SN_STR("0")), &row, &there);

    if (e == SEINE_OK && there && row.texts[1].len == sizeof round)
        memcpy(&round, row.texts[1].ptr, sizeof round);
    sn_job_table_reset(t);
    *out_is = round == j->round.number;
    return e;
}

void
sn_job_hear_links(seine_durable_job *j, void (*fn)(sn_str packed, void *arg), void *arg)
{
    j->hear_links = fn;
    j->links_arg = arg;
}

seine_err
sn_job_put_kept(seine_durable_job *j, sn_job_head *h)
{
    sn_str rest = sn_buf_view(&j->kept);
    seine_err e = SEINE_OK;
    kept_head head;
    char key[24];

    while (e == SEINE_OK && rest.len >= sizeof head) {
        memcpy(&head, rest.ptr, sizeof head);
        sn_str value = sn_str_slice(rest, sizeof head, sizeof head + head.len);
        int n = snprintf(key, sizeof key, "%llu", (unsigned long long)head.number);
        e = put(j, head.kind, (sn_str){key, (size_t)n}, value, h);
        rest = sn_str_slice(rest, sizeof head + head.len, rest.len);
    }
    return e;
}

static uint64_t
number_of(sn_str key)
{
    uint64_t number = 0;

    for (size_t i = 0; i < key.len; i++)
        number = number * 10 + (uint64_t)(key.ptr[i] - '0');
    return number;
}

/* Has the record been committed, in this round or an earlier one? A repaired job may have
 * lost it. */
static bool
is_of_record(const seine_durable_job *j, sn_str key)
{
    uint64_t number = number_of(key);

    return number < (uint64_t)j->round.first_number || sn_job_bit_get(&j->done, number);
}

seine_err
seine_job_note(seine_durable_job *j, const char *key, const char *bytes, size_t len)
{
    if (!j || !key || (!bytes && len > 0) || atomic_load(&j->n_lanes) == 0)
        return SEINE_E_INVAL;
    return sn_job_note_put(sn_job_lane_at(j, atomic_load(&j->n_lanes) - 1),
                           SN_JOB_NOTE_SAID, sn_str_of(key), (sn_str){bytes, len});
}

static seine_err
take_tried(const seine_durable_job *j, sn_str value, const sn_job_scan *into)
{
    int64_t v[3];

    if (value.len != sizeof v)
        return SEINE_E_STATE_CORRUPT;
    memcpy(v, value.ptr, sizeof v);
    if (sn_job_bit_get(&j->done, (uint64_t)v[0]) || !into->tried)
        return SEINE_OK;
    return into->tried((uint64_t)v[0], (uint32_t)v[1], v[2], into->arg);
}

/* A page that is asked for again, by a retry or after a repair, tells its links anew. */
static void
take_links(const seine_durable_job *j, const sn_job_row *row)
{
    if (j->hear_links && sn_job_bit_get(&j->done, number_of(row->texts[0])))
        j->hear_links(row->texts[1], j->links_arg);
}

seine_err
sn_job_take_note(seine_durable_job *j, const sn_job_row *row, const sn_job_scan *into)
{
    sn_str value = row->texts[1];

    if (row->ints[1] == SN_JOB_NOTE_LINKS) {
        take_links(j, row);
        return SEINE_OK;
    }
    if (row->ints[1] == SN_JOB_NOTE_TRIED)
        return take_tried(j, value, into);
    if (row->ints[1] == SN_JOB_NOTE_KEPT && !is_of_record(j, row->texts[0]))
        return SEINE_OK;
    if (row->ints[1] == SN_JOB_NOTE_COUNTS) { /* a later version may keep more */
        memcpy(&j->counts, value.ptr,
               value.len < sizeof j->counts ? value.len : sizeof j->counts);
        return SEINE_OK;
    }
    return into->note
               ? into->note((uint32_t)row->ints[1], row->texts[0], value, into->arg)
               : SEINE_OK;
}

void
sn_job_counts_get(const seine_durable_job *j, sn_job_counts *out)
{
    *out = j->counts;
}

_Static_assert(SN_JOB_NOTE_SLICE == 104, "as in the text");
_Static_assert(SN_JOB_NOTE_COUNTS == 100 && SN_JOB_NOTE_TRIED == 101 &&
                   SN_JOB_NOTE_KEPT == 102,
               "as in the text");

seine_err
sn_job_forget_notes(seine_durable_job *j, sn_job_head *h)
{
    sn_sqlite_stmt *stmt;
    bool there = false;
    seine_err e =
        sn_sqlite_exec(j->db, j->forgets && !j->keeps_kept
                                  ? "DELETE FROM note WHERE kind IN (100, 101, 102)"
                                  : "DELETE FROM note WHERE kind IN (100, 101)");

    if (e == SEINE_OK && j->forgets) /* another run has a timeline of its own */
        e = sn_sqlite_exec(j->db, "DELETE FROM note WHERE kind = 104");
    if (e == SEINE_OK)
        e = sn_sqlite_prepare(j->db, "SELECT count(*) FROM note", &stmt);
    if (e != SEINE_OK)
        return e;
    e = sn_sqlite_next(stmt, &there);
    if (e == SEINE_OK && there)
        h->notes = sn_sqlite_int(stmt, 0);
    sn_sqlite_finalize(stmt);
    return e;
}
