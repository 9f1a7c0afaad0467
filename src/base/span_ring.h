/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span_ring.h - finished spans of traces on their way to an exporter; no I/O.
 *
 * Threads put spans in; one exporter takes them out in order. A ring that is full
 * overwrites its oldest span and counts it, so that no writer ever waits.
 *
 *     e = sn_span_ring_init(&ring, 4096);
 *     sn_span_begin(&span, "GET", SN_SPAN_CLIENT, from, to);
 *     sn_span_text(&span, "server.address", host);
 *     sn_span_int(&span, "http.response.status_code", 503);
 *     n = sn_span_ring_put(&ring, &span);               how many wait now
 *     n = sn_span_ring_take(&ring, batch, 512);
 *
 * Time    spans carry wall time in ns.
 * Memory  728 bytes per span; pages that no span was written to are not touched.
 * Threads any thread.
 */
#ifndef SN_SPAN_RING_H
#define SN_SPAN_RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "seine/err.h"

typedef enum sn_span_kind {
    SN_SPAN_INTERNAL = 1, /* the numbers of OTLP */
    SN_SPAN_SERVER = 2,
    SN_SPAN_CLIENT = 3
} sn_span_kind;

#define SN_SPAN_ROOM 600 /* bytes of attributes and events together */

typedef struct sn_span {
    uint8_t trace[16], id[8], parent[8]; /* parent all zero: none */
    uint8_t link[24];                    /* trace and span; all zero: none */
    int64_t start, end;                  /* wall time, ns */
    char name[40];
    const char *error;  /* constant: status ERROR with this message; NULL: unset */
    uint16_t text_len;  /* attributes as JSON, each with a comma behind it … */
    uint16_t events_at; /* … and events likewise, from here on */
    uint8_t kind;
    char text[SN_SPAN_ROOM];
} sn_span;

_Static_assert(sizeof(sn_span) == 728, "the head of this file says so");

typedef struct sn_span_ring {
    pthread_mutex_t lock;
    sn_span *all;
    uint32_t cap, head, n;
    uint64_t dropped; /* overwritten before they were taken */
} sn_span_ring;

/* NOMEM. */
SEINE_MUST_CHECK seine_err sn_span_ring_init(sn_span_ring *r, uint32_t cap);
void sn_span_ring_fini(sn_span_ring *r); /* zero is fine */

uint32_t sn_span_ring_put(sn_span_ring *r, const sn_span *span);
uint32_t sn_span_ring_take(sn_span_ring *r, sn_span *out, uint32_t most);
uint64_t sn_span_ring_dropped(sn_span_ring *r);
uint32_t sn_span_ring_waiting(sn_span_ring *r);

void sn_span_begin(sn_span *s, const char *name, sn_span_kind kind, int64_t start,
                   int64_t end);

/* Attributes; those that do not fit are left out. Before the first event. */
void sn_span_text(sn_span *s, const char *key, sn_str value);
void sn_span_int(sn_span *s, const char *key, int64_t value);
void sn_span_event(sn_span *s, const char *name, int64_t at);

#endif
