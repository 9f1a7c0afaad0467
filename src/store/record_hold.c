/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record_hold.h"

void
sn_record_hold_ref(sn_record_hold *h)
{
    if (h)
        atomic_fetch_add_explicit(&h->refs, 1, memory_order_relaxed);
}

void
sn_record_hold_unref(sn_record_hold *h)
{
    if (h && atomic_fetch_sub_explicit(&h->refs, 1, memory_order_acq_rel) == 1 && h->free)
        h->free(h);
}
