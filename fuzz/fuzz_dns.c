/* SPDX-License-Identifier: Apache-2.0 */
/* What is read by hand about names: the text as a hosts file, as a response of a name
 * server, each of its lines as a --resolve entry, as a server, and as a name. */
#include <stdlib.h>
#include <string.h>

#include "net/dns_local.h"
#include "net/dns_packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static void
check_answer(const sn_dns_answer *a)
{
    REQUIRE(a->n4 + a->n6 > 0);
    REQUIRE(a->n4 <= SN_DNS_ADDRESSES && a->n6 <= SN_DNS_ADDRESSES);
    for (int i = 0; i < a->n4; i++)
        REQUIRE(a->v4[i].v == 4);
    for (int i = 0; i < a->n6; i++)
        REQUIRE(a->v6[i].v == 6);
}

static void
check_line(sn_dns_local *k, sn_str line)
{
    sn_dns_answer a;
    sn_ip ip;
    uint16_t port = 0;
    seine_err e = sn_dns_local_resolve(k, line);

    REQUIRE(e == SEINE_OK || e == SEINE_E_INVAL);
    e = sn_dns_server(line, &ip, &port);
    REQUIRE(e == SEINE_E_INVAL ||
            (e == SEINE_OK && port > 0 && (ip.v == 4 || ip.v == 6)));
    e = sn_dns_local_ask(k, line, 80, &a);
    if (e == SEINE_OK)
        check_answer(&a);
    else if (e == SEINE_E_BUSY)
        REQUIRE(sn_dns_is_name(line) && line.len <= 253);
    else
        REQUIRE(e == SEINE_E_DNS_BAD_NAME && !sn_dns_is_name(line));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_str text = {(const char *)bytes, n}, line;
    sn_dns_local k;
    char name[SN_DNS_PACKET_NAME];
    size_t len;

    (void)sn_dns_packet_is_sound(text, name, &len);
    REQUIRE(len <= 253);
    sn_dns_local_init(&k, SEINE_FAMILY_ANY);
    REQUIRE(sn_dns_local_hosts(&k, text) == SEINE_OK);
    SN_MAP_EACH(entry, &k.names) {
        sn_dns_answer a;

        REQUIRE(sn_dns_is_name(entry->key));
        REQUIRE(sn_dns_local_ask(&k, entry->key, 80, &a) == SEINE_OK);
        check_answer(&a);
    }
    while (sn_str_next(&text, '\n', &line))
        check_line(&k, line);
    sn_dns_local_fini(&k);
    return 0;
}
