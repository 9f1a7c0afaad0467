/* SPDX-License-Identifier: Apache-2.0 */
/* 07_call - everything together: a host that stumbles and one that is dead. */
#include <stdio.h>

#include <seine/seine.h>

/* One attempt. A real one sends a request and stops when `attempt` is done. */
static seine_fault
ask(seine_ctx *attempt, uint32_t number, void *arg)
{
    const bool *dead = arg;
    seine_fault fault = SEINE_FAULT;

    (void)attempt;
    if (*dead || number == 1)
        fault.code = *dead ? SEINE_E_CONNECT : SEINE_E_RESET;
    return fault;
}

int
main(void)
{
    static const char *const hosts[] = {"stumbling", "dead", "dead", "stumbling"};
    seine_retry_opts retry = SEINE_RETRY_OPTS;
    seine_breaker_opts trip = SEINE_BREAKER_OPTS;
    seine_keyed_opts rate = SEINE_KEYED_OPTS; /* 50 a second per host, 100 at once */
    seine_throttle slots;
    seine_call_opts guards = {.size = sizeof(seine_call_opts),
                              .retry = &retry,
                              .idempotent = true, /* it may be repeated */
                              .attempt_timeout = SEINE_SECS(5)};
    seine_ctx *ctx = NULL;

    retry.base = SEINE_MS(1); /* a second is usual; this is an example */
    trip.failure_threshold = 3;
    if (seine_ctx_root(seine_clock_system(), &ctx) != SEINE_OK ||
        seine_breakers_new(&trip, 1000, &guards.breakers) != SEINE_OK ||
        seine_keyed_new(&rate, &guards.rates) != SEINE_OK ||
        seine_throttle_init_semaphore(&slots, 8) != SEINE_OK)
        return 1;
    guards.throttle = &slots;

    for (int i = 0; i < 4; i++) {
        bool dead = hosts[i][0] == 'd';
        seine_call_result res;
        seine_err e = seine_call(&guards, ctx, seine_key_str(hosts[i]), ask, &dead, &res);

        printf("%-9s  %u attempts: %s\n", hosts[i], res.attempts, seine_err_text(e));
    }

    seine_throttle_fini(&slots);
    seine_keyed_free(guards.rates);
    seine_breakers_free(guards.breakers);
    seine_ctx_unref(ctx);
    return 0;
}
