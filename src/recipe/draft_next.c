/* SPDX-License-Identifier: Apache-2.0 */
/* Where does the page go on? A link that says so by rel, class, label or text. */
#include <string.h>

#include "recipe/draft.h"

static bool
has_word(sn_str words, const char *word)
{
    sn_str part;

    while (sn_str_next(&words, ' ', &part))
        if (sn_str_eq_nocase(part, sn_str_of(word)))
            return true;
    return false;
}

/* "next", "next-page", "pagination__next". */
static const sn_token *
next_token(const sn_draft *d, seine_node n)
{
    const sn_element *e = &d->elements[n];

    for (uint32_t i = 0; i < e->count; i++) {
        const sn_token *t = d->owned[e->at + i];
        char id[SN_DRAFT_NAME], *at;
        if (t->is_prop || !sn_draft_id(t->text, id, sizeof id))
            continue;
        at = strstr(id, "next");
        if (at && (at == id || at[-1] == '_') && (at[4] == '\0' || at[4] == '_'))
            return t;
    }
    return NULL;
}

static bool
is_link(const sn_draft *d, seine_node n)
{
    sn_str href = seine_node_attr(d->tree, n, "href");

    return href.len > 0 && href.ptr[0] != '#' &&
           !sn_str_starts_nocase(href, SN_STR("javascript:"));
}

static bool
says_next(sn_str text)
{
    static const char *const words[] = {"next",
                                        "next page",
                                        "older",
                                        "older posts",
                                        "more",
                                        "load more",
                                        "weiter",
                                        "nächste",
                                        "nächste seite",
                                        "suivant",
                                        "page suivante",
                                        "siguiente",
                                        "próxima",
                                        "successivo",
                                        "»",
                                        "›",
                                        "→",
                                        ">",
                                        ">>"};
    char word[32] = "";
    size_t n = 0;

    for (size_t i = 0; i < text.len && n + 1 < sizeof word; i++)
        word[n++] = sn_lower(text.ptr[i]);
    while (n > 0 && sn_is_space(word[n - 1]))
        n--;
    word[n] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i]);
        if (strcmp(word, words[i]) == 0 ||
            (len > 3 && strncmp(word, words[i], len) == 0 && word[len] == ' ' &&
             n - len <= 5))
            return true;
    }
    return false;
}

/* ?page=2: the parameter that counts pages; "": none. */
static sn_str
page_param(sn_str href)
{
    static const char names[] = "page p pg paged pageno page_number pagenumber";
    sn_str query, part;

    if (!sn_str_cut(href, '?', &part, &query))
        return SN_STR("");
    while (sn_str_next(&query, '&', &part)) {
        sn_str name, value;
        uint64_t n;
        (void)sn_str_cut(part, '=', &name, &value);
        if (sn_str_is_among(name, names) && sn_str_u64(value, &n) == SEINE_OK)
            return name;
    }
    return SN_STR("");
}

/* Ends the selector of a link; NULL: it is too long. */
static const char *
href_of(sn_draft *d, sn_buf *select)
{
    const char *text = sn_draft_take(d, select);
    sn_buf b;

    if (!text)
        return NULL;
    sn_buf_init(&b, SN_DRAFT_TEXT * 8);
    sn_buf_text(&b, "{css: ");
    sn_draft_put_yaml(&b, text);
    sn_buf_text(&b, ", attr: href}");
    return sn_draft_take(d, &b);
}

/* How good a link is: 0, not one that leads on. */
static unsigned
worth_of(sn_draft *d, seine_node n, const char **out)
{
    const sn_token *t;
    sn_str label;
    seine_node up = seine_node_parent(d->tree, n);
    sn_buf b;

    if (!is_link(d, n) || !sn_draft_is(d, n, "a link"))
        return 0;
    if (has_word(seine_node_attr(d->tree, n, "rel"), "next")) {
        *out = sn_draft_printf(d, "{css: '%.*s[rel~=next]', attr: href}",
                               SN_FMT(sn_draft_tag(d, n)));
        return sn_draft_is(d, n, "a") ? 6 : 5;
    }
    if (!sn_draft_is(d, n, "a"))
        return 0;
    sn_buf_init(&b, SN_DRAFT_TEXT);
    if ((t = next_token(d, n))) {
        sn_buf_text(&b, "a.");
        sn_draft_put_name(&b, t->text);
        *out = href_of(d, &b);
        return 4;
    }
    if (up != 0 && (t = next_token(d, up))) {
        sn_buf_char(&b, '.');
        sn_draft_put_name(&b, t->text);
        sn_buf_text(&b, " a");
        *out = href_of(d, &b);
        return 4;
    }
    label = seine_node_attr(d->tree, n, "aria-label");
    if (says_next(label)) {
        sn_buf_text(&b, "a[aria-label=");
        sn_draft_put_string(&b, label);
        sn_buf_char(&b, ']');
        *out = href_of(d, &b);
        return 3;
    }
    return 0;
}

/* A link with no mark but its text: the number of the page is counted on. */
static void
by_text(sn_draft *d, seine_node n)
{
    seine_text text = {NULL, 0};
    sn_str param = page_param(seine_node_attr(d->tree, n, "href"));

    if (param.len == 0 || seine_node_end(d->tree, n) - n > 6)
        return;
    if (seine_node_words(d->tree, n, &text) != SEINE_OK) {
        sn_draft_no_memory(d);
        return;
    }
    if (says_next(sn_str_trim((sn_str){text.bytes, text.len})))
        d->next = sn_draft_printf(d, "{page: %.*s}", SN_FMT(param));
    seine_text_free(&text);
}

void
sn_draft_next(sn_draft *d)
{
    seine_node size = seine_tree_size(d->tree);
    unsigned best = 0;

    for (seine_node n = 1; n < size && d->err == SEINE_OK; n++) {
        const char *way = NULL;
        unsigned worth =
            seine_node_what(d->tree, n) == SEINE_NODE_ELEMENT ? worth_of(d, n, &way) : 0;
        if (worth > best && way) {
            best = worth;
            d->next = way;
        }
    }
    for (seine_node n = 1; n < size && !d->next && d->err == SEINE_OK; n++)
        if (seine_node_is(d->tree, n, "a"))
            by_text(d, n);
}
