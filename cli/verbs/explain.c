/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include <seine/url.h>

#include "jobs/explain_job.h"
#include "jobs/job_hint.h"
#include "options/fetch_opts.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/explain_show.h"
#include "verbs/verbs.h"

#define IN_CRAWL   1
#define IN_EXPLAIN 1

typedef struct settings {
    fetch_settings crawl; /* first: its options are those of `crawl` */
    texts seed;
    const char *robots_file;
    bool live;
} settings;

static int run_explain(const args *a);

/* clang-format off */
static const option options[] = {
    {"seed", NULL, KIND_LIST, "URL", .at = offsetof(settings, seed),
     .help = "where the crawl would begin; may be repeated",
     .more = "If not given: the root of the host of the URL."},
    {"live", NULL, KIND_FLAG, .at = offsetof(settings, live),
     .help = "ask the host for its robots.txt; else nothing is sent"},
    {"robots-file", NULL, KIND_FILE, "FILE", .at = offsetof(settings, robots_file),
     .help = "a robots.txt instead of that of the host; -: stdin"},
#include "options/fetch_rows.h"
    {.name = NULL},
};

static const example examples[] = {
    {"seine explain https://docs.example/cal/2026/11 --exclude '\\.pdf$'",
     "Would it be fetched?"},
    {"printf 'User-agent: *\\nDisallow: /cgi\\n' | seine explain https://docs.example/cgi/x --robots-file -",
     "By a robots.txt at hand:"},
    {"seine explain https://docs.example/cgi/x --job docs.example",
     "What became of it in a job, and what it waits for:"},
    {"seine explain http://127.0.0.1:8080/cgi/x --live -j",
     "By that of the host, for a program:"},
    {NULL, NULL},
};

const command cmd_explain = {
    .name = "explain",
    .is_small = true,
    .arguments = "URL…",
    .about = "say what would become of a URL in a crawl, and why",
    .text = "Takes the options of `seine crawl`, so that its command line can be asked about as it is, and calls the functions the crawl calls. `key` is the "
            "name under which the URL is fetched once; `scope` whether it belongs to the crawl; `robots` what robots.txt says; `trap` whether its path looks "
            "like one of endlessly many, and how many like it a host may have; `limits` how often its host is asked; `verdict` the sum of it. Options "
            "about inputs and outputs do nothing here.\n\n"
            "With --job J the options, seeds and robots.txt are those of the job, and `state` says what became of the URL there: its record with the rule that refused it, "
            "where it was found, and where the time went; of a URL that waits, what its host waits for and until when. J may be running.\n\n"
            "Nothing is sent without --live, and then robots.txt alone is asked for. What only a crawl can know is not said: how many links away the URL is, "
            "and which budgets are used up. The exit code is 0 whatever the verdict, and 2 for a word that is no URL.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = SIZE_MAX,
    .run = run_explain,
};
/* clang-format on */

/* The root of the URL's host. */
static char *
root_of(const char *url)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_parse(&u, url, strlen(url), NULL) != SEINE_OK)
        return NULL;
    seine_url_drop_user(&u);
    seine_view host = seine_url_host_port(&u), href = seine_url_href(&u);
    if (host.len == 0)
        return NULL;
    size_t n = (size_t)(host.ptr + host.len - href.ptr);
    char *root = xalloc_zeroed(1, n + 2);
    memcpy(root, href.ptr, n);
    root[n] = '/';
    return root;
}

static int
no_url(const char *word, seine_err e)
{
    if (e == SEINE_E_NOMEM)
        return say_fail(SAY_MACHINE, NULL, "%s", seine_err_text(e));
    return say_fail(SAY_USAGE, "https://e.example/page", "'%s' is no http or https URL",
                    show(word).text);
}

/* Gets robots.txt from --robots or, with --live, from the host. */
static int
ask_robots(const args *a, const seine_fetch_opts *o, seine_robots_book **out_book)
{
    const settings *set = a->settings;

    if (set->robots_file)
        return robots_load(set->robots_file, out_book);
    if (!set->live || o->robots == SEINE_OBEY_OFF)
        return SAY_DONE;
    return robots_ask(o, a->words, a->count, out_book);
}

static int
show_one(const args *a, const seine_fetch_opts *o, seine_explain *x, explanation *e,
         const char *url)
{
    const settings *set = a->settings;
    seine_explained *got = xalloc_zeroed(1, sizeof *got);
    seine_robots_state state = e->answer ? e->answer->state : SEINE_ROBOTS_UNASKED;
    seine_err err = seine_explain_url(x, url, strlen(url), state,
                                      e->answer ? e->answer->robots : NULL, got);

    e->args = a;
    e->opts = o;
    e->agent = seine_explain_agent(x);
    e->got = got;
    if (err == SEINE_OK && (set->crawl.json || set->crawl.format == STDOUT_JSONL))
        explain_show_json(e);
    else if (err == SEINE_OK)
        explain_show_text(e);
    free(got);
    return err == SEINE_OK ? SAY_DONE : no_url(url, err);
}

static int
seed_all(seine_explain *x, const explanation *e)
{
    for (size_t i = 0; i < e->n_seeds; i++) {
        seine_err err = seine_explain_seed(x, e->seeds[i], strlen(e->seeds[i]));

        if (err != SEINE_OK)
            return no_url(e->seeds[i], err);
    }
    return SAY_DONE;
}

/* Explains one URL by its seeds and its robots.txt. */
static int
explain_url(const args *a, const seine_fetch_opts *o, const seine_robots_book *book,
            const char *url)
{
    const settings *set = a->settings;
    seine_diag diag = SEINE_DIAG;
    char *root = set->seed.count > 0 ? NULL : root_of(url);
    const char *own[] = {root};
    explanation e = {.seeds = root ? own : set->seed.items,
                     .n_seeds = root ? 1 : set->seed.count,
                     .answer = book ? seine_robots_book_of(book, url) : NULL};
    seine_explain *x = NULL;
    seine_err err = seine_explain_new(o, &x, &diag);
    int code =
        err == SEINE_OK
            ? seed_all(x, &e)
            : option_names_fail(o->names, err == SEINE_E_NOMEM ? SAY_MACHINE : SAY_USAGE,
                                "seine explain --help", &diag, err);

    if (code == SAY_DONE)
        code = show_one(a, o, x, &e, url);
    seine_explain_free(x);
    free(root);
    return code;
}

/* As part of a job: its options, its seeds, its robots.txt, and what became of it. */

static int
explain_in_job(const args *a, explain_job *j, const seine_fetch_opts *o, const char *url)
{
    const settings *set = a->settings;
    seine_robots_answer answer;
    bool has_robots = explain_job_robots(j, url, &answer);
    char *root = j->args.count > 0 ? NULL
                 : j->is_crawl     ? root_of(url)
                                   : xalloc_copy(url, strlen(url));
    const char *own[] = {root};
    seine_diag diag = SEINE_DIAG;
    seine_explained *got = xalloc_zeroed(1, sizeof *got);
    explanation e = {.args = &j->args,
                     .opts = o,
                     .got = got,
                     .seeds = root ? own : (const char *const *)j->args.words,
                     .n_seeds = root ? 1 : j->args.count,
                     .answer = has_robots ? &answer : NULL};
    seine_explain *x = NULL;
    seine_err err = seine_explain_new(o, &x, &diag);
    int code = err == SEINE_OK ? seed_all(x, &e)
                               : option_names_fail(o->names, SAY_USAGE,
                                                   "seine explain --help", &diag, err);

    if (code == SAY_DONE)
        err = seine_explain_url(x, url, strlen(url),
                                has_robots ? answer.state : SEINE_ROBOTS_UNASKED,
                                has_robots ? answer.robots : NULL, got);
    if (code == SAY_DONE && err != SEINE_OK)
        code = no_url(url, err);
    seine_json *facts = code == SAY_DONE ? explain_job_facts(j, got->key, url) : NULL;
    if (code == SAY_DONE && !facts)
        code = say_fail(SAY_USAGE,
                        job_hint_about("jobs repair", seine_job_view_about(j->view)).text,
                        "the state of the job is damaged");
    e.job = facts;
    e.agent = x ? seine_explain_agent(x) : "";
    if (code == SAY_DONE && (set->crawl.json || set->crawl.format == STDOUT_JSONL))
        explain_show_json(&e);
    else if (code == SAY_DONE)
        explain_show_text(&e);
    seine_json_free(facts);
    seine_explain_free(x);
    if (has_robots)
        seine_robots_free(answer.robots);
    free(root);
    free(got);
    return code;
}

static int
run_in_job(const args *a)
{
    const settings *set = a->settings;
    explain_job j;
    fetch_plan plan;
    int code = explain_job_open(a, set->crawl.state, set->crawl.job, &j);

    if (code == SAY_DONE && !j.is_crawl) { /* what it was given is all there is */
        fetch_settings *own = j.args.settings;

        if (!j.is_fetch)
            own->robots = 1; /* off */
        own->scope = 3;      /* any */
    }
    if (code == SAY_DONE) {
        code = fetch_plan_make(&j.args, &plan);
        for (size_t i = 0; i < a->count && code == SAY_DONE; i++) {
            if (i > 0 && !set->crawl.json)
                out_text("\n");
            code = explain_in_job(a, &j, &plan.opts, a->words[i]);
        }
        fetch_plan_free(&plan);
    }
    explain_job_close(&j);
    return code;
}

static int
run_explain(const args *a)
{
    const settings *set = a->settings;
    seine_robots_book *book = NULL;
    fetch_plan plan;

    if (options_given(a, "job") && set->crawl.job && *set->crawl.job)
        return run_in_job(a);
    int code = fetch_plan_make(a, &plan);
    if (code != SAY_DONE)
        return code;
    code = ask_robots(a, &plan.opts, &book);
    for (size_t i = 0; i < a->count && code == SAY_DONE; i++) {
        if (i > 0 && !set->crawl.json)
            out_text("\n");
        code = explain_url(a, &plan.opts, book, a->words[i]);
    }
    seine_robots_book_free(book);
    fetch_plan_free(&plan);
    return code;
}
