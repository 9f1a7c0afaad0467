/* SPDX-License-Identifier: Apache-2.0 */
/* Which spots of a row are fields: texts, links, pictures, times and lists. */
#include <string.h>

#include "recipe/draft.h"

typedef struct search {
    sn_draft *d;
    sn_draft_list *list;
    sn_spots spots;
    const sn_headings *headings;
    const sn_spot *link; /* the link of the row itself; NULL: none yet */
    bool link_in_heading;
    bool has_image;
} search;

static bool
is_seldom(const search *s, const sn_spot *x)
{
    return (uint64_t)x->rows * 10 < s->spots.rows || (s->spots.rows >= 4 && x->rows < 2);
}

static bool
is_list(const sn_spot *x)
{
    return (uint64_t)x->count * 100 > (uint64_t)x->rows * 115;
}

/* Formatting inside of a text, and nothing that has a name. */
static bool
is_formatting(const sn_draft *d, const sn_spot *x)
{
    static const char tags[] = "abbr b bdi bdo br cite code dfn em font i kbd mark q s "
                               "samp small span strong sub sup tt u var wbr ins del";

    if (!sn_draft_is(d, x->node, tags))
        return false;
    for (size_t i = 0; i < x->n_tokens; i++)
        if (x->tokens[i]->worth == SN_TOKEN_GOOD)
            return false;
    return true;
}

/* Children that may be fields of their own. */
static bool
has_parts(const search *s, const sn_spot *x)
{
    for (const sn_spot *c = x->first; c; c = c->next)
        if ((uint64_t)c->rows * 10 >= (uint64_t)x->rows * 3 && !is_formatting(s->d, c) &&
            !is_list(c))
            return true;
    return false;
}

static bool
is_heading(const sn_draft *d, const sn_spot *x)
{
    for (; x; x = x->up)
        if (sn_draft_is(d, x->node, "h1 h2 h3 h4 h5 h6"))
            return true;
    return false;
}

/* Names. */

static const sn_token *
good_token(const sn_spot *x, bool is_prop)
{
    for (size_t i = 0; i < x->n_tokens; i++)
        if (x->tokens[i]->worth == SN_TOKEN_GOOD && x->tokens[i]->is_prop == is_prop &&
            (is_prop || !sn_draft_is_vague(x->tokens[i]->text)) &&
            x->had[i] * 10 >= x->count * 8)
            return x->tokens[i];
    return NULL;
}

/* The text of an element, collapsed, if it is short; in the arena. */
static sn_str
short_text(sn_draft *d, seine_node n)
{
    seine_text text = {NULL, 0};
    sn_str out = {"", 0};

    if (seine_node_end(d->tree, n) - n > 20)
        return out;
    if (seine_node_words(d->tree, n, &text) != SEINE_OK) {
        d->err = SEINE_E_NOMEM;
        return out;
    }
    sn_str trimmed = sn_str_trim((sn_str){text.bytes, text.len});
    if (trimmed.len > 0 && trimmed.len <= 40) {
        char *copy = sn_draft_text(d, trimmed);
        out = (sn_str){copy ? copy : "", copy ? trimmed.len : 0};
    }
    seine_text_free(&text);
    return out;
}

/* <dt>Salary</dt><dd>…</dd>, <span>Salary:</span> <span>…</span>: what stands before the
 * spot, if it is the same in all rows. */
static sn_str
label_before(const search *s, const sn_spot *x)
{
    const sn_spot *before = NULL;

    for (const sn_spot *c = x->up ? x->up->first : NULL; c && c != x; c = c->next)
        if (c->with_text > 0)
            before = c;
    if (!before || before->text_varies || before->first || before->rows < x->rows ||
        before->with_text < before->count)
        return (sn_str){"", 0};
    sn_str text = short_text(s->d, before->node);
    bool is_label = sn_draft_is(s->d, before->node, "dt th b strong label") ||
                    (text.len > 0 && text.ptr[text.len - 1] == ':');
    return is_label ? text : (sn_str){"", 0};
}

static sn_str
heading_of(const search *s, const sn_spot *x)
{
    for (; x && x->up; x = x->up) {
        uint32_t column = x->key.column;
        if (column > 0 && s->headings && column <= s->headings->count)
            return s->headings->names[column - 1];
    }
    return (sn_str){"", 0};
}

static const char *
name_of_tag(const search *s, const sn_spot *x)
{
    if (is_heading(s->d, x))
        return "title";
    for (; x && x->up; x = x->up) {
        if (sn_draft_is(s->d, x->node, "time"))
            return "date";
        if (sn_draft_is(s->d, x->node, "a"))
            return "title";
    }
    return "text";
}

/* The token of the row, which the names of its parts often begin with. */
static sn_str
row_token(const search *s)
{
    const sn_token *t = s->spots.root ? good_token(s->spots.root, false) : NULL;

    return t ? t->text : (sn_str){"", 0};
}

/* What the page calls the spot, or one of its parents that has nothing else. */
static sn_str
called(const search *s, const sn_spot *x)
{
    static const char *const attrs[] = {"data-label", "data-field", "data-title"};
    sn_str text = heading_of(s, x);

    for (size_t i = 0; i < 3 && text.len == 0; i++) {
        sn_str v = seine_node_attr(s->d->tree, x->node, attrs[i]);
        text = v.len > 0 && v.len < 40 ? v : text;
    }
    if (text.len == 0)
        text = label_before(s, x);
    for (const sn_spot *p = x; p && p->up && text.len == 0; p = p->up) {
        const sn_token *t = good_token(p, true);
        t = t ? t : good_token(p, false);
        if (t)
            text = t->text;
        else if (is_heading(s->d, p))
            break;
        if (p->up->first != p || p->next)
            break;
    }
    return text;
}

static bool
is_feed(const search *s)
{
    return sn_draft_is(s->d, s->spots.root->node, "item entry");
}

static void
give_name(search *s, sn_draft_field *f, const sn_spot *x, const char *fallback)
{
    sn_str text = called(s, x);

    if (text.len == 0 && is_feed(s))
        text = sn_draft_tag(s->d,
                            sn_draft_is(s->d, x->node, "name") ? x->up->node : x->node);
    if (text.len == 0) {
        text = sn_str_of(fallback ? fallback : name_of_tag(s, x));
        f->is_vague = sn_str_eq(text, SN_STR("text"));
    }
    sn_draft_name(s->list, f, text, row_token(s));
}

/* Fields. */

static sn_draft_field *
add(search *s, const sn_spot *x, const char *attr, const char *fallback)
{
    const char *select = sn_draft_select_spot(s->d, &s->spots, x);
    sn_draft_field *f = select ? sn_draft_field_new(s->list) : NULL;

    if (!f)
        return NULL;
    f->from = select;
    f->attr = attr;
    give_name(s, f, x, fallback);
    return f;
}

static void
add_link(search *s, const sn_spot *x)
{
    sn_draft_field *f = add(s, x, "href", "link");

    if (!f)
        return;
    sn_draft_name(s->list, f, SN_STR("link"), SN_STR(""));
    f->type = SN_TYPE_URL;
}

/* The link of the row: that of its heading, else the one that most rows have. */
static void
see_link(search *s, const sn_spot *x)
{
    bool in_heading = is_heading(s->d, x);
    bool has_text = s->link && s->link->with_text == 0 && x->with_text > 0;
    bool is_better = !s->link || (in_heading && !s->link_in_heading) ||
                     (has_text && !s->link_in_heading && x->rows * 2 > s->link->rows) ||
                     (in_heading == s->link_in_heading &&
                      (uint64_t)x->rows * 10 > (uint64_t)s->link->rows * 12);

    if (x->hrefs * 2 < x->count || !(x->href_varies || s->spots.rows < 2))
        return;
    const sn_token *prop = good_token(x, true);
    if (prop && !in_heading && !sn_str_eq(prop->text, SN_STR("url"))) {
        sn_draft_field *f = x->text_varies || x->first ? NULL : add(s, x, "href", "link");
        if (f)
            f->type = SN_TYPE_URL;
        return;
    }
    if (!is_better)
        return;
    s->link = x;
    s->link_in_heading = in_heading;
}

static void
add_image(search *s, const sn_spot *x)
{
    static const char *const attrs[] = {"data-src", "data-original", "data-lazy-src",
                                        "src"};
    const char *attr = NULL;

    for (size_t i = 0; i < 4 && !attr; i++)
        if (seine_node_attr(s->d->tree, x->node, attrs[i]).len > 0)
            attr = attrs[i];
    if (!attr || s->has_image)
        return;
    sn_draft_field *f = add(s, x, attr, "image");
    if (!f)
        return;
    s->has_image = true;
    sn_draft_name(s->list, f, SN_STR("image"), SN_STR(""));
    f->is_vague = false;
    f->type = SN_TYPE_URL;
}

/* What an element says without a text. */
static bool
add_attr(search *s, const sn_spot *x)
{
    const char *attr = NULL;

    if (!sn_draft_is(s->d, x->node, "ins del") && x->datetimes * 2 > x->count)
        attr = "datetime";
    else if (x->contents * 2 > x->count && sn_draft_is(s->d, x->node, "meta"))
        attr = "content";
    else if (x->values * 2 > x->count && sn_draft_is(s->d, x->node, "data meter"))
        attr = "value";
    else if (sn_draft_is(s->d, x->node, "link") && x->hrefs * 2 > x->count)
        attr = "href";
    if (!attr)
        return false;
    sn_draft_field *f = add(s, x, attr,
                            attr[0] == 'd'   ? "date"
                            : attr[0] == 'h' ? "link"
                                             : NULL);
    if (f && strcmp(f->name, "link") == 0)
        f->type = SN_TYPE_URL;
    return true;
}

/* <span class="price"><span class="currency">$</span>12</span>: a line with a name is one
 * text, whatever it is made of. */
static bool
is_one_text(const search *s, const sn_spot *x)
{
    if (!x->up || !x->first || !sn_draft_is(s->d, x->node, "span b strong em") ||
        !(good_token(x, false) || good_token(x, true)))
        return false;
    for (const sn_spot *c = x->first; c; c = c->next)
        if (!sn_draft_is(s->d, c->node, "span b strong em i small sup sub abbr") ||
            c->first || good_token(c, true))
            return false;
    return true;
}

/* One part of an inner list with a text, for instance a tag. */
static void
add_list(search *s, const sn_spot *x)
{
    const sn_spot *leaf = x;

    while (leaf->with_text * 2 < leaf->count && leaf->first && !leaf->first->next)
        leaf = leaf->first;
    bool is_one = is_one_text(s, leaf);
    if ((leaf->with_text * 2 < leaf->count || has_parts(s, leaf)) && !is_one)
        return;
    if (!leaf->text_varies && !is_one)
        return;
    sn_draft_field *f = add(s, x, NULL, NULL);
    if (f)
        f->all = true;
}

static bool
is_label(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!sn_is_alpha(s.ptr[i]) && s.ptr[i] != ' ')
            return false;
    return s.len >= 2 && s.len <= 30;
}

/* "Price" of <li><b>Price:</b> 12</li> and of <li>Price: 12</li>, if it is the same in
 * all rows. */
static sn_str
label_within(const search *s, const sn_spot *x)
{
    const sn_spot *c = x->first;
    sn_str label = x->label;

    if (c && !c->text_varies && c->with_text == x->count && !c->first &&
        seine_node_first(s->d->tree, x->node) != 0 && c->rows == x->rows &&
        sn_draft_is(s->d, c->node, "b strong span em label i"))
        label = short_text(s->d, c->node);
    if (label.len > 0 && label.ptr[label.len - 1] == ':')
        label.len--;
    else if (label.ptr != x->label.ptr)
        label.len = 0;
    label = sn_str_trim(label);
    return x->count > 1 && is_label(label) ? label : (sn_str){"", 0};
}

/* Titles of feeds are texts to HTML, marks of XML included: <![CDATA[…]]>. */
static bool
is_marked(const search *s, const sn_spot *x)
{
    seine_node c = seine_node_first(s->d->tree, x->node);

    return c != 0 && sn_str_starts(sn_str_trim(seine_node_value(s->d->tree, c)),
                                   SN_STR("<![CDATA["));
}

static void
add_text(search *s, const sn_spot *x, bool is_whole)
{
    sn_draft_field *f;
    uint32_t column = x->key.column;

    if (column > 0 && s->headings && s->headings->is_table &&
        column <= s->headings->count) {
        f = sn_draft_field_new(s->list);
        if (!f)
            return;
        f->source = SN_FROM_COL;
        f->keep = true;
        f->from = sn_draft_text(s->d, s->headings->names[column - 1]);
        give_name(s, f, x, NULL);
        return;
    }
    f = add(s, x, NULL, is_whole ? "text" : NULL);
    if (!f)
        return;
    f->is_weak = is_whole;
    if (is_feed(s) && is_marked(s, x)) {
        f->regex = "(?s)^(?:<!\\[CDATA\\[)?(.*?)(?:\\]\\]>)?$";
        return;
    }
    sn_str label = label_within(s, x);
    if (label.len == 0)
        return;
    f->regex = sn_draft_printf(s->d, "^%.*s\\s*:\\s*(.+)", SN_FMT(label));
    sn_draft_name(s->list, f, label, SN_STR(""));
    f->is_vague = false;
}

/* The word after a class; signs of the class mean nothing else. */
static const char *
rating_regex(sn_draft *d, sn_str base)
{
    sn_buf b;

    sn_buf_init(&b, SN_DRAFT_TEXT);
    sn_buf_text(&b, "\\b");
    for (size_t i = 0; i < base.len; i++) {
        bool is_sign = memchr("\\^$.[]|()?*+{}", base.ptr[i], 14) != NULL;
        sn_buf_printf(&b, is_sign ? "\\%c" : "%c", base.ptr[i]);
    }
    sn_buf_text(&b, "[- ]([\\w.-]+)$");
    return sn_draft_take(d, &b);
}

/* <p class="star-rating Three">: the class that varies beside the one that stays. */
static bool
add_rating(search *s, const sn_spot *x)
{
    const sn_token *base = good_token(x, false);

    if (!base || x->first || x->with_text > 0 || x->n_tokens < 2 ||
        !sn_draft_is(s->d, x->node, "p div span i"))
        return false;
    for (size_t i = 0; i < x->n_tokens; i++) {
        if (x->had[i] == x->count || x->tokens[i]->is_prop)
            continue;
        sn_draft_field *f = add(s, x, "class", NULL);
        if (f)
            f->regex = rating_regex(s->d, base->text);
        return true;
    }
    return false;
}

/* aria-label or title of what has no text. */
static void
add_silent(search *s, const sn_spot *x)
{
    if (x->labels * 2 > x->count)
        (void)add(s, x, "aria-label", NULL);
    else if (x->titles * 2 > x->count && x->up)
        (void)add(s, x, "title", NULL);
    else
        (void)add_rating(s, x);
}

static void walk(search *s, const sn_spot *x, unsigned depth);

static void
walk_parts(search *s, const sn_spot *x, unsigned depth)
{
    for (const sn_spot *c = x->first; c; c = c->next)
        walk(s, c, depth + 1);
}

/* Links inside of a text. */
static void
see_links_of(search *s, const sn_spot *x)
{
    for (const sn_spot *c = x->first; c; c = c->next)
        if (sn_draft_is(s->d, c->node, "a") && c->rows * 10 >= s->spots.rows * 7)
            see_link(s, c);
}

/* A cell of a table with a heading is a field, whatever is in it. */
static bool
is_cell(const search *s, const sn_spot *x)
{
    return x->up && x->key.column > 0 && s->headings && s->headings->is_table &&
           x->key.column <= s->headings->count;
}

static void
walk(search *s, const sn_spot *x, unsigned depth)
{
    size_t before = s->list->n_fields;

    if (is_seldom(s, x) || depth > 64)
        return;
    if (is_list(x)) {
        if (sn_draft_is(s->d, x->node, "a"))
            see_link(s, x);
        else
            add_list(s, x);
        return;
    }
    if (sn_draft_is(s->d, x->node, "img")) {
        add_image(s, x);
        return;
    }
    if (add_attr(s, x))
        return;
    if (sn_draft_is(s->d, x->node, "a"))
        see_link(s, x);
    if (is_cell(s, x)) {
        add_text(s, x, false);
        see_links_of(s, x);
        return;
    }
    bool has_text = x->with_text * 10 >= x->count * 4 || is_one_text(s, x);
    bool parts = has_parts(s, x) && !is_one_text(s, x);
    if (has_text && !parts && sn_draft_is(s->d, x->node, "button label"))
        return;
    if (has_text && !parts) {
        add_text(s, x, false);
        see_links_of(s, x);
        return;
    }
    if (!has_text && !x->first) {
        add_silent(s, x);
        return;
    }
    walk_parts(s, x, depth);
    if (has_text && x->text_varies && s->list->n_fields - before < 3)
        add_text(s, x, true);
}

/* "sku", "hotel-id"; of longer ones, which scripts use, few say what a row is. */
static bool
is_data_name(sn_str name)
{
    size_t dash = sn_str_find(name, '-');

    return dash == name.len ||
           sn_str_is_among(sn_str_slice(name, dash + 1, name.len),
                           "id sku price name title date code brand rating");
}

/* data-sku="…" of the row. */
static void
add_data(search *s, seine_node row)
{
    static const char skipped[] =
        "index position pos testid test reactid key toggle target src srcset lazy order "
        "row parent count total page type class style role action controller url v";
    seine_attr a;

    for (size_t i = 0; i < 64 && seine_node_attr_at(s->d->tree, row, i, &a); i++) {
        sn_str name = sn_str_slice(a.name, 5, a.name.len);
        if (!sn_str_starts(a.name, SN_STR("data-")) || name.len == 0 || name.len > 20 ||
            sn_str_is_among(name, skipped) || !is_data_name(name) || a.value.len == 0 ||
            a.value.len > 64 || sn_draft_worth(name) < SN_TOKEN_LAYOUT)
            continue;
        sn_draft_field *f = sn_draft_field_new(s->list);
        if (!f)
            return;
        f->from = "";
        f->attr = sn_draft_text(s->d, a.name);
        sn_draft_name(s->list, f, name, SN_STR(""));
    }
}

/* In RSS <link> is no element of HTML with a text: the address stands behind it. */
static void
add_feed_link(search *s)
{
    sn_draft_field *f = sn_draft_field_new(s->list);

    if (!f)
        return;
    f->from = "";
    f->attr = "html";
    f->regex = "<link>\\s*([^<\\s]+)";
    f->unescape = true;
    f->type = SN_TYPE_URL;
    sn_draft_name(s->list, f, SN_STR("link"), SN_STR(""));
}

void
sn_draft_fields(sn_draft *d, sn_draft_list *list, const seine_node *rows, size_t n_rows,
                const sn_headings *headings)
{
    search *s = SN_ARENA_NEW(&d->arena, search);

    if (!s) {
        sn_draft_no_memory(d);
        return;
    }
    s->d = d;
    s->list = list;
    s->headings = headings;
    sn_draft_spots(d, rows, n_rows, &s->spots);
    if (d->err != SEINE_OK || !s->spots.root)
        return;
    add_data(s, rows[0]);
    walk(s, s->spots.root, 0);
    if (s->link)
        add_link(s, s->link);
    if (!s->link && sn_draft_is(d, s->spots.root->node, "item"))
        add_feed_link(s);
}
