/* SPDX-License-Identifier: Apache-2.0 */
#include "console/preview_rows.h"

#include <string.h>

#include "base/time.h"
#include "console/doc_hub.h"
#include "console/recipe_check.h"
#include "seine/plumbing.h"

enum { FIELDS = 200, DEAD = 50 };

/* What was seen of one field. */
typedef struct field {
    const char *kind, *name, *type;
    uint32_t matched, empty;
} field;

typedef struct reading {
    sn_buf *out;
    size_t start; /* of the rows in `out` */
    seine_span begin;
    uint32_t count;
    const char *stopped; /* why there are no more rows; NULL: these are all */
    field fields[FIELDS];
    size_t n_fields;
    size_t dead;
    sn_str recipe;
} reading;

static void
list_fields(reading *r, const seine_recipe *recipe)
{
    const char *kind, *name, *type;

    for (size_t k = 0; (kind = seine_recipe_kind(recipe, k)); k++)
        for (size_t i = 0; (name = seine_recipe_field(recipe, kind, i, &type)); i++)
            if (r->n_fields < FIELDS)
                r->fields[r->n_fields++] = (field){kind, name, type, 0, 0};
}

static bool
is_empty(const seine_json *v)
{
    const char *text;
    size_t len;

    return seine_json_type_of(v) == SEINE_JSON_NULL ||
           (seine_json_string(v, &text, &len) && len == 0) ||
           (seine_json_type_of(v) == SEINE_JSON_ARRAY && seine_json_size(v) == 0);
}

static void
count_fields(reading *r, const seine_row *row)
{
    seine_json *data;

    if (seine_json_parse(row->json, strlen(row->json), &data, NULL) != SEINE_OK)
        return;
    for (size_t i = 0; i < r->n_fields; i++) {
        field *f = &r->fields[i];

        if (strcmp(f->kind, row->kind) != 0)
            continue;
        if (is_empty(seine_json_get(data, f->name)))
            f->empty++;
        else
            f->matched++;
    }
    seine_json_free(data);
}

static bool
on_row(const seine_row *row, void *arg)
{
    reading *r = arg;

    if (sn_clock_cpu() - r->begin > SEINE_MS(SN_PREVIEW_MS)) {
        r->stopped = "stopped after 200 ms";
        return false;
    }
    if (r->count == SN_PREVIEW_ROWS) {
        r->stopped = "the first 100 rows are shown";
        return false;
    }
    if (r->out->len - r->start + strlen(row->json) > SN_PREVIEW_BYTES) {
        r->stopped = "the first MiB is shown";
        return false;
    }
    if (r->count++ > 0)
        sn_buf_char(r->out, ',');
    sn_buf_text(r->out, row->json);
    count_fields(r, row);
    return true;
}

/* Where a selector stands in the recipe, as far as one can see. */
static void
on_dead(const seine_dead_selector *dead, void *arg)
{
    reading *r = arg;
    const char *at =
        memmem(r->recipe.ptr, r->recipe.len, dead->selector, strlen(dead->selector));
    uint64_t from = 0, units = 0;

    if (r->dead == DEAD)
        return;
    sn_buf_text(r->out, r->dead++ > 0 ? ",{\"field\":" : "{\"field\":");
    sn_hub_quote(r->out, sn_str_of(dead->field));
    sn_buf_text(r->out, ",\"selector\":");
    sn_hub_quote(r->out, sn_str_of(dead->selector));
    if (at &&
        seine_changes_units(r->recipe.ptr, (size_t)(at - r->recipe.ptr), &from) ==
            SEINE_OK &&
        seine_changes_units(dead->selector, strlen(dead->selector), &units) == SEINE_OK)
        sn_buf_printf(r->out, ",\"from\":%llu,\"to\":%llu", (unsigned long long)from,
                      (unsigned long long)from + units);
    if (dead->nearest) {
        sn_buf_text(r->out, ",\"nearest\":");
        sn_hub_quote(r->out, sn_str_of(dead->nearest));
        sn_buf_printf(r->out, ",\"finds\":%u", dead->count);
    }
    sn_buf_char(r->out, '}');
}

static void
put_fields(reading *r)
{
    sn_buf_text(r->out, ",\"fields\":[");
    for (size_t i = 0; i < r->n_fields; i++) {
        const field *f = &r->fields[i];

        sn_buf_text(r->out, i > 0 ? ",{\"name\":" : "{\"name\":");
        sn_hub_quote(r->out, sn_str_of(f->name));
        sn_buf_text(r->out, ",\"kind\":");
        sn_hub_quote(r->out, sn_str_of(f->kind));
        sn_buf_printf(r->out, ",\"matched\":%u,\"empty\":%u,\"type\":", f->matched,
                      f->empty);
        sn_hub_quote(r->out, sn_str_of(f->type));
        sn_buf_char(r->out, '}');
    }
    sn_buf_char(r->out, ']');
}

static void
put_end(reading *r, seine_err err)
{
    sn_buf_printf(r->out, ",\"ms\":%lld,\"truncated\":",
                  (long long)((sn_clock_cpu() - r->begin) / SEINE_MS(1)));
    if (r->stopped)
        sn_hub_quote(r->out, sn_str_of(r->stopped));
    else
        sn_buf_text(r->out, "false");
    if (err == SEINE_OK)
        return;
    sn_buf_printf(r->out,
                  ",\"error\":{\"code\":\"%s\",\"message\":", seine_err_name(err));
    sn_hub_quote(r->out, sn_str_of(err == SEINE_E_CONFIG ? "the recipe has mistakes"
                                                         : seine_err_text(err)));
    sn_buf_char(r->out, '}');
}

void
sn_preview_rows(sn_str recipe_text, const sn_preview_page *page, sn_buf *out)
{
    reading r = {.out = out, .recipe = recipe_text, .begin = sn_clock_cpu()};
    sn_recipe_zones zones = {.n = 0};
    seine_recipe *recipe;
    seine_applied applied = {0};
    seine_page p = SEINE_PAGE;
    sn_buf problems;
    seine_err e;

    sn_buf_init(&problems, 64 << 10);
    sn_recipe_check(recipe_text, &zones, &recipe, &problems);
    sn_buf_fini(&problems);
    p.url = page->url;
    p.content_type = page->content_type;
    p.body = page->body.ptr ? page->body.ptr : "";
    p.len = page->body.len;
    p.status = page->status;
    sn_buf_text(out, "\"rows\":[");
    r.start = out->len;
    e = recipe ? SEINE_OK : SEINE_E_CONFIG;
    if (recipe) {
        list_fields(&r, recipe);
        e = seine_recipe_apply(recipe, &p, on_row, &r, &applied);
        if (e == SEINE_OK)
            e = applied.err;
    }
    sn_buf_printf(out, "],\"count\":%u", r.count);
    put_fields(&r);
    sn_buf_text(out, ",\"dead\":[");
    if (recipe && !r.stopped) {
        seine_err ignored = seine_recipe_dead(recipe, &p, on_dead, &r);

        (void)ignored; /* a hint less */
    }
    sn_buf_char(out, ']');
    put_end(&r, e);
    seine_recipe_free(recipe);
    sn_recipe_zones_fini(&zones);
}
