/* SPDX-License-Identifier: Apache-2.0 */
#include "base/opts.h"

#include <stdint.h>

#include "check.h"

typedef struct known {
    size_t size;
    uint32_t first, second;
} known;

/* The same struct as a later header has it. */
typedef struct later {
    known old;
    uint64_t third;
} later;

TEST(opts_fit_if_their_size_is_the_one_the_library_knows)
{
    known o = {sizeof o, 1, 2};

    CHECK(sn_opts_fit(&o, sizeof(known)));
}

TEST(opts_that_are_shorter_or_without_a_size_do_not_fit)
{
    known o = {sizeof o - 1, 1, 2};

    CHECK(!sn_opts_fit(&o, sizeof(known)));
    o.size = 0;
    CHECK(!sn_opts_fit(&o, sizeof(known)));
}

TEST(opts_of_a_later_header_fit_while_what_is_new_is_zero)
{
    later o = {{sizeof o, 1, 2}, 0};

    CHECK(sn_opts_fit(&o, sizeof(known)));
    o.third = UINT64_C(1) << 63;
    CHECK(!sn_opts_fit(&o, sizeof(known)));
}

TEST(opts_with_an_absurd_size_are_refused_unread)
{
    known o = {SIZE_MAX, 1, 2};

    CHECK(!sn_opts_fit(&o, sizeof(known)));
    o.size = 65537;
    CHECK(!sn_opts_fit(&o, sizeof(known)));
}
