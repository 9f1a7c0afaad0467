/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_url.h - where a Redis server is, and who asks it.
 *
 *     sn_redis_url url;
 *     seine_err e = sn_redis_url_parse(SN_STR("redis://:secret@db.example:6379/2"), &url,
 *                                      &diag);
 *     sn_redis_url_shown(&url, text);                  "redis://db.example:6379/2"
 *     sn_redis_url_fini(&url);
 *
 * redis://[[USER]:PASSWORD@]HOST[:PORT][/DB] or unix://[[USER]:PASSWORD@]/PATH[?db=N].
 * User, password and path may hold escapes (%2F). The packaged hiredis has no TLS, and
 * neither has this client: rediss:// is refused with a line that says so.
 *
 * Time    plays no part.
 * Memory  one block, which is wiped: the password is in it.
 * Threads any thread.
 */
#ifndef SN_REDIS_URL_H
#define SN_REDIS_URL_H

#include "base/str.h"
#include "seine/diag.h"

#define SN_REDIS_PORT  6379
#define SN_REDIS_PATH  107  /* bytes of the path of a socket */
#define SN_REDIS_BYTES 1024 /* of a whole URL */
#define SN_REDIS_SHOWN 320  /* bytes that hold any of them as people see it */

typedef struct sn_redis_url {
    sn_str user, password; /* empty: none */
    sn_str host;           /* lower case, without brackets; empty: a socket … */
    sn_str path;           /* … of this path */
    uint16_t port;
    uint32_t db;
    char *mem;
    size_t room;
} sn_redis_url;

/* CONFIG: the diag says why, and never shows the URL. NOMEM. */
SEINE_MUST_CHECK seine_err sn_redis_url_parse(sn_str text, sn_redis_url *out_url,
                                              seine_diag *diag);
void sn_redis_url_fini(sn_redis_url *u);

/* The URL without user and password, terminated. */
void sn_redis_url_shown(const sn_redis_url *u, char out_text[SN_REDIS_SHOWN]);

#endif
