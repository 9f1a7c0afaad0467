/* SPDX-License-Identifier: Apache-2.0 */
#include "store/csv.h"

#include "seine/csv.h"

/* Skips digits at *at; false if there are none. */
static bool
skip_digits(sn_str s, size_t *at)
{
    size_t from = *at;

    while (*at < s.len && sn_is_digit(s.ptr[*at]))
        ++*at;
    return *at > from;
}

static bool
has_any(sn_str s, size_t at, const char *any)
{
    return at < s.len && s.ptr[at] != '\0' && strchr(any, s.ptr[at]);
}

/* Exactly a JSON number: nothing that a spreadsheet computes. */
static bool
is_number(sn_str s)
{
    size_t at = has_any(s, 0, "-");
    bool zero = has_any(s, at, "0");

    if (!skip_digits(s, &at) || (zero && at > 1 + (size_t)has_any(s, 0, "-")))
        return false;
    if (has_any(s, at, ".")) {
        at++;
        if (!skip_digits(s, &at))
            return false;
    }
    if (has_any(s, at, "eE")) {
        at++;
        at += has_any(s, at, "+-");
        if (!skip_digits(s, &at))
            return false;
    }
    return at == s.len;
}

/* Blanks, control characters and invisible marks: a spreadsheet skips them. */
static bool
is_unseen(uint32_t c)
{
    return c <= 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0xad || c == 0x61c ||
           c == 0x1680 || c == 0x180e || (c >= 0x2000 && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202f) || (c >= 0x205f && c <= 0x206f) || c == 0x3000 ||
           c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb);
}

/* = + - @ in every width, and the minus sign. */
static bool
is_sign(uint32_t c)
{
    static const uint32_t signs[] = {'=',    '+',    '-',    '@',    0x2212,
                                     0xfe62, 0xfe63, 0xfe66, 0xfe6b, 0xff0b,
                                     0xff0d, 0xff1d, 0xff20};

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (c == signs[i])
            return true;
    return false;
}

bool
sn_csv_is_formula(sn_str s)
{
    uint32_t c;
    size_t n;

    if (s.len == 0 || is_number(s))
        return false;
    for (size_t i = 0; i < s.len; i += n) {
        n = sn_utf8_decode((sn_str){s.ptr + i, s.len - i}, &c);
        if (n == 0)
            return false;
        if (is_sign(c) || c == '\t' || c == '\r')
            return true;
        if (!is_unseen(c))
            return false;
    }
    return false;
}

/* A ' before guarded text is part of the text and gets another ', so that the guard can
 * be undone. */
bool
sn_csv_is_guarded(sn_str s)
{
    while (s.len > 0 && s.ptr[0] == '\'')
        s = sn_str_slice(s, 1, s.len);
    return sn_csv_is_formula(s);
}

/* Ends a cell or a row for a reader with another separator than a comma. Such a reader
 * does not see quotes, either: they do not begin what it takes for a cell. */
static bool
is_separator(uint32_t c)
{
    return c == ';' || c == '\t' || c == '\n' || c == '\r';
}

/* Length up to the first separator, which it includes. */
static size_t
segment_len(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (is_separator((unsigned char)s.ptr[i]))
            return i + 1;
    return s.len;
}

/* True if a ' must stand between a separator and this text. A number is no exception: the
 * other reader sees more behind it. */
static bool
is_guarded_inside(sn_str s)
{
    uint32_t c;
    size_t n;

    while (s.len > 0 && s.ptr[0] == '\'')
        s = sn_str_slice(s, 1, s.len);
    for (; s.len > 0; s = sn_str_slice(s, n, s.len)) {
        n = sn_utf8_decode(s, &c);
        if (n == 0 || is_separator(c)) /* a tab or CR in front is a sign, too */
            return n > 0 && (c == '\t' || c == '\r');
        if (is_sign(c) || (!is_unseen(c) && c != '"')) /* quotes open and close */
            return is_sign(c);
    }
    return false;
}

/* Appends the text without the guards behind separators. */
static void
unguard_inside(sn_str s, sn_buf *to)
{
    for (size_t n; s.len > 0; s = sn_str_slice(s, n, s.len)) {
        n = segment_len(s);
        sn_buf_str(to, sn_str_slice(s, 0, n));
        if (n < s.len && s.ptr[n] == '\'' && is_guarded_inside(sn_str_slice(s, n, s.len)))
            n++;
    }
}

sn_str
sn_csv_unguard(sn_str s, sn_buf *room)
{
    if (segment_len(s) < s.len && memchr(s.ptr, '\'', s.len)) {
        sn_buf_reset(room);
        unguard_inside(s, room);
        if (room->err == SEINE_OK)
            s = sn_buf_view(room);
    }
    bool guarded = s.len > 0 && s.ptr[0] == '\'' && sn_csv_is_guarded(s);

    return guarded ? sn_str_slice(s, 1, s.len) : s;
}

/* True for most cells: printable ASCII without separator, quote or leading sign. */
static bool
is_simple(sn_str s)
{
    return s.len == 0 ||
           (sn_text_writer_plain(s.ptr, s.len) == s.len && s.ptr[0] > ' ' &&
            s.ptr[s.len - 1] > ' ' && !is_sign((unsigned char)s.ptr[0]) &&
            s.ptr[0] != '\'' && !memchr(s.ptr, ',', s.len) && !memchr(s.ptr, ';', s.len));
}

static bool
needs_quotes(sn_str s, unsigned how)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] == ',' || s.ptr[i] == '"' || s.ptr[i] == ';' || s.ptr[i] == '\t' ||
            (!(how & SEINE_CSV_SHOWN) && (s.ptr[i] == '\n' || s.ptr[i] == '\r')))
            return true;
    return s.ptr[0] == ' ' || s.ptr[s.len - 1] == ' ';
}

/* Writes one character that is not plain ASCII; returns its length in the text. */
static size_t
strange(sn_text_writer *p, sn_str s, unsigned how)
{
    static const char hex[] = "0123456789abcdef";
    uint32_t c;
    size_t n = sn_utf8_decode(s, &c);

    if (n == 0)
        SN_WRITE(p, "\xef\xbf\xbd");
    else if (c == '"')
        SN_WRITE(p, "\"\"");
    else if ((how & SEINE_CSV_SHOWN) && (c < 0x20 || (c >= 0x7f && c < 0xa0)))
        sn_text_writer_add(p, (char[]){'\\', 'x', hex[c >> 4], hex[c & 15]}, 4);
    else
        sn_text_writer_add(p, s.ptr, n);
    return n > 0 ? n : 1;
}

static void
put_segment(sn_text_writer *p, sn_str s, unsigned how)
{
    for (size_t i = 0; i < s.len;) {
        size_t plain = sn_text_writer_plain(s.ptr + i, s.len - i);

        sn_text_writer_add(p, s.ptr + i, plain);
        i += plain;
        if (i < s.len)
            i += strange(p, (sn_str){s.ptr + i, s.len - i}, how);
    }
}

void
sn_csv_cell(sn_text_writer *p, sn_str s, unsigned how)
{
    if (is_simple(s)) {
        sn_text_writer_str(p, s);
        return;
    }

    bool quotes = needs_quotes(s, how);
    if (quotes)
        SN_WRITE(p, "\"");
    if (!(how & SEINE_CSV_RAW) && sn_csv_is_guarded(s))
        SN_WRITE(p, "'");
    for (size_t n; s.len > 0; s = sn_str_slice(s, n, s.len)) {
        n = segment_len(s);
        put_segment(p, sn_str_slice(s, 0, n), how);
        if (!(how & SEINE_CSV_RAW) && is_guarded_inside(sn_str_slice(s, n, s.len)))
            SN_WRITE(p, "'");
    }
    if (quotes)
        SN_WRITE(p, "\"");
}

size_t
sn_csv_row(const char *bytes, size_t n)
{
    bool quoted = false;

    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '"')
            quoted = !quoted;
        else if (bytes[i] == '\n' && !quoted)
            return i + 1;
    }
    return 0;
}

size_t
seine_csv_cell(const char *text, size_t len, unsigned how, char *buf, size_t cap)
{
    sn_text_writer p = sn_text_writer_on(buf, buf ? cap : 0);

    sn_csv_cell(&p, (sn_str){text, text ? len : 0}, how);
    return sn_text_writer_len(&p);
}
