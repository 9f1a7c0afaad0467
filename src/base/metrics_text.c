/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the registry as text, for Prometheus or as OpenMetrics 1.0. */
#include <string.h>

#include "base/metrics.h"

#define TEXT_CAP (32u << 20) /* more than 2,000 of the longest lines */

typedef struct page {
    sn_buf text;
    bool is_open; /* OpenMetrics */
    const char *name;
    bool in_seconds; /* the values are kept in ns */
} page;

/* Writes name and suffix, then {labels,le="bound"} and a blank. */
static void
put_sample(page *p, const char *suffix, const char *labels, const char *le)
{
    sn_buf *b = &p->text;

    sn_buf_text(b, p->name);
    sn_buf_text(b, suffix);
    if (*labels || le) {
        sn_buf_char(b, '{');
        sn_buf_text(b, labels);
        if (le) {
            sn_buf_text(b, *labels ? ",le=\"" : "le=\"");
            sn_buf_text(b, le);
            sn_buf_char(b, '"');
        }
        sn_buf_char(b, '}');
    }
    sn_buf_char(b, ' ');
}

static void
put_unsigned(page *p, uint64_t n, bool in_seconds)
{
    char text[24];

    if (in_seconds) {
        sn_decimal_text(n < INT64_MAX ? (int64_t)n : INT64_MAX, 9, text);
        sn_buf_text(&p->text, text);
    } else {
        sn_buf_u64(&p->text, n);
    }
    sn_buf_char(&p->text, '\n');
}

static void
put_signed(page *p, int64_t n)
{
    char text[24];

    sn_decimal_text(n, p->in_seconds ? 9 : 0, text);
    sn_buf_text(&p->text, text);
    sn_buf_char(&p->text, '\n');
}

/* OpenMetrics demands a decimal point in every bound. */
static void
bound_text(const page *p, seine_span bound, char out_text[32])
{
    size_t n = sn_decimal_text(bound, 9, out_text);

    if (p->is_open && !strchr(out_text, '.'))
        memcpy(out_text + n, ".0", 3);
}

static void
put_histogram(page *p, const seine_histogram *h, unsigned series, const char *labels)
{
    sn_histogram_values s;
    uint64_t below = 0;

    sn_histogram_read(h, series, &s);
    for (unsigned i = 0; i < h->n_bounds; i++) {
        char le[32];

        bound_text(p, h->bounds[i], le);
        put_sample(p, "_bucket", labels, le);
        put_unsigned(p, below += s.bucket[i], false);
    }
    put_sample(p, "_bucket", labels, "+Inf");
    put_unsigned(p, s.count, false);
    put_sample(p, "_sum", labels, NULL);
    put_unsigned(p, s.sum, true);
    put_sample(p, "_count", labels, NULL);
    put_unsigned(p, s.count, false);
}

static unsigned
series_of(const sn_metric_block *b)
{
    switch (b->kind) {
    case SN_COUNTER:
        return b->as.counter.n;
    case SN_GAUGE:
        return b->as.gauge.n;
    case SN_HISTOGRAM:
        break;
    }
    return b->as.histogram.n;
}

static void
put_block(page *p, const sn_metric_block *b)
{
    const char *labels = b->labels;

    for (unsigned i = 0, n = series_of(b); i < n; i++, labels += strlen(labels) + 1)
        switch (b->kind) {
        case SN_COUNTER:
            put_sample(p, "", labels, NULL);
            put_unsigned(p, seine_counter_get(&b->as.counter, i), p->in_seconds);
            break;
        case SN_GAUGE:
            put_sample(p, "", labels, NULL);
            put_signed(p, seine_gauge_get(&b->as.gauge, i));
            break;
        case SN_HISTOGRAM:
            put_histogram(p, &b->as.histogram, i, labels);
            break;
        }
}

static void
put_help(page *p, const char *help)
{
    sn_metrics_escape(&p->text, help, p->is_open ? "\\\"\n" : "\\\n");
    sn_buf_char(&p->text, '\n');
}

static void
put_family(page *p, const sn_family *f)
{
    static const char *const kinds[] = {"counter", "gauge", "histogram"};
    const char *unit = sn_family_unit(f->name);
    sn_str name = p->is_open ? sn_family_stem(f->name) : sn_str_of(f->name);

    p->name = f->name;
    p->in_seconds = strcmp(unit, "seconds") == 0;
    sn_buf_printf(&p->text, "# HELP %.*s ", SN_FMT(name));
    put_help(p, f->help);
    sn_buf_printf(&p->text, "# TYPE %.*s %s\n", SN_FMT(name), kinds[f->kind]);
    if (p->is_open && *unit)
        sn_buf_printf(&p->text, "# UNIT %.*s %s\n", SN_FMT(name), unit);
    for (const sn_metric_block *b = f->blocks; b; b = b->next)
        put_block(p, b);
}

static void
put_bytes(const char *bytes, size_t n, void *to)
{
    sn_buf_add(to, bytes, n);
}

/* The lock is held over the callback, so that whoever takes it away knows that it does
 * not run. */
static void
put_more(const seine_metrics *m, seine_metrics_format f, sn_buf *text)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&m->reading;

    pthread_mutex_lock(lock);
    if (m->more)
        m->more(f, put_bytes, text, m->more_arg);
    pthread_mutex_unlock(lock);
}

seine_err
seine_metrics_text(const seine_metrics *m, seine_metrics_format f, seine_text *out_text)
{
    if (!m || !out_text)
        return SEINE_E_INVAL;
    page p = {.is_open = f == SEINE_METRICS_OPENMETRICS};

    sn_buf_init(&p.text, TEXT_CAP);
    for (const sn_family *fam = m->families; fam; fam = fam->next)
        put_family(&p, fam);
    put_more(m, f, &p.text);
    if (p.is_open)
        sn_buf_text(&p.text, "# EOF\n");
    seine_err e = sn_buf_take(&p.text, out_text);
    sn_buf_fini(&p.text);
    return e;
}
