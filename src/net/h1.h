/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h1.h - parse HTTP/1.x responses strictly, and write requests.
 *
 * The reader knows no socket and no clock: bytes go in, events come out. The reader never
 * takes a byte beyond the response. The events do not depend on how the bytes are cut
 * into pieces. The first byte that violates a rule gives the error; a response that is
 * truncated, wrongly framed or over a limit never ends in DONE.
 *
 *     sn_h1_begin(&h, &head, &(sn_h1_ask){.head_only = false});
 *     for (sn_str in = received();;)
 *         switch (sn_h1_next(&h, &in, &piece)) {
 *         case SN_H1_HEAD: …; continue;              head.status, sn_head_get(…)
 *         case SN_H1_BODY: keep(piece); continue;    a view of what came in
 *         case SN_H1_DONE: reuse = sn_h1_is_reusable(&h); return SEINE_OK;
 *         case SN_H1_FAIL: return h.err;
 *         case SN_H1_MORE: return wait_for_more();
 *         }
 *
 * When the connection ends, call sn_h1_eof (an orderly close) or sn_h1_lost (a reset).
 * Either it ends a body without a length, or it is an error.
 *
 * Time    plays no part.
 * Memory  only the head given to begin; 64 KiB per line, 256 KiB in all.
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

/* The properties of the request that the response depends on. */
typedef struct sn_h1_ask {
    bool head_only;             /* HEAD */
    bool tunnel;                /* CONNECT */
    bool conditional;           /* If-None-Match or If-Modified-Since: 304 may come */
    bool range;                 /* Range: 206 may come */
    const sn_h1_limits *limits; /* NULL: SN_H1_LIMITS; borrowed for the exchange */
} sn_h1_ask;

typedef enum sn_h1_event {
    SN_H1_MORE, /* all input is taken */
    SN_H1_HEAD, /* the final head is complete */
    SN_H1_BODY, /* a piece of the body */
    SN_H1_DONE, /* the response has ended, exactly here */
    SN_H1_FAIL, /* `err` says why; close the connection */
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
    uint32_t keep_alive_s; /* Keep-Alive: timeout=; UINT32_MAX: not given */
    uint32_t odd_headers;  /* lines dropped */
    uint8_t n_interim;
    /* private */
    uint8_t state, last; /* current state; kind of the previous line */
    bool has_length, has_chunked, has_identity, says_close, says_keep;
    bool has_connection, has_keep_alive;
    uint32_t at, line, colon;        /* next byte; start of its line and of its value */
    uint32_t head_bytes;             /* of earlier heads, then of trailers too */
    uint32_t connection, keep_alive; /* the first fields of these names */
    uint32_t ext_line, ext_all, n_trailers;
    uint64_t left;  /* bytes of the body, or of the chunk */
    uint64_t steps; /* work done, for tests: linear in the input */
} sn_h1;

/* Starts a new response. `head` is reset, and borrowed until the next begin. */
void sn_h1_begin(sn_h1 *h, sn_head *head, const sn_h1_ask *ask);

/* Returns the next event; `in` moves past the bytes taken. After DONE and FAIL it returns
 * the same event again. Bytes after DONE are never taken, but noted as `extra_bytes`. */
sn_h1_event sn_h1_next(sn_h1 *h, sn_str *in, sn_str *out_piece);

/* The peer closed in order. OK: the response is complete (DONE). Else FAIL: CONN_RESET
 * before the first byte, HEADER_TRUNCATED, BODY_TRUNCATED. */
SEINE_MUST_CHECK seine_err sn_h1_eof(sn_h1 *h);

/* The connection broke, or ended without close_notify of TLS. As eof, but a body without
 * a length is not complete. */
SEINE_MUST_CHECK seine_err sn_h1_lost(sn_h1 *h);

/* True if the response is DONE, unambiguous, without extra bytes, and the peer did not
 * ask to close or close (eof, lost). A response without a body that announces one (HEAD,
 * 204, 304) is ambiguous: some servers send the body nevertheless. The caller knows
 * whether the request asked to close. */
bool sn_h1_is_reusable(const sn_h1 *h);

/* True if bytes follow a response that is DONE, although the peer keeps the connection:
 * they are in the place of the next response. */
bool sn_h1_has_extra(const sn_h1 *h);

/* True if the head is complete, the body ends with the connection, and yet the peer says
 * that it keeps the connection. */
bool sn_h1_never_ends(const sn_h1 *h);

/* True if a byte of the response has been read. */
bool sn_h1_has_begun(const sn_h1 *h);

typedef enum sn_h1_form {
    SN_H1_ORIGIN,    /* GET /path?query */
    SN_H1_ABSOLUTE,  /* GET http://host/path?query: http through a proxy */
    SN_H1_AUTHORITY, /* CONNECT host:port */
} sn_h1_form;

typedef struct sn_h1_request {
    sn_str method;
    sn_h1_form form;
    sn_str host;   /* with the port unless it is the default */
    sn_str target; /* path and query exactly as parsed; empty for AUTHORITY */
    const sn_field *fields;
    size_t n_fields;
    sn_str written; /* the same fields, from sn_h1_write_fields; empty: not written yet */
    sn_str authorization; /* Proxy-Authorization, for a proxy only; empty: none */
    sn_str body;
    bool close; /* send Connection: close */
} sn_h1_request;

/* Appends the fields alone, for all requests that have the same ones: INVAL and FULL as
 * below. */
SEINE_MUST_CHECK seine_err sn_h1_write_fields(const sn_field *fields, size_t n,
                                              sn_buf *out);

/* Appends the request to `out`, Host first. INVAL, with nothing appended: a name is not a
 * token; a value has control bytes; a field is one that only the transport writes (Host,
 * lengths, hop-by-hop fields, Proxy-Authorization); the target has blanks or a fragment,
 * or does not begin with a slash; only one of CONNECT and AUTHORITY is given. FULL,
 * NOMEM. */
SEINE_MUST_CHECK seine_err sn_h1_write(const sn_h1_request *r, sn_buf *out);

/* True if valid as a field name (a token) and as a field value (no control byte but tab).
 * For readers of configuration. */
bool sn_h1_is_name(sn_str s);
bool sn_h1_is_value(sn_str s);

/* True if only the transport may write the field. */
bool sn_h1_is_own_field(sn_str name);

#endif
