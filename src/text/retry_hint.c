/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/retry_hint.h"

#include "base/time.h"
#include "text/structured_field.h"

#define SECOND  INT64_C(1000000000)
#define DAY     INT64_C(86400)
#define LONGEST (SEINE_RETRY_HINT_MAX / SECOND)

/* A RateLimit-Reset above this is a Unix time, not a number of seconds. */
#define EPOCH_MIN INT64_C(1000000000)

enum { PLAIN, X_PLAIN, NAMED }; /* indexes of `said`; named policies start at NAMED */

/* The hash of a name, a string or a token; FNV-1a. */
static uint64_t
hash_of(const sn_field_item *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const char *at = name->text.at; at < name->text.end; at++) {
        if (name->kind == SN_FIELD_STRING && *at == '\\')
            at++;
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static bool
is_name(const sn_field_item *it)
{
    return it->kind == SN_FIELD_STRING || it->kind == SN_FIELD_TOKEN;
}

static bool
is_count(const sn_field_item *it)
{
    return it->kind == SN_FIELD_INTEGER && it->n >= 0;
}

/* Two integer parameters of an item; -1 where one is missing, BAD where it is no count.
 */
struct pair {
    char a_name, b_name;
    int64_t a, b;
};

enum { BAD = -2 };

/* The last of several counts (RFC 9651, 3.1.2). */
static bool
parameters(sn_cursor *t, struct pair *wanted)
{
    sn_field_item value;
    sn_field_more more;
    sn_cursor key;

    while ((more = sn_field_parameter(t, &key, &value)) == SN_FIELD_MORE) {
        bool is_short = key.end - key.at == 1;

        if (is_short && *key.at == wanted->a_name)
            wanted->a = is_count(&value) ? value.n : BAD;
        if (is_short && *key.at == wanted->b_name)
            wanted->b = is_count(&value) ? value.n : BAD;
    }
    return more == SN_FIELD_NONE && wanted->a != BAD && wanted->b != BAD;
}

/* Returns the slot of a name; the first four names get one, others are dropped. */
static seine_retry_hint_said *
place_of(seine_retry_hint *h, uint64_t name)
{
    const unsigned most = sizeof h->said / sizeof *h->said;

    for (unsigned i = NAMED; i < h->count; i++)
        if (h->said[i].name == name)
            return &h->said[i];
    if (h->count == most)
        return NULL;
    h->said[h->count].name = name;
    return &h->said[h->count++];
}

/* True if fewer requests are left per time; of two empty quotas the longer wait. */
static bool
scarcer(int64_t r, int64_t t, int64_t than_r, int64_t than_t)
{
    sn_u128 a = (sn_u128)(uint64_t)r * (uint64_t)than_t;
    sn_u128 b = (sn_u128)(uint64_t)than_r * (uint64_t)t;

    return a != b ? a < b : t > than_t;
}

/* A value was sent twice: keeps the stricter one, fewer requests or a longer time. */
static void
fewer(int64_t *n, int64_t said)
{
    if (*n < 0 || said < *n)
        *n = said;
}

static void
longer(int64_t *n, int64_t said)
{
    *n = sn_time_max(*n, said);
}

/* "limit=100, remaining=0, reset=30": the draft of 2023. */
static bool
older_member(seine_retry_hint *h, sn_cursor key, const sn_field_item *value)
{
    static const char *const keys[] = {"limit", "remaining", "reset"};
    seine_retry_hint_said *s = &h->said[PLAIN];
    int which;

    if (!sn_choice(&key, keys, 3, &which) || !sn_ended(&key))
        return true; /* an unknown key */
    if (!is_count(value))
        return false;
    if (which == 2)
        longer(&s->t, value->n);
    else
        fewer(which == 0 ? &s->q : &s->r, value->n);
    return true;
}

static void
note_limit(seine_retry_hint *h, uint64_t name, const struct pair *p)
{
    seine_retry_hint_said *s = p->a >= 0 ? place_of(h, name) : NULL; /* r is required */

    if (!s)
        return;
    if (s->r < 0 || (p->b >= 0 && (s->t < 0 || scarcer(p->a, p->b, s->r, s->t)))) {
        s->r = p->a;
        s->t = p->b;
    }
}

static bool
ratelimit(seine_retry_hint *h, sn_cursor t)
{
    while (!sn_ended(&t)) {
        struct pair p = {'r', 't', -1, -1};
        sn_field_item it, value;

        if (!sn_field_member(&t, &it))
            return false;
        bool older = it.kind == SN_FIELD_TOKEN && sn_skip(&t, '=');
        if (older && !sn_field_member(&t, &value))
            return false;
        if (!parameters(&t, &p) || !sn_field_comma(&t))
            return false;
        if (older && !older_member(h, it.text, &value))
            return false;
        if (!older && is_name(&it))
            note_limit(h, hash_of(&it), &p);
    }
    return true;
}

static bool
policy(seine_retry_hint *h, sn_cursor t)
{
    while (!sn_ended(&t)) {
        struct pair p = {'q', 'w', -1, -1};
        seine_retry_hint_said *s;
        sn_field_item it;

        if (!sn_field_member(&t, &it) || !parameters(&t, &p) || !sn_field_comma(&t))
            return false;
        if (is_count(&it) && h->policy_q < 0) { /* "100;w=60", until 2024 */
            h->policy_q = it.n;
            h->policy_w = p.b;
        } else if (is_name(&it) && p.a >= 0 && (s = place_of(h, hash_of(&it))) &&
                   s->q < 0) {
            s->q = p.a;
            s->w = p.b;
        }
    }
    return true;
}

/* A list with an error anywhere is ignored as a whole (RFC 9651, 4.2). */
static bool
list(seine_retry_hint *h, bool (*read)(seine_retry_hint *, sn_cursor), sn_cursor t)
{
    seine_retry_hint next = *h;

    if (!read(&next, t))
        return false;
    *h = next;
    return true;
}

/* Reads the leading number of "100" or "100, 100;w=60". */
static bool
first_number(sn_cursor t, int64_t *out_n)
{
    int64_t n;

    if (!sn_number(&t, &n))
        return false;
    sn_skip_all(&t, " \t");
    if (!sn_ended(&t) && !sn_one_of(*t.at, ",;"))
        return false;
    *out_n = n;
    return true;
}

static bool
retry_after(seine_retry_hint *h, sn_cursor t)
{
    int64_t n;

    if (seine_retry_hint_date(t.at, (size_t)(t.end - t.at), h->wall, &n) == SEINE_OK) {
        longer(&h->after_at, n);
        return true;
    }
    if (!sn_number(&t, &n) || !sn_ended(&t))
        return false;
    longer(&h->after, n);
    return true;
}

enum field { RETRY_AFTER, DATE, AGE, RATELIMIT, POLICY, LIMIT, REMAINING, RESET, NONE };

/* Finds the field by its name; *out_place is the slot of the last three fields. */
static enum field
field_of(const char *name, size_t len, int *out_place)
{
    /* clang-format off */
    static const struct { const char *name; enum field field; int place; } rows[] = {
        {"retry-after",            RETRY_AFTER, 0},
        {"date",                   DATE,        0},
        {"age",                    AGE,         0},
        {"ratelimit",              RATELIMIT,   0},
        {"ratelimit-policy",       POLICY,      0},
        {"ratelimit-limit",        LIMIT,       PLAIN},
        {"ratelimit-remaining",    REMAINING,   PLAIN},
        {"ratelimit-reset",        RESET,       PLAIN},
        {"x-ratelimit-limit",      LIMIT,       X_PLAIN},
        {"x-ratelimit-remaining",  REMAINING,   X_PLAIN},
        {"x-ratelimit-reset",      RESET,       X_PLAIN},
        {"x-rate-limit-limit",     LIMIT,       X_PLAIN},
        {"x-rate-limit-remaining", REMAINING,   X_PLAIN},
        {"x-rate-limit-reset",     RESET,       X_PLAIN},
    };
    /* clang-format on */
    char lower[24];

    if (len == 0 || len >= sizeof lower || !sn_one_of((char)(name[0] | 0x20), "adrx"))
        return NONE;
    for (size_t i = 0; i < len; i++)
        lower[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] | 0x20) : name[i];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].name) == len && memcmp(rows[i].name, lower, len) == 0) {
            *out_place = rows[i].place;
            return rows[i].field;
        }
    return NONE;
}

void
seine_retry_hint_init(seine_retry_hint *h, int64_t wall)
{
    if (!h)
        return;
    static const seine_retry_hint_said nothing = {0, -1, -1, -1, -1};

    *h = (seine_retry_hint){.wall = wall,
                            .date = -1,
                            .after = -1,
                            .after_at = -1,
                            .policy_q = -1,
                            .policy_w = -1,
                            .count = NAMED};
    for (size_t i = 0; i < sizeof h->said / sizeof *h->said; i++)
        h->said[i] = nothing;
}

static bool
take_field(seine_retry_hint *h, enum field field, int where, sn_cursor t)
{
    seine_retry_hint_said *s = &h->said[where];
    int64_t n;

    switch (field) {
    case RETRY_AFTER:
        return retry_after(h, t);
    case RATELIMIT:
    case POLICY:
        return list(h, field == POLICY ? policy : ratelimit, t);
    case DATE:
        if (seine_retry_hint_date(t.at, (size_t)(t.end - t.at), h->wall, &n) != SEINE_OK)
            return false;
        h->date = h->date < 0 ? n : h->date;
        return true;
    default:
        break;
    }
    if (!first_number(t, &n))
        return false;
    if (field == AGE)
        h->cached = h->cached || n > 0;
    else if (field == RESET)
        longer(&s->t, n);
    else
        fewer(field == LIMIT ? &s->q : &s->r, n);
    return true;
}

bool
seine_retry_hint_feed(seine_retry_hint *h, const char *name, size_t name_len,
                      const char *value, size_t value_len)
{
    int where = PLAIN;
    enum field field = field_of(name, name_len, &where);

    if (field == NONE || value_len == 0)
        return false;
    sn_cursor t = sn_trimmed(value, value_len);
    return !sn_ended(&t) && take_field(h, field, where, t);
}

static seine_span
span_of(int64_t seconds)
{
    return seconds < 0 ? -1 : sn_time_min(seconds, LONGEST) * SECOND;
}

/* Returns the time from the response's Date to `at`: the same clock made both. */
static seine_span
until(const seine_retry_hint *h, int64_t at)
{
    int64_t from = h->date, rest = 0;

    if (from < 0) {
        rest = (h->wall % SECOND + SECOND) % SECOND;
        from = h->wall / SECOND - (h->wall % SECOND < 0);
    }
    if (at <= from)
        return 0;
    return span_of(at - from) - rest;
}

seine_span
seine_retry_hint_after(const seine_retry_hint *h)
{
    if (!h)
        return -1;
    if (h->cached)
        return -1;
    return sn_time_max(span_of(h->after), h->after_at < 0 ? -1 : until(h, h->after_at));
}

static seine_quota
resolve(const seine_retry_hint *h, unsigned i)
{
    const seine_retry_hint_said *s = &h->said[i];
    seine_quota quota = {s->r, span_of(s->t), s->q, span_of(s->w)};

    if (i < NAMED && s->t > EPOCH_MIN)
        quota.t = until(h, s->t);
    if (i == PLAIN && (quota.q < 0 || quota.q == h->policy_q)) {
        quota.q = h->policy_q;
        quota.w = span_of(h->policy_w);
    }
    return quota;
}

/* True if r and t were sent and t is short enough to be plausible. */
static bool
is_whole(const seine_quota *quota)
{
    return quota->r >= 0 && quota->t >= 0 && quota->t <= DAY * SECOND;
}

seine_span
seine_retry_hint_pause(const seine_retry_hint *h)
{
    if (!h)
        return -1;
    seine_span longest = seine_retry_hint_after(h);

    if (longest >= 0 || h->cached)
        return longest;
    for (unsigned i = 0; i < h->count; i++) {
        seine_quota quota = resolve(h, i);

        if (quota.r == 0 && is_whole(&quota))
            longest = sn_time_max(longest, quota.t);
    }
    return longest;
}

static bool
binds_more(const seine_quota *a, const seine_quota *b)
{
    if (is_whole(a) != is_whole(b))
        return is_whole(a);
    if (is_whole(a))
        return scarcer(a->r, a->t, b->r, b->t);
    return (a->r >= 0) > (b->r >= 0);
}

bool
seine_retry_hint_quota(const seine_retry_hint *h, seine_quota *out_quota)
{
    if (!h)
        return false;
    seine_quota best = {-1, -1, -1, -1};
    bool found = false;

    for (unsigned i = 0; i < h->count && !h->cached; i++) {
        seine_quota quota = resolve(h, i);

        if (quota.r < 0 && quota.t < 0 && quota.q < 0)
            continue;
        if (!found || binds_more(&quota, &best))
            best = quota;
        found = true;
    }
    if (found)
        *out_quota = best;
    return found;
}
