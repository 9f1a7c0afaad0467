/* SPDX-License-Identifier: Apache-2.0 */
/* 05_retry - a server that stumbles, asks for patience, then answers: when is it
 * asked again? No clock is needed to find out. */
#include <stdio.h>

#include <seine/seine.h>

/* What the server says to the first, second and third attempt. */
static seine_fault
attempt(const seine_retry_opts *opts, uint32_t number)
{
    static const uint16_t says[] = {500, 503, 200};
    seine_fault fault = SEINE_FAULT;

    fault.status = says[number - 1];
    fault.code = seine_retry_classify(opts, fault.status);
    fault.sent = true;
    if (fault.status == 503)
        fault.retry_after = SEINE_SECS(5);
    snprintf(fault.url, sizeof fault.url, "https://api.example/");
    return fault;
}

int
main(void)
{
    seine_retry_opts opts = SEINE_RETRY_OPTS;
    seine_time now = 0;

    opts.jitter = SEINE_JITTER_NONE;
    if (seine_retry_check(&opts) != SEINE_OK)
        return 1;

    seine_retry retry = {.opts = &opts, .deadline = SEINE_SECS(60), .idempotent = true};
    for (;;) {
        char text[128];

        seine_retry_begin(&retry, now);
        seine_fault fault = attempt(&opts, retry.attempts);
        seine_verdict next = seine_retry_next(&retry, &fault, now, 0);

        seine_fault_text(&fault, text, sizeof text);
        printf("%4d ms  attempt %u: %s", (int)(now / SEINE_MS(1)), retry.attempts, text);
        if (next.stop != SEINE_STOP_NO)
            break;
        printf(", again in %d ms\n", (int)((next.at - now) / SEINE_MS(1)));
        now = next.at;
    }
    printf("\n");
    return 0;
}
