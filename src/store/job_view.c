/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/job_view.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "store/job_parts.h"
#include "store/sqlite_beside.h"

enum { PATH_ROOM = 4096 };

struct seine_job_view {
    seine_durable_job *job;
    seine_job_about about;
    seine_diag why;
    char line[SEINE_DIAG_ROOM];
};

/* Names */

static int
by_bytes(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;

    return strcmp(*x, *y);
}

typedef struct names {
    char **all;
    size_t n, room;
} names;

static seine_err
keep_name(names *list, const char *name)
{
    if (list->n == list->room) {
        size_t more = list->room ? list->room * 2 : 16;
        char **all = sn_realloc(list->all, more * sizeof *all);

        if (!all)
            return SEINE_E_NOMEM;
        list->all = all;
        list->room = more;
    }
    size_t n = strlen(name) + 1;
    char *copy = sn_alloc(n);
    if (!copy)
        return SEINE_E_NOMEM;
    list->all[list->n++] = memcpy(copy, name, n);
    return SEINE_OK;
}

static bool
is_job(const char *state, const char *name)
{
    char path[PATH_ROOM];
    struct stat st;

    return sn_job_is_name(name) &&
           snprintf(path, sizeof path, "%s/%s/job.db", state, name) < PATH_ROOM &&
           lstat(path, &st) == 0;
}

static seine_err
list_names(DIR *dir, const char *state, names *list)
{
    const struct dirent *d;
    seine_err e = SEINE_OK;

    while (e == SEINE_OK && (d = readdir(dir)))
        if (is_job(state, d->d_name))
            e = keep_name(list, d->d_name);
    if (list->n > 1)
        qsort(list->all, list->n, sizeof *list->all, by_bytes);
    return e;
}

seine_err
seine_jobs_each(const char *state, seine_job_name_fn fn, void *arg, seine_diag *diag)
{
    names list = {NULL, 0, 0};

    sn_diag_clear(diag);
    if (!fn)
        return SEINE_E_INVAL;
    state = state ? state : ".seine";
    DIR *dir = opendir(state);
    if (!dir)
        return errno == ENOENT ? SEINE_OK : sn_job_fail("open", state, errno, diag);
    seine_err e = list_names(dir, state, &list);
    closedir(dir);
    for (size_t i = 0; i < list.n; i++) {
        if (e == SEINE_OK)
            fn(list.all[i], arg);
        sn_free(list.all[i]);
    }
    sn_free(list.all);
    return e;
}

/* Opening */

/* A database that nobody writes to needs no file beside it. */
static seine_err
open_db(seine_durable_job *j, bool is_still)
{
    char path[PATH_ROOM];

    if (snprintf(path, sizeof path, "%s/job.db", j->dir) >= PATH_ROOM)
        return SEINE_E_IO;
    seine_err e =
        sn_sqlite_open(path, is_still ? SN_SQLITE_STILL : SN_SQLITE_READ, &j->db);
    if (e != SEINE_OK)
        return e;
    sn_sqlite_trust(j->db);
    e = sn_sqlite_exec(j->db, "PRAGMA cell_size_check = ON; BEGIN");
    if (e == SEINE_OK)
        e = sn_job_tables_open(j->db, j->tables);
    if (e == SEINE_OK)
        e = sn_job_read_facts(j);
    if (e == SEINE_OK)
        e = sn_job_read_head(j);
    if (e == SEINE_OK)
        e = sn_job_read_round(j);
    return e == SEINE_OK ? sn_job_outputs_load(j) : e;
}

static void
close_db(seine_durable_job *j)
{
    sn_sqlite_close(j->db);
    j->db = NULL;
    sn_job_outputs_free(j);
}

/* Has it a format that lacks tables? To look changes nothing, so it is not converted. */
static bool
is_older(seine_durable_job *j)
{
    int64_t format = SN_JOB_FORMAT;

    return j->db && sn_job_format(j->db, &format) == SEINE_OK && format > 0 &&
           format < SN_JOB_FORMAT;
}

/* A job that starts between the look and the open is read as one that runs. */
static seine_err
read_state(seine_durable_job *j, bool is_locked, seine_diag *diag)
{
    char path[PATH_ROOM], name[SEINE_DIAG_FILE];
    sn_beside beside;
    seine_err e = sn_job_check_head(j, diag);

    if (e != SEINE_OK)
        return e;
    snprintf(path, sizeof path, "%s/job.db", j->dir);
    sn_beside_look(path, &beside);
    if (beside.foreign)
        return sn_beside_refuse("job.db", beside.foreign, diag);
    bool is_still = !is_locked && !beside.is_filled;
    e = open_db(j, is_still);
    if (e != SEINE_OK && is_still) {
        close_db(j);
        e = open_db(j, false);
    }
    if (e == SEINE_OK)
        return SEINE_OK;
    sn_diag_path(j->dir, name);
    if (is_older(j))
        sn_diag_text(diag, "%s/job.db is of an older version; its next run converts it",
                     name);
    else if (e == SEINE_E_STATE_CORRUPT || e == SEINE_E_STATE_FOREIGN)
        sn_diag_text(diag, "%s/job.db is damaged", name);
    else
        sn_diag_text(diag, "cannot read %s/job.db: %s", name, seine_err_text(e));
    return e == SEINE_E_STATE_FOREIGN ? SEINE_E_STATE_CORRUPT : e;
}

/* Counting */

static void
count_kind(seine_job_about *a, int64_t kind)
{
    seine_fate fate = kind < SN_JOB_SKIP ? seine_fate_of((seine_err)kind) : SEINE_FATE_OK;

    if (kind >= SN_JOB_SKIP)
        a->skipped++;
    else if (fate == SEINE_FATE_OK)
        a->ok++;
    else
        a->failed++;
}

/* Results by their kind, and how many of them are of URLs that have a row. */
static seine_err
count_results(seine_durable_job *j, seine_job_about *a)
{
    sn_job_table *t = &j->tables[SN_TABLE_RESULT];
    sn_job_row row = {.ints = {0}};
    bool there = true;
    uint64_t ended = (uint64_t)j->head.ended;
    seine_err e;

    while ((e = sn_job_table_next(t, &row, &there)) == SEINE_OK && there) {
        count_kind(a, row.ints[2]);
        ended += row.ints[10] == 0;
        a->bytes_in += (uint64_t)row.ints[6];
    }
    sn_job_table_reset(t);
    uint64_t found = (uint64_t)j->head.urls;
    a->pending = found > ended ? found - ended : 0;
    return e;
}

static seine_job_status
status_of(const seine_durable_job *j, bool is_locked)
{
    if (is_locked)
        return SEINE_JOB_IS_RUNNING;
    if (j->facts.state == SN_JOB_FINISHED)
        return SEINE_JOB_IS_FINISHED;
    return j->facts.clean ? SEINE_JOB_IS_STOPPED : SEINE_JOB_IS_FAILED;
}

/* Of a state that cannot be read, its file says how old it is. */
static void
fill_damaged(const seine_durable_job *j, seine_job_about *a)
{
    char path[PATH_ROOM];
    struct stat st;

    a->status = a->pid != 0 ? SEINE_JOB_IS_RUNNING : SEINE_JOB_IS_FAILED;
    a->verb = a->spec = a->command = "";
    a->ok = a->failed = a->skipped = a->pending = 0;
    snprintf(path, sizeof path, "%s/job.db", j->dir);
    if (lstat(path, &st) == 0)
        a->created = a->updated =
            st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
}

static void
fill_about(seine_job_view *v, bool is_locked)
{
    seine_job_about *a = &v->about;
    const sn_job_facts *f = &v->job->facts;

    a->verb = f->verb;
    a->spec = f->spec;
    a->command = f->command;
    a->run = (uint32_t)f->run;
    a->created = f->created_ms * 1000000;
    a->updated = (v->job->head.updated_ms > f->created_ms ? v->job->head.updated_ms
                                                          : f->created_ms) *
                 1000000;
    a->status = status_of(v->job, is_locked);
    a->err = count_results(v->job, a);
    if (a->status == SEINE_JOB_IS_FINISHED)
        a->pending = 0; /* pages that are not due are the affair of a later round */
}

static seine_err
open_view(seine_job_view *v, const char *state, const char *name, seine_diag *diag)
{
    seine_job_opts o = SEINE_JOB_OPTS;
    seine_job_about *a = &v->about;

    o.state = state;
    o.name = name;
    o.must_exist = true;
    o.is_remote_ok = true;
    seine_err e = sn_job_dir_open(v->job, &o, diag);
    if (e == SEINE_OK && !sn_job_file_exists(v->job, "job.db")) {
        sn_diag_text(diag, "there is no job '%s'", name);
        e = SEINE_E_IO;
    }
    if (e != SEINE_OK)
        return e;
    bool is_locked = sn_job_is_locked(v->job, &a->pid);
    a->path = v->job->dir;
    a->name = strrchr(v->job->dir, '/') + 1;
    a->bytes = sn_job_disk_use(v->job);
    a->err = read_state(v->job, is_locked, &v->why);
    if (a->err == SEINE_OK)
        fill_about(v, is_locked);
    if (a->err == SEINE_E_NOMEM)
        return a->err;
    if (a->err != SEINE_OK)
        fill_damaged(v->job, a);
    if (a->err != SEINE_OK && v->why.text[0] == '\0')
        sn_diag_text(&v->why, "%s/job.db: %s", v->job->dir, seine_err_text(a->err));
    (void)seine_diag_print(&v->why, NULL, v->line, sizeof v->line);
    a->why = v->line;
    return SEINE_OK;
}

seine_err
seine_job_view_open(const char *state, const char *name, seine_job_view **out_view,
                    seine_diag *diag)
{
    sn_diag_clear(diag);
    if (!out_view || !name)
        return SEINE_E_INVAL;
    if (!sn_job_is_name(name)) {
        sn_diag_text(diag, "there is no job '%.100s'", name);
        return SEINE_E_IO;
    }
    seine_job_view *v = sn_zalloc(sizeof *v);
    seine_durable_job *j = v ? sn_job_new() : NULL;
    if (!j) {
        sn_free(v);
        return SEINE_E_NOMEM;
    }
    v->job = j;
    seine_err e = open_view(v, state, name, diag);
    if (e != SEINE_OK) {
        seine_job_view_free(v);
        return e;
    }
    *out_view = v;
    return SEINE_OK;
}

void
seine_job_view_free(seine_job_view *v)
{
    if (!v)
        return;
    sn_job_free(v->job);
    sn_free(v);
}

/* Looking */

const seine_job_about *
seine_job_view_about(const seine_job_view *v)
{
    return v ? &v->about : NULL;
}

seine_durable_job *
sn_job_of_view(seine_job_view *v)
{
    return v->job;
}

void
seine_job_view_outputs(const seine_job_view *v, seine_job_output_fn fn, void *arg)
{
    for (unsigned i = 0; v && fn && v->about.err == SEINE_OK && i < v->job->n_outputs;
         i++) {
        const sn_job_output *o = &v->job->outputs[i]->out;
        /* A database counts records there, and has no tail. */
        bool is_bytes = o->committed > 0 && o->tail_crc != 0;
        seine_job_output out = {v->job->outputs[i]->path,
                                is_bytes ? (uint64_t)o->committed : 0};

        fn(&out, arg);
    }
}

typedef struct hosts {
    seine_job_host *all; /* in the order of their numbers */
    size_t n, room, told;
    bool is_finished; /* what has not ended is not due */
    int64_t wall;
    seine_job_host_fn fn;
    void *arg;
} hosts;

/* A moment that is still to come, in ns; 0: it has passed. */
static int64_t
ahead(const hosts *h, int64_t ms)
{
    return ms > h->wall / 1000000 ? ms * 1000000 : 0;
}

static seine_err
keep_host(const sn_job_host *row, void *arg)
{
    hosts *h = arg;

    if (h->n == h->room) {
        size_t more = h->room ? h->room * 2 : 64;
        seine_job_host *all = sn_realloc(h->all, more * sizeof *all);

        if (!all)
            return SEINE_E_NOMEM;
        h->all = all;
        h->room = more;
    }
    h->all[h->n++] = (seine_job_host){.next = ahead(h, row->next_ms),
                                      .pause = ahead(h, row->pause_ms),
                                      .open = ahead(h, row->open_ms),
                                      .breaker = (seine_breaker_state)row->breaker,
                                      .every = row->interval_us * INT64_C(1000),
                                      .delay = row->delay_ms * INT64_C(1000000)};
    return SEINE_OK;
}

static seine_err
tell_host(sn_str host, const sn_job_standing *n, void *arg)
{
    hosts *h = arg;

    if (h->told >= h->n)
        return SEINE_E_STATE_CORRUPT;
    seine_job_host *out = &h->all[h->told++];
    out->host = host;
    out->done = n->done;
    out->refused = n->refused + n->sitemaps;
    out->pending = h->is_finished ? 0 : n->waiting;
    h->fn(out, h->arg);
    return SEINE_OK;
}

seine_err
seine_job_view_hosts(seine_job_view *v, seine_job_host_fn fn, void *arg, seine_diag *diag)
{
    hosts h = {.fn = fn, .arg = arg, .wall = sn_job_wall_ms() * 1000000};
    sn_job_scan into = {.host = keep_host, .count = tell_host, .arg = &h};

    sn_diag_clear(diag);
    if (!v || !fn || v->job->is_scanned)
        return SEINE_E_INVAL;
    if (v->about.err != SEINE_OK) {
        if (diag)
            *diag = v->why;
        return v->about.err;
    }
    h.is_finished = v->about.status == SEINE_JOB_IS_FINISHED;
    seine_err e = sn_job_scan_all(v->job, &into, diag);
    sn_free(h.all);
    return e;
}

/* What is due */

typedef struct plan {
    seine_job_url_fn fn;
    void *arg;
    seine_job_due *due;
} plan;

static seine_err
tell_due(const sn_job_url *u, void *arg)
{
    const plan *p = arg;
    char text[2 * SN_STORE_TEXT + 512];
    int n = snprintf(text, sizeof text, "%.*s%.*s", SN_FMT(u->url.host),
                     SN_FMT(u->url.target));

    p->due->due++;
    if (p->fn && n > 0 && (size_t)n < sizeof text)
        p->fn((seine_view){text, (size_t)n}, p->arg);
    return SEINE_OK;
}

static seine_err
count_not_due(const sn_job_url *u, void *arg)
{
    (void)u;
    ((const plan *)arg)->due->not_due++;
    return SEINE_OK;
}

seine_err
seine_job_view_due(seine_job_view *v, int64_t wall, seine_job_url_fn fn, void *arg,
                   seine_job_due *out_due, seine_diag *diag)
{
    plan p = {fn, arg, out_due};

    sn_diag_clear(diag);
    if (!v || !out_due || v->job->is_scanned)
        return SEINE_E_INVAL;
    if (v->about.err != SEINE_OK) {
        if (diag)
            *diag = v->why;
        return v->about.err;
    }
    bool is_next = v->job->facts.state == SN_JOB_FINISHED;
    sn_job_scan into = {.url = tell_due,
                        .not_due = count_not_due,
                        .due_ms = wall / 1000000,
                        .next_round = is_next,
                        .arg = &p};
    *out_due = (seine_job_due){.round = (uint32_t)v->job->round.number + is_next};
    return sn_job_scan_all(v->job, &into, diag);
}

/* Removing */

seine_err
seine_job_remove(const char *state, const char *name, seine_diag *diag)
{
    seine_job_opts o = SEINE_JOB_OPTS;

    sn_diag_clear(diag);
    if (!name)
        return SEINE_E_INVAL;
    if (!sn_job_is_name(name)) {
        sn_diag_text(diag, "there is no job '%.100s'", name);
        return SEINE_E_IO;
    }
    seine_durable_job *j = sn_job_new();
    if (!j)
        return SEINE_E_NOMEM;
    o.state = state;
    o.name = name;
    o.must_exist = true;
    o.is_remote_ok = true;
    seine_err e = sn_job_dir_open(j, &o, diag);
    if (e == SEINE_OK)
        e = sn_job_lock(j, name, diag);
    if (e == SEINE_OK)
        e = sn_job_remove_all(j, diag);
    sn_job_free(j);
    return e;
}
