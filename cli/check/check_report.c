/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seine/plumbing.h>

#include "check/check.h"
#include "report/report.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"
#include "verbs/fetch_state.h"
#include "verbs/jsonl.h"

bool
check_is_bad(const check *c, const check_link *l)
{
    if (l->since)
        return false;
    if (l->verdict == SEINE_LINK_BROKEN)
        return true;
    return c->set->strict &&
           (l->verdict == SEINE_LINK_DENIED || l->verdict == SEINE_LINK_TIMEOUT ||
            l->verdict == SEINE_LINK_UNKNOWN);
}

static const check_target *
target_of(const check *c, const check_link *l)
{
    if (l->target == NAME_MAP_NONE)
        return NULL;
    uint32_t t = l->target;
    for (uint32_t hops = 0; c->targets[t].next != NAME_MAP_NONE && hops < 100; hops++)
        t = c->targets[t].next;
    return &c->targets[t];
}

static const char *
why_of(const check *c, const check_link *l)
{
    const check_target *t = target_of(c, l);
    const char *why = l->why ? l->why : t && t->why ? t->why : "";

    return l->verdict == SEINE_LINK_OK ? "" : why;
}

/* Where the link leads now, if it has moved for good. */
static const char *
moved_to(const check *c, const check_link *l)
{
    const check_target *t = target_of(c, l);

    if (l->verdict != SEINE_LINK_REDIRECTED || !t)
        return NULL;
    return t->final_url ? t->final_url : t->url;
}

static bool
is_worth_a_line(const check *c, const check_link *l)
{
    return c->set->net.verbose > 0 ||
           (l->verdict != SEINE_LINK_OK && l->verdict != SEINE_LINK_EXCLUDED);
}

/* Appends somebody else's text as one line. */
static void
put_inert(textbuf *out, const char *text)
{
    size_t n = strlen(text), len = seine_inert(text, n, SEINE_INERT_ROW, NULL, 0);
    char *safe = xalloc_zeroed(1, len + 1);

    seine_inert(text, n, SEINE_INERT_ROW, safe, len);
    textbuf_add(out, safe, len);
    free(safe);
}

/* "1 broken, 212 ok of 213 links in 14 files, 31 s" */
void
check_put_totals(const check *c, textbuf *out)
{
    static const seine_link_verdict order[] = {SEINE_LINK_BROKEN,     SEINE_LINK_DENIED,
                                               SEINE_LINK_TIMEOUT,    SEINE_LINK_UNKNOWN,
                                               SEINE_LINK_REDIRECTED, SEINE_LINK_EXCLUDED,
                                               SEINE_LINK_OK};
    seine_clock *clock = seine_clock_system();
    const char *comma = "";

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        size_t n = c->counts[order[i]];

        if (n == 0 && order[i] != SEINE_LINK_OK)
            continue;
        textbuf_put(out, "%s%zu %s", comma, n, seine_link_verdict_name(order[i]));
        comma = ", ";
    }
    textbuf_put(out, " of %zu link%s in ", c->n_links, c->n_links == 1 ? "" : "s");
    if (c->n_files > 0 || c->n_crawled == 0)
        textbuf_put(out, "%zu file%s", c->n_files, c->n_files == 1 ? "" : "s");
    if (c->n_crawled > 0)
        textbuf_put(out, "%s%zu page%s", c->n_files > 0 ? " and " : "", c->n_crawled,
                    c->n_crawled == 1 ? "" : "s");
    textbuf_put(out, ", %s", figure_span(clock->now(clock) - c->start).text);
    if (c->n_known > 0)
        textbuf_put(out, "; %zu known from the baseline", c->n_known);
}

static ink
ink_of(seine_link_verdict verdict)
{
    switch (verdict) {
    case SEINE_LINK_OK:
        return INK_GOOD;
    case SEINE_LINK_BROKEN:
        return INK_BAD;
    case SEINE_LINK_EXCLUDED:
        return INK_DIM;
    case SEINE_LINK_REDIRECTED:
        return INK_NONE;
    default:
        return INK_WARN;
    }
}

/* The first column of a line. */
static void
put_verdict(textbuf *out, seine_link_verdict verdict, bool colour)
{
    const char *name = seine_link_verdict_name(verdict);
    ink c = colour ? ink_of(verdict) : INK_NONE;

    textbuf_put(out, "%s%s%s", c ? screen_code(c) : "", name,
                c ? screen_code(INK_NONE) : "");
    textbuf_pad(out, strlen(name) < 10 ? 11 - strlen(name) : 1);
}

static void
write_text(check *c, bool colour, textbuf *out)
{
    for (size_t i = 0; i < c->n_links; i++, c->steps++) {
        const check_link *l = &c->links[i];
        const char *to = moved_to(c, l);
        size_t from;

        if (!is_worth_a_line(c, l))
            continue;
        put_verdict(out, l->verdict, colour);
        from = out->len;
        put_inert(out, c->pages[l->page].name);
        textbuf_put(out, ":%u:%u", l->line, l->col);
        textbuf_pad(out, out->len - from < 22 ? 22 - (out->len - from) : 0);
        textbuf_put(out, "  ");
        from = out->len;
        put_inert(out, l->value);
        if (to) {
            textbuf_put(out, " -> ");
            put_inert(out, to);
        }
        const char *why = why_of(c, l);
        if (*why || l->since) {
            textbuf_pad(out, out->len - from < 44 ? 44 - (out->len - from) : 0);
            textbuf_put(out, "  ");
            put_inert(out, why);
            if (l->since) {
                char day[11];

                snprintf(day, sizeof day, "%s", l->since);
                textbuf_put(out, " (known since ");
                put_inert(out, day);
                textbuf_put(out, ")");
            }
        }
        textbuf_put(out, "\n");
    }
    check_put_totals(c, out);
    textbuf_put(out, "\n");
}

/* JSON lines */

static void
put_json(textbuf *out, seine_json *give)
{
    seine_text text = {NULL, 0};

    if (seine_json_print(give, &text) == SEINE_OK)
        textbuf_add(out, text.bytes, text.len);
    textbuf_put(out, "\n");
    seine_text_free(&text);
    seine_json_free(give);
}

static seine_json *
json_int(size_t n)
{
    return xalloc_json(seine_json_new_int((int64_t)n));
}

static void
set_head(seine_json *r, const char *type, size_t seq, const char *when)
{

    jsonl_set(r, "v", json_int(1));
    jsonl_set(r, "type", jsonl_string(type));
    jsonl_set(r, "seq", json_int(seq));
    jsonl_set(r, "ts", jsonl_string(when));
}

static const char *const fragment_names[] = {NULL, "ok", "missing", "unchecked"};

void
check_set_link(seine_json *r, const check *c, const check_link *l, const char *when)
{
    const check_target *t = target_of(c, l);
    const char *why = why_of(c, l);

    jsonl_set(r, "source", jsonl_string(c->pages[l->page].name));
    jsonl_set(r, "line", json_int(l->line));
    jsonl_set(r, "col", json_int(l->col));
    jsonl_set(r, "tag", jsonl_string(l->tag));
    if (l->text)
        jsonl_set(r, "text", jsonl_string(l->text));
    jsonl_set(r, "target", jsonl_string(l->value));
    if (t && (t->final_url || t != &c->targets[l->target]))
        jsonl_set(r, "final_url", jsonl_string(t->final_url ? t->final_url : t->url));
    jsonl_set(r, "verdict", jsonl_string(seine_link_verdict_name(l->verdict)));
    if (t && t->status > 0)
        jsonl_set(r, "status", json_int(t->status));
    if (*why) {
        seine_json *error = xalloc_json(seine_json_new_object());

        if (t && t->kind && !l->why)
            jsonl_set(error, "kind", jsonl_string(t->kind));
        jsonl_set(error, "message", jsonl_string(why));
        jsonl_set(r, "error", error);
    }
    if (fragment_names[l->found])
        jsonl_set(r, "fragment", jsonl_string(fragment_names[l->found]));
    if (l->verdict == SEINE_LINK_BROKEN)
        jsonl_set(r, "since", jsonl_string(l->since ? l->since : when));
}

static const char *
stopped_by(const check *c)
{
    return c->signal       ? "signal"
           : c->too_many   ? "max_errors"
           : c->is_late    ? "max_time"
           : c->n_left > 0 ? "memory"
           : c->is_parked  ? "parked"
                           : "done";
}

void
check_set_summary(seine_json *r, const check *c, int code)
{
    seine_clock *clock = seine_clock_system();
    seine_json *counts = xalloc_json(seine_json_new_object());

    jsonl_set(r, "command", jsonl_string("check"));
    jsonl_set(r, "total", json_int(c->n_links));
    for (int v = 0; seine_link_verdict_name((seine_link_verdict)v); v++)
        jsonl_set(counts, seine_link_verdict_name((seine_link_verdict)v),
                  json_int(c->counts[v]));
    jsonl_set(r, "verdicts", counts);
    jsonl_set(r, "known", json_int(c->n_known));
    jsonl_set(r, "files", json_int(c->n_files));
    jsonl_set(r, "pages", json_int(c->n_crawled));
    jsonl_set(r, "unread", json_int(c->n_unread));
    jsonl_set(r, "left_out", json_int(c->n_left));
    jsonl_set(r, "wall_ms",
              json_int((size_t)((clock->now(clock) - c->start) / SEINE_MS(1))));
    jsonl_set(r, "stopped_by", jsonl_string(stopped_by(c)));
    jsonl_set(r, "exit_code", json_int((size_t)code));
}

bool
check_has_summary(const check *c)
{
    return !c->set->net.summary || c->set->net.summary[0];
}

void
check_put_summary(const check *c, textbuf *out, int code, const char *when)
{
    seine_json *r = xalloc_json(seine_json_new_object());

    set_head(r, "summary", c->n_links + 1, when);
    check_set_summary(r, c, code);
    put_json(out, r);
}

static void
write_jsonl(check *c, textbuf *out, int code)
{
    seine_clock *clock = seine_clock_system();
    stamp now = stamp_of(clock->wall(clock));

    for (size_t i = 0; i < c->n_links; i++, c->steps++) {
        seine_json *r = xalloc_json(seine_json_new_object());

        set_head(r, "link", i + 1, now.text);
        check_set_link(r, c, &c->links[i], now.text);
        put_json(out, r);
    }
    if (check_has_summary(c))
        check_put_summary(c, out, code, now.text);
}

/* CSV */

/* One cell. A spreadsheet takes no cell for a formula. */
static void
put_cell(textbuf *out, const char *text, bool raw)
{
    bool at_start = true;

    textbuf_put(out, "\"");
    for (const char *p = text; *p; p++) {
        bool guard = at_start && strchr("=+-@\t\r'", *p) != NULL;

        if (guard && !raw)
            textbuf_put(out, "'");
        if (*p == '"')
            textbuf_put(out, "\"");
        textbuf_add(out, p, 1);
        at_start = *p == ';' || *p == '\t' || *p == '\n' || *p == '\r' ||
                   (at_start && *p == ' ');
    }
    textbuf_put(out, "\"");
}

static void
write_csv(check *c, textbuf *out)
{
    bool raw = c->set->csv_raw;

    const char *end = c->set->csv_crlf ? "\r\n" : "\n";

    textbuf_put(out, "source,line,col,target,verdict,status,fragment,error_kind,text%s",
                end);
    for (size_t i = 0; i < c->n_links; i++, c->steps++) {
        const check_link *l = &c->links[i];
        const check_target *t = target_of(c, l);

        put_cell(out, c->pages[l->page].name, raw);
        textbuf_put(out, ",%u,%u,", l->line, l->col);
        put_cell(out, l->value, raw);
        textbuf_put(out, ",%s,", seine_link_verdict_name(l->verdict));
        if (t && t->status > 0)
            textbuf_put(out, "%u", t->status);
        textbuf_put(out, ",%s,%s,",
                    fragment_names[l->found] ? fragment_names[l->found] : "",
                    t && t->kind ? t->kind : "");
        put_cell(out, l->text ? l->text : "", raw);
        textbuf_put(out, "%s", end);
    }
}

/* JUnit */

static void
put_xml(textbuf *out, const char *text)
{
    size_t n = strlen(text), len = seine_inert(text, n, SEINE_INERT_ROW, NULL, 0);
    char *safe = xalloc_zeroed(1, len + 1);

    seine_inert(text, n, SEINE_INERT_ROW, safe, len);
    for (const char *p = safe; *p; p++) {
        const char *name = *p == '&'    ? "&amp;"
                           : *p == '<'  ? "&lt;"
                           : *p == '>'  ? "&gt;"
                           : *p == '"'  ? "&quot;"
                           : *p == '\t' ? "&#9;"
                                        : NULL;

        textbuf_add(out, name ? name : p, name ? strlen(name) : 1);
    }
    free(safe);
}

static void
put_testcase(const check *c, const check_link *l, textbuf *out)
{
    const char *why = why_of(c, l), *verdict = seine_link_verdict_name(l->verdict);

    textbuf_put(out, "    <testcase classname=\"");
    put_xml(out, c->pages[l->page].name);
    textbuf_put(out, "\" name=\"%u:%u ", l->line, l->col);
    put_xml(out, l->value);
    if (check_is_bad(c, l)) {
        textbuf_put(out, "\"><failure type=\"%s\" message=\"", verdict);
        put_xml(out, why);
        textbuf_put(out, "\"/></testcase>\n");
    } else if (l->verdict != SEINE_LINK_OK && l->verdict != SEINE_LINK_REDIRECTED) {
        textbuf_put(out, "\"><skipped message=\"%s%s", verdict, *why ? ": " : "");
        put_xml(out, why);
        textbuf_put(out, "\"/></testcase>\n");
    } else {
        textbuf_put(out, "\"/>\n");
    }
}

static void
write_junit(check *c, textbuf *out)
{
    size_t bad = 0, skipped = 0;

    for (size_t i = 0; i < c->n_links; i++) {
        const check_link *l = &c->links[i];
        bool good = l->verdict == SEINE_LINK_OK || l->verdict == SEINE_LINK_REDIRECTED;

        bad += check_is_bad(c, l);
        skipped += !good && !check_is_bad(c, l);
    }
    textbuf_put(out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                "  <testsuite name=\"seine check\" tests=\"%zu\" failures=\"%zu\" "
                "errors=\"0\" skipped=\"%zu\">\n",
                c->n_links, bad, skipped);
    for (size_t i = 0; i < c->n_links; i++, c->steps++)
        put_testcase(c, &c->links[i], out);
    textbuf_put(out, "  </testsuite>\n</testsuites>\n");
}

/* Markdown */

static void
put_md(textbuf *out, const char *text)
{
    size_t n = strlen(text), len = seine_inert(text, n, SEINE_INERT_ROW, NULL, 0);
    char *safe = xalloc_zeroed(1, len + 1);

    seine_inert(text, n, SEINE_INERT_ROW, safe, len);
    for (const char *p = safe; *p; p++) {
        if (strchr("\\`*_[]<>|&!", *p))
            textbuf_put(out, "\\");
        textbuf_add(out, p, 1);
    }
    free(safe);
}

static void
write_md(check *c, textbuf *out)
{
    bool any = false;

    textbuf_put(out, "## Links\n\n");
    check_put_totals(c, out);
    textbuf_put(out, "\n");
    for (size_t i = 0; i < c->n_links; i++, c->steps++) {
        const check_link *l = &c->links[i];
        const char *to = moved_to(c, l);

        if (!is_worth_a_line(c, l))
            continue;
        if (!any)
            textbuf_put(out, "\n| verdict | where | link | why |\n|---|---|---|---|\n");
        any = true;
        textbuf_put(out, "| %s | ", seine_link_verdict_name(l->verdict));
        put_md(out, c->pages[l->page].name);
        textbuf_put(out, ":%u:%u | ", l->line, l->col);
        put_md(out, l->value);
        textbuf_put(out, " | ");
        put_md(out, to ? to : why_of(c, l));
        textbuf_put(out, " |\n");
    }
}

/* GitHub's annotations */

static void
put_escaped(textbuf *out, const char *text, bool is_property)
{
    size_t n = strlen(text), len = seine_inert(text, n, SEINE_INERT_ROW, NULL, 0);
    char *safe = xalloc_zeroed(1, len + 1);

    seine_inert(text, n, SEINE_INERT_ROW, safe, len);
    for (const char *p = safe; *p; p++)
        if (*p == '%' || *p == '\r' || *p == '\n' ||
            (is_property && (*p == ':' || *p == ',')))
            textbuf_put(out, "%%%02X", (unsigned char)*p);
        else
            textbuf_add(out, p, 1);
    free(safe);
}

static void
write_github(check *c, textbuf *out)
{
    for (size_t i = 0; i < c->n_links; i++, c->steps++) {
        const check_link *l = &c->links[i];
        const char *to = moved_to(c, l), *why = to ? to : why_of(c, l);

        if (!is_worth_a_line(c, l))
            continue;
        textbuf_put(out, c->pages[l->page].is_site ? "::%s" : "::%s ",
                    check_is_bad(c, l) ? "error"
                    : l->verdict == SEINE_LINK_REDIRECTED ||
                            l->verdict == SEINE_LINK_OK ||
                            l->verdict == SEINE_LINK_EXCLUDED
                        ? "notice"
                        : "warning");
        if (!c->pages[l->page].is_site) {
            textbuf_put(out, "file=");
            put_escaped(out, c->pages[l->page].name, true);
            textbuf_put(out, ",line=%u,col=%u", l->line, l->col);
        }
        textbuf_put(out, "::%s: ", seine_link_verdict_name(l->verdict));
        put_escaped(out, l->value, false);
        if (*why) {
            textbuf_put(out, " (");
            put_escaped(out, why, false);
            textbuf_put(out, ")");
        }
        if (c->pages[l->page].is_site) {
            textbuf_put(out, " on ");
            put_escaped(out, c->pages[l->page].name, false);
            textbuf_put(out, ":%u:%u", l->line, l->col);
        }
        textbuf_put(out, "\n");
    }
}

/* The page that `seine report` would make of the records. */
static void
write_html(check *c, textbuf *out, int code)
{
    textbuf lines = {NULL, 0, 0};
    report *r = report_new();

    write_jsonl(c, &lines, code);
    for (char *at = lines.text, *end; at && *at; at = end + 1) {
        end = strchr(at, '\n');
        report_line(r, (seine_view){at, (size_t)(end - at)});
    }
    snprintf(r->title, sizeof r->title, "seine check");
    report_rank(r);
    report_html(r, out);
    report_free(r);
    textbuf_free(&lines);
}

void
check_render(check *c, check_form form, textbuf *out, int code)
{
    switch (form.format) {
    case CHECK_TEXT:
        write_text(c, form.colour, out);
        break;
    case CHECK_JSONL:
        write_jsonl(c, out, code);
        break;
    case CHECK_CSV:
        write_csv(c, out);
        break;
    case CHECK_JUNIT:
        write_junit(c, out);
        break;
    case CHECK_MD:
        write_md(c, out);
        break;
    case CHECK_GITHUB:
        write_github(c, out);
        break;
    case CHECK_HTML:
        write_html(c, out, code);
        break;
    case CHECK_SINK:
        break;
    }
}

void
check_dump(const check *c)
{
    for (size_t i = 0; i < c->n_links; i++) {
        const check_link *l = &c->links[i];
        textbuf out = {NULL, 0, 0};

        if (c->set->json || c->set->format == CHECK_JSONL) {
            seine_json *r = xalloc_json(seine_json_new_object());

            jsonl_set(r, "source", jsonl_string(c->pages[l->page].name));
            jsonl_set(r, "line", json_int(l->line));
            jsonl_set(r, "col", json_int(l->col));
            jsonl_set(r, "tag", jsonl_string(l->tag));
            jsonl_set(r, "target", jsonl_string(l->value));
            out_json(r);
            continue;
        }
        put_inert(&out, c->pages[l->page].name);
        textbuf_put(&out, ":%u:%u\t", l->line, l->col);
        put_inert(&out, l->value);
        textbuf_put(&out, "\n");
        out_bytes(out.text, out.len);
        textbuf_free(&out);
    }
    out_flush();
}
