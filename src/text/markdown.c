/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of a Markdown document (CommonMark 0.31, sections 4 and 5; GFM 4.10). */
#include "text/markdown.h"

#include <string.h>

#include "base/alloc.h"

enum { DEFINITIONS = 100000, CHUNK = 8192, LABELS = 64 << 20, SLUG = 4096 };

enum leaf {
    LEAF_NONE,
    LEAF_PARAGRAPH,
    LEAF_TABLE, /* rows; each is read when it ends */
    LEAF_FENCE, /* fenced code */
    LEAF_CODE,  /* indented code */
    LEAF_HTML
};

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The cursor: columns count tabs as blanks up to the next multiple of four */

/* Takes up to `most` columns of blanks; returns how many it took. */
static uint32_t
take_blanks(sn_markdown *m, uint32_t most)
{
    uint32_t taken = m->spare < most ? m->spare : most;

    m->spare -= taken;
    while (taken < most && m->spare == 0 && m->pos < m->line_end &&
           is_blank(m->doc.ptr[m->pos])) {
        uint32_t width = m->doc.ptr[m->pos] == '\t' ? 4 - m->column % 4 : 1;
        uint32_t used = width < most - taken ? width : most - taken;

        m->pos++;
        m->column += width;
        m->spare = width - used;
        taken += used;
    }
    return taken;
}

/* Looks for the next byte that is not blank, once for all containers of a line. */
static void
find_ink(sn_markdown *m)
{
    m->ink = m->pos;
    m->ink_column = m->column;
    for (; m->ink < m->line_end && is_blank(m->doc.ptr[m->ink]); m->ink++)
        m->ink_column += m->doc.ptr[m->ink] == '\t' ? 4 - m->ink_column % 4 : 1;
}

/* Returns how many columns of blanks stand at the cursor. */
static uint32_t
indent_of(const sn_markdown *m)
{
    return m->ink_column - m->column + m->spare;
}

static void
take_chars(sn_markdown *m, size_t n)
{
    m->pos += n;
    m->column += (uint32_t)n;
    m->spare = 0;
    find_ink(m);
}

static bool
is_rest_blank(const sn_markdown *m)
{
    return m->ink == m->line_end;
}

static sn_str
after_blanks(const sn_markdown *m)
{
    return (sn_str){m->doc.ptr + m->ink, m->line_end - m->ink};
}

/* The masked copy */

static void
blank_doc(sn_markdown *m, size_t from, size_t to)
{
    for (size_t i = from; m->mask.len > 0 && i < to; i++)
        if (m->mask.ptr[i] != '\n')
            m->mask.ptr[i] = ' ';
}

/* Text that is read for links */

static const sn_markdown_line *
lines_of(const sn_markdown *m)
{
    return (const sn_markdown_line *)(const void *)m->lines.ptr;
}

sn_markdown_line
sn_markdown_place(const sn_markdown *m, size_t at)
{
    const sn_markdown_line *all = lines_of(m);
    size_t from = 0, to = m->lines.len / sizeof *all;

    while (to - from > 1) {
        size_t mid = (from + to) / 2;

        if (all[mid].at <= at)
            from = mid;
        else
            to = mid;
    }
    size_t more = at - all[from].at;
    return (sn_markdown_line){at, all[from].offset + more, all[from].line,
                              all[from].col + (uint32_t)more};
}

void
sn_markdown_blank(sn_markdown *m, size_t at, size_t to)
{
    if (m->mask.len == 0)
        return;
    while (at < to) {
        sn_markdown_line place = sn_markdown_place(m, at);
        const char *end = memchr(m->text.ptr + at, '\n', to - at);
        size_t stop = end ? (size_t)(end - m->text.ptr) : to;

        blank_doc(m, place.offset, place.offset + (stop - at));
        at = stop + 1;
    }
}

static void
forget_text(sn_markdown *m)
{
    sn_buf_truncate(&m->text, 0);
    sn_buf_truncate(&m->lines, 0);
}

static void read_text(sn_markdown *m);

/* Adds a part of the document as a line. */
static void
add_line(sn_markdown *m, size_t from, size_t to)
{
    if (m->lines.len / sizeof(sn_markdown_line) == SN_MARKDOWN_LINES)
        read_text(m); /* nobody writes a paragraph of so many lines */
    while (to > from && is_blank(m->doc.ptr[to - 1]))
        to--;
    if (m->text.len > 0)
        sn_buf_char(&m->text, '\n');
    sn_markdown_line line = {m->text.len, from, m->line_no,
                             (uint32_t)(from - m->line_at) + 1};
    sn_buf_add(&m->lines, &line, sizeof line);
    sn_buf_add(&m->text, m->doc.ptr + from, to - from);
}

/* Reads the text and forgets it. */
static void
read_text(sn_markdown *m)
{
    if (!m->defining && m->text.len > 0 && sn_buf_done(&m->text) == SEINE_OK &&
        sn_buf_done(&m->lines) == SEINE_OK)
        sn_markdown_inline(m, false);
    forget_text(m);
}

/* Removes the definitions that begin the paragraph. */
static void
take_definitions(sn_markdown *m)
{
    if (m->text.len == 0 || m->text.ptr[0] != '[' || sn_buf_done(&m->text) != SEINE_OK ||
        sn_buf_done(&m->lines) != SEINE_OK)
        return;
    size_t n = sn_markdown_definitions(m);
    sn_markdown_blank(m, 0, n);
    if (n == 0)
        return;
    sn_markdown_line *all = (sn_markdown_line *)(void *)m->lines.ptr;
    size_t count = m->lines.len / sizeof *all, gone = 0;
    while (gone < count && all[gone].at < n)
        gone++;
    sn_buf_drop(&m->text, n < m->text.len ? n : m->text.len);
    sn_buf_drop(&m->lines, gone * sizeof *all);
    all = (sn_markdown_line *)(void *)m->lines.ptr;
    for (size_t i = 0; i < count - gone; i++)
        all[i].at -= n;
}

/* Anchors */

static void
tell_anchor(sn_markdown *m, sn_str name)
{
    sn_doc_event e = {.is_anchor = true, .value = name, .line = m->line_no, .col = 1};

    if (name.len > 0)
        m->to.fn(m->to.user, &e);
}

/* Cuts "{#name}" from the end of a heading and tells the name, as several renderers do.
 */
static void
take_given_name(sn_markdown *m)
{
    sn_str text = sn_str_trim(sn_buf_view(&m->text));
    size_t from = text.len;

    if (text.len < 4 || text.ptr[text.len - 1] != '}')
        return;
    while (from > 0 && text.ptr[from - 1] != '{' && text.ptr[from - 1] != ' ')
        from--;
    if (from == 0 || text.ptr[from - 1] != '{' || text.ptr[from] != '#')
        return;
    tell_anchor(m, sn_str_slice(text, from + 1, text.len - 1));
    sn_str rest = sn_str_trim(sn_str_slice(text, 0, from - 1));
    sn_buf_truncate(&m->text, (size_t)(rest.ptr - m->text.ptr) + rest.len);
}

/* The text that was collected is a heading. */
static void
read_heading(sn_markdown *m)
{
    if (!m->defining && sn_buf_done(&m->text) == SEINE_OK &&
        sn_buf_done(&m->lines) == SEINE_OK) {
        take_given_name(m);
        sn_markdown_renew(m, &m->plain);
        if (m->text.len > 0)
            sn_markdown_inline(m, true);
        sn_markdown_renew(m, &m->scratch);
        sn_str plain = sn_buf_view(&m->plain);
        sn_anchor_github(sn_str_slice(plain, 0, SLUG), &m->scratch);
        seine_err e = sn_anchors_number(&m->anchors, &m->scratch);
        if (e != SEINE_OK)
            m->err = e;
        else
            tell_anchor(m, sn_buf_view(&m->scratch));
    }
    forget_text(m);
}

/* Tells the anchors of a footnote that a line of the paragraph defines: "[^1]: text" is
 * "fn-1" on GitHub, and "fn:1" where Python or Ruby makes the page. */
static void
tell_footnote(sn_markdown *m, sn_str line)
{
    static const char *const forms[] = {"fn-", "fn:"};
    size_t end = 2;

    while (end < line.len && line.ptr[end] != ']' && (unsigned char)line.ptr[end] > ' ')
        end++;
    if (end == 2 || !sn_str_starts(sn_str_slice(line, end, line.len), SN_STR("]:")))
        return;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        sn_markdown_renew(m, &m->scratch);
        sn_buf_text(&m->scratch, forms[i]);
        sn_buf_str(&m->scratch, sn_str_slice(line, 2, end < SLUG ? end : SLUG));
        tell_anchor(m, sn_buf_view(&m->scratch));
    }
}

static void
tell_footnotes(sn_markdown *m)
{
    sn_str rest = sn_buf_view(&m->text);

    while (!m->defining && rest.len > 0) {
        size_t end = sn_str_find(rest, '\n');

        if (sn_str_starts(rest, SN_STR("[^")))
            tell_footnote(m, sn_str_slice(rest, 0, end));
        rest = sn_str_slice(rest, end + 1, rest.len);
    }
}

static void
end_leaf(sn_markdown *m)
{
    if (m->leaf == LEAF_PARAGRAPH && sn_str_starts(sn_buf_view(&m->text), SN_STR("[^")))
        tell_footnotes(m);
    if (m->leaf == LEAF_PARAGRAPH)
        take_definitions(m);
    if (m->leaf == LEAF_PARAGRAPH || m->leaf == LEAF_TABLE)
        read_text(m);
    m->leaf = LEAF_NONE;
}

/* Containers */

static bool
take_quote(sn_markdown *m)
{
    size_t from = m->pos;

    if (indent_of(m) > 3 || is_rest_blank(m) || m->doc.ptr[m->ink] != '>')
        return false;
    take_blanks(m, 3);
    take_chars(m, 1);
    take_blanks(m, 1);
    blank_doc(m, from, m->pos);
    return true;
}

/* Matches the line with the open containers; returns how many go on. */
static uint32_t
match_boxes(sn_markdown *m)
{
    uint32_t i = 0;

    for (; i < m->depth; i++) {
        const sn_markdown_box *box = &m->boxes[i];

        if (!box->is_item) {
            if (!take_quote(m))
                break;
        } else if (is_rest_blank(m)) {
            continue;
        } else if (indent_of(m) >= box->indent) {
            take_blanks(m, box->indent);
        } else {
            break;
        }
    }
    return i;
}

/* Whether the rest of a line is a rule: "- - -". *odd is a byte that an earlier call for
 * this line has found to be none of its rule, or NULL. */
static bool
is_rule_but(sn_str s, const char **odd)
{
    char c = s.len > 0 ? s.ptr[0] : '\0';
    size_t n = 0;

    if ((c != '*' && c != '-' && c != '_') || (*odd && *odd > s.ptr && **odd != c))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        n += s.ptr[i] == c;
        if (s.ptr[i] != c && !is_blank(s.ptr[i])) {
            *odd = s.ptr + i;
            return false;
        }
    }
    return n >= 3;
}

static bool
is_rule(sn_str s)
{
    const char *odd = NULL;

    return is_rule_but(s, &odd);
}

/* Returns the length of the marker of a list at the beginning of `s`, or 0. */
static size_t
marker_of(sn_str s, bool interrupts)
{
    size_t n = 0;

    while (n < s.len && n < 10 && sn_is_digit(s.ptr[n]))
        n++;
    if (n > 0 && (n > 9 || n == s.len || (s.ptr[n] != '.' && s.ptr[n] != ')')))
        return 0;
    if (n > 0 && interrupts && !(n == 1 && s.ptr[0] == '1'))
        return 0;
    if (n == 0 && (s.len == 0 || !memchr("-+*", s.ptr[0], 3)))
        return 0;
    n++;
    if (n < s.len && !is_blank(s.ptr[n]))
        return 0;
    return interrupts && sn_str_trim(sn_str_slice(s, n, s.len)).len == 0 ? 0 : n;
}

/* Opens the item of a list at the cursor. */
static void
open_item(sn_markdown *m, size_t marker)
{
    uint32_t indent = take_blanks(m, 3);

    take_chars(m, marker);
    indent += (uint32_t)marker;
    uint32_t gap = indent_of(m);
    if (is_rest_blank(m) || gap > 4)
        gap = 1;
    take_blanks(m, gap);
    m->boxes[m->depth++] = (sn_markdown_box){.is_item = true, .indent = indent + gap};
}

/* Opens the containers that begin on this line. True: there was one. */
static bool
open_boxes(sn_markdown *m, uint32_t matched)
{
    bool opened = false;
    const char *odd = NULL;

    while ((opened ? m->depth : matched) < SN_MARKDOWN_DEEP) {
        bool interrupts = !opened && m->leaf == LEAF_PARAGRAPH && matched == m->depth;
        sn_str s = after_blanks(m);
        size_t marker = 0;

        if (indent_of(m) > 3 || s.len == 0)
            break;
        bool quotes = s.ptr[0] == '>';
        if (!quotes && (is_rule_but(s, &odd) || (marker = marker_of(s, interrupts)) == 0))
            break;
        if (!opened) {
            end_leaf(m);
            m->depth = matched;
        }
        opened = true;
        if (quotes) {
            take_quote(m);
            m->boxes[m->depth++] = (sn_markdown_box){.is_item = false};
        } else {
            open_item(m, marker);
        }
    }
    return opened;
}

/* Leaves */

/* Returns the length of a fence that opens code at the cursor, or 0. */
static uint32_t
fence_of(sn_str s)
{
    uint32_t n = 0;

    if (s.len < 3 || (s.ptr[0] != '`' && s.ptr[0] != '~'))
        return 0;
    while (n < s.len && s.ptr[n] == s.ptr[0])
        n++;
    if (n < 3 || (s.ptr[0] == '`' && memchr(s.ptr + n, '`', s.len - n)))
        return 0;
    return n;
}

static bool
ends_fence(const sn_markdown *m, sn_str s)
{
    uint32_t n = 0;

    while (n < s.len && s.ptr[n] == m->fence)
        n++;
    return n >= m->fence_len && sn_str_trim(sn_str_slice(s, n, s.len)).len == 0;
}

/* Returns the level of a heading that begins with "#", or 0. */
static size_t
level_of(sn_str s)
{
    size_t n = 0;

    while (n < s.len && s.ptr[n] == '#')
        n++;
    return n <= 6 && (n == s.len || is_blank(s.ptr[n])) ? n : 0;
}

/* Reads a heading of one line. */
static void
read_short_heading(sn_markdown *m, sn_str s, size_t level)
{
    size_t from = (size_t)(s.ptr - m->doc.ptr) + level, to = m->line_end;

    while (to > from && is_blank(m->doc.ptr[to - 1]))
        to--;
    size_t end = to;
    while (end > from && m->doc.ptr[end - 1] == '#')
        end--;
    if (end < to && (end == from || is_blank(m->doc.ptr[end - 1])))
        to = end;
    while (from < to && is_blank(m->doc.ptr[from]))
        from++;
    add_line(m, from, to);
    read_heading(m);
}

static bool
is_underline(sn_str s)
{
    sn_str t = sn_str_trim(s);

    if (t.len == 0 || (t.ptr[0] != '=' && t.ptr[0] != '-'))
        return false;
    for (size_t i = 0; i < t.len; i++)
        if (t.ptr[i] != t.ptr[0])
            return false;
    return true;
}

/* True for the row below the header of a table: | --- | :-: | */
static bool
is_table_rule(sn_str s)
{
    bool bar = false, dash = false;

    for (size_t i = 0; i < s.len; i++) {
        bar |= s.ptr[i] == '|';
        dash |= s.ptr[i] == '-';
        if (!memchr("|-: \t", s.ptr[i], 5))
            return false;
    }
    return bar && dash;
}

/* Reads each cell of a row for itself: a bar ends code and links. */
static void
read_row(sn_markdown *m)
{
    size_t from = m->pos;

    while (from <= m->line_end) {
        size_t to = from;

        while (to < m->line_end && m->doc.ptr[to] != '|')
            to += m->doc.ptr[to] == '\\' && to + 1 < m->line_end ? 2 : 1;
        while (from < to && is_blank(m->doc.ptr[from]))
            from++;
        if (to > from) {
            add_line(m, from, to);
            read_text(m);
        }
        from = to + 1;
    }
}

/* HTML blocks (CommonMark 4.6) */

static const char *const html_ends[] = {NULL, NULL, "-->", "?>", ">", "]]>"};

static bool
contains_nocase(sn_str s, sn_str word)
{
    for (size_t i = 0; i + word.len <= s.len; i++)
        if (sn_str_starts_nocase(sn_str_slice(s, i, s.len), word))
            return true;
    return false;
}

/* Whether the line ends a block of the open kind. */
static bool
ends_html(const sn_markdown *m, sn_str s)
{
    switch (m->html_kind) {
    case 1:
        return contains_nocase(s, SN_STR("</script>")) ||
               contains_nocase(s, SN_STR("</pre>")) ||
               contains_nocase(s, SN_STR("</style>")) ||
               contains_nocase(s, SN_STR("</textarea>"));
    case 2:
    case 3:
    case 4:
    case 5: {
        const char *end = html_ends[m->html_kind];

        return s.len > 0 && memmem(s.ptr, s.len, end, strlen(end)) != NULL;
    }
    default:
        return false;
    }
}

static sn_str
tag_name(sn_str s)
{
    size_t from = s.len > 1 && s.ptr[1] == '/' ? 2 : 1, to = from;

    while (to < s.len &&
           (sn_is_alpha(s.ptr[to]) || (to > from && sn_is_digit(s.ptr[to]))))
        to++;
    return sn_str_slice(s, from, to);
}

/* Returns the kind of the HTML block that begins with this line, or 0. */
static uint8_t
html_kind_of(sn_markdown *m, sn_str s)
{
    static const char blocks[] =
        "address article aside base basefont blockquote body caption center col colgroup "
        "dd details dialog dir div dl dt fieldset figcaption figure footer form frame "
        "frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu "
        "menuitem nav noframes ol optgroup option p param search section summary table "
        "tbody td tfoot th thead title tr track ul";

    if (s.len < 2 || s.ptr[0] != '<')
        return 0;
    if (sn_str_starts(s, SN_STR("<!--")))
        return 2;
    if (s.ptr[1] == '?')
        return 3;
    if (sn_str_starts(s, SN_STR("<![CDATA[")))
        return 5;
    if (s.ptr[1] == '!')
        return s.len > 2 && sn_is_alpha(s.ptr[2]) ? 4 : 0;
    sn_str name = tag_name(s);
    if (name.len == 0)
        return 0;
    char after = name.ptr + name.len < s.ptr + s.len ? name.ptr[name.len] : '\n';
    bool ends = is_blank(after) || after == '\n' || after == '>';
    if (s.ptr[1] != '/' && ends && sn_str_is_among(name, "script pre style textarea"))
        return 1;
    if ((ends || after == '/') && sn_str_is_among(name, blocks))
        return 6;
    if (m->leaf == LEAF_PARAGRAPH)
        return 0;
    size_t end = sn_markdown_html(m, s, 0);
    return end > 0 && sn_str_trim(sn_str_slice(s, end, s.len)).len == 0 ? 7 : 0;
}

/* Blanks the tags of this line that would hide what follows. */
static void
filter_html(sn_markdown *m)
{
    for (size_t i = m->pos; m->mask.len > 0 && i < m->line_end; i++) {
        sn_str s = {m->doc.ptr + i, m->line_end - i};

        if (s.ptr[0] != '<')
            continue;
        sn_str name = tag_name(s);
        if (sn_markdown_is_filtered(name) && !sn_str_is_among(name, "script style"))
            blank_doc(m, i, i + 1);
    }
}

/* One line */

/* Reads the line as the beginning of a leaf, or as text. */
static void
read_leaf(sn_markdown *m, bool is_lazy)
{
    uint32_t indent = indent_of(m), fence;
    sn_str s = after_blanks(m);
    size_t level;

    if (indent > 3 && m->leaf != LEAF_PARAGRAPH) {
        end_leaf(m);
        m->leaf = LEAF_CODE;
        blank_doc(m, m->pos, m->line_end);
        return;
    }
    if (indent <= 3 && (fence = fence_of(s)) > 0) {
        end_leaf(m);
        m->leaf = LEAF_FENCE;
        m->fence = s.ptr[0];
        m->fence_len = fence;
        blank_doc(m, m->pos, m->line_end);
    } else if (indent <= 3 && (level = level_of(s)) > 0) {
        end_leaf(m);
        read_short_heading(m, s, level);
    } else if (indent <= 3 && m->leaf == LEAF_PARAGRAPH && !is_lazy && is_underline(s)) {
        take_definitions(m);
        m->leaf = LEAF_NONE;
        if (m->text.len > 0)
            read_heading(m);
    } else if (indent <= 3 && is_rule(s)) {
        end_leaf(m);
    } else if (indent <= 3 && (m->html_kind = html_kind_of(m, s)) > 0) {
        end_leaf(m);
        m->has_html = true;
        filter_html(m);
        m->leaf = ends_html(m, s) ? LEAF_NONE : LEAF_HTML;
    } else if (m->leaf == LEAF_PARAGRAPH && !is_lazy && is_table_rule(s)) {
        take_definitions(m);
        read_text(m);
        m->leaf = LEAF_TABLE;
    } else if (m->leaf == LEAF_TABLE) {
        read_row(m);
    } else {
        if (m->leaf != LEAF_PARAGRAPH)
            end_leaf(m);
        m->leaf = LEAF_PARAGRAPH;
        add_line(m, (size_t)(s.ptr - m->doc.ptr), m->line_end);
    }
}

/* Goes on with code or HTML that is open. False: none is. */
static bool
read_open_leaf(sn_markdown *m)
{
    sn_str s = after_blanks(m);

    if (m->leaf == LEAF_FENCE) {
        if (indent_of(m) <= 3 && ends_fence(m, s))
            m->leaf = LEAF_NONE;
        blank_doc(m, m->pos, m->line_end);
        return true;
    }
    if (m->leaf == LEAF_HTML) {
        filter_html(m);
        if (m->html_kind >= 6 ? s.len == 0 : ends_html(m, s))
            m->leaf = LEAF_NONE;
        return true;
    }
    if (m->leaf == LEAF_CODE && (s.len == 0 || indent_of(m) > 3)) {
        blank_doc(m, m->pos, m->line_end);
        return true;
    }
    return false;
}

/* Whether the line can only be the rest of a paragraph. */
static bool
is_text(sn_markdown *m)
{
    sn_str s = after_blanks(m);

    return indent_of(m) > 3 || (fence_of(s) == 0 && level_of(s) == 0 && !is_rule(s) &&
                                html_kind_of(m, s) == 0);
}

static void
read_line(sn_markdown *m)
{
    uint32_t matched;

    m->pos = m->line_at;
    m->column = m->spare = 0;
    find_ink(m);
    matched = match_boxes(m);
    if (matched == m->depth && read_open_leaf(m))
        return;
    if (is_rest_blank(m)) {
        if (matched < m->depth && !m->boxes[matched].is_item)
            m->depth = matched; /* a quote ends; an item may go on */
        end_leaf(m);
        return;
    }
    bool opened = open_boxes(m, matched);
    if (opened && is_rest_blank(m))
        return;
    bool is_lazy = !opened && matched < m->depth;
    if (is_lazy && m->leaf == LEAF_PARAGRAPH && is_text(m)) {
        read_leaf(m, true);
        return;
    }
    if (is_lazy) {
        end_leaf(m);
        m->depth = matched;
    }
    read_leaf(m, false);
}

/* Documents */

/* Returns where the front matter ends: the lines between "---" or "+++" at the very
 * beginning. */
static size_t
front_matter(sn_str doc)
{
    sn_str rest = doc, line;
    char mark[4] = {0};

    if (!sn_str_next(&rest, '\n', &line))
        return 0;
    line = sn_str_trim(line);
    if (!sn_str_eq(line, SN_STR("---")) && !sn_str_eq(line, SN_STR("+++")))
        return 0;
    memcpy(mark, line.ptr, 3);
    while (sn_str_next(&rest, '\n', &line)) {
        if (line.len > 0 && line.ptr[line.len - 1] == '\r')
            line.len--;
        if (sn_str_eq(line, sn_str_of(mark)) ||
            (mark[0] == '-' && sn_str_eq(line, SN_STR("..."))))
            return (size_t)(line.ptr + line.len - doc.ptr);
    }
    return 0;
}

static void
read_lines(sn_markdown *m)
{
    size_t bom = sn_str_starts(m->doc, SN_STR("\xef\xbb\xbf")) ? 3 : 0;
    size_t front = front_matter(sn_str_slice(m->doc, bom, m->doc.len));
    size_t skip = front > 0 ? front + bom : 0;

    m->depth = 0;
    m->leaf = LEAF_NONE;
    m->line_no = 0;
    forget_text(m);
    blank_doc(m, 0, skip > 0 ? skip : bom);
    for (size_t at = 0; at < m->doc.len && m->err == SEINE_OK;) {
        const char *end = memchr(m->doc.ptr + at, '\n', m->doc.len - at);
        size_t next = end ? (size_t)(end - m->doc.ptr) + 1 : m->doc.len;

        m->line_no++;
        m->line_at = at == 0 ? bom : at;
        m->line_end = end ? next - 1 : next;
        if (m->line_end > m->line_at && m->doc.ptr[m->line_end - 1] == '\r')
            m->line_end--;
        if (at >= skip)
            read_line(m);
        at = next;
    }
    end_leaf(m);
}

/* A link or an id of the HTML inside. */
static bool
on_html(void *user, const sn_html_event *e)
{
    sn_markdown *m = user;
    sn_doc_event told = sn_doc_event_of_html(e);

    m->to.fn(m->to.user, &told);
    return true;
}

static void
read_html(sn_markdown *m)
{
    sn_html_reset(&m->html);
    seine_err e = sn_html_feed(&m->html, m->mask.ptr, m->mask.len);
    if (e == SEINE_OK)
        e = sn_html_end(&m->html);
    if (e != SEINE_OK)
        m->err = e;
}

void
sn_markdown_init(sn_markdown *m)
{
    memset(m, 0, sizeof *m);
    sn_buf_init(&m->text, SN_MARKDOWN_MAX * 2);
    sn_buf_init(&m->lines, SN_MARKDOWN_LINES * sizeof(sn_markdown_line));
    sn_buf_init(&m->brackets, SN_MARKDOWN_MAX);
    sn_buf_init(&m->links, SN_MARKDOWN_MAX);
    sn_buf_init(&m->bytes, SN_MARKDOWN_MAX * 2);
    sn_buf_init(&m->plain, SN_MARKDOWN_MAX * 2);
    sn_buf_init(&m->mask, SN_MARKDOWN_MAX);
    sn_buf_init(&m->scratch, SN_MARKDOWN_MAX * 2);
    sn_map_init(&m->definitions, DEFINITIONS);
    sn_arena_init(&m->names, CHUNK, LABELS);
    sn_anchors_init(&m->anchors);
    sn_html_init(&m->html,
                 &(sn_html_options){.want = SN_HTML_LINK | SN_HTML_ANCHOR, .lines = true},
                 on_html, m);
}

void
sn_markdown_fini(sn_markdown *m)
{
    sn_buf_fini(&m->text);
    sn_buf_fini(&m->lines);
    sn_buf_fini(&m->brackets);
    sn_buf_fini(&m->links);
    sn_buf_fini(&m->bytes);
    sn_buf_fini(&m->plain);
    sn_buf_fini(&m->mask);
    sn_buf_fini(&m->scratch);
    sn_map_fini(&m->definitions);
    sn_arena_fini(&m->names);
    sn_anchors_fini(&m->anchors);
    sn_html_fini(&m->html);
}

static void
begin_document(sn_markdown *m, sn_str doc, sn_doc_fn to)
{
    m->doc = doc;
    m->to = to;
    m->err = SEINE_OK;
    m->has_html = false;
    sn_buf_reset(&m->text);
    sn_buf_reset(&m->lines);
    sn_buf_reset(&m->mask);
    sn_map_reset(&m->definitions);
    sn_arena_reset(&m->names);
    sn_anchors_reset(&m->anchors);
}

static seine_err
trouble(const sn_markdown *m)
{
    const sn_buf *all[] = {&m->text,  &m->lines, &m->brackets, &m->links,
                           &m->bytes, &m->plain, &m->mask,     &m->scratch};
    seine_err e = m->err;

    for (size_t i = 0; i < sizeof all / sizeof *all && e == SEINE_OK; i++)
        e = sn_buf_done(all[i]);
    return e;
}

seine_err
sn_markdown_read(sn_markdown *m, sn_str doc, sn_doc_fn to)
{
    if (doc.len > SN_MARKDOWN_MAX)
        return SEINE_E_BUDGET;
    begin_document(m, doc, to);
    if (doc.len == 0)
        return SEINE_OK;
    if (memmem(doc.ptr, doc.len, "]:", 2)) {
        m->defining = true;
        read_lines(m);
        m->defining = false;
    }
    if (memchr(doc.ptr, '<', doc.len))
        sn_buf_add(&m->mask, doc.ptr, doc.len);
    if (trouble(m) == SEINE_OK)
        read_lines(m);
    if (trouble(m) == SEINE_OK && m->has_html)
        read_html(m);
    return trouble(m);
}

sn_str
sn_markdown_masked(const sn_markdown *m)
{
    return sn_buf_view(&m->mask);
}
