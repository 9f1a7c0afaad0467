/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/fetch_opts.h"

#include <string.h>

#include "base/diag.h"
#include "base/opts.h"
#include "seine/status_set.h"
#include "seine/version.h"

#define FIRST_SIZE offsetof(seine_fetch_opts, output_memory)

static void
fill_defaults(void *out_opts, size_t size)
{
    seine_retry_opts retry = SEINE_RETRY_OPTS;
    static const seine_retry_budget_opts budget = SEINE_RETRY_BUDGET_OPTS;
    static const seine_breaker_opts breaker = SEINE_BREAKER_OPTS;

    retry.max_attempts = 6;
    retry.jitter = SEINE_JITTER_MINUS;
    seine_fetch_opts all = {
        .size = sizeof(seine_fetch_opts),
        .concurrency = 64,
        .per_host = 4,
        .per_ip = 8,
        .threads = 1,
        .queue = 1000,
        .max_wait = SEINE_NEVER,
        .host_rate = {5, SEINE_SECS(1), 1},
        .adaptive = true,
        .max_memory = UINT64_C(512) << 20,
        .timeout = SEINE_SECS(30),
        .connect_timeout = SEINE_SECS(10),
        .dns_timeout = SEINE_SECS(5),
        .tcp_timeout = SEINE_SECS(5),
        .tls_timeout = SEINE_SECS(5),
        .tls_min = 12,
        .head_timeout = SEINE_SECS(20),
        .speed_bytes = 100,
        .speed_span = SEINE_SECS(20),
        .grace = SEINE_SECS(10),
        .retry = retry,
        .retry_budget = budget,
        .breaker = breaker,
        .park = SEINE_PARK_AUTO,
        .max_retry_after = SEINE_SECS(300),
        .method = "GET",
        .accept = SEINE_STATUS_2XX,
        .user_agent = "seine/" SEINE_VERSION_TEXT,
        .max_redirects = 10,
        .max_body = 16 << 20,
        .max_ratio = 200,
        .ratio_from = 8 << 20,
        .max_wire = 16 << 20,
        .keep = SEINE_KEEP_TITLE,
        .dedup = true,
        .max_crawl_delay = SEINE_SECS(60),
    };

    memset(out_opts, 0, size);
    memcpy(out_opts, &all, size < sizeof all ? size : sizeof all);
    memcpy(out_opts, &size, sizeof size);
}

void
seine_fetch_opts_init(seine_fetch_opts *out_opts, size_t size)
{
    if (out_opts && size >= FIRST_SIZE)
        fill_defaults(out_opts, size);
}

seine_err
sn_fetch_opts_read(seine_fetch_opts *own, const seine_fetch_opts *given, seine_diag *diag)
{
    sn_diag_clear(diag);
    if (!sn_opts_read(own, sizeof *own, FIRST_SIZE, given))
        return sn_diag_option(diag, "size", "set by SEINE_FETCH_OPTS");
    return SEINE_OK;
}

/* Programs of the first day call a function that returns the options as they were: a
 * struct that is returned by value cannot grow. */
typedef struct first_opts {
    _Alignas(seine_fetch_opts) char bytes[FIRST_SIZE];
} first_opts;

SEINE_BEGIN
first_opts sn_fetch_first_defaults(void) __asm__("seine_fetch_defaults");
SEINE_END

first_opts
sn_fetch_first_defaults(void)
{
    first_opts out;

    fill_defaults(&out, sizeof out);
    return out;
}
