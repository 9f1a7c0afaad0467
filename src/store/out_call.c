/* SPDX-License-Identifier: Apache-2.0 */
#include "store/out.h"

static seine_err
open_call(sn_out *o, seine_diag *diag)
{
    (void)diag;
    return o->opts.call ? SEINE_OK : SEINE_E_INVAL;
}

static seine_err
record_call(sn_out *o, seine_record *r, uint64_t seq, seine_diag *diag)
{
    seine_err e = o->opts.call(r, seq, o->opts.arg);

    if (e != SEINE_OK)
        sn_diag_text(diag, "%s", seine_err_text(e));
    else
        o->records++;
    return e;
}

const sn_out_ops sn_out_call = {.open = open_call, .record = record_call};
