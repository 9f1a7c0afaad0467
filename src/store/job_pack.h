/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_pack.h - rows of job.db, sixteen to a row of SQLite.
 *
 * A row of its own costs SQLite some 4,000 instructions, however short it is. So the
 * tables that have a row for every URL keep those of sixteen successive keys together, in
 * a blob with one CRC: `pack` is the key divided by sixteen. In it rows are in the order
 * of their keys, each
 *
 *     place        1 byte, the key modulo sixteen
 *     widths       1 byte for each further integer: how many bytes it takes, 0 to 8
 *     integers     as many bytes each, lowest first, negative ones folded: -1 is 1, 1 is
 * 2 texts        each with its length, seven bits a byte, lowest first
 *
 *     e = sn_job_pack_add(&bytes, &shape, &row);
 *
 *     sn_str rest = sn_buf_view(&bytes);
 *     while (e == SEINE_OK && rest.len > 0)
 *         e = sn_job_pack_next(&rest, &shape, pack, &row);    STATE_CORRUPT: no such row
 *
 * Time    plays no part.
 * Memory  of the buffer; rows that are read point into their bytes.
 * Threads one owner.
 */
#ifndef SN_JOB_PACK_H
#define SN_JOB_PACK_H

#include "base/buf.h"
#include "store/job_lane.h"

enum { SN_JOB_PACK = 16 }; /* keys */

typedef struct sn_job_row {
    int64_t ints[SN_JOB_INTS];
    sn_str texts[SN_JOB_TEXTS + 4];
} sn_job_row;

typedef struct sn_job_pack_shape {
    unsigned n_ints, n_texts; /* of a row, with its key */
} sn_job_pack_shape;

static inline int64_t
sn_job_pack_of(int64_t key)
{
    return key >> 4;
}

/* NOMEM, FULL. */
SEINE_MUST_CHECK seine_err sn_job_pack_add(sn_buf *to, const sn_job_pack_shape *shape,
                                           const sn_job_row *row);

/* Reads the first row and takes it off. STATE_CORRUPT: there is none, whatever the bytes
 * are. That keys rise is the caller's to see. */
SEINE_MUST_CHECK seine_err sn_job_pack_next(sn_str *rest, const sn_job_pack_shape *shape,
                                            int64_t pack, sn_job_row *out_row);

/* The rows of two packs in order; of two with one key that of `more` stays.
 * STATE_CORRUPT: one of them is none; NOMEM, FULL. */
SEINE_MUST_CHECK seine_err sn_job_pack_merge(sn_buf *to, const sn_job_pack_shape *shape,
                                             sn_str old, sn_str more);

#endif
