/* SPDX-License-Identifier: Apache-2.0 */
/* Visits take the token of their key before they start, or wait for it. */
#include "base/time.h"
#include "engine/key_pace.h"
#include "engine/run_parts.h"

/* Gives back what the visit holds, as if the attempt had never begun; how the last one
 * ended stays known. */
void
sn_run_step_back(sn_run *r, sn_visit *v)
{
    sn_end last = v->end;

    v->end = (sn_end)SN_END;
    v->end.fault.code = SEINE_E_CANCELED;
    v->is_asked = false;
    sn_scheduler_end(r->scheduler, v, r->now);
    v->end = last;
}

bool
sn_run_take_token(sn_run *r, sn_visit *v)
{
    seine_time at;

    if (v->is_paced || v->kind != SN_KIND_PAGE) {
        v->is_paced = false;
        return true;
    }
    seine_err e = sn_key_pace_reserve(r->shared->pace, v, r->now, &at);
    if (e == SEINE_OK && at <= r->now)
        return true;
    sn_run_step_back(r, v);
    if (e == SEINE_OK) {
        v->is_paced = true;
        e = sn_scheduler_again(r->scheduler, v, at, SEINE_WAIT_RATE, r->now);
    }
    if (e != SEINE_OK)
        sn_run_give_up(r, v, e);
    return false;
}
