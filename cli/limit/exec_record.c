/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/exec_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <seine/calendar.h>

#include "limit/limit.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"

int
exec_records_open(exec_records *all, const char *path, bool overwrite)
{
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY;

    *all = (exec_records){.path = path};
    pthread_mutex_init(&all->lock, NULL);
    all->fd = open(path, flags | (overwrite ? O_TRUNC : O_EXCL), 0666);
    if (all->fd >= 0)
        return SAY_DONE;
    if (errno == EEXIST)
        return say_fail(SAY_USAGE, "another name, or --overwrite", "'%s' exists already",
                        show(path).text);
    return say_fail(SAY_MACHINE, "a directory that you may write to",
                    "cannot write '%s': %s", show(path).text, show_errno(errno).text);
}

static void
put_time(seine_json *record)
{
    struct timespec now;
    char text[64];

    clock_gettime(CLOCK_REALTIME, &now);
    seine_date d = seine_calendar_date(now.tv_sec);
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ", d.year, d.month,
             d.day, d.hour, d.minute, d.second, now.tv_nsec / 1000);
    jsonl_set(record, "ts", jsonl_string(text));
}

static seine_json *
begin_record(exec_records *all, const char *type)
{
    seine_json *record = xalloc_json(seine_json_new_object());

    jsonl_set(record, "v", seine_json_new_int(1));
    jsonl_set(record, "type", jsonl_string(type));
    jsonl_set(record, "seq", seine_json_new_int((int64_t)++all->seq));
    put_time(record);
    return record;
}

/* Writes a record as one line and frees it. */
static void
write_record(exec_records *all, seine_json *record)
{
    seine_text text;

    if (seine_json_print(record, &text) != SEINE_OK)
        (void)xalloc_json(NULL);
    char *line = xalloc_copy(text.bytes, text.len + 1);
    line[text.len] = '\n';
    size_t left = text.len + 1;
    for (const char *at = line; left > 0 && all->failed == 0;) {
        ssize_t n = write(all->fd, at, left);

        if (n >= 0) {
            at += n;
            left -= (size_t)n;
        } else if (errno != EINTR) {
            all->failed = errno;
        }
    }
    free(line);
    seine_text_free(&text);
    seine_json_free(record);
}

static const char *
outcome_of(const exec_result *r)
{
    if (!r->argv)
        return r->is_limited ? "gave_up" : NULL;
    return r->end.late ? "timeout" : r->end.code == 0 ? "ok" : "exec_failed";
}

static seine_json *
describe_command(const exec_result *r)
{
    seine_json *exec = xalloc_json(seine_json_new_object());
    seine_json *argv = xalloc_json(seine_json_new_array());

    for (char **word = r->argv; *word; word++)
        jsonl_add(argv, jsonl_string(*word));
    jsonl_set(exec, "argv", argv);
    if (r->end.signal)
        jsonl_set(exec, "signal", seine_json_new_int(r->end.signal));
    else
        jsonl_set(exec, "exit", seine_json_new_int(r->end.code));
    return exec;
}

static seine_json *
describe_error(const char *name, const char *message, bool retryable)
{
    seine_json *error = xalloc_json(seine_json_new_object());

    jsonl_set(error, "kind", jsonl_string(name));
    jsonl_set(error, "message", jsonl_string(message));
    jsonl_set(error, "retryable", seine_json_new_bool(retryable));
    return error;
}

static seine_json *
describe_time(const exec_result *r)
{
    seine_json *time = xalloc_json(seine_json_new_object());

    jsonl_set(time, "throttle", jsonl_in(r->started - r->ready, SEINE_MS(1)));
    jsonl_set(time, "total", jsonl_in(r->end.took, SEINE_MS(1)));
    return time;
}

void
exec_records_put(exec_records *all, const exec_result *r)
{
    const char *outcome = outcome_of(r);

    if (all->fd < 0)
        return;
    pthread_mutex_lock(&all->lock);
    seine_json *record = begin_record(all, outcome ? "result" : "skip");
    seine_json *input = seine_json_new_string(r->line->text, r->line->len);
    jsonl_set(record, "input", input ? input : jsonl_string(r->line->text));
    jsonl_set(record, "line", seine_json_new_int((int64_t)r->line->number));
    if (!outcome) {
        jsonl_set(record, "reason", jsonl_string("bad_input"));
        jsonl_set(record, "rule", jsonl_string(r->why));
    } else {
        jsonl_set(record, "outcome", jsonl_string(outcome));
        jsonl_set(record, "ok", seine_json_new_bool(strcmp(outcome, "ok") == 0));
        jsonl_set(record, "attempts", seine_json_new_int(r->attempts));
    }
    if (r->is_limited)
        jsonl_set(record, "error", describe_error("limited", r->why, true));
    if (r->argv && r->end.late)
        jsonl_set(
            record, "error",
            describe_error("timeout", "the command took longer than --timeout", true));
    if (r->argv) {
        jsonl_set(record, "exec", describe_command(r));
        jsonl_set(record, "time", describe_time(r));
    }
    write_record(all, record);
    pthread_mutex_unlock(&all->lock);
}

bool
exec_records_close(exec_records *all, const limit_run *run)
{
    const limit_counts *c = &run->counts;

    if (all->fd < 0)
        return true;
    seine_json *sum = begin_record(all, "summary");
    jsonl_set(sum, "command", jsonl_string("limit"));
    jsonl_set(sum, "total",
              seine_json_new_int((int64_t)(c->ok + c->failed + c->limited + c->bad)));
    jsonl_set(sum, "ok", seine_json_new_int((int64_t)c->ok));
    jsonl_set(sum, "failed", seine_json_new_int((int64_t)(c->failed + c->limited)));
    jsonl_set(sum, "skipped", seine_json_new_int((int64_t)c->bad));
    jsonl_set(sum, "wall_ms", jsonl_in(seine_now() - run->from, SEINE_MS(1)));
    int failed = atomic_load(&run->failed);
    jsonl_set(sum, "stopped_by",
              jsonl_string(failed == EPIPE             ? "pipe"
                           : failed                    ? "disk"
                           : atomic_load(&run->signal) ? "signal"
                                                       : "done"));
    write_record(all, sum);
    if (close(all->fd) != 0 && all->failed == 0)
        all->failed = errno;
    all->fd = -1;
    if (all->failed)
        say_fail(SAY_MACHINE, say_write_advice(show_errno(all->failed).text),
                 "cannot write '%s': %s", show(all->path).text,
                 show_errno(all->failed).text);
    return all->failed == 0;
}
