/* SPDX-License-Identifier: Apache-2.0 */
/* Names of fields, from what the page calls them. */
#include <stdio.h>
#include <string.h>

#include "recipe/draft.h"

/* The last part of a name that stands for a part of a block: "name" of "dish__name--big".
 */
static sn_str
last_part(sn_str s)
{
    for (size_t i = 0; i + 1 < s.len; i++)
        if (s.ptr[i] == '-' && s.ptr[i + 1] == '-' && i > 0)
            s = sn_str_slice(s, 0, i);
    for (size_t i = s.len; i-- > 2;)
        if (s.ptr[i - 1] == '_' && s.ptr[i - 2] == '_' && i < s.len)
            return sn_str_slice(s, i, s.len);
    return s;
}

static bool
is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

bool
sn_draft_id(sn_str text, char *out, size_t cap)
{
    size_t n = 0;
    bool has_letter = false;

    for (size_t i = 0; i < text.len && n + 2 < cap; i++) {
        char c = text.ptr[i];
        bool is_word = sn_is_alpha(c) || sn_is_digit(c);
        bool hump = is_upper(c) && i > 0 &&
                    (!is_upper(text.ptr[i - 1]) && sn_is_alpha(text.ptr[i - 1]));
        if ((!is_word || hump) && n > 0 && out[n - 1] != '_')
            out[n++] = '_';
        if (is_word)
            out[n++] = sn_lower(c);
        has_letter |= sn_is_alpha(c);
    }
    while (n > 0 && out[n - 1] == '_')
        n--;
    out[n] = '\0';
    if (n > 0 && sn_is_digit(out[0])) {
        memmove(out + 1, out, n + 1 < cap ? n + 1 : cap - 1);
        out[0] = '_';
        out[cap - 1] = '\0';
    }
    return has_letter && n > 0;
}

void
sn_draft_singular(char *name)
{
    size_t n = strlen(name);

    if (sn_str_is_among((sn_str){name, n}, "news series species"))
        return;
    if (n > 4 && strcmp(name + n - 3, "ies") == 0)
        memcpy(name + n - 3, "y", 2);
    else if (n > 3 && name[n - 1] == 's' && name[n - 2] != 's' && name[n - 2] != 'u' &&
             name[n - 2] != 'i')
        name[n - 1] = '\0';
}

/* "product-title" of a row "product" is its title. */
static void
cut_prefix(char *name, const char *prefix)
{
    size_t n = strlen(prefix);

    if (n > 0 && strncmp(name, prefix, n) == 0 && name[n] == '_' && name[n + 1] &&
        !sn_is_digit(name[n + 1]))
        memmove(name, name + n + 1, strlen(name + n + 1) + 1);
}

static bool
is_taken(const sn_draft_list *list, const sn_draft_field *f, const char *name)
{
    for (size_t i = 0; i < list->n_fields; i++)
        if (&list->fields[i] != f && !list->fields[i].dropped &&
            strcmp(list->fields[i].name, name) == 0)
            return true;
    return false;
}

/* Words that mean something else in expressions. */
static void
spare_words(char *name, size_t cap)
{
    static const struct {
        const char *from, *to;
    } words[] = {{"url", "link"},     {"href", "link"},     {"html_url", "link"},
                 {"src", "image"},    {"n", "number"},      {"page", "page_no"},
                 {"and", "and_"},     {"or", "or_"},        {"not", "not_"},
                 {"in", "in_"},       {"true", "true_"},    {"false", "false_"},
                 {"null", "null_"},   {"run_date", "date"}, {"datetime", "date"},
                 {"pubdate", "date"}, {"img", "image"}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(name, words[i].from) == 0) {
            snprintf(name, cap, "%s", words[i].to);
            return;
        }
}

bool
sn_draft_is_vague(sn_str token)
{
    char id[SN_DRAFT_NAME];

    return !sn_draft_id(last_part(token), id, sizeof id) ||
           sn_str_is_among(sn_str_of(id),
                           "reference internal external link anchor url more text value "
                           "permalink info data details label inner para field name_link "
                           "title_link listitem muted");
}

void
sn_draft_name(sn_draft_list *list, sn_draft_field *f, sn_str text, sn_str row_token)
{
    char base[SN_DRAFT_NAME - 4] = "", prefix[SN_DRAFT_NAME] = "";

    if (!sn_draft_id(last_part(text), base, sizeof base))
        snprintf(base, sizeof base, "%s", f->source == SN_FROM_COL ? "column" : "text");
    if (sn_draft_id(row_token, prefix, sizeof prefix)) {
        cut_prefix(base, prefix);
        sn_draft_singular(prefix);
        cut_prefix(base, prefix);
    }
    cut_prefix(base, list->kind);
    spare_words(base, sizeof base);
    snprintf(f->name, sizeof f->name, "%s", base);
    for (unsigned i = 2; is_taken(list, f, f->name) && i < 1000; i++)
        snprintf(f->name, sizeof f->name, "%s_%u", base, i);
}
