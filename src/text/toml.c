/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a TOML text: tables, keys and what may be defined where. */
#include "seine/toml.h"

#include <string.h>

#include "base/diag.h"
#include "text/toml_parts.h"

/* How a table or an array came to be, which decides what may be added to it later. One
 * without a mark is a value: it is complete. */
typedef enum how {
    MADE_BY_PATH = 1, /* a table on the way to [a.b]: [a] may still follow */
    MADE_BY_HEADER,   /* [a], or an element of [[a]] */
    MADE_BY_KEY,      /* a of a.b = 1 */
    MADE_OF_TABLES    /* the array of [[a]] */
} how;

typedef struct mark {
    const seine_json *of;
    how how;
} mark;

bool
sn_toml_stop(sn_toml *t, seine_err e)
{
    if (t->err == SEINE_OK)
        t->err = e;
    return false;
}

static bool
stop_at(sn_toml *t, const char *where, const char *why, seine_err e)
{
    uint64_t line = 1;
    const char *from = t->start;

    if (t->err != SEINE_OK)
        return false;
    for (const char *p = t->start; p < where; p++)
        if (*p == '\n') {
            line++;
            from = p + 1;
        }
    sn_diag_text(t->diag, "%s", why);
    sn_diag_place(t->diag, NULL, line, (uint64_t)(where - from) + 1);
    return sn_toml_stop(t, e);
}

bool
sn_toml_fail(sn_toml *t, const char *where, const char *why)
{
    return stop_at(t, where, why, SEINE_E_PARSE);
}

bool
sn_toml_too_much(sn_toml *t, const char *why)
{
    return stop_at(t, t->at, why, SEINE_E_RANGE);
}

void
sn_toml_skip_blanks(sn_toml *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t'))
        t->at++;
}

bool
sn_toml_take(sn_toml *t, char c)
{
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

static bool
take_newline(sn_toml *t)
{
    if (t->end - t->at >= 2 && t->at[0] == '\r' && t->at[1] == '\n') {
        t->at += 2;
        return true;
    }
    return sn_toml_take(t, '\n');
}

/* Skips blanks and a comment. */
static bool
skip_rest(sn_toml *t)
{
    sn_toml_skip_blanks(t);
    if (!sn_toml_take(t, '#'))
        return true;
    for (; t->at < t->end && *t->at != '\n'; t->at++) {
        unsigned char c = (unsigned char)*t->at;

        if (c == '\r' && t->end - t->at > 1 && t->at[1] == '\n')
            break;
        if ((c < ' ' && c != '\t') || c == 0x7f)
            return sn_toml_fail(t, t->at, "a control character in a comment");
    }
    return true;
}

bool
sn_toml_skip_lines(sn_toml *t)
{
    do
        if (!skip_rest(t))
            return false;
    while (take_newline(t));
    return true;
}

static bool
take_line_end(sn_toml *t)
{
    if (!skip_rest(t))
        return false;
    if (t->at == t->end || take_newline(t))
        return true;
    return sn_toml_fail(t, t->at, "the line should end here");
}

static bool
is_bare(char c)
{
    return sn_is_alpha(c) || sn_is_digit(c) || c == '_' || c == '-';
}

static bool
take_name(sn_toml *t, sn_toml_key *key)
{
    const char *from = t->at;
    sn_str name;

    if (t->at < t->end && (*t->at == '"' || *t->at == '\'')) {
        if (t->end - t->at >= 3 && t->at[1] == *t->at && t->at[2] == *t->at)
            return sn_toml_fail(t, from, "a key has no lines");
        if (!sn_toml_string(t))
            return false;
        name = sn_buf_view(&t->text);
    } else {
        while (t->at < t->end && is_bare(*t->at))
            t->at++;
        name = (sn_str){from, (size_t)(t->at - from)};
        if (name.len == 0)
            return sn_toml_fail(t, from, "a key is missing");
    }
    if (name.len > 0 && memchr(name.ptr, 0, name.len))
        return sn_toml_fail(t, from, "a key with a zero byte");
    if (key->count == SEINE_TOML_DEPTH)
        return sn_toml_too_much(t, SN_TOML_TOO_DEEP);
    const char *copy = sn_arena_text(&t->keys, name);
    if (!copy)
        return sn_toml_stop(t, SEINE_E_NOMEM);
    key->parts[key->count++] = copy;
    return true;
}

static bool
take_key(sn_toml *t, sn_toml_key *key)
{
    key->count = 0;
    do {
        sn_toml_skip_blanks(t);
        if (!take_name(t, key))
            return false;
        sn_toml_skip_blanks(t);
    } while (sn_toml_take(t, '.'));
    return true;
}

static mark *
mark_of(const sn_toml *t, const seine_json *json)
{
    return sn_map_get(&t->marks, (sn_str){(const char *)&json, sizeof json});
}

static bool
add_mark(sn_toml *t, const seine_json *json, how made)
{
    mark *m = SN_ARENA_NEW(&t->marked, mark);

    if (!m)
        return sn_toml_stop(t, SEINE_E_NOMEM);
    *m = (mark){json, made};
    seine_err e = sn_map_add(&t->marks, (sn_str){(const char *)&m->of, sizeof m->of}, m);
    if (e == SEINE_E_FULL)
        return sn_toml_too_much(t, SN_TOML_TOO_MANY);
    return e == SEINE_OK || sn_toml_stop(t, e);
}

static bool
is_made(const sn_toml *t, const seine_json *json, how made)
{
    const mark *m = mark_of(t, json);

    return m && m->how == made;
}

/* The tree is ours to change; its readers hand out const values. */
static seine_json *
member(const seine_json *table, const char *name)
{
    return (seine_json *)(uintptr_t)seine_json_get(table, name);
}

static seine_json *
last_of(const seine_json *array)
{
    return (seine_json *)(uintptr_t)seine_json_at(array, seine_json_size(array) - 1);
}

static seine_json *
add_table(sn_toml *t, seine_json *table, const char *name, how made)
{
    seine_json *new = seine_json_new_object();
    seine_err e = seine_json_set(table, name, new);

    if (e != SEINE_OK) {
        sn_toml_stop(t, e);
        return NULL;
    }
    return add_mark(t, new, made) ? new : NULL;
}

/* One step down the path of [a.b.c]. NULL: after an error. */
static seine_json *
step_down(sn_toml *t, seine_json *table, const char *name, const char *where)
{
    seine_json *next = member(table, name);

    if (!next)
        return add_table(t, table, name, MADE_BY_PATH);
    if (is_made(t, next, MADE_OF_TABLES)) {
        t->depth++; /* the array */
        return last_of(next);
    }
    if (seine_json_type_of(next) == SEINE_JSON_OBJECT && mark_of(t, next))
        return next;
    sn_toml_fail(t, where, "a part of this name is no table, or complete already");
    return NULL;
}

static bool
open_table(sn_toml *t, seine_json *parent, const char *name, const char *where)
{
    seine_json *old = member(parent, name);
    mark *m = old ? mark_of(t, old) : NULL;

    if (!old) {
        t->table = add_table(t, parent, name, MADE_BY_HEADER);
        return t->table != NULL;
    }
    if (!m || m->how != MADE_BY_PATH)
        return sn_toml_fail(t, where, "this table is defined twice");
    m->how = MADE_BY_HEADER;
    t->table = old;
    return true;
}

static bool
open_element(sn_toml *t, seine_json *parent, const char *name, const char *where)
{
    seine_json *array = member(parent, name);

    if (array && !is_made(t, array, MADE_OF_TABLES))
        return sn_toml_fail(t, where, "this name has another value already");
    if (!array) {
        array = seine_json_new_array();
        seine_err e = seine_json_set(parent, name, array);
        if (e != SEINE_OK)
            return sn_toml_stop(t, e);
        if (!add_mark(t, array, MADE_OF_TABLES))
            return false;
    }
    seine_json *table = seine_json_new_object();
    seine_err e = seine_json_append(array, table);
    if (e != SEINE_OK)
        return sn_toml_stop(t, e);
    t->table = table;
    return add_mark(t, table, MADE_BY_HEADER);
}

/* [a.b] or [[a.b]] */
static bool
take_header(sn_toml *t)
{
    const char *where = t->at++;
    bool is_element = sn_toml_take(t, '[');
    sn_toml_key key;

    if (!take_key(t, &key))
        return false;
    if (!sn_toml_take(t, ']') || (is_element && !sn_toml_take(t, ']')))
        return sn_toml_fail(t, t->at, "] is missing");
    seine_json *parent = t->root;
    t->depth = key.count + is_element;
    for (size_t i = 0; parent && i + 1 < key.count; i++)
        parent = step_down(t, parent, key.parts[i], where);
    if (!parent)
        return false;
    if (t->depth > SEINE_TOML_DEPTH)
        return sn_toml_too_much(t, SN_TOML_TOO_DEEP);
    return is_element ? open_element(t, parent, key.parts[key.count - 1], where)
                      : open_table(t, parent, key.parts[key.count - 1], where);
}

/* The table in which the last part of a.b.c = 1 stands. NULL: after an error. */
static seine_json *
table_of_key(sn_toml *t, seine_json *table, const sn_toml_key *key, const char *where)
{
    for (size_t i = 0; i + 1 < key->count; i++) {
        seine_json *next = member(table, key->parts[i]);

        if (!next) {
            next = add_table(t, table, key->parts[i], MADE_BY_KEY);
        } else if (!is_made(t, next, MADE_BY_KEY)) {
            sn_toml_fail(t, where, "a part of this key is no table, or complete already");
            next = NULL;
        }
        if (!next)
            return NULL;
        table = next;
    }
    return table;
}

bool
sn_toml_pair(sn_toml *t, seine_json *table)
{
    const char *where = t->at;
    seine_json *value = NULL;
    sn_toml_key key;

    if (!take_key(t, &key))
        return false;
    if (!sn_toml_take(t, '='))
        return sn_toml_fail(t, t->at, "= is missing behind the key");
    sn_toml_skip_blanks(t);
    if (t->depth + key.count - 1 > SEINE_TOML_DEPTH)
        return sn_toml_too_much(t, SN_TOML_TOO_DEEP);
    table = table_of_key(t, table, &key, where);
    if (!table)
        return false;
    const char *name = key.parts[key.count - 1];
    if (seine_json_get(table, name))
        return sn_toml_fail(t, where, "this key is given twice");
    t->depth += key.count - 1;
    if (!sn_toml_value(t, &value))
        return false;
    t->depth -= key.count - 1;
    seine_err e = seine_json_set(table, name, value);
    return e == SEINE_OK || sn_toml_stop(t, e);
}

static bool
take_line(sn_toml *t)
{
    sn_arena_reset(&t->keys);
    return (*t->at == '[' ? take_header(t) : sn_toml_pair(t, t->table)) &&
           take_line_end(t);
}

static void
parse(sn_toml *t)
{
    if (t->end - t->at >= 3 && memcmp(t->at, "\xef\xbb\xbf", 3) == 0)
        t->at += 3;
    while (sn_toml_skip_lines(t) && t->at < t->end)
        if (!take_line(t))
            return;
}

seine_err
seine_toml_parse(const char *text, size_t len, struct seine_json **out_table,
                 seine_diag *diag)
{
    sn_diag_clear(diag);
    if (!text || !out_table)
        return SEINE_E_INVAL;
    if (len > SEINE_TOML_BYTES) {
        sn_diag_text(diag, "more than 16 MiB");
        sn_diag_place(diag, NULL, 1, 1);
        return SEINE_E_RANGE;
    }
    sn_toml t = {.start = text, .at = text, .end = text + len, .diag = diag};
    sn_arena_init(&t.marked, 4096, 256 << 20);
    sn_arena_init(&t.keys, 4096, 64 << 20);
    sn_buf_init(&t.text, SEINE_TOML_BYTES);
    sn_map_init(&t.marks, 1000000);
    t.root = t.table = seine_json_new_object();
    if (!t.root)
        t.err = SEINE_E_NOMEM;
    else if (!sn_utf8_valid((sn_str){text, len}))
        sn_toml_fail(&t, text, "not UTF-8");
    else
        parse(&t);
    sn_map_fini(&t.marks);
    sn_buf_fini(&t.text);
    sn_arena_fini(&t.keys);
    sn_arena_fini(&t.marked);
    if (t.err == SEINE_OK)
        *out_table = t.root;
    else
        seine_json_free(t.root);
    return t.err;
}
