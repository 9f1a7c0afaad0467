/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/host_opts.h"

#include <string.h>

#include "engine/host_match.h"
#include "seine/fetch.h"

void
seine_host_opts_init(seine_host_opts *out_opts, size_t size)
{
    static const seine_breaker_opts breaker = SEINE_BREAKER_OPTS;
    seine_host_opts all = {
        .size = sizeof all, .breaker = breaker, .park = SEINE_PARK_AUTO};

    if (!out_opts || size < sizeof all.size)
        return;
    memset(out_opts, 0, size);
    memcpy(out_opts, &all, size < sizeof all ? size : sizeof all);
    memcpy(out_opts, &size, sizeof size);
}

void
seine_group_opts_init(seine_group_opts *out_opts, size_t size)
{
    if (!out_opts || size < sizeof out_opts->size)
        return;
    memset(out_opts, 0, size);
    memcpy(out_opts, &size, sizeof size);
}

uint32_t
seine_host_opts_rank(const seine_host_opts *opts, const char *host)
{
    if (!opts || !opts->match || !host)
        return 0;
    sn_host_label at = sn_host_label_of(sn_str_of(host));
    sn_str match = sn_str_of(opts->match);
    return sn_host_match(match, &at) ? sn_host_match_rank(match, opts->is_weak) : 0;
}
