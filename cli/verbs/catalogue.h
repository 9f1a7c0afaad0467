/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue.h - what can go wrong on the way to a page, as URLs of `seine chaos`.
 *
 * Each row says what a client does with it that can be trusted: ends with 0 where a
 * whole response was served, with something else where none was. Where both are right
 * it only has to end, soon and without much memory.
 */
#ifndef CLI_CATALOGUE_H
#define CLI_CATALOGUE_H

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
