/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen.h - was this key here before? One step that asks and remembers.
 *
 * A key (a URL that the caller has brought into canonical form) becomes a 64-bit
 * fingerprint, its "print", under a secret 128-bit seed, and the set keeps the prints
 * exactly: 9 to 10 bytes each, none forgotten, none invented. The set confuses two keys
 * only when they have the same print. In a set of n that is expected to happen
 * n * n / 2^65 times: 0.0000007 at 5 million, 0.00027 at 100 million.
 *
 *     seine_seen_opts opts = SEINE_SEEN_OPTS;
 *     seine_seen *seen;
 *     bool first;
 *     if (seine_seen_new(&opts, &seen) == SEINE_OK &&
 *         seine_seen_add(seen, url, strlen(url), &first) == SEINE_OK && first)
 *         fetch(url);
 *
 * When many threads add one key, exactly one gets `true`. Nothing is deleted. The links
 * of a page come at once: print them all, then call add_many, which fetches their places
 * in memory together and takes each lock once. The promised speed (10 M/s in a set sized
 * by `expect`, 5 M/s in one that grows) holds for add_many with a hundred prints or more;
 * add, one key at a time, reaches less than half of it.
 *
 * A NULL set is switched off: every key is new and none is remembered.
 *
 * Time    plays no part.
 * Memory  16 KiB, then 1 MiB from the first thousand keys on, then 9.1 B per key in
 *         a set sized by `expect` and 10.2 B, at most 11 B, in one that grows.
 *         Adding allocates only to grow.
 * Threads any thread. seine_seen_load: while no other thread uses the set.
 */
#ifndef SEINE_SEEN_H
#define SEINE_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"

typedef struct seine_seen seine_seen;

typedef struct seine_seen_opts {
    size_t size;      /* of this struct: SEINE_SEEN_OPTS sets it */
    uint64_t expect;  /* keys to make room for at once; 0: grows as they come */
    uint64_t max;     /* never more keys than this; 2^32 */
    uint64_t seed[2]; /* the secret; {0, 0}: drawn from the kernel */
} seine_seen_opts;

/* Takes the next bytes of a saved set; anything but SEINE_OK ends the saving. */
typedef seine_err (*seine_seen_put)(const void *bytes, size_t n, void *arg);

#define SEINE_SEEN_OPTS                                \
    {                                                  \
        sizeof(seine_seen_opts), 0, UINT64_C(1) << 32, \
        {                                              \
            0, 0                                       \
        }                                              \
    }

SEINE_BEGIN

/* NULL options are the defaults. INVAL: max 0, or expect above max. */
SEINE_MUST_CHECK seine_err seine_seen_new(const seine_seen_opts *opts,
                                          seine_seen **out_seen);
void seine_seen_free(seine_seen *s);

/* The print of a key in this set. */
uint64_t seine_seen_print(const seine_seen *s, const void *key, size_t len);

/* *out_new: the key was not in the set before. FULL (more than `max`) and NOMEM: it was
 * not added, and *out_new is false. */
SEINE_MUST_CHECK seine_err seine_seen_add(seine_seen *s, const void *key, size_t len,
                                          bool *out_new);

/* The same for many prints: out_new[i] is 1 or 0, and of equal prints in one call
 * only the first is new. FULL and NOMEM: none of them was added, and out_new is
 * untouched. Prints that are not evenly spread are slow, never wrong. */
SEINE_MUST_CHECK seine_err seine_seen_add_many(seine_seen *s, const uint64_t *prints,
                                               size_t n, uint8_t *out_new);

bool seine_seen_has(const seine_seen *s, const void *key, size_t len);
uint64_t seine_seen_count(const seine_seen *s);

/* Forgets all keys and gives memory back; seed and options stay. */
void seine_seen_clear(seine_seen *s);

/* How many keys are expected to have been confused with another: n * n / 2^65. */
double seine_seen_expected_loss(const seine_seen *s);

/* Hands the set to `put` piece by piece: 48 bytes and 8 for every key. Keys added
 * meanwhile may be left out. The bytes hold the secret seed: anybody who reads them can
 * prepare keys that collide. Returns the error of `put`, if any. */
SEINE_MUST_CHECK seine_err seine_seen_save(const seine_seen *s, seine_seen_put put,
                                           void *arg);

/* Replaces the keys and the seed by saved ones. Nothing is changed on failure:
 * STATE_FOREIGN (no saved set), STATE_NEWER (of a later version), STATE_CORRUPT
 * (cut short or damaged), FULL (more keys than `max`), NOMEM. */
SEINE_MUST_CHECK seine_err seine_seen_load(seine_seen *s, const void *bytes, size_t n);

SEINE_END

#endif
