/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_call.h - one HTTP request that passed every check, and the ways to answer it.
 *
 * A handler gets a call when the whole body is there, the role fits and Host, Origin and
 * content type are right. It runs on the console's thread and answers exactly once, now
 * or later; until then the client waits.
 *
 *     void sn_api_livez(sn_call *call)
 *     {
 *         sn_buf out;
 *         sn_buf_init(&out, 1 << 20);
 *         …
 *         sn_call_json(call, 200, &out);              moves the text out of `out`
 *     }
 *
 *     sn_call_fail(call, SN_API_NOT_FOUND, "no such run", "seine jobs ls names them");
 *
 * A handler that needs a blocking store posts its job and returns; the job's answer
 * comes back through the mailbox (console.h) and answers the call then. Whoever keeps a
 * call has a deadline and answers `unavailable` at it. A call whose client has gone stays
 * valid until it is answered.
 *
 * Time    `at` is the loop's time when the request was whole.
 * Memory  an arena of at most 64 KiB for what lives as long as the call; the body.
 * Threads the console's thread alone. Other threads get copies.
 */
#ifndef SN_API_CALL_H
#define SN_API_CALL_H

#include "base/buf.h"
#include "console/api_error.h"
#include "console/route.h"
#include "console/ulid.h"
#include "seine/plumbing.h"
#include "seine/time.h"

enum { SN_USER_NAME = 164, SN_PEER = 64 }; /* bytes with the terminator */

/* Who asks: a token, or nobody. */
typedef struct sn_user {
    char id[SN_ULID];        /* of the token; "": nobody */
    char name[SN_USER_NAME]; /* of the token */
    sn_role role;
} sn_user;

/* A response made piece by piece. */
enum { SN_STREAM_WAIT = 0, SN_STREAM_END = -1, SN_STREAM_FAIL = -2 };
typedef struct sn_stream {
    /* Writes up to `cap` bytes and returns how many; WAIT: none now, the owner calls
     * sn_call_resume when there are; END; FAIL: the connection is cut, so that the
     * client sees that the rest is missing. */
    int64_t (*read)(void *arg, char *out, size_t cap);
    void (*end)(void *arg); /* once, however it ends; the call is gone then */
    void *arg;
} sn_stream;

typedef struct sn_reply {
    uint16_t status;                     /* 0: not answered */
    const char *type;                    /* constant */
    const char *cache;                   /* NULL: no-store */
    const char *encoding;                /* "gzip", or NULL */
    char allow[40];                      /* of a 405 */
    char etag[72], nonce[32], file[160]; /* "": none; `file` makes it a download */
    uint32_t retry_after;                /* seconds; 0: none */
    seine_text text;                     /* the body, owned; */
    sn_str fixed;                        /* or constant bytes; */
    sn_stream stream;                    /* or made piece by piece */
    bool close, varies;                  /* the body depends on Accept-Encoding */
} sn_reply;

struct sn_call {
    struct seine_console *console;
    const sn_route *route;
    sn_method method;
    sn_str path, query;            /* as sent; sn_call_query decodes */
    sn_str param[SN_ROUTE_PARAMS]; /* of the path, decoded */
    sn_str body;
    sn_user user;
    char id[SN_ULID];   /* of the request, in logs and errors */
    char peer[SN_PEER]; /* address of the client */
    sn_str accept_encoding, if_none_match, accept, traceparent; /* fields, or empty */
    bool is_loopback;
    seine_time at;
    sn_arena arena;
    void *own;          /* the handler's */
    const char *action; /* for the audit row; NULL: method and path of the route */
    char target[64];    /* likewise; "": the first parameter */

    /* Of api_call.c and http_daemon.c. */
    sn_reply reply;
    seine_json *json;
    void (*on_reply)(sn_call *call); /* sends what is in `reply` */
    void (*on_resume)(sn_call *call);
    void *link; /* the daemon's connection */
};

/* Answers. `give` is emptied; if it kept an error the answer is `internal`. */
void sn_call_json(sn_call *call, int status, sn_buf *give);
void sn_call_text(sn_call *call, int status, const char *type, sn_buf *give);
/* Copies `bytes`. */
void sn_call_copy(sn_call *call, int status, const char *type, sn_str bytes);
/* Constant bytes. */
void sn_call_fixed(sn_call *call, int status, const char *type, sn_str bytes);
/* 204, or a status without a body. */
void sn_call_empty(sn_call *call, int status);
/* {"error":{"code","message","hint","request"}} with the status of the code; `hint` may
 * be NULL. `message` is data: it is quoted. */
void sn_call_fail(sn_call *call, sn_api_error error, const char *message,
                  const char *hint);
void sn_call_fail_after(sn_call *call, sn_api_error error, const char *message,
                        uint32_t retry_after_s);
/* As fail, with one more member of the error: its cause ("dns_nxdomain"). */
void sn_call_fail_cause(sn_call *call, sn_api_error error, const char *message,
                        const char *cause);
/* A seine_err of a store or a queue as the code that fits it. */
void sn_call_fail_err(sn_call *call, seine_err e);
/* Streams. `file` (NULL: none) makes it a download of that name. */
void sn_call_stream(sn_call *call, const char *type, const char *file,
                    const sn_stream *stream);
void sn_call_resume(sn_call *call); /* the stream has more */

/* Parameters of the query, decoded. False: not there. */
bool sn_call_query(sn_call *call, const char *name, sn_str *out_value);
/* `missing` if it is not there. False: it is no number of this range, and the call is
 * answered. */
bool sn_call_query_u64(sn_call *call, const char *name, uint64_t min, uint64_t max,
                       uint64_t missing, uint64_t *out_n);

/* The body as a JSON object, which the call keeps; NULL: it is none, and the call is
 * answered. An empty body is an empty object. */
const seine_json *sn_call_object(sn_call *call);

/* Members of it. False: of another type, too long or out of range (or missing, if it is
 * `needed`), and the call is answered; a member that is missing leaves *out untouched. */
bool sn_call_member_text(sn_call *call, const seine_json *object, const char *name,
                         bool needed, size_t most, sn_str *out_text);
bool sn_call_member_u64(sn_call *call, const seine_json *object, const char *name,
                        bool needed, uint64_t max, uint64_t *out_n);

/* For tests and for http_daemon.c. */
void sn_call_init(sn_call *call);
void sn_call_fini(sn_call *call);
void sn_reply_fini(sn_reply *reply);

#endif
