/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "options/help.h"
#include "options/suggest.h"
#include "screen/say.h"
#include "verbs/verbs.h"

typedef struct settings {
    bool man, json;
} settings;

static int run_help(const args *a);

/* clang-format off */
static const option options[] = {
    {"man", NULL, KIND_FLAG, .at = offsetof(settings, man),
     .help = "the manual page, or that of a command, for man -l -"},
    {"json", "j", KIND_FLAG, .at = offsetof(settings, json),
     .help = "all commands and options, one JSON object per line"},
    {.name = NULL},
};

const command cmd_help = {
    .name = "help",
    .arguments = "[COMMAND]",
    .is_aside = true,
    .about = "say what a command does and takes",
    .options = options,
    .settings_size = sizeof(settings),
    .max_args = 2,
    .run = run_help,
};
/* clang-format on */

static int
run_help(const args *a)
{
    const settings *set = a->settings;
    size_t used;

    if (set->man) {
        int code = help_man(a->count > 0 ? a->words[0] : NULL);
        if (code >= 0)
            return code;
    }
    if (set->json)
        return help_table();
    if (a->count == 0)
        return help_overview(&a->screen, true);

    const command *c = options_find(a->words, a->count, &used);
    if (c && used == a->count)
        return help_command(&a->screen, c, true);
    int code = a->count == 1 ? help_verbs(&a->screen, a->words[0], true) : -1;
    if (code >= 0)
        return code;
    const char *near = suggest_command(a->words[0]);
    char hint[96];
    snprintf(hint, sizeof hint, "seine help%s%s", near ? " " : "", near ? near : "");
    return say_fail(SAY_USAGE, hint, "no command '%s%s%s'", show(a->words[0]).text,
                    a->count > 1 ? " " : "", a->count > 1 ? show(a->words[1]).text : "");
}
