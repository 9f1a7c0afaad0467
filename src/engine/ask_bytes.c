/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/ask_bytes.h"

#include <string.h>

/* What stands first; the texts follow, each with its length before it. */
typedef struct head {
    int64_t timeout;
    int32_t retries;
    uint32_t n_fields;
    int8_t priority;
    uint8_t idempotent, is_bad, reason;
    uint8_t has; /* a bit for each text that is there, though it may be empty */
} head;

enum { METHOD, BODY, ID, TAGS, RULE, TEXTS };

static bool
is_plain(const seine_ask *a)
{
    return !a->id.ptr && !a->tags.ptr && !a->method.ptr && !a->body.ptr &&
           a->n_fields == 0 && a->timeout == 0 && a->retries < 0 && a->priority == 0 &&
           !a->idempotent && !a->is_bad;
}

static void
put_text(sn_buf *b, seine_view text)
{
    uint64_t len = text.len;

    sn_buf_add(b, &len, sizeof len);
    if (text.len > 0)
        sn_buf_add(b, text.ptr, text.len);
}

void
sn_ask_bytes_write(const seine_ask *a, sn_buf *out)
{
    const seine_view texts[TEXTS] = {a->method, a->body, a->id, a->tags, a->rule};
    head h;

    if (is_plain(a))
        return;
    memset(&h, 0, sizeof h); /* its gaps, too */
    h.timeout = a->timeout;
    h.retries = a->retries;
    h.n_fields = (uint32_t)a->n_fields;
    h.priority = a->priority;
    h.idempotent = a->idempotent;
    h.is_bad = a->is_bad;
    h.reason = (uint8_t)a->reason;
    for (unsigned i = 0; i < TEXTS; i++)
        h.has |= (uint8_t)((texts[i].ptr != NULL) << i);
    sn_buf_add(out, &h, sizeof h);
    for (unsigned i = 0; i < TEXTS; i++)
        put_text(out, texts[i]);
    for (size_t i = 0; i < a->n_fields; i++) {
        put_text(out, a->fields[i].name);
        put_text(out, a->fields[i].value);
    }
}

static bool
take_bytes(sn_str *from, void *out, size_t n)
{
    if (from->len < n)
        return false;
    memcpy(out, from->ptr, n);
    *from = sn_str_slice(*from, n, from->len);
    return true;
}

static bool
take_text(sn_str *from, seine_view *out)
{
    uint64_t len;

    if (!take_bytes(from, &len, sizeof len) || len > from->len)
        return false;
    *out = (seine_view){from->ptr, len};
    *from = sn_str_slice(*from, len, from->len);
    return true;
}

static seine_err
take_fields(sn_str *from, uint32_t n, sn_arena *arena, seine_ask *io)
{
    if (n == 0)
        return SEINE_OK;
    if (n > from->len / (2 * sizeof(uint64_t)))
        return SEINE_E_STATE_CORRUPT;
    seine_field *fields = SN_ARENA_ARRAY(arena, seine_field, n);
    if (!fields)
        return SEINE_E_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        if (!take_text(from, &fields[i].name) || !take_text(from, &fields[i].value))
            return SEINE_E_STATE_CORRUPT;
    io->fields = fields;
    io->n_fields = n;
    return SEINE_OK;
}

seine_err
sn_ask_bytes_read(sn_str bytes, sn_arena *arena, seine_ask *io)
{
    seine_view *texts[TEXTS] = {&io->method, &io->body, &io->id, &io->tags, &io->rule};
    head h;

    if (bytes.len == 0)
        return SEINE_OK;
    if (!take_bytes(&bytes, &h, sizeof h))
        return SEINE_E_STATE_CORRUPT;
    for (unsigned i = 0; i < TEXTS; i++) {
        if (!take_text(&bytes, texts[i]))
            return SEINE_E_STATE_CORRUPT;
        if (!(h.has >> i & 1))
            *texts[i] = (seine_view){0};
    }
    io->timeout = h.timeout;
    io->retries = h.retries;
    io->priority = h.priority;
    io->idempotent = h.idempotent != 0;
    io->is_bad = h.is_bad != 0;
    io->reason = (seine_skip)h.reason;
    seine_err e = take_fields(&bytes, h.n_fields, arena, io);
    return e == SEINE_OK && bytes.len > 0 ? SEINE_E_STATE_CORRUPT : e;
}
