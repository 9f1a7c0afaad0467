/* SPDX-License-Identifier: Apache-2.0 */
/* What the tokenizer reports: tags go to the rules of their mode, or of svg and math. */
#include <string.h>

#include "text/tree_build.h"

typedef bool (*rules)(sn_build *b);

static const rules modes[MODE_COUNT] = {
    [MODE_INITIAL] = sn_mode_initial,
    [MODE_BEFORE_HTML] = sn_mode_before_html,
    [MODE_BEFORE_HEAD] = sn_mode_before_head,
    [MODE_IN_HEAD] = sn_mode_in_head,
    [MODE_IN_NOSCRIPT] = sn_mode_in_noscript,
    [MODE_AFTER_HEAD] = sn_mode_after_head,
    [MODE_IN_BODY] = sn_mode_in_body,
    [MODE_TEXT] = sn_mode_text,
    [MODE_IN_TABLE] = sn_mode_in_table,
    [MODE_IN_CAPTION] = sn_mode_in_caption,
    [MODE_IN_COLGROUP] = sn_mode_in_colgroup,
    [MODE_IN_TBODY] = sn_mode_in_tbody,
    [MODE_IN_ROW] = sn_mode_in_row,
    [MODE_IN_CELL] = sn_mode_in_cell,
    [MODE_IN_TEMPLATE] = sn_mode_in_template,
    [MODE_AFTER_BODY] = sn_mode_after_body,
    [MODE_IN_FRAMESET] = sn_mode_in_frameset,
    [MODE_AFTER_FRAMESET] = sn_mode_after_frameset,
    [MODE_AFTER_AFTER_BODY] = sn_mode_after_after_body,
    [MODE_AFTER_AFTER_FRAMESET] = sn_mode_after_after_frameset,
};

void
sn_build_fail(sn_build *b, seine_err e)
{
    if (b->err == SEINE_OK)
        b->err = e;
}

/* Returns the current node; in a fragment the context stands for the root. */
static const sn_open *
adjusted(const sn_build *b)
{
    return b->in_fragment && b->depth == 1 ? &b->context : &b->stack[b->depth - 1];
}

bool
sn_build_is_foreign(const sn_build *b)
{
    return b->depth > 0 && adjusted(b)->ns != SN_NS_HTML;
}

bool
sn_build_is_foreign_text(const sn_build *b)
{
    return sn_build_is_foreign(b) &&
           !(adjusted(b)->sorts & (SN_EL_TEXT_POINT | SN_EL_HTML_POINT));
}

/* True if the rules for svg and math apply to the tag (13.2.6). */
static bool
is_foreign_tag(const sn_build *b)
{
    if (!sn_build_is_foreign(b))
        return false;
    const sn_open *o = adjusted(b);
    const sn_tree_token *tok = &b->tok;

    if (tok->end)
        return true;
    if (o->sorts & SN_EL_TEXT_POINT)
        return tok->el == EL_MGLYPH || tok->el == EL_MALIGNMARK;
    if (o->ns == SN_NS_MATH && o->el == EL_ANNOTATION_XML && tok->el == EL_SVG)
        return false;
    return !(o->sorts & SN_EL_HTML_POINT);
}

bool
sn_build_html_rules(sn_build *b)
{
    return modes[b->mode](b);
}

static void
count_node(sn_build *b)
{
    if (++b->tags > b->max_tags)
        sn_build_fail(b, SEINE_E_HTML_TOO_COMPLEX);
}

sn_html_content
sn_build_tag(sn_build *b, const sn_html *t, uint64_t to, sn_html_tag *out_raw)
{
    bool again = true;

    sn_build_flush(b);
    b->skip_lf = false;
    count_node(b);
    b->tok.self_closing = t->self_closing;
    b->tok.offset = (uint32_t)t->tag_at;
    b->tok.size = (uint32_t)(to - t->tag_at);
    b->tok.used = false;
    b->tok.ns = SN_NS_HTML;
    b->content = SN_HTML_MARKUP;
    sn_build_attrs(b);
    while (again && b->err == SEINE_OK)
        again = is_foreign_tag(b) ? sn_mode_foreign(b) : sn_build_html_rules(b);
    if (!b->tok.used)
        sn_buf_truncate(&b->tree->attr_mem, b->tok.attrs * sizeof(sn_tree_attr));
    if (sn_buf_done(&b->tree->attr_mem) != SEINE_OK ||
        sn_buf_done(&b->tree->name_mem) != SEINE_OK ||
        sn_buf_done(&b->tree->text) != SEINE_OK)
        sn_build_fail(b, SEINE_E_NOMEM);
    *out_raw = b->raw;
    return b->content;
}

/* Adds bytes without decoding references: U+FFFD for NUL, LF for CR and CR LF. */
static void
add_raw(sn_buf *out, sn_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        size_t from = i;

        while (i < s.len && s.ptr[i] != '\r' && s.ptr[i] != '\0')
            i++;
        sn_buf_add(out, s.ptr + from, i - from);
        if (i == s.len)
            break;
        if (s.ptr[i] == '\0')
            sn_buf_text(out, "\357\277\275");
        else if (i + 1 == s.len || s.ptr[i + 1] != '\n')
            sn_buf_char(out, '\n');
    }
}

/* In HTML a NUL is left out; elsewhere it becomes U+FFFD. */
static void
add_without_nul(sn_buf *out, sn_str s)
{
    while (s.len > 0) {
        const char *nul = memchr(s.ptr, '\0', s.len);
        size_t n = nul ? (size_t)(nul - s.ptr) : s.len;

        sn_html_decode(out, (sn_str){s.ptr, n}, false, SIZE_MAX);
        s = sn_str_slice(s, n + 1, s.len);
    }
}

void
sn_build_text(sn_build *b, uint64_t from, uint64_t to, bool decode)
{
    sn_buf *out = &b->tree->text;
    sn_str raw = {b->page + from, (size_t)(to - from)};

    if (!b->has_text) {
        b->has_text = true;
        b->pending = (uint32_t)out->len;
        b->text_offset = (uint32_t)from;
        b->has_nul_alone = b->has_nul;
    }
    for (size_t i = 0; i < raw.len && b->has_nul_alone; i++)
        b->has_nul_alone = raw.ptr[i] == '\0' || sn_is_space(raw.ptr[i]);
    if (!decode)
        add_raw(out, raw);
    else if (b->has_nul && b->mode != MODE_TEXT && !sn_build_is_foreign_text(b))
        add_without_nul(out, raw);
    else
        sn_html_decode(out, raw, false, SIZE_MAX);
    b->pending_len = (uint32_t)out->len - b->pending;
}

/* A comment or instruction belongs to the current node, the root or the document. */
static seine_node
note_parent(const sn_build *b)
{
    switch ((sn_tree_mode)b->mode) {
    case MODE_INITIAL:
    case MODE_BEFORE_HTML:
    case MODE_AFTER_AFTER_BODY:
    case MODE_AFTER_AFTER_FRAMESET:
        return 0;
    case MODE_AFTER_BODY:
        return b->stack[0].node;
    default:
        return b->depth > 0 ? b->stack[b->depth - 1].node : 0;
    }
}

static void
note_start(sn_build *b)
{
    sn_build_flush(b);
    b->skip_lf = false;
    count_node(b);
}

void
sn_build_comment(sn_build *b, uint64_t at, uint64_t from, uint64_t to)
{
    uint32_t text;

    note_start(b);
    text = (uint32_t)b->tree->text.len;
    add_raw(&b->tree->text, (sn_str){b->page + from, (size_t)(to - from)});
    sn_build_put_note(b, SEINE_NODE_COMMENT, note_parent(b), text, (uint32_t)at);
}

static bool
in_target(char c, bool first)
{
    return sn_is_alpha(c) || c == '_' || (!first && (sn_is_digit(c) || c == '-'));
}

/* Returns the length of the target of an instruction; 0: it is a comment. */
static size_t
target_len(sn_str s)
{
    size_t n = 0;

    while (n < s.len && in_target(s.ptr[n], n == 0))
        n++;
    sn_str target = sn_str_slice(s, 0, n);
    if ((n < s.len && !sn_is_space(s.ptr[n]) && s.ptr[n] != '?') ||
        sn_str_eq_nocase(target, SN_STR("xml")) ||
        sn_str_eq_nocase(target, SN_STR("xml-stylesheet")))
        return 0;
    return n;
}

void
sn_build_instruction(sn_build *b, uint64_t at, uint64_t from, uint64_t to)
{
    sn_str s = {b->page + from + 1, (size_t)(to - from) - 1};
    size_t n = target_len(s);

    if (n == 0 && (s.len > 0 || to < b->len)) {
        sn_build_comment(b, at, from, to);
        return;
    }
    if (to == b->len) /* an instruction that the page ends in is none */
        return;
    note_start(b);
    uint32_t text = (uint32_t)b->tree->text.len;
    sn_buf_str(&b->tree->text, sn_str_slice(s, 0, n));
    sn_buf_char(&b->tree->text, ' ');
    s.len -= s.len > n && s.ptr[s.len - 1] == '?';
    while (n < s.len && sn_is_space(s.ptr[n]))
        n++;
    add_raw(&b->tree->text, sn_str_slice(s, n, s.len));
    sn_build_put_note(b, SEINE_NODE_INSTRUCTION, note_parent(b), text, (uint32_t)at);
}

void
sn_build_declaration(sn_build *b, uint64_t at, uint64_t from, uint64_t to)
{
    sn_str s = {b->page + from, (size_t)(to - from)}, word = SN_STR("doctype");

    if (!sn_str_eq_nocase(sn_str_slice(s, 0, word.len), word)) {
        sn_build_comment(b, at, from, to);
        return;
    }
    note_start(b);
    if (b->mode == MODE_INITIAL)
        sn_build_doctype(b, sn_str_slice(s, word.len, s.len), (uint32_t)at, to == b->len);
}

void
sn_build_end(sn_build *b)
{
    sn_build_flush(b);
    sn_build_flush_end(b);
}
