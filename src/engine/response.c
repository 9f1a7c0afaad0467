/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/response.h"

#include <string.h>

#include "engine/capture.h"
#include "engine/redirect.h"
#include "engine/revisit.h"
#include "engine/trace.h"
#include "seine/extract.h"
#include "seine/mime.h"
#include "store/record_filter.h"
#include "text/page_refs.h"

/* Memory up to here is not counted: a buffer, which stays with its visit; a reader. */
#define SMALL_BODY   4096
#define SMALL_READER 65536
#define LARGE_BODY   (256 << 10)  /* from here on its announced length counts */
#define HEAP_BLOCK   (20u << 10)  /* smaller buffers lie on the heap */
#define WIRE_COST    2u           /* the archive makes a record of a capture in memory */
#define COPY_COST    2u           /* a database makes a row of a body in memory */
#define ROBOTS_MAX   (512u << 10) /* of robots.txt; RFC 9309 asks for 500 KiB at least */

/* Content-Type. */

static bool
copy_lower(sn_arena *arena, sn_str s, sn_str *out)
{
    if (s.len == 0)
        return true;
    char *copy = sn_arena_text(arena, s);
    if (!copy)
        return false;
    for (size_t i = 0; i < s.len; i++)
        copy[i] = sn_lower(copy[i]);
    *out = (sn_str){copy, s.len};
    return true;
}

bool
sn_response_content_type(sn_arena *arena, sn_str value, sn_str *out_type,
                         sn_str *out_charset)
{
    char mem[SEINE_MIME_ROOM];
    seine_mime m;

    *out_type = *out_charset = (sn_str){0};
    seine_mime_init(&m, mem, sizeof mem);
    if (seine_mime_parse(&m, value.ptr, value.len) != SEINE_OK)
        return true;
    return copy_lower(arena, seine_mime_essence(&m), out_type) &&
           copy_lower(arena, seine_mime_charset(&m), out_charset);
}

/* The head. */

static bool
is_followed(const sn_requests *r, const sn_visit *v, uint16_t status)
{
    const seine_fetch_opts *o = &r->shared->opts;

    if (v->kind == SN_KIND_ROBOTS) /* whatever is done with redirects of pages */
        return sn_redirect_is(status);
    return sn_redirect_is(status) && o->max_redirects > 0 &&
           !sn_visit_accepts(o, v, status);
}

static void
read_location(sn_visit *v, sn_str value)
{
    if (v->n_locations > 0 && sn_str_eq(v->location, value))
        return;
    if (v->n_locations < UINT8_MAX)
        v->n_locations++;
    if (v->n_locations > 1)
        return;
    char *copy = sn_arena_text(&v->arena, value);
    v->location = (sn_str){copy, value.len};
    if (!copy)
        v->kept.err = SEINE_E_NOMEM;
}

/* Notes what was read, unless it is too long for that. */
static void
note_type(sn_type_memo *m, sn_str value, sn_str type, sn_str charset)
{
    m->value_len = 0;
    if (value.len == 0 || value.len > sizeof m->value || type.len > sizeof m->type ||
        charset.len > sizeof m->charset)
        return;
    memcpy(m->value, value.ptr, value.len);
    if (type.len > 0)
        memcpy(m->type, type.ptr, type.len);
    if (charset.len > 0)
        memcpy(m->charset, charset.ptr, charset.len);
    m->value_len = (uint8_t)value.len;
    m->type_len = (uint8_t)type.len;
    m->charset_len = (uint8_t)charset.len;
}

static bool
copy_noted(sn_arena *arena, const char *text, size_t len, sn_str *out)
{
    if (len == 0)
        return true;
    char *copy = sn_arena_text(arena, (sn_str){text, len});
    *out = (sn_str){copy, copy ? len : 0};
    return copy != NULL;
}

static void
read_type(sn_requests *r, sn_visit *v, sn_str value)
{
    sn_type_memo *m = &r->types;
    bool is_known = m->value_len > 0 && value.len == m->value_len &&
                    memcmp(value.ptr, m->value, value.len) == 0;
    bool has_room =
        is_known
            ? copy_noted(&v->arena, m->type, m->type_len, &v->content_type) &&
                  copy_noted(&v->arena, m->charset, m->charset_len, &v->charset)
            : sn_response_content_type(&v->arena, value, &v->content_type, &v->charset);

    if (!has_room)
        v->kept.err = SEINE_E_NOMEM;
    else if (!is_known)
        note_type(m, value, v->content_type, v->charset);
}

static void
read_length(sn_visit *v, sn_str value)
{
    uint64_t n;

    if (v->content_length < 0 && sn_str_u64(value, &n) == SEINE_OK && n <= INT64_MAX)
        v->content_length = (int64_t)n;
}

static bool
is_wish(sn_str name)
{
    return sn_str_starts_nocase(name, SN_STR("retry-after")) ||
           sn_str_starts_nocase(name, SN_STR("ratelimit")) ||
           sn_str_starts_nocase(name, SN_STR("x-ratelimit"));
}

static bool
read_wish(sn_visit *v, sn_field f)
{
    if (!v->hint && !(v->hint = SN_ARENA_NEW(&v->arena, seine_retry_hint))) {
        v->kept.err = SEINE_E_NOMEM;
        return false;
    }
    if (!v->has_hint)
        seine_retry_hint_init(v->hint, v->started_wall);
    v->has_hint = true;
    return seine_retry_hint_feed(v->hint, f.name.ptr, f.name.len, f.value.ptr,
                                 f.value.len);
}

/* True: the field says how long to stay away. */
static bool
read_field(sn_requests *r, sn_visit *v, sn_field f, bool followed)
{
    switch (f.name.ptr[0] | 0x20) {
    case 'c':
        if (!v->content_type.ptr && sn_str_eq_nocase(f.name, SN_STR("content-type")))
            read_type(r, v, f.value);
        else if (sn_str_eq_nocase(f.name, SN_STR("content-length")))
            read_length(v, f.value);
        else if (sn_str_eq_nocase(f.name, SN_STR("content-encoding")))
            v->is_coded = true;
        break;
    case 'l':
        if (followed && sn_str_eq_nocase(f.name, SN_STR("location")))
            read_location(v, f.value);
        break;
    case 'x':
        if (sn_str_eq_nocase(f.name, SN_STR("x-robots-tag")))
            v->robots_tag |= (uint8_t)sn_page_robots_tag(f.value);
        /* fall through */
    case 'r':
        return is_wish(f.name) && read_wish(v, f);
    default:
        break;
    }
    return false;
}

/* Reads Date and Age, which matter to Retry-After alone and take time to read. */
static void
read_age(sn_visit *v, const sn_head *head)
{
    for (uint32_t i = 0; i < head->n_fields; i++) {
        sn_field f = sn_head_field_of(head, i);
        char first = f.name.ptr[0] | 0x20;

        if (first == 'd' || first == 'a')
            seine_retry_hint_feed(v->hint, f.name.ptr, f.name.len, f.value.ptr,
                                  f.value.len);
    }
}

static void
keep_fields(sn_visit *v, const sn_head *head)
{
    seine_field *fields = SN_ARENA_ARRAY(&v->arena, seine_field, head->n_fields);
    bool whole = fields != NULL;

    for (uint32_t i = 0; whole && i < head->n_fields; i++) {
        sn_field f = sn_head_field_of(head, i);
        char *name = sn_arena_text(&v->arena, f.name);
        char *value = sn_arena_text(&v->arena, f.value);

        fields[i] = (seine_field){{name, f.name.len}, {value, f.value.len}};
        whole = name && value;
    }
    if (!whole) {
        v->kept.err = SEINE_E_NOMEM;
        return;
    }
    v->fields = fields;
    v->n_fields = head->n_fields;
}

/* Does the list name the type? An entry that ends in a star names all types that begin
 * like it, and two stars with a slash between them name every type. */
static bool
is_listed(const char *types, sn_str type)
{
    sn_str rest = sn_str_of(types), one;

    while (sn_str_next(&rest, ',', &one)) {
        one = sn_str_trim(one);
        if (sn_str_eq(one, SN_STR("*/*")))
            return true;
        if (sn_str_ends(one, SN_STR("*"))
                ? sn_str_starts_nocase(type, sn_str_slice(one, 0, one.len - 1))
                : sn_str_eq_nocase(one, type))
            return true;
    }
    return false;
}

/* Is the body asked for? A page whose type is known and not listed is not. */
static bool
is_wanted(const seine_fetch_opts *o, const sn_visit *v, uint16_t status)
{
    return !o->accept_type || v->kind != SN_KIND_PAGE || status < 200 || status > 299 ||
           !v->content_type.ptr || is_listed(o->accept_type, v->content_type);
}

/* Is the URL one whose body is taken whatever its type? */
static bool
is_kept(const sn_shared_state *s, const sn_visit *v)
{
    return s->accept_urls && sn_record_filter_has(s->accept_urls, seine_url_href(&v->url),
                                                  (sn_str){NULL, 0});
}

/* The page that is read out of a body. */

/* Whether the parts of the page are looked for. */
static bool
has_parts(const seine_fetch_opts *o, const sn_visit *v)
{
    sn_page_form form;

    return o->crawl && o->requisites && v->kind == SN_KIND_PAGE &&
           sn_page_refs_form(v->content_type, &form);
}

/* What this response is read for. False: for nothing. */
static bool
page_wants(const seine_fetch_opts *o, const sn_visit *v, uint16_t status,
           sn_page_wants *out_wants)
{
    *out_wants =
        (sn_page_wants){.kind = (sn_visit_kind)v->kind,
                        .content_type = v->content_type,
                        .charset = v->charset,
                        .robots = v->robots_tag,
                        .dates = o->revisit != NULL,
                        .max_links = o->crawl ? o->crawl->max_links : 0,
                        .max_text = v->policy ? v->policy->limits.max_body : o->max_body};
    switch ((sn_visit_kind)v->kind) {
    case SN_KIND_SITEMAP:
        return status >= 200 && status <= 299;
    case SN_KIND_PAGE:
        out_wants->links = (o->crawl || o->keep & SEINE_KEEP_LINKS) &&
                           sn_visit_accepts(o, v, status) && !sn_redirect_is(status);
        if (v->looks || (o->revisit && o->revisit->by_content))
            out_wants->own = seine_url_target(&v->url);
        out_wants->is_sheet = !sn_page_is_html(v->content_type);
        if (out_wants->is_sheet)
            return out_wants->links && has_parts(o, v);
        return out_wants->links || o->keep & SEINE_KEEP_TITLE;
    case SN_KIND_ROBOTS:
    default:
        return false;
    }
}

/* Whether values are taken out of this response: of an accepted one, by its type. */
static bool
has_data(const seine_fetch_opts *o, const sn_visit *v, uint16_t status)
{
    return o->extract && v->kind == SN_KIND_PAGE && sn_visit_accepts(o, v, status) &&
           !sn_redirect_is(status) &&
           seine_extract_takes(o->extract, v->content_type.ptr, v->content_type.len);
}

static void
begin_page(sn_requests *r, sn_visit *v, uint16_t status)
{
    sn_page_wants wants;

    if (!page_wants(&r->shared->opts, v, status, &wants))
        return;
    wants.later = r->reads_later && wants.links;
    v->page = sn_page_take(&r->pages);
    if (v->page)
        sn_page_begin(v->page, &wants);
    else if (wants.links || wants.kind == SN_KIND_SITEMAP)
        v->kept.err = SEINE_E_NOMEM; /* a page without its links is not whole */
}

static void
drop_page(sn_requests *r, sn_visit *v)
{
    sn_page_give(&r->pages, v->page);
    v->page = NULL;
    v->title = (sn_str){0};
}

void
sn_response_head(sn_requests *r, sn_visit *v, const sn_head *head)
{
    unsigned keep = r->shared->opts.keep;
    bool followed = is_followed(r, v, head->status), wishes = false;

    if (sn_trace_is_on(r->shared))
        sn_trace_head(r->shared, v, head);
    for (uint32_t i = 0; i < head->n_fields; i++)
        wishes |= read_field(r, v, sn_head_field_of(head, i), followed);
    if (wishes)
        read_age(v, head);
    if (head->status == 429 || (head->status >= 300 && sn_visit_wish(v) > 0))
        r->ops.head(v, head->status, r->ops.arg);
    if (r->shared->opts.revisit && v->kind == SN_KIND_PAGE)
        sn_revisit_head(v, head);
    if (followed)
        return;
    if (keep & SEINE_KEEP_FIELDS)
        keep_fields(v, head);
    if (!is_wanted(&r->shared->opts, v, head->status) && !is_kept(r->shared, v))
        v->enough = v->not_wanted = true;
    else
        begin_page(r, v, head->status);
    v->has_data = !v->enough && has_data(&r->shared->opts, v, head->status);
}

/* The body. */

/* Does the visit keep the body? */
static bool
keeps_body(const sn_requests *r, const sn_visit *v)
{
    return v->kind == SN_KIND_ROBOTS ||
           (v->kind == SN_KIND_PAGE &&
            (r->shared->opts.keep & (SEINE_KEEP_BODY | SEINE_KEEP_SHA256) ||
             v->has_data || has_parts(&r->shared->opts, v)));
}

/* What a byte of a body that is kept takes. Only bodies of records are copied. */
static unsigned
body_cost(const sn_requests *r, const sn_visit *v)
{
    const unsigned both = SEINE_KEEP_BODY | SEINE_KEEP_COPY;

    return v->kind == SN_KIND_PAGE && (r->shared->opts.keep & both) == both ? COPY_COST
                                                                            : 1u;
}

/* The whole length of a body that fits into the buffer; 0: it is not known. */
static size_t
known_length(const sn_visit *v)
{
    return v->content_length > 0 && (uint64_t)v->content_length <= v->kept.cap
               ? (size_t)v->content_length
               : 0;
}

/* The memory of a buffer with `len` bytes of the body. Small ones lie on the heap, with
 * gaps between them that are as large: they count twice. Of large ones, which are mapped,
 * only those pages are there that were written. */
static size_t
buffer_memory(const sn_visit *v, size_t len)
{
    size_t all = known_length(v), room = all > len ? all : len;

    return room < HEAP_BLOCK ? 2 * room : len;
}

/* What readers of the page and captures take. */
static uint64_t
memory_beside(const sn_visit *v)
{
    size_t page = v->page ? sn_page_memory(v->page) : 0;

    return (uint64_t)WIRE_COST * sn_capture_memory(v) +
           (page > SMALL_READER ? page - SMALL_READER : 0);
}

/* The memory of the visit that is counted, with `more` bytes of its body. */
static uint64_t
memory_of(const sn_requests *r, const sn_visit *v, size_t more)
{
    size_t len = v->kept.len + more;

    return memory_beside(v) + (len > SMALL_BODY ? (uint64_t)body_cost(r, v) *
                                                      (buffer_memory(v, len) - SMALL_BODY)
                                                : 0);
}

/* The part of it that is filled. */
static uint64_t
memory_filled(const sn_requests *r, const sn_visit *v)
{
    size_t len = v->kept.len > SMALL_BODY ? v->kept.len - SMALL_BODY : 0;

    return memory_beside(v) + (uint64_t)body_cost(r, v) * len;
}

static void
refuse_body(sn_visit *v)
{
    v->kept.err = SEINE_E_BUDGET;
    v->is_too_large = true;
}

/* Counts it. False: it is more than there is at all. */
static bool
charge_memory(sn_requests *r, sn_visit *v, size_t more)
{
    if (sn_charge_set(&v->charge, r->shared->brake, memory_of(r, v, more)))
        return true;
    refuse_body(v);
    return false;
}

/* Says what a large body of known length will take, when its first bytes are there. The
 * length of a coded one is not known. False: it is more than there is at all. */
static bool
expect_body(sn_requests *r, sn_visit *v)
{
    if (v->is_expected || v->content_length < LARGE_BODY || v->kind != SN_KIND_PAGE)
        return true;
    v->is_expected = true;
    uint64_t n = (uint64_t)v->content_length - SMALL_BODY;
    unsigned cost = (keeps_body(r, v) && !v->is_coded ? body_cost(r, v) : 0u) +
                    (v->captures ? WIRE_COST : 0u);
    n = n < UINT64_MAX / 8 ? n : UINT64_MAX / 8;
    if (sn_memory_brake_expect(r->shared->brake, n * cost))
        return true;
    refuse_body(v);
    return false;
}

/* What a byte of the response takes, at most: that of a page is a byte of a link. */
static unsigned
cost_of(const sn_requests *r, const sn_visit *v)
{
    return (keeps_body(r, v) ? body_cost(r, v) : 0u) + (v->captures ? WIRE_COST : 0u) +
           (v->page && sn_page_memory(v->page) > SMALL_READER ? 1u : 0u);
}

/* What may be read into the small buffers, which are not counted. */
static size_t
free_room(const sn_visit *v)
{
    size_t body = v->kept.len < SMALL_BODY ? SMALL_BODY - v->kept.len : 0;
    size_t wire = sn_capture_free_room(v);

    return body < wire ? body : wire;
}

size_t
sn_response_room(sn_requests *r, sn_visit *v)
{
    sn_memory_brake *b = r->shared->brake;
    unsigned cost;

    if (!sn_memory_brake_is_on(b) || v->kept.err != SEINE_OK || v->enough) {
        sn_charge_go(&v->charge, b);
        return SIZE_MAX;
    }
    cost = cost_of(r, v);
    if (cost == 0)
        return SIZE_MAX;
    size_t room = free_room(v);
    if (room > 0 && memory_of(r, v, 0) == 0)
        return room;
    v->charge.number = v->number;
    room = sn_memory_brake_room(b, &v->charge, memory_filled(r, v), cost);
    if (room != SN_ROOM_NEVER)
        return room;
    refuse_body(v);
    return SMALL_BODY; /* the next piece is refused */
}

/* Makes room for `more` bytes: for all of a body whose length is known, else twice as
 * much as before. */
static bool
grow_body(sn_visit *v, size_t more)
{
    size_t need = v->kept.len + more + 1;
    size_t all = known_length(v);

    if (need <= v->kept.room)
        return true;
    if (need > SMALL_BODY && all >= v->kept.len + more)
        more = all - v->kept.len;
    return sn_buf_reserve(&v->kept, more) != NULL;
}

static bool
read_page(sn_requests *r, sn_visit *v, sn_str piece)
{
    sn_page_feed(v->page, piece);
    return charge_memory(r, v, 0);
}

/* The part of the piece within the first `max` bytes; beyond them there is enough. */
static sn_str
cut_robots(sn_visit *v, sn_str piece, size_t max)
{
    size_t left = v->kept.len < max ? max - v->kept.len : 0;

    v->enough = piece.len > left;
    return sn_str_slice(piece, 0, left);
}

bool
sn_response_body(sn_requests *r, sn_visit *v, sn_str piece)
{
    if (v->kept.err != SEINE_OK)
        return false;
    if (v->n_locations > 0) /* of a redirect */
        return true;
    if (v->enough || !expect_body(r, v))
        return false;
    if (v->is_hashed)
        sn_digest_add(&v->digest, piece.ptr, piece.len);
    if (v->page || v->has_data)
        r->page_bytes += piece.len;
    if (v->page && !read_page(r, v, piece))
        return false;
    if (v->kind == SN_KIND_ROBOTS)
        piece = cut_robots(v, piece, ROBOTS_MAX);
    else if (!keeps_body(r, v))
        return true;
    if (!charge_memory(r, v, piece.len) || !grow_body(v, piece.len))
        return false;
    sn_buf_add(&v->kept, piece.ptr, piece.len);
    return v->kept.err == SEINE_OK && !v->enough;
}

/* Counts what is there already. */
static void
recharge(sn_requests *r, sn_visit *v)
{
    bool fits = charge_memory(r, v, 0);

    (void)fits;
}

/* What does not fit is refused with the next piece of the body. */
void
sn_response_wire(sn_requests *r, sn_visit *v, sn_str bytes)
{
    sn_capture_wire(v, bytes);
    if (v->kept.err == SEINE_OK)
        recharge(r, v);
}

/* The end. */

/* All of the page was read: its parts and its title. */
static void
end_page(const seine_fetch_opts *o, sn_visit *v)
{
    sn_page_facts facts;

    if (has_parts(o, v))
        sn_page_add_parts(v->page, sn_buf_view(&v->kept), v->content_type);
    sn_page_facts_get(v->page, &facts);
    v->title = facts.title;
}

void
sn_response_end(sn_requests *r, sn_visit *v)
{
    sn_charge_go(&v->charge, r->shared->brake);
    if (!v->page)
        return;
    if (v->end.partial || v->end.fault.code != SEINE_OK || v->kept.err != SEINE_OK) {
        drop_page(r, v);
        return;
    }
    sn_page_end(v->page);
    if (!sn_page_is_unread(v->page))
        end_page(&r->shared->opts, v);
}

bool
sn_response_is_unread(const sn_visit *v)
{
    return v->page && sn_page_is_unread(v->page);
}

void
sn_response_read(const sn_shared_state *c, sn_visit *v)
{
    sn_page_read(v->page);
    end_page(&c->opts, v);
}

void
sn_response_is_read(sn_requests *r, sn_visit *v)
{
    if (v->page) /* it is there, whether it fits or not */
        (void)!sn_charge_set(&v->charge, r->shared->brake, memory_of(r, v, 0));
}

void
sn_response_drop(sn_requests *r, sn_visit *v)
{
    drop_page(r, v);
    if (v->kept.room > SMALL_BODY)
        sn_buf_fini(&v->kept);
    else
        sn_buf_reset(&v->kept);
    sn_charge_release(&v->charge, r->shared->brake);
    if (sn_capture_memory(v) > 0)
        recharge(r, v);
}
