/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/quote.h"

#include "base/json.h"

void
snc_quote(sn_buf *out, sn_str s)
{
    size_t most = 6 * s.len + 3;
    char *to = sn_buf_reserve(out, most);

    if (to)
        sn_buf_commit(out, sn_json_quote(s.ptr ? s.ptr : "", s.len, to, most));
}

void
snc_quote_member(sn_buf *out, const char *name, sn_str s)
{
    sn_buf_printf(out, "\"%s\":", name);
    snc_quote(out, s);
}
