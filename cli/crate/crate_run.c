/* SPDX-License-Identifier: Apache-2.0 */
/* What `seine crate` and `seine crate audit` share: settings, results, the end. */
#include <stdlib.h>
#include <string.h>

#include <seine/clock.h>
#include <seine/timestamp.h>

#include "crate/crate.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"

enum { NS = 1000000000 };

int
crate_worse(int a, int b)
{
    static const int order[] = {SAY_USAGE,    SAY_MACHINE, SAY_SIGNAL, SAY_PARKED,
                                SAY_EXPECTED, SAY_EARLY,   SAY_FAILED};

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (a == order[i] || (order[i] == SAY_SIGNAL && a > SAY_SIGNAL))
            return a;
        if (b == order[i] || (order[i] == SAY_SIGNAL && b > SAY_SIGNAL))
            return b;
    }
    return SAY_DONE;
}

void
crate_fail(crate_run *r, int code)
{
    r->code = crate_worse(r->code, code);
}

/* --now; the day of the run if it is not given. */
static int
read_now(const char *text, int64_t *now)
{
    int64_t from, until;

    if (!text)
        return SAY_DONE;
    if (!seine_timestamp_sitemap(text, strlen(text), &from, &until) || strlen(text) < 10)
        return say_fail(SAY_USAGE, "--now 2026-11-15", "--now '%s': no date",
                        show(text).text);
    *now = from / NS;
    return SAY_DONE;
}

int
crate_run_open(crate_run *r, const args *a, bool is_audit)
{
    const crate_settings *set = a->settings;
    seine_clock *clock = seine_clock_system();

    *r = (crate_run){.args = a, .set = set, .is_audit = is_audit};
    r->clock = r->now = clock->wall(clock) / NS;
    if (set->json && options_given(a, "format") && set->format != CRATE_JSONL)
        return say_fail(SAY_USAGE, "one of them", "--json and --format differ");
    int code = read_now(set->now, &r->now);
    if (code == SAY_DONE)
        code = crate_gate_make(set->fail_under, &set->deny, !is_audit, &r->gate);
    if (code == SAY_DONE && set->advisory_db)
        code = advisory_db_open(set->advisory_db, &r->db);
    if (code != SAY_DONE)
        crate_run_free(r);
    return code;
}

void
crate_report_free(crate_report *report)
{
    if (!report)
        return;
    crate_facts *f = &report->facts;
    seine_json_free(f->crate);
    seine_json_free(f->version);
    seine_json_free(f->dependencies);
    free(f->name);
    free(f->num);
    free(f->deps);
    advisory_list_fini(&report->advisories);
    crate_judgement_fini(&report->judged);
    free(report);
}

void
crate_run_free(crate_run *r)
{
    for (size_t i = 0; i < r->count; i++)
        crate_report_free(r->reports[i]);
    free(r->reports);
    crate_gate_fini(&r->gate);
    advisory_db_free(r->db);
}

void
crate_report_add(crate_run *r, crate_report *give)
{
    r->reports = xalloc_room(r->reports, r->count, &r->cap, sizeof *r->reports);
    r->reports[r->count++] = give;
}

static int
format_of(const crate_run *r)
{
    if (r->set->json)
        return CRATE_JSONL;
    if (r->set->format != CRATE_AUTO)
        return r->set->format;
    return out_is_terminal() ? CRATE_TEXT : CRATE_JSONL;
}

static void
print(const crate_run *r)
{
    int format = format_of(r);

    if (format == CRATE_TEXT)
        crate_print_table(r);
    else if (format == CRATE_CSV)
        crate_print_csv(r);
    for (size_t i = 0; i < r->count; i++)
        if (format == CRATE_JSONL)
            crate_print_json(r, r->reports[i]);
        else if (format == CRATE_TEXT && r->set->verbose)
            crate_print_details(r, r->reports[i]);
    out_flush();
}

/* Of lock files: most of what was looked at is not in the table. */
static void
sum_up(const crate_run *r)
{
    size_t vulnerable = 0;

    for (size_t i = 0; i < r->count; i++)
        vulnerable += r->reports[i]->judged.security.vulnerabilities > 0;
    if (r->args->quiet || !r->is_audit)
        return;
    say_note("%s package%s audited, %s vulnerable%s%s%s", figure_count(r->audited).text,
             r->audited == 1 ? "" : "s", figure_count(vulnerable).text,
             r->elsewhere ? ", " : "",
             r->elsewhere ? figure_count(r->elsewhere).text : "",
             r->elsewhere ? " not from crates.io and left out" : "");
}

int
crate_run_finish(crate_run *r)
{
    if (r->count > 1)
        qsort(r->reports, r->count, sizeof *r->reports, crate_order);
    print(r);
    sum_up(r);
    for (size_t i = 0; i < r->count; i++)
        if (!crate_gate_passes(&r->gate, r->reports[i]))
            crate_fail(r, SAY_EXPECTED);
    if (advisory_db_bad(r->db) > 0)
        crate_fail(r, SAY_FAILED);
    return r->code;
}
