/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mirror_index.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

#define MOST_URLS  (1u << 28)
#define MOST_BYTES ((size_t)1 << 40)

void
sn_mirror_index_init(sn_mirror_index *x)
{
    *x = (sn_mirror_index){.map = {"", 0}};
    sn_arena_init(&x->arena, 1 << 16, MOST_BYTES);
    sn_map_init(&x->by_key, MOST_URLS);
    sn_buf_init(&x->entries, MOST_BYTES);
}

void
sn_mirror_index_fini(sn_mirror_index *x)
{
    sn_map_fini(&x->by_key);
    sn_buf_fini(&x->entries);
    sn_arena_fini(&x->arena);
}

size_t
sn_mirror_index_count(const sn_mirror_index *x)
{
    return x->entries.len / sizeof(sn_mirror_entry *);
}

sn_mirror_entry *
sn_mirror_index_at(const sn_mirror_index *x, size_t i)
{
    return ((sn_mirror_entry **)(void *)x->entries.ptr)[i];
}

sn_mirror_entry *
sn_mirror_index_find(const sn_mirror_index *x, sn_str key)
{
    return sn_map_get(&x->by_key, key);
}

/* Reading */

static seine_err
keep(sn_mirror_index *x, sn_str s, sn_str *out)
{
    const char *copy = sn_arena_text(&x->arena, s);

    *out = (sn_str){copy, copy ? s.len : 0};
    return copy ? SEINE_OK : SEINE_E_NOMEM;
}

static sn_mirror_entry *
entry_of(sn_mirror_index *x, sn_str key)
{
    static const sn_str none = {"", 0};
    sn_mirror_entry *e = sn_mirror_index_find(x, key);

    if (e)
        return e;
    e = SN_ARENA_NEW(&x->arena, sn_mirror_entry);
    if (!e)
        return NULL;
    *e = (sn_mirror_entry){
        .type = none, .charset = none, .name = none, .target = none, .given = none};
    if (keep(x, key, &e->key) != SEINE_OK ||
        sn_map_add(&x->by_key, e->key, e) != SEINE_OK)
        return NULL;
    sn_buf_add(&x->entries, &e, sizeof(sn_mirror_entry *));
    return x->entries.err == SEINE_OK ? e : NULL;
}

static seine_err
read_new(sn_mirror_index *x, sn_mirror_entry *e, const sn_str *values)
{
    e->is_new = true;
    e->is_gone = false;
    e->target = (sn_str){"", 0};
    seine_err err = keep(x, values[1], &e->type);
    return err == SEINE_OK ? keep(x, values[2], &e->charset) : err;
}

static seine_err
read_line(sn_mirror_index *x, sn_str line)
{
    sn_str word, values[4] = {{"", 0}, {"", 0}, {"", 0}, {"", 0}};
    size_t n = 0;

    if (!sn_str_next(&line, '\t', &word))
        return SEINE_OK;
    while (n < 4 && sn_str_next(&line, '\t', &values[n]))
        n++;
    if (sn_str_eq(word, SN_STR("map")))
        return keep(x, values[0], &x->map);
    if (!sn_str_is_among(word, "new in to gone") || values[0].len == 0)
        return SEINE_OK;
    sn_mirror_entry *e = entry_of(x, values[0]);
    if (!e)
        return SEINE_E_NOMEM;
    if (sn_str_eq(word, SN_STR("new")))
        return read_new(x, e, values);
    if (sn_str_eq(word, SN_STR("in"))) {
        seine_err err = read_new(x, e, values);

        e->is_new = false;
        return err == SEINE_OK ? keep(x, values[3], &e->name) : err;
    }
    e->is_gone = true;
    e->is_new = false;
    return sn_str_eq(word, SN_STR("to")) ? keep(x, values[1], &e->target) : SEINE_OK;
}

/* Reads whole lines out of `text` and leaves the rest there. */
static seine_err
read_lines(sn_mirror_index *x, sn_buf *text)
{
    size_t done = 0;
    const char *end;
    seine_err e = SEINE_OK;

    while (e == SEINE_OK && (end = memchr(text->ptr + done, '\n', text->len - done))) {
        size_t to = (size_t)(end - text->ptr);

        e = read_line(x, sn_str_slice(sn_buf_view(text), done, to));
        done = to + 1;
    }
    sn_buf_drop(text, done);
    return e;
}

seine_err
sn_mirror_index_load(sn_mirror_index *x, int fd)
{
    enum { PIECE = 1 << 16 };
    sn_buf text;
    seine_err e = SEINE_OK;
    ssize_t n = 1;

    sn_buf_init(&text, MOST_BYTES);
    while (e == SEINE_OK && n > 0) {
        char *room = sn_buf_reserve(&text, PIECE);

        if (!room) {
            e = SEINE_E_NOMEM;
            break;
        }
        n = read(fd, room, PIECE);
        if (n > 0)
            sn_buf_commit(&text, (size_t)n);
        e = n < 0 ? SEINE_E_IO : n > 0 ? read_lines(x, &text) : SEINE_OK;
    }
    sn_buf_fini(&text);
    return e;
}

/* Writing */

/* A value that could end its line early is left out; no URL or type has such a byte. */
static void
add_value(sn_buf *out, sn_str value)
{
    sn_buf_char(out, '\t');
    if (!memchr(value.ptr, '\t', value.len) && !memchr(value.ptr, '\n', value.len))
        sn_buf_str(out, value);
}

static void
add_line(sn_buf *out, const char *word, const sn_str *values, size_t n)
{
    sn_buf_text(out, word);
    for (size_t i = 0; i < n; i++)
        add_value(out, values[i].ptr ? values[i] : (sn_str){"", 0});
    sn_buf_char(out, '\n');
}

void
sn_mirror_line_new(sn_buf *out, sn_str key, sn_str type, sn_str charset)
{
    add_line(out, "new", (sn_str[]){key, type, charset}, 3);
}

void
sn_mirror_line_to(sn_buf *out, sn_str key, sn_str target)
{
    add_line(out, "to", (sn_str[]){key, target}, 2);
}

void
sn_mirror_line_gone(sn_buf *out, sn_str key)
{
    add_line(out, "gone", &key, 1);
}

void
sn_mirror_line_entry(sn_buf *out, const sn_mirror_entry *e)
{
    if (e->name.len > 0)
        add_line(out, "in", (sn_str[]){e->key, e->type, e->charset, e->name}, 4);
    if (e->is_new)
        sn_mirror_line_new(out, e->key, e->type, e->charset);
    if (e->target.len > 0)
        sn_mirror_line_to(out, e->key, e->target);
    else if (e->is_gone && e->name.len > 0)
        sn_mirror_line_gone(out, e->key);
}

seine_err
sn_mirror_hex(sn_str key, char out[SN_MIRROR_HEX + 1])
{
    uint8_t digest[32];
    seine_err e = sn_sha256(key.ptr, key.len, digest);

    for (size_t i = 0; e == SEINE_OK && i < SN_MIRROR_HEX / 2; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
    return e;
}
