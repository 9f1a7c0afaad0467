/* SPDX-License-Identifier: Apache-2.0 */
#include "options/options.h"

#include <stdio.h>
#include <string.h>

#include "verbs/verbs.h"

/* In the order of the help. */
const command *const commands[] = {
    &cmd_crawl,
    &cmd_fetch,
    &cmd_explain,
    &cmd_convert,
    &cmd_extract,
    &cmd_limit_simulate,
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
    &cmd_chaos_site, /* both before chaos, whose name they begin with */
    &cmd_chaos_suite,
    &cmd_chaos,
    &cmd_doctor,
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
     .more = "`auto` means on a on_terminal, unless NO_COLOR is set or TERM is `dumb`; CLICOLOR_FORCE asks for them everywhere. "
             "The option beats the environment."},
    {"quiet", "qs", KIND_FLAG, .at = offsetof(shared, quiet),
     .help = "errors only, no notes"},
    {.name = NULL},
};
/* clang-format on */

/* Slips between two words: a letter too many, missing, wrong, or two swapped. */
static unsigned
slips(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    unsigned rows[3][LONGEST + 1];
    size_t la = strlen(a), lb = strlen(b);

    if (la > LONGEST || lb > LONGEST)
        return LONGEST;
    for (unsigned j = 0; j <= lb; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= la; i++) {
        unsigned *now = rows[i % 3], *last = rows[(i + 2) % 3],
                 *before = rows[(i + 1) % 3];

        now[0] = i;
        for (unsigned j = 1; j <= lb; j++) {
            unsigned best = last[j - 1] + (a[i - 1] != b[j - 1]);

            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[la % 3][lb];
}

/* Remembers in *best the name nearest to `word`, if it is near enough. */
static void
nearer(const char *word, const char *name, unsigned *slip, const char **best)
{
    unsigned n = slips(word, name);

    if (n <= 2 && n < *slip && n < (strlen(word) + 1) / 2) {
        *slip = n;
        *best = name;
    }
}

const char *
options_near_command(const char *word)
{
    const char *best = NULL;
    unsigned slip = 3;
    char first[32];

    for (size_t i = 0; commands[i]; i++) {
        snprintf(first, sizeof first, "%.*s", (int)strcspn(commands[i]->name, " "),
                 commands[i]->name);
        if (strcmp(word, first) == 0)
            return commands[i]->name;
        const char *near = NULL;
        nearer(word, first, &slip, &near);
        best = near ? commands[i]->name : best;
    }
    return best;
}

const char *
options_near_option(const command *c, const char *name)
{
    const option *lists[] = {c->options, shared_options};
    const char *best = NULL;
    unsigned slip = 3;

    for (size_t i = 0; i < 2; i++)
        for (const option *o = lists[i]; o && o->name; o++)
            nearer(name, o->name, &slip, &best);
    return best;
}

/* How many words make the name; 0: it is another. */
static size_t
spelled(const char *name, char **words, size_t count)
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
        size_t used = spelled(c->name, words, count);

        if (used == 0 && c->also)
            used = spelled(c->also, words, count);
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
