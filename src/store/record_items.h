/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_items.h - the items of a page as the outputs read them.
 *
 *     sn_item_cursor c = sn_record_items_of(record);
 *     while (sn_record_items_next(&c, &item))
 *         …                                       item.texts are valid with the record
 *
 * Time    plays no part.
 * Memory  of the hold of the record.
 * Threads any number of readers.
 */
#ifndef SN_RECORD_ITEMS_H
#define SN_RECORD_ITEMS_H

#include "base/buf.h"
#include "seine/record_items.h"
#include "store/record_hold.h"

struct seine_record_items {
    sn_record_hold base;   /* first: the hold of the record that they travel with */
    sn_record_hold *under; /* that the record had before; NULL: none */
    sn_buf packed, kept, leads;
    size_t n;
};

typedef struct sn_item_cursor {
    sn_str rest;
} sn_item_cursor;

size_t sn_record_items_count(const seine_record *r);
size_t sn_record_items_bytes(const seine_record *r); /* that they take */
sn_item_cursor sn_record_items_of(const seine_record *r);
bool sn_record_items_next(sn_item_cursor *c, seine_item *out);

/* What a page leads to, for a job whose URLs are given by who reads pages (fleet.h). */
typedef struct sn_item_lead {
    sn_str url;
    sn_str rest;   /* of a lead: its request (engine/ask_bytes.h); else where it went */
    bool is_moved; /* the URL was redirected to `rest` */
} sn_item_lead;

SEINE_MUST_CHECK seine_err sn_record_items_lead(seine_record_items *i,
                                                const sn_item_lead *lead);
sn_item_cursor sn_record_leads_of(const seine_record *r);
bool sn_record_leads_next(sn_item_cursor *c, sn_item_lead *out);

#endif
