/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topic.h - the subscriptions of WebSockets: what they see of runs, every second or so.
 *
 * A topic is `runs`, `run:ID`, `hosts:ID`, `errors:ID`, `log:ID` or `system`. A
 * subscription gets a `data` frame at its beginning, which is full, and then one each
 * `every_ms`. A frame that a slow reader has no room for is left out; the number `n`
 * shows the gap.
 *
 *     if (!sn_topic_subscribe(socket, json, &why))       a `sub`
 *         refuse(why.error, why.text);
 *     sn_topic_closed(socket);                           it is gone
 *
 * Time    the loop's.
 * Memory  16 subscriptions a socket; frames live in the queue of the socket.
 * Threads the console's.
 */
#ifndef SN_TOPIC_H
#define SN_TOPIC_H

#include "console/run.h"
#include "console/socket.h"

typedef struct sn_topics sn_topics;

typedef struct sn_topic_flaw {
    sn_api_error error;
    const char *text;
} sn_topic_flaw;

SEINE_MUST_CHECK seine_err sn_topics_new(seine_console *c, sn_topics **out_topics);
void sn_topics_free(sn_topics *t); /* NULL is fine */

/* `json` has the members of the message. False: the flaw says why. */
bool sn_topic_subscribe(sn_socket *s, const seine_json *json, sn_topic_flaw *out_flaw);
bool sn_topic_unsubscribe(sn_socket *s, const seine_json *json, sn_topic_flaw *out_flaw);
void sn_topic_closed(sn_socket *s);

/* The run is about to go. */
void sn_topics_forget(const sn_console_run *r);

#endif
