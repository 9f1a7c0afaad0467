/* SPDX-License-Identifier: Apache-2.0 */
/*
 * domain.h - is a host within a domain?
 *
 * e.example and www.e.example are within e.example; xe.example is not. This is the
 * domain-match of cookies (RFC 6265bis, 5.1.3), the rule of no_proxy, and that of
 * localhost (RFC 6761, 6.3). Names are as seine_url_name gives them: lower case, no dot
 * at the end. No host is within an address but the address itself; whoever may meet
 * addresses asks for names alone.
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
