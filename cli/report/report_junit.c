/* SPDX-License-Identifier: Apache-2.0 */
/* A report as JUnit XML: a case for each URL that failed, one for those that did not, and
 * one for each expectation that is not met. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/html.h"
#include "screen/xalloc.h"

/* A group keeps its first URLs; the others are one case more. */
static size_t
cases_of(const report_groups *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++)
        n += g->all[i].kept + (g->all[i].n > g->all[i].kept);
    return n;
}

static void
put_failure(textbuf *out, const report_group *g, const report_url *u)
{
    textbuf_put(out, "    <failure type=\"");
    html_text(out, g->name);
    textbuf_put(out, "\" message=\"");
    html_text(out, g->message ? g->message : g->name);
    textbuf_put(out, "\">");
    if (u && u->other) {
        textbuf_put(out, "found on ");
        html_text(out, u->other);
        if (u->line > 0)
            textbuf_put(out, ", line %u", u->line);
        textbuf_put(out, "\n");
    }
    if (g->hint) {
        textbuf_put(out, "try: ");
        html_text(out, g->hint);
    }
    textbuf_put(out, "</failure>\n  </testcase>\n");
}

static void
put_group(textbuf *out, const report_group *g)
{
    for (size_t i = 0; i < g->kept; i++) {
        textbuf_put(out, "  <testcase classname=\"");
        html_text(out, g->name);
        textbuf_put(out, "\" name=\"");
        html_text(out, g->first[i].url);
        textbuf_put(out, "\" time=\"%.3f\">\n", (double)g->first[i].took / 1e9);
        put_failure(out, g, &g->first[i]);
    }
    if (g->n == g->kept)
        return;
    textbuf_put(out, "  <testcase classname=\"");
    html_text(out, g->name);
    textbuf_put(out, "\" name=\"and %s more\">\n", figure_count(g->n - g->kept).text);
    put_failure(out, g, NULL);
}

/* What a recipe expects and did not find: a case each. */
static void
put_unmet(textbuf *out, const seine_json *list)
{
    const char *text;
    size_t n;

    for (size_t i = 0; i < seine_json_size(list); i++) {
        if (!seine_json_string(seine_json_at(list, i), &text, &n))
            text = "";
        char *name = xalloc_copy(text, strcspn(text, ": "));
        textbuf_put(out, "  <testcase classname=\"expect\" name=\"");
        html_text(out, name);
        free(name);
        textbuf_put(out, "\">\n    <failure type=\"expect\" message=\"");
        html_sentence(out, text);
        textbuf_put(out, "\"/>\n  </testcase>\n");
    }
}

static bool
is_bad(const report_group *verdict)
{
    return strcmp(verdict->name, "ok") != 0 && strcmp(verdict->name, "excluded") != 0 &&
           strcmp(verdict->name, "redirected") != 0;
}

void
report_junit(const report *r, textbuf *out)
{
    report_groups links = {.n = 0};
    report_group kept[REPORT_KINDS];

    for (size_t i = 0; i < r->verdicts.n; i++)
        if (is_bad(&r->verdicts.all[i]))
            kept[links.n++] = r->verdicts.all[i];
    links.all = kept;
    size_t failures =
        cases_of(&r->failures) + cases_of(&links) + seine_json_size(report_unmet(r));
    textbuf_put(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"");
    html_text(out, r->title);
    textbuf_put(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" time=\"%.3f\">\n",
                failures + 1, failures, (double)report_wall(r) / 1e9);
    textbuf_put(out, "  <testcase classname=\"ok\" name=\"%s URLs are ok\"/>\n",
                figure_count(r->ok).text);
    for (size_t i = 0; i < r->failures.n; i++)
        put_group(out, &r->failures.all[i]);
    for (size_t i = 0; i < links.n; i++)
        put_group(out, &links.all[i]);
    put_unmet(out, report_unmet(r));
    textbuf_put(out, "</testsuite>\n");
}
