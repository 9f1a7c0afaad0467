/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy.h - through which proxy does this URL go, if any?
 *
 * There are four kinds of proxies: http:// and https:// (absolute form for http URLs,
 * CONNECT for https URLs; https:// speaks TLS with the proxy), socks5:// (seine resolves
 * names) and socks5h:// (the proxy resolves names). The default scheme is http; the
 * default ports are curl's: 1080, and 443 for https://. A login stands in the URL,
 * percent-encoded:
 *
 *     socks5h://joe:p%40ss@proxy.example:1080
 *
 * The option comes first, then the environment, by the scheme of the URL: https_proxy or
 * HTTPS_PROXY; http_proxy, in lower case only, since a web server passes a header
 * "Proxy:" to CGI programs as HTTP_PROXY; then all_proxy or ALL_PROXY. Hosts that
 * no_proxy names are connected directly. "off", or an empty text, means no proxy.
 *
 *     e = sn_proxies_init(&p, &(sn_proxies_opts){.env = getenv}, &diag);
 *     proxy = sn_proxies_choose(&p, &url);              NULL: straight to the host
 *     sn_proxies_fini(&p);
 *
 * no_proxy is a list separated by commas or blanks. An entry is a name, which includes
 * its subdomains (e.example and .e.example are the same); an address, 10.0.0.1 or ::1; a
 * network, 10.0.0.0/8; or * for all. A name or an address may have a :PORT. Addresses
 * match only addresses in URLs; no name is looked up for no_proxy.
 *
 * Time    plays no part.
 * Memory  allocated by init only.
 * Threads any number of threads may choose; init and fini: one owner.
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
    sn_str host;          /* for the resolver: no brackets, no trailing dot */
    sn_str user, pass;    /* decoded; for SOCKS; empty: none */
    sn_str authorization; /* "Basic am9lOnBAc3M=": sent to this proxy only */
    sn_str shown;         /* "socks5h://proxy.example:1080": without login */
    sn_str key;           /* for pools: login included; never shown */
} sn_proxy;

#define SN_PROXIES_MOST 2 /* for http, for https */

/* One entry of no_proxy. */
typedef struct sn_proxy_except {
    sn_str name; /* empty: an address or a network */
    sn_cidr net;
    uint16_t port; /* 0: any port */
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
    const char *proxy;              /* for all URLs; NULL: from the environment */
    const char *no_proxy;           /* NULL: from the environment */
    char *(*env)(const char *name); /* getenv; NULL: no environment */
} sn_proxies_opts;

/* CONFIG: the diag names the member or the environment variable, never a login. An
 * invalid entry of no_proxy is an error in the option, but ignored in the environment,
 * which others write. NOMEM. On failure there is nothing to fini. */
SEINE_MUST_CHECK seine_err sn_proxies_init(sn_proxies *p, const sn_proxies_opts *opts,
                                           seine_diag *diag);
void sn_proxies_fini(sn_proxies *p);

/* Chooses the proxy of a URL; call it again for every redirect. Borrowed. */
const sn_proxy *sn_proxies_choose(const sn_proxies *p, const seine_url *url);

/* True if the proxy resolves the names of sites: seine checks none of their addresses. */
bool sn_proxy_resolves(const sn_proxy *proxy);

/* True for SOCKS, and for https through HTTP proxies: a handshake precedes the
 * request. */
bool sn_proxy_needs_tunnel(const sn_proxy *proxy, const seine_url *url);

/* Writes "proxy http://e.example:3128: WHAT", cut to fit a fault's text. */
#define SN_PROXY_TELL 96
void sn_proxy_tell(const sn_proxy *proxy, const char *what, char out[SN_PROXY_TELL]);

/* Parses one proxy into `memory`; `member` names its source in the diag. CONFIG,
 * NOMEM. */
SEINE_MUST_CHECK seine_err sn_proxy_parse(const char *member, sn_str text,
                                          sn_arena *memory, sn_proxy *out_proxy,
                                          seine_diag *diag);

#endif
