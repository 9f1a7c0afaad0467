/* SPDX-License-Identifier: Apache-2.0 */
/* Versions, one per line: their order is one. */
#include <stdlib.h>
#include <string.h>

#include "seine/semver.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const char *at = (const char *)bytes, *end = at + n;
    seine_semver all[8];
    size_t count = 0;

    while (at && at < end && count < 8) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((line ? line : end) - at);

        if (seine_semver_parse(at, len, &all[count]) == SEINE_OK)
            count++;
        at = line ? line + 1 : NULL;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            int order = seine_semver_cmp(&all[i], &all[k]);

            REQUIRE(order == -seine_semver_cmp(&all[k], &all[i]));
            REQUIRE(i != k || order == 0);
            for (size_t m = 0; m < count; m++)
                if (order <= 0 && seine_semver_cmp(&all[k], &all[m]) <= 0)
                    REQUIRE(seine_semver_cmp(&all[i], &all[m]) <= 0);
        }
    return 0;
}
