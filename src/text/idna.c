/* SPDX-License-Identifier: Apache-2.0 */
#include "text/idna.h"

#include <idn2.h>
#include <stdbool.h>
#include <string.h>

#include "base/str.h"

/* libidn2 takes microseconds per label. A label above LONGEST bytes cannot shrink to 63,
 * and the DNS allows no name above MOST bytes, so both are refused early. */
enum { LONGEST = 1024, MOST = 254 };

struct dot {
    char bytes[4];
    size_t len;
};

/* The four dots of UTS 46, 2.3. */
static const struct dot dots[] = {
    {".", 1},
    {"\xe3\x80\x82", 3}, /* U+3002 */
    {"\xef\xbc\x8e", 3}, /* U+FF0E */
    {"\xef\xbd\xa1", 3}, /* U+FF61 */
};

/* Returns the length of the dot at `at`, or 0. */
static size_t
dot(const char *at, const char *end)
{
    for (size_t i = 0; i < sizeof dots / sizeof *dots; i++)
        if ((size_t)(end - at) >= dots[i].len &&
            memcmp(at, dots[i].bytes, dots[i].len) == 0)
            return dots[i].len;
    return 0;
}

/* The four deviations: characters that the transitional form would change. */
static bool
has_deviation(sn_str s)
{
    static const char *const all[] = {
        "\xc3\x9f",     /* U+00DF, sharp s */
        "\xcf\x82",     /* U+03C2, final sigma */
        "\xe2\x80\x8c", /* U+200C, zero width non-joiner */
        "\xe2\x80\x8d"  /* U+200D, zero width joiner */
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (memmem(s.ptr, s.len, all[i], strlen(all[i])))
            return true;
    return false;
}

/* Makes the capital sharp s small (UTS 46 since revision 31); older tables of libidn2
 * turn it into "ss". */
static sn_str
small_sharp_s(sn_str label, char *out)
{
    size_t n = 0;

    for (size_t i = 0; i < label.len; i++) {
        if (label.len - i >= 3 && memcmp(label.ptr + i, "\xe1\xba\x9e", 3) == 0) {
            out[n++] = '\xc3';
            out[n++] = '\x9f';
            i += 2;
        } else {
            out[n++] = label.ptr[i];
        }
    }
    out[n] = '\0';
    return (sn_str){out, n};
}

static int
lookup(sn_str label, int flag, uint8_t **out_text)
{
    return idn2_lookup_u8((const uint8_t *)label.ptr, out_text,
                          IDN2_NFC_INPUT | IDN2_NO_ALABEL_ROUNDTRIP | flag);
}

/* In nontransitional mode libidn2 also demands that IDNA 2008 allows each character, by
 * older tables; UTS 46 does not, and allows symbols. Without a deviation both modes give
 * the same name, so such a label is tried again in transitional mode. */
static bool
is_stricter(int rc)
{
    return rc == IDN2_DISALLOWED || rc == IDN2_UNASSIGNED || rc == IDN2_CONTEXTO ||
           rc == IDN2_CONTEXTO_NO_RULE;
}

static int
convert(sn_str label, uint8_t **out_text)
{
    int rc = lookup(label, IDN2_NONTRANSITIONAL, out_text);

    if (is_stricter(rc) && !has_deviation(label))
        rc = lookup(label, IDN2_TRANSITIONAL, out_text);
    return rc;
}

static bool
is_ascii(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] >= 0x80)
            return false;
    return true;
}

/* The output being written. */
struct name {
    char *at;
    size_t len, room;
};

static seine_err
add_lower(struct name *n, sn_str s)
{
    if (s.len > MOST - n->len)
        return SEINE_E_BAD_URL;
    if (s.len > n->room - n->len)
        return SEINE_E_FULL;
    for (size_t i = 0; i < s.len; i++)
        n->at[n->len++] = sn_lower(s.ptr[i]);
    return SEINE_OK;
}

static seine_err
add_label(struct name *n, sn_str label)
{
    char copy[LONGEST + 1];
    uint8_t *text = NULL;

    if (is_ascii(label) && !sn_str_starts_nocase(label, SN_STR("xn--")))
        return add_lower(n, label);
    if (label.len > LONGEST)
        return SEINE_E_BAD_URL;

    int rc = convert(small_sharp_s(label, copy), &text);
    if (rc != IDN2_OK)
        return rc == IDN2_MALLOC ? SEINE_E_NOMEM : SEINE_E_BAD_URL;
    seine_err e = add_lower(n, sn_str_of((const char *)text));
    idn2_free(text);
    return e;
}

seine_err
sn_idna_to_ascii(const char *name, size_t len, char *out, size_t *inout_len)
{
    const char *end = name + len, *start = name;
    struct name n = {out, 0, *inout_len};
    seine_err e = SEINE_OK;

    if (!sn_utf8_valid((sn_str){name, len})) /* libidn2 requires UTF-8 */
        return SEINE_E_BAD_URL;
    for (const char *at = name; at < end && e == SEINE_OK;) {
        size_t skip = dot(at, end);

        if (skip == 0) {
            at++;
            continue;
        }
        e = add_label(&n, (sn_str){start, (size_t)(at - start)});
        if (e == SEINE_OK)
            e = add_lower(&n, SN_STR("."));
        start = at += skip;
    }
    if (e == SEINE_OK)
        e = add_label(&n, (sn_str){start, (size_t)(end - start)});
    if (e == SEINE_OK)
        *inout_len = n.len;
    return e;
}
