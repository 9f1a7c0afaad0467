/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes, and values of one key. */
#include "recipe/reading.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "recipe/mistakes.h"
#include "recipe/near_word.h"

__attribute__((format(printf, 4, 0))) static void
tell(sn_reading *in, uint64_t line, uint64_t column, const char *fmt, va_list args)
{
    sn_mistakes m = {in->file, in->wrong, in->count};
    char text[SEINE_DIAG_TEXT * 2];

    vsnprintf(text, sizeof text, fmt, args);
    sn_mistakes_add(&m, line, column, text);
    in->count = m.count;
}

void
sn_mistake(sn_reading *in, const sn_yaml *at, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    tell(in, at->line, at->col, fmt, args);
    va_end(args);
}

void
sn_mistake_in(sn_reading *in, const sn_yaml *at, size_t byte, const char *fmt, ...)
{
    size_t column = at->col;
    va_list args;

    if (at->exact) {
        column = at->inner;
        for (size_t i = 0; i < byte && i < at->text.len; i++)
            column += (at->text.ptr[i] & 0xc0) != 0x80;
    }
    va_start(args, fmt);
    tell(in, at->line, column, fmt, args);
    va_end(args);
}

void *
sn_read_room(sn_reading *in, size_t count, size_t size)
{
    void *p = sn_arena_get(in->arena, count > 0 ? count : 1, size, _Alignof(max_align_t));

    in->nomem |= !p;
    return p;
}

/* Splits "kind each where" into words; at most 32 of them. */
static void
split_words(char *words, const char **out)
{
    size_t n = 0;

    for (char *at = words; n < 32 && *at;) {
        size_t len = strcspn(at, " ");
        out[n++] = at;
        at += len + (at[len] != '\0');
        if (at[-1] == ' ')
            at[-1] = '\0';
    }
    out[n] = NULL;
}

static bool
has_word(sn_str word, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (sn_yaml_is_key(word, words[i]))
            return true;
    return false;
}

void
sn_mistake_twice(sn_reading *in, const sn_yaml *again, const sn_yaml *first)
{
    sn_mistake(in, again, "key '%.*s' stands twice; the first is in line %u",
               again->text.len < 40 ? (int)again->text.len : 40, again->text.ptr,
               first->line);
}

static void
tell_repeat(const sn_yaml *again, const sn_yaml *first, void *arg)
{
    sn_mistake_twice(arg, again, first);
}

void
sn_read_repeats(sn_reading *in, const sn_yaml *root)
{
    const sn_yaml_repeats repeats = {sn_str_eq, tell_repeat, in};

    in->nomem |= !sn_yaml_repeats_find(root, &repeats);
}

void
sn_read_spelling(sn_reading *in, const sn_yaml *map, const sn_yaml *value)
{
    const sn_yaml *first = map->first;

    while (first != value && !sn_yaml_same_key(first->key->text, value->key->text))
        first = first->next;
    if (first != value && !sn_str_eq(first->key->text, value->key->text))
        sn_mistake_twice(in, value->key, first->key);
}

void
sn_mistake_map(sn_reading *in, const sn_yaml *v, const char *what, const char *of)
{
    sn_str text = v->kind == SN_YAML_SCALAR && v->plain ? v->text : (sn_str){NULL, 0};
    size_t end = sn_yaml_joined_key(text);

    if (end == 0 || text.len > 60)
        sn_mistake(in, v, "%s must be a map of %s", what, of);
    else
        sn_mistake_in(in, v, end, "a blank is missing behind this ':'; try %.*s: %.*s",
                      (int)end, text.ptr, (int)(text.len - end - 1), text.ptr + end + 1);
}

bool
sn_read_keys(sn_reading *in, const sn_yaml *map, const char *where, const char *keys)
{
    char copy[256];
    const char *words[33];

    if (map->kind != SN_YAML_MAP) {
        sn_mistake_map(in, map, where, "keys and values");
        return false;
    }
    snprintf(copy, sizeof copy, "%s", keys);
    split_words(copy, words);
    for (const sn_yaml *v = map->first; v; v = v->next) {
        if (has_word(v->key->text, words)) {
            sn_read_spelling(in, map, v);
            continue;
        }
        if (sn_str_starts(v->key->text, SN_STR("\xc2\xa0"))) {
            sn_mistake(in, v->key, "a no-break space cannot indent; try blanks");
            continue;
        }
        const char *near = sn_near_word(v->key->text, words);
        int shown = v->key->text.len < 30 ? (int)v->key->text.len : 30;
        if (near)
            sn_mistake(in, v->key, "unknown key '%.*s' in %s; try %s", shown,
                       v->key->text.ptr, where, near);
        else
            sn_mistake(in, v->key, "unknown key '%.*s' in %s; try one of: %s", shown,
                       v->key->text.ptr, where, keys);
    }
    return true;
}

bool
sn_read_scalar(sn_reading *in, const sn_yaml *node, const char *what, sn_str *out)
{
    if (node->kind != SN_YAML_SCALAR) {
        sn_mistake(in, node, "%s must be a text, and this is a %s", what,
                   node->kind == SN_YAML_MAP ? "map" : "list");
        return false;
    }
    if (node->text.len == 0 && node->plain) {
        bool is_select = strcmp(what, "each") == 0 || strcmp(what, "a selector") == 0;
        sn_mistake(in, node->key ? node->key : node, "%s has no value%s", what,
                   is_select ? "; try quotes if it begins with #" : "");
        return false;
    }
    *out = node->text;
    return true;
}

bool
sn_read_text(sn_reading *in, const sn_yaml *map, const char *key, sn_str *out)
{
    const sn_yaml *v = sn_yaml_get(map, key);

    return v && sn_read_scalar(in, v, key, out);
}

bool
sn_read_bool(sn_reading *in, const sn_yaml *map, const char *key, bool *out)
{
    const sn_yaml *v = sn_yaml_get(map, key);

    if (!v)
        return false;
    if (v->kind != SN_YAML_SCALAR || !sn_str_is_among(v->text, "true false")) {
        static const char *const words[] = {"true", "false", NULL};
        const char *near =
            v->kind == SN_YAML_SCALAR ? sn_near_word(v->text, words) : NULL;

        sn_mistake(in, v, "%s must be true or false%s%s", key, near ? "; try " : "",
                   near ? near : "");
        return false;
    }
    *out = sn_lower(v->text.ptr[0]) == 't';
    return true;
}

bool
sn_read_int(sn_reading *in, const sn_yaml *map, const char *key, int64_t min, int64_t max,
            int64_t *out)
{
    const sn_yaml *v = sn_yaml_get(map, key);
    int64_t n;

    if (!v)
        return false;
    if (v->kind != SN_YAML_SCALAR || sn_str_i64(v->text, &n) != SEINE_OK || n < min ||
        n > max) {
        sn_mistake(in, v, "%s must be a whole number from %" PRId64 " to %" PRId64, key,
                   min, max);
        return false;
    }
    *out = n;
    return true;
}

void
sn_mistake_word(sn_reading *in, const sn_yaml *v, const char *key,
                const char *const *words)
{
    const char *near = sn_near_word(v->text, words);
    int shown = v->text.len < 30 ? (int)v->text.len : 30;
    char all[100] = "";

    for (size_t i = 0, n = 0; words[i] && n < sizeof all; i++)
        n +=
            (size_t)snprintf(all + n, sizeof all - n, "%s%s", i > 0 ? " " : "", words[i]);
    if (near)
        sn_mistake(in, v, "%s '%.*s' is unknown; try %s", key, shown, v->text.ptr, near);
    else
        sn_mistake(in, v, "%s '%.*s' is unknown; try one of: %s", key, shown, v->text.ptr,
                   all);
}

bool
sn_read_choice(sn_reading *in, const sn_yaml *map, const char *key,
               const char *const *words, unsigned *out)
{
    const sn_yaml *v = sn_yaml_get(map, key);
    sn_str text;

    if (!v || !sn_read_scalar(in, v, key, &text))
        return false;
    for (unsigned i = 0; words[i]; i++)
        if (sn_yaml_is_key(text, words[i])) {
            *out = i;
            return true;
        }
    sn_mistake_word(in, v, key, words);
    return false;
}

const char *
sn_read_id(sn_reading *in, const sn_yaml *node, const char *what)
{
    sn_str s;

    if (!sn_read_scalar(in, node, what, &s))
        return NULL;
    for (size_t i = 0; i < s.len; i++)
        if (!sn_is_alpha(s.ptr[i]) && s.ptr[i] != '_' &&
            !(i > 0 && sn_is_digit(s.ptr[i]))) {
            sn_mistake_in(in, node, i,
                          "%s '%.*s' is no name: letters, digits and _ make a name", what,
                          s.len < 40 ? (int)s.len : 40, s.ptr);
            return NULL;
        }
    return s.ptr;
}

const char **
sn_read_texts(sn_reading *in, const sn_yaml *node, const char *what)
{
    const sn_yaml *v = node && node->kind == SN_YAML_LIST ? node->first : node;
    const char **all = SN_READ_ARRAY(in, const char *, node ? node->count + 2 : 1);
    size_t n = 0;

    for (; v && all; v = v->next) {
        sn_str text;
        if (sn_read_scalar(in, v, what, &text))
            all[n++] = text.ptr;
        if (node->kind != SN_YAML_LIST)
            break;
    }
    return node && n > 0 ? all : NULL;
}

void
sn_read_global(sn_reading *in, const char *name, sn_expr_type type)
{
    for (size_t i = 0; i < in->n_globals; i++)
        if (strcmp(in->globals[i].name, name) == 0) {
            if (in->globals[i].type != type)
                in->globals[i].type = SN_EXPR_ANY;
            return;
        }
    if (in->n_globals < SN_READING_NAMES)
        in->globals[in->n_globals++] = (sn_expr_name){name, type};
}
