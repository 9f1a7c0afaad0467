/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <seine/csv.h>
#include <seine/plumbing.h>

#include "report/report_groups.h"
#include "report/report_markdown.h"
#include "screen/out.h"
#include "screen/screen.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"

enum { MARKDOWN_MOST = 200 }; /* URLs of a kind */

typedef struct change {
    const char *name;
    char *from, *to; /* NULL: it is not known, or not there */
} change;

static char *
text_of(const char *text)
{
    return text[0] ? report_copy((seine_view){text, strlen(text)}) : NULL;
}

static char *
number_text(uint64_t n)
{
    textbuf t = {NULL, 0, 0};

    textbuf_put(&t, "%" PRIu64, n);
    return t.text;
}

static char *
status_text(unsigned status)
{
    return status ? number_text(status) : NULL;
}

/* What has changed, and from what to what. Returns how many fields. */
static size_t
changes_of(const diff_print *p, const diff_url *u, const entry *e,
           change out[DIFF_FIELDS])
{
    const diff_facts *a = &u->side[DIFF_A], *b = &u->side[DIFF_B];
    unsigned fields = diff_fields_of(p->d, u);
    size_t n = 0;

    for (int f = 0; f < DIFF_FIELDS; f++) {
        change c = {diff_field_name((diff_field)f), NULL, NULL};

        if (!(fields >> f & 1))
            continue;
        if (f == DIFF_OUTCOME) {
            c.from = text_of(diff_outcome(p->d, u, DIFF_A));
            c.to = text_of(diff_outcome(p->d, u, DIFF_B));
        } else if (f == DIFF_STATUS) {
            c.from = status_text(a->status);
            c.to = status_text(b->status);
        } else if (f == DIFF_TITLE) {
            c.from = text_of(diff_old_title(p->d, u));
            c.to = report_copy(e->title);
        } else if (f == DIFF_LENGTH) {
            c.from = number_text(a->length);
            c.to = number_text(b->length);
        } else if (f == DIFF_TARGET) {
            c.to = report_copy(e->final_url);
        }
        out[n++] = c;
    }
    return n;
}

static void
free_changes(change *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(c[i].from);
        free(c[i].to);
    }
}

/* Text and Markdown */

/* Adds somebody else's text as one line. */
static void
put_text(const diff_print *p, textbuf *out, const char *text)
{
    if (p->form == DIFF_MARKDOWN) {
        markdown_text(out, text);
        return;
    }
    size_t n = strlen(text), len = seine_inert(text, n, SEINE_INERT_ROW, NULL, 0);
    char *safe = xalloc_zeroed(1, len + 1);

    seine_inert(text, n, SEINE_INERT_ROW, safe, len);
    textbuf_add(out, safe, len);
    free(safe);
}

static void
put_change(const diff_print *p, textbuf *out, const change *c)
{
    textbuf_put(out, "%s", c->name);
    if (!c->from && !c->to)
        return;
    textbuf_put(out, " ");
    put_text(p, out, c->from ? c->from : "-");
    textbuf_put(out, " → ");
    put_text(p, out, c->to ? c->to : "-");
}

static void
put_line(const diff_print *p, textbuf *out, const diff_url *u, const entry *e)
{
    static const char *const marks[DIFF_KINDS] = {"+ ", "- ", "~ ", "> ", "< ", "  "};
    const diff_facts *a = &u->side[DIFF_A], *b = &u->side[DIFF_B];
    char *url = report_copy(e->url);
    change all[DIFF_FIELDS];

    textbuf_put(out, "%s", p->form == DIFF_MARKDOWN ? "- " : marks[p->kind]);
    put_text(p, out, url ? url : "");
    free(url);
    if (p->kind == DIFF_CHANGED) {
        size_t n = changes_of(p, u, e, all);

        for (size_t i = 0; i < n; i++) {
            textbuf_put(out, "%s", i ? ", " : "  ");
            put_change(p, out, &all[i]);
        }
        free_changes(all, n);
    } else if (p->kind == DIFF_SLOWER || p->kind == DIFF_FASTER) {
        textbuf_put(out, "  %s → %s", figure_span(SEINE_US((seine_span)a->took_us)).text,
                    figure_span(SEINE_US((seine_span)b->took_us)).text);
    } else {
        const char *outcome =
            diff_outcome(p->d, u, p->kind == DIFF_ADDED ? DIFF_B : DIFF_A);

        textbuf_put(out, "%s%s", strcmp(outcome, "ok") == 0 ? "" : "  ",
                    strcmp(outcome, "ok") == 0 ? "" : outcome);
    }
    textbuf_put(out, "\n");
}

/* JSON */

static void
put_string(textbuf *out, const char *text, size_t len)
{
    size_t n = seine_json_quote(text, len, NULL, 0);
    char *quoted = xalloc_zeroed(1, n + 1);

    seine_json_quote(text, len, quoted, n + 1);
    textbuf_add(out, quoted, n);
    free(quoted);
}

static void
put_json(const diff_print *p, textbuf *out, const diff_url *u, const entry *e)
{
    change all[DIFF_FIELDS];

    textbuf_put(out, "{\"kind\":\"%s\",\"url\":", diff_kind_name(p->kind));
    put_string(out, e->url.ptr, e->url.len);
    if (u->side[DIFF_A].seq)
        textbuf_put(out, ",\"old_ms\":%.3f", (double)u->side[DIFF_A].took_us / 1000);
    if (u->side[DIFF_B].seq)
        textbuf_put(out, ",\"new_ms\":%.3f", (double)u->side[DIFF_B].took_us / 1000);
    if (p->kind == DIFF_CHANGED) {
        size_t n = changes_of(p, u, e, all);

        textbuf_put(out, ",\"changes\":{");
        for (size_t i = 0; i < n; i++) {
            textbuf_put(out, "%s\"%s\":[", i ? "," : "", all[i].name);
            for (int k = 0; k < 2; k++) {
                const char *text = k ? all[i].to : all[i].from;

                textbuf_put(out, "%s", k ? "," : "");
                if (text)
                    put_string(out, text, strlen(text));
                else
                    textbuf_put(out, "null");
            }
            textbuf_put(out, "]");
        }
        textbuf_put(out, "}");
        free_changes(all, n);
    } else {
        textbuf_put(out, ",\"outcome\":");
        const char *outcome =
            diff_outcome(p->d, u, p->kind == DIFF_REMOVED ? DIFF_A : DIFF_B);
        put_string(out, outcome, strlen(outcome));
    }
    textbuf_put(out, "}\n");
}

/* CSV: a row for each field that has changed */

static void
put_cell(textbuf *out, const char *text, size_t len, const char *end)
{
    size_t n = seine_csv_cell(text, len, 0, NULL, 0);
    char *cell = xalloc_zeroed(1, n + 1);

    seine_csv_cell(text, len, 0, cell, n);
    textbuf_add(out, cell, n);
    textbuf_put(out, "%s", end);
    free(cell);
}

static void
put_row(textbuf *out, const diff_print *p, const entry *e, const change *c)
{
    const char *kind = diff_kind_name(p->kind);

    put_cell(out, kind, strlen(kind), ",");
    put_cell(out, e->url.ptr, e->url.len, ",");
    put_cell(out, c->name, strlen(c->name), ",");
    put_cell(out, c->from, c->from ? strlen(c->from) : 0, ",");
    put_cell(out, c->to, c->to ? strlen(c->to) : 0, "\n");
}

static char *
ms_text(uint32_t us)
{
    textbuf t = {NULL, 0, 0};

    textbuf_put(&t, "%.3f", (double)us / 1000);
    return t.text;
}

static void
put_rows(textbuf *out, const diff_print *p, const diff_url *u, const entry *e)
{
    change all[DIFF_FIELDS] = {{"outcome", NULL, NULL}};
    size_t n = 1;

    if (p->kind == DIFF_CHANGED) {
        n = changes_of(p, u, e, all);
    } else if (p->kind == DIFF_SLOWER || p->kind == DIFF_FASTER) {
        all[0] = (change){"ms", ms_text(u->side[DIFF_A].took_us),
                          ms_text(u->side[DIFF_B].took_us)};
    } else {
        all[0].from = text_of(diff_outcome(p->d, u, DIFF_A));
        all[0].to = text_of(diff_outcome(p->d, u, DIFF_B));
    }
    for (size_t i = 0; i < n; i++)
        put_row(out, p, e, &all[i]);
    free_changes(all, n);
}

/* All of it */

void
diff_print_head(const diff_print *p)
{
    textbuf out = {NULL, 0, 0};

    if (p->form == DIFF_CSV)
        textbuf_put(&out, "kind,url,field,old,new\n");
    if (p->form == DIFF_MARKDOWN) {
        textbuf_put(&out, "# ");
        markdown_text(&out, p->names[0]);
        textbuf_put(&out, " → ");
        markdown_text(&out, p->names[1]);
        textbuf_put(&out, "\n\n");
    }
    out_bytes(out.text ? out.text : "", out.len);
    textbuf_free(&out);
}

void
diff_print_kind(diff_print *p, diff_kind kind)
{
    p->kind = kind;
    p->shown = 0;
    if (p->form == DIFF_MARKDOWN && p->counts.kinds[kind] > 0)
        out_print("## %s %s\n\n", figure_count(p->counts.kinds[kind]).text,
                  diff_kind_name(kind));
}

void
diff_print_url(diff_print *p, const diff_url *u, const entry *e)
{
    textbuf out = {NULL, 0, 0};

    p->shown++;
    if (p->form == DIFF_MARKDOWN && p->shown > MARKDOWN_MOST)
        return;
    if (p->form == DIFF_JSON)
        put_json(p, &out, u, e);
    else if (p->form == DIFF_CSV)
        put_rows(&out, p, u, e);
    else
        put_line(p, &out, u, e);
    if (p->form == DIFF_MARKDOWN && p->shown == p->counts.kinds[p->kind])
        textbuf_put(&out, "\n");
    else if (p->form == DIFF_MARKDOWN && p->shown == MARKDOWN_MOST)
        textbuf_put(&out, "\nand %s more\n\n",
                    figure_count(p->counts.kinds[p->kind] - MARKDOWN_MOST).text);
    out_bytes(out.text, out.len);
    textbuf_free(&out);
}

static void
put_latencies(const diff_print *p, textbuf *out)
{
    static const unsigned parts[] = {50, 95, 99};
    const latency *a = diff_latency(p->d, DIFF_A), *b = diff_latency(p->d, DIFF_B);

    if (a->n == 0 || b->n == 0)
        return;
    textbuf_put(out, "latency");
    for (size_t i = 0; i < 3; i++)
        textbuf_put(out, "%s p%u %s → %s", i ? "," : "", parts[i],
                    figure_span(latency_at(a, parts[i], 100)).text,
                    figure_span(latency_at(b, parts[i], 100)).text);
    textbuf_put(out, "\n");
}

static void
put_fields(const diff_print *p, textbuf *out)
{
    bool any = false;

    for (int f = 0; f < DIFF_FIELDS; f++)
        if (p->counts.fields[f] > 0) {
            textbuf_put(out, "%s%s ×%s", any ? ", " : " (",
                        diff_field_name((diff_field)f),
                        figure_count(p->counts.fields[f]).text);
            any = true;
        }
    textbuf_put(out, any ? ")" : "");
}

void
diff_print_end(const diff_print *p)
{
    textbuf out = {NULL, 0, 0};

    if (p->form == DIFF_JSON) {
        textbuf_put(&out, "{\"kind\":\"summary\"");
        for (int k = 0; k < DIFF_KINDS; k++)
            textbuf_put(&out, ",\"%s\":%" PRIu64, diff_kind_name((diff_kind)k),
                        p->counts.kinds[k]);
        textbuf_put(&out, "}\n");
    } else if (p->form != DIFF_CSV) {
        for (int k = 0; k < DIFF_KINDS; k++) {
            textbuf_put(&out, "%s%s %s", k ? ", " : "",
                        figure_count(p->counts.kinds[k]).text,
                        diff_kind_name((diff_kind)k));
            if (k == DIFF_CHANGED)
                put_fields(p, &out);
        }
        textbuf_put(&out, "\n");
        put_latencies(p, &out);
    }
    out_bytes(out.text ? out.text : "", out.len);
    textbuf_free(&out);
}
