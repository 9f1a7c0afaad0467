/* SPDX-License-Identifier: Apache-2.0 */
#include "net/cookie_jar.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/time.h"
#include "seine/secret.h"
#include "text/domain.h"

/* Hash chains: `link` is the pointer that points to the cookie. */

static void
chain_in(sn_cookie **head, sn_cookie *c)
{
    c->next = *head;
    c->link = head;
    if (c->next)
        c->next->link = &c->next;
    *head = c;
}

static void
chain_out(sn_cookie *c)
{
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
}

static void
secure_in(sn_cookie **head, sn_cookie *c)
{
    c->next_secure = *head;
    c->link_secure = head;
    if (c->next_secure)
        c->next_secure->link_secure = &c->next_secure;
    *head = c;
}

static void
secure_out(sn_cookie *c)
{
    *c->link_secure = c->next_secure;
    if (c->next_secure)
        c->next_secure->link_secure = c->link_secure;
}

/* The list by use. */

static void
use_out(seine_cookie_jar *jar, sn_cookie *c)
{
    *(c->newer ? &c->newer->older : &jar->newest) = c->older;
    *(c->older ? &c->older->newer : &jar->oldest) = c->newer;
}

static void
use_in(seine_cookie_jar *jar, sn_cookie *c)
{
    c->used = ++jar->ticks;
    c->newer = NULL;
    c->older = jar->newest;
    *(jar->newest ? &jar->newest->newer : &jar->oldest) = c;
    jar->newest = c;
}

/* Removed cookies wait on a list, by `older`, and are freed outside the lock. */

static void
bury(seine_cookie_jar *jar, sn_cookie *c, sn_cookie **dead)
{
    chain_out(c);
    if (c->view.secure)
        secure_out(c);
    use_out(jar, c);
    jar->count--;
    c->older = *dead;
    *dead = c;
}

static void
wipe(sn_cookie *c)
{
    seine_wipe((char *)c->view.value.ptr, c->view.value.len);
}

static void
free_all(sn_cookie *dead)
{
    for (sn_cookie *next; dead; dead = next) {
        next = dead->older;
        wipe(dead);
        sn_free(dead);
    }
}

static bool
is_over(const sn_cookie *c, int64_t wall)
{
    return c->view.expires <= wall;
}

static void
sweep(seine_cookie_jar *jar, int64_t wall, sn_cookie **dead)
{
    if (jar->soonest > wall)
        return;
    jar->soonest = SEINE_NEVER;
    for (sn_cookie *c = jar->newest, *older; c; c = older) {
        older = c->older;
        if (is_over(c, wall))
            bury(jar, c, dead);
        else
            jar->soonest = sn_time_min(jar->soonest, c->view.expires);
    }
}

seine_err
sn_cookie_jar_new(seine_psl *give, seine_cookie_jar **out_jar)
{
    seine_cookie_jar *jar = sn_zalloc(sizeof *jar);

    if (!jar) {
        seine_psl_free(give);
        return SEINE_E_NOMEM;
    }
    jar->psl = give;
    jar->soonest = SEINE_NEVER;
    sn_rng_secret(jar->secret, sizeof jar->secret);
    pthread_mutex_init(&jar->lock, NULL);
    *out_jar = jar;
    return SEINE_OK;
}

seine_err
seine_cookie_jar_new(seine_cookie_jar **out_jar)
{
    if (!out_jar)
        return SEINE_E_INVAL;
    seine_psl *psl = NULL;
    seine_err e = seine_psl_new(NULL, &psl);

    /* A jar works without a public suffix list; it then ignores Domain. */
    return e == SEINE_E_NOMEM ? e : sn_cookie_jar_new(psl, out_jar);
}

void
seine_cookie_jar_free(seine_cookie_jar *jar)
{
    if (!jar)
        return;
    free_all(jar->newest);
    seine_psl_free(jar->psl);
    pthread_mutex_destroy(&jar->lock);
    sn_free(jar);
}

size_t
seine_cookie_jar_count(const seine_cookie_jar *jar)
{
    if (!jar)
        return 0;
    pthread_mutex_t *lock = (pthread_mutex_t *)&jar->lock;

    pthread_mutex_lock(lock);
    size_t n = jar->count;
    pthread_mutex_unlock(lock);
    return n;
}

/* Adding a cookie. */

static sn_str
write_to(char **at, sn_str s)
{
    sn_str copy = {*at, s.len};

    memcpy(*at, s.ptr ? s.ptr : "", s.len);
    *at += s.len;
    return copy;
}

static uint64_t
hash_of(const seine_cookie_jar *jar, sn_str s)
{
    return sn_siphash(jar->secret, s.ptr, s.len);
}

/* Hosts of one site can set cookies for each other; hosts of different sites cannot. */
static uint64_t
site_of(const seine_cookie_jar *jar, sn_str domain)
{
    size_t n = jar->psl ? seine_psl_site(jar->psl, domain.ptr, domain.len) : 0;

    return hash_of(jar,
                   n > 0 ? sn_str_slice(domain, domain.len - n, domain.len) : domain);
}

static sn_cookie *
copy_of(const seine_cookie_jar *jar, const sn_cookie_view *v)
{
    size_t len = v->name.len + v->value.len + v->domain.len + v->path.len;
    sn_cookie *c = sn_zalloc(sizeof *c + len);

    if (!c)
        return NULL;
    char *at = c->text;
    c->view = *v;
    c->view.name = write_to(&at, v->name);
    c->view.value = write_to(&at, v->value);
    c->view.domain = write_to(&at, v->domain);
    c->view.path = write_to(&at, v->path);
    c->hash = hash_of(jar, v->domain);
    c->site = site_of(jar, v->domain);
    return c;
}

static bool
is_at(const sn_cookie *c, uint64_t hash, sn_str domain)
{
    return c->hash == hash && sn_str_eq(c->view.domain, domain);
}

static bool
is_same(const sn_cookie *a, const sn_cookie *b)
{
    return is_at(a, b->hash, b->view.domain) && a->view.host_only == b->view.host_only &&
           sn_str_eq(a->view.name, b->view.name) && sn_str_eq(a->view.path, b->view.path);
}

/* RFC 6265bis, 5.7: a cookie from http may not replace one from https if a request would
 * send both. */
static bool
would_hide(const seine_cookie_jar *jar, const sn_cookie *c, int64_t wall)
{
    const sn_cookie *s = jar->secure[c->site % SN_COOKIE_JAR_SLOTS];

    for (; s; s = s->next_secure)
        if (sn_str_eq(s->view.name, c->view.name) && !is_over(s, wall) &&
            (sn_domain_has(c->view.domain, s->view.domain) ||
             sn_domain_has(s->view.domain, c->view.domain)) &&
            sn_cookie_path_matches(c->view.path, s->view.path))
            return true;
    return false;
}

static sn_cookie **
slot_of(seine_cookie_jar *jar, const sn_cookie *c)
{
    return &jar->slots[c->hash % SN_COOKIE_JAR_SLOTS];
}

static sn_cookie *
find_same(seine_cookie_jar *jar, const sn_cookie *c)
{
    sn_cookie *old = *slot_of(jar, c);

    while (old && !is_same(old, c))
        old = old->next;
    return old;
}

/* The least recently used cookie that is not secure, and the one that is. */
typedef struct least {
    sn_cookie *of[2];
    size_t n;
} least;

static void
consider(least *l, sn_cookie *o)
{
    sn_cookie **at = &l->of[o->view.secure];

    if (!*at || o->used < (*at)->used)
        *at = o;
    l->n++;
}

/* RFC 6265bis, 5.7: secure cookies go last, and only for a secure one. NULL: none goes.
 */
static sn_cookie *
victim(const least *l, const sn_cookie *c)
{
    return l->of[0] ? l->of[0] : c->view.secure ? l->of[1] : NULL;
}

static bool
make_room_at_host(seine_cookie_jar *jar, const sn_cookie *c, int64_t wall,
                  sn_cookie **dead)
{
    least host = {0};

    for (sn_cookie *o = *slot_of(jar, c), *next; o; o = next) {
        next = o->next;
        if (!is_at(o, c->hash, c->view.domain))
            continue;
        if (is_over(o, wall))
            bury(jar, o, dead);
        else
            consider(&host, o);
    }
    if (host.n < SN_COOKIE_JAR_HOST)
        return true;
    sn_cookie *gone = victim(&host, c);
    if (gone)
        bury(jar, gone, dead);
    return gone != NULL;
}

/* A site that has many makes room among its own: it has hosts without number. */
static bool
make_room_in_jar(seine_cookie_jar *jar, const sn_cookie *c, int64_t wall,
                 sn_cookie **dead)
{
    least all = {0}, site = {0};

    if (jar->count >= SN_COOKIE_JAR_ALL)
        sweep(jar, wall, dead);
    if (jar->count < SN_COOKIE_JAR_ALL)
        return true;
    for (sn_cookie *o = jar->newest; o; o = o->older) {
        consider(&all, o);
        if (o->site == c->site)
            consider(&site, o);
    }
    sn_cookie *gone = victim(site.n >= SN_COOKIE_JAR_SITE ? &site : &all, c);
    if (gone)
        bury(jar, gone, dead);
    return gone != NULL;
}

/* False: there is no room for it. */
static bool
put_in(seine_cookie_jar *jar, sn_cookie *c, int64_t wall, sn_cookie **dead)
{
    sn_cookie *old = find_same(jar, c);

    c->created = old && !is_over(old, wall) ? old->created : ++jar->ticks;
    if (old)
        bury(jar, old, dead);
    if (is_over(c, wall)) {
        c->older = *dead;
        *dead = c;
        return true;
    }
    if (!make_room_at_host(jar, c, wall, dead) || !make_room_in_jar(jar, c, wall, dead))
        return false;
    chain_in(slot_of(jar, c), c);
    if (c->view.secure)
        secure_in(&jar->secure[c->site % SN_COOKIE_JAR_SLOTS], c);
    use_in(jar, c);
    jar->count++;
    jar->soonest = sn_time_min(jar->soonest, c->view.expires);
    return true;
}

seine_err
sn_cookie_jar_put(seine_cookie_jar *jar, const sn_cookie_view *v, int64_t wall)
{
    sn_cookie *c = copy_of(jar, v), *dead = NULL;

    if (!c)
        return SEINE_E_NOMEM;
    pthread_mutex_lock(&jar->lock);
    bool fits = !(v->plain && would_hide(jar, c, wall)) && put_in(jar, c, wall, &dead);
    pthread_mutex_unlock(&jar->lock);
    if (!fits) {
        c->older = dead;
        dead = c;
    }
    free_all(dead);
    return fits ? SEINE_OK : SEINE_E_INVAL;
}

seine_err
seine_cookie_jar_take(seine_cookie_jar *jar, const seine_url *url, const char *value,
                      size_t len, int64_t wall)
{
    if (!url)
        return SEINE_E_INVAL;
    char mem[SN_COOKIE_DOMAIN];
    sn_cookie_place from;
    sn_set_cookie set;
    sn_cookie_view c;
    seine_err e = sn_cookie_place_of(url, &from);

    if (e == SEINE_OK)
        e = sn_cookie_parse((sn_str){value, len}, wall, &set);
    if (e == SEINE_OK)
        e = sn_cookie_scope(&set, &from, jar->psl, mem, &c);
    return e == SEINE_OK ? sn_cookie_jar_put(jar, &c, wall) : e;
}

/* Finding the cookies of a request. */

typedef bool (*before)(const sn_cookie *a, const sn_cookie *b);

static bool
used_before(const sn_cookie *a, const sn_cookie *b)
{
    return a->used < b->used;
}

static bool
created_before(const sn_cookie *a, const sn_cookie *b)
{
    return a->created < b->created;
}

/* RFC 6265, 5.4: longer paths first, then older cookies. */
static bool
sent_before(const sn_cookie *a, const sn_cookie *b)
{
    if (a->view.path.len != b->view.path.len)
        return a->view.path.len > b->view.path.len;
    return created_before(a, b);
}

/* Shellsort with Ciura's gaps: needs no memory, and 3,000 cookies do not take quadratic
 * time. */
static void
sort(sn_cookie **list, size_t n, before goes)
{
    static const size_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};

    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (size_t i = gaps[g]; i < n; i++) {
            sn_cookie *c = list[i];
            size_t at = i;

            for (; at >= gaps[g] && goes(c, list[at - gaps[g]]); at -= gaps[g])
                list[at] = list[at - gaps[g]];
            list[at] = c;
        }
}

/* Adds the cookies of one domain: the host, or a domain above it. */
static size_t
find_at(seine_cookie_jar *jar, sn_str domain, const sn_cookie_place *to, int64_t wall,
        size_t n)
{
    uint64_t hash = hash_of(jar, domain);
    bool exact = domain.len == to->host.len;

    for (sn_cookie *c = jar->slots[hash % SN_COOKIE_JAR_SLOTS]; c; c = c->next)
        if (is_at(c, hash, domain) && (exact || !c->view.host_only) &&
            !is_over(c, wall) && (to->secure || !c->view.secure) &&
            sn_cookie_path_matches(to->path, c->view.path))
            jar->found[n++] = c;
    return n;
}

static size_t
find_cookies(seine_cookie_jar *jar, const sn_cookie_place *to, int64_t wall)
{
    sn_str domain = to->host, label;
    size_t n = find_at(jar, domain, to, wall, 0);

    while (!to->is_address && sn_str_cut(domain, '.', &label, &domain))
        n = find_at(jar, domain, to, wall, n);
    return n;
}

static size_t
size_of(const sn_cookie *c)
{
    return c->view.name.len + 1 + c->view.value.len;
}

static char *
append(char *at, sn_str s)
{
    memcpy(at, s.ptr, s.len);
    return at + s.len;
}

static size_t
print(sn_cookie *const *list, size_t n, char *buf)
{
    char *at = buf;

    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            at = append(at, SN_STR("; "));
        at = append(at, list[i]->view.name);
        *at++ = '=';
        at = append(at, list[i]->view.value);
    }
    return (size_t)(at - buf);
}

/* Keeps the most recently used of `found` that fit into `cap` bytes, in order of use. */
static size_t
fit(sn_cookie **found, size_t n, size_t cap)
{
    size_t from = n, len = 0;

    sort(found, n, used_before);
    while (from > 0) {
        size_t more = size_of(found[from - 1]) + (from < n ? 2 : 0);

        if (more > cap - len)
            break;
        len += more;
        from--;
    }
    memmove(found, found + from, (n - from) * sizeof *found);
    return n - from;
}

size_t
seine_cookie_jar_field(seine_cookie_jar *jar, const seine_url *url, int64_t wall,
                       char *buf, size_t cap)
{
    if (!jar || !url)
        return 0;
    sn_cookie_place to;

    if (sn_cookie_place_of(url, &to) != SEINE_OK)
        return 0;
    pthread_mutex_lock(&jar->lock);
    size_t n = jar->count > 0 ? find_cookies(jar, &to, wall) : 0;
    n = fit(jar->found, n, cap < SEINE_COOKIE_JAR_SENT ? cap : SEINE_COOKIE_JAR_SENT);
    for (size_t i = 0; i < n; i++) {
        use_out(jar, jar->found[i]);
        use_in(jar, jar->found[i]);
    }
    sort(jar->found, n, sent_before);
    size_t len = print(jar->found, n, buf);
    pthread_mutex_unlock(&jar->lock);
    return len;
}

size_t
sn_cookie_jar_list(seine_cookie_jar *jar, int64_t wall)
{
    size_t n = 0;

    for (sn_cookie *c = jar->newest; c; c = c->older)
        if (!is_over(c, wall))
            jar->found[n++] = c;
    sort(jar->found, n, created_before);
    return n;
}
