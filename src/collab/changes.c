/* SPDX-License-Identifier: Apache-2.0 */
#include "collab/changes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/time.h"

/* Bytes of the inserted texts of a set. */
#define TEXT_MOST ((size_t)64 << 20)

seine_err
seine_changes_new(seine_changes **out_c)
{
    if (!out_c)
        return SEINE_E_INVAL;
    seine_changes *c = sn_zalloc(sizeof *c);

    *out_c = c;
    if (!c)
        return SEINE_E_NOMEM;
    sn_buf_init(&c->sections, SEINE_CHANGES_SECTIONS * sizeof(sn_section));
    sn_buf_init(&c->text, TEXT_MOST);
    return SEINE_OK;
}

void
seine_changes_free(seine_changes *c)
{
    if (!c)
        return;
    sn_buf_fini(&c->sections);
    sn_buf_fini(&c->text);
    sn_free(c);
}

void
seine_changes_clear(seine_changes *c)
{
    if (!c)
        return;
    sn_buf_reset(&c->sections);
    sn_buf_reset(&c->text);
    c->from = c->to = 0;
}

/* Units. */

static unsigned
units_of(uint32_t character)
{
    return character > 0xffff ? 2 : 1;
}

/* Most recipes are; it takes eight bytes at a time. */
static bool
is_ascii(const char *text, size_t len)
{
    uint64_t word, high = 0;
    size_t i = 0;

    for (; i + sizeof word <= len; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        high |= word;
    }
    for (; i < len; i++)
        high |= (unsigned char)text[i];
    return (high & UINT64_C(0x8080808080808080)) == 0;
}

seine_err
seine_changes_units(const char *text, size_t len, uint64_t *out_units)
{
    uint64_t n = 0;

    if ((!text && len > 0) || !out_units)
        return SEINE_E_INVAL;
    if (is_ascii(text, len)) {
        *out_units = len;
        return SEINE_OK;
    }
    if (!sn_utf8_valid((sn_str){text, len}))
        return SEINE_E_INVAL;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        n += (c & 0xc0) != 0x80;
        n += c >= 0xf0;
    }
    *out_units = n;
    return SEINE_OK;
}

static bool
is_good(sn_str text)
{
    return sn_str_find(text, '\0') == text.len && sn_str_find(text, '\r') == text.len;
}

/* Sections. */

/* The last section, if the new one is of its kind: both keep, delete or insert. */
static sn_section *
same_kind(seine_changes *c, uint64_t units, bool is_kept, sn_str text)
{
    size_t n = sn_changes_count(c);

    if (n == 0)
        return NULL;
    sn_section *last = (sn_section *)(void *)c->sections.ptr + n - 1;
    if (is_kept || last->is_kept)
        return is_kept && last->is_kept ? last : NULL;
    if (text.len == 0)
        return last->len == 0 ? last : NULL;
    return units == 0 && last->units == 0 ? last : NULL;
}

seine_err
sn_changes_add(seine_changes *c, bool joins, uint64_t units, bool is_kept, sn_str text,
               uint64_t text_units)
{
    uint64_t to = is_kept ? units : text_units;

    if (units > SEINE_CHANGES_UNITS - c->from || to > SEINE_CHANGES_UNITS - c->to)
        return SEINE_E_FULL;
    if (units == 0 && text.len == 0)
        return SEINE_OK;
    sn_section *last = joins ? same_kind(c, units, is_kept, text) : NULL;
    sn_section fresh = {.units = (uint32_t)units,
                        .at = (uint32_t)c->text.len,
                        .len = (uint32_t)text.len,
                        .text_units = (uint32_t)text_units,
                        .is_kept = is_kept};
    size_t had = c->text.len;

    sn_buf_str(&c->text, text);
    if (!last && sn_buf_done(&c->text) == SEINE_OK)
        sn_buf_add(&c->sections, &fresh, sizeof fresh);
    seine_err e = sn_buf_done(&c->text);
    if (e == SEINE_OK)
        e = sn_buf_done(&c->sections);
    if (e != SEINE_OK) {
        c->text.err = c->sections.err = SEINE_OK;
        sn_buf_truncate(&c->text, had);
        return e;
    }
    if (last) {
        last->units += (uint32_t)units;
        last->len += (uint32_t)text.len;
        last->text_units += (uint32_t)text_units;
    }
    c->from += units;
    c->to += to;
    return SEINE_OK;
}

seine_err
seine_changes_keep(seine_changes *c, uint64_t units)
{
    if (!c || units == 0)
        return SEINE_E_INVAL;
    return sn_changes_add(c, false, units, true, (sn_str){0}, 0);
}

seine_err
seine_changes_replace(seine_changes *c, uint64_t units, const char *text, size_t len)
{
    uint64_t n = 0;
    seine_err e = seine_changes_units(text, len, &n);

    if (!c || e != SEINE_OK || (units == 0 && n == 0) || !is_good((sn_str){text, len}))
        return SEINE_E_INVAL;
    return sn_changes_add(c, false, units, false, (sn_str){text, len}, n);
}

seine_err
sn_changes_copy(const seine_changes *from, seine_changes *to)
{
    seine_err e = SEINE_OK;

    seine_changes_clear(to);
    for (size_t i = 0; e == SEINE_OK && i < sn_changes_count(from); i++) {
        const sn_section *s = sn_changes_section(from, i);

        e = sn_changes_add(to, false, s->units, s->is_kept, sn_changes_text(from, s),
                           s->text_units);
    }
    return e;
}

uint64_t
seine_changes_from(const seine_changes *c)
{
    return c ? c->from : 0;
}

uint64_t
seine_changes_to(const seine_changes *c)
{
    return c ? c->to : 0;
}

bool
seine_changes_at(const seine_changes *c, size_t i, seine_section *out_section)
{
    if (!c || !out_section || i >= sn_changes_count(c))
        return false;
    const sn_section *s = sn_changes_section(c, i);

    *out_section =
        (seine_section){s->units, s->is_kept, sn_changes_text(c, s), s->text_units};
    return true;
}

/* The text. */

/* Skips so many units of the text; false: it ends before, or a character is cut. */
static bool
skip_units(sn_str *rest, uint64_t units)
{
    while (units > 0) {
        uint32_t character;
        size_t most = units < rest->len ? (size_t)units : rest->len, n = 0;

        while (n < most && (unsigned char)rest->ptr[n] < 0x80) /* a run of ASCII */
            n++;
        if (n > 0) {
            units -= n;
            *rest = sn_str_slice(*rest, n, rest->len);
            continue;
        }
        n = sn_utf8_decode(*rest, &character);
        if (n == 0 || units_of(character) > units)
            return false;
        units -= units_of(character);
        *rest = sn_str_slice(*rest, n, rest->len);
    }
    return true;
}

seine_err
seine_changes_apply(const seine_changes *c, const char *text, size_t len,
                    seine_text *out_text)
{
    sn_str rest = {text, len};
    uint64_t units;
    sn_buf to;

    if (!c || !out_text || seine_changes_units(text, len, &units) != SEINE_OK)
        return SEINE_E_INVAL;
    if (units != c->from)
        return SEINE_E_RANGE;
    sn_buf_init(&to, len + c->text.len);
    for (size_t i = 0; i < sn_changes_count(c); i++) {
        const sn_section *s = sn_changes_section(c, i);
        sn_str before = rest;

        if (!skip_units(&rest, s->units)) {
            sn_buf_fini(&to);
            return SEINE_E_INVAL;
        }
        sn_buf_str(&to, s->is_kept ? sn_str_slice(before, 0, before.len - rest.len)
                                   : sn_changes_text(c, s));
    }
    seine_err e = sn_buf_take(&to, out_text);
    sn_buf_fini(&to);
    return e;
}

uint64_t
seine_changes_move(const seine_changes *c, uint64_t place, int side)
{
    uint64_t old = 0, now = 0;

    for (size_t i = 0; c && i < sn_changes_count(c); i++) {
        const sn_section *s = sn_changes_section(c, i);
        uint64_t end = old + s->units;

        if (s->is_kept) {
            if (end > place)
                return now + (place - old);
            now += s->units;
        } else {
            if (end > place || (end == place && s->units == 0 && side < 0))
                return place == old || side < 0 ? now : now + s->text_units;
            now += s->text_units;
        }
        old = end;
    }
    return now;
}
