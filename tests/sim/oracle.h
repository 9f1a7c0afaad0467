/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle.h - what must become of every URL of a made-up web, and what may be asked when.
 *
 * It knows the graph (site.h), sees every request and answer on the wire and every
 * record, and uses nothing of the engine. What it can say without knowing in which order
 * things happened:
 *
 *     a URL has a record if, and only if, it was given or stands on a page that came
 *     whole; it has one; and that is a skip exactly when a rule of the crawl says so
 *
 * Depth, budgets and stops make the answer depend on order. Then the records themselves
 * say in which order it was, and it is held against them: a URL is too deep only if every
 * page that leads to it is recorded as deep as the limit.
 */
#ifndef SIM_ORACLE_H
#define SIM_ORACLE_H

#include "net.h"
#include "site.h"

/* A request leaves for node i: S8 and everything else that forbids it. */
void oracle_start(sim_world *w, uint32_t i, sn_address_zone ceiling);

/* It has reached the server. */
void oracle_arrive(sim_world *w, uint32_t i);

/* Its answer has ended. `whole`: with that status, all of it, and nobody broke off. */
void oracle_end(sim_world *w, uint32_t i, bool whole, uint16_t status, seine_err code);

void oracle_record(sim_world *w, const seine_record *r);

/* Nothing is left: were these the right ones? */
void oracle_judge(sim_world *w);

#endif
