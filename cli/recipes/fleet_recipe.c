/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/fleet_recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/calendar.h>
#include <seine/plumbing.h>

#include "gate_run/redis_url.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/fleet_run.h"

static int
refuse(seine_err e, const seine_diag *diag)
{
    return say_fail(e == SEINE_E_STORE_UNAVAILABLE || e == SEINE_E_NOMEM ? SAY_MACHINE
                                                                         : SAY_USAGE,
                    NULL, "--store: %s", diag->text[0] ? diag->text : seine_err_text(e));
}

static const char *
text_of(const seine_json *spec, const char *name, size_t *out_len)
{
    const char *text = NULL;

    return seine_json_string(seine_json_get(spec, name), &text, out_len) ? text : NULL;
}

/* The recipe of the spec: what `seine run` has written there (recipe_run.c). */
static int
read_spec(const char *job, const seine_json *spec, fleet_recipe *out)
{
    size_t n = 0, n_vars = 0;
    const char *yaml = text_of(spec, "recipe_text", &n);
    const char *vars = text_of(spec, "var", &n_vars);

    if (!yaml || n > BYTES_MOST || !vars ||
        seine_json_parse(vars, n_vars, &out->vars, NULL) != SEINE_OK)
        return say_fail(SAY_USAGE, "see who else may write to this Redis",
                        "job '%s' has no recipe that can be read", show(job).text);
    snprintf(out->name, sizeof out->name, "recipe of job '%s'", show(job).text);
    out->has_recipe = true;
    int code = recipe_open_text(&out->recipe, out->name, xalloc_copy(yaml, n), n);
    out->recipe.is_shared = true;
    return code;
}

static void
note_day(fleet_recipe *out, int64_t created_ms)
{
    seine_date d = seine_calendar_date(created_ms / 1000);

    snprintf(out->run_date, sizeof out->run_date, "%04d-%02d-%02d", d.year % 10000,
             d.month % 100, d.day % 100);
}

int
fleet_recipe_load(seine_fleet_view *view, const char *job, fleet_recipe *out)
{
    seine_diag diag = SEINE_DIAG;
    seine_fleet_about about;
    seine_json *spec = NULL;
    const char *text = NULL;

    *out = (fleet_recipe){.has_recipe = false};
    seine_err e = seine_fleet_view_job(view, job, &about, &diag);
    if (e != SEINE_OK)
        return refuse(e, &diag);
    note_day(out, about.created);
    if (strcmp(about.verb, "run") != 0)
        return SAY_DONE;
    e = seine_fleet_view_spec(view, job, &text, &diag);
    if (e != SEINE_OK)
        return refuse(e, &diag);
    (void)!seine_json_parse(text, strlen(text), &spec, NULL); /* NULL: it has none */
    int code = read_spec(job, spec, out);
    seine_json_free(spec);
    return code;
}

typedef struct looking {
    const char *name;
    bool is_there;
} looking;

static void
look(seine_view name, void *arg)
{
    looking *l = arg;

    l->is_there |=
        strlen(l->name) == name.len && memcmp(l->name, name.ptr, name.len) == 0;
}

static int
find(seine_fleet_view *view, const char *job, bool must_be, fleet_recipe *out)
{
    looking l = {job, false};
    seine_diag diag = SEINE_DIAG;
    seine_fleet_about about;
    seine_err e = seine_fleet_view_names(view, look, &l, &diag);

    if (e != SEINE_OK)
        return refuse(e, &diag);
    if (!must_be) {
        if (l.is_there && seine_fleet_view_job(view, job, &about, &diag) == SEINE_OK)
            note_day(out, about.created);
        return SAY_DONE;
    }
    int code = fleet_recipe_load(view, job, out);
    if (code == SAY_DONE && !out->has_recipe)
        code =
            say_fail(SAY_USAGE, "another --job", "job '%s' is no recipe", show(job).text);
    return code;
}

int
fleet_recipe_find(const texts *store, const char *job, bool must_be, fleet_recipe *out)
{
    const char *stores[16];
    seine_fleet_view *view = NULL;
    seine_diag diag = SEINE_DIAG;
    char *urls = NULL;

    *out = (fleet_recipe){.has_recipe = false};
    if (store->count > 16)
        return say_fail(SAY_USAGE, "16 of them", "--store: too many servers");
    if (store->count == 0 || !job || !job[0])
        return say_fail(SAY_USAGE, "--store redis://HOST:PORT --job NAME",
                        "a job of --store needs a name");
    int code = fleet_run_urls(store, &urls);
    if (code != SAY_DONE)
        return code;
    for (size_t i = 0; i < store->count; i++)
        stores[i] = urls + i * REDIS_URL_ROOM;
    seine_err e = seine_fleet_view_open(stores, store->count, &view, &diag);
    seine_wipe(urls, store->count * REDIS_URL_ROOM);
    free(urls);
    code = e == SEINE_OK ? find(view, job, must_be, out) : refuse(e, &diag);
    seine_fleet_view_free(view);
    return code;
}

void
fleet_recipe_free(fleet_recipe *r)
{
    if (r->has_recipe)
        recipe_close(&r->recipe);
    seine_json_free(r->vars);
    *r = (fleet_recipe){.has_recipe = false};
}
