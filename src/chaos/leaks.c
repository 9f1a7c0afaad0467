/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/leaks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "chaos/arg.h"
#include "chaos/quote.h"

void
snc_leaks_reset(snc_leaks *l)
{
    for (size_t i = 0; i < l->secret_count; i++)
        sn_free(l->secrets[i].value);
    for (size_t i = 0; i < l->found_count; i++)
        sn_free(l->found[i].origin);
    l->secret_count = l->found_count = 0;
    l->dropped = 0;
}

seine_err
snc_leaks_register(snc_leaks *l, sn_str value, sn_str origin)
{
    snc_secret_kept s = {.len = value.len, .origin_len = origin.len};

    if (value.len == 0 || value.len > SNC_LEAKS_LONGEST || origin.len > SNC_LEAKS_LONGEST)
        return SEINE_E_INVAL;
    if (l->secret_count == SNC_LEAKS_SECRETS)
        return SEINE_E_FULL;
    s.value = sn_alloc(value.len + origin.len + value.len / 3 * 4 + 8);
    if (!s.value)
        return SEINE_E_NOMEM;
    s.origin = s.value + value.len;
    s.coded = s.origin + origin.len;
    memcpy(s.value, value.ptr, value.len);
    if (origin.len > 0)
        memcpy(s.origin, origin.ptr, origin.len);
    snc_arg_to_base64(value, s.coded);
    /* The letters that do not depend on what may follow; a few of them could turn
     * up anywhere. */
    s.coded_len = value.len >= 6 ? value.len * 8 / 6 : 0;
    l->secrets[l->secret_count++] = s;
    return SEINE_OK;
}

static char *
put(char *to, sn_str s)
{
    if (s.len > 0)
        memcpy(to, s.ptr, s.len);
    to[s.len] = '\0';
    return to + s.len + 1;
}

static void
note(snc_leaks *l, sn_str origin, sn_str path, const char *where)
{
    sn_str place = sn_str_of(where);
    snc_leak *leak = &l->found[l->found_count];
    char *text;

    if (l->found_count == SNC_LEAKS_FOUND ||
        !(text = sn_alloc(origin.len + path.len + place.len + 3))) {
        l->dropped++;
        return;
    }
    leak->origin = text;
    leak->path = put(text, origin);
    leak->where = put(leak->path, path);
    put(leak->where, place);
    l->found_count++;
}

static bool
holds(sn_str text, const char *part, size_t len)
{
    return text.len >= len && len > 0 && memmem(text.ptr, text.len, part, len);
}

void
snc_leaks_look(snc_leaks *l, sn_str origin, sn_str path, const char *where, sn_str text)
{
    for (size_t i = 0; i < l->secret_count; i++) {
        const snc_secret_kept *s = &l->secrets[i];

        if (sn_str_eq_nocase(origin, (sn_str){s->origin, s->origin_len}))
            continue;
        if (holds(text, s->value, s->len) || holds(text, s->coded, s->coded_len))
            note(l, origin, path, where);
    }
}

static int
by_place(const void *a, const void *b)
{
    const snc_leak *x = a, *y = b;
    int order = strcmp(x->origin, y->origin);

    if (order == 0)
        order = strcmp(x->path, y->path);
    return order != 0 ? order : strcmp(x->where, y->where);
}

void
snc_leaks_report(snc_leaks *l, sn_buf *out)
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
