/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a set, and a text they may stand in: none comes through, a text without any
 * stays as it is, and the search is linear. The first byte says how many values there
 * are, and whether they were learnt while the program ran; each is its length and its
 * bytes; the rest is the text. */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

enum { VALUES = 4 };

static int
escape_at(sn_str text, size_t i)
{
    if (text.len - i < 3 || text.ptr[i] != '%')
        return -1;
    int high = sn_hex_digit(text.ptr[i + 1]), low = sn_hex_digit(text.ptr[i + 2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* A reading of the value from `i` on; without percent signs of its own there is one. */
static bool
reads(sn_str text, size_t i, sn_str value)
{
    for (size_t k = 0; k < value.len; k++) {
        if (i >= text.len)
            return false;
        if (text.ptr[i] == value.ptr[k])
            i++;
        else if (escape_at(text, i) == (unsigned char)value.ptr[k])
            i += 3;
        else
            return false;
    }
    return true;
}

static char
digit(char c)
{
    return (char)(c == '-' ? '+' : c == '_' ? '/' : c);
}

/* The characters of base64 that are the value's alone, behind `before` other bytes. */
static bool
is_coded(sn_str text, sn_str value, size_t before)
{
    static char raw[260], code[SN_BASE64_ROOM(260)];
    size_t first = (8 * before + 5) / 6, end = 8 * (before + value.len) / 6;

    memset(raw, 0, before);
    memcpy(raw + before, value.ptr, value.len);
    sn_base64(raw, before + value.len, code);
    for (size_t i = 0; i + (end - first) <= text.len; i++) {
        size_t k = first;

        while (k < end && digit(text.ptr[i + k - first]) == code[k])
            k++;
        if (k == end)
            return true;
    }
    return false;
}

static bool
holds(sn_str text, sn_str value)
{
    bool plain = false;

    for (size_t i = 0; i < text.len && !plain; i++)
        plain = reads(text, i, value);
    return plain || is_coded(text, value, 0) || is_coded(text, value, 1) ||
           is_coded(text, value, 2);
}

/* REDACTED could complete a value of its own letters. */
static bool
is_fair(sn_str value)
{
    for (size_t i = 0; i < value.len; i++)
        if (memchr("REDACT%", value.ptr[i], 7))
            return false;
    return value.len >= SEINE_SECRET_LEAST;
}

/* The pieces between the words that were put in. */
static void
check_pieces(sn_str out, sn_str value)
{
    for (;;) {
        char *word = out.len ? memmem(out.ptr, out.len, SN_REDACTED, 8) : NULL;
        size_t len = word ? (size_t)(word - out.ptr) : out.len;

        REQUIRE(!holds(sn_str_slice(out, 0, len), value));
        if (!word)
            return;
        out = sn_str_slice(out, len + 8, out.len);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_str values[VALUES], text = {(const char *)bytes, n};
    size_t n_values = n > 0 ? bytes[0] % (VALUES + 1u) : 0;
    bool any = false;
    seine_secrets *s = NULL;

    text = sn_str_slice(text, 1, n);
    REQUIRE(seine_secrets_new(&s) == SEINE_OK);
    for (size_t i = 0; i < n_values; i++) {
        size_t len = text.len > 0 ? (uint8_t)text.ptr[0] : 0;

        values[i] = sn_str_slice(text, 1, 1 + len);
        text = sn_str_slice(text, 1 + len, text.len);
        REQUIRE((bytes[0] & 0x40
                     ? seine_secrets_learn(s, values[i].ptr, values[i].len)
                     : seine_secrets_add(s, values[i].ptr, values[i].len)) == SEINE_OK);
    }
    size_t cap = 8 * text.len + 8, half = text.len / 2;
    char *out = malloc(cap), *cut = malloc(half + 1);
    REQUIRE(out && cut);
    size_t len = sn_redact(s, text, out, cap);
    REQUIRE(len <= cap);
    REQUIRE(sn_redact(s, text, cut, half) == len);
    REQUIRE(memcmp(out, cut, half < len ? half : len) == 0);
    REQUIRE(sn_redact_steps(s, text) <= 2000 * (text.len + 1));
    for (size_t i = 0; i < n_values; i++) {
        if (values[i].len >= SEINE_SECRET_LEAST)
            any = any || !is_fair(values[i]) || holds(text, values[i]) ||
                  sn_str_find(values[i], ' ') < values[i].len;
        if (is_fair(values[i]))
            check_pieces((sn_str){out, len}, values[i]);
    }
    if (!any && sn_str_find(text, '@') == text.len &&
        sn_str_find(text, '=') == text.len && sn_str_find(text, '%') == text.len)
        REQUIRE(len == text.len && (len == 0 || memcmp(out, text.ptr, len) == 0));
    len = sn_redact_url(s, text, out, cap);
    for (size_t i = 0; i < n_values; i++)
        if (is_fair(values[i]))
            check_pieces((sn_str){out, len}, values[i]);
    free(out);
    free(cut);
    seine_secrets_free(s);
    return 0;
}
