/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - may this client have one more request now? Rate limits of an HTTP server.
 *
 * A gate has policies: which requests, how many of them, and per what. The first policy
 * that fits a request decides. A server asks once per request, and sends the fields on:
 *
 *     seine_gate_policy per_client = SEINE_GATE_POLICY;      10/s, 20 at once, by address
 *     seine_gate_opts opts = SEINE_GATE_OPTS;
 *     opts.policies = &per_client;
 *     opts.n_policies = 1;
 *     seine_gate *gate;
 *     if (seine_gate_new(&opts, &gate, NULL) != SEINE_OK)
 *         return usage();
 *
 *     seine_gate_request req = SEINE_GATE_REQUEST;
 *     req.peer = address_of_the_connection;
 *     req.method = seine_key_str("GET");
 *     req.target = seine_key_str("/login");
 *     seine_gate_answer answer;
 *     seine_gate_fields fields;
 *     seine_gate_check(gate, &req, seine_now(), &answer);
 *     seine_gate_write(&answer, &fields);            RateLimit-Policy, RateLimit, …
 *     if (!answer.allowed)
 *         return too_many_requests(fields.retry_after, fields.problem);
 *
 * The client is the peer of the connection, or, if the peer is in `trust`, the rightmost
 * entry of X-Forwarded-For that is not itself in `trust`. An IPv6 client is its /64. The
 * decision is that of keyed.h: in any window of length t a client gets at most burst +
 * t / every; nobody's debt is forgotten while the gate is full of clients.
 *
 * Time    is passed in.
 * Memory  about 72 B per client, bounded by max_keys per policy.
 * Threads any thread; a gate is freed after the last call has returned.
 */
#ifndef SEINE_GATE_H
#define SEINE_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/alloc.h"
#include "seine/diag.h"
#include "seine/err.h"
#include "seine/keyed.h"
#include "seine/limiter.h"
#include "seine/time.h"
#include "seine/view.h"

struct sockaddr;

typedef struct seine_gate seine_gate;

#define SEINE_GATE_NAME 64 /* bytes of a policy's name, the terminator included */

typedef struct seine_gate_policy {
    size_t size;      /* of this struct: SEINE_GATE_POLICY sets it */
    const char *name; /* printable ASCII without " and \; no two have the same */
    const char *path; /* fits requests for it and below it; NULL: any */
    const char *const *methods; /* fits these, ended by NULL; NULL: any */
    const char *header; /* a bucket per value of this field; NULL: per client address */
    seine_rate rate;
} seine_gate_policy;

#define SEINE_GATE_POLICY                                       \
    {                                                           \
        sizeof(seine_gate_policy), "default", NULL, NULL, NULL, \
        {                                                       \
            10, SEINE_SECS(1), 20                               \
        }                                                       \
    }

/* Lists of networks are ended by NULL; NULL itself is the empty list. */
typedef struct seine_gate_opts {
    size_t size;                       /* of this struct: SEINE_GATE_OPTS sets it */
    const seine_gate_policy *policies; /* the first that fits decides */
    size_t n_policies;
    const char *const *trust;      /* proxies whose X-Forwarded-For counts */
    const char *const *allow;      /* clients that pass uncounted */
    const char *const *deny;       /* clients that are always refused; wins over allow */
    uint32_t v4_prefix, v6_prefix; /* bits of an address that make a client */
    uint32_t max_keys;             /* clients per policy */
    seine_overflow overflow;       /* when all of them owe tokens */
} seine_gate_opts;

#define SEINE_GATE_OPTS                                                    \
    {                                                                      \
        sizeof(seine_gate_opts), NULL, 0, NULL, NULL, NULL, 32, 64, 65536, \
            SEINE_OVERFLOW_SHARED                                          \
    }

/* Finds the value of the nth field of that name, from 0, whatever the case of letters.
 * False: there are not so many. The value stays valid until the check returns. */
typedef bool (*seine_gate_field_fn)(void *arg, const char *name, unsigned nth,
                                    seine_view *out_value);

typedef struct seine_gate_request {
    size_t size;                 /* of this struct: SEINE_GATE_REQUEST sets it */
    const struct sockaddr *peer; /* AF_INET or AF_INET6 */
    seine_view method, target;   /* target: with or without a query */
    seine_gate_field_fn field;   /* NULL: the request has no fields */
    void *arg;
} seine_gate_request;

#define SEINE_GATE_REQUEST                                                 \
    {                                                                      \
        sizeof(seine_gate_request), NULL, {NULL, 0}, {NULL, 0}, NULL, NULL \
    }

typedef enum seine_gate_reason {
    SEINE_GATE_COUNTED,   /* there was a token */
    SEINE_GATE_LIMITED,   /* there was none */
    SEINE_GATE_ALLOWED,   /* in `allow`: not counted */
    SEINE_GATE_DENIED,    /* in `deny` */
    SEINE_GATE_NO_POLICY, /* no policy fits: passes, not counted */
    SEINE_GATE_NO_CLIENT  /* the peer has no IP address: refused */
} seine_gate_reason;

typedef struct seine_gate_answer {
    bool allowed;
    seine_gate_reason reason;
    char policy[SEINE_GATE_NAME]; /* that decided; "": none */
    uint32_t limit, left;         /* the burst, and whole tokens that are left */
    seine_span window;            /* that fills an empty bucket */
    seine_span reset_after; /* until it is full; nothing left: until a token comes */
    seine_span retry_after; /* refused: until a retry can help; else 0 */
    uint8_t client[16], client_len; /* address: 4 or 16 bytes; 0: none */
    uint8_t reserved[39];
} seine_gate_answer;

/* Values of fields, and the body of a refusal; "" where the field is left out. */
typedef struct seine_gate_fields {
    char policy[128];     /* RateLimit-Policy: "default";q=20;w=2 */
    char limit[128];      /* RateLimit: "default";r=0;t=1 */
    char retry_after[16]; /* Retry-After: 1 */
    char problem[320];    /* application/problem+json, of a refusal */
} seine_gate_fields;

typedef struct seine_gate_stats {
    uint64_t allowed, limited, passed, denied; /* passed: uncounted */
    uint64_t keys, bytes;                      /* clients now, and their memory */
    uint64_t overflowed; /* decisions on clients that found no place */
    uint64_t reserved[4];
} seine_gate_stats;

SEINE_BEGIN

/* CONFIG: the diag names the member; INVAL: options of no version; NOMEM. */
SEINE_MUST_CHECK seine_err seine_gate_new(const seine_gate_opts *opts,
                                          seine_gate **out_gate, seine_diag *diag);
void seine_gate_free(seine_gate *g); /* NULL is fine */

/* Other policies and lists from now on; on an error the old ones stay. A policy that
 * keeps its name and what it counts by keeps its buckets: with another rate, each keeps
 * its tokens. Checks may run meanwhile; what they take while a rate changes may be lost.
 */
SEINE_MUST_CHECK seine_err seine_gate_set(seine_gate *g, const seine_gate_opts *opts,
                                          seine_time now, seine_diag *diag);

/* Decides, and takes the token. Always writes the answer. A NULL gate is off. */
void seine_gate_check(seine_gate *g, const seine_gate_request *req, seine_time now,
                      seine_gate_answer *out_answer);

/* The fields of the answer as draft-ietf-httpapi-ratelimit-headers has them; seconds are
 * rounded up. */
void seine_gate_write(const seine_gate_answer *answer, seine_gate_fields *out_fields);

/* The client as text: "192.0.2.7", "2001:db8::1"; "" without one. */
void seine_gate_client(const seine_gate_answer *answer, char out_text[46]);

/* Forgets clients that owe nothing any more. Call it every 10 s or so; new clients make
 * room for themselves as well. */
void seine_gate_sweep(seine_gate *g, seine_time now);

/* Of all policies, or of one by its place; zeros for a place that is not there. */
void seine_gate_stats_get(const seine_gate *g, seine_gate_stats *out_stats);
/* The name of the policy at that place is written to `out_name`. False: there is none. */
bool seine_gate_policy_stats(const seine_gate *g, size_t place,
                             char out_name[SEINE_GATE_NAME], seine_gate_stats *out_stats);

SEINE_END

#endif
