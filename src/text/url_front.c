/* SPDX-License-Identifier: Apache-2.0 */
#include "text/url_front.h"

#include <string.h>

#include "text/url.h"

/* Is the rest a path for sure? Two slashes would begin another host in a reference, and
 * bytes that are dropped could hide the second one. */
static bool
is_path(sn_str rest)
{
    return rest.len > 0 && rest.ptr[0] == '/' &&
           (rest.len == 1 || ((unsigned char)rest.ptr[1] > ' ' && rest.ptr[1] != '/' &&
                              rest.ptr[1] != '\\'));
}

bool
sn_url_front_parse(const sn_url_front *f, sn_str text, seine_url *u)
{
    size_t n = f->base.path_at;

    if (f->base.len == 0 || text.len <= n || memcmp(text.ptr, f->mem, n) != 0)
        return false;
    sn_str rest = {text.ptr + n, text.len - n};
    return is_path(rest) &&
           seine_url_resolve(u, &f->base, rest.ptr, rest.len, NULL) == SEINE_OK;
}

void
sn_url_front_note(sn_url_front *f, const seine_url *u)
{
    bool has_user = u->host_at != u->scheme_end + 3; /* after "://" */
    bool is_web = u->scheme == SN_SCHEME_HTTP || u->scheme == SN_SCHEME_HTTPS;
    bool has_name = u->host == SEINE_HOST_NAME || u->host == SEINE_HOST_IPV4;

    if (!is_web || !has_name || has_user || u->path_at + 2 > sizeof f->mem)
        return;
    memcpy(f->mem, u->href, u->path_at);
    f->mem[u->path_at] = '/';
    f->mem[u->path_at + 1] = '\0';
    f->base = *u;
    f->base.href = f->mem;
    f->base.room = sizeof f->mem;
    f->base.len = f->base.path_end = f->base.query_end = u->path_at + 1;
}
