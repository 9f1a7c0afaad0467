/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/jsonptr.h"

#include <stdint.h>
#include <string.h>

#include "base/str.h"
#include "seine/plumbing.h"

bool
seine_jsonptr_valid(const char *pointer, size_t len)
{
    if (len > SEINE_JSONPTR_BYTES || (len > 0 && pointer[0] != '/'))
        return false;
    for (size_t i = 0; i < len; i++)
        if (pointer[i] == '\0' ||
            (pointer[i] == '~' &&
             (i + 1 == len || (pointer[i + 1] != '0' && pointer[i + 1] != '1'))))
            return false;
    return true;
}

/* Finds an array element by its index: digits without a leading zero. */
static const seine_json *
element(const seine_json *array, sn_str token)
{
    uint64_t i;

    if ((token.len > 1 && token.ptr[0] == '0') || sn_str_u64(token, &i) != SEINE_OK ||
        i >= seine_json_size(array))
        return NULL;
    return seine_json_at(array, (size_t)i);
}

static const seine_json *
member(const seine_json *object, sn_str token)
{
    char name[SEINE_JSONPTR_BYTES + 1];
    size_t n = 0;

    for (size_t i = 0; i < token.len; i++)
        name[n++] = token.ptr[i] != '~'     ? token.ptr[i]
                    : token.ptr[++i] == '0' ? '~'
                                            : '/';
    name[n] = '\0';
    return seine_json_get(object, name);
}

static const seine_json *
child(const seine_json *json, sn_str token)
{
    switch (seine_json_type_of(json)) {
    case SEINE_JSON_ARRAY:
        return element(json, token);
    case SEINE_JSON_OBJECT:
        return member(json, token);
    default:
        return NULL;
    }
}

/* Takes the next token of "/a/b"; false at the end. */
static bool
next_token(sn_str *rest, sn_str *out_token)
{
    if (rest->len == 0)
        return false;
    sn_str from = sn_str_slice(*rest, 1, rest->len);
    size_t n = sn_str_find(from, '/');
    *out_token = sn_str_slice(from, 0, n);
    *rest = sn_str_slice(from, n, from.len);
    return true;
}

seine_err
seine_jsonptr_get(const seine_json *json, const char *pointer, size_t len,
                  const seine_json **out_value)
{
    if (!out_value)
        return SEINE_E_INVAL;
    sn_str rest = {pointer, len}, token;

    if (!seine_jsonptr_valid(pointer, len))
        return SEINE_E_INVAL;
    while (json && next_token(&rest, &token))
        json = child(json, token);
    if (!json)
        return SEINE_E_UNKNOWN;
    *out_value = json;
    return SEINE_OK;
}

typedef struct walk {
    bool (*fn)(const seine_json *value, void *arg);
    void *arg;
} walk;

/* Recurses once for each "-" of the pointer, so no deeper than the value is nested. */
static bool
each(const seine_json *json, sn_str rest, const walk *w)
{
    sn_str token;

    while (json && next_token(&rest, &token)) {
        if (!sn_str_eq(token, SN_STR("-")) ||
            seine_json_type_of(json) != SEINE_JSON_ARRAY) {
            json = child(json, token);
            continue;
        }
        for (size_t i = 0; i < seine_json_size(json); i++)
            if (!each(seine_json_at(json, i), rest, w))
                return false;
        return true;
    }
    return !json || w->fn(json, w->arg);
}

seine_err
seine_jsonptr_each(const seine_json *json, const char *pointer, size_t len,
                   bool (*fn)(const seine_json *value, void *arg), void *arg)
{
    if (!json)
        return SEINE_E_INVAL;
    if (!seine_jsonptr_valid(pointer, len))
        return SEINE_E_INVAL;
    each(json, (sn_str){pointer, len}, &(walk){fn, arg});
    return SEINE_OK;
}
