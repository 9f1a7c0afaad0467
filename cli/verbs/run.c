/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recipes/recipe_run.h"
#include "recipes/recipe_vars.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/verbs.h"

typedef struct settings {
    texts vars, output, header, resolve, allow_net;
    bool flat, overwrite, mine, insecure;
    const char *host_rate, *rate, *concurrency, *per_host, *timeout, *retries, *backoff;
    const char *max_pages, *max_time, *robots, *user_agent, *contact, *cacert, *proxy;
    const char *no_proxy;
} settings;

static int run_run(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"var", NULL, KIND_LIST, "NAME=V", AT(vars), .group = "What",
     .help = "the value of a variable of the recipe; may be repeated",
     .more = "`env:NAME` and `file:PATH` stand for what they name."},
    {"output", "o", KIND_FILES, "FILE", AT(output),
     .help = "write rows to FILE: .jsonl or .csv; may be repeated",
     .more = "CSV has the fields in their order, then `_url` and `_n`. Rows of further kinds go to NAME.KIND.csv, bad rows with their errors to NAME.bad.csv."},
    {"flat", NULL, KIND_FLAG, AT(flat), .help = "write the data of good rows alone"},
    {"overwrite", NULL, KIND_FLAG, AT(overwrite), .help = "replace files that exist"},
    {"host-rate", NULL, KIND_TEXT, "R", AT(host_rate), .group = "As in seine fetch; what is typed wins over the recipe", .help = "requests per host: 1/s, 30/m"},
    {"rate", "r", KIND_TEXT, "R", AT(rate), .help = "requests over all hosts"},
    {"concurrency", "c", KIND_TEXT, "N", AT(concurrency), .help = "requests in flight in all"},
    {"per-host", NULL, KIND_TEXT, "N", AT(per_host), .help = "requests in flight per host"},
    {"timeout", "t", KIND_TEXT, "D", AT(timeout), .help = "one attempt, everything included"},
    {"retries", NULL, KIND_TEXT, "N", AT(retries), .help = "tries after the first"},
    {"backoff", NULL, KIND_TEXT, "D..D", AT(backoff), .help = "pauses between tries"},
    {"max-pages", "n", KIND_TEXT, "N", AT(max_pages), .help = "pages at most"},
    {"max-time", "m", KIND_TEXT, "D", AT(max_time), .help = "the whole run; with work left the exit code is 4"},
    {"robots", NULL, KIND_TEXT, "on|off|audit", AT(robots), .help = "obey robots.txt: on if not given"},
    {"mine", NULL, KIND_FLAG, AT(mine), .help = "the hosts are mine: no polite limits"},
    {"header", "H", KIND_LIST, "LINE", AT(header), .help = "a header for the hosts given; may be repeated"},
    {"user-agent", "A", KIND_TEXT, "S", AT(user_agent), .help = "who asks; seine/VERSION if not given"},
    {"contact", NULL, KIND_TEXT, "S", AT(contact), .help = "mail or URL for those who run the hosts"},
    {"resolve", NULL, KIND_LIST, "HOST:PORT:ADDR", AT(resolve), .help = "an address for a name, as in curl"},
    {"allow-net", NULL, KIND_LIST, "CIDR", AT(allow_net), .help = "addresses that may be asked all the same"},
    {"cacert", NULL, KIND_FILE, "FILE", AT(cacert), .help = "authorities to trust (PEM), not those of the system"},
    {"insecure", "k", KIND_FLAG, AT(insecure), .help = "check no certificate of the hosts given"},
    {"proxy", "x", KIND_TEXT, "URL|off", AT(proxy), .help = "through a proxy"},
    {"no-proxy", NULL, KIND_TEXT, "LIST", AT(no_proxy), .help = "hosts asked straight: names, addresses, nets, or *"},
    {.name = NULL},
};

static const example examples[] = {
    {"seine run recipes/amion/amion.yaml --var from=2024-11 --var count=3 -o shifts.csv", "Three months of shifts, as a table:"},
    {"seine run recipes/shop/shop.yaml --flat https://shop.example/list?page=7", "From one page on, good rows alone:"},
    {NULL, NULL},
};

const command cmd_run = {
    .name = "run",
    .arguments = "RECIPE [URL…]",
    .about = "run a recipe: fetch its pages, write their rows",
    .text = "URLs that are given replace `start` of the recipe. Each row is one record with its data, its errors and where it was found. robots.txt is obeyed, and links to hosts "
            "that no start page is on are not followed. What the recipe expects is judged at the end: what is not met is named, and the exit code is 6; rows stay. "
            "Exit code 1: no page could be had. A run is no durable job in this version, and `drift` is not judged.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = SIZE_MAX,
    .run = run_run,
};
/* clang-format on */

/* Hands the options of fetch over by their names. */
static void
add_options(const settings *s, run_options *o)
{
    const struct {
        const char *name, *value;
    } single[] = {
        {"host-rate", s->host_rate},     {"rate", s->rate},
        {"concurrency", s->concurrency}, {"per-host", s->per_host},
        {"timeout", s->timeout},         {"retries", s->retries},
        {"backoff", s->backoff},         {"max-pages", s->max_pages},
        {"max-time", s->max_time},       {"robots", s->robots},
        {"user-agent", s->user_agent},   {"contact", s->contact},
        {"cacert", s->cacert},           {"proxy", s->proxy},
        {"no-proxy", s->no_proxy},
    };
    const struct {
        const char *name;
        const texts *values;
    } lists[] = {
        {"header", &s->header}, {"resolve", &s->resolve}, {"allow-net", &s->allow_net}};

    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (single[i].value)
            run_options_add(o, single[i].name, single[i].value);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t k = 0; k < lists[i].values->count; k++)
            run_options_add(o, lists[i].name, lists[i].values->items[k]);
    if (s->mine)
        run_options_add(o, "mine", NULL);
    if (s->insecure)
        run_options_add(o, "insecure", NULL);
}

/* "3 pages, 91 shifts, 1 bad row (start: '7ish' is not a time)" */
static void
say_end(const expectations *e, const recipe_run_end *end, const seine_json *unmet,
        seine_span took)
{
    char kinds[200], bad[300] = "", pages[64], failed[64] = "";
    const seine_json *one;
    const char *text, *of_kind = seine_recipe_kind(e->recipe->recipe, 0);
    size_t n;

    recipe_count(e->good, seine_recipe_kind(e->recipe->recipe, 1) ? "item" : of_kind,
                 kinds, sizeof kinds);
    recipe_count(end->ok, "page", pages, sizeof pages);
    if (end->failed > 0)
        snprintf(failed, sizeof failed, ", %" PRIu64 " failed", end->failed);
    if (e->bad > 0)
        snprintf(bad, sizeof bad, ", %" PRIu64 " bad row%s (%s)", e->bad,
                 e->bad == 1 ? "" : "s", show(e->first_error).text);
    fprintf(stderr, "%s: %s%s, %s%s in %.1f s\n",
            end->signal || end->is_late ? "stopped" : "done", pages, failed, kinds, bad,
            (double)took / 1e9);
    if (end->failed > 0)
        say_note("%s", end->first_failure);
    if (end->skipped > 0)
        say_note("%" PRIu64 " URLs were not asked for: robots.txt, or a limit of the run",
                 end->skipped);
    if (end->off_site > 0)
        say_note("%" PRIu64 " links to other hosts were not followed", end->off_site);
    for (size_t i = 0; (one = seine_json_at(unmet, i)); i++)
        if (seine_json_string(one, &text, &n))
            say_note("expectation not met: %s", text);
}

static void
write_summary(item_out *out, const expectations *e, const recipe_run_end *end,
              const seine_json *unmet, seine_span took)
{
    seine_json *all = xalloc_json(seine_json_new_object());
    seine_json *errors = xalloc_json(seine_json_new_object());
    seine_text text = {NULL, 0};

    for (size_t i = 0; i < e->n_fields; i++)
        if (e->fields[i].errors > 0)
            jsonl_set(errors, e->fields[i].name,
                      seine_json_new_int((int64_t)e->fields[i].errors));
    jsonl_set(all, "v", seine_json_new_int(1));
    jsonl_set(all, "type", jsonl_string("summary"));
    jsonl_set(all, "command", jsonl_string("run"));
    jsonl_set(all, "recipe", jsonl_string(seine_recipe_name(e->recipe->recipe)));
    jsonl_set(all, "ok", seine_json_new_int((int64_t)end->ok));
    jsonl_set(all, "failed", seine_json_new_int((int64_t)end->failed));
    jsonl_set(all, "skipped", seine_json_new_int((int64_t)end->skipped));
    jsonl_set(all, "items", seine_json_new_int((int64_t)e->good));
    jsonl_set(all, "bad_rows", seine_json_new_int((int64_t)e->bad));
    jsonl_set(all, "errors", errors);
    jsonl_set(all, "expect", seine_json_new_copy(unmet));
    jsonl_set(all, "stopped_by",
              jsonl_string(end->signal    ? "signal"
                           : end->is_late ? "max_time"
                                          : "done"));
    jsonl_set(all, "seconds", seine_json_new_real((double)took / 1e9));
    if (seine_json_print(all, &text) != SEINE_OK)
        xalloc_json(NULL);
    item_out_line(out, text.bytes);
    seine_text_free(&text);
    seine_json_free(all);
}

static int
exit_code(const recipe_run_end *end, const seine_json *unmet)
{
    return end->signal                                      ? SAY_SIGNAL + end->signal
           : end->ok == 0 && end->failed + end->skipped > 0 ? SAY_FAILED
           : seine_json_size(unmet) > 0                     ? SAY_EXPECTED
           : end->is_late                                   ? SAY_EARLY
                                                            : SAY_DONE;
}

static int
run_with(const args *a, recipe_run_opts *o, const settings *set)
{
    seine_clock *clock = seine_clock_system();
    expectations *e = xalloc_zeroed(1, sizeof *e);
    recipe_run_end end;
    item_out out;
    seine_time start = clock->now(clock);

    expectations_init(e, o->recipe);
    o->expect = e;
    o->out = &out;
    o->urls = a->words + 1;
    o->n_urls = a->count - 1;
    int code = item_out_open(&out, o->recipe, &set->output, set->flat, set->overwrite);
    if (code == SAY_DONE)
        code = recipe_run(o, &end);
    if (code == SAY_DONE) {
        seine_span took = clock->now(clock) - start;
        seine_json *unmet = expectations_judge(e);
        write_summary(&out, e, &end, unmet, took);
        if (!a->quiet)
            say_end(e, &end, unmet, took);
        code = exit_code(&end, unmet);
        seine_json_free(unmet);
    }
    if (!item_out_close(&out))
        code = SAY_MACHINE;
    o->out = NULL;
    o->expect = NULL;
    free(e);
    return code;
}

static int
run_run(const args *a)
{
    const settings *set = a->settings;
    recipe_file f;
    run_options chosen = {0};
    seine_text vars = {NULL, 0};
    recipe_run_opts o = {.recipe = &f, .options = &chosen};

    int code = recipe_open(&f, a->words[0]);
    add_options(set, &chosen);
    if (code == SAY_DONE)
        code = run_options_make(&chosen, &f);
    if (code ==
        SAY_DONE) /* the plan hides its secrets, and those of the recipe join them */
        code = recipe_vars(&f, &set->vars, true, chosen.plan.request.secrets, &vars);
    if (code == SAY_DONE && !seine_recipe_part(f.recipe, "start") && a->count == 1)
        code = say_fail(SAY_USAGE, "seine run RECIPE URL", "%s has no start",
                        show(a->words[0]).text);
    if (code == SAY_DONE) {
        o.vars = vars.bytes;
        o.secrets = chosen.plan.request.secrets;
        code = run_with(a, &o, set);
    }
    run_options_free(&chosen);
    seine_text_free(&vars);
    recipe_close(&f);
    return code;
}
