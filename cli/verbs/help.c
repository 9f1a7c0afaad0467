/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "options/help.h"
#include "options/suggest.h"
#include "options/topics.h"
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

static const example examples[] = {
    {"seine help topics",
     "What there is to read:"},
    {"seine help curl",
     "The options of curl, and ours:"},
    {"seine help tls_untrusted",
     "An error kind, and what to try:"},
    {NULL, NULL},
};

const command cmd_help = {
    .name = "help",
    .arguments = "[COMMAND|TOPIC]",
    .is_aside = true,
    .about = "say what a command does and takes, or print a page to read",
    .text = "`seine help topics` lists the pages: a tutorial, the cookbook, "
            "troubleshooting, questions and answers, and the options of other tools "
            "with ours beside them.\n\n"
            "`seine help cookbook sqlite` prints the section whose heading has the word, "
            "`seine help connect_refused` what an error kind means and what to try; "
            "statuses (`403`) and reasons of skips (`offsite`) have such a row, too.",
    .examples = examples,
    .options = options,
    .settings_size = sizeof(settings),
    .max_args = 2,
    .run = run_help,
};
/* clang-format on */

/* Names the nearest command or topic, and the pages. */
static int
fail_unknown(const args *a)
{
    const char *near = suggest_command(a->words[0]);
    char hint[256];
    size_t n;

    if (!near)
        near = topics_near(a->words[0]);
    n = (size_t)snprintf(hint, sizeof hint, "seine help%s%s", near ? " " : "",
                         near ? near : "");
    if (a->count == 1 || !near) {
        n += (size_t)snprintf(hint + n, sizeof hint - n, "; pages:");
        for (const topic *t = topics; t->name && n < sizeof hint; t++)
            if (t->about[0])
                n += (size_t)snprintf(hint + n, sizeof hint - n, " %s", t->name);
    }
    return say_fail(SAY_USAGE, hint, "no command or topic '%s%s%s'",
                    show(a->words[0]).text, a->count > 1 ? " " : "",
                    a->count > 1 ? show(a->words[1]).text : "");
}

static int
run_help(const args *a)
{
    const settings *set = a->settings;
    size_t used;

    if (set->man) {
        int code = help_man(a->count > 0 ? a->words[0] : NULL);
        return code >= 0 ? code : fail_unknown(a);
    }
    if (set->json)
        return help_table();
    if (a->count == 0)
        return help_overview(&a->screen, true);

    const command *c = options_find(a->words, a->count, &used);
    if (c && used == a->count)
        return help_command(&a->screen, c, true);
    int code = a->count == 1 ? help_verbs(&a->screen, a->words[0], true) : -1;
    if (code >= 0) { /* "robots" is an error kind, too */
        topics_show_rows(&a->screen, a->words[0], true);
        return code;
    }
    code = topics_show(&a->screen, a->words, a->count);
    return code >= 0 ? code : fail_unknown(a);
}
