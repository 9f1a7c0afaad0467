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

TEST(opts_of_an_older_program_have_zeros_behind)
{
    typedef struct old_opts {
        size_t size;
        int a, b;
    } old_opts;
    typedef struct new_opts {
        size_t size;
        int a, b, c;
        void *d;
    } new_opts;
    typedef struct newer_opts {
        new_opts base;
        uint64_t more;
    } newer_opts;
    old_opts old = {sizeof old, 1, 2};
    new_opts own = {.a = 9, .c = 9}, as_today = {sizeof as_today, 1, 2, 3, &old};
    newer_opts newer = {{sizeof newer, 1, 2, 3, &old}, 0};

    CHECK(sn_opts_read(&own, sizeof own, sizeof old, &old));
    CHECK(own.size == sizeof own && own.a == 1 && own.b == 2 && own.c == 0 && !own.d);
    CHECK(sn_opts_read(&own, sizeof own, sizeof old, &as_today));
    CHECK(own.c == 3 && own.d == &old);
    CHECK(sn_opts_read(&own, sizeof own, sizeof old, &newer));
    CHECK(own.size == sizeof own && own.c == 3);

    newer.more = 1; /* it asks for something that this library does not know */
    own.a = 77;
    CHECK(!sn_opts_read(&own, sizeof own, sizeof old, &newer));
    old.size--;
    CHECK(!sn_opts_read(&own, sizeof own, sizeof old, &old));
    CHECK(!sn_opts_read(&own, sizeof own, sizeof old, NULL));
    CHECK_EQ(own.a, 77);
    CHECK(!sn_opts_fit(NULL, sizeof old));
}
