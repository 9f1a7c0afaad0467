/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str.h - text as a view: a pointer and a length.
 *
 * A view borrows its bytes, may hold zeros and has no terminator. Only sn_utf8_decode
 * and sn_utf8_valid know UTF-8. The other functions know ASCII alone and pass other bytes
 * through unchanged. No function depends on the locale.
 *
 *     sn_str list = SN_STR("gzip, br"), name;
 *     while (sn_str_next(&list, ',', &name))
 *         if (sn_str_eq_nocase(sn_str_trim(name), SN_STR("br")))
 *             …
 *
 * Numbers are read strictly: the whole view is the number, with no blanks, no
 * plus sign and no other base. INVAL is "not a number", RANGE "does not fit".
 *
 * Time    plays no part.
 * Memory  nothing is allocated; a view is valid as long as the bytes that it borrows.
 * Threads any thread.
 */
#ifndef SN_STR_H
#define SN_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/err.h"
#include "seine/view.h"

/* The library's own name for seine_view. ptr may be NULL when len is 0. */
typedef seine_view sn_str;

#define SN_STR(literal) ((sn_str){"" literal, sizeof(literal) - 1})

/* For printf: printf("%.*s", SN_FMT(s)). Cuts a text that is longer than an int counts.
 */
#define SN_FMT(s) (int)((s).len < INT32_MAX ? (s).len : INT32_MAX), (s).ptr ? (s).ptr : ""

sn_str sn_str_of(const char *terminated); /* NULL is the empty view */

bool sn_str_eq(sn_str a, sn_str b);
bool sn_str_eq_nocase(sn_str a, sn_str b);
int sn_str_cmp(sn_str a, sn_str b); /* by bytes, the shorter first */
bool sn_str_starts(sn_str s, sn_str prefix);
bool sn_str_starts_nocase(sn_str s, sn_str prefix);
bool sn_str_ends(sn_str s, sn_str suffix);

/* The index of the first `c`; s.len when there is none. */
size_t sn_str_find(sn_str s, char c);

/* Without the blanks (sn_is_space) at both ends. */
sn_str sn_str_trim(sn_str s);

/* The bytes from `from` up to `to`; both are clamped to the view. */
sn_str sn_str_slice(sn_str s, size_t from, size_t to);

/* Splits at the first `at`. Without one returns false, with everything in the head and an
 * empty tail. */
bool sn_str_cut(sn_str s, char at, sn_str *out_head, sn_str *out_tail);

/* Walks the parts that `at` separates: "a,,b" gives "a", "" and "b"; "a," gives "a" alone
 * and "" nothing. False when no part is left. */
bool sn_str_next(sn_str *rest, char at, sn_str *out_part);

/* Is it one of the words, which blanks separate, whatever the case of letters? */
bool sn_str_is_among(sn_str s, const char *words);

/* Does the pattern match the whole text? * stands for any bytes and ? for one. */
bool sn_str_glob(sn_str pattern, sn_str text);

SEINE_MUST_CHECK seine_err sn_str_u64(sn_str s, uint64_t *out_n);
SEINE_MUST_CHECK seine_err sn_str_i64(sn_str s, int64_t *out_n);

/* Reads a decimal number in units of 10^-places, exactly: "-1.25" with 3 places is -1250.
 * Digits stand on both sides of the point; more digits behind it than `places` are RANGE
 * unless they are zeros. */
SEINE_MUST_CHECK seine_err sn_str_decimal(sn_str s, unsigned places, int64_t *out_n);

/* Writes such a number in the shortest form: -1250 with 3 places is "-1.25". At most 18
 * places. Terminated; returns the length. */
size_t sn_decimal_text(int64_t n, unsigned places, char out_text[24]);

/* Length of the first character, or 0 when the bytes are not UTF-8: overlong, a
 * surrogate, beyond Unicode, cut off, or empty. */
size_t sn_utf8_decode(sn_str s, uint32_t *out_char);
bool sn_utf8_valid(sn_str s);

static inline bool
sn_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline char
sn_lower(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c + ('a' - 'A'));
    return c;
}

static inline bool
sn_is_alpha(char c)
{
    return sn_lower(c) >= 'a' && sn_lower(c) <= 'z';
}

/* Blank, tab, newline, form feed, carriage return: white space of HTML and HTTP. */
static inline bool
sn_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

/* 0 to 15, or -1. */
static inline int
sn_hex_digit(char c)
{
    if (sn_is_digit(c))
        return c - '0';
    c = sn_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
