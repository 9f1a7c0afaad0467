/* SPDX-License-Identifier: Apache-2.0 */
/* The registry: checks the names of families and makes their series. */
#include <string.h>

#include "base/alloc.h"
#include "base/metrics.h"

#define LINE     8 /* cells of a cache line */
#define TEXT_MAX 128
#define HELP_MAX 512
#define LABELS   8

/* Units that are not base units, short forms, and words that repeat the type. */
static const char *const banned[] = {
    "s",
    "ms",
    "us",
    "ns",
    "sec",
    "secs",
    "m",
    "min",
    "mins",
    "h",
    "d",
    "b",
    "kb",
    "mb",
    "gb",
    "tb",
    "pb",
    "minutes",
    "hours",
    "days",
    "weeks",
    "bits",
    "kilobytes",
    "megabytes",
    "gigabytes",
    "percent",
    "milliseconds",
    "microseconds",
    "nanoseconds",
    "counter",
    "gauge",
    "histogram",
    "summary",
};

/* Endings that belong to the samples of a histogram or to the format. */
static const char *const reserved[] = {"_bucket", "_sum", "_count", "_created"};

sn_str
sn_family_stem(const char *name)
{
    sn_str s = sn_str_of(name), total = SN_STR("_total");

    return sn_str_ends(s, total) ? sn_str_slice(s, 0, s.len - total.len) : s;
}

const char *
sn_family_unit(const char *name)
{
    sn_str stem = sn_family_stem(name);

    if (sn_str_ends(stem, SN_STR("_seconds")))
        return "seconds";
    return sn_str_ends(stem, SN_STR("_bytes")) ? "bytes" : "";
}

/* Lower-case words of letters and digits, joined by single underscores. */
static bool
is_snake(sn_str s, size_t max)
{
    bool after_word = false;

    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];

        if (c == '_' ? !after_word
                     : !(sn_is_digit(c) ? i > 0 : sn_is_alpha(c) && c == sn_lower(c)))
            return false;
        after_word = c != '_';
    }
    return after_word && s.len <= max;
}

static bool
is_name(sn_metric_kind kind, const char *name)
{
    sn_str s = sn_str_of(name), stem = sn_family_stem(name), rest = stem, word;

    if (!is_snake(s, TEXT_MAX) || stem.len == 0 ||
        (stem.len < s.len) != (kind == SN_COUNTER) ||
        (kind == SN_HISTOGRAM && strcmp(sn_family_unit(name), "seconds") != 0))
        return false;
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (sn_str_ends(stem, sn_str_of(reserved[i])))
            return false;
    while (sn_str_next(&rest, '_', &word))
        for (size_t i = 0; i < sizeof banned / sizeof *banned; i++)
            if (sn_str_eq(word, sn_str_of(banned[i])))
                return false;
    return true;
}

static bool
is_help(const char *help)
{
    sn_str s = sn_str_of(help);

    return s.len > 0 && s.len <= HELP_MAX && sn_utf8_valid(s);
}

bool
sn_label_value_ok(const char *value)
{
    sn_str s = sn_str_of(value);

    return s.len > 0 && s.len <= TEXT_MAX && sn_utf8_valid(s);
}

static bool
is_label_name(sn_str s)
{
    return is_snake(s, TEXT_MAX) && !sn_str_eq(s, SN_STR("le")) &&
           !sn_str_eq(s, SN_STR("quantile"));
}

/* Are the values distinct and printable? */
static bool
is_label(const seine_label *l)
{
    if (!is_label_name(sn_str_of(l->name)) || !l->values || l->n == 0)
        return false;
    for (size_t i = 0; i < l->n; i++) {
        if (!sn_label_value_ok(l->values[i]))
            return false;
        for (size_t j = 0; j < i; j++)
            if (strcmp(l->values[i], l->values[j]) == 0)
                return false;
    }
    return true;
}

static seine_err
check_labels(const seine_label *labels, size_t n, size_t *out_series)
{
    size_t series = 1;

    if (n > LABELS)
        return SEINE_E_INVAL;
    for (size_t i = 0; i < n; i++) {
        if (labels[i].n > SN_SERIES || (series *= labels[i].n) > SN_SERIES)
            return SEINE_E_RANGE;
        if (!is_label(&labels[i]))
            return SEINE_E_INVAL;
        for (size_t j = 0; j < i; j++)
            if (strcmp(labels[i].name, labels[j].name) == 0)
                return SEINE_E_INVAL;
    }
    *out_series = series;
    return SEINE_OK;
}

static bool
are_buckets(const seine_buckets *b)
{
    if (b->n == 0 || b->n > SN_BOUNDS || b->bounds[0] <= 0)
        return false;
    for (size_t i = 1; i < b->n; i++)
        if (b->bounds[i] <= b->bounds[i - 1])
            return false;
    return true;
}

void
sn_metrics_escape(sn_buf *b, const char *text, const char *special)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            sn_buf_char(b, '\\');
        if (*text == '\n')
            sn_buf_char(b, 'n');
        else
            sn_buf_char(b, *text);
    }
}

void
sn_labels_add(sn_buf *b, const char *name, const char *value)
{
    if (b->len > 0 && b->ptr[b->len - 1] != '\0')
        sn_buf_char(b, ',');
    sn_buf_text(b, name);
    sn_buf_text(b, "=\"");
    sn_metrics_escape(b, value, "\\\"\n");
    sn_buf_char(b, '"');
}

void
sn_labels_end(sn_buf *b)
{
    sn_buf_char(b, '\0');
}

/* Writes the series in order, the last label changing fastest: the digits of the number
 * `series` are the indexes of the values. */
static void
write_labels(sn_buf *b, const seine_label *labels, size_t n, size_t series)
{
    for (size_t s = 0; s < series; s++) {
        size_t weight = series, rest = s;

        for (size_t i = 0; i < n; i++) {
            weight /= labels[i].n;
            sn_labels_add(b, labels[i].name, labels[i].values[rest / weight]);
            rest %= weight;
        }
        sn_labels_end(b);
    }
}

static size_t
whole_lines(size_t cells)
{
    return (cells + LINE - 1) / LINE * LINE;
}

static bool
counter_init(seine_counter *c, size_t n)
{
    c->n = (unsigned)n;
    c->stride = whole_lines(n);
    c->cells = sn_zalloc_line(SN_STRIPES * c->stride * sizeof *c->cells);
    return c->cells != NULL;
}

static bool
gauge_init(seine_gauge *g, size_t n)
{
    g->n = (unsigned)n;
    g->cells = sn_calloc(n, sizeof *g->cells);
    return g->cells != NULL;
}

static bool
histogram_init(seine_histogram *h, size_t n, const seine_buckets *b)
{
    h->n = (unsigned)n;
    h->n_bounds = (unsigned)b->n;
    memcpy(h->bounds, b->bounds, b->n * sizeof *b->bounds);
    h->stride = whole_lines(1 + 2 * (2 + b->n));
    h->cells = sn_zalloc_line(SN_STRIPES * n * h->stride * sizeof *h->cells);
    h->taken = sn_calloc(SN_STRIPES * n, sizeof *h->taken);
    h->past = sn_calloc(n, sizeof *h->past);
    return h->cells && h->taken && h->past;
}

static bool
block_init(sn_metric_block *b, size_t n, const seine_buckets *buckets)
{
    switch (b->kind) {
    case SN_COUNTER:
        return counter_init(&b->as.counter, n);
    case SN_GAUGE:
        return gauge_init(&b->as.gauge, n);
    case SN_HISTOGRAM:
        break;
    }
    return histogram_init(&b->as.histogram, n, buckets);
}

static void
block_free(sn_metric_block *b)
{
    switch (b->kind) {
    case SN_COUNTER:
        sn_free_line(b->as.counter.cells);
        break;
    case SN_GAUGE:
        sn_free(b->as.gauge.cells);
        break;
    case SN_HISTOGRAM:
        sn_free_line(b->as.histogram.cells);
        sn_free(b->as.histogram.taken);
        sn_free(b->as.histogram.past);
        break;
    }
    sn_free(b->labels);
    sn_free(b);
}

static void
family_free(sn_family *f)
{
    for (sn_metric_block *b = f->blocks, *next; b; b = next) {
        next = b->next;
        block_free(b);
    }
    sn_free(f->name);
    sn_free(f->help);
    sn_free(f);
}

static char *
copy(const char *text)
{
    size_t n = strlen(text) + 1;
    char *p = sn_alloc(n);

    return p ? memcpy(p, text, n) : NULL;
}

seine_err
sn_draft_init(sn_draft *d, sn_metric_kind kind, const char *name, const char *help,
              sn_buf *labels, size_t n, const seine_buckets *buckets)
{
    size_t lines = n * (kind == SN_HISTOGRAM ? buckets->n + 3 : 1);
    seine_text text = {0};

    if (lines > SN_SERIES)
        return SEINE_E_RANGE;
    sn_family *f = sn_zalloc(sizeof *f);
    sn_metric_block *b = f ? sn_zalloc(sizeof *b) : NULL;
    if (!b) {
        sn_free(f);
        return SEINE_E_NOMEM;
    }
    f->kind = b->kind = kind;
    f->blocks = b;
    f->name = copy(name);
    f->help = copy(help);
    if (!f->name || !f->help || !block_init(b, n, buckets) ||
        sn_buf_take(labels, &text) != SEINE_OK) {
        family_free(f);
        return SEINE_E_NOMEM;
    }
    b->labels = text.bytes;
    *d = (sn_draft){f, lines};
    return SEINE_OK;
}

void
sn_draft_fini(sn_draft *d)
{
    if (d->family)
        family_free(d->family);
    *d = (sn_draft){0};
}

/* A family that collides with the draft in either format, or NULL. */
static sn_family *
find_family(const seine_metrics *m, const sn_family *like)
{
    for (sn_family *f = m->families; f; f = f->next)
        if (sn_str_eq(sn_family_stem(f->name), sn_family_stem(like->name)))
            return f;
    return NULL;
}

static unsigned
series_in(const sn_metric_block *b)
{
    return b->kind == SN_COUNTER ? b->as.counter.n
           : b->kind == SN_GAUGE ? b->as.gauge.n
                                 : b->as.histogram.n;
}

static bool
have_same_series(const sn_metric_block *a, const sn_metric_block *b)
{
    const char *mine = a->labels;

    for (unsigned i = 0; i < series_in(a); i++, mine += strlen(mine) + 1) {
        const char *other = b->labels;

        for (unsigned k = 0; k < series_in(b); k++, other += strlen(other) + 1)
            if (strcmp(mine, other) == 0)
                return true;
    }
    return false;
}

/* May the draft's series be added to this existing family? */
static bool
may_join(const sn_family *f, const sn_family *draft)
{
    const sn_metric_block *mine = draft->blocks;

    if (!f->is_shared || !draft->is_shared || f->kind != draft->kind)
        return false;
    for (const sn_metric_block *b = f->blocks; b; b = b->next)
        if (have_same_series(b, mine))
            return false;
    return true;
}

static void
append(seine_metrics *m, sn_family *f)
{
    _Atomic(sn_family *) *end = &m->families;

    while (*end)
        end = &(*end)->next;
    *end = f;
}

static void
join(sn_family *f, sn_family *draft)
{
    _Atomic(sn_metric_block *) *end = &f->blocks;

    while (*end)
        end = &(*end)->next;
    *end = draft->blocks;
    draft->blocks = NULL;
}

/* Under the lock. */
static seine_err
check_drafts(const seine_metrics *m, const sn_draft *drafts, size_t n)
{
    size_t lines = m->lines;

    for (size_t i = 0; i < n; i++) {
        const sn_family *there = find_family(m, drafts[i].family);

        if (there && !may_join(there, drafts[i].family))
            return SEINE_E_ALREADY;
        lines += drafts[i].lines;
    }
    return lines > SN_SERIES ? SEINE_E_RANGE : SEINE_OK;
}

seine_err
sn_drafts_link(seine_metrics *m, sn_draft *drafts, size_t n)
{
    pthread_mutex_lock(&m->lock);
    seine_err e = check_drafts(m, drafts, n);
    for (size_t i = 0; i < n && e == SEINE_OK; i++) {
        sn_family *f = drafts[i].family, *there = find_family(m, f);

        m->lines += drafts[i].lines;
        if (f->kind == SN_HISTOGRAM)
            ((sn_metric_block *)f->blocks)->as.histogram.lock = &m->lock;
        if (there) {
            join(there, f);
        } else {
            append(m, f);
            drafts[i].family = NULL;
        }
    }
    pthread_mutex_unlock(&m->lock);
    return e;
}

/* Families to which several parts of a program add series of their own. */
static bool
is_shared_name(const char *name)
{
    static const char *const names[] = {
        "seine_job_last_success_timestamp_seconds",
        "seine_jobs",
        "seine_limiter_keys",
        "seine_limiter_rejected_total",
        "seine_limiter_wait_seconds",
        "seine_loop_lag_seconds",
        "seine_queue_capacity",
        "seine_queue_depth",
        "seine_queue_rejected_total",
        "seine_store_commit_seconds",
        "seine_worker_busy_seconds_total",
        "seine_worker_threads",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static seine_err
add_family(seine_metrics *m, sn_metric_kind kind, const char *name, const char *help,
           const seine_label *labels, size_t n, const seine_buckets *buckets,
           sn_metric_block **out_b)
{
    size_t series;
    sn_buf texts;
    sn_draft d = {0};

    if (!is_name(kind, name) || !is_help(help) || (buckets && !are_buckets(buckets)))
        return SEINE_E_INVAL;
    seine_err e = check_labels(labels, n, &series);
    if (e != SEINE_OK)
        return e;

    sn_buf_init(&texts, SN_LABELS_CAP);
    write_labels(&texts, labels, n, series);
    e = sn_draft_init(&d, kind, name, help, &texts, series, buckets);
    sn_buf_fini(&texts);
    if (e != SEINE_OK)
        return e;

    sn_metric_block *b = d.family->blocks;
    d.family->is_shared = is_shared_name(name);
    e = sn_drafts_link(m, &d, 1);
    sn_draft_fini(&d);
    if (e == SEINE_OK)
        *out_b = b;
    return e;
}

seine_err
seine_metrics_counter(seine_metrics *m, const char *name, const char *help,
                      const seine_label *labels, size_t n, seine_counter **out_c)
{
    sn_metric_block *b;
    seine_err e = add_family(m, SN_COUNTER, name, help, labels, n, NULL, &b);

    if (e == SEINE_OK)
        *out_c = &b->as.counter;
    return e;
}

seine_err
seine_metrics_gauge(seine_metrics *m, const char *name, const char *help,
                    const seine_label *labels, size_t n, seine_gauge **out_g)
{
    if (!m || !out_g || (n > 0 && !labels))
        return SEINE_E_INVAL;
    sn_metric_block *b;
    seine_err e = add_family(m, SN_GAUGE, name, help, labels, n, NULL, &b);

    if (e == SEINE_OK)
        *out_g = &b->as.gauge;
    return e;
}

seine_err
seine_metrics_histogram(seine_metrics *m, const char *name, const char *help,
                        const seine_label *labels, size_t n, const seine_buckets *buckets,
                        seine_histogram **out_h)
{
    seine_buckets usual = seine_buckets_default();
    sn_metric_block *b;
    seine_err e = add_family(m, SN_HISTOGRAM, name, help, labels, n,
                             buckets ? buckets : &usual, &b);

    if (e == SEINE_OK)
        *out_h = &b->as.histogram;
    return e;
}

seine_err
seine_metrics_new(seine_metrics **out_m)
{
    if (!out_m)
        return SEINE_E_INVAL;
    seine_metrics *m = sn_zalloc(sizeof *m);

    if (!m)
        return SEINE_E_NOMEM;
    pthread_mutex_init(&m->lock, NULL);
    pthread_mutex_init(&m->reading, NULL);
    *out_m = m;
    return SEINE_OK;
}

void
sn_metrics_keep(seine_metrics *m, sn_metrics_part part, void *give)
{
    pthread_mutex_lock(&m->lock);
    m->kept[part] = give;
    pthread_mutex_unlock(&m->lock);
}

void *
sn_metrics_kept(seine_metrics *m, sn_metrics_part part)
{
    pthread_mutex_lock(&m->lock);
    void *kept = m->kept[part];
    pthread_mutex_unlock(&m->lock);
    return kept;
}

void
seine_metrics_free(seine_metrics *m)
{
    if (!m)
        return;
    for (sn_family *f = m->families, *next; f; f = next) {
        next = f->next;
        family_free(f);
    }
    sn_http_free_all(m->https);
    for (size_t i = 0; i < SN_METRICS_PARTS; i++)
        sn_free(m->kept[i]);
    pthread_mutex_destroy(&m->lock);
    pthread_mutex_destroy(&m->reading);
    sn_free(m);
}

void
seine_metrics_more(seine_metrics *m, seine_metrics_more_fn fn, void *arg)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->reading);
    m->more = fn;
    m->more_arg = arg;
    pthread_mutex_unlock(&m->reading);
}
