/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/url_place.h"

seine_err
url_place_read(url_place *p, const seine_url *base, const char *text, size_t len,
               seine_url_flaw *out_flaw)
{
    seine_url_init(&p->url, p->mem, sizeof p->mem);
    if (seine_url_href(base).len > 0)
        return seine_url_resolve(&p->url, base, text, len, out_flaw);
    return seine_url_parse(&p->url, text, len, out_flaw);
}

bool
url_place_read_base(url_place *p, const char *text, size_t len, reason *why)
{
    seine_url_flaw flaw = {SEINE_URL_NONE, 0};

    seine_url_init(&p->url, p->mem, sizeof p->mem);
    seine_err e = seine_url_parse(&p->url, text, len, &flaw);
    return e == SEINE_OK || url_place_refuse("base: ", e, &flaw, why);
}

bool
url_place_refuse(const char *what, seine_err e, const seine_url_flaw *flaw, reason *why)
{
    if (e != SEINE_E_BAD_URL)
        return reason_set(why, "%s%s", what, seine_err_text(e));
    return reason_set(why, "%s%s, at byte %zu", what, seine_url_flaw_text(flaw->kind),
                      flaw->at);
}
