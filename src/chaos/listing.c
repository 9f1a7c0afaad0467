/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/diag.h"
#include "chaos/arg.h"
#include "chaos/site_file.h"
#include "seine/chaos.h"

#define PIECE 65536

/* Splits "http://127.0.0.1:8080/a" into an origin and a prefix. */
static bool
read_base(const char *base, snc_site_base *out)
{
    sn_str text = sn_str_of(base);
    bool tls = sn_str_starts(text, SN_STR("https://"));
    size_t scheme = tls ? 8 : 7;
    uint64_t port = tls ? 443 : 80;

    if (!tls && !sn_str_starts(text, SN_STR("http://")))
        return false;
    while (text.len > 0 && text.ptr[text.len - 1] == '/')
        text.len--;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= 0x20 || text.ptr[i] == '"' || text.ptr[i] == '\\' ||
            text.ptr[i] >= 0x7f)
            return false;

    sn_str rest = sn_str_slice(text, scheme, text.len), host, number;
    size_t slash = sn_str_find(rest, '/');
    out->origin = sn_str_slice(text, 0, scheme + slash);
    out->prefix = sn_str_slice(rest, slash, rest.len);
    if (sn_str_cut(sn_str_slice(rest, 0, slash), ':', &host, &number) &&
        !snc_arg_count(number, UINT16_MAX, &port))
        return false;
    out->names = sn_str_ends(host, SN_STR(".test"));
    out->tls = tls;
    out->port = (uint16_t)port;
    return host.len > 0;
}

seine_err
seine_chaos_site(const char *spec, const char *base, uint16_t dead_port,
                 bool (*line)(const char *lines, size_t len, void *arg), void *arg,
                 seine_diag *diag)
{
    snc_site site;
    snc_site_base where = {.dead_port = dead_port};
    const char *why = NULL;
    sn_buf out;

    sn_diag_clear(diag);
    if (!snc_site_parse(sn_str_of(spec), &site, &why)) {
        (void)sn_diag_option(diag, "spec", "%s", why);
        return SEINE_E_INVAL;
    }
    if (!read_base(base, &where)) {
        (void)sn_diag_option(diag, "base", "a base is http://HOST:PORT");
        return SEINE_E_INVAL;
    }

    snc_site_file file = snc_site_file_list(&site, &where);
    seine_err e = SEINE_OK;
    sn_buf_init(&out, (size_t)2 * PIECE);
    do {
        sn_buf_reset(&out);
        snc_site_file_add(&file, &out, PIECE);
        e = sn_buf_done(&out);
        if (e == SEINE_OK && out.len > 0 && !line(out.ptr, out.len, arg))
            e = SEINE_E_CANCELED;
    } while (e == SEINE_OK && out.len > 0);
    sn_buf_fini(&out);
    return e;
}
