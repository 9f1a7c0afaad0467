/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/wire_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seine/plumbing.h>

#include "options/crawl_opts.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"

enum { FEW = 10 };

static int
open_file(wire_trace *t, const char *path)
{
    t->on_stdout = strcmp(path, "-") == 0;
    if (t->on_stdout)
        return SAY_DONE;
    if (seine_file_replace(path, "", 0))
        t->fd = seine_file_append(path);
    return t->fd >= 0 ? SAY_DONE
                      : say_fail(SAY_USAGE, "another name",
                                 "--dump-header: cannot write '%s': %s", show(path).text,
                                 show_errno(errno).text);
}

int
wire_trace_open(wire_trace *t, const args *a, terminal *b)
{
    const fetch_settings *set = a->settings;

    *t = (wire_trace){
        .terminal = b, .screen = screen_look_at(STDERR_FILENO, a->color), .fd = -1};
    t->shows = set->verbose == 1 && !a->quiet && set->log == LOG_KIND_TEXT &&
               !crawl_is_asked(a) && set->input.count == 0 && a->count > 0 &&
               a->count <= FEW;
    return set->dump_header && set->dump_header[0] ? open_file(t, set->dump_header)
                                                   : SAY_DONE;
}

void
wire_trace_close(wire_trace *t)
{
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
}

bool
wire_trace_is_on(const wire_trace *t)
{
    return t->shows || t->fd >= 0 || t->on_stdout;
}

/* Adds each line of the text with a mark before it, harmless to a terminal. */
static void
add_lines(textbuf *out, const screen *s, const char *mark, ink colour, seine_view text)
{
    for (const char *p = text.ptr, *end = text.ptr + text.len; p < end;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((stop ? stop : end) - p);
        size_t room = seine_inert(p, n, SEINE_INERT_ROW, NULL, 0);
        char *clean = xalloc_zeroed(room + 1, 1);

        seine_inert(p, n, SEINE_INERT_ROW, clean, room);
        textbuf_ink(out, s, colour, "%s ", mark);
        textbuf_put(out, "%s\n", clean);
        free(clean);
        p += n + 1;
    }
}

static void
write_head(wire_trace *t, seine_view given)
{
    textbuf all = {NULL, 0, 0};
    seine_view text;
    char *said = say_clean(given.ptr, given.len, &text.len);

    text.ptr = said;

    for (size_t i = 0; i < text.len; i++)
        textbuf_add(&all, text.ptr[i] == '\n' ? "\r\n" : text.ptr + i,
                    text.ptr[i] == '\n' ? 2 : 1);
    textbuf_put(&all, "\r\n");
    if (t->on_stdout && isatty(STDOUT_FILENO)) {
        size_t n = seine_inert(all.text, all.len, SEINE_INERT_SCREEN, NULL, 0);
        char *clean = xalloc_zeroed(n + 1, 1);

        seine_inert(all.text, all.len, SEINE_INERT_SCREEN, clean, n);
        terminal_text(t->terminal, clean, n);
        free(clean);
    } else if (t->on_stdout) {
        terminal_text(t->terminal, all.text, all.len);
    } else if (write(t->fd, all.text, all.len) < 0) {
        say_note("--dump-header: %s", show_errno(errno).text);
    }
    textbuf_free(&all);
    free(said);
}

void
wire_trace_tell(const seine_trace *what, wire_trace *t)
{
    bool sent = strcmp(what->what, "request") == 0,
         came = strcmp(what->what, "response") == 0;
    textbuf out = {NULL, 0, 0};

    if (came && (t->fd >= 0 || t->on_stdout))
        write_head(t, what->text);
    if (!t->shows)
        return;
    if (strcmp(what->what, "resolve") == 0 || strcmp(what->what, "wait") == 0)
        add_lines(&out, &t->screen, "*", INK_DIM, what->url);
    add_lines(&out, &t->screen,
              sent   ? ">"
              : came ? "<"
                     : "*",
              sent   ? INK_BOLD
              : came ? INK_GOOD
                     : INK_DIM,
              what->text);
    if (came)
        add_lines(&out, &t->screen, "<", INK_GOOD, (seine_view){"\n", 1});
    terminal_say(t->terminal, out.text, out.len);
    textbuf_free(&out);
}

void
wire_trace_end(wire_trace *t, const seine_record *r)
{
    textbuf out = {NULL, 0, 0}, line = {NULL, 0, 0};

    if (!t->shows || r->type != SEINE_RECORD_RESULT)
        return;
    if (r->fate != SEINE_FATE_OK && r->fault)
        textbuf_put(&line, "%s: %.*s\n", seine_err_name(r->fault->code),
                    (int)r->message.len, r->message.ptr ? r->message.ptr : "");
    textbuf_put(&line, "dns %s, ", figure_span(r->dns).text);
    textbuf_put(&line, "connect %s, ", figure_span(r->connect).text);
    textbuf_put(&line, "tls %s, ", figure_span(r->tls).text);
    textbuf_put(&line, "first byte %s, ", figure_span(r->ttfb).text);
    textbuf_put(&line, "body %s, all %s", figure_span(r->body_time).text,
                figure_span(r->total).text);
    if (seine_record_waited(r) > 0)
        textbuf_put(&line, ", of that waited %s",
                    figure_span(seine_record_waited(r)).text);
    add_lines(&out, &t->screen, "*", INK_DIM, (seine_view){line.text, line.len});
    terminal_say(t->terminal, out.text, out.len);
    textbuf_free(&out);
    textbuf_free(&line);
}
