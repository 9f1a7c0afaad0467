/* SPDX-License-Identifier: Apache-2.0 */
#include "redis_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/hash.h"

enum { WORDS = 1 << 18, SEQ_BITS = 20, CREW = 4096 };

typedef struct item { /* of a hash, list, sorted set or stream */
    sn_buf a, b;
    uint64_t n;
} item;

typedef struct items {
    item *all;
    size_t n, room;
} items;

typedef struct value {
    sn_buf name;
    char type; /* 's' text, 'h' hash, 'l' list, 'z' sorted set, 'x' stream */
    items in;
    items pending; /* of the group of a stream: a consumer, n the entry */
    uint64_t last; /* id of the newest entry ever */
    uint64_t read; /* … and of the newest that was given out */
    int64_t added; /* entries, ever */
    bool has_group;
    int64_t expires; /* ms; 0: never */
} value;

typedef struct link {
    struct link *next;
    redis_model *of;
    sn_buf in, out;
    bool is_open;
} link;

struct redis_model {
    value *all;
    size_t n, room;
    uint32_t *slots; /* by the hash of a name: its value, plus one; 0: none */
    size_t n_slots;
    int64_t now;
    bool is_full, is_down;
    link *links;
    uint64_t run;
    redis_model_fn seen;
    void *seen_arg;
    sn_str words[WORDS]; /* of the command that is run */
};

/* Lists. */

static item *
add_item(items *l, size_t at)
{
    if (l->n == l->room) {
        l->room = l->room > 0 ? l->room * 2 : 4;
        l->all = sn_realloc(l->all, l->room * sizeof *l->all);
    }
    if (!l->all)
        abort();
    memmove(&l->all[at + 1], &l->all[at], (l->n - at) * sizeof *l->all);
    item *i = &l->all[at];
    *i = (item){.n = 0};
    sn_buf_init(&i->a, SIZE_MAX);
    sn_buf_init(&i->b, SIZE_MAX);
    l->n++;
    return i;
}

static void
drop_item(items *l, size_t at)
{
    sn_buf_fini(&l->all[at].a);
    sn_buf_fini(&l->all[at].b);
    memmove(&l->all[at], &l->all[at + 1], (l->n - at - 1) * sizeof *l->all);
    l->n--;
}

static void
drop_items(items *l)
{
    while (l->n > 0)
        drop_item(l, l->n - 1);
    sn_free(l->all);
    *l = (items){NULL, 0, 0};
}

static item *
find_item(const items *l, sn_str name)
{
    for (size_t i = 0; i < l->n; i++)
        if (sn_str_eq(sn_buf_view(&l->all[i].a), name))
            return &l->all[i];
    return NULL;
}

static void
set_text(sn_buf *b, sn_str to)
{
    sn_buf copy;

    sn_buf_init(&copy, SIZE_MAX);
    sn_buf_str(&copy, to); /* `to` may be part of it */
    sn_buf_fini(b);
    *b = copy;
}

/* Keys. */

static uint32_t *
slot_of(const redis_model *m, sn_str name)
{
    static const uint64_t key[2] = {1, 2};
    size_t at = (size_t)sn_siphash(key, name.ptr, name.len) & (m->n_slots - 1);

    while (m->slots[at] > 0 &&
           !sn_str_eq(sn_buf_view(&m->all[m->slots[at] - 1].name), name))
        at = (at + 1) & (m->n_slots - 1);
    return &m->slots[at];
}

/* Finds slots for all values anew. */
static void
fill_slots(redis_model *m, size_t n_slots)
{
    sn_free(m->slots);
    m->n_slots = n_slots;
    m->slots = sn_calloc(n_slots, sizeof *m->slots);
    if (!m->slots)
        abort();
    for (size_t i = 0; i < m->n; i++)
        *slot_of(m, sn_buf_view(&m->all[i].name)) = (uint32_t)i + 1;
}

/* The values behind the slot may have come there because it was taken. */
static void
free_slot(redis_model *m, uint32_t *slot)
{
    size_t at = (size_t)(slot - m->slots);

    for (*slot = 0; m->slots[at = (at + 1) & (m->n_slots - 1)] > 0;) {
        uint32_t moved = m->slots[at];

        m->slots[at] = 0;
        *slot_of(m, sn_buf_view(&m->all[moved - 1].name)) = moved;
    }
}

static void
drop_value(redis_model *m, value *v)
{
    size_t at = (size_t)(v - m->all);

    free_slot(m, slot_of(m, sn_buf_view(&v->name)));
    drop_items(&v->in);
    drop_items(&v->pending);
    sn_buf_fini(&v->name);
    *v = m->all[--m->n];
    if (at < m->n)
        *slot_of(m, sn_buf_view(&v->name)) = (uint32_t)at + 1;
}

static value *
find(redis_model *m, sn_str name)
{
    uint32_t at = m->n_slots > 0 ? *slot_of(m, name) : 0;
    value *v = at > 0 ? &m->all[at - 1] : NULL;

    if (v && v->expires > 0 && v->expires <= m->now) {
        drop_value(m, v);
        return NULL;
    }
    return v;
}

static value *
make(redis_model *m, sn_str name, char type)
{
    value *v = find(m, name);

    if (v)
        return v;
    if (m->n == m->room) {
        m->room = m->room > 0 ? m->room * 2 : 16;
        m->all = sn_realloc(m->all, m->room * sizeof *m->all);
        fill_slots(m, 2 * m->room);
    }
    v = &m->all[m->n++];
    *v = (value){.type = type};
    sn_buf_init(&v->name, SIZE_MAX);
    sn_buf_str(&v->name, name);
    *slot_of(m, name) = (uint32_t)m->n;
    return v;
}

/* What is empty is not there, but for streams. */
static void
tidy(redis_model *m, value *v)
{
    if (v && v->in.n == 0 && v->type != 'x')
        drop_value(m, v);
}

/* Replies. */

static void
put_int(sn_buf *o, int64_t n)
{
    sn_buf_printf(o, ":%" PRId64 "\r\n", n);
}

static void
put_bulk(sn_buf *o, sn_str s)
{
    sn_buf_printf(o, "$%zu\r\n", s.len);
    sn_buf_str(o, s);
    sn_buf_text(o, "\r\n");
}

static void
put_nil(sn_buf *o)
{
    sn_buf_text(o, "$-1\r\n");
}

static void
put_count(sn_buf *o, size_t n)
{
    sn_buf_printf(o, "*%zu\r\n", n);
}

static int64_t
int_of(sn_str s)
{
    int64_t n = 0;

    (void)!sn_str_i64(s, &n);
    return n;
}

/* Pieces that commands and functions share. */

static int64_t
hash_set(redis_model *m, sn_str key, sn_str field, sn_str to)
{
    value *v = make(m, key, 'h');
    item *i = find_item(&v->in, field);
    bool is_new = !i;

    if (is_new) {
        i = add_item(&v->in, v->in.n);
        set_text(&i->a, field);
    }
    set_text(&i->b, to);
    return is_new;
}

static sn_str
hash_get(redis_model *m, sn_str key, sn_str field)
{
    const value *v = find(m, key);
    const item *i = v ? find_item(&v->in, field) : NULL;

    return i ? sn_buf_view(&i->b) : (sn_str){NULL, 0};
}

static int64_t
hash_add(redis_model *m, sn_str key, sn_str field, int64_t by)
{
    int64_t n = int_of(hash_get(m, key, field)) + by;
    char text[24];
    int len = snprintf(text, sizeof text, "%" PRId64, n);

    (void)hash_set(m, key, field, (sn_str){text, (size_t)len});
    return n;
}

static int64_t
hash_drop(redis_model *m, sn_str key, sn_str field)
{
    value *v = find(m, key);
    item *i = v ? find_item(&v->in, field) : NULL;

    if (!i)
        return 0;
    drop_item(&v->in, (size_t)(i - v->in.all));
    tidy(m, v);
    return 1;
}

static sn_str
text_get(redis_model *m, sn_str key)
{
    const value *v = find(m, key);

    return v ? sn_buf_view(&v->in.all[0].b) : (sn_str){NULL, 0};
}

static void
text_set(redis_model *m, sn_str key, sn_str to)
{
    value *v = make(m, key, 's');

    if (v->in.n == 0)
        (void)add_item(&v->in, 0);
    set_text(&v->in.all[0].b, to);
    v->expires = 0;
}

static int64_t
text_append(redis_model *m, sn_str key, sn_str more)
{
    value *v = make(m, key, 's');

    if (v->in.n == 0)
        (void)add_item(&v->in, 0);
    sn_buf_str(&v->in.all[0].b, more);
    return (int64_t)v->in.all[0].b.len;
}

static uint64_t
id_of(sn_str text)
{
    sn_str ms, seq;
    uint64_t a = 0, b = 0;

    if (!sn_str_cut(text, '-', &ms, &seq))
        ms = text, seq = SN_STR("0");
    (void)!sn_str_u64(ms, &a);
    (void)!sn_str_u64(seq, &b);
    return a << SEQ_BITS | b;
}

static void
put_id(sn_buf *o, uint64_t id)
{
    char text[48];
    int n = snprintf(text, sizeof text, "%" PRIu64 "-%" PRIu64, id >> SEQ_BITS,
                     id & ((1u << SEQ_BITS) - 1));

    put_bulk(o, (sn_str){text, (size_t)n});
}

static void
put_entry(sn_buf *o, const item *i)
{
    put_count(o, 2);
    put_id(o, i->n);
    sn_buf_str(o, sn_buf_view(&i->b));
}

static const item *
entry_of(const value *v, uint64_t id)
{
    for (size_t i = 0; i < v->in.n; i++)
        if (v->in.all[i].n == id)
            return &v->in.all[i];
    return NULL;
}

static int64_t
stream_drop(redis_model *m, sn_str key, uint64_t id)
{
    value *v = find(m, key);

    for (size_t i = 0; v && i < v->in.n; i++)
        if (v->in.all[i].n == id) {
            drop_item(&v->in, i);
            return 1;
        }
    return 0;
}

static int64_t
stream_ack(redis_model *m, sn_str key, uint64_t id)
{
    value *v = find(m, key);

    for (size_t i = 0; v && i < v->pending.n; i++)
        if (v->pending.all[i].n == id) {
            drop_item(&v->pending, i);
            return 1;
        }
    return 0;
}

/* Sorted sets, with whole scores. */

static void
do_zadd(redis_model *m, const sn_str *w, sn_buf *o)
{
    value *v = make(m, w[1], 'z');
    uint64_t score = (uint64_t)int_of(w[2]);
    item *i = find_item(&v->in, w[3]);
    bool is_new = !i;
    size_t at = 0;

    if (i)
        drop_item(&v->in, (size_t)(i - v->in.all));
    while (at < v->in.n && (v->in.all[at].n < score ||
                            (v->in.all[at].n == score &&
                             sn_str_cmp(sn_buf_view(&v->in.all[at].a), w[3]) < 0)))
        at++;
    i = add_item(&v->in, at);
    i->n = score;
    set_text(&i->a, w[3]);
    put_int(o, is_new);
}

/* Functions of seine1.lua: keys K, arguments A. */

static bool
is_fenced(redis_model *m, sn_str lease, sn_str token)
{
    sn_str has = text_get(m, lease);

    return !has.ptr || !sn_str_eq(has, token);
}

static void
do_acquire(redis_model *m, const sn_str *K, const sn_str *A, sn_buf *o)
{
    const value *held = find(m, K[0]);
    sn_buf token;

    if (held) {
        put_count(o, 3);
        put_int(o, 0);
        put_int(o, m->now);
        put_int(o, held->expires - m->now);
        return;
    }
    int64_t epoch = hash_add(m, K[1], SN_STR("epoch"), 1);
    sn_buf_init(&token, SIZE_MAX);
    sn_buf_str(&token, A[0]);
    sn_buf_printf(&token, "|%" PRId64, epoch);
    text_set(m, K[0], sn_buf_view(&token));
    sn_buf_fini(&token);
    find(m, K[0])->expires = m->now + int_of(A[1]);
    make(m, K[2], 'x')->has_group = true;
    put_count(o, 4);
    put_int(o, epoch);
    put_int(o, m->now);
    put_int(o, int_of(hash_get(m, K[1], SN_STR("fps"))));
    put_int(o, int_of(hash_get(m, K[1], SN_STR("cseq"))));
}

static void
do_renew(redis_model *m, const sn_str *K, size_t n, const sn_str *A, sn_buf *o)
{
    put_count(o, n + 1);
    put_int(o, m->now);
    for (size_t i = 0; i < n; i++) {
        bool is = !is_fenced(m, K[i], A[i + 1]);

        if (is)
            find(m, K[i])->expires = m->now + int_of(A[0]);
        put_int(o, is);
    }
}

static void
do_release(redis_model *m, const sn_str *K, const sn_str *A, sn_buf *o)
{
    bool is = !is_fenced(m, K[0], A[0]);

    if (is)
        drop_value(m, find(m, K[0]));
    put_int(o, is);
}

static void
do_commit(redis_model *m, const sn_str *K, const sn_str *A, sn_buf *o)
{
    size_t i = 6;
    int64_t added = (int64_t)(A[2].len + A[3].len) / 8;

    if (is_fenced(m, K[0], A[0])) {
        sn_buf_text(o, "-FENCED lease lost\r\n");
        return;
    }
    put_count(o, 2);
    sn_str cseq = hash_get(m, K[1], SN_STR("cseq"));
    if (cseq.ptr && sn_str_eq(cseq, A[1])) {
        put_int(o, 2);
        put_int(o, m->now);
        return;
    }
    if (A[2].len > 0)
        (void)text_append(m, K[6], A[2]);
    if (A[3].len > 0)
        (void)text_append(m, K[7], A[3]);
    (void)hash_add(m, K[1], SN_STR("fps"), added);
    if (A[4].len > 0)
        (void)hash_set(m, K[5], A[4], A[5]);
    for (int64_t n = int_of(A[i++]); n > 0; n--, i += 2)
        (void)hash_add(m, K[1], A[i], int_of(A[i + 1]));
    for (int64_t n = int_of(A[i++]); n > 0; n--, i += 2)
        (void)hash_set(m, K[4], A[i], A[i + 1]);
    for (int64_t n = int_of(A[i++]); n > 0; n--, i += 2)
        (void)hash_set(m, K[8], A[i], A[i + 1]);
    for (int64_t n = int_of(A[i++]); n > 0; n--, i += 2)
        (void)hash_set(m, K[3], A[i], A[i + 1]);
    for (int64_t n = int_of(A[i++]); n > 0; n--, i++) {
        (void)stream_ack(m, K[2], id_of(A[i]));
        (void)stream_drop(m, K[2], id_of(A[i]));
        (void)hash_drop(m, K[3], A[i]);
    }
    (void)hash_set(m, K[1], SN_STR("cseq"), A[1]);
    put_int(o, 1);
    put_int(o, m->now);
}

static void
do_idle(redis_model *m, const sn_str *K, size_t n, sn_buf *o)
{
    int64_t is_empty = 1, added = 0;

    for (size_t i = 0; i < n; i++) {
        const value *v = find(m, K[i]);

        is_empty &= !v || v->in.n == 0;
        added += v ? v->added : 0;
    }
    put_count(o, 2);
    put_int(o, is_empty);
    put_int(o, added);
}

/* GCRA in microseconds: a bucket of `burst` starts. */
static void
do_quota(redis_model *m, const sn_str *K, const sn_str *A, sn_buf *o)
{
    int64_t now = m->now * 1000, every = int_of(A[0]), burst = int_of(A[1]),
            want = int_of(A[2]), n = 0, wait = 0;
    sn_str has = text_get(m, K[0]);
    int64_t full = has.ptr && int_of(has) > now ? int_of(has) : now;
    int64_t left = burst * every - (full - now), room = left < every ? 0 : left / every;

    if (room < 1) {
        wait = (full - now) - (burst - 1) * every;
    } else {
        char text[24];

        n = room < want ? room : want;
        full += n * every;
        int len = snprintf(text, sizeof text, "%" PRId64, full);
        text_set(m, K[0], (sn_str){text, (size_t)len});
        find(m, K[0])->expires = m->now + (full - now + 999) / 1000 + 1000;
    }
    put_count(o, 2);
    put_int(o, n);
    put_int(o, wait);
}

/* "id:weight" of "id:weight:lease:host". */
static sn_str
short_of(sn_str member)
{
    size_t first = sn_str_find(member, ':');
    size_t second = sn_str_find(sn_str_slice(member, first + 1, member.len), ':');

    return sn_str_slice(member, 0, first + 1 + second);
}

static void
note_member(value *crew, char sign, sn_str member)
{
    if (crew->in.n == CREW)
        drop_item(&crew->in, 0);
    item *i = add_item(&crew->in, crew->in.n);
    i->n = ++crew->last;
    sn_buf_char(&i->a, sign);
    sn_buf_str(&i->a, short_of(member));
}

static void
put_members(const value *w, const value *crew, uint64_t since, int64_t now, sn_buf *o)
{
    uint64_t n = crew->last;
    bool is_all =
        since == 0 || since > n || (crew->in.n > 0 && since + 1 < crew->in.all[0].n);
    size_t from = is_all ? 0 : crew->in.n - (size_t)(n - since);

    put_count(o, 3 + (is_all ? w->in.n : crew->in.n - from));
    put_int(o, now);
    put_int(o, (int64_t)n);
    put_int(o, is_all);
    for (size_t i = 0; is_all && i < w->in.n; i++) {
        sn_str member = short_of(sn_buf_view(&w->in.all[i].a));

        sn_buf_printf(o, "$%zu\r\n+%.*s\r\n", member.len + 1, SN_FMT(member));
    }
    for (size_t i = from; !is_all && i < crew->in.n; i++)
        put_bulk(o, sn_buf_view(&crew->in.all[i].a));
}

/* The set and the list of changes are there as long as the model is: a server removes
 * them when they are empty, which no reply tells. */
static void
do_meet(redis_model *m, const sn_str *K, const sn_str *A, sn_buf *o)
{
    int64_t ttl = int_of(A[1]);
    sn_buf none;

    (void)make(m, K[0], 'z');
    (void)make(m, K[1], 'x');
    value *w = find(m, K[0]), *crew = find(m, K[1]);
    while (w->in.n > 0 && (int64_t)w->in.all[0].n <= m->now) {
        note_member(crew, '-', sn_buf_view(&w->in.all[0].a));
        drop_item(&w->in, 0);
    }
    item *known = find_item(&w->in, A[0]);
    if (ttl == 0 && known) {
        note_member(crew, '-', A[0]);
        drop_item(&w->in, (size_t)(known - w->in.all));
    }
    if (ttl > 0 && !known && w->in.n >= (size_t)int_of(A[3])) {
        put_count(o, 3);
        put_int(o, m->now);
        put_int(o, (int64_t)crew->last);
        put_int(o, 2);
        return;
    }
    if (ttl > 0) {
        char text[24];
        int len = snprintf(text, sizeof text, "%" PRId64, m->now + ttl);
        const sn_str add[] = {SN_STR("ZADD"), K[0], {text, (size_t)len}, A[0]};

        if (!known)
            note_member(crew, '+', A[0]);
        sn_buf_init(&none, SIZE_MAX);
        do_zadd(m, add, &none);
        sn_buf_fini(&none);
    }
    put_members(w, crew, (uint64_t)int_of(A[2]), m->now, o);
}

static void
do_fcall(redis_model *m, const sn_str *w, sn_buf *o)
{
    size_t n = (size_t)int_of(w[2]);
    const sn_str *K = w + 3, *A = K + n;

    if (sn_str_eq(w[1], SN_STR("seine1_acquire")))
        do_acquire(m, K, A, o);
    else if (sn_str_eq(w[1], SN_STR("seine1_renew")))
        do_renew(m, K, n, A, o);
    else if (sn_str_eq(w[1], SN_STR("seine1_release")))
        do_release(m, K, A, o);
    else if (sn_str_eq(w[1], SN_STR("seine1_meet")))
        do_meet(m, K, A, o);
    else if (sn_str_eq(w[1], SN_STR("seine1_commit")))
        do_commit(m, K, A, o);
    else if (sn_str_eq(w[1], SN_STR("seine1_idle")))
        do_idle(m, K, n, o);
    else if (sn_str_eq(w[1], SN_STR("seine1_quota")))
        do_quota(m, K, A, o);
    else
        sn_buf_text(o, "-ERR Function not found\r\n");
}

/* Streams. */

static void
do_xadd(redis_model *m, const sn_str *w, size_t n, sn_buf *o)
{
    value *v = find(m, w[1]);
    uint64_t last = v ? v->last : 0, id;

    if (sn_str_eq(w[2], SN_STR("*"))) {
        id = (uint64_t)m->now << SEQ_BITS;
        id = id > last ? id : last + 1;
    } else {
        id = id_of(w[2]);
    }
    if (id <= last) {
        sn_buf_text(o, "-ERR The ID specified in XADD is equal or smaller than the "
                       "target stream top item\r\n");
        return;
    }
    v = make(m, w[1], 'x');
    item *i = add_item(&v->in, v->in.n);
    i->n = v->last = id;
    v->added++;
    put_count(&i->b, n - 3);
    for (size_t k = 3; k < n; k++)
        put_bulk(&i->b, w[k]);
    put_id(o, id);
}

static void
add_pending(value *v, uint64_t id, sn_str consumer)
{
    size_t at = 0;

    while (at < v->pending.n && v->pending.all[at].n < id)
        at++;
    item *p = add_item(&v->pending, at);
    p->n = id;
    set_text(&p->a, consumer);
}

/* XREADGROUP GROUP g ME COUNT n [BLOCK ms] STREAMS key… >… */
static void
do_xreadgroup(redis_model *m, const sn_str *w, size_t n, sn_buf *o)
{
    size_t at = 6, streams = 0, most = (size_t)int_of(w[5]);
    sn_buf all;

    if (sn_str_eq(w[at], SN_STR("BLOCK")))
        at += 2;
    at++;
    size_t keys = (n - at) / 2;
    sn_buf_init(&all, SIZE_MAX);
    for (size_t k = 0; k < keys; k++) {
        value *v = find(m, w[at + k]);
        size_t taken = 0;
        sn_buf some;

        if (!v || !v->has_group) {
            sn_buf_printf(o,
                          "-NOGROUP No such key '%.*s' or consumer group 'g' in "
                          "XREADGROUP with GROUP option\r\n",
                          SN_FMT(w[at + k]));
            sn_buf_fini(&all);
            return;
        }
        sn_buf_init(&some, SIZE_MAX);
        for (size_t i = 0; i < v->in.n && taken < most; i++) {
            if (v->in.all[i].n <= v->read)
                continue;
            v->read = v->in.all[i].n;
            add_pending(v, v->read, w[3]);
            put_entry(&some, &v->in.all[i]);
            taken++;
        }
        if (taken > 0) {
            put_count(&all, 2);
            put_bulk(&all, w[at + k]);
            put_count(&all, taken);
            sn_buf_str(&all, sn_buf_view(&some));
            streams++;
        }
        sn_buf_fini(&some);
    }
    if (streams == 0)
        sn_buf_text(o, "*-1\r\n");
    else
        put_count(o, streams);
    sn_buf_str(o, sn_buf_view(&all));
    sn_buf_fini(&all);
}

/* XAUTOCLAIM key g ME 0 from COUNT n */
static void
do_xautoclaim(redis_model *m, const sn_str *w, sn_buf *o)
{
    value *v = find(m, w[1]);
    uint64_t from = id_of(w[5]), next = 0;
    size_t most = (size_t)int_of(w[7]), taken = 0, gone = 0;
    sn_buf some, lost;

    if (!v || !v->has_group) {
        sn_buf_text(o, "-NOGROUP No such key or consumer group\r\n");
        return;
    }
    sn_buf_init(&some, SIZE_MAX);
    sn_buf_init(&lost, SIZE_MAX);
    size_t looked = 0, i = 0;
    while (i < v->pending.n) {
        item *p = &v->pending.all[i];
        const item *e = entry_of(v, p->n);

        if (p->n < from) {
            i++;
            continue;
        }
        if (looked == most) {
            next = p->n;
            break;
        }
        looked++;
        if (!e) {
            put_id(&lost, p->n);
            gone++;
            drop_item(&v->pending, i);
            continue;
        }
        set_text(&p->a, w[3]);
        put_entry(&some, e);
        taken++;
        i++;
    }
    put_count(o, 3);
    put_id(o, next);
    put_count(o, taken);
    sn_buf_str(o, sn_buf_view(&some));
    put_count(o, gone);
    sn_buf_str(o, sn_buf_view(&lost));
    sn_buf_fini(&some);
    sn_buf_fini(&lost);
}

static void
do_xrange(redis_model *m, const sn_str *w, sn_buf *o)
{
    const value *v = find(m, w[1]);
    size_t most = (size_t)int_of(w[5]), n = v ? v->in.n : 0;

    n = n < most ? n : most;
    put_count(o, n);
    for (size_t i = 0; i < n; i++)
        put_entry(o, &v->in.all[i]);
}

/* Members by score. */

static void
do_zrangebyscore(redis_model *m, const sn_str *w, sn_buf *o)
{
    const value *v = find(m, w[1]);
    int64_t from = int_of(w[2]);
    size_t n = 0;

    for (size_t i = 0; v && i < v->in.n; i++)
        n += (int64_t)v->in.all[i].n >= from;
    put_count(o, n);
    for (size_t i = 0; v && i < v->in.n; i++)
        if ((int64_t)v->in.all[i].n >= from)
            put_bulk(o, sn_buf_view(&v->in.all[i].a));
}

/* Commands. */

static void
put_found(sn_buf *o, sn_str found)
{
    if (found.ptr)
        put_bulk(o, found);
    else
        put_nil(o);
}

static void
do_hgetall(redis_model *m, const sn_str *w, sn_buf *o)
{
    const value *v = find(m, w[1]);

    put_count(o, v ? 2 * v->in.n : 0);
    for (size_t i = 0; v && i < v->in.n; i++) {
        put_bulk(o, sn_buf_view(&v->in.all[i].a));
        put_bulk(o, sn_buf_view(&v->in.all[i].b));
    }
}

static void
do_lrange(redis_model *m, const sn_str *w, sn_buf *o)
{
    const value *v = find(m, w[1]);
    size_t from = (size_t)int_of(w[2]), to = (size_t)int_of(w[3]) + 1,
           n = v ? v->in.n : 0;

    to = to < n ? to : n;
    from = from < to ? from : to;
    put_count(o, to - from);
    for (size_t i = from; i < to; i++)
        put_bulk(o, sn_buf_view(&v->in.all[i].b));
}

/* Hashes, texts and lists. False: it is none of these. */
static bool
do_plain(redis_model *m, const sn_str *w, size_t n, sn_buf *o)
{
    const char *name = w[0].ptr;
    size_t len = w[0].len;
#define IS(text) (len == sizeof(text) - 1 && strncasecmp(name, text, len) == 0)
    int64_t count = 0;

    if (IS("HSET")) {
        for (size_t i = 2; i + 1 < n; i += 2)
            count += hash_set(m, w[1], w[i], w[i + 1]);
        put_int(o, count);
    } else if (IS("HSETNX")) {
        bool is = !hash_get(m, w[1], w[2]).ptr;

        if (is)
            (void)hash_set(m, w[1], w[2], w[3]);
        put_int(o, is);
    } else if (IS("HGET")) {
        put_found(o, hash_get(m, w[1], w[2]));
    } else if (IS("HMGET")) {
        put_count(o, n - 2);
        for (size_t i = 2; i < n; i++)
            put_found(o, hash_get(m, w[1], w[i]));
    } else if (IS("HGETALL")) {
        do_hgetall(m, w, o);
    } else if (IS("HSCAN")) {
        put_count(o, 2);
        put_bulk(o, SN_STR("0"));
        do_hgetall(m, w, o);
    } else if (IS("HLEN") || IS("XLEN")) {
        const value *v = find(m, w[1]);

        put_int(o, v ? (int64_t)v->in.n : 0);
    } else if (IS("HDEL")) {
        put_int(o, hash_drop(m, w[1], w[2]));
    } else if (IS("HINCRBY")) {
        put_int(o, hash_add(m, w[1], w[2], int_of(w[3])));
    } else if (IS("GET")) {
        put_found(o, text_get(m, w[1]));
    } else if (IS("APPEND")) {
        put_int(o, text_append(m, w[1], w[2]));
    } else if (IS("STRLEN")) {
        put_int(o, (int64_t)text_get(m, w[1]).len);
    } else if (IS("DEL") || IS("EXISTS")) {
        for (size_t i = 1; i < n; i++) {
            value *v = find(m, w[i]);

            count += v != NULL;
            if (v && IS("DEL"))
                drop_value(m, v);
        }
        put_int(o, count);
    } else if (IS("RPUSH")) {
        value *v = make(m, w[1], 'l');

        set_text(&add_item(&v->in, v->in.n)->b, w[2]);
        put_int(o, (int64_t)v->in.n);
    } else if (IS("LRANGE")) {
        do_lrange(m, w, o);
    } else {
        return false;
    }
    return true;
}

static void
put_run(const redis_model *m, sn_buf *o)
{
    char text[64];
    int len = snprintf(text, sizeof text, "run_id:%040" PRIx64 "\r\n", m->run);

    put_bulk(o, (sn_str){text, (size_t)len});
}

static void
put_settings(sn_buf *o)
{
    static const char *const all[] = {
        "appendonly", "yes", "appendfsync", "always", "maxmemory-policy", "noeviction"};

    put_count(o, 6);
    for (size_t i = 0; i < 6; i++)
        put_bulk(o, sn_str_of(all[i]));
}

/* The rest. */
static void
do_other(redis_model *m, const sn_str *w, size_t n, sn_buf *o)
{
    const char *name = w[0].ptr;
    size_t len = w[0].len;

    if (IS("FCALL") || IS("FCALL_RO")) {
        do_fcall(m, w, o);
    } else if (IS("XADD")) {
        do_xadd(m, w, n, o);
    } else if (IS("XDEL")) {
        put_int(o, stream_drop(m, w[1], id_of(w[2])));
    } else if (IS("XACK")) {
        put_int(o, stream_ack(m, w[1], id_of(w[3])));
    } else if (IS("XRANGE")) {
        do_xrange(m, w, o);
    } else if (IS("XREADGROUP")) {
        do_xreadgroup(m, w, n, o);
    } else if (IS("XAUTOCLAIM")) {
        do_xautoclaim(m, w, o);
    } else if (IS("ZADD")) {
        do_zadd(m, w, o);
    } else if (IS("ZRANGEBYSCORE")) {
        do_zrangebyscore(m, w, o);
    } else if (IS("ZREM")) {
        put_int(o, hash_drop(m, w[1], w[2]));
    } else if (IS("FLUSHALL")) {
        while (m->n > 0)
            drop_value(m, &m->all[m->n - 1]);
        sn_buf_text(o, "+OK\r\n");
    } else if (IS("HELLO")) {
        put_count(o, 4);
        put_bulk(o, SN_STR("server"));
        put_bulk(o, SN_STR("redis"));
        put_bulk(o, SN_STR("version"));
        put_bulk(o, SN_STR("7.0.15"));
    } else if (IS("INFO")) {
        put_run(m, o);
    } else if (IS("CONFIG")) {
        put_settings(o);
    } else if (IS("SELECT") || IS("FUNCTION")) {
        sn_buf_text(o, "+OK\r\n");
    } else {
        sn_buf_printf(o, "-ERR unknown command '%.*s'\r\n", SN_FMT(w[0]));
    }
}

/* Of the functions only the rate needs memory: see seine1.lua. */
static bool
needs_memory(const sn_str *w, size_t n)
{
    static const char *const names[] = {"HSET",  "HSETNX", "HINCRBY", "APPEND",
                                        "RPUSH", "XADD",   "ZADD"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sn_str_eq(w[0], sn_str_of(names[i])))
            return true;
    return n > 1 && sn_str_eq(w[0], SN_STR("FCALL")) &&
           sn_str_eq(w[1], SN_STR("seine1_quota"));
}

static void
run(redis_model *m, const sn_str *w, size_t n, sn_buf *o)
{
    size_t from = o->len;

    if (m->is_full && needs_memory(w, n))
        sn_buf_text(o, "-OOM command not allowed when used memory > 'maxmemory'.\r\n");
    else if (!do_plain(m, w, n, o))
        do_other(m, w, n, o);
    if (m->seen)
        m->seen(w, n, sn_str_slice(sn_buf_view(o), from, o->len), m->seen_arg);
}

/* The wire. */

/* "*2\r\n$3\r\nGET\r\n$1\r\na\r\n"; false: it is not all there. */
static bool
read_number(sn_str *left, char mark, size_t *out_n)
{
    const char *end = left->len > 0 ? memchr(left->ptr, '\n', left->len) : NULL;
    uint64_t n = 0;

    if (!end || left->ptr[0] != mark ||
        sn_str_u64((sn_str){left->ptr + 1, (size_t)(end - left->ptr) - 2}, &n) !=
            SEINE_OK)
        return false;
    *left = sn_str_slice(*left, (size_t)(end - left->ptr) + 1, left->len);
    *out_n = (size_t)n;
    return true;
}

static bool
read_command(sn_str *io_left, sn_str *words, size_t *out_n)
{
    sn_str left = *io_left;
    size_t len;

    if (!read_number(&left, '*', out_n) || *out_n > WORDS)
        return false;
    for (size_t i = 0; i < *out_n; i++) {
        if (!read_number(&left, '$', &len) || left.len < len + 2)
            return false;
        words[i] = (sn_str){left.ptr, len};
        left = sn_str_slice(left, len + 2, left.len);
    }
    *io_left = left;
    return true;
}

static seine_err
on_open(void *self, seine_time until)
{
    link *l = self;

    (void)until;
    if (l->of->is_down)
        return SEINE_E_STORE_UNAVAILABLE;
    sn_buf_reset(&l->in);
    sn_buf_reset(&l->out);
    l->is_open = true;
    return SEINE_OK;
}

static seine_err
on_send(void *self, sn_str bytes, seine_time until)
{
    link *l = self;
    sn_str *words = l->of->words;
    size_t n;

    (void)until;
    if (!l->is_open)
        return SEINE_E_STORE_UNAVAILABLE;
    sn_buf_str(&l->in, bytes);
    sn_str left = sn_buf_view(&l->in);
    while (read_command(&left, words, &n))
        run(l->of, words, n, &l->out);
    sn_buf_drop(&l->in, l->in.len - left.len);
    return SEINE_OK;
}

static seine_err
on_receive(void *self, char *into, size_t room, seine_time until, size_t *out_n)
{
    link *l = self;
    size_t n = l->out.len < room ? l->out.len : room;

    (void)until;
    if (!l->is_open)
        return SEINE_E_STORE_UNAVAILABLE;
    if (n == 0)
        return SEINE_E_TIMEOUT;
    memcpy(into, l->out.ptr, n);
    sn_buf_drop(&l->out, n);
    *out_n = n;
    return SEINE_OK;
}

static void
on_close(void *self)
{
    link *l = self;

    l->is_open = false;
}

sn_redis_wire
redis_model_wire(redis_model *m)
{
    link *l = sn_zalloc(sizeof *l);

    l->of = m;
    l->next = m->links;
    m->links = l;
    sn_buf_init(&l->in, SIZE_MAX);
    sn_buf_init(&l->out, SIZE_MAX);
    return (sn_redis_wire){on_open, on_send, on_receive, on_close, l};
}

redis_model *
redis_model_new(void)
{
    return sn_zalloc(sizeof(redis_model));
}

void
redis_model_free(redis_model *m)
{
    while (m->n > 0)
        drop_value(m, &m->all[m->n - 1]);
    sn_free(m->all);
    sn_free(m->slots);
    for (link *l = m->links, *next; l; l = next) {
        next = l->next;
        sn_buf_fini(&l->in);
        sn_buf_fini(&l->out);
        sn_free(l);
    }
    sn_free(m);
}

void
redis_model_set_now(redis_model *m, int64_t now_ms)
{
    m->now = now_ms;
}

void
redis_model_set_full(redis_model *m, bool is)
{
    m->is_full = is;
}

void
redis_model_set_down(redis_model *m, bool is)
{
    m->is_down = is;
    for (link *l = m->links; is && l; l = l->next)
        l->is_open = false;
}

void
redis_model_set_run(redis_model *m, uint64_t run)
{
    m->run = run;
}

void
redis_model_watch(redis_model *m, redis_model_fn fn, void *arg)
{
    m->seen = fn;
    m->seen_arg = arg;
}

sn_str
redis_model_text(redis_model *m, sn_str key)
{
    return text_get(m, key);
}

sn_str
redis_model_field(redis_model *m, sn_str key, sn_str field)
{
    return hash_get(m, key, field);
}

bool
redis_model_pair(redis_model *m, sn_str key, size_t i, sn_str *out_field,
                 sn_str *out_value)
{
    const value *v = find(m, key);

    if (!v || i >= v->in.n)
        return false;
    *out_field = sn_buf_view(&v->in.all[i].a);
    *out_value = sn_buf_view(&v->in.all[i].b);
    return true;
}
