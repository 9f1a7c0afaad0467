/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/decide.h"
#include "chaos/folder.h"

/* Delays and cuts stay: a file that is missing is missed as slowly as it would come. */
static void
refuse(snc_plan *p, unsigned status, sn_str why)
{
    p->final = SNC_FINAL_SAID;
    p->status = status;
    p->raw = why;
}

void
snc_decide_file(snc_deciding *d)
{
    sn_buf *file = &d->w->file;

    if (d->w->folder < 0) {
        refuse(&d->plan, 400, SN_STR("'file': this server has no folder of files\n"));
        return;
    }
    sn_buf_reset(file);
    switch (snc_folder_read(d->w->folder, d->plan.rest, file)) {
    case SEINE_OK:
        d->plan.raw = sn_buf_view(file);
        break;
    case SEINE_E_UNKNOWN:
        refuse(&d->plan, 404, SN_STR("no such file\n"));
        break;
    case SEINE_E_RANGE:
        refuse(&d->plan, 500, SN_STR("this file is larger than 64 MiB\n"));
        break;
    default:
        refuse(&d->plan, 500, SN_STR("this file cannot be read\n"));
    }
}
