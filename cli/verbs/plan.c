/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/clock.h>
#include <seine/explain.h>
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

/* A first run, of which nothing is known but what was typed. */
typedef struct first_run {
    seine_explain *rules;
    seine_explained about; /* the seed at hand */
    host_counts hosts;
    uint64_t seeds, refused;
    seine_span every; /* between two requests to a host, the longest of all; 0: none */
} first_run;

/* A word without scheme is https://; localhost and addresses are http://. */
static void
put_seed(textbuf *to, const char *word)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;

    textbuf_put(to, "%s%s", strstr(word, "://") ? "" : "http://", word);
    if (strstr(word, "://"))
        return;
    seine_url_init(&url, mem, sizeof mem);
    seine_err e = seine_url_parse(&url, to->text, strlen(to->text), NULL);
    seine_view host = seine_url_host(&url);
    if (e == SEINE_OK && seine_url_host_is(&url) == SEINE_HOST_NAME &&
        !(host.len >= 9 && memcmp(host.ptr + host.len - 9, "localhost", 9) == 0)) {
        textbuf_free(to);
        *to = (textbuf){0};
        textbuf_put(to, "https://%s", word);
    }
}

/* Prints a seed as it would be asked for, or says why it would not be. */
static void
print_seed(first_run *f, const char *word)
{
    seine_explained *got = &f->about;
    seine_err e =
        seine_explain_url(f->rules, word, strlen(word), SEINE_ROBOTS_UNASKED, NULL, got);

    if (e != SEINE_OK || !got->admitted) {
        f->refused++;
        fprintf(stderr, "seine: %s would be skipped: %s%s%s\n", show(word).text,
                e == SEINE_OK ? seine_skip_name(got->reason) : seine_err_text(e),
                e == SEINE_OK && got->rule[0] ? ": " : "",
                e == SEINE_OK ? show(got->rule).text : "");
        return;
    }
    f->seeds++;
    f->every = got->every > f->every ? got->every : f->every;
    print_url((seine_view){got->url, strlen(got->url)}, &f->hosts);
}

static void
print_order(const first_run *f, const seine_fetch_opts *o)
{
    bool asks = o->robots != SEINE_OBEY_OFF && !o->mine;
    const char *then = "first the seeds";

    if (asks)
        then =
            o->crawl->sitemaps == SEINE_SITEMAPS_OFF
                ? "first robots.txt, then the seeds"
                : "first robots.txt, then the sitemaps that it names, or /sitemap.xml, "
                  "and the seeds";
    fprintf(stderr, "seine: %s seed%s on %zu host%s: %s, then what they lead to\n",
            figure_count(f->seeds).text, f->seeds == 1 ? "" : "s", f->hosts.n,
            f->hosts.n == 1 ? "" : "s", then);
}

static void
print_bounds(const first_run *f, const seine_fetch_opts *o)
{
    textbuf line = {0};

    textbuf_put(&line, "seine: scope %s", seine_scope_name(o->crawl->scope));
    if (o->crawl->depth != UINT32_MAX)
        textbuf_put(&line, ", %u link%s deep", o->crawl->depth,
                    o->crawl->depth == 1 ? "" : "s");
    if (o->max_pages > 0)
        textbuf_put(&line, ", at most %s pages", figure_count(o->max_pages).text);
    if (f->every > 0)
        textbuf_put(&line, "; 1,000 pages of a host take %s or longer at --host-rate",
                    figure_span(999 * f->every).text);
    fprintf(stderr, "%s\n", line.text);
    textbuf_free(&line);
}

/* There is no job yet: the first run begins with what was given. */
static int
show_seeds(const args *a, const char *name, const seine_fetch_opts *o)
{
    seine_diag diag = SEINE_DIAG;
    first_run *f = xalloc_zeroed(1, sizeof *f);
    seine_err e = seine_explain_new(o, &f->rules, &diag);

    textbuf *seeds = xalloc_zeroed(a->count + 1, sizeof *seeds);
    for (size_t i = 0; i < a->count && e == SEINE_OK; i++) {
        put_seed(&seeds[i], a->words[i]);
        e = seine_explain_seed(f->rules, seeds[i].text, strlen(seeds[i].text));
        if (e == SEINE_E_BAD_URL || e == SEINE_E_BLOCKED_SCHEME)
            e = SEINE_OK; /* it is told below */
    }
    for (size_t i = 0; i < a->count && e == SEINE_OK; i++)
        print_seed(f, seeds[i].text);
    for (size_t i = 0; i < a->count; i++)
        textbuf_free(&seeds[i]);
    free(seeds);
    if (e == SEINE_OK) {
        fprintf(stderr, "seine: there is no job '%s' yet: its first run finds the site\n",
                name);
        if (f->seeds > 0)
            print_order(f, o);
        print_bounds(f, o);
    }
    free_counts(&f->hosts);
    seine_explain_free(f->rules);
    bool is_none = f->seeds == 0;
    free(f);
    if (e != SEINE_OK)
        return say_fail(SAY_MACHINE, NULL, "%s", seine_err_text(e));
    return is_none ? SAY_USAGE : SAY_DONE;
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
        code = e == SEINE_OK ? show_due(v, set, name, &plan.opts)
                             : show_seeds(a, name, &plan.opts);
    seine_job_view_free(v);
    fetch_plan_free(&plan);
    return fflush(stdout) == 0 ? code : say_fail(SAY_MACHINE, NULL, "cannot write");
}
