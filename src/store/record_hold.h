/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_hold.h - large bytes that a record points to, kept without a copy.
 *
 * A record is copied on its way to the outputs. Its body and its captures may be large:
 * then seine_record.hold keeps their bytes, and a copy of the record takes a reference.
 * Whoever drops the last one frees them. Members that records have got since the first
 * release live here, too: the struct of a record keeps its layout (docs/ABI.md).
 *
 *     sn_record_hold_ref(h);       a copy of the record
 *     sn_record_hold_unref(h);     the copy is written
 *
 * Time    plays no part.
 * Memory  the maker's.
 * Threads any thread.
 */
#ifndef SN_RECORD_HOLD_H
#define SN_RECORD_HOLD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "seine/record_links.h"

struct sn_record_links;
struct seine_record_items;

/* Pages that link to the URL of the record, as far as they are kept. */
typedef struct sn_referrer_list {
    const seine_referrer *pages;
    size_t n;     /* that are kept … */
    size_t count; /* … of so many */
} sn_referrer_list;

typedef struct sn_record_hold {
    _Atomic uint32_t refs;
    size_t bytes; /* of body and captures; 0: these are copied with the record */
    void (*free)(struct sn_record_hold *h); /* NULL: it outlives all records */
    seine_change change;
    sn_str page; /* what the job keeps of the page, packed (job_page.h); empty: nothing */
    const struct sn_record_links *links; /* of the page; NULL: nobody asked for them */
    const sn_referrer_list *referrers;   /* set by the sinks; NULL: likewise */
    sn_str data; /* values of the page, an object of JSON; absent: none */
    const struct seine_record_items *items; /* of the page; NULL: none */
    sn_str kept; /* what the job keeps with the record; empty: nothing */
} sn_record_hold;

/* Does it keep body and captures? NULL does not. */
static inline bool
sn_record_hold_keeps(const sn_record_hold *h)
{
    return h && h->bytes > 0;
}

void sn_record_hold_ref(sn_record_hold *h); /* NULL is fine, as below */
void sn_record_hold_unref(sn_record_hold *h);

#endif
