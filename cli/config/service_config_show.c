/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of servers as `config show` and `config init` print them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_quote.h"
#include "config/config_show_hosts.h"
#include "config/service_config.h"
#include "screen/out.h"
#include "screen/say.h"

static const seine_config_node *
node_at(const option_origin *from, const service_key *k)
{
    const seine_config_node *section =
        seine_config_get(seine_config_root(from->file->tree), k->section);
    const seine_config_node *n = seine_config_get(section, k->option.name);

    return n ? n : seine_config_get(section, "jaeger_endpoint");
}

static void
print_text(const service_key *k, const char *text)
{
    char *clean = config_show_value(k->option.name, text);

    config_quote_print(clean ? clean : "");
    free(clean);
}

static void
print_list(const service_key *k, const texts *list)
{
    out_text("[");
    for (size_t i = 0; i < list->count; i++) {
        out_text(i > 0 ? ", " : "");
        print_text(k, list->items[i]);
    }
    out_text("]");
}

static void
print_value(const service_config *set, size_t i, const service_key *k)
{
    const option_origin *from = &set->origins[i];
    const void *at = (const char *)set + k->option.at;

    if (k->option.kind == KIND_FLAG)
        out_text(*(const bool *)at ? "true" : "false");
    else if (k->option.kind == KIND_LIST)
        print_list(k, at);
    else if (from->level == LEVEL_FILE)
        print_text(k, seine_config_text(node_at(from, k)));
    else if (from->level == LEVEL_ENV)
        print_text(k, from->text);
    else
        print_text(k, k->option.initial);
}

static void
print_origin(const option_origin *from, char *const *environment)
{
    if (from->level == LEVEL_FILE)
        out_print("  # %s:%" PRIu32, show(from->file->path).text, from->line);
    else if (from->level == LEVEL_DEFAULT)
        out_text("  # default");
    for (size_t i = 0; from->level == LEVEL_ENV && environment[i]; i++) {
        size_t n = strcspn(environment[i], "=");

        if (environment[i] + n + 1 == from->text) /* its value is the one that counts */
            out_print("  # %.*s", (int)n, environment[i]);
    }
}

/* A list without values and a text without a default are left out. */
static bool
has_value(const service_config *set, size_t i, const service_key *k)
{
    const void *at = (const char *)set + k->option.at;

    if (k->option.kind == KIND_LIST)
        return ((const texts *)at)->count > 0;
    return set->origins[i].level != LEVEL_DEFAULT || k->option.initial ||
           k->option.kind == KIND_FLAG;
}

int
service_config_show(const config *files, char *const *environment, bool all,
                    bool with_origin)
{
    service_config set;
    int code = service_config_read(files, environment, &set);
    const char *section = "";
    const service_key *k;

    for (size_t i = 0; code == SAY_DONE && (k = service_config_key(i)); i++) {
        if ((!all && set.origins[i].level == LEVEL_DEFAULT) || !has_value(&set, i, k))
            continue;
        if (strcmp(section, k->section) != 0)
            out_print("%s:\n", k->section);
        section = k->section;
        out_print("  %s: ", k->option.name);
        print_value(&set, i, k);
        if (with_origin)
            print_origin(&set.origins[i], environment);
        out_text("\n");
    }
    service_config_free(&set);
    return code;
}

/* "[127.0.0.1/32, "::1/128"]" of a default whose parts commas separate. */
static int
print_initial(const option *o)
{
    const char *text = o->kind == KIND_FLAG ? "false" : o->initial ? o->initial : "";
    int width = (int)strlen(text) + 1;

    if (o->kind != KIND_LIST) {
        if (text[0])
            out_text(" ");
        if (text[0])
            config_quote_print(text);
        return width;
    }
    out_text(" [");
    for (size_t n = 0; *text; text += n) {
        char part[64];

        n = strcspn(text, ",");
        snprintf(part, sizeof part, "%.*s", (int)n, text);
        config_quote_print(part);
        n += text[n] == ',';
        out_text(text[n] ? ", " : "");
    }
    out_text("]");
    return width + 2;
}

void
service_config_init_print(void)
{
    const char *section = "";
    const service_key *k;

    for (size_t i = 0; (k = service_config_key(i)); i++) {
        if (strcmp(section, k->section) != 0)
            out_print("\n# %s:\n", k->section);
        section = k->section;
        out_print("#   %s:", k->option.name);
        int width = (int)strlen(k->option.name) + 5 + print_initial(&k->option);
        out_print("%*s# %s\n", width < 36 ? 38 - width : 2, "", k->option.help);
    }
}
