/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "chaos/arg.h"
#include "chaos/url_words.h"

#define WORD(name)                                                                \
    static const char *name(snc_plan *p, const sn_str arg[2], const snc_scene *s, \
                            const snc_spot *at)
#define UNUSED(a) ((void)arg, (void)s, (void)at, (void)(a))

static const char *
final(snc_plan *p, snc_final what, uint64_t count)
{
    p->final = what;
    p->count = count;
    return NULL;
}

WORD(ok)
{
    UNUSED(0);
    return final(p, SNC_FINAL_OK, 0);
}

WORD(empty)
{
    UNUSED(0);
    return final(p, SNC_FINAL_EMPTY, 0);
}

WORD(bytes)
{
    uint64_t n;

    UNUSED(0);
    return snc_arg_size(arg[0], &n) ? final(p, SNC_FINAL_BYTES, n)
                                    : "wants a size, like 64k";
}

WORD(html)
{
    uint64_t n = 10;

    UNUSED(0);
    if (arg[0].ptr && !snc_arg_count(arg[0], SNC_ARG_MOST >> 10, &n))
        return "wants a number of links";
    return final(p, SNC_FINAL_HTML, n);
}

WORD(json)
{
    UNUSED(0);
    return final(p, SNC_FINAL_JSON, 0);
}

WORD(text)
{
    uint64_t n = 100;

    UNUSED(0);
    if (arg[0].ptr && !snc_arg_count(arg[0], 100000, &n))
        return "wants a number of words, at most 100000";
    return final(p, SNC_FINAL_TEXT, n);
}

WORD(echo)
{
    UNUSED(0);
    return final(p, SNC_FINAL_ECHO, 0);
}

WORD(status)
{
    uint64_t n;

    UNUSED(0);
    if (arg[0].len != 3 || !snc_arg_count(arg[0], 999, &n) || n < 100)
        return "wants a status from 100 to 999";
    p->status = (unsigned)n;
    return final(p, SNC_FINAL_STATUS, 0);
}

WORD(raw)
{
    UNUSED(0);
    p->damaged = true;
    return snc_arg_base64(arg[0], s->arena, &p->raw) ? final(p, SNC_FINAL_RAW, 0)
                                                     : "wants base64url without padding";
}

/* Prefixes are written into pages and JSON without escapes. */
static bool
is_plain(sn_str s)
{
    static const char markup[] = {'"', '\\', '<', '>', '&', '\''};

    for (size_t i = 0; i < s.len; i++)
        if (memchr(markup, s.ptr[i], sizeof markup))
            return false;
    return true;
}

/* Splits "/a/site:1:9/p/3" into the prefix "/a/site:1:9" and the rest "p/3". */
static const char *
take_rest(snc_plan *p, snc_final what, const snc_spot *at)
{
    size_t len = at->before.len + 1 + at->segment.len;

    /* The segment follows its prefix in the same text. */
    p->prefix = (sn_str){at->segment.ptr - at->before.len - 1, len};
    p->rest = sn_str_slice(at->after, 1, at->after.len);
    if (!is_plain(p->prefix) || len > 2048)
        return "may not stand behind a quote, an angle bracket or 2048 bytes";
    return final(p, what, 0);
}

WORD(site)
{
    const char *why;

    UNUSED(0);
    return snc_site_parse(arg[0], &p->site, &why) ? take_rest(p, SNC_FINAL_SITE, at)
                                                  : why;
}

WORD(trap)
{
    UNUSED(0);
    return sn_str_eq(arg[0], SN_STR("calendar")) ? take_rest(p, SNC_FINAL_CALENDAR, at)
                                                 : "knows the calendar only";
}

/* Joins up to four pieces in the arena. */
static sn_str
join_parts(sn_arena *arena, sn_str a, sn_str b, sn_str c, sn_str d)
{
    const sn_str parts[] = {a, b, c, d};
    char *out = sn_arena_get(arena, a.len + b.len + c.len + d.len + 1, 1, 1);
    size_t n = 0;

    for (size_t i = 0; out && i < 4; i++) {
        if (parts[i].len > 0)
            memcpy(out + n, parts[i].ptr, parts[i].len);
        n += parts[i].len;
    }
    return (sn_str){out, out ? n : 0};
}

/* The file's name is everything behind the colon, slashes included. */
WORD(file)
{
    UNUSED(0);
    p->rest = join_parts(s->arena, arg[0], snc_arg_decode(at->after, s->arena),
                         SN_STR(""), SN_STR(""));
    return final(p, SNC_FINAL_FILE, 0);
}

/* Ends the path with this status; words that follow do not count. */
static const char *
end_with(snc_plan *p, unsigned status)
{
    p->status = status;
    p->stop = p->has_final = true;
    return final(p, SNC_FINAL_STATUS, 0);
}

static const char *
redirect_to(snc_plan *p, unsigned status, sn_str to, const snc_scene *s)
{
    sn_str query = s->req->query;

    end_with(p, status);
    return snc_plan_field(p, SN_STR("Location"),
                          join_parts(s->arena, to,
                                     query.len > 0 ? SN_STR("?") : SN_STR(""), query,
                                     SN_STR("")));
}

/* /a/redir:3/ok leads to /a/redir:2/ok, /a/redir:1/ok to /a/ok. */
WORD(redir)
{
    uint64_t n;
    char fewer[24] = "";

    if (!snc_arg_count(arg[0], 1000000, &n))
        return "wants a number of hops";
    if (n == 0)
        return NULL;
    if (n > 1)
        snprintf(fewer, sizeof fewer, "/redir:%u", (unsigned)(n - 1));
    sn_str to = join_parts(s->arena, at->before, sn_str_of(fewer), at->after, SN_STR(""));
    return redirect_to(p, 302, to.len > 0 ? to : SN_STR("/ok"), s);
}

WORD(loop)
{
    UNUSED(0);
    return redirect_to(p, 302, s->req->path, s);
}

/* Each u= of the query is a Location, verbatim; without one there is no Location. */
WORD(to)
{
    uint64_t n = 302;
    sn_str query = s->req->query, part, name, value;

    UNUSED(0);
    if (arg[0].ptr && (!snc_arg_count(arg[0], 399, &n) || n < 300))
        return "wants a status from 300 to 399";
    end_with(p, (unsigned)n);
    while (sn_str_next(&query, '&', &part))
        if (sn_str_cut(part, '=', &name, &value) && sn_str_eq(name, SN_STR("u")) &&
            snc_plan_field(p, SN_STR("Location"), snc_arg_decode(value, s->arena)))
            return "has too many u=";
    return NULL;
}

/* Redirects to another origin, with the rest of the path. */
static const char *
leave(snc_plan *p, const snc_scene *s, const snc_spot *at, sn_str start, sn_str port,
      sn_str status)
{
    uint64_t n = 302;
    sn_str rest = at->after.len > 0 ? at->after : SN_STR("/ok");

    if (status.ptr && (!snc_arg_count(status, 399, &n) || n < 300))
        return "ends with a status from 300 to 399";
    return redirect_to(p, (unsigned)n,
                       join_parts(s->arena, start, port, at->before, rest), s);
}

/* ":8080" of the request, or nothing. */
static sn_str
port_of(const snc_request *req)
{
    return sn_str_slice(req->host, snc_request_host_name(req).len, req->host.len);
}

WORD(away)
{
    UNUSED(0);
    if (arg[0].len == 0)
        return "wants a host";
    return leave(p, s, at,
                 join_parts(s->arena, s->tls ? SN_STR("https://") : SN_STR("http://"),
                            arg[0], SN_STR(""), SN_STR("")),
                 port_of(s->req), arg[1]);
}

WORD(scheme)
{
    bool tls = sn_str_eq(arg[0], SN_STR("https"));
    uint16_t port = tls ? s->tls_port : s->port;
    char number[8] = "";

    UNUSED(0);
    if (!tls && !sn_str_eq(arg[0], SN_STR("http")))
        return "is http or https";
    if (tls == s->tls)
        return NULL;
    if (port_of(s->req).len > 0 && port > 0)
        snprintf(number, sizeof number, ":%u", port);
    return leave(p, s, at,
                 join_parts(s->arena, tls ? SN_STR("https://") : SN_STR("http://"),
                            snc_request_host_name(s->req), SN_STR(""), SN_STR("")),
                 sn_str_of(number), arg[1]);
}

WORD(nest)
{
    UNUSED(0);
    if (arg[0].len == 0 || arg[0].len > 32 ||
        !snc_arg_count(arg[1], SNC_ARG_MOST >> 10, &p->nest))
        return "wants a tag and a depth, like b:1000";
    p->nest_tag = arg[0];
    p->has_content = true;
    return NULL;
}

WORD(attrs)
{
    UNUSED(0);
    p->has_content = true;
    return snc_arg_count(arg[0], SNC_ARG_MOST >> 10, &p->attrs) ? NULL : "wants a number";
}

WORD(links)
{
    UNUSED(0);
    p->has_content = true;
    return snc_arg_count(arg[0], SNC_ARG_MOST >> 10, &p->links) ? NULL : "wants a number";
}

WORD(charset)
{
    UNUSED(0);
    p->charset = arg[0];
    return NULL;
}

WORD(ctype)
{
    UNUSED(0);
    p->ctype = arg[0];
    return NULL;
}

WORD(cookie)
{
    UNUSED(0);
    return snc_plan_field(
        p, SN_STR("Set-Cookie"),
        join_parts(s->arena, arg[0], SN_STR("="), arg[1], SN_STR("; Path=/")));
}

WORD(setcookie)
{
    UNUSED(0);
    return snc_plan_field(p, SN_STR("Set-Cookie"), arg[0]);
}

WORD(cookies)
{
    UNUSED(0);
    return snc_arg_count(arg[0], SNC_ARG_MOST >> 10, &p->many_cookies) ? NULL
                                                                       : "wants a number";
}

WORD(bigcookie)
{
    UNUSED(0);
    return snc_arg_size(arg[0], &p->big_cookie) ? NULL : "wants a size";
}

/* A cookie that no client may accept. A value that comes back is noted as a leak. */
WORD(badcookie)
{
    static const struct {
        sn_str kind, text;
        bool of_host; /* the host's name follows it, or its last label */
        bool last;
    } kinds[] = {
        {{"foreign", 7}, {"a=trap-foreign; Domain=another-host.test", 40}, false, false},
        {{"suffix", 6}, {"a=trap-suffix; Domain=", 22}, true, true},
        {{"child", 5}, {"a=trap-child; Domain=child.", 27}, true, false},
        {{"ctl", 3}, {"a=trap-ctl\1", 11}, false, false},
        {{"nul", 3}, {"a=trap-nul\0", 11}, false, false},
        {{"secure", 6}, {"__Secure-a=trap-secure", 22}, false, false},
        {{"host", 4}, {"__Host-a=trap-host; Secure", 26}, false, false},
        {{"hostdomain", 10},
         {"__Host-a=trap-hostdomain; Secure; Path=/; Domain=", 49},
         true,
         false},
    };
    sn_str host = snc_request_host_name(s->req), first;

    UNUSED(0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!sn_str_eq(arg[0], kinds[i].kind))
            continue;
        while (kinds[i].last && sn_str_find(host, '.') < host.len)
            sn_str_cut(host, '.', &first, &host);
        return snc_plan_field(p, SN_STR("Set-Cookie"),
                              join_parts(s->arena, kinds[i].text,
                                         kinds[i].of_host ? host : SN_STR(""), SN_STR(""),
                                         SN_STR("")));
    }
    return "is foreign, suffix, child, ctl, nul, secure, host or hostdomain";
}

WORD(need_cookie)
{
    UNUSED(0);
    return snc_request_cookie(s->req, arg[0]).ptr ? NULL : end_with(p, 403);
}

WORD(auth)
{
    bool basic = sn_str_eq(arg[0], SN_STR("basic"));
    sn_str got = snc_request_field_of(s->req, SN_STR("authorization"));
    sn_str scheme, token;

    UNUSED(0);
    if (!basic && !sn_str_eq(arg[0], SN_STR("bearer")))
        return "wants bearer:TOKEN or basic:USER:PASSWORD";
    sn_str want = arg[1];
    if (basic) {
        char *coded = sn_arena_get(s->arena, arg[1].len / 3 * 4 + 5, 1, 1);

        want = (sn_str){coded, coded ? snc_arg_to_base64(arg[1], coded) : 0};
    }
    if (sn_str_cut(got, ' ', &scheme, &token) && sn_str_eq_nocase(scheme, arg[0]) &&
        sn_str_eq(sn_str_trim(token), want))
        return NULL;
    snc_plan_field(p, SN_STR("WWW-Authenticate"),
                   basic ? SN_STR("Basic realm=\"chaos\"") : SN_STR("Bearer"));
    return end_with(p, 401);
}

/* For HTTP in a field, for SOCKS in a message of its own. */
WORD(proxyauth)
{
    sn_str got = snc_request_field_of(s->req, SN_STR("proxy-authorization")), scheme,
           token;
    char *coded;

    UNUSED(0);
    p->login = join_parts(s->arena, arg[0], SN_STR(":"), arg[1], SN_STR(""));
    coded = sn_arena_get(s->arena, p->login.len / 3 * 4 + 5, 1, 1);
    if (sn_str_eq(s->login, p->login))
        return NULL;
    if (coded && sn_str_cut(got, ' ', &scheme, &token) &&
        sn_str_eq_nocase(scheme, SN_STR("basic")) &&
        sn_str_eq(sn_str_trim(token),
                  (sn_str){coded, snc_arg_to_base64(p->login, coded)}))
        return NULL;
    snc_plan_field(p, SN_STR("Proxy-Authenticate"), SN_STR("Basic realm=\"chaos\""));
    return end_with(p, 407);
}

static const char *
byte_of(sn_str arg, bool *out_has, unsigned *out)
{
    uint64_t n;

    if (!snc_arg_count(arg, 255, &n))
        return "wants a number up to 255";
    *out_has = true;
    *out = (unsigned)n;
    return NULL;
}

WORD(method)
{
    UNUSED(0);
    return byte_of(arg[0], &p->has_method, &p->method);
}

WORD(reply)
{
    UNUSED(0);
    return byte_of(arg[0], &p->has_reply, &p->reply);
}

WORD(etag)
{
    sn_str tag = join_parts(s->arena, SN_STR("\""), arg[0], SN_STR("\""), SN_STR(""));
    sn_str asked = snc_request_field_of(s->req, SN_STR("if-none-match")), one;
    const char *why = snc_plan_field(p, SN_STR("ETag"), tag);

    UNUSED(0);
    while (!why && sn_str_next(&asked, ',', &one)) {
        one = sn_str_trim(one);
        if (sn_str_starts(one, SN_STR("W/")))
            one = sn_str_slice(one, 2, one.len);
        if (sn_str_eq(one, tag) || sn_str_eq(one, SN_STR("*")))
            return end_with(p, 304);
    }
    return why;
}

/* clang-format off */
const snc_url_word snc_url_words_served[] = {
    /* name, an argument, group, least and most arguments, final, takes the rest */
    {"ok",          "",               "final",    0, 0, true,  false, ok,          "200, a short text"},
    {"empty",       "",               "final",    0, 0, true,  false, empty,       "200 without a body"},
    {"bytes",       "64k",            "final",    1, 1, true,  false, bytes,       "so many bytes, made from the seed"},
    {"html",        "20",             "final",    0, 1, true,  false, html,        "a page with so many links"},
    {"json",        "",               "final",    0, 0, true,  false, json,        "a small object"},
    {"text",        "100",            "final",    0, 1, true,  false, text,        "so many words"},
    {"echo",        "",               "final",    0, 0, true,  false, echo,        "the request, as JSON"},
    {"status",      "503",            "final",    1, 1, true,  false, status,      "this status; another final may follow for its body"},
    {"raw",         "SFRUUC8x",       "final",    1, 1, true,  false, raw,         "exactly these bytes (base64url), then FIN"},
    {"site",        "1:1000/p/0",     "final",    1, 1, true,  true,  site,        "a generated site; /_list is the truth about it"},
    {"trap",        "calendar/",      "final",    1, 1, true,  true,  trap,        "an endless space of pages"},
    {"file",        "shop/p1.html",   "final",    1, 1, true,  true,  file,        "this file below the folder that the server was given"},
    {"redir",       "3",              "redirect", 1, 1, false, false, redir,       "so many hops, then the rest"},
    {"loop",        "",               "redirect", 0, 0, true,  true,  loop,        "to itself"},
    {"to",          "302",            "redirect", 0, 1, true,  true,  to,          "this status with u= as Location, verbatim; none: no Location"},
    {"away",        "b.test:302",     "redirect", 1, 2, false, false, away,        "to another host, with the rest; its status"},
    {"scheme",      "https:302",      "redirect", 1, 2, false, false, scheme,      "to the other door, with the rest; done when it is there"},
    {"nest",        "b:1000",         "content",  2, 2, false, false, nest,        "a page with so many open tags inside each other"},
    {"attrs",       "300",            "content",  1, 1, false, false, attrs,       "a page with a tag of so many attributes"},
    {"links",       "100000",         "content",  1, 1, false, false, links,       "a page with so many links more"},
    {"charset",     "latin1",         "content",  1, 1, false, false, charset,     "this charset in Content-Type, whatever the bytes are"},
    {"ctype",       "text%2Fcsv",     "content",  1, 1, false, false, ctype,       "this Content-Type"},
    {"cookie",      "n:v",            "state",    2, 2, false, false, cookie,      "sets a cookie"},
    {"setcookie",   "TEXT",           "state",    1, 1, false, false, setcookie,   "sets this cookie, verbatim"},
    {"badcookie",   "foreign",        "state",    1, 1, false, false, badcookie,   "what no jar takes: foreign, suffix, child, ctl, nul, secure, host, hostdomain"},
    {"cookies",     "100",            "state",    1, 1, false, false, cookies,     "sets so many cookies"},
    {"bigcookie",   "5000",           "state",    1, 1, false, false, bigcookie,   "sets one of so many bytes"},
    {"need-cookie", "n",              "state",    1, 1, false, false, need_cookie, "403 without this cookie"},
    {"auth",        "bearer:TOKEN",   "state",    2, 2, false, false, auth,        "401 without it; also basic:USER:PASSWORD"},
    {"etag",        "X",              "state",    1, 1, false, false, etag,        "304 when it matches If-None-Match"},
    {"proxyauth",   "USER:PASSWORD",  "proxy",    2, 2, false, false, proxyauth,   "407 without it; in scripts for proxies, and in absolute form"},
    {"method",      "255",            "proxy",    1, 1, false, false, method,      "what SOCKS chooses; 255: nothing"},
    {"reply",       "5",              "proxy",    1, 1, false, false, reply,       "how SOCKS ends a request; 5: refused"},
    {.name = NULL},
};
/* clang-format on */
