/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a pack: whatever the bytes are, they are read or refused, and what was read is
 * written as the same bytes. The first byte chooses the shape. */
#include <stdlib.h>
#include <string.h>

#include "store/job_pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool ok)
{
    if (!ok)
        abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sn_job_pack_shape shapes[] = {{1, 0}, {7, 1}, {11, 0}, {3, 4}};
    sn_buf again, both;

    if (size == 0)
        return 0;
    const sn_job_pack_shape *shape = &shapes[data[0] % 4];
    sn_str all = {(const char *)data + 1, size - 1}, rest = all;
    sn_buf_init(&again, SIZE_MAX - 1);
    sn_buf_init(&both, SIZE_MAX - 1);
    seine_err e = SEINE_OK;
    while (e == SEINE_OK && rest.len > 0) {
        sn_job_row row;
        sn_str was = rest;

        e = sn_job_pack_next(&rest, shape, 5, &row);
        if (e != SEINE_OK)
            break;
        must(row.ints[0] >= 80 && row.ints[0] < 96 && rest.len < was.len);
        sn_buf_reset(&again);
        must(sn_job_pack_add(&again, shape, &row) == SEINE_OK);
        sn_str written = sn_buf_view(&again), read = {was.ptr, was.len - rest.len};
        must(shape->n_texts > 0 ||
             sn_str_eq(written, read)); /* a length has many forms */
    }
    seine_err merged = sn_job_pack_merge(&both, shape, all, all);
    must((merged == SEINE_OK) == (e == SEINE_OK));
    sn_buf_fini(&again);
    sn_buf_fini(&both);
    return 0;
}
