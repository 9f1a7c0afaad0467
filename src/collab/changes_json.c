/* SPDX-License-Identifier: Apache-2.0 */
/* Change sets as JSON: a number keeps, [n] deletes, [n,"a","b"] replaces by two lines. */
#include "base/json.h"
#include "collab/changes.h"
#include "seine/plumbing.h"

#define JSON_MOST ((size_t)256 << 20)

static bool
read_units(const seine_json *json, uint64_t *out)
{
    int64_t n;

    if (!seine_json_int(json, &n) || n < 0)
        return false;
    *out = (uint64_t)n;
    return true;
}

/* The lines of a section, joined. */
static seine_err
join_lines(const seine_json *json, sn_buf *to)
{
    for (size_t i = 1; i < seine_json_size(json); i++) {
        const char *line;
        size_t len;

        if (!seine_json_string(seine_json_at(json, i), &line, &len) ||
            sn_str_find((sn_str){line, len}, '\n') < len)
            return SEINE_E_INVAL;
        if (i > 1)
            sn_buf_char(to, '\n');
        sn_buf_add(to, line, len);
    }
    return sn_buf_done(to);
}

static seine_err
read_section(seine_changes *c, const seine_json *json)
{
    uint64_t units;
    sn_buf text;

    if (read_units(json, &units))
        return seine_changes_keep(c, units);
    if (seine_json_type_of(json) != SEINE_JSON_ARRAY ||
        !read_units(seine_json_at(json, 0), &units))
        return SEINE_E_INVAL;
    sn_buf_init(&text, JSON_MOST);
    seine_err e = join_lines(json, &text);
    if (e == SEINE_OK)
        e = seine_changes_replace(c, units, text.ptr, text.len);
    sn_buf_fini(&text);
    return e;
}

seine_err
sn_changes_read(seine_changes *c, const seine_json *json)
{
    seine_err e = seine_json_type_of(json) == SEINE_JSON_ARRAY ? SEINE_OK : SEINE_E_INVAL;

    seine_changes_clear(c);
    for (size_t i = 0; e == SEINE_OK && i < seine_json_size(json); i++)
        e = read_section(c, seine_json_at(json, i));
    if (e != SEINE_OK)
        seine_changes_clear(c);
    return e == SEINE_OK || e == SEINE_E_NOMEM || e == SEINE_E_FULL ? e : SEINE_E_INVAL;
}

seine_err
seine_changes_parse(seine_changes *c, const char *json, size_t len)
{
    seine_json *all = NULL;
    seine_json_fault fault;

    if (!c || (!json && len > 0))
        return SEINE_E_INVAL;
    seine_changes_clear(c);
    seine_err e = seine_json_parse(json, len, &all, &fault);
    if (e == SEINE_OK)
        e = sn_changes_read(c, all);
    seine_json_free(all);
    return e == SEINE_OK || e == SEINE_E_NOMEM || e == SEINE_E_FULL ? e : SEINE_E_INVAL;
}

static void
put_string(sn_buf *to, sn_str text)
{
    size_t n = sn_json_quote(text.ptr, text.len, NULL, 0);
    char *at = sn_buf_reserve(to, n + 1);

    if (at)
        sn_buf_commit(to, sn_json_quote(text.ptr, text.len, at, n + 1));
}

static void
put_lines(sn_buf *to, sn_str text)
{
    sn_str line;
    bool more = true;

    while (more) {
        more = sn_str_cut(text, '\n', &line, &text);
        sn_buf_char(to, ',');
        put_string(to, line);
    }
}

static void
put_section(sn_buf *to, const seine_changes *c, const sn_section *s)
{
    if (to->len > 1)
        sn_buf_char(to, ',');
    if (s->is_kept) {
        sn_buf_u64(to, s->units);
        return;
    }
    sn_buf_char(to, '[');
    sn_buf_u64(to, s->units);
    if (s->len > 0)
        put_lines(to, sn_changes_text(c, s));
    sn_buf_char(to, ']');
}

/* The same set, its neighbours of one kind joined. */
static seine_err
join(const seine_changes *c, seine_changes *out)
{
    seine_err e = SEINE_OK;

    for (size_t i = 0; e == SEINE_OK && i < sn_changes_count(c); i++) {
        const sn_section *s = sn_changes_section(c, i);

        e = sn_changes_add(out, true, s->units, s->is_kept, sn_changes_text(c, s),
                           s->text_units);
    }
    return e;
}

seine_err
seine_changes_print(const seine_changes *c, seine_text *out_json)
{
    seine_changes *joined;
    sn_buf to;

    if (!c || !out_json)
        return SEINE_E_INVAL;
    seine_err e = seine_changes_new(&joined);
    if (e == SEINE_OK)
        e = join(c, joined);
    sn_buf_init(&to, JSON_MOST);
    sn_buf_char(&to, '[');
    for (size_t i = 0; e == SEINE_OK && i < sn_changes_count(joined); i++)
        put_section(&to, joined, sn_changes_section(joined, i));
    sn_buf_char(&to, ']');
    if (e == SEINE_OK)
        e = sn_buf_take(&to, out_json);
    sn_buf_fini(&to);
    seine_changes_free(joined);
    return e;
}
