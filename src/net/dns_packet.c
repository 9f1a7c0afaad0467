/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dns_packet.h"

#include <stdint.h>

enum { HEAD = 12, POINTER = 0xc0, TYPE_A = 1, TYPE_AAAA = 28, MOST_NAME = 253 };

/* What is left of the packet; `at` never passes `len`. */
typedef struct cursor {
    const unsigned char *bytes;
    size_t len, at;
} cursor;

static bool
skip(cursor *c, size_t n)
{
    if (c->len - c->at < n)
        return false;
    c->at += n;
    return true;
}

static bool
take_u16(cursor *c, uint16_t *out)
{
    if (!skip(c, 2))
        return false;
    *out = (uint16_t)(c->bytes[c->at - 2] << 8 | c->bytes[c->at - 1]);
    return true;
}

/* Passes a name. A pointer ends it, and must point before itself. */
static bool
skip_name(cursor *c)
{
    size_t from = c->at;

    while (skip(c, 1)) {
        unsigned char n = c->bytes[c->at - 1];

        if (n == 0)
            return c->at - from <= MOST_NAME + 2;
        if ((n & POINTER) == POINTER) {
            size_t to = skip(c, 1) ? (size_t)(n & 0x3f) << 8 | c->bytes[c->at - 1] : 0;
            return to >= HEAD && to < from;
        }
        if (n & POINTER || !skip(c, n))
            return false;
    }
    return false;
}

/* Passes the name of the question, which has no pointers, and writes it. */
static bool
take_name(cursor *c, char out[SN_DNS_PACKET_NAME], size_t *out_len)
{
    size_t len = 0;

    while (skip(c, 1)) {
        size_t n = c->bytes[c->at - 1];

        if (n == 0) {
            *out_len = len;
            return true;
        }
        if (n & POINTER || len + (len > 0) + n > MOST_NAME || !skip(c, n))
            return false;
        if (len > 0)
            out[len++] = '.';
        for (size_t i = c->at - n; i < c->at; i++)
            out[len++] = sn_lower((char)c->bytes[i]);
    }
    return false;
}

static bool
skip_record(cursor *c)
{
    uint16_t type, length;

    if (!skip_name(c) || !take_u16(c, &type) || !skip(c, 6) || !take_u16(c, &length))
        return false;
    if ((type == TYPE_A && length != 4) || (type == TYPE_AAAA && length != 16))
        return false;
    return skip(c, length);
}

bool
sn_dns_packet_is_sound(sn_str packet, char out_name[SN_DNS_PACKET_NAME], size_t *out_len)
{
    cursor c = {(const unsigned char *)packet.ptr, packet.len, 0};
    uint16_t flags, questions, answers;

    *out_len = 0;
    if (!skip(&c, 2) || !take_u16(&c, &flags) || !take_u16(&c, &questions) ||
        !take_u16(&c, &answers) || !skip(&c, 4))
        return false;
    if (!(flags & 0x8000) || questions != 1)
        return false;
    if (!take_name(&c, out_name, out_len) || !skip(&c, 4))
        return false;
    for (; answers > 0; answers--)
        if (!skip_record(&c))
            return (flags & 0x0200) != 0; /* truncated: it is asked for again by TCP */
    return true;
}
