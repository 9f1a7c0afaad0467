/* SPDX-License-Identifier: Apache-2.0 */
/* job_kinds.h - the words in which the engine writes to a job, and reads from it. */
#ifndef SN_JOB_KINDS_H
#define SN_JOB_KINDS_H

#include "store/job.h"

/* Kinds of URLs beside those of visits. */
enum {
    SN_JOB_LATE = 3, /* too deep, nofollow, offsite while seeds come: told at the end */
    SN_JOB_GIVEN = 4 /* by the caller: the text as given, and an ask */
};

/* Kinds of notes. */
enum {
    SN_NOTE_WIDENED = 1, /* a given URL, and where it redirects: both are in scope */
    SN_NOTE_GIVEN = 2,   /* how many URLs a crawl was given */
    SN_NOTE_TRAP = 3,    /* a pattern of a host that repeats, and the round that saw it */
    SN_NOTE_PAGES = 4    /* in a fleet: a pattern of a host, and how many pages it had */
};

/* Rounds after which a trap is looked at anew. */
enum { SN_NOTE_TRAP_ROUNDS = 4 };

#endif
