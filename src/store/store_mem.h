/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_mem.h - the back end of store/store.h that keeps URLs in memory, and spills to a
 * file if memory is short; it keeps nothing beyond the run.
 *
 * The URLs of a list are stored in chunks of up to 1 KiB. What the links of one page have
 * in common (the page, its depth, the kind of link) is stored once, and a path that
 * shares a prefix with another stores only the rest. A list of one URL takes just the
 * bytes it needs; a longer one grows its last chunk by half. Chunks are freed as they are
 * read. With 20,000 hosts of 50 URLs each, a URL of 40 bytes with its page costs less
 * than 64 bytes.
 *
 * Above max_bytes, chunks in the middle of lists, newest first, are spilled to an unnamed
 * file, and are loaded again when they reach the head of their list. The file is created
 * for the first spilled chunk, its space is reused, and checksums protect its bytes. The
 * first and the last chunk of every list stay in memory.
 *
 *     seine_err e = sn_store_open(&sn_store_mem, &opts, &store);
 *
 * Scan finds nothing. Commit only counts.
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
