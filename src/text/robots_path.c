/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "text/robots.h"

/* One spelling. */

typedef struct spelling {
    bool is_pattern; /* "*", and "$" at its end, are signs */
    bool in_query;   /* behind the first "?" */
} spelling;

static bool
is_escape(sn_str s, size_t i)
{
    return s.ptr[i] == '%' && i + 2 < s.len && sn_hex_digit(s.ptr[i + 1]) >= 0 &&
           sn_hex_digit(s.ptr[i + 2]) >= 0;
}

/* Is the character written as it is? The table stands in robots.h. */
static bool
is_bare(char c, bool is_escaped, bool is_last, const spelling *as)
{
    if (sn_is_alpha(c) || sn_is_digit(c))
        return true;
    switch (c) {
    case '-':
    case '.':
    case '_':
    case '~':
        return true;
    case '!':
    case '&':
    case '\'':
    case '(':
    case ')':
    case '+':
    case ',':
    case ';':
    case '=':
        return !is_escaped;
    case '/':
    case ':':
    case '?':
    case '@':
        return !is_escaped || as->in_query;
    case '*':
        return as->is_pattern && !is_escaped;
    case '$':
        return as->is_pattern && !is_escaped && is_last;
    default:
        return false;
    }
}

static size_t
copy_normal(sn_str s, spelling as, char *to)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++) {
        bool is_escaped = is_escape(s, i);
        unsigned char c = (unsigned char)s.ptr[i];

        if (is_escaped) {
            c = (unsigned char)(sn_hex_digit(s.ptr[i + 1]) << 4 |
                                sn_hex_digit(s.ptr[i + 2]));
            i += 2;
        }
        if (is_bare((char)c, is_escaped, i + 1 == s.len, &as)) {
            to[n++] = (char)c;
        } else {
            to[n++] = '%';
            to[n++] = digits[c >> 4];
            to[n++] = digits[c & 15];
        }
        as.in_query = as.in_query || (c == '?' && !is_escaped);
    }
    return n;
}

size_t
sn_robots_normal_pattern(sn_str pattern, bool in_query, char *to)
{
    return copy_normal(pattern, (spelling){.is_pattern = true, .in_query = in_query}, to);
}

size_t
sn_robots_normal_target(sn_str target, char to[SN_ROBOTS_TARGET])
{
    return copy_normal(target, (spelling){.is_pattern = false}, to);
}

/* The comparison. */

enum { SHORT = 256 }; /* texts in which the plain search is fast enough, and faster */

static const char *
find_piece(sn_str text, sn_str piece)
{
    const char *at = text.ptr, *last = text.ptr + (text.len - piece.len);

    if (text.len > SHORT)
        return memmem(text.ptr, text.len, piece.ptr, piece.len);
    while (at <= last && (at = memchr(at, piece.ptr[0], (size_t)(last - at) + 1))) {
        if (memcmp(at, piece.ptr, piece.len) == 0)
            return at;
        at++;
    }
    return NULL;
}

/* Moves the text behind the first piece in it. */
static bool
skip_behind(sn_str *text, sn_str piece, uint32_t *io_steps)
{
    *io_steps += 1;
    if (piece.len == 0)
        return true;
    if (piece.len > text->len)
        return false;
    const char *found = find_piece(*text, piece);
    size_t end = found ? (size_t)(found - text->ptr) + piece.len : text->len;
    *io_steps += (uint32_t)end;
    *text = sn_str_slice(*text, end, text->len);
    return found && *io_steps <= SN_ROBOTS_STEPS;
}

/* Each piece between stars is searched after the piece before it. The first match is
 * always good enough, except for the last piece of a pattern that ends in "$". */
bool
sn_robots_match(sn_str target, sn_str pattern, uint32_t *io_steps)
{
    bool anchored = pattern.len > 0 && pattern.ptr[pattern.len - 1] == '$';
    sn_str piece, rest;
    bool more =
        sn_str_cut(sn_str_slice(pattern, 0, pattern.len - anchored), '*', &piece, &rest);

    if (!sn_str_starts(target, piece))
        return false;
    target = sn_str_slice(target, piece.len, target.len);
    if (!more)
        return !anchored || target.len == 0;
    while (sn_str_cut(rest, '*', &piece, &rest))
        if (!skip_behind(&target, piece, io_steps))
            return false;
    return anchored ? sn_str_ends(target, piece) : skip_behind(&target, piece, io_steps);
}
