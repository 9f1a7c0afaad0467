/* SPDX-License-Identifier: Apache-2.0 */
#include "net/listen.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "check.h"

TEST(listen_takes_numbers_ports_and_localhost)
{
    static const struct {
        const char *typed, *address;
        int port;
    } rows[] = {
        {"127.0.0.1:80", "127.0.0.1", 80},
        {"0.0.0.0:65535", "0.0.0.0", 65535},
        {":8787", "127.0.0.1", 8787}, /* a port alone is not the whole network's */
        {"8787", "127.0.0.1", 8787},
        {"localhost:0", "127.0.0.1", 0}, /* the kernel chooses */
        {"LocalHost:1", "127.0.0.1", 1},
        {"[::1]:443", "::1", 443},
        {"[::]:443", "::", 443},
    };

    EACH_ROW(i, rows) {
        struct addrinfo *at = sn_listen_resolve(sn_str_of(rows[i].typed));
        char text[INET6_ADDRSTRLEN] = "";

        CHECK(at != NULL);
        if (!at)
            continue;
        if (at->ai_family == AF_INET) {
            const struct sockaddr_in *v4 = (const void *)at->ai_addr;
            inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
            CHECK_EQ(ntohs(v4->sin_port), rows[i].port);
        } else {
            const struct sockaddr_in6 *v6 = (const void *)at->ai_addr;
            inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
            CHECK_EQ(ntohs(v6->sin6_port), rows[i].port);
        }
        CHECK_STR(text, rows[i].address);
        freeaddrinfo(at);
    }
}

TEST(listen_refuses_names_and_what_is_no_address)
{
    static const struct {
        const char *typed;
    } rows[] = {
        {""},
        {":"},
        {"127.0.0.1:"},
        {"127.0.0.1:65536"},
        {"127.0.0.1:-1"},
        {"127.0.0.1:http"},
        {"127.0.0.1:000080"}, /* longer than a port */
        {"::1:80"},           /* which colon begins the port? */
        {"[]:80"},
        {"[::1"},
        {"example.org:80"}, /* a server asks no DNS */
        {"1.2.3.4.5:80"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:80"},
    };

    EACH_ROW(i, rows) {
        struct addrinfo *at = sn_listen_resolve(sn_str_of(rows[i].typed));

        CHECK(at == NULL);
        if (at)
            freeaddrinfo(at);
    }
}
