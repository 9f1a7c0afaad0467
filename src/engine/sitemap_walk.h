/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sitemap_walk.h - the walk of <seine/sitemap_walk.h> on any net.
 *
 *     e = sn_sitemap_walk_new(&opts, &sn_net_sockets, &w);
 *
 * Time    through the clock of the options.
 * Memory  the net is borrowed and outlives the walk.
 * Threads one owner.
 */
#ifndef SN_SITEMAP_WALK_H
#define SN_SITEMAP_WALK_H

#include "engine/fetch.h"
#include "seine/sitemap_walk.h"

SEINE_MUST_CHECK seine_err sn_sitemap_walk_new(const seine_sitemap_walk_opts *opts,
                                               const sn_net *net,
                                               seine_sitemap_walk **out_walk);

#endif
