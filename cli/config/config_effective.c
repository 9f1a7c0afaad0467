/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_effective.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/config_show_hosts.h"
#include "options/help.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"

static void
put_clean(textbuf *out, const option *o, const char *text)
{
    char *clean = config_show_value(o->name, text);

    textbuf_put(out, "%s%s", out->len ? ", " : "", clean ? clean : "");
    free(clean);
}

/* The value as people write it; without a text: none to show. */
static textbuf
value_of(const args *a, const option *o, const option_origin *from)
{
    const void *at = (const char *)a->settings + o->at;
    textbuf out = {NULL, 0, 0};
    const char *text = from->text;

    if (o->kind == KIND_FLAG) {
        textbuf_put(&out, *(const bool *)at ? "on" : "off");
    } else if (o->kind == KIND_LIST || o->kind == KIND_FILES) {
        for (size_t i = 0; i < ((const texts *)at)->count; i++)
            put_clean(&out, o, ((const texts *)at)->items[i]);
    } else {
        if (from->level == LEVEL_FILE)
            text = seine_config_text(config_get(a->config, o->name, NULL));
        if (text)
            put_clean(&out, o, text);
    }
    return out;
}

static textbuf
place_of(const option *o, const option_origin *from)
{
    textbuf out = {NULL, 0, 0};

    if (from->level == LEVEL_FILE && from->file)
        textbuf_put(&out, "%s:%" PRIu32, from->file->path, from->line);
    else
        textbuf_put(&out, "%s",
                    from->level == LEVEL_ENV ? help_env(o).text : "the recipe");
    return out;
}

static void
add_option(seine_json *list, const args *a, const option *o)
{
    option_origin from = options_origin(a, o->name);
    char name[96];

    if (from.level == LEVEL_DEFAULT || from.level == LEVEL_FLAG || o->hidden)
        return;
    textbuf value = value_of(a, o, &from), place = place_of(o, &from);
    if (value.text) {
        seine_json *one = xalloc_json(seine_json_new_object());

        snprintf(name, sizeof name, "--%s", o->name);
        jsonl_set(one, "option", jsonl_string(name));
        jsonl_set(one, "value", jsonl_string(value.text));
        jsonl_set(one, "from", jsonl_string(place.text));
        jsonl_add(list, one);
    }
    textbuf_free(&value);
    textbuf_free(&place);
}

/* A text, a list, or headers, whose values are secrets, whatever their names are. */
static textbuf
node_text(const char *key, const seine_config_node *v)
{
    seine_config_kind form = seine_config_kind_of(v);
    bool is_many = form == SEINE_CONFIG_LIST || form == SEINE_CONFIG_MAP;
    textbuf out = {NULL, 0, 0};

    for (const seine_config_node *n = is_many ? seine_config_first(v) : v; n;
         n = is_many ? seine_config_next(n) : NULL) {
        char *clean = form == SEINE_CONFIG_MAP
                          ? NULL
                          : config_show_value(key, seine_config_text(n));

        textbuf_put(&out, "%s", out.len ? ", " : "");
        if (form == SEINE_CONFIG_MAP)
            textbuf_put(&out, "%s: ***", seine_config_key(n));
        else
            textbuf_put(&out, "%s", clean ? clean : "");
        free(clean);
    }
    return out;
}

/* Named as `jobs set` names them: hosts.e.example.host-rate. */
static void
add_key(const char *section, const char *name, const char *key,
        const seine_config_node *v, const config_file *file, void *arg)
{
    seine_json *one = xalloc_json(seine_json_new_object());
    textbuf full = {NULL, 0, 0}, place = {NULL, 0, 0}, value = node_text(key, v);

    textbuf_put(&full, "%s.%s.%s", section, name, key);
    textbuf_put(&place, "%s:%" PRIu32, file->path, seine_config_line(v));
    jsonl_set(one, "option", jsonl_string(full.text));
    jsonl_set(one, "value", jsonl_string(value.text ? value.text : ""));
    jsonl_set(one, "from", jsonl_string(place.text));
    jsonl_add(arg, one);
    textbuf_free(&full);
    textbuf_free(&place);
    textbuf_free(&value);
}

seine_json *
config_effective(const args *a)
{
    seine_json *list = xalloc_json(seine_json_new_array());

    for (const option *o = a->command->options; o && o->name; o++)
        add_option(list, a, o);
    config_show_each(a->config, add_key, list);
    return list;
}
