/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/mail.h"

#include <string.h>

#include "base/alloc.h"

#define FIRST_ROOM 2048

/* How a link stands in a post; its texts follow. */
typedef struct stamp {
    uint64_t number;
    uint32_t url_len, parent_len, parent_at; /* parent_at: where its text stands */
    uint32_t line, depth;
    uint8_t moved, ceiling, tag, attr, kind, leader;
} stamp;

static seine_err
reserve_post(sn_post **post, size_t more)
{
    size_t used = *post ? (*post)->used : 0, room = *post ? (*post)->room : FIRST_ROOM;

    if (*post && used + more <= room)
        return SEINE_OK;
    while (room < used + more)
        room *= 2;
    if (room > UINT32_MAX / 2)
        return SEINE_E_NOMEM;
    sn_post *grown = sn_realloc(*post, sizeof **post + room);
    if (!grown)
        return SEINE_E_NOMEM;
    if (!*post)
        *grown = (sn_post){0};
    grown->room = (uint32_t)room;
    *post = grown;
    return SEINE_OK;
}

static void
append_bytes(sn_post *p, const void *bytes, size_t n)
{
    if (n > 0)
        memcpy(p->bytes + p->used, bytes, n);
    p->used += (uint32_t)n;
}

/* Is the parent that of the last link? Links of one page name it once. */
static bool
is_last_parent(const sn_post *p, sn_str parent)
{
    return p && p->n > 0 && p->parent_len == parent.len &&
           (parent.len == 0 ||
            memcmp(p->bytes + p->parent_at, parent.ptr, parent.len) == 0);
}

seine_err
sn_mail_write(sn_post **post, const sn_link *l)
{
    bool same = is_last_parent(*post, l->parent);
    seine_err e =
        reserve_post(post, sizeof(stamp) + l->url.len + (same ? 0 : l->parent.len));

    if (e != SEINE_OK)
        return e;
    sn_post *p = *post;
    if (!same) {
        p->parent_at = p->used + (uint32_t)(sizeof(stamp) + l->url.len);
        p->parent_len = (uint32_t)l->parent.len;
    }
    stamp s = {.number = l->number,
               .url_len = (uint32_t)l->url.len,
               .parent_len = p->parent_len,
               .parent_at = p->parent_at,
               .line = l->line,
               .depth = l->depth,
               .moved = l->moved,
               .ceiling = l->ceiling,
               .tag = l->tag,
               .attr = l->attr,
               .kind = l->kind,
               .leader = l->leader};
    append_bytes(p, &s, sizeof s);
    append_bytes(p, l->url.ptr, l->url.len);
    if (!same)
        append_bytes(p, l->parent.ptr, l->parent.len);
    p->n++;
    return SEINE_OK;
}

bool
sn_mail_read(const sn_post *p, size_t *at, sn_link *out)
{
    stamp s;

    if (*at >= p->used)
        return false;
    memcpy(&s, p->bytes + *at, sizeof s);
    size_t text = *at + sizeof s, end = text + s.url_len;
    *out = (sn_link){.url = {p->bytes + text, s.url_len},
                     .parent = {p->bytes + s.parent_at, s.parent_len},
                     .number = s.number,
                     .line = s.line,
                     .depth = s.depth,
                     .moved = s.moved,
                     .ceiling = s.ceiling,
                     .tag = s.tag,
                     .attr = s.attr,
                     .kind = s.kind,
                     .leader = s.leader};
    *at = s.parent_at == end ? end + s.parent_len : end;
    return true;
}

void
sn_mail_free(sn_post *post)
{
    sn_free(post);
}

bool
sn_mail_put(sn_box *box, sn_post *give)
{
    sn_post *head = atomic_load_explicit(&box->head, memory_order_relaxed);

    do
        give->next = head;
    while (!atomic_compare_exchange_weak_explicit(
        &box->head, &head, give, memory_order_release, memory_order_relaxed));
    return !head;
}

sn_post *
sn_mail_take_all(sn_box *box)
{
    if (!atomic_load_explicit(&box->head, memory_order_relaxed))
        return NULL;
    sn_post *p = atomic_exchange_explicit(&box->head, NULL, memory_order_acquire);
    sn_post *first = NULL;

    while (p) { /* newest first: turn it round */
        sn_post *next = p->next;
        p->next = first;
        first = p;
        p = next;
    }
    return first;
}
