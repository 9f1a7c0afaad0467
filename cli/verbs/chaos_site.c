/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <seine/chaos.h>
#include <seine/plumbing.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/verbs.h"

typedef struct settings {
    bool list;
    const char *base;
    uint64_t dead_port;
} settings;

static int run_chaos_site(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"list", NULL, KIND_FLAG, AT(list),
     .help = "one JSON object per URL: url, status, kind, error",
     .more = "`kind` is page, duplicate, broken, redirect, disallowed or dead; `error` is what a crawler ends with. Redirects name their target, `to`; "
             "pages that fail first say how often, `fails`."},
    {"base", NULL, KIND_TEXT, "URL", "http://127.0.0.1", AT(base),
     .help = "where the site is served",
     .more = "A site with several hosts takes the port from it, and h0.test instead of 127.1.0.1 if its host ends in .test."},
    {"dead-port", NULL, KIND_COUNT, "N", "1", AT(dead_port), .min = 1, .max = 65535,
     .help = "port of its dead hosts, `dead` of a running server"},
    {.name = NULL},
};

static const example examples[] = {
    {"seine chaos site 1:1000:robots=5 --list",
     "What a crawler has to find on this site:"},
    {"seine chaos site demo",
     "How many pages of which kind:"},
    {NULL, NULL},
};

const command cmd_chaos_site = {
    .name = "chaos site",
    .arguments = "SPEC",
    .about = "tell the truth about a generated site, without a server",
    .text = "SPEC is what `seine chaos --site` and the path /site:SPEC/ take. A running server tells the same at /site:SPEC/_list.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = 1,
    .run = run_chaos_site,
};
/* clang-format on */

enum { KINDS = 6 };

static const char *const kinds[KINDS] = {"page",     "duplicate",  "broken",
                                         "redirect", "disallowed", "dead"};

typedef struct counts {
    uint64_t by_kind[KINDS], all;
} counts;

static bool
print_lines(const char *lines, size_t len, void *arg)
{
    (void)arg;
    out_bytes(lines, len);
    return true;
}

static void
count_line(counts *c, const char *line, size_t len)
{
    seine_json *json = NULL;
    const char *said = NULL;
    size_t n;

    c->all++;
    if (seine_json_parse(line, len, &json, NULL) == SEINE_OK &&
        seine_json_string(seine_json_get(json, "kind"), &said, &n))
        for (size_t i = 0; i < KINDS; i++)
            c->by_kind[i] += strcmp(said, kinds[i]) == 0;
    seine_json_free(json);
}

static bool
count_lines(const char *lines, size_t len, void *arg)
{
    for (const char *end; len > 0 && (end = memchr(lines, '\n', len)); lines = end + 1) {
        count_line(arg, lines, (size_t)(end - lines));
        len -= (size_t)(end - lines) + 1;
    }
    return true;
}

static int
run_chaos_site(const args *a)
{
    const settings *set = a->settings;
    counts c = {.all = 0};
    seine_diag diag = SEINE_DIAG;
    seine_err e = seine_chaos_site(a->words[0], set->base, (uint16_t)set->dead_port,
                                   set->list ? print_lines : count_lines, &c, &diag);

    if (e == SEINE_E_INVAL)
        return say_fail(SAY_USAGE, "seine chaos site 1:1000", "'%s': %s",
                        show(a->words[0]).text, diag.text);
    if (e != SEINE_OK)
        return say_fail(SAY_MACHINE, NULL, "%s", seine_err_text(e));
    if (set->list)
        return SAY_DONE;
    out_print("%-12s%12s\n", "URLs", figure_count(c.all).text);
    for (size_t i = 0; i < KINDS; i++)
        if (c.by_kind[i] > 0)
            out_print("%-12s%12s\n", kinds[i], figure_count(c.by_kind[i]).text);
    return SAY_DONE;
}
