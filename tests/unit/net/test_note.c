/* SPDX-License-Identifier: Apache-2.0 */
#include "net/note.h"

#include "check.h"

TEST(note_has_a_word_for_each_bit)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } rows[] = {
        {SN_NOTE_LF, "lf"},
        {SN_NOTE_CR, "cr"},
        {SN_NOTE_ODD_HEADERS, "odd_headers"},
        {SN_NOTE_FRAMING_CONFLICT, "framing_conflict"},
        {SN_NOTE_EXTRA_BYTES, "extra_bytes"},
        {SN_NOTE_TRAILING_BYTES, "trailing_bytes"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(sn_note_name(rows[i].bit), rows[i].name);
    for (int i = 0; i < SN_NOTE_COUNT; i++)
        CHECK(sn_note_name(1u << i) != NULL);
}

TEST(note_has_no_word_for_none_or_several)
{
    CHECK(!sn_note_name(0));
    CHECK(!sn_note_name(SN_NOTE_LF | SN_NOTE_CR));
    CHECK(!sn_note_name(1u << SN_NOTE_COUNT));
    CHECK(!sn_note_name(UINT32_MAX));
}
