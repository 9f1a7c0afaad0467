/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sink_metrics.h"

#include "base/alloc.h"
#include "base/metrics.h"

/* In the order of seine_sink_format. */
static const char *const formats[] = {"jsonl",  "csv",  "raw",  "call",
                                      "sqlite", "warc", "save", "mirror"};
static const char *const stores[] = {"job"};
static const char *const queues[] = {"sink"};

struct sn_sink_metrics {
    seine_counter *records, *bytes, *errors;
    seine_histogram *commit;
    seine_gauge *depth;
};

static seine_err
make_families(seine_metrics *reg, sn_sink_metrics *m)
{
    const seine_label sink = {"sink", formats, sizeof formats / sizeof *formats},
                      store = {"store", stores, 1}, queue = {"queue", queues, 1};
    seine_buckets fine = seine_buckets_fine();
    seine_err e = seine_metrics_counter(reg, "seine_output_records_total",
                                        "Records written.", &sink, 1, &m->records);

    if (e == SEINE_OK)
        e = seine_metrics_counter(reg, "seine_output_written_bytes_total",
                                  "Bytes written to outputs.", &sink, 1, &m->bytes);
    if (e == SEINE_OK)
        e = seine_metrics_counter(reg, "seine_output_errors_total",
                                  "Outputs that could not be written.", &sink, 1,
                                  &m->errors);
    if (e == SEINE_OK)
        e = seine_metrics_histogram(reg, "seine_store_commit_seconds",
                                    "One commit with its sync to disk.", &store, 1, &fine,
                                    &m->commit);
    if (e == SEINE_OK)
        e = seine_metrics_gauge(reg, "seine_queue_depth", "What waits in a queue.",
                                &queue, 1, &m->depth);
    return e;
}

seine_err
sn_sink_metrics_new(seine_metrics *registry, sn_sink_metrics **out_metrics)
{
    sn_sink_metrics *m = sn_metrics_kept(registry, SN_METRICS_SINKS);

    if (!m) {
        m = sn_zalloc(sizeof *m);
        seine_err e = m ? make_families(registry, m) : SEINE_E_NOMEM;

        if (e != SEINE_OK) {
            sn_free(m);
            return e;
        }
        sn_metrics_keep(registry, SN_METRICS_SINKS, m);
    }
    *out_metrics = m;
    return SEINE_OK;
}

static unsigned
series_of(const sn_out *o)
{
    static const unsigned series[] = {
        [SEINE_SINK_JSONL] = 0, [SEINE_SINK_CSV] = 1,    [SEINE_SINK_RAW] = 2,
        [SEINE_SINK_CALL] = 3,  [SEINE_SINK_SQLITE] = 4, [SEINE_SINK_WARC] = 5,
        [SEINE_SINK_SAVE] = 6,  [SEINE_SINK_NAMED] = 6,  [SEINE_SINK_MIRROR] = 7,
    };
    unsigned format = o->opts.format;

    return format < sizeof series / sizeof *series ? series[format] : 0;
}

void
sn_sink_metrics_flushed(sn_sink_metrics *m, sn_out *outs, size_t n)
{
    for (size_t i = 0; m && i < n; i++) {
        sn_out *o = &outs[i];
        unsigned series = series_of(o);

        seine_counter_add(m->records, series, o->records - o->told_records);
        if (o->bytes > o->told_bytes) /* a file that is begun anew counts from 0 */
            seine_counter_add(m->bytes, series, o->bytes - o->told_bytes);
        o->told_records = o->records;
        o->told_bytes = o->bytes;
    }
}

void
sn_sink_metrics_failed(sn_sink_metrics *m, const sn_out *o)
{
    if (m)
        seine_counter_add(m->errors, series_of(o), 1);
}

void
sn_sink_metrics_committed(sn_sink_metrics *m, seine_span took)
{
    if (m)
        seine_histogram_observe(m->commit, 0, took);
}

void
sn_sink_metrics_waiting(sn_sink_metrics *m, uint64_t records)
{
    if (m)
        seine_gauge_set(m->depth, 0, (int64_t)records);
}
