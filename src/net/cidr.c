/* SPDX-License-Identifier: Apache-2.0 */
#include "net/cidr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static uint8_t
width(const sn_ip *ip)
{
    return ip->v == 4 ? 32 : 128;
}

bool
sn_ip_of(const struct sockaddr *addr, sn_ip *out_ip)
{
    sn_ip ip = {0};

    if (addr->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, addr, sizeof in);
        ip.v = 4;
        memcpy(ip.bytes, &in.sin_addr, 4);
    } else if (addr->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, addr, sizeof in6);
        ip.v = 6;
        memcpy(ip.bytes, &in6.sin6_addr, 16);
    } else {
        return false;
    }
    *out_ip = ip;
    return true;
}

seine_err
sn_ip_parse(sn_str text, sn_ip *out_ip)
{
    char copy[INET6_ADDRSTRLEN];
    sn_ip ip = {0};

    if (text.len == 0 || text.len >= sizeof copy || memchr(text.ptr, 0, text.len))
        return SEINE_E_INVAL;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    ip.v = memchr(copy, ':', text.len) ? 6 : 4;
    if (inet_pton(ip.v == 4 ? AF_INET : AF_INET6, copy, ip.bytes) != 1)
        return SEINE_E_INVAL;
    *out_ip = ip;
    return SEINE_OK;
}

bool
sn_ip_eq(const sn_ip *a, const sn_ip *b)
{
    return a->v == b->v && memcmp(a->bytes, b->bytes, a->v == 4 ? 4 : 16) == 0;
}

/* True if the first `bits` bits are equal. */
static bool
agree(const uint8_t *a, const uint8_t *b, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;

    return memcmp(a, b, whole) == 0 &&
           (rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0);
}

bool
sn_cidr_has(const sn_cidr *net, const sn_ip *ip)
{
    return net->net.v == ip->v && agree(net->net.bytes, ip->bytes, net->bits);
}

/* True if all bits after the first `bits` are zero. */
static bool
is_clean(const sn_ip *ip, unsigned bits)
{
    for (unsigned i = bits; i < width(ip); i++)
        if (ip->bytes[i / 8] >> (7 - i % 8) & 1)
            return false;
    return true;
}

seine_err
sn_cidr_parse(sn_str text, sn_cidr *out_net)
{
    sn_str address, bits;
    bool cut = sn_str_cut(text, '/', &address, &bits);
    sn_cidr net;
    uint64_t n;

    if (sn_ip_parse(address, &net.net) != SEINE_OK)
        return SEINE_E_INVAL;
    n = width(&net.net);
    if (cut && (bits.len > 3 || sn_str_u64(bits, &n) != SEINE_OK || n > width(&net.net)))
        return SEINE_E_INVAL;
    if (!is_clean(&net.net, (unsigned)n))
        return SEINE_E_INVAL;
    net.bits = (uint8_t)n;
    *out_net = net;
    return SEINE_OK;
}

void
sn_cidr_text(const sn_cidr *net, char out_text[SN_CIDR_TEXT])
{
    char ip[INET6_ADDRSTRLEN] = "";

    inet_ntop(net->net.v == 4 ? AF_INET : AF_INET6, net->net.bytes, ip, sizeof ip);
    snprintf(out_text, SN_CIDR_TEXT, "%s/%u", ip, net->bits);
}
