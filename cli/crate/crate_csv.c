/* SPDX-License-Identifier: Apache-2.0 */
/* CSV: a row per crate. Lists are joined by |. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/calendar.h>
#include <seine/csv.h>

#include "crate/crate.h"
#include "screen/out.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"

static void
put_cell(const char *text, char behind)
{
    size_t n = seine_csv_cell(text, text ? strlen(text) : 0, 0, NULL, 0);
    char *cell = xalloc_zeroed(n + 2, 1);

    seine_csv_cell(text, text ? strlen(text) : 0, 0, cell, n);
    cell[n] = behind;
    out_bytes(cell, n + 1);
    free(cell);
}

static void
put_list(textbuf *b)
{
    put_cell(b->text, ',');
    textbuf_free(b);
}

static void
put_words(const seine_json *list)
{
    textbuf b = {0};
    const char *text;
    size_t n;

    for (size_t i = 0; i < seine_json_size(list); i++) {
        const seine_json *one = seine_json_at(list, i);

        if (seine_json_string(one, &text, &n) ||
            seine_json_string(seine_json_get(one, "id"), &text, &n))
            textbuf_put(&b, "%s%s", b.len ? "|" : "", text);
    }
    put_list(&b);
}

static void
put_dependencies(const crate_facts *f, dep_kind wanted)
{
    textbuf b = {0};

    for (size_t i = 0; i < f->n_deps; i++)
        if (f->deps[i].kind == wanted)
            textbuf_put(&b, "%s%s %s", b.len ? "|" : "", f->deps[i].name, f->deps[i].req);
    put_list(&b);
}

static void
put_number(uint64_t n)
{
    out_print("%llu,", (unsigned long long)n);
}

static void
put_hundredths(bool is_known, unsigned n)
{
    if (is_known)
        out_print("%u.%02u,", n / 100, n % 100);
    else
        out_text(",");
}

static void
put_facts(const crate_facts *f)
{
    put_number(f->downloads);
    put_number(f->recent);
    put_cell(f->documentation, ',');
    put_cell(f->repository, ',');
    put_cell(f->homepage, ',');
    put_cell(f->license, ',');
    put_words(f->keywords);
    put_words(f->categories);
    put_dependencies(f, DEP_NORMAL);
    put_dependencies(f, DEP_DEV);
    put_dependencies(f, DEP_BUILD);
}

static void
put_audit(const crate_run *r, const crate_report *c)
{
    const crate_judgement *j = &c->judged;
    seine_date d = seine_calendar_date(r->clock);
    textbuf b = {0};

    if (j->is_audited)
        out_print("%zu,%04d-%02d-%02dT%02d:%02d:%02dZ,", j->security.vulnerabilities,
                  d.year, d.month, d.day, d.hour, d.minute, d.second);
    else
        out_text(",,");
    put_hundredths(j->is_audited, j->security.hundredths);
    for (size_t i = 0; i < c->advisories.count; i++)
        if (advisory_is_listed(c->advisories.items[i]))
            textbuf_put(&b, "%s%s", b.len ? "|" : "", c->advisories.items[i]->ids[0]);
    put_list(&b);
}

static void
put_row(const crate_run *r, const crate_report *c)
{
    const crate_judgement *j = &c->judged;
    bool has_status = j->status_reason[0] != '\0';
    textbuf b = {0};

    put_cell(c->facts.name, ',');
    put_cell(c->facts.num, ',');
    if (!r->is_audit) {
        put_facts(&c->facts);
        put_hundredths(true, j->quality);
    }
    put_audit(r, c);
    put_cell(has_status ? crate_status_name(j->status) : "", ',');
    put_cell(j->status_reason, ',');
    put_cell(crate_verdict_name(j->verdict), ',');
    for (size_t i = 0; i < j->n_reasons; i++)
        textbuf_put(&b, "%s%s", i ? "|" : "", j->reasons[i]);
    put_cell(b.text, r->is_audit ? ',' : '\n');
    textbuf_free(&b);
    if (r->is_audit)
        put_cell(c->file, '\n');
}

void
crate_print_csv(const crate_run *r)
{
    out_text("name,version,");
    if (!r->is_audit)
        out_text("downloads,recent_downloads,documentation,repository,homepage,license,"
                 "keywords,categories,dependencies,dev_dependencies,build_dependencies,"
                 "quality_score,");
    out_text("vulnerabilities,last_audit,security_score,advisories,maintenance_status,"
             "maintenance_reason,recommendation,reasons");
    out_text(r->is_audit ? ",file\n" : "\n");
    for (size_t i = 0; i < r->count; i++)
        put_row(r, r->reports[i]);
}
