/* SPDX-License-Identifier: Apache-2.0 */
/* Where a page leads: links to follow, and the next page of its kind. */
#include <inttypes.h>
#include <string.h>

#include "recipe/apply.h"
#include "seine/jsonptr.h"
#include "text/url.h"

/* Resolves a link; NULL: no http URL. The text is in the arena of the row. */
static const char *
resolve(sn_apply *a, sn_str link)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;

    link = sn_str_trim(link);
    seine_url_init(&u, mem, sizeof mem);
    seine_err e = seine_url_href(&a->base).len > 0
                      ? seine_url_resolve(&u, &a->base, link.ptr, link.len, NULL)
                      : seine_url_parse(&u, link.ptr, link.len, NULL);
    if (e == SEINE_E_NOMEM)
        a->err = e;
    seine_view scheme = seine_url_scheme(&u);
    if (e != SEINE_OK ||
        (!sn_str_eq(scheme, SN_STR("http")) && !sn_str_eq(scheme, SN_STR("https"))))
        return NULL;
    return sn_arena_text(&a->arena, seine_url_href(&u));
}

/* The kind of page whose `match` fits; NULL: none. */
static const char *
kind_of(sn_apply *a, const char *url)
{
    for (size_t i = 1; i < a->r->n_pages; i++) {
        bool found = false;
        if (a->r->pages[i].match &&
            sn_pattern_match(a->r->pages[i].match, &a->matcher, sn_str_of(url), &found) ==
                SEINE_OK &&
            found)
            return a->r->pages[i].id;
    }
    return NULL;
}

static void
give_lead(sn_apply *a, size_t rule, sn_str link, const char *carry)
{
    const sn_follow *f = &a->kind->follow[rule];
    const char *url = resolve(a, link);
    const char *kind = f->to || !url ? f->to : kind_of(a, url);

    if (!url || !kind || (f->limit > 0 && a->followed[rule] >= f->limit))
        return;
    seine_lead lead = {url, kind, carry, 1, false, false};
    a->followed[rule]++;
    a->out->links++;
    if (a->page->on_lead)
        a->page->on_lead(&lead, a->arg);
}

typedef struct json_links {
    sn_apply *a;
    size_t rule;
    const char *carry;
} json_links;

static bool
on_link(const seine_json *value, void *arg)
{
    json_links *j = arg;
    sn_str text;

    if (seine_json_string(value, &text.ptr, &text.len))
        give_lead(j->a, j->rule, text, j->carry);
    for (size_t i = 0;
         i < seine_json_size(value) && seine_json_type_of(value) == SEINE_JSON_ARRAY; i++)
        if (seine_json_string(seine_json_at(value, i), &text.ptr, &text.len))
            give_lead(j->a, j->rule, text, j->carry);
    return j->a->err == SEINE_OK;
}

static void
follow(sn_apply *a, size_t rule, const sn_row_place *at, const char *carry)
{
    const sn_follow *f = &a->kind->follow[rule];
    json_links j = {a, rule, carry};
    seine_node n = at->node;

    if (!f->select && at->json &&
        seine_jsonptr_each(at->json, f->from.ptr, f->from.len, on_link, &j) != SEINE_OK)
        a->err = SEINE_E_INVAL;
    while (f->select && a->tree && a->err == SEINE_OK &&
           (a->err = seine_finder_next(a->finder, f->select, at->node, &n)) == SEINE_OK &&
           n != 0) {
        sn_texts link = {NULL, 0, 0};
        if (sn_apply_node_text(a, n, f->attr, &link))
            give_lead(a, rule, link.items[0], carry);
    }
}

/* The carried fields as a JSON object. */
static seine_err
carried(const sn_follow *f, const seine_json *row, seine_text *out)
{
    seine_json *all = seine_json_new_object();
    seine_err e = all ? SEINE_OK : SEINE_E_NOMEM;

    for (size_t i = 0; f->carry[i] && e == SEINE_OK; i++) {
        const seine_json *v = seine_json_get(row, f->carry[i]);
        if (v)
            e = seine_json_set(all, f->carry[i], seine_json_new_copy(v));
    }
    if (e == SEINE_OK)
        e = seine_json_print(all, out);
    seine_json_free(all);
    return e;
}

void
sn_apply_follow_row(sn_apply *a, const sn_row_place *at, const seine_json *row)
{
    for (size_t i = 0; i < a->kind->n_follow && a->err == SEINE_OK; i++) {
        seine_text carry = {NULL, 0};
        if (!a->kind->follow[i].carry)
            continue;
        a->err = carried(&a->kind->follow[i], row, &carry);
        if (a->err == SEINE_OK)
            follow(a, i, at, carry.bytes);
        seine_text_free(&carry);
    }
}

void
sn_apply_follow_page(sn_apply *a)
{
    sn_row_place whole = {.json = a->json};

    sn_arena_reset(&a->arena);
    for (size_t i = 0; i < a->kind->n_follow && a->err == SEINE_OK; i++)
        if (!a->kind->follow[i].carry)
            follow(a, i, &whole, NULL);
}

/* Finds "name=" in a query; false: it is not there. */
static bool
find_param(sn_str url, sn_str name, size_t *out_from, size_t *out_to)
{
    size_t at = sn_str_find(url, '?');

    while (at < url.len) {
        sn_str rest = sn_str_slice(url, at + 1, url.len);
        size_t end = at + 1 + sn_str_find(rest, '&');
        sn_str one = sn_str_slice(url, at + 1, end), key, value;
        sn_str_cut(one, '=', &key, &value);
        if (sn_str_eq(key, name)) {
            *out_from = end - value.len;
            *out_to = end;
            return value.len > 0 || key.len < one.len;
        }
        at = end;
    }
    return false;
}

static sn_str
page_url(const sn_apply *a)
{
    sn_str url = seine_url_href(&a->url);

    return sn_str_slice(url, 0, sn_str_find(url, '#'));
}

/* The URL of the page with another value of a parameter; NULL: it would be too long. */
static const char *
with_param(sn_apply *a, sn_str name, sn_str value)
{
    sn_str url = page_url(a);
    size_t from, to;
    sn_buf b;

    sn_buf_init(&b, SEINE_URL_MAX);
    bool has = find_param(url, name, &from, &to);
    sn_buf_str(&b, sn_str_slice(url, 0, has ? from : url.len));
    if (!has) {
        sn_buf_char(&b, sn_str_find(url, '?') < url.len ? '&' : '?');
        sn_buf_str(&b, name);
        sn_buf_char(&b, '=');
    }
    for (size_t i = 0; i < value.len; i++)
        if (sn_url_is(value.ptr[i], SN_URL_PLAIN))
            sn_buf_char(&b, value.ptr[i]);
        else
            sn_buf_printf(&b, "%%%02X", (unsigned char)value.ptr[i]);
    if (has)
        sn_buf_str(&b, sn_str_slice(url, to, url.len));
    const char *made =
        sn_buf_done(&b) == SEINE_OK ? sn_arena_text(&a->arena, sn_buf_view(&b)) : NULL;
    sn_buf_fini(&b);
    return made;
}

static const char *
next_number(sn_apply *a, const sn_next *next, int64_t without)
{
    sn_str url = page_url(a);
    size_t from = 0, to = 0;
    int64_t now = without;
    char text[32];
    sn_buf b;

    if (find_param(url, next->from, &from, &to) &&
        sn_str_i64(sn_str_slice(url, from, to), &now) != SEINE_OK)
        now = without;
    if (now > INT32_MAX || now < INT32_MIN)
        return NULL;
    sn_buf_init(&b, sizeof text);
    sn_buf_i64(&b, now + next->step);
    const char *made = with_param(a, next->from, sn_buf_view(&b));
    sn_buf_fini(&b);
    return made;
}

static const char *
next_css(sn_apply *a, const sn_next *next)
{
    sn_texts link = {NULL, 0, 0};
    seine_node n = 0;

    if (!a->tree)
        return NULL;
    a->err = seine_finder_next(a->finder, next->select, 0, &n);
    if (a->err != SEINE_OK || n == 0 || !sn_apply_node_text(a, n, next->attr, &link))
        return NULL;
    return link.items[0].len > 0 ? resolve(a, link.items[0]) : NULL;
}

/* The value at a pointer as a text; false: there is none, or it is empty. */
static bool
json_text(sn_apply *a, const sn_next *next, sn_str *out, char number[32])
{
    const seine_json *value = NULL;
    int64_t n;
    sn_buf b;

    if (!a->json ||
        seine_jsonptr_get(a->json, next->from.ptr, next->from.len, &value) != SEINE_OK)
        return false;
    if (seine_json_string(value, &out->ptr, &out->len))
        return out->len > 0;
    if (!seine_json_int(value, &n))
        return false;
    sn_buf_init(&b, 31);
    sn_buf_i64(&b, n);
    memcpy(number, b.ptr ? b.ptr : "", b.len);
    *out = (sn_str){number, b.len};
    sn_buf_fini(&b);
    return true;
}

/* One link of a Link header: <URL>; rel="next". Returns what is behind its comma. */
static sn_str
cut_link(sn_str s, sn_str *out_url, bool *out_is_next)
{
    size_t open = sn_str_find(s, '<'), close = sn_str_find(s, '>'), at = close;
    bool quoted = false;

    *out_url = open < close ? sn_str_slice(s, open + 1, close) : SN_STR("");
    for (; at < s.len && (quoted || s.ptr[at] != ','); at++)
        quoted ^= s.ptr[at] == '"';
    sn_str rest = sn_str_slice(s, close + 1, at), part;
    *out_is_next = false;
    while (sn_str_next(&rest, ';', &part)) {
        sn_str key, value, word;
        if (!sn_str_cut(sn_str_trim(part), '=', &key, &value) ||
            !sn_str_eq_nocase(sn_str_trim(key), SN_STR("rel")))
            continue;
        value = sn_str_trim(value);
        if (value.len >= 2 && value.ptr[0] == '"')
            value = sn_str_slice(value, 1, value.len - 1);
        while (sn_str_next(&value, ' ', &word))
            *out_is_next |= sn_str_eq_nocase(word, SN_STR("next"));
    }
    return sn_str_slice(s, at + 1, s.len);
}

static const char *
next_header(sn_apply *a)
{
    for (size_t i = 0; i < a->page->n_fields; i++) {
        sn_str rest = a->page->fields[i].value;
        if (!sn_str_eq_nocase(a->page->fields[i].name, SN_STR("link")))
            continue;
        while (rest.len > 0) {
            sn_str url;
            bool is_next;
            rest = cut_link(rest, &url, &is_next);
            if (is_next && url.len > 0)
                return resolve(a, url);
        }
    }
    return NULL;
}

static const char *
next_url(sn_apply *a, const sn_next *next)
{
    char number[32];
    sn_str text;

    switch (next->how) {
    case SN_NEXT_CSS:
        return next_css(a, next);
    case SN_NEXT_JSON:
        return json_text(a, next, &text, number) ? resolve(a, text) : NULL;
    case SN_NEXT_HEADER:
        return next_header(a);
    case SN_NEXT_PAGE:
        return next_number(a, next, next->first);
    case SN_NEXT_OFFSET:
        return next_number(a, next, 0);
    case SN_NEXT_CURSOR:
        return json_text(a, next, &text, number) ? with_param(a, next->param, text)
                                                 : NULL;
    default:
        return NULL;
    }
}

/* Is this page the last? */
static bool
is_last(sn_apply *a, const sn_next *next)
{
    bool is = false;

    switch (next->until) {
    case SN_UNTIL_EMPTY:
        return a->rows == 0;
    case SN_UNTIL_NO_NEW:
        return a->fresh == 0;
    case SN_UNTIL_EXPR:
        a->names.items = a->rows;
        a->names.fresh = a->fresh;
        a->names.has_counts = true;
        a->names.json = a->json;
        if (sn_names_is(&a->names, &next->condition, &is) == SEINE_E_NOMEM)
            a->err = SEINE_E_NOMEM;
        return is;
    default:
        return false;
    }
}

void
sn_apply_next(sn_apply *a)
{
    const sn_next *next = &a->kind->next;
    uint32_t number = a->names.page;

    sn_arena_reset(&a->arena);
    if (next->how == SN_NEXT_NONE || number >= next->max || is_last(a, next))
        return;
    const char *url = next_url(a, next);
    if (!url || sn_str_eq(sn_str_of(url), page_url(a)))
        return;
    seine_lead lead = {url, a->kind->id, NULL, number + 1, true, false};
    a->out->has_next = true;
    if (a->page->on_lead)
        a->page->on_lead(&lead, a->arg);
}
