/* SPDX-License-Identifier: Apache-2.0 */
#include "net/proxy.h"

#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/diag.h"
#include "seine/secret.h"
#include "seine/view.h"
#include "text/domain.h"

#define TEXT_MOST  2048 /* longest text of a proxy */
#define LOGIN_MOST 255  /* longest user name and password: RFC 1929 */

/* Parsing a proxy. */

static const struct {
    sn_str scheme;
    uint16_t port;
} kinds[] = {
    [SN_PROXY_HTTP] = {{"http", 4}, 1080},
    [SN_PROXY_HTTPS] = {{"https", 5}, 443},
    [SN_PROXY_SOCKS5] = {{"socks5", 6}, 1080},
    [SN_PROXY_SOCKS5H] = {{"socks5h", 7}, 1080},
};

static bool
find_kind(sn_str scheme, sn_proxy_kind *out_kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (sn_str_eq_nocase(scheme, kinds[i].scheme)) {
            *out_kind = (sn_proxy_kind)i;
            return true;
        }
    return false;
}

/* Cuts off the scheme; the default is http. */
static seine_err
cut_scheme(const char *member, sn_str text, sn_proxy_kind *out_kind, sn_str *out_rest,
           seine_diag *diag)
{
    size_t at = 0;

    while (at + 2 < text.len && memcmp(text.ptr + at, "://", 3) != 0)
        at++;
    if (at + 2 >= text.len) {
        *out_kind = SN_PROXY_HTTP;
        *out_rest = text;
        return SEINE_OK;
    }
    if (!find_kind(sn_str_slice(text, 0, at), out_kind)) {
        for (size_t i = 0; i < at; i++)
            if (!sn_is_alpha(text.ptr[i]) && !sn_is_digit(text.ptr[i]))
                at = 0; /* may be anything, even a login */
        return sn_diag_option(diag, member,
                              "%.*s%sthe scheme is http, https, socks5 or socks5h",
                              (int)(at < 16 ? at : 16), text.ptr, at > 0 ? ": " : "");
    }
    *out_rest = sn_str_slice(text, at + 3, text.len);
    return SEINE_OK;
}

/* True if a port follows the host; the URL parser drops the default port of the
 * scheme. */
static bool
has_port(sn_str authority)
{
    size_t at = authority.len;

    while (at > 0 && sn_is_digit(authority.ptr[at - 1]))
        at--;
    return at > 0 && at < authority.len && authority.ptr[at - 1] == ':';
}

static sn_str
authority_of(sn_str rest)
{
    size_t n = 0;

    while (n < rest.len && !memchr("/?#\\", rest.ptr[n], 4))
        n++;
    return (sn_str){rest.ptr, n};
}

/* Decodes percent escapes. False: out of memory. */
static bool
decode(sn_str s, sn_arena *memory, sn_str *out)
{
    char *copy = sn_arena_text(memory, s);
    size_t n = 0;

    if (!copy)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        bool escape = s.ptr[i] == '%' && i + 2 < s.len &&
                      sn_hex_digit(s.ptr[i + 1]) >= 0 && sn_hex_digit(s.ptr[i + 2]) >= 0;

        copy[n] = s.ptr[i];
        if (escape)
            copy[n] =
                (char)(sn_hex_digit(s.ptr[i + 1]) << 4 | sn_hex_digit(s.ptr[i + 2]));
        n++;
        i += escape ? 2 : 0;
    }
    copy[n] = '\0';
    *out = (sn_str){copy, n};
    return true;
}

static bool
has_control(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] < 0x20 || s.ptr[i] == 0x7f)
            return true;
    return false;
}

/* Basic authentication (RFC 7617). */
static seine_err
make_basic(sn_proxy *p, sn_arena *memory)
{
    size_t n = p->user.len + 1 + p->pass.len;
    char plain[2 * LOGIN_MOST + 1], text[6 + SN_BASE64_ROOM(sizeof plain)] = "Basic ";

    memcpy(plain, p->user.ptr, p->user.len);
    plain[p->user.len] = ':';
    memcpy(plain + p->user.len + 1, p->pass.ptr, p->pass.len);
    sn_base64(plain, n, text + 6);
    p->authorization = (sn_str){NULL, 6 + SN_BASE64_ROOM(n)};
    p->authorization.ptr = sn_arena_text(memory, (sn_str){text, p->authorization.len});
    seine_wipe(plain, sizeof plain);
    seine_wipe(text, sizeof text);
    return p->authorization.ptr ? SEINE_OK : SEINE_E_NOMEM;
}

static seine_err
read_login(const char *member, const seine_url *u, sn_arena *memory, sn_proxy *p,
           seine_diag *diag)
{
    sn_str user = seine_url_username(u), pass = seine_url_password(u);
    bool socks = p->kind == SN_PROXY_SOCKS5 || p->kind == SN_PROXY_SOCKS5H;

    if (user.len == 0 && pass.len == 0)
        return SEINE_OK;
    if (!decode(user, memory, &p->user) || !decode(pass, memory, &p->pass))
        return SEINE_E_NOMEM;
    if (p->user.len == 0 || (socks && p->pass.len == 0))
        return sn_diag_option(diag, member, "a login is USER:PASSWORD");
    if (p->user.len > LOGIN_MOST || p->pass.len > LOGIN_MOST)
        return sn_diag_option(diag, member, "a user or password has at most 255 bytes");
    if (socks)
        return SEINE_OK;
    if (has_control(p->user) || has_control(p->pass))
        return sn_diag_option(diag, member, "a control character in the login");
    if (sn_str_find(p->user, ':') < p->user.len)
        return sn_diag_option(diag, member, "a colon in the user name");
    return make_basic(p, memory);
}

/* Writes the text to show and the key to compare. */
static seine_err
make_texts(sn_proxy *p, sn_arena *memory)
{
    char shown[400];
    bool v6 = p->is_address && sn_str_find(p->host, ':') < p->host.len;
    int n =
        snprintf(shown, sizeof shown, "%.*s://%s%.*s%s:%u", SN_FMT(kinds[p->kind].scheme),
                 v6 ? "[" : "", SN_FMT(p->host), v6 ? "]" : "", p->port);
    sn_buf key;

    p->shown = (sn_str){sn_arena_text(memory, (sn_str){shown, (size_t)n}), (size_t)n};
    sn_buf_init_secret(&key, 2 * TEXT_MOST);
    sn_buf_str(&key, p->shown.ptr ? p->shown : SN_STR(""));
    if (p->user.len > 0) { /* any byte may be part of both; the length divides them */
        sn_buf_char(&key, ' ');
        sn_buf_char(&key, (char)p->user.len);
        sn_buf_str(&key, p->user);
        sn_buf_str(&key, p->pass);
    }
    seine_err e = sn_buf_done(&key);
    if (e == SEINE_OK) {
        p->key = (sn_str){sn_arena_text(memory, sn_buf_view(&key)), key.len};
        if (!p->key.ptr || !p->shown.ptr)
            e = SEINE_E_NOMEM;
    }
    sn_buf_fini(&key);
    return e;
}

static seine_err
read_place(const char *member, const seine_url *u, sn_str rest, sn_arena *memory,
           sn_proxy *p, seine_diag *diag)
{
    sn_str authority = authority_of(rest);
    seine_view name;

    if (authority.len < rest.len &&
        !sn_str_eq(sn_str_slice(rest, authority.len, rest.len), SN_STR("/")))
        return sn_diag_option(diag, member, "something behind the port");
    if (seine_url_name(u, &name) != SEINE_OK)
        return sn_diag_option(diag, member, "not a host name");
    p->is_address = seine_url_host_is(u) != SEINE_HOST_NAME;
    p->host = name;
    if (p->host.ptr[0] == '[')
        p->host = sn_str_slice(p->host, 1, p->host.len - 1);
    p->port = has_port(authority) ? (uint16_t)seine_url_port(u) : kinds[p->kind].port;
    if (p->port == 0)
        return sn_diag_option(diag, member, "port 0");
    p->host.ptr = sn_arena_text(memory, p->host);
    return p->host.ptr ? SEINE_OK : SEINE_E_NOMEM;
}

/* The texts of a proxy, which hold its login. */
typedef struct texts {
    char whole[TEXT_MOST + 8], mem[3 * TEXT_MOST];
} texts;

static seine_err
parse(const char *member, sn_str text, sn_arena *memory, texts *t, sn_proxy *out_proxy,
      seine_diag *diag)
{
    seine_url_flaw flaw;
    sn_proxy p = {0};
    seine_url u;
    sn_str rest;

    if (text.len > TEXT_MOST)
        return sn_diag_option(diag, member, "longer than %d bytes", TEXT_MOST);
    if (has_control(text) || sn_str_find(text, ' ') < text.len)
        return sn_diag_option(diag, member, "a blank or a control character in it");
    seine_err e = cut_scheme(member, text, &p.kind, &rest, diag);
    if (e != SEINE_OK)
        return e;
    int n = snprintf(t->whole, sizeof t->whole, "http://%.*s", SN_FMT(rest));
    seine_url_init(&u, t->mem, sizeof t->mem);
    /* The URL parser would skip more slashes and take what follows as the host. */
    if (rest.len == 0 || rest.ptr[0] == '/' || rest.ptr[0] == '\\')
        return sn_diag_option(diag, member, "no host");
    e = seine_url_parse(&u, t->whole, (size_t)n, &flaw);
    if (e == SEINE_E_BAD_URL)
        return sn_diag_option(diag, member, "%s", seine_url_flaw_text(flaw.kind));
    if (e == SEINE_OK)
        e = read_place(member, &u, rest, memory, &p, diag);
    if (e == SEINE_OK)
        e = read_login(member, &u, memory, &p, diag);
    if (e == SEINE_OK)
        e = make_texts(&p, memory);
    if (e == SEINE_OK)
        *out_proxy = p;
    return e;
}

seine_err
sn_proxy_parse(const char *member, sn_str text, sn_arena *memory, sn_proxy *out_proxy,
               seine_diag *diag)
{
    texts t;
    seine_err e = parse(member, text, memory, &t, out_proxy, diag);

    seine_wipe(&t, sizeof t);
    return e;
}

/* no_proxy. */

/* False: the entry is invalid. */
static bool
read_except(sn_str entry, sn_arena *memory, sn_proxy_except *out, seine_err *out_e)
{
    char whole[SEINE_URL_ROOM], mem[SEINE_URL_ROOM];
    seine_view host;
    seine_url u;
    sn_ip ip;

    *out = (sn_proxy_except){0};
    if (sn_cidr_parse(entry, &out->net) == SEINE_OK)
        return true; /* may be an address */
    if (sn_str_starts(entry, SN_STR("*.")))
        entry = sn_str_slice(entry, 1, entry.len);
    if (sn_str_starts(entry, SN_STR(".")))
        entry = sn_str_slice(entry, 1, entry.len);
    int n = snprintf(whole, sizeof whole, "http://%.*s", SN_FMT(entry));
    seine_url_init(&u, mem, sizeof mem);
    if (entry.len == 0 || (size_t)n >= sizeof whole ||
        authority_of(entry).len < entry.len || sn_str_find(entry, '@') < entry.len ||
        seine_url_parse(&u, whole, (size_t)n, NULL) != SEINE_OK ||
        seine_url_name(&u, &host) != SEINE_OK)
        return false;
    out->port = has_port(entry) ? (uint16_t)seine_url_port(&u) : 0;
    if (host.ptr[0] == '[')
        host = sn_str_slice(host, 1, host.len - 1);
    if (seine_url_host_is(&u) == SEINE_HOST_NAME) {
        out->name = (sn_str){sn_arena_text(memory, host), host.len};
        *out_e = out->name.ptr ? SEINE_OK : SEINE_E_NOMEM;
    } else if (sn_ip_parse(host, &ip) == SEINE_OK) {
        out->net = (sn_cidr){ip, ip.v == 4 ? 32 : 128};
    }
    return true;
}

static bool
next_entry(sn_str *rest, sn_str *out_entry)
{
    size_t n = 0;

    while (rest->len > 0 && (sn_is_space(*rest->ptr) || *rest->ptr == ','))
        *rest = sn_str_slice(*rest, 1, rest->len);
    while (n < rest->len && !sn_is_space(rest->ptr[n]) && rest->ptr[n] != ',')
        n++;
    *out_entry = sn_str_slice(*rest, 0, n);
    *rest = sn_str_slice(*rest, n, rest->len);
    return n > 0;
}

static seine_err
read_excepts(sn_proxies *p, sn_str list, bool is_option, seine_diag *diag)
{
    sn_str rest = list, entry;
    seine_err e = SEINE_OK;
    size_t n = 0;

    while (next_entry(&rest, &entry))
        n++;
    if (n == 0)
        return SEINE_OK;
    p->excepts = SN_ARENA_ARRAY(&p->memory, sn_proxy_except, n);
    if (!p->excepts)
        return SEINE_E_NOMEM;
    for (rest = list; e == SEINE_OK && next_entry(&rest, &entry);) {
        if (sn_str_eq(entry, SN_STR("*")))
            p->none = true;
        else if (read_except(entry, &p->memory, &p->excepts[p->n_excepts], &e))
            p->n_excepts++;
        else if (is_option)
            return sn_diag_option(diag, "no_proxy",
                                  "neither a name, an address nor a net: %.*s",
                                  (int)(entry.len < 60 ? entry.len : 60), entry.ptr);
    }
    return e;
}

static bool
is_excepted(const sn_proxies *p, const seine_url *url)
{
    bool is_name = seine_url_host_is(url) == SEINE_HOST_NAME;
    seine_view host;
    sn_ip ip;

    if (p->none)
        return true;
    if (p->n_excepts == 0 || seine_url_name(url, &host) != SEINE_OK)
        return false;
    if (host.ptr[0] == '[')
        host = sn_str_slice(host, 1, host.len - 1);
    if (!is_name && sn_ip_parse(host, &ip) != SEINE_OK)
        return false;
    for (size_t i = 0; i < p->n_excepts; i++) {
        const sn_proxy_except *x = &p->excepts[i];

        if (x->port != 0 && x->port != seine_url_port(url))
            continue;
        if (is_name ? x->name.len > 0 && sn_domain_has(x->name, host)
                    : x->name.len == 0 && sn_cidr_has(&x->net, &ip))
            return true;
    }
    return false;
}

/* Choosing a proxy. */

static bool
is_off(const char *text)
{
    return !text || !*text || strcmp(text, "off") == 0;
}

/* Adds a proxy, unless it is there already. */
static seine_err
add_proxy(sn_proxies *p, const char *member, const char *text, const sn_proxy **out_proxy,
          seine_diag *diag)
{
    sn_proxy *to = &p->list[p->n];

    if (is_off(text))
        return SEINE_OK;
    seine_err e = sn_proxy_parse(member, sn_str_of(text), &p->memory, to, diag);
    if (e != SEINE_OK)
        return e;
    for (uint8_t i = 0; i < p->n; i++)
        if (sn_str_eq(p->list[i].key, to->key)) {
            *out_proxy = &p->list[i];
            return SEINE_OK;
        }
    to->index = p->n++;
    *out_proxy = to;
    return SEINE_OK;
}

/* Returns the first of two variables that is not empty. */
static const char *
ask(const sn_proxies_opts *o, const char *lower, const char *upper, const char **out_name)
{
    const char *text = o->env(lower);

    *out_name = lower;
    if ((!text || !*text) && upper) {
        text = o->env(upper);
        *out_name = upper;
    }
    return text && *text ? text : NULL;
}

static seine_err
read_env(sn_proxies *p, const sn_proxies_opts *o, seine_diag *diag)
{
    const char *name, *all_name;
    const char *all = ask(o, "all_proxy", "ALL_PROXY", &all_name);
    const char *text = ask(o, "http_proxy", NULL, &name);
    seine_err e = add_proxy(p, text ? name : all_name, text ? text : all, &p->http, diag);

    if (e != SEINE_OK)
        return e;
    text = ask(o, "https_proxy", "HTTPS_PROXY", &name);
    return add_proxy(p, text ? name : all_name, text ? text : all, &p->https, diag);
}

seine_err
sn_proxies_init(sn_proxies *p, const sn_proxies_opts *opts, seine_diag *diag)
{
    const char *name, *list = opts->no_proxy;
    seine_err e = SEINE_OK;

    *p = (sn_proxies){0};
    sn_arena_init(&p->memory, 1024, SIZE_MAX);
    if (opts->proxy) {
        e = add_proxy(p, "proxy", opts->proxy, &p->http, diag);
        p->https = p->http;
    } else if (opts->env) {
        e = read_env(p, opts, diag);
    }
    if (!list && opts->env)
        list = ask(opts, "no_proxy", "NO_PROXY", &name);
    if (e == SEINE_OK && list)
        e = read_excepts(p, sn_str_of(list), opts->no_proxy, diag);
    if (e != SEINE_OK)
        sn_proxies_fini(p);
    return e;
}

void
sn_proxies_fini(sn_proxies *p)
{
    sn_arena_wipe(&p->memory); /* logins */
    sn_arena_fini(&p->memory);
    *p = (sn_proxies){0};
}

const sn_proxy *
sn_proxies_choose(const sn_proxies *p, const seine_url *url)
{
    const sn_proxy *proxy = seine_url_scheme(url).len == 5 ? p->https : p->http;

    return proxy && !is_excepted(p, url) ? proxy : NULL;
}

bool
sn_proxy_resolves(const sn_proxy *proxy)
{
    return proxy->kind != SN_PROXY_SOCKS5;
}

bool
sn_proxy_needs_tunnel(const sn_proxy *proxy, const seine_url *url)
{
    return proxy->kind >= SN_PROXY_SOCKS5 || seine_url_scheme(url).len == 5;
}

void
sn_proxy_tell(const sn_proxy *proxy, const char *what, char out[SN_PROXY_TELL])
{
    int most = SN_PROXY_TELL - (int)sizeof "proxy : " - (int)strlen(what);
    int n = most > 16 ? most : 16;

    if (proxy->shown.len < (size_t)n)
        n = (int)proxy->shown.len;
    snprintf(out, SN_PROXY_TELL, "proxy %.*s: %s", n, proxy->shown.ptr, what);
}
