/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record.h"

#include "store/record_hold.h"

/*
 * Arrays come first, where the block is aligned for them, then texts. Counting and
 * copying walk the same list of views.
 */

#define VIEWS(X)    \
    X(input)        \
    X(id)           \
    X(tags)         \
    X(method)       \
    X(host)         \
    X(ip)           \
    X(message)      \
    X(hint)         \
    X(content_type) \
    X(charset)      \
    X(parent)       \
    X(via.tag)      \
    X(via.attr)     \
    X(via.text)     \
    X(lang)         \
    X(canonical)    \
    X(meta_robots)  \
    X(title) X(rule) X(warc.file) X(warc.id) X(body_file)

/* What a hold keeps: these are copied only if there is none. */
#define CAPTURE_VIEWS(X) X(url) X(request) X(response)

/* URL, key and final URL are mostly the text of another view, which is copied once. */
static bool
is_same(seine_view a, seine_view b)
{
    return a.ptr == b.ptr && a.len == b.len;
}

static bool
has_fault(const seine_record *r)
{
    return r->fault && r->fault->code != SEINE_OK;
}

size_t
sn_record_room(const seine_record *r)
{
    size_t n = sizeof *r;

    n += r->n_hops * sizeof *r->hops + r->n_tries * sizeof *r->tries;
    n += r->n_notes * sizeof *r->notes + r->n_fields * sizeof *r->fields;
    n += has_fault(r) ? sizeof *r->fault : 0;
    n += r->captures ? r->n_captures * sizeof *r->captures : 0;
    n += r->sha256 ? 32 : 0;
#define X(member) n += (r->member).len;
    VIEWS(X)
#undef X
    n += is_same(r->url, r->input) ? 0 : r->url.len;
    n += is_same(r->key, r->url) ? 0 : r->key.len;
    n += is_same(r->final_url, r->url) ? 0 : r->final_url.len;
    n += sn_record_hold_keeps(r->hold) ? 0 : r->body.len;
    for (size_t i = 0; i < r->n_hops; i++)
        n += r->hops[i].url.len;
    for (size_t i = 0; i < r->n_notes; i++)
        n += strlen(r->notes[i]) + 1;
    for (size_t i = 0; i < r->n_fields; i++)
        n += r->fields[i].name.len + r->fields[i].value.len;
    for (size_t i = 0; r->captures && i < r->n_captures; i++) {
        n += r->captures[i].ip.len;
        if (sn_record_hold_keeps(r->hold))
            continue;
#define X(member) n += r->captures[i].member.len;
        CAPTURE_VIEWS(X)
#undef X
    }
    return n;
}

/* Copies n bytes to *at and moves *at. */
static void *
keep_bytes(char **at, const void *bytes, size_t n)
{
    char *to = *at;

    if (n > 0)
        memcpy(to, bytes, n);
    *at += n;
    return to;
}

static void
keep_view(char **at, seine_view *v)
{
    if (v->ptr)
        v->ptr = keep_bytes(at, v->ptr, v->len);
}

/* Copies the view, unless it is the `original` that was copied as `copy`. */
static void
share_view(char **at, seine_view *v, seine_view original, seine_view copy)
{
    if (is_same(*v, original))
        *v = copy;
    else
        keep_view(at, v);
}

static void
keep_lists(char **at, seine_record *c)
{
    seine_hop *hops = keep_bytes(at, c->hops, c->n_hops * sizeof *hops);
    const char **notes, *const *from = c->notes;
    seine_capture *captures;
    seine_field *fields;

    c->tries = keep_bytes(at, c->tries, c->n_tries * sizeof *c->tries);
    notes = keep_bytes(at, from, c->n_notes * sizeof *notes);
    fields = keep_bytes(at, c->fields, c->n_fields * sizeof *fields);
    c->fault = keep_bytes(at, c->fault, has_fault(c) ? sizeof *c->fault : 0);
    captures =
        keep_bytes(at, c->captures, c->captures ? c->n_captures * sizeof *captures : 0);

    for (size_t i = 0; i < c->n_hops; i++)
        keep_view(at, &hops[i].url);
    for (size_t i = 0; i < c->n_notes; i++)
        notes[i] = keep_bytes(at, notes[i], strlen(notes[i]) + 1);
    for (size_t i = 0; i < c->n_fields; i++) {
        keep_view(at, &fields[i].name);
        keep_view(at, &fields[i].value);
    }
    for (size_t i = 0; c->captures && i < c->n_captures; i++) {
        keep_view(at, &captures[i].ip);
        if (sn_record_hold_keeps(c->hold))
            continue;
#define X(member) keep_view(at, &captures[i].member);
        CAPTURE_VIEWS(X)
#undef X
    }
    c->captures = c->captures ? captures : NULL;
    c->hops = hops;
    c->notes = notes;
    c->fields = c->fields ? fields : NULL;
}

seine_record *
sn_record_copy(const seine_record *r, void *block)
{
    static const seine_fault none = SEINE_FAULT;
    char *at = (char *)block + sizeof *r;
    seine_record *c = block;
    bool failed = has_fault(r);

    *c = *r;
    sn_record_hold_ref(c->hold);
    keep_lists(&at, c);
    if (!failed)
        c->fault = &none;
    if (!sn_record_hold_keeps(r->hold))
        keep_view(&at, &c->body);
    if (r->sha256)
        c->sha256 = keep_bytes(&at, r->sha256, 32);
#define X(member) keep_view(&at, &c->member);
    VIEWS(X)
#undef X
    share_view(&at, &c->url, r->input, c->input);
    share_view(&at, &c->key, r->url, c->url);
    share_view(&at, &c->final_url, r->url, c->url);
    return c;
}
