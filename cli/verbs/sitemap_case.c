/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/sitemap_case.h"

#include <stdlib.h>
#include <string.h>

#include <seine/timestamp.h>
#include <seine/url.h>

#include "screen/xalloc.h"
#include "verbs/bytes.h"

static void
set_text(seine_json *out, const char *name, seine_view v)
{
    if (!v.ptr)
        return;
    char *text = xalloc_copy(v.ptr, v.len);
    jsonl_set(out, name, jsonl_string(text));
    free(text);
}

seine_json *
sitemap_entry(const seine_sitemap_entry *e)
{
    seine_json *out = xalloc_json(seine_json_new_object());

    set_text(out, "loc", e->loc);
    set_text(out, "lastmod", e->lastmod);
    set_text(out, "changefreq", e->changefreq);
    if (e->priority >= 0)
        jsonl_set(out, "priority", seine_json_new_real(e->priority));
    return out;
}

bool
sitemap_is_since(const seine_sitemap_entry *e, int64_t since)
{
    int64_t from, until;

    return since == 0 ||
           (seine_timestamp_sitemap(e->lastmod.ptr, e->lastmod.len, &from, &until) &&
            until > since);
}

typedef struct reading {
    seine_json *entries;
    int64_t since;
    seine_url base; /* of length 0: none */
} reading;

static bool
on_entry(const seine_sitemap_entry *given, void *arg)
{
    const reading *r = arg;
    char mem[SEINE_URL_ROOM];
    seine_sitemap_entry e = *given;
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    if (r->base.len > 0 && seine_url_parse(&u, e.loc.ptr, e.loc.len, NULL) != SEINE_OK &&
        seine_url_resolve(&u, &r->base, e.loc.ptr, e.loc.len, NULL) == SEINE_OK)
        e.loc = seine_url_href(&u);
    if (sitemap_is_since(&e, r->since))
        jsonl_add(r->entries, sitemap_entry(&e));
    return true;
}

/* Says where the file breaks. */
static void
put_broken(const seine_sitemap *s, seine_err e, seine_json *out)
{
    char text[SEINE_DIAG_ROOM];

    seine_sitemap_flaw(s, e, text, sizeof text);
    jsonl_set(out, "broken", jsonl_string(text));
}

static bool
read_sitemap(const bytes *b, reading *r, seine_json *out, reason *why)
{
    seine_sitemap *s = NULL;
    seine_err e = seine_sitemap_new(NULL, on_entry, r, &s);

    if (e != SEINE_OK)
        return reason_set(why, "%s", seine_err_text(e));
    r->entries = xalloc_json(seine_json_new_array());
    e = seine_sitemap_feed(s, b->ptr, b->len);
    if (e == SEINE_OK)
        e = seine_sitemap_end(s);
    jsonl_set(out, "ok", seine_json_new_bool(true));
    jsonl_set(out, "kind", jsonl_string(seine_sitemap_kind_name(seine_sitemap_what(s))));
    jsonl_set(out, "entries", r->entries);
    if (seine_sitemap_notes(s) & SEINE_SITEMAP_CAPPED)
        jsonl_set(out, "capped", seine_json_new_bool(true));
    if (e != SEINE_OK)
        put_broken(s, e, out);
    seine_sitemap_free(s);
    return true;
}

static bool
read_settings(const char *since, const char *base, reading *r, reason *why)
{
    int64_t until;

    if (since && !seine_timestamp_sitemap(since, strlen(since), &r->since, &until))
        return reason_set(why, "'since' is no date");
    if (base && (seine_url_parse(&r->base, base, strlen(base), NULL) != SEINE_OK ||
                 seine_url_is_opaque(&r->base)))
        return reason_set(why, "'base' is no URL");
    return true;
}

bool
sitemap_case(const seine_json *in, seine_json *out, reason *why)
{
    const char *since = NULL, *base = NULL;
    char mem[SEINE_URL_ROOM];
    reading r = {.since = 0};
    bytes b = {0};

    seine_url_init(&r.base, mem, sizeof mem);
    bool good = jsonl_known(in, "id sitemap sitemap_b64 sitemap_file since base", why) &&
                bytes_read(in, "sitemap", &b, why) &&
                jsonl_text(in, "since", &since, why) &&
                jsonl_text(in, "base", &base, why) && read_settings(since, base, &r, why);
    if (good && !b.ptr)
        good = reason_set(why, "no member 'sitemap'");
    good = good && read_sitemap(&b, &r, out, why);
    bytes_free(&b);
    return good;
}
