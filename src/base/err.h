/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - how many errors this version knows; see <seine/err.h>.
 *
 *     static const char *texts[SN_ERR_COUNT];       indexed by seine_err
 *
 * The count is no part of the contract, since it grows: arrays of the contract have
 * SEINE_ERR_ROOM elements. Numbers have no gaps so far, and a test holds that.
 *
 * Time    plays no part.
 * Memory  none.
 * Threads any thread.
 */
#ifndef SN_ERR_H
#define SN_ERR_H

#include "seine/err.h"

enum {
    SN_ERR_AT_OK,
#define X(number, id, name, class_, group, text) SN_ERR_AT_##id,
    SEINE_ERRORS(X)
#undef X
        SN_ERR_COUNT /* SEINE_OK included */
};

_Static_assert(SN_ERR_COUNT <= SEINE_ERR_ROOM, "the contract has room for all of them");

#endif
