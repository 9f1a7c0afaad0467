/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/job_retry.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "seine/job_view.h"
#include "store/job_parts.h"
#include "store/text_writer.h"
#include "store/zone_files.h"
#include "text/expr.h"

#define DEFAULT_WHERE "not ok and outcome != blocked"

enum {
    N_URL,
    N_HOST,
    N_OUTCOME,
    N_OK,
    N_STATUS,
    N_KIND,
    N_ATTEMPTS,
    N_DEPTH,
    N_TS,
    N_BYTES_IN,
    N_BYTES_BODY,
    N_TOTAL,
    N_SEQ
};

static const sn_expr_name names[] = {
    [N_URL] = {"url", SN_EXPR_TEXT},
    [N_HOST] = {"host", SN_EXPR_TEXT},
    [N_OUTCOME] = {"outcome", SN_EXPR_TEXT},
    [N_OK] = {"ok", SN_EXPR_BOOL},
    [N_STATUS] = {"status", SN_EXPR_NUMBER},
    [N_KIND] = {"error.kind", SN_EXPR_TEXT},
    [N_ATTEMPTS] = {"attempts", SN_EXPR_NUMBER},
    [N_DEPTH] = {"depth", SN_EXPR_NUMBER},
    [N_TS] = {"ts", SN_EXPR_TEXT},
    [N_BYTES_IN] = {"bytes_in", SN_EXPR_NUMBER},
    [N_BYTES_BODY] = {"bytes_body", SN_EXPR_NUMBER},
    [N_TOTAL] = {"time.total", SN_EXPR_NUMBER},
    [N_SEQ] = {"seq", SN_EXPR_NUMBER},
};

/* One result and the URL it is of; texts are made when they are asked for. */
typedef struct row {
    seine_durable_job *job;
    sn_zone_files *zones;
    const int64_t *result; /* columns of the table */
    sn_job_row url;        /* its row; url.texts[0] is the path, or all of it */
    sn_str host;           /* "http://e.example:80"; "" of a given one */
    char text[2 * SN_STORE_TEXT + 512], stamp[SN_STAMP];
} row;

typedef struct picked {
    int64_t seq, number;
} picked;

typedef struct retry {
    seine_durable_job *job;
    sn_expr *where;
    sn_expr_runner *runner;
    sn_zone_files zones;
    picked *all;
    size_t n, room;
} retry;

static sn_expr_value
text_of(sn_str s)
{
    return (sn_expr_value){SN_EXPR_TEXT, .text = s};
}

static sn_expr_value
number_of(double n)
{
    return (sn_expr_value){SN_EXPR_NUMBER, .number = n};
}

/* As a record has it: without the port that is the scheme's own. */
static sn_str
host_of(const row *r)
{
    sn_str name = r->host.len > 0 ? r->host : r->url.texts[0];
    const char *at = memmem(name.ptr, name.len, "://", 3);

    if (!at)
        return (sn_str){0};
    bool is_tls = sn_str_starts(name, SN_STR("https:"));
    name = sn_str_slice(name, (size_t)(at + 3 - name.ptr), name.len);
    for (size_t i = 0; i < name.len; i++)
        if (strchr("/?#", name.ptr[i]))
            name.len = i;
    sn_str own = is_tls ? SN_STR(":443") : SN_STR(":80");
    if (sn_str_ends(name, own))
        name.len -= own.len;
    const char *colon = memrchr(name.ptr, ':', name.len);
    if (colon && !memchr(colon, ']', (size_t)(name.ptr + name.len - colon)))
        name.len = (size_t)(colon - name.ptr); /* `host` of a record has no port */
    return name;
}

static sn_str
url_of(row *r)
{
    sn_str host = sn_job_host_shown(r->host);
    int n = snprintf(r->text, sizeof r->text, "%.*s%.*s", SN_FMT(host),
                     SN_FMT(r->url.texts[0]));
    return (sn_str){r->text, (size_t)n < sizeof r->text ? (size_t)n : sizeof r->text - 1};
}

static sn_str
stamp_of(row *r)
{
    sn_text_writer w = sn_text_writer_on(r->stamp, sizeof r->stamp);

    sn_text_writer_stamp(&w, r->result[5] * 1000000);
    return (sn_str){r->stamp, sn_text_writer_len(&w)};
}

static void
member(void *arg, unsigned index, sn_str rest, sn_expr_value *out)
{
    row *r = arg;
    const int64_t *v = r->result;
    seine_err kind = (seine_err)v[2];

    (void)rest;
    switch (index) {
    case N_URL:
        *out = text_of(url_of(r));
        break;
    case N_HOST:
        *out = text_of(host_of(r));
        break;
    case N_OUTCOME:
        *out = text_of(sn_str_of(seine_fate_name(seine_fate_of(kind))));
        break;
    case N_OK:
        *out =
            (sn_expr_value){SN_EXPR_BOOL, .truth = seine_fate_of(kind) == SEINE_FATE_OK};
        break;
    case N_STATUS:
        if (v[3] > 0)
            *out = number_of((double)v[3]);
        break;
    case N_KIND:
        if (kind != SEINE_OK)
            *out = text_of(sn_str_of(seine_err_name(kind)));
        break;
    case N_ATTEMPTS:
        *out = number_of((double)v[4]);
        break;
    case N_DEPTH:
        *out = number_of((double)r->url.ints[5]);
        break;
    case N_TS:
        *out = text_of(stamp_of(r));
        break;
    case N_BYTES_IN:
        *out = number_of((double)v[6]);
        break;
    case N_BYTES_BODY:
        *out = number_of((double)v[7]);
        break;
    case N_TOTAL:
        *out = number_of((double)v[8] / 1000);
        break;
    default:
        *out = number_of((double)v[0]);
        break;
    }
}

static bool
zone_offset(void *arg, sn_str name, int64_t local, int64_t *out_offset)
{
    const row *r = arg;

    return sn_zone_files_offset(r->zones, name, local, out_offset);
}

static bool
has_zone(void *arg, sn_str name)
{
    return sn_zone_files_has(arg, name);
}

/* Picking */

static seine_err
keep(retry *r, int64_t seq, int64_t number)
{
    if (r->n == r->room) {
        size_t more = r->room ? r->room * 2 : 256;
        picked *all = sn_realloc(r->all, more * sizeof *all);

        if (!all)
            return SEINE_E_NOMEM;
        r->all = all;
        r->room = more;
    }
    r->all[r->n++] = (picked){seq, number};
    return SEINE_OK;
}

/* A result whose URL has no row cannot be work again; there is none, unless it is a skip.
 */
static seine_err
judge(retry *r, row *of, const int64_t *result)
{
    seine_durable_job *j = r->job;
    sn_expr_source source = {.member = member, .zone = zone_offset, .arg = of};
    bool there = false, is = false;

    if (result[2] >= SN_JOB_SKIP)
        return SEINE_OK;
    seine_err e = sn_job_table_get(&j->tables[SN_TABLE_URL], result[1], &of->url, &there);
    if (e != SEINE_OK || !there)
        return e;
    int64_t id = of->url.ints[1];
    of->host = id > 0 ? j->by_id[id]->name : SN_STR("");
    of->result = result;
    e = sn_expr_is(r->where, r->runner, &source, &is);
    return e == SEINE_OK && is ? keep(r, result[0], result[1]) : e;
}

static seine_err
pick(retry *r)
{
    row *of SN_AUTOFREE = sn_zalloc(sizeof *of);
    sn_job_table *t = &r->job->tables[SN_TABLE_RESULT];
    sn_job_row result;
    bool there = true;
    seine_err e = of ? SEINE_OK : SEINE_E_NOMEM;

    if (of)
        of->zones = &r->zones;
    while (e == SEINE_OK && (e = sn_job_table_next(t, &result, &there)) == SEINE_OK &&
           there)
        e = judge(r, of, result.ints);
    for (unsigned i = 0; i < SN_TABLES; i++)
        sn_job_table_reset(&r->job->tables[i]);
    return e;
}

/* Changing */

static seine_err
forget(retry *r)
{
    int64_t *seqs SN_AUTOFREE = sn_calloc(r->n + 1, sizeof *seqs);

    for (size_t i = 0; i < r->n && seqs; i++)
        seqs[i] = r->all[i].seq;
    return seqs ? sn_job_table_drop(&r->job->tables[SN_TABLE_RESULT], seqs, r->n)
                : SEINE_E_NOMEM;
}

static bool
set_text(char **to, const char *text)
{
    size_t n = text ? strlen(text) + 1 : 0;
    char *copy = text ? sn_alloc(n) : *to;

    if (!copy)
        return false;
    if (text) {
        sn_free(*to);
        *to = memcpy(copy, text, n);
    }
    return true;
}

/* All of it, or nothing. */
static seine_err
open_again(retry *r, const seine_job_retry_opts *o)
{
    seine_durable_job *j = r->job;
    sn_job_head head = j->head;

    if (!set_text(&j->facts.spec, o->spec) || !set_text(&j->facts.command, o->command))
        return SEINE_E_NOMEM;
    head.results -= (int64_t)r->n;
    seine_err e = sn_sqlite_exec(j->db, "BEGIN IMMEDIATE");
    if (e == SEINE_OK)
        e = forget(r);
    if (e == SEINE_OK)
        e = sn_job_forget_notes(j, &head);
    if (e == SEINE_OK)
        e = sn_job_put_head(j, &head);
    j->facts.state = SN_JOB_STOPPED;
    if (e == SEINE_OK)
        e = sn_job_put_facts(j);
    if (e == SEINE_OK)
        e = sn_sqlite_exec(j->db, "COMMIT");
    if (e == SEINE_OK)
        j->head = head;
    return e;
}

static seine_err
compile(retry *r, const char *where, seine_diag *diag)
{
    sn_expr_scope scope = {.names = names,
                           .count = sizeof names / sizeof *names,
                           .words = true,
                           .has_zone = has_zone,
                           .arg = &r->zones};
    seine_err e = sn_expr_compile(sn_str_of(where ? where : DEFAULT_WHERE), &scope,
                                  &r->where, diag);

    return e == SEINE_OK ? sn_expr_runner_new(&r->runner) : e;
}

static void
say(seine_diag *diag, seine_err e)
{
    if (diag && diag->text[0] == '\0')
        sn_diag_text(diag, "%s", seine_err_text(e));
}

static seine_err
scan_and_pick(retry *r, seine_durable_job *j, seine_diag *diag)
{
    static const sn_job_scan nothing;

    r->job = j;
    r->n = 0;
    seine_err e = sn_job_scan_all(j, &nothing, diag);
    return e == SEINE_OK ? pick(r) : e;
}

/* Looks without owning the job: a condition that fails changes nothing. */
static seine_err
try_it(retry *r, const seine_job_retry_opts *o, seine_diag *diag)
{
    seine_job_view *v;
    seine_err e = seine_job_view_open(o->state, o->name, &v, diag);

    if (e != SEINE_OK)
        return e;
    const seine_job_about *a = seine_job_view_about(v);
    if (a->err != SEINE_OK) {
        sn_diag_text(diag, "%s", a->why);
        e = a->err;
    } else {
        e = scan_and_pick(r, sn_job_of_view(v), diag);
    }
    seine_job_view_free(v);
    return e;
}

static seine_err
do_it(retry *r, const seine_job_retry_opts *o, seine_diag *diag)
{
    seine_job_opts open = SEINE_JOB_OPTS;
    seine_durable_job *j;

    open.state = o->state;
    open.name = o->name;
    open.must_exist = open.any_spec = true;
    seine_err e = seine_job_open(&open, &j, diag);
    if (e != SEINE_OK)
        return e;
    j->facts.run--; /* this is no run of it */
    e = scan_and_pick(r, j, diag);
    if (e == SEINE_OK)
        e = open_again(r, o);
    if (e != SEINE_OK)
        j->err = e; /* nothing is committed */
    seine_err closed = seine_job_close(j, false);
    return e != SEINE_OK ? e : closed;
}

seine_err
seine_job_retry(const seine_job_retry_opts *opts, uint64_t *out_n, seine_diag *diag)
{
    retry r = {.job = NULL};

    sn_diag_clear(diag);
    if (!out_n || !sn_opts_fit(opts, sizeof *opts) || !opts->name)
        return SEINE_E_INVAL;
    seine_err e = compile(&r, opts->where, diag);
    if (e == SEINE_OK)
        e = try_it(&r, opts, diag);
    if (e == SEINE_OK && !opts->is_trial && r.n > 0)
        e = do_it(&r, opts, diag);
    if (e == SEINE_OK)
        *out_n = r.n;
    else
        say(diag, e);
    sn_free(r.all);
    sn_zone_files_fini(&r.zones);
    sn_expr_runner_free(r.runner);
    sn_expr_free(r.where);
    return e;
}
