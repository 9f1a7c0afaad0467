/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a draft as YAML. */
#include <string.h>

#include "recipe/draft.h"

/* May a text stand in YAML as it is? */
static bool
is_plain(sn_str s)
{
    static const char words[] = "true false yes no on off null y n ~";

    if (s.len == 0 || sn_str_is_among(s, words) || s.ptr[0] == ' ' ||
        s.ptr[s.len - 1] == ' ')
        return false;
    if (!sn_is_alpha(s.ptr[0]) && s.ptr[0] != '.' && s.ptr[0] != '/')
        return false;
    if (s.ptr[0] == '.' && (s.len == 1 || !sn_is_alpha(s.ptr[1])))
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!sn_is_alpha(s.ptr[i]) && !sn_is_digit(s.ptr[i]) &&
            !memchr(" ._-/>+()", s.ptr[i], 9))
            return false;
    return true;
}

/* Characters that YAML takes only as escapes, and only between double quotes. */
static bool
is_unprintable(uint32_t c)
{
    return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 ||
           c == 0xfeff || c == 0xfffe || c == 0xffff;
}

static bool
has_unprintable(sn_str s)
{
    uint32_t c;

    for (size_t at = 0, n; at<s.len; at += n> 0 ? n : 1)
        if ((n = sn_utf8_decode(sn_str_slice(s, at, s.len), &c)) == 0 ||
            is_unprintable(c))
            return true;
    return false;
}

static void
put_escaped(sn_buf *b, sn_str s)
{
    uint32_t c;

    sn_buf_char(b, '"');
    for (size_t at = 0, n; at<s.len; at += n> 0 ? n : 1) {
        n = sn_utf8_decode(sn_str_slice(s, at, s.len), &c);
        if (n == 0 || is_unprintable(c))
            sn_buf_printf(b, "\\u%04x", n == 0 ? 0xfffdU : (unsigned)c);
        else if (c == '"' || c == '\\')
            sn_buf_printf(b, "\\%c", (char)c);
        else
            sn_buf_str(b, sn_str_slice(s, at, at + n));
    }
    sn_buf_char(b, '"');
}

void
sn_draft_put_yaml(sn_buf *b, const char *text)
{
    sn_str s = sn_str_of(text);

    if (is_plain(s)) {
        sn_buf_str(b, s);
        return;
    }
    if (has_unprintable(s)) {
        put_escaped(b, s);
        return;
    }
    sn_buf_char(b, '\'');
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '\'')
            sn_buf_char(b, '\'');
        sn_buf_char(b, s.ptr[i]);
    }
    sn_buf_char(b, '\'');
}

static void
put_pair(sn_buf *b, const char **comma, const char *key, const char *value)
{
    if (!value)
        return;
    sn_buf_printf(b, "%s%s: ", *comma, key);
    sn_draft_put_yaml(b, value);
    *comma = ", ";
}

static void
put_flag(sn_buf *b, const char **comma, const char *key, bool is_set)
{
    if (!is_set)
        return;
    sn_buf_printf(b, "%s%s: true", *comma, key);
    *comma = ", ";
}

static bool
is_short(const sn_draft_field *f)
{
    return !f->attr && !f->regex && !f->all && f->type == SN_TYPE_STRING &&
           !f->required && f->source != SN_FROM_COL && f->from[0];
}

static void
put_field(sn_buf *b, const sn_draft_field *f, bool typed)
{
    static const char *const keys[] = {
        [SN_FROM_CSS] = "css", [SN_FROM_COL] = "col", [SN_FROM_JSON] = "json"};
    const char *comma = "";
    char decimal[2] = {f->decimal, '\0'};

    sn_buf_printf(b, "      %s: ", f->name);
    if (is_short(f)) {
        sn_draft_put_yaml(b, f->from);
        sn_buf_char(b, '\n');
        return;
    }
    sn_buf_char(b, '{');
    if (f->from[0] || f->source == SN_FROM_COL)
        put_pair(b, &comma, keys[f->source], f->from);
    put_pair(b, &comma, "attr", f->attr);
    put_flag(b, &comma, "all", f->all);
    put_pair(b, &comma, "regex", f->regex);
    if (f->unescape)
        sn_buf_printf(b, "%sreplace: [['&amp;', '&']]", comma);
    if (typed && f->type != SN_TYPE_STRING) {
        put_pair(b, &comma, "type", sn_type_names[f->type]);
        put_pair(b, &comma, "format", f->format);
        put_pair(b, &comma, "decimal", f->decimal ? decimal : NULL);
    }
    put_flag(b, &comma, "required", typed && f->required);
    if (!*comma)
        sn_buf_text(b, "attr: text");
    sn_buf_text(b, "}\n");
}

static void
put_each(sn_buf *b, const sn_draft_list *list)
{
    const char *comma = "";

    if (!list->each)
        return;
    sn_buf_text(b, "    each: ");
    if (list->how == SN_EACH_TABLE) {
        sn_buf_char(b, '{');
        put_pair(b, &comma, "table", list->each);
        sn_buf_printf(b, ", header: %u}", list->header);
    } else if (list->how == SN_EACH_JSONLD) {
        sn_buf_char(b, '{');
        put_pair(b, &comma, "jsonld", list->each);
        put_pair(b, &comma, "type", list->type);
        sn_buf_char(b, '}');
    } else {
        sn_draft_put_yaml(b, list->each);
    }
    sn_buf_char(b, '\n');
}

static void
put_list(sn_buf *b, const sn_draft_list *list, bool typed)
{
    sn_buf_printf(b, "  - kind: %s\n", list->kind);
    put_each(b, list);
    if (typed && list->unique)
        sn_buf_printf(b, "    unique: %s\n", list->unique->name);
    sn_buf_text(b, "    fields:\n");
    for (size_t i = 0; i < list->n_fields; i++)
        if (!list->fields[i].dropped)
            put_field(b, &list->fields[i], typed);
}

static void
put_test(sn_buf *b, const sn_draft_test *t)
{
    sn_buf_text(b, "expect: {items: '>= 1', bad-rows: '<= 5%'}\ntests:\n  - page: ");
    sn_draft_put_yaml(b, t->page);
    sn_buf_text(b, "\n    url: ");
    sn_draft_put_yaml(b, t->url);
    sn_buf_printf(b, "\n    expect: {items: %zu, bad: 0, next: ", t->items);
    if (t->next)
        sn_draft_put_yaml(b, t->next);
    else
        sn_buf_text(b, "null");
    sn_buf_text(b, "}\n    golden: ");
    sn_draft_put_yaml(b, t->golden);
    sn_buf_char(b, '\n');
}

/* A brace in a URL would be a template. */
static void
put_start(sn_buf *b, const char *url)
{
    sn_buf_text(b, "start: '");
    for (; *url; url++) {
        if (*url == '\'' || *url == '{')
            sn_buf_char(b, *url);
        sn_buf_char(b, *url);
    }
    sn_buf_text(b, "'\n");
}

void
sn_draft_print(const sn_draft *d, const sn_draft_test *test, sn_buf *out)
{
    bool typed = test->page != NULL;

    sn_buf_printf(out, "seine: 1\nname: %s\n", test->name);
    put_start(out, test->url);
    if (d->page->json)
        sn_buf_text(out, "format: json\n");
    if (d->next)
        sn_buf_printf(out, "next: %s\n", d->next);
    sn_buf_text(out, "items:\n");
    for (size_t i = 0; i < d->n_lists; i++)
        put_list(out, d->lists[i], typed);
    if (typed)
        put_test(out, test);
}
