/* SPDX-License-Identifier: Apache-2.0 */
/*
 * X-Forwarded-For, two fields of it separated by a newline. Whatever stands left of the
 * client that is found does not change it: the same field behind forged addresses gives
 * the same client, unless every address was trusted. Trusted peers alone are followed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "gate/client_address.h"
#include "gate/request_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static const char *const proxies[] = {"127.0.0.1", "10.0.0.0/8", "2001:db8::/32", NULL};

static sn_forwarded
follow(const sn_net_set *trusted, const sn_ip *peer, sn_str first, sn_str last)
{
    sn_forwarded f;

    sn_forwarded_begin(&f, peer, trusted);
    sn_forwarded_add(&f, last);
    sn_forwarded_add(&f, first);
    return f;
}

/* Paths: what comes out is a path, and stays as it is. */
static void
try_path(sn_str text)
{
    char once[SN_REQUEST_PATH];
    sn_str path = sn_request_path(text, once);

    REQUIRE(path.len > 0 && path.len <= SN_REQUEST_PATH && path.ptr[0] == '/');
    for (size_t i = 0; i + 1 < path.len; i++)
        REQUIRE(path.ptr[i] != '/' || path.ptr[i + 1] != '/');
    REQUIRE(path.len < 3 || memcmp(path.ptr + path.len - 3, "/..", 3) != 0 ||
            path.len == SN_REQUEST_PATH);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_str text = {(const char *)bytes, n}, first, last;
    sn_net_set trusted;
    sn_ip peer = {4, {127, 0, 0, 1}}, stranger = {4, {192, 0, 2, 1}};
    sn_buf forged;

    if (n > 8192)
        return 0;
    try_path(text);
    sn_str_cut(text, '\n', &first, &last);
    if (sn_net_set_read(&trusted, "trust", proxies, NULL) != SEINE_OK)
        return 0;
    sn_forwarded f = follow(&trusted, &stranger, first, last);
    REQUIRE(sn_ip_eq(&f.client, &stranger));

    f = follow(&trusted, &peer, first, last);
    REQUIRE(f.client.v == 4 || f.client.v == 6);
    sn_buf_init(&forged, 1 << 16);
    sn_buf_text(&forged, "6.6.6.6,");
    sn_buf_str(&forged, first);
    sn_forwarded g = follow(&trusted, &peer, sn_buf_view(&forged), last);
    if (f.is_ended)
        REQUIRE(g.is_ended && sn_ip_eq(&f.client, &g.client));
    sn_buf_fini(&forged);
    sn_net_set_fini(&trusted);
    return 0;
}
