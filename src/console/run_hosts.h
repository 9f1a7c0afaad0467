/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_hosts.h - the hosts of a run, as each of those who look at it wants to see them.
 *
 * A look is an order and a part of a name. The shards answer one question at a time, so
 * the looks that somebody wants take turns: four at most get an answer every second. What
 * one person filters is never what another one sees, nor what the verdict is made of.
 *
 *     sn_run_look *look = sn_run_hosts_want(&hosts, NULL, now);   for the next 5 s
 *     sn_run_hosts_ask(&hosts, fetch, now);                       every 250 ms
 *     show(look->rows, look->n);                                  once look->at > 0
 *
 * Time    is passed in.
 * Memory  about 16 KiB a look that somebody wants, 16 looks at most.
 * Threads one owner.
 */
#ifndef SN_RUN_HOSTS_H
#define SN_RUN_HOSTS_H

#include "engine/fetch_watch.h"
#include "seine/fetch_control.h"

enum { SN_RUN_HOSTS = 50, SN_RUN_LOOKS = 16 };

typedef struct sn_run_look {
    struct sn_run_look *next;
    seine_fetch_look how;
    seine_time wanted; /* somebody looks until then */
    seine_time at;     /* of the rows; 0: they have not come yet */
    size_t n;
    sn_host_row rows[SN_RUN_HOSTS];
} sn_run_look;

typedef struct sn_run_hosts {
    sn_run_look *first;
    size_t n;
    sn_run_look *asked; /* whose question is open; NULL: none, or nobody wants it now */
    uint64_t ticket;    /* of that question; 0: none is open */
    seine_time asked_at;
} sn_run_hosts;

void sn_run_hosts_fini(sn_run_hosts *h); /* zero is fine */

/* `how` NULL: all hosts, those with most waiting URLs first. NULL: too many looks are
 * wanted, or there is no memory. Valid until the next call of sn_run_hosts_ask. */
sn_run_look *sn_run_hosts_want(sn_run_hosts *h, const seine_fetch_look *how,
                               seine_time now);

/* The newest rows of a look, whether it is still wanted or not; NULL: there are none. */
const sn_run_look *sn_run_hosts_find(const sn_run_hosts *h, const seine_fetch_look *how);

/* Takes the answer that has come, and asks for the look that is due. */
void sn_run_hosts_ask(sn_run_hosts *h, seine_fetch *f, seine_time now);

#endif
