/* SPDX-License-Identifier: Apache-2.0 */
/* Links of `seine check` as rows: the columns are those that the check writes itself. */
#include <string.h>

#include "base/json.h"
#include "store/convert.h"

typedef struct column {
    const char *name, *member, *inner; /* inner: of the object that the member is */
} column;

static const column columns[] = {
    {"source", "source", NULL},     {"line", "line", NULL},
    {"col", "col", NULL},           {"target", "target", NULL},
    {"verdict", "verdict", NULL},   {"status", "status", NULL},
    {"fragment", "fragment", NULL}, {"error_kind", "error", "kind"},
    {"text", "text", NULL},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static bool
is_scalar(const seine_json *value)
{
    seine_json_type type = seine_json_type_of(value);

    return type != SEINE_JSON_ARRAY && type != SEINE_JSON_OBJECT;
}

/* Names what has no column; the place in the file and the moment go without saying. */
static bool
each_member(const char *name, const seine_json *value, void *arg)
{
    static const char *const silent[] = {"v", "type", "seq", "ts"};
    sn_convert *c = arg;

    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (strcmp(name, silent[i]) == 0)
            return true;
    for (size_t i = 0; i < COLUMNS; i++)
        if (strcmp(name, columns[i].member) == 0 &&
            (columns[i].inner ? seine_json_size(value) <= 1 : is_scalar(value)))
            return true;
    sn_convert_lost(c, strcmp(name, "error") == 0 ? SN_STR("error but its kind")
                                                  : sn_str_of(name));
    return true;
}

seine_err
sn_convert_link(sn_convert *c, const seine_json *link)
{
    seine_json *flat = seine_json_new_object();
    seine_err e = flat ? SEINE_OK : SEINE_E_NOMEM;

    for (size_t i = 0; i < COLUMNS && e == SEINE_OK; i++) {
        const seine_json *value = seine_json_get(link, columns[i].member);

        if (columns[i].inner)
            value = seine_json_get(value, columns[i].inner);
        e = seine_json_set(flat, columns[i].name,
                           value && is_scalar(value) ? seine_json_new_copy(value)
                                                     : seine_json_new_null());
    }
    if (e == SEINE_OK && c->n_columns == 0)
        e = sn_convert_head(c, flat);
    if (e == SEINE_OK) {
        seine_json_each(link, each_member, c);
        e = sn_convert_row(c, flat);
    }
    seine_json_free(flat);
    return e;
}
