/* SPDX-License-Identifier: Apache-2.0 */
/* Tests one simple selector on one node. */
#include <string.h>

#include "text/select_match.h"

static const sn_simple *
simple_of(const sn_match *m, uint16_t i)
{
    return sn_select_simple(m->known->select, i);
}

/* Finds the value of an attribute by the number of its name, under any prefix if
 * `any`. */
static bool
value_of(sn_match *m, seine_node n, uint32_t name, bool any_prefix, sn_str *out)
{
    const seine_tree *t = m->f->tree;
    const sn_node *node = sn_tree_node(t, n);

    for (uint32_t i = 0; i < node->len; i++) {
        const sn_tree_attr *a = sn_tree_attr_at(t, node->at + i);

        if (a->name == name && (any_prefix || a->ns == SN_ATTR_PLAIN)) {
            *out = (sn_str){t->text.ptr + a->at, a->len};
            return true;
        }
    }
    return false;
}

static bool
equal(sn_str a, sn_str b, bool nocase)
{
    return nocase ? sn_str_eq_nocase(a, b) : sn_str_eq(a, b);
}

static bool
has_word(sn_str value, sn_str word, bool nocase)
{
    size_t i = 0;

    if (word.len == 0)
        return false;
    while (i < value.len) {
        size_t from = i;

        while (i < value.len && !sn_is_space(value.ptr[i]))
            i++;
        if (i - from == word.len &&
            equal((sn_str){value.ptr + from, i - from}, word, nocase))
            return true;
        while (i < value.len && sn_is_space(value.ptr[i]))
            i++;
    }
    return false;
}

static bool
contains(sn_str value, sn_str part, bool nocase)
{
    if (part.len == 0 || part.len > value.len)
        return false;
    if (!nocase)
        return memmem(value.ptr, value.len, part.ptr, part.len) != NULL;
    for (size_t i = 0; i + part.len <= value.len; i++)
        if (sn_lower(value.ptr[i]) == sn_lower(part.ptr[0]) &&
            sn_str_eq_nocase(sn_str_slice(value, i, i + part.len), part))
            return true;
    return false;
}

/* HTML attributes whose values are compared without case (HTML standard, 4.16.2). */
static bool
is_nocase_attr(sn_str name)
{
    static const char names[] =
        " accept accept-charset align alink axis bgcolor charset checked clear codetype "
        "color compact declare defer dir direction disabled enctype face frame hreflang "
        "http-equiv lang language link media method multiple nohref noresize noshade "
        "nowrap readonly rel rev rules scope scrolling selected shape target text type "
        "valign valuetype vlink ";
    const char *at = names;

    if (name.len == 0 || memchr(name.ptr, ' ', name.len))
        return false;
    while (
        (at = memmem(at, (size_t)(names + sizeof names - 1 - at), name.ptr, name.len))) {
        if (at[-1] == ' ' && at[name.len] == ' ')
            return true;
        at++;
    }
    return false;
}

static bool
attr_matches(sn_match *m, seine_node n, const sn_simple *s, const sn_known_simple *k)
{
    const seine_select *sel = m->known->select;
    bool html = sn_tree_node(m->f->tree, n)->ns == SN_NS_HTML;
    sn_str value, want = sn_select_text(sel, s->value);

    if (!value_of(m, n, html ? k->name : k->exact, s->any_prefix, &value))
        return false;
    if (s->op == SN_OP_HAS)
        return true;
    bool nocase =
        s->kase == SN_CASE_IGNORED || (s->kase == SN_CASE_USUAL && html &&
                                       is_nocase_attr(sn_select_text(sel, s->name)));
    size_t work = nocase && s->op == SN_OP_CONTAINS ? value.len * want.len : value.len;
    if (!sn_match_step(m, work / 64))
        return false;
    switch ((sn_attr_op)s->op) {
    case SN_OP_HAS:
    case SN_OP_IS:
        return equal(value, want, nocase);
    case SN_OP_WORD:
        return has_word(value, want, nocase);
    case SN_OP_DASH:
        return equal(sn_str_slice(value, 0, want.len), want, nocase) &&
               (value.len == want.len ||
                (value.len > want.len && value.ptr[want.len] == '-'));
    case SN_OP_BEGINS:
        return want.len > 0 && value.len >= want.len &&
               equal(sn_str_slice(value, 0, want.len), want, nocase);
    case SN_OP_ENDS:
        return want.len > 0 && value.len >= want.len &&
               equal(sn_str_slice(value, value.len - want.len, value.len), want, nocase);
    case SN_OP_CONTAINS:
        return contains(value, want, nocase);
    }
    return false;
}

/* Compares the nearest lang attribute, of the node or an ancestor. */
static bool
lang_matches(sn_match *m, seine_node n, sn_str want)
{
    uint32_t lang = sn_tree_name(m->f->tree, SN_STR("lang"));
    sn_str value = {NULL, 0};

    for (; n != 0 && !value_of(m, n, lang, true, &value); n = sn_match_parent(m, n))
        if (!sn_match_step(m, 1))
            return false;
    if (n == 0 || want.len == 0 || value.len < want.len)
        return false;
    return sn_str_eq_nocase(sn_str_slice(value, 0, want.len), want) &&
           (value.len == want.len || value.ptr[want.len] == '-');
}

static bool
is_one_of(const sn_match *m, seine_node n, const char *names)
{
    const sn_node *node = sn_tree_node(m->f->tree, n);
    sn_str rest = sn_str_of(names), name,
           mine = sn_tree_name_text(m->f->tree, node->name);

    if (node->kind != SEINE_NODE_ELEMENT || node->ns != SN_NS_HTML)
        return false;
    while (sn_str_next(&rest, ' ', &name))
        if (sn_str_eq(name, mine))
            return true;
    return false;
}

static bool
has_attr(sn_match *m, seine_node n, sn_str name)
{
    sn_str value;

    return value_of(m, n, sn_tree_name(m->f->tree, name), false, &value);
}

/* A disabled fieldset disables its content, except for its first legend. */
static bool
is_switched_off(sn_match *m, seine_node n)
{
    for (seine_node up = sn_match_parent(m, n), in = n; up != 0;
         in = up, up = sn_match_parent(m, up)) {
        if (!sn_match_step(m, 1))
            return false;
        if (!is_one_of(m, up, "fieldset") || !has_attr(m, up, SN_STR("disabled")))
            continue;
        bool first = is_one_of(m, in, "legend");
        for (seine_node i = sn_match_before(m, in); first && i != 0;
             i = sn_match_before(m, i)) {
            first = !is_one_of(m, i, "legend");
            if (!sn_match_step(m, 1))
                return false;
        }
        if (!first)
            return true;
    }
    return false;
}

static bool
is_disabled(sn_match *m, seine_node n)
{
    seine_node up = sn_match_parent(m, n);

    if (has_attr(m, n, SN_STR("disabled")))
        return true;
    if (is_one_of(m, n, "option"))
        return up != 0 && is_one_of(m, up, "optgroup") &&
               has_attr(m, up, SN_STR("disabled"));
    return !is_one_of(m, n, "optgroup") && is_switched_off(m, n);
}

static const char controls[] = "button input select textarea optgroup option fieldset";

/* Returns the option that a select of one row shows: the last that is selected, or the
 * first that is not disabled. The finder keeps it for the next option. */
static seine_node
chosen_of(sn_match *m, seine_node select)
{
    seine_finder *f = m->f;
    seine_node first = 0, selected = 0, end = sn_tree_node(f->tree, select)->end;

    if (f->select == select)
        return f->chosen;
    if (!sn_match_step(m, (end - select) / 8))
        return 0;
    for (seine_node n = select + 1; n < end; n++) {
        if (!is_one_of(m, n, "option"))
            continue;
        if (has_attr(m, n, SN_STR("selected")))
            selected = n;
        if (first == 0 && !has_attr(m, n, SN_STR("disabled")))
            first = n;
    }
    f->select = select;
    f->chosen = selected ? selected : first;
    return f->chosen;
}

static bool
is_chosen(sn_match *m, seine_node n)
{
    seine_node select = sn_match_parent(m, n);
    sn_str size;

    while (select != 0 && !is_one_of(m, select, "select"))
        select = sn_match_parent(m, select);
    if (select == 0 || has_attr(m, select, SN_STR("multiple")) ||
        (value_of(m, select, sn_tree_name(m->f->tree, SN_STR("size")), false, &size) &&
         !sn_str_eq(sn_str_trim(size), SN_STR("1"))))
        return has_attr(m, n, SN_STR("selected"));
    return chosen_of(m, select) == n;
}

static bool
is_checked(sn_match *m, seine_node n)
{
    sn_str type;

    if (is_one_of(m, n, "option"))
        return is_chosen(m, n);
    return is_one_of(m, n, "input") && has_attr(m, n, SN_STR("checked")) &&
           value_of(m, n, sn_tree_name(m->f->tree, SN_STR("type")), false, &type) &&
           (sn_str_eq_nocase(type, SN_STR("checkbox")) ||
            sn_str_eq_nocase(type, SN_STR("radio")));
}

static bool
is_empty(const sn_match *m, seine_node n)
{
    const seine_tree *t = m->f->tree;

    for (seine_node i = seine_node_first(t, n); i != 0; i = seine_node_next(t, i)) {
        const sn_node *node = sn_tree_node(t, i);

        if (node->kind == SEINE_NODE_ELEMENT ||
            (node->kind == SEINE_NODE_TEXT && node->len > 0))
            return false;
    }
    return true;
}

static bool
state_matches(sn_match *m, seine_node n, sn_select_state state)
{
    seine_node scope = m->known->scope;

    switch (state) {
    case SN_STATE_ROOT:
        return n == m->f->tree->root;
    case SN_STATE_SCOPE:
        return n == (scope > 0 ? scope : m->f->tree->root);
    case SN_STATE_EMPTY:
        return is_empty(m, n);
    case SN_STATE_LINK:
        return is_one_of(m, n, "a area") && has_attr(m, n, SN_STR("href"));
    case SN_STATE_ENABLED:
        return is_one_of(m, n, controls) && !is_disabled(m, n);
    case SN_STATE_DISABLED:
        return is_one_of(m, n, controls) && is_disabled(m, n);
    case SN_STATE_CHECKED:
        return is_checked(m, n);
    case SN_STATE_REQUIRED:
        return is_one_of(m, n, "input select textarea") &&
               has_attr(m, n, SN_STR("required"));
    case SN_STATE_OPTIONAL:
        return is_one_of(m, n, "input select textarea") &&
               !has_attr(m, n, SN_STR("required"));
    case SN_STATE_NEVER:
        break;
    }
    return false;
}

static bool
class_matches(sn_match *m, seine_node n, sn_str want)
{
    sn_str value;

    return value_of(m, n, m->f->attr_class, false, &value) &&
           sn_match_step(m, value.len / 64) && has_word(value, want, m->f->tree->quirks);
}

static bool
id_matches(sn_match *m, seine_node n, sn_str want)
{
    sn_str value;

    return value_of(m, n, m->f->attr_id, false, &value) &&
           equal(value, want, m->f->tree->quirks);
}

bool
sn_match_simple(sn_match *m, seine_node n, uint16_t i)
{
    const sn_simple *s = simple_of(m, i);
    const sn_known_simple *k = &m->known->of[i];
    sn_str value = sn_select_text(m->known->select, s->value);

    switch ((sn_simple_kind)s->kind) {
    case SN_SIMPLE_TAG:
        return sn_tree_node(m->f->tree, n)->name == k->name;
    case SN_SIMPLE_ID:
        return id_matches(m, n, value);
    case SN_SIMPLE_CLASS:
        return class_matches(m, n, value);
    case SN_SIMPLE_ATTR:
        return attr_matches(m, n, s, k);
    case SN_SIMPLE_NTH:
        return sn_match_nth(m, n, i);
    case SN_SIMPLE_LIST:
        return sn_match_list(m, n, s->list) != s->negated && m->err == SEINE_OK;
    case SN_SIMPLE_HAS:
        return sn_match_has(m, n, i);
    case SN_SIMPLE_LANG:
        return lang_matches(m, n, value);
    case SN_SIMPLE_STATE:
        return state_matches(m, n, (sn_select_state)s->state);
    case SN_SIMPLE_NOTHING:
        break;
    }
    return false;
}
