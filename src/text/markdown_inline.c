/* SPDX-License-Identifier: Apache-2.0 */
/* Links in the text of a paragraph, heading or cell (CommonMark 0.31, section 6; GFM
 * 6.9). */
#include <string.h>

#include "text/bare_url.h"
#include "text/markdown.h"

enum { TEXT = 256, MARK = 1 }; /* bytes of link text; a low line that may be emphasis */

/* An opening bracket that waits for its partner. */
typedef struct bracket {
    size_t at;    /* of "[", or of the "!" before it */
    size_t inner; /* behind the bracket */
    size_t plain; /* bytes of the heading's text before it */
    bool is_image;
    bool has_inner; /* another bracket stands inside */
} bracket;

/* A link that was found; the bytes are in m->bytes. */
typedef struct found {
    size_t at, value, value_len, text, text_len;
    bool is_image, is_bare;
} found;

typedef struct reading {
    sn_markdown *m;
    sn_str text;
    size_t at;
    size_t floor; /* brackets below are inside no further link, images apart */
} reading;

static size_t
count_brackets(const sn_markdown *m)
{
    return m->brackets.len / sizeof(bracket);
}

static bracket *
bracket_at(sn_markdown *m, size_t i)
{
    return (bracket *)(void *)m->brackets.ptr + i;
}

/* The text of a heading */

static void
add_plain(reading *r, const char *bytes, size_t n)
{
    if (r->m->is_heading)
        sn_buf_add(&r->m->plain, bytes, n);
}

static void
skip_to(reading *r, size_t to)
{
    add_plain(r, r->text.ptr + r->at, to - r->at);
    r->at = to;
}

/* Links */

/* Appends text with blanks collapsed, cut between characters. */
static void
add_words(sn_buf *out, sn_str text)
{
    size_t from = out->len;
    bool gap = false;

    for (size_t i = 0; i < text.len; i++) {
        if (sn_is_space(text.ptr[i])) {
            gap = out->len > from;
            continue;
        }
        if (out->len - from + gap >= TEXT) {
            while (out->len > from && ((unsigned char)text.ptr[i] & 0xc0) == 0x80 &&
                   ((unsigned char)out->ptr[out->len - 1] & 0xc0) == 0x80)
                sn_buf_truncate(out, out->len - 1);
            if (out->len > from && ((unsigned char)text.ptr[i] & 0xc0) == 0x80)
                sn_buf_truncate(out, out->len - 1);
            return;
        }
        if (gap)
            sn_buf_char(out, ' ');
        gap = false;
        sn_buf_char(out, text.ptr[i]);
    }
}

/* Keeps a link; `raw`: its value is decoded first. */
static void
keep_link(sn_markdown *m, found f, sn_str value, sn_str text, bool raw)
{
    if (m->links.len + sizeof f > m->links.cap)
        return;
    f.value = m->bytes.len;
    if (raw)
        sn_markdown_decode(&m->bytes, value);
    else
        sn_buf_str(&m->bytes, value);
    f.value_len = m->bytes.len - f.value;
    f.text = m->bytes.len;
    add_words(&m->bytes, text);
    f.text_len = m->bytes.len - f.text;
    sn_buf_add(&m->links, &f, sizeof f);
}

/* A link holds no other link, so bare URLs in its text are text. */
static void
drop_bare(sn_markdown *m, size_t from)
{
    while (m->links.len >= sizeof(found)) {
        const found *last =
            (const found *)(const void *)(m->links.ptr + m->links.len - sizeof *last);

        if (!last->is_bare || last->at < from)
            return;
        sn_buf_truncate(&m->links, m->links.len - sizeof *last);
    }
}

static void
tell_links(sn_markdown *m)
{
    if (sn_buf_done(&m->links) != SEINE_OK || sn_buf_done(&m->bytes) != SEINE_OK)
        return;
    for (size_t i = 0; i < m->links.len / sizeof(found); i++) {
        const found *f = (const found *)(const void *)m->links.ptr + i;
        sn_markdown_line place = sn_markdown_place(m, f->at);
        sn_doc_event e = {.tag = f->is_image ? "img" : "a",
                          .attr = f->is_image ? "src" : "href",
                          .value = {m->bytes.ptr + f->value, f->value_len},
                          .text = {m->bytes.ptr + f->text, f->text_len},
                          .offset = place.offset,
                          .line = place.line,
                          .col = place.col};

        m->to.fn(m->to.user, &e);
    }
}

/* Code */

static size_t
run_of(sn_str text, size_t at)
{
    size_t n = 0;

    while (at + n < text.len && text.ptr[at + n] == '`')
        n++;
    return n;
}

/* Returns where the run of `want` backticks begins that ends the code; 0: there is none.
 * The places of the runs passed over are kept, so that a text is searched to its end
 * once. */
static size_t
end_of_code(reading *r, size_t at, size_t want)
{
    sn_markdown *m = r->m;

    if (want > SN_MARKDOWN_TICKS || (m->ticks_known && m->ticks[want] <= at))
        return 0;
    while (at < r->text.len) {
        const char *next = memchr(r->text.ptr + at, '`', r->text.len - at);

        if (!next)
            break;
        at = (size_t)(next - r->text.ptr);
        size_t n = run_of(r->text, at);
        if (n == want)
            return at;
        if (n <= SN_MARKDOWN_TICKS && m->ticks[n] < at + 1)
            m->ticks[n] = at + 1;
        at += n;
    }
    m->ticks_known = true;
    return 0;
}

static void
read_code(reading *r)
{
    size_t n = run_of(r->text, r->at);
    size_t end = end_of_code(r, r->at + n, n);

    if (end == 0) {
        skip_to(r, r->at + n);
        return;
    }
    sn_markdown_blank(r->m, r->at, end + n);
    skip_to(r, end + n);
}

/* Angle brackets */

static bool
is_mail_char(char c)
{
    return sn_is_alpha(c) || sn_is_digit(c) || memchr(".!#$%&'*+/=?^_`{|}~-", c, 20);
}

/* <name@host> */
static size_t
mail_end(sn_str text, size_t at)
{
    size_t i = at + 1, host;

    while (i < text.len && is_mail_char(text.ptr[i]))
        i++;
    if (i == at + 1 || i == text.len || text.ptr[i] != '@')
        return 0;
    host = ++i;
    while (i < text.len && (sn_is_alpha(text.ptr[i]) || sn_is_digit(text.ptr[i]) ||
                            text.ptr[i] == '-' || text.ptr[i] == '.'))
        i++;
    return i > host && i < text.len && text.ptr[i] == '>' ? i : 0;
}

/* <scheme:…> */
static size_t
autolink_end(sn_str text, size_t at)
{
    size_t i = at + 1;

    if (i == text.len || !sn_is_alpha(text.ptr[i]))
        return 0;
    while (i < text.len && i - at <= 33 &&
           (sn_is_alpha(text.ptr[i]) || sn_is_digit(text.ptr[i]) ||
            memchr("+.-", text.ptr[i], 3)))
        i++;
    if (i - at < 3 || i - at > 33 || i == text.len || text.ptr[i] != ':')
        return 0;
    while (i < text.len && (unsigned char)text.ptr[i] > ' ' && text.ptr[i] != '<' &&
           text.ptr[i] != '>')
        i++;
    return i < text.len && text.ptr[i] == '>' ? i : 0;
}

static bool
read_autolink(reading *r)
{
    sn_markdown *m = r->m;
    size_t end = autolink_end(r->text, r->at), mail = 0;

    if (end == 0)
        end = mail = mail_end(r->text, r->at);
    if (end == 0)
        return false;
    sn_str inner = sn_str_slice(r->text, r->at + 1, end);
    if (mail > 0) {
        sn_markdown_renew(m, &m->scratch);
        sn_buf_text(&m->scratch, "mailto:");
        sn_buf_str(&m->scratch, inner);
    }
    keep_link(m, (found){.at = r->at}, mail > 0 ? sn_buf_view(&m->scratch) : inner, inner,
              false);
    sn_markdown_blank(m, r->at, end + 1);
    skip_to(r, end + 1);
    return true;
}

static bool
is_filtered_at(sn_str text, size_t at)
{
    size_t from = at + 1 + (at + 1 < text.len && text.ptr[at + 1] == '/'), to = from;

    while (to < text.len && sn_is_alpha(text.ptr[to]))
        to++;
    return sn_markdown_is_filtered(sn_str_slice(text, from, to));
}

static void
read_angle(reading *r)
{
    if (read_autolink(r))
        return;
    size_t end = sn_markdown_html(r->m, r->text, r->at);
    if (end == 0 || is_filtered_at(r->text, r->at)) {
        sn_markdown_blank(r->m, r->at, r->at + 1);
        skip_to(r, r->at + 1);
        return;
    }
    r->m->has_html = true;
    r->at = end; /* a tag is no part of a heading's text */
}

/* Square brackets */

static void
open_bracket(reading *r, bool is_image)
{
    sn_markdown *m = r->m;
    size_t n = count_brackets(m);
    bracket b = {.at = r->at,
                 .inner = r->at + (is_image ? 2 : 1),
                 .plain = m->plain.len,
                 .is_image = is_image};

    if (n > 0)
        bracket_at(m, n - 1)->has_inner = true;
    if (m->brackets.len + sizeof b <= m->brackets.cap)
        sn_buf_add(&m->brackets, &b, sizeof b);
    skip_to(r, b.inner);
}

/* "(url 'title')" at `at`; returns where it ends, or 0. */
static size_t
inline_part(sn_str text, size_t at, sn_str *out_value)
{
    size_t i = at + 1, end;

    if (at >= text.len || text.ptr[at] != '(')
        return 0;
    while (i < text.len && sn_is_space(text.ptr[i]))
        i++;
    *out_value = (sn_str){"", 0};
    if (i < text.len && text.ptr[i] == ')')
        return i + 1;
    end = sn_markdown_destination(text, i, out_value);
    if (end == 0)
        return 0;
    for (i = end; i < text.len && sn_is_space(text.ptr[i]);)
        i++;
    size_t title = i > end ? sn_markdown_title(text, i) : 0;
    for (i = title > 0 ? title : i; i < text.len && sn_is_space(text.ptr[i]);)
        i++;
    return i < text.len && text.ptr[i] == ')' ? i + 1 : 0;
}

/* "[label]" at `at`; returns where it ends, or 0. */
static size_t
label_part(sn_str text, size_t at, sn_str *out_label)
{
    size_t i = at + 1;

    if (at >= text.len || text.ptr[at] != '[')
        return 0;
    for (; i < text.len && text.ptr[i] != ']'; i++) {
        if (text.ptr[i] == '[' || i - at > 1000)
            return 0;
        i += text.ptr[i] == '\\' && i + 1 < text.len;
    }
    *out_label = sn_str_slice(text, at + 1, i);
    return i < text.len ? i + 1 : 0;
}

/* What the bracket that closes at r->at leads to; returns where the link ends, or 0. */
static size_t
target_of(reading *r, const bracket *b, sn_str *out_value, bool *out_raw)
{
    sn_str inner = sn_str_slice(r->text, b->inner, r->at), label = {NULL, 0};
    size_t end = inline_part(r->text, r->at + 1, out_value);

    *out_raw = end > 0;
    if (end > 0)
        return end;
    end = label_part(r->text, r->at + 1, &label);
    if (end > 0 && sn_str_trim(label).len > 0)
        return sn_markdown_lookup(r->m, label, out_value) ? end : 0;
    if (b->has_inner || inner.len == 0 || inner.ptr[0] == '^')
        return 0;
    if (!sn_markdown_lookup(r->m, inner, out_value))
        return 0;
    return end > 0 ? end : r->at + 1;
}

static void
close_bracket(reading *r)
{
    sn_markdown *m = r->m;
    size_t n = count_brackets(m), end;
    sn_str value;
    bool raw;

    if (n == 0) {
        skip_to(r, r->at + 1);
        return;
    }
    bracket b = *bracket_at(m, n - 1);
    sn_buf_truncate(&m->brackets, (n - 1) * sizeof b);
    bool can = b.is_image || n - 1 >= r->floor;
    if (r->floor > n - 1)
        r->floor = n - 1;
    if (!can || (end = target_of(r, &b, &value, &raw)) == 0) {
        skip_to(r, r->at + 1);
        return;
    }
    if (!b.is_image) {
        drop_bare(m, b.at);
        r->floor = n - 1;
    }
    sn_str text = sn_str_slice(r->text, b.inner, r->at);
    keep_link(m, (found){.at = b.at, .is_image = b.is_image}, value, text, raw);
    sn_markdown_blank(m, r->at, end);
    if (b.is_image && m->is_heading)
        sn_buf_truncate(&m->plain, b.plain);
    r->at = end; /* where it leads is no part of a heading's text */
}

/* The rest */

static bool
read_bare(reading *r)
{
    sn_markdown *m = r->m;
    sn_str url;

    if (!sn_bare_url(r->text, r->at, &url))
        return false;
    bool is_short = sn_bare_url_is_short(url);
    sn_markdown_renew(m, &m->scratch);
    if (is_short)
        sn_buf_text(&m->scratch, "http://");
    sn_markdown_decode(&m->scratch, url);
    if (sn_buf_done(&m->scratch) == SEINE_OK)
        keep_link(m, (found){.at = r->at, .is_bare = true}, sn_buf_view(&m->scratch), url,
                  false);
    skip_to(r, r->at + url.len);
    return true;
}

static void
read_escape(reading *r)
{
    if (r->at + 1 == r->text.len) {
        skip_to(r, r->at + 1);
        return;
    }
    if (r->text.ptr[r->at + 1] == '<')
        sn_markdown_blank(r->m, r->at, r->at + 2);
    r->at++;
    skip_to(r, r->at + 1);
}

static void
read_reference(reading *r)
{
    size_t end = r->at + 1;

    while (end < r->text.len && end - r->at < 40 &&
           (sn_is_alpha(r->text.ptr[end]) || sn_is_digit(r->text.ptr[end]) ||
            r->text.ptr[end] == '#'))
        end++;
    if (!r->m->is_heading || end == r->text.len || r->text.ptr[end] != ';') {
        skip_to(r, r->at + 1);
        return;
    }
    sn_markdown_decode(&r->m->plain, sn_str_slice(r->text, r->at, end + 1));
    r->at = end + 1;
}

static void
read_low_line(reading *r)
{
    static const char mark = MARK;

    add_plain(r, &mark, 1);
    r->at++;
}

static void
read_one(reading *r)
{
    char c = r->text.ptr[r->at];

    switch (c) {
    case '\\':
        read_escape(r);
        return;
    case '`':
        read_code(r);
        return;
    case '<':
        read_angle(r);
        return;
    case '[':
        open_bracket(r, false);
        return;
    case ']':
        close_bracket(r);
        return;
    case '&':
        read_reference(r);
        return;
    case '_':
        read_low_line(r);
        return;
    case MARK:
        r->at++;
        return;
    case '!':
        if (r->at + 1 < r->text.len && r->text.ptr[r->at + 1] == '[') {
            open_bracket(r, true);
            return;
        }
        break;
    case 'h':
    case 'H':
    case 'w':
    case 'W':
        if (read_bare(r))
            return;
        break;
    default:
        break;
    }
    skip_to(r, r->at + 1);
}

/* Returns how many bytes from `at` on have no meaning. */
static size_t
plain_run(sn_str text, size_t at)
{
    static const bool special[256] = {
        ['\\'] = true, ['`'] = true, ['<'] = true, ['['] = true, [']'] = true,
        ['&'] = true,  ['_'] = true, ['!'] = true, ['h'] = true, ['H'] = true,
        ['w'] = true,  ['W'] = true, [MARK] = true};
    size_t i = at;

    while (i < text.len && !special[(unsigned char)text.ptr[i]])
        i++;
    return i - at;
}

/* Emphasis: low lines of a heading that are none are written back */

static bool
is_word_byte(char c)
{
    return sn_is_alpha(c) || sn_is_digit(c) || (unsigned char)c >= 0x80;
}

typedef struct run {
    size_t at, n;
    bool opens, closes;
} run;

/* The run of marks at `at` (CommonMark 6.2: rules for "_"). */
static run
run_at(sn_str s, size_t at)
{
    run r = {.at = at};

    while (at + r.n < s.len && s.ptr[at + r.n] == MARK)
        r.n++;
    char before = at > 0 ? s.ptr[at - 1] : ' ';
    char after = at + r.n < s.len ? s.ptr[at + r.n] : ' ';
    bool left = !sn_is_space(after) &&
                (is_word_byte(after) || sn_is_space(before) || !is_word_byte(before));
    bool right = !sn_is_space(before) &&
                 (is_word_byte(before) || sn_is_space(after) || !is_word_byte(after));
    r.opens = left && (!right || !is_word_byte(before));
    r.closes = right && (!left || !is_word_byte(after));
    return r;
}

/* Pairs the marks: those of a pair stay marks, the others become low lines again. Runs
 * that wait for a partner are kept in `open`. */
static void
pair_marks(sn_buf *plain, sn_buf *open)
{
    sn_str s = sn_buf_view(plain);

    sn_buf_reset(open);
    for (size_t i = 0; i < s.len;) {
        if (s.ptr[i] != MARK) {
            i++;
            continue;
        }
        run r = run_at(s, i);
        i = r.at + r.n;
        while (r.closes && r.n > 0 && open->len > 0) {
            run *o = (run *)(void *)(open->ptr + open->len - sizeof *o);
            size_t n = o->n < r.n ? o->n : r.n;

            o->n -= n;
            r.n -= n;
            r.at += n;
            if (o->n == 0)
                sn_buf_truncate(open, open->len - sizeof *o);
        }
        if (r.opens && r.n > 0)
            sn_buf_add(open, &r, sizeof r);
        else
            memset(plain->ptr + r.at, '_', r.n);
    }
    for (size_t i = 0; sn_buf_done(open) == SEINE_OK && i < open->len / sizeof(run);
         i++) {
        const run *o = (const run *)(const void *)open->ptr + i;

        memset(plain->ptr + o->at, '_', o->n);
    }
}

static void
finish_plain(sn_markdown *m)
{
    size_t n = 0;

    if (m->plain.len == 0 || sn_buf_done(&m->plain) != SEINE_OK)
        return;
    pair_marks(&m->plain, &m->brackets);
    for (size_t i = 0; i < m->plain.len; i++)
        if (m->plain.ptr[i] != MARK)
            m->plain.ptr[n++] = m->plain.ptr[i];
    sn_buf_truncate(&m->plain, n);
}

void
sn_markdown_inline(sn_markdown *m, bool is_heading)
{
    reading r = {.m = m, .text = sn_buf_view(&m->text)};

    sn_markdown_renew(m, &m->brackets);
    sn_markdown_renew(m, &m->links);
    sn_markdown_renew(m, &m->bytes);
    memset(m->ticks, 0, sizeof m->ticks);
    m->ticks_known = m->no_tag_end = false;
    m->no_comment_end = m->no_instruction_end = m->no_cdata_end = false;
    m->is_heading = is_heading;
    while (r.at < r.text.len) {
        skip_to(&r, r.at + plain_run(r.text, r.at));
        if (r.at < r.text.len)
            read_one(&r);
    }
    if (is_heading)
        finish_plain(m);
    tell_links(m);
}
