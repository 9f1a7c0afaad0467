/* SPDX-License-Identifier: Apache-2.0 */
/* The header fields of a request: ours, replaced by those of the options, replaced by
 * those of the URL, each as far as redirect.h lets it go. */
#include <string.h>

#include "base/alloc.h"
#include "engine/host_policy.h"
#include "engine/redirect.h"
#include "engine/request_parts.h"
#include "engine/revisit.h"
#include "net/h1.h"
#include "store/job_page.h"
#include "text/url.h"

#define PLAIN      4 /* fields of our own */
#define VALIDATORS 2 /* of the last copy of a page */

/* A list in the making: a new field replaces those of its name before `level`. */
typedef struct field_list {
    sn_field *fields;
    size_t n, level;
    bool conditional, range;
} field_list;

/* Does the field replace the other? A Range replaces Accept-Encoding, too: a part of a
 * packed body cannot be unpacked. */
static bool
replaces_field(sn_str name, sn_str of)
{
    return sn_str_eq_nocase(name, of) ||
           (sn_str_eq_nocase(name, SN_STR("Range")) &&
            sn_str_eq_nocase(of, SN_STR("Accept-Encoding")));
}

static void
put_field(field_list *l, sn_field f)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->level; i++)
        if (!replaces_field(f.name, l->fields[i].name))
            l->fields[kept++] = l->fields[i];
    if (kept < l->level) {
        memmove(l->fields + kept, l->fields + l->level,
                (l->n - l->level) * sizeof *l->fields);
        l->n -= l->level - kept;
        l->level = kept;
    }
    l->fields[l->n++] = f;
    if (sn_str_eq_nocase(f.name, SN_STR("If-None-Match")) ||
        sn_str_eq_nocase(f.name, SN_STR("If-Modified-Since")))
        l->conditional = true;
    if (sn_str_eq_nocase(f.name, SN_STR("Range")))
        l->range = true;
}

static size_t
put_plain(const seine_fetch_opts *o, const sn_host_policy *p, field_list *l)
{
    const char *agent = p ? p->user_agent : o->user_agent;

    if (*agent)
        put_field(l, (sn_field){SN_STR("User-Agent"), sn_str_of(agent)});
    if (o->from && *o->from)
        put_field(l, (sn_field){SN_STR("From"), sn_str_of(o->from)});
    put_field(l, (sn_field){SN_STR("Accept"), SN_STR("*/*")});
    put_field(l,
              (sn_field){SN_STR("Accept-Encoding"), SN_STR("gzip, deflate, br, zstd")});
    return l->n;
}

bool
sn_requests_init_fields(sn_requests *r)
{
    const seine_fetch_opts *o = &r->shared->opts;

    r->plain = sn_calloc(PLAIN, sizeof *r->plain);
    r->home = sn_calloc(PLAIN + o->n_fields, sizeof *r->home);
    if (!r->plain || !r->home)
        return false;
    field_list plain = {.fields = r->plain}, home = {.fields = r->home};
    r->n_plain = put_plain(o, NULL, &plain);
    home.level = put_plain(o, NULL, &home);
    for (size_t i = 0; i < o->n_fields; i++)
        put_field(&home, o->fields[i]);
    r->n_home = home.n;
    r->conditional = home.conditional;
    r->range = home.range;
    sn_buf_init_secret(&r->home_written, SIZE_MAX / 2);
    return sn_h1_write_fields(r->home, r->n_home, &r->home_written) != SEINE_E_NOMEM;
}

/* Was there a 304 or 206 that nobody asked for? Then fields that may have provoked it
 * stay away. */
static bool
was_provoked(const sn_visit *v)
{
    for (uint32_t i = 0; i < v->n_tries; i++)
        if (v->tries[i].err == SEINE_E_UNEXPECTED_304 ||
            v->tries[i].err == SEINE_E_UNEXPECTED_206)
            return true;
    return false;
}

static bool
may_go(sn_str name, const sn_visit *v, bool at_home, bool provoked)
{
    switch (sn_redirect_reach(name)) {
    case SN_REACH_ALL:
        return true;
    case SN_REACH_URL:
        return v->n_hops == 0 && !provoked;
    case SN_REACH_BODY:
        return at_home && (v->n_hops == 0 || v->body.len > 0);
    case SN_REACH_REFERER: /* one that goes further was made before */
    case SN_REACH_ORIGIN:
    default:
        return at_home;
    }
}

/* Puts the field if it may go there. False: no memory for a shorter Referer. */
static bool
put_scoped(field_list *l, sn_field f, sn_visit *v, bool at_home)
{
    if (may_go(f.name, v, at_home, was_provoked(v))) {
        put_field(l, f);
        return true;
    }
    if (sn_redirect_reach(f.name) != SN_REACH_REFERER)
        return true;
    char mem[SEINE_URL_ROOM];
    sn_str bare = sn_redirect_referer(f.value, &v->url, mem);
    if (bare.len == 0)
        return true;
    char *copy = sn_arena_text(&v->arena, bare);
    if (copy)
        put_field(l, (sn_field){f.name, {copy, bare.len}});
    return copy != NULL;
}

/* The validators of the last copy, unless the caller has a condition of his own or a
 * server has shown that it cannot be trusted with one. */
static void
put_validators(field_list *l, sn_visit *v)
{
    sn_str etag = v->known->etag, modified = v->known->modified;

    if (l->conditional || l->range || was_provoked(v))
        return;
    l->level = l->n;
    if (etag.len > 0)
        put_field(l, (sn_field){SN_STR("If-None-Match"), etag});
    if (modified.len > 0)
        put_field(l, (sn_field){SN_STR("If-Modified-Since"), modified});
    v->is_conditional = true;
}

/* Does the request go over plain http because something that came over https says so? */
static bool
is_downgrade(const sn_visit *v, bool at_home)
{
    sn_str from = v->referrer ? v->referrer->url : (sn_str){NULL, 0};

    if (v->url.scheme != SN_SCHEME_HTTP || at_home)
        return false;
    return v->n_hops > 0 ? v->first->scheme == SN_SCHEME_HTTPS
                         : sn_str_starts_nocase(from, SN_STR("https://"));
}

bool
sn_requests_fields(const sn_requests *r, sn_visit *v, sn_request *out_request)
{
    const seine_fetch_opts *o = &r->shared->opts;

    bool asks = v->known && sn_revisit_asks(r->shared, v);

    v->is_conditional = false;
    const sn_host_policy *p = v->policy;
    if (v->n_hops == 0 && v->n_own == 0 && v->n_tries == 0 && !asks && !p &&
        (v->at_home || o->n_fields == 0)) {
        out_request->fields = r->home;
        out_request->n_fields = r->n_home;
        out_request->written = sn_buf_view(&r->home_written);
        out_request->conditional = r->conditional;
        out_request->range = r->range;
        return true;
    }
    field_list l = {.fields = SN_ARENA_ARRAY(&v->arena, sn_field,
                                             PLAIN + o->n_fields + (p ? p->n_fields : 0) +
                                                 v->n_own + VALIDATORS)};
    if (!l.fields)
        return false;
    bool at_home = sn_request_is_at_home(v);
    put_plain(o, p, &l);
    l.level = l.n;
    for (size_t i = 0; i < o->n_fields; i++) {
        sn_field f = {o->fields[i].name, o->fields[i].value};
        if (!put_scoped(&l, f, v, at_home))
            return false;
    }
    l.level = l.n;
    bool is_open = is_downgrade(v, at_home);
    for (size_t i = 0; p && i < p->n_fields; i++) { /* they belong to this host */
        const seine_field *f = &p->fields[i];

        if (!is_open || sn_redirect_reach(f->name) == SN_REACH_ALL)
            put_field(&l, (sn_field){f->name, f->value});
    }
    l.level = l.n;
    for (size_t i = 0; i < v->n_own; i++)
        if (!put_scoped(&l, v->own[i], v, at_home))
            return false;
    if (asks)
        put_validators(&l, v);
    out_request->fields = l.fields;
    out_request->n_fields = l.n;
    out_request->conditional = l.conditional;
    out_request->range = l.range;
    return true;
}
