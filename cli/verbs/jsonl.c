/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/jsonl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/options.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/lines.h"

bool
reason_set(reason *why, const char *fmt, ...)
{
    va_list list;

    va_start(list, fmt);
    vsnprintf(why->text, sizeof why->text, fmt, list);
    va_end(list);
    return false;
}

void
jsonl_set(seine_json *object, const char *name, seine_json *give)
{
    if (seine_json_set(object, name, give) != SEINE_OK)
        xalloc_json(NULL);
}

/* The last member of the answer. One per process, as its standard output. */
static struct {
    const char *name; /* NULL: there is none */
    char *text;
    size_t len;
} last;

void
jsonl_set_text(const char *name, char *give, size_t len)
{
    free(last.text);
    last.name = name;
    last.text = give;
    last.len = len;
}

static void
give_answer(seine_json *out)
{
    if (last.name)
        out_json_with(out, last.name, last.text, last.len);
    else
        out_json(out);
    jsonl_set_text(NULL, NULL, 0);
}

void
jsonl_add(seine_json *array, seine_json *give)
{
    if (seine_json_append(array, give) != SEINE_OK)
        xalloc_json(NULL);
}

seine_json *
jsonl_string(const char *text)
{
    seine_json *json = seine_json_new_string(text, strlen(text));

    if (!json)
        json = seine_json_new_string(show(text).text, strlen(show(text).text));
    return xalloc_json(json);
}

seine_json *
jsonl_in(seine_span span, seine_span unit)
{
    if (span % unit == 0)
        return seine_json_new_int(span / unit);
    return seine_json_new_real((double)span / (double)unit);
}

/* Makes the answer to one line; never NULL. */
static seine_json *
answer_line(const char *text, size_t len, jsonl_fn fn)
{
    seine_json *in = NULL, *out = xalloc_json(seine_json_new_object());
    seine_json_fault fault;
    reason why = {""};
    bool good = false;

    seine_err e = seine_json_parse(text, len, &in, &fault);
    if (e != SEINE_OK)
        reason_set(&why, "%s at byte %zu: %s", seine_err_name(e), fault.offset,
                   show(fault.text).text);
    else if (seine_json_type_of(in) != SEINE_JSON_OBJECT)
        reason_set(&why, "%s where an object is wanted",
                   seine_json_type_name(seine_json_type_of(in)));
    else {
        if (seine_json_get(in, "id"))
            jsonl_set(out, "id", seine_json_new_copy(seine_json_get(in, "id")));
        good = fn(in, out, &why);
    }
    if (!good) {
        const seine_json *id = seine_json_get(in, "id");

        jsonl_set_text(NULL, NULL, 0);
        seine_json_free(out);
        out = xalloc_json(seine_json_new_object());
        if (id)
            jsonl_set(out, "id", seine_json_new_copy(id));
        jsonl_set(out, "ok", seine_json_new_bool(false));
        jsonl_set(out, "error", jsonl_string(why.text));
    }
    seine_json_free(in);
    return out;
}

static bool
too_long(const seine_json *in, seine_json *out, reason *why)
{
    (void)in;
    (void)out;
    return reason_set(why, "range: the line is longer than %zu bytes", LINES_LONGEST);
}

int
jsonl_run(const char *path, jsonl_fn fn)
{
    lines in;
    lines_got got;
    int code = lines_open(&in, path);

    if (code != SAY_DONE)
        return code;
    while ((got = lines_next(&in)) == LINES_ONE || got == LINES_TOO_LONG)
        give_answer(got == LINES_ONE ? answer_line(in.text, in.len, fn)
                                     : answer_line("{}", 2, too_long));
    lines_close(&in);
    return got == LINES_FAILED ? SAY_MACHINE : SAY_DONE;
}

bool
jsonl_only(const struct args *a)
{
    for (const option *o = a->command->options; o->name; o++)
        if (strcmp(o->name, "jsonl") != 0 && options_given(a, o->name)) {
            say_fail(SAY_USAGE, "one of the two",
                     "--%s does not go with --jsonl: each line says its own", o->name);
            return false;
        }
    return true;
}

struct known {
    const char *names;
    reason *why;
};

static bool
check_known(const char *name, const seine_json *value, void *arg)
{
    const struct known *known = arg;
    size_t n = strlen(name);

    (void)value;
    for (const char *p = known->names; *p; p += strspn(p, " ")) {
        size_t len = strcspn(p, " ");

        if (len == n && strncmp(p, name, n) == 0)
            return true;
        p += len;
    }
    return reason_set(known->why, "unknown member '%s'", show(name).text);
}

bool
jsonl_known(const seine_json *object, const char *names, reason *why)
{
    return seine_json_each(object, check_known, &(struct known){names, why});
}

bool
jsonl_has(const seine_json *object, const char *name)
{
    return seine_json_type_of(seine_json_get(object, name)) != SEINE_JSON_NULL;
}

static bool
refuse_type(const seine_json *value, const char *name, const char *wanted, reason *why)
{
    return reason_set(why, "%s: %s where %s is wanted", name,
                      seine_json_type_name(seine_json_type_of(value)), wanted);
}

bool
jsonl_int(const seine_json *object, const char *name, int64_t min, int64_t max,
          int64_t *out, reason *why)
{
    const seine_json *value = seine_json_get(object, name);
    int64_t n;
    double real;

    if (!jsonl_has(object, name))
        return true;
    if (!seine_json_int(value, &n)) {
        /* 5.0 counts as 5: some programs write no integers. */
        if (!seine_json_number(value, &real) || real < -1e15 || real > 1e15 ||
            (double)(int64_t)real != real)
            return refuse_type(value, name, "an integer", why);
        n = (int64_t)real;
    }
    if (n < min || n > max)
        return reason_set(why, "%s: %" PRId64 " is not in %" PRId64 " to %" PRId64, name,
                          n, min, max);
    *out = n;
    return true;
}

bool
jsonl_text(const seine_json *object, const char *name, const char **out, reason *why)
{
    const seine_json *value = seine_json_get(object, name);
    size_t len;

    if (!jsonl_has(object, name))
        return true;
    return seine_json_string(value, out, &len) ||
           refuse_type(value, name, "a string", why);
}

bool
jsonl_pace(const seine_json *object, const char *name, seine_frequency *out, reason *why)
{
    const seine_json *value = seine_json_get(object, name);
    const char *text, *bad = NULL;
    size_t len;
    double number;

    if (!jsonl_has(object, name))
        return true;
    if (seine_json_string(value, &text, &len)) {
        bad = seine_units_rate(text, out);
    } else if (seine_json_number(value, &number)) {
        seine_text digits = {NULL, 0};

        if (seine_json_print(value, &digits) != SEINE_OK)
            xalloc_json(NULL);
        bad = seine_units_rate_decimal(digits.bytes, digits.len, out);
        seine_text_free(&digits);
    } else {
        return refuse_type(value, name, "a rate", why);
    }
    return !bad || reason_set(why, "%s: %s", name, bad);
}

bool
jsonl_span(const seine_json *object, const char *name, seine_span unit, seine_span *out,
           reason *why)
{
    const seine_json *value = seine_json_get(object, name);
    int64_t whole;
    double number;
    bool good;

    if (!jsonl_has(object, name))
        return true;
    if (seine_json_int(value, &whole)) {
        seine_span span;

        good = !__builtin_mul_overflow(whole, unit, &span);
        if (good)
            *out = span;
    } else if (seine_json_number(value, &number)) {
        seine_text digits = {NULL, 0};

        if (seine_json_print(value, &digits) != SEINE_OK)
            xalloc_json(NULL);
        bool minus = digits.bytes[0] == '-';
        good = seine_units_decimal(digits.bytes + minus, digits.len - minus, unit, out);
        if (good && minus)
            *out = -*out;
        seine_text_free(&digits);
    } else {
        return refuse_type(value, name, "a number", why);
    }
    return good || reason_set(why, "%s: beyond 292 years", name);
}

const seine_json *
jsonl_array(const seine_json *object, const char *name, reason *why)
{
    const seine_json *value = seine_json_get(object, name);

    if (seine_json_type_of(value) == SEINE_JSON_ARRAY)
        return value;
    if (!jsonl_has(object, name))
        reason_set(why, "no member '%s'", name);
    else
        refuse_type(value, name, "an array", why);
    return NULL;
}
