/* SPDX-License-Identifier: Apache-2.0 */
/*
 * domain.h - is a host within a domain?
 *
 * e.example and www.e.example are within e.example; xe.example is not. This is the
 * domain-match of cookies (RFC 6265bis, 5.1.3), the rule of no_proxy, and that of
 * localhost (RFC 6761, 6.3). Names are as seine_url_name gives them: lower case, no dot
 * at the end. The function does not know addresses: 1.2.3.4 would be within 3.4, so the
 * caller must exclude addresses.
 *
 *     sn_domain_has(SN_STR("e.example"), SN_STR("www.e.example"));
 *
 * sn_host_list answers the same question for thousands of domains in one look-up.
 *
 * Time    plays no part.
 * Memory  none.
 * Threads any thread.
 */
#ifndef SN_DOMAIN_H
#define SN_DOMAIN_H

#include "base/str.h"

bool sn_domain_has(sn_str domain, sn_str host);

#endif
