/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/time.h"
#include "net/conn.h"

/*
 * A body is too slow if some window of length span has fewer than q bytes. An exact check
 * would store the time of each of the last q bytes. Instead we store when the count
 * passed each of the last eight multiples of q / 8. Since the eighth last of these times,
 * fewer than q bytes have come; if it is a span ago, the body is too slow.
 */
void
sn_reader_pace(sn_reader *r, const sn_timeouts *limits, seine_time now)
{
    sn_u128 quota = (sn_u128)limits->speed_bytes * (uint64_t)limits->speed_span /
                    (uint64_t)SEINE_SECS(1);

    r->n_marks = 0;
    r->mark = 0;
    if (limits->speed_bytes == 0 || limits->speed_span == SEINE_NEVER)
        return;
    if (quota == 0)
        quota = 1;
    r->n_marks = quota < SN_PACE_MARKS ? (uint32_t)quota : SN_PACE_MARKS;
    quota /= r->n_marks;
    r->step = quota < UINT64_MAX ? (uint64_t)quota : UINT64_MAX;
    r->marks[0] = now;
}

void
sn_reader_more(sn_reader *r, seine_time now)
{
    if (r->n_marks == 0)
        return;
    uint64_t mark = r->wire / r->step;
    uint64_t from = r->mark + 1;

    if (mark >= r->n_marks && from <= mark - r->n_marks)
        from = mark - r->n_marks + 1;
    for (uint64_t k = from; k <= mark; k++)
        r->marks[k % r->n_marks] = now;
    r->mark = mark;
}

seine_time
sn_reader_stalls(const sn_reader *r, seine_span span)
{
    if (r->n_marks == 0)
        return SEINE_NEVER;
    uint64_t k = r->mark < r->n_marks - 1 ? 0 : r->mark - (r->n_marks - 1);

    return sn_time_add(r->marks[k % r->n_marks], span);
}

void
sn_reader_free(sn_reader *r)
{
    sn_head_fini(&r->head);
    sn_free(r);
}
