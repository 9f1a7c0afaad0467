/* SPDX-License-Identifier: Apache-2.0 */
#include "store/referrers.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/rng.h"

enum { FIRST_ROOM = 256, HOPS = 50 };

/* The URL of a page, shared by all that it links to. */
typedef struct source {
    uint32_t refs, len;
    char text[];
} source;

typedef struct page {
    source *from;
    uint32_t line;
} page;

/* The pages that link to one URL. */
typedef struct pages {
    uint64_t next; /* of a redirect: the print of where it leads; 0: it is none */
    uint64_t last; /* the number of the page that was counted last */
    uint32_t count, n, room;
    page list[];
} pages;

/* A URL that is linked to, or has a record. */
typedef struct sn_referred {
    uint64_t print; /* 0: the slot is free */
    pages *pages;   /* NULL: the URL is fine */
} slot;

void
sn_referrers_init(sn_referrers *t, uint32_t most)
{
    *t = (sn_referrers){.most = most, .max_bytes = SN_REFERRERS_BYTES};
    sn_rng_secret(t->secret, sizeof t->secret);
    sn_buf_init(&t->news, SIZE_MAX - 1);
}

void
sn_referrers_secret(sn_referrers *t, const uint64_t secret[2])
{
    memcpy(t->secret, secret, sizeof t->secret);
}

static void *
take(sn_referrers *t, void *old, size_t before, size_t size)
{
    if (size > before && size - before > t->max_bytes - t->bytes)
        return NULL;
    void *p = sn_realloc(old, size);

    if (p)
        t->bytes += size - before;
    return p;
}

static void
give(sn_referrers *t, void *p, size_t size)
{
    t->bytes -= p ? size : 0;
    sn_free(p);
}

static void
unref(sn_referrers *t, source *s)
{
    if (s && --s->refs == 0)
        give(t, s, sizeof *s + s->len);
}

static size_t
size_of(uint32_t room)
{
    return sizeof(pages) + room * sizeof(page);
}

static void
forget(sn_referrers *t, pages *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->n; i++)
        unref(t, p->list[i].from);
    give(t, p, size_of(p->room));
}

void
sn_referrers_fini(sn_referrers *t)
{
    for (size_t i = 0; i < t->room; i++)
        if (t->slots[i].print != 0)
            forget(t, t->slots[i].pages);
    give(t, t->slots, t->room * sizeof *t->slots);
    sn_buf_fini(&t->news);
    *t = (sn_referrers){.most = 0};
}

/* The table of prints. */

static uint64_t
print_of(const sn_referrers *t, sn_str key)
{
    return sn_siphash(t->secret, key.ptr, key.len) | 1;
}

/* The slot of that print, or the free one where it would be. */
static slot *
slot_of(slot *slots, size_t room, uint64_t print)
{
    size_t i = (size_t)(print >> 1) & (room - 1);

    while (slots[i].print != 0 && slots[i].print != print)
        i = (i + 1) & (room - 1);
    return &slots[i];
}

static slot *
find(const sn_referrers *t, uint64_t print)
{
    slot *s = t->room > 0 ? slot_of(t->slots, t->room, print) : NULL;

    return s && s->print != 0 ? s : NULL;
}

static bool
make_room(sn_referrers *t)
{
    size_t room = t->room > 0 ? 2 * t->room : FIRST_ROOM;

    if (4 * (t->used + 1) <= 3 * t->room)
        return true;
    slot *slots = take(t, NULL, 0, room * sizeof *slots);
    if (!slots)
        return false;
    memset(slots, 0, room * sizeof *slots);
    for (size_t i = 0; i < t->room; i++)
        if (t->slots[i].print != 0)
            *slot_of(slots, room, t->slots[i].print) = t->slots[i];
    give(t, t->slots, t->room * sizeof *slots);
    t->slots = slots;
    t->room = room;
    return true;
}

/* The slot of that print, made if there is none, with an empty list of pages. NULL: there
 * is no room. */
static slot *
find_or_add(sn_referrers *t, uint64_t print)
{
    slot *s = find(t, print);

    if (s || !make_room(t))
        return s;
    pages *p = take(t, NULL, 0, size_of(0));
    if (!p)
        return NULL;
    *p = (pages){.next = 0};
    s = slot_of(t->slots, t->room, print);
    *s = (slot){print, p};
    t->used++;
    return s;
}

/* The slot at the end of all redirects. */
static slot *
end_of(sn_referrers *t, slot *s)
{
    for (int i = 0; s && s->pages && s->pages->next != 0 && i < HOPS; i++) {
        slot *next = find(t, s->pages->next);

        if (!next)
            return s;
        s = next;
    }
    return s;
}

/* Links. */

static void
keep_page(sn_referrers *t, slot *s, source *from, uint32_t line)
{
    pages *p = s->pages;

    if (p->n == p->room) {
        uint32_t room = p->room > 0 ? 2 * p->room : 2;

        room = room < t->most ? room : t->most;
        p = take(t, p, size_of(p->room), size_of(room));
        if (!p)
            return;
        p->room = room;
        s->pages = p;
    }
    p->list[p->n++] = (page){from, line};
    from->refs++;
}

static void
add_page(sn_referrers *t, slot *s, source *from, uint32_t line)
{
    s->pages->count++;
    if (s->pages->n < t->most)
        keep_page(t, s, from, line);
}

static source *
new_source(sn_referrers *t, sn_str url)
{
    source *s = take(t, NULL, 0, sizeof *s + url.len);

    if (!s)
        return NULL;
    *s = (source){.refs = 1, .len = (uint32_t)url.len};
    memcpy(s->text, url.ptr, url.len);
    return s;
}

static page *
find_page(pages *p, const source *from)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->list[i].from == from)
            return &p->list[i];
    return NULL;
}

/* Adds the pages of one URL to those of another. The first line of a page stays. */
static void
merge(sn_referrers *t, slot *to, const pages *more)
{
    for (uint32_t i = 0; i < more->n; i++) {
        const page *m = &more->list[i];
        page *same = find_page(to->pages, m->from);

        if (!same)
            add_page(t, to, m->from, m->line);
        else if (m->line < same->line)
            same->line = m->line;
    }
    to->pages->count += more->count - more->n;
}

/* Moves the pages that link to a redirect to where it leads. */
static void
lead_on(sn_referrers *t, uint64_t print, uint64_t next)
{
    slot *to = find_or_add(t, next), *s = find(t, print);

    to = end_of(t, to);
    if (!s || !s->pages || !to || to == s)
        return;
    if (to->pages)
        merge(t, to, s->pages);
    for (uint32_t i = 0; i < s->pages->n; i++)
        unref(t, s->pages->list[i].from);
    s->pages->n = s->pages->count = 0;
    s->pages->next = next;
}

/* What a record tells, packed: a head, the URL of a page that has links, the links. */
typedef struct news_head {
    uint64_t print;
    uint64_t next; /* of a redirect: the print of where it leads; 0: it is none */
    uint32_t url_len, is_fine;
} news_head;

typedef struct news_link {
    uint64_t print;
    uint32_t line, unused;
} news_link;

_Static_assert(sizeof(news_head) == 24 && sizeof(news_link) == 16, "no gaps are written");

typedef struct packing {
    sn_referrers *table;
    news_head head;
} packing;

/* A link to a URL that is known to be fine tells nothing. */
static void
pack_link(const seine_record_link *l, void *arg)
{
    packing *x = arg;
    sn_referrers *t = x->table;
    news_link link = {print_of(t, l->key), l->line, 0};
    const slot *s = find(t, link.print);

    if (!l->tag.ptr)
        x->head.next = link.print;
    else if (!s || s->pages)
        sn_buf_add(&t->news, &link, sizeof link);
}

/* Without memory there are no news. */
static void
pack(sn_referrers *t, const seine_record *r)
{
    sn_str url = r->url.ptr ? r->url : r->input;
    bool has_links = seine_record_links(r, NULL, NULL) > 0;
    packing x = {t,
                 {.print = print_of(t, r->key.ptr ? r->key : url),
                  .url_len = has_links ? (uint32_t)url.len : 0}};

    sn_buf_reset(&t->news);
    sn_buf_add(&t->news, &x.head, sizeof x.head);
    if (has_links) {
        sn_buf_str(&t->news, url);
        seine_record_links(r, pack_link, &x);
    }
    x.head.is_fine =
        x.head.next == 0 && (r->type == SEINE_RECORD_SKIP || r->fate == SEINE_FATE_OK);
    if (sn_buf_done(&t->news) == SEINE_OK)
        memcpy(t->news.ptr, &x.head, sizeof x.head);
    else
        sn_buf_reset(&t->news);
}

static void
learn_link(sn_referrers *t, source *from, const news_link *l)
{
    slot *s = end_of(t, find_or_add(t, l->print));

    if (!s || !s->pages || s->pages->last == t->n_pages)
        return;
    s->pages->last = t->n_pages; /* its further links to the URL do not count */
    add_page(t, s, from, l->line);
}

/* Without room for its URL the page is not counted: pages are counted once they can be
 * kept. */
static void
learn_links(sn_referrers *t, sn_str url, sn_str links)
{
    source *from = new_source(t, url);
    news_link l;

    t->n_pages++;
    for (size_t i = 0; from && i < links.len; i += sizeof l) {
        memcpy(&l, links.ptr + i, sizeof l);
        learn_link(t, from, &l);
    }
    unref(t, from);
}

bool
sn_referrers_learn(sn_referrers *t, sn_str packed)
{
    news_head h;

    if (packed.len < sizeof h)
        return false;
    memcpy(&h, packed.ptr, sizeof h);
    sn_str rest = sn_str_slice(packed, sizeof h, packed.len);
    if (rest.len < h.url_len || (rest.len - h.url_len) % sizeof(news_link) != 0)
        return false;
    sn_str links = sn_str_slice(rest, h.url_len, rest.len);

    if (links.len > 0)
        learn_links(t, sn_str_slice(rest, 0, h.url_len), links);
    slot *s = find_or_add(t, h.print);
    if (!s || !s->pages)
        return true;
    if (h.next != 0) {
        lead_on(t, h.print, h.next);
    } else if (h.is_fine) {
        forget(t, s->pages);
        s->pages = NULL;
    }
    return true;
}

void
sn_referrers_see(sn_referrers *t, const seine_record *r)
{
    pack(t, r);
    bool is_known = sn_referrers_learn(t, sn_referrers_news(t));
    (void)is_known; /* false: there was no memory */
}

sn_str
sn_referrers_news(const sn_referrers *t)
{
    return sn_buf_view(&t->news);
}

size_t
sn_referrers_get(const sn_referrers *t, sn_str key, seine_referrer *out_pages,
                 size_t *out_count)
{
    const slot *s = find(t, print_of(t, key));
    const pages *p = s ? s->pages : NULL;

    *out_count = p ? p->count : 0;
    for (uint32_t i = 0; p && i < p->n; i++)
        out_pages[i] = (seine_referrer){{p->list[i].from->text, p->list[i].from->len},
                                        p->list[i].line};
    return p ? p->n : 0;
}
