/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topics.h - the subscriptions of WebSockets: `sub`, `unsub`, and their `data` frames.
 *
 * message.c hands on what it has read; the topics answer with `data`, or refuse with
 * sn_message_refuse.
 *
 * Time    the loop's.
 * Memory  16 subscriptions a socket.
 * Threads the console's alone.
 */
#ifndef SN_TOPICS_H
#define SN_TOPICS_H

#include "console/message_read.h"
#include "console/socket.h"

/* A `sub` or an `unsub`; its members are in m->json. */
void sn_topics_take(sn_socket *s, const sn_message *m);
/* The socket is gone: once per socket that said hello. */
void sn_topics_closed(sn_socket *s);

#endif
