/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.h - what has changed between two runs, URL by URL.
 *
 * The records of both runs are read once to be counted and compared, and again to be
 * shown, so that texts need not be kept: a URL takes some 200 bytes, and its old title.
 * A URL is known by its key; if it has several records in a run, the last one counts.
 *
 *     diff *d = diff_new(fields);
 *     entry e = {0};
 *     diff_take(d, DIFF_A, &e);                  all of A, then all of B
 *     diff_count(d);
 *     diff_again(d, DIFF_B);                     the records once more, in the same order
 *     const diff_url *u = diff_next(d, &e);      NULL: not the one that counts
 *     diff_free(d);
 */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "report/entry.h"
#include "report/latency.h"

typedef enum diff_side { DIFF_A, DIFF_B } diff_side;

/* What is compared, a bit each. */
typedef enum diff_field {
    DIFF_OUTCOME, /* ok, a kind of error, a reason of a skip */
    DIFF_STATUS,
    DIFF_TITLE,
    DIFF_LENGTH,
    DIFF_TARGET, /* where redirects lead */
    DIFF_SHA256, /* if both have it */
    DIFF_DATA,
    DIFF_FIELDS
} diff_field;
const char *diff_field_name(diff_field f); /* "status" */

typedef enum diff_kind {
    DIFF_ADDED,
    DIFF_REMOVED,
    DIFF_CHANGED,
    DIFF_SLOWER, /* at least twice as long, and 100 ms: counts as the same otherwise */
    DIFF_FASTER,
    DIFF_SAME,
    DIFF_KINDS
} diff_kind;
const char *diff_kind_name(diff_kind k);

/* One URL in one run. Texts are prints: equal if the texts are. */
typedef struct diff_facts {
    uint64_t length;
    uint32_t seq; /* of the record that counts, from 1; 0: none */
    uint32_t title, target, sha256, data;
    uint32_t took_us;
    uint16_t status;
    uint8_t outcome; /* a place in the names */
    bool has_sha256;
} diff_facts;

typedef struct diff_url {
    uint64_t key;
    diff_facts side[2];
    uint32_t title; /* of A, behind 1; 0: none */
} diff_url;

typedef struct diff diff;

/* fields: a bit for each diff_field. */
diff *diff_new(unsigned fields);
void diff_free(diff *d);
void diff_take(diff *d, diff_side side, const entry *e);

/* Counts after all was taken. */
typedef struct diff_counts {
    uint64_t kinds[DIFF_KINDS], fields[DIFF_FIELDS];
} diff_counts;
diff_counts diff_count(const diff *d);
const latency *diff_latency(const diff *d, diff_side side);

/* Goes through the records once more. */
void diff_again(diff *d, diff_side side);
const diff_url *diff_next(diff *d, const entry *e);

diff_kind diff_kind_of(const diff *d, const diff_url *u);
unsigned diff_fields_of(const diff *d, const diff_url *u); /* that differ, a bit each */
const char *diff_outcome(const diff *d, const diff_url *u, diff_side side);
const char *diff_old_title(const diff *d, const diff_url *u); /* "": none */

#endif
