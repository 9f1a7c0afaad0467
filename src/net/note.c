/* SPDX-License-Identifier: Apache-2.0 */
#include "net/note.h"

#include <stddef.h>

const char *
sn_note_name(uint32_t bit)
{
    switch (bit) {
#define X(id, name)    \
    case SN_NOTE_##id: \
        return name;
        SN_NOTES(X)
#undef X
    default:
        return NULL;
    }
}
