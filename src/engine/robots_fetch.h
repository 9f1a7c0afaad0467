/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots_fetch.h - <seine/robots_fetch.h> on any net: sockets, or a script of a test.
 *
 *     e = sn_robots_fetch(&opts, &sn_net_sockets, ctx, urls, n, &book, diag);
 *
 * Time    through the clock of the options.
 * Memory  the net is borrowed during the call.
 * Threads as the public one.
 */
#ifndef SN_ROBOTS_FETCH_H
#define SN_ROBOTS_FETCH_H

#include "engine/fetch.h"
#include "seine/robots_fetch.h"

SEINE_MUST_CHECK seine_err sn_robots_fetch(const seine_fetch_opts *opts,
                                           const sn_net *net, seine_ctx *ctx,
                                           const char *const *urls, size_t n,
                                           seine_robots_book **out_book,
                                           seine_diag *diag);

#endif
