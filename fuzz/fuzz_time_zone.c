/* SPDX-License-Identifier: Apache-2.0 */
/* A file of a time zone, or a rule: it is refused, or every local time has an offset
 * within 26 hours. */
#include <stdlib.h>
#include <string.h>

#include "text/time_zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

enum { MOST = 26 * 3600 };

static void
ask(const sn_time_zone *z)
{
    static const int64_t moments[] = {INT64_MIN,  -1,           0,        1, 1710037800,
                                      4102444800, 253402300799, INT64_MAX};

    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        int32_t offset = sn_time_zone_offset(z, moments[i]);

        REQUIRE(offset >= -MOST && offset <= MOST);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_time_zone z;
    sn_zone_rule rule;
    char *text = malloc(n + 1); /* so that a byte too many is seen */

    if (!text)
        return 0;
    if (n > 0)
        memcpy(text, bytes, n);
    if (sn_time_zone_read(&z, (sn_str){text, n}))
        ask(&z);
    if (sn_zone_rule_read(&rule, (sn_str){text, n})) {
        z = (sn_time_zone){.offsets = {"\0\0\0\0\0\0", 6}, .width = 8, .has_rule = true};
        z.rule = rule;
        ask(&z);
    }
    free(text);
    return 0;
}
