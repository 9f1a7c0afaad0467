/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/socks.h"

#include <arpa/inet.h>
#include <string.h>

static snc_parsed
bad_message(snc_socks *s, const char *why)
{
    s->why = why;
    return SNC_PARSED_BAD;
}

static snc_parsed
read_hello(snc_socks *s, const uint8_t *in, size_t n, size_t *out_used)
{
    if (in[0] != 5)
        return bad_message(s, "SOCKS version is not 5");
    if (n < 2 || n < 2u + in[1])
        return SNC_PARSED_MORE;
    if (in[1] == 0)
        return bad_message(s, "SOCKS hello without a method");
    s->offers_none = memchr(in + 2, 0, in[1]);
    s->offers_login = memchr(in + 2, 2, in[1]);
    *out_used = 2u + in[1];
    return SNC_PARSED_OK;
}

/* RFC 1929: user and password have 1 to 255 bytes. */
static snc_parsed
read_login(snc_socks *s, const uint8_t *in, size_t n, size_t *out_used)
{
    if (in[0] != 1)
        return bad_message(s, "SOCKS login is not version 1");
    if (n < 2 || n < 3u + in[1] || n < 3u + in[1] + in[2 + in[1]])
        return SNC_PARSED_MORE;
    size_t user = in[1], pass = in[2 + user];
    if (user == 0 || pass == 0)
        return bad_message(s, "SOCKS login without a name or a password");
    memcpy(s->login, in + 2, user);
    s->login[user] = ':';
    memcpy(s->login + user + 1, in + 3 + user, pass);
    s->login_len = user + 1 + pass;
    *out_used = 3 + user + pass;
    return SNC_PARSED_OK;
}

/* Length of the address; 0: not known yet. */
static size_t
address_length(const uint8_t *in, size_t n)
{
    return in[3] == 1 ? 4 : in[3] == 4 ? 16 : n > 4 ? 1u + in[4] : 0;
}

static snc_parsed
read_request(snc_socks *s, const uint8_t *in, size_t n, size_t *out_used)
{
    if (in[0] != 5)
        return bad_message(s, "SOCKS version is not 5");
    if (n < 4)
        return SNC_PARSED_MORE;
    if (in[2] != 0)
        return bad_message(s, "SOCKS request with a reserved byte");
    if (in[3] != 1 && in[3] != 3 && in[3] != 4)
        return bad_message(s, "SOCKS address of no type");
    size_t len = address_length(in, n);
    if (len == 0 || n < 4 + len + 2)
        return SNC_PARSED_MORE;
    s->command = in[1];
    s->type = in[3];
    s->port = (uint16_t)(in[4 + len] << 8 | in[5 + len]);
    memset(s->host, 0, sizeof s->host);
    if (s->type == 3 && len == 1)
        return bad_message(s, "SOCKS request for no name");
    if (s->type == 3)
        memcpy(s->host, in + 5, len - 1);
    else
        inet_ntop(s->type == 1 ? AF_INET : AF_INET6, in + 4, s->host, sizeof s->host);
    *out_used = 4 + len + 2;
    return SNC_PARSED_OK;
}

snc_parsed
snc_socks_read(snc_socks *s, sn_str bytes, size_t *out_used)
{
    const uint8_t *in = (const uint8_t *)bytes.ptr;

    if (bytes.len == 0)
        return SNC_PARSED_MORE;
    if (s->at == SNC_SOCKS_HELLO)
        return read_hello(s, in, bytes.len, out_used);
    return s->at == SNC_SOCKS_LOGIN ? read_login(s, in, bytes.len, out_used)
                                    : read_request(s, in, bytes.len, out_used);
}
