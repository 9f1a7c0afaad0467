/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the bodies of ok results one after another, each complete or not at all. */
#include <errno.h>

#include "store/outfile.h"

static seine_err
open_raw(sn_out *o, seine_diag *diag)
{
    return sn_outfile_open(o->self, o, diag);
}

static seine_err
start_raw(sn_out *o, seine_diag *diag)
{
    return sn_outfile_start(o->self, o, diag);
}

static seine_err
record_raw(sn_out *o, seine_record *r, uint64_t seq, seine_diag *diag)
{
    sn_outfile *f = o->self;
    size_t done;

    (void)seq;
    if (r->type == SEINE_RECORD_SKIP || r->fate != SEINE_FATE_OK || r->body.len == 0)
        return SEINE_OK;
    if (!sn_outfile_write(f, r->body, &done)) {
        int error = errno;

        sn_outfile_take_back(f, done);
        return sn_outfile_fail(o, error, diag);
    }
    o->bytes += done;
    o->records++;
    return SEINE_OK;
}

static bool
length_of_raw(sn_out *o, sn_out_length *out)
{
    return sn_outfile_length(o->self, out);
}

static seine_err
close_raw(sn_out *o, seine_diag *diag)
{
    return sn_outfile_close(o->self, o, diag);
}

const sn_out_ops sn_out_raw = {
    .size = sizeof(sn_outfile),
    .open = open_raw,
    .start = start_raw,
    .record = record_raw,
    .length = length_of_raw,
    .close = close_raw,
};
