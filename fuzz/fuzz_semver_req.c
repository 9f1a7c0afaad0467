/* SPDX-License-Identifier: Apache-2.0 */
/* A requirement, a line feed, a version: the bounds of a requirement and its answers
 * agree, and a comparator more allows no version more. */
#include <stdlib.h>
#include <string.h>

#include "seine/semver.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static void
check_bound(const seine_semver_req *req, const seine_semver_bound *b)
{
    if (b->is_there && !b->is_inside)
        REQUIRE(!seine_semver_req_matches(req, &b->version));
    if (b->is_there && b->is_inside && !seine_semver_req_is_empty(req))
        REQUIRE(seine_semver_req_matches(req, &b->version));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes, *line = n > 0 ? memchr(bytes, '\n', n) : NULL;
    size_t len = line ? (size_t)(line - text) : n;
    const char *comma = len > 0 ? memchr(text, ',', len) : NULL;
    seine_semver_req req, first;
    seine_semver v;

    if (n == 0 || seine_semver_req_parse(text, len, &req) != SEINE_OK)
        return 0;
    check_bound(&req, &req.low);
    check_bound(&req, &req.high);
    if (!line || seine_semver_parse(line + 1, n - len - 1, &v) != SEINE_OK)
        return 0;
    bool is_in = seine_semver_req_matches(&req, &v);
    REQUIRE(!is_in || !seine_semver_req_is_empty(&req));
    if (comma) {
        REQUIRE(seine_semver_req_parse(text, (size_t)(comma - text), &first) == SEINE_OK);
        REQUIRE(!is_in || seine_semver_req_matches(&first, &v));
    }
    return 0;
}
