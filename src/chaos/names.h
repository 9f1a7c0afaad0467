/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - an evil name server: a query in, an answer out.
 *
 * Every name under .test exists; its address 127.1.x.y follows from the name, so that
 * hosts and addresses can be told apart on one machine. Leading labels do harm, from
 * left to right: `nx.a.test` does not exist, `slow-3000.servfail.a.test` fails after
 * three seconds, `a-1-2-3-4.test` is at 1.2.3.4. A line of the script comes first.
 *
 *     snc_naming in = {.query = bytes, .len = n, .tcp = false, .script = &script, .hit =
 * 1}; snc_named out = {.room = sizeof buf, .bytes = buf}; snc_names_answer(&in, &out); if
 * (out.len > 0) send_after(out.delay, buf, out.len);
 *
 * Labels: nx servfail refused empty drop trunc garbage loop selfname wrongid many-N
 * ttl-N slow-N a-1-2-3-4. Names outside of .test are refused.
 *
 * Time    spans only.
 * Memory  the caller's.
 * Threads any thread.
 */
#ifndef SNC_NAMES_H
#define SNC_NAMES_H

#include "base/str.h"
#include "chaos/script.h"
#include "seine/time.h"

#define SNC_NAMES_UDP  512
#define SNC_NAMES_ROOM 65535

typedef struct snc_question {
    char name[256]; /* lower case, dotted, terminated */
    size_t end;     /* of the question, in the query */
    uint16_t type;
} snc_question;

/* False: this is no query with one question. */
bool snc_names_question(const uint8_t *query, size_t len, snc_question *out_question);

typedef struct snc_naming {
    const uint8_t *query;
    size_t len;
    bool tcp;
    snc_script *script;
    uint64_t hit; /* of the name */
} snc_naming;

typedef struct snc_named {
    uint8_t *bytes;
    size_t room, len; /* len 0: no answer at all */
    seine_span delay;
    unsigned rcode;
} snc_named;

void snc_names_answer(const snc_naming *in, snc_named *out);

/* 127.1.x.y of a name under .test; of h3.test what host 3 of a site has. */
uint32_t snc_names_address(sn_str name);

#endif
