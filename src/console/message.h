/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - what WebSocket clients say: protocol `seine.v1`.
 *
 * One JSON object per text message. Every message that is refused is answered by exactly
 * one `err`.
 *
 * Time    the loop's.
 * Memory  the answers go into the socket's queue.
 * Threads the console's alone.
 */
#ifndef SN_MESSAGE_H
#define SN_MESSAGE_H

#include "console/api_error.h"
#include "console/socket.h"

/* A socket has been upgraded; nothing has been heard yet. */
void sn_message_opened(sn_socket *s);
/* One whole text message, valid UTF-8. */
void sn_message_take(sn_socket *s, sn_str text);
/* The socket is gone: once per opened. What is left of it is freed. */
void sn_message_closed(sn_socket *s, sn_socket_end why);

/* One `err`; `re` is the `t` of the refused message (NULL: none), `id` and `doc` may be
 * missing (NULL). A code whose scope is the connection closes the socket. */
typedef struct sn_message_refusal {
    sn_api_error error;
    const char *text; /* for people; quoted */
    const char *re, *doc;
    const int64_t *id;
    uint32_t retry_ms; /* 0: none */
} sn_message_refusal;
void sn_message_refuse(sn_socket *s, const sn_message_refusal *r);

#endif
