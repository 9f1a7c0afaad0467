/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "recipes/fleet_recipe.h"
#include "recipes/recipe_run.h"
#include "screen/say.h"
#include "serve_run/run_host.h"
#include "verbs/verbs.h"

typedef struct settings {
    texts vars, output, header, resolve, allow_net;
    bool flat, append, overwrite, mine, insecure, fresh, resume, events, watch;
    const char *host_rate, *rate, *concurrency, *per_host, *timeout, *retries, *backoff;
    const char *max_pages, *max_time, *robots, *user_agent, *contact, *cacert, *proxy;
    const char *no_proxy, *job, *state, *durability, *summary;
    const char *log, *log_level, *log_file, *progress, *metrics, *metrics_file, *otlp;
    uint32_t verbose;
    int format; /* of standard output */
    bool json;
    texts store;
    const char *out;
    uint64_t partitions;
    seine_span lease, store_wait;
    bool submit, accept_store_loss;
    uint32_t join; /* a count: a job in Redis cannot take it back with --no-join */
} settings;

enum { AS_JSONL, AS_CSV }; /* --format */

static int run_run(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"var", NULL, KIND_LIST, "NAME=V", AT(vars), .group = "What",
     .help = "the value of a variable of the recipe; may be repeated",
     .more = "`env:NAME` and `file:PATH` stand for what they name."},
    {"output", "o", KIND_FILES, "FILE", AT(output),
     .help = "write rows to FILE: .jsonl, .csv or .sqlite; may be repeated",
     .more = "CSV has the fields in their order, then `_url` and `_n`. Rows of further kinds go to NAME.KIND.csv, bad rows with their errors to NAME.bad.csv. "
             "SQLite has a table item_KIND for each kind, item_error for bad rows, and the pages as `seine fetch` writes them. `.html` is a report of the run, .warc.gz an archive of its pages."},
    {"format", "f", KIND_CHOICE, "jsonl|csv", "jsonl", AT(format), .help = "the form of rows on standard output"},
    {"json", "j", KIND_FLAG, AT(json), .help = "the same as --format jsonl"},
    {"flat", NULL, KIND_FLAG, AT(flat), .help = "write the data of good rows alone"},
    {"append", NULL, KIND_FLAG, AT(append), .help = "append to files that exist"},
    {"overwrite", NULL, KIND_FLAG, AT(overwrite), .help = "replace files that exist"},
    {"summary", NULL, KIND_FILE, "FILE", AT(summary), .no = true, .help = "write the summary to FILE as well, or nowhere: --no-summary"},
    {"job", NULL, KIND_TEXT, "NAME", AT(job), .no = true, .group = "The job",
     .help = "the name of the job, which survives kill -9; that of the recipe if not given",
     .more = "The same command goes on with a run that did not finish. When it is finished, the next one is the next run of the job. With --no-job nothing is kept."},
    {"fresh", NULL, KIND_FLAG, AT(fresh), .help = "start the job over: its state and its outputs are replaced"},
    {"resume", NULL, KIND_FLAG, AT(resume), .help = "there must be a job to go on with"},
    {"state", NULL, KIND_FILE, "DIR", AT(state), .help = "where jobs are kept: .seine"},
    {"store", NULL, KIND_LIST, "URL", AT(store), .env = true, .rare = true,
     .help = "keep the job in Redis, where several workers share it: redis://HOST:PORT/DB",
     .more = "Needs --job. `seine worker` joins from any machine. Rows are written to segments in --out, which `seine jobs export` joins; what the recipe expects is judged there. A user and "
             "a password may stand in the URL, or the URL in env:NAME or file:PATH. Several URLs are several servers, to which the partitions of the job are dealt out."},
    {"submit", NULL, KIND_FLAG, AT(submit), .rare = true,
     .help = "only make the job of --store, with its start pages; workers do the rest"},
    {"out", NULL, KIND_FILE, "DIR", "segments", AT(out), .env = true, .rare = true,
     .help = "where the segments of a job of --store are written"},
    {"partitions", NULL, KIND_COUNT, "N", "256", AT(partitions), .min = 1, .max = 65536, .env = true, .rare = true,
     .help = "parts of a new job of --store; no more workers than that can share it"},
    {"lease", NULL, KIND_SPAN, "D", "15s", AT(lease), .env = true, .rare = true,
     .help = "how long a partition of --store waits for a worker that is gone"},
    {"store-wait", NULL, KIND_SPAN, "D", "10m", AT(store_wait), .env = true, .rare = true,
     .help = "how long to wait for a --store that is away or full"},
    {"accept-store-loss", NULL, KIND_FLAG, AT(accept_store_loss), .env = true, .rare = true,
     .help = "also use a --store that may lose its last second (appendfsync everysec)"},
    {"join", NULL, KIND_TIMES, AT(join), .rare = true,
     .help = "the job of --store must be there, and has the recipe: RECIPE is not read"},
    {"durability", NULL, KIND_TEXT, "full|fast|none", AT(durability), .help = "what a job survives: full, also a loss of power"},
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
    {"verbose", "v", KIND_TIMES, AT(verbose), .group = "What is told, as in seine fetch", .help = "tell what happens; -vv: more"},
    {"progress", NULL, KIND_TEXT, "auto|bar|line|off", AT(progress), .help = "how progress is shown"},
    {"watch", NULL, KIND_FLAG, AT(watch), .help = "show the run in a browser, on this machine alone"},
    {"events", NULL, KIND_FLAG, AT(events), .help = "write what happens to hosts as records"},
    {"log", NULL, KIND_TEXT, "text|json|off", AT(log), .help = "the form of messages on standard error"},
    {"log-level", NULL, KIND_TEXT, "LEVEL", AT(log_level), .help = "messages of this level and above"},
    {"log-file", NULL, KIND_FILE, "FILE", AT(log_file), .help = "the log as JSON lines"},
    {"metrics", NULL, KIND_TEXT, "[HOST:]PORT", AT(metrics), .help = "serve metrics for Prometheus"},
    {"metrics-file", NULL, KIND_FILE, "FILE", AT(metrics_file), .help = "write metrics for Prometheus to FILE"},
    {"otlp", NULL, KIND_TEXT, "URL", AT(otlp), .help = "send traces to this collector"},
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
            "Exit code 1: no page could be had. A run is a job: after kill -9 the same command goes on, and no row is lost or there twice. With --store the job is in Redis, and any number of "
            "`seine worker` share it.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = SIZE_MAX,
    .run = run_run,
};
/* clang-format on */

/* An option with a --no- form: "" stands for that. */
static void
add_droppable(run_options *o, const char *name, const char *value)
{
    char no[32];

    snprintf(no, sizeof no, "no-%s", name);
    if (value)
        run_options_add(o, value[0] ? name : no, value[0] ? value : NULL);
}

/* Hands the options of fetch over by their names. */
static void
add_options(const settings *s, run_options *o)
{
    const struct {
        const char *name, *value;
    } single[] = {
        {"host-rate", s->host_rate},
        {"rate", s->rate},
        {"concurrency", s->concurrency},
        {"per-host", s->per_host},
        {"timeout", s->timeout},
        {"retries", s->retries},
        {"backoff", s->backoff},
        {"max-pages", s->max_pages},
        {"max-time", s->max_time},
        {"robots", s->robots},
        {"user-agent", s->user_agent},
        {"contact", s->contact},
        {"cacert", s->cacert},
        {"proxy", s->proxy},
        {"no-proxy", s->no_proxy},
        {"state", s->state},
        {"durability", s->durability},
        {"log", s->log},
        {"log-level", s->log_level},
        {"log-file", s->log_file},
        {"progress", s->progress},
        {"metrics", s->metrics},
        {"metrics-file", s->metrics_file},
        {"otlp", s->otlp},
    };
    const struct {
        const char *name;
        bool is;
    } flags[] = {
        {"mine", s->mine},           {"insecure", s->insecure}, {"append", s->append},
        {"overwrite", s->overwrite}, {"fresh", s->fresh},       {"resume", s->resume},
        {"events", s->events},       {"watch", s->watch},       {"json", true}};
    const struct {
        const char *name, *value;
    } droppable[] = {{"job", s->job}, {"summary", s->summary}};
    const struct {
        const char *name;
        const texts *values;
    } lists[] = {{"output", &s->output},
                 {"header", &s->header},
                 {"resolve", &s->resolve},
                 {"allow-net", &s->allow_net}};

    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (single[i].value)
            run_options_add(o, single[i].name, single[i].value);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t k = 0; k < lists[i].values->count; k++)
            run_options_add(o, lists[i].name, lists[i].values->items[k]);
    if (s->format == AS_CSV && !s->json && s->output.count == 0)
        run_options_add(o, "output", "csv:-");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].is)
            run_options_add(o, flags[i].name, NULL);
    for (size_t i = 0; i < sizeof droppable / sizeof *droppable; i++)
        add_droppable(o, droppable[i].name, droppable[i].value);
    for (uint32_t i = 0; i < s->verbose; i++)
        run_options_add(o, "verbose", NULL);
}

/* Options that the host of the run wants, whatever the recipe says. */
static void
add_host_options(const run_host *h, run_options *o)
{
    char name[64];

    for (size_t i = 0; h && i < h->n_words; i++) {
        const char *word = h->words[i] + 2, *value = strchr(word, '=');

        snprintf(name, sizeof name, "%.*s", (int)(value ? value - word : 60), word);
        run_options_add(o, name, value ? value + 1 : NULL);
    }
}

/* What concerns --store is no option of fetch. */
static void
copy_fleet(const settings *s, fetch_settings *to)
{
    to->store = s->store;
    to->out = s->out;
    to->partitions = s->partitions;
    to->lease = s->lease;
    to->store_wait = s->store_wait;
    to->submit = s->submit;
    to->join = s->join > 0;
    to->accept_store_loss = s->accept_store_loss;
}

/* The recipe is that of the job in Redis, or that of the file. */
static int
open_recipe(const args *a, const settings *set, fleet_recipe *joined, recipe_file *own)
{
    int code = SAY_DONE;

    memset(own, 0, sizeof *own);
    if (set->submit && set->store.count == 0)
        return say_fail(SAY_USAGE, "--store redis://HOST:PORT --job NAME",
                        "--submit needs --store");
    if (set->store.count > 0 || set->join > 0)
        code = fleet_recipe_find(&set->store, set->job, set->join > 0, joined);
    if (code != SAY_DONE || set->join > 0)
        return code;
    code = recipe_open(own, a->words[0]);
    own->is_shared = set->store.count > 0;
    return code;
}

static int
run_run(const args *a)
{
    const settings *set = a->settings;
    recipe_file own;
    fleet_recipe joined = {.has_recipe = false};
    run_options chosen = {0};
    int code = open_recipe(a, set, &joined, &own);
    recipe_file *f = set->join > 0 ? &joined.recipe : &own;
    recipe_run_opts o = {.recipe = f,
                         .vars = &set->vars,
                         .known = joined.vars,
                         .run_date = joined.run_date,
                         .options = &chosen,
                         .urls = a->words + 1,
                         .n_urls = a->count - 1,
                         .flat = set->flat};

    add_options(set, &chosen);
    add_host_options(a->host, &chosen);
    f->host = a->host;
    if (code == SAY_DONE)
        code = run_options_make(&chosen, f, a);
    if (code == SAY_DONE) {
        copy_fleet(set, chosen.set);
        code = recipe_run(&o);
    }
    run_options_free(&chosen);
    if (own.path)
        recipe_close(&own);
    fleet_recipe_free(&joined);
    return code;
}
