/* SPDX-License-Identifier: Apache-2.0 */
/* 08_fetch - four URLs at once, each ending in one result that says what happened. */
#include <stdio.h>

#include <seine/seine.h>

int
main(void)
{
    /* Nobody listens on port 1 of this machine; nothing here leaves it. */
    const char *urls[] = {"http://127.0.0.1:1/", "localhost:1/page", "ftp://e.example/",
                          "http://not a host/"};
    seine_fetch_opts opts = SEINE_FETCH_OPTS;
    seine_fetched got[4];
    seine_summary sum;

    opts.mine = true; /* the hosts are ours: no need to be gentle */
    opts.family = SEINE_FAMILY_4;
    opts.retry.base = SEINE_MS(1); /* a second is usual; this is an example */
    opts.timeout = SEINE_SECS(5);
    if (seine_fetch_all(&opts, NULL, urls, 4, got, &sum) != SEINE_OK)
        return 1;

    for (int i = 0; i < 4; i++)
        printf("%-20s  %-13s  %-15s  %u attempts: %s\n", got[i].url,
               seine_fate_name(got[i].fate), seine_err_name(got[i].fault.code),
               got[i].attempts, got[i].error);
    printf("%llu of %llu arrived\n", (unsigned long long)sum.success,
           (unsigned long long)sum.total);
    seine_fetched_free(got, 4);
    return 0;
}
