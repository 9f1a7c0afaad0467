/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secure.h - the TLS properties of a response.
 *
 *     const seine_record *record = wait_for_one();
 *     const seine_tls_facts *s = &record->secure;
 *     if (s->version && !s->verified)
 *         warn("anybody could have said that");
 *
 * Time    Unix seconds.
 * Memory  a value.
 * Threads any thread.
 */
#ifndef SEINE_SECURE_H
#define SEINE_SECURE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct seine_tls_facts {
    uint8_t version;   /* 12, 13; 0: no TLS */
    bool verified;     /* false: the certificate was not checked */
    int64_t not_after; /* of the certificate, Unix seconds; INT64_MIN: not known */
} seine_tls_facts;

#endif
