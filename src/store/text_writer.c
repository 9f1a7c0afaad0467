/* SPDX-License-Identifier: Apache-2.0 */
#include "store/text_writer.h"

#include "base/base64.h"
#include "base/time.h"
#include "seine/calendar.h"

static void
spill(sn_text_writer *p)
{
    if (p->opening)
        *p->opening = '{';
    p->opening = NULL;
    p->spill(p, p->arg);
    p->lost += (size_t)(p->at - p->start);
    p->at = p->start;
}

void
sn_text_writer_make_room(sn_text_writer *p, size_t n)
{
    if (p->spill && (size_t)(p->end - p->at) < n)
        spill(p);
}

void
sn_text_writer_over(sn_text_writer *p, const char *bytes, size_t n)
{
    size_t room = (size_t)(p->end - p->at);

    while (p->spill && n > room) {
        memcpy(p->at, bytes, room);
        p->at = p->end;
        bytes += room;
        n -= room;
        spill(p);
        room = (size_t)(p->end - p->at);
    }
    if (n <= room) {
        memcpy(p->at, bytes, n);
        p->at += n;
        return;
    }
    if (room > 0)
        memcpy(p->at, bytes, room);
    p->at = p->end;
    p->lost += n - room;
}

void
sn_text_writer_text(sn_text_writer *p, const char *terminated)
{
    sn_text_writer_str(p, sn_str_of(terminated));
}

/* Writes two digits at once. */
static void
pair(char *to, unsigned n)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";

    memcpy(to, pairs + 2 * n, 2);
}

static size_t
length(uint64_t n)
{
    size_t len = 1;

    for (; n >= 10000; n /= 10000)
        len += 4;
    return len + (n >= 10) + (n >= 100) + (n >= 1000);
}

/* Writes at most 20 digits in place; returns their end. */
static char *
put_digits(char *to, uint64_t n)
{
    char *end = to + length(n), *at = end;

    for (; n >= 100; n /= 100)
        pair(at -= 2, (unsigned)(n % 100));
    if (n >= 10)
        pair(at - 2, (unsigned)n);
    else
        at[-1] = (char)('0' + n);
    return end;
}

/* Short texts are written in place if the longest would fit, else via a buffer. */
enum { SHORT = 32 };

static char *
begin_short(sn_text_writer *p, char aside[SHORT])
{
    return p->end - p->at >= SHORT ? p->at : aside;
}

static void
finish_short(sn_text_writer *p, char *from, char *end)
{
    if (from == p->at)
        p->at = end;
    else
        sn_text_writer_add(p, from, (size_t)(end - from));
}

void
sn_text_writer_u64(sn_text_writer *p, uint64_t n)
{
    char aside[SHORT], *to = begin_short(p, aside);

    finish_short(p, to, put_digits(to, n));
}

void
sn_text_writer_i64(sn_text_writer *p, int64_t n)
{
    if (n < 0)
        SN_WRITE(p, "-");
    sn_text_writer_u64(p, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

void
sn_text_writer_ms(sn_text_writer *p, seine_span ns)
{
    uint64_t us = ns > 0 ? ((uint64_t)ns + 500) / 1000 : 0;
    unsigned rest = (unsigned)(us % 1000);
    char aside[SHORT], *to = begin_short(p, aside), *at;

    if (us == 0) {
        SN_WRITE(p, "0");
        return;
    }
    at = put_digits(to, us / 1000);
    at[0] = '.';
    at[1] = (char)('0' + rest / 100);
    pair(at + 2, rest % 100);
    finish_short(p, to, at + (rest % 100 == 0 ? 2 : rest % 10 == 0 ? 3 : 4));
}

/* Fills in "0000-00-00T00:00:00", for the years 0 to 9999. */
static void
put_date(char *to, int64_t seconds)
{
    seine_date d = seine_calendar_date(seconds);

    pair(to, (unsigned)d.year / 100);
    pair(to + 2, (unsigned)d.year % 100);
    pair(to + 5, (unsigned)d.month);
    pair(to + 8, (unsigned)d.day);
    pair(to + 11, (unsigned)d.hour);
    pair(to + 14, (unsigned)d.minute);
    pair(to + 17, (unsigned)d.second);
}

void
sn_text_writer_stamp(sn_text_writer *p, int64_t wall)
{
    int64_t ns, seconds = sn_time_seconds(wall, &ns);
    unsigned us = (unsigned)ns / 1000;
    char aside[SHORT], *text = begin_short(p, aside);

    memcpy(text, "0000-00-00T00:00:00.000000Z", SN_STAMP);
    put_date(text, seconds);
    pair(text + 20, us / 10000);
    pair(text + 22, us / 100 % 100);
    pair(text + 24, us % 100);
    finish_short(p, text, text + SN_STAMP);
}

void
sn_text_writer_moment(sn_text_writer *p, int64_t seconds)
{
    const int64_t first = INT64_C(-62135596800), last = INT64_C(253402300799);
    char aside[SHORT], *text = begin_short(p, aside);

    memcpy(text, "0000-00-00T00:00:00Z", 20);
    put_date(text, seconds < first ? first : seconds > last ? last : seconds);
    finish_short(p, text, text + 20);
}

/* Tests sixteen bytes at once. As signed numbers, bytes from 0x80 on are below a
 * blank. */
typedef signed char batch __attribute__((vector_size(16)));

static bool
is_plain(const char *bytes)
{
    batch b;
    uint64_t halves[2];

    memcpy(&b, bytes, sizeof b);
    b = (b < ' ') | (b == '"') | (b == '\\') | (b == 0x7f);
    memcpy(halves, &b, sizeof halves);
    return (halves[0] | halves[1]) == 0;
}

/* Likewise of eight. */
typedef signed char half_batch __attribute__((vector_size(8)));

static bool
is_plain_half(const char *bytes)
{
    half_batch b;
    uint64_t bits;

    memcpy(&b, bytes, sizeof b);
    b = (b < ' ') | (b == '"') | (b == '\\') | (b == 0x7f);
    memcpy(&bits, &b, sizeof bits);
    return bits == 0;
}

static bool
is_plain_byte(char c)
{
    return (signed char)c >= ' ' && c != 0x7f && c != '"' && c != '\\';
}

size_t
sn_text_writer_plain(const char *bytes, size_t n)
{
    size_t i = 0;

    while (i + 16 <= n && is_plain(bytes + i))
        i += 16;
    if (i + 16 > n && n >= 16 && is_plain(bytes + n - 16)) /* overlaps tested bytes */
        return n;
    while (i < n && is_plain_byte(bytes[i]))
        i++;
    return i;
}

/* The same, and copies the plain bytes in the same step. */
static size_t
copy_plain(char *to, const char *bytes, size_t n)
{
    size_t i = 0;

    for (; i + 16 <= n && is_plain(bytes + i); i += 16)
        memcpy(to + i, bytes + i, 16);
    if (i + 16 > n && n >= 16 && is_plain(bytes + n - 16)) {
        memcpy(to + n - 16, bytes + n - 16, 16);
        return n;
    }
    if (n >= 8 && n < 16 && is_plain_half(bytes) && is_plain_half(bytes + n - 8)) {
        memcpy(to, bytes, 8);
        memcpy(to + n - 8, bytes + n - 8, 8);
        return n;
    }
    for (; i < n && is_plain_byte(bytes[i]); i++)
        to[i] = bytes[i];
    return i;
}

/* Appends the plain bytes at the start of s; returns how many. */
static size_t
add_plain(sn_text_writer *p, sn_str s)
{
    size_t n;

    if ((size_t)(p->end - p->at) >= s.len) {
        n = copy_plain(p->at, s.ptr, s.len);
        p->at += n;
        return n;
    }
    n = sn_text_writer_plain(s.ptr, s.len);
    sn_text_writer_add(p, s.ptr, n);
    return n;
}

static void
put_escape(sn_text_writer *p, uint32_t c)
{
    static const char hex[] = "0123456789abcdef", names[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    char text[] = {'\\',       'u', hex[c >> 12 & 15], hex[c >> 8 & 15], hex[c >> 4 & 15],
                   hex[c & 15]};

    for (size_t i = 0; i + 1 < sizeof names; i += 2)
        if (c == (unsigned char)names[i]) {
            text[1] = names[i + 1];
            sn_text_writer_add(p, text, 2);
            return;
        }
    sn_text_writer_add(p, text, sizeof text);
}

/* Writes one character that is not plain ASCII; returns its length in the text. */
static size_t
strange(sn_text_writer *p, sn_str s)
{
    uint32_t c;
    size_t n = sn_utf8_decode(s, &c);

    if (n == 0) {
        SN_WRITE(p, "\xef\xbf\xbd");
        return 1;
    }
    if (c < 0xa0 || c == 0x2028 || c == 0x2029)
        put_escape(p, c);
    else
        sn_text_writer_add(p, s.ptr, n);
    return n;
}

void
sn_text_writer_quoted(sn_text_writer *p, sn_str s)
{
    SN_WRITE(p, "\"");
    for (size_t i = 0; i < s.len;) {
        i += add_plain(p, (sn_str){s.ptr + i, s.len - i});
        if (i < s.len)
            i += strange(p, (sn_str){s.ptr + i, s.len - i});
    }
    SN_WRITE(p, "\"");
}

void
sn_text_writer_hex(sn_text_writer *p, const uint8_t *bytes, size_t n)
{
    static const char hex[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++)
        sn_text_writer_add(p, (char[]){hex[bytes[i] >> 4], hex[bytes[i] & 15]}, 2);
}

void
sn_text_writer_base64(sn_text_writer *p, sn_str bytes)
{
    enum { PART = 768 };
    char text[SN_BASE64_ROOM(PART)];

    for (size_t i = 0; i < bytes.len; i += PART) {
        size_t n = bytes.len - i < PART ? bytes.len - i : PART;

        sn_base64(bytes.ptr + i, n, text);
        sn_text_writer_add(p, text, SN_BASE64_ROOM(n));
    }
}
