/* SPDX-License-Identifier: Apache-2.0 */
/*
 * semver.h - which of two versions is newer, and does a requirement allow one?
 *
 * A version is that of SemVer 2.0.0: 1.2.3, with a pre-release ("-rc.1") and build
 * metadata ("+linux") where it has them. A requirement is what Cargo reads in a manifest
 * and RustSec in an advisory: comparators that all have to match, with commas between
 * them.
 *
 *     seine_semver a, b;
 *     e = seine_semver_parse("1.2.3-rc.1", 10, &a);
 *     e = seine_semver_parse("1.2.3", 5, &b);
 *     int order = seine_semver_cmp(&a, &b);                  -1, a comes before b
 *     seine_semver_req req;
 *     e = seine_semver_req_parse(">= 1.2, < 2", 11, &req);
 *     bool allowed = seine_semver_req_matches(&req, &b);     true
 *
 *     ^1.2.3 or 1.2.3   at least 1.2.3, below 2.0.0; ^0.2.3: below 0.3.0; ^0.0.3: 0.0.3
 *     ~1.2.3 and ~1.2   below 1.3.0; ~1: below 2.0.0
 *     =1.2, 1.2.*       any 1.2.x; * is every version
 *     > >= < <=         as they say; >1.2 is 1.3.0 and later, <=1.2 includes all of 1.2
 *
 * Pre-releases are compared by order, as advisories mean it: 2.0.0-rc.1 is below 2.0.0,
 * so "< 2.0.0" has it. A bound that the requirement does not write out excludes the
 * pre-releases of the next version: "^1" has no 2.0.0-rc.1. Build metadata plays no part.
 *
 * All comparators are intervals, and so is a requirement. One whose comparators exclude
 * each other (">= 2, < 1") is read, and matches nothing: seine_semver_req_is_empty.
 *
 * Time    plays no part. Work is linear in the text.
 * Memory  nothing is allocated; a version borrows its pre-release and build from the
 *         text, a requirement those of its bounds.
 * Threads any thread.
 */
#ifndef SEINE_SEMVER_H
#define SEINE_SEMVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/view.h"

#define SEINE_SEMVER_BYTES 256 /* of a version; of a requirement 16 times as many */

typedef struct seine_semver {
    uint64_t major, minor, patch;
    seine_view pre, build; /* "rc.1", "linux"; absent: none */
} seine_semver;

/* One end of the interval. */
typedef struct seine_semver_bound {
    seine_semver version;
    bool is_there;  /* false: there is no bound on this side */
    bool is_inside; /* the version itself belongs to the interval */
} seine_semver_bound;

typedef struct seine_semver_req {
    seine_semver_bound low, high;
} seine_semver_req;

SEINE_BEGIN

/* All of the text. PARSE: no version of SemVer 2.0.0; RANGE: a number beyond 64 bits, or
 * too long; INVAL: no text. */
SEINE_MUST_CHECK seine_err seine_semver_parse(const char *text, size_t len,
                                              seine_semver *out_version);

/* -1, 0 or 1: a comes before b, has the same precedence, comes after it. NULL comes
 * first. */
int seine_semver_cmp(const seine_semver *a, const seine_semver *b);

/* All of the text; what seine_semver_parse says. */
SEINE_MUST_CHECK seine_err seine_semver_req_parse(const char *text, size_t len,
                                                  seine_semver_req *out_req);
bool seine_semver_req_matches(const seine_semver_req *req, const seine_semver *version);

/* Whether its bounds exclude each other, so that no version matches. */
bool seine_semver_req_is_empty(const seine_semver_req *req);

SEINE_END

#endif
