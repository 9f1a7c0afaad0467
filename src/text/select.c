/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of selectors. */
#include "text/select.h"

#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"

static bool list(sn_select_in *in, bool relative, bool may_be_empty, uint16_t *out_first);

typedef struct word {
    const char *name;
    uint8_t state;
} word;

/* Pseudo-classes without arguments. Those that need a user or a screen never match. */
static const word states[] = {
    {"root", SN_STATE_ROOT},          {"empty", SN_STATE_EMPTY},
    {"scope", SN_STATE_SCOPE},        {"link", SN_STATE_LINK},
    {"any-link", SN_STATE_LINK},      {"enabled", SN_STATE_ENABLED},
    {"disabled", SN_STATE_DISABLED},  {"checked", SN_STATE_CHECKED},
    {"required", SN_STATE_REQUIRED},  {"optional", SN_STATE_OPTIONAL},
    {"visited", SN_STATE_NEVER},      {"hover", SN_STATE_NEVER},
    {"active", SN_STATE_NEVER},       {"focus", SN_STATE_NEVER},
    {"focus-within", SN_STATE_NEVER}, {"focus-visible", SN_STATE_NEVER},
    {"target", SN_STATE_NEVER},       {"target-within", SN_STATE_NEVER},
    {"defined", SN_STATE_NEVER},      {"fullscreen", SN_STATE_NEVER},
};

typedef struct nth_word {
    const char *name;
    int8_t a, b;
    bool last, of_type, both;
} nth_word;

static const nth_word nths[] = {
    {"first-child", 0, 1, false, false, false},
    {"last-child", 0, 1, true, false, false},
    {"only-child", 0, 1, false, false, true},
    {"first-of-type", 0, 1, false, true, false},
    {"last-of-type", 0, 1, true, true, false},
    {"only-of-type", 0, 1, false, true, true},
};

static const char *const elements[] = {"before", "after", "first-line", "first-letter"};
static const char *const more_elements[] = {
    "placeholder",          "selection", "marker", "backdrop", "cue",
    "file-selector-button", "slotted",   "part"};

static bool
among(sn_str name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (sn_str_eq(name, sn_str_of(names[i])))
            return true;
    return false;
}

#define AMONG(name, names) among(name, names, sizeof(names) / sizeof *(names))

/* Adds to the current compound. Always true: NOMEM is checked at the end. */
static bool
add_simple(sn_select_in *in, const sn_simple *simple)
{
    sn_buf *mem = &in->out->simple_mem;
    uint16_t at = in->out->simples;

    sn_buf_add(mem, simple, sizeof *simple);
    if (sn_buf_done(mem) != SEINE_OK)
        return true;
    ((sn_simple *)(void *)mem->ptr)[at].next = SN_SELECT_NONE;
    if (in->tail == SN_SELECT_NONE)
        in->head = at;
    else
        ((sn_simple *)(void *)mem->ptr)[in->tail].next = at;
    in->tail = at;
    in->out->simples++;
    return true;
}

/* Reads "ns|", of which only "*|" and "|" are valid. False: another prefix; the diag is
 * written. */
static bool
prefix(sn_select_in *in, bool *out_any, bool *out_none)
{
    size_t from = in->at;
    sn_select_span name;

    *out_any = *out_none = false;
    if (sn_select_peek(in) == '*' && sn_select_peek2(in) == '|')
        *out_any = true;
    else if (sn_select_peek(in) == '|')
        *out_none = true;
    else if (sn_select_name(in, &name) && sn_select_peek(in) == '|' &&
             sn_select_peek2(in) != '=')
        return sn_select_fail(in, from, "there are no namespaces here, only '*|'");
    in->at = from;
    if (*out_any || *out_none) {
        if (in->at + 1 + *out_any < in->len && in->text[in->at + 1 + *out_any] == '=') {
            *out_any = *out_none = false; /* this is the operator |= */
            return true;
        }
        in->at += *out_any ? 2 : 1;
    }
    return true;
}

static bool
read_tag(sn_select_in *in, bool *out_read)
{
    sn_simple s = {.kind = SN_SIMPLE_TAG, .list = SN_SELECT_NONE};
    bool any, none;

    *out_read = false;
    if (!prefix(in, &any, &none))
        return false;
    if (none) { /* no element of a page is without a namespace */
        sn_simple nothing = {.kind = SN_SIMPLE_NOTHING, .list = SN_SELECT_NONE};

        add_simple(in, &nothing);
    }
    if (sn_select_skip(in, '*')) {
        *out_read = true;
        return true;
    }
    if (!sn_select_name(in, &s.exact)) {
        if (any || none)
            return sn_select_fail(in, in->at, "expected a tag name after '|'");
        return true;
    }
    s.name = sn_select_lower(in, s.exact);
    *out_read = true;
    return add_simple(in, &s);
}

static bool
read_operator(sn_select_in *in, uint8_t *out_op)
{
    static const char marks[] = "=~|^$*"; /* in the order of sn_attr_op */
    const char *at = memchr(marks, sn_select_peek(in), sizeof marks - 1);

    if (!at || (*at != '=' && sn_select_peek2(in) != '='))
        return false;
    in->at += *at == '=' ? 1 : 2;
    *out_op = (uint8_t)(SN_OP_IS + (at - marks));
    return true;
}

static bool
read_attr(sn_select_in *in)
{
    sn_simple s = {.kind = SN_SIMPLE_ATTR, .list = SN_SELECT_NONE};
    bool none;

    sn_select_blanks(in);
    if (!prefix(in, &s.any_prefix, &none))
        return false;
    if (!sn_select_name(in, &s.exact))
        return sn_select_fail(in, in->at, "expected an attribute name after '['");
    s.name = sn_select_lower(in, s.exact);
    sn_select_blanks(in);
    if (in->at < in->len && sn_select_peek(in) != ']') {
        if (!read_operator(in, &s.op))
            return sn_select_fail(in, in->at, "expected ']' or one of = ~= |= ^= $= *=");
        sn_select_blanks(in);
        if (!sn_select_string(in, &s.value) && !sn_select_name(in, &s.value))
            return sn_select_fail(in, in->at, "expected a value in quotes, or a name");
        sn_select_blanks(in);
        char c = sn_lower(sn_select_peek(in));
        if (c == 'i' || c == 's') {
            s.kase = c == 'i' ? SN_CASE_IGNORED : SN_CASE_KEPT;
            in->at++;
            sn_select_blanks(in);
        }
    }
    if (in->at < in->len && !sn_select_skip(in, ']'))
        return sn_select_fail(in, in->at, "expected ']'");
    return add_simple(in, &s);
}

static bool
close_list(sn_select_in *in)
{
    sn_select_blanks(in);
    if (in->at < in->len && !sn_select_skip(in, ')'))
        return sn_select_fail(in, in->at, "expected ')'");
    return true;
}

static bool
read_inner(sn_select_in *in, bool relative, bool may_be_empty, uint16_t *out_first)
{
    if (++in->depth > SN_SELECT_DEPTH)
        return sn_select_fail(in, in->at, "more than %d lists in lists", SN_SELECT_DEPTH);
    bool good = list(in, relative, may_be_empty, out_first);
    in->depth--;
    return good && close_list(in);
}

static bool
read_nth(sn_select_in *in, sn_str name, size_t at)
{
    sn_simple s = {.kind = SN_SIMPLE_NTH, .list = SN_SELECT_NONE};

    s.last = sn_str_starts(name, SN_STR("nth-last"));
    s.of_type = sn_str_ends(name, SN_STR("of-type"));
    sn_select_blanks(in);
    if (!sn_select_nth(in, &s.a, &s.b))
        return sn_select_fail(in, in->at, "expected a position: 3, odd, even, 2n+1");
    bool blank = sn_select_blanks(in);
    sn_str rest = {in->text + in->at, in->len - in->at};
    if (blank && !s.of_type && rest.len > 2 && sn_str_starts_nocase(rest, SN_STR("of")) &&
        !sn_is_alpha(rest.ptr[2])) {
        in->at += 2;
        if (!read_inner(in, false, false, &s.list))
            return false;
    } else if (in->at < in->len && !sn_select_skip(in, ')')) {
        return sn_select_fail(in, at, "expected a position: 3, odd, even, 2n+1");
    }
    return add_simple(in, &s);
}

static bool
read_lang(sn_select_in *in)
{
    sn_simple s = {.kind = SN_SIMPLE_LANG, .list = SN_SELECT_NONE};

    sn_select_blanks(in);
    if (!sn_select_string(in, &s.value) && !sn_select_name(in, &s.value))
        return sn_select_fail(in, in->at, "expected a language after ':lang('");
    return close_list(in) && add_simple(in, &s);
}

static bool
read_has(sn_select_in *in, size_t at)
{
    sn_simple s = {.kind = SN_SIMPLE_HAS, .list = SN_SELECT_NONE};

    if (in->in_has)
        return sn_select_fail(in, at, ":has() cannot stand inside of :has()");
    in->in_has = true;
    bool good = read_inner(in, true, false, &s.list);
    in->in_has = false;
    return good && add_simple(in, &s);
}

/* Reads the arguments of a function; name and '(' are read. */
static bool
read_function(sn_select_in *in, sn_str name, size_t at)
{
    sn_simple s = {.kind = SN_SIMPLE_LIST, .list = SN_SELECT_NONE};
    static const char *const nth_names[] = {"nth-child", "nth-last-child", "nth-of-type",
                                            "nth-last-of-type"};

    if (AMONG(name, nth_names))
        return read_nth(in, name, at);
    if (sn_str_eq(name, SN_STR("lang")))
        return read_lang(in);
    if (sn_str_eq(name, SN_STR("has")))
        return read_has(in, at);
    s.negated = sn_str_eq(name, SN_STR("not"));
    if (!s.negated && !sn_str_eq(name, SN_STR("is")) &&
        !sn_str_eq(name, SN_STR("where")) && !sn_str_eq(name, SN_STR("matches")))
        return sn_select_fail(in, at, "unknown pseudo-class ':%.*s()'", SN_FMT(name));
    return read_inner(in, false, !s.negated, &s.list) && add_simple(in, &s);
}

static bool
add_nth_word(sn_select_in *in, const nth_word *w)
{
    sn_simple s = {.kind = SN_SIMPLE_NTH,
                   .a = w->a,
                   .b = w->b,
                   .last = w->last,
                   .of_type = w->of_type,
                   .list = SN_SELECT_NONE};

    add_simple(in, &s);
    if (!w->both)
        return true;
    s.last = true;
    return add_simple(in, &s);
}

/* Names of other libraries, and what CSS calls them. */
static bool
unknown_word(sn_select_in *in, sn_str name, size_t at)
{
    static const struct {
        const char *name, *instead;
    } hints[] = {
        {"first", "first-of-type"},  {"last", "last-of-type"},  {"only", "only-of-type"},
        {"even", "nth-child(even)"}, {"odd", "nth-child(odd)"}, {"selected", "checked"},
        {"parent", "not(:empty)"},   {"nth", "nth-of-type(N)"}, {"eq", "nth-of-type(N)"},
    };

    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (sn_str_eq(name, sn_str_of(hints[i].name)))
            return sn_select_fail(in, at, "unknown pseudo-class ':%.*s'; try ':%s'",
                                  SN_FMT(name), hints[i].instead);
    return sn_select_fail(in, at, "unknown pseudo-class ':%.*s'", SN_FMT(name));
}

static bool
read_word(sn_select_in *in, sn_str name, size_t at)
{
    sn_simple s = {.kind = SN_SIMPLE_STATE, .list = SN_SELECT_NONE};

    for (size_t i = 0; i < sizeof nths / sizeof *nths; i++)
        if (sn_str_eq(name, sn_str_of(nths[i].name)))
            return add_nth_word(in, &nths[i]);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (sn_str_eq(name, sn_str_of(states[i].name))) {
            s.state = states[i].state;
            in->out->has_scope = in->out->has_scope || s.state == SN_STATE_SCOPE;
            return add_simple(in, &s);
        }
    if (AMONG(name, elements)) /* ":before", the syntax before level 3 */
        return sn_select_fail(in, at, "pseudo-element ':%.*s' is never a node",
                              SN_FMT(name));
    return unknown_word(in, name, at);
}

/* Refuses ::before and other pseudo-elements, which are never nodes. */
static bool
read_element(sn_select_in *in, size_t at)
{
    sn_select_span span;

    if (!sn_select_name(in, &span))
        return sn_select_fail(in, in->at, "expected a name after '::'");
    sn_str name = sn_select_text(in->out, sn_select_lower(in, span));
    if (AMONG(name, elements) || AMONG(name, more_elements))
        return sn_select_fail(in, at, "pseudo-element '::%.*s' is never a node",
                              SN_FMT(name));
    return sn_select_fail(in, at, "unknown pseudo-element '::%.*s'", SN_FMT(name));
}

static bool
read_pseudo(sn_select_in *in)
{
    size_t at = in->at - 1;
    sn_select_span span;
    char lower[64];

    if (sn_select_skip(in, ':'))
        return read_element(in, at);
    if (!sn_select_name(in, &span))
        return sn_select_fail(in, in->at, "expected a name after ':'");
    sn_str name = sn_select_text(in->out, sn_select_lower(in, span));
    if (name.len >= sizeof lower || sn_buf_done(&in->out->text) != SEINE_OK)
        return sn_select_fail(in, at, "unknown pseudo-class ':%.*s'", SN_FMT(name));
    memcpy(lower, name.ptr, name.len); /* the buffer may move while the rest is read */
    name.ptr = lower;
    if (sn_select_skip(in, '('))
        return read_function(in, name, at);
    return read_word(in, name, at);
}

/* Reads one simple selector after the tag. *out_read says whether there was one. */
static bool
read_simple(sn_select_in *in, bool *out_read)
{
    sn_simple s = {.list = SN_SELECT_NONE};
    size_t from = in->at;
    char c = sn_select_peek(in);

    *out_read = in->at < in->len && (c == '#' || c == '.' || c == '[' || c == ':');
    if (!*out_read)
        return true;
    in->at++;
    if (c == '[')
        return read_attr(in);
    if (c == ':')
        return read_pseudo(in);
    s.kind = c == '#' ? SN_SIMPLE_ID : SN_SIMPLE_CLASS;
    if (!sn_select_name(in, &s.value))
        return sn_select_fail(in, from,
                              c == '#' ? "expected a name after '#'"
                                       : "expected a class name after '.'");
    return add_simple(in, &s);
}

/* Writes the diag of a missing part, in the user's words. */
static bool
nothing_there(sn_select_in *in, const char *behind)
{
    char c = sn_select_peek(in);

    if (in->at == in->len || c == ')' || c == ',')
        return sn_select_fail(in, in->at, "expected a selector%s%s",
                              *behind ? " after " : "", behind);
    return sn_select_fail(in, in->at, "expected a selector, not '%c'",
                          c > ' ' && c < 127 ? c : '?');
}

static bool
simples(sn_select_in *in, const char *behind)
{
    bool read, any;

    if (!read_tag(in, &any))
        return false;
    do {
        if (!read_simple(in, &read))
            return false;
        any = any || read;
    } while (read);
    return any || nothing_there(in, behind);
}

/* Reads a compound. The current one is set aside, because a nested list reads its own. */
static bool
compound(sn_select_in *in, const char *behind, sn_compound *out)
{
    uint16_t head = in->head, tail = in->tail;

    in->head = in->tail = SN_SELECT_NONE;
    bool good = simples(in, behind);
    *out =
        (sn_compound){.first = in->head, .left = SN_SELECT_NONE, .next = SN_SELECT_NONE};
    in->head = head;
    in->tail = tail;
    return good;
}

static bool
keep_compound(sn_select_in *in, const sn_compound *c, uint16_t *out_at)
{
    if (in->out->compounds == SN_SELECT_COMPOUNDS)
        return sn_select_fail(in, in->at, "more than %d compounds", SN_SELECT_COMPOUNDS);
    sn_buf_add(&in->out->compound_mem, c, sizeof *c);
    *out_at = in->out->compounds++;
    return true;
}

/* Reads the combinator between two compounds, or NONE at the end. */
static sn_combinator
combinator(sn_select_in *in, const char **out_name)
{
    bool blank = sn_select_blanks(in);
    char c = sn_select_peek(in);

    if (c == '>' || c == '+' || c == '~') {
        in->at++;
        sn_select_blanks(in);
        *out_name = c == '>' ? "'>'" : c == '+' ? "'+'" : "'~'";
        return c == '>' ? SN_COMB_CHILD : c == '+' ? SN_COMB_NEXT : SN_COMB_AFTER;
    }
    *out_name = "";
    if (!blank || in->at == in->len || c == ',' || c == ')')
        return SN_COMB_NONE;
    return SN_COMB_DESCENDANT;
}

/* Reads one selector of a list; returns its last compound. */
static bool
complex(sn_select_in *in, bool relative, const char *behind, uint16_t *out_last)
{
    uint16_t left = SN_SELECT_NONE;
    sn_combinator comb = SN_COMB_NONE, lead = SN_COMB_NONE;

    if (relative) {
        lead = combinator(in, &behind);
        if (lead == SN_COMB_NONE)
            lead = SN_COMB_DESCENDANT;
    }
    for (;;) {
        sn_compound c;

        if (!compound(in, behind, &c))
            return false;
        c.left = left;
        c.comb = (uint8_t)comb;
        c.lead = (uint8_t)lead;
        if (!keep_compound(in, &c, &left))
            return false;
        comb = combinator(in, &behind);
        if (comb == SN_COMB_NONE)
            break;
    }
    *out_last = left;
    return true;
}

static bool
list(sn_select_in *in, bool relative, bool may_be_empty, uint16_t *out_first)
{
    const char *behind = "";
    uint16_t last = SN_SELECT_NONE, one = SN_SELECT_NONE;

    *out_first = SN_SELECT_NONE;
    sn_select_blanks(in);
    if (may_be_empty && sn_select_peek(in) == ')')
        return true;
    do {
        sn_select_blanks(in);
        if (!complex(in, relative, behind, &one))
            return false;
        if (last == SN_SELECT_NONE)
            *out_first = one;
        else if (sn_buf_done(&in->out->compound_mem) == SEINE_OK)
            ((sn_compound *)(void *)in->out->compound_mem.ptr)[last].next = one;
        last = one;
        sn_select_blanks(in);
        behind = "','";
    } while (sn_select_skip(in, ','));
    return true;
}

static bool
whole(sn_select_in *in)
{
    if (in->len > SEINE_SELECT_BYTES)
        return sn_select_fail(in, SEINE_SELECT_BYTES, "longer than %d bytes",
                              SEINE_SELECT_BYTES);
    if (!list(in, false, false, &in->out->list))
        return false;
    char c = sn_select_peek(in);
    if (in->at < in->len)
        return sn_select_fail(in, in->at, "expected the end, not '%c'",
                              c > ' ' && c < 127 ? c : '?');
    return true;
}

static uint64_t
hash(const char *text, size_t len)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

void
seine_select_free(seine_select *s)
{
    if (!s)
        return;
    sn_buf_fini(&s->simple_mem);
    sn_buf_fini(&s->compound_mem);
    sn_buf_fini(&s->text);
    sn_free(s);
}

seine_err
seine_select_new(const char *text, size_t len, seine_select **out_select,
                 seine_diag *diag)
{
    if (!out_select)
        return SEINE_E_INVAL;
    seine_select *s = sn_zalloc(sizeof *s);
    seine_diag flaw = SEINE_DIAG;
    sn_select_in in = {.text = text,
                       .len = len,
                       .out = s,
                       .diag = &flaw,
                       .head = SN_SELECT_NONE,
                       .tail = SN_SELECT_NONE};

    sn_diag_clear(diag);
    if (!s)
        return SEINE_E_NOMEM;
    sn_buf_init(&s->simple_mem, SEINE_SELECT_BYTES * sizeof(sn_simple));
    sn_buf_init(&s->compound_mem, SN_SELECT_COMPOUNDS * sizeof(sn_compound));
    sn_buf_init(&s->text, UINT16_MAX);
    s->hash = hash(text, len);
    bool good = whole(&in);
    if (s->simple_mem.err != SEINE_OK || s->compound_mem.err != SEINE_OK ||
        s->text.err != SEINE_OK) {
        seine_select_free(s);
        return SEINE_E_NOMEM;
    }
    if (!good) {
        seine_select_free(s);
        if (diag)
            *diag = flaw;
        return SEINE_E_CONFIG;
    }
    *out_select = s;
    return SEINE_OK;
}
