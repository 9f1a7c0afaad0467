/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/plan.h"

#include <stdio.h>
#include <string.h>

#include <seine/clock.h>
#include <seine/job_view.h>
#include <seine/url.h>

#include "options/fetch_opts.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "verbs/run_job.h"

/* As people write it: without the port that its scheme has anyway. */
static void
print_url(seine_view text, void *arg)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;

    (void)arg;
    seine_url_init(&url, mem, sizeof mem);
    if (seine_url_parse(&url, text.ptr, text.len, NULL) == SEINE_OK)
        text = seine_url_href(&url);
    printf("%.*s\n", (int)text.len, text.ptr);
}

/* There is no job yet: the first run begins with what was given. */
static int
show_seeds(const args *a, const char *name)
{
    for (size_t i = 0; i < a->count; i++)
        printf("%s\n", show(a->words[i]).text);
    fprintf(stderr, "seine: there is no job '%s' yet: its first run finds the site\n",
            name);
    return SAY_DONE;
}

static int
show_due(seine_job_view *v, const fetch_settings *set, const char *name)
{
    seine_clock *clock = seine_clock_system();
    int64_t wall = set->revisit > 0 ? clock->wall(clock) : 0;
    seine_diag diag = SEINE_DIAG;
    char line[SEINE_DIAG_ROOM] = "";
    seine_job_due due;
    seine_err e = seine_job_view_due(v, wall, print_url, NULL, &due, &diag);

    if (e != SEINE_OK) {
        (void)seine_diag_print(&diag, NULL, line, sizeof line);
        return say_fail(SAY_MACHINE, NULL, "%s", line[0] ? line : seine_err_text(e));
    }
    fprintf(stderr,
            "seine: job '%s', round %u: %s URL%s would be asked for, %s not due\n", name,
            due.round, figure_count(due.due).text, due.due == 1 ? "" : "s",
            figure_count(due.not_due).text);
    return SAY_DONE;
}

int
crawl_plan_show(const args *a)
{
    const fetch_settings *set = a->settings;
    seine_job_view *v = NULL;
    seine_diag diag = SEINE_DIAG;
    char name[132];
    fetch_plan plan;
    int code = fetch_plan_make(a, &plan); /* for its messages */

    if (code != SAY_DONE)
        return code;
    fetch_plan_free(&plan);
    run_job_name(a, name, sizeof name);
    seine_err e = seine_job_view_open(set->state, name, &v, &diag);
    if (e == SEINE_E_NOMEM)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    code = e == SEINE_OK ? show_due(v, set, name) : show_seeds(a, name);
    seine_job_view_free(v);
    return fflush(stdout) == 0 ? code : say_fail(SAY_MACHINE, NULL, "cannot write");
}
