/* SPDX-License-Identifier: Apache-2.0 */
#include "text/domain.h"

bool
sn_domain_has(sn_str domain, sn_str host)
{
    return sn_str_ends(host, domain) &&
           (host.len == domain.len || host.ptr[host.len - domain.len - 1] == '.');
}
