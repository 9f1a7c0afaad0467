/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cursor.h - what is left of a text, and the steps a parser takes through it.
 *
 *     sn_cursor c = sn_trimmed(value, len);
 *     if (!sn_number(&c, &n) || !sn_skip(&c, ';'))
 *         return SEINE_E_PARSE;
 *
 * Every step looks at the end first, so any bytes will do, NUL and not ASCII too.
 * A step that returns false may have moved the cursor: the parse is over. Only
 * sn_skip, sn_skip_word and sn_choice promise not to, so that they can be tried.
 */
#ifndef SN_CURSOR_H
#define SN_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SN_NUMBER_MAX INT64_C(999999999999999) /* the largest integer of RFC 9651 */

typedef struct sn_cursor {
    const char *at, *end;
} sn_cursor;

static inline bool
sn_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool
sn_is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

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

/* The next byte; NUL at the end, which no parser accepts in a text either. */
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

/* One digit or more; a value above SN_NUMBER_MAX is SN_NUMBER_MAX. */
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

/* Without the blanks at both ends. */
static inline sn_cursor
sn_trimmed(const char *value, size_t len)
{
    sn_cursor t = {value, value + len};

    sn_skip_all(&t, " \t");
    while (!sn_ended(&t) && sn_one_of(t.end[-1], " \t"))
        t.end--;
    return t;
}

/* The first of `n` words that stands here. */
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
