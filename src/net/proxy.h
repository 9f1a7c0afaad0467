/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy.h - through which proxy does this URL go, if any?
 *
 * A proxy is one of four: http:// and https:// (requests of http in absolute form, a
 * tunnel by CONNECT for https; https:// is TLS with the proxy itself), socks5:// (names
 * are resolved here) and socks5h:// (by the proxy). No scheme means http. Without a
 * port it is curl's: 1080, for https:// 443. A login stands in the URL, percent-encoded:
 *
 *     socks5h://joe:p%40ss@proxy.example:1080
 *
 * The choice: the option if there is one, else the environment, by the scheme of the
 * URL: https_proxy or HTTPS_PROXY; http_proxy, in lower case alone, since a web server
 * hands a header "Proxy:" to its programs as HTTP_PROXY; then all_proxy or ALL_PROXY.
 * What no_proxy names goes straight. "off", or nothing, is no proxy.
 *
 *     e = sn_proxies_init(&p, &(sn_proxies_opts){.env = getenv}, why);
 *     proxy = sn_proxies_choose(&p, &url);              NULL: straight to the host
 *     sn_proxies_fini(&p);
 *
 * no_proxy is a list, with commas or blanks between: a name stands for itself and all
 * below it (e.example and .e.example are the same), 10.0.0.1 or ::1 for an address,
 * 10.0.0.0/8 for a net, each but a net with :PORT for that port alone; * for all.
 * Addresses are compared with what stands in the URL; no name is looked up for it.
 *
 * Time    plays no part.
 * Memory  made by init, and nothing after it.
 * Threads any number may choose; init and fini: one owner.
 */
#ifndef SN_PROXY_H
#define SN_PROXY_H

#include "base/arena.h"
#include "net/cidr.h"
#include "seine/diag.h"
#include "seine/url.h"

typedef enum sn_proxy_kind {
    SN_PROXY_HTTP,
    SN_PROXY_HTTPS,
    SN_PROXY_SOCKS5,
    SN_PROXY_SOCKS5H,
} sn_proxy_kind;

typedef struct sn_proxy {
    sn_proxy_kind kind;
    uint16_t port;
    uint8_t index;        /* in the sn_proxies it belongs to */
    bool is_address;      /* the host is one */
    sn_str host;          /* as it is looked up: no brackets, no dot at its end */
    sn_str user, pass;    /* decoded; for SOCKS; empty: none */
    sn_str authorization; /* "Basic am9lOnBAc3M=": to this proxy and nobody else */
    sn_str shown;         /* "socks5h://proxy.example:1080": never a login */
    sn_str key;           /* for pools: all of it, login included; never shown */
} sn_proxy;

#define SN_PROXIES_MOST 2 /* for http, for https */

/* One entry of no_proxy. */
typedef struct sn_proxy_except {
    sn_str name; /* empty: an address or a net */
    sn_cidr net;
    uint16_t port; /* 0: every one */
} sn_proxy_except;

typedef struct sn_proxies {
    sn_proxy list[SN_PROXIES_MOST];
    uint8_t n;
    const sn_proxy *http, *https; /* for URLs of that scheme; NULL: none */
    sn_proxy_except *excepts;
    size_t n_excepts;
    bool none; /* no_proxy is * */
    sn_arena memory;
} sn_proxies;

/* Texts are borrowed until init returns. */
typedef struct sn_proxies_opts {
    const char *proxy;              /* for all; NULL: what the environment says */
    const char *no_proxy;           /* NULL: what the environment says */
    char *(*env)(const char *name); /* the environment; NULL: it does not count */
} sn_proxies_opts;

/* CONFIG: the diag names the member, or the variable of the environment, and never a
 * login. An entry of no_proxy that nobody can read is an error in the option, and left
 * out in the environment, which others write. NOMEM. On failure there is nothing to
 * fini. */
SEINE_MUST_CHECK seine_err sn_proxies_init(sn_proxies *p, const sn_proxies_opts *opts,
                                           seine_diag *diag);
void sn_proxies_fini(sn_proxies *p);

/* Asked anew on every hop. Borrowed. */
const sn_proxy *sn_proxies_choose(const sn_proxies *p, const seine_url *url);

/* The proxy resolves the names of sites: none of their addresses is judged here. */
bool sn_proxy_resolves(const sn_proxy *proxy);

/* SOCKS, or a tunnel for https: something is said before the request is. */
bool sn_proxy_needs_tunnel(const sn_proxy *proxy, const seine_url *url);

/* "proxy http://e.example:3128: WHAT", cut to fit a fault's text. */
#define SN_PROXY_TELL 96
void sn_proxy_tell(const sn_proxy *proxy, const char *what, char out[SN_PROXY_TELL]);

/* One proxy, into `memory`; `member` is who names it, for the diag. CONFIG, NOMEM. */
SEINE_MUST_CHECK seine_err sn_proxy_parse(const char *member, sn_str text,
                                          sn_arena *memory, sn_proxy *out_proxy,
                                          seine_diag *diag);

#endif
