/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_beside.h - which files beside a database would SQLite take for a part of it?
 *
 *     sn_beside side;
 *     sn_beside_look("x.sqlite", &side);
 *     if (side.foreign)
 *         return sn_beside_refuse("x.sqlite", side.foreign, &diag);
 *
 * SQLite finishes what another process left undone: NAME-journal is rolled back, which
 * deletes the file that the journal names, and NAME-wal is opened and written through any
 * link. Whoever gets a database from a stranger may get such a file with it. Our own
 * outputs never have a journal. Their WAL is a plain file of the same owner, and the only
 * thing that it can change is the database.
 *
 * The look is for files that were there before. It does not hold against a process that
 * may write to the directory meanwhile.
 *
 * Time    four system calls.
 * Memory  none.
 * Threads any thread.
 */
#ifndef SN_SQLITE_BESIDE_H
#define SN_SQLITE_BESIDE_H

#include <stdbool.h>

#include "seine/diag.h"
#include "seine/err.h"

typedef struct sn_beside {
    const char *foreign; /* ending of a file that cannot be ours, "-journal"; or NULL */
    bool has_wal;        /* somebody writes to the database, or was killed */
    bool is_filled;      /* … and the WAL holds something */
} sn_beside;

void sn_beside_look(const char *path, sn_beside *out);

/* STATE_FOREIGN, with "x.sqlite-wal is not ours: …"; `name` is the database's. */
seine_err sn_beside_refuse(const char *name, const char *ending, seine_diag *diag);

#endif
