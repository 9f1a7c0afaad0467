/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chaos_catalogue.h - the faults of `seine chaos`, one URL each, for `seine chaos suite`.
 *
 * Each row says how a client that can be trusted ends: with 0 where the server sent a
 * whole response, with another code where it did not. Where both are right, the client
 * only has to end soon and without much memory.
 */
#ifndef CLI_CHAOS_CATALOGUE_H
#define CLI_CHAOS_CATALOGUE_H

typedef enum catalogue_want { WANT_OK, WANT_FAIL, WANT_END } catalogue_want;

typedef struct catalogue_row {
    const char *group; /* "framing" */
    const char *place; /* "http", "https", "dead", "hole" */
    const char *host;  /* a name under .test; NULL: 127.0.0.1 */
    const char *path;
    catalogue_want want;
} catalogue_row;

extern const catalogue_row catalogue[]; /* ended by a NULL group */

#endif
