/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - the inside of the metrics registry; see <seine/metrics.h>.
 *
 * A family is a name and a list of blocks. A block is the result of one registration:
 * the label texts of its series, in order, and their cells. Both lists only grow while
 * the registry lives, so readers walk them without a lock. A registration drafts its
 * blocks first and then links all of them, or none.
 */
#ifndef SN_METRICS_H
#define SN_METRICS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "seine/metrics.h"

#define SN_SERIES  2000 /* lines of output in all */
#define SN_BOUNDS  32   /* buckets of a histogram, +Inf apart */
#define SN_STRIPES 16   /* stripes: threads that count without contention */

#define SN_LABELS_CAP (16u << 20) /* more bytes than the label texts can have */

/* Parts of the library that register families once, however often they are made. */
typedef enum sn_metrics_part {
    SN_METRICS_FETCH,
    SN_METRICS_SINKS,
    SN_METRICS_TRACES,
    SN_METRICS_PARTS
} sn_metrics_part;

typedef enum sn_metric_kind { SN_COUNTER, SN_GAUGE, SN_HISTOGRAM } sn_metric_kind;

typedef _Atomic uint64_t sn_cell;

struct seine_counter {
    unsigned n;     /* series */
    size_t stride;  /* cells from stripe to stripe: whole cache lines */
    sn_cell *cells; /* cells[stripe * stride + series] */
};

struct seine_gauge {
    unsigned n;
    _Atomic int64_t *cells;
};

/* The values of one histogram series at one moment. */
typedef struct sn_histogram_values {
    uint64_t sum, count;            /* ns */
    uint64_t bucket[SN_BOUNDS + 1]; /* not cumulative; the last is +Inf */
} sn_histogram_values;

struct seine_histogram {
    unsigned n, n_bounds;
    seine_span bounds[SN_BOUNDS];
    size_t stride;             /* cells of one series in one stripe */
    sn_cell *cells;            /* cells[(stripe * n + series) * stride] */
    uint64_t *taken;           /* per stripe and series: observations moved to `past` */
    sn_histogram_values *past; /* per series; the lock protects `taken` and `past` */
    pthread_mutex_t *lock;     /* the registry's */
};

typedef struct sn_metric_block {
    _Atomic(struct sn_metric_block *) next;
    sn_metric_kind kind;
    char *labels; /* per series `a="x",b="y"` and a terminator */
    union {
        struct seine_counter counter;
        struct seine_gauge gauge;
        struct seine_histogram histogram;
    } as;
} sn_metric_block;

typedef struct sn_family {
    _Atomic(struct sn_family *) next;
    sn_metric_kind kind;
    bool is_shared; /* several registrations add to it: HTTP, queues, workers … */
    char *name, *help;
    _Atomic(sn_metric_block *) blocks;
} sn_family;

struct seine_metrics {
    pthread_mutex_t lock; /* for the ends of the lists, and to read histograms */
    _Atomic(sn_family *) families;
    size_t lines;
    struct seine_http_metrics *https;
    void *kept[SN_METRICS_PARTS]; /* by sn_metrics_keep */
    seine_metrics_more_fn more;   /* guarded by `reading`, as its arg */
    void *more_arg;
    pthread_mutex_t reading;
};

/* The registry owns `give`, one allocation, from now on. Whoever would register the
 * families of that part again finds it here; NULL: nobody has kept anything. */
void sn_metrics_keep(seine_metrics *m, sn_metrics_part part, void *give);
void *sn_metrics_kept(seine_metrics *m, sn_metrics_part part);

/* A block that is not in a registry yet, in a family of its own. */
typedef struct sn_draft {
    sn_family *family;
    size_t lines;
} sn_draft;

/* Writes text with a backslash before each special character; a newline, which is always
 * special, becomes \n. */
void sn_metrics_escape(sn_buf *b, const char *text, const char *special);

/* Appends label texts; sn_labels_end closes a series. */
void sn_labels_add(sn_buf *b, const char *name, const char *value);
void sn_labels_end(sn_buf *b);
bool sn_label_value_ok(const char *value);

/* `labels` holds the texts of `n` series; the draft takes them. */
SEINE_MUST_CHECK seine_err sn_draft_init(sn_draft *d, sn_metric_kind kind,
                                         const char *name, const char *help,
                                         sn_buf *labels, size_t n,
                                         const seine_buckets *buckets);
void sn_draft_fini(sn_draft *d);

/* Links all drafts, or none. Linked blocks belong to the registry. */
SEINE_MUST_CHECK seine_err sn_drafts_link(seine_metrics *m, sn_draft *drafts, size_t n);

/* Reads a series at one moment; `series` must exist. */
void sn_histogram_read(const seine_histogram *h, unsigned series,
                       sn_histogram_values *out_s);

/* The least bound that this share of the values, 0.99 for instance, does not exceed. 0:
 * there are no values; NEVER: the share is beyond the last bound. */
seine_span sn_histogram_quantile(const seine_histogram *h, unsigned series, double share);

/* The name of a family without `_total`, and its unit: "seconds", "bytes" or "". */
sn_str sn_family_stem(const char *name);
const char *sn_family_unit(const char *name);

void sn_http_free_all(struct seine_http_metrics *first);

#endif
