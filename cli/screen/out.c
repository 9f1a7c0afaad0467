/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seine/plumbing.h>

#include "screen/say.h"
#include "screen/xalloc.h"

/* One buffer per process, because standard output is one per process. */
static struct {
    char *bytes;
    size_t len, cap;
} pending;

enum {
    PIECE = 64 << 10,
    LARGE = 1 << 20, /* is not copied first */
};

static void
write_all(const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t wrote = write(STDOUT_FILENO, bytes, n);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0 && errno == EPIPE)
            exit(SAY_PIPE);
        if (wrote < 0) {
            shown why = show_errno(errno);
            exit(say_fail(SAY_MACHINE, say_write_advice(why.text),
                          "cannot write standard output: %s", why.text));
        }
        bytes += wrote;
        n -= (size_t)wrote;
    }
}

void
out_flush(void)
{
    write_all(pending.bytes, pending.len);
    free(pending.bytes);
    pending.bytes = NULL;
    pending.len = pending.cap = 0;
}

/* Writes the whole lines and keeps the one that has no end yet. */
static void
drain_out(void)
{
    char *end = pending.len < PIECE ? NULL : memrchr(pending.bytes, '\n', pending.len);

    if (!end)
        return;
    size_t lines = (size_t)(end + 1 - pending.bytes);
    write_all(pending.bytes, lines);
    pending.len -= lines;
    memmove(pending.bytes, pending.bytes + lines, pending.len);
}

static void
put(const char *bytes, size_t n)
{
    if (n >= LARGE) {
        write_all(pending.bytes, pending.len);
        pending.len = 0;
        write_all(bytes, n);
        return;
    }
    if (pending.cap - pending.len < n) {
        pending.cap =
            2 * pending.cap > pending.len + n ? 2 * pending.cap : pending.len + n + 4096;
        pending.bytes = xalloc_resize(pending.bytes, pending.cap, 1);
    }
    if (n > 0)
        memcpy(pending.bytes + pending.len, bytes, n);
    pending.len += n;
    drain_out();
}

bool
out_is_terminal(void)
{
    static int is; /* 1: no, 2: yes */

    if (is == 0)
        is = isatty(STDOUT_FILENO) ? 2 : 1;
    return is == 2;
}

static void
put_inert(const char *bytes, size_t n, seine_inert_how how)
{
    size_t len = seine_inert(bytes, n, how, NULL, 0);
    char *text = xalloc_zeroed(len + 1, 1);

    seine_inert(bytes, n, how, text, len);
    put(text, len);
    free(text);
}

void
out_bytes(const char *bytes, size_t n)
{
    if (out_is_terminal())
        put_inert(bytes, n, SEINE_INERT_SCREEN);
    else
        put(bytes, n);
}

void
out_line(const char *bytes, size_t n)
{
    put_inert(bytes, n, out_is_terminal() ? SEINE_INERT_ROW : SEINE_INERT_LINE);
    put("\n", 1);
}

void
out_code(const char *code)
{
    put(code, strlen(code));
}

void
out_coloured(const char *bytes, size_t n)
{
    put(bytes, n);
}

void
out_text(const char *text)
{
    out_bytes(text, strlen(text));
}

void
out_print(const char *fmt, ...)
{
    char line[1024], *text = line;
    va_list list, again;

    va_start(list, fmt);
    va_copy(again, list);
    int n = vsnprintf(line, sizeof line, fmt, list);
    if (n >= (int)sizeof line) {
        text = xalloc_zeroed((size_t)n + 1, 1);
        vsnprintf(text, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    va_end(list);
    if (n > 0)
        out_bytes(text, (size_t)n);
    if (text != line)
        free(text);
}

void
out_fill(const char *glyph, size_t times)
{
    while (times-- > 0)
        out_text(glyph);
}

static seine_text
print_json(struct seine_json *give)
{
    seine_text text = {NULL, 0};

    if (seine_json_print(give, &text) != SEINE_OK)
        xalloc_json(NULL);
    seine_json_free(give);
    return text;
}

void
out_json(struct seine_json *give)
{
    seine_text text = print_json(give);

    out_bytes(text.bytes, text.len);
    seine_text_free(&text);
    out_text("\n");
}

void
out_json_with(struct seine_json *give, const char *name, const char *text, size_t len)
{
    seine_text object = print_json(give); /* "{}" at least */

    out_bytes(object.bytes, object.len - 1);
    out_print("%s\"%s\":", object.len > 2 ? "," : "", name);
    seine_text_free(&object);
    out_bytes(text, len);
    out_text("}\n");
}
