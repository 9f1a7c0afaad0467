/* SPDX-License-Identifier: Apache-2.0 */
#include "console/recipe_check.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "console/doc_hub.h"

#define FOLDER "/usr/share/zoneinfo/"

enum { ZONE_MOST = 256 << 10 };

/* Time zones. */

void
sn_recipe_zones_fini(sn_recipe_zones *z)
{
    for (size_t i = 0; i < z->n; i++)
        seine_text_free(&z->all[i].bytes);
    z->n = 0;
}

/* "Europe/Berlin"; nothing that leaves the folder. */
static bool
is_zone(const char *name)
{
    size_t n = strspn(
        name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/");

    return n > 0 && name[n] == '\0' && n < 64 && name[0] != '/' && name[n - 1] != '/';
}

static bool
read_zone(const char *name, seine_text *out)
{
    char path[sizeof FOLDER + 64];
    size_t n = 0;

    snprintf(path, sizeof path, FOLDER "%s", name);
    FILE *in = fopen(path, "re");
    char *bytes = in ? sn_alloc(ZONE_MOST) : NULL;
    if (bytes)
        n = fread(bytes, 1, ZONE_MOST, in);
    if (in)
        (void)fclose(in);
    if (n < 4 || n == ZONE_MOST || memcmp(bytes, "TZif", 4) != 0) {
        sn_free(bytes);
        return false;
    }
    *out = (seine_text){bytes, n};
    return true;
}

static bool
find_zone(const char *name, seine_view *out_bytes, void *arg)
{
    sn_recipe_zones *z = arg;
    size_t i = 0;

    while (i < z->n && strcmp(z->all[i].name, name) != 0)
        i++;
    if (i == z->n) {
        if (!is_zone(name) || z->n == SN_RECIPE_ZONES ||
            !read_zone(name, &z->all[i].bytes))
            return false;
        snprintf(z->all[i].name, sizeof z->all[i].name, "%s", name);
        z->n++;
    }
    *out_bytes = (seine_view){z->all[i].bytes.bytes, z->all[i].bytes.len};
    return true;
}

/* Places. */

/* The byte at which a line and column are; both from 1, columns count characters. */
static size_t
find_place(sn_str text, uint64_t line, uint64_t column)
{
    size_t at = 0;

    for (uint64_t l = 1; l < line && at < text.len; l++) {
        sn_str rest = sn_str_slice(text, at, text.len);
        size_t end = sn_str_find(rest, '\n');

        at = end < rest.len ? at + end + 1 : text.len;
    }
    for (uint64_t c = 1; c < column && at < text.len && text.ptr[at] != '\n'; c++) {
        uint32_t character;
        size_t len = sn_utf8_decode(sn_str_slice(text, at, text.len), &character);

        at += len > 0 ? len : 1;
    }
    return at;
}

/* The end of the word that begins there; of the line, if none does. */
static size_t
find_end(sn_str text, size_t at)
{
    size_t end = at;

    while (end < text.len && !sn_is_space(text.ptr[end]) && text.ptr[end] != ':')
        end++;
    while (end == at && end < text.len && text.ptr[end] != '\n')
        end = at = end + 1;
    return end;
}

static uint64_t
units_before(sn_str text, size_t at)
{
    uint64_t units = 0;
    seine_err e = seine_changes_units(text.ptr ? text.ptr : "", at, &units);

    return e == SEINE_OK ? units : 0;
}

void
sn_recipe_problem(sn_str recipe, const seine_diag *d, const char *severity,
                  const char *code, sn_buf *out)
{
    size_t from = d->line > 0 ? find_place(recipe, d->line, d->column) : 0;
    size_t to = find_end(recipe, from);
    const char *hint = strstr(d->text, "; try ");
    size_t len = hint ? (size_t)(hint - d->text) : strlen(d->text);

    sn_buf_printf(out, "{\"from\":%llu,\"to\":%llu,\"severity\":\"%s\",\"code\":\"%s\"",
                  (unsigned long long)units_before(recipe, from),
                  (unsigned long long)units_before(recipe, to), severity, code);
    if (d->line > 0)
        sn_buf_printf(out, ",\"line\":%llu,\"column\":%llu", (unsigned long long)d->line,
                      (unsigned long long)d->column);
    sn_buf_text(out, ",\"message\":");
    sn_hub_quote(out, (sn_str){d->text, len});
    if (hint) {
        sn_buf_text(out, ",\"hint\":");
        sn_hub_quote(out, sn_str_of(hint + 2));
    }
    sn_buf_char(out, '}');
}

void
sn_recipe_check(sn_str text, sn_recipe_zones *zones, seine_recipe **out_recipe,
                sn_buf *out)
{
    seine_recipe_opts o = SEINE_RECIPE_OPTS;
    seine_diag wrong[SEINE_DIAG_MAX];

    *out_recipe = NULL;
    o.zone = find_zone;
    o.arg = zones;
    memset(wrong, 0, sizeof wrong);
    seine_err e =
        seine_recipe_parse(text.ptr ? text.ptr : "", text.len, &o, out_recipe, wrong);
    sn_buf_char(out, '[');
    for (size_t i = 0; e == SEINE_E_CONFIG && i < SEINE_DIAG_MAX && wrong[i].text[0];
         i++) {
        if (i > 0)
            sn_buf_char(out, ',');
        sn_recipe_problem(text, &wrong[i], "error", "recipe", out);
    }
    sn_buf_char(out, ']');
    if (e != SEINE_OK)
        *out_recipe = NULL;
}
