/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of texts: regex, replace, blanks, split, in this order. */
#include <string.h>

#include "recipe/apply.h"

/* A text in which a pattern is looked for, again and again. All matches together have the
 * steps of one: else a page of many would cost its length squared. */
typedef struct search {
    const sn_pattern *pattern;
    sn_str text;
    uint32_t steps;
    bool is_utf8;
} search;

static search
begin_search(const sn_pattern *p, sn_str text)
{
    return (search){p, text, sn_pattern_steps(text.len), sn_utf8_valid(text)};
}

/* Finds the pattern from byte `from` on. What cannot be decided is no match. */
static bool
find(sn_apply *a, search *s, size_t from, sn_match *out)
{
    sn_pattern_how how = {from, s->steps, s->is_utf8};
    bool found = false;
    seine_err e =
        s->is_utf8 ? sn_pattern_find(s->pattern, &a->matcher, s->text, how, out, &found)
                   : SEINE_OK;

    s->steps = a->matcher.left;
    if (e == SEINE_E_NOMEM)
        a->err = e;
    return e == SEINE_OK && found;
}

/* The byte behind the character at `at`. */
static size_t
behind(sn_str s, size_t at)
{
    do
        at++;
    while (at < s.len && (s.ptr[at] & 0xc0) == 0x80);
    return at;
}

static sn_str
keep(sn_apply *a, sn_str s)
{
    char *copy = sn_arena_text(&a->arena, s);

    if (!copy)
        sn_apply_no_room(a);
    return copy ? (sn_str){copy, s.len} : SN_STR("");
}

/* Every match becomes `with`; an empty match moves on by a character. */
static sn_str
replace_all(sn_apply *a, const sn_replacement *r, sn_str text)
{
    search s = begin_search(r->pattern, text);
    size_t from = 0;
    sn_match m;
    sn_buf b;

    sn_buf_init(&b, SN_RECIPE_ROW_BYTES);
    while (from <= text.len && find(a, &s, from, &m)) {
        sn_buf_add(&b, text.ptr + from, m.at - from);
        sn_buf_str(&b, r->with);
        from = m.end;
        if (m.end > m.at)
            continue;
        if (from == text.len)
            break;
        sn_buf_add(&b, text.ptr + from, behind(text, from) - from);
        from = behind(text, from);
    }
    if (from < text.len)
        sn_buf_add(&b, text.ptr + from, text.len - from);
    if (sn_buf_done(&b) != SEINE_OK)
        sn_apply_no_room(a);
    text = keep(a, sn_buf_view(&b));
    sn_buf_fini(&b);
    return text;
}

static void
split(sn_apply *a, const sn_field *f, sn_str text, sn_texts *out)
{
    search s = begin_search(f->split, text);
    size_t from = 0, at = 0;
    sn_match m;

    while (at <= text.len && find(a, &s, at, &m)) {
        at = m.end > m.at ? m.end : behind(text, m.end);
        if (m.end == m.at)
            continue;
        sn_str part = sn_str_trim(sn_str_slice(text, from, m.at));
        if (part.len > 0 && !sn_texts_add(a, out, part))
            return;
        from = m.end;
    }
    sn_str part = sn_str_trim(sn_str_slice(text, from, text.len));
    if (part.len > 0)
        (void)sn_texts_add(a, out, part);
}

static void
shape_one(sn_apply *a, const sn_field *f, sn_str text, sn_texts *out)
{
    sn_match m;

    if (f->regex) {
        search s = begin_search(f->regex, text);

        if (!find(a, &s, 0, &m))
            return;
        text = keep(a, m.group);
    }
    for (size_t i = 0; i < f->n_replace && a->err == SEINE_OK; i++)
        text = replace_all(a, &f->replace[i], text);
    if (f->meaning.type != SN_TYPE_JSON)
        text = sn_apply_collapse(a, text);
    if (a->err != SEINE_OK)
        return;
    if (f->split)
        split(a, f, text, out);
    else if (text.len > 0 || f->keep_empty)
        (void)sn_texts_add(a, out, text);
}

/* nth of the texts; all of them without it. */
void
sn_apply_shape(sn_apply *a, const sn_field *f, const sn_texts *in, sn_texts *out)
{
    size_t from = 0, to = in->count;

    if (f->nth != 0) {
        int64_t i = f->nth > 0 ? f->nth - 1 : (int64_t)in->count + f->nth;
        from = i >= 0 && (size_t)i < in->count ? (size_t)i : in->count;
        to = from < in->count ? from + 1 : from;
    } else if (!f->all && to > 1) {
        to = 1;
    }
    for (size_t i = from; i < to && a->err == SEINE_OK; i++)
        shape_one(a, f, in->items[i], out);
}
