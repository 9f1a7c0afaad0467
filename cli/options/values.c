/* SPDX-License-Identifier: Apache-2.0 */
#include "options/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/say.h"
#include "screen/xalloc.h"

static const char *
read_choice(const option *o, const char *text, int *out)
{
    int place = 0;

    for (const char *p = o->value; *p; place++) {
        size_t n = strcspn(p, "|");

        if (strlen(text) == n && strncmp(p, text, n) == 0) {
            *out = place;
            return NULL;
        }
        p += n + (p[n] == '|');
    }
    return "not one of the choices";
}

static bool
is_in_range(const option *o, uint64_t n)
{
    return n >= o->min && (o->max == 0 || n <= o->max);
}

static const char *
read_count(const option *o, const char *text, uint64_t *out, char why[VALUES_WHY])
{
    uint64_t n = 0;
    const char *bad =
        o->kind == KIND_SIZE ? seine_units_size(text, &n) : seine_units_count(text, &n);

    if (bad)
        return bad;
    if (is_in_range(o, n)) {
        *out = n;
        return NULL;
    }
    if (o->max)
        snprintf(why, VALUES_WHY, "must be %" PRIu64 " to %" PRIu64, o->min, o->max);
    else
        snprintf(why, VALUES_WHY, "must be at least %" PRIu64, o->min);
    return why;
}

static void
add_text(texts *list, const char *text)
{
    list->items =
        xalloc_room(list->items, list->count + 1, &list->cap, sizeof *list->items);
    list->items[list->count++] = text;
    list->items[list->count] = NULL;
}

static const char *
check_count(const option *o, const texts *list, char why[VALUES_WHY])
{
    if (o->max == 0 || list->count <= o->max)
        return NULL;
    snprintf(why, VALUES_WHY, "more than %llu of them; try fewer, or join them: (a|b)",
             (unsigned long long)o->max);
    return why;
}

void
values_alone(const option *o, void *settings)
{
    void *at = (char *)settings + o->at;

    if (o->kind == KIND_LIST)
        add_text(at, "");
    else
        *(const char **)at = "";
}

bool
values_takes(const option *o)
{
    return !o->alone && o->kind != KIND_FLAG && o->kind != KIND_ACTION &&
           o->kind != KIND_TIMES;
}

const char *
values_read(const option *o, const char *text, void *settings, char why[VALUES_WHY])
{
    void *at = (char *)settings + o->at;
    bool off = o->off && strcmp(text, "off") == 0;

    switch (o->kind) {
    case KIND_SPAN:
        if (!off)
            return seine_units_span(text, at);
        *(seine_span *)at = SEINE_NEVER;
        return NULL;
    case KIND_PACE:
        return seine_units_rate(text, at);
    case KIND_COUNT:
    case KIND_SIZE:
        if (!off)
            return read_count(o, text, at, why);
        *(uint64_t *)at = 0;
        return NULL;
    case KIND_SHARE:
        if (!off)
            return seine_units_share(text, o->max ? o->max : 100, at);
        *(uint32_t *)at = 0;
        return NULL;
    case KIND_CHOICE:
        return read_choice(o, text, at);
    case KIND_TEXT:
    case KIND_FILE:
        if (!text[0])
            return "must not be empty";
        *(const char **)at = text;
        return NULL;
    case KIND_LIST:
    case KIND_FILES:
        if (!text[0])
            return "must not be empty";
        add_text(at, text);
        return check_count(o, at, why);
    case KIND_TIMES:
    case KIND_FLAG:
    case KIND_ACTION:
        break;
    }
    return "takes no value";
}

static const char *
read_flag(const char *text, bool *out)
{
    static const char *const words[] = {"off", "on", "false", "true", "0", "1"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = i % 2;
            return NULL;
        }
    return "neither on nor off";
}

const char *
values_environment(const option *o, const char *text, void *settings,
                   char why[VALUES_WHY])
{
    texts *list = (void *)((char *)settings + o->at);

    if (o->kind == KIND_FLAG)
        return read_flag(text, (bool *)((char *)settings + o->at));
    if (o->kind != KIND_LIST && o->kind != KIND_FILES)
        return values_read(o, text, settings, why);
    list->own = xalloc_copy(text, strlen(text));
    for (char *rest = list->own, *part; (part = strsep(&rest, ",")) != NULL;)
        if (part[0])
            add_text(list, part);
    return check_count(o, list, why);
}

/* A sample of every way to write a number, if they are in range; else one number. */
static const char *
sample_number(const option *o, char spare[24])
{
    bool is_size = o->kind == KIND_SIZE;
    uint64_t low = is_size ? 64 << 10 : 10, high = is_size ? UINT64_C(2) << 30 : 10000;

    if (is_in_range(o, low) && is_in_range(o, high))
        return is_size ? "64k, 16M or 2GiB" : "10, 10_000 or 10k";
    if (o->initial && !is_in_range(o, low))
        return o->initial;
    snprintf(spare, 24, "%" PRIu64, is_in_range(o, low) ? low : o->min ? o->min : o->max);
    return spare;
}

void
values_form(const option *o, char *out, size_t cap)
{
    static const char *const samples[] = {
        [KIND_FLAG] = "on or off",
        [KIND_SPAN] = "500ms, 2s or 1h30m",
        [KIND_PACE] = "5/s, 30/m or 3/4h",
        [KIND_SHARE] = "20%",
        [KIND_FILE] = "FILE",
        [KIND_FILES] = "FILE",
        [KIND_ACTION] = NULL,
    };
    char spare[24];
    const char *text = o->kind == KIND_COUNT || o->kind == KIND_SIZE
                           ? sample_number(o, spare)
                       : samples[o->kind] ? samples[o->kind]
                       : o->value         ? o->value
                                          : "";

    snprintf(out, cap, "%s%s", text, o->off || o->kind == KIND_PACE ? ", or off" : "");
}

void
values_sample(const option *o, char *out, size_t cap)
{
    char form[100];

    values_form(o, form, sizeof form);
    if (o->kind == KIND_FLAG)
        snprintf(out, cap, "%s", form);
    else if (o->kind == KIND_PACE)
        snprintf(out, cap, "--%s 1/m, or --%s off for no limit", o->name, o->name);
    else
        snprintf(out, cap, "--%s %s", o->name, form);
}

int
values_bad(const option *o, const char *label, const char *text, const char *why)
{
    char hint[128];

    values_sample(o, hint, sizeof hint);
    return say_fail(SAY_USAGE, hint, "%s '%s': %s", label, show(text).text, why);
}

void
values_defaults(const command *c, void *settings)
{
    char why[VALUES_WHY];

    for (const option *o = c->options; o && o->name; o++)
        if (o->initial && o->kind != KIND_FLAG)
            values_read(o, o->initial, settings, why);
        else if (o->kind == KIND_FLAG)
            *(bool *)((char *)settings + o->at) = o->initial != NULL;
}

void
values_free(const command *c, void *settings)
{
    for (const option *o = c->options; o && o->name; o++)
        if (o->kind == KIND_LIST || o->kind == KIND_FILES) {
            texts *list = (void *)((char *)settings + o->at);

            free(list->items);
            free(list->own);
        }
}
