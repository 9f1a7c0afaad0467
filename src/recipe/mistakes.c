/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/mistakes.h"

#include <stdbool.h>
#include <string.h>

#include "base/diag.h"

static bool
is_behind(const seine_diag *d, uint64_t line, uint64_t column)
{
    return d->line > line || (d->line == line && d->column > column);
}

void
sn_mistakes_add(sn_mistakes *m, uint64_t line, uint64_t column, const char *text)
{
    seine_diag d = SEINE_DIAG;
    unsigned n = m->count < SEINE_DIAG_MAX ? m->count : SEINE_DIAG_MAX, i = n;

    sn_diag_text(&d, "%s", text);
    sn_diag_place(&d, m->file, line, column);
    m->count++;
    while (i > 0 && is_behind(&m->all[i - 1], line, column))
        i--;
    if (i == SEINE_DIAG_MAX)
        return;
    size_t behind = n < SEINE_DIAG_MAX ? n - i : SEINE_DIAG_MAX - 1 - i;
    memmove(&m->all[i + 1], &m->all[i], behind * sizeof d);
    m->all[i] = d;
}
