/* SPDX-License-Identifier: Apache-2.0 */
#include "text/base_url.h"

static bool
read_href(sn_str href, const seine_url *page, seine_url *out_base)
{
    if (!href.ptr)
        return false;
    if (seine_url_href(page).len == 0)
        return seine_url_parse(out_base, href.ptr, href.len, NULL) == SEINE_OK;
    return seine_url_resolve(out_base, page, href.ptr, href.len, NULL) == SEINE_OK;
}

bool
sn_base_url(sn_str href, const seine_url *page, seine_url *out_base)
{
    if (!read_href(href, page, out_base))
        return false;
    sn_str scheme = seine_url_scheme(out_base);
    return !sn_str_eq(scheme, SN_STR("data")) && !sn_str_eq(scheme, SN_STR("javascript"));
}
