/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor.h - read a short text from left to right, without running past its end.
 *
 *     sn_cursor c = sn_trimmed(value, len);
 *     if (!sn_number(&c, &n) || !sn_skip(&c, ';'))
 *         return SEINE_E_INVAL;
 *
 * Every step checks for the end first, so the text may hold any bytes, NUL included. A
 * step that fails may have moved the cursor; the caller must give up the parse. Only
 * sn_skip, sn_skip_word and sn_choice leave the cursor in place when they fail.
 */
#ifndef SN_CURSOR_H
#define SN_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

#define SN_NUMBER_MAX INT64_C(999999999999999) /* the largest integer of RFC 9651 */

typedef struct sn_cursor {
    const char *at, *end;
} sn_cursor;

static inline bool
sn_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

static inline bool
sn_ended(const sn_cursor *t)
{
    return t->at == t->end;
}

/* Returns the next byte; at the end NUL, which no grammar accepts. */
static inline char
sn_peek(const sn_cursor *t)
{
    return sn_ended(t) ? '\0' : *t->at;
}

static inline bool
sn_skip(sn_cursor *t, char c)
{
    if (sn_ended(t) || *t->at != c)
        return false;
    t->at++;
    return true;
}

static inline void
sn_skip_all(sn_cursor *t, const char *set)
{
    while (!sn_ended(t) && sn_one_of(*t->at, set))
        t->at++;
}

static inline bool
sn_skip_word(sn_cursor *t, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
        return false;
    t->at += n;
    return true;
}

/* Reads one or more digits; a value above SN_NUMBER_MAX becomes SN_NUMBER_MAX. */
static inline bool
sn_number(sn_cursor *t, int64_t *out_n)
{
    int64_t n = 0;

    if (!sn_is_digit(sn_peek(t)))
        return false;
    for (; sn_is_digit(sn_peek(t)); t->at++)
        n = n > SN_NUMBER_MAX / 10 ? SN_NUMBER_MAX : n * 10 + (*t->at - '0');
    *out_n = n;
    return true;
}

/* Makes a cursor on the value without the blanks at both ends. */
static inline sn_cursor
sn_trimmed(const char *value, size_t len)
{
    sn_cursor t = {value, value + len};

    sn_skip_all(&t, " \t");
    while (!sn_ended(&t) && sn_one_of(t.end[-1], " \t"))
        t.end--;
    return t;
}

/* Skips the first of `n` words that the text continues with. */
static inline bool
sn_choice(sn_cursor *t, const char *const *words, int n, int *out_index)
{
    for (int i = 0; i < n; i++)
        if (sn_skip_word(t, words[i])) {
            *out_index = i;
            return true;
        }
    return false;
}

#endif
