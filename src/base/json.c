/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json_check.h"
#include "base/str.h"
#include "seine/plumbing.h"

/*
 * A seine_json is jansson's json_t under another name. The allocator of jansson is one
 * setting for the whole process, and the host program may use jansson too, so seine
 * leaves that setting alone. The caps on size and depth bound what a text can cost.
 */

static json_t *
inside(const seine_json *json)
{
    return (json_t *)json; /* const does not protect the reference count */
}

static seine_json *
outside(json_t *json)
{
    return (seine_json *)(void *)json;
}

const char *
sn_json_version(void)
{
    return jansson_version_str();
}

/* Where output goes; bytes beyond `cap` are only counted. */
typedef struct sink {
    char *out;
    size_t cap, len;
} sink;

static void
put_bytes(sink *to, const char *bytes, size_t n)
{
    if (to->len < to->cap) {
        size_t room = to->cap - to->len;

        memcpy(to->out + to->len, bytes, n < room ? n : room);
    }
    to->len += n;
}

static void
put_escape(sink *to, uint32_t c)
{
    static const char names[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    char text[8];

    for (size_t i = 0; i + 1 < sizeof names; i += 2)
        if (c == (unsigned char)names[i]) {
            put_bytes(to, (char[]){'\\', names[i + 1]}, 2);
            return;
        }
    put_bytes(to, text, (size_t)snprintf(text, sizeof text, "\\u%04x", (unsigned)c));
}

static bool
is_plain(uint32_t c)
{
    return c >= 0x20 && c != '"' && c != '\\' && !(c >= 0x7f && c <= 0x9f) &&
           c != 0x2028 && c != 0x2029;
}

static void
quote(sink *to, const char *bytes, size_t n)
{
    put_bytes(to, "\"", 1);
    for (size_t i = 0; i < n;) {
        uint32_t c;
        size_t len = sn_utf8_decode((sn_str){bytes + i, n - i}, &c);

        if (len == 0)
            put_bytes(to, "\xef\xbf\xbd", 3);
        else if (is_plain(c))
            put_bytes(to, bytes + i, len);
        else
            put_escape(to, c);
        i += len ? len : 1;
    }
    put_bytes(to, "\"", 1);
}

size_t
sn_json_quote(const char *bytes, size_t n, char *out, size_t cap)
{
    sink to = {out, cap, 0};

    quote(&to, bytes, n);
    if (cap > 0)
        out[to.len < cap ? to.len : cap - 1] = '\0';
    return to.len;
}

size_t
seine_json_quote(const char *bytes, size_t n, char *out, size_t cap)
{
    return sn_json_quote(bytes, bytes ? n : 0, out, out ? cap : 0);
}

size_t
sn_json_decimal(double value, char out[32])
{
    int n = 0;

    if (!isfinite(value)) {
        out[0] = '\0';
        return 0;
    }
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(out, 32, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
    for (char *p = out; *p; p++) /* replaces the decimal point of the locale */
        if (!strchr("0123456789+-e", *p))
            *p = '.';
    if (!strpbrk(out, ".e")) {
        memcpy(out + n, ".0", 3);
        n += 2;
    }
    return (size_t)n;
}

static seine_err
fail_at(seine_err e, size_t offset, const char *text, seine_json_fault *out_fault)
{
    if (out_fault) {
        out_fault->offset = offset;
        snprintf(out_fault->text, sizeof out_fault->text, "%s", text);
    }
    return e;
}

/* Says for people what the scan found: "expected ':', found '}'". */
static void
tell_flaw(sn_str all, const sn_json_flaw *flaw, seine_json_fault *out_fault)
{
    char found[16] = "the end";
    sn_str rest = sn_str_slice(all, flaw->offset, all.len);
    uint32_t c;

    if (!out_fault)
        return;
    size_t n = sn_utf8_decode(rest, &c);
    if (n > 0 && is_plain(c))
        snprintf(found, sizeof found, "'%.*s'", (int)n, rest.ptr);
    else if (n > 0 && c == '"')
        snprintf(found, sizeof found, "a quote");
    else if (rest.len > 0)
        snprintf(found, sizeof found, "byte 0x%02x", (unsigned char)*rest.ptr);
    out_fault->offset = flaw->offset;
    snprintf(out_fault->text, sizeof out_fault->text,
             flaw->wants ? "expected %s, found %s" : "%s", flaw->text, found);
}

static seine_err
too_large(seine_json_fault *out_fault)
{
    return fail_at(SEINE_E_RANGE, SEINE_JSON_BYTES, "text is larger than the cap",
                   out_fault);
}

seine_err
seine_json_check(const char *bytes, size_t len, seine_json_fault *out_fault,
                 seine_json_fault *out_note)
{
    sn_json_flaw flaw, note;
    sn_json_names names;

    if (len > SEINE_JSON_BYTES)
        return too_large(out_fault);
    sn_json_names_init(&names);
    seine_err e = sn_json_scan((sn_str){bytes, len}, &names, &flaw, &note);
    sn_json_names_fini(&names);
    if (e == SEINE_E_NOMEM)
        return fail_at(e, 0, seine_err_text(e), out_fault);
    if (e != SEINE_OK) {
        tell_flaw((sn_str){bytes, len}, &flaw, out_fault);
        return e;
    }
    fail_at(e, 0, "", out_note);
    if (note.text)
        tell_flaw((sn_str){bytes, len}, &note, out_note);
    return SEINE_OK;
}

/* Checks grammar and limits before anything is allocated. The parser checks names. */
static seine_err
look_at(sn_str text, seine_json_fault *out_fault)
{
    sn_json_flaw flaw, note;
    seine_err e = sn_json_scan(text, NULL, &flaw, &note);

    if (e == SEINE_OK && !note.text)
        return SEINE_OK;
    tell_flaw(text, e == SEINE_OK ? &note : &flaw, out_fault);
    return e == SEINE_OK ? SEINE_E_BAD_JSON : e;
}

seine_err
seine_json_parse(const char *bytes, size_t len, seine_json **out_json,
                 seine_json_fault *out_fault)
{
    if (!out_json)
        return SEINE_E_INVAL;
    json_error_t error;

    if (len > SEINE_JSON_BYTES)
        return too_large(out_fault);
    seine_err e = look_at((sn_str){bytes, len}, out_fault);
    if (e != SEINE_OK)
        return e;

    json_t *json = json_loadb(
        bytes, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    /* Without memory jansson reports nothing, or, inside a string, a bad token. Only the
     * first case can be told from a bad text. */
    if (!json &&
        (error.text[0] == '\0' || json_error_code(&error) == json_error_out_of_memory))
        return fail_at(SEINE_E_NOMEM, 0, seine_err_text(SEINE_E_NOMEM), out_fault);
    if (!json)
        return fail_at(SEINE_E_BAD_JSON, error.position > 0 ? (size_t)error.position : 0,
                       error.text, out_fault);
    *out_json = outside(json);
    return SEINE_OK;
}

void
seine_json_free(seine_json *json)
{
    json_decref(inside(json));
}

seine_json_type
seine_json_type_of(const seine_json *json)
{
    if (!json)
        return SEINE_JSON_NULL;
    switch (json_typeof(inside(json))) {
    case JSON_OBJECT:
        return SEINE_JSON_OBJECT;
    case JSON_ARRAY:
        return SEINE_JSON_ARRAY;
    case JSON_STRING:
        return SEINE_JSON_STRING;
    case JSON_INTEGER:
        return SEINE_JSON_INT;
    case JSON_REAL:
        return SEINE_JSON_REAL;
    case JSON_TRUE:
    case JSON_FALSE:
        return SEINE_JSON_BOOL;
    case JSON_NULL:
        break;
    }
    return SEINE_JSON_NULL;
}

const char *
seine_json_type_name(seine_json_type type)
{
    static const char *const names[] = {"null",     "true or false", "an integer",
                                        "a number", "a string",      "an array",
                                        "an object"};

    return (unsigned)type < sizeof names / sizeof *names ? names[type] : "null";
}

bool
seine_json_bool(const seine_json *json, bool *out_value)
{
    if (!json_is_boolean(inside(json)))
        return false;
    *out_value = json_is_true(inside(json));
    return true;
}

bool
seine_json_int(const seine_json *json, int64_t *out_value)
{
    if (!json_is_integer(inside(json)))
        return false;
    *out_value = json_integer_value(inside(json));
    return true;
}

bool
seine_json_number(const seine_json *json, double *out_value)
{
    if (!json_is_number(inside(json)))
        return false;
    *out_value = json_number_value(inside(json));
    return true;
}

bool
seine_json_string(const seine_json *json, const char **out_bytes, size_t *out_len)
{
    if (!json_is_string(inside(json)))
        return false;
    *out_bytes = json_string_value(inside(json));
    *out_len = json_string_length(inside(json));
    return true;
}

size_t
seine_json_size(const seine_json *json)
{
    return json_is_array(inside(json)) ? json_array_size(inside(json))
                                       : json_object_size(inside(json));
}

const seine_json *
seine_json_at(const seine_json *array, size_t i)
{
    return outside(json_array_get(inside(array), i));
}

const seine_json *
seine_json_get(const seine_json *object, const char *name)
{
    return outside(json_object_get(inside(object), name));
}

bool
seine_json_each(const seine_json *object,
                bool (*fn)(const char *name, const seine_json *value, void *arg),
                void *arg)
{
    json_t *all = inside(object);

    for (void *i = json_object_iter(all); i; i = json_object_iter_next(all, i))
        if (!fn(json_object_iter_key(i), outside(json_object_iter_value(i)), arg))
            return false;
    return true;
}

seine_json *
seine_json_new_null(void)
{
    return outside(json_null());
}

seine_json *
seine_json_new_bool(bool value)
{
    return outside(json_boolean(value));
}

seine_json *
seine_json_new_int(int64_t value)
{
    return outside(json_integer(value));
}

seine_json *
seine_json_new_real(double value)
{
    return outside(json_real(value));
}

seine_json *
seine_json_new_string(const char *bytes, size_t len)
{
    return outside(json_stringn(bytes, len));
}

seine_json *
seine_json_new_array(void)
{
    return outside(json_array());
}

seine_json *
seine_json_new_object(void)
{
    return outside(json_object());
}

seine_json *
seine_json_new_copy(const seine_json *json)
{
    return outside(json_deep_copy(inside(json)));
}

/* jansson returns the same error for a wrong type and for lack of memory. */
static seine_err
give_in(bool fits, int failed, const seine_json *give)
{
    if (!give)
        return SEINE_E_NOMEM;
    if (!fits)
        return SEINE_E_INVAL;
    return failed ? SEINE_E_NOMEM : SEINE_OK;
}

seine_err
seine_json_set(seine_json *object, const char *name, seine_json *give)
{
    int failed = json_object_set_new(inside(object), name, inside(give));

    return give_in(!object || json_is_object(inside(object)), failed, give);
}

seine_err
seine_json_append(seine_json *array, seine_json *give)
{
    int failed = json_array_append_new(inside(array), inside(give));

    return give_in(!array || json_is_array(inside(array)), failed, give);
}

static bool print(sink *to, const json_t *json, unsigned depth);

static bool
print_array(sink *to, const json_t *array, unsigned depth)
{
    put_bytes(to, "[", 1);
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (i > 0)
            put_bytes(to, ",", 1);
        if (!print(to, json_array_get(array, i), depth))
            return false;
    }
    put_bytes(to, "]", 1);
    return true;
}

static bool
print_object(sink *to, json_t *object, unsigned depth)
{
    bool first = true;

    put_bytes(to, "{", 1);
    for (void *i = json_object_iter(object); i; i = json_object_iter_next(object, i)) {
        const char *name = json_object_iter_key(i);

        if (!first)
            put_bytes(to, ",", 1);
        first = false;
        quote(to, name, strlen(name));
        put_bytes(to, ":", 1);
        if (!print(to, json_object_iter_value(i), depth))
            return false;
    }
    put_bytes(to, "}", 1);
    return true;
}

static void
print_scalar(sink *to, const json_t *json)
{
    char number[32];
    const char *word = json_is_true(json)    ? "true"
                       : json_is_false(json) ? "false"
                                             : "null";

    if (json_is_string(json))
        quote(to, json_string_value(json), json_string_length(json));
    else if (json_is_integer(json))
        put_bytes(to, number,
                  (size_t)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT,
                                   json_integer_value(json)));
    else if (json_is_real(json))
        put_bytes(to, number, sn_json_decimal(json_real_value(json), number));
    else
        put_bytes(to, word, strlen(word));
}

static bool
print(sink *to, const json_t *json, unsigned depth)
{
    if (!json_is_array(json) && !json_is_object(json)) {
        print_scalar(to, json);
        return true;
    }
    if (depth == SEINE_JSON_DEPTH)
        return false;
    return json_is_array(json) ? print_array(to, json, depth + 1)
                               : print_object(to, inside((const void *)json), depth + 1);
}

/* The first pass counts and the second writes, so one allocation of the right size is
 * enough. */
seine_err
seine_json_print(const seine_json *json, seine_text *out_text)
{
    if (!out_text)
        return SEINE_E_INVAL;
    sink to = {NULL, 0, 0};

    if (!print(&to, inside(json), 0))
        return SEINE_E_JSON_TOO_DEEP;

    char *bytes = sn_alloc(to.len + 1);
    if (!bytes)
        return SEINE_E_NOMEM;
    to = (sink){bytes, to.len, 0};
    print(&to, inside(json), 0);
    bytes[to.len] = '\0';
    *out_text = (seine_text){bytes, to.len};
    return SEINE_OK;
}
