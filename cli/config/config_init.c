/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_init.h"

#include <stdio.h>
#include <string.h>

#include "config/config_quote.h"
#include "config/service_config.h"
#include "options/options.h"
#include "screen/out.h"
#include "verbs/verbs.h"

static bool
is_in(const option *list, const char *name)
{
    for (const option *o = list; o && o->name; o++)
        if (o->env && !o->hidden && strcmp(o->name, name) == 0)
            return true;
    return false;
}

static const char *
value_of(const option *o)
{
    if (o->kind == KIND_FLAG)
        return o->initial ? "true" : "false";
    return o->initial ? o->initial : "";
}

static void
print_option(const option *o)
{
    char line[160];

    snprintf(line, sizeof line, "# %s:%s", o->name, value_of(o)[0] ? " " : "");
    out_text(line);
    if (value_of(o)[0])
        config_quote_print(value_of(o));
    int width = (int)(strlen(line) + strlen(value_of(o)));
    out_print("%*s# %s\n", width < 34 ? 36 - width : 2, "", o->help);
}

/* Options that an earlier table has were printed there. */
static void
print_table(const option *list, const option *const *before, size_t n)
{
    for (const option *o = list; o && o->name; o++) {
        bool is_known = !o->env || o->hidden || strcmp(o->name, "config") == 0;

        for (size_t i = 0; i < n && !is_known; i++)
            is_known = is_in(before[i], o->name);
        if (o->group && !is_known)
            out_print("\n# %s\n", o->group);
        if (!is_known)
            print_option(o);
    }
}

void
config_init_print(void)
{
    const option *tables[] = {cmd_fetch.options, cmd_crawl.options, cmd_check.options,
                              shared_options};

    out_text(
        "# Settings of seine: ./seine.yaml, or ~/.config/seine/config.yaml for all "
        "directories.\n"
        "# Options and the environment (SEINE_HOST_RATE for host-rate) win over it.\n"
        "# Take the # off a line to change its setting; `seine config check` finds "
        "mistakes.\n");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        print_table(tables[i], tables, i);
    out_text("\n# Single hosts; the exact name wins, then the longest pattern\n"
             "# hosts:\n"
             "#   \"*.example.com\": {host-rate: 1/s, per-host: 1, timeout: 60s}\n"
             "#   intranet.example: {host-rate: off, per-host: 16, proxy: off}\n"
             "\n# One limit for several hosts together, on top of their own\n"
             "# groups:\n"
             "#   shop: {match: [\"*.shop.example\", 203.0.113.0/24], host-rate: 2/s, "
             "per-host: 2}\n"
             "\n# `seine serve`; monitoring.otlp_endpoint is for all that fetch\n");
    service_config_init_print();
}
