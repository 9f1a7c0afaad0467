/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/text_values.h"
#include "options/values.h"
#include "screen/say.h"
#include "screen/xalloc.h"

static bool
takes_list(const option *o)
{
    return o->kind == KIND_LIST || o->kind == KIND_FILES;
}

/* What the reader of a value says against the node itself, whatever the option wants. */
static const char *
refuse_form(const seine_config_node *n, const option *o)
{
    seine_config_kind form = seine_config_kind_of(n);

    if (seine_config_is_null(n))
        return "has no value";
    if (form == SEINE_CONFIG_MAP)
        return takes_list(o) ? "must be a list or a text, and this is a map"
                             : "must be a text, and this is a map";
    if (form == SEINE_CONFIG_LIST && !takes_list(o))
        return "must be one value, and this is a list";
    return NULL;
}

static const char *
refuse_part(const seine_config_node *n)
{
    return seine_config_kind_of(n) != SEINE_CONFIG_TEXT
               ? "is a list of texts, and this is none"
           : seine_config_is_null(n) ? "has an empty place in its list"
                                     : NULL;
}

/* `--insecure` alone is "": true says the same. */
static const char *
read_alone(const option *o, const char *text, void *settings, char *why)
{
    bool on = strcmp(text, "true") == 0 || strcmp(text, "on") == 0;
    bool off = strcmp(text, "false") == 0 || strcmp(text, "off") == 0;

    if (!on && !off)
        return values_read(o, text, settings, why);
    if (on)
        values_alone(o, settings);
    return NULL;
}

static const char *
read_flag(const char *text, bool *out)
{
    bool on = strcmp(text, "true") == 0 || strcmp(text, "on") == 0;

    if (!on && strcmp(text, "false") != 0 && strcmp(text, "off") != 0)
        return "neither true nor false";
    *out = on;
    return NULL;
}

static const char *
read_text(const option *o, const char *text, void *settings, char *why)
{
    const char *bad = text_values_check(o->name, text, why);

    if (bad)
        return bad;
    if (o->kind == KIND_FLAG)
        return read_flag(text, (bool *)((char *)settings + o->at));
    return o->alone ? read_alone(o, text, settings, why)
                    : values_read(o, text, settings, why);
}

/* Reads into a place of its own first: the settings are written if all is well. */
typedef union place {
    uint64_t number[4];
    void *align;
    texts list;
    seine_frequency pace;
} place;

static size_t
size_of(const option *o)
{
    switch (o->kind) {
    case KIND_FLAG:
        return sizeof(bool);
    case KIND_PACE:
        return sizeof(seine_frequency);
    case KIND_SHARE:
    case KIND_TIMES:
        return sizeof(uint32_t);
    case KIND_CHOICE:
        return sizeof(int);
    case KIND_TEXT:
    case KIND_FILE:
        return sizeof(const char *);
    case KIND_LIST:
    case KIND_FILES:
        return sizeof(texts);
    default:
        return sizeof(uint64_t);
    }
}

/* Reads the value to `to`, as if that were all of the settings. The node that is wrong is
 * *out_at. */
static const char *
read_node(const seine_config_node *n, const option *o, place *to,
          const seine_config_node **out_at, char *spare)
{
    option here = *o;
    const char *why = refuse_form(n, o);

    here.at = 0;
    *out_at = n;
    if (why || seine_config_kind_of(n) == SEINE_CONFIG_TEXT)
        return why ? why : read_text(&here, seine_config_text(n), to, spare);
    for (const seine_config_node *v = seine_config_first(n); v && !why;
         v = seine_config_next(v)) {
        *out_at = v;
        why = refuse_part(v);
        if (!why)
            why = text_values_check(o->name, seine_config_text(v), spare);
        if (!why)
            why = values_read(&here, seine_config_text(v), to, spare);
    }
    return why;
}

static void
describe(const seine_config_node *at, const option *o, const char *why, char *out,
         size_t cap)
{
    char form[100] = "true or false";
    const char *text = seine_config_text(at);
    bool is_text = seine_config_kind_of(at) == SEINE_CONFIG_TEXT;

    if (o->kind == KIND_TEXT && o->initial)
        snprintf(form, sizeof form, "%s", o->initial);
    else if (o->kind != KIND_FLAG)
        values_form(o, form, sizeof form);
    if (is_text && strstr(why, "; try "))
        snprintf(out, cap, "%s '%.40s': %s", o->name, show(text).text, why);
    else if (is_text && !seine_config_is_null(at))
        snprintf(out, cap, "%s '%.40s': %s; try %s", o->name, show(text).text, why, form);
    else
        snprintf(out, cap, "%s %s; try %s", o->name, why, form);
}

bool
config_value_read(seine_config *c, const seine_config_node *n, const option *o,
                  void *settings)
{
    char spare[VALUES_WHY], text[SEINE_DIAG_TEXT * 2];
    const seine_config_node *at;
    place to = {.number = {0}};
    void *member = (char *)settings + o->at;

    if (!takes_list(o))
        memcpy(&to, member, size_of(o));
    const char *why = read_node(n, o, &to, &at, spare);
    if (why) {
        describe(at, o, why, text, sizeof text);
        if (seine_config_is_null(n))
            seine_config_wrong_key(c, n, text);
        else
            seine_config_wrong(c, at, text);
        if (takes_list(o))
            free(to.list.items);
        return false;
    }
    if (takes_list(o))
        free(((texts *)member)->items);
    memcpy(member, &to, size_of(o));
    return true;
}

void
config_value_again(const args *a, const config *now, const char *name, void *settings)
{
    bool no;
    const option *o = options_by_name(a->command, name, strlen(name), &no);
    const config_file *file = NULL;
    const seine_config_node *n = config_get(now, name, &file);
    char why[VALUES_WHY];

    if (!o || options_origin(a, name).level > LEVEL_FILE)
        return;
    if (o->initial) {
        (void)values_read(o, o->initial, settings, why);
    } else if (takes_list(o)) {
        texts *list = (texts *)(void *)((char *)settings + o->at);

        free(list->items);
        *list = (texts){0};
    }
    if (n)
        (void)config_value_read(file->tree, n, o, settings);
}

bool
config_value_fits(const seine_config_node *n, const option *o, char *why, size_t cap)
{
    char spare[VALUES_WHY];
    const seine_config_node *at;
    place to = {.number = {0}};
    const char *bad = read_node(n, o, &to, &at, spare);

    if (takes_list(o))
        free(to.list.items);
    if (bad)
        describe(at, o, bad, why, cap);
    return !bad;
}

bool
config_value_text(seine_config *c, const seine_config_node *n, const char **out)
{
    char text[SEINE_DIAG_TEXT];

    if (seine_config_is_null(n)) {
        snprintf(text, sizeof text, "%.60s has no value", seine_config_key(n));
        seine_config_wrong_key(c, n, text);
        return false;
    }
    if (seine_config_kind_of(n) != SEINE_CONFIG_TEXT) {
        snprintf(text, sizeof text, "%.60s must be a text, and this is a %s",
                 seine_config_key(n),
                 seine_config_kind_of(n) == SEINE_CONFIG_MAP ? "map" : "list");
        seine_config_wrong(c, n, text);
        return false;
    }
    *out = seine_config_text(n);
    return true;
}
