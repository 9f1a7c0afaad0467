/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fiber.h - functions that stop in the middle and go on later, all on one thread: a
 * keeper, a sink and a shard that block, in a simulation that never does.
 *
 *     fiber *f = fiber_new(fn, arg);
 *     while (!fiber_has_ended(f))
 *         fiber_run(f);                       until it yields or returns
 *     fiber_free(f);
 *
 * Memory  256 KiB of stack each, of which the kernel gives what is used.
 * Threads one for all of them.
 */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include <stdbool.h>

typedef struct fiber fiber;

fiber *fiber_new(void (*fn)(void *arg), void *arg);
void fiber_free(fiber *f); /* it has ended */
void fiber_run(fiber *f);  /* from outside of any */
void fiber_yield(void);    /* from inside */
bool fiber_has_ended(const fiber *f);
fiber *fiber_now(void); /* that runs; NULL: none */

#endif
