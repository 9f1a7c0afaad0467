/* SPDX-License-Identifier: Apache-2.0 */
#include "kills.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "disk.h"
#include "job_disk.h"
#include "site.h"
#include "store/job_parts.h"

typedef struct promise { /* that a host was made, as of the last commit */
    seine_time pause, closed_until;
} promise;

struct sim_kills {
    sim_world *world;
    sn_rng dice;
    char dir[64];
    seine_durable_job *job;
    uint64_t seq;
    uint32_t kills;     /* that are still to come */
    uint32_t every;     /* steps between two commits, about */
    uint64_t next_kill; /* step */
    bool is_by_disk;    /* the next one: a write fails, and the run ends for it */
    bool is_due;
    /* as of the last commit */
    site_node *nodes;
    uint32_t n_nodes;
    site_host *hosts;
    sim_page *pages;
    promise *promises;
    uint64_t pages_asked, records, skips, done_seq;
};

static void
keep(void *copy, const void *from, size_t size)
{
    void **at = copy;

    *at = realloc(*at, size > 0 ? size : 1);
    memcpy(*at, from, size);
}

/* What the oracle knows now is what it will know after a kill. */
static void
remember(sim_kills *k)
{
    const sim_world *w = k->world;

    if (w->site) {
        keep(&k->nodes, w->site->nodes, w->site->n * sizeof *w->site->nodes);
        k->n_nodes = w->site->n;
        keep(&k->hosts, w->site->hosts, w->site->n_hosts * sizeof *w->site->hosts);
    }
    keep(&k->pages, w->pages, w->n_pages * sizeof *w->pages);
    k->promises = realloc(k->promises, (w->n_hosts + 1) * sizeof *k->promises);
    for (uint32_t i = 0; i < w->n_hosts; i++)
        k->promises[i] = (promise){w->hosts[i].pause, w->hosts[i].closed_until};
    k->pages_asked = w->pages_asked;
    k->done_seq = k->seq;
}

static void
draw_kill(sim_kills *k)
{
    k->next_kill = k->world->step + 1 + sn_rng_below(&k->dice, 200);
    k->is_by_disk = sn_rng_below(&k->dice, 3) == 0;
}

sim_kills *
sim_kills_new(sim_world *w)
{
    sim_kills *k = calloc(1, sizeof *k);
    const char *where = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

    k->world = w;
    k->dice = sn_rng_seed(w->seed ^ UINT64_C(0xdead));
    k->kills = 1 + (uint32_t)sn_rng_below(&k->dice, 4);
    k->every = 1 + (uint32_t)sn_rng_below(&k->dice, 20);
    snprintf(k->dir, sizeof k->dir, "%s/seine-sim-XXXXXX", where);
    if (!mkdtemp(k->dir))
        abort();
    w->opts.park = 0; /* nobody is given up: what is left would have no record */
    w->opts.max_retry_after = SEINE_SECS(3600 * 24);
    sim_disk_good(w);
    sim_job_disk_install();
    draw_kill(k);
    remember(k);
    return k;
}

static void
remove_job(const sim_kills *k)
{
    static const char *const files[] = {"job/job.db",
                                        "job/job.db-wal",
                                        "job/job.db-shm",
                                        "job/lock",
                                        "job/ballast",
                                        "job",
                                        ""};
    char path[128];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", k->dir, files[i]);
        if (remove(path) != 0)
            continue; /* it was never made */
    }
}

void
sim_kills_free(sim_kills *k)
{
    if (!k)
        return;
    (void)seine_job_close(k->job, true);
    remove_job(k);
    free(k->nodes);
    free(k->hosts);
    free(k->pages);
    free(k->promises);
    free(k);
}

seine_err
sim_kills_open(sim_kills *k, seine_durable_job **out_job, seine_diag *diag)
{
    seine_job_opts o = SEINE_JOB_OPTS;

    o.state = k->dir;
    o.name = "job";
    o.durability = SEINE_DURABILITY_FAST;
    o.is_remote_ok = true;
    seine_err e = seine_job_open(&o, &k->job, diag);
    *out_job = k->job;
    return e;
}

void
sim_kills_record(sim_kills *k, const seine_record *r)
{
    seine_err e = sn_job_result(k->job, r, ++k->seq);

    if (e != SEINE_OK)
        sim_broken(k->world, "S14", "record %llu of the job: %s",
                   (unsigned long long)r->number, seine_err_name(e));
}

/* One commit on a disk whose n-th write fails. True: it did, and the job says so; then
 * it commits nothing any more, also when the disk is good again. */
static bool
fail_commit(sim_kills *k)
{
    seine_diag diag = SEINE_DIAG;
    sim_write_failure how = (sim_write_failure)sn_rng_below(&k->dice, 3);

    sim_job_disk_fail((uint32_t)sn_rng_below(&k->dice, 12), how);
    seine_err e = sn_job_commit(k->job, &diag);
    if (!sim_job_disk_has_failed()) {
        sim_job_disk_mend();
        if (e != SEINE_OK)
            sim_broken(k->world, "S14", "commit: %s", diag.text);
        return false;
    }
    if (e != (how == WRITE_FULL ? SEINE_E_DISK_FULL : SEINE_E_IO))
        sim_broken(k->world, "S14", "the disk failed, and the commit says %s",
                   seine_err_name(e));
    if (sn_rng_below(&k->dice, 2) == 0)
        sim_job_disk_mend();
    if (sn_job_commit(k->job, &diag) == SEINE_OK)
        sim_broken(k->world, "S14", "the job goes on after a commit that failed");
    return true;
}

/* True: the disk has failed. */
static bool
commit_group(sim_kills *k, bool may_fail)
{
    seine_diag diag = SEINE_DIAG;

    if (may_fail && fail_commit(k))
        return true;
    seine_err e = sn_job_commit(k->job, &diag);
    if (e == SEINE_OK) /* what ended in this group follows in the next */
        e = sn_job_commit(k->job, &diag);
    if (e != SEINE_OK)
        sim_broken(k->world, "S14", "commit: %s", diag.text);
    remember(k);
    return false;
}

bool
sim_kills_step(sim_kills *k, const uint64_t *records, const uint64_t *skips)
{
    bool is_time = k->kills > 0 && k->world->step >= k->next_kill;

    k->is_due = is_time && !k->is_by_disk;
    if (sn_rng_below(&k->dice, k->every) == 0) {
        if (commit_group(k, is_time && k->is_by_disk)) {
            k->is_due = true;
            return true;
        }
        k->records = *records;
        k->skips = *skips;
    }
    return k->is_due;
}

bool
sim_kills_is_due(const sim_kills *k)
{
    return k->is_due;
}

void
sim_kills_crash(sim_kills *k)
{
    k->job->err = SEINE_E_IO; /* nothing is committed any more */
    (void)seine_job_close(k->job, false);
    k->job = NULL;
    sim_job_disk_mend();
}

static void
restore_site(sim_kills *k)
{
    site *s = k->world->site;

    for (uint32_t i = 0; i < s->n; i++) {
        site_node *node = &s->nodes[i];
        site_node blank = {.url = node->url,
                           .id = node->id,
                           .next = node->next,
                           .len = node->len,
                           .host = node->host,
                           .path = node->path,
                           .n = node->n,
                           .kind = node->kind,
                           .skip = node->skip,
                           .given = node->given};
        uint32_t asked = node->asked;

        if (i < k->n_nodes) {
            uint32_t next = node->next; /* of its bucket */
            *node = k->nodes[i];
            node->next = next;
        } else {
            *node = blank; /* mentioned since, and forgotten */
        }
        node->asked = asked; /* its dice go on */
        node->flying = false;
    }
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        site_host *h = &s->hosts[i];
        seine_time last = h->last, seen = h->seen, seen_left = h->seen_left;

        *h = k->hosts[i];
        h->last = last; /* what the server has seen */
        h->seen = seen;
        h->seen_left = seen_left;
        h->robots_since = 0; /* once more at every start */
        if (k->world->opts.max_memory < 1 << 20)
            h->sure = false; /* there may be no room for the rules of all hosts */
    }
}

void
sim_kills_restore(sim_kills *k, uint64_t *out_records, uint64_t *out_skips)
{
    sim_world *w = k->world;

    w->was_killed = true;
    if (w->site)
        restore_site(k);
    for (uint32_t i = 0; i < w->n_pages; i++) {
        uint32_t asked = w->pages[i].asked;

        w->pages[i] = k->pages[i];
        w->pages[i].asked = asked;
    }
    for (uint32_t i = 0; i < w->n_hosts; i++) {
        sim_host *h = &w->hosts[i];

        h->pause = k->promises[i].pause;
        h->closed_until = k->promises[i].closed_until;
        h->half_open = false;
        h->row = h->wave = h->idle = 0;
        h->epoch++;
    }
    w->pages_asked = k->pages_asked;
    k->seq = k->done_seq;
    *out_records = k->records;
    *out_skips = k->skips;
    k->kills--;
    k->is_due = false;
    draw_kill(k);
}

static seine_err
count_url(const sn_job_url *u, void *arg)
{
    uint64_t *n = arg;

    (void)u;
    ++*n;
    return SEINE_OK;
}

void
sim_kills_judge(sim_kills *k, uint64_t left)
{
    uint64_t n = 0;
    sn_job_scan into = {.url = count_url, .arg = &n};
    seine_diag diag = SEINE_DIAG;
    seine_err e = seine_job_close(k->job, false);

    if (e == SEINE_OK)
        e = sim_kills_open(k, &k->job, &diag);
    if (e == SEINE_OK)
        e = sn_job_scan_all(k->job, &into, &diag);
    if (e != SEINE_OK)
        sim_broken(k->world, "S14", "the job is not opened again: %s %s",
                   seine_err_name(e), diag.text);
    else if (n != left)
        sim_broken(k->world, "S14", "%llu are left, and the job has %llu to do",
                   (unsigned long long)left, (unsigned long long)n);
}
