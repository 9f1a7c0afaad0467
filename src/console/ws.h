/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ws.h - the frames of one WebSocket, server side (RFC 6455): bytes in, messages out, and
 * back. There is no socket inside.
 *
 *     sn_ws_opts opts = {.max_message = 4096, .message = on_message, .arg = me};
 *     e = sn_ws_new(&opts, &ws);
 *     sn_ws_feed(ws, bytes);                     calls on_message for each whole message
 *     e = sn_ws_send(ws, text, false);
 *     sn_ws_write(ws, &out, 65536);              frames for the peer
 *
 * Pings are answered and a close is echoed by itself. What breaks the protocol queues a
 * close frame with its code (1002, 1007, 1009; 1003 for binary messages where they are
 * not wanted), and nothing is read any more.
 *
 * Time    plays no part.
 * Memory  one message of at most `max_message` bytes, and what is queued to be sent. A
 *         message in many fragments takes no more than one in a single frame. A feeder
 *         that looks at sn_ws_waiting bounds the answers to pings.
 * Threads one owner.
 */
#ifndef SN_WS_H
#define SN_WS_H

#include "base/buf.h"

typedef struct sn_ws sn_ws;

typedef struct sn_ws_opts {
    size_t max_message;
    bool takes_binary;
    void (*message)(void *arg, sn_str bytes, bool is_binary); /* text is valid UTF-8 */
    void *arg;
} sn_ws_opts;

SEINE_MUST_CHECK seine_err sn_ws_new(const sn_ws_opts *opts, sn_ws **out_ws);
void sn_ws_free(sn_ws *ws); /* NULL is fine */
void sn_ws_set_max(sn_ws *ws, size_t max_message);

/* False: nothing more will be read. */
bool sn_ws_feed(sn_ws *ws, sn_str bytes);

/* NOMEM; CLOSED: a close frame has been queued. */
SEINE_MUST_CHECK seine_err sn_ws_send(sn_ws *ws, sn_str bytes, bool is_binary);
void sn_ws_ping(sn_ws *ws);
/* Queues a close frame; it leaves before other messages. The first one counts. */
void sn_ws_close(sn_ws *ws, uint16_t code, const char *reason);

/* Appends at most `most` bytes of frames to `out`; returns how many. */
size_t sn_ws_write(sn_ws *ws, sn_buf *out, size_t most);
size_t sn_ws_waiting(const sn_ws *ws); /* bytes that are queued, about */

bool sn_ws_has_failed(const sn_ws *ws);     /* reading has ended with an error */
bool sn_ws_is_close_sent(const sn_ws *ws);  /* written out, that is */
bool sn_ws_is_close_heard(const sn_ws *ws); /* the peer has sent one */

/* The answer to Sec-WebSocket-Key. INVAL: the key is not 16 bytes in base64. */
SEINE_MUST_CHECK seine_err sn_ws_accept(sn_str key, char out_accept[29]);

#endif
