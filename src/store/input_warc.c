/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the target URLs of the responses in an archive. */
#include <string.h>

#include "seine/warc.h"
#include "store/input.h"

static bool
is_answer(const seine_warc_entry *e)
{
    sn_str type = e->type;

    return e->target.len > 0 &&
           (sn_str_eq(type, SN_STR("response")) || sn_str_eq(type, SN_STR("revisit")));
}

static seine_err
fail_archive(seine_input *in)
{
    uint64_t at;
    const char *why = seine_warc_why(in->warc, &at);

    sn_diag_text(&in->diag, "damaged at byte %llu: %s", (unsigned long long)at, why);
    sn_diag_place(&in->diag, in->name, 0, 0);
    return SEINE_E_IO;
}

seine_err
sn_input_warc(seine_input *in, seine_ask *ask)
{
    seine_view piece;

    if (!in->warc) {
        seine_err e = seine_warc_new(NULL, &in->warc);
        if (e != SEINE_OK)
            return e;
    }
    for (;;) {
        const seine_warc_entry *e = seine_warc_at(in->warc);
        bool is_last = in->lines.is_over && in->lines.at == in->lines.end;

        switch (seine_warc_next(in->warc, &in->warc_in, is_last, &piece)) {
        case SEINE_WARC_MORE: {
            sn_str more = sn_lines_take(&in->lines);

            if (more.len == 0 && in->lines.error)
                return SEINE_E_CLOSED; /* the caller writes the error */
            in->warc_in = more;
            break;
        }
        case SEINE_WARC_END:
            if (!is_answer(e))
                break;
            atomic_fetch_add_explicit(&in->lines.lines, 1, memory_order_relaxed);
            ask->url = ask->input = e->target;
            return SEINE_OK;
        case SEINE_WARC_FAIL:
            return fail_archive(in);
        case SEINE_WARC_DONE:
            return SEINE_E_CLOSED;
        default:
            break;
        }
    }
}
