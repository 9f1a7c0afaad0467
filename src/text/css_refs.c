/* SPDX-License-Identifier: Apache-2.0 */
#include "text/css_refs.h"

#include <string.h>

enum { DEEPEST = 64 }; /* parentheses that are told apart */

/* The word before a parenthesis or of an at-rule. */
typedef enum word {
    WORD_OTHER,
    WORD_URL, /* also src */
    WORD_IMAGE_SET,
    WORD_IMPORT,
    WORD_NAMESPACE
} word;

typedef struct scan {
    sn_str css;
    size_t at;
    sn_css_fn fn;
    void *user;
    sn_buf value, name;
    word inside[DEEPEST]; /* of the parentheses that are open */
    size_t depth;
    word rule; /* IMPORT: its string is still to come; NAMESPACE: until the rule ends */
    bool enough;
} scan;

static char
byte_at(const scan *s, size_t i)
{
    return i < s->css.len ? s->css.ptr[i] : '\0';
}

static bool
is_newline(char c)
{
    return c == '\n' || c == '\r' || c == '\f';
}

static bool
is_name_char(char c)
{
    return sn_is_alpha(c) || sn_is_digit(c) || c == '-' || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* Whether an escape begins here. */
static bool
is_escape(const scan *s, size_t i)
{
    return byte_at(s, i) == '\\' && i + 1 < s->css.len && !is_newline(byte_at(s, i + 1));
}

static void
add_code(sn_buf *out, uint32_t c)
{
    if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        c = 0xfffd;
    if (c < 0x80) {
        sn_buf_char(out, (char)c);
        return;
    }
    if (c < 0x800) {
        sn_buf_char(out, (char)(0xc0 | c >> 6));
    } else {
        if (c < 0x10000) {
            sn_buf_char(out, (char)(0xe0 | c >> 12));
        } else {
            sn_buf_char(out, (char)(0xf0 | c >> 18));
            sn_buf_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
        }
        sn_buf_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
    }
    sn_buf_char(out, (char)(0x80 | (c & 0x3f)));
}

/* A NUL is U+FFFD (CSS Syntax 3, section 3.3). */
static void
add_byte(sn_buf *out, char c)
{
    if (c)
        sn_buf_char(out, c);
    else
        add_code(out, 0);
}

/* Reads the escape at `at` into `out`. */
static void
read_escape(scan *s, sn_buf *out)
{
    uint32_t code = 0;
    int digits = 0, d;

    s->at++;
    while (digits < 6 && (d = sn_hex_digit(byte_at(s, s->at))) >= 0 &&
           s->at < s->css.len) {
        code = code << 4 | (uint32_t)d;
        digits++;
        s->at++;
    }
    if (digits == 0) {
        add_byte(out, byte_at(s, s->at++));
        return;
    }
    add_code(out, code);
    if (byte_at(s, s->at) == '\r' && byte_at(s, s->at + 1) == '\n')
        s->at += 2;
    else if (sn_is_space(byte_at(s, s->at)))
        s->at++;
}

static void
pass_comment(scan *s)
{
    const char *end = memmem(s->css.ptr + s->at + 2, s->css.len - s->at - 2, "*/", 2);

    s->at = end ? (size_t)(end - s->css.ptr) + 2 : s->css.len;
}

static bool
is_comment(const scan *s)
{
    return byte_at(s, s->at) == '/' && byte_at(s, s->at + 1) == '*';
}

static void
pass_blanks(scan *s)
{
    while (s->at < s->css.len && sn_is_space(s->css.ptr[s->at]))
        s->at++;
}

static void
tell(scan *s, size_t from, size_t to)
{
    sn_css_ref ref = {.from = from, .to = to, .value = sn_buf_view(&s->value)};

    if (s->rule == WORD_NAMESPACE || s->value.err != SEINE_OK)
        return;
    if (!s->fn(s->user, &ref))
        s->enough = true;
}

/* Reads the string whose quote stands at `at`; false: a line ends before it does. *out_to
 * is where its content ends. */
static bool
read_string(scan *s, size_t *out_to)
{
    char quote = s->css.ptr[s->at++];

    sn_buf_reset(&s->value);
    while (s->at < s->css.len) {
        char c = s->css.ptr[s->at];

        *out_to = s->at;
        if (c == quote) {
            s->at++;
            return true;
        }
        if (is_newline(c))
            return false;
        if (is_escape(s, s->at)) {
            read_escape(s, &s->value);
        } else if (c == '\\') { /* goes on in the next line */
            s->at++;
            s->at += byte_at(s, s->at) == '\r' && byte_at(s, s->at + 1) == '\n' ? 2 : 1;
        } else {
            add_byte(&s->value, c);
            s->at++;
        }
    }
    s->at = *out_to = s->css.len;
    return true;
}

/* Passes over a broken URL, to the parenthesis that ends it. */
static void
pass_bad_url(scan *s)
{
    while (s->at < s->css.len && s->css.ptr[s->at] != ')')
        s->at += is_escape(s, s->at) ? 2 : 1;
    s->at += s->at < s->css.len;
}

static bool
is_bad_in_url(const scan *s, char c)
{
    unsigned char u = (unsigned char)c;

    return c == '"' || c == '\'' || c == '(' || (c == '\\' && !is_escape(s, s->at)) ||
           u < 0x09 || u == 0x0b || (u >= 0x0e && u < 0x20) || u == 0x7f;
}

/* Reads the URL without quotes at `at`, behind "url(". */
static void
read_url(scan *s)
{
    size_t from = s->at, to;

    sn_buf_reset(&s->value);
    while (s->at < s->css.len) {
        char c = s->css.ptr[s->at];

        if (c == ')' || sn_is_space(c))
            break;
        if (is_bad_in_url(s, c)) {
            pass_bad_url(s);
            return;
        }
        if (c == '\\') {
            read_escape(s, &s->value);
        } else {
            add_byte(&s->value, c);
            s->at++;
        }
    }
    to = s->at;
    pass_blanks(s);
    if (s->at < s->css.len && s->css.ptr[s->at] != ')') {
        pass_bad_url(s);
        return;
    }
    s->at += s->at < s->css.len;
    tell(s, from, to);
}

static word
word_of(sn_str name)
{
    if (sn_str_eq_nocase(name, SN_STR("url")))
        return WORD_URL;
    if (sn_str_eq_nocase(name, SN_STR("image-set")) ||
        sn_str_eq_nocase(name, SN_STR("-webkit-image-set")))
        return WORD_IMAGE_SET;
    return WORD_OTHER;
}

static void
open_parenthesis(scan *s, word w)
{
    if (s->depth < DEEPEST)
        s->inside[s->depth] = w;
    s->depth++;
}

/* Reads a name at `at` into s->name. */
static void
read_name(scan *s)
{
    sn_buf_reset(&s->name);
    while (s->at < s->css.len)
        if (is_name_char(s->css.ptr[s->at]))
            sn_buf_char(&s->name, s->css.ptr[s->at++]);
        else if (is_escape(s, s->at))
            read_escape(s, &s->name);
        else
            break;
}

/* A name, and the function that it begins if a parenthesis follows. */
static void
read_word(scan *s)
{
    read_name(s);
    if (byte_at(s, s->at) != '(' || s->at >= s->css.len)
        return;
    sn_str name = sn_buf_view(&s->name);
    word w = word_of(name);

    s->at++;
    if (w != WORD_URL) {
        open_parenthesis(s, sn_str_eq_nocase(name, SN_STR("src")) ? WORD_URL : w);
        return;
    }
    size_t behind = s->at;
    pass_blanks(s);
    char c = byte_at(s, s->at);
    if (c == '"' || c == '\'') {
        s->at = behind;
        open_parenthesis(s, WORD_URL);
    } else {
        read_url(s);
        s->rule = s->rule == WORD_IMPORT ? WORD_OTHER : s->rule;
    }
}

static void
read_rule(scan *s)
{
    s->at++;
    read_name(s);
    sn_str name = sn_buf_view(&s->name);
    s->rule = sn_str_eq_nocase(name, SN_STR("import"))      ? WORD_IMPORT
              : sn_str_eq_nocase(name, SN_STR("namespace")) ? WORD_NAMESPACE
                                                            : WORD_OTHER;
}

/* A string is a URL inside of url() and image-set(), and right behind @import. */
static void
read_quoted(scan *s)
{
    size_t from = s->at + 1, to = from;
    word around =
        s->depth > 0 && s->depth <= DEEPEST ? s->inside[s->depth - 1] : WORD_OTHER;
    bool is_url = around == WORD_URL || around == WORD_IMAGE_SET ||
                  (s->rule == WORD_IMPORT && s->depth == 0);

    bool is_whole = read_string(s, &to);
    if (is_whole && is_url)
        tell(s, from, to);
    s->rule = s->rule == WORD_IMPORT ? WORD_OTHER : s->rule;
}

static void
read_token(scan *s)
{
    char c = s->css.ptr[s->at];

    if (is_comment(s)) {
        pass_comment(s);
    } else if (c == '"' || c == '\'') {
        read_quoted(s);
    } else if (c == '@') {
        read_rule(s);
    } else if (is_name_char(c) || is_escape(s, s->at)) {
        read_word(s);
    } else {
        if (c == '(')
            open_parenthesis(s, WORD_OTHER);
        else if (c == ')')
            s->depth -= s->depth > 0;
        else if (c == ';' || c == '{' || c == '}')
            s->rule = WORD_OTHER;
        s->at++;
    }
}

seine_err
sn_css_refs(sn_str css, sn_css_fn fn, void *user)
{
    scan s = {.css = css, .fn = fn, .user = user};

    sn_buf_init(&s.value, css.len * 3 + 8);
    sn_buf_init(&s.name, css.len * 3 + 8);
    while (s.at < css.len && !s.enough)
        read_token(&s);
    seine_err e = sn_buf_done(&s.value);
    e = e == SEINE_OK ? sn_buf_done(&s.name) : e;
    sn_buf_fini(&s.value);
    sn_buf_fini(&s.name);
    return e;
}

void
sn_css_put(sn_buf *out, sn_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];

        if ((unsigned char)c <= ' ' || c == 0x7f)
            sn_buf_printf(out, "\\%x ", (unsigned char)c);
        else if (strchr("\"'()\\", c))
            sn_buf_printf(out, "\\%c", c);
        else
            sn_buf_char(out, c);
    }
}
