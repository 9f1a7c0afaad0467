/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "engine/otlp.h"

#define T0 SEINE_SECS(1000) /* any moment will do */

TEST(otlp_retry_knows_what_may_pass)
{
    static const struct {
        unsigned status;
        bool want;
    } rows[] = {{0, true},    {429, true},  {502, true},  {503, true},  {504, true},
                {400, false}, {401, false}, {404, false}, {413, false}, {500, false}};

    EACH_ROW(i, rows)
        CHECK_EQ(sn_otlp_may_pass(rows[i].status), rows[i].want);
}

TEST(otlp_retry_waits_with_full_jitter_up_to_the_doubled_second)
{
    sn_otlp_retry r = {.began = T0};
    seine_time at = 0;

    for (int i = 0; i < 4; i++) {
        seine_span most = SEINE_SECS(1) << i;
        sn_otlp_retry before = r;

        CHECK(sn_otlp_again(&r, T0, -1, (uint64_t)most, &at)); /* the largest */
        CHECK_EQ(at, T0 + most);
        r = before;
        CHECK(sn_otlp_again(&r, T0, -1, (uint64_t)most + 1, &at)); /* and round again */
        CHECK_EQ(at, T0);
    }
    CHECK(!sn_otlp_again(&r, T0, -1, 0, &at)); /* five tries have failed */
}

TEST(otlp_retry_obeys_retry_after_unless_the_batch_would_be_too_old)
{
    sn_otlp_retry r = {.began = T0};
    seine_time at = 0;

    CHECK(sn_otlp_again(&r, T0, SEINE_SECS(60) - 1, 5, &at));
    CHECK_EQ(at, T0 + SEINE_SECS(60) - 1);
    CHECK(!sn_otlp_again(&r, T0, SEINE_SECS(60), 5, &at));
}
