/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/json_same.h"

#include <stdlib.h>
#include <string.h>

#include "screen/xalloc.h"

static bool
same_list(const seine_json *a, const seine_json *b)
{
    size_t n = seine_json_size(a);

    for (size_t i = 0; i < n && n == seine_json_size(b); i++)
        if (!json_same(seine_json_at(a, i), seine_json_at(b, i)))
            return false;
    return n == seine_json_size(b);
}

static bool
same_member(const char *name, const seine_json *value, void *arg)
{
    return json_same(value, seine_json_get(arg, name));
}

/* Recurses as deep as JSON may be. */
bool
json_same(const seine_json *a, const seine_json *b)
{
    seine_json_type ta = seine_json_type_of(a), tb = seine_json_type_of(b);
    const char *x, *y;
    size_t nx, ny;
    double p, q;
    bool s, t;

    if (seine_json_number(a, &p) && seine_json_number(b, &q))
        return p == q;
    if (ta != tb)
        return false;
    if (seine_json_string(a, &x, &nx) && seine_json_string(b, &y, &ny))
        return nx == ny && memcmp(x, y, nx) == 0;
    if (seine_json_bool(a, &s) && seine_json_bool(b, &t))
        return s == t;
    if (ta == SEINE_JSON_ARRAY)
        return same_list(a, b);
    return ta != SEINE_JSON_OBJECT || (seine_json_size(a) == seine_json_size(b) &&
                                       seine_json_each(a, same_member, (void *)b));
}

typedef struct looking {
    const seine_json *got;
    json_differs_fn fn;
    void *arg;
    unsigned count;
} looking;

static bool
look(const char *name, const seine_json *want, void *arg)
{
    looking *l = arg;
    const seine_json *got = seine_json_get(l->got, name);

    if (json_same(want, got))
        return true;
    l->count++;
    if (l->fn)
        l->fn(name, want, got, l->arg);
    return true;
}

unsigned
json_differs(const seine_json *want, const seine_json *got, json_differs_fn fn, void *arg)
{
    looking l = {got, fn, arg, 0};

    (void)seine_json_each(want, look, &l);
    return l.count;
}

char *
json_shown(const seine_json *json)
{
    seine_text text = {NULL, 0};

    if (!json)
        return xalloc_copy("null", 4);
    if (seine_json_print(json, &text) != SEINE_OK)
        xalloc_json(NULL);
    char *copy = xalloc_copy(text.bytes, text.len);
    seine_text_free(&text);
    return copy;
}
