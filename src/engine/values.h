/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.h - what the fields of the options find in a page, on its way to the record.
 *
 *     sn_values values = {0};
 *     sn_values_read(&values, &reading);        the visit stays as it is
 *     …                                          sn_emit_values moves them on
 *     sn_values_fini(&values, brake);
 *
 * Time    is read if somebody wants to know how long it took.
 * Memory  the values; the tree of the page while it is read. Both are counted.
 * Threads one owner, which has the visit: a shard or one of engine/page_readers.h.
 */
#ifndef SN_VALUES_H
#define SN_VALUES_H

#include "base/buf.h"
#include "engine/visit.h"
#include "seine/extract.h"

typedef struct sn_values {
    bool is_read;     /* false: nothing is known yet */
    seine_err err;    /* why some are missing; OK */
    bool has_data;    /* false: the page is of no kind that the fields are for */
    sn_buf data;      /* JSON */
    sn_charge charge; /* of large ones */
    seine_time began; /* if somebody asks for the time */
    seine_span took;
} sn_values;

typedef struct sn_values_reading {
    const sn_visit *visit;
    seine_extractor *reader;
    sn_memory_brake *brake;
    seine_clock *clock;                   /* NULL: nobody asks how long it takes */
    bool (*is_canceled)(const void *arg); /* asked now and then: CANCELED; NULL */
    const void *arg;
} sn_values_reading;

/* Into values that hold none. CANCELED: they are not read. */
void sn_values_read(sn_values *values, const sn_values_reading *how);
void sn_values_fini(sn_values *values, sn_memory_brake *brake);

#endif
