/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job_pack.h"

#include <endian.h>
#include <string.h>

enum { WORD = 8, LENGTH = 10 /* bytes of a length at most */ };

_Static_assert(SN_JOB_PACK == 16, "as sn_job_pack_of says");

static unsigned
width_of(uint64_t n)
{
    return n == 0 ? 0 : (71 - (unsigned)__builtin_clzll(n)) / 8;
}

/* Writes a whole word, of which the next value keeps the bytes that count. */
static unsigned
put_int(char *to, int64_t value)
{
    uint64_t folded = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
    uint64_t low = htole64(folded);

    memcpy(to, &low, WORD);
    return width_of(folded);
}

static char *
put_text(char *to, sn_str text)
{
    size_t n = text.len;

    for (; n > 127; n >>= 7)
        *to++ = (char)((n & 127) | 128);
    *to++ = (char)n;
    if (text.len > 0)
        memcpy(to, text.ptr, text.len);
    return to + text.len;
}

seine_err
sn_job_pack_add(sn_buf *to, const sn_job_pack_shape *shape, const sn_job_row *row)
{
    size_t most = 1 + (size_t)(shape->n_ints - 1) * (1 + WORD) + WORD;

    for (unsigned i = 0; i < shape->n_texts; i++)
        most += LENGTH + row->texts[i].len;
    char *begin = sn_buf_reserve(to, most);
    if (!begin)
        return sn_buf_done(to);
    char *widths = begin + 1, *at = widths + shape->n_ints - 1;
    *begin = (char)(row->ints[0] & (SN_JOB_PACK - 1));
    for (unsigned i = 1; i < shape->n_ints; i++) {
        unsigned n = put_int(at, row->ints[i]);

        *widths++ = (char)n;
        at += n;
    }
    for (unsigned i = 0; i < shape->n_texts; i++)
        at = put_text(at, row->texts[i]);
    sn_buf_commit(to, (size_t)(at - begin));
    return SEINE_OK;
}

static bool
take_int(const char **at, const char *end, unsigned width, int64_t *out)
{
    uint64_t folded = 0;

    if (width > WORD || (size_t)(end - *at) < width)
        return false;
    memcpy(&folded, *at, width);
    folded = le64toh(folded);
    *out = (int64_t)(folded >> 1 ^ -(folded & 1));
    *at += width;
    return width_of(folded) == width;
}

static bool
take_text(const char **at, const char *end, sn_str *out)
{
    uint64_t n = 0;
    unsigned char byte;
    unsigned shift = 0;

    do {
        if (*at == end || shift > 28)
            return false;
        byte = (unsigned char)*(*at)++;
        n |= (uint64_t)(byte & 127) << shift;
        shift += 7;
    } while (byte > 127);
    if (n > (uint64_t)(end - *at))
        return false;
    *out = (sn_str){*at, (size_t)n};
    *at += n;
    return true;
}

seine_err
sn_job_pack_next(sn_str *rest, const sn_job_pack_shape *shape, int64_t pack,
                 sn_job_row *out_row)
{
    const char *end = rest->ptr + rest->len, *widths = rest->ptr + 1;

    if (rest->len < shape->n_ints || (unsigned char)rest->ptr[0] >= SN_JOB_PACK ||
        pack < 0 || pack > INT64_MAX / SN_JOB_PACK)
        return SEINE_E_STATE_CORRUPT;
    const char *at = widths + shape->n_ints - 1;
    out_row->ints[0] = pack * SN_JOB_PACK + rest->ptr[0];
    for (unsigned i = 1; i < shape->n_ints; i++)
        if (!take_int(&at, end, (unsigned char)widths[i - 1], &out_row->ints[i]))
            return SEINE_E_STATE_CORRUPT;
    for (unsigned i = 0; i < shape->n_texts; i++)
        if (!take_text(&at, end, &out_row->texts[i]))
            return SEINE_E_STATE_CORRUPT;
    *rest = (sn_str){at, (size_t)(end - at)};
    return SEINE_OK;
}

/* Takes the bytes of the first row off. */
static seine_err
split(sn_str *rest, const sn_job_pack_shape *shape, sn_str *out_bytes)
{
    sn_job_row row;
    sn_str was = *rest;
    seine_err e = SEINE_OK;

    *out_bytes = (sn_str){0};
    if (rest->len > 0)
        e = sn_job_pack_next(rest, shape, 0, &row);
    if (e == SEINE_OK)
        *out_bytes = (sn_str){was.ptr, was.len - rest->len};
    return e;
}

static int
place_of(sn_str row) /* behind all others: there is none */
{
    return row.len > 0 ? row.ptr[0] : SN_JOB_PACK;
}

seine_err
sn_job_pack_merge(sn_buf *to, const sn_job_pack_shape *shape, sn_str old, sn_str more)
{
    sn_str a, b;
    seine_err e = split(&old, shape, &a);

    if (e == SEINE_OK)
        e = split(&more, shape, &b);
    while (e == SEINE_OK && (a.len > 0 || b.len > 0)) {
        int of_a = place_of(a), of_b = place_of(b);

        sn_buf_str(to, of_a < of_b ? a : b);
        if (of_b <= of_a)
            e = split(&more, shape, &b);
        if (e == SEINE_OK && of_a <= of_b)
            e = split(&old, shape, &a);
    }
    return e == SEINE_OK ? sn_buf_done(to) : e;
}
