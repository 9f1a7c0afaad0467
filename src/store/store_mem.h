/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_mem.h - URLs that wait in memory, and in a file where memory does not suffice:
 * the back end of store/store.h that keeps nothing beyond the run.
 *
 * The URLs of a list stand in chunks of up to 1 KiB. What the links of one page have in
 * common (the page, its depth, the kind of link) is said once for all of them, and of a
 * path that begins like another one only the rest is kept. A list of one URL takes just
 * the bytes it needs; a longer one grows its last chunk by half. Chunks are freed as they
 * are read. Over 20,000 hosts with 50 URLs each a URL of 40 bytes, its page and its place
 * included, costs less than 64 bytes.
 *
 * Above max_bytes chunks in the middle of lists, those that came last first, go to a file
 * without a name and come back when they are at the head of their list. The file is made
 * when the first of them goes, its space is used again, and its bytes are checked. The
 * first and the last chunk of every list stay.
 *
 *     seine_err e = sn_store_open(&sn_store_mem, &opts, &store);
 *
 * Scan finds nothing. Commit counts.
 *
 * Time    plays no part.
 * Memory  16 KiB for an empty one, 16 KiB more with the first URL; a list of one URL
 *         takes about 56 bytes and its texts, in steps of 16.
 * Threads one owner.
 */
#ifndef SN_STORE_MEM_H
#define SN_STORE_MEM_H

#include "store/store.h"

extern const sn_store_ops sn_store_mem;

#endif
