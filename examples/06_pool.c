/* SPDX-License-Identifier: Apache-2.0 */
/* 06_pool - two workers, a queue of three: what happens to whoever comes too fast? */
#include <stdatomic.h>
#include <stdio.h>

#include <seine/seine.h>

static seine_err
work(seine_ctx *ctx, void *arg)
{
    atomic_int *done = arg;

    (void)ctx; /* a long job looks at it from time to time */
    ++*done;
    return SEINE_OK;
}

int
main(void)
{
    seine_pool_opts opts = {
        .size = sizeof(seine_pool_opts), .workers = 2, .queue_cap = 3, .paused = true};
    seine_ctx *ctx = NULL;
    seine_pool *pool = NULL;
    seine_pool_stats stats;
    atomic_int done = 0;

    if (seine_ctx_root(seine_clock_system(), &ctx) != SEINE_OK ||
        seine_pool_new(&opts, ctx, &pool) != SEINE_OK)
        return 1;

    /* Nobody works yet: three jobs wait, the others are refused at once. */
    for (int i = 1; i <= 5; i++)
        printf("job %d: %s\n", i,
               seine_err_text(seine_pool_try_submit(pool, work, &done, NULL)));

    /* Now the producer waits for a place instead: it is slowed, nothing is lost. */
    seine_pool_resume(pool);
    for (int i = 0; i < 1000; i++)
        if (seine_pool_submit(pool, ctx, work, &done, NULL) != SEINE_OK)
            return 1;

    if (seine_pool_close(pool, SEINE_CLOSE_DRAIN, ctx) != SEINE_OK)
        return 1;
    seine_pool_stats_get(pool, &stats);
    printf("%d done, %d refused, never more than %d at once: %s\n", done,
           (int)stats.rejected, (int)opts.workers, stats.peak <= 2 ? "yes" : "no");
    printf("later: %s\n", seine_err_text(seine_pool_try_submit(pool, work, &done, NULL)));

    seine_pool_free(pool);
    seine_ctx_unref(ctx);
    return 0;
}
