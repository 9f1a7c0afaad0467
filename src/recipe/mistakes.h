/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mistakes.h - the mistakes of a file, in order of position, the first 20 of them.
 *
 *     sn_mistakes m = {.file = "shop.yaml", .all = wrong};
 *     sn_mistakes_add(&m, line, column, "unknown key 'filds'; try fields");
 *
 * Time    plays no part.
 * Memory  the caller's: SEINE_DIAG_MAX diags.
 * Threads one owner.
 */
#ifndef SN_MISTAKES_H
#define SN_MISTAKES_H

#include "seine/diag.h"

typedef struct sn_mistakes {
    const char *file;
    seine_diag *all; /* SEINE_DIAG_MAX of them */
    unsigned count;  /* more than there is room for are counted */
} sn_mistakes;

/* The last falls off a full list. */
void sn_mistakes_add(sn_mistakes *m, uint64_t line, uint64_t column, const char *text);

#endif
