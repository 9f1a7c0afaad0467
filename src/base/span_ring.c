/* SPDX-License-Identifier: Apache-2.0 */
#include "base/span_ring.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"

enum { VALUE_MOST = 240 }; /* bytes of a text, quotes and escapes included */

seine_err
sn_span_ring_init(sn_span_ring *r, uint32_t cap)
{
    *r = (sn_span_ring){.cap = cap};
    r->all = sn_calloc(cap, sizeof *r->all);
    if (!r->all)
        return SEINE_E_NOMEM;
    pthread_mutex_init(&r->lock, NULL);
    return SEINE_OK;
}

void
sn_span_ring_fini(sn_span_ring *r)
{
    if (!r->all)
        return;
    sn_free(r->all);
    pthread_mutex_destroy(&r->lock);
    *r = (sn_span_ring){.cap = 0};
}

uint32_t
sn_span_ring_put(sn_span_ring *r, const sn_span *span)
{
    pthread_mutex_lock(&r->lock);
    if (r->n == r->cap) {
        r->head = (r->head + 1) % r->cap;
        r->n--;
        r->dropped++;
    }
    r->all[(r->head + r->n++) % r->cap] = *span;
    uint32_t n = r->n;
    pthread_mutex_unlock(&r->lock);
    return n;
}

uint32_t
sn_span_ring_take(sn_span_ring *r, sn_span *out, uint32_t most)
{
    pthread_mutex_lock(&r->lock);
    uint32_t n = r->n < most ? r->n : most;
    for (uint32_t i = 0; i < n; i++)
        out[i] = r->all[(r->head + i) % r->cap];
    r->head = (r->head + n) % r->cap;
    r->n -= n;
    pthread_mutex_unlock(&r->lock);
    return n;
}

uint32_t
sn_span_ring_waiting(sn_span_ring *r)
{
    pthread_mutex_lock(&r->lock);
    uint32_t n = r->n;
    pthread_mutex_unlock(&r->lock);
    return n;
}

uint64_t
sn_span_ring_dropped(sn_span_ring *r)
{
    pthread_mutex_lock(&r->lock);
    uint64_t n = r->dropped;
    pthread_mutex_unlock(&r->lock);
    return n;
}

void
sn_span_begin(sn_span *s, const char *name, sn_span_kind kind, int64_t start, int64_t end)
{
    memset(s, 0, offsetof(sn_span, text));
    s->kind = (uint8_t)kind;
    s->start = start;
    s->end = end > start ? end : start;
    snprintf(s->name, sizeof s->name, "%s", name);
}

/* Adds a text whole, or not at all. */
static void
add(sn_span *s, const char *text, int n)
{
    if (n <= 0 || (size_t)n > sizeof s->text - s->text_len)
        return;
    memcpy(s->text + s->text_len, text, (size_t)n);
    s->text_len = (uint16_t)(s->text_len + n);
}

void
sn_span_text(sn_span *s, const char *key, sn_str value)
{
    char quoted[VALUE_MOST + 8], line[VALUE_MOST + 128];
    size_t len = value.len < VALUE_MOST ? value.len : VALUE_MOST;
    size_t n = sn_json_quote(value.ptr, len, quoted, sizeof quoted);

    while (len > 0 && n >= VALUE_MOST) {
        len = len > 16 ? len - len / 8 : len - 1;
        n = sn_json_quote(value.ptr, len, quoted, sizeof quoted);
    }
    add(s, line,
        snprintf(line, sizeof line, "{\"key\":\"%s\",\"value\":{\"stringValue\":%s}},",
                 key, quoted));
}

void
sn_span_int(sn_span *s, const char *key, int64_t value)
{
    char line[160];

    add(s, line,
        snprintf(line, sizeof line, "{\"key\":\"%s\",\"value\":{\"intValue\":\"%lld\"}},",
                 key, (long long)value));
}

void
sn_span_event(sn_span *s, const char *name, int64_t at)
{
    char line[128];

    if (s->events_at == 0)
        s->events_at = s->text_len;
    add(s, line,
        snprintf(line, sizeof line, "{\"timeUnixNano\":\"%lld\",\"name\":\"%s\"},",
                 (long long)at, name));
}
