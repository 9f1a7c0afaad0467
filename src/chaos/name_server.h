/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_server.h - a hostile name server: a DNS query in, an answer out.
 *
 * Every name under .test exists; its address 127.1.x.y follows from the name, so that
 * hosts and addresses differ on one machine. Leading labels do harm, from left to right:
 * `nx.a.test` does not exist, `slow-3000.servfail.a.test` fails after three seconds,
 * `a-1-2-3-4.test` is at 1.2.3.4. A line of the script comes first.
 *
 *     snc_dns_query in = {.query = bytes, .len = n, .script = &script, .hit = 1};
 *     snc_dns_answer out = {.room = sizeof buf, .bytes = buf};
 *     snc_name_server_answer(&in, &out);
 *     if (out.len > 0)
 *         send_after(out.delay, buf, out.len);
 *
 * Labels: nx servfail refused empty drop trunc garbage loop selfname wrongid many-N
 * ttl-N slow-N a-1-2-3-4. Names outside of .test are refused.
 *
 * Time    spans only.
 * Memory  the caller's.
 * Threads any thread.
 */
#ifndef SNC_NAME_SERVER_H
#define SNC_NAME_SERVER_H

#include "base/str.h"
#include "chaos/script.h"
#include "seine/time.h"

#define SNC_NAME_SERVER_UDP  512
#define SNC_NAME_SERVER_ROOM 65535

typedef struct snc_dns_question {
    char name[256]; /* lower case, dotted, terminated */
    size_t end;     /* of the question, in the query */
    uint16_t type;
} snc_dns_question;

/* False: the message is no query with one question. */
bool snc_name_server_question(const uint8_t *query, size_t len,
                              snc_dns_question *out_question);

typedef struct snc_dns_query {
    const uint8_t *query;
    size_t len;
    bool tcp;
    snc_script *script;
    uint64_t hit; /* of the name */
} snc_dns_query;

typedef struct snc_dns_answer {
    uint8_t *bytes;
    size_t room, len; /* len 0: no answer at all */
    seine_span delay;
    unsigned rcode;
} snc_dns_answer;

void snc_name_server_answer(const snc_dns_query *in, snc_dns_answer *out);

/* 127.1.x.y of a name under .test; h3.test has the address of host 3 of a site. */
uint32_t snc_name_server_address(sn_str name);

#endif
