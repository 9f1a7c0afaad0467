/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_lane.h - operations on their way from one shard to the thread that commits.
 *
 * An operation is up to SN_JOB_INTS numbers and SN_JOB_TEXTS texts, in blocks of memory
 * that the producer fills and the consumer frees. Order is kept.
 *
 *     e = sn_job_lane_put(&l, SN_JOB_FOUND, ints, 6, texts, 4);      the producer
 *
 *     sn_job_cursor c = sn_job_lane_read(&l);                        the consumer
 *     while ((op = sn_job_lane_next(&c)))
 *         apply(op);
 *     sn_job_lane_release(&l, &c);                  or reads the same once more
 *
 * Time    plays no part.
 * Memory  blocks of 64 KiB, larger for a larger operation; `held` counts their content.
 * Threads one producer, one consumer.
 */
#ifndef SN_JOB_LANE_H
#define SN_JOB_LANE_H

#include <stdatomic.h>

#include "base/str.h"

enum { SN_JOB_INTS = 20, SN_JOB_TEXTS = 4 };

typedef enum sn_job_kind {
    SN_JOB_FOUND,
    SN_JOB_ENDED,
    SN_JOB_REFUSED,
    SN_JOB_HOST_ROW,
    SN_JOB_ROBOTS_ROW,
    SN_JOB_NOTE_ROW,
    SN_JOB_COUNTED
} sn_job_kind;

typedef struct sn_job_op {
    uint32_t size; /* with its texts, a multiple of 8 */
    uint16_t kind; /* sn_job_kind */
    uint16_t n_ints;
    uint32_t lens[SN_JOB_TEXTS];
    int64_t ints[]; /* then the texts */
} sn_job_op;

typedef struct sn_job_block {
    struct sn_job_block *_Atomic next;
    size_t room;
    _Alignas(8) char bytes[];
} sn_job_block;

struct seine_durable_job;

typedef struct sn_job_lane {
    struct seine_durable_job *job;
    _Alignas(64) sn_job_block *tail; /* the producer's */
    size_t at;                       /* in the tail */
    _Atomic uint64_t put;            /* bytes of operations, all in all */
    _Atomic uint32_t entered;        /* odd: a key was added, its row is to come */
    _Atomic bool has_failed;         /* an operation is missing: nothing is committed */
    _Alignas(64) sn_job_block *head; /* the consumer's */
    size_t from;
    _Atomic uint64_t taken;
} sn_job_lane;

typedef struct sn_job_cursor {
    sn_job_block *block;
    size_t from;
    uint64_t at, end; /* bytes since the beginning */
} sn_job_cursor;

void sn_job_lane_fini(sn_job_lane *l); /* a zeroed one is empty */

/* NOMEM: nothing was put. */
SEINE_MUST_CHECK seine_err sn_job_lane_put(sn_job_lane *l, sn_job_kind kind,
                                           const int64_t *ints, unsigned n_ints,
                                           const sn_str *texts, unsigned n_texts);

uint64_t sn_job_lane_held(const sn_job_lane *l); /* bytes that were not released */

/* All that stands in the lane now; operations stay valid until the release. */
sn_job_cursor sn_job_lane_read(const sn_job_lane *l);
const sn_job_op *sn_job_lane_next(sn_job_cursor *c);              /* NULL: none is left */
void sn_job_lane_release(sn_job_lane *l, const sn_job_cursor *c); /* what was read */
sn_str sn_job_op_text(const sn_job_op *op, unsigned i);

/* Waits until nobody is inside any more who was inside now. */
void sn_job_lane_wait(const sn_job_lane *l);

#endif
