/* SPDX-License-Identifier: Apache-2.0 */
/* A vector: a score is one of CVSS, and 3.0 and 3.1 give the same. */
#include <stdlib.h>
#include <string.h>

#include "seine/cvss.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    unsigned tenths = 999, other = 999;
    char copy[256];

    seine_err e =
        n > 0 ? seine_cvss3_base((const char *)bytes, n, &tenths) : SEINE_E_PARSE;
    REQUIRE(e == SEINE_OK ? tenths <= 100 : tenths == 999);
    if (e != SEINE_OK || n > sizeof copy)
        return 0;
    memcpy(copy, bytes, n);
    copy[7] = copy[7] == '0' ? '1' : '0';
    REQUIRE(seine_cvss3_base(copy, n, &other) == SEINE_OK && other == tenths);
    return 0;
}
