/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/decide.h"

#include "chaos/flow.h"

void
snc_decide_say(snc_deciding *d, unsigned status, sn_str text)
{
    d->plan = (snc_plan){
        .final = SNC_FINAL_SAID, .has_final = true, .status = status, .raw = text};
}

/* Copies the buffer to memory that lives as long as the request. */
static sn_str
last(snc_deciding *d, const sn_buf *text)
{
    char *copy = sn_arena_text(d->scene.arena, sn_buf_view(text));

    return copy ? (sn_str){copy, text->len} : SN_STR("no memory\n");
}

/* Plans a 400 that says what was wrong and lists the words. */
static void
complain(snc_deciding *d, sn_str word, const char *why)
{
    sn_buf *text = &d->w->lines;

    sn_buf_reset(text);
    sn_buf_printf(text, "'%.*s': %s\n\n", (int)(word.len < 200 ? word.len : 200),
                  word.ptr ? word.ptr : "", why);
    snc_url_words_help(text);
    snc_decide_say(d, 400, last(d, text));
}

static bool
apply(snc_deciding *d, sn_str words)
{
    snc_wrong wrong;

    if (snc_url_words_apply(words, &d->scene, &d->plan, &wrong))
        return true;
    complain(d, wrong.word, wrong.why);
    return false;
}

/* Looks up what the plan only names: a page of a site, a file. */
static void
look_up(snc_deciding *d)
{
    if (d->plan.has_final && d->plan.final == SNC_FINAL_SITE)
        snc_decide_site(d);
    else if (d->plan.has_final && d->plan.final == SNC_FINAL_FILE)
        snc_decide_file(d);
}

/* Applies `words`: alone, if they name a body, else on top of the plan of the path. */
static void
overlay(snc_deciding *d, sn_str words, bool path_is_words)
{
    d->plan = (snc_plan){.count = 0};
    d->fault = words;
    if (!apply(d, words))
        return;
    look_up(d);
    if (d->plan.has_final || !path_is_words)
        return;
    d->plan = (snc_plan){.count = 0};
    if (!apply(d, d->req->path))
        return;
    look_up(d);
    d->plan.has_final = d->plan.stop = false;
    if (apply(d, words))
        d->plan.has_final = true;
}

/* Applies the script's rule for robots.txt of this host. */
static bool
decide_robots(snc_deciding *d)
{
    snc_rule *r;

    if (!sn_str_eq(d->req->path, SN_STR("/robots.txt")) ||
        !(r = snc_script_find(&d->w->script, SNC_RULE_ROBOTS, d->host, d->req->path,
                              d->req->target, 1)))
        return false;
    bool struck = r->used < r->times;
    r->used += struck;
    if (struck && r->status > 0) {
        snc_decide_say(d, r->status, SN_STR("by script\n"));
        d->fault = SN_STR("script");
        return true;
    }
    if (struck && r->fault.ptr) {
        overlay(d, r->fault, false);
        return true;
    }
    if (r->disallow_count == 0)
        return false;
    sn_buf_reset(&d->w->lines);
    sn_buf_text(&d->w->lines, "User-agent: *\n");
    for (size_t i = 0; i < r->disallow_count; i++)
        sn_buf_printf(&d->w->lines, "Disallow: %.*s\n", SN_FMT(r->disallow[i]));
    snc_decide_say(d, 200, last(d, &d->w->lines));
    return true;
}

static bool
too_fast(const snc_deciding *d, const snc_flow *flow)
{
    return flow->rate > 0 && d->trace->key &&
           snc_key_limit(d->trace->key, d->now, flow->rate, flow->window);
}

/* Applies the words and the flow of the URL. */
static void
decide_path(snc_deciding *d)
{
    snc_flow flow;
    const char *why;

    if (!snc_flow_parse(d->req->query, d->scene.arena, &flow, &why)) {
        complain(d, d->req->query, why);
        return;
    }
    snc_turn turn = {.seed = d->w->seed,
                     .hit = d->scene.hit,
                     .key = d->scene.key,
                     .in_flight = d->trace->key ? d->trace->key->in_flight : 1,
                     .too_fast = too_fast(d, &flow)};
    snc_verdict verdict = snc_flow_decide(&flow, &turn);
    if (verdict.fails) {
        overlay(d, verdict.words, true);
        if (flow.retry_after.ptr)
            snc_plan_field(&d->plan, SN_STR("Retry-After"), flow.retry_after);
    } else if (apply(d, d->req->path)) {
        look_up(d);
    }
}

/* Does a site at the root know this path? */
static bool
of_site(sn_str rest)
{
    sn_str first, behind;

    sn_str_cut(rest, '/', &first, &behind);
    return rest.len == 0 || sn_str_eq(first, SN_STR("p")) ||
           sn_str_eq(first, SN_STR("x")) || sn_str_eq(first, SN_STR("cal")) ||
           sn_str_eq(rest, SN_STR("_list")) || sn_str_eq(rest, SN_STR("robots.txt")) ||
           (sn_str_starts(rest, SN_STR("sitemap")) && sn_str_ends(rest, SN_STR(".xml")));
}

static bool
decide_root(snc_deciding *d)
{
    sn_str rest = sn_str_slice(d->req->path, 1, d->req->path.len);
    snc_rule *r = snc_script_find(&d->w->script, SNC_RULE_SITE, d->host, d->req->path,
                                  d->req->target, 1);

    if (!r || !of_site(rest))
        return false;
    d->plan = (snc_plan){.final = SNC_FINAL_SITE,
                         .has_final = true,
                         .site = r->site,
                         .rest = rest,
                         .prefix = SN_STR("")};
    snc_decide_site(d);
    return true;
}

/* Plans the response of a proxy for a port where no server is. */
static bool
decide_passage(snc_deciding *d)
{
    size_t name = snc_request_host_name(d->req).len;
    uint64_t port;

    if (sn_str_u64(sn_str_slice(d->req->host, name + 1, d->req->host.len), &port) !=
        SEINE_OK)
        return false;
    if (port == d->w->dead_port)
        snc_decide_say(d, 502, SN_STR("refused\n"));
    else if (port == d->w->hole_port)
        d->plan.mute = d->plan.has_final = true;
    return port == d->w->dead_port || port == d->w->hole_port;
}

static bool
starts_with_word(sn_str path)
{
    sn_str first, rest;

    sn_str_cut(sn_str_slice(path, 1, path.len), '/', &first, &rest);
    sn_str_cut(first, ':', &first, &rest);
    return snc_url_words_known(first);
}

void
snc_decide(snc_deciding *d)
{
    sn_str path = d->req->path;
    snc_rule *r;

    if (d->req->absolute && (r = snc_script_find(&d->w->script, SNC_RULE_PROXY, d->host,
                                                 path, d->req->target, d->scene.hit))) {
        overlay(d, r->fault, starts_with_word(path));
        return;
    }
    if (d->req->absolute && decide_passage(d))
        return;
    if (decide_robots(d))
        return;
    r = snc_script_find(&d->w->script, SNC_RULE_FAULT, d->host, path, d->req->target,
                        d->scene.hit);
    if (r) {
        overlay(d, r->fault, starts_with_word(path));
    } else if (decide_root(d)) {
        return;
    } else if (sn_str_eq(path, SN_STR("/")) || sn_str_eq(path, SN_STR("*"))) {
        complain(d, path, "this is seine chaos, a hostile server");
        d->plan.status = 200;
    } else if (sn_str_eq(path, SN_STR("/robots.txt")) ||
               sn_str_eq(path, SN_STR("/favicon.ico"))) {
        snc_decide_say(d, 404, SN_STR("not here\n"));
    } else {
        decide_path(d);
    }
}
