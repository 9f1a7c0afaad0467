/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h1.h - HTTP/1.x as bytes: responses read strictly, requests written correctly.
 *
 * The reader knows no socket and no clock: bytes in, events out, and it never takes
 * a byte more than the response has. Whatever the pieces the bytes arrive in, the
 * events are the same. What is not exactly a response is a named error, and the
 * first violation in the order of bytes names it; nothing that was cut, wrongly
 * framed or over a limit ever ends in DONE.
 *
 *     sn_h1_begin(&h, &head, &(sn_h1_ask){.head_only = false});
 *     for (sn_str in = received;;)
 *         switch (sn_h1_next(&h, &in, &piece)) {
 *         case SN_H1_HEAD: …; continue;              head.status, sn_head_get(…)
 *         case SN_H1_BODY: keep(piece); continue;    a view of what came in
 *         case SN_H1_DONE: reuse = sn_h1_is_reusable(&h); return SEINE_OK;
 *         case SN_H1_FAIL: return h.err;
 *         case SN_H1_MORE: return wait_for_more();
 *         }
 *
 * When the connection ends, sn_h1_eof (an orderly close) or sn_h1_lost (a reset)
 * tells what that means: the end of a body without a length, or an error.
 *
 * Time    plays no part.
 * Memory  nothing but the head given to begin; 64 KiB a line, 256 KiB in all.
 * Threads one owner.
 */
#ifndef SN_H1_H
#define SN_H1_H

#include "net/head.h"
#include "net/note.h"

typedef struct sn_h1_limits {
    uint32_t line_bytes;  /* of one field */
    uint32_t head_bytes;  /* of all heads of the exchange and the trailers */
    uint32_t head_fields; /* of one head */
} sn_h1_limits;

#define SN_H1_LIMITS ((sn_h1_limits){64 << 10, 256 << 10, 1000})

/* What was asked: some answers depend on it. */
typedef struct sn_h1_ask {
    bool head_only;             /* HEAD */
    bool tunnel;                /* CONNECT */
    bool conditional;           /* If-None-Match or If-Modified-Since: 304 may come */
    bool range;                 /* Range: 206 may come */
    const sn_h1_limits *limits; /* NULL: SN_H1_LIMITS; borrowed for the exchange */
} sn_h1_ask;

typedef enum sn_h1_event {
    SN_H1_MORE, /* all of the input is taken */
    SN_H1_HEAD, /* the final head is complete */
    SN_H1_BODY, /* a piece of the body */
    SN_H1_DONE, /* the response has ended, exactly here */
    SN_H1_FAIL, /* `err` says why; the connection is of no use any more */
} sn_h1_event;

typedef enum sn_h1_framing {
    SN_H1_NO_BODY, /* HEAD, 1xx, 204, 304, a tunnel */
    SN_H1_LENGTH,
    SN_H1_CHUNKED,
    SN_H1_UNTIL_CLOSE,
} sn_h1_framing;

typedef struct sn_h1 {
    sn_head *head;
    sn_h1_ask ask;
    uint32_t notes; /* SN_NOTE_… */
    seine_err err;
    sn_h1_framing framing; /* from HEAD on */
    uint64_t length;       /* of the body, for LENGTH */
    uint32_t keep_alive_s; /* Keep-Alive: timeout=; UINT32_MAX: not said */
    uint32_t odd_headers;  /* lines dropped */
    uint8_t n_interim;
    /* the reader's own */
    uint8_t state, last; /* where it is; what the line before was */
    bool has_length, has_chunked, says_close, says_keep, has_connection, has_keep_alive;
    uint32_t at, line, colon;        /* next byte; where its line and its value begin */
    uint32_t head_bytes;             /* of heads before this one, then of trailers, too */
    uint32_t connection, keep_alive; /* the first fields of these names */
    uint32_t ext_line, ext_all, n_trailers;
    uint64_t left;  /* bytes of the body, or of the chunk */
    uint64_t steps; /* work done, for tests: linear in the input */
} sn_h1;

/* A new response. `head` is borrowed until the next begin; it is reset. */
void sn_h1_begin(sn_h1 *h, sn_head *head, const sn_h1_ask *ask);

/* The next event; `in` moves past the bytes taken. After DONE and FAIL the same one
 * again; bytes behind DONE are never taken, and noted as `extra_bytes`. */
sn_h1_event sn_h1_next(sn_h1 *h, sn_str *in, sn_str *out_piece);

/* The peer closed in order. OK: the response is complete (DONE). Otherwise FAIL:
 * CONN_RESET before the first byte, HEADER_TRUNCATED, BODY_TRUNCATED. */
SEINE_MUST_CHECK seine_err sn_h1_eof(sn_h1 *h);

/* The connection broke, or ended without the TLS close. As eof, but a body without a
 * length is not complete. */
SEINE_MUST_CHECK seine_err sn_h1_lost(sn_h1 *h);

/* DONE, nothing ambiguous, nothing extra, and the peer does not want to close, nor did
 * it (eof, lost). Whether we said so is the caller's to know. */
bool sn_h1_is_reusable(const sn_h1 *h);

/* A byte of the response has been seen. */
bool sn_h1_has_begun(const sn_h1 *h);

typedef enum sn_h1_form {
    SN_H1_ORIGIN,    /* GET /path?query */
    SN_H1_ABSOLUTE,  /* GET http://host/path?query: http through a proxy */
    SN_H1_AUTHORITY, /* CONNECT host:port */
} sn_h1_form;

typedef struct sn_h1_request {
    sn_str method;
    sn_h1_form form;
    sn_str host;   /* with the port unless it is the default one */
    sn_str target; /* path and query exactly as parsed; nothing for AUTHORITY */
    const sn_field *fields;
    size_t n_fields;
    sn_str authorization; /* Proxy-Authorization, of what goes to a proxy; empty: none */
    sn_str body;
    bool close; /* say Connection: close */
} sn_h1_request;

/* Adds the request to `out`, Host first. INVAL, and nothing is added: a name is not a
 * token, a value has control bytes, a field is one of those the transport writes
 * itself (Host, lengths, hop by hop, the login for a proxy), the target has blanks or a
 * fragment or does not begin with a slash, CONNECT and AUTHORITY do not come together.
 * FULL, NOMEM. */
SEINE_MUST_CHECK seine_err sn_h1_write(const sn_h1_request *r, sn_buf *out);

/* May be a field's name (a token), a field's value (no control byte but tab)? For
 * whoever reads configuration. */
bool sn_h1_is_name(sn_str s);
bool sn_h1_is_value(sn_str s);

/* Is it one of the fields that only the transport writes? */
bool sn_h1_is_own_field(sn_str name);

#endif
