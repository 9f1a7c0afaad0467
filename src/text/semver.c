/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/semver.h"

#include "base/str.h"
#include "text/semver_parts.h"

static bool
is_identifier_char(char c)
{
    return sn_is_digit(c) || sn_is_alpha(c) || c == '-';
}

static bool
is_number(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!sn_is_digit(s.ptr[i]))
            return false;
    return s.len > 0;
}

seine_err
sn_semver_number(sn_str *rest, uint64_t *out_n)
{
    size_t n = 0;

    while (n < rest->len && sn_is_digit(rest->ptr[n]))
        n++;
    if (n == 0 || (n > 1 && rest->ptr[0] == '0'))
        return SEINE_E_PARSE;
    seine_err e = sn_str_u64(sn_str_slice(*rest, 0, n), out_n);
    if (e == SEINE_OK)
        *rest = sn_str_slice(*rest, n, rest->len);
    return e;
}

/* Identifiers with dots between them. A number of a pre-release has no leading zeros. */
static seine_err
take_identifiers(sn_str *rest, bool is_pre, seine_view *out_all)
{
    size_t n = 0, from = 0;

    for (;; n++) {
        if (n < rest->len && is_identifier_char(rest->ptr[n]))
            continue;
        sn_str one = sn_str_slice(*rest, from, n);
        if (one.len == 0 ||
            (is_pre && one.len > 1 && one.ptr[0] == '0' && is_number(one)))
            return SEINE_E_PARSE;
        if (n == rest->len || rest->ptr[n] != '.')
            break;
        from = n + 1;
    }
    *out_all = sn_str_slice(*rest, 0, n);
    *rest = sn_str_slice(*rest, n, rest->len);
    return SEINE_OK;
}

seine_err
sn_semver_tail(sn_str *rest, seine_semver *v)
{
    seine_err e = SEINE_OK;

    if (rest->len > 0 && rest->ptr[0] == '-') {
        *rest = sn_str_slice(*rest, 1, rest->len);
        e = take_identifiers(rest, true, &v->pre);
    }
    if (e == SEINE_OK && rest->len > 0 && rest->ptr[0] == '+') {
        *rest = sn_str_slice(*rest, 1, rest->len);
        e = take_identifiers(rest, false, &v->build);
    }
    return e;
}

static bool
take_dot(sn_str *rest)
{
    if (rest->len == 0 || rest->ptr[0] != '.')
        return false;
    *rest = sn_str_slice(*rest, 1, rest->len);
    return true;
}

seine_err
seine_semver_parse(const char *text, size_t len, seine_semver *out_version)
{
    sn_str rest = {text, len};
    seine_semver v = {0};
    uint64_t *const numbers[] = {&v.major, &v.minor, &v.patch};

    if (!text || !out_version)
        return SEINE_E_INVAL;
    if (len > SEINE_SEMVER_BYTES)
        return SEINE_E_RANGE;
    for (int i = 0; i < 3; i++) {
        if (i > 0 && !take_dot(&rest))
            return SEINE_E_PARSE;
        seine_err e = sn_semver_number(&rest, numbers[i]);
        if (e != SEINE_OK)
            return e;
    }
    seine_err e = sn_semver_tail(&rest, &v);
    if (e != SEINE_OK)
        return e;
    if (rest.len > 0)
        return SEINE_E_PARSE;
    *out_version = v;
    return SEINE_OK;
}

static int
cmp_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int
sign(int n)
{
    return (n > 0) - (n < 0);
}

/* SemVer 11.4: numbers by size and before words, words by bytes. A number has no leading
 * zeros, so the longer one is the larger one, of any length. */
static int
cmp_identifiers(sn_str a, sn_str b)
{
    bool is_a = is_number(a), is_b = is_number(b);

    if (is_a != is_b)
        return is_a ? -1 : 1;
    if (is_a && a.len != b.len)
        return cmp_u64(a.len, b.len);
    return sign(sn_str_cmp(a, b));
}

/* A version with a pre-release comes before the version itself; of two pre-releases that
 * begin alike the shorter one comes first. */
static int
cmp_pre(sn_str a, sn_str b)
{
    sn_str x, y;

    if (!a.ptr || !b.ptr)
        return (a.ptr == NULL) - (b.ptr == NULL);
    for (;;) {
        bool has_x = sn_str_next(&a, '.', &x), has_y = sn_str_next(&b, '.', &y);

        if (!has_x || !has_y)
            return has_x - has_y;
        int order = cmp_identifiers(x, y);
        if (order != 0)
            return order;
    }
}

int
seine_semver_cmp(const seine_semver *a, const seine_semver *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    int order = cmp_u64(a->major, b->major);
    if (order == 0)
        order = cmp_u64(a->minor, b->minor);
    if (order == 0)
        order = cmp_u64(a->patch, b->patch);
    return order != 0 ? order : cmp_pre(a->pre, b->pre);
}
