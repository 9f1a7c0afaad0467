/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_net.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <seine/units.h>

const char *
config_net_refuse_denied(const char *text)
{
    uint64_t port = 0;

    if (strncmp(text, "local:", 6) != 0)
        return config_net_refuse(text);
    return seine_units_count(text + 6, &port) || port < 1 || port > 65535
               ? "not a port of this machine; try local:6379"
               : NULL;
}

const char *
config_net_refuse(const char *text)
{
    const char *slash = strchr(text, '/');
    unsigned char bytes[16] = {0};
    char address[64];
    uint64_t bits = 0;

    snprintf(address, sizeof address, "%.*s", (int)strcspn(text, "/"), text);
    bool is_4 = inet_pton(AF_INET, address, bytes) == 1;
    if ((!is_4 && inet_pton(AF_INET6, address, bytes) != 1) ||
        (slash && (seine_units_count(slash + 1, &bits) || bits > (is_4 ? 32 : 128))))
        return "not a network; try 203.0.113.0/24";
    for (size_t i = bits; slash && i < (is_4 ? 32u : 128u); i++)
        if (bytes[i / 8] >> (7 - i % 8) & 1)
            return "bits are set behind the prefix; try 203.0.113.0/24";
    return NULL;
}
