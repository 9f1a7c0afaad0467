/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports: a ticket first, then a download that is made piece by piece. A reader makes a
 * piece of about 256 KiB and ends; the next piece is asked for when this one was sent. So
 * an export holds no thread, and one that nobody reads costs nothing.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "console/access.h"
#include "console/api_runs.h"
#include "console/json_out.h"
#include "console/records.h"
#include "console/ticket.h"
#include "seine/record_where.h"

enum { ORDER_TEXT = 1024 };

/* What is to be downloaded. */
typedef struct order {
    char run[SN_ULID], user[SN_ULID];
    char format[8]; /* "jsonl", "csv", "html" */
    char fields[ORDER_TEXT], where[ORDER_TEXT];
} order_text;

enum { PIECE = 256 << 10, PIECE_MOST = 8 << 20, COLUMNS_MOST = 64 << 10 };

static const char columns[] =
    "seq,type,ts,url,final_url,host,outcome,status,error.kind,error.message,attempts,"
    "content_type,bytes_in,bytes_body,time.total,title,reason,rule,kind,n";

/* A download under way. */
typedef struct export
{
    sn_run_job job; /* first */
    struct export *next;
    sn_call *call; /* NULL: the client has gone */
    seine_console *console;
    order_text order;
    char dir[1200], path[1200], records[1200];
    char *columns; /* of a table */
    bool is_busy, is_end, is_begun;
    uint64_t after;
    off_t at; /* in a file */
    sn_buf out;
    size_t sent;
    seine_err err;
    seine_run_spec spec;
}
export;

static bool
take_line(uint64_t seq, sn_str line, void *arg)
{
    export *x = arg;

    (void)seq;
    if (strcmp(x->order.format, "csv") == 0) {
        sn_records_csv(line, x->columns, &x->out);
    } else if (x->order.fields[0]) {
        sn_records_project(line, x->order.fields, &x->out);
        sn_buf_char(&x->out, '\n');
    } else {
        sn_buf_str(&x->out, line);
        sn_buf_char(&x->out, '\n');
    }
    return x->out.len < PIECE;
}

/* The columns of a table are known before its first row. */
static seine_err
choose_columns(export *x)
{
    sn_buf b;

    sn_buf_init(&b, COLUMNS_MOST);
    sn_buf_text(&b, x->order.fields[0] ? x->order.fields : columns);
    seine_err e = x->order.fields[0] ? SEINE_OK : sn_records_columns(x->records, &b);
    if (e == SEINE_E_UNKNOWN)
        e = SEINE_OK;
    if (e == SEINE_OK)
        e = sn_buf_done(&b);
    if (e == SEINE_OK && !(x->columns = sn_run_copy(b.ptr, b.len)))
        e = SEINE_E_NOMEM;
    sn_buf_fini(&b);
    if (e == SEINE_OK)
        sn_records_csv_head(x->columns, &x->out);
    return e;
}

static seine_err
make_records(export *x)
{
    seine_diag diag = SEINE_DIAG;
    sn_records_query q = {.path = x->records, .after = x->after, .where = x->order.where};
    sn_records_end end = {.is_all = true};
    seine_err e = SEINE_OK;

    if (strcmp(x->order.format, "csv") == 0 && !x->columns)
        e = choose_columns(x);
    /* A piece without a hit is empty: the next one is asked for behind the questions of
     * others. */
    if (e == SEINE_OK)
        e = sn_records_read(&q, take_line, x, &end, &diag);
    if (e == SEINE_E_UNKNOWN) {
        e = SEINE_OK;
        end.is_all = true;
    }
    x->after = end.next;
    x->is_end = end.is_all;
    return e;
}

static seine_err
make_report(export *x)
{
    const seine_console_runner *runner = x->console->opts.runner;
    int fd;

    if (!x->is_begun && (!runner || !runner->report ||
                         runner->report(&x->spec, x->path, runner->arg) != 0))
        return SEINE_E_IO;
    fd = open(x->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char *at = fd >= 0 ? sn_buf_reserve(&x->out, PIECE) : NULL;
    ssize_t n = at ? pread(fd, at, PIECE, x->at) : -1;
    if (n > 0) {
        sn_buf_commit(&x->out, (size_t)n);
        x->at += n;
    }
    x->is_end = n == 0;
    if (fd >= 0)
        close(fd);
    return n < 0 ? SEINE_E_IO : SEINE_OK;
}

static void
make_piece(sn_run_job *j)
{
    export *x = (export *)j;

    sn_buf_reset(&x->out);
    x->sent = 0;
    x->err = strcmp(x->order.format, "html") == 0 ? make_report(x) : make_records(x);
    if (x->err == SEINE_OK)
        x->err = x->out.err;
    x->is_begun = true;
}

static export **
exports_of(const seine_console *c)
{
    return (export **)&sn_runs_of(c)->exports;
}

static void
free_export(export *x)
{
    export **at = sn_runs_of(x->console) ? exports_of(x->console) : NULL;

    while (at && *at && *at != x)
        at = &(*at)->next;
    if (at && *at)
        *at = x->next;
    if (strcmp(x->order.format, "html") == 0 && x->path[0])
        (void)unlink(x->path);
    sn_buf_fini(&x->out);
    sn_free(x->columns);
    sn_free(x);
}

static void
take_piece(sn_run_job *j)
{
    export *x = (export *)j;

    x->is_busy = false;
    if (x->call)
        sn_call_resume(x->call);
    else
        free_export(x);
}

static int64_t
read_export(void *arg, char *out, size_t cap)
{
    export *x = arg;

    if (x->is_busy)
        return SN_STREAM_WAIT;
    if (x->err != SEINE_OK)
        return SN_STREAM_FAIL;
    if (x->sent < x->out.len) {
        size_t n = x->out.len - x->sent < cap ? x->out.len - x->sent : cap;

        memcpy(out, x->out.ptr + x->sent, n);
        x->sent += n;
        return (int64_t)n;
    }
    if (x->is_end)
        return SN_STREAM_END;
    if (!sn_access_is_current(x->console, &x->call->user))
        return SN_STREAM_FAIL;
    x->is_busy = true;
    if (sn_runs_read(x->console, &x->job) == SEINE_OK)
        return SN_STREAM_WAIT;
    x->is_busy = false;
    return SN_STREAM_FAIL; /* the client sees that the rest is missing */
}

static void
end_export(void *arg)
{
    export *x = arg;

    x->call = NULL;
    if (!x->is_busy)
        free_export(x);
}

static bool
is_too_many(const seine_console *c, const order_text *order)
{
    const seine_console_limits *l = &c->opts.limits;
    unsigned n = 0, own = 0;

    for (export *x = *exports_of(c); x; x = x->next) {
        if (!x->call)
            continue;
        own += strcmp(x->order.user, order->user) == 0;
        n++;
    }
    return n >= l->exports || own >= l->exports_per_user;
}

static const char *
type_of(const char *format)
{
    return strcmp(format, "csv") == 0    ? "text/csv; charset=utf-8"
           : strcmp(format, "html") == 0 ? "text/html; charset=utf-8"
                                         : "application/x-ndjson";
}

/* Whoever shows the ticket gets the records. */
static void
serve_export(sn_call *call, void *arg)
{
    export *x = arg;
    char file[64];

    if (is_too_many(x->console, &x->order)) {
        free_export(x);
        sn_call_fail_after(call, SN_API_TOO_MANY, "other downloads are under way", 5);
        return;
    }
    x->call = call;
    x->next = *exports_of(x->console);
    *exports_of(x->console) = x;
    snprintf(file, sizeof file, "run-%.26s.%s", x->order.run, x->order.format);
    sn_call_stream(call, type_of(x->order.format), file,
                   &(sn_stream){.read = read_export, .end = end_export, .arg = x});
}

static void
drop_export(void *arg)
{
    free_export(arg);
}

/* Ordering */

/* False: the call is answered. */
static bool
read_fields(sn_call *call, const seine_json *fields, order_text *order)
{
    size_t used = 0;
    sn_str one;

    for (size_t i = 0; i < seine_json_size(fields); i++) {
        if (!seine_json_string(seine_json_at(fields, i), &one.ptr, &one.len) ||
            one.len == 0 || memchr(one.ptr, ',', one.len) ||
            used + one.len + 2 > sizeof order->fields) {
            sn_call_fail(call, SN_API_BAD_MESSAGE, "fields: a list of names", NULL);
            return false;
        }
        used += (size_t)snprintf(order->fields + used, sizeof order->fields - used,
                                 "%s%.*s", used ? "," : "", (int)one.len, one.ptr);
    }
    return true;
}

static bool
read_order(sn_call *call, const sn_console_run *r, order_text *order)
{
    const seine_json *object = sn_call_object(call);
    sn_str format = SN_STR("jsonl"), where = {NULL, 0};

    if (!object || !sn_call_member_text(call, object, "format", false, 7, &format) ||
        !sn_call_member_text(call, object, "where", false, ORDER_TEXT - 1, &where) ||
        !read_fields(call, seine_json_get(object, "fields"), order))
        return false;
    if (!sn_str_eq(format, SN_STR("jsonl")) && !sn_str_eq(format, SN_STR("csv")) &&
        !sn_str_eq(format, SN_STR("html"))) {
        sn_call_fail(call, SN_API_BAD_MESSAGE, "no such format", "jsonl, csv or html");
        return false;
    }
    memcpy(order->run, r->meta.id, sizeof order->run);
    memcpy(order->user, call->user.id, sizeof order->user);
    memcpy(order->format, format.ptr, format.len);
    if (where.len > 0)
        memcpy(order->where, where.ptr, where.len);
    return true;
}

/* A condition that is none is told now, and not by a download that fails. */
static bool
check_where(sn_call *call, const char *where)
{
    seine_record_where *w = NULL;
    seine_diag diag = SEINE_DIAG;
    char line[SEINE_DIAG_ROOM];

    if (!where[0] || seine_record_where_new(where, &w, &diag) == SEINE_OK) {
        seine_record_where_free(w);
        return true;
    }
    seine_diag_print(&diag, NULL, line, sizeof line);
    sn_call_fail(call, SN_API_BAD_MESSAGE, line, "seine help expr");
    return false;
}

void
sn_api_export(sn_call *call)
{
    sn_console_run *r = sn_api_find_run(call);
    order_text order = {.run = ""};
    char url[SN_TICKET_URL];
    sn_buf b;

    if (!r || !read_order(call, r, &order) || !check_where(call, order.where))
        return;
    export *x = sn_zalloc(sizeof *x);
    if (!x || !sn_run_path(r, "records.sqlite", x->records, sizeof x->records) ||
        snprintf(x->path, sizeof x->path, "%s/report-%s.html", r->dir, call->id) < 0) {
        sn_free(x);
        sn_call_fail_err(call, SEINE_E_NOMEM);
        return;
    }
    snprintf(x->dir, sizeof x->dir, "%s", r->dir);
    x->order = order;
    x->console = call->console;
    x->spec = (seine_run_spec){.size = sizeof x->spec,
                               .id = x->order.run,
                               .dir = x->dir,
                               .verb = "run",
                               .records = x->records};
    x->job.run = make_piece;
    x->job.done = take_piece;
    sn_buf_init(&x->out, PIECE_MOST);
    seine_err e = sn_ticket_new(
        call, &(sn_ticket_opts){.serve = serve_export, .drop = drop_export, .arg = x},
        url);
    if (e != SEINE_OK) {
        free_export(x);
        sn_call_fail(call, SN_API_TOO_MANY, "too many downloads wait to be fetched",
                     NULL);
        return;
    }
    sn_buf_init(&b, 256);
    sn_buf_char(&b, '{');
    sn_json_out_text(&b, "url", url);
    sn_buf_char(&b, '}');
    sn_call_json(call, 200, &b);
}
