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

#include <seine/secret.h>

#include "screen/xalloc.h"

static const seine_secrets *hidden;

void
say_hide(const seine_secrets *secrets)
{
    hidden = secrets;
}

const seine_secrets *
say_hidden(void)
{
    return hidden;
}

char *
say_clean(const char *bytes, size_t n, size_t *out_len)
{
    size_t len = seine_redact(hidden, bytes, n, NULL, 0);
    char *text = xalloc_zeroed(len + 1, 1);

    seine_redact(hidden, bytes, n, text, len);
    *out_len = len;
    return text;
}

static void __attribute__((format(printf, 2, 0)))
put_message(const char *before, const char *fmt, va_list list)
{
    char text[4096],
        clean[4096]; /* on the stack: the message may be that there is no memory */
    int n = vsnprintf(text, sizeof text, fmt, list);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;

    len = seine_redact(hidden, text, len, clean, sizeof clean);
    fprintf(stderr, "%s%.*s\n", before, (int)(len < sizeof clean ? len : sizeof clean),
            clean);
}

int
say_fail(int code, const char *hint, const char *fmt, ...)
{
    va_list list;

    va_start(list, fmt);
    put_message("seine: ", fmt, list);
    va_end(list);
    if (hint)
        fprintf(stderr, "try: %s\n", hint);
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

/* Length of the printable character at `s`. 0 for control characters, for marks that turn
 * the direction of writing, and for bytes that are not UTF-8. */
static size_t
printable_len(const unsigned char *s, size_t n, uint32_t *out_char)
{
    size_t len = s[0] < 0x80   ? 1
                 : s[0] < 0xc2 ? 0
                 : s[0] < 0xe0 ? 2
                 : s[0] < 0xf0 ? 3
                               : 4;
    uint32_t c = len < 2 ? s[0] : s[0] & (0x7fu >> len);

    if (len == 0 || len > n || s[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    static const struct {
        uint32_t first, last;
    } refused[] = {
        /* Cc, Cf but the two joiners, Zl and Zp of Unicode 15, and what is no character
         */
        {0x00, 0x1f},       {0x7f, 0x9f},           {0xad, 0xad},
        {0x600, 0x605},     {0x61c, 0x61c},         {0x6dd, 0x6dd},
        {0x70f, 0x70f},     {0x890, 0x891},         {0x8e2, 0x8e2},
        {0x180e, 0x180e},   {0x200b, 0x200b},       {0x200e, 0x200f},
        {0x2028, 0x202e},   {0x2060, 0x2064},       {0x2066, 0x206f},
        {0xd800, 0xdfff},   {0xfeff, 0xfeff},       {0xfff9, 0xfffb},
        {0x110bd, 0x110bd}, {0x110cd, 0x110cd},     {0x13430, 0x1343f},
        {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},     {0xe0001, 0xe0001},
        {0xe0020, 0xe007f}, {0x110000, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (c >= refused[i].first && c <= refused[i].last)
            return 0;
    if ((len == 3 && c < 0x800) || (len == 4 && c < 0x10000))
        return 0;
    *out_char = c;
    return len;
}

size_t
show_char(const char *bytes, size_t n, size_t *out_columns)
{
    uint32_t c = 0;
    size_t len = n > 0 ? printable_len((const unsigned char *)bytes, n, &c) : 0;
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
