/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/retry_after.h"

#include "check.h"

#define WALL                                                                  \
    SEINE_SECS(INT64_C(784111777)) /* Sun, 06 Nov 1994 08:49:37 GMT: RFC 9110 \
                                    */

TEST(retry_after_is_seconds_or_a_date_and_nonsense_is_nothing)
{
    static const struct {
        const char *value;
        seine_span want;
    } rows[] = {
        {"0", 0},
        {"2", SEINE_SECS(2)},
        {" 120 ", SEINE_SECS(120)},
        {"99999999999999999999", 0}, /* no number that fits */
        {"999999999999", SEINE_SECS(INT64_C(366) * 86400)},
        {"Sun, 06 Nov 1994 08:49:37 GMT", 0},
        {"Sun, 06 Nov 1994 08:49:38 GMT", SEINE_SECS(1)},
        {"Sun, 06 Nov 1994 08:49:36 GMT", 0},
        {"Mon, 07 Nov 1994 08:49:37 GMT", SEINE_SECS(86400)},
        {"Wed, 01 Mar 1995 08:49:37 GMT", SEINE_SECS(INT64_C(115) * 86400)},
        {"Sun, 06 Nov 1994 08:49:38 UTC", 0},
        {"Sun, 06 Foo 1994 08:49:38 GMT", 0},
        {"Sun, 06 Nov 1994 24:49:38 GMT", 0},
        {"soon", 0},
        {"-1", 0},
        {"1.5", 0},
        {"", 0},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(snc_retry_after_read(sn_str_of(rows[i].value), WALL), rows[i].want);
}

TEST(leap_days_are_where_they_belong)
{
    /* Days from the epoch, counted by hand: 2000-02-29 is day 11016, 2100-03-01 day
     * 47541. */
    CHECK_EQ(snc_retry_after_read(SN_STR("Tue, 29 Feb 2000 00:00:00 GMT"),
                                  SEINE_SECS(INT64_C(11015) * 86400)),
             SEINE_SECS(86400));
    CHECK_EQ(snc_retry_after_read(SN_STR("Wed, 01 Mar 2000 00:00:00 GMT"),
                                  SEINE_SECS(INT64_C(11016) * 86400)),
             SEINE_SECS(86400));
    CHECK_EQ(snc_retry_after_read(SN_STR("Mon, 01 Mar 2100 00:00:00 GMT"),
                                  SEINE_SECS(INT64_C(47540) * 86400)),
             SEINE_SECS(86400));
}
