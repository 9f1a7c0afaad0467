/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_read.h - one message of a WebSocket client, from its JSON text.
 *
 *     sn_message m;
 *     sn_message_why why;
 *     sn_api_error refused = sn_message_read(text, &m, &why);
 *     if (refused != SN_API_ERROR_COUNT)
 *         refuse(refused, m.t, m.has_id ? &m.id : NULL, why.text);
 *     sn_message_fini(&m);
 *
 * A message is one JSON object, at most 8 levels deep, without a name twice; integers
 * have at most 53 bits. Unknown members are ignored. A message that is refused still
 * tells its type and its `id`, as far as they could be read.
 *
 * Time    linear in the text.
 * Memory  the JSON tree, and the change sets of a push.
 * Threads any thread.
 */
#ifndef SN_MESSAGE_READ_H
#define SN_MESSAGE_READ_H

#include "console/doc_hub.h"
#include "seine/plumbing.h"

typedef enum sn_message_type {
    SN_MESSAGE_UNKNOWN,
    SN_MESSAGE_HELLO,
    SN_MESSAGE_OPEN,
    SN_MESSAGE_PUSH,
    SN_MESSAGE_CURSOR,
    SN_MESSAGE_CLOSE,
    SN_MESSAGE_PREVIEW,
    SN_MESSAGE_SUB,
    SN_MESSAGE_UNSUB,
    SN_MESSAGE_PING
} sn_message_type;

enum { SN_MESSAGE_DEPTH = 8, SN_MESSAGE_NAME = 40 /* characters of a person's name */ };
#define SN_MESSAGE_INT ((INT64_C(1) << 53) - 1)

typedef struct sn_message {
    sn_message_type type;
    char t[16]; /* "" : not read */
    seine_json *json;
    bool has_id;
    int64_t id;
    char doc[SN_ULID]; /* "": none */

    sn_str client, token;               /* of a hello */
    char name[4 * SN_MESSAGE_NAME + 1]; /* of a hello, cleaned; "": none */
    sn_hub_open_ask open;               /* of an open */
    uint64_t base, seq;                 /* of a push */
    seine_changes *sets[SN_PUSH_MOST];  /* of a push */
    size_t n;                           /* sets, or ranges */
    uint64_t version;                   /* of a cursor */
    uint64_t sel[SN_HUB_RANGES][2];     /* of a cursor */
    bool is_shown;                      /* of a cursor: there is a selection */
    char page[SN_ULID];                 /* of a preview */
    int64_t ping;                       /* of a ping */
} sn_message;

typedef struct sn_message_why {
    char text[120];
} sn_message_why;

/* SN_API_ERROR_COUNT: it is well-formed. */
sn_api_error sn_message_read(sn_str text, sn_message *out, sn_message_why *why);
void sn_message_fini(sn_message *m);

/* Copies at most `most` characters of a text, without control characters and marks that
 * turn the direction of writing, and without blanks at both ends. */
void sn_message_clean(sn_str text, size_t most, char *out, size_t room);

/* Is it 22 letters, digits, '-' and '_'? */
bool sn_message_is_client(sn_str text);

#endif
