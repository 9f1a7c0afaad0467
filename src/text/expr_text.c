/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of expressions on texts. */
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "text/expr_parts.h"

enum { DIGITS = 32 };

static const sn_expr_value null_value;

static double
count_chars(sn_str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        n += ((unsigned char)text.ptr[i] & 0xc0) != 0x80;
    return (double)n;
}

static sn_expr_value
length(sn_expr_runner *r, const sn_expr_value *v)
{
    if (v->type == SN_EXPR_LIST)
        return sn_expr_number((double)v->list.count);
    if (v->type != SN_EXPR_TEXT || !sn_expr_spend(r, v->text.len))
        return null_value;
    return sn_expr_number(count_chars(v->text));
}

static char
upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - ('a' - 'A')) : c;
}

static sn_expr_value
change_case(sn_expr_runner *r, sn_expr_fn fn, sn_str text)
{
    char *to = sn_expr_room(r, text.len);

    for (size_t i = 0; to && i < text.len; i++)
        to[i] = fn == SN_EXPR_FN_UPPER ? upper(text.ptr[i]) : sn_lower(text.ptr[i]);
    return to ? sn_expr_text((sn_str){to, text.len}) : null_value;
}

/* Letters, digits and what is not ASCII, in lower case; a "-" for each run of others. */
static sn_expr_value
slug(sn_expr_runner *r, sn_str text)
{
    char *to = sn_expr_room(r, text.len);
    size_t n = 0;
    bool gap = false;

    if (!to)
        return null_value;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!sn_is_alpha(c) && !sn_is_digit(c) && (unsigned char)c < 0x80) {
            gap = n > 0;
            continue;
        }
        if (gap)
            to[n++] = '-';
        gap = false;
        to[n++] = sn_lower(c);
    }
    return sn_expr_text((sn_str){to, n});
}

static sn_expr_value
digest(sn_expr_runner *r, sn_str text)
{
    static const char hex[] = "0123456789abcdef";
    uint8_t bytes[32];
    char *to = sn_expr_spend(r, text.len) ? sn_expr_room(r, 64) : NULL;

    if (!to)
        return null_value;
    if (sn_sha256(text.ptr, text.len, bytes) != SEINE_OK) {
        r->err = SEINE_E_NOMEM;
        return null_value;
    }
    for (int i = 0; i < 32; i++) {
        to[2 * i] = hex[bytes[i] >> 4];
        to[2 * i + 1] = hex[bytes[i] & 15];
    }
    return sn_expr_text((sn_str){to, 64});
}

/* A value as text: 5, not 5.0; null and lists are no text. `digits` holds numbers. */
static sn_str
as_text(const sn_expr_value *v, char digits[DIGITS])
{
    size_t n;

    switch (v->type) {
    case SN_EXPR_TEXT:
        return v->text;
    case SN_EXPR_BOOL:
        return v->truth ? SN_STR("true") : SN_STR("false");
    case SN_EXPR_NUMBER:
        n = sn_json_decimal(v->number, digits);
        if (n > 2 && memcmp(digits + n - 2, ".0", 2) == 0)
            n -= 2;
        return (sn_str){digits, n};
    default:
        return (sn_str){"", 0};
    }
}

/* All texts of a row with `between` between them. */
static sn_expr_value
glue(sn_expr_runner *r, const sn_expr_value *all, size_t count, sn_str between)
{
    char digits[DIGITS];
    size_t len = 0, n = 0;

    for (size_t i = 0; i < count && sn_expr_spend(r, 0); i++)
        len += as_text(&all[i], digits).len + (i > 0 ? between.len : 0);
    char *to = sn_expr_room(r, len);
    for (size_t i = 0; to && i < count; i++) {
        sn_str part = as_text(&all[i], digits), gap = i > 0 ? between : SN_STR("");
        if (gap.len > 0)
            memcpy(to + n, gap.ptr, gap.len);
        if (part.len > 0)
            memcpy(to + n + gap.len, part.ptr, part.len);
        n += gap.len + part.len;
    }
    return to ? sn_expr_text((sn_str){to, n}) : null_value;
}

sn_expr_value
sn_expr_call_text(sn_expr_runner *r, sn_expr_fn fn, const sn_expr_value *arg,
                  size_t count)
{
    switch (fn) {
    case SN_EXPR_FN_LEN:
        return length(r, &arg[0]);
    case SN_EXPR_FN_LOWER:
    case SN_EXPR_FN_UPPER:
        return change_case(r, fn, arg[0].text);
    case SN_EXPR_FN_TRIM:
        return sn_expr_spend(r, arg[0].text.len) ? sn_expr_text(sn_str_trim(arg[0].text))
                                                 : null_value;
    case SN_EXPR_FN_SLUG:
        return slug(r, arg[0].text);
    case SN_EXPR_FN_SHA256:
        return digest(r, arg[0].text);
    case SN_EXPR_FN_CONCAT:
        return glue(r, arg, count, SN_STR(""));
    case SN_EXPR_FN_JOIN:
        return glue(r, arg[0].list.items, arg[0].list.count, arg[1].text);
    default:
        return null_value;
    }
}

/* Matches of a text one behind the other. An empty match moves on by a character. */
typedef struct walk {
    sn_expr_runner *r;
    const sn_pattern *p;
    sn_str text;
    size_t from;   /* where the next match may begin */
    size_t behind; /* the end of the last one */
    bool is_utf8;
} walk;

static walk
walk_over(sn_expr_runner *r, sn_str text, const sn_pattern *p)
{
    return (walk){.r = r, .p = p, .text = text, .is_utf8 = sn_utf8_valid(text)};
}

static bool
next_match(walk *w, sn_match *m)
{
    if (w->from > w->text.len ||
        !sn_expr_find(w->r, w->p, w->text, w->from, w->is_utf8, m))
        return false;
    w->from = m->end;
    if (m->end == m->at) {
        uint32_t c;
        size_t n = sn_utf8_decode(sn_str_slice(w->text, m->end, w->text.len), &c);
        w->from += n > 0 ? n : 1;
    }
    return true;
}

static sn_expr_value
replace(sn_expr_runner *r, sn_str text, const sn_pattern *p, sn_str with)
{
    walk w = walk_over(r, text, p);
    sn_match m;
    sn_buf b;

    sn_buf_init(&b, SN_EXPR_SCRATCH);
    while (next_match(&w, &m) && sn_expr_spend(r, with.len)) {
        if (m.at < w.behind) /* \K or a look-behind: never back into the last match */
            continue;
        sn_buf_str(&b, sn_str_slice(text, w.behind, m.at));
        sn_buf_str(&b, with);
        w.behind = m.end;
    }
    sn_buf_str(&b, sn_str_slice(text, w.behind, text.len));
    seine_err e = sn_buf_done(&b);
    if (e != SEINE_OK && r->err == SEINE_OK)
        r->err = e == SEINE_E_FULL ? SEINE_E_BUDGET : e;
    char *to = sn_expr_room(r, b.len);
    if (to && b.len > 0)
        memcpy(to, b.ptr, b.len);
    sn_expr_value v = to ? sn_expr_text((sn_str){to, b.len}) : null_value;
    sn_buf_fini(&b);
    return v;
}

/* The parts between matches; an empty match splits nothing. Walks twice: the first time
 * it counts. */
static size_t
split_into(sn_expr_runner *r, sn_str text, const sn_pattern *p, sn_expr_value *out)
{
    walk w = walk_over(r, text, p);
    size_t n = 0;
    sn_match m;

    while (next_match(&w, &m)) {
        if (m.end == m.at || m.at < w.behind)
            continue;
        if (out)
            out[n] = sn_expr_text(sn_str_slice(text, w.behind, m.at));
        n++;
        w.behind = m.end;
    }
    if (out)
        out[n] = sn_expr_text(sn_str_slice(text, w.behind, text.len));
    return n + 1;
}

static sn_expr_value
split(sn_expr_runner *r, sn_str text, const sn_pattern *p)
{
    size_t n = split_into(r, text, p, NULL);
    sn_expr_value *all = sn_expr_list_room(r, n);

    if (!all)
        return null_value;
    split_into(r, text, p, all);
    if (r->err != SEINE_OK)
        return null_value;
    return (sn_expr_value){SN_EXPR_LIST, .list = {all, n}};
}

sn_expr_value
sn_expr_call_pattern(sn_expr_runner *r, sn_expr_fn fn, const sn_expr_value *arg,
                     const sn_pattern *p)
{
    sn_match m;

    if (fn == SN_EXPR_FN_REPLACE)
        return replace(r, arg[0].text, p, arg[2].text);
    if (fn == SN_EXPR_FN_SPLIT)
        return split(r, arg[0].text, p);
    return sn_expr_find(r, p, arg[0].text, 0, false, &m) ? sn_expr_text(m.group)
                                                         : null_value;
}
