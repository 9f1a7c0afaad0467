/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts go on from those that earlier runs have made. */
#include "engine/tried_urls.h"

#include "check.h"
#include "failing.h"

TEST(tried_urls_a_url_goes_on_with_its_next_attempt)
{
    static const struct {
        uint64_t number;
        uint32_t max_attempts, attempts;
        seine_time first_at;
    } rows[] = {
        {7, 6, 2, SEINE_SECS(95)},  /* two of six were made, the first 5 s ago */
        {9, 6, 5, SEINE_SECS(100)}, /* the last one is left */
        {9, 3, 2, SEINE_SECS(100)}, /* fewer are allowed now: once more */
        {9, 1, 0, 0},               /* none but the first */
        {8, 6, 0, 0},               /* nobody has tried it */
    };
    sn_tried_urls t = {0};

    CHECK_EQ(sn_tried_urls_add(&t, &(sn_tried_url){9, 5, 0}), SEINE_OK);
    CHECK_EQ(sn_tried_urls_add(&t, &(sn_tried_url){7, 2, 5000}), SEINE_OK);
    for (uint64_t n = 100; n < 400; n++)
        CHECK_EQ(sn_tried_urls_add(&t, &(sn_tried_url){n, 1, 0}), SEINE_OK);
    sn_tried_urls_sort(&t);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        seine_retry_opts opts = SEINE_RETRY_OPTS;
        seine_retry r = {.opts = &opts};

        opts.max_attempts = rows[i].max_attempts;
        sn_tried_urls_begin(&t, rows[i].number, &r, SEINE_SECS(100));
        CHECK_EQ(r.attempts, rows[i].attempts);
        CHECK_EQ(r.first_at, rows[i].first_at);
    }
    sn_tried_urls_fini(&t);
    sn_tried_urls_sort(&t);
    CHECK_EQ(t.n, 0);
}

TEST(tried_urls_of_a_first_run_are_none)
{
    seine_retry_opts opts = SEINE_RETRY_OPTS;
    seine_retry r = {.opts = &opts};
    sn_tried_urls t = {0};

    sn_tried_urls_begin(&t, 0, &r, 0);
    CHECK_EQ(r.attempts, 0);
}

TEST(tried_urls_say_when_there_is_no_room)
{
    FAIL_EACH(n)
    {
        sn_tried_urls t = {0};
        seine_err e = SEINE_OK;
        uint64_t i = 0;

        for (; i < 200 && e == SEINE_OK; i++)
            e = sn_tried_urls_add(&t, &(sn_tried_url){i, 1, 0});
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        CHECK_EQ(t.n, e == SEINE_OK ? 200 : i - 1);
        sn_tried_urls_fini(&t);
    }
}
