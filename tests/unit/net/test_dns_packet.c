/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dns_packet.h"

#include <string.h>

#include "check.h"

#define HEAD(flags, qd, an) "\x12\x34" flags "\0" qd "\0" an "\0\0\0\0"
#define YES                 "\x81\x80"
#define ASK                 "\1a\7Example\0\0\1\0\1"
#define TTL                 "\0\1\0\0\0\x3c"
#define IPV4                "\xc0\x0c\0\1" TTL "\0\4\x7f\0\0\1"

typedef struct row {
    const char *bytes;
    size_t n;
    bool is_sound;
    const char *name;
} row;

#define ROW(text, is_sound, name)              \
    {                                          \
        text, sizeof(text) - 1, is_sound, name \
    }

TEST(dns_packet_is_sound_or_not)
{
    static const row rows[] = {
        ROW(HEAD(YES, "\1", "\0") ASK, true, "a.example"),
        ROW(HEAD(YES, "\1", "\1") ASK IPV4, true, "a.example"),
        ROW(HEAD(YES, "\1", "\2") ASK "\xc0\x0c\0\5" TTL "\0\4\1b\xc0\x0e" IPV4, true,
            "a.example"),                                         /* a CNAME before it */
        ROW(HEAD("\x81\x83", "\1", "\0") ASK, true, "a.example"), /* no such name */
        ROW(HEAD("\x83\x80", "\1", "\3") ASK, true, "a.example"), /* by TCP again */
        ROW(HEAD(YES, "\1", "\1") ASK IPV4 "more", true, "a.example"),
        ROW(HEAD(YES, "\1", "\0") "\0\0\1\0\1", true, ""), /* the root */
        /* heads */
        ROW("", false, ""),
        ROW("\x12", false, ""),
        ROW("\x12\x34\x81\x80\0\1\0\0\0\0\0", false, ""),
        ROW(HEAD("\1\0", "\1", "\0") ASK, false, ""),  /* a question */
        ROW(HEAD(YES, "\0", "\1") IPV4, false, ""),    /* to what? */
        ROW(HEAD(YES, "\2", "\0") ASK ASK, false, ""), /* to which? */
        ROW(HEAD(YES, "\1", "\1"), false, ""),
        /* questions */
        ROW(HEAD(YES, "\1", "\0") "\1a\7Exam", false, ""),
        ROW(HEAD(YES, "\1", "\0") "\1a\7Example", false, ""),
        ROW(HEAD(YES, "\1", "\0") "\1a\7Example\0\0\1\0", false, "a.example"),
        ROW(HEAD(YES, "\1", "\0") "\xc0\x0c\0\1\0\1", false, ""),
        ROW(HEAD(YES, "\1", "\0") "\x40"
                                  "a\0\0\1\0\1",
            false, ""),
        /* records */
        ROW(HEAD(YES, "\1", "\1") ASK, false, "a.example"),
        ROW(HEAD(YES, "\1", "\2") ASK IPV4, false, "a.example"),
        ROW(HEAD(YES, "\1", "\1") ASK "\xc0\x0c\0\1" TTL "\0\3\x7f\0\0", false,
            "a.example"), /* three bytes are no address */
        ROW(HEAD(YES, "\1", "\1") ASK "\xc0\x0c\0\x1c" TTL "\0\4\x7f\0\0\1", false,
            "a.example"), /* nor are four one of IPv6 */
        ROW(HEAD(YES, "\1", "\1") ASK "\xc0\x0c\0\5" TTL "\1\0\1b\0", false,
            "a.example"), /* over the end */
        ROW(HEAD(YES, "\1", "\1") ASK "\xc0\x1b\0\1" TTL "\0\4\x7f\0\0\1", false,
            "a.example"), /* a name that is itself */
        ROW(HEAD(YES, "\1", "\1") ASK "\xff\xff\0\1" TTL "\0\4\x7f\0\0\1", false,
            "a.example"), /* and one behind the end */
        ROW(HEAD(YES, "\1", "\1") ASK "\xc0\3\0\1" TTL "\0\4\x7f\0\0\1", false,
            "a.example"), /* in the head */
        ROW(HEAD(YES, "\1", "\1") ASK "\xc0", false, "a.example"),
    };

    EACH_ROW(i, rows) {
        char name[SN_DNS_PACKET_NAME], copy[64];
        size_t len = 99;

        memcpy(copy, rows[i].bytes, rows[i].n); /* a reader beyond it is found by ASan */
        CHECK_EQ(sn_dns_packet_is_sound((sn_str){copy, rows[i].n}, name, &len),
                 rows[i].is_sound);
        CHECK_EQ(len, strlen(rows[i].name));
        CHECK(memcmp(name, rows[i].name, len) == 0);
    }
}

TEST(dns_packet_names_have_up_to_253_bytes)
{
    for (size_t last = 61; last <= 63; last++) {
        char packet[400] = HEAD(YES, "\1", "\0"), name[SN_DNS_PACKET_NAME];
        size_t at = 12, len;

        for (int i = 0; i < 4; i++) {
            size_t n = i < 3 ? 63 : last;

            packet[at++] = (char)n;
            memset(packet + at, 'x', n);
            at += n;
        }
        at += 1 + 4;
        CHECK_EQ(sn_dns_packet_is_sound((sn_str){packet, at}, name, &len), last == 61);
        CHECK_EQ(len, last == 61 ? 253 : 0);
    }
}
