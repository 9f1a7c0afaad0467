/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_sections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_values.h"
#include "config/host_config.h"
#include "config/service_config.h"
#include "gate_run/gate_rules.h"
#include "options/options.h"
#include "screen/xalloc.h"

const config_section config_sections[] = {
    {"hosts", "settings of single hosts", host_config_check_hosts},
    {"groups", "one limit for several hosts", host_config_check_groups},
    {"gate", "policies of `seine gate`", gate_rules_check},
    {"server", "where `seine serve` listens", service_config_check},
    {"database", "where it keeps documents", service_config_check},
    {"redis", "for several machines", service_config_check},
    {"monitoring", "logs, metrics and traces", service_config_check},
    {"console", "limits of `seine serve`", service_config_check},
    {"egress", "where its jobs may go", service_config_check},
    {NULL, NULL, NULL},
};

/* The words that may stand at the top level; ended by NULL. */
typedef struct words {
    const char **all;
    size_t count, cap;
} words;

static void
add_word(words *w, const char *word)
{
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->all[i], word) == 0)
            return;
    w->all = xalloc_room(w->all, w->count + 1, &w->cap, sizeof *w->all);
    w->all[w->count++] = word;
    w->all[w->count] = NULL;
}

static void
add_options(words *w, const option *list)
{
    for (const option *o = list; o && o->name; o++)
        if (o->env && strcmp(o->name, "config") != 0)
            add_word(w, o->name);
}

static words
all_words(void)
{
    words w = {NULL, 0, 0};

    for (const config_section *s = config_sections; s->name; s++)
        add_word(&w, s->name);
    for (size_t i = 0; commands[i]; i++)
        add_options(&w, commands[i]->options);
    add_options(&w, shared_options);
    return w;
}

static bool
is_key(const char *key, const char *name)
{
    while (*key && (*key == '_' ? '-' : *key) == *name)
        key++, name++;
    return !*key && !*name;
}

static const option *
option_in(const option *list, const char *key)
{
    for (const option *o = list; o && o->name; o++)
        if (o->env && is_key(key, o->name))
            return o;
    return NULL;
}

/* One of the commands that have the option must take the value. */
static void
check_option(seine_config *c, const seine_config_node *n)
{
    const option *first = option_in(shared_options, seine_config_key(n));
    char why[SEINE_DIAG_TEXT];
    bool fits = first && config_value_fits(n, first, why, sizeof why);

    for (size_t i = 0; commands[i] && !fits; i++) {
        const option *o = option_in(commands[i]->options, seine_config_key(n));

        fits = o && config_value_fits(n, o, why, sizeof why);
        first = first ? first : o;
    }
    if (!fits && first) {
        union {
            uint64_t room[8];
            texts list;
        } spare = {{0}};
        option here = *first;

        here.at = 0;
        (void)config_value_read(c, n, &here, &spare); /* tells where it is wrong */
    }
}

static const config_section *
section_of(const char *key)
{
    for (const config_section *s = config_sections; s->name; s++)
        if (is_key(key, s->name))
            return s;
    return NULL;
}

void
config_sections_check(seine_config *c)
{
    words w = all_words();

    for (const seine_config_node *n = seine_config_first(seine_config_root(c)); n;
         n = seine_config_next(n)) {
        const config_section *s = section_of(seine_config_key(n));

        if (s)
            s->check(c, n);
        else if (seine_config_knows(c, n, "the configuration", w.all,
                                    "seine config init, which lists them"))
            check_option(c, n);
    }
    free(w.all);
}
