/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.h - oddities of servers that seine tolerated, as bits and as words.
 *
 * A note never makes a response fail; records show it as `notes`. A new kind of tolerance
 * gets a row here.
 *
 *     notes |= SN_NOTE_EXTRA_BYTES;
 *     puts(sn_note_name(SN_NOTE_EXTRA_BYTES));    "extra_bytes"
 *
 * Time    plays no part.
 * Memory  all strings are static.
 * Threads any thread.
 */
#ifndef SN_NOTE_H
#define SN_NOTE_H

#include <stdint.h>

/* clang-format off */
#define SN_NOTES(X) \
    X(LF,               "lf")               /* a line of a head ended in LF alone */ \
    X(CR,               "cr")               /* a bare CR in a head was read as a blank */ \
    X(ODD_HEADERS,      "odd_headers")      /* lines of a head were dropped */ \
    X(FRAMING_CONFLICT, "framing_conflict") /* both lengths: chunked won */ \
    X(EXTRA_BYTES,      "extra_bytes")      /* bytes after the end of the response */ \
    X(TRAILING_BYTES,   "trailing_bytes")   /* bytes after the end of a coded body */ \
    X(ODD_CODING,       "odd_coding")       /* a coding that is none was passed over */
/* clang-format on */

enum sn_note_index {
#define X(id, name) SN_NOTE_INDEX_##id,
    SN_NOTES(X)
#undef X
        SN_NOTE_COUNT
};

enum sn_note {
#define X(id, name) SN_NOTE_##id = 1 << SN_NOTE_INDEX_##id,
    SN_NOTES(X)
#undef X
};

/* Returns the word of one bit; NULL for no or several bits. */
const char *sn_note_name(uint32_t bit);

#endif
