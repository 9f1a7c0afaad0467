/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hurry.h - wait until a pipe takes bytes, but not for ever once the run must end.
 *
 * A pipe whose reader does not read blocks its writer. A writer that waits here can be
 * told from another thread to hurry: from then on it waits 20 ms for its reader and no
 * longer.
 *
 *     e = sn_hurry_init(&h);
 *     while (n > 0 && sn_hurry_wait(&h, fd))              the writer
 *         n -= write(fd, bytes, few);
 *
 *     sn_hurry_up(&h);                                    any thread
 *
 * Time    real: it waits for descriptors.
 * Memory  one descriptor.
 * Threads wait, pause and up: any thread.
 */
#ifndef SN_HURRY_H
#define SN_HURRY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "seine/err.h"

typedef struct sn_hurry {
    int fd; /* readable once somebody hurries; -1: nobody can */
    atomic_bool is_on;
} sn_hurry;

SEINE_MUST_CHECK seine_err sn_hurry_init(sn_hurry *h); /* NO_FILES */
void sn_hurry_fini(sn_hurry *h);

void sn_hurry_up(sn_hurry *h);

/* Waits until the descriptor can be written, or has failed. False: the writer must hurry
 * and 20 ms have passed; errno is ETIMEDOUT. */
bool sn_hurry_wait(sn_hurry *h, int fd);

/* Waits for that long. False at once if the writer must hurry; errno is ETIMEDOUT. */
bool sn_hurry_pause(sn_hurry *h, int ms);

#endif
