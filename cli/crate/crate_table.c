/* SPDX-License-Identifier: Apache-2.0 */
/* The table for people, and the details below it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crate/crate.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"

enum {
    CRATE,
    VERSION,
    SCORE,
    SECURITY,
    STATUS,
    DOWNLOADS,
    RECENT,
    LICENSE,
    VERDICT,
    COLUMNS
};

enum { VERDICT_LEAST = 20, VERDICT_WORD = 8 };

typedef struct column {
    const char *head;
    size_t least;
    bool is_right, in_audit;
} column;

static const column columns[COLUMNS] = {
    {"CRATE", 0, false, true},   {"VERSION", 0, false, true},
    {"SCORE", 0, true, false},   {"SECURITY", 11, false, true},
    {"STATUS", 0, false, false}, {"DOWNLOADS", 0, true, false},
    {"RECENT", 0, true, false},  {"LICENSE", 0, false, false},
    {"VERDICT", 0, false, true},
};

typedef struct row {
    char cells[COLUMNS][220];
    ink inks[COLUMNS];
} row;

/* 310, 21.3 k, 41.0 M, 1.2 G */
static void
print_count(uint64_t n, char *out, size_t cap)
{
    static const struct {
        uint64_t unit;
        char letter;
    } units[] = {{1000000000, 'G'}, {1000000, 'M'}, {1000, 'k'}};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (n >= units[i].unit) {
            uint64_t tenths = n / (units[i].unit / 10);

            snprintf(out, cap, "%llu.%llu %c", (unsigned long long)tenths / 10,
                     (unsigned long long)tenths % 10, units[i].letter);
            return;
        }
    snprintf(out, cap, "%llu", (unsigned long long)n);
}

static ink
security_ink(const crate_judgement *j)
{
    if (!j->is_audited)
        return INK_WARN;
    if (j->security.vulnerabilities > 0)
        return INK_BAD;
    return j->security.hundredths < 100 ? INK_WARN : INK_GOOD;
}

static ink
verdict_ink(crate_verdict v)
{
    static const ink inks[] = {INK_GOOD, INK_WARN, INK_BAD};

    return inks[v];
}

static void
fill_row(const crate_report *c, row *out)
{
    static const ink statuses[] = {INK_BAD, INK_BAD, INK_WARN, INK_GOOD};
    const crate_judgement *j = &c->judged;
    size_t cap = sizeof out->cells[0];

    *out = (row){0};
    snprintf(out->cells[CRATE], cap, "%s", c->facts.name);
    snprintf(out->cells[VERSION], cap, "%s", show(c->facts.num).text);
    snprintf(out->cells[SCORE], cap, "%u.%02u", j->quality / 100, j->quality % 100);
    if (j->is_audited)
        snprintf(out->cells[SECURITY], cap, "%u.%02u (%zu)", j->security.hundredths / 100,
                 j->security.hundredths % 100, j->security.vulnerabilities);
    else
        snprintf(out->cells[SECURITY], cap, "unaudited");
    snprintf(out->cells[STATUS], cap, "%s", crate_status_name(j->status));
    print_count(c->facts.downloads, out->cells[DOWNLOADS], cap);
    print_count(c->facts.recent, out->cells[RECENT], cap);
    snprintf(out->cells[LICENSE], cap, "%s",
             c->facts.license ? show(c->facts.license).text : "-");
    snprintf(out->cells[VERDICT], cap, "%s%s%s", crate_verdict_name(j->verdict),
             j->n_reasons ? ": " : "", j->n_reasons ? show(j->reasons[0]).text : "");
    out->inks[SECURITY] = security_ink(j);
    out->inks[STATUS] = statuses[j->status];
    out->inks[VERDICT] = verdict_ink(j->verdict);
}

static size_t
width_of(const char *text)
{
    size_t n = strlen(text), width = 0;

    for (size_t i = 0; i < n;) {
        size_t columns_of_it = 1, len = show_char(text + i, n - i, &columns_of_it);

        width += columns_of_it;
        i += len > 0 ? len : 1;
    }
    return width;
}

static void
put_cell(const screen *s, ink colour, const char *text)
{
    bool has_colour = s->colour && colour != INK_NONE;

    if (has_colour)
        out_code(screen_code(colour));
    out_text(text);
    if (has_colour)
        out_code(screen_code(INK_NONE));
}

/* Cuts a text to so many columns, with an ellipsis at its end. */
static void
cut(char *text, size_t most)
{
    size_t n = strlen(text), width = 0, i = 0;

    if (width_of(text) <= most)
        return;
    while (i < n) {
        size_t wide = 1, len = show_char(text + i, n - i, &wide);

        if (width + wide + 1 > most)
            break;
        width += wide;
        i += len > 0 ? len : 1;
    }
    snprintf(text + i, 4, "…"); /* the rest was longer */
}

static void
put_row(const crate_run *r, row *cells, const size_t widths[COLUMNS])
{
    const char *gap = "";

    cut(cells->cells[VERDICT], widths[VERDICT]);
    for (int i = 0; i < COLUMNS; i++) {
        if (widths[i] == 0)
            continue;
        size_t pad = widths[i] - width_of(cells->cells[i]);
        out_text(gap);
        if (columns[i].is_right)
            out_fill(" ", pad);
        put_cell(&r->args->screen, cells->inks[i], cells->cells[i]);
        if (!columns[i].is_right && i != VERDICT)
            out_fill(" ", pad);
        gap = "  ";
    }
    out_text("\n");
}

static size_t
width_before_verdict(const size_t widths[COLUMNS])
{
    size_t all = 0;

    for (int i = 0; i < VERDICT; i++)
        all += widths[i] > 0 ? widths[i] + 2 : 0;
    return all;
}

/* A terminal that is too narrow for all columns loses the least of them: its width is 0.
 * The verdict gets what is left. */
static void
fit_screen(const crate_run *r, size_t widths[COLUMNS])
{
    static const int least[] = {RECENT, LICENSE, DOWNLOADS, STATUS, SCORE};
    size_t most = r->args->screen.width;

    for (int i = 0; i < COLUMNS; i++)
        if (r->is_audit && !columns[i].in_audit)
            widths[i] = 0;
    if (!out_is_terminal())
        return;
    for (size_t i = 0; i < sizeof least / sizeof *least; i++)
        if (width_before_verdict(widths) + VERDICT_LEAST > most)
            widths[least[i]] = 0;
    size_t before = width_before_verdict(widths);
    if (before + VERDICT_WORD <= most && before + widths[VERDICT] > most)
        widths[VERDICT] = most - before;
}

/* Packages of a lock file about which there is nothing to say are counted only. */
static bool
is_shown(const crate_run *r, const crate_report *c)
{
    return !r->is_audit || !c->file || c->advisories.count > 0;
}

void
crate_print_table(const crate_run *r)
{
    row *rows = xalloc_zeroed(r->count + 1, sizeof *rows);
    size_t widths[COLUMNS], n = 1;

    for (int i = 0; i < COLUMNS; i++) {
        snprintf(rows[0].cells[i], sizeof rows[0].cells[i], "%s", columns[i].head);
        rows[0].inks[i] = INK_BOLD;
    }
    for (size_t i = 0; i < r->count; i++)
        if (is_shown(r, r->reports[i]))
            fill_row(r->reports[i], &rows[n++]);
    for (int i = 0; i < COLUMNS; i++) {
        widths[i] = columns[i].least;
        for (size_t k = 0; k < n; k++)
            if (width_of(rows[k].cells[i]) > widths[i])
                widths[i] = width_of(rows[k].cells[i]);
    }
    fit_screen(r, widths);
    for (size_t k = 0; n > 1 && k < n; k++)
        put_row(r, &rows[k], widths);
    free(rows);
}

static void
print_advisories(const crate_report *c)
{
    const crate_judgement *j = &c->judged;

    if (!j->is_audited) {
        out_text("  security   unaudited: no source has answered\n");
        return;
    }
    out_print("  security   %u.%02u, %zu %s\n", j->security.hundredths / 100,
              j->security.hundredths % 100, j->security.vulnerabilities,
              j->security.vulnerabilities == 1 ? "vulnerability" : "vulnerabilities");
    for (size_t i = 0; i < c->advisories.count; i++) {
        const advisory *a = c->advisories.items[i];

        out_print("             %s %s%s%s", show(a->ids[0]).text, advisory_kind(a),
                  a->kinds & ADVISORY_VULNERABILITY ? ", " : "",
                  a->kinds & ADVISORY_VULNERABILITY ? seine_severity_name(a->severity)
                                                    : "");
        if (a->tenths >= 0)
            out_print(" (%d.%d)", a->tenths / 10, a->tenths % 10);
        if (a->title)
            out_print(": %s", show(a->title).text);
        out_text("\n");
    }
}

static size_t
count_kind(const crate_facts *f, dep_kind wanted)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n_deps; i++)
        n += f->deps[i].kind == wanted;
    return n;
}

static void
print_score(const crate_judgement *j)
{
    const char *plus = "=";

    out_print("  score      %u.%02u", j->quality / 100, j->quality % 100);
    for (int i = 0; i < SCORE_PARTS; i++) {
        out_print(" %s 0.%02u %s", plus, j->parts[i], crate_part_names[i]);
        plus = "+";
    }
    out_text("\n");
}

void
crate_print_details(const crate_run *r, const crate_report *c)
{
    const crate_judgement *j = &c->judged;

    if (!is_shown(r, c))
        return;
    out_print("\n%s %s\n", c->facts.name, show(c->facts.num).text);
    if (!r->is_audit)
        print_score(j);
    print_advisories(c);
    if (j->status_reason[0])
        out_print("  status     %s: %s\n", crate_status_name(j->status),
                  show(j->status_reason).text);
    if (!r->is_audit)
        out_print("  needs      %zu normal, %zu dev, %zu build dependencies\n",
                  count_kind(&c->facts, DEP_NORMAL), count_kind(&c->facts, DEP_DEV),
                  count_kind(&c->facts, DEP_BUILD));
    out_print("  verdict    %s\n", crate_verdict_name(j->verdict));
    for (size_t i = 0; i < j->n_reasons; i++)
        out_print("             %s\n", show(j->reasons[i]).text);
}
