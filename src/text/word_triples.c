/* SPDX-License-Identifier: Apache-2.0 */
#include "text/word_triples.h"

#include <stdlib.h>
#include <string.h>

#define SEED  UINT64_C(0xcbf29ce484222325)
#define PRIME UINT64_C(0x100000001b3)

/* Spreads the bits: the smallest hashes are a fair sample. */
static uint64_t
mix(uint64_t h)
{
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

static int
by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Sorts, drops doubles, and keeps the smallest. */
static void
shrink(sn_word_triples *t)
{
    uint32_t n = 0;

    qsort(t->hash, t->n, sizeof *t->hash, by_value);
    for (uint32_t i = 0; i < t->n && n < SN_WORD_TRIPLES_KEPT; i++)
        if (n == 0 || t->hash[n - 1] != t->hash[i])
            t->hash[n++] = t->hash[i];
    t->n = n;
    if (n == SN_WORD_TRIPLES_KEPT)
        t->most = t->hash[n - 1];
}

static void
add_hash(sn_word_triples *t, uint64_t h)
{
    h = mix(h);
    if (h >= t->most)
        return;
    t->hash[t->n++] = h;
    if (t->n == SN_WORD_TRIPLES_ROOM)
        shrink(t);
}

static bool
is_own(const sn_word_triples *t, uint64_t word)
{
    for (uint32_t i = 0; i < t->n_own; i++)
        if (t->own[i] == word)
            return true;
    return false;
}

/* A word has ended. */
static void
add_word(sn_word_triples *t)
{
    uint64_t word = t->word;
    bool counts = !t->has_digit && !is_own(t, word);

    if (word != SEED) /* not digits alone */
        t->all = (t->all ^ word) * PRIME;
    t->word = 0;
    t->has_digit = false;
    if (!counts)
        return;
    if (t->run >= 2)
        add_hash(t, (t->before[0] * PRIME + t->before[1]) * PRIME + word);
    t->before[0] = t->before[1];
    t->before[1] = word;
    t->run++;
}

static bool
is_letter(char c)
{
    return sn_is_alpha(c) || (unsigned char)c >= 0x80;
}

void
sn_word_triples_text(sn_word_triples *t, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is_letter(p[i])) {
            t->word =
                ((t->word ? t->word : SEED) ^ (unsigned char)sn_lower(p[i])) * PRIME;
        } else if (sn_is_digit(p[i])) {
            t->word = t->word ? t->word : SEED;
            t->has_digit = true;
        } else if (t->word) {
            add_word(t);
        }
    }
}

void
sn_word_triples_break(sn_word_triples *t)
{
    if (t->word)
        add_word(t);
    if (t->run == 1)
        add_hash(t, t->before[1]);
    else if (t->run == 2)
        add_hash(t, t->before[0] * PRIME + t->before[1]);
    t->run = 0;
}

static bool
is_digits(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!sn_is_digit(s.ptr[i]))
            return false;
    return s.len > 0;
}

/* Cuts off the last segment of a path; the rest has no slash at its end. */
static sn_str
take_last(sn_str *path)
{
    size_t at = path->len;

    while (at > 0 && path->ptr[at - 1] != '/')
        at--;
    sn_str last = sn_str_slice(*path, at, path->len);
    *path = sn_str_slice(*path, 0, at > 0 ? at - 1 : 0);
    return last;
}

void
sn_word_triples_picture(sn_word_triples *t, sn_str source)
{
    size_t end = 0;
    uint64_t h = SEED;

    while (end < source.len && !memchr("?#;", source.ptr[end], 3))
        end++;
    sn_str path = sn_str_slice(source, 0, end), name = take_last(&path);
    sn_str above = take_last(&path);
    if (name.len == 0)
        return;
    for (size_t i = 0; is_digits(above) && i < above.len; i++)
        h = (h ^ (unsigned char)above.ptr[i]) * PRIME;
    h = (h ^ '/') * PRIME;
    for (size_t i = 0; i < name.len; i++)
        h = (h ^ (unsigned char)name.ptr[i]) * PRIME;
    add_hash(t, h);
}

/* Remembers a word of the URL. */
static void
add_own(sn_word_triples *t)
{
    if (t->word && t->n_own < SN_WORD_TRIPLES_OWN)
        t->own[t->n_own++] = t->word;
    t->word = 0;
}

/* Returns the byte at `*at`, an escape decoded, and moves behind it. */
static char
next_byte(sn_str url, size_t *at)
{
    char c = url.ptr[(*at)++];
    int high, low;

    if (c != '%' || *at + 1 >= url.len)
        return c;
    high = sn_hex_digit(url.ptr[*at]);
    low = sn_hex_digit(url.ptr[*at + 1]);
    if (high < 0 || low < 0)
        return c;
    *at += 2;
    return (char)(high * 16 + low);
}

void
sn_word_triples_begin(sn_word_triples *t, sn_str url)
{
    t->n = t->n_own = t->run = 0;
    t->most = UINT64_MAX;
    t->all = SEED;
    t->word = 0;
    t->has_digit = false;
    for (size_t at = 0; at < url.len;) {
        char c = next_byte(url, &at);

        if (is_letter(c))
            t->word = ((t->word ? t->word : SEED) ^ (unsigned char)sn_lower(c)) * PRIME;
        else
            add_own(t);
    }
    add_own(t);
}

void
sn_word_triples_end(sn_word_triples *t)
{
    sn_word_triples_break(t);
    shrink(t);
    t->all = mix(t->all) | 1;
}
