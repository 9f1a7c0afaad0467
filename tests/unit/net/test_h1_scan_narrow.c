/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of machines without SSE2, on every machine. */
#undef __SSE2__

#include "h1_scan_cases.h"

TEST(h1_scan_finds_every_byte_eight_at_a_time)
{
    CHECK_EQ(SN_H1_STEP, 8);
    check_every_byte();
}

TEST(h1_scan_eight_at_a_time_finds_what_a_loop_finds)
{
    check_random_texts();
}
