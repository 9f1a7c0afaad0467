/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a run for ever: runs/ID/run.json. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "console/json_out.h"
#include "console/run.h"

enum { META_MOST = 256 << 10 };

static const char *const names[SN_RUN_STATES] = {
    "waiting", "running", "paused", "stopping", "finished", "stopped", "failed"};

const char *
sn_run_state_name(sn_run_state s)
{
    return s < SN_RUN_STATES ? names[s] : "";
}

bool
sn_run_state_parse(sn_str word, sn_run_state *out_state)
{
    for (int i = 0; i < SN_RUN_STATES; i++)
        if (sn_str_eq(word, sn_str_of(names[i]))) {
            *out_state = (sn_run_state)i;
            return true;
        }
    return false;
}

bool
sn_run_is_live(const sn_console_run *r)
{
    return r->meta.state <= SN_RUN_STOPPING;
}

seine_span
sn_run_elapsed(const sn_console_run *r)
{
    seine_span now =
        r->begun > 0 && sn_run_is_live(r) ? r->console->loop.now - r->begun : 0;

    return r->meta.lived + (now > 0 ? now : 0);
}

bool
sn_run_path(const sn_console_run *r, const char *name, char *out, size_t cap)
{
    int n = r->dir ? snprintf(out, cap, "%s/%s", r->dir, name) : -1;

    return n > 0 && (size_t)n < cap;
}

char *
sn_run_copy(const char *bytes, size_t n)
{
    char *copy = sn_alloc(n + 1);

    if (copy) {
        memcpy(copy, bytes, n);
        copy[n] = '\0';
    }
    return copy;
}

/* Writing */

static void
put_stats(sn_buf *b, const seine_fetch_stats *s)
{
    sn_json_out_name(b, "last");
    sn_buf_char(b, '{');
    sn_json_out_int(b, "given", (int64_t)s->given);
    sn_json_out_int(b, "admitted", (int64_t)s->admitted);
    sn_json_out_int(b, "refused", (int64_t)s->refused);
    sn_json_out_int(b, "done", (int64_t)s->done);
    sn_json_out_int(b, "ok", (int64_t)s->ok);
    sn_json_out_int(b, "failed", (int64_t)s->failed);
    sn_json_out_int(b, "blocked", (int64_t)s->blocked);
    sn_json_out_int(b, "requests", (int64_t)s->requests);
    sn_json_out_int(b, "bytes_in", (int64_t)s->bytes_in);
    sn_buf_char(b, '}');
}

static void
put_meta(sn_buf *b, const sn_console_run *r)
{
    const sn_run_meta *m = &r->meta;

    sn_buf_char(b, '{');
    sn_json_out_text(b, "id", m->id);
    sn_json_out_text(b, "doc", m->doc);
    sn_json_out_int(b, "version", (int64_t)m->version);
    sn_json_out_text(b, "sha256", m->sha256);
    sn_json_out_text(b, "title", m->title);
    sn_json_out_text(b, "by", m->by);
    sn_json_out_text(b, "verb", m->verb);
    sn_json_out_text(b, "concurrency", m->concurrency);
    sn_json_out_text(b, "rate", m->rate);
    sn_json_out_text(b, "host_rate", m->host_rate);
    sn_json_out_text(b, "max_pages", m->max_pages);
    sn_json_out_text(b, "depth", m->depth);
    sn_json_out_int(b, "started", m->started_ms);
    sn_json_out_int(b, "ended", m->ended_ms);
    sn_json_out_int(b, "lived_ms", sn_run_elapsed(r) / SEINE_MS(1));
    sn_json_out_text(b, "state", sn_run_state_name(m->state));
    sn_json_out_int(b, "code", m->code);
    sn_json_out_text(b, "message", m->message);
    put_stats(b, &m->last);
    sn_json_out_int(b, "rows", (int64_t)m->rows);
    sn_json_out_name(b, "urls");
    sn_buf_char(b, '[');
    for (size_t i = 0; i < r->n_urls; i++) {
        sn_json_out_next(b);
        sn_json_out_quoted(b, sn_str_of(r->urls[i]));
    }
    sn_buf_text(b, "]}\n");
}

seine_err
sn_run_meta_save(const sn_console_run *r)
{
    char path[1200];
    sn_buf b;

    if (r->is_guest)
        return SEINE_OK;
    if (!sn_run_path(r, "run.json", path, sizeof path))
        return SEINE_E_RANGE;
    sn_buf_init(&b, META_MOST);
    put_meta(&b, r);
    seine_err e = sn_buf_done(&b);
    if (e == SEINE_OK && !seine_file_replace(path, b.ptr, b.len))
        e = errno == ENOSPC ? SEINE_E_DISK_FULL : SEINE_E_IO;
    sn_buf_fini(&b);
    return e;
}

/* Reading */

static void
get_text(const seine_json *json, const char *name, char *out, size_t cap)
{
    const char *text;
    size_t n;

    if (!seine_json_string(seine_json_get(json, name), &text, &n) || n >= cap)
        return;
    memcpy(out, text, n);
    out[n] = '\0';
}

static int64_t
get_int(const seine_json *json, const char *name)
{
    int64_t n = 0;

    (void)seine_json_int(seine_json_get(json, name), &n);
    return n;
}

static void
get_stats(const seine_json *json, seine_fetch_stats *s)
{
    s->given = (uint64_t)get_int(json, "given");
    s->admitted = (uint64_t)get_int(json, "admitted");
    s->refused = (uint64_t)get_int(json, "refused");
    s->done = (uint64_t)get_int(json, "done");
    s->ok = (uint64_t)get_int(json, "ok");
    s->failed = (uint64_t)get_int(json, "failed");
    s->blocked = (uint64_t)get_int(json, "blocked");
    s->requests = (uint64_t)get_int(json, "requests");
    s->bytes_in = (uint64_t)get_int(json, "bytes_in");
}

static seine_err
get_urls(const seine_json *list, sn_console_run *r)
{
    size_t n = seine_json_size(list);
    const char *text;
    size_t len;

    r->urls = sn_calloc(n + 1, sizeof *r->urls);
    if (!r->urls)
        return SEINE_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        if (!seine_json_string(seine_json_at(list, i), &text, &len))
            return SEINE_E_PARSE;
        if (!(r->urls[r->n_urls] = sn_run_copy(text, len)))
            return SEINE_E_NOMEM;
        r->n_urls++;
    }
    return SEINE_OK;
}

static seine_err
get_meta(const seine_json *json, sn_console_run *r)
{
    sn_run_meta *m = &r->meta;
    char state[16] = "";

    get_text(json, "id", m->id, sizeof m->id);
    get_text(json, "doc", m->doc, sizeof m->doc);
    get_text(json, "sha256", m->sha256, sizeof m->sha256);
    get_text(json, "title", m->title, sizeof m->title);
    get_text(json, "by", m->by, sizeof m->by);
    get_text(json, "verb", m->verb, sizeof m->verb);
    get_text(json, "concurrency", m->concurrency, sizeof m->concurrency);
    get_text(json, "rate", m->rate, sizeof m->rate);
    get_text(json, "host_rate", m->host_rate, sizeof m->host_rate);
    get_text(json, "max_pages", m->max_pages, sizeof m->max_pages);
    get_text(json, "depth", m->depth, sizeof m->depth);
    get_text(json, "message", m->message, sizeof m->message);
    get_text(json, "state", state, sizeof state);
    m->version = (uint64_t)get_int(json, "version");
    m->started_ms = get_int(json, "started");
    m->ended_ms = get_int(json, "ended");
    m->lived = SEINE_MS(get_int(json, "lived_ms"));
    m->code = (int)get_int(json, "code");
    get_stats(seine_json_get(json, "last"), &m->last);
    m->rows = (uint64_t)get_int(json, "rows");
    if (!sn_ulid_is(sn_str_of(m->id)) || !sn_run_state_parse(sn_str_of(state), &m->state))
        return SEINE_E_PARSE;
    return get_urls(seine_json_get(json, "urls"), r);
}

static seine_err
read_file(const char *path, sn_buf *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = 1;

    if (fd < 0)
        return SEINE_E_UNKNOWN;
    while (n > 0) {
        char *at = sn_buf_reserve(out, 4096);

        n = at ? read(fd, at, 4096) : -1;
        if (n > 0)
            sn_buf_commit(out, (size_t)n);
    }
    close(fd);
    return n < 0 ? (out->err != SEINE_OK ? out->err : SEINE_E_IO) : SEINE_OK;
}

seine_err
sn_run_meta_load(sn_console_run *r)
{
    char path[1200];
    sn_buf b;
    seine_json *json = NULL;

    if (!sn_run_path(r, "run.json", path, sizeof path))
        return SEINE_E_RANGE;
    sn_buf_init(&b, META_MOST);
    seine_err e = read_file(path, &b);
    if (e == SEINE_OK)
        e = seine_json_parse(b.ptr, b.len, &json, NULL);
    if (e == SEINE_OK)
        e = get_meta(json, r);
    seine_json_free(json);
    sn_buf_fini(&b);
    return e;
}
