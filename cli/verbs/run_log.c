/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/run_log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <seine/plumbing.h>
#include <seine/version.h>

#include "screen/say.h"

/* Writes a line of the log through the terminal, which moves the bar away. */
static void
to_terminal(const char *line, size_t len, void *arg)
{
    terminal_err(arg, line, len);
}

static int
read_level(const args *a, seine_log_level *out)
{
    const fetch_settings *set = a->settings;
    seine_log_level level = a->quiet            ? SEINE_LOG_ERROR
                            : set->verbose == 0 ? SEINE_LOG_WARN
                            : set->verbose == 1 ? SEINE_LOG_INFO
                            : set->verbose == 2 ? SEINE_LOG_DEBUG
                                                : SEINE_LOG_TRACE;

    if (set->log_level && !seine_log_level_parse(set->log_level, &level))
        return say_fail(SAY_USAGE, "--log-level trace, debug, info, warn or error",
                        "--log-level '%s': no such level", show(set->log_level).text);
    *out = level;
    return SAY_DONE;
}

int
run_log_open(run_log *v, const args *a, terminal *b)
{
    const fetch_settings *set = a->settings;
    seine_log_opts opts = SEINE_LOG_OPTS;
    int code = read_level(a, &opts.level);

    *v = (run_log){
        .terminal = b, .fd = -1, .quiet = a->quiet, .text = set->log != LOG_KIND_JSON};
    if (code != SAY_DONE)
        return code;
    if (set->log_file) {
        v->fd = seine_file_append(set->log_file);
        if (v->fd < 0 && errno == ELOOP)
            return say_fail(SAY_USAGE, "its target",
                            "--log-file '%s' is a symbolic link: not followed",
                            show(set->log_file).text);
        if (v->fd < 0)
            return say_fail(SAY_USAGE, "another name", "cannot write '%s': %s",
                            show(set->log_file).text, show_errno(errno).text);
        opts.fd = v->fd;
    } else {
        opts.sink = to_terminal;
        opts.arg = b;
    }
    opts.format = set->log == LOG_KIND_JSON ? SEINE_LOG_JSON : SEINE_LOG_TEXT;
    opts.version = seine_version();
    opts.secrets = say_hidden();
    if (set->log != LOG_KIND_OFF && seine_log_new(&opts, &v->log) != SEINE_OK)
        code = say_fail(SAY_MACHINE, NULL, "out of memory");
    /* Messages of the program itself are shown at every level. */
    opts.level = a->quiet ? SEINE_LOG_ERROR : SEINE_LOG_INFO;
    opts.ring = 0;
    opts.merge = 0;
    if (code == SAY_DONE && set->log == LOG_KIND_JSON &&
        seine_log_new(&opts, &v->own) != SEINE_OK)
        code = say_fail(SAY_MACHINE, NULL, "out of memory");
    if (code != SAY_DONE)
        run_log_close(v);
    return code;
}

uint64_t
run_log_flush(run_log *v)
{
    seine_log *const logs[] = {v->log, v->own};
    seine_log_stats stats;
    uint64_t failed = 0;

    for (size_t i = 0; v->fd >= 0 && i < 2; i++) {
        if (!logs[i])
            continue;
        seine_log_flush(logs[i]);
        seine_log_stats_get(logs[i], &stats);
        failed += stats.failed;
    }
    return failed;
}

void
run_log_close(run_log *v)
{
    seine_log_free(v->log);
    seine_log_free(v->own);
    if (v->fd >= 0)
        close(v->fd);
    v->log = v->own = NULL;
    v->fd = -1;
}

/* Whatever a message quotes, it stays one line and moves no cursor. */
static void
say_line(run_log *v, const char *before, const char *text, size_t n)
{
    char line[6 * 2048];
    size_t at = (size_t)snprintf(line, sizeof line, "%s", before);

    n = seine_inert(text, n, SEINE_INERT_ROW, line + at, sizeof line - at - 1);
    at += n < sizeof line - at - 1 ? n : sizeof line - at - 1;
    line[at++] = '\n';
    terminal_tell(v->terminal, line, at);
}

void
run_log_note(run_log *v, const char *event, const char *fmt, ...)
{
    char text[2048];
    va_list list;

    if (v->quiet)
        return;
    va_start(list, fmt);
    int n = vsnprintf(text, sizeof text - 1, fmt, list);
    va_end(list);
    if (!v->text) {
        seine_log_write(v->own, SEINE_LOG_INFO, event, text, NULL, 0);
        return;
    }
    say_line(v, "", text, n < (int)sizeof text - 1 ? (size_t)n : sizeof text - 2);
}

void
run_log_fail(run_log *v, seine_err e, const char *hint, const char *fmt, ...)
{
    char text[1024];
    va_list list;

    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    if (!v->text) {
        seine_log_field fields[2];
        size_t n = 0;

        if (e != SEINE_OK) /* a message without an error of the library */
            fields[n++] = seine_log_err("err", e);
        if (hint)
            fields[n++] = seine_log_str("hint", hint);
        seine_log_write(v->own, SEINE_LOG_ERROR, "error", text, fields, n);
        return;
    }
    say_line(v, "seine: ", text, strlen(text));
    if (hint)
        say_line(v, "try: ", hint, strlen(hint));
}
