/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script.h - faults by host and path instead of by URL, one JSON object a line.
 *
 *     {"host":"a.test","match":"/api*","nth":"3-5","fault":"reset:500"}
 *     {"robots":"a.test","status":500,"times":2}
 *     {"robots":"a.test","disallow":["/private/"]}
 *     {"dns":"x.test","answers":["127.1.0.1","127.1.0.2"],"ttl":1}
 *     {"site":"1:1000:robots=5"}
 *     {"proxy":"a.test","fault":"status:502"}
 *
 * The first line that matches wins. A missing `host` or `match` matches everything; `*`
 * stands for any text, and a pattern with a `?` is compared with the query too. `nth`
 * counts the requests for the path of a host: 3, 3-5, 3-. A site is served at the root of
 * its `host`, or of all hosts. A rule for the proxy applies to tunnels to one host, or
 * with `*` to all.
 *
 *     snc_script script = {0};
 *     snc_script_fault bad;
 *     if (snc_script_add(&script, text, &bad) != SEINE_OK)
 *         complain(bad.line, bad.why);
 *
 * Time    plays no part.
 * Memory  1,000 rules, 1 MiB of text.
 * Threads one owner.
 */
#ifndef SNC_SCRIPT_H
#define SNC_SCRIPT_H

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "chaos/site.h"
#include "seine/time.h"

#define SNC_SCRIPT_RULES   1000
#define SNC_SCRIPT_ANSWERS 16

typedef enum snc_rule_kind {
    SNC_RULE_FAULT,
    SNC_RULE_ROBOTS,
    SNC_RULE_DNS,
    SNC_RULE_PROXY,
    SNC_RULE_SITE
} snc_rule_kind;

typedef struct snc_rule {
    snc_rule_kind kind;
    sn_str host;       /* ptr NULL: any */
    sn_str match;      /* ptr NULL: any */
    uint64_t from, to; /* hits it applies to; 1 to UINT64_MAX: all */
    sn_str fault;      /* words; also for robots.txt */
    unsigned status;   /* of robots.txt; 0: unchanged */
    uint64_t times;    /* so many times; UINT64_MAX: always */
    uint64_t used;
    const sn_str *disallow; /* lines of robots.txt */
    size_t disallow_count;
    uint32_t answers[SNC_SCRIPT_ANSWERS]; /* addresses */
    size_t answer_count;
    uint32_t ttl;
    unsigned rcode;
    seine_span delay;
    snc_site site;
} snc_rule;

typedef struct snc_script {
    snc_rule *rules;
    size_t count;
    sn_arena arena;      /* holds its texts */
    const sn_map *added; /* words that tests added; or NULL */
} snc_script;

typedef struct snc_script_fault {
    uint32_t line; /* the first is 1 */
    const char *why;
} snc_script_fault;

void snc_script_init(snc_script *s);
void snc_script_fini(snc_script *s);

/* Adds all lines or none. CONFIG: *out_fault says where and why. NOMEM, FULL. */
SEINE_MUST_CHECK seine_err snc_script_add(snc_script *s, sn_str text,
                                          snc_script_fault *out_fault);

/* Forgets all but the first `count` rules. */
void snc_script_cut(snc_script *s, size_t count);

/* The first rule of this kind for the n-th hit; NULL: none. */
snc_rule *snc_script_find(snc_script *s, snc_rule_kind kind, sn_str host, sn_str path,
                          sn_str target, uint64_t hit);

/* Does a line of robots.txt for this host forbid the path? */
bool snc_script_disallows(const snc_script *s, sn_str host, sn_str path);

/* `*` stands for any text. */
bool snc_script_glob(sn_str pattern, sn_str text);

#endif
