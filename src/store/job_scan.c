/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "store/job_parts.h"

enum { PRINTS = 256 };

typedef struct scan {
    seine_durable_job *job;
    const sn_job_scan *into;
    sn_sqlite_pages pages; /* n 0: they are read by statements */
    sn_job_table_id table; /* that is being read */
    int64_t row;
    sn_job_bits refused;     /* of the done: their record is a skip */
    sn_job_bits not_due;     /* pages that are asked for in a later round */
    sn_job_standing *counts; /* by host */
    uint64_t prints[PRINTS];
    size_t n_prints;
    int64_t parent; /* number of the URL whose text is in parent_text */
    char parent_text[2 * SN_STORE_TEXT + 512];
    size_t parent_len;
    bool parent_is_given; /* so that its text is as it was given */
    sn_sqlite_cursor parents;
} scan;

/* Steps through a table and checks how many rows it has. */
typedef seine_err (*take_fn)(scan *s, const sn_job_row *row);

static seine_err
read_table(scan *s, sn_job_table_id id, int64_t expected, take_fn take)
{
    sn_job_table *t = &s->job->tables[id];
    sn_job_row row = {.ints = {0}};
    bool there = true;
    int64_t n = 0, last = INT64_MIN;
    seine_err e;

    s->table = id;
    e = s->pages.n > 0 ? sn_job_table_direct(t, &s->pages) : SEINE_OK;
    if (e != SEINE_OK)
        return e;
    while ((e = sn_job_table_next(t, &row, &there)) == SEINE_OK && there) {
        s->row = row.ints[0];
        if (row.ints[0] <= last)
            e = SEINE_E_STATE_CORRUPT;
        last = row.ints[0];
        n++;
        if (e == SEINE_OK)
            e = take(s, &row);
        if (e != SEINE_OK)
            break;
    }
    if (e != SEINE_OK && there)
        s->row = row.ints[0];
    sn_job_table_reset(t);
    if (e == SEINE_OK && n != expected) {
        s->row = -1;
        e = SEINE_E_STATE_CORRUPT;
    }
    return e;
}

static seine_err
flush_prints(scan *s)
{
    size_t n = s->n_prints;

    s->n_prints = 0;
    return n > 0 && s->into->prints ? s->into->prints(s->prints, n, s->into->arg)
                                    : SEINE_OK;
}

static seine_err
add_print(scan *s, uint64_t print)
{
    s->prints[s->n_prints++] = print;
    return s->n_prints == PRINTS ? flush_prints(s) : SEINE_OK;
}

/* A number below next_number that has not ended before. */
static seine_err
end_number(scan *s, int64_t number)
{
    seine_durable_job *j = s->job;

    if (number < 0 || number >= j->head.next_number ||
        sn_job_bit_get(&j->done, (uint64_t)number))
        return SEINE_E_STATE_CORRUPT;
    return sn_job_bit_set(&j->done, (uint64_t)number);
}

static seine_err
take_result(scan *s, const sn_job_row *row)
{
    const int64_t *v = row->ints;
    bool is_skip = v[2] >= SN_JOB_SKIP;
    sn_job_ended_row r = {.seq = (uint64_t)v[0],
                          .number = (uint64_t)v[1],
                          .type = is_skip ? SEINE_RECORD_SKIP : SEINE_RECORD_RESULT,
                          .kind = is_skip ? SEINE_OK : (seine_err)v[2],
                          .reason = is_skip ? (seine_skip)(v[2] - SN_JOB_SKIP) : 0,
                          .status = (uint16_t)v[3],
                          .attempts = (uint32_t)v[4],
                          .at_ms = v[5],
                          .bytes_in = (uint64_t)v[6],
                          .bytes_body = (uint64_t)v[7],
                          .total_us = v[8],
                          .latency_us = v[9],
                          .print = (uint64_t)v[10]};

    if (v[0] < 1 || v[0] >= s->job->head.next_seq)
        return SEINE_E_STATE_CORRUPT;
    seine_err e = end_number(s, v[1]);
    if (e == SEINE_OK && is_skip)
        e = sn_job_bit_set(&s->refused, (uint64_t)v[1]);
    if (e == SEINE_OK && r.print != 0)
        e = add_print(s, r.print);
    if (e == SEINE_OK && s->into->ended)
        e = s->into->ended(&r, s->into->arg);
    return e;
}

static seine_err
take_ended(scan *s, const sn_job_row *row)
{
    seine_err e = end_number(s, row->ints[0]);

    return e == SEINE_OK ? sn_job_bit_set(&s->refused, (uint64_t)row->ints[0]) : e;
}

static seine_err
take_note(scan *s, const sn_job_row *row)
{
    return sn_job_take_note(s->job, row, s->into);
}

static seine_err
take_host(scan *s, const sn_job_row *row)
{
    sn_job_name *n;
    sn_job_host h = {.name = row->texts[0]};
    unsigned i = 1;
    seine_err e = sn_job_host_add(s->job, row->ints[0], row->texts[0], &n);

#define X(column) h.column = row->ints[i++];
    SN_JOB_HOST(X)
#undef X
    if (e == SEINE_OK && s->into->host)
        e = s->into->host(&h, s->into->arg);
    return e;
}

static const sn_job_name *
host_at(const seine_durable_job *j, int64_t id)
{
    return id > 0 && (size_t)id < j->by_id_room ? j->by_id[id] : NULL;
}

static seine_err
take_robots(scan *s, const sn_job_row *row)
{
    const sn_job_name *n = host_at(s->job, row->ints[0]);

    if (!n)
        return SEINE_E_STATE_CORRUPT;
    sn_job_robots r = {n->name, row->ints[1], row->ints[2], row->texts[0]};
    return s->into->robots ? s->into->robots(&r, s->into->arg) : SEINE_OK;
}

static seine_err
take_page(scan *s, const sn_job_row *row)
{
    seine_durable_job *j = s->job;
    sn_job_page p;

    sn_job_page_of(row, &p);
    if (row->ints[0] < 0 || row->ints[0] >= j->head.next_number)
        return SEINE_E_STATE_CORRUPT;
    seine_err e = sn_job_bit_set(&j->has_page, p.number);
    if (e == SEINE_OK && p.due_ms > s->into->due_ms && s->into->due_ms > 0)
        e = sn_job_bit_set(&s->not_due, p.number);
    if (e == SEINE_OK && s->into->page)
        e = s->into->page(&p, s->into->arg);
    return e;
}

static seine_err
get_url(scan *s, int64_t number, sn_job_row *row, bool *out_there)
{
    sn_job_table *t = &s->job->tables[SN_TABLE_URL];

    return s->parents.pages ? sn_job_table_find(t, &s->parents, number, row, out_there)
                            : sn_job_table_get(t, number, row, out_there);
}

/* The text of the URL with that number, which consecutive links share. A parent that has
 * no row leaves no text. */
static seine_err
find_parent(scan *s, int64_t number)
{
    sn_job_row row;
    bool there = false;

    if (number == s->parent)
        return SEINE_OK;
    seine_err e = get_url(s, number, &row, &there);
    if (e != SEINE_OK)
        return e;
    const sn_job_name *n = there ? host_at(s->job, row.ints[1]) : NULL;
    sn_str host = n ? sn_job_host_shown(n->name) : (sn_str){0};
    sn_str path = there ? row.texts[0] : (sn_str){0};
    size_t room = sizeof s->parent_text - host.len;

    if (host.len > sizeof s->parent_text)
        return SEINE_E_STATE_CORRUPT;
    path.len = path.len < room ? path.len : room;
    if (host.len > 0)
        memcpy(s->parent_text, host.ptr, host.len);
    if (path.len > 0)
        memcpy(s->parent_text + host.len, path.ptr, path.len);
    s->parent = number;
    s->parent_len = host.len + path.len;
    s->parent_is_given = there && !n;
    return SEINE_OK;
}

static seine_err
deliver(scan *s, const sn_job_row *row, const sn_job_name *host, bool is_due)
{
    const int64_t *v = row->ints;
    uint64_t meta = (uint64_t)v[6];
    sn_job_row request;
    bool there = false;
    sn_job_url u = {.url = {.host = host ? host->name : SN_STR(""),
                            .target = row->texts[0],
                            .number = (uint64_t)v[0],
                            .line = (uint32_t)v[4],
                            .depth = (uint32_t)v[5],
                            .kind = meta & 7,
                            .ceiling = meta >> 3 & 3,
                            .tag = meta >> 5 & 63,
                            .attr = meta >> 11 & 15,
                            .flags = meta >> 15 & 255,
                            .moved = meta >> 23 & 255},
                    .print = (uint64_t)v[2],
                    .parent_number = v[3] < 0 ? SN_JOB_NONE : (uint64_t)v[3]};
    seine_err e = SEINE_OK;

    seine_err (*take)(const sn_job_url *, void *) =
        is_due ? s->into->url : s->into->not_due;

    if (!take)
        return SEINE_OK;
    if (v[3] >= 0) {
        e = find_parent(s, v[3]);
        u.url.parent = (sn_str){s->parent_text, s->parent_len};
        u.parent_is_given = s->parent_is_given;
    } else if (s->job->head.requests > 0)
        e = sn_job_table_get(&s->job->tables[SN_TABLE_REQUEST], v[0], &request, &there);
    if (there) {
        u.url.parent = request.texts[0];
        u.ask = request.texts[1];
    }
    return e == SEINE_OK ? take(&u, s->into->arg) : e;
}

/* Is the URL, which has ended, work of the next round? See sn_job_next_round. */
static bool
comes_again(const scan *s, const int64_t *url)
{
    return s->into->next_round && !(((uint64_t)url[6] & 7) == SN_JOB_PUT_OFF &&
                                    sn_job_bit_get(&s->refused, (uint64_t)url[0]));
}

static void
count_url(scan *s, const int64_t *url, bool is_done, bool is_due)
{
    sn_job_standing *n = &s->counts[url[1]];

    if (!is_done && is_due)
        n->waiting++;
    else if (!is_done)
        n->not_due++;
    else if (((uint64_t)url[6] & 7) == SN_JOB_SITEMAP)
        n->sitemaps++;
    else if (sn_job_bit_get(&s->refused, (uint64_t)url[0]))
        n->refused++;
    else
        n->done++;
}

/* One that was given has no host in its row. */
static seine_err
tell_given(scan *s, const sn_job_row *row)
{
    const int64_t *v = row->ints;

    return v[1] == 0 && ((uint64_t)v[6] & 7) == SN_JOB_BY_USER && s->into->given &&
                   !sn_job_bit_get(&s->refused, (uint64_t)v[0])
               ? s->into->given(row->texts[0], s->into->arg)
               : SEINE_OK;
}

static seine_err
take_url(scan *s, const sn_job_row *row)
{
    const int64_t *v = row->ints;
    const sn_job_name *host = host_at(s->job, v[1]);
    uint64_t number = (uint64_t)v[0];

    if (v[0] < 0 || v[0] >= s->job->head.next_number || (v[1] != 0 && !host))
        return SEINE_E_STATE_CORRUPT;
    bool is_done = sn_job_bit_get(&s->job->done, number) && !comes_again(s, v);
    bool is_due = !sn_job_bit_get(&s->not_due, number);
    count_url(s, v, is_done, is_due);
    /* What was put off is not seen yet: another link may lead there. */
    bool is_put_off = !is_done && ((uint64_t)v[6] & 7) == SN_JOB_PUT_OFF;
    seine_err e = is_put_off ? SEINE_OK : add_print(s, (uint64_t)v[2]);
    if (e != SEINE_OK)
        return e;
    return is_done ? tell_given(s, row) : deliver(s, row, host, is_due);
}

static seine_err
take_request(scan *s, const sn_job_row *row)
{
    (void)s;
    (void)row;
    return SEINE_OK;
}

static seine_err
tell_counts(scan *s)
{
    const seine_durable_job *j = s->job;
    seine_err e = SEINE_OK;

    for (size_t i = 1; i <= j->hosts.count && e == SEINE_OK && s->into->count; i++)
        e = s->into->count(j->by_id[i]->name, &s->counts[i], s->into->arg);
    return e;
}

static seine_err
read_all(scan *s)
{
    const sn_job_head *h = &s->job->head;
    seine_err e = read_table(s, SN_TABLE_RESULT, h->results, take_result);

    if (e == SEINE_OK)
        e = read_table(s, SN_TABLE_ENDED, h->ended, take_ended);
    if (e == SEINE_OK)
        e = read_table(s, SN_TABLE_NOTE, h->notes, take_note);
    if (e == SEINE_OK)
        e = read_table(s, SN_TABLE_HOST, h->hosts, take_host);
    if (e == SEINE_OK)
        e = read_table(s, SN_TABLE_ROBOTS, h->robots, take_robots);
    if (e == SEINE_OK)
        e = read_table(s, SN_TABLE_REQUEST, h->requests, take_request);
    if (e == SEINE_OK)
        e = read_table(s, SN_TABLE_PAGE, s->job->round.pages, take_page);
    s->counts =
        e == SEINE_OK ? sn_calloc(s->job->hosts.count + 1, sizeof *s->counts) : NULL;
    if (e == SEINE_OK && !s->counts)
        e = SEINE_E_NOMEM;
    if (e == SEINE_OK)
        e = read_table(s, SN_TABLE_URL, h->urls, take_url);
    if (e == SEINE_OK)
        e = flush_prints(s);
    return e == SEINE_OK ? tell_counts(s) : e;
}

seine_err
sn_job_scan_all(seine_durable_job *j, const sn_job_scan *into, seine_diag *diag)
{
    if (j->remote)
        return SEINE_OK; /* it tells what it knows by and by */
    scan *s SN_AUTOFREE = sn_zalloc(sizeof *s);
    sn_job_row open;
    bool is_open;

    sn_diag_clear(diag);
    if (!s)
        return SEINE_E_NOMEM;
    s->job = j;
    s->into = into;
    s->row = -1;
    s->parent = -1;
    /* Of a new job statements find out for less that there is nothing. */
    bool has_rows = j->head.urls + j->head.results > 0;
    seine_err e =
        j->lock_fd >= 0 && has_rows ? sn_job_open_pages(j, &s->pages) : SEINE_OK;
    if (e == SEINE_OK && s->pages.n > 0)
        e = sn_sqlite_cursor_init(&s->parents, &s->pages, j->tables[SN_TABLE_URL].root);
    if (e == SEINE_OK) /* a statement that is open spares the others their locks */
        e = sn_job_table_next(&j->tables[SN_TABLE_JOB], &open, &is_open);
    if (e == SEINE_OK)
        e = read_all(s);
    j->is_scanned = e == SEINE_OK;
    for (unsigned i = 0; i < SN_TABLES; i++)
        sn_job_table_reset(&j->tables[i]);
    sn_sqlite_cursor_fini(&s->parents);
    sn_free(s->counts);
    sn_free(s->refused.words);
    sn_free(s->not_due.words);
    if (e != SEINE_OK && e != SEINE_E_STATE_CORRUPT)
        sn_job_say_db(j, e, diag);
    if (e == SEINE_E_STATE_CORRUPT) {
        char name[SEINE_DIAG_FILE];

        sn_diag_path(j->dir, name);
        if (s->row >= 0)
            sn_diag_text(diag,
                         "%s/job.db is damaged (table %s, row %lld): nothing was changed",
                         name, sn_job_table_name(s->table), (long long)s->row);
        else
            sn_diag_text(diag,
                         "%s/job.db is damaged (rows are missing in table %s): nothing "
                         "was changed",
                         name, sn_job_table_name(s->table));
    }
    return e;
}
