/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - the parts of a decision, for a server that keeps its buckets elsewhere.
 *
 *     sn_gate_case c;
 *     if (sn_gate_sort(gate, req, &c))          a policy counts it: c.rule, c.key
 *         err = seine_keyed_try(c.rule->buckets->keyed, c.key, now, 1, &grant);
 *     sn_gate_settle(&c, err, &grant, &answer);
 *     sn_gate_case_end(&c);
 *
 * Sort finds policy and client and takes nothing; the token may as well come from another
 * place than the gate's own buckets. A case keeps its rules alive, so that
 * settle may come in a later turn, after a reload. Between the two the request may go
 * away; the case holds no part of it.
 *
 * Rules are made whole and exchanged by pointer. Buckets have an owner count of their
 * own, since rules before and after a reload may share them.
 */
#ifndef SN_GATE_H
#define SN_GATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "gate/net_set.h"
#include "seine/gate.h"
#include "seine/keyed.h"

enum {
    SN_GATE_KEY = 24,
    SN_GATE_POLICIES = 256,
    SN_GATE_METHODS = 16,
    SN_GATE_HEADER = 255 /* bytes of a field's name, as the state can keep it */
};

/* The buckets of one policy and their counts. */
typedef struct sn_gate_buckets {
    atomic_uint refs;
    seine_keyed *keyed;
    seine_rate rate;
    uint32_t max_keys;
    seine_overflow overflow;
    atomic_ullong allowed, limited, passed, denied;
} sn_gate_buckets;

typedef struct sn_gate_rule {
    char name[SEINE_GATE_NAME];
    sn_str path;     /* as sn_request_path makes it; empty: any */
    sn_str *methods; /* n of them; none: any */
    uint32_t n_methods;
    char *header; /* NULL: the client's address */
    seine_span every, depth;
    sn_gate_buckets *buckets;
} sn_gate_rule;

typedef struct sn_gate_rules {
    atomic_uint refs;
    sn_gate_rule *rules;
    size_t n;
    sn_net_set trust, allow, deny;
    uint32_t prefix[2]; /* IPv4, IPv6 */
} sn_gate_rules;

struct seine_gate {
    pthread_mutex_t lock; /* for the pointer and its count */
    sn_gate_rules *rules;
    atomic_ullong unruled;   /* requests that no policy fits */
    atomic_bool is_ignoring; /* X-Forwarded-For came from a peer that is not trusted */
};

typedef struct sn_gate_case {
    sn_gate_rules *rules;
    sn_gate_rule *rule; /* NULL: none fits */
    seine_gate *gate;
    seine_gate_reason reason; /* COUNTED: unless the bucket says otherwise */
    sn_ip client;             /* v 0: none */
    seine_view key;           /* of the bucket; borrowed from key_bytes */
    char key_bytes[SN_GATE_KEY];
    bool is_trusted; /* the peer is: its fields about the request count */
} sn_gate_case;

/* May a policy have this name? */
bool sn_gate_is_name(const char *name);

/* Copies and checks options. CONFIG, INVAL, NOMEM. */
SEINE_MUST_CHECK seine_err sn_gate_rules_new(const seine_gate_opts *opts,
                                             sn_gate_rules **out_rules, seine_diag *diag);
sn_gate_rules *sn_gate_rules_ref(const seine_gate *g);
void sn_gate_rules_unref(sn_gate_rules *r);
/* A rule of `next` with the name of an old one and the same key gets its buckets, or,
 * with another rate, its debts. */
void sn_gate_rules_inherit(sn_gate_rules *next, const sn_gate_rules *old, seine_time now);

/* Is the peer one of the proxies that may say for whom and for what they ask? */
bool sn_gate_trusts(const seine_gate *g, const struct sockaddr *peer);

/* True: the case is to be counted. */
bool sn_gate_sort(seine_gate *g, const seine_gate_request *req, sn_gate_case *out_case);

/* `err` and `grant` are of seine_keyed_try for a case that is counted; else they do not
 * matter. */
void sn_gate_settle(sn_gate_case *c, seine_err err, const seine_grant *grant,
                    seine_gate_answer *out_answer);
void sn_gate_case_end(sn_gate_case *c);

#endif
