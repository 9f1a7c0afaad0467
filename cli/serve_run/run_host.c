/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_run/run_host.h"

#include <string.h>

#include "options/options.h"

bool
run_host_is_inner(const args *a)
{
    return a->host && a->host->is_inner;
}

bool
run_host_allows(const run_host *h, const char *variable)
{
    if (!h || !h->is_inner)
        return true;
    for (size_t i = 0; h->env && h->env[i]; i++)
        if (strcmp(h->env[i], variable) == 0)
            return true;
    return false;
}
