/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job_page.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "store/job_parts.h"
#include "store/record_hold.h"

enum { PATH_ROOM = 4096 };

struct sn_job_reader {
    sn_sqlite *db;
    sn_job_table tables[SN_TABLES];
};

sn_str
sn_job_page_pack(const sn_job_page *p, sn_buf *to)
{
    sn_buf_add(to, p, sizeof *p); /* the reader sets its pointers */
    sn_buf_str(to, p->etag);
    sn_buf_str(to, p->modified);
    sn_buf_str(to, p->body);
    sn_buf_str(to, p->links);
    return sn_buf_view(to);
}

static bool
unpack_text(sn_str *from, sn_str *text)
{
    if (text->len > from->len)
        return false;
    text->ptr = text->len > 0 ? from->ptr : "";
    *from = sn_str_slice(*from, text->len, from->len);
    return true;
}

bool
sn_job_page_unpack(sn_str *from, sn_job_page *out)
{
    if (from->len < sizeof *out)
        return false;
    memcpy(out, from->ptr, sizeof *out);
    *from = sn_str_slice(*from, sizeof *out, from->len);
    return unpack_text(from, &out->etag) && unpack_text(from, &out->modified) &&
           unpack_text(from, &out->body) && unpack_text(from, &out->links);
}

const sn_job_round *
sn_job_round_of(const seine_durable_job *j)
{
    return &j->round;
}

bool
sn_job_has_page(const seine_durable_job *j, uint64_t number)
{
    return sn_job_bit_get(&j->has_page, number);
}

void
sn_job_page_of(const sn_job_row *row, sn_job_page *out)
{
    unsigned i = 1;

    *out = (sn_job_page){.number = (uint64_t)row->ints[0],
                         .etag = row->texts[0],
                         .modified = row->texts[1],
                         .body = row->texts[2],
                         .links = row->texts[3]};
#define X(column) out->column = row->ints[i++];
    SN_JOB_PAGE(X)
#undef X
}

seine_err
sn_job_put_page(seine_durable_job *j, const sn_job_page *p)
{
    sn_job_row row = {.ints = {(int64_t)p->number,
#define X(column) p->column,
                               SN_JOB_PAGE(X)
#undef X
                      },
                      .texts = {p->etag, p->modified, p->body, p->links}};

    return sn_job_table_put(&j->tables[SN_TABLE_PAGE], &row);
}

seine_err
sn_job_put_round(seine_durable_job *j, const sn_job_round *r)
{
    sn_job_row row = {.ints = {1,
#define X(column) r->column,
                               SN_JOB_ROUND(X)
#undef X
                      }};

    return sn_job_table_put(&j->tables[SN_TABLE_ROUND], &row);
}

seine_err
sn_job_take_page(seine_durable_job *j, const seine_record *r)
{
    const sn_record_hold *h = r->hold;

    if (!h || h->page.len == 0)
        return SEINE_OK;
    sn_buf_str(&j->pages, h->page);
    return sn_buf_done(&j->pages);
}

seine_err
sn_job_put_pages(seine_durable_job *j)
{
    sn_str rest = sn_buf_view(&j->pages);
    sn_job_page page;
    seine_err e = SEINE_OK;

    j->told = j->round;
    if (rest.len == 0)
        return SEINE_OK;
    while (e == SEINE_OK && sn_job_page_unpack(&rest, &page)) {
        j->told.pages += !sn_job_bit_get(&j->has_page, page.number);
        e = sn_job_put_page(j, &page);
    }
    return e == SEINE_OK ? sn_job_put_round(j, &j->told) : e;
}

void
sn_job_keep_pages(seine_durable_job *j)
{
    j->round.pages = j->told.pages; /* all that differs: shards read the rest meanwhile */
    sn_buf_reset(&j->pages);
}

/* Reading. */

static seine_err
open_reader(sn_job_reader *r, const seine_durable_job *j)
{
    char path[PATH_ROOM];

    snprintf(path, sizeof path, "%s/job.db", j->dir);
    seine_err e = sn_sqlite_open(path, SN_SQLITE_READ, &r->db);
    if (e != SEINE_OK)
        return e;
    sn_sqlite_trust(r->db);
    e = sn_sqlite_exec(r->db, "PRAGMA cache_size = -1024; PRAGMA mmap_size = 0");
    return e == SEINE_OK ? sn_job_tables_open(r->db, r->tables) : e;
}

seine_err
sn_job_reader_new(const seine_durable_job *j, sn_job_reader **out_reader)
{
    sn_job_reader *r = sn_zalloc(sizeof *r);

    if (!r)
        return SEINE_E_NOMEM;
    seine_err e = open_reader(r, j);
    if (e != SEINE_OK) {
        sn_job_reader_free(r);
        return e;
    }
    *out_reader = r;
    return SEINE_OK;
}

void
sn_job_reader_free(sn_job_reader *r)
{
    if (!r)
        return;
    sn_sqlite_close(r->db);
    sn_free(r);
}

static bool
copy_text(sn_arena *a, sn_str *io_text)
{
    const char *copy = sn_arena_text(a, *io_text);

    io_text->ptr = copy;
    return copy != NULL;
}

seine_err
sn_job_reader_page(sn_job_reader *r, uint64_t number, sn_arena *mem, sn_job_page *out,
                   bool *out_there)
{
    sn_job_table *t = &r->tables[SN_TABLE_PAGE];
    sn_job_row row;
    seine_err e = sn_job_table_get(t, (int64_t)number, &row, out_there);

    if (e == SEINE_OK && *out_there) {
        sn_job_page_of(&row, out);
        if (!copy_text(mem, &out->etag) || !copy_text(mem, &out->modified) ||
            !copy_text(mem, &out->body) || !copy_text(mem, &out->links))
            e = SEINE_E_NOMEM;
    }
    sn_job_table_reset(t); /* an open reading keeps the WAL from shrinking */
    return e;
}
