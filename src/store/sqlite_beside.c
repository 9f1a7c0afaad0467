/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_beside.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"

/* False: there is none. What cannot be looked at is foreign. */
static bool
look_at(const char *path, const char *ending, const struct stat *db, struct stat *out,
        bool *out_plain)
{
    char name[PATH_MAX + 16];

    if (snprintf(name, sizeof name, "%s%s", path, ending) >= (int)sizeof name ||
        lstat(name, out) != 0) {
        *out_plain = false;
        return errno != ENOENT;
    }
    *out_plain = S_ISREG(out->st_mode) && out->st_nlink == 1 && out->st_uid == db->st_uid;
    return true;
}

void
sn_beside_look(const char *path, sn_beside *out)
{
    static const char *const endings[] = {"-journal", "-wal", "-shm"};
    struct stat db, st;
    bool is_plain;

    *out = (sn_beside){.foreign = NULL};
    if (stat(path, &db) != 0)
        return; /* opening it will say why */
    for (size_t i = 0; i < 3; i++) {
        if (!look_at(path, endings[i], &db, &st, &is_plain))
            continue;
        if (!is_plain || (i == 0 && st.st_size > 0)) {
            out->foreign = endings[i];
            return;
        }
        if (i == 1) {
            out->has_wal = true;
            out->is_filled = st.st_size > 0;
        }
    }
}

seine_err
sn_beside_refuse(const char *name, const char *ending, seine_diag *diag)
{
    sn_diag_text(diag, "%s%s is not ours: not taken in; try without it", name, ending);
    return SEINE_E_STATE_FOREIGN;
}
