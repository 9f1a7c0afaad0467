/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diag_line.h - a diag as the one line that people read, for CHECK_STR.
 *
 *     CHECK_STR(diag_line(&diag), "per_host: at least 1");
 */
#ifndef DIAG_LINE_H
#define DIAG_LINE_H

#include "seine/diag.h"

/* Valid until the next call of this thread. */
static inline const char *
diag_line(const seine_diag *diag)
{
    static _Thread_local char line[SEINE_DIAG_ROOM];

    seine_diag_print(diag, NULL, line, sizeof line);
    return line;
}

#endif
