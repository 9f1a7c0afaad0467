/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h - does this text match that regular expression, and at what price at most?
 *
 * Regular expressions come from users (`include`, `exclude`, recipes), texts from the
 * web. A backtracking expression can run for ever on a hostile text (ReDoS), so both are
 * bounded: an expression has at most 1 KiB and no back-references; a match may take
 * 10,000 steps plus 64 per byte of the text, wherever in the text it begins, and 1 MiB. A
 * match beyond these bounds is PATTERN_BUDGET, never "no match".
 *
 *     e = sn_pattern_new(SN_STR("^/docs/.*\\.html$"), &p, &diag);
 *     e = sn_matcher_init(&m);                          one for each thread
 *     e = sn_pattern_match(p, &m, text, &found);
 *
 * The syntax is that of PCRE2, on UTF-8; a match may begin anywhere. Invalid UTF-8 in a
 * text matches nothing.
 *
 * Time    plays no part.
 * Memory  the pattern's and the matcher's own; nothing is allocated for a simple match.
 * Threads patterns: any, once made. A matcher: one owner.
 */
#ifndef SN_PATTERN_H
#define SN_PATTERN_H

#include "base/str.h"
#include "seine/diag.h"
#include "seine/err.h"

enum { SN_PATTERN_MAX = 1024, SN_PATTERN_STEPS = 10000, SN_PATTERN_STEPS_BYTE = 64 };

typedef struct sn_pattern sn_pattern;

/* CONFIG: the diag says what is wrong and at which byte.
 * NOMEM. */
SEINE_MUST_CHECK seine_err sn_pattern_new(sn_str text, sn_pattern **out_pattern,
                                          seine_diag *diag);
void sn_pattern_free(sn_pattern *p); /* NULL is fine */

typedef struct sn_matcher {
    void *block, *context;
    uint32_t left; /* steps that the last match has not spent */
} sn_matcher;

SEINE_MUST_CHECK seine_err sn_matcher_init(sn_matcher *m); /* NOMEM */
void sn_matcher_fini(sn_matcher *m);

/* Writes *out_found on OK. PATTERN_BUDGET, NOMEM: not decided. */
SEINE_MUST_CHECK seine_err sn_pattern_match(const sn_pattern *p, sn_matcher *m,
                                            sn_str text, bool *out_found);

/* Where a match stands, and what its first group holds (the whole match, if the pattern
 * has no group, and nothing, if the group took no part). */
typedef struct sn_match {
    size_t at, end;
    sn_str group;
} sn_match;

enum { SN_PATTERN_QUICK = SN_PATTERN_STEPS }; /* enough for most matches */

/* How to find: from which byte on, in how many steps. is_utf8: the text is known to be,
 * and is not looked through again. */
typedef struct sn_pattern_how {
    size_t from;
    uint32_t steps;
    bool is_utf8;
} sn_pattern_how;

/* Finds the first match. Results as above. */
SEINE_MUST_CHECK seine_err sn_pattern_find(const sn_pattern *p, sn_matcher *m,
                                           sn_str text, sn_pattern_how how,
                                           sn_match *out_match, bool *out_found);

/* The steps of sn_pattern_match for a text of this length. */
uint32_t sn_pattern_steps(size_t len);

#endif
