/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job-driver DIR - works on a durable job that is a tree of 31 URLs, for tests that let
 * its disk fail and kill it.
 *
 * A run takes up what earlier ones have left. It ends three URLs at a time, each with a
 * result, finds the children of each, and commits all of it as one group. Only then it
 * says "done N" for each. A run that comes to the end says "all N", the number of URLs
 * that the state knows as ended. Exit: 0 finished, 2 the job cannot be opened, 3 a commit
 * failed; then one line on standard error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/job.h"

enum { URLS = 31, GROUP = 3 };

typedef struct tree {
    seine_durable_job *job;
    bool is_open[URLS], is_ended[URLS]; /* found and not ended; ended */
    unsigned ended;
} tree;

static int
fail(int code, seine_err e, const seine_diag *diag)
{
    char line[SEINE_DIAG_ROOM] = "";

    seine_diag_print(diag, NULL, line, sizeof line);
    fprintf(stderr, "%s: %s\n", seine_err_name(e), line);
    return code;
}

static seine_err
on_url(const sn_job_url *u, void *arg)
{
    tree *t = arg;

    if (u->url.number >= URLS || t->is_open[u->url.number] || t->is_ended[u->url.number])
        return SEINE_E_STATE_CORRUPT;
    t->is_open[u->url.number] = true;
    return SEINE_OK;
}

static seine_err
on_ended(const sn_job_ended_row *r, void *arg)
{
    tree *t = arg;

    if (r->number >= URLS || t->is_ended[r->number])
        return SEINE_E_STATE_CORRUPT;
    t->is_ended[r->number] = true;
    t->ended++;
    return SEINE_OK;
}

static seine_err
find(tree *t, uint64_t number, uint64_t parent)
{
    char target[32];

    if (number >= URLS)
        return SEINE_OK;
    int n = snprintf(target, sizeof target, "/%u", (unsigned)number);
    sn_job_url u = {.url = {.host = SN_STR("http://e.example:80"),
                            .target = {target, (size_t)n},
                            .number = number},
                    .print = number + 1,
                    .parent_number = parent};
    t->is_open[number] = true;
    return sn_job_found(sn_job_lane_at(t->job, 0), &u);
}

static seine_err
finish(tree *t, uint64_t number)
{
    seine_fault fault = SEINE_FAULT;
    seine_record r = {.type = SEINE_RECORD_RESULT,
                      .number = number,
                      .wall = INT64_C(1700000000000000000),
                      .fault = &fault,
                      .status = 200,
                      .attempts = 1};
    seine_err e = find(t, 2 * number + 1, number);

    if (e == SEINE_OK)
        e = find(t, 2 * number + 2, number);
    if (e == SEINE_OK)
        e = sn_job_result(t->job, &r, number + 1);
    t->is_open[number] = false;
    t->ended++;
    return e;
}

/* Ends up to three URLs that are open now; how many. */
static unsigned
work(tree *t, uint64_t numbers[GROUP], seine_err *out_err)
{
    unsigned n = 0;

    for (unsigned i = 0; i < URLS && n < GROUP; i++)
        if (t->is_open[i])
            numbers[n++] = i;
    for (unsigned i = 0; i < n && *out_err == SEINE_OK; i++)
        *out_err = finish(t, numbers[i]);
    return n;
}

/* Tells at once, past the buffers of stdio, which a kill would empty. */
static void
say(const char *word, uint64_t n)
{
    char line[40];
    int len = snprintf(line, sizeof line, "%s %u\n", word, (unsigned)n);

    (void)!write(STDOUT_FILENO, line, (size_t)len);
}

static seine_err
run(tree *t, seine_diag *diag)
{
    sn_job_scan into = {.ended = on_ended, .url = on_url, .arg = t};
    uint64_t numbers[GROUP];
    seine_err e = sn_job_scan_all(t->job, &into, diag);

    if (e == SEINE_OK)
        e = sn_job_start(t->job, 1);
    if (e == SEINE_OK && sn_job_next_number(t->job) == 0)
        e = find(t, 0, SN_JOB_NONE);
    for (unsigned n = 1; e == SEINE_OK && n > 0;) {
        n = work(t, numbers, &e);
        if (e == SEINE_OK)
            e = sn_job_commit(t->job, diag);
        for (unsigned i = 0; i < n && e == SEINE_OK; i++)
            say("done", numbers[i]);
    }
    return e;
}

int
main(int argc, char **argv)
{
    seine_job_opts o = SEINE_JOB_OPTS;
    seine_diag diag = SEINE_DIAG;
    tree t = {.job = NULL};

    if (argc != 2)
        return 125;
    o.state = argv[1];
    o.name = "j";
    o.any_spec = true;
    seine_err e = seine_job_open(&o, &t.job, &diag);
    if (e != SEINE_OK)
        return fail(2, e, &diag);
    e = run(&t, &diag);
    seine_err closed = seine_job_close(t.job, e == SEINE_OK);
    if (e == SEINE_OK && closed == SEINE_OK)
        say("all", t.ended);
    if (e != SEINE_OK)
        return fail(3, e, &diag);
    if (closed == SEINE_OK)
        return 0;
    fprintf(stderr, "%s: the job could not be closed\n", seine_err_name(closed));
    return 3;
}
