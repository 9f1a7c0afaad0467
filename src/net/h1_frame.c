/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "net/h1_parts.h"
#include "net/h1_scan.h"

/* Parses a length: digits alone, up to 2^63 - 1. */
static bool
read_length(sn_str s, uint64_t *out_n)
{
    uint64_t n = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (!sn_is_digit(s.ptr[i]) || n > (INT64_MAX - (uint64_t)(s.ptr[i] - '0')) / 10)
            return false;
        n = n * 10 + (uint64_t)(s.ptr[i] - '0');
    }
    *out_n = n;
    return s.len > 0;
}

/* True if `n` followed by more digits could be `whole`. */
static bool
begins(uint64_t n, uint64_t whole)
{
    while (whole > n)
        whole /= 10;
    return whole == n;
}

/* True if all members of the list are the same number, which is then the length. The last
 * member of an incomplete list may be a prefix of that number. */
static bool
agree_on_length(sn_str list, bool whole, bool *has, uint64_t *length)
{
    sn_str rest = list, part;

    for (bool more = true; more; rest = part) {
        more = sn_str_cut(rest, ',', &rest, &part);
        sn_str one = sn_h1_trim(rest);
        uint64_t n;

        if (!more && !whole && one.len == 0)
            return true;
        if (!read_length(one, &n))
            return false;
        if (!more && !whole)
            return !*has || begins(n, *length);
        if (*has && n != *length)
            return false;
        *has = true;
        *length = n;
    }
    return true;
}

/* True for exactly one `word`. An incomplete value may be a prefix of it. */
static bool
is_word(sn_str value, sn_str word, bool whole)
{
    if (!whole && value.len < word.len)
        word.len = value.len;
    return sn_str_eq_nocase(value, word);
}

/* RFC 9112, 7: `chunked`, once. `identity`, which means none, was taken out of HTTP/1.1;
 * some servers still send it, alone. */
static bool
is_transfer_coding(const sn_h1 *h, sn_str value, bool whole)
{
    if (!h->has_identity && !h->has_chunked && is_word(value, SN_STR("chunked"), whole))
        return true;
    return !h->has_chunked && is_word(value, SN_STR("identity"), whole);
}

bool
sn_h1_frame(sn_h1 *h, sn_str name, sn_str value)
{
    bool is_length = SN_H1_IS_WORD(name, "content-length");

    if (is_length && !h->has_length && read_length(value, &h->length))
        return h->has_length = true; /* the usual case */
    if (is_length)
        return agree_on_length(value, true, &h->has_length, &h->length);
    if (!is_transfer_coding(h, value, true))
        return false;
    if (is_word(value, SN_STR("identity"), true)) {
        h->has_identity = true;
        h->notes |= SN_NOTE_ODD_CODING;
    } else {
        h->has_chunked = true;
    }
    return true;
}

bool
sn_h1_resembles_framing(sn_h1 *h, sn_str name)
{
    char letters[64];
    size_t len = 0;

    h->steps += name.len;
    for (size_t i = 0; i < name.len && len < sizeof letters; i++)
        if (sn_is_alpha(name.ptr[i]))
            letters[len++] = sn_lower(name.ptr[i]);
    return memmem(letters, len, "contentlength", 13) ||
           memmem(letters, len, "transferencoding", 16);
}

seine_err
sn_h1_head_blame(const sn_h1 *h, seine_err otherwise)
{
    if (h->state != SN_H1_AT_VALUE)
        return otherwise;

    const char *text = h->head->text;
    sn_str name = {text + h->line, h->colon - h->line};
    sn_str value = sn_h1_trim((sn_str){text + h->colon + 1, h->at - h->colon - 1});
    bool has = h->has_length;
    uint64_t length = h->length;

    if (!sn_h1_is_framing(name))
        return otherwise;
    bool fine = SN_H1_IS_WORD(name, "content-length")
                    ? agree_on_length(value, false, &has, &length)
                    : is_transfer_coding(h, value, false);
    return fine ? otherwise : SEINE_E_BAD_FRAMING;
}

static void
read_connection(sn_h1 *h)
{
    sn_str value, part;

    for (uint32_t i = h->connection;
         sn_head_next(h->head, SN_STR("connection"), &i, &value);)
        while (sn_str_next(&value, ',', &part)) {
            part = sn_h1_trim(part);
            h->says_close |= sn_str_eq_nocase(part, SN_STR("close"));
            h->says_keep |= SN_H1_IS_WORD(part, "keep-alive");
        }
}

static void
read_keep_alive(sn_h1 *h)
{
    sn_str value, part;
    uint64_t n;

    for (uint32_t i = h->keep_alive;
         sn_head_next(h->head, SN_STR("keep-alive"), &i, &value);)
        while (sn_str_next(&value, ',', &part)) {
            part = sn_h1_trim(part);
            if (sn_str_starts_nocase(part, SN_STR("timeout=")) &&
                sn_str_u64(sn_str_slice(part, 8, part.len), &n) == SEINE_OK)
                h->keep_alive_s = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX - 1;
        }
}

/* Rules 9 and 10 of docs/internals/h1.md. */
static void
frame_body(sn_h1 *h)
{
    uint16_t status = h->head->status;

    h->state = SN_H1_AT_BODY;
    if (h->has_length && h->has_chunked)
        h->notes |= SN_NOTE_FRAMING_CONFLICT;
    if (h->ask.head_only || status == 204 || status == 304 ||
        (h->ask.tunnel && status < 300)) {
        h->framing = SN_H1_NO_BODY;
    } else if (h->has_chunked) {
        h->framing = SN_H1_CHUNKED;
        h->state = SN_H1_AT_SIZE;
        h->at = 0;
    } else if (h->has_length) {
        h->framing = SN_H1_LENGTH;
        h->left = h->length;
    } else {
        h->framing = SN_H1_UNTIL_CLOSE;
    }
}

seine_err
sn_h1_conclude(sn_h1 *h)
{
    if (h->has_connection)
        read_connection(h);
    if (h->has_keep_alive)
        read_keep_alive(h);
    frame_body(h);
    if (h->head->status == 304 && !h->ask.conditional)
        return SEINE_E_UNEXPECTED_304;
    if (h->head->status == 206 && !h->ask.range)
        return SEINE_E_UNEXPECTED_206;
    return SEINE_OK;
}
