/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mirror_links.h"

#include <string.h>

#include "seine/charset.h"
#include "seine/url.h"
#include "text/base_url.h"
#include "text/charset.h"
#include "text/page_refs.h"

#define LOCAL_ORIGIN \
    "http://mirror.invalid/" /* where files are, while links are resolved */

#define UTF8_MARK "\xef\xbb\xbf"

enum { HOPS = 20 }; /* redirects that are followed in a row */

typedef struct rewriting {
    sn_mirror_links *l;
    bool is_original;
    bool has_base;
    seine_url base, url;
    char base_mem[SEINE_URL_ROOM], url_mem[SEINE_URL_ROOM], key[SEINE_URL_ROOM];
} rewriting;

/* Relative names */

static bool
is_plain(char c)
{
    return sn_is_alpha(c) || sn_is_digit(c) || strchr("-._~/@=+", c);
}

static void
add_escaped(sn_buf *out, sn_str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] && is_plain(name.ptr[i]))
            sn_buf_char(out, name.ptr[i]);
        else
            sn_buf_printf(out, "%%%02X", (unsigned char)name.ptr[i]);
}

void
sn_mirror_links_relative(sn_str from, sn_str to, sn_buf *out)
{
    size_t same = 0;

    for (size_t i = 0; i < from.len && i < to.len && from.ptr[i] == to.ptr[i]; i++)
        if (from.ptr[i] == '/')
            same = i + 1;
    for (size_t i = same; i < from.len; i++)
        if (from.ptr[i] == '/')
            sn_buf_text(out, "../");
    add_escaped(out, sn_str_slice(to, same, to.len));
}

/* Targets */

/* The name of a file whose place is a URL below LOCAL_ORIGIN. */
static sn_mirror_entry *
find_local(const rewriting *r)
{
    sn_str path = sn_str_slice(seine_url_path(&r->url), 1, SIZE_MAX);
    sn_buf name;

    sn_buf_init(&name, SEINE_URL_ROOM);
    for (size_t i = 0; i < path.len; i++) {
        int high = -1, low = -1;

        if (path.ptr[i] == '%' && i + 2 < path.len) {
            high = sn_hex_digit(path.ptr[i + 1]);
            low = sn_hex_digit(path.ptr[i + 2]);
        }
        bool is_escape = high >= 0 && low >= 0;
        sn_buf_char(&name, (char)(is_escape ? high << 4 | low : path.ptr[i]));
        i += is_escape ? 2 : 0;
    }
    sn_mirror_entry *e = sn_map_get(r->l->by_name, sn_buf_view(&name));
    sn_buf_fini(&name);
    return e;
}

static sn_mirror_entry *
find_url(rewriting *r, const seine_url *url)
{
    size_t len;

    if (seine_url_key(url, r->l->strip, r->key, sizeof r->key, &len) != SEINE_OK)
        return NULL;
    return sn_mirror_index_find(r->l->index, (sn_str){r->key, len});
}

/* The file where the entry leads, after its redirects; NULL: there is none. */
static const sn_mirror_entry *
follow(rewriting *r, const sn_mirror_entry *e)
{
    for (int i = 0; e && e->target.len > 0 && i < HOPS; i++) {
        char mem[SEINE_URL_ROOM];
        seine_url u;

        seine_url_init(&u, mem, sizeof mem);
        if (seine_url_parse(&u, e->target.ptr, e->target.len, NULL) != SEINE_OK)
            return NULL;
        e = find_url(r, &u);
    }
    return e && e->target.len == 0 && e->given.len > 0 ? e : NULL;
}

static bool
is_local(const rewriting *r)
{
    return !r->is_original &&
           sn_str_starts(seine_url_href(&r->url), SN_STR(LOCAL_ORIGIN));
}

/* Writes the URL of an entry, with the fragment of the link, out of the copy. */
static void
put_remote(rewriting *r, const sn_mirror_entry *e, sn_buf *out)
{
    sn_str hash = seine_url_fragment(&r->url);

    r->l->remote++;
    if (!is_local(r)) {
        sn_buf_str(out, seine_url_href(&r->url));
        return;
    }
    sn_buf_str(out, e->key);
    if (hash.len > 0) {
        sn_buf_char(out, '#');
        sn_buf_str(out, hash);
    }
}

static void
put_local(rewriting *r, const sn_mirror_entry *e, sn_buf *out)
{
    sn_str hash = seine_url_fragment(&r->url);

    r->l->local++;
    sn_mirror_links_relative(r->l->entry->given, e->given, out);
    if (hash.len > 0) {
        sn_buf_char(out, '#');
        sn_buf_str(out, hash);
    }
}

static bool
is_web(const seine_url *u)
{
    sn_str scheme = seine_url_scheme(u);

    return sn_str_eq(scheme, SN_STR("http")) || sn_str_eq(scheme, SN_STR("https"));
}

/* A reference to the page itself needs no other text, unless a base makes it lead away.
 */
static bool
is_own(const rewriting *r, sn_str value)
{
    value = sn_str_trim(value);
    return !r->has_base && (value.len == 0 || value.ptr[0] == '#');
}

static bool
on_ref(void *user, const sn_page_ref *ref, sn_buf *out)
{
    rewriting *r = user;

    if (!out || ref->kind == SN_REF_BASE || is_own(r, ref->value) ||
        seine_url_resolve(&r->url, &r->base, ref->value.ptr, ref->value.len, NULL) !=
            SEINE_OK ||
        !is_web(&r->url))
        return false;
    bool local = is_local(r);
    sn_mirror_entry *found = local ? find_local(r) : find_url(r, &r->url);
    if (local && !found) /* somebody else has put it there */
        return false;
    const sn_mirror_entry *to = follow(r, found);
    if (to)
        put_local(r, to, out);
    else
        put_remote(r, found, out);
    return !sn_str_eq(sn_buf_view(out), ref->value);
}

/* The base of a page */

static bool
on_base(void *user, const sn_page_ref *ref, sn_buf *out)
{
    rewriting *r = user;
    seine_url own = r->base;
    char mem[SEINE_URL_ROOM];

    (void)out;
    if (ref->kind != SN_REF_BASE || r->has_base || !r->is_original)
        return false;
    seine_url_init(&own, mem, sizeof mem);
    r->has_base = seine_url_copy(&own, &r->base) == SEINE_OK &&
                  sn_base_url(ref->value, &own, &r->base);
    return false;
}

/* Sets what links are resolved against: the URL, or the old place of the file. */
static seine_err
set_base(rewriting *r)
{
    const sn_mirror_entry *e = r->l->entry;
    sn_buf text;

    seine_url_init(&r->base, r->base_mem, sizeof r->base_mem);
    seine_url_init(&r->url, r->url_mem, sizeof r->url_mem);
    sn_buf_init(&text, 4 * (size_t)SEINE_URL_ROOM);
    if (r->is_original) {
        sn_buf_str(&text, e->key);
    } else {
        sn_buf_text(&text, LOCAL_ORIGIN);
        add_escaped(&text, e->name);
    }
    seine_err err = sn_buf_done(&text);
    if (err == SEINE_OK)
        err = seine_url_parse(&r->base, text.ptr, text.len, NULL);
    sn_buf_fini(&text);
    return err;
}

/* Rewrites text in an encoding that contains ASCII. */
static seine_err
rewrite(rewriting *r, sn_str text, sn_page_refs_opts *o, sn_buf *out)
{
    seine_err e = set_base(r);

    o->fn = on_base;
    o->user = r;
    if (e == SEINE_OK && o->form != SN_FORM_CSS)
        e = sn_page_refs(text, o, NULL);
    o->fn = on_ref;
    return e == SEINE_OK ? sn_page_refs(text, o, out) : e;
}

/* An XML declaration may name another encoding than the copy has; it may be left out. */
static sn_str
without_declaration(sn_str text)
{
    const char *end = NULL;

    if (sn_str_starts(text, SN_STR("<?xml ")))
        end = memmem(text.ptr, text.len, "?>", 2);
    return end ? sn_str_slice(text, (size_t)(end - text.ptr) + 2, text.len) : text;
}

/* Rewrites a page whose bytes are no tags, UTF-16 for example: the copy is in UTF-8, and
 * begins with the mark that says so against any label. */
static seine_err
rewrite_decoded(rewriting *r, sn_str bytes, const seine_charset_choice *choice,
                sn_page_refs_opts *o, sn_buf *out)
{
    sn_str rest = sn_str_slice(bytes, choice->bom, bytes.len);
    seine_text text = {NULL, 0};
    seine_err e = seine_charset_decode(choice->charset, rest.ptr, rest.len, &text, NULL);

    if (e != SEINE_OK)
        return e;
    o->charset = SEINE_CHARSET_UTF_8;
    sn_buf_text(out, UTF8_MARK);
    e = rewrite(r, without_declaration((sn_str){text.bytes, text.len}), o, out);
    seine_text_free(&text);
    return e;
}

seine_err
sn_mirror_links_rewrite(sn_mirror_links *l, sn_str bytes, bool is_original, sn_buf *out)
{
    rewriting r = {.l = l, .is_original = is_original};
    sn_page_refs_opts o = {.fn = NULL};
    seine_charset_choice choice, own;
    sn_str label = l->entry->charset;
    bool is_page = sn_page_refs_form(l->entry->type, &o.form);

    if (is_page)
        seine_charset_decide(bytes.ptr, bytes.len, label.ptr, label.len, &choice);
    if (!is_page || choice.charset == SEINE_CHARSET_REPLACEMENT) {
        sn_buf_str(out, bytes);
        return sn_buf_done(out);
    }
    if (!sn_charset_is_ascii(choice.charset))
        return rewrite_decoded(&r, bytes, &choice, &o, out);
    o.charset =
        o.form == SN_FORM_CSS && label.len == 0 ? SEINE_CHARSET_UTF_8 : choice.charset;
    if (o.form == SN_FORM_HTML && choice.from == SEINE_FROM_HEADER &&
        !sn_charset_named(bytes, (sn_str){"", 0}, &own))
        o.meta = seine_charset_name(choice.charset);
    return rewrite(&r, bytes, &o, out);
}
