/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers that read what a run has on the disk: records, groups of them. Each is a job
 * of the readers; the call waits for it. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "console/api_runs.h"
#include "console/json_out.h"
#include "console/records.h"
#include "console/run_live.h"
#include "seine/job_retry.h"

enum { ANSWER_MOST = 16 << 20, PAGE_MOST = 200, TEXT_MOST = 1024, BODY_MOST = 4 << 20 };

/* A question to the disk. */
typedef struct question {
    sn_run_job job; /* first */
    sn_call *call;
    void (*answer)(struct question *q); /* on the thread of a reader */
    char run[SN_ULID], dir[1200], path[1200];
    uint64_t after, limit, seq;
    char where[TEXT_MOST], fields[TEXT_MOST];
    seine_err err;
    seine_diag diag;
    sn_buf out;
    const char *type; /* of the answer */
    const char *none; /* to say if there is nothing */
    bool is_retry;
    uint64_t queued;
} question;

static void
run_question(sn_run_job *j)
{
    question *q = (question *)j;

    q->answer(q);
}

static void
fail_question(question *q)
{
    char line[SEINE_DIAG_ROOM];

    if (q->err == SEINE_E_CONFIG) {
        seine_diag_print(&q->diag, NULL, line, sizeof line);
        sn_call_fail(q->call, SN_API_BAD_MESSAGE, line, "seine help expr");
    } else if (q->err == SEINE_E_UNKNOWN) {
        sn_call_fail(q->call, SN_API_NOT_FOUND, q->none ? q->none : "there is none",
                     NULL);
    } else {
        sn_call_fail_err(q->call, q->err);
    }
}

/* The URLs that were opened again are work for the next start of the run. */
static void
finish_retry(question *q)
{
    sn_console_run *r = sn_runs_find(q->call->console, sn_str_of(q->run));
    sn_buf b;

    if (r && q->queued > 0)
        (void)!sn_run_again(r);
    sn_buf_init(&b, 64);
    sn_buf_char(&b, '{');
    sn_json_out_int(&b, "queued", (int64_t)q->queued);
    sn_buf_char(&b, '}');
    sn_call_json(q->call, 200, &b);
}

static void
finish_question(sn_run_job *j)
{
    question *q = (question *)j;

    if (q->err != SEINE_OK)
        fail_question(q);
    else if (q->is_retry)
        finish_retry(q);
    else
        sn_call_text(q->call, 200, q->type, &q->out);
    sn_buf_fini(&q->out);
    sn_free(q);
}

/* A question about the run; NULL: the call is answered. */
static question *
new_question(sn_call *call, const sn_console_run *r, void (*answer)(question *q))
{
    question *q = sn_zalloc(sizeof *q);

    if (!q) {
        sn_call_fail_err(call, SEINE_E_NOMEM);
        return NULL;
    }
    q->call = call;
    q->answer = answer;
    q->job.run = run_question;
    q->job.done = finish_question;
    q->type = "application/json";
    q->err = SEINE_E_FULL; /* unless it is answered */
    sn_buf_init(&q->out, ANSWER_MOST);
    memcpy(q->run, r->meta.id, sizeof q->run);
    snprintf(q->dir, sizeof q->dir, "%s", r->dir);
    if (!sn_run_path(r, "records.sqlite", q->path, sizeof q->path))
        q->path[0] = '\0';
    return q;
}

static void
ask(question *q)
{
    if (sn_runs_read(q->call->console, &q->job) == SEINE_OK)
        return;
    sn_call_fail(q->call, SN_API_UNAVAILABLE, "too many questions wait for the disk",
                 NULL);
    sn_buf_fini(&q->out);
    sn_free(q);
}

static bool
copy_query(sn_call *call, const char *name, char *out, size_t cap)
{
    sn_str text;

    out[0] = '\0';
    if (!sn_call_query(call, name, &text))
        return true;
    if (text.len >= cap) {
        sn_call_fail(call, SN_API_TOO_LARGE, "a text of the query is too long", NULL);
        return false;
    }
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
    return true;
}

/* Records */

static bool
take_record(uint64_t seq, sn_str line, void *arg)
{
    question *q = arg;

    (void)seq;
    sn_json_out_next(&q->out);
    if (q->fields[0])
        sn_records_project(line, q->fields, &q->out);
    else
        sn_buf_str(&q->out, line);
    return q->out.len < ANSWER_MOST / 2;
}

static void
answer_records(question *q)
{
    sn_records_query query = {
        .path = q->path, .after = q->after, .limit = q->limit, .where = q->where};
    sn_records_end end = {.next = q->after, .is_all = true};

    sn_buf_text(&q->out, "{\"records\":[");
    q->err = sn_records_read(&query, take_record, q, &end, &q->diag);
    if (q->err == SEINE_E_UNKNOWN) /* the run has not begun to write */
        q->err = SEINE_OK;
    sn_buf_char(&q->out, ']');
    if (!end.is_all)
        sn_json_out_int(&q->out, "next", (int64_t)end.next);
    sn_buf_char(&q->out, '}');
}

void
sn_api_records(sn_call *call)
{
    sn_console_run *r = sn_api_find_run(call);
    uint64_t after, limit;

    if (!r || !sn_call_query_u64(call, "after", 0, INT64_MAX, 0, &after) ||
        !sn_call_query_u64(call, "limit", 1, PAGE_MOST, 50, &limit))
        return;
    question *q = new_question(call, r, answer_records);
    if (!q)
        return;
    q->after = after;
    q->limit = limit;
    if (!copy_query(call, "where", q->where, sizeof q->where) ||
        !copy_query(call, "fields", q->fields, sizeof q->fields)) {
        sn_buf_fini(&q->out);
        sn_free(q);
        return;
    }
    ask(q);
}

static void
answer_record(question *q)
{
    q->err = sn_records_one(q->path, q->seq, &q->out);
}

static void
answer_body(question *q)
{
    q->err = sn_records_body(q->path, q->seq, &q->out);
}

static void
ask_record(sn_call *call, void (*answer)(question *q), const char *type, const char *none)
{
    sn_console_run *r = sn_api_find_run(call);
    question *q = r ? new_question(call, r, answer) : NULL;

    if (!q)
        return;
    if (sn_str_u64(call->param[1], &q->seq) != SEINE_OK)
        q->seq = 0;
    q->type = type;
    q->none = none;
    ask(q);
}

void
sn_api_record(sn_call *call)
{
    ask_record(call, answer_record, "application/json", "no such record");
}

/* Whatever a page is, it arrives as text. */
void
sn_api_record_source(sn_call *call)
{
    ask_record(call, answer_body, "text/plain; charset=utf-8",
               "no page is stored with this record");
}

/* Groups */

static void
answer_errors(question *q)
{
    sn_buf_char(&q->out, '{');
    q->err = sn_records_errors(q->path, &q->out);
    if (q->err == SEINE_E_UNKNOWN) {
        sn_buf_text(&q->out, "[]");
        q->err = SEINE_OK;
    }
    sn_buf_char(&q->out, '}');
}

static void
answer_skips(question *q)
{
    sn_buf_char(&q->out, '{');
    q->err = sn_records_skips(q->path, &q->out);
    if (q->err == SEINE_E_UNKNOWN) {
        sn_buf_text(&q->out, "[]");
        q->err = SEINE_OK;
    }
    sn_buf_char(&q->out, '}');
}

static void
answer_hosts(question *q)
{
    sn_buf_text(&q->out, "{\"age_ms\":0");
    q->err = sn_records_hosts(q->path, sn_str_of(q->where), &q->out);
    if (q->err == SEINE_E_UNKNOWN) {
        sn_buf_text(&q->out, "[]");
        q->err = SEINE_OK;
    }
    sn_buf_char(&q->out, '}');
}

static void
answer_host(question *q)
{
    sn_buf_char(&q->out, '{');
    q->err = sn_records_host(q->path, sn_str_of(q->where), &q->out);
    sn_buf_char(&q->out, '}');
}

static void
ask_of_run(sn_call *call, void (*answer)(question *q))
{
    sn_console_run *r = sn_api_find_run(call);
    question *q = r ? new_question(call, r, answer) : NULL;

    if (q)
        ask(q);
}

/* A run whose records nobody keeps tells what it has seen. */
static bool
answer_live(sn_call *call, void (*put)(const sn_run_live *l, sn_buf *b))
{
    sn_console_run *r = sn_runs_find(call->console, call->param[0]);
    sn_buf b;

    if (!r || !r->is_guest || !r->live)
        return false;
    sn_buf_init(&b, ANSWER_MOST);
    sn_buf_char(&b, '{');
    put(r->live, &b);
    sn_buf_char(&b, '}');
    sn_call_json(call, 200, &b);
    return true;
}

void
sn_api_run_errors(sn_call *call)
{
    if (!answer_live(call, sn_run_frame_errors))
        ask_of_run(call, answer_errors);
}

void
sn_api_run_skips(sn_call *call)
{
    if (!answer_live(call, sn_run_frame_skips))
        ask_of_run(call, answer_skips);
}

void
sn_api_answer_host(sn_call *call, const sn_console_run *r)
{
    question *q = new_question(call, r, answer_host);

    if (!q)
        return;
    snprintf(q->where, sizeof q->where, "%.*s", SN_FMT(call->param[1]));
    q->none = "no such host in this run";
    ask(q);
}

void
sn_api_answer_hosts(sn_call *call, const sn_console_run *r)
{
    question *q = new_question(call, r, answer_hosts);

    if (!q)
        return;
    if (!copy_query(call, "q", q->where, sizeof q->where)) {
        sn_buf_fini(&q->out);
        sn_free(q);
        return;
    }
    ask(q);
}

/* Files */

static void
answer_file(question *q)
{
    int fd = open(q->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = 1;

    q->err = fd < 0 ? SEINE_E_UNKNOWN : SEINE_OK;
    while (fd >= 0 && n > 0) {
        char *at = sn_buf_reserve(&q->out, 65536);

        n = at ? read(fd, at, 65536) : -1;
        if (n > 0)
            sn_buf_commit(&q->out, (size_t)n);
    }
    if (fd >= 0)
        close(fd);
    if (n < 0)
        q->err = SEINE_E_IO;
    if (q->err == SEINE_E_UNKNOWN) { /* it has never run */
        sn_buf_text(&q->out, "{\"seconds\":[],\"minutes\":[]}");
        q->err = SEINE_OK;
    }
}

void
sn_api_answer_file(sn_call *call, const sn_console_run *r, const char *name)
{
    question *q = new_question(call, r, answer_file);

    if (!q)
        return;
    if (!sn_run_path(r, name, q->path, sizeof q->path))
        q->path[0] = '\0';
    ask(q);
}

/* Again */

static void
answer_retry(question *q)
{
    seine_job_retry_opts o = SEINE_JOB_RETRY_OPTS;

    o.state = q->dir;
    o.name = "job";
    o.where = q->where[0] ? q->where : NULL;
    q->err = seine_job_retry(&o, &q->queued, &q->diag);
    if (q->err == SEINE_E_IO)
        q->err = SEINE_E_UNKNOWN;
}

void
sn_api_run_retry(sn_call *call)
{
    sn_console_run *r = sn_api_find_run(call);
    const seine_json *object = r ? sn_call_object(call) : NULL;
    sn_str where = {NULL, 0};

    if (!object ||
        !sn_call_member_text(call, object, "where", false, TEXT_MOST - 1, &where))
        return;
    if (sn_run_is_live(r) || r->is_guest) {
        sn_call_fail(call, SN_API_BAD_STATE, "the run has not ended",
                     "cancel it first, or wait for its end");
        return;
    }
    question *q = new_question(call, r, answer_retry);
    if (!q)
        return;
    if (where.len > 0)
        memcpy(q->where, where.ptr, where.len);
    q->is_retry = true;
    q->none = "the run keeps no job";
    ask(q);
}
