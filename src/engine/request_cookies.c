/* SPDX-License-Identifier: Apache-2.0 */
/* The cookie jar on both sides of a request: what it has for this URL is added to the
 * fields, and what the response sets goes into it. */
#include <string.h>

#include "base/alloc.h"
#include "engine/cookie_secrets.h"
#include "engine/request_parts.h"

#define COOKIES_SET 50 /* of one response; the others do not count */

/* Where the user's own cookies stand in the list; its length: nowhere. */
static size_t
find_cookie(const sn_request *request)
{
    size_t i = 0;

    while (i < request->n_fields &&
           !sn_str_eq_nocase(request->fields[i].name, SN_STR("Cookie")))
        i++;
    return i;
}

static bool
join_cookies(sn_flight *f, sn_str jar, sn_str own, sn_str *out_value)
{
    size_t need = jar.len + (own.len > 0 ? 2 + own.len : 0);
    char *text = sn_alloc(need);

    if (!text)
        return false;
    memcpy(text, jar.ptr, jar.len);
    if (own.len > 0) {
        memcpy(text + jar.len, "; ", 2);
        memcpy(text + jar.len + 2, own.ptr, own.len);
    }
    f->cookie = *out_value = (sn_str){text, need};
    return true;
}

void
sn_request_drop_cookies(sn_flight *f)
{
    if (f->cookie.len == 0)
        return;
    seine_wipe((char *)f->cookie.ptr, f->cookie.len);
    sn_free((char *)f->cookie.ptr);
    f->cookie = (sn_str){0};
}

bool
sn_request_add_cookies(const sn_requests *r, sn_visit *v)
{
    const sn_host_policy *p = v->policy;
    seine_cookie_jar *jar = p && !p->cookies ? NULL : r->shared->opts.jar;
    sn_request *request = &v->flight.request;
    char buf[SEINE_COOKIE_JAR_SENT];
    size_t at, cap = sizeof buf;
    sn_str own = {0};

    if (!jar)
        return true;
    at = find_cookie(request);
    if (at < request->n_fields)
        own = request->fields[at].value;
    if (own.len > 0)
        cap = own.len + 2 < cap ? cap - own.len - 2 : 0;
    size_t n = seine_cookie_jar_field(jar, request->url, v->started_wall, buf, cap);
    if (n == 0)
        return true;
    sn_field *fields = SN_ARENA_ARRAY(&v->arena, sn_field, request->n_fields + 1);
    sn_field cookie = {.name = SN_STR("Cookie")};
    bool joined =
        fields && join_cookies(&v->flight, (sn_str){buf, n}, own, &cookie.value);
    seine_wipe(buf, n);
    if (!joined)
        return false;
    memcpy(fields, request->fields, request->n_fields * sizeof *fields);
    fields[at] = cookie;
    request->fields = fields;
    request->written = (sn_str){0};
    request->n_fields += at == request->n_fields;
    return true;
}

void
sn_request_take_cookies(const sn_requests *r, sn_visit *v, const sn_head *head)
{
    seine_cookie_jar *jar = r->shared->opts.jar;
    seine_clock *clock = r->env->clock;
    uint32_t at = 0;
    sn_str value;

    for (int n = 0;
         n < COOKIES_SET && sn_head_next(head, SN_STR("set-cookie"), &at, &value); n++) {
        seine_err e =
            seine_cookie_jar_take(jar, &v->url, value.ptr, value.len, clock->wall(clock));
        if (sn_cookie_secrets_learn(&r->shared->opts, value) != SEINE_OK)
            e = SEINE_E_NOMEM;
        if (e == SEINE_E_NOMEM) /* one that is refused does no harm */
            v->kept.err = e;
    }
}
