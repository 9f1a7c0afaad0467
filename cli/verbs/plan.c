/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/clock.h>
#include <seine/job_view.h>
#include <seine/url.h>

#include "check/name_map.h"
#include "options/fetch_opts.h"
#include "screen/out.h"
#include "screen/record_table.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"
#include "verbs/run_job.h"

/* How many URLs of each host are due. */
typedef struct host_counts {
    name_map places; /* of the hosts in `all` */
    struct {
        char *name;
        uint64_t urls;
    } * all;
    size_t n, cap;
} host_counts;

static void
count_host(host_counts *h, const seine_url *url)
{
    char name[300];
    size_t n = seine_url_authority(url, name, sizeof name);

    if (n == 0 || n >= sizeof name)
        return;
    uint32_t at = name_map_get(&h->places, name);
    if (at == NAME_MAP_NONE) {
        h->all = xalloc_room(h->all, h->n, &h->cap, sizeof *h->all);
        h->all[h->n].name = xalloc_copy(name, n);
        h->all[h->n].urls = 0;
        at = (uint32_t)h->n++;
        name_map_set(&h->places, h->all[at].name, at);
    }
    h->all[at].urls++;
}

static void
free_counts(host_counts *h)
{
    for (size_t i = 0; i < h->n; i++)
        free(h->all[i].name);
    free(h->all);
    name_map_free(&h->places);
}

/* As people write it: without the port that its scheme has anyway. */
static void
print_url(seine_view text, void *arg)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    if (seine_url_parse(&url, text.ptr, text.len, NULL) == SEINE_OK) {
        text = seine_url_href(&url);
        count_host(arg, &url);
    }
    printf("%.*s\n", (int)text.len, text.ptr);
}

/* The time that the host with most URLs takes at its rate; 0: there is no rate. */
static seine_span
longest_of(const host_counts *h, const seine_fetch_opts *o)
{
    const seine_rate *r = &o->host_rate;
    uint64_t most = 0;

    for (size_t i = 0; i < h->n; i++)
        most = h->all[i].urls > most ? h->all[i].urls : most;
    if (o->mine || r->count == 0 || most < 2)
        return 0;
    double span = (double)(most - 1) * (double)r->per / (double)r->count;
    return span < (double)SEINE_NEVER ? (seine_span)span : SEINE_NEVER;
}

/* What the run would cost, by what the last answers have cost. */
static void
print_cost(const seine_job_about *a, uint64_t due, seine_span longest)
{
    uint64_t answers = a->ok + a->failed;
    const char *comma = "seine: ";

    if (answers > 0 && due > 0) {
        double bytes = (double)a->bytes_in / (double)answers * (double)due;

        fprintf(stderr, "seine: about %s, by what the last answers had",
                figure_bytes((uint64_t)bytes).text);
        comma = "; ";
    }
    if (longest > 0)
        fprintf(stderr, "%s%s or longer at --host-rate", comma,
                figure_span(longest).text);
    if (longest > 0 || comma[0] == ';')
        fprintf(stderr, "\n");
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
show_due(seine_job_view *v, const fetch_settings *set, const char *name,
         const seine_fetch_opts *o)
{
    seine_clock *clock = seine_clock_system();
    int64_t wall = set->revisit > 0 ? clock->wall(clock) : 0;
    seine_diag diag = SEINE_DIAG;
    char line[SEINE_DIAG_ROOM] = "";
    seine_job_due due;
    host_counts hosts = {.n = 0};
    seine_err e = seine_job_view_due(v, wall, print_url, &hosts, &due, &diag);
    seine_span longest = longest_of(&hosts, o);
    free_counts(&hosts);

    if (e != SEINE_OK) {
        (void)seine_diag_print(&diag, NULL, line, sizeof line);
        return say_fail(SAY_MACHINE, NULL, "%s", line[0] ? line : seine_err_text(e));
    }
    fprintf(stderr,
            "seine: job '%s', round %u: %s URL%s would be asked for, %s not due\n", name,
            due.round, figure_count(due.due).text, due.due == 1 ? "" : "s",
            figure_count(due.not_due).text);
    print_cost(seine_job_view_about(v), due.due, longest);
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
    int code = fetch_plan_make(a, &plan);

    if (code != SAY_DONE)
        return code;
    run_job_name(a, name, sizeof name);
    seine_err e = seine_job_view_open(set->state, name, &v, &diag);
    if (e == SEINE_E_NOMEM)
        code = say_fail(SAY_MACHINE, NULL, "out of memory");
    else
        code = e == SEINE_OK ? show_due(v, set, name, &plan.opts) : show_seeds(a, name);
    seine_job_view_free(v);
    fetch_plan_free(&plan);
    return fflush(stdout) == 0 ? code : say_fail(SAY_MACHINE, NULL, "cannot write");
}
