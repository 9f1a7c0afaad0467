/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_error.h - the codes with which the console refuses, over HTTP and over a WebSocket.
 *
 * One table: the stable word, the status of an HTTP response, how far the refusal of a
 * WebSocket message reaches, and the code with which the socket closes if it reaches the
 * whole connection.
 *
 *     const sn_api_error_row *row = sn_api_error_of(SN_API_NOT_FOUND);
 *
 * Time    plays no part.
 * Memory  a constant table.
 * Threads any thread.
 */
#ifndef SN_API_ERROR_H
#define SN_API_ERROR_H

#include <stdint.h>

/* clang-format off */
#define SN_API_ERRORS(X)                                    \
    X(BAD_JSON,      "bad_json",      400, CONN,  1008)     \
    X(BAD_MESSAGE,   "bad_message",   400, FRAME, 1008)     \
    X(UNAUTHORIZED,  "unauthorized",  401, CONN,  4001)     \
    X(FORBIDDEN,     "forbidden",     403, FRAME, 1008)     \
    X(NOT_FOUND,     "not_found",     404, FRAME, 1008)     \
    X(NO_METHOD,     "no_method",     405, FRAME, 1008)     \
    X(READ_ONLY,     "read_only",     403, FRAME, 1008)     \
    X(NOT_OPEN,      "not_open",      409, FRAME, 1008)     \
    X(BAD_STATE,     "bad_state",     409, FRAME, 1008)     \
    X(BAD_BASE,      "bad_base",      409, DOC,   1008)     \
    X(BAD_SEQ,       "bad_seq",       409, DOC,   1008)     \
    X(BAD_CHANGE,    "bad_change",    422, DOC,   1008)     \
    X(TOO_OLD,       "too_old",       410, DOC,   1008)     \
    X(EPOCH_CHANGED, "epoch_changed", 409, DOC,   1008)     \
    X(TOO_LARGE,     "too_large",     413, FRAME, 1009)     \
    X(DOC_FULL,      "doc_full",      413, FRAME, 1008)     \
    X(BAD_TYPE,      "bad_type",      415, FRAME, 1003)     \
    X(TOO_MANY,      "too_many",      429, FRAME, 1013)     \
    X(RATE_LIMITED,  "rate_limited",  429, FRAME, 1008)     \
    X(SLOW_CONSUMER, "slow_consumer", 503, CONN,  1013)     \
    X(FETCH_FAILED,  "fetch_failed",  502, FRAME, 1008)     \
    X(UNAVAILABLE,   "unavailable",   503, FRAME, 1013)     \
    X(INTERNAL,      "internal",      500, CONN,  1011)
/* clang-format on */

typedef enum sn_api_error {
#define SN_API_ENUM_(name, word, status, scope, close) SN_API_##name,
    SN_API_ERRORS(SN_API_ENUM_)
#undef SN_API_ENUM_
        SN_API_ERROR_COUNT
} sn_api_error;

/* What a refused WebSocket message spoils. */
typedef enum sn_api_scope {
    SN_API_FRAME, /* this message alone */
    SN_API_DOC,   /* the client opens the document afresh */
    SN_API_CONN   /* the socket closes */
} sn_api_scope;

typedef struct sn_api_error_row {
    const char *word; /* "not_found" */
    uint16_t status;  /* of an HTTP response */
    sn_api_scope scope;
    uint16_t close; /* code of a socket that closes for it */
} sn_api_error_row;

const sn_api_error_row *sn_api_error_of(sn_api_error error);
const char *sn_api_scope_name(sn_api_scope scope); /* "frame", "doc", "conn" */

#endif
