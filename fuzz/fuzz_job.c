/* SPDX-License-Identifier: Apache-2.0 */
/* A job.db in which the input changes bytes and values: reading it ends well or is
 * refused. The input is a list of 6 bytes each: an offset, and what is added there. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/job_parts.h"

enum { MOST = 1 << 20, PATCH = 6 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[64], state[96], path[160];
static char *whole, *changed;
static size_t len;

static seine_err
take_url(const sn_job_url *u, void *arg)
{
    size_t *sum = arg;

    for (size_t i = 0; i < u->url.target.len; i++)
        *sum += (unsigned char)u->url.target.ptr[i];
    for (size_t i = 0; i < u->url.parent.len; i++)
        *sum += (unsigned char)u->url.parent.ptr[i];
    return SEINE_OK;
}

static seine_durable_job *
open_job(void)
{
    seine_job_opts o = SEINE_JOB_OPTS;
    seine_durable_job *j = NULL;

    o.state = state;
    o.name = "j";
    o.any_spec = true;
    return seine_job_open(&o, &j, NULL) == SEINE_OK ? j : NULL;
}

static void
must(bool ok)
{
    if (!ok)
        abort();
}

static void
clean(void)
{
    static const char *const names[] = {"job.db",  "job.db-wal", "job.db-shm",
                                        "ballast", "lock",       "job.db.new"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/j/%s", state, names[i]);
        (void)unlink(path);
    }
}

static void
remove_all(void)
{
    clean();
    snprintf(path, sizeof path, "%s/j", state);
    (void)rmdir(path);
    (void)rmdir(state);
    (void)rmdir(dir);
    free(whole);
    free(changed);
}

static void
make_template(void)
{
    seine_fault fault = SEINE_FAULT;

    snprintf(dir, sizeof dir, "/dev/shm/seine-fuzz-XXXXXX");
    if (!mkdtemp(dir)) {
        snprintf(dir, sizeof dir, "/tmp/seine-fuzz-XXXXXX");
        must(mkdtemp(dir) != NULL);
    }
    snprintf(state, sizeof state, "%s/state", dir);
    seine_durable_job *j = open_job();
    must(j && sn_job_start(j, 1) == SEINE_OK);
    for (uint64_t i = 0; i < 40; i++) {
        sn_job_url u = {.url = {.host = SN_STR("http://e.example:80"),
                                .target = SN_STR("/a/page"),
                                .number = i},
                        .print = i + 1,
                        .parent_number = i > 0 ? i - 1 : SN_JOB_NONE,
                        .ask = i > 0 ? (sn_str){0} : SN_STR("{}")};
        seine_record r = {.number = i, .fault = &fault};

        must(sn_job_found(sn_job_lane_at(j, 0), &u) == SEINE_OK);
        if (i % 3 == 0)
            must(sn_job_result(j, &r, i + 1) == SEINE_OK);
    }
    must(seine_job_close(j, false) == SEINE_OK);
    snprintf(path, sizeof path, "%s/j/job.db", state);
    FILE *f = fopen(path, "r");
    whole = malloc(MOST);
    changed = malloc(MOST);
    must(f && whole && changed);
    len = fread(whole, 1, MOST, f);
    fclose(f);
    atexit(remove_all);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sn_job_scan none;
    size_t sum = 0;

    if (!whole)
        make_template();
    memcpy(changed, whole, len);
    for (; size >= PATCH; data += PATCH, size -= PATCH) {
        size_t at = ((size_t)data[0] << 16 | (size_t)data[1] << 8 | data[2]) % len;

        for (size_t i = 0; i < 3 && at + i < len; i++)
            changed[at + i] = (char)(changed[at + i] + data[3 + i]);
    }
    clean();
    snprintf(path, sizeof path, "%s/j/job.db", state);
    FILE *f = fopen(path, "w");
    must(f && fwrite(changed, 1, len, f) == len);
    fclose(f);
    seine_durable_job *j = open_job();
    if (!j)
        return 0;
    sn_job_scan into = none;
    into.url = take_url;
    into.arg = &sum;
    seine_diag diag;
    (void)!(sn_job_scan_all(j, &into, &diag) == SEINE_OK);
    j->err = SEINE_E_CANCELED;
    (void)seine_job_close(j, false);
    return 0;
}
