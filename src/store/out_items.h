/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out_items.h - the items of pages as lines of text.
 *
 * JSON lines have one object an item, or its data alone; CSV has the rows of one kind, or
 * of the bad ones. A table of a database: out_sqlite_items.c.
 *
 * Time    plays no part; writing blocks.
 * Memory  one line.
 * Threads one owner.
 */
#ifndef SN_OUT_ITEMS_H
#define SN_OUT_ITEMS_H

#include "base/buf.h"
#include "seine/record_items.h"
#include "store/outtext.h"

/* An item as a line of JSON; `job` empty: none. */
void sn_out_item_line(sn_str job, const seine_record *r, const seine_item *item,
                      uint64_t seq, sn_buf *line);

/* The line of column names. */
void sn_out_items_head(const sn_out *o, sn_text_writer *p);

SEINE_MUST_CHECK seine_err sn_out_items_jsonl(sn_out *o, const seine_record *r,
                                              uint64_t seq, seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_out_items_csv(sn_out *o, const seine_record *r,
                                            uint64_t seq, seine_diag *diag);

#endif
