/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.h - which paths the console has, who may call them, and what they take.
 *
 * One constant table, written as rows of X-macros: a row names method, path, the least
 * role, the handler and the longest body. A row without a role does not compile, and a
 * path that is not in the table is 404 for everybody. Each part of the console has its
 * own file of rows, so that two people can add to it:
 *
 *     routes_system.h     pages, assets, session, tokens, audit, system, logs
 *     routes_health.h     livez, readyz, healthz, metrics
 *     routes_docs.h       documents and stored pages
 *     routes_runs.h       runs, records, exports
 *
 * A row is `X(GET, "/livez", NONE, sn_api_livez, 0)`, and its handler is
 * `void sn_api_livez(sn_call *call)`, which this header declares. A segment
 * in braces is a parameter: `{id}` matches a ULID, `{seq}` a number, every other name any
 * segment. A path is decoded per segment, once, here.
 *
 *     sn_route_match m;
 *     sn_route_status s = sn_route_find(SN_GET, path, &arena, &m);
 *
 * Time    plays no part.
 * Memory  decoded parameters in the caller's arena.
 * Threads any thread.
 */
#ifndef SN_ROUTE_H
#define SN_ROUTE_H

#include "base/arena.h"
#include "console/routes_docs.h"
#include "console/routes_health.h"
#include "console/routes_runs.h"
#include "console/routes_system.h"

enum { SN_ROUTE_PARAMS = 3, SN_ROUTE_SEGMENTS = 8 };

typedef enum sn_method { SN_GET, SN_POST, SN_PATCH, SN_DELETE, SN_METHODS } sn_method;

/* A role may do all that those before it may. 0 is nobody's, so that a row which forgets
 * its role is refused at compile time. */
typedef enum sn_role {
    SN_ROLE_UNSET,
    SN_ROLE_NONE, /* without a token */
    SN_ROLE_VIEWER,
    SN_ROLE_EDITOR,
    SN_ROLE_ADMIN
} sn_role;

typedef struct sn_call sn_call;
typedef void (*sn_route_handler)(sn_call *call);

typedef struct sn_route {
    sn_method method;
    const char *path; /* "/api/docs/{id}" */
    sn_role role;
    sn_route_handler handle;
    uint32_t body; /* bytes at most; 0: none */
} sn_route;

#define SN_ROUTES(X) \
    SN_ROUTES_SYSTEM(X) SN_ROUTES_HEALTH(X) SN_ROUTES_DOCS(X) SN_ROUTES_RUNS(X)

#define SN_ROUTE_DECLARE_(method, path, role, handle, body) void handle(sn_call *call);
SN_ROUTES(SN_ROUTE_DECLARE_)
#undef SN_ROUTE_DECLARE_

typedef struct sn_route_match {
    const sn_route *route;
    sn_str param[SN_ROUTE_PARAMS]; /* decoded, in the order of the template */
    char allow[40];                /* of a path that has other methods: "GET, POST" */
} sn_route_match;

typedef enum sn_route_status {
    SN_ROUTE_FOUND,
    SN_ROUTE_NOWHERE,   /* 404 */
    SN_ROUTE_NO_METHOD, /* 405, and `allow` says which there are */
    SN_ROUTE_NOMEM
} sn_route_status;

/* The whole table, in order; a row's index is its number in metrics. */
const sn_route *sn_route_all(size_t *out_n);

/* `path` is raw, without the query. A path with an escaped `/`, `\` or NUL, an empty or a
 * dot segment is NOWHERE. */
sn_route_status sn_route_find(sn_method method, sn_str path, sn_arena *arena,
                              sn_route_match *out_match);

/* "HEAD" is GET. False: a method that no route has. */
bool sn_method_parse(sn_str word, sn_method *out_method);
const char *sn_method_name(sn_method method);

const char *sn_role_name(sn_role role);             /* "viewer" */
bool sn_role_parse(sn_str word, sn_role *out_role); /* viewer, editor, admin */

/* Decodes %XX (and `+` as a blank in queries) into the arena. INVAL: half an escape, or
 * what is not UTF-8; NOMEM. */
SEINE_MUST_CHECK seine_err sn_route_decode(sn_str raw, bool is_query, sn_arena *arena,
                                           sn_str *out_text);

#endif
