/* SPDX-License-Identifier: Apache-2.0 */
/* 01_limiter - ten a second, three at once: who gets through, and when? */
#include <stdio.h>

#include <seine/seine.h>

int
main(void)
{
    seine_limiter lim;

    if (seine_limiter_init(&lim, SEINE_SECS(1) / 10, 3) != SEINE_OK)
        return 1;

    /* A guest knocks every 20 ms. No clock is needed to find out who enters. */
    for (seine_time now = 0; now <= SEINE_MS(120); now += SEINE_MS(20)) {
        bool in = seine_limiter_allow(&lim, now, 1);
        seine_span wait = in ? 0 : seine_limiter_when(&lim, now, 1) - now;

        printf("%3d ms  %s", (int)(now / SEINE_MS(1)), in ? "enters\n" : "waits ");
        if (!in)
            printf("%d ms\n", (int)(wait / SEINE_MS(1)));
    }
    return 0;
}
