/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/secret_leaks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "chaos/arg.h"
#include "chaos/quote.h"

void
snc_secret_leaks_reset(snc_secret_leaks *l)
{
    for (size_t i = 0; i < l->secret_count; i++)
        sn_free(l->secrets[i].value);
    for (size_t i = 0; i < l->found_count; i++)
        sn_free(l->found[i].origin);
    l->secret_count = l->found_count = 0;
    l->dropped = 0;
}

/* "http://a.test:80" becomes "http://a.test". */
static sn_str
without_port(sn_str origin)
{
    if (sn_str_starts_nocase(origin, SN_STR("http://")) &&
        sn_str_ends(origin, SN_STR(":80")))
        origin.len -= 3;
    else if (sn_str_starts_nocase(origin, SN_STR("https://")) &&
             sn_str_ends(origin, SN_STR(":443")))
        origin.len -= 4;
    return origin;
}

/* The base64 characters that depend on the value alone, when `shift` bytes stand before
 * it. A short value gets none: it would match by chance. */
static size_t
code_value(sn_str value, size_t shift, char *out)
{
    char bytes[SNC_SECRET_LEAKS_LONGEST + 2] = {0};
    size_t from = (shift * 8 + 5) / 6, to = (shift + value.len) * 8 / 6;

    if (value.len < 6)
        return 0;
    memcpy(bytes + shift, value.ptr, value.len);
    snc_arg_to_base64((sn_str){bytes, shift + value.len}, out);
    memmove(out, out + from, to - from);
    return to - from;
}

seine_err
snc_secret_leaks_register(snc_secret_leaks *l, sn_str value, sn_str origin)
{
    size_t room = (value.len + 2) / 3 * 4 + 8;

    origin = without_port(origin);
    if (value.len == 0 || value.len > SNC_SECRET_LEAKS_LONGEST ||
        origin.len > SNC_SECRET_LEAKS_LONGEST)
        return SEINE_E_INVAL;
    if (l->secret_count == SNC_SECRET_LEAKS_SECRETS)
        return SEINE_E_FULL;
    snc_secret_kept s = {.len = value.len, .origin_len = origin.len};
    s.value = sn_alloc(value.len + origin.len + 3 * room);
    if (!s.value)
        return SEINE_E_NOMEM;
    s.origin = s.value + value.len;
    memcpy(s.value, value.ptr, value.len);
    if (origin.len > 0)
        memcpy(s.origin, origin.ptr, origin.len);
    for (size_t i = 0; i < 3; i++) {
        s.coded[i] = s.origin + origin.len + i * room;
        s.coded_len[i] = code_value(value, i, s.coded[i]);
    }
    l->secrets[l->secret_count++] = s;
    return SEINE_OK;
}

static char *
put_text(char *to, sn_str s)
{
    if (s.len > 0)
        memcpy(to, s.ptr, s.len);
    to[s.len] = '\0';
    return to + s.len + 1;
}

void
snc_secret_leaks_note(snc_secret_leaks *l, sn_str origin, sn_str path, const char *where)
{
    sn_str place = sn_str_of(where);
    snc_secret_leak *leak = &l->found[l->found_count];
    char *text;

    if (l->found_count == SNC_SECRET_LEAKS_FOUND ||
        !(text = sn_alloc(origin.len + path.len + place.len + 3))) {
        l->dropped++;
        return;
    }
    leak->origin = text;
    leak->path = put_text(text, origin);
    leak->where = put_text(leak->path, path);
    put_text(leak->where, place);
    l->found_count++;
}

/* Maps both alphabets of base64 (RFC 4648, 4 and 5) to one. */
static char
letter(char c)
{
    return c == '-' ? '+' : c == '_' ? '/' : c;
}

static bool
holds_coded(sn_str text, const char *part, size_t len)
{
    for (size_t i = 0; len > 0 && i + len <= text.len; i++) {
        size_t k = 0;

        while (k < len && letter(text.ptr[i + k]) == part[k])
            k++;
        if (k == len)
            return true;
    }
    return false;
}

static bool
holds_secret(sn_str text, const snc_secret_kept *s)
{
    bool found = text.len >= s->len && memmem(text.ptr, text.len, s->value, s->len);

    for (size_t i = 0; i < 3 && !found; i++)
        found = holds_coded(text, s->coded[i], s->coded_len[i]);
    return found;
}

static bool
is_same(const snc_secret_kept *a, const snc_secret_kept *b)
{
    return a->len == b->len && memcmp(a->value, b->value, a->len) == 0;
}

/* Is the i-th secret a repetition, or does another entry say that it belongs to this
 * origin? */
static bool
is_settled(const snc_secret_leaks *l, size_t i, sn_str origin)
{
    for (size_t k = 0; k < l->secret_count; k++) {
        const snc_secret_kept *s = &l->secrets[k];

        if (is_same(s, &l->secrets[i]) &&
            (k < i || sn_str_eq_nocase(origin, (sn_str){s->origin, s->origin_len})))
            return true;
    }
    return false;
}

size_t
snc_secret_leaks_search(snc_secret_leaks *l, sn_str origin, sn_str path,
                        const char *where, sn_str text)
{
    size_t found = 0;

    origin = without_port(origin);
    for (size_t i = 0; i < l->secret_count; i++)
        if (!is_settled(l, i, origin) && holds_secret(text, &l->secrets[i])) {
            snc_secret_leaks_note(l, origin, path, where);
            found++;
        }
    return found;
}

static int
by_place(const void *a, const void *b)
{
    const snc_secret_leak *x = a, *y = b;
    int order = strcmp(x->origin, y->origin);

    if (order == 0)
        order = strcmp(x->path, y->path);
    return order != 0 ? order : strcmp(x->where, y->where);
}

void
snc_secret_leaks_report(snc_secret_leaks *l, sn_buf *out)
{
    qsort(l->found, l->found_count, sizeof *l->found, by_place);
    sn_buf_char(out, '[');
    for (size_t i = 0; i < l->found_count; i++) {
        sn_buf_text(out, i ? ",{" : "{");
        snc_quote_member(out, "origin", sn_str_of(l->found[i].origin));
        sn_buf_char(out, ',');
        snc_quote_member(out, "where", sn_str_of(l->found[i].where));
        sn_buf_char(out, ',');
        snc_quote_member(out, "path", sn_str_of(l->found[i].path));
        sn_buf_char(out, '}');
    }
    sn_buf_char(out, ']');
}
