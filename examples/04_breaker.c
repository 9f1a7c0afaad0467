/* SPDX-License-Identifier: Apache-2.0 */
/* 04_breaker - a host that is down for eight seconds: who asks it, who is spared? */
#include <stdio.h>

#include <seine/seine.h>

static void
tell(seine_view key, seine_breaker_state from, seine_breaker_state to, uint64_t seq,
     void *arg)
{
    (void)key;
    (void)seq;
    (void)arg;
    printf("      %s -> %s\n", seine_breaker_state_name((int)from),
           seine_breaker_state_name((int)to));
}

static bool
answers(seine_time now)
{
    return now >= SEINE_SECS(8);
}

int
main(void)
{
    seine_breaker_opts opts = SEINE_BREAKER_OPTS;
    seine_breaker breaker;

    opts.failure_threshold = 3;
    opts.open_for = SEINE_SECS(4);
    opts.on_change = tell;
    if (seine_breaker_init(&breaker, &opts) != SEINE_OK)
        return 1;

    for (seine_time now = 0; now <= SEINE_SECS(11); now += SEINE_SECS(1)) {
        seine_permit permit;
        seine_err e = seine_breaker_acquire(&breaker, now, &permit);
        int second = (int)(now / SEINE_SECS(1));

        if (e != SEINE_OK) {
            printf("%2d s  spared: %s\n", second, seine_err_text(e));
            continue;
        }
        bool ok = answers(now);
        printf("%2d s  asked: %s\n", second, ok ? "answers" : "fails");
        if (seine_breaker_settle(&breaker, &permit, ok ? SEINE_SUCCESS : SEINE_FAILURE,
                                 now) != SEINE_OK)
            return 1;
    }
    seine_breaker_fini(&breaker);
    return 0;
}
