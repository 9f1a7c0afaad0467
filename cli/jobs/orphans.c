/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <seine/job_view.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/screen.h"
#include "verbs/verbs.h"

typedef struct settings {
    const char *state;
} settings;

static int run_orphans(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"state", NULL, KIND_FILE, "DIR", ".seine", AT(state), .env = true,
     .help = "where jobs are kept"},
    {.name = NULL},
};

static const example examples[] = {
    {"seine jobs orphans docs.example", "Pages of an incremental crawl that nothing links to any more:"},
    {NULL, NULL},
};

const command cmd_jobs_orphans = {
    .name = "jobs orphans",
    .arguments = "JOB",
    .about = "list the pages that nothing links to any more",
    .text = "Of an incremental crawl: pages that were there when they were asked for last, and which no other page, no sitemap and no seed names. Links of a page that is unchanged, fails "
            "or is not due count as they were read last. Orphans are visited in every round until they are gone. One URL on a line.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = 1,
    .run = run_orphans,
};
/* clang-format on */

static void
print_url(seine_view url, void *arg)
{
    (void)arg;
    out_print("%.*s\n", (int)url.len, url.ptr);
}

static int
fail(seine_err e, const seine_diag *diag)
{
    char line[SEINE_DIAG_ROOM];

    if (e == SEINE_E_NOMEM)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    if (seine_diag_print(diag, NULL, line, sizeof line) == 0)
        snprintf(line, sizeof line, "%s", seine_err_text(e));
    return say_fail(SAY_USAGE, "seine jobs ls", "%s", line);
}

static int
run_orphans(const args *a)
{
    const settings *set = a->settings;
    seine_diag diag = SEINE_DIAG;
    seine_job_orphans found;
    seine_job_view *v;
    seine_err e = seine_job_view_open(set->state, a->words[0], &v, &diag);

    if (e != SEINE_OK)
        return fail(e, &diag);
    e = seine_job_view_orphans(v, print_url, NULL, &found, &diag);
    seine_job_view_free(v);
    if (e != SEINE_OK)
        return fail(e, &diag);
    if (found.cut > 0 && !a->quiet)
        say_note(
            "%s pages name more than 4,096 URLs each: some of these may be linked to",
            figure_count(found.cut).text);
    return SAY_DONE;
}
