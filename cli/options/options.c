/* SPDX-License-Identifier: Apache-2.0 */
#include "options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options/help.h"
#include "options/parse.h"
#include "options/suggest.h"
#include "options/topics.h"
#include "options/values.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/verbs.h"

/* The help lists them in this order. */
const command *const commands[] = {
    &cmd_crawl,
    &cmd_mirror,
    &cmd_check,
    &cmd_fetch,
    &cmd_explain,
    &cmd_worker,
    &cmd_jobs_ls,
    &cmd_jobs_show,
    &cmd_jobs_pause,
    &cmd_jobs_orphans,
    &cmd_jobs_repair,
    &cmd_jobs_resume,
    &cmd_jobs_set,
    &cmd_jobs_stop,
    &cmd_jobs_rm,
    &cmd_jobs_export,
    &cmd_retry,
    &cmd_report,
    &cmd_diff,
    &cmd_convert,
    &cmd_extract,
    &cmd_run,
    &cmd_test,
    &cmd_new_recipe,
    &cmd_limit_simulate, /* it stands before limit, which is its first word */
    &cmd_limit,
    &cmd_crate_audit, /* it stands before crate, which is its first word */
    &cmd_crate,
    &cmd_gate,
    &cmd_serve_token, /* it stands before serve, which is its first word */
    &cmd_serve,
    &cmd_breaker_simulate,
    &cmd_backoff_simulate,
    &cmd_url_parse,
    &cmd_url_resolve,
    &cmd_url_normalize,
    &cmd_url_site,
    &cmd_robots_check,
    &cmd_robots_show,
    &cmd_sitemap,
    &cmd_warc_ls,
    &cmd_warc_check,
    &cmd_html_tree,
    &cmd_html_encoding,
    &cmd_html_meta_refresh,
    &cmd_http_retry_after,
    &cmd_http_date,
    &cmd_http_mime,
    &cmd_http_cookie,
    &cmd_http_ratelimit,
    &cmd_json_check,
    &cmd_ot_transform,
    &cmd_chaos_site, /* both stand before chaos, which is their first word */
    &cmd_chaos_suite,
    &cmd_chaos,
    &cmd_doctor,
    &cmd_config_show,
    &cmd_config_check,
    &cmd_config_path,
    &cmd_config_init,
    &cmd_help,
    &cmd_completion,
    &cmd_version,
    NULL,
};

/* clang-format off */
const option shared_options[] = {
    {"help", "h", KIND_ACTION,
     .help = "-h: one screen; --help: everything"},
    {"version", "V", KIND_ACTION,
     .help = "what `seine version` prints"},
    {"color", NULL, KIND_CHOICE, "auto|always|never", "auto", offsetof(shared, color), .env = true,
     .help = "when to use colours",
     .more = "`auto` means on a terminal, unless NO_COLOR is set or TERM is `dumb`; CLICOLOR_FORCE asks for them everywhere. "
             "The option beats the environment."},
    {"quiet", "qs", KIND_FLAG, .at = offsetof(shared, quiet),
     .help = "errors only, no notes"},
    {"config", NULL, KIND_FILE, "FILE", .at = offsetof(shared, config), .no = true, .env = true, .rare = true,
     .help = "read this configuration file; --no-config: none",
     .more = "Not ./seine.yaml and the user's file, see `seine help config`."},
    {.name = NULL},
};
/* clang-format on */

/* How many of the words spell the name; 0: they spell another. */
static size_t
words_of_name(const char *name, char **words, size_t count)
{
    size_t used = 0;

    for (const char *p = name; *p; used++) {
        size_t n = strcspn(p, " ");

        if (used == count || strncmp(p, words[used], n) != 0 || words[used][n])
            return 0;
        p += n + (p[n] == ' ');
    }
    return used;
}

const command *
options_find(char **words, size_t count, size_t *out_used)
{
    for (size_t i = 0; commands[i]; i++) {
        const command *c = commands[i];
        size_t used = words_of_name(c->name, words, count);

        size_t also = c->also ? words_of_name(c->also, words, count) : 0;
        if (also > used) /* "crate analyze" before "crate" */
            used = also;
        if (used > 0) {
            *out_used = used;
            return c;
        }
    }
    return NULL;
}

static const option *
in_list(const option *list, const char *name, size_t n, bool *out_no)
{
    for (const option *o = list; o && o->name; o++) {
        *out_no = false;
        if (strlen(o->name) == n && strncmp(o->name, name, n) == 0)
            return o;
        *out_no = true;
        if ((o->kind == KIND_FLAG || o->no) && n == strlen(o->name) + 3 &&
            strncmp(name, "no-", 3) == 0 && strncmp(name + 3, o->name, n - 3) == 0)
            return o;
    }
    return NULL;
}

const option *
options_by_name(const command *c, const char *name, size_t n, bool *out_no)
{
    const option *o = in_list(c->options, name, n, out_no);

    return o ? o : in_list(shared_options, name, n, out_no);
}

const option *
options_by_letter(const command *c, char letter)
{
    const option *lists[] = {c->options, shared_options};

    for (size_t i = 0; i < 2; i++)
        for (const option *o = lists[i]; o && o->name; o++)
            if (o->letters && strchr(o->letters, letter))
                return o;
    return NULL;
}

bool
options_given(const args *a, const char *name)
{
    for (const option *o = a->command->options; o && o->name; o++)
        if (strcmp(o->name, name) == 0) {
            ptrdiff_t place = o - a->command->options;

            return a->given[place / 64] >> place % 64 & 1;
        }
    return false;
}

option_origin
options_origin(const args *a, const char *name)
{
    for (const option *o = a->command->options; a->origins && o && o->name; o++)
        if (strcmp(o->name, name) == 0)
            return a->origins[o - a->command->options];
    return (option_origin){.level = LEVEL_DEFAULT};
}

int
options_run_inner(const command *c, char **words, size_t count,
                  const struct run_host *host)
{
    args a = {.command = c, .host = host};
    shared common = {0};

    a.settings = xalloc_zeroed(1, c->settings_size ? c->settings_size : 1);
    a.words = xalloc_zeroed(count + 1, sizeof *a.words);
    values_defaults(c, a.settings);

    int code = parse_words(&a, &common, words, count);
    if (code == PARSE_RUN) {
        a.color = (color_when)common.color;
        a.screen = screen_look(a.color);
        a.quiet = common.quiet;
        code = c->run(&a);
    }
    parse_free(&a);
    free(a.words);
    free(a.settings);
    return code;
}

/* "seine limit --help": all verbs of limit. */
static bool
asks_for_verbs(char **words, size_t count)
{
    return count == 2 && (strcmp(words[1], "-h") == 0 || strcmp(words[1], "--help") == 0);
}

static int
no_such_command(char **words, size_t count)
{
    if (asks_for_verbs(words, count)) {
        screen s = screen_look(COLOR_AUTO);
        int code = help_verbs(&s, words[0], words[1][1] == '-');

        if (code >= 0)
            return code;
    }
    const char *near = suggest_command(words[0]);
    size_t first = strcspn(near ? near : "", " ");
    char hint[96];

    snprintf(hint, sizeof hint, "seine %s", near ? near : "help");
    if (topics_find(words[0])) /* seine tutorial, seine curl */
        snprintf(hint, sizeof hint, "seine help %s", words[0]);
    if (near && strncmp(words[0], near, first) == 0 && !words[0][first])
        return count > 1 && words[1][0] != '-'
                   ? say_fail(SAY_USAGE, hint, "unknown command '%s %s'",
                              show(words[0]).text, show(words[1]).text)
                   : say_fail(SAY_USAGE, hint, "%s needs a verb", words[0]);
    return say_fail(SAY_USAGE, hint, "unknown command '%s'", show(words[0]).text);
}

/* A URL, a host or a path of one; no verb has such characters. */
static bool
looks_like_url(const char *word)
{
    return strpbrk(word, "./:") != NULL;
}

/* "seine -v e.example": options first and no command at all, as with curl. */
static bool
has_url_alone(char **words, size_t count)
{
    bool found = false;
    size_t used;

    for (size_t i = 0; i < count; i++) {
        if (options_find(words + i, count - i, &used))
            return false;
        found |= words[i][0] != '-' && looks_like_url(words[i]);
    }
    return found;
}

int
options_run(int argc, char **argv)
{
    size_t count = argc > 1 ? (size_t)argc - 1 : 0, used = 0;
    char **words = argv + 1;

    if (count == 0)
        return help_first(screen_look_at(STDERR_FILENO, COLOR_AUTO));
    if (strcmp(words[0], "-h") == 0 || strcmp(words[0], "--help") == 0) {
        screen s = screen_look(COLOR_AUTO);

        return help_overview(&s, words[0][1] == '-');
    }
    if (strcmp(words[0], "-V") == 0 || strcmp(words[0], "--version") == 0)
        return help_version();
    if (words[0][0] == '-' && !has_url_alone(words, count))
        return say_fail(SAY_USAGE, "seine COMMAND [OPTION…]; seine help lists them",
                        "'%s' stands before the command", show(words[0]).text);

    const command *c = options_find(words, count, &used);
    if (!c && (words[0][0] == '-' || looks_like_url(words[0])))
        c = &cmd_fetch;
    if (!c)
        return no_such_command(words, count);
    return options_run_inner(c, words + used, count - used, NULL);
}
