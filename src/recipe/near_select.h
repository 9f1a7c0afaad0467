/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near_select.h - a selector that finds something and is near to one that finds nothing.
 *
 * Names of tags, classes and ids in the selector are exchanged for those of the page that
 * are written nearly the same; then parts are left out, one at a time.
 *
 * Memory  the names of the page, at most 2,000.
 * Threads one owner.
 */
#ifndef SN_NEAR_SELECT_H
#define SN_NEAR_SELECT_H

#include "seine/select.h"

#define SN_NEAR_SELECT_ROOM 512

/* False: none is near. NOMEM is none, too. `out_text` is terminated. */
bool sn_near_select(const seine_tree *tree, seine_finder *finder, seine_view selector,
                    seine_node scope, char out_text[SN_NEAR_SELECT_ROOM],
                    uint32_t *out_count);

#endif
