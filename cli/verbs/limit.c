/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/limit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "screen/say.h"
#include "verbs/verbs.h"

static int run_limit(const args *a);

#define AT(member) .at = offsetof(limit_settings, member)

/* clang-format off */
static const option options[] = {
    {"rate", "r", KIND_PACE, "R", AT(rate), .env = true,
     .help = "so many lines start: 5/s, 30/m, 1000/h",
     .more = "The first starts at once, the next when its token has come back: at 5/s they start after 0, 200, 400 … ms, never earlier."},
    {"burst", NULL, KIND_COUNT, "N", "1", AT(burst), .min = 1, .max = UINT32_MAX, .env = true,
     .help = "so many may start at once after a pause"},
    {"key", NULL, KIND_TEXT, "none|host|/PTR", "none", AT(key),
     .help = "a bucket of its own for each host, or JSON member",
     .more = "`/user` is the member `user` of lines that are JSON objects. Lines start in the order of the file all the same: one that has to "
             "wait for its key holds up those behind it."},
    {"max-wait", NULL, KIND_SPAN, "D", "off", AT(max_wait), .off = true,
     .help = "a line that would wait longer is left out, and takes no token"},
    {"pass", NULL, KIND_FLAG, AT(pass), .group = "What starts",
     .help = "the line itself: it goes to standard output when it is due",
     .more = "Every line, as it is: `… | seine limit --pass -r 5/s | xargs -n1 curl`."},
    {"exec", NULL, KIND_TEXT, "'CMD {}'", AT(exec),
     .help = "a command; {} is the line, or the URL of a JSON request",
     .more = "The text is split into words once, with the quotes of sh, and no shell runs: nothing in a line can become a command. {/ptr} is a member "
             "of a JSON line. Without a place the line is the last word. The output of the commands is passed on in whole lines."},
    {"dry-run", NULL, KIND_FLAG, AT(dry_run),
     .help = "nothing: print when each line would start, in seconds"},
    {"concurrency", "c", KIND_COUNT, "N", "1", AT(concurrency), .min = 1, .max = 1024, .group = "Requests and commands",
     .help = "so many commands at a time; requests: as fetch"},
    {"timeout", NULL, KIND_SPAN, "D", "off", AT(timeout), .off = true,
     .help = "end a request, or kill a command, after so long"},
    {"retries", NULL, KIND_COUNT, "N", "0", AT(retries), .max = 1000,
     .help = "try what fails again, so often; requests: as fetch",
     .more = "Each attempt takes a token; before a command is run again there is a wait of 1 s, then 2 s, and so on."},
    {"output", "o", KIND_FILE, "FILE", AT(output),
     .help = "records of requests or commands",
     .more = "Of commands: JSON lines with the member `exec`. Of requests: any output of fetch."},
    {"overwrite", NULL, KIND_FLAG, AT(overwrite),
     .help = "replace an output that exists"},
    {.name = NULL},
};

static const example examples[] = {
    {"printf '%s\\n' a b c | seine limit --rate 10/s --pass", "Slow a pipe down:"},
    {"printf '%s\\n' 17 18 19 | seine limit --rate 10/s --exec 'echo item {}'", "Run a command for each line, ten in a second:"},
    {"printf '%s\\n' a b c | seine limit --rate 2/s --burst 2 --dry-run", "See when lines would start:"},
    {NULL, NULL},
};

const command cmd_limit = {
    .name = "limit",
    .arguments = "[FILE|-]",
    .about = "start lines, commands or requests at a pace",
    .text = "Lines of FILE, or of standard input, start in their order and never earlier than a token bucket allows (seine/limiter.h). "
            "Blank lines and lines that begin with # are passed over, except by --pass.\n\n"
            "A line is the URL of a request, or a request in JSON, unless --pass, --exec or --dry-run says otherwise. Requests are sent as "
            "by `seine fetch -i FILE --rate R`, where each attempt takes a token, too, and hosts have no limits of their own; their order is "
            "kept per host.\n\n"
            "Ctrl-C lets the commands that run end, and starts no more; a second one kills them."
            "\n\nThe exit code is 1 when a command failed, or a line was left out or bad.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(limit_settings),
    .max_args = 1,
    .run = run_limit,
};
/* clang-format on */

static int
run_limit(const args *a)
{
    const limit_settings *set = a->settings;

    if (a->count > 0 && strncmp(a->words[0], "sim", 3) == 0 &&
        access(a->words[0], F_OK) != 0)
        return say_fail(SAY_USAGE, "seine limit simulate", "unknown command 'limit %s'",
                        show(a->words[0]).text);
    if (!options_given(a, "rate") && set->rate.count == 0)
        return say_fail(SAY_USAGE, "--rate 5/s, or --rate off", "no --rate given");
    if (set->pass + set->dry_run + (set->exec != NULL) > 1)
        return say_fail(SAY_USAGE, "one of them",
                        "--pass, --exec and --dry-run exclude each other");
    if (set->output && (set->pass || set->dry_run))
        return say_fail(SAY_USAGE, "a redirection with >",
                        "--output is for records of requests and commands");
    if (a->count == 0 && isatty(STDIN_FILENO))
        return say_fail(SAY_USAGE, "seine limit FILE …, or pipe lines into it",
                        "no lines given");
    return set->pass || set->dry_run || set->exec ? limit_run_lines(a)
                                                  : limit_requests(a);
}
