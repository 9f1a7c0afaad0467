/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "net/h1_parts.h"

#define STATUS_LINE 8192
#define INTERIM     32
#define CHUNK       512 /* bytes copied at a time: a whole head, most often */
#define VERSION_LEN 12  /* HTTP/1.1 200 */

/*
 * Bytes are copied to the head's text and read there, each once; a line is complete
 * when its LF is read. Behind the blank line the rest of the last copy is given
 * back. Values are changed in place where they must be: a bare CR becomes a blank,
 * folded lines move up.
 *
 * An error is named by the first byte that breaks a rule. Fields that frame the
 * body are judged when their line is complete; if something else breaks first in
 * that line, or the connection ends, what stands there is judged, too.
 */

/* What the line before this one was. */
enum { NOTHING, FIELD, FRAMING, COOKIE, ODD };

/* clang-format off */
const uint8_t sn_h1_token[256] = {
    ['!'] = 1, ['#'] = 1, ['$'] = 1, ['%'] = 1, ['&'] = 1, ['\''] = 1, ['*'] = 1, ['+'] = 1,
    ['-'] = 1, ['.'] = 1, ['^'] = 1, ['_'] = 1, ['`'] = 1, ['|'] = 1, ['~'] = 1,
    ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1, ['7'] = 1,
    ['8'] = 1, ['9'] = 1,
    ['A'] = 1, ['B'] = 1, ['C'] = 1, ['D'] = 1, ['E'] = 1, ['F'] = 1, ['G'] = 1, ['H'] = 1,
    ['I'] = 1, ['J'] = 1, ['K'] = 1, ['L'] = 1, ['M'] = 1, ['N'] = 1, ['O'] = 1, ['P'] = 1,
    ['Q'] = 1, ['R'] = 1, ['S'] = 1, ['T'] = 1, ['U'] = 1, ['V'] = 1, ['W'] = 1, ['X'] = 1,
    ['Y'] = 1, ['Z'] = 1,
    ['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1, ['g'] = 1, ['h'] = 1,
    ['i'] = 1, ['j'] = 1, ['k'] = 1, ['l'] = 1, ['m'] = 1, ['n'] = 1, ['o'] = 1, ['p'] = 1,
    ['q'] = 1, ['r'] = 1, ['s'] = 1, ['t'] = 1, ['u'] = 1, ['v'] = 1, ['w'] = 1, ['x'] = 1,
    ['y'] = 1, ['z'] = 1,
};
/* clang-format on */

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Without blanks at the ends; other white space of text is none of HTTP's. */
static inline sn_str
trim(sn_str s)
{
    while (s.len > 0 && is_blank(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    while (s.len > 0 && is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

static sn_str
trimmed(const sn_h1 *h, uint32_t from, uint32_t to)
{
    return trim((sn_str){h->head->text + from, to - from});
}

/* Eight bytes as one number, the first lowest; a byte repeated eight times. */
static inline uint64_t
eight(const char *s)
{
    uint64_t bytes;

    memcpy(&bytes, s, 8);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? bytes : __builtin_bswap64(bytes);
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The first byte below the blank from `at` on: line ends, NUL, tabs and the like.
 * Bytes from 0x80 on are not looked for. */
static inline uint32_t
control(const char *text, uint32_t at, uint32_t len)
{
    for (; len - at >= 8; at += 8) {
        uint64_t bytes = eight(text + at);
        uint64_t hit = (bytes - EACH(0x20)) & ~bytes & EACH(0x80);

        if (hit)
            return at + (uint32_t)__builtin_ctzll(hit) / 8;
    }
    while (at < len && (unsigned char)text[at] >= 0x20)
        at++;
    return at;
}

/* The top bit of every byte that is a letter or a hyphen: most of all names. */
static inline uint64_t
letters(uint64_t bytes)
{
    uint64_t low = (bytes | EACH(0x20)) & EACH(0x7f), hyphen = bytes ^ EACH('-');
    uint64_t from_a = low + EACH(0x80 - 'a'), above_z = low + EACH(0x7f - 'z');
    uint64_t other = (hyphen & EACH(0x7f)) + EACH(0x7f);

    return ((from_a & ~above_z) | ~other) & ~bytes & EACH(0x80);
}

/* The first byte from `at` on that a token cannot have. */
static uint32_t
token_end(const char *text, uint32_t at, uint32_t len)
{
    while (len - at >= 8) {
        uint64_t rest = ~letters(eight(text + at)) & EACH(0x80);

        if (rest == 0) {
            at += 8;
            continue;
        }
        at += (uint32_t)__builtin_ctzll(rest) / 8;
        if (!sn_h1_token[(unsigned char)text[at]])
            return at;
        at++;
    }
    while (at < len && sn_h1_token[(unsigned char)text[at]])
        at++;
    return at;
}

/* Compares a name, which is a token, with a word of letters and hyphens in lower
 * case, at least eight of them: in a token only a letter differs from itself in
 * lower case by this bit. */
static inline bool
is_word(sn_str name, const char *word, size_t len)
{
    if (name.len != len)
        return false;
    for (size_t i = 0; i + 8 < len; i += 8)
        if ((eight(name.ptr + i) | EACH(0x20)) != eight(word + i))
            return false;
    return (eight(name.ptr + len - 8) | EACH(0x20)) == eight(word + len - 8);
}

#define IS_WORD(name, literal) is_word(name, literal, sizeof(literal) - 1)

/* A number that frames: digits alone, up to 2^63 - 1. */
static bool
read_length(sn_str s, uint64_t *out_n)
{
    uint64_t n = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (!sn_is_digit(s.ptr[i]) || n > (INT64_MAX - (uint64_t)(s.ptr[i] - '0')) / 10)
            return false;
        n = n * 10 + (uint64_t)(s.ptr[i] - '0');
    }
    *out_n = n;
    return s.len > 0;
}

/* Every member of the list is the same number, which is then the length. A list that
 * is not whole may end in a number that is not there yet. */
static bool
agree_on_length(sn_str list, bool whole, bool *has, uint64_t *length)
{
    sn_str rest = list, part;

    for (bool more = true; more; rest = part) {
        more = sn_str_cut(rest, ',', &rest, &part);
        sn_str one = trim(rest);
        uint64_t n;

        if (!more && !whole && one.len == 0)
            return true;
        if (!read_length(one, &n))
            return false;
        if (!more && !whole)
            return true;
        if (*has && n != *length)
            return false;
        *has = true;
        *length = n;
    }
    return true;
}

/* Exactly one `chunked`. One that is not whole may be the beginning of it. */
static bool
is_chunked(sn_str value, bool whole)
{
    sn_str word = SN_STR("chunked");

    if (!whole && value.len < word.len)
        word.len = value.len;
    return sn_str_eq_nocase(value, word);
}

static bool
frame(sn_h1 *h, sn_str name, sn_str value)
{
    bool is_length = IS_WORD(name, "content-length");

    if (is_length && !h->has_length && read_length(value, &h->length))
        return h->has_length = true; /* the usual case */
    if (is_length)
        return agree_on_length(value, true, &h->has_length, &h->length);
    bool first = !h->has_chunked;
    h->has_chunked = true;
    return first && is_chunked(value, true);
}

static bool
is_framing(sn_str name)
{
    return IS_WORD(name, "content-length") || IS_WORD(name, "transfer-encoding");
}

/* A line that is no field but would frame the body for a reader less strict: its
 * letters, up to a colon, contain the name of a framing field. */
static bool
resembles_framing(sn_h1 *h, const char *s, uint32_t n)
{
    char letters[64];
    size_t len = 0;

    h->steps += n;
    for (uint32_t i = 0; i < n && len < sizeof letters; i++)
        if (sn_is_alpha(s[i]))
            letters[len++] = sn_lower(s[i]);
    return memmem(letters, len, "contentlength", 13) ||
           memmem(letters, len, "transferencoding", 16);
}

seine_err
sn_h1_head_blame(const sn_h1 *h, seine_err otherwise)
{
    if (h->state != SN_H1_AT_VALUE)
        return otherwise;

    const char *text = h->head->text;
    sn_str name = {text + h->line, h->colon - h->line};
    sn_str value = trimmed(h, h->colon + 1, h->at);
    bool has = h->has_length;
    uint64_t length = h->length;

    if (!is_framing(name))
        return otherwise;
    bool fine = IS_WORD(name, "content-length")
                    ? agree_on_length(value, false, &has, &length)
                    : !h->has_chunked && is_chunked(value, false);
    return fine ? otherwise : SEINE_E_BAD_FRAMING;
}

static sn_h1_step
wrong(sn_h1 *h, seine_err e)
{
    return sn_h1_wrong(h, sn_h1_head_blame(h, e));
}

/* The line has come to `at`, which is not behind its limit. */
static bool
fits(const sn_h1 *h, uint32_t limit)
{
    return h->at - h->line <= limit;
}

/* Goes to the end of the line's content and moves behind its line end. */
static sn_h1_step
to_line_end(sn_h1 *h, uint32_t limit, uint32_t *out_end)
{
    char *text = h->head->text;
    uint32_t len = h->head->len;

    for (;; h->at++) {
        h->at = control(text, h->at, len);
        if (!fits(h, limit)) {
            h->at = h->line + limit; /* what is blamed stands before */
            return wrong(h, SEINE_E_HEADER_TOO_LARGE);
        }
        if (h->at == len)
            return SN_H1_WANT;
        if (len - h->at >= 2 && text[h->at] == '\r' && text[h->at + 1] == '\n') {
            *out_end = h->at;
            h->at += 2;
            return SN_H1_GO;
        }
        switch (text[h->at]) {
        case '\n':
            h->notes |= SN_NOTE_LF;
            *out_end = h->at++;
            return SN_H1_GO;
        case '\r':
            if (h->at + 1 == len)
                return SN_H1_WANT;
            text[h->at] = ' ';
            h->notes |= SN_NOTE_CR;
            break;
        case '\0':
            return wrong(h, SEINE_E_BAD_HEADER);
        default: /* a tab, or a control byte that outputs will escape */
            break;
        }
    }
}

/* The byte at place `i` of "HTTP/1.1 200". */
static bool
is_version(char c, uint32_t i)
{
    if (i < 7)
        return c == "HTTP/1."[i];
    if (i == 7)
        return c == '0' || c == '1';
    if (i == 8)
        return c == ' ';
    return i == 9 ? c >= '1' && c <= '9' : sn_is_digit(c);
}

static sn_h1_step
at_version(sn_h1 *h)
{
    sn_head *head = h->head;
    const char *s = head->text + h->line;

    for (; h->at < head->len && h->at < VERSION_LEN; h->at++)
        if (!is_version(s[h->at], h->at))
            return sn_h1_wrong(h, SEINE_E_BAD_STATUS_LINE);
    if (h->at == head->len)
        return SN_H1_WANT;
    if (s[VERSION_LEN] != ' ' && s[VERSION_LEN] != '\r' && s[VERSION_LEN] != '\n')
        return sn_h1_wrong(h, SEINE_E_BAD_STATUS_LINE);
    head->minor = (uint8_t)(s[7] - '0');
    head->status = (uint16_t)((s[9] - '0') * 100 + (s[10] - '0') * 10 + (s[11] - '0'));
    h->state = SN_H1_AT_REASON;
    return SN_H1_GO;
}

static sn_h1_step
at_reason(sn_h1 *h)
{
    sn_head *head = h->head;
    uint32_t end;
    sn_h1_step step = to_line_end(h, STATUS_LINE, &end);

    if (step != SN_H1_GO)
        return step;
    if (head->status == 101) /* never asked for */
        return sn_h1_wrong(h, SEINE_E_BAD_FRAMING);
    if (head->status < 200 && ++h->n_interim > INTERIM)
        return sn_h1_wrong(h, SEINE_E_TOO_MANY_INTERIM);
    sn_str reason = trimmed(h, VERSION_LEN, end);
    head->reason = (uint32_t)(reason.ptr - head->text);
    head->reason_len = (uint32_t)reason.len;
    h->state = SN_H1_AT_LINE;
    return SN_H1_GO;
}

/* A field is complete: its line, its colon, the end of its value. */
static inline sn_h1_step
store(sn_h1 *h, uint32_t line, uint32_t colon, uint32_t end)
{
    sn_head *head = h->head;

    if (head->n_fields >= sn_h1_limits_of(h)->head_fields) {
        h->state = SN_H1_AT_VALUE;
        h->line = line;
        h->colon = colon;
        h->at = end;
        return wrong(h, SEINE_E_HEADER_TOO_LARGE);
    }
    seine_err e = sn_head_room(head, 0);
    if (e != SEINE_OK)
        return sn_h1_wrong(h, e);

    sn_str name = {head->text + line, colon - line};
    sn_str value = trimmed(h, colon + 1, end);
    sn_head_add(head,
                (sn_head_field){line, (uint32_t)name.len,
                                (uint32_t)(value.ptr - head->text), (uint32_t)value.len});
    h->last = FIELD;
    if (is_framing(name)) {
        h->last = FRAMING;
        h->steps += value.len;
        if (!frame(h, name, value))
            return sn_h1_wrong(h, SEINE_E_BAD_FRAMING);
    } else if (name.len == 10) { /* they are read when the head is whole */
        h->has_connection |= IS_WORD(name, "connection");
        h->has_keep_alive |= IS_WORD(name, "keep-alive");
    }
    return SN_H1_GO;
}

/* Takes fields as long as they stand there whole and nothing is odd about them, which
 * is most of all heads; stops before a line that needs a closer look. */
static sn_h1_step
quick(sn_h1 *h)
{
    const sn_head *head = h->head;
    uint32_t at = h->at, len = head->len, limit = sn_h1_limits_of(h)->line_bytes;
    sn_h1_step step = SN_H1_GO;

    while (step == SN_H1_GO) {
        const char *text = head->text;
        uint32_t colon = token_end(text, at, len);

        if (colon == at || colon == len || text[colon] != ':')
            break;
        uint32_t end = control(text, colon + 1, len);
        if (len - end < 2 || text[end] != '\r' || text[end + 1] != '\n' ||
            end - at > limit)
            break;
        step = store(h, at, colon, end);
        h->line = at;
        at = end + 2;
    }
    h->at = at;
    return step;
}

static sn_h1_step
at_value(sn_h1 *h)
{
    uint32_t end;
    sn_h1_step step = to_line_end(h, sn_h1_limits_of(h)->line_bytes, &end);

    if (step != SN_H1_GO)
        return step;
    h->state = SN_H1_AT_LINE;
    return store(h, h->line, h->colon, end);
}

static sn_h1_step
at_name(sn_h1 *h)
{
    const char *text = h->head->text;
    uint32_t len = h->head->len, at = token_end(text, h->at, len);
    bool colon = at < len && text[at] == ':' && at > h->line;

    h->colon = at;
    h->at = at + colon;
    if (!fits(h, sn_h1_limits_of(h)->line_bytes))
        return sn_h1_wrong(h, SEINE_E_HEADER_TOO_LARGE);
    if (at == len)
        return SN_H1_WANT;
    h->state = colon ? SN_H1_AT_VALUE : SN_H1_AT_ODD_NAME;
    return SN_H1_GO;
}

/* A line that begins with a blank. */
static sn_h1_step
fold(sn_h1 *h)
{
    sn_head *head = h->head;

    switch (h->last) {
    case FRAMING:
        return sn_h1_wrong(h, SEINE_E_BAD_FRAMING);
    case FIELD:
        if (sn_str_eq_nocase(sn_head_field_of(head, head->n_fields - 1).name,
                             SN_STR("set-cookie"))) {
            head->n_fields--; /* two readers would see two cookies in it */
            h->odd_headers++;
            h->notes |= SN_NOTE_ODD_HEADERS;
            h->last = COOKIE;
            h->state = SN_H1_AT_DROP;
        } else {
            h->colon = h->at; /* a line of a field counts from the field's begin */
            h->state = SN_H1_AT_FOLD;
        }
        return SN_H1_GO;
    case COOKIE:
        h->state = SN_H1_AT_DROP;
        return SN_H1_GO;
    default:
        h->line = h->at;
        h->state = SN_H1_AT_ODD_NAME;
        return SN_H1_GO;
    }
}

static sn_h1_step
at_line(sn_h1 *h)
{
    char *text = h->head->text;
    uint32_t at = h->at, len = h->head->len;

    if (at == len)
        return SN_H1_WANT;
    if (text[at] == '\n') {
        h->notes |= SN_NOTE_LF;
        h->at++;
        return SN_H1_WHOLE;
    }
    if (text[at] == '\r') {
        if (at + 1 == len)
            return SN_H1_WANT;
        if (text[at + 1] == '\n') {
            h->at += 2;
            return SN_H1_WHOLE;
        }
        text[at] = ' ';
        h->notes |= SN_NOTE_CR;
    }
    if (is_blank(text[at]))
        return fold(h);
    h->line = at;
    h->state = SN_H1_AT_NAME;
    return SN_H1_GO;
}

static sn_h1_step
at_fold(sn_h1 *h)
{
    sn_head *head = h->head;
    uint32_t end;
    sn_h1_step step = to_line_end(h, sn_h1_limits_of(h)->line_bytes, &end);

    if (step != SN_H1_GO)
        return step;
    sn_str more = trimmed(h, h->colon, end);
    sn_head_field *f = sn_head_at(head, head->n_fields - 1);
    h->state = SN_H1_AT_LINE;
    h->steps += more.len;
    if (more.len == 0)
        return SN_H1_GO;
    if (f->value_len == 0) {
        f->value = (uint32_t)(more.ptr - head->text);
        f->value_len = (uint32_t)more.len;
        return SN_H1_GO;
    }
    /* There was a line end between the two, so there is room for a blank. */
    char *to = head->text + f->value + f->value_len;
    *to = ' ';
    memmove(to + 1, more.ptr, more.len);
    f->value_len += 1 + (uint32_t)more.len;
    return SN_H1_GO;
}

static sn_h1_step
at_drop(sn_h1 *h)
{
    uint32_t end;
    sn_h1_step step = to_line_end(h, sn_h1_limits_of(h)->line_bytes, &end);

    if (step == SN_H1_GO)
        h->state = SN_H1_AT_LINE;
    return step;
}

/* The odd line is over. */
static sn_h1_step
odd_end(sn_h1 *h)
{
    h->odd_headers++;
    h->notes |= SN_NOTE_ODD_HEADERS;
    h->last = ODD;
    h->state = SN_H1_AT_LINE;
    return SN_H1_GO;
}

static sn_h1_step
at_odd_name(sn_h1 *h)
{
    const char *text = h->head->text;
    uint32_t from = h->at, limit = sn_h1_limits_of(h)->line_bytes, end = 0;
    const char *colon = memchr(text + from, ':', h->head->len - from);
    sn_h1_step step = to_line_end(h, limit, &end);

    /* A colon counts if it stands in what was read of this line. */
    if (colon && (uint32_t)(colon - text) < h->at) {
        uint32_t at = (uint32_t)(colon - text);

        if (resembles_framing(h, text + h->line, at - h->line) && at - h->line <= limit)
            return sn_h1_wrong(h, SEINE_E_BAD_FRAMING);
        if (step == SN_H1_WANT)
            h->state = SN_H1_AT_ODD;
        return step == SN_H1_GO ? odd_end(h) : step;
    }
    if (step != SN_H1_GO)
        return step;
    if (resembles_framing(h, text + h->line, end - h->line))
        return sn_h1_wrong(h, SEINE_E_BAD_FRAMING);
    return odd_end(h);
}

static sn_h1_step
at_odd(sn_h1 *h)
{
    uint32_t end;
    sn_h1_step step = to_line_end(h, sn_h1_limits_of(h)->line_bytes, &end);

    return step == SN_H1_GO ? odd_end(h) : step;
}

static sn_h1_step
read_on(sn_h1 *h)
{
    for (;;) {
        sn_h1_step step = SN_H1_GO;

        switch (h->state) {
        case SN_H1_AT_VERSION:
            step = at_version(h);
            break;
        case SN_H1_AT_REASON:
            step = at_reason(h);
            break;
        case SN_H1_AT_LINE:
            step = quick(h);
            if (step == SN_H1_GO)
                step = at_line(h);
            break;
        case SN_H1_AT_NAME:
            step = at_name(h);
            break;
        case SN_H1_AT_VALUE:
            step = at_value(h);
            break;
        case SN_H1_AT_FOLD:
            step = at_fold(h);
            break;
        case SN_H1_AT_DROP:
            step = at_drop(h);
            break;
        case SN_H1_AT_ODD_NAME:
            step = at_odd_name(h);
            break;
        default:
            step = at_odd(h);
            break;
        }
        if (step != SN_H1_GO)
            return step;
    }
}

/* Copies some of the input; WANT: there is none. */
static sn_h1_step
copy(sn_h1 *h, sn_str *in)
{
    sn_head *head = h->head;
    size_t n = in->len < CHUNK ? in->len : CHUNK;
    size_t left = sn_h1_limits_of(h)->head_bytes - h->head_bytes - head->len;

    if (n == 0)
        return SN_H1_WANT;
    if (left == 0)
        return wrong(h, SEINE_E_HEADER_TOO_LARGE);
    n = n < left ? n : left;
    seine_err e = sn_head_room(head, n);
    if (e != SEINE_OK)
        return sn_h1_wrong(h, e);
    memmove(head->text + head->len, in->ptr, n); /* gcc makes rep movs of memcpy */
    head->len += (uint32_t)n;
    h->steps += n;
    in->ptr += n;
    in->len -= n;
    return SN_H1_GO;
}

static void
read_connection(sn_h1 *h)
{
    sn_str value, part;

    for (uint32_t i = 0; sn_head_next(h->head, SN_STR("connection"), &i, &value);)
        while (sn_str_next(&value, ',', &part)) {
            part = trim(part);
            h->says_close |= sn_str_eq_nocase(part, SN_STR("close"));
            h->says_keep |= sn_str_eq_nocase(part, SN_STR("keep-alive"));
        }
}

static void
read_keep_alive(sn_h1 *h)
{
    sn_str value, part;
    uint64_t n;

    for (uint32_t i = 0; sn_head_next(h->head, SN_STR("keep-alive"), &i, &value);)
        while (sn_str_next(&value, ',', &part)) {
            part = trim(part);
            if (sn_str_starts_nocase(part, SN_STR("timeout=")) &&
                sn_str_u64(sn_str_slice(part, 8, part.len), &n) == SEINE_OK)
                h->keep_alive_s = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX - 1;
        }
}

/* Rules 9 and 10: what follows the head. */
static void
frame_body(sn_h1 *h)
{
    uint16_t status = h->head->status;

    h->state = SN_H1_AT_BODY;
    if (h->has_length && h->has_chunked)
        h->notes |= SN_NOTE_FRAMING_CONFLICT;
    if (h->ask.head_only || status == 204 || status == 304 ||
        (h->ask.tunnel && status < 300)) {
        h->framing = SN_H1_NO_BODY;
    } else if (h->has_chunked) {
        h->framing = SN_H1_CHUNKED;
        h->state = SN_H1_AT_SIZE;
        h->left = 0;
        h->at = 0;
    } else if (h->has_length) {
        h->framing = SN_H1_LENGTH;
        h->left = h->length;
    } else {
        h->framing = SN_H1_UNTIL_CLOSE;
    }
}

/* An interim response is over: the next head takes its place. */
static void
skip_interim(sn_h1 *h)
{
    sn_head_reset(h->head);
    h->state = SN_H1_AT_VERSION;
    h->last = NOTHING;
    h->at = h->line = 0;
    h->length = 0;
    h->has_length = h->has_chunked = h->has_connection = h->has_keep_alive = false;
}

sn_h1_step
sn_h1_head_step(sn_h1 *h, sn_str *in)
{
    sn_head *head = h->head;
    sn_h1_step step;

    for (;;) {
        step = copy(h, in);
        if (step == SN_H1_GO)
            step = read_on(h);
        if (step == SN_H1_WRONG)
            return step;
        if (step == SN_H1_WANT) {
            if (in->len == 0)
                return step;
            continue;
        }
        /* WHOLE: what lies behind the blank line goes back. */
        in->ptr -= head->len - h->at;
        in->len += head->len - h->at;
        head->len = h->at;
        h->head_bytes += head->len;
        if (head->status >= 200)
            break;
        skip_interim(h);
    }
    if (h->has_connection)
        read_connection(h);
    if (h->has_keep_alive)
        read_keep_alive(h);
    frame_body(h);
    if (head->status == 304 && !h->ask.conditional)
        return sn_h1_wrong(h, SEINE_E_UNEXPECTED_304);
    if (head->status == 206 && !h->ask.range)
        return sn_h1_wrong(h, SEINE_E_UNEXPECTED_206);
    return SN_H1_WHOLE;
}
