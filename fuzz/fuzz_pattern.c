/* SPDX-License-Identifier: Apache-2.0 */
/* An expression on the first line, a text behind it. */
#include <stdlib.h>
#include <string.h>

#include "text/pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_str all = {(const char *)bytes, n};
    size_t at = sn_str_find(all, '\n');
    sn_str text = sn_str_slice(all, at + (at < n), n);
    seine_diag diag = SEINE_DIAG;
    sn_pattern *p = NULL;
    sn_matcher m;
    bool found, again;
    seine_err e = sn_pattern_new(sn_str_slice(all, 0, at), &p, &diag);

    if (e != SEINE_OK) {
        REQUIRE(e == SEINE_E_CONFIG && memchr(diag.text, 0, sizeof diag.text));
        return 0;
    }
    REQUIRE(sn_matcher_init(&m) == SEINE_OK);
    e = sn_pattern_match(p, &m, text, &found);
    REQUIRE(e == SEINE_OK || e == SEINE_E_PATTERN_BUDGET);
    REQUIRE(sn_pattern_match(p, &m, text, &again) == e && again == found);
    sn_matcher_fini(&m);
    sn_pattern_free(p);
    return 0;
}
