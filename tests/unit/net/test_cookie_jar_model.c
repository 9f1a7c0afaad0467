/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the jar with a plain list in random steps. */
#include <stdlib.h>

#include "base/rng.h"
#include "cookies.h"

typedef struct kept {
    char name[8], value[4096], domain[32], path[8];
    bool host_only, secure;
    int64_t expires;
    uint64_t created, used;
} kept;

typedef struct model {
    kept all[SN_COOKIE_JAR_ALL + 1];
    size_t n;
    uint64_t ticks;
} model;

typedef struct step {
    const char *host, *domain, *path, *asked;
    bool https, secure, has_age;
    int age, name;
    size_t bytes; /* of the value */
} step;

static bool
under(const char *host, const char *domain)
{
    size_t h = strlen(host), d = strlen(domain);

    return strcmp(host, domain) == 0 ||
           (h > d && host[h - d - 1] == '.' && strcmp(host + h - d, domain) == 0);
}

static bool
path_under(const char *request, const char *path)
{
    size_t n = strlen(path);

    return strncmp(request, path, n) == 0 &&
           (!request[n] || request[n] == '/' || path[n - 1] == '/');
}

static void
drop(model *m, size_t i)
{
    m->all[i] = m->all[--m->n];
}

static void
drop_dead(model *m, int64_t wall)
{
    for (size_t i = m->n; i-- > 0;)
        if (m->all[i].expires <= wall)
            drop(m, i);
}

static const char *
site_of(const char *domain)
{
    return under(domain, "example.com") ? "example.com" : domain;
}

/* Drops the least recently used one of a domain, a site or all, first those that are not
 * secure. False: only secure ones are left, which `c` must not push out. */
static bool
drop_least(model *m, const kept *c, const char *domain, const char *site)
{
    size_t least = m->n;

    for (int secure = 0; secure < 2 && least == m->n; secure++)
        for (size_t i = 0; i < m->n && secure <= c->secure; i++)
            if ((!domain || strcmp(m->all[i].domain, domain) == 0) &&
                (!site || strcmp(site_of(m->all[i].domain), site) == 0) &&
                m->all[i].secure == secure &&
                (least == m->n || m->all[i].used < m->all[least].used))
                least = i;
    if (least == m->n)
        return false;
    drop(m, least);
    return true;
}

static bool
model_set(model *m, const step *s, const char *value, int64_t wall)
{
    static kept c;
    size_t same = 0;

    drop_dead(m, wall);
    memset(&c, 0, sizeof c);
    if (s->secure && !s->https)
        return false;
    if (*s->domain && (!under(s->host, s->domain) || strcmp(s->domain, "com") == 0 ||
                       strcmp(s->domain, "co.uk") == 0))
        return false;
    snprintf(c.name, sizeof c.name, "%d", s->name);
    snprintf(c.value, sizeof c.value, "%s", value);
    snprintf(c.domain, sizeof c.domain, "%s", *s->domain ? s->domain : s->host);
    snprintf(c.path, sizeof c.path, "%s", *s->path ? s->path : "/");
    c.host_only = !*s->domain || s->host[0] == '1'; /* an address */
    c.secure = s->secure;
    c.expires = !s->has_age   ? INT64_MAX
                : s->age <= 0 ? INT64_MIN
                              : wall + s->age * SEINE_SECS(1);
    for (size_t i = 0; i < m->n && !s->https; i++)
        if (m->all[i].secure && strcmp(m->all[i].name, c.name) == 0 &&
            (under(m->all[i].domain, c.domain) || under(c.domain, m->all[i].domain)) &&
            path_under(c.path, m->all[i].path))
            return false;
    c.created = ++m->ticks;
    for (size_t i = m->n; i-- > 0;)
        if (strcmp(m->all[i].name, c.name) == 0 && m->all[i].host_only == c.host_only &&
            strcmp(m->all[i].domain, c.domain) == 0 &&
            strcmp(m->all[i].path, c.path) == 0) {
            c.created = m->all[i].created;
            drop(m, i);
        }
    if (c.expires <= wall)
        return true;
    for (size_t i = 0; i < m->n; i++)
        same += strcmp(m->all[i].domain, c.domain) == 0;
    if (same >= 50 && !drop_least(m, &c, c.domain, NULL))
        return false;
    for (size_t i = same = 0; i < m->n; i++)
        same += strcmp(site_of(m->all[i].domain), site_of(c.domain)) == 0;
    if (m->n >= 3000 && !drop_least(m, &c, NULL, same >= 300 ? site_of(c.domain) : NULL))
        return false;
    c.used = ++m->ticks;
    m->all[m->n++] = c;
    return true;
}

static int
by_use(const void *a, const void *b)
{
    const kept *x = *(kept *const *)a, *y = *(kept *const *)b;

    return x->used < y->used ? -1 : x->used > y->used;
}

static int
by_order(const void *a, const void *b)
{
    const kept *x = *(kept *const *)a, *y = *(kept *const *)b;
    size_t p = strlen(x->path), q = strlen(y->path);

    if (p != q)
        return p > q ? -1 : 1;
    return x->created < y->created ? -1 : x->created > y->created;
}

static const char *
model_sent(model *m, const step *s, int64_t wall)
{
    static char text[3 * SEINE_COOKIE_JAR_SENT];
    static kept *list[SN_COOKIE_JAR_ALL];
    size_t n = 0, from, len = 0;

    drop_dead(m, wall);
    for (size_t i = 0; i < m->n; i++) {
        kept *c = &m->all[i];

        if ((c->host_only ? strcmp(s->host, c->domain) == 0
                          : under(s->host, c->domain)) &&
            path_under(s->asked, c->path) && (!c->secure || s->https))
            list[n++] = c;
    }
    if (n > 0)
        qsort(list, n, sizeof *list, by_use);
    for (from = n; from > 0; from--) {
        const kept *c = list[from - 1];
        size_t more = strlen(c->name) + 1 + strlen(c->value) + (from < n ? 2 : 0);

        if (len + more > 8192)
            break;
        len += more;
    }
    for (size_t i = from; i < n; i++)
        list[i]->used = ++m->ticks;
    if (n > from)
        qsort(list + from, n - from, sizeof *list, by_order);
    text[0] = '\0';
    len = 0;
    for (size_t i = from; i < n; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s=%s",
                                i > from ? "; " : "", list[i]->name, list[i]->value);
    return text;
}

static const char *
pick(sn_rng *rng, const char *const *list)
{
    size_t n = 0;

    while (list[n])
        n++;
    return list[sn_rng_below(rng, n)];
}

static step
any_step(sn_rng *rng, int names, size_t longest)
{
    static const char *const hosts[] = {"example.com",
                                        "a.example.com",
                                        "b.a.example.com",
                                        "b.example.com",
                                        "x.co.uk",
                                        "127.0.0.1",
                                        NULL};
    static const char *const domains[] = {
        "",    "",          "example.com", "a.example.com", "x.co.uk", "co.uk",
        "com", "127.0.0.1", NULL};
    static const char *const paths[] = {"", "/", "/a", "/a/", "/a/b", NULL};
    static const char *const asked[] = {"/", "/a", "/a/b", "/a/b/c", "/ab", NULL};

    return (step){.host = pick(rng, hosts),
                  .domain = pick(rng, domains),
                  .path = pick(rng, paths),
                  .asked = pick(rng, asked),
                  .https = sn_rng_below(rng, 2),
                  .secure = sn_rng_below(rng, 3) == 0,
                  .has_age = sn_rng_below(rng, 2),
                  .age = (int)sn_rng_below(rng, 40) - 2,
                  .name = (int)sn_rng_below(rng, (uint64_t)names),
                  .bytes = sn_rng_below(rng, longest)};
}

/* One set and one asking. */
static void
walk(seine_cookie_jar *jar, model *m, const step *s, int64_t wall, sn_rng *rng)
{
    static char url[256], value[4096], field[4200];

    snprintf(url, sizeof url, "http%s://%s/", s->https ? "s" : "", s->host);
    snprintf(value, sizeof value, "%0*d", (int)s->bytes + 1, (int)sn_rng_below(rng, 10));
    int n = snprintf(field, sizeof field, "%d=%s%s%s%s%s%s", s->name, value,
                     *s->domain ? "; Domain=" : "", s->domain, *s->path ? "; Path=" : "",
                     s->path, s->secure ? "; Secure" : "");
    if (s->has_age)
        snprintf(field + n, sizeof field - (size_t)n, "; Max-Age=%d", s->age);
    seine_err e = set_at(jar, url, field, wall);
    CHECK_EQ(e, model_set(m, s, value, wall) ? SEINE_OK : SEINE_E_INVAL);
    snprintf(url, sizeof url, "http%s://%s%s", s->https ? "s" : "", s->host, s->asked);
    CHECK_STR(sent_at(jar, url, wall), model_sent(m, s, wall));
    CHECK(m->n <= seine_cookie_jar_count(jar)); /* which may hold dead ones */
}

TEST(cookie_agrees_with_a_list_that_is_walked)
{
    static const struct {
        int names, rounds;
        size_t longest;
    } rows[] = {
        {3, 2000, 2},    /* the same ones again and again */
        {90, 1500, 2},   /* over 50 of a host */
        {12, 400, 2000}, /* over 8 KiB */
    };
    sn_rng rng = sn_rng_seed(check_seed());
    model *m = calloc(1, sizeof *m);

    EACH_ROW(i, rows) {
        seine_cookie_jar *jar = new_jar();
        int64_t wall = T0;

        m->n = 0;
        for (int round = 0; round < rows[i].rounds; round++) {
            step s = any_step(&rng, rows[i].names, rows[i].longest);

            walk(jar, m, &s, wall, &rng);
            wall += (int64_t)sn_rng_below(&rng, 3) * SEINE_SECS(1);
        }
        seine_cookie_jar_free(jar);
    }
    free(m);
}

/* 80 hosts of 50: the jar is full. The model forgets by itself what has expired, which
 * the jar does when it needs room. */
TEST(cookie_agrees_with_the_list_when_the_jar_is_full)
{
    sn_rng rng = sn_rng_seed(check_seed());
    model *m = calloc(1, sizeof *m);
    seine_cookie_jar *jar = new_jar();
    static const char *const paths[] = {"", "/", "/a", NULL};

    for (int round = 0; round < 6000; round++) {
        char host[32];

        snprintf(host, sizeof host, "h%d.example.com", (int)sn_rng_below(&rng, 80));
        step s = {.host = host,
                  .domain = "",
                  .path = pick(&rng, paths),
                  .asked = "/a",
                  .https = true,
                  .secure = sn_rng_below(&rng, 3) == 0,
                  .has_age = sn_rng_below(&rng, 50) == 0,
                  .age = (int)sn_rng_below(&rng, 3000),
                  .name = (int)sn_rng_below(&rng, 60)};

        walk(jar, m, &s, T0 + round * SEINE_SECS(1), &rng);
    }
    CHECK(seine_cookie_jar_count(jar) >= 2500);
    seine_cookie_jar_free(jar);
    free(m);
}
