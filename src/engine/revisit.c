/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/revisit.h"

#include <string.h>

#include "base/arena.h"
#include "engine/page.h"
#include "net/h1.h"
#include "seine/timestamp.h"

/* What is known. */

static uint64_t
add_text(const uint64_t secret[2], uint64_t h, sn_str text)
{
    uint64_t parts[2] = {h, sn_siphash(secret, text.ptr, text.len)};

    return sn_siphash(secret, parts, sizeof parts);
}

/* A hash of what shapes the response besides the URL. */
static int64_t
spec_of(const sn_shared_state *c, const sn_visit *v)
{
    const uint64_t *secret = sn_job_secret(c->job);
    const seine_fetch_opts *o = &c->opts;
    uint64_t h = add_text(secret, 0, v->method);

    h = add_text(secret, h, sn_str_of(o->user_agent));
    for (size_t i = 0; v->at_home && i < o->n_fields; i++)
        h = add_text(secret, add_text(secret, h, o->fields[i].name), o->fields[i].value);
    for (size_t i = 0; i < v->n_own; i++)
        h = add_text(secret, add_text(secret, h, v->own[i].name), v->own[i].value);
    return (int64_t)h;
}

seine_err
sn_revisit_recall(const sn_shared_state *c, sn_job_reader *r, sn_visit *v)
{
    sn_job_page *page;
    bool there = false;

    if (v->is_recalled || v->kind != SN_KIND_PAGE)
        return SEINE_OK;
    v->is_recalled = true;
    v->spec = spec_of(c, v);
    if (!sn_job_has_page(c->job, v->number))
        return SEINE_OK;
    page = SN_ARENA_NEW(&v->arena, sn_job_page);
    if (!page)
        return SEINE_E_NOMEM;
    seine_err e = sn_job_reader_page(r, v->number, &v->arena, page, &there);
    if (e == SEINE_OK && there)
        v->known = page;
    return e;
}

static bool
is_2xx(int64_t status)
{
    return status >= 200 && status <= 299;
}

bool
sn_revisit_asks(const sn_shared_state *c, const sn_visit *v)
{
    const sn_job_page *known = v->known;

    return known && !c->opts.revisit->refresh && is_2xx(known->status) &&
           known->spec == v->spec && known->etag.len + known->modified.len > 0 &&
           v->n_hops == 0 && sn_str_eq(v->method, SN_STR("GET"));
}

/* What a response says. */

static sn_str
keep_validator(sn_visit *v, sn_str value)
{
    const char *copy = value.len <= SN_JOB_VALIDATOR && sn_h1_is_value(value)
                           ? sn_arena_text(&v->arena, value)
                           : NULL;

    return copy ? (sn_str){copy, value.len} : (sn_str){0};
}

/* The seconds of max-age in a Cache-Control. */
static void
read_max_age(sn_freshness *f, sn_str value)
{
    sn_str one, name, number;
    uint64_t n;

    while (sn_str_next(&value, ',', &one))
        if (sn_str_cut(sn_str_trim(one), '=', &name, &number) &&
            sn_str_eq_nocase(sn_str_trim(name), SN_STR("max-age")) &&
            sn_str_u64(sn_str_trim(number), &n) == SEINE_OK)
            f->max_age = n < INT32_MAX ? (int64_t)n : INT32_MAX;
}

/* A date that is as young as the response may stand for two copies of the page: the
 * second of them would look like the first (RFC 9110, 8.8.2.2). */
static void
drop_weak_date(const sn_visit *v, sn_freshness *f, sn_str date)
{
    int64_t modified, sent, until;

    if (f->etag.len > 0 || f->modified.len == 0)
        return;
    if (!seine_timestamp_sitemap(date.ptr ? date.ptr : "", date.len, &sent, &until))
        sent = v->started_wall;
    if (!seine_timestamp_sitemap(f->modified.ptr, f->modified.len, &modified, &until) ||
        sent - modified < SEINE_SECS(2))
        f->modified = (sn_str){0};
}

static void
read_freshness(sn_visit *v, const sn_head *head, sn_freshness *said)
{
    sn_str date = {0};

    said->max_age = -1;
    for (uint32_t i = 0; i < head->n_fields; i++) {
        sn_field f = sn_head_field_of(head, i);

        if (sn_str_eq_nocase(f.name, SN_STR("etag")))
            said->etag = keep_validator(v, f.value);
        else if (sn_str_eq_nocase(f.name, SN_STR("last-modified")))
            said->modified = keep_validator(v, f.value);
        else if (sn_str_eq_nocase(f.name, SN_STR("cache-control")))
            read_max_age(said, f.value);
        else if (sn_str_eq_nocase(f.name, SN_STR("date")))
            date = f.value;
    }
    drop_weak_date(v, said, date);
}

void
sn_revisit_head(sn_visit *v, const sn_head *head)
{
    v->freshness = SN_ARENA_NEW(&v->arena, sn_freshness);
    if (v->freshness)
        read_freshness(v, head, v->freshness);
    else
        v->kept.err = SEINE_E_NOMEM;
    if (is_2xx(head->status))
        v->is_hashed = sn_digest_begin(&v->digest, SN_DIGEST_SHA256) == SEINE_OK;
}

/* When it is asked for again. */

static int64_t
seconds(seine_span span)
{
    return span / SEINE_SECS(1);
}

int64_t
sn_revisit_every(const seine_revisit_opts *o, int64_t every, seine_change change)
{
    int64_t start = seconds(o->start), min = seconds(o->min), max = seconds(o->max);

    min = min < start ? min : start;
    max = max > start ? max : start;
    if (every < 0 || change == SEINE_CHANGE_NEW)
        every = start;
    else if (change == SEINE_CHANGE_SAME)
        every = every < max ? every + every / 2 : max;
    else if (change == SEINE_CHANGE_CHANGED)
        every /= 2;
    else
        every = max; /* gone */
    return every < min ? min : every > max ? max : every;
}

int64_t
sn_revisit_due(const seine_revisit_opts *o, int64_t now_ms, int64_t every,
               int64_t max_age)
{
    int64_t max = seconds(o->max);

    if (o->start == 0)
        return now_ms;
    if (max_age > max)
        max_age = max;
    return now_ms + 1000 * (max_age > every ? max_age : every);
}

/* What became of it. */

/* Is there a copy to compare with? A page that is gone has none. */
static bool
has_copy(const sn_job_page *known)
{
    return known && known->body.len > 0;
}

/* The hash of the body that came, or of where the page redirects. False: there is none.
 */
static bool
hash_body(sn_visit *v, uint8_t out[SN_DIGEST_MOST])
{
    size_t len;

    if (v->target) {
        seine_view to = seine_url_href(v->target);

        return sn_sha256(to.ptr, to.len, out) == SEINE_OK;
    }
    return v->is_hashed && sn_digest_end(&v->digest, out, &len) == SEINE_OK;
}

static int64_t
content_of(const sn_shared_state *c, const sn_visit *v)
{
    const sn_word_triples *words =
        c->opts.revisit->by_content && v->page ? sn_page_words(v->page) : NULL;

    return words ? (int64_t)words->all : 0;
}

static bool
is_same(const sn_shared_state *c, const sn_job_page *known, const sn_job_page *now)
{
    if (sn_str_eq(known->body, now->body) && is_2xx(known->status) == is_2xx(now->status))
        return true;
    return c->opts.revisit->by_content && known->content != 0 &&
           known->content == now->content;
}

static void
schedule(const sn_shared_state *c, const sn_visit *v, seine_change change, int64_t now_ms,
         sn_job_page *row)
{
    const seine_revisit_opts *o = c->opts.revisit;
    int64_t before = has_copy(v->known) ? v->known->every_s : -1;

    row->every_s = sn_revisit_every(o, before, change);
    row->seen_ms = now_ms;
    row->due_ms = sn_revisit_due(o, now_ms, row->every_s,
                                 v->freshness ? v->freshness->max_age : -1);
    if (change != SEINE_CHANGE_SAME)
        row->changed_ms = now_ms;
}

/* A copy came, or a redirect. */
static seine_change
judge_copy(const sn_shared_state *c, sn_visit *v, int64_t now_ms, sn_job_page *row)
{
    uint8_t hash[SN_DIGEST_MOST];
    char *body = sn_arena_get(&v->arena, SN_JOB_BODY_HASH, 1, 1);
    seine_change change = SEINE_CHANGE_NEW;

    if (!body || !hash_body(v, hash))
        return SEINE_CHANGE_NONE;
    memcpy(body, hash, SN_JOB_BODY_HASH);
    *row = (sn_job_page){.number = v->number,
                         .status = v->end.fault.status,
                         .spec = v->spec,
                         .content = content_of(c, v),
                         .body = {body, SN_JOB_BODY_HASH},
                         .links = v->links};
    if (!v->target && v->freshness) {
        row->etag = v->freshness->etag;
        row->modified = v->freshness->modified;
    }
    if (has_copy(v->known))
        change = is_same(c, v->known, row) ? SEINE_CHANGE_SAME : SEINE_CHANGE_CHANGED;
    if (change == SEINE_CHANGE_SAME)
        row->changed_ms = v->known->changed_ms;
    schedule(c, v, change, now_ms, row);
    return change;
}

/* 404 or 410: it was there, it was gone already, or it was never there. */
static seine_change
judge_gone(const sn_shared_state *c, const sn_visit *v, int64_t now_ms, sn_job_page *row,
           bool *out_has_row)
{
    bool was_there = has_copy(v->known);

    *out_has_row = v->known != NULL;
    *row = (sn_job_page){
        .number = v->number, .status = v->end.fault.status, .spec = v->spec};
    schedule(c, v, SEINE_CHANGE_GONE, now_ms, row);
    if (!was_there && v->known)
        row->changed_ms = v->known->changed_ms;
    return was_there ? SEINE_CHANGE_GONE : SEINE_CHANGE_NONE;
}

seine_change
sn_revisit_judge(const sn_shared_state *c, sn_visit *v, int64_t wall,
                 sn_job_page *out_row, bool *out_has_row)
{
    int64_t now_ms = wall / SEINE_MS(1);
    uint16_t status = v->end.fault.status;
    seine_change change;

    *out_has_row = false;
    if (v->is_skip || v->not_wanted || !v->is_recalled)
        return SEINE_CHANGE_NONE;
    if ((status == 404 || status == 410) &&
        (v->fault.code == SEINE_OK || v->fault.code == SEINE_E_HTTP))
        return judge_gone(c, v, now_ms, out_row, out_has_row);
    if (v->fault.code != SEINE_OK)
        return SEINE_CHANGE_NONE;
    if (status == 304 && v->is_conditional) {
        *out_row = *v->known;
        schedule(c, v, SEINE_CHANGE_SAME, now_ms, out_row);
        *out_has_row = true;
        return SEINE_CHANGE_SAME;
    }
    if (!is_2xx(status) && !v->target)
        return SEINE_CHANGE_NONE;
    change = judge_copy(c, v, now_ms, out_row);
    *out_has_row = change != SEINE_CHANGE_NONE;
    return change;
}
