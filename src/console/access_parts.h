/* SPDX-License-Identifier: Apache-2.0 */
/* access_parts.h - the struct that the files of access share. */
#ifndef SN_ACCESS_PARTS_H
#define SN_ACCESS_PARTS_H

#include "console/access.h"
#include "console/docstore.h"
#include "console/token.h"

enum { SN_TOKENS_MOST = 1000 };

/* A row of console.db, with its role read. */
typedef struct sn_access_token {
    sn_token_row row;
    sn_role role;
} sn_access_token;

typedef struct sn_access {
    sn_access_token *rows;
    size_t n, room;
    size_t adding;             /* on their way to the disk; they have their place */
    char first[SN_TOKEN_TEXT]; /* the text of the first token; "": there is none */
    uint8_t once[32];          /* hash of the key of the link that works once … */
    seine_time once_until;     /* … until then; 0: there is none */
    seine_keyed *calls;        /* per token */
    seine_keyed *guesses;      /* per address */
} sn_access;

/* Copies the row; NULL: no room. */
sn_access_token *sn_access_add(sn_access *a, const sn_token_row *row);
sn_access_token *sn_access_find(sn_access *a, sn_str id); /* NULL: none */
sn_access *sn_access_of(const seine_console *c);

#endif
