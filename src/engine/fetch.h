/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.h - the fetch of <seine/fetch.h> on any net: sockets, or a script of a test.
 *
 *     e = sn_fetch_open(&opts, &sn_net_sockets, &f, &diag);
 *
 * A net makes one transport per shard and takes it back. Everything else of the public
 * contract works on the fetch that comes out.
 *
 * Time    through the clock of the options.
 * Memory  the net is borrowed and outlives the fetch.
 * Threads as the public ones.
 */
#ifndef SN_FETCH_H
#define SN_FETCH_H

#include "engine/shared_state.h"

typedef struct sn_net {
    /* CONFIG with diag, NOMEM, NO_FILES. Called on the opener's thread. */
    seine_err (*open)(void *self, const sn_shared_state *shared, uint32_t shard,
                      uint32_t n_shards, sn_transport **out_transport, seine_diag *diag);
    void (*close)(void *self, sn_transport *t);
    void *self;
    const struct sn_store_ops *store; /* where URLs wait; NULL: store/store_mem.h */
} sn_net;

extern const sn_net sn_net_sockets;

SEINE_MUST_CHECK seine_err sn_fetch_open(const seine_fetch_opts *opts, const sn_net *net,
                                         seine_fetch **out_fetch, seine_diag *diag);

/* For threads = 0: one turn that sleeps until something happens, `until` at most. */
void sn_fetch_turn(seine_fetch *f, seine_time until);

/* For fetch_stream.c: `fn` is called, on any thread and maybe often, once all is done.
 * Set before anybody closes the fetch. */
void sn_fetch_on_done(seine_fetch *f, void (*fn)(void *arg), void *arg);

/* For fetch_control.c. */
sn_shared_state *sn_fetch_shared(seine_fetch *f);
/* A URL that the job was given, by the number it has there. FULL: later; CLOSED;
          NOMEM. */
SEINE_MUST_CHECK seine_err sn_fetch_give_again(seine_fetch *f, const seine_ask *ask,
                                               uint64_t number);

/* How long nobody asks a host of which nothing is known: it may have been asked just
 * before. */
seine_span sn_fetch_first_interval(const seine_fetch *f);

struct sn_run *const *sn_fetch_runs(const seine_fetch *f, uint32_t *out_n);

SEINE_MUST_CHECK seine_err sn_fetch_all(const seine_fetch_opts *opts, const sn_net *net,
                                        seine_ctx *ctx, const char *const *urls, size_t n,
                                        seine_fetched *out_results,
                                        seine_summary *out_summary);

#endif
