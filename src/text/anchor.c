/* SPDX-License-Identifier: Apache-2.0 */
#include "text/anchor.h"

#include "text/unicode.h"

enum { NAMES = 1 << 20, CHUNK = 4096, HELD = 32 << 20 };

/* Returns the next character and moves `rest` behind it; bytes that are no UTF-8 come
 * out one by one as U+FFFD. */
static uint32_t
next_char(sn_str *rest)
{
    uint32_t c = 0xfffd;
    size_t n = (unsigned char)*rest->ptr < 0x80 ? 1 : sn_utf8_decode(*rest, &c);

    if ((unsigned char)*rest->ptr < 0x80)
        c = (unsigned char)*rest->ptr;
    *rest = sn_str_slice(*rest, n > 0 ? n : 1, rest->len);
    return c;
}

void
sn_anchor_github(sn_str text, sn_buf *out)
{
    for (sn_str rest = text; rest.len > 0;) {
        uint32_t c = next_char(&rest);

        if (c == ' ' || c == '\n' || c == '-')
            sn_buf_char(out, '-');
        else if (c == 0x130) /* the one letter whose small form is two characters */
            sn_buf_text(out, "i\xcc\x87");
        else if (sn_unicode_is_word(c))
            sn_unicode_add(out, sn_unicode_lower(c));
    }
}

void
sn_anchor_docutils(sn_str text, sn_buf *out)
{
    size_t from = out->len;
    bool gap = false;

    for (sn_str rest = text; rest.len > 0;) {
        uint32_t c = sn_unicode_lower(next_char(&rest));
        char one[2] = {(char)c, '\0'};
        bool is_plain = c < 0x80 && (sn_is_alpha((char)c) || sn_is_digit((char)c));
        const char *letters = is_plain ? one : c < 0x80 ? "" : sn_unicode_ascii(c);

        if (!letters[0]) {
            gap |= c < 0x80; /* others leave no trace */
            continue;
        }
        if (out->len == from && sn_is_digit(letters[0]))
            continue; /* an id begins with a letter */
        if (gap && out->len > from)
            sn_buf_char(out, '-');
        gap = false;
        sn_buf_text(out, letters);
    }
}

void
sn_anchors_init(sn_anchors *a)
{
    sn_map_init(&a->counts, NAMES);
    sn_arena_init(&a->names, CHUNK, HELD);
}

void
sn_anchors_fini(sn_anchors *a)
{
    sn_map_fini(&a->counts);
    sn_arena_fini(&a->names);
}

void
sn_anchors_reset(sn_anchors *a)
{
    sn_map_reset(&a->counts);
    sn_arena_reset(&a->names);
}

/* Remembers a name that was not taken; its next double is number 1. */
static seine_err
take_name(sn_anchors *a, sn_str name)
{
    uint32_t *count = SN_ARENA_NEW(&a->names, uint32_t);
    char *copy = sn_arena_text(&a->names, name);

    if (!count || !copy)
        return SEINE_E_NOMEM;
    return sn_map_add(&a->counts, (sn_str){copy, name.len}, count);
}

seine_err
sn_anchors_number(sn_anchors *a, sn_buf *name)
{
    size_t len = name->len;
    uint32_t *count;

    if (sn_buf_done(name) != SEINE_OK)
        return sn_buf_done(name);
    count = sn_map_get(&a->counts, sn_buf_view(name));
    while (count && sn_map_get(&a->counts, sn_buf_view(name))) {
        sn_buf_truncate(name, len);
        sn_buf_char(name, '-');
        sn_buf_u64(name, ++*count);
        if (sn_buf_done(name) != SEINE_OK)
            return sn_buf_done(name);
    }
    seine_err e = take_name(a, sn_buf_view(name));
    return e == SEINE_E_FULL ? SEINE_E_NOMEM : e;
}
