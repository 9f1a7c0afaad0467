/* SPDX-License-Identifier: Apache-2.0 */
/* 02_wait - five calls a second and half a second of time: who waits, and who is
 * told at once that waiting is useless? */
#include <pthread.h>
#include <stdio.h>

#include <seine/seine.h>

static void *
caller(void *arg)
{
    seine_ctx *job = arg;
    seine_clock *clock = seine_ctx_clock(job);
    seine_limiter lim;

    seine_clock_fake_enter(clock);
    if (seine_limiter_init(&lim, SEINE_SECS(1) / 5, 1) == SEINE_OK)
        for (int call = 1; call <= 4; call++) {
            seine_err e = seine_limiter_wait(&lim, job, 1);

            printf("%3d ms  call %d: %s\n", (int)(clock->now(clock) / SEINE_MS(1)), call,
                   seine_err_text(e));
        }
    seine_clock_fake_leave(clock);
    return NULL;
}

int
main(void)
{
    seine_clock *clock = NULL;
    seine_ctx *root = NULL, *job = NULL;
    pthread_t thread;

    /* A real program takes seine_clock_system() and drops the calls to advance. */
    if (seine_clock_fake_new(0, 0, 1, &clock) != SEINE_OK ||
        seine_ctx_root(clock, &root) != SEINE_OK ||
        seine_ctx_new(root, SEINE_MS(500), &job) != SEINE_OK ||
        pthread_create(&thread, NULL, caller, job) != 0)
        return 1;

    seine_clock_fake_await(clock, 1); /* the caller waits for its second token */
    seine_clock_fake_advance(clock, SEINE_SECS(1));
    pthread_join(thread, NULL);

    seine_ctx_unref(job);
    seine_ctx_unref(root);
    seine_clock_fake_free(clock);
    return 0;
}
