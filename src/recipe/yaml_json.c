/* SPDX-License-Identifier: Apache-2.0 */
/* YAML as JSON: what a plain scalar means, by the core schema of YAML 1.2. */
#include <string.h>

#include "recipe/yaml.h"

static bool
is_one_of(sn_str s, const char *a, const char *b, const char *c)
{
    return sn_str_eq(s, sn_str_of(a)) || sn_str_eq(s, sn_str_of(b)) ||
           sn_str_eq(s, sn_str_of(c));
}

bool
sn_yaml_is_null(const sn_yaml *n)
{
    return !n || (n->kind == SN_YAML_SCALAR && n->plain &&
                  (n->text.len == 0 || sn_str_eq(n->text, SN_STR("~")) ||
                   is_one_of(n->text, "null", "Null", "NULL")));
}

/* A number as JSON writes numbers, so that 007 and 1_000 stay texts. */
static seine_json *
number_of(sn_str s)
{
    seine_json *json = NULL;

    if (s.len == 0 || s.len > 32 || !(sn_is_digit(s.ptr[0]) || s.ptr[0] == '-') ||
        seine_json_parse(s.ptr, s.len, &json, NULL) != SEINE_OK)
        return NULL;
    return json;
}

static seine_json *
scalar(const sn_yaml *n)
{
    seine_json *number;

    if (n->plain && sn_yaml_is_null(n))
        return seine_json_new_null();
    if (n->plain && is_one_of(n->text, "true", "True", "TRUE"))
        return seine_json_new_bool(true);
    if (n->plain && is_one_of(n->text, "false", "False", "FALSE"))
        return seine_json_new_bool(false);
    if (n->plain && (number = number_of(n->text)))
        return number;
    return seine_json_new_string(n->text.ptr, n->text.len);
}

/* Recurses as deep as the reader allows. */
seine_json *
sn_yaml_json(const sn_yaml *n)
{
    if (!n)
        return seine_json_new_null();
    if (n->kind == SN_YAML_SCALAR)
        return scalar(n);
    bool is_map = n->kind == SN_YAML_MAP;
    seine_json *all = is_map ? seine_json_new_object() : seine_json_new_array();
    for (const sn_yaml *v = n->first; v && all; v = v->next) {
        seine_err e = is_map ? seine_json_set(all, v->key->text.ptr, sn_yaml_json(v))
                             : seine_json_append(all, sn_yaml_json(v));
        if (e != SEINE_OK) {
            seine_json_free(all);
            return NULL;
        }
    }
    return all;
}
