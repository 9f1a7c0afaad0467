/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stack of open elements and a list of active formatting elements, by the standard
 * (13.2.4), as far as the depth of the tree needs them. No search walks the stack: each
 * entry stores the nearest entry below it that would end a search.
 */
#include "text/html_count.h"

#include <string.h>

enum {
    VOID = 1,
    SPECIAL = 2, /* ends the search of an end tag of unknown name */
    SCOPE = 4,   /* ends the search of an end tag of known name */
    BLOCK = 8,   /* its start tag ends a <p>; its end tag searches the scope */
    FORMAT = 16,
    MARK = 32,
    TABLE = 64,    /* a part of tables, ignored without a table */
    HEADING = 128, /* as BLOCK; a heading ends an open heading */
    ENDS_P = 256,
    ABSENT = 512, /* never on the stack: html, head, body */
    INPUT = 1024  /* ends a <select> */
};

/* clang-format off */
#define KIND_TABLE(X) \
    X(A, "a", FORMAT) X(B, "b", FORMAT) X(I, "i", FORMAT) X(S, "s", FORMAT) X(U, "u", FORMAT) \
    X(P, "p", SPECIAL | BLOCK) \
    X(EM, "em", FORMAT) X(TT, "tt", FORMAT) X(BR, "br", SPECIAL | VOID) X(HR, "hr", SPECIAL | VOID | ENDS_P) \
    X(LI, "li", SPECIAL | ENDS_P) X(DD, "dd", SPECIAL | ENDS_P) X(DT, "dt", SPECIAL | ENDS_P) \
    X(UL, "ul", SPECIAL | BLOCK) X(OL, "ol", SPECIAL | BLOCK) X(DL, "dl", SPECIAL | BLOCK) \
    X(TD, "td", SPECIAL | SCOPE | MARK | TABLE) X(TR, "tr", SPECIAL | TABLE) X(TH, "th", SPECIAL | SCOPE | MARK | TABLE) \
    X(H1, "h1", SPECIAL | BLOCK | HEADING) X(H2, "h2", SPECIAL | BLOCK | HEADING) X(H3, "h3", SPECIAL | BLOCK | HEADING) \
    X(H4, "h4", SPECIAL | BLOCK | HEADING) X(H5, "h5", SPECIAL | BLOCK | HEADING) X(H6, "h6", SPECIAL | BLOCK | HEADING) \
    X(RP, "rp", 0) X(RT, "rt", 0) X(RB, "rb", 0) \
    X(DIV, "div", SPECIAL | BLOCK) X(IMG, "img", SPECIAL | VOID) X(BIG, "big", FORMAT) X(COL, "col", SPECIAL | VOID | TABLE) \
    X(NAV, "nav", SPECIAL | BLOCK) X(PRE, "pre", SPECIAL | BLOCK) X(DIR, "dir", SPECIAL | BLOCK) X(WBR, "wbr", SPECIAL | VOID) \
    X(RTC, "rtc", 0) X(XMP, "xmp", SPECIAL | ENDS_P) X(SVG, "svg", 0) \
    X(CODE, "code", FORMAT) X(FONT, "font", FORMAT) X(NOBR, "nobr", FORMAT) X(LINK, "link", SPECIAL | VOID) \
    X(META, "meta", SPECIAL | VOID) X(FORM, "form", SPECIAL | ENDS_P) X(MAIN, "main", SPECIAL | BLOCK) \
    X(MENU, "menu", SPECIAL | BLOCK) X(AREA, "area", SPECIAL | VOID) X(BASE, "base", SPECIAL | VOID) X(MATH, "math", 0) \
    X(HTML, "html", ABSENT) X(HEAD, "head", ABSENT) X(BODY, "body", ABSENT) X(DESC, "desc", SPECIAL | SCOPE) \
    X(SMALL, "small", FORMAT) X(TABLE_, "table", SPECIAL | SCOPE) X(TBODY, "tbody", SPECIAL | TABLE) X(THEAD, "thead", SPECIAL | TABLE) \
    X(TFOOT, "tfoot", SPECIAL | TABLE) X(INPUT_, "input", SPECIAL | VOID | INPUT) X(EMBED, "embed", SPECIAL | VOID) \
    X(FRAME, "frame", SPECIAL | VOID) X(PARAM, "param", SPECIAL | VOID) X(TRACK, "track", SPECIAL | VOID) X(ASIDE, "aside", SPECIAL | BLOCK) \
    X(IMAGE, "image", SPECIAL | VOID) X(TITLE, "title", SPECIAL) X(STYLE, "style", SPECIAL) \
    X(STRIKE, "strike", FORMAT) X(STRONG, "strong", FORMAT) X(SOURCE, "source", SPECIAL | VOID) X(CENTER, "center", SPECIAL | BLOCK) \
    X(HEADER, "header", SPECIAL | BLOCK) X(FOOTER, "footer", SPECIAL | BLOCK) X(FIGURE, "figure", SPECIAL | BLOCK) \
    X(HGROUP, "hgroup", SPECIAL | BLOCK) X(DIALOG, "dialog", BLOCK) X(SEARCH, "search", SPECIAL | BLOCK) X(BUTTON, "button", SPECIAL) \
    X(SELECT, "select", SPECIAL | SCOPE) X(OPTION, "option", 0) X(OBJECT, "object", SPECIAL | SCOPE | MARK) \
    X(APPLET, "applet", SPECIAL | SCOPE | MARK) X(KEYGEN, "keygen", SPECIAL | VOID | INPUT) X(SCRIPT, "script", SPECIAL) \
    X(IFRAME, "iframe", SPECIAL) \
    X(ARTICLE, "article", SPECIAL | BLOCK) X(SECTION, "section", SPECIAL | BLOCK) X(ADDRESS, "address", SPECIAL | BLOCK) \
    X(DETAILS, "details", SPECIAL | BLOCK) X(SUMMARY, "summary", SPECIAL | BLOCK) X(LISTING, "listing", SPECIAL | BLOCK) \
    X(BGSOUND, "bgsound", SPECIAL | VOID) X(CAPTION, "caption", SPECIAL | SCOPE | MARK | TABLE) X(MARQUEE, "marquee", SPECIAL | SCOPE | MARK) \
    X(NOEMBED, "noembed", SPECIAL) \
    X(FIELDSET, "fieldset", SPECIAL | BLOCK) X(COLGROUP, "colgroup", SPECIAL | TABLE) X(OPTGROUP, "optgroup", 0) \
    X(BASEFONT, "basefont", SPECIAL | VOID) X(TEMPLATE, "template", SPECIAL | SCOPE | MARK) X(TEXTAREA, "textarea", SPECIAL | INPUT) \
    X(FRAMESET, "frameset", SPECIAL) X(NOSCRIPT, "noscript", SPECIAL) X(NOFRAMES, "noframes", SPECIAL) \
    X(PLAINTEXT, "plaintext", SPECIAL | ENDS_P) \
    X(BLOCKQUOTE, "blockquote", SPECIAL | BLOCK) X(FIGCAPTION, "figcaption", SPECIAL | BLOCK) \
    X(FOREIGNOBJECT, "foreignobject", SPECIAL | SCOPE)
/* clang-format on */

typedef enum kind {
    OTHER, /* 0: no kind */
#define ROW(id, name, flags) id,
    KIND_TABLE(ROW)
#undef ROW
        KNOWN
} kind;

enum {
    SLOTS = SN_HTML_KINDS - KNOWN,
    LOOK = 16,
    HEAVY = 512 /* per 512 bytes of a tag the element counts once more */
};
_Static_assert(sizeof(sn_html_count) <= 29 * 1024, "html_count.h says so");
_Static_assert(SLOTS >= 32, "room for names that are not known");

typedef struct row {
    char name[SN_HTML_NAME];
    uint16_t flags;
    uint8_t len;
} row;

static const row rows[KNOWN] = {{"", 0, 0},
#define ROW(id, name_, flags_) {.name = name_, .flags = flags_, .len = sizeof name_ - 1},
                                KIND_TABLE(ROW)
#undef ROW
};

/* The index of the first name of each length; the table is sorted by length. */
static const uint8_t first[SN_HTML_NAME + 2] = {
    OTHER,   A,        EM,        DIV,        CODE,          SMALL,         STRIKE,
    ARTICLE, FIELDSET, PLAINTEXT, BLOCKQUOTE, FOREIGNOBJECT, FOREIGNOBJECT, FOREIGNOBJECT,
    KNOWN,   KNOWN,    KNOWN,     KNOWN,
};

static unsigned
flags_of(const sn_html_count_named *n)
{
    return n->kind < KNOWN ? rows[n->kind].flags : 0;
}

void
sn_html_count_init(sn_html_count *c, uint64_t max_tags)
{
    memset(c, 0, sizeof *c);
    c->max_tags = max_tags > 0 ? max_tags : SN_HTML_MAX_TAGS;
}

void
sn_html_count_name(sn_html_count *c, const sn_html *t)
{
    sn_html_count_named *n = &c->tag;

    *n = (sn_html_count_named){.len = t->name_len, .rest = t->name_rest};
    memcpy(n->name, t->name, sizeof n->name);
    c->raw_end = false;
    if (n->len <= SN_HTML_NAME)
        for (unsigned k = first[n->len]; k < first[n->len + 1]; k++)
            if (memcmp(rows[k].name, n->name, sizeof n->name) == 0) {
                n->kind = (uint8_t)k;
                return;
            }
    uint64_t words[2];
    memcpy(words, n->name, sizeof words);
    uint64_t mixed = (words[0] ^ words[1] * 3 ^ n->rest) * UINT64_C(0x9e3779b97f4a7c15);
    n->kind = (uint8_t)(KNOWN + (mixed >> 32) % SLOTS);
}

void
sn_html_count_raw_end(sn_html_count *c)
{
    c->raw_end = true;
}

static void
refuse_page(sn_html_count *c, seine_err e)
{
    if (c->err == SEINE_OK)
        c->err = e;
}

void
sn_html_count_attrs(sn_html_count *c)
{
    refuse_page(c, SEINE_E_HTML_TOO_COMPLEX);
}

void
sn_html_count_node(sn_html_count *c)
{
    if (++c->tags > c->max_tags)
        refuse_page(c, SEINE_E_HTML_TOO_COMPLEX);
}

/* The list of formatting elements. */

static void
format_drop(sn_html_count *c, uint32_t i)
{
    c->weight -= c->format[i].weight;
    memmove(&c->format[i], &c->format[i + 1], (c->formats - i - 1) * sizeof *c->format);
    c->formats--;
    c->open--;
}

static void
format_clear(sn_html_count *c)
{
    while (c->formats > 0 && c->format[--c->formats].kind != 0) {
        c->weight -= c->format[c->formats].weight;
        c->open--;
    }
}

/* Returns the last entry of this kind after the last marker, or -1. */
static int64_t
format_find(const sn_html_count *c, uint8_t k)
{
    for (uint32_t i = c->formats; i-- > 0 && c->format[i].kind != 0;)
        if (c->format[i].kind == k)
            return i;
    return -1;
}

/* The list holds at most three elements that are alike (the Noah's Ark clause). */
static void
format_add(sn_html_count *c, uint8_t k, bool plain)
{
    uint32_t weight = (uint32_t)(1 + c->tag_len / HEAVY);
    uint32_t alike = 0, oldest = 0;

    for (uint32_t i = c->formats; plain && i-- > 0 && c->format[i].kind != 0;)
        if (c->format[i].kind == k && c->format[i].plain) {
            alike++;
            oldest = i;
        }
    if (alike == 3)
        format_drop(c, oldest);
    if (c->open == SN_HTML_MAX_OPEN) {
        refuse_page(c, SEINE_E_HTML_TOO_COMPLEX);
        return;
    }
    c->format[c->formats++] = (sn_html_count_format){k, plain, weight};
    c->weight += weight;
    c->open++;
}

/* The stack. */

static uint16_t
larger(uint16_t a, uint16_t b)
{
    return a > b ? a : b;
}

static bool
is_foreign(const sn_html_count *c)
{
    const sn_html_count_open *o = &c->stack[c->top];

    return o->foreign && o->is.kind != FOREIGNOBJECT && o->is.kind != DESC &&
           o->is.kind != TITLE;
}

static void
pop(sn_html_count *c)
{
    const sn_html_count_open *o = &c->stack[c->top--];

    if (o->dead)
        return;
    c->last[o->is.kind] = o->before;
    c->depth--;
    if (!o->foreign && (flags_of(&o->is) & MARK))
        format_clear(c);
}

static void
bury(sn_html_count *c)
{
    while (c->top > 0 && c->stack[c->top].dead)
        pop(c);
}

/* Pops everything above entry `to`. */
static void
pop_above(sn_html_count *c, uint16_t to)
{
    while (c->top > to)
        pop(c);
    bury(c);
}

static void
pop_through(sn_html_count *c, uint16_t at)
{
    if (at > 0)
        pop_above(c, at - 1);
}

/* Removes one entry; the entries above it stay. */
static void
take_out(sn_html_count *c, uint16_t at)
{
    sn_html_count_open *o = &c->stack[at];

    if (at == c->top) {
        pop_through(c, at);
        return;
    }
    if (c->last[o->is.kind] == at)
        c->last[o->is.kind] = o->before;
    o->dead = true;
    c->depth--;
}

static void
push_open(sn_html_count *c, const sn_html_count_named *n, bool foreign)
{
    unsigned flags = flags_of(n);
    bool limits = !foreign || (flags & SCOPE) || n->kind == TITLE;

    if (c->top + 1 == SN_HTML_STACK) {
        refuse_page(c, SEINE_E_HTML_TOO_DEEP);
        return;
    }
    const sn_html_count_open *below = &c->stack[c->top];
    uint16_t at = ++c->top;
    sn_html_count_open *o = &c->stack[at];
    *o = (sn_html_count_open){.is = *n,
                              .foreign = foreign,
                              .before = c->last[n->kind],
                              .special = below->special,
                              .scope = below->scope,
                              .item = below->item};
    c->last[n->kind] = at;
    c->pushed = true;
    if (limits && (flags & SPECIAL)) {
        o->special = at;
        if (n->kind != ADDRESS && n->kind != DIV && n->kind != P)
            o->item = at;
    }
    if (limits && (flags & SCOPE))
        o->scope = at;
    if (!foreign && (flags & MARK))
        c->format[c->formats++] = (sn_html_count_format){0, false, 0};
    /* The standard reopens formatting elements that were left open when their block
     * ended. */
    if (++c->depth + c->open > c->deepest)
        c->deepest = c->depth + c->open;
    if (c->depth > SN_HTML_MAX_DEPTH)
        refuse_page(c, SEINE_E_HTML_TOO_DEEP);
}

static void
push_kind(sn_html_count *c, kind k)
{
    push_open(c, &(sn_html_count_named){.kind = (uint8_t)k}, false);
}

/* Returns the topmost entry of this name above entry `floor`, or 0. */
static uint16_t
find_above(const sn_html_count *c, const sn_html_count_named *n, uint16_t floor)
{
    uint16_t at = c->last[n->kind];

    if (n->kind < KNOWN)
        return at > floor ? at : 0;
    for (int i = 0; i < LOOK && at > floor; i++, at = c->stack[at].before) {
        const sn_html_count_named *o = &c->stack[at].is;

        if (o->len == n->len && o->rest == n->rest &&
            memcmp(o->name, n->name, sizeof n->name) == 0)
            return at;
    }
    return 0;
}

static bool
top_is(const sn_html_count *c, kind k)
{
    return c->stack[c->top].is.kind == (uint8_t)k;
}

/* A start tag ends the elements that cannot contain it. */

static void
end_p(sn_html_count *c)
{
    uint16_t floor = larger(c->stack[c->top].scope, c->last[BUTTON]);

    if (c->last[P] > floor)
        pop_through(c, c->last[P]);
}

/* Ends an open <a>: at its end tag or at the next <a>. */
static void
end_format(sn_html_count *c, const sn_html_count_named *n)
{
    const sn_html_count_open *top = &c->stack[c->top];
    int64_t i = format_find(c, n->kind);
    uint16_t at = c->last[n->kind];

    if (i >= 0)
        format_drop(c, (uint32_t)i);
    if (i < 0)
        pop_through(c, find_above(c, n, top->special));
    else if (at > top->special)
        pop_through(c, at);
    else if (at > top->scope)
        take_out(c, at);
}

/* Ends the parts of a table that cannot contain this one. False: there is no table, so
 * the tag is ignored. */
static bool
make_room_in_table(sn_html_count *c, kind k)
{
    uint16_t table = larger(c->last[TABLE_], c->last[TEMPLATE]), to = table;

    if (table == 0)
        return false;
    if (k == TR || k == TD || k == TH)
        to = larger(larger(c->last[TBODY], c->last[THEAD]), larger(c->last[TFOOT], to));
    if (k == TD || k == TH)
        to = larger(c->last[TR], to);
    pop_above(c, to);
    if (k != CAPTION && k != COLGROUP && k != COL && top_is(c, TABLE_) &&
        (k == TR || k == TD || k == TH))
        push_kind(c, TBODY);
    if ((k == TD || k == TH) && !top_is(c, TR))
        push_kind(c, TR);
    return true;
}

/* A <select> allows few elements. False: the tag is ignored. */
static bool
make_room_in_select(sn_html_count *c, kind k, unsigned flags)
{
    uint16_t at = c->last[SELECT];

    if (at == 0 || at < c->last[TEMPLATE])
        return true;
    if (k == SELECT || (flags & INPUT) || (flags & TABLE) || k == TABLE_) {
        pop_through(c, at);
        return k != SELECT;
    }
    return k == OPTION || k == OPTGROUP || k == TEMPLATE || k == SCRIPT || k == HR;
}

static void
end_items(sn_html_count *c, kind k)
{
    const sn_html_count_open *top = &c->stack[c->top];
    kind item = (kind)c->stack[top->item].is.kind;

    if ((k == LI && item == LI) || (k != LI && (item == DD || item == DT)))
        pop_through(c, top->item);
}

static void
end_before(sn_html_count *c, kind k, unsigned flags)
{
    if (k == LI || k == DD || k == DT)
        end_items(c, k);
    if (flags & (BLOCK | ENDS_P) || k == TABLE_)
        end_p(c);
    if ((flags & HEADING) && (flags_of(&c->stack[c->top].is) & HEADING))
        pop_through(c, c->top);
    if ((k == OPTION || k == OPTGROUP) && top_is(c, OPTION))
        pop_through(c, c->top);
    if (k == OPTGROUP && top_is(c, OPTGROUP))
        pop_through(c, c->top);
    if ((k == RT || k == RP || k == RB || k == RTC) &&
        (top_is(c, RT) || top_is(c, RP) || top_is(c, RB)))
        pop_through(c, c->top);
    if (k == BUTTON && c->last[BUTTON] > c->stack[c->top].scope)
        pop_through(c, c->last[BUTTON]);
    if ((k == A && format_find(c, A) >= 0) || (k == NOBR && format_find(c, NOBR) >= 0))
        end_format(c, &(sn_html_count_named){.kind = (uint8_t)k});
}

static void
opened_foreign(sn_html_count *c, const sn_html *t)
{
    if (!t->self_closing)
        push_open(c, &c->tag, true);
}

static void
opened(sn_html_count *c, const sn_html *t)
{
    kind k = (kind)c->tag.kind;
    unsigned flags = flags_of(&c->tag);

    if (is_foreign(c)) {
        if (!sn_html_is_breakout(c->tag.name, c->tag.len)) {
            opened_foreign(c, t);
            return;
        }
        while (is_foreign(c))
            pop_through(c, c->top);
    }
    if ((flags & ABSENT) || !make_room_in_select(c, k, flags))
        return;
    if ((flags & TABLE) && !make_room_in_table(c, k))
        return;
    end_before(c, k, flags);
    if (flags & FORMAT)
        format_add(c, c->tag.kind, t->attrs == 0);
    if (k == SVG || k == MATH)
        opened_foreign(c, t);
    else if (!(flags & VOID))
        push_open(c, &c->tag, false);
}

static bool
ignored_in_select(const sn_html_count *c, kind k, unsigned flags)
{
    return c->last[SELECT] > c->last[TEMPLATE] && k != SELECT && k != OPTION &&
           k != OPTGROUP && k != TEMPLATE && k != TABLE_ && !(flags & TABLE);
}

static void
closed(sn_html_count *c)
{
    const sn_html_count_open *top = &c->stack[c->top];
    kind k = (kind)c->tag.kind;
    unsigned flags = flags_of(&c->tag);
    uint16_t at = c->last[c->tag.kind], floor = top->scope;

    if ((flags & ABSENT) || ignored_in_select(c, k, flags))
        return;
    if (flags & FORMAT) {
        end_format(c, &c->tag);
        return;
    }
    if ((flags & TABLE) || k == TABLE_)
        floor = larger(k == TABLE_ ? 0 : c->last[TABLE_], c->last[TEMPLATE]);
    else if (k == TEMPLATE || k == SELECT)
        floor = 0;
    else if (k == P)
        floor = larger(floor, c->last[BUTTON]);
    else if (k == LI)
        floor = larger(floor, larger(c->last[OL], c->last[UL]));
    else if (!(flags & (SPECIAL | BLOCK)))
        floor = top->special;
    else if (flags & SCOPE)
        floor = floor > 0 ? floor - 1 : 0;
    if (k == FORM && at > floor)
        take_out(c, at);
    else
        pop_through(c, find_above(c, &c->tag, floor));
}

void
sn_html_count_tag(sn_html_count *c, const sn_html *t, uint64_t tag_len)
{
    if (c->err != SEINE_OK)
        return;
    c->tag_len = tag_len < UINT32_MAX ? (uint32_t)tag_len : UINT32_MAX;
    sn_html_count_node(c);
    if (t->attrs > c->most_attrs)
        c->most_attrs = t->attrs;
    if (c->raw_end && c->pushed)
        pop_through(c, c->top);
    else if (!c->raw_end && t->end_tag)
        closed(c);
    c->pushed = false;
    if (!t->end_tag)
        opened(c, t);
    c->raw_end = false;
    c->reopened += c->weight;
    if (c->open > c->most_open)
        c->most_open = c->open;
    if (c->reopened > SN_HTML_MAX_REOPENED)
        refuse_page(c, SEINE_E_HTML_TOO_COMPLEX);
}

seine_err
sn_html_count_verdict(const sn_html_count *c, uint64_t bytes)
{
    if (c->err == SEINE_OK && c->reopened > bytes / 3 + 1000)
        return SEINE_E_HTML_TOO_COMPLEX;
    return c->err;
}
