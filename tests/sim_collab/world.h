/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - people who edit one document, a server that forgets, and lossy channels.
 *
 * client.c is the model of an editor as docs/user/collab.md describes it; server.c has
 * the hub and the store of the console, real ones, with commits that are late or fail;
 * main.c draws what happens next from the seed.
 */
#ifndef WORLD_H
#define WORLD_H

#include "base/rng.h"
#include "console/doc_hub.h"
#include "console/message_read.h"

enum { CLIENTS = 5, CHANNEL = 4096, MINE = 256 };

/* Texts on their way, in order. */
typedef struct channel {
    seine_text texts[CHANNEL];
    size_t first, n;
} channel;

typedef struct client client;
typedef struct server server;
typedef struct world world;

struct client {
    world *w;
    char id[SN_CLIENT_ID + 1];
    bool is_connected; /* as the client sees it */
    bool is_open;      /* `opened` has come, and no error since */
    bool is_opening;   /* `open` is not answered: all else is ignored */
    bool has_doc;      /* text, version and epoch are known */
    bool is_pushing;   /* one push is on its way */
    uint64_t pushed;   /* updates of it that are not confirmed */
    char epoch[SN_ULID];
    uint64_t version, confirmed;
    seine_text synced, local;
    seine_changes *mine[MINE]; /* not confirmed */
    size_t n_mine;
    bool peers[CLIENTS];
    channel in, out; /* of the connection */
    sn_session session;
    bool is_joined; /* as the server sees it */
};

struct world {
    uint64_t seed;
    char doc[SN_ULID];
    sn_rng dice;
    seine_time now;
    bool inserts_only;
    unsigned typed; /* characters, in a world of inserts */
    unsigned n_clients;
    client clients[CLIENTS];
    server *server;
    uint64_t versions, resyncs, duplicates, restarts, refused;
};

/* Ends the program with the seed, unless `holds`. */
void must(const world *w, bool holds, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

void put_text(world *w, channel *c, sn_str text);
bool take_text(channel *c, seine_text *out);
void empty_channel(channel *c);

/* client.c */
void client_init(client *c, world *w, unsigned number);
void client_fini(client *c);
void client_edit(client *c);
void client_push(client *c);
void client_point(client *c);   /* sends its caret */
void client_hear(client *c);    /* one message of the server, if there is one */
void client_connect(client *c); /* hello and open */
void client_drop(client *c);    /* the connection is gone, with all that was on it */

/* server.c */
typedef struct store store;
store *store_open(void); /* one for all worlds */
void store_close(store *s);
server *server_new(world *w, store *s);
void server_free(server *v);
void server_hello(server *v, client *c);
void server_gone(server *v, client *c); /* the server notices that it is */
void server_hear(server *v, client *c); /* one message of this client */
void server_commit(server *v, size_t most, bool fails);
bool server_is_busy(const server *v);
void server_truncate(server *v);
void server_restart(server *v);
void server_sweep(server *v);
/* The text of the server, which must be that of the store. */
void server_check(server *v, seine_text *out_text, uint64_t *out_version);

#endif
