/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of expressions on URLs. */
#include <string.h>

#include "base/alloc.h"
#include "seine/url.h"
#include "text/expr_parts.h"

static const sn_expr_value null_value;

/* The runner keeps the memory of two URLs. */
static bool
make_urls(sn_expr_runner *r, seine_url *a, seine_url *b)
{
    if (!r->url_room)
        r->url_room = sn_alloc(2 * SEINE_URL_ROOM);
    if (!r->url_room) {
        r->err = SEINE_E_NOMEM;
        return false;
    }
    seine_url_init(a, r->url_room, SEINE_URL_ROOM);
    seine_url_init(b, r->url_room + SEINE_URL_ROOM, SEINE_URL_ROOM);
    return true;
}

static sn_expr_value
keep(sn_expr_runner *r, sn_str text)
{
    char *to = sn_expr_room(r, text.len);

    if (!to)
        return null_value;
    if (text.len > 0)
        memcpy(to, text.ptr, text.len);
    return sn_expr_text((sn_str){to, text.len});
}

/* Writes the text without its %-escapes, + as a blank; returns the length. */
static size_t
decode(sn_str s, char *out)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++) {
        int high = i + 2 < s.len ? sn_hex_digit(s.ptr[i + 1]) : -1;
        int low = i + 2 < s.len ? sn_hex_digit(s.ptr[i + 2]) : -1;

        if (s.ptr[i] == '%' && high >= 0 && low >= 0) {
            out[n++] = (char)(high * 16 + low);
            i += 2;
        } else {
            out[n++] = s.ptr[i] == '+' ? ' ' : s.ptr[i];
        }
    }
    return n;
}

/* The first parameter of this name, decoded. */
static sn_expr_value
param(sn_expr_runner *r, sn_str query, sn_str name)
{
    char *room = sn_expr_room(r, query.len);
    sn_str part, key, value;

    while (room && sn_str_next(&query, '&', &part)) {
        sn_str_cut(part, '=', &key, &value);
        if (!sn_str_eq((sn_str){room, decode(key, room)}, name))
            continue;
        return sn_expr_text((sn_str){room, decode(value, room)});
    }
    return null_value;
}

sn_expr_value
sn_expr_call_url(sn_expr_runner *r, sn_expr_fn fn, const sn_expr_value *arg)
{
    sn_str text = arg[0].text;
    seine_url u, target;

    if (!sn_expr_spend(r, text.len) || !make_urls(r, &u, &target))
        return null_value;
    seine_err e = seine_url_parse(&u, text.ptr ? text.ptr : "", text.len, NULL);
    if (e == SEINE_OK && fn == SN_EXPR_FN_RESOLVE)
        e = seine_url_resolve(&target, &u, arg[1].text.ptr ? arg[1].text.ptr : "",
                              arg[1].text.len, NULL);
    if (e == SEINE_E_NOMEM)
        r->err = e;
    if (e != SEINE_OK)
        return null_value;
    switch (fn) {
    case SN_EXPR_FN_HOST:
        return keep(r, seine_url_host(&u));
    case SN_EXPR_FN_PATH:
        return keep(r, seine_url_path(&u));
    case SN_EXPR_FN_PARAM:
        return param(r, seine_url_query(&u), arg[1].text);
    default:
        return keep(r, seine_url_href(&target));
    }
}
