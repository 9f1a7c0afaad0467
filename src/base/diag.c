/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PATH_SHOWN = 56 /* bytes of a path, its end */, VALUE_SHOWN = 80 };

void
sn_diag_clear(seine_diag *d)
{
    if (d)
        *d = (seine_diag)SEINE_DIAG;
}

void
sn_diag_text(seine_diag *d, const char *fmt, ...)
{
    va_list args;

    if (!d)
        return;
    sn_diag_clear(d);
    va_start(args, fmt);
    vsnprintf(d->text, sizeof d->text, fmt, args);
    va_end(args);
}

seine_err
sn_diag_option(seine_diag *d, const char *member, const char *fmt, ...)
{
    va_list args;

    if (!d)
        return SEINE_E_CONFIG;
    sn_diag_clear(d);
    snprintf(d->member, sizeof d->member, "%s", member);
    va_start(args, fmt);
    vsnprintf(d->text, sizeof d->text, fmt, args);
    va_end(args);
    return SEINE_E_CONFIG;
}

/* Copies whole characters, `most` bytes of them; what moves a cursor or is no character
 * becomes "?". Returns how many bytes of `from` were taken. */
static size_t
clean(sn_str from, size_t most, char *out)
{
    size_t at = 0, len = 0;

    while (at < from.len) {
        uint32_t c;
        size_t size = sn_utf8_decode(sn_str_slice(from, at, from.len), &c);
        bool is_bad = size == 0 || c < 0x20 || (c >= 0x7f && c < 0xa0);

        if (len + (is_bad ? 1 : size) > most)
            break;
        if (is_bad)
            out[len++] = '?';
        else
            memcpy(out + len, from.ptr + at, size);
        len += is_bad ? 0 : size;
        at += size > 0 ? size : 1;
    }
    out[len] = '\0';
    return at;
}

seine_err
sn_diag_value(seine_diag *d, const char *member, sn_str value, const char *what)
{
    enum { LEAST = 24, AROUND = sizeof "'…': " };
    char shown[VALUE_SHOWN + 1];
    size_t room = SEINE_DIAG_TEXT - AROUND, said = strlen(what);

    room = said + LEAST < room ? room - said : LEAST;
    size_t taken = clean(value, room < VALUE_SHOWN ? room : VALUE_SHOWN, shown);

    return sn_diag_option(d, member, "'%s%s': %s", shown,
                          taken < value.len ? "\xe2\x80\xa6" : "", what);
}

void
sn_diag_path(const char *path, char out[SEINE_DIAG_FILE])
{
    size_t n = strlen(path), from = n > PATH_SHOWN ? n - PATH_SHOWN : 0, len = 0;

    if (from > 0) {
        memcpy(out, "\xe2\x80\xa6", 3);
        len = 3;
        while ((path[from] & 0xc0) == 0x80)
            from++;
    }
    clean((sn_str){path + from, n - from}, PATH_SHOWN, out + len);
}

void
sn_diag_place(seine_diag *d, const char *path, uint64_t line, uint64_t column)
{
    if (!d)
        return;
    d->file[0] = '\0';
    if (path)
        sn_diag_path(path, d->file);
    d->line = line;
    d->column = column;
}

void
sn_diag_errno(int error, char out[SN_DIAG_ERRNO])
{
    const char *text = strerrordesc_np(error);

    snprintf(out, SN_DIAG_ERRNO, "%s", text ? text : "unknown error");
    out[0] = sn_lower(out[0]);
}

/* A name need not be terminated. NULL: there is none for it. */
static const char *
find(const seine_diag_name *names, sn_str member)
{
    for (; names && names->member; names++)
        if (sn_str_eq(sn_str_of(names->member), member))
            return names->shown;
    return NULL;
}

const char *
sn_diag_shown(const seine_diag_name *names, const char *member)
{
    const char *shown = find(names, sn_str_of(member));

    return shown ? shown : member;
}

static size_t
put(char *buf, size_t cap, size_t len, sn_str piece)
{
    size_t room = cap > len ? cap - len - 1 : 0;

    if (piece.len > room)
        piece.len = room;
    if (piece.len > 0)
        memcpy(buf + len, piece.ptr, piece.len);
    return len + piece.len;
}

static bool
is_member_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

size_t
sn_diag_expand(const seine_diag_name *names, const char *template_text, char *buf,
               size_t cap)
{
    sn_str rest = sn_str_of(template_text), head;
    size_t len = 0;

    if (cap == 0)
        return 0;
    while (sn_str_cut(rest, '@', &head, &rest)) {
        size_t n = 0;

        while (n < rest.len && is_member_char(rest.ptr[n]))
            n++;
        sn_str member = n > 0 ? sn_str_slice(rest, 0, n) : SN_STR("@");
        const char *shown = find(names, member);
        len = put(buf, cap, len, head);
        len = put(buf, cap, len, shown ? sn_str_of(shown) : member);
        rest = sn_str_slice(rest, n, rest.len);
    }
    len = put(buf, cap, len, head);
    buf[len] = '\0';
    return len;
}

size_t
seine_diag_print(const seine_diag *diag, const seine_diag_name *names, char *buf,
                 size_t cap)
{
    if (!diag)
        return 0;
    const char *joint = diag->text[0] == '\'' ? " " : ": ";
    char line[24] = "", column[24] = "";
    int n;

    if (diag->line > 0)
        snprintf(line, sizeof line, ":%llu", (unsigned long long)diag->line);
    if (diag->column > 0)
        snprintf(column, sizeof column, ":%llu", (unsigned long long)diag->column);
    if (diag->file[0])
        n = snprintf(buf, cap, "%s%s%s: %s", diag->file, line, column, diag->text);
    else if (diag->member[0])
        n = snprintf(buf, cap, "%s%s%s", sn_diag_shown(names, diag->member), joint,
                     diag->text);
    else
        n = snprintf(buf, cap, "%s", diag->text);
    return n < 0 ? 0 : (size_t)n;
}

void
sn_diag_count(uint64_t n, char out[SN_DIAG_COUNT])
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), at = 0;

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
}
