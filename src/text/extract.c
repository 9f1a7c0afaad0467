/* SPDX-License-Identifier: Apache-2.0 */
#include "text/extract.h"

#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "seine/jsonptr.h"

/* Texts of fields. */

static bool
is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The length of NAME in "NAME=…"; 0: that is no name. */
static size_t
name_len(const char *text)
{
    size_t n = 0;

    while (is_letter(text[n]) || (n > 0 && is_digit(text[n])))
        n++;
    return text[n] == '=' ? n : 0;
}

/* Is the sign at this place escaped, by an odd number of backslashes? */
static bool
is_escaped(const char *text, const char *at)
{
    const char *from = at;

    while (from > text && from[-1] == '\\')
        from--;
    return (at - from) % 2 == 1;
}

/* Where "@ATTR" begins; the end of the text if it does not end so. No selector does, but
 * one may have an escaped @ in a name. */
static const char *
attr_at(const char *text)
{
    const char *at = strrchr(text, '@');
    size_t n = 0;

    while (at && at[1 + n] &&
           (is_letter(at[1 + n]) || is_digit(at[1 + n]) || strchr("-:.", at[1 + n])))
        n++;
    bool is_attr = at && n > 0 && at[1 + n] == '\0' && !is_escaped(text, at);
    return is_attr ? at : text + strlen(text);
}

void
seine_extract_split(const char *text, seine_view *out_name, seine_view *out_rest,
                    seine_view *out_attr)
{
    seine_view name = {NULL, 0}, rest = name, attr = name;
    size_t n = text ? name_len(text) : 0;

    if (n > 0)
        name = (seine_view){text, n};
    if (text) {
        const char *from = text + (n > 0 ? n + 1 : 0);
        const char *end = out_attr ? attr_at(from) : from + strlen(from);

        rest = (seine_view){from, (size_t)(end - from)};
        if (*end)
            attr = (seine_view){end + 1, strlen(end + 1)};
    }
    if (out_name)
        *out_name = name;
    if (out_rest)
        *out_rest = rest;
    if (out_attr)
        *out_attr = attr;
}

/* Making. */

seine_err
seine_extract_new(seine_extract **out_extract)
{
    if (!out_extract)
        return SEINE_E_INVAL;
    seine_extract *x = sn_zalloc(sizeof *x);
    if (!x)
        return SEINE_E_NOMEM;
    *out_extract = x;
    return SEINE_OK;
}

static void
free_field(sn_extract_field *f)
{
    sn_free(f->name);
    sn_free(f->text);
    sn_free(f->attr);
    seine_select_free(f->select);
}

void
seine_extract_free(seine_extract *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < x->count; i++)
        free_field(&x->fields[i]);
    sn_free(x->fields);
    sn_free(x);
}

/* NULL for an absent view, and when there is no memory: *e. */
static char *
copy_text(sn_str s, seine_err *e)
{
    if (!s.ptr)
        return NULL;
    char *copy = sn_alloc(s.len + 1);
    if (!copy) {
        *e = SEINE_E_NOMEM;
        return NULL;
    }
    memcpy(copy, s.ptr, s.len);
    copy[s.len] = '\0';
    return copy;
}

static seine_err
refuse_pointer(const char *text, seine_diag *diag)
{
    sn_diag_text(
        diag, "'%.60s' is no JSON pointer: it begins with / and has ~ only in ~0 and ~1",
        text);
    return SEINE_E_CONFIG;
}

/* Reads the text of a field into its parts. */
static seine_err
read_field(sn_extract_field *f, const char *text, seine_diag *diag)
{
    static const char *const names[] = {[SEINE_EXTRACT_META] = "meta",
                                        [SEINE_EXTRACT_JSONLD] = "jsonld",
                                        [SEINE_EXTRACT_TEXT] = "text"};
    sn_str name = {NULL, 0}, rest = {NULL, 0}, attr = {NULL, 0};
    bool is_css = f->what == SEINE_EXTRACT_CSS;
    seine_err e = SEINE_OK;

    if (is_css || f->what == SEINE_EXTRACT_POINTER)
        seine_extract_split(text, &name, &rest, is_css ? &attr : NULL);
    else if (f->what == SEINE_EXTRACT_META && text)
        rest = sn_str_of(text);
    if (!name.ptr)
        name = rest.ptr ? rest : sn_str_of(names[f->what]);
    f->name = copy_text(name, &e);
    f->text = copy_text(rest, &e);
    f->attr = copy_text(attr, &e);
    if (e == SEINE_OK && is_css)
        e = seine_select_new(rest.ptr, rest.len, &f->select, diag);
    if (e == SEINE_OK && f->what == SEINE_EXTRACT_POINTER &&
        !seine_jsonptr_valid(rest.ptr, rest.len))
        e = refuse_pointer(f->text, diag);
    return e;
}

static seine_err
check_field(const seine_extract *x, const sn_extract_field *f, seine_diag *diag)
{
    if (x->count >= SEINE_EXTRACT_FIELDS) {
        sn_diag_text(diag, "there are %d fields already", SEINE_EXTRACT_FIELDS);
        return SEINE_E_CONFIG;
    }
    for (size_t i = 0; i < x->count; i++)
        if (sn_str_eq_nocase(sn_str_of(x->fields[i].name), sn_str_of(f->name))) {
            sn_diag_text(diag, "a field of the name '%.80s' is there already", f->name);
            return SEINE_E_CONFIG;
        }
    return SEINE_OK;
}

static seine_err
make_room(seine_extract *x)
{
    if (x->count < x->room)
        return SEINE_OK;
    size_t room = x->room ? 2 * x->room : 8;
    sn_extract_field *fields = sn_realloc(x->fields, room * sizeof *fields);
    if (!fields)
        return SEINE_E_NOMEM;
    x->fields = fields;
    x->room = room;
    return SEINE_OK;
}

seine_err
seine_extract_add(seine_extract *x, seine_extract_what what, const char *text,
                  seine_diag *diag)
{
    sn_extract_field f = {.what = what};
    bool needs_text = what == SEINE_EXTRACT_CSS || what == SEINE_EXTRACT_POINTER;

    sn_diag_clear(diag);
    if (!x || (unsigned)what > SEINE_EXTRACT_TEXT || (needs_text && !text))
        return SEINE_E_INVAL;
    seine_err e = read_field(&f, text, diag);
    if (e == SEINE_OK)
        e = check_field(x, &f, diag);
    if (e == SEINE_OK)
        e = make_room(x);
    if (e != SEINE_OK) {
        free_field(&f);
        return e;
    }
    x->fields[x->count++] = f;
    x->needs_tree |= what == SEINE_EXTRACT_CSS || what == SEINE_EXTRACT_TEXT;
    x->needs_links |= what == SEINE_EXTRACT_META || what == SEINE_EXTRACT_JSONLD;
    x->has_pointers |= what == SEINE_EXTRACT_POINTER;
    return SEINE_OK;
}

size_t
seine_extract_count(const seine_extract *x)
{
    return x ? x->count : 0;
}

const char *
seine_extract_name(const seine_extract *x, size_t i)
{
    return x && i < x->count ? x->fields[i].name : NULL;
}

/* Media types. */

/* Servers that know no type say nothing, and those that list raw files say text/plain:
 * then the first byte tells. */
unsigned
sn_extract_kinds(sn_str type)
{
    if (!type.ptr)
        return SEINE_EXTRACT_HTML | SEINE_EXTRACT_JSON;
    if (sn_str_eq(type, SN_STR("text/html")) ||
        sn_str_eq(type, SN_STR("application/xhtml+xml")))
        return SEINE_EXTRACT_HTML;
    if (sn_str_eq(type, SN_STR("application/json")) || sn_str_ends(type, SN_STR("+json")))
        return SEINE_EXTRACT_JSON;
    return sn_str_eq(type, SN_STR("text/json")) || sn_str_eq(type, SN_STR("text/plain"))
               ? SEINE_EXTRACT_JSON
               : 0;
}

bool
seine_extract_takes(const seine_extract *x, const char *type, size_t len)
{
    if (!x)
        return false;
    unsigned kinds = sn_extract_kinds((sn_str){type, len});

    return (kinds & SEINE_EXTRACT_HTML && (x->needs_tree || x->needs_links)) ||
           (kinds & SEINE_EXTRACT_JSON && x->has_pointers);
}
