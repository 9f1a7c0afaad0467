/* SPDX-License-Identifier: Apache-2.0 */
/* Orphans: pages that nothing names any more. A page keeps the prints of the URLs that it
 * names (job_page.h), a sitemap likewise in a note, until they are read anew.
 *
 * A view reads them out of a finished job. A run that ends its round tells them itself,
 * on the connection that commits: what it writes about them and the note of the round
 * that was told become durable together. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "seine/job_view.h"
#include "seine/seen.h"
#include "store/job_page.h"
#include "store/job_parts.h"

enum { AT_ONCE = 256, ROOM = 2 * SN_STORE_TEXT + 512 };

typedef struct search {
    seine_job_url_fn fn;
    void *arg;
    seine_job_orphans *found;
    seine_seen *named;
    sn_job_bits there; /* numbers of pages that have a copy */
} search;

static seine_err
add_prints(const search *s, sn_str prints)
{
    uint64_t some[AT_ONCE];
    uint8_t is_new[AT_ONCE];
    seine_err e = SEINE_OK;

    if (prints.len % sizeof *some != 0)
        return SEINE_E_STATE_CORRUPT;
    while (e == SEINE_OK && prints.len > 0) {
        size_t n = prints.len < sizeof some ? prints.len : sizeof some;

        memcpy(some, prints.ptr, n);
        e = seine_seen_add_many(s->named, some, n / sizeof *some, is_new);
        prints = sn_str_slice(prints, n, prints.len);
    }
    return e;
}

static seine_err
take_note(uint32_t kind, sn_str key, sn_str value, void *arg)
{
    (void)key;
    return kind == SN_JOB_NOTE_LISTED ? add_prints(arg, value) : SEINE_OK;
}

static seine_err
take_page(const sn_job_page *p, void *arg)
{
    search *s = arg;
    seine_err e = add_prints(s, p->links);

    s->found->cut += p->links.len >= SN_JOB_LINKS * sizeof(uint64_t);
    if (e == SEINE_OK && p->status >= 200 && p->status <= 299)
        e = sn_job_bit_set(&s->there, p->number);
    return e;
}

/* Does nothing name that URL? It counts as named from here on. */
static seine_err
find_orphan(const search *s, uint64_t number, uint64_t print, bool *out_is)
{
    uint8_t is_new = 0;
    seine_err e = SEINE_OK;

    if (sn_job_bit_get(&s->there, number)) /* else there is no copy */
        e = seine_seen_add_many(s->named, &print, 1, &is_new);
    *out_is = e == SEINE_OK && is_new;
    s->found->n += *out_is;
    return e;
}

/* Writes the URL; its length, 0: there is no room. */
static size_t
write_url(char *out, size_t cap, sn_str host, sn_str target)
{
    host = sn_job_host_shown(host);
    int n = snprintf(out, cap, "%.*s%.*s", SN_FMT(host), SN_FMT(target));

    return n > 0 && (size_t)n < cap ? (size_t)n : 0;
}

static seine_err
take_url(const sn_job_url *u, void *arg)
{
    search *s = arg;
    char text[ROOM];
    bool is = false;

    if (u->url.host.len == 0)
        return SEINE_OK; /* it was given */
    seine_err e = find_orphan(s, u->url.number, u->print, &is);
    size_t n = is && s->fn ? write_url(text, sizeof text, u->url.host, u->url.target) : 0;
    if (n > 0)
        s->fn((seine_view){text, n}, s->arg);
    return e;
}

seine_err
seine_job_view_orphans(seine_job_view *v, seine_job_url_fn fn, void *arg,
                       seine_job_orphans *out, seine_diag *diag)
{
    search s = {.fn = fn, .arg = arg, .found = out};
    sn_job_scan into = {.note = take_note,
                        .page = take_page,
                        .url = take_url,
                        .next_round = true,
                        .arg = &s};

    sn_diag_clear(diag);
    if (!v || !out)
        return SEINE_E_INVAL;
    seine_durable_job *j = sn_job_of_view(v);
    if (!j->db || j->is_scanned)
        return j->db ? SEINE_E_INVAL : SEINE_E_STATE_CORRUPT;
    *out = (seine_job_orphans){0};
    seine_err e = seine_seen_new(NULL, &s.named);
    if (e == SEINE_OK)
        e = sn_job_scan_all(j, &into, diag);
    seine_seen_free(s.named);
    sn_free(s.there.words);
    return e;
}

/* Prints of all that pages and sitemaps name. */
static seine_err
read_named(seine_durable_job *j, search *s)
{
    sn_job_table *notes = &j->tables[SN_TABLE_NOTE], *pages = &j->tables[SN_TABLE_PAGE];
    sn_job_row row = {.ints = {0}};
    bool there = true;
    sn_job_page p;
    seine_err e = SEINE_OK;

    while (e == SEINE_OK && (e = sn_job_table_next(notes, &row, &there)) == SEINE_OK &&
           there)
        e = take_note((uint32_t)row.ints[1], row.texts[0], row.texts[1], s);
    sn_job_table_reset(notes);
    there = true;
    while (e == SEINE_OK && (e = sn_job_table_next(pages, &row, &there)) == SEINE_OK &&
           there) {
        sn_job_page_of(&row, &p);
        e = take_page(&p, s);
    }
    sn_job_table_reset(pages);
    return e;
}

/* As events name hosts: without their scheme, and without its port. */
static sn_str
name_host(sn_str host)
{
    const char *slashes = memmem(host.ptr, host.len, "://", 3);

    host = sn_job_host_shown(host);
    return slashes ? sn_str_slice(host, (size_t)(slashes + 3 - host.ptr), host.len)
                   : host;
}

static seine_err
tell_one(seine_durable_job *j, const sn_job_row *url, sn_job_orphan_fn fn, void *arg)
{
    char text[ROOM];
    sn_job_row row;
    bool there = false;
    sn_job_page p = {0};
    sn_str host = j->by_id[url->ints[1]]->name;
    size_t n = write_url(text, sizeof text, host, url->texts[0]);
    sn_job_table *pages = &j->tables[SN_TABLE_PAGE];
    seine_err e = sn_job_table_get(pages, url->ints[0], &row, &there);

    if (e == SEINE_OK && there)
        sn_job_page_of(&row, &p);
    sn_job_table_reset(pages);
    if (e != SEINE_OK || n == 0)
        return e;
    return fn(&(sn_job_orphan){.url = {text, n},
                               .host = name_host(host),
                               .round = j->round.number,
                               .seen_ms = p.seen_ms,
                               .changed_ms = p.changed_ms},
              arg);
}

static seine_err
tell_urls(seine_durable_job *j, search *s, sn_job_orphan_fn fn, void *arg)
{
    sn_job_table *urls = &j->tables[SN_TABLE_URL];
    sn_job_row row = {.ints = {0}};
    bool there = true, is = false;
    seine_err e = SEINE_OK;

    while (e == SEINE_OK && (e = sn_job_table_next(urls, &row, &there)) == SEINE_OK &&
           there) {
        const int64_t *v = row.ints;

        if (v[1] == 0)
            continue; /* it was given */
        if (v[1] < 0 || (size_t)v[1] >= j->by_id_room || !j->by_id[v[1]])
            e = SEINE_E_STATE_CORRUPT;
        else
            e = find_orphan(s, (uint64_t)v[0], (uint64_t)v[2], &is);
        if (e == SEINE_OK && is)
            e = tell_one(j, &row, fn, arg);
    }
    sn_job_table_reset(urls);
    return e;
}

seine_err
sn_job_tell_orphans(seine_durable_job *j, sn_job_orphan_fn fn, void *arg)
{
    seine_job_orphans found = {0};
    search s = {.found = &found};
    bool is_told = false;

    if (j->remote || j->round.pages == 0)
        return SEINE_OK;
    seine_err e = sn_job_has_told(j, &is_told);
    if (e != SEINE_OK || is_told)
        return e;
    e = seine_seen_new(NULL, &s.named);
    if (e == SEINE_OK)
        e = read_named(j, &s);
    if (e == SEINE_OK)
        e = tell_urls(j, &s, fn, arg);
    if (e == SEINE_OK && found.n > 0)
        e = sn_job_keep_told(j);
    seine_seen_free(s.named);
    sn_free(s.there.words);
    return e;
}
