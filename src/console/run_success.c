/* SPDX-License-Identifier: Apache-2.0 */
#include "console/run_success.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { TITLE = 208 };

typedef struct row {
    char title[TITLE];
    seine_gauge *gauge;
    int64_t at;
} row;

struct sn_run_success {
    seine_metrics *metrics;
    row rows[SN_RUN_SUCCESS_MOST];
    row other;
    size_t n;
};

static seine_err
begin_row(sn_run_success *s, row *r, const char *title)
{
    const char *names[] = {r->title};
    const seine_label label = {"recipe", names, 1};

    snprintf(r->title, sizeof r->title, "%s", title);
    return seine_metrics_gauge(s->metrics, "seine_job_last_success_timestamp_seconds",
                               "When a run of a recipe has last ended well; 0: never.",
                               &label, 1, &r->gauge);
}

seine_err
sn_run_success_new(seine_metrics *metrics, sn_run_success **out_success)
{
    sn_run_success *s = sn_zalloc(sizeof *s);

    if (!s)
        return SEINE_E_NOMEM;
    s->metrics = metrics;
    seine_err e = begin_row(s, &s->other, "other");
    if (e != SEINE_OK) {
        sn_free(s);
        return e;
    }
    *out_success = s;
    return SEINE_OK;
}

void
sn_run_success_free(sn_run_success *s)
{
    sn_free(s);
}

static row *
find(sn_run_success *s, const char *title)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->rows[i].title, title) == 0)
            return &s->rows[i];
    if (s->n == SN_RUN_SUCCESS_MOST || !title[0] || strcmp(title, "other") == 0 ||
        begin_row(s, &s->rows[s->n], title) != SEINE_OK)
        return &s->other;
    return &s->rows[s->n++];
}

void
sn_run_success_note(sn_run_success *s, const char *title, int64_t wall)
{
    row *r = s ? find(s, title) : NULL;

    if (!r || wall <= r->at)
        return;
    r->at = wall;
    seine_gauge_set(r->gauge, 0, wall);
}
