/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - how the registry looks from inside; see <seine/metrics.h>.
 *
 * A family is a name and a list of blocks; a block is what one registration made:
 * the label texts of its series, in order, and their cells. Both lists only grow
 * while the registry lives, so readers walk them without a lock. New blocks are
 * drafted apart and linked together: all of them, or none.
 */
#ifndef SN_METRICS_H
#define SN_METRICS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "seine/metrics.h"

#define SN_SERIES  2000 /* lines of output in all */
#define SN_BOUNDS  32   /* buckets of a histogram, +Inf apart */
#define SN_STRIPES 16   /* threads that count without getting in each other's way */

#define SN_LABELS_CAP (16u << 20) /* more bytes than the label texts can have */

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

/* What one histogram series held at one moment. */
typedef struct sn_snapshot {
    uint64_t sum, count;            /* ns */
    uint64_t bucket[SN_BOUNDS + 1]; /* not cumulative; the last is +Inf */
} sn_snapshot;

struct seine_histogram {
    unsigned n, n_bounds;
    seine_span bounds[SN_BOUNDS];
    size_t stride;         /* cells of one series in one stripe */
    sn_cell *cells;        /* cells[(stripe * n + series) * stride] */
    uint64_t *taken;       /* per stripe and series: observations moved to `past` */
    sn_snapshot *past;     /* per series; both belong to whoever holds the lock */
    pthread_mutex_t *lock; /* the registry's */
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
    bool is_shared; /* several registrations make it up: the http ones */
    char *name, *help;
    _Atomic(sn_metric_block *) blocks;
} sn_family;

struct seine_metrics {
    pthread_mutex_t lock; /* of the lists' ends, and of histograms being read */
    _Atomic(sn_family *) families;
    size_t lines;
    struct seine_http_metrics *https;
};

/* A block that is not part of a registry yet, in a family of its own. */
typedef struct sn_draft {
    sn_family *family;
    size_t lines;
} sn_draft;

/* Text with a backslash before each of the special characters; a newline, which
 * always is one, becomes n. */
void sn_metrics_escape(sn_buf *b, const char *text, const char *special);

/* Label texts, one after the other, each series closed by sn_labels_end. */
void sn_labels_add(sn_buf *b, const char *name, const char *value);
void sn_labels_end(sn_buf *b);
bool sn_label_value_ok(const char *value);

/* `labels` holds the texts of `n` series; the draft takes them. */
SEINE_MUST_CHECK seine_err sn_draft_init(sn_draft *d, sn_metric_kind kind,
                                         const char *name, const char *help,
                                         sn_buf *labels, size_t n,
                                         const seine_buckets *buckets);
void sn_draft_fini(sn_draft *d);

/* Links all drafts, whose blocks then belong to the registry, or none. */
SEINE_MUST_CHECK seine_err sn_drafts_link(seine_metrics *m, sn_draft *drafts, size_t n);

/* One moment of a series; `series` is there. */
void sn_histogram_read(const seine_histogram *h, unsigned series, sn_snapshot *out_s);

/* The name of a family without `_total`, and its unit: "seconds", "bytes" or "". */
sn_str sn_family_stem(const char *name);
const char *sn_family_unit(const char *name);

void sn_http_free_all(struct seine_http_metrics *first);

#endif
