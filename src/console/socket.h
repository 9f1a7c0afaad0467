/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket.h - the WebSockets of the console: who is there, what they say, what they get.
 *
 * A socket exists from the upgrade to its close. Text messages go up to message.h, whole
 * and valid UTF-8; answers go down through a bounded queue.
 *
 *     sn_socket_send(s, text, SN_SEND_MUST);         an update, an error: never dropped
 *     if (!sn_socket_send(s, frame, SN_SEND_DATA))   a figure: dropped when it is full
 *         skipped++;
 *     sn_socket_close(s, 1008, "bad_json");
 *
 * The queue holds 1 MiB. What must arrive pushes waiting `data` out of it, oldest first;
 * if that is not enough the client reads too slowly: it is told `slow_consumer` and the
 * socket closes with 1013. So nothing but `data` is ever missing without a close.
 *
 * Closing is orderly: the close frame leaves behind what is queued (at most 1 s later
 * the socket is gone), no further message goes up, and `closed` is called exactly once.
 *
 * Until sn_socket_welcome a message has at most 4 KiB and 5 s are left; afterwards
 * 256 KiB. The server pings every 20 s; 45 s without a byte close the socket.
 *
 * Time    the loop's.
 * Memory  per socket at most 1 MiB of queue, one message, 16 KiB of buffers.
 * Threads the console's alone.
 */
#ifndef SN_SOCKET_H
#define SN_SOCKET_H

#include "console/api_call.h"
#include "console/console.h"

typedef struct sn_socket sn_socket;
typedef struct sn_sockets sn_sockets;

enum { SN_SOCKET_FIRST = 4096 }; /* bytes of a message before the hello */

typedef enum sn_send {
    SN_SEND_MUST, /* dropped only with the socket */
    SN_SEND_DATA  /* the first to be dropped */
} sn_send;

/* Why a socket ended, for `peer` messages. */
typedef enum sn_socket_end {
    SN_SOCKET_CLOSED,  /* by the client, in order */
    SN_SOCKET_GONE,    /* without a close frame, or refused */
    SN_SOCKET_TIMEOUT, /* nothing was heard of it */
    SN_SOCKET_REPLACED,
    SN_SOCKET_SHUTDOWN
} sn_socket_end;

struct sn_socket {
    seine_console *console;
    char id[SN_ULID]; /* `session` of the welcome */
    char client[23];  /* chosen by the page, checked; "" before hello */
    char name[168];   /* shown to others; "" before hello */
    char peer[SN_PEER];
    sn_user user;    /* role NONE before hello */
    bool is_welcome; /* hello was right */
    bool is_echo;    /* of /ws/echo */
    bool is_closing; /* no message goes up any more */
    seine_time opened, heard;
    void *docs;   /* of message.h and the documents */
    void *topics; /* of the subscriptions */
    sn_socket *next, *prev;
    struct sn_socket_link *link; /* its transport */
};

/* False: the message was dropped (DATA), or the socket is closing. Copies the text. */
bool sn_socket_send(sn_socket *s, sn_str text, sn_send how);
/* Bytes that wait to be read by the client: a sender of data may look before it makes
 * a frame. */
size_t sn_socket_waiting(const sn_socket *s);
/* `reason` is ASCII, at most 60 characters. The first call counts. */
void sn_socket_close(sn_socket *s, uint16_t code, const char *reason);
void sn_socket_replace(sn_socket *s); /* 4009: a newer one of the same client is there */

/* Who the token of a `hello` belongs to; sets user and role. `token` empty: that of the
 * Authorization field of the upgrade. UNKNOWN: unauthorized; LIMITED: too many wrong
 * tokens from this address. */
SEINE_MUST_CHECK seine_err sn_socket_login(sn_socket *s, sn_str token);
/* The hello was right: lifts the limits of strangers. */
void sn_socket_welcome(sn_socket *s);

/* All that are open, for broadcasts: for (s = sn_sockets_first(c); s; s = s->next). */
sn_socket *sn_sockets_first(const seine_console *c);
size_t sn_sockets_count(const seine_console *c);
/* The welcome socket of this client and user, other than `but`; NULL: none. */
sn_socket *sn_sockets_find(const seine_console *c, const sn_user *user,
                           const char *client, const sn_socket *but);

/* A token was revoked, has expired or changed its role: its sockets close with 4001. */
void sn_sockets_recheck(seine_console *c);

#endif
