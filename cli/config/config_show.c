/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "config/config_quote.h"
#include "config/config_show_hosts.h"
#include "config/host_config.h"
#include "config/service_config.h"
#include "options/help.h"
#include "options/parse.h"
#include "options/values.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"
#include "verbs/verbs.h"

/* What is secret of a value: that of a header, a login, what stands in a URL before @. */
char *
config_show_value(const char *name, const char *text)
{
    const char *colon = strchr(text, ':'), *at = strrchr(text, '@'),
               *slashes = strstr(text, "://");
    textbuf out = {NULL, 0, 0};

    if (strcmp(name, "header") == 0 && colon)
        textbuf_put(&out, "%.*s: ***", (int)(colon - text), text);
    else if (strcmp(name, "cookie") == 0 || strcmp(name, "data") == 0 ||
             strcmp(name, "json-body") == 0)
        textbuf_put(&out, "***");
    else if (strcmp(name, "user") == 0 && colon)
        textbuf_put(&out, "%.*s:***", (int)(colon - text), text);
    else if (slashes && at > slashes)
        textbuf_put(&out, "%.*s://***%s", (int)(slashes - text), text, at);
    else
        textbuf_put(&out, "%s", text);
    return out.text;
}

static void
print_value(const option *o, const char *text)
{
    char *clean = config_show_value(o->name, text);

    config_quote_print(clean ? clean : "");
    free(clean);
}

static void
print_list(const option *o, const texts *list)
{
    out_text("[");
    for (size_t i = 0; i < list->count; i++) {
        out_text(i > 0 ? ", " : "");
        print_value(o, list->items[i]);
    }
    out_text("]");
}

typedef struct showing {
    const args *args;
    const option *options; /* of the command, or the shared ones */
    const option_origin *origins;
    const void *settings;
    bool with_origin;
} showing;

/* The text of the value as somebody has written it; NULL: it is a list or a flag. */
static const char *
text_of(const showing *s, const option *o, const option_origin *from)
{
    const void *at = (const char *)s->settings + o->at;

    if (o->kind == KIND_TEXT || o->kind == KIND_FILE)
        return *(const char *const *)at;
    if (from->level == LEVEL_DEFAULT)
        return o->initial;
    if (from->level == LEVEL_FILE)
        return seine_config_text(config_get(s->args->config, o->name, NULL));
    return from->text;
}

static void
print_origin(const option *o, const option_origin *from)
{
    switch (from->level) {
    case LEVEL_FLAG:
        out_print("  # --%s\n", o->name);
        return;
    case LEVEL_ENV:
        out_print("  # %s\n", help_env(o).text);
        return;
    case LEVEL_FILE:
        out_print("  # %s:%" PRIu32 "\n", show(from->file->path).text, from->line);
        return;
    default:
        out_text("  # default\n");
        return;
    }
}

static bool
has_value(const showing *s, const option *o, const option_origin *from)
{
    const void *at = (const char *)s->settings + o->at;

    if (o->kind == KIND_LIST || o->kind == KIND_FILES)
        return ((const texts *)at)->count > 0;
    return o->kind == KIND_FLAG || text_of(s, o, from) != NULL;
}

static void
print_option(const showing *s, const option *o)
{
    const option_origin *from = &s->origins[o - s->options];
    const void *at = (const char *)s->settings + o->at;

    if (!o->env || o->hidden || strcmp(o->name, "config") == 0 || !has_value(s, o, from))
        return;
    out_print("%s: ", o->name);
    if (o->kind == KIND_FLAG)
        out_text(*(const bool *)at ? "true" : "false");
    else if (o->kind == KIND_LIST || o->kind == KIND_FILES)
        print_list(o, at);
    else if (o->alone && !text_of(s, o, from)[0])
        out_text("true");
    else
        print_value(o, text_of(s, o, from));
    if (s->with_origin)
        print_origin(o, from);
    else
        out_text("\n");
}

static void
print_all(const args *a, const shared *common, bool with_origin)
{
    const showing own = {a, a->command->options, a->origins, a->settings, with_origin};
    const showing all = {a, shared_options, a->origins + OPTIONS_MOST, common,
                         with_origin};

    for (const option *o = own.options; o && o->name; o++)
        print_option(&own, o);
    for (const option *o = all.options; o->name; o++)
        print_option(&all, o);
}

/* Does the command ask hosts? */
static bool
is_fetch(const command *c)
{
    bool no;

    return options_by_name(c, "host-rate", strlen("host-rate"), &no) != NULL;
}

/* The settings that a host may have: its own, or those for all. */
static void
print_host(const args *a, const config_show_opts *o)
{
    const showing own = {a, a->command->options, a->origins, a->settings, o->with_origin};

    for (size_t i = 0; host_config_keys[i]; i++) {
        const char *key = host_config_keys[i];
        bool no;
        const option *row = options_by_name(a->command, key, strlen(key), &no);

        if (!config_show_key(a->config, o->host, key, o->with_origin) && row)
            print_option(&own, row);
    }
}

int
config_show(const config_show_opts *o, char **words, size_t count)
{
    size_t used = 0;
    bool is_named = count > 0 && words[0][0] != '-';
    const command *c = is_named ? options_find(words, count, &used) : &cmd_fetch;
    args a = {.command = c};
    shared common = {.config = o->config_path};

    if (!c)
        return say_fail(SAY_USAGE, "seine config show crawl", "unknown command '%s'",
                        show(words[0]).text);
    a.settings = xalloc_zeroed(1, c->settings_size ? c->settings_size : 1);
    a.words = xalloc_zeroed(count + 2, sizeof *a.words);
    values_defaults(c, a.settings);
    int code = parse_settings(&a, &common, words + used, count - used);
    if (code == PARSE_RUN) {
        if (o->host)
            print_host(&a, o);
        else
            print_all(&a, &common, o->with_origin);
        if (!o->host && is_fetch(c))
            config_show_sections(a.config, o->with_origin);
        code = o->host
                   ? SAY_DONE
                   : service_config_show(a.config, environ, strcmp(c->name, "serve") == 0,
                                         o->with_origin);
    }
    parse_free(&a);
    free(a.words);
    free(a.settings);
    return code;
}
