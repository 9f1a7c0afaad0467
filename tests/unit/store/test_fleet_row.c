/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fleet_parts.h"

#include <string.h>

#include "check.h"

/* A number as rows have it. */
static size_t
put(char *out, int64_t value)
{
    uint64_t n = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
    size_t len = 0;

    for (; n >= 128; n >>= 7)
        out[len++] = (char)(n | 128);
    out[len++] = (char)n;
    return len;
}

/* A row whose columns all are `value`. */
static sn_str
row_of(int64_t value, char out[SN_FLEET_ROW])
{
    size_t n = 1;

    out[0] = 1;
#define X(column) n += put(out + n, value);
    SN_JOB_HOST(X)
#undef X
    return (sn_str){out, n};
}

TEST(fleet_row_moves_any_moment_to_the_time_of_this_machine)
{
    static const int64_t values[] = {INT64_MIN, INT64_MIN + 1, -1,       0,
                                     1,         INT64_MAX - 1, INT64_MAX};
    static const int64_t aheads[] = {-5000, 0, 5000, INT64_MAX / 2, -(INT64_MAX / 2)};
    char bytes[SN_FLEET_ROW];
    sn_job_host row;

    EACH_ROW(i, values)
        for (size_t k = 0; k < sizeof aheads / sizeof *aheads; k++) {
            CHECK(sn_fleet_row_read(row_of(values[i], bytes), aheads[k], &row));
            if (values[i] == 0)
                CHECK_EQ(row.next_ms, 0);
            /* Never behind the moment if this clock is behind, and the other way round.
             */
            else if (aheads[k] <= 0)
                CHECK(row.next_ms >= values[i]);
            else
                CHECK(row.next_ms <= values[i]);
        }
}

TEST(fleet_row_that_is_cut_or_too_long_is_refused)
{
    char bytes[SN_FLEET_ROW + 1];
    sn_job_host row;
    sn_str whole = row_of(77, bytes);

    CHECK(sn_fleet_row_read(whole, 0, &row));
    for (size_t n = 0; n < whole.len; n++)
        CHECK(!sn_fleet_row_read(sn_str_slice(whole, 0, n), 0, &row));
    bytes[whole.len] = 0;
    CHECK(!sn_fleet_row_read((sn_str){bytes, whole.len + 1}, 0, &row));
    bytes[0] = 2;
    CHECK(!sn_fleet_row_read(whole, 0, &row));
}
