/* SPDX-License-Identifier: Apache-2.0 */
/* Edits, positions in any unit, as change sets. */
#include "base/str.h"
#include "collab/collab_parts.h"

static uint64_t
size_in(seine_unit unit, uint32_t character, size_t bytes)
{
    return unit == SEINE_UTF8 ? bytes : unit == SEINE_UTF16 && character > 0xffff ? 2 : 1;
}

/* Walks `n` of the unit; adds the units of UTF-16 to *out. False: the text ends before,
 * or the place is inside of a character. */
static bool
walk(sn_str *rest, seine_unit unit, uint64_t n, uint64_t *out)
{
    while (n > 0) {
        uint32_t character;
        size_t bytes = sn_utf8_decode(*rest, &character);
        uint64_t size = size_in(unit, character, bytes);

        if (bytes == 0 || size > n)
            return false;
        n -= size;
        *out += size_in(SEINE_UTF16, character, bytes);
        *rest = sn_str_slice(*rest, bytes, rest->len);
    }
    return true;
}

static seine_err
read_edit(const seine_edit *edit, seine_unit unit, const seine_text *text,
          seine_changes *to)
{
    sn_str rest = {text->bytes, text->len};
    uint64_t length = edit->op == SEINE_EDIT_INSERT ? 0 : edit->length;
    size_t len = edit->op == SEINE_EDIT_DELETE ? 0 : edit->text_len;
    uint64_t before = 0, gone = 0, behind = 0;
    seine_err e = SEINE_OK;

    if (!walk(&rest, unit, edit->position, &before) || !walk(&rest, unit, length, &gone))
        return SEINE_E_INVAL;
    e = seine_changes_units(rest.ptr, rest.len, &behind);
    if (e == SEINE_OK && before > 0)
        e = seine_changes_keep(to, before);
    if (e == SEINE_OK)
        e = seine_changes_replace(to, gone, len > 0 ? edit->text : "", len);
    if (e == SEINE_OK && behind > 0)
        e = seine_changes_keep(to, behind);
    return e;
}

seine_err
sn_edits_read(const seine_edit *edits, size_t n, seine_unit unit, const seine_text *text,
              seine_changes **sets, size_t *out_n)
{
    seine_text now = *text, next;
    seine_err e = SEINE_OK;

    *out_n = 0;
    for (size_t i = 0; i < n && e == SEINE_OK; i++) {
        e = seine_changes_new(&sets[i]);
        if (e != SEINE_OK)
            break;
        *out_n = i + 1;
        e = read_edit(&edits[i], unit, &now, sets[i]);
        if (e == SEINE_OK)
            e = seine_changes_apply(sets[i], now.bytes, now.len, &next);
        if (e != SEINE_OK)
            break;
        if (i > 0)
            seine_text_free(&now);
        now = next;
    }
    if (*out_n > 1 || (*out_n == 1 && e == SEINE_OK))
        seine_text_free(&now);
    return e;
}
