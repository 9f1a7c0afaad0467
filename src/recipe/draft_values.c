/* SPDX-License-Identifier: Apache-2.0 */
/* Reads all rows with the recipe as it stands; the values say of what type a field is,
 * and whether it says anything. */
#include <string.h>

#include "recipe/draft.h"
#include "recipe/draft_try.h"

/* What is read: the list whose rows come, and how many came. */
typedef struct reading {
    sn_draft *d;
    size_t rows[SN_DRAFT_LISTS];
    size_t cap[SN_DRAFT_LISTS];
} reading;

static sn_draft_list *
list_of(const sn_draft *d, const char *kind, size_t *out_i)
{
    for (size_t i = 0; i < d->n_lists; i++)
        if (strcmp(d->lists[i]->kind, kind) == 0) {
            *out_i = i;
            return d->lists[i];
        }
    return NULL;
}

static bool
make_room(reading *r, sn_draft_list *list, size_t i)
{
    size_t cap = r->cap[i] > 0 ? r->cap[i] * 2 : 64;

    if (r->rows[i] < r->cap[i])
        return true;
    for (size_t k = 0; k < list->n_fields; k++) {
        sn_str *values = SN_ARENA_ARRAY(&r->d->arena, sn_str, cap);
        if (!values)
            return sn_draft_no_memory(r->d);
        if (r->rows[i] > 0)
            memcpy(values, list->fields[k].values, r->rows[i] * sizeof *values);
        list->fields[k].values = values;
    }
    r->cap[i] = cap;
    return true;
}

/* A list stands for its JSON text. */
static sn_str
text_of(sn_draft *d, const seine_json *v)
{
    seine_text printed = {NULL, 0};
    sn_str s = {NULL, 0};

    if (!v || seine_json_type_of(v) == SEINE_JSON_NULL)
        return s;
    if (seine_json_string(v, &s.ptr, &s.len)) {
        char *copy = sn_draft_text(d, s);
        return copy ? (sn_str){copy, s.len} : (sn_str){NULL, 0};
    }
    if (seine_json_print(v, &printed) != SEINE_OK) {
        sn_draft_no_memory(d);
        return s;
    }
    char *copy = sn_draft_text(d, (sn_str){printed.bytes, printed.len});
    s = (sn_str){copy, copy ? printed.len : 0};
    seine_text_free(&printed);
    return s;
}

static bool
on_row(const seine_row *row, void *arg)
{
    reading *r = arg;
    size_t i = 0;
    sn_draft_list *list = list_of(r->d, row->kind, &i);
    seine_json *data = NULL;

    if (!list || !make_room(r, list, i))
        return r->d->err == SEINE_OK;
    if (seine_json_parse(row->json, strlen(row->json), &data, NULL) == SEINE_E_NOMEM)
        sn_draft_no_memory(r->d);
    for (size_t k = 0; k < list->n_fields; k++)
        list->fields[k].values[r->rows[i]] =
            text_of(r->d, seine_json_get(data, list->fields[k].name));
    seine_json_free(data);
    r->rows[i]++;
    return r->d->err == SEINE_OK;
}

/* What is of no use. */

static bool
is_same_everywhere(const sn_draft_field *f, size_t rows, size_t *out_present)
{
    const sn_str *first = NULL;
    bool same = true;

    *out_present = 0;
    for (size_t i = 0; i < rows; i++) {
        if (!f->values[i].ptr)
            continue;
        ++*out_present;
        if (!first)
            first = &f->values[i];
        same &= sn_str_eq(*first, f->values[i]);
    }
    return same;
}

static bool
has_letters(const sn_draft_field *f, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; f->values[i].ptr && k < f->values[i].len; k++) {
            char c = f->values[i].ptr[k];
            if (sn_is_alpha(c) || sn_is_digit(c) || c < 0)
                return true;
        }
    return false;
}

static bool
are_equal(const sn_draft_field *a, const sn_draft_field *b, size_t rows)
{
    size_t same = 0, both = 0;

    for (size_t i = 0; i < rows; i++) {
        if (!a->values[i].ptr || !b->values[i].ptr)
            continue;
        both++;
        same += sn_str_eq(a->values[i], b->values[i]);
    }
    return both > 0 && same * 20 >= both * 19;
}

static void
drop_useless(sn_draft_list *list)
{
    for (size_t i = 0; i < list->n_fields; i++) {
        sn_draft_field *f = &list->fields[i];
        size_t present = 0;
        bool same = is_same_everywhere(f, list->rows, &present);
        f->dropped |= present == 0 || !has_letters(f, list->rows) ||
                      (same && !f->keep && present >= 2) || present * 10 < list->rows ||
                      (f->is_deep && present * 2 < list->rows);
    }
}

static void
drop_copies(sn_draft_list *list)
{
    for (size_t i = 0; i < list->n_fields; i++)
        for (size_t k = 0; k < i; k++) {
            sn_draft_field *a = &list->fields[k], *b = &list->fields[i];
            bool one_is_link = (a->type == SN_TYPE_URL) != (b->type == SN_TYPE_URL);
            if (a->dropped || b->dropped || a->keep || b->keep || one_is_link ||
                !are_equal(a, b, list->rows))
                continue;
            if ((a->is_weak && !b->is_weak) || (a->is_vague && !b->is_vague))
                a->dropped = true;
            else
                b->dropped = true;
        }
}

/* Fields that name a row: all rows have one, and no two the same. */
static bool
is_key(const sn_draft_field *f, size_t rows)
{
    sn_map seen;
    bool is = !f->all && !f->dropped;

    sn_map_init(&seen, rows + 1);
    for (size_t i = 0; i < rows && is; i++)
        is = f->values[i].ptr && f->values[i].len > 0 &&
             sn_map_add(&seen, f->values[i], &f->values[i]) == SEINE_OK;
    sn_map_fini(&seen);
    return is;
}

static void
choose_unique(sn_draft_list *list)
{
    static const char *const names[] = {"id", "sku", "guid", "link", "key", "code"};

    for (size_t n = 0; n < sizeof names / sizeof *names && !list->unique; n++)
        for (size_t i = 0; i < list->n_fields; i++) {
            sn_draft_field *f = &list->fields[i];
            if (strcmp(f->name, names[n]) != 0 || !is_key(f, list->rows))
                continue;
            f->required = true;
            list->unique = f;
            break;
        }
}

static void
rename_vague(sn_draft_list *list)
{
    static const char *const by_type[SN_TYPE_COUNT] = {
        [SN_TYPE_MONEY] = "price",      [SN_TYPE_DATE] = "date",
        [SN_TYPE_TIME] = "time",        [SN_TYPE_DATETIME] = "date",
        [SN_TYPE_MONTH] = "date",       [SN_TYPE_EMAIL] = "email",
        [SN_TYPE_INT] = "number",       [SN_TYPE_NUMBER] = "number",
        [SN_TYPE_DURATION] = "duration"};

    for (size_t i = 0; i < list->n_fields; i++) {
        sn_draft_field *f = &list->fields[i];
        const char *name = by_type[f->type];
        if (f->is_vague && !f->dropped && name)
            sn_draft_name(list, f, sn_str_of(name), SN_STR(""));
    }
}

/* A number at the end that a dropped field was the reason for. */
static void
renumber(sn_draft_list *list)
{
    for (size_t i = 0; i < list->n_fields; i++) {
        sn_draft_field *f = &list->fields[i];
        size_t n = strlen(f->name);
        char base[SN_DRAFT_NAME];
        if (f->dropped || n < 3 || f->name[n - 2] != '_' || f->name[n - 1] != '2')
            continue;
        memcpy(base, f->name, n - 2);
        base[n - 2] = '\0';
        sn_draft_name(list, f, (sn_str){base, n - 2}, SN_STR(""));
    }
}

static bool
finish(sn_draft *d, sn_draft_list *list)
{
    size_t left = 0;

    drop_useless(list);
    drop_copies(list);
    for (size_t i = 0; i < list->n_fields; i++)
        if (!list->fields[i].dropped)
            sn_draft_type(d, &list->fields[i], list->rows);
    rename_vague(list);
    renumber(list);
    choose_unique(list);
    for (size_t i = 0; i < list->n_fields; i++)
        left += !list->fields[i].dropped;
    return left > 0 && list->rows > 0;
}

/* Two lists of one kind would be one. */
static void
tell_apart(sn_draft *d)
{
    for (size_t i = 1; i < d->n_lists; i++)
        for (size_t k = 0; k < i; k++) {
            size_t n = strlen(d->lists[i]->kind);
            if (strcmp(d->lists[i]->kind, d->lists[k]->kind) != 0)
                continue;
            n = n < SN_DRAFT_NAME - 3 ? n : SN_DRAFT_NAME - 3;
            d->lists[i]->kind[n] = '_';
            d->lists[i]->kind[n + 1] = (char)('1' + i);
            d->lists[i]->kind[n + 2] = '\0';
        }
}

/* A page of 100,000 rows has no steps for many selectors: the last list goes, then half
 * of the fields. False: nothing can go. */
static bool
shrink(sn_draft *d)
{
    sn_draft_list *list = d->lists[0];

    if (d->n_lists > 1) {
        d->n_lists--;
        return true;
    }
    if (list->n_fields < 2)
        return false;
    list->n_fields /= 2;
    return true;
}

bool
sn_draft_values(sn_draft *d)
{
    reading r = {.d = d};
    size_t kept = 0;

    tell_apart(d);
    while (!sn_draft_try(d, NULL, on_row, &r, NULL)) {
        if (d->err != SEINE_E_SELECTOR_TIMEOUT || !shrink(d))
            return false;
        d->err = SEINE_OK;
        r = (reading){.d = d};
    }
    for (size_t i = 0; i < d->n_lists; i++) {
        d->lists[i]->rows = r.rows[i];
        if (r.rows[i] > 0 && finish(d, d->lists[i]))
            d->lists[kept++] = d->lists[i];
    }
    d->n_lists = kept;
    return kept > 0 && d->err == SEINE_OK;
}
