/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of the standard's tokenizer (13.2.5); states that make no difference to our
 * events are merged. Each state is a function: it gets at least one byte, reads as many
 * as it can, sets the next state and returns where it stopped. To read no byte is what
 * the standard calls to reconsume.
 */
#include "text/html.h"

#include <string.h>

#include "text/tree_build.h"
#include "text/word_triples.h"

typedef enum state {
    DATA,
    TAG_OPEN,     /* behind < */
    END_TAG_OPEN, /* behind </ */
    TAG_NAME,
    BEFORE_ATTR, /* behind a name, a value, a slash */
    SELF_CLOSING,
    ATTR_NAME,
    AFTER_ATTR_NAME,
    BEFORE_VALUE,
    DOUBLE_QUOTED,
    SINGLE_QUOTED,
    UNQUOTED,
    DECLARATION, /* behind <! */
    DECLARATION_DASH,
    BOGUS, /* up to the next > */
    COMMENT,
    CDATA_OPEN, /* behind <![ in svg or math */
    CDATA,
    RAW,
    RAW_LESS,  /* behind < */
    RAW_END,   /* behind </ */
    RAW_BANG,  /* script: behind <! */
    ESCAPED,   /* script: behind <!-- */
    SEMI_WORD, /* escaped: a name that may double the escape or end it */
    PLAIN
} state;

/* Maps a byte of a name to lower case, and a byte that ends a tag name to 0. NUL maps to
 * a byte that no known name holds. */
/* clang-format off */
#define SAME4(c)  (c), (c) + 1, (c) + 2, (c) + 3
#define SAME(c)   SAME4(c), SAME4((c) + 4), SAME4((c) + 8), SAME4((c) + 12)
static const uint8_t fold[256] = {
    255, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 11, 0, 0, 14, 15,
    SAME(16),
    0, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 0,
    48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 0, 63,
    64, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o',
    'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z', 91, 92, 93, 94, 95,
    SAME(96), SAME(112), SAME(128), SAME(144), SAME(160), SAME(176), SAME(192),
    SAME(208), SAME(224), SAME(240),
};
#undef SAME
#undef SAME4
/* clang-format on */

static void
name_start(sn_html *t)
{
    memset(t->name, 0, sizeof t->name);
    t->name_len = 0;
}

/* Appends bytes of a name, in lower case, up to its end or `stop`. A name that is too
 * long gets a length that matches no known name. */
static const char *
name_add(sn_html *t, const char *p, const char *end, char stop)
{
    size_t n = t->name_len;
    uint8_t c;

    for (; p < end && (c = fold[(unsigned char)*p]) && c != (uint8_t)stop; p++) {
        if (n < SN_HTML_NAME)
            t->name[n] = (char)c;
        n += n <= SN_HTML_NAME;
    }
    t->name_len = (uint8_t)n;
    return p;
}

/* Appends letters unchanged, because they may turn out to be text; drops those that do
 * not fit. */
static const char *
letters_add(sn_html *t, const char *p, const char *end)
{
    for (; p < end && sn_is_alpha(*p) && t->name_len < SN_HTML_NAME; p++)
        t->name[t->name_len++] = *p;
    return p;
}

/* Handles text between tags; only the text of a link is kept. It is no text of the page's
 * own: lists of links differ from page to page where all else repeats. */
static void
text(sn_html *t, const char *p, size_t n)
{
    if (t->frames_ok)
        sn_html_frames_text(t, p, n);
    if (t->held.open && !t->held.is_told)
        sn_html_text_add(&t->held.text, p, n);
    else if (t->opts.words && !t->held.open)
        sn_word_triples_text(t->opts.words, p, n);
}

static void
raw_text(sn_html *t, const char *p, size_t n)
{
    if (t->titling)
        sn_html_text_add(&t->title, p, n);
}

/* Returns the position of a byte of this piece in the page. */
static uint64_t
position(const sn_html *t, const char *p)
{
    return t->fed + (uint64_t)(p - t->piece);
}

/* A tree is built: gives it the text up to a token. */
static void
tree_text(sn_html *t, uint64_t to)
{
    bool decodes = !t->in_raw || t->raw == SN_TAG_TITLE || t->raw == SN_TAG_TEXTAREA;

    if (to > t->run)
        sn_build_text(t->opts.tree, t->run, to, decodes);
    t->run = to;
}

/* A token of the tree is complete; text goes on behind it. */
static void
tree_goes_on(sn_html *t, const char *p)
{
    t->run = position(t, p);
    t->in_raw = false;
    t->enough = t->enough || t->opts.tree->err != SEINE_OK;
}

/* The tag name is complete: looks up which attributes to keep. */
static void
attrs_start(sn_html *t, sn_html_tag tag)
{
    t->tag = (uint8_t)tag;
    t->self_closing = false;
    t->keep = t->end_tag ? 0 : sn_html_keeps(t, tag);
    t->seen = 0;
    t->attrs = 0;
    sn_buf_truncate(&t->values, 0);
    t->state = BEFORE_ATTR;
}

static void
after_tag(sn_html *t, sn_html_content content)
{
    t->escape = 0;
    t->dashes = 0;
    t->state = content == SN_HTML_MARKUP ? DATA : content == SN_HTML_RAW ? RAW : PLAIN;
}

static const char *
tree_tag_done(sn_html *t, const char *p)
{
    sn_html_tag raw = SN_TAG_OTHER;

    sn_html_content content = sn_build_tag(t->opts.tree, t, position(t, p), &raw);
    if (t->opts.want) {
        sn_html_tag_in_tree(t);
        if (t->in_script && content == SN_HTML_RAW)
            t->script_from = position(t, p);
    }
    tree_goes_on(t, p);
    t->raw = (uint8_t)raw;
    t->in_raw = content != SN_HTML_MARKUP;
    after_tag(t, content);
    return p;
}

static const char *
tag_done(sn_html *t, const char *p)
{
    sn_html_content content = SN_HTML_MARKUP;

    if (t->opts.tree)
        return tree_tag_done(t, p);
    if (t->opts.words)
        sn_word_triples_break(t->opts.words);
    if (t->tag != SN_TAG_OTHER || t->depth > 0 || t->seen || t->frames_ok)
        content = sn_html_tag_done(t);
    if (t->in_script && content == SN_HTML_RAW)
        t->script_from = t->fed + (uint64_t)(p - t->piece);
    t->raw = t->tag;
    t->in_raw = false;
    after_tag(t, content);
    return p;
}

/* An attribute name is complete. The first attribute of a name counts. */
static void
attr_named(sn_html *t)
{
    t->attr = SN_ATTR_OTHER;
    if (t->is_font && sn_html_is_font_attr(t->name))
        t->breaks_out = true;
    if (t->attrs == SN_HTML_ATTRS) {
        t->notes |= SN_HTML_NOTE_ATTRS;
        return;
    }
    t->attrs++;
    if (t->keep == 0)
        return;
    sn_html_attr attr = sn_html_find_attr(t->name, t->name_len);
    if (!(t->keep & UINT32_C(1) << attr))
        return;
    t->attr = (uint8_t)attr;
    t->keep &= ~(UINT32_C(1) << attr);
    t->seen |= UINT32_C(1) << attr;
    t->value[attr] = (sn_html_value){.at = (uint32_t)t->values.len};
}

static const char *
attr_name(sn_html *t, const char *p, const char *end)
{
    p = name_add(t, p, end, '=');
    if (p == end)
        return p;
    if (t->opts.tree)
        sn_build_attr_name(t->opts.tree, t, t->name_at, position(t, p));
    if (t->opts.want || !t->opts.tree)
        attr_named(t);
    t->state = AFTER_ATTR_NAME;
    return p;
}

static const char *
after_attr_name(sn_html *t, const char *p, const char *end)
{
    while (p < end && sn_is_space(*p))
        p++;
    if (p == end)
        return p;
    t->state = *p == '=' ? BEFORE_VALUE : BEFORE_ATTR;
    return p + (*p == '=');
}

static const char *
before_value(sn_html *t, const char *p, const char *end)
{
    while (p < end && sn_is_space(*p))
        p++;
    if (p == end)
        return p;
    t->state = *p == '"'    ? DOUBLE_QUOTED
               : *p == '\'' ? SINGLE_QUOTED
               : *p == '>'  ? BEFORE_ATTR
                            : UNQUOTED;
    return p + (*p == '"' || *p == '\'');
}

static void
value_add(sn_html *t, const char *p, size_t n)
{
    sn_html_value *v = &t->value[t->attr];
    size_t room = SN_HTML_VALUE - v->len;

    if (t->opts.tree && n > 0) {
        uint64_t from = position(t, p);

        sn_build_attr_value(t->opts.tree, from, from + n);
    }
    if (t->attr == SN_ATTR_OTHER)
        return;
    if (n > room) {
        n = room;
        v->cut = true;
        t->notes |= SN_HTML_NOTE_VALUE;
    }
    sn_buf_add(&t->values, p, n);
    v->len += (uint32_t)n;
}

static const char *
quoted(sn_html *t, const char *p, const char *end, char quote)
{
    const char *stop = memchr(p, quote, (size_t)(end - p));

    value_add(t, p, (size_t)((stop ? stop : end) - p));
    if (!stop)
        return end;
    t->state = BEFORE_ATTR;
    return stop + 1;
}

/* Reads one attribute. The usual form name="value" is read in one go, without changing
 * states. */
static const char *
attr(sn_html *t, const char *p, const char *end)
{
    name_start(t);
    t->name_at = position(t, p);
    t->name[t->name_len++] = (char)fold[(unsigned char)*p]; /* even if it is '=' */
    t->state = ATTR_NAME;
    p = attr_name(t, p + 1, end);
    if (end - p < 3 || p[0] != '=' || (p[1] != '"' && p[1] != '\''))
        return p;
    t->state = p[1] == '"' ? DOUBLE_QUOTED : SINGLE_QUOTED;
    return quoted(t, p + 2, end, p[1]);
}

static const char *
before_attr(sn_html *t, const char *p, const char *end)
{
    while (p < end && t->state == BEFORE_ATTR) {
        if (sn_is_space(*p)) {
            p++;
        } else if (*p == '>') {
            return tag_done(t, p + 1);
        } else if (*p == '/') {
            t->state = SELF_CLOSING;
            return p + 1;
        } else {
            p = attr(t, p, end);
        }
    }
    return p;
}

static const char *
self_closing(sn_html *t, const char *p)
{
    t->state = BEFORE_ATTR;
    t->self_closing = *p == '>';
    return p;
}

static const char *
unquoted(sn_html *t, const char *p, const char *end)
{
    const char *from = p;

    while (p < end && *p != '>' && !sn_is_space(*p))
        p++;
    value_add(t, from, (size_t)(p - from));
    if (p < end)
        t->state = BEFORE_ATTR;
    return p;
}

static const char *
tag_name(sn_html *t, const char *p, const char *end)
{
    p = name_add(t, p, end, '\0');
    if (p == end)
        return p;
    if (t->opts.tree) {
        tree_text(t, t->tag_at);
        sn_build_tag_name(t->opts.tree, t, position(t, p));
        attrs_start(t,
                    t->opts.want ? sn_html_find_tag(t->name, t->name_len) : SN_TAG_OTHER);
        return before_attr(t, p, end);
    }
    t->breaks_out = t->depth > 0 && sn_html_is_breakout(t->name, t->name_len);
    t->is_font = t->depth > 0 && memcmp(t->name, "font", 5) == 0;
    attrs_start(t, sn_html_find_tag(t->name, t->name_len));
    return before_attr(t, p, end);
}

static const char *
tag_start(sn_html *t, const char *p, const char *end, bool end_tag)
{
    t->end_tag = end_tag;
    name_start(t);
    t->state = TAG_NAME;
    return tag_name(t, p, end);
}

static const char *
end_tag_open(sn_html *t, const char *p, const char *end)
{
    if (sn_is_alpha(*p))
        return tag_start(t, p, end, true);
    t->state = *p == '>' ? DATA : BOGUS;
    if (t->opts.tree && *p == '>') { /* </> is nothing at all */
        tree_text(t, t->tag_at);
        tree_goes_on(t, p + 1);
    }
    return p + (*p == '>');
}

static const char *
tag_open(sn_html *t, const char *p, const char *end)
{
    if (sn_is_alpha(*p))
        return tag_start(t, p, end, false);
    if (*p == '/') {
        t->state = END_TAG_OPEN;
        p++;
        return p < end ? end_tag_open(t, p, end) : p;
    }
    if (*p == '!') {
        t->state = DECLARATION;
        return p + 1;
    }
    if (*p != '?')
        text(t, "<", 1);
    t->state = *p == '?' ? BOGUS : DATA;
    return p;
}

/* True if what means nothing may be skipped without the states. */
static bool
may_skim(const sn_html *t)
{
    return t->skims && t->depth == 0 && !t->frames_ok && !t->in_frames &&
           (!t->held.open || t->held.is_told);
}

static bool
may_skim_head(const sn_html *t)
{
    return t->skims_head && t->depth == 0 && !t->in_frames && t->templates == 0 &&
           !t->titled;
}

static const char *
data(sn_html *t, const char *p, const char *end)
{
    if (may_skim_head(t) && ((p = sn_html_skim_head(t, p, end)) == end || t->enough))
        return p;
    if (may_skim(t) && ((p = sn_html_skim(t, p, end)) == end || t->enough))
        return p;
    const char *less = memchr(p, '<', (size_t)(end - p));

    text(t, p, (size_t)((less ? less : end) - p));
    if (!less)
        return end;
    t->tag_at = t->fed + (uint64_t)(less - t->piece);
    t->state = TAG_OPEN;
    return less + 1 < end ? tag_open(t, less + 1, end) : end;
}

static const char *
declaration(sn_html *t, const char *p)
{
    t->state = BOGUS; /* <!DOCTYPE ends at the same byte */
    if (*p == '-') {
        t->state = DECLARATION_DASH;
        return p + 1;
    }
    if (*p == '[' &&
        (t->opts.tree ? sn_build_is_foreign(t->opts.tree) : sn_html_is_foreign(t))) {
        t->state = CDATA_OPEN;
        name_start(t);
        return p + 1;
    }
    return p;
}

static const char *
declaration_dash(sn_html *t, const char *p)
{
    if (*p != '-') {
        t->state = BOGUS;
        return p;
    }
    t->state = COMMENT;
    t->start = true;
    t->bang = false;
    t->dashes = 0;
    return p + 1;
}

/* Gives the tree a comment, declaration or instruction that ends before `to`. */
static void
tree_bogus(sn_html *t, uint64_t to)
{
    sn_build *b = t->opts.tree;
    char c = b->page[t->tag_at + 1];

    tree_text(t, t->tag_at);
    if (c == '!')
        sn_build_declaration(b, t->tag_at, t->tag_at + 2, to);
    else if (c == '?')
        sn_build_instruction(b, t->tag_at, t->tag_at + 1, to);
    else
        sn_build_comment(b, t->tag_at, t->tag_at + 2, to);
}

static const char *
bogus(sn_html *t, const char *p, const char *end)
{
    const char *stop = memchr(p, '>', (size_t)(end - p));

    if (!stop)
        return end;
    if (t->opts.tree) {
        tree_bogus(t, position(t, stop));
        tree_goes_on(t, stop + 1);
    }
    t->state = DATA;
    return stop + 1;
}

/* Gives the tree a comment whose last bytes, up to `to`, may be those that end it. */
static void
tree_comment(sn_html *t, uint64_t to)
{
    uint64_t from = t->tag_at + 4;

    tree_text(t, t->tag_at);
    to -= t->bang ? 3 : t->dashes;
    sn_build_comment(t->opts.tree, t->tag_at, from, t->start || to < from ? from : to);
}

/* Ends at --> and --!>, and at > or -> right at the start. */
static const char *
comment(sn_html *t, const char *p, const char *end)
{
    char c = *p;

    if (c == '>' && (t->start || t->bang || t->dashes == 2)) {
        if (t->opts.tree) {
            tree_comment(t, position(t, p));
            tree_goes_on(t, p + 1);
        }
        t->state = DATA;
        return p + 1;
    }
    if (c == '-') {
        t->dashes = (uint8_t)(t->bang ? 1 : t->dashes < 2 ? t->dashes + 1 : 2);
        t->start = t->start && t->dashes < 2;
        t->bang = false;
        return p + 1;
    }
    t->bang = c == '!' && t->dashes == 2;
    t->start = false;
    t->dashes = 0;
    if (t->bang)
        return p + 1;
    const char *dash = memchr(p, '-', (size_t)(end - p));
    return dash ? dash : end;
}

static const char *
cdata_open(sn_html *t, const char *p)
{
    static const char rest[] = "CDATA[";

    if (*p != rest[t->name_len]) {
        t->state = BOGUS;
        return p;
    }
    t->name_len++;
    if (!rest[t->name_len]) {
        t->state = CDATA;
        t->dashes = 0;
        if (t->opts.tree) {
            tree_text(t, t->tag_at);
            tree_goes_on(t, p + 1);
            t->in_raw = true;
            t->raw = SN_TAG_OTHER;
        }
    }
    return p + 1;
}

/* Ends at ]]>; the counter of dashes counts the brackets. */
static const char *
cdata(sn_html *t, const char *p, const char *end)
{
    if (*p == '>' && t->dashes == 2) {
        if (t->opts.tree) {
            tree_text(t, position(t, p) - 2);
            tree_goes_on(t, p + 1);
        }
        t->state = DATA;
        return p + 1;
    }
    if (*p == ']') {
        t->dashes = (uint8_t)(t->dashes < 2 ? t->dashes + 1 : 2);
        return p + 1;
    }
    t->dashes = 0;
    const char *bracket = memchr(p, ']', (size_t)(end - p));
    return bracket ? bracket : end;
}

static uint8_t
raw_state(const sn_html *t)
{
    return t->escape > 0 ? ESCAPED : RAW;
}

static const char *
raw(sn_html *t, const char *p, const char *end)
{
    const char *less = memchr(p, '<', (size_t)(end - p));

    raw_text(t, p, (size_t)((less ? less : end) - p));
    if (!less)
        return end;
    t->tag_at = t->fed + (uint64_t)(less - t->piece);
    t->state = RAW_LESS;
    return less + 1;
}

/* Text after <!-- in a script, where </script> may stand inside a string. */
static const char *
escaped(sn_html *t, const char *p, const char *end)
{
    for (; p < end; p++) {
        if (*p == '<') {
            t->dashes = 0;
            t->tag_at = t->fed + (uint64_t)(p - t->piece);
            t->state = RAW_LESS;
            return p + 1;
        }
        if (*p == '>' && t->dashes == 2) {
            t->escape = 0;
            t->state = RAW;
            return p + 1;
        }
        t->dashes = (uint8_t)(*p != '-' ? 0 : t->dashes < 2 ? t->dashes + 1 : 2);
    }
    return p;
}

static const char *
raw_less(sn_html *t, const char *p)
{
    name_start(t);
    if (*p == '/') {
        t->state = t->escape == 2 ? SEMI_WORD : RAW_END;
        return p + 1;
    }
    if (t->escape == 1 && sn_is_alpha(*p)) {
        t->state = SEMI_WORD;
        return p;
    }
    if (t->escape == 0 && *p == '!' && t->raw == SN_TAG_SCRIPT) {
        t->state = RAW_BANG;
        t->dashes = 0;
        return p + 1;
    }
    raw_text(t, "<", 1);
    t->state = raw_state(t);
    return p;
}

static const char *
raw_bang(sn_html *t, const char *p)
{
    if (*p != '-') {
        t->state = RAW;
        return p;
    }
    if (++t->dashes == 2) {
        t->escape = 1;
        t->state = ESCAPED;
    }
    return p + 1;
}

static bool
name_is(const sn_html *t, sn_html_tag tag)
{
    return sn_str_eq_nocase((sn_str){t->name, t->name_len},
                            sn_str_of(sn_html_tag_name(tag)));
}

/* The end tag was not one: its bytes are text. */
static void
give_raw_end_as_text(sn_html *t)
{
    raw_text(t, "</", 2);
    raw_text(t, t->name, t->name_len);
    t->state = raw_state(t);
}

static const char *
raw_end(sn_html *t, const char *p, const char *end)
{
    p = letters_add(t, p, end);
    if (p == end)
        return p;
    if (fold[(unsigned char)*p] == 0 && name_is(t, (sn_html_tag)t->raw)) {
        t->end_tag = t->in_raw = true;
        t->breaks_out = false;
        if (t->opts.tree) {
            tree_text(t, t->tag_at);
            sn_build_raw_end(t->opts.tree, (sn_html_tag)t->raw);
        }
        attrs_start(t, (sn_html_tag)t->raw);
    } else {
        give_raw_end_as_text(t);
    }
    return p;
}

/* In an escaped script <script doubles the escape and </script takes that back. */
static const char *
semi_word(sn_html *t, const char *p, const char *end)
{
    p = letters_add(t, p, end);
    if (p == end)
        return p;
    t->state = ESCAPED;
    if (fold[(unsigned char)*p] != 0)
        return p;
    if (name_is(t, SN_TAG_SCRIPT))
        t->escape = t->escape == 1 ? 2 : 1;
    return p + 1;
}

static const char *
step_state(sn_html *t, const char *p, const char *end)
{
    switch ((state)t->state) {
    case DATA:
        return data(t, p, end);
    case TAG_OPEN:
        return tag_open(t, p, end);
    case END_TAG_OPEN:
        return end_tag_open(t, p, end);
    case TAG_NAME:
        return tag_name(t, p, end);
    case BEFORE_ATTR:
        return before_attr(t, p, end);
    case SELF_CLOSING:
        return self_closing(t, p);
    case ATTR_NAME:
        return attr_name(t, p, end);
    case AFTER_ATTR_NAME:
        return after_attr_name(t, p, end);
    case BEFORE_VALUE:
        return before_value(t, p, end);
    case DOUBLE_QUOTED:
        return quoted(t, p, end, '"');
    case SINGLE_QUOTED:
        return quoted(t, p, end, '\'');
    case UNQUOTED:
        return unquoted(t, p, end);
    case DECLARATION:
        return declaration(t, p);
    case DECLARATION_DASH:
        return declaration_dash(t, p);
    case BOGUS:
        return bogus(t, p, end);
    case COMMENT:
        return comment(t, p, end);
    case CDATA_OPEN:
        return cdata_open(t, p);
    case CDATA:
        return cdata(t, p, end);
    case RAW:
        return raw(t, p, end);
    case RAW_LESS:
        return raw_less(t, p);
    case RAW_END:
        return raw_end(t, p, end);
    case RAW_BANG:
        return raw_bang(t, p);
    case ESCAPED:
        return escaped(t, p, end);
    case SEMI_WORD:
        return semi_word(t, p, end);
    case PLAIN:
        break;
    }
    return end;
}

enum {
    KEPT = 4, /* enough for <link> and <meta>, which keep the most */
    PARTS = 3
};

static void
text_init(sn_html_text *x, size_t cap)
{
    sn_buf_init(&x->raw, cap);
    x->blank = x->cut = false;
}

/* Sets what is not zero at the start of a page. */
static void
start(sn_html *t, const sn_html_options *opts, sn_html_fn fn, void *user)
{
    t->opts = *opts;
    t->fn = fn;
    t->user = user;
    t->state = DATA;
    t->frames_ok = !opts->tree;
    t->skims = sn_html_skims(opts);
    t->skims_head = sn_html_skims_head(opts);
}

void
sn_html_init(sn_html *t, const sn_html_options *opts, sn_html_fn fn, void *user)
{
    memset(t, 0, sizeof *t);
    start(t, opts, fn, user);
    sn_buf_init(&t->values, KEPT * (size_t)SN_HTML_VALUE);
    sn_buf_init(&t->decoded, PARTS * (size_t)SN_HTML_VALUE);
    sn_buf_init(&t->held.bytes, PARTS * (size_t)SN_HTML_VALUE);
    sn_buf_init(&t->script, SN_HTML_SCRIPT_LEN);
    text_init(&t->held.text, 4 * SN_HTML_TEXT_LEN);
    text_init(&t->title, 4 * SN_HTML_TITLE_LEN);
}

void
sn_html_fini(sn_html *t)
{
    sn_buf_fini(&t->values);
    sn_buf_fini(&t->decoded);
    sn_buf_fini(&t->held.bytes);
    sn_buf_fini(&t->held.text.raw);
    sn_buf_fini(&t->title.raw);
    sn_buf_fini(&t->script);
}

void
sn_html_reset(sn_html *t)
{
    sn_html_options opts = t->opts;
    sn_html_fn fn = t->fn;
    void *user = t->user;
    const sn_buf kept[] = {t->values,        t->decoded, t->held.bytes,
                           t->held.text.raw, t->script,  t->title.raw};

    memset(t, 0, offsetof(sn_html, value));
    start(t, &opts, fn, user);
    t->values = kept[0];
    t->decoded = kept[1];
    t->held.bytes = kept[2];
    t->held.text.raw = kept[3];
    t->script = kept[4];
    t->title.raw = kept[5];
    sn_buf_reset(&t->script);
    sn_buf_reset(&t->values);
    sn_buf_reset(&t->decoded);
    sn_buf_reset(&t->held.bytes);
    sn_buf_reset(&t->held.text.raw);
    sn_buf_reset(&t->title.raw);
}

/* Buffers drop what is beyond their cap, so the only error is NOMEM. */
static seine_err
trouble(sn_html *t)
{
    const seine_err errs[] = {t->values.err,        t->decoded.err,   t->held.bytes.err,
                              t->held.text.raw.err, t->title.raw.err, t->script.err};

    for (size_t i = 0; i < sizeof errs / sizeof *errs; i++)
        if (t->err == SEINE_OK)
            t->err = errs[i];
    t->enough = t->enough || t->err != SEINE_OK;
    return t->err;
}

seine_err
sn_html_feed(sn_html *t, const char *bytes, size_t n)
{
    const char *p = bytes, *end = bytes + n;

    t->piece = bytes;
    for (; p < end && !t->enough; t->steps++)
        p = step_state(t, p, end);
    t->steps += (uint64_t)(p - bytes);
    if (t->in_script && !t->enough)
        sn_html_script_upto(t, t->fed + n);
    if (t->opts.lines && !t->enough)
        sn_html_piece_lines(t, n);
    t->fed += n;
    return trouble(t);
}

void
sn_html_start_raw(sn_html *t, sn_html_content content, sn_html_tag raw)
{
    t->raw = (uint8_t)raw;
    t->in_raw = true;
    after_tag(t, content);
}

/* Gives the tree what the page ends in. */
static void
tree_end(sn_html *t)
{
    switch ((state)t->state) {
    case TAG_NAME:
    case BEFORE_ATTR:
    case SELF_CLOSING:
    case ATTR_NAME:
    case AFTER_ATTR_NAME:
    case BEFORE_VALUE:
    case DOUBLE_QUOTED:
    case SINGLE_QUOTED:
    case UNQUOTED:
        tree_text(t, t->tag_at); /* a tag that is not complete does not exist */
        break;
    case DECLARATION:
    case DECLARATION_DASH:
    case CDATA_OPEN:
    case BOGUS:
        tree_bogus(t, t->fed);
        break;
    case COMMENT:
        tree_comment(t, t->fed);
        break;
    default:
        tree_text(t, t->fed);
        break;
    }
    sn_build_end(t->opts.tree);
}

seine_err
sn_html_end(sn_html *t)
{
    if (t->opts.tree && !t->enough)
        tree_end(t);
    if (!t->enough && (t->opts.want || !t->opts.tree)) {
        if (t->state == TAG_OPEN)
            text(t, "<", 1);
        else if (t->state == END_TAG_OPEN)
            text(t, "</", 2);
        else if (t->state == RAW_LESS)
            raw_text(t, "<", 1);
        else if (t->state == RAW_END)
            give_raw_end_as_text(t);
        sn_html_text_end(t);
    }
    t->enough = true;
    return trouble(t);
}
