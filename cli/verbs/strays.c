/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/strays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"

static bool
is_page(const seine_record *r)
{
    return r->type == SEINE_RECORD_RESULT && r->fate == SEINE_FATE_OK &&
           (r->status < 300 || r->status > 399 || r->status == 304);
}

/* Whether redirects of a given URL lead there. A link has a tag, and limits speak for
 * themselves. */
static bool
is_stray(const seine_record *r)
{
    return r->type == SEINE_RECORD_SKIP && r->is_crawled && r->depth == 0 &&
           r->parent.len > 0 && r->via.tag.len == 0 && r->reason != SEINE_SKIP_BUDGET &&
           r->reason != SEINE_SKIP_TRAP && r->reason != SEINE_SKIP_ROBOTS_UNREACHABLE;
}

static char *
copy_view(seine_view v)
{
    return xalloc_copy(v.len ? v.ptr : "", v.len);
}

void
strays_see(strays *s, const seine_record *r)
{
    s->pages += is_page(r);
    if (!is_stray(r) || s->n++ > 0)
        return;
    s->from = copy_view(r->parent);
    s->target = copy_view(r->url);
    s->rule = copy_view(r->rule);
    s->hint = r->hint.len ? copy_view(r->hint) : NULL;
    s->reason = r->reason;
}

bool
strays_are_all(const strays *s)
{
    return s->n > 0 && s->pages == 0;
}

/* "https://e.example:8080" of a URL. */
static size_t
origin_len(const char *url)
{
    const char *host = strstr(url, "://");

    return host ? (size_t)(host - url) + 3 + strcspn(host + 3, "/?#") : 0;
}

/* "e.example" of a URL; a port would leave others out. */
static shown
name_of(const char *url)
{
    const char *host = strstr(url, "://");
    size_t n = host ? strcspn(host + 3, "/?#") : 0;

    for (size_t i = n; i-- > 0 && host[3 + i] != ']';)
        if (host[3 + i] == ':')
            n = i;
    return show_bytes(host ? host + 3 : "", n);
}

static void
put_offsite_hint(const strays *s, const char *verb, textbuf *out)
{
    size_t n = origin_len(s->target);

    if (n == origin_len(s->from) && strncmp(s->from, s->target, n) == 0)
        textbuf_put(out, "--scope host");
    else
        textbuf_put(out, "--domains %s, or seine %s %s", name_of(s->target).text, verb,
                    show(s->target).text);
}

static void
put_hint(const strays *s, const char *verb, textbuf *out)
{
    if (s->hint)
        textbuf_put(out, "%s", s->hint);
    else if (s->reason == SEINE_SKIP_OFFSITE)
        put_offsite_hint(s, verb, out);
    else if (s->reason == SEINE_SKIP_ROBOTS)
        textbuf_put(out,
                    "seine robots check %s, which says the rule; --robots off if "
                    "the host is yours",
                    show(s->target).text);
    else if (s->reason == SEINE_SKIP_MIME)
        textbuf_put(out, "--accept-type '*/*', or seine fetch %s", show(s->target).text);
}

void
strays_say(const strays *s, const char *verb, run_log *log)
{
    textbuf hint = {NULL, 0, 0}, more = {NULL, 0, 0};

    if (s->n == 0)
        return;
    put_hint(s, verb, &hint);
    if (s->n > 1)
        textbuf_put(&more, "; so do %s more given URLs", figure_count(s->n - 1).text);
    run_log_fail(log, SEINE_E_REDIRECT_REFUSED, hint.text,
                 "%s redirects to %s, which was not fetched (%s%s%s)%s",
                 show(s->from).text, show(s->target).text, seine_skip_name(s->reason),
                 s->rule[0] ? ", " : "", show(s->rule).text, more.text ? more.text : "");
    textbuf_free(&hint);
    textbuf_free(&more);
}

void
strays_free(strays *s)
{
    free(s->from);
    free(s->target);
    free(s->rule);
    free(s->hint);
    *s = (strays){.n = 0};
}
