/* SPDX-License-Identifier: Apache-2.0 */
/* Says why a cookie is not sent. The jar itself decides; this file only looks for the
 * rule that it went by. */
#include "base/time.h"
#include "net/cookie_jar.h"
#include "text/domain.h"

const char *
seine_cookie_why_name(seine_cookie_why why)
{
    static const char *const names[] = {
#define X(id, name, text) name,
        SEINE_COOKIE_WHYS(X)
#undef X
    };

    return (size_t)why < sizeof names / sizeof *names ? names[why] : "";
}

const char *
seine_cookie_why_text(seine_cookie_why why)
{
    static const char *const texts[] = {
#define X(id, name, text) text,
        SEINE_COOKIE_WHYS(X)
#undef X
    };

    return (size_t)why < sizeof texts / sizeof *texts ? texts[why] : "";
}

/* Why sn_cookie_parse has refused the value. */
static seine_cookie_why
why_not_parsed(sn_str value)
{
    sn_str pair, rest, name, text;

    sn_str_cut(value, ';', &pair, &rest);
    if (!sn_str_cut(pair, '=', &name, &text) || sn_str_trim(name).len == 0)
        return SEINE_COOKIE_NO_NAME;
    if (sn_str_trim(name).len + sn_str_trim(text).len > SN_COOKIE_BYTES)
        return SEINE_COOKIE_TOO_LONG;
    return SEINE_COOKIE_CONTROL;
}

/* Why sn_cookie_scope has refused the cookie. */
static seine_cookie_why
why_not_scoped(const sn_set_cookie *set, const sn_cookie_place *from,
               const seine_psl *psl)
{
    sn_set_cookie bare = *set;
    char mem[SN_COOKIE_DOMAIN];
    sn_cookie_view c;

    if (set->secure && !from->secure)
        return SEINE_COOKIE_SECURE_SET;
    bare.domain = (sn_str){0};
    if (sn_cookie_scope(&bare, from, psl, mem, &c) != SEINE_OK)
        return SEINE_COOKIE_PREFIX;
    bare = *set;
    bare.name = SN_STR("x");
    if (sn_cookie_scope(&bare, from, psl, mem, &c) == SEINE_OK)
        return SEINE_COOKIE_PREFIX;
    return sn_domain_has(set->domain, from->host) ? SEINE_COOKIE_SUFFIX
                                                  : SEINE_COOKIE_DOMAIN;
}

/* The cookie of that name, domain and path, under the lock; NULL: none. */
static const sn_cookie *
find(const seine_cookie_jar *jar, const sn_cookie_view *v)
{
    for (const sn_cookie *c = jar->newest; c; c = c->older)
        if (sn_str_eq(c->view.name, v->name) && sn_str_eq(c->view.domain, v->domain) &&
            sn_str_eq(c->view.path, v->path) && c->view.host_only == v->host_only)
            return c;
    return NULL;
}

/* Whether a cookie of https hides one of that name from http. */
static bool
has_secure(const seine_cookie_jar *jar, const sn_cookie_view *v)
{
    for (const sn_cookie *c = jar->newest; c; c = c->older)
        if (c->view.secure && sn_str_eq(c->view.name, v->name))
            return true;
    return false;
}

static seine_cookie_why
why_not_there(const seine_cookie_jar *jar, const sn_cookie_view *v, int64_t wall)
{
    const sn_cookie *c = find(jar, v);

    if (v->expires <= wall)
        return SEINE_COOKIE_EXPIRED;
    if (c && sn_str_eq(c->view.value, v->value))
        return SEINE_COOKIE_SENT;
    if (v->plain && has_secure(jar, v))
        return SEINE_COOKIE_HIDDEN;
    return c ? SEINE_COOKIE_REPLACED : SEINE_COOKIE_DROPPED;
}

static seine_cookie_why
why_not_matched(const sn_cookie_view *v, const sn_cookie_place *to)
{
    if (v->host_only ? !sn_str_eq(v->domain, to->host)
                     : to->is_address || !sn_domain_has(v->domain, to->host))
        return SEINE_COOKIE_HOST;
    if (!sn_cookie_path_matches(to->path, v->path))
        return SEINE_COOKIE_PATH;
    return v->secure && !to->secure ? SEINE_COOKIE_SECURE : SEINE_COOKIE_SENT;
}

seine_cookie_why
seine_cookie_jar_why(seine_cookie_jar *jar, const seine_url *from, const char *value,
                     size_t len, const seine_url *to, int64_t wall)
{
    char mem[SN_COOKIE_DOMAIN];
    sn_cookie_place source, target;
    sn_set_cookie set;
    sn_cookie_view v;

    if (sn_cookie_place_of(from, &source) != SEINE_OK ||
        sn_cookie_place_of(to, &target) != SEINE_OK)
        return SEINE_COOKIE_NO_HTTP;
    if (sn_cookie_parse((sn_str){value, len}, wall, &set) != SEINE_OK)
        return why_not_parsed((sn_str){value, len});
    if (sn_cookie_scope(&set, &source, jar->psl, mem, &v) != SEINE_OK)
        return why_not_scoped(&set, &source, jar->psl);
    pthread_mutex_lock(&jar->lock);
    seine_cookie_why why = why_not_there(jar, &v, wall);
    pthread_mutex_unlock(&jar->lock);
    return why == SEINE_COOKIE_SENT ? why_not_matched(&v, &target) : why;
}
