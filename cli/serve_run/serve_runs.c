/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_run/serve_runs.h"

#ifdef SEINE_HAS_CONSOLE

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/job_command.h"
#include "options/options.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "serve_run/run_host.h"
#include "verbs/verbs.h"

/* The words of a command. */
typedef struct word_list {
    char **items;
    size_t n, cap;
} word_list;

static void __attribute__((format(printf, 2, 3)))
add_word(word_list *l, const char *fmt, ...)
{
    va_list values;
    char *word = NULL;

    va_start(values, fmt);
    int n = vasprintf(&word, fmt, values);
    va_end(values);
    if (n < 0)
        word = xalloc_zeroed(1, 1);
    l->items = xalloc_room(l->items, l->n + 1, &l->cap, sizeof *l->items);
    l->items[l->n++] = word;
    l->items[l->n] = NULL;
}

static void
free_words(word_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->items[i]);
    free(l->items);
}

static void
add_limit(word_list *l, const char *name, const char *value)
{
    if (value)
        add_word(l, "--%s=%s", name, value);
}

/* What the server wants of every run, by the names that fetch, crawl and run share. */
static void
add_common(word_list *l, const seine_run_spec *s)
{
    add_word(l, "--no-config");
    add_word(l, "--job=job");
    add_word(l, "--state=%s", s->dir);
    add_word(l, "--durability=full");
    add_word(l, "--output=%s", s->records);
    add_word(l, "--log=json");
    add_word(l, "--log-file=%s/log.jsonl", s->dir);
    add_word(l, "--progress=off");
    add_word(l, "--no-summary");
    add_limit(l, "concurrency", s->concurrency);
    add_limit(l, "rate", s->rate);
    add_limit(l, "host-rate", s->host_rate);
    add_limit(l, "max-pages", s->max_pages);
    for (size_t i = 0; s->allow_net && s->allow_net[i]; i++)
        add_word(l, "--allow-net=%s", s->allow_net[i]);
}

/* What fetch and crawl take, and `seine run` hands on to fetch. */
static void
add_profile(word_list *l, const seine_run_spec *s)
{
    add_word(l, "--untrusted-urls");
    for (size_t i = 0; s->deny_net && s->deny_net[i]; i++)
        add_word(l, "--deny-net=%s", s->deny_net[i]);
}

/* The last message of the run is what the console shows of it. */
static void
on_said(const char *before, const char *line, void *arg)
{
    if (strcmp(before, "try: ") != 0)
        seine_console_run_say(arg, line);
}

static const char *
text_of(int code)
{
    switch (code) {
    case SAY_FAILED:
        return "finished, and some pages failed";
    case SAY_EARLY:
        return "stopped by a limit with work left";
    case SAY_PARKED:
        return "hosts were given up or out of reach; the run can go on later";
    case SAY_EXPECTED:
        return "finished, and what the recipe expects is not so";
    default:
        return NULL;
    }
}

static char *
command_of(const char *verb, const word_list *l)
{
    word_list all = {NULL, 0, 0};

    add_word(&all, "seine");
    add_word(&all, "%s", verb);
    for (size_t i = 0; i < l->n; i++)
        add_word(&all, "%s", l->items[i]);
    job_command c = {.words = all.items, .count = all.n};
    char *text = job_command_print(&c);
    free_words(&all);
    return text;
}

static void
add_urls(word_list *l, const seine_run_spec *s)
{
    if (s->recipe)
        add_word(l, "%s", s->recipe);
    for (size_t i = 0; i < s->n_urls; i++)
        add_word(l, "%s", s->urls[i]);
}

static int
run_spec(const seine_run_spec *s, seine_console_run *r, void *arg)
{
    word_list words = {NULL, 0, 0}, profile = {NULL, 0, 0};
    const command *c = s->recipe                       ? &cmd_run
                       : strcmp(s->verb, "fetch") == 0 ? &cmd_fetch
                                                       : &cmd_crawl;

    const serve_shared *common = arg;

    add_common(&words, s);
    add_profile(s->recipe ? &profile : &words, s);
    add_word(s->recipe ? &profile : &words,
             "--body=text"); /* the database has it beside the record */
    if (!s->recipe) {
        add_word(&words, "--threads=%" PRIu32, s->threads > 0 ? s->threads : 1);
    }
    if (c == &cmd_crawl)
        add_limit(&words, "depth", s->depth);
    if (s->is_resumed)
        add_word(&words, "--resume");
    add_urls(&words, s);
    char *text = command_of(c->name, &words);
    run_host host = {.run = r,
                     .is_inner = true,
                     .begin = seine_console_run_begin,
                     .end = seine_console_run_end,
                     .rows = seine_console_run_rows,
                     .env = s->env,
                     .words = (const char *const *)profile.items,
                     .n_words = profile.n,
                     .metrics = common ? common->metrics : NULL,
                     .traces = common ? common->traces : NULL,
                     .command = text};
    say_divert(on_said, r);
    int code = options_run_inner(c, words.items, words.n, &host);
    say_divert(NULL, NULL);
    if (text_of(code))
        seine_console_run_say(r, text_of(code));
    free(text);
    free_words(&words);
    free_words(&profile);
    return code;
}

static void
ignore_message(const char *before, const char *line, void *arg)
{
    (void)before, (void)line, (void)arg;
}

static int
write_report(const seine_run_spec *s, const char *path, void *arg)
{
    word_list words = {NULL, 0, 0};

    (void)arg;
    add_word(&words, "--output=%s", path);
    add_word(&words, "%s", s->records);
    say_divert(ignore_message, NULL);
    int code = options_run_inner(&cmd_report, words.items, words.n, NULL);
    say_divert(NULL, NULL);
    free_words(&words);
    return code;
}

const seine_console_runner serve_runner = {
    .size = sizeof serve_runner, .run = run_spec, .report = write_report};

#endif
