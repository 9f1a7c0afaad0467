/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/say.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <seine/plumbing.h>
#include <seine/secret.h>

#include "screen/xalloc.h"

static const seine_secrets *hidden;

/* Runs of `seine serve` share a process: each has threads of its own. */
static _Thread_local const seine_secrets *hidden_here;
static _Thread_local say_fn diverted;
static _Thread_local void *diverted_arg;

void
say_hide(const seine_secrets *secrets)
{
    hidden = secrets;
}

void
say_hide_here(const seine_secrets *secrets)
{
    hidden_here = secrets;
}

void
say_divert(say_fn fn, void *arg)
{
    diverted = fn;
    diverted_arg = arg;
}

const seine_secrets *
say_hidden(void)
{
    return hidden_here ? hidden_here : hidden;
}

char *
say_clean(const char *bytes, size_t n, size_t *out_len)
{
    size_t len = seine_redact(say_hidden(), bytes, n, NULL, 0);
    char *text = xalloc_zeroed(len + 1, 1);

    seine_redact(say_hidden(), bytes, n, text, len);
    *out_len = len;
    return text;
}

/* Whatever a message quotes, it stays one line and moves no cursor. */
static void
put_line(const char *before, const char *text, size_t n)
{
    char line[3 * 4096];
    size_t len = seine_inert(text, n, SEINE_INERT_ROW, line, sizeof line - 1);

    if (diverted) {
        line[len < sizeof line ? len : sizeof line - 1] = '\0';
        diverted(before, line, diverted_arg);
        return;
    }
    fprintf(stderr, "%s%.*s\n", before, (int)(len < sizeof line ? len : sizeof line),
            line);
}

static void __attribute__((format(printf, 2, 0)))
put_message(const char *before, const char *fmt, va_list list)
{
    char text[4096],
        clean[4096]; /* on the stack: the message may be that there is no memory */
    int n = vsnprintf(text, sizeof text, fmt, list);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;

    len = seine_redact(say_hidden(), text, len, clean, sizeof clean);
    put_line(before, clean, len < sizeof clean ? len : sizeof clean);
}

int
say_fail(int code, const char *hint, const char *fmt, ...)
{
    va_list list;

    va_start(list, fmt);
    put_message("seine: ", fmt, list);
    va_end(list);
    if (hint)
        put_line("try: ", hint, strlen(hint));
    return code;
}

void
say_note(const char *fmt, ...)
{
    va_list list;

    va_start(list, fmt);
    put_message("seine: ", fmt, list);
    va_end(list);
}

size_t
show_char(const char *bytes, size_t n, size_t *out_columns)
{
    uint32_t c = 0;
    size_t len = seine_inert_char(bytes, n, &c);
    int columns = len > 1 ? wcwidth((wchar_t)c) : 1;

    if (out_columns)
        *out_columns = columns < 0 ? 1 : (size_t)columns;
    return len;
}

shown
show_bytes(const char *bytes, size_t n)
{
    enum { MOST = 96 };
    shown out = {""};
    size_t used = 0;
    char *clean = say_clean(bytes, n, &n); /* secrets leave before the text is cut: half a
                                              secret would not be recognised */

    bytes = clean;

    for (size_t i = 0; i < n;) {
        size_t len = show_char(bytes + i, n - i, NULL);

        if (used > MOST) {
            snprintf(out.text + used, sizeof out.text - used, "…");
            break;
        }
        if (len)
            memcpy(out.text + used, bytes + i, len);
        else
            snprintf(out.text + used, sizeof out.text - used, "\\x%02x",
                     (unsigned char)bytes[i]);
        used += len ? len : 4;
        i += len ? len : 1;
    }
    free(clean);
    return out;
}

shown
show_host(const char *bytes, size_t n)
{
    static const struct {
        const char *scheme, *port;
    } usual[] = {{"http://", ":80"}, {"https://", ":443"}};

    for (size_t i = 0; i < 2; i++) {
        size_t scheme = strlen(usual[i].scheme), port = strlen(usual[i].port);

        if (n < scheme || memcmp(bytes, usual[i].scheme, scheme) != 0)
            continue;
        bytes += scheme;
        n -= scheme;
        if (n > port && memcmp(bytes + n - port, usual[i].port, port) == 0)
            n -= port;
    }
    return show_bytes(bytes, n);
}

shown
show(const char *text)
{
    return show_bytes(text, strlen(text));
}

shown
show_errno(int number)
{
    shown out = show(strerror(number));

    if (out.text[0] && !isupper((unsigned char)out.text[1]))
        out.text[0] = (char)tolower((unsigned char)out.text[0]);
    return out;
}

const char *
say_write_advice(const char *why)
{
    static const struct {
        int number;
        const char *advice;
    } rows[] = {
        {EFBIG, "raise ulimit -f, or write where files may be larger"},
        {EBADF, "leave it open for writing: >&- closes it"},
        {ENOSPC, "free some space, then run the same command again"},
        {EDQUOT, "free some of your quota, then run the same command again"},
        {EROFS, "write to a file system that is not read-only"},
        {EIO, "look at the disk, then run the same command again"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(why, show_errno(rows[i].number).text))
            return rows[i].advice;
    return "write somewhere else, or run the same command again";
}
