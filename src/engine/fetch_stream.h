/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_stream.h - the stream of <seine/fetch_stream.h> on any net.
 *
 *     e = sn_fetch_stream_open(&opts, &sn_net_sockets, &s, &diag);
 *
 * Time    through the clock of the options.
 * Memory  the net is borrowed and outlives the stream.
 * Threads as the public ones.
 */
#ifndef SN_FETCH_STREAM_H
#define SN_FETCH_STREAM_H

#include "engine/fetch.h"
#include "seine/fetch_stream.h"

SEINE_MUST_CHECK seine_err sn_fetch_stream_open(const seine_fetch_opts *opts,
                                                const sn_net *net,
                                                seine_fetch_stream **out_stream,
                                                seine_diag *diag);

#endif
