/* SPDX-License-Identifier: Apache-2.0 */
/* 03_keyed - two a second for every client: a loud one does not touch the others. */
#include <stdio.h>

#include <seine/seine.h>

static void
ask(seine_keyed *clients, const char *name, seine_time now)
{
    seine_grant grant;
    seine_err e = seine_keyed_try(clients, seine_key_str(name), now, 1, &grant);

    printf("%4d ms  %-7s %s", (int)(now / SEINE_MS(1)), name, seine_err_text(e));
    if (e == SEINE_OK)
        printf(", %u left\n", grant.left);
    else
        printf(", retry after %d ms\n", (int)(grant.retry_after / SEINE_MS(1)));
}

int
main(void)
{
    seine_keyed_opts opts = SEINE_KEYED_OPTS;
    seine_keyed *clients = NULL;
    seine_keyed_totals totals;

    opts.each = (seine_rate){2, SEINE_SECS(1), 2};
    opts.max_keys = 1000; /* strangers beyond that share one bucket */
    if (seine_keyed_new(&opts, &clients) != SEINE_OK)
        return 1;

    for (int i = 0; i < 3; i++)
        ask(clients, "loud", 0);
    ask(clients, "quiet", 0);
    ask(clients, "loud", SEINE_MS(500));

    /* A bucket that is full again is like a new one, and its key is forgotten. */
    seine_keyed_sweep(clients, SEINE_SECS(60), 1000);
    seine_keyed_totals_get(clients, &totals);
    printf("after a minute: %d keys, %d created, %d expired\n", (int)totals.keys,
           (int)totals.created, (int)totals.expired);
    seine_keyed_free(clients);
    return 0;
}
