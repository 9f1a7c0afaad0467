/* SPDX-License-Identifier: Apache-2.0 */
#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#include "options/cookies.h"
#include "screen/say.h"
#include "verbs/verbs.h"

#define IN_CRAWL 1
#define IN_CHECK 1

static int run_check(const args *a);

#define OWN(member) .at = offsetof(check_settings, member)

/* clang-format off */
static const option options[] = {
    {"input", "i", KIND_FILES, "FILE", OWN(input), .rare = true,
     .help = "read inputs from FILE, one per line; may be repeated; -: stdin",
     .more = "URLs, files and directories; a list may also be JSON lines, CSV, a sitemap or a web archive, packed or not, as for fetch."},
    {"input-format", NULL, KIND_CHOICE, "auto|text|jsonl|csv|sitemap|warc|html", "auto", OWN(net.input_format), .env = true, .rare = true,
     .help = "what the input is"},
    {"url-column", NULL, KIND_TEXT, "NAME", "url", OWN(net.url_column), .env = true, .rare = true,
     .help = "the column of a CSV that has the inputs"},
    {"offline", NULL, KIND_FLAG, OWN(offline), .env = true,
     .help = "check links between files alone; nothing is sent"},
    {"fragments", NULL, KIND_FLAG, OWN(fragments), .env = true,
     .help = "check fragments of pages on the network, too",
     .more = "Those of files are always checked, unless --no-fragments is given. A page that a fragment leads to is fetched with GET, once."},
    {"dump", NULL, KIND_FLAG, OWN(dump),
     .help = "list the links, and check nothing",
     .more = "Of files, and of the pages of a site, which are fetched as for a check."},
    {"strict", NULL, KIND_FLAG, OWN(strict), .env = true,
     .help = "denied, timeout and unknown fail the run like broken"},
    {"baseline", NULL, KIND_FILE, "FILE", OWN(baseline), .env = true,
     .help = "bad links that FILE has do not fail the run",
     .more = "FILE is the output of an earlier run, -f jsonl. A link is the same if its document and its target are, whatever its line."},
    {"cache", NULL, KIND_FILE, "FILE", OWN(cache), .env = true,
     .help = "remember good answers in FILE for --max-age"},
    {"max-age", NULL, KIND_SPAN, "D", "1d", OWN(max_age), .env = true, .rare = true,
     .help = "how long a good answer of --cache counts"},
    {"ignore-file", NULL, KIND_FILE, "FILE", OWN(ignore_file), .env = true, .rare = true,
     .help = "links to leave alone, a pattern with * and ? per line",
     .more = "If not given: .seineignore in this directory, if there is one. A pattern stands for the whole link, as it is written or resolved. "
             "Lines that begin with # are passed over."},
    {"format", "f", KIND_CHOICE, "text|jsonl|csv|junit|md|github", "text", OWN(format), .env = true,
     .help = "of standard output"},
    {"json", "j", KIND_FLAG, OWN(json), .env = true, .rare = true,
     .help = "as --format jsonl"},
    {"output", "o", KIND_FILES, "[FMT:]FILE", OWN(output),
     .help = "write to FILE (.jsonl .csv .sqlite .xml .md .html .txt); may be repeated",
     .more = "`junit:`, `github:` … before the name says the format when the name does not; .xml is JUnit. `.gz` or `.zst` behind the ending packs it. "
             "Standard output is then silent, unless `-` is given, too. A file that exists is an error without --overwrite."},
    {"overwrite", NULL, KIND_FLAG, OWN(overwrite), .env = true, .rare = true,
     .help = "replace outputs that exist"},
    {"csv-raw", NULL, KIND_FLAG, OWN(csv_raw), .env = true, .rare = true,
     .help = "CSV cells as they are, formulas included"},
    {"csv-crlf", NULL, KIND_FLAG, OWN(csv_crlf), .env = true, .rare = true,
     .help = "CSV lines end in CR LF"},
    {"summary", NULL, KIND_FILE, "FILE", OWN(net.summary), .no = true, .env = true, .rare = true,
     .help = "the summary record to FILE, too; --no-summary: none at all"},
    {"verbose", "v", KIND_TIMES, OWN(net.verbose), .rare = true,
     .help = "a line for good links, too; -vv debug, -vvv trace"},
#include "options/fetch_rows.h"
    {.name = NULL},
};

static const example examples[] = {
    {"seine check docs README.md --offline",
     "The links between files:"},
    {"seine check docs --cache links.cache --max-age 7d -f github",
     "Those to the world, too, in a job of GitHub that runs every day:"},
    {"seine check https://docs.example/ --fragments -o links.xml -o links.jsonl",
     "A site, with the fragments of its links:"},
    {"git ls-files '*.md' | seine check - --baseline known.jsonl",
     "The files of a repository; what was broken before does not fail:"},
    {NULL, NULL},
};

const command cmd_check = {
    .name = "check",
    .arguments = "[URL|FILE|DIR|-]…",
    .about = "find broken links in sites and documents",
    .text = "A URL is checked recursively inside its host, and links that leave it are asked for once each, with HEAD, or with GET where HEAD is refused. A "
            "FILE (.html .md .rst .txt) or the files of a DIR are read from disk, with line and column; their links lead to other files or to the "
            "network. `-` is a list of such words, one per line.\n\n"
            "Every link gets one verdict. `ok`: an accepted status, or a file that is there. `redirected`: ok after a 301 or 308. `broken`: 404, 410 and "
            "their kind, no such host, a bad certificate, redirects without end, a missing file or fragment, 5xx and lost connections on every attempt. "
            "`denied`: 401 403 407 429 451 999; the server turns us away, and the link may be fine. `timeout`, `unknown`: not answered in time, "
            "never asked. `excluded`: by a pattern, the scheme, robots.txt or a comment <!-- seine-ignore -->.\n\n"
            "Exit codes: 0 fine, 1 broken links (with --strict also denied, timeout and unknown), 2 usage and nothing was sent, 3 this machine: a file cannot be "
            "read or written, 4 --max-time, --max-errors or --max-memory with work left, 5 a site that was typed was given up with links left, 130 143 129 141 signals and a closed pipe.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(check_settings),
    .max_args = SIZE_MAX,
    .run = run_check,
};
/* clang-format on */

/* Asks the network what is to be asked. */
static int
ask_network(check *c)
{
    int code = check_cache_load(c); /* a bad file is told before anything is sent */

    if (code == SAY_DONE)
        code = check_run_begin(c);
    if (code == SAY_DONE)
        code = check_crawl(c);
    if (code == SAY_DONE)
        code = check_cache_load(c);
    if (code == SAY_DONE)
        code = check_ask(c);
    if (code == SAY_DONE)
        code = check_cache_save(c);
    return code;
}

static void
exclude_network(check *c)
{
    for (size_t i = 0; i < c->n_targets; i++) {
        c->targets[i].is_judged = true;
        c->targets[i].verdict = SEINE_LINK_EXCLUDED;
    }
}

/* The first that applies in the order 3, signal, 5, 4, 1. */
static int
exit_code(const check *c)
{
    size_t bad = 0;

    for (size_t i = 0; i < c->n_links; i++)
        bad += check_is_bad(c, &c->links[i]);
    if (c->n_unread > 0)
        return SAY_MACHINE;
    if (c->signal)
        return SAY_SIGNAL + c->signal;
    if (c->is_parked)
        return SAY_PARKED;
    if (c->is_late || c->too_many || c->is_cut || c->n_left > 0)
        return SAY_EARLY;
    return quota_is_reached(&c->plan.fail_on, bad, c->n_links) ? SAY_FAILED : SAY_DONE;
}

static int
judge_all(check *c, check_baseline *known)
{
    int code = SAY_DONE;

    check_judge_local(c);
    if (c->set->offline)
        exclude_network(c);
    else
        code = ask_network(c);
    if (code != SAY_DONE)
        return code;
    if (c->n_left > 0)
        run_log_fail(&c->log, SEINE_E_BUDGET, "a larger --max-memory",
                     "%s links were left out: --max-memory has room for %s",
                     figure_count(c->n_left).text, figure_count(c->n_links).text);
    if (!c->signal && !c->is_late && !c->too_many)
        check_say_parked(c);
    check_settle(c);
    check_baseline_mark(c, known);
    code = exit_code(c);
    int failed = check_outputs_write(c, code);
    return failed == SAY_DONE ? code : failed;
}

/* --include and --exclude for links to files; those of URLs are the fetch's. */
static int
make_filter(check *c)
{
    const seine_fetch_opts *o = &c->plan.opts;
    seine_diag diag = SEINE_DIAG;
    seine_err e = SEINE_OK;

    if (o->include)
        e = seine_filter_new(o->include, NULL, &c->include, &diag);
    if (e == SEINE_OK && o->exclude)
        e = seine_filter_new(NULL, o->exclude, &c->exclude, &diag);
    return e == SEINE_OK ? SAY_DONE
                         : option_names_fail(c->plan.names, SAY_USAGE,
                                             "seine check --help", &diag, e);
}

/* Lists the links of the files, and of the pages of the sites. */
static int
dump_all(check *c)
{
    int code = c->n_sites > 0 ? check_run_begin(c) : SAY_DONE;

    if (code == SAY_DONE)
        code = check_crawl(c);
    if (code != SAY_DONE)
        return code;
    check_dump(c);
    code = exit_code(c);
    return code == SAY_FAILED ? SAY_DONE : code;
}

/* Whether every link has been asked for: a run that ended early goes on. */
static bool
is_over(const check *c, int code)
{
    return code == SAY_DONE || code == SAY_FAILED ||
           (code == SAY_MACHINE && c->n_unread > 0);
}

static int
run_all(check *c)
{
    check_baseline *known = NULL;
    int code = check_job_open(c);

    if (code == SAY_DONE)
        code = check_outputs_plan(c);
    if (code == SAY_DONE)
        code = cookies_open(c->args, &c->plan.opts.jar);
    if (code == SAY_DONE)
        code = make_filter(c);
    if (code == SAY_DONE)
        code = check_read_ignore_file(c);
    if (code == SAY_DONE)
        code = check_baseline_load(c, &known);
    if (code == SAY_DONE)
        code = check_read_inputs(c);
    if (code == SAY_DONE && c->set->offline && c->n_sites > 0)
        code = say_fail(SAY_USAGE, "files and directories, or leave out --offline",
                        "--offline: '%s' is on the network", show(c->sites[0]).text);
    if (code == SAY_DONE && c->set->dump) {
        code = dump_all(c);
    } else if (code == SAY_DONE) {
        code = judge_all(c, known);
    }
    if (known)
        check_baseline_free(known);
    int failed = check_job_close(c, is_over(c, code));
    return failed == SAY_DONE ? code : failed;
}

static int
run_check(const args *a)
{
    check *c = calloc(1, sizeof *c);
    seine_clock *clock = seine_clock_system();
    int code = c ? fetch_plan_make(a, &c->plan) : SAY_MACHINE;

    if (code != SAY_DONE) {
        free(c);
        return code;
    }
    c->args = a;
    c->set = a->settings;
    c->start = clock->now(clock);
    code = check_run_open(c);
    if (code == SAY_DONE && seine_document_new(&c->document) != SEINE_OK)
        code = say_fail(SAY_MACHINE, NULL, "out of memory");
    if (code == SAY_DONE)
        code = run_all(c);
    code = check_run_close(c, code);
    seine_cookie_jar_free(c->plan.opts.jar);
    fetch_plan_free(&c->plan);
    check_free(c);
    free(c);
    return code;
}
