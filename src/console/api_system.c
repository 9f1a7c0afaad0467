/* SPDX-License-Identifier: Apache-2.0 */
/* api_system.c - who asks, what serves, and its last words in the log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "console/console.h"
#include "console/json_out.h"
#include "console/monitor.h"
#include "console/socket.h"
#include "seine/version.h"

enum { ANSWER = 16384, LOG_MOST = 2 * SEINE_LOG_TAIL_BYTES, LOG_LINES = 500 };

static void
add_limits(sn_buf *b, const seine_console_opts *o)
{
    sn_json_out_name(b, "limits");
    sn_buf_char(b, '{');
    sn_json_out_int(b, "connections", o->max_connections);
    sn_json_out_int(b, "connections_per_address", o->max_per_ip);
    sn_json_out_int(b, "websockets", o->max_sockets);
    sn_json_out_int(b, "websockets_before_hello", o->max_strangers);
    sn_json_out_int(b, "calls_per_second", o->rest_rate);
    sn_json_out_int(b, "calls_at_once", o->rest_burst);
    sn_json_out_int(b, "wrong_tokens_per_minute", o->bad_tokens);
    sn_json_out_int(b, "request_ms", o->request_time / 1000000);
    sn_json_out_int(b, "hello_ms", o->hello_time / 1000000);
    sn_json_out_int(b, "idle_ms", o->idle_time / 1000000);
    sn_json_out_int(b, "message_bytes", o->limits.frame);
    sn_json_out_int(b, "queue_bytes", o->limits.send_queue);
    sn_json_out_int(b, "document_units", o->limits.doc_units);
    sn_json_out_int(b, "sessions_per_document", o->limits.sessions);
    sn_json_out_int(b, "documents_per_connection", o->limits.docs);
    sn_json_out_int(b, "subscriptions", o->limits.subscriptions);
    sn_json_out_int(b, "exports", o->limits.exports);
    sn_json_out_int(b, "exports_per_user", o->limits.exports_per_user);
    sn_json_out_int(b, "workers", o->workers);
    sn_json_out_int(b, "readers", o->readers_max);
    sn_buf_char(b, '}');
}

void
sn_api_session(sn_call *call)
{
    sn_buf b;

    sn_buf_init(&b, ANSWER);
    sn_buf_text(&b, "{\"user\":{");
    sn_json_out_text(&b, "id", call->user.id);
    sn_json_out_text(&b, "name", call->user.name);
    sn_json_out_text(&b, "role", sn_role_name(call->user.role));
    sn_buf_char(&b, '}');
    sn_json_out_text(&b, "role", sn_role_name(call->user.role));
    sn_json_out_text(&b, "version", seine_version());
    sn_json_out_int(&b, "now", sn_console_wall_ms(call->console));
    sn_json_out_bool(&b, "auth", !call->console->opts.no_auth);
    add_limits(&b, &call->console->opts);
    sn_buf_char(&b, '}');
    sn_call_json(call, 200, &b);
}

static int64_t
resident_bytes(void)
{
    char text[128] = "";
    long long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    char *end;

    if (!f)
        return 0;
    if (fgets(text, sizeof text, f)) {
        pages = strtoll(text, &end, 10);
        resident = strtoll(end, &end, 10);
    }
    fclose(f);
    (void)pages;
    return resident * sysconf(_SC_PAGESIZE);
}

static void
add_process(sn_buf *b, const seine_console *c)
{
    struct rusage use = {.ru_maxrss = 0};

    getrusage(RUSAGE_SELF, &use);
    int64_t cpu_us = ((int64_t)use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000 +
                     use.ru_utime.tv_usec + use.ru_stime.tv_usec;
    sn_json_out_int(b, "rss", resident_bytes());
    sn_json_out_int(b, "cpu_ms", cpu_us / 1000);
    sn_json_out_int(b, "websockets", (int64_t)sn_sockets_count(c));
    sn_json_out_int(b, "uptime_ms", (c->loop.now - c->since) / 1000000);
}

/* Null: there is none. */
static void
add_redis(sn_buf *b, const sn_monitor *m)
{
    sn_json_out_name(b, "redis");
    if (m && m->redis)
        sn_json_out_quoted(b, sn_str_of(sn_redis_check_shown(m->redis)));
    if (m && m->redis)
        sn_redis_check_put_fleet(m->redis, b);
    else
        sn_buf_text(b, "null");
}

void
sn_api_system(sn_call *call)
{
    const seine_console *c = call->console;
    sn_buf b;

    sn_buf_init(&b, ANSWER);
    sn_buf_text(&b, "{\"build\":{");
    sn_json_out_text(&b, "version", seine_version());
    sn_json_out_bool(&b, "pages", seine_console_has_pages());
    sn_json_out_text(&b, "listens", c->where);
    sn_json_out_time(&b, "started", c->since_wall / 1000000);
    sn_json_out_bool(&b, "tokens", !c->opts.no_auth);
    sn_buf_char(&b, '}');
    add_limits(&b, &c->opts);
    add_redis(&b, c->part[SN_PART_MONITOR]);
    add_process(&b, c);
    sn_buf_char(&b, '}');
    sn_call_json(call, 200, &b);
}

/* A line of JSON is an object already; text is shown as its message. */
static void
add_line(sn_buf *b, sn_str line)
{
    if (line.len == 0)
        return;
    sn_json_out_next(b);
    if (line.ptr[0] == '{' &&
        seine_json_check(line.ptr, line.len, NULL, NULL) == SEINE_OK) {
        sn_buf_str(b, line);
        return;
    }
    sn_buf_char(b, '{');
    sn_json_out_str(b, "message", line);
    sn_buf_char(b, '}');
}

void
sn_api_logs(sn_call *call)
{
    char *text SN_AUTOFREE = sn_alloc(SEINE_LOG_TAIL_BYTES + 1);
    uint64_t limit, all = 0, lines = 0;
    sn_str rest, line;
    sn_buf b;

    if (!sn_call_query_u64(call, "limit", 1, LOG_LINES, 200, &limit))
        return;
    if (!text) {
        sn_call_fail_err(call, SEINE_E_NOMEM);
        return;
    }
    rest = (sn_str){text, seine_log_tail_copy(call->console->opts.log_tail, text,
                                              SEINE_LOG_TAIL_BYTES + 1, &all)};
    for (size_t i = 0; i < rest.len; i++)
        lines += rest.ptr[i] == '\n';
    sn_buf_init(&b, LOG_MOST);
    sn_buf_text(&b, "{\"lines\":[");
    for (uint64_t at = 0; sn_str_next(&rest, '\n', &line); at++)
        if (at + limit >= lines)
            add_line(&b, line);
    sn_buf_char(&b, ']');
    sn_json_out_int(&b, "lost", (int64_t)(all > lines ? all - lines : 0));
    sn_buf_char(&b, '}');
    sn_call_json(call, 200, &b);
}
