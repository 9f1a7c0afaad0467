/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_brake.h - which responses may go on when memory is short?
 *
 * All that visits keep of their responses is charged to the memory budget. While much is
 * free nobody asks. From then on a response asks before each read, gets room for a piece,
 * or waits: its connection stops reading, and no new request starts.
 *
 * Responses that all wait for each other would wait for ever. So a reserve is left for
 * one of them, the first, which is as large as a response may become (at most half of the
 * limit). The others share the rest. The first goes on to its end; when its record is
 * written the next one that waits becomes the first. With 512 MiB and bodies of at most
 * 16 MiB the reserve is 16 MiB, the others have 496.
 *
 *     if (!sn_memory_brake_expect(b, announced))     what it will keep, where that is
 * known refuse();                                  it is more than there is at all if
 * (!sn_charge_set(c, b, bytes))               what a visit keeps refuse(); n =
 * sn_memory_brake_room(b, c, bytes, 1);      0: wait, and ask again later
 *     sn_charge_release(c, b);
 *
 * A response may need more than the reserve. If its length is announced, the reserve
 * becomes as large at once. Otherwise the first outgrows it: then the others get nothing
 * more, and the first waits until they are done. When only those are left that wait
 * themselves, they are dropped and asked for again later (`evictions`). The next reserve
 * is as large as that first was, and shrinks again with smaller ones. A response that
 * does not fit even alone cannot fit at all: SN_ROOM_NEVER.
 *
 * Time    plays no part.
 * Memory  one allocation.
 * Threads any thread; a charge has one owner.
 */
#ifndef SN_MEMORY_BRAKE_H
#define SN_MEMORY_BRAKE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "seine/budget.h"

#define SN_ROOM_NEVER SIZE_MAX

/* What a visit, or its record on the way to the outputs, holds. */
typedef struct sn_charge {
    seine_held held;
    uint64_t number; /* of the visit */
    bool is_first;
    bool waits;
} sn_charge;

typedef struct sn_memory_brake {
    _Atomic uint32_t refs;
    seine_budget *budget; /* NULL: nothing is limited; owned */
    uint64_t limit, least_reserve;
    _Atomic uint64_t reserve; /* for the first */
    pthread_mutex_t waking;   /* of these two, and held while `wake` is called */
    void (*wake)(void *arg);  /* memory came back, or somebody is to be evicted */
    void *arg;
    _Atomic uint64_t charged;   /* by all charges */
    _Atomic uint64_t first_has; /* by the first */
    _Atomic uint32_t waiting;   /* charges that wait … */
    _Atomic uint64_t idle;      /* … and what they hold */
    _Atomic uint32_t releases;  /* those who wait ask again when it changes */
    _Atomic uint32_t evictions; /* those who wait are to give up when it changes */
    atomic_bool is_short;
    atomic_bool has_first;
    atomic_bool first_outgrew; /* its reserve */
    atomic_bool first_waits;   /* for the others: it asks again when one of them waits */
    /* The number whose record is written next, where they are written in order; NULL: in
     * any order. Only that visit becomes the first then, since a record that waits for
     * its turn gives no memory back. */
    uint64_t (*due)(void *arg);
    void *due_arg;
} sn_memory_brake;

/* `limit`: UINT64_MAX or 0: none. `most`: what one response may need. NOMEM. */
SEINE_MUST_CHECK seine_err sn_memory_brake_new(uint64_t limit, uint64_t most,
                                               sn_memory_brake **out_brake);

/* A record on its way to the outputs may outlive the engine: it has a reference. */
void sn_memory_brake_ref(sn_memory_brake *b);
void sn_memory_brake_unref(sn_memory_brake *b); /* NULL is fine */

/* Sets whom to wake; NULL: nobody. On return the one before is not called any more. */
void sn_memory_brake_on_wake(sn_memory_brake *b, void (*wake)(void *arg), void *arg);

/* Must a response ask before it reads? */
bool sn_memory_brake_is_on(const sn_memory_brake *b);

/* May a new request start? */
bool sn_memory_brake_may_start(const sn_memory_brake *b);

/* A response has announced that it will take that much. False: more than there is at
 * all. */
SEINE_MUST_CHECK bool sn_memory_brake_expect(sn_memory_brake *b, uint64_t bytes);

/* The bytes that may be read, each of which takes `cost` bytes of memory; `uses`: what
 * the visit holds by now. 0: not now. SN_ROOM_NEVER: there will never be room. */
size_t sn_memory_brake_room(sn_memory_brake *b, sn_charge *c, uint64_t uses,
                            unsigned cost);

/* The visit holds that much, or more if it was given room for it. False: more than there
 * is at all. */
SEINE_MUST_CHECK bool sn_charge_set(sn_charge *c, sn_memory_brake *b, uint64_t bytes);

/* Waits no longer: the exchange has ended. */
void sn_charge_go(sn_charge *c, sn_memory_brake *b);
void sn_charge_release(sn_charge *c, sn_memory_brake *b);

#endif
