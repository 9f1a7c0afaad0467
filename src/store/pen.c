/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pen.h"

#include "base/base64.h"

void
sn_pen_over(sn_pen *p, const char *bytes, size_t n)
{
    size_t room = (size_t)(p->end - p->at);

    if (room > 0)
        memcpy(p->at, bytes, room);
    p->at = p->end;
    p->lost += n - room;
}

void
sn_pen_text(sn_pen *p, const char *terminated)
{
    sn_pen_str(p, sn_str_of(terminated));
}

/* Two digits at once. */
static void
pair(char *to, unsigned n)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";

    memcpy(to, pairs + 2 * n, 2);
}

void
sn_pen_u64(sn_pen *p, uint64_t n)
{
    char text[20], *at = text + sizeof text;

    for (; n >= 100; n /= 100)
        pair(at -= 2, (unsigned)(n % 100));
    if (n >= 10)
        pair(at -= 2, (unsigned)n);
    else
        *--at = (char)('0' + n);
    sn_pen_add(p, at, (size_t)(text + sizeof text - at));
}

void
sn_pen_i64(sn_pen *p, int64_t n)
{
    if (n < 0)
        SN_PEN(p, "-");
    sn_pen_u64(p, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

void
sn_pen_ms(sn_pen *p, seine_span ns)
{
    uint64_t us = ns > 0 ? ((uint64_t)ns + 500) / 1000 : 0;
    unsigned rest = (unsigned)(us % 1000);
    char text[4] = {'.', (char)('0' + rest / 100)};
    size_t n = rest % 100 == 0 ? 2 : rest % 10 == 0 ? 3 : 4;

    if (us == 0) {
        SN_PEN(p, "0");
        return;
    }
    pair(text + 2, rest % 100);
    sn_pen_u64(p, us / 1000);
    sn_pen_add(p, text, n);
}

/* The day `days` after 1970-01-01, counted in eras of 400 years that begin on a first
 * of March, so that the leap day comes last. 64 bits of ns hold 1677 to 2262. */
static void
date(char *to, int64_t days)
{
    unsigned day = (unsigned)(days + 719468), era = day / 146097, doe = day % 146097;
    unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    unsigned month = mp < 10 ? mp + 3 : mp - 9;
    unsigned year = era * 400 + yoe + (month <= 2);

    pair(to, year / 100);
    pair(to + 2, year % 100);
    pair(to + 5, month);
    pair(to + 8, doy - (153 * mp + 2) / 5 + 1);
}

void
sn_pen_stamp(sn_pen *p, int64_t wall)
{
    const int64_t day = SEINE_SECS(86400);
    int64_t days = wall / day - (wall % day < 0), ns = wall % day;
    uint64_t us = (uint64_t)(ns < 0 ? ns + day : ns) / 1000;
    unsigned seconds = (unsigned)(us / 1000000), rest = (unsigned)(us % 1000000);
    char text[SN_STAMP + 1] = "0000-00-00T00:00:00.000000Z";

    date(text, days);
    pair(text + 11, seconds / 3600);
    pair(text + 14, seconds / 60 % 60);
    pair(text + 17, seconds % 60);
    pair(text + 20, rest / 10000);
    pair(text + 22, rest / 100 % 100);
    pair(text + 24, rest % 100);
    sn_pen_add(p, text, SN_STAMP);
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The high bit of every byte that is 0, and perhaps of some above the lowest one. */
static uint64_t
zeros(uint64_t w)
{
    return (w - EACH(1)) & ~w & EACH(0x80);
}

/* The same for bytes that are not plain: from 0x7f on, below a blank, " and \. */
static uint64_t
special(uint64_t w)
{
    return (w & EACH(0x80)) | ((w - EACH(0x20)) & ~w & EACH(0x80)) |
           zeros(w ^ EACH('"')) | zeros(w ^ EACH('\\')) | zeros(w ^ EACH(0x7f));
}

size_t
sn_pen_plain(const char *bytes, size_t n)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        uint64_t w;

        memcpy(&w, bytes + i, 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        uint64_t found = special(w);

        if (found)
            return i + (size_t)__builtin_ctzll(found) / 8;
#else
        if (special(w))
            break;
#endif
    }
    for (; i < n; i++) {
        unsigned char c = (unsigned char)bytes[i];

        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
            break;
    }
    return i;
}

static void
escape(sn_pen *p, uint32_t c)
{
    static const char hex[] = "0123456789abcdef", names[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    char text[] = {'\\',       'u', hex[c >> 12 & 15], hex[c >> 8 & 15], hex[c >> 4 & 15],
                   hex[c & 15]};

    for (size_t i = 0; i + 1 < sizeof names; i += 2)
        if (c == (unsigned char)names[i]) {
            text[1] = names[i + 1];
            sn_pen_add(p, text, 2);
            return;
        }
    sn_pen_add(p, text, sizeof text);
}

/* One character that is no plain ASCII; its length in the text. */
static size_t
strange(sn_pen *p, sn_str s)
{
    uint32_t c;
    size_t n = sn_utf8_decode(s, &c);

    if (n == 0) {
        SN_PEN(p, "\xef\xbf\xbd");
        return 1;
    }
    if (c < 0xa0 || c == 0x2028 || c == 0x2029)
        escape(p, c);
    else
        sn_pen_add(p, s.ptr, n);
    return n;
}

void
sn_pen_quoted(sn_pen *p, sn_str s)
{
    SN_PEN(p, "\"");
    for (size_t i = 0; i < s.len;) {
        size_t plain = sn_pen_plain(s.ptr + i, s.len - i);

        sn_pen_add(p, s.ptr + i, plain);
        i += plain;
        if (i < s.len)
            i += strange(p, (sn_str){s.ptr + i, s.len - i});
    }
    SN_PEN(p, "\"");
}

void
sn_pen_hex(sn_pen *p, const uint8_t *bytes, size_t n)
{
    static const char hex[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++)
        sn_pen_add(p, (char[]){hex[bytes[i] >> 4], hex[bytes[i] & 15]}, 2);
}

void
sn_pen_base64(sn_pen *p, sn_str bytes)
{
    enum { PART = 768 };
    char text[SN_BASE64_ROOM(PART)];

    for (size_t i = 0; i < bytes.len; i += PART) {
        size_t n = bytes.len - i < PART ? bytes.len - i : PART;

        sn_base64(bytes.ptr + i, n, text);
        sn_pen_add(p, text, SN_BASE64_ROOM(n));
    }
}
