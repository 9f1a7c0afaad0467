/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_names.h - which of many URLs gets which file name?
 *
 * Natural names (file_name.h) may collide: a/ and a/index.html, A and a where case does
 * not count, a file x where x/y needs a directory. The names that are given here are all
 * different, also for a file system that ignores case, and no name is the directory of
 * another. They depend on the set of URLs alone, not on the order.
 *
 *     claims[i] = (sn_file_claim){.key = key, .natural = name};
 *     e = sn_file_names_give(claims, n, &arena);
 *     …  claims[i].name
 *
 * Of URLs that want the same name the first by its key gets it; a file whose name is
 * needed as a directory gets another. The others have the hash of their key in their
 * name.
 *
 * Time    plays no part; work is that of sorting.
 * Memory  new names come from the arena; two pointers a claim meanwhile.
 * Threads one owner.
 */
#ifndef SN_FILE_NAMES_H
#define SN_FILE_NAMES_H

#include "base/arena.h"
#include "base/str.h"

typedef struct sn_file_claim {
    sn_str key;     /* of the URL; no two claims have the same */
    sn_str natural; /* name */
    sn_str name;    /* that is given */
} sn_file_claim;

SEINE_MUST_CHECK seine_err sn_file_names_give(sn_file_claim *claims, size_t n,
                                              sn_arena *arena);

#endif
