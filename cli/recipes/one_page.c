/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/one_page.h"

#include <stdlib.h>
#include <string.h>

#include "options/option_names.h"
#include "screen/say.h"
#include "screen/xalloc.h"

static char *
copy(seine_view v)
{
    return xalloc_copy(v.ptr ? v.ptr : "", v.ptr ? v.len : 0);
}

static int
code_of(const seine_record *r)
{
    seine_err e = r->fault ? r->fault->code : SEINE_OK;

    return e == SEINE_E_RETRY_AFTER_TOO_LONG || e == SEINE_E_BREAKER ? SAY_PARKED
           : e == SEINE_E_BAD_URL || e == SEINE_E_BLOCKED_SCHEME     ? SAY_USAGE
                                                                     : SAY_FAILED;
}

static void
on_record(const seine_record *r, unsigned shard, void *arg)
{
    one_page *p = arg;

    (void)shard;
    if (p->code >= 0)
        return; /* the first record is that of the page */
    if (r->type == SEINE_RECORD_RESULT && r->fate == SEINE_FATE_OK) {
        p->code = SAY_DONE;
        p->url = copy(r->final_url.len > 0 ? r->final_url : r->url);
        p->type = copy(r->content_type);
        p->charset = copy(r->charset);
        p->body.own = copy(r->body);
        p->body.ptr = p->body.own;
        p->body.len = r->body.ptr ? r->body.len : 0;
        return;
    }
    char *url = copy(r->url.len > 0 ? r->url : r->input);
    char *why = copy(r->message);
    char *hint = copy(r->hint);
    bool refused = r->type == SEINE_RECORD_SKIP;
    p->code = say_fail(refused ? SAY_FAILED : code_of(r), hint[0] ? hint : NULL, "%s: %s",
                       show(url).text,
                       why[0]                           ? show(why).text
                       : !refused                       ? "it could not be had"
                       : r->reason == SEINE_SKIP_ROBOTS ? "robots.txt does not allow it"
                                                        : seine_skip_name(r->reason));
    free(url);
    free(why);
    free(hint);
}

int
one_page_fetch(seine_fetch_opts *opts, const char *url, one_page *out)
{
    seine_diag diag = SEINE_DIAG;
    seine_ask ask = SEINE_ASK;
    seine_fetch *fetch = NULL;

    *out = (one_page){.code = -1};
    opts->on_record = on_record;
    opts->arg = out;
    opts->keep = SEINE_KEEP_BODY;
    opts->threads = 1;
    seine_err e = seine_fetch_new(opts, &fetch, &diag);
    if (e != SEINE_OK)
        return option_names_fail(opts->names,
                                 e == SEINE_E_CONFIG ? SAY_USAGE : SAY_MACHINE,
                                 "seine new recipe --help", &diag, e);
    ask.url = (seine_view){url, strlen(url)};
    e = seine_fetch_add(fetch, &ask, NULL);
    if (e == SEINE_OK)
        e = seine_fetch_finish(fetch, NULL);
    seine_fetch_free(fetch);
    if (out->code < 0)
        out->code = say_fail(SAY_MACHINE, NULL, "%s: %s", show(url).text,
                             e != SEINE_OK ? seine_err_text(e) : "there is no record");
    return out->code;
}

void
one_page_free(one_page *p)
{
    free(p->url);
    free(p->type);
    free(p->charset);
    bytes_free(&p->body);
}
