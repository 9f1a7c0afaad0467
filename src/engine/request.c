/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/request.h"

#include <string.h>

#include "base/alloc.h"
#include "base/time.h"
#include "engine/capture.h"
#include "engine/redirect.h"
#include "seine/mime.h"

#define PLAIN       4    /* fields of our own */
#define KEPT        4096 /* a buffer up to here stays with its visit, and is not counted */
#define COOKIES_SET 50   /* of one response; the others do not count */
#define ROBOTS      (512u << 10) /* of robots.txt; RFC 9309 asks for 500 KiB at least */
#define READ        65536        /* a reader up to here is not counted */

/* Fields. */

/* A list in the making: `level` and what is behind it may replace what is before. */
typedef struct list {
    sn_field *fields;
    size_t n, level;
    bool conditional, range;
} list;

/* A part of what is packed cannot be unpacked: who asks for one takes it plain. */
static bool
replaces(sn_str name, sn_str of)
{
    return sn_str_eq_nocase(name, of) ||
           (sn_str_eq_nocase(name, SN_STR("Range")) &&
            sn_str_eq_nocase(of, SN_STR("Accept-Encoding")));
}

static void
put(list *l, sn_field f)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->level; i++)
        if (!replaces(f.name, l->fields[i].name))
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
put_plain(const seine_fetch_opts *o, list *l)
{
    if (*o->user_agent)
        put(l, (sn_field){SN_STR("User-Agent"), sn_str_of(o->user_agent)});
    if (o->from && *o->from)
        put(l, (sn_field){SN_STR("From"), sn_str_of(o->from)});
    put(l, (sn_field){SN_STR("Accept"), SN_STR("*/*")});
    put(l, (sn_field){SN_STR("Accept-Encoding"), SN_STR("gzip, deflate, br, zstd")});
    return l->n;
}

seine_err
sn_requests_init(sn_requests *w, sn_shared_state *shared, const sn_env *env,
                 const sn_requests_ops *ops)
{
    const seine_fetch_opts *o = &shared->opts;

    *w = (sn_requests){.shared = shared, .env = env, .ops = *ops};
    w->plain = sn_calloc(PLAIN, sizeof *w->plain);
    w->home = sn_calloc(PLAIN + o->n_fields, sizeof *w->home);
    if (!w->plain || !w->home ||
        sn_proxy_breakers_init(&w->proxy_breakers, o) != SEINE_OK) {
        sn_requests_fini(w);
        return SEINE_E_NOMEM;
    }
    list plain = {.fields = w->plain}, home = {.fields = w->home};
    w->n_plain = put_plain(o, &plain);
    home.level = put_plain(o, &home);
    for (size_t i = 0; i < o->n_fields; i++)
        put(&home, (sn_field){o->fields[i].name, o->fields[i].value});
    w->n_home = home.n;
    w->conditional = home.conditional;
    w->range = home.range;
    return SEINE_OK;
}

void
sn_requests_fini(sn_requests *w)
{
    for (sn_flight *f = w->spare, *next; f; f = next) {
        next = f->next;
        sn_free(f->cookie);
        sn_free(f);
    }
    sn_page_pool_fini(&w->pages);
    sn_proxy_breakers_fini(&w->proxy_breakers);
    sn_free(w->plain);
    sn_free(w->home);
    *w = (sn_requests){0};
}

/* A 304 or 206 came that nobody asked for: what may have provoked it stays away. */
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

/* Puts what may go; false: no memory for a Referer that has to be another one. */
static bool
put_scoped(list *l, sn_field f, sn_visit *v, bool at_home)
{
    if (may_go(f.name, v, at_home, was_provoked(v))) {
        put(l, f);
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
        put(l, (sn_field){f.name, {copy, bare.len}});
    return copy != NULL;
}

/* Does this hop go to an origin that the user named? */
static bool
is_at_home(const sn_visit *v)
{
    return v->at_home &&
           (v->n_hops == 0 || sn_redirect_is_same_origin(&v->first, &v->url));
}

bool
sn_requests_fields(const sn_requests *w, sn_visit *v, sn_request *out_request)
{
    const seine_fetch_opts *o = &w->shared->opts;

    if (v->n_hops == 0 && v->n_own == 0 && v->n_tries == 0 &&
        (v->at_home || o->n_fields == 0)) {
        out_request->fields = w->home;
        out_request->n_fields = w->n_home;
        out_request->conditional = w->conditional;
        out_request->range = w->range;
        return true;
    }
    list l = {.fields =
                  SN_ARENA_ARRAY(&v->arena, sn_field, PLAIN + o->n_fields + v->n_own)};
    if (!l.fields)
        return false;
    bool at_home = is_at_home(v);
    put_plain(o, &l);
    l.level = l.n;
    for (size_t i = 0; i < o->n_fields; i++) {
        sn_field f = {o->fields[i].name, o->fields[i].value};
        if (!put_scoped(&l, f, v, at_home))
            return false;
    }
    l.level = l.n;
    for (size_t i = 0; i < v->n_own; i++)
        if (!put_scoped(&l, v->own[i], v, at_home))
            return false;
    out_request->fields = l.fields;
    out_request->n_fields = l.n;
    out_request->conditional = l.conditional;
    out_request->range = l.range;
    return true;
}

/* Cookies. */

/* Where the user's own cookies stand in the list; its length: nowhere. */
static size_t
find_cookie(const sn_request *r)
{
    size_t i = 0;

    while (i < r->n_fields && !sn_str_eq_nocase(r->fields[i].name, SN_STR("Cookie")))
        i++;
    return i;
}

static bool
join_cookies(sn_flight *f, sn_str jar, sn_str own, sn_str *out_value)
{
    size_t need = jar.len + (own.len > 0 ? 2 + own.len : 0);

    if (need > f->cookie_room) {
        sn_free(f->cookie);
        f->cookie = sn_alloc(need);
        f->cookie_room = f->cookie ? need : 0;
        if (!f->cookie)
            return false;
    }
    memcpy(f->cookie, jar.ptr, jar.len);
    if (own.len > 0) {
        memcpy(f->cookie + jar.len, "; ", 2);
        memcpy(f->cookie + jar.len + 2, own.ptr, own.len);
    }
    *out_value = (sn_str){f->cookie, need};
    return true;
}

/* What the jar has for this hop, and behind it what the user gave for this origin. */
static bool
add_cookies(sn_requests *w, sn_flight *f)
{
    seine_jar *jar = w->shared->opts.jar;
    sn_request *r = &f->request;
    char buf[SEINE_JAR_SENT];
    size_t at, cap = sizeof buf;
    sn_str own = {0};

    if (!jar)
        return true;
    at = find_cookie(r);
    if (at < r->n_fields)
        own = r->fields[at].value;
    if (own.len > 0)
        cap = own.len + 2 < cap ? cap - own.len - 2 : 0;
    size_t n = seine_jar_cookie(jar, r->url, f->visit->started_wall, buf, cap);
    if (n == 0)
        return true;
    sn_field *fields = SN_ARENA_ARRAY(&f->visit->arena, sn_field, r->n_fields + 1);
    sn_field cookie = {.name = SN_STR("Cookie")};
    if (!fields || !join_cookies(f, (sn_str){buf, n}, own, &cookie.value))
        return false;
    memcpy(fields, r->fields, r->n_fields * sizeof *fields);
    fields[at] = cookie;
    r->fields = fields;
    r->n_fields += at == r->n_fields;
    return true;
}

/* The head is whole, so they count, whatever becomes of the body. */
static void
take_cookies(sn_flight *f, const sn_head *head)
{
    seine_jar *jar = f->requests->shared->opts.jar;
    seine_clock *clock = f->requests->env->clock;
    uint32_t at = 0;
    sn_str value;

    for (int n = 0;
         jar && n < COOKIES_SET && sn_head_next(head, SN_STR("set-cookie"), &at, &value);
         n++) {
        seine_err e =
            seine_jar_take(jar, &f->visit->url, value.ptr, value.len, clock->wall(clock));
        if (e == SEINE_E_NOMEM) /* one that is refused does no harm */
            f->visit->kept.err = e;
    }
}

/* Content-Type. */

static sn_str
lower(sn_arena *arena, sn_str s)
{
    char *copy = s.len > 0 ? sn_arena_text(arena, s) : NULL;

    for (size_t i = 0; copy && i < s.len; i++)
        copy[i] = sn_lower(copy[i]);
    return copy ? (sn_str){copy, s.len} : (sn_str){0};
}

void
sn_requests_content_type(sn_arena *arena, sn_str value, sn_str *out_type,
                         sn_str *out_charset)
{
    char mem[SEINE_MIME_ROOM];
    seine_mime m;

    *out_type = *out_charset = (sn_str){0};
    seine_mime_init(&m, mem, sizeof mem);
    if (seine_mime_parse(&m, value.ptr, value.len) != SEINE_OK)
        return;
    seine_view type = seine_mime_essence(&m), charset = seine_mime_charset(&m);
    *out_type = lower(arena, type);
    *out_charset = lower(arena, charset);
}

/* What comes back. */

static bool
is_followed(const sn_requests *w, const sn_visit *v, uint16_t status)
{
    const seine_fetch_opts *o = &w->shared->opts;

    if (v->kind == SN_KIND_ROBOTS) /* whatever is done with redirects of pages */
        return sn_redirect_is(status);
    return sn_redirect_is(status) && o->max_redirects > 0 &&
           !(o->accept[status / 64] >> status % 64 & 1);
}

static void
take_location(sn_visit *v, sn_str value)
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

static void
take_length(sn_visit *v, sn_str value)
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
take_wish(sn_visit *v, sn_field f)
{
    if (!v->has_hint)
        seine_retry_hint_init(&v->hint, v->started_wall);
    v->has_hint = true;
    return seine_retry_hint_feed(&v->hint, f.name.ptr, f.name.len, f.value.ptr,
                                 f.value.len);
}

/* True: it is about how long to stay away. */
static bool
take_field(sn_visit *v, sn_field f, bool followed)
{
    switch (f.name.ptr[0] | 0x20) {
    case 'c':
        if (!v->content_type.ptr && sn_str_eq_nocase(f.name, SN_STR("content-type")))
            sn_requests_content_type(&v->arena, f.value, &v->content_type, &v->charset);
        else if (sn_str_eq_nocase(f.name, SN_STR("content-length")))
            take_length(v, f.value);
        break;
    case 'l':
        if (followed && sn_str_eq_nocase(f.name, SN_STR("location")))
            take_location(v, f.value);
        break;
    case 'x':
        if (sn_str_eq_nocase(f.name, SN_STR("x-robots-tag")))
            v->robots_tag |= (uint8_t)sn_page_robots_tag(f.value);
        /* fall through */
    case 'r':
        return is_wish(f.name) && take_wish(v, f);
    default:
        break;
    }
    return false;
}

/* Date and Age matter to a wish alone, and dates take their time. */
static void
take_age(sn_visit *v, const sn_head *head)
{
    for (uint32_t i = 0; i < head->n_fields; i++) {
        sn_field f = sn_head_field_of(head, i);
        char first = f.name.ptr[0] | 0x20;

        if (first == 'd' || first == 'a')
            seine_retry_hint_feed(&v->hint, f.name.ptr, f.name.len, f.value.ptr,
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

/* Whether `type` is in a list; a star at the end means all that begin so, two with a
 * slash between them everything. */
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

/* A page whose type is known and not asked for is not taken. */
static bool
is_wanted(const seine_fetch_opts *o, const sn_visit *v, uint16_t status)
{
    return !o->accept_type || v->kind != SN_KIND_PAGE || status < 200 || status > 299 ||
           !v->content_type.ptr || is_listed(o->accept_type, v->content_type);
}

static bool
is_accepted(const seine_fetch_opts *o, uint16_t status)
{
    return status / 64u < sizeof o->accept / sizeof *o->accept &&
           (o->accept[status / 64] >> status % 64 & 1) != 0;
}

/* What this answer is read for; false: it is not. */
static bool
page_wants(const seine_fetch_opts *o, const sn_visit *v, uint16_t status,
           sn_page_wants *out_wants)
{
    *out_wants = (sn_page_wants){.kind = (sn_visit_kind)v->kind,
                                 .content_type = v->content_type,
                                 .charset = v->charset,
                                 .robots = v->robots_tag};
    switch ((sn_visit_kind)v->kind) {
    case SN_KIND_SITEMAP:
        return status >= 200 && status <= 299;
    case SN_KIND_PAGE:
        out_wants->links = (o->crawl || o->keep & SEINE_KEEP_LINKS) &&
                           is_accepted(o, status) && !sn_redirect_is(status);
        return sn_page_is_html(v->content_type) &&
               (out_wants->links || o->keep & SEINE_KEEP_TITLE);
    case SN_KIND_ROBOTS:
    default:
        return false;
    }
}

static void
begin_page(sn_flight *f, uint16_t status)
{
    sn_visit *v = f->visit;
    sn_page_wants wants;

    if (!page_wants(&f->requests->shared->opts, v, status, &wants))
        return;
    v->page = sn_page_take(&f->requests->pages);
    if (v->page)
        sn_page_begin(v->page, &wants);
    else if (wants.links || wants.kind == SN_KIND_SITEMAP)
        v->kept.err = SEINE_E_NOMEM; /* a page without its links is not whole */
}

static void
drop_page(sn_requests *w, sn_visit *v)
{
    sn_page_give(&w->pages, v->page);
    v->page = NULL;
    v->title = (sn_str){0};
}

static void
on_head(const sn_head *head, void *arg)
{
    sn_flight *f = arg;
    sn_visit *v = f->visit;
    unsigned keep = f->requests->shared->opts.keep;
    bool followed = is_followed(f->requests, v, head->status), wishes = false;

    for (uint32_t i = 0; i < head->n_fields; i++)
        wishes |= take_field(v, sn_head_field_of(head, i), followed);
    take_cookies(f, head);
    if (wishes)
        take_age(v, head);
    if (head->status >= 300 && sn_visit_wish(v) > 0)
        f->requests->ops.head(v, head->status, f->requests->ops.arg);
    if (followed)
        return;
    if (keep & SEINE_KEEP_FIELDS)
        keep_fields(v, head);
    if (!is_wanted(&f->requests->shared->opts, v, head->status))
        v->enough = v->not_wanted = true;
    else
        begin_page(f, head->status);
}

/* The visit may hold so many bytes: kept ones, and of a reader that has grown. */
static bool
hold(sn_requests *w, sn_visit *v, size_t kept)
{
    size_t page = v->page ? sn_page_memory(v->page) : 0;
    uint64_t need = kept + (page > READ ? page - READ : 0);
    seine_want nothing = {{0}};

    if (!w->shared->budget || need == 0)
        return true;
    if (!v->held.of &&
        seine_budget_try(w->shared->budget, &nothing, &v->held) != SEINE_OK) {
        v->kept.err = SEINE_E_BUDGET;
        return false;
    }
    uint64_t has = v->held.has.n[SEINE_RES_MEMORY];
    if (need > has &&
        seine_budget_grow(&v->held, SEINE_RES_MEMORY, need - has) != SEINE_OK) {
        v->kept.err = SEINE_E_BUDGET;
        return false;
    }
    return true;
}

/* Room for so many bytes more, reserved first. */
static bool
grow(sn_requests *w, sn_visit *v, size_t more)
{
    size_t need = v->kept.len + more + 1, room = v->kept.room * 2;

    if (need <= v->kept.room)
        return true;
    if (v->kept.room > v->kept.cap / 2) /* as sn_buf grows */
        room = v->kept.cap + 1;
    if (room < need)
        room = need;
    return hold(w, v, room) && sn_buf_reserve(&v->kept, more) != NULL;
}

void
sn_requests_drop(sn_requests *w, sn_visit *v)
{
    drop_page(w, v);
    if (v->kept.room > KEPT)
        sn_buf_fini(&v->kept);
    else
        sn_buf_reset(&v->kept);
    seine_budget_release(&v->held);
}

static void
on_wire(sn_str bytes, void *arg)
{
    sn_flight *f = arg;

    sn_capture_wire(f->visit, bytes);
}

static bool
read_page(sn_requests *w, sn_visit *v, sn_str piece)
{
    sn_page_feed(v->page, piece);
    return hold(w, v, v->kept.room > KEPT ? v->kept.room : 0);
}

/* What of the piece is within the first `max` bytes; then there is enough. */
static sn_str
up_to(sn_visit *v, sn_str piece, size_t max)
{
    size_t left = v->kept.len < max ? max - v->kept.len : 0;

    v->enough = piece.len > left;
    return sn_str_slice(piece, 0, left);
}

static bool
on_body(sn_str piece, void *arg)
{
    sn_flight *f = arg;
    sn_visit *v = f->visit;

    if (v->kept.err != SEINE_OK)
        return false;
    if (v->n_locations > 0) /* of a redirect */
        return true;
    if (v->enough)
        return false;
    if (v->page && !read_page(f->requests, v, piece))
        return false;
    if (v->kind == SN_KIND_ROBOTS)
        piece = up_to(v, piece, ROBOTS);
    else if (!(f->requests->shared->opts.keep & (SEINE_KEEP_BODY | SEINE_KEEP_SHA256)) ||
             v->kind != SN_KIND_PAGE)
        return true;
    if (!grow(f->requests, v, piece.len))
        return false;
    sn_buf_add(&v->kept, piece.ptr, piece.len);
    return v->kept.err == SEINE_OK && !v->enough;
}

static seine_err
on_admit(const sn_ip *peer, void *arg)
{
    sn_flight *f = arg;

    return f->requests->ops.admit(f->visit, peer, f->requests->ops.arg);
}

static void
on_sent(void *arg)
{
    sn_flight *f = arg;

    if (f->visit->is_leaving)
        f->requests->ops.sent(f->visit, f->requests->ops.arg);
}

static void
land(sn_flight *f)
{
    sn_requests *w = f->requests;

    if (f->prev)
        f->prev->next = f->next;
    else
        w->flying = f->next;
    if (f->next)
        f->next->prev = f->prev;
    w->n--;
    f->visit = NULL;
    f->next = w->spare;
    w->spare = f;
}

static void
push_ended(sn_requests *w, sn_visit *v)
{
    v->next = NULL;
    v->exchange = NULL;
    if (w->ended)
        w->last_ended->next = v;
    else
        w->ended = v;
    w->last_ended = v;
}

/* The reader stays if the body ended well. */
static void
end_page(sn_requests *w, sn_visit *v)
{
    sn_page_facts facts;

    if (!v->page)
        return;
    if (v->end.partial || v->end.fault.code != SEINE_OK || v->kept.err != SEINE_OK) {
        drop_page(w, v);
        return;
    }
    sn_page_end(v->page);
    sn_page_facts_get(v->page, &facts);
    v->title = facts.title;
}

static void
on_end(const sn_end *end, void *arg)
{
    sn_flight *f = arg;
    sn_visit *v = f->visit;

    v->end = *end;
    if (f->request.proxy)
        sn_proxy_breakers_end(&f->requests->proxy_breakers, f->request.proxy, &f->via,
                              end, f->requests->env->clock->now(f->requests->env->clock));
    v->ttfb = sn_time_add(end->spent[SEINE_PHASE_SEND], end->spent[SEINE_PHASE_HEAD]);
    end_page(f->requests, v);
    sn_capture_end(v);
    land(f);
    push_ended(f->requests, v);
}

sn_visit *
sn_requests_ended(sn_requests *w)
{
    sn_visit *v = w->ended;

    if (v)
        w->ended = v->next;
    return v;
}

/* Starting. */

static sn_flight *
take_off(sn_requests *w, sn_visit *v)
{
    sn_flight *f = w->spare;

    if (f)
        w->spare = f->next;
    else if (!(f = sn_zalloc(sizeof *f)))
        return NULL;
    f->requests = w;
    f->visit = v;
    f->prev = NULL;
    f->next = w->flying;
    if (w->flying)
        w->flying->prev = f;
    w->flying = f;
    w->n++;
    return f;
}

static bool
is_same_host(seine_view a, sn_str b)
{
    return sn_str_eq_nocase(a, b);
}

/* Whoever was named by the user may go unchecked, and nobody else. */
static bool
is_insecure(const seine_fetch_opts *o, const sn_visit *v)
{
    seine_view host = seine_url_host(&v->url), first = seine_url_host(&v->first);

    for (const char *const *h = o->insecure_hosts; h && *h; h++)
        if (is_same_host(host, sn_str_of(*h)))
            return true;
    return o->insecure && v->at_home && (v->n_hops == 0 || is_same_host(host, first));
}

static void
set_trust(const seine_fetch_opts *o, const sn_visit *v, sn_request *r)
{
    r->insecure = (o->insecure || o->insecure_hosts) && is_insecure(o, v);
    r->identify = o->cert && is_at_home(v);
    r->raw_encoding = o->raw_encoding;
}

/* The proxy of this hop, if there is one, may be asked. */
static seine_err
choose_proxy(sn_requests *w, sn_flight *f, seine_time now, const sn_proxy **out_proxy)
{
    sn_visit *v = f->visit;
    const sn_proxy *proxy = sn_proxies_choose(&w->shared->proxies, &v->url);

    f->via = (seine_permit){0};
    v->proxy_at = INT64_MIN;
    *out_proxy = proxy;
    if (!proxy)
        return SEINE_OK;
    seine_time at = SEINE_NEVER;
    seine_err e = sn_proxy_breakers_begin(&w->proxy_breakers, proxy, now, &f->via, &at);
    if (e != SEINE_OK) {
        v->proxy_at = at;
        v->end.fault.phase = SEINE_PHASE_PROXY;
        sn_proxy_tell(proxy,
                      e == SEINE_E_BREAKER ? "left alone after failures"
                                           : "given up after failures",
                      v->end.fault.text);
    }
    return e;
}

static seine_err
begin(sn_requests *w, sn_flight *f, sn_address_zone pin, seine_time now)
{
    sn_visit *v = f->visit;
    const sn_limits *limits = &w->shared->limits;
    const sn_proxy *proxy;
    seine_err e = choose_proxy(w, f, now, &proxy);

    if (e != SEINE_OK)
        return e;
    if (v->timeout != limits->time.attempt) {
        f->limits = *limits;
        f->limits.time.attempt = v->timeout;
        limits = &f->limits;
    }
    f->request =
        (sn_request){.method = v->method,
                     .url = &v->url,
                     .body = v->body,
                     .deadline = sn_time_min(sn_time_add(now, v->timeout), v->deadline),
                     .limits = limits,
                     .ceiling = v->ceiling,
                     .pin = pin,
                     .fresh = v->fresh,
                     .judge = w->shared->opts.untrusted,
                     .proxy = proxy};
    set_trust(&w->shared->opts, v, &f->request);
    if (!sn_requests_fields(w, v, &f->request) || !add_cookies(w, f))
        return SEINE_E_NOMEM;
    sn_handler handler = {.admit = on_admit,
                          .sent = on_sent,
                          .head = on_head,
                          .body = on_body,
                          .end = on_end,
                          .arg = f};
    if (w->shared->opts.keep & SEINE_KEEP_WIRE) {
        e = sn_capture_begin(v, w->shared->budget, &f->request, v->started_wall);
        if (e != SEINE_OK)
            return e;
        handler.wire = on_wire;
    }
    sn_transport *t = w->env->transport;
    return t->ops->start(t, &f->request, &handler, &v->exchange);
}

void
sn_requests_start(sn_requests *w, sn_visit *v, sn_address_zone pin, seine_time now,
                  int64_t wall)
{
    sn_flight *f = take_off(w, v);

    sn_visit_clear_answer(v);
    v->kept.cap = w->shared->opts.max_body < SIZE_MAX - 1
                      ? (size_t)w->shared->opts.max_body
                      : SIZE_MAX - 1;
    v->started_at = now;
    v->started_wall = wall;
    sn_visit_step(v, SN_IN_FLIGHT);
    seine_err e = f ? begin(w, f, pin, now) : SEINE_E_NOMEM;
    if (e == SEINE_OK)
        return;
    /* Whatever the transport refuses for good was let in by mistake. */
    v->end.fault.code = e == SEINE_E_INVAL ? SEINE_E_BAD_URL : e;
    v->end.http = 255;
    if (f) {
        sn_proxy_breakers_end(&w->proxy_breakers, f->request.proxy, &f->via, NULL, now);
        land(f);
    }
    push_ended(w, v);
}

void
sn_requests_cancel(sn_requests *w, seine_err why)
{
    sn_transport *t = w->env->transport;

    for (sn_flight *f = w->flying; f; f = f->next)
        t->ops->cancel(t, f->visit->exchange, why);
}
