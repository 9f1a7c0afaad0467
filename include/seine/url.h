/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url.h - parse, resolve and compare URLs.
 *
 * The parser follows the URL Standard of the WHATWG, like browsers: any text that a
 * browser takes as a URL becomes the same URL here, and a text that a browser refuses is
 * BAD_URL. A parsed URL is one text, the href, in the caller's memory, plus the offsets
 * of its parts; reading a part copies nothing.
 *
 *     char page_mem[SEINE_URL_ROOM], mem[SEINE_URL_ROOM], key[SEINE_URL_ROOM];
 *     seine_url page, u;
 *     seine_url_init(&page, page_mem, sizeof page_mem);
 *     seine_url_init(&u, mem, sizeof mem);
 *     e = seine_url_parse(&page, "HTTP://Ex.example:80/a/b?q", 26, NULL);
 *     e = seine_url_resolve(&u, &page, "../%7Ec#top", 11, NULL);
 *     seine_view href = seine_url_href(&u);                "http://ex.example/%7Ec#top"
 *     e = seine_url_key(&u, NULL, key, sizeof key, &len);  key is "http://ex.example/~c"
 *
 * A request uses the href up to the #. The key is equal for all spellings. Limiters and
 * breakers use the authority, http://ex.example:80.
 *
 * Time    plays no part. Work is linear in the bytes given.
 * Memory  the caller's; only libidn2 allocates, for a host that is not ASCII.
 * Threads one owner; any number of threads may read a URL that does not change.
 */
#ifndef SEINE_URL_H
#define SEINE_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/view.h"

#define SEINE_URL_MAX  8192 /* bytes of a reference, and of an href */
#define SEINE_URL_ROOM (SEINE_URL_MAX + 1)

typedef enum seine_url_host_kind {
    SEINE_HOST_NONE,  /* mailto:x, foo:/x */
    SEINE_HOST_EMPTY, /* file:///x, foo:///x */
    SEINE_HOST_NAME,  /* of http, https, ws, wss, ftp, file: lower case, A-labels */
    SEINE_HOST_IPV4,
    SEINE_HOST_IPV6,  /* with its brackets */
    SEINE_HOST_OPAQUE /* a host of another scheme, unchanged */
} seine_url_host_kind;

/* clang-format off */
#define SEINE_URL_FLAWS(X) \
    X(NONE,     "nothing") \
    X(TOO_LONG, "longer than the limit") \
    X(NO_BASE,  "relative, and there is no base") \
    X(NO_PATH,  "relative to a base that has no path") \
    X(NO_HOST,  "no host") \
    X(BAD_CHAR, "a character that a host cannot have") \
    X(BAD_NAME, "not a domain name") \
    X(BAD_IPV4, "not an IPv4 address") \
    X(BAD_IPV6, "not an IPv6 address") \
    X(BAD_PORT, "not a port number")

typedef enum seine_url_flaw_kind {
#define X(id, text) SEINE_URL_##id,
    SEINE_URL_FLAWS(X)
#undef X
} seine_url_flaw_kind;
/* clang-format on */

/* Why a text is no URL, and at which byte. */
typedef struct seine_url_flaw {
    seine_url_flaw_kind kind;
    size_t at;
} seine_url_flaw;

typedef struct seine_url { /* private */
    char *href;
    uint32_t room, len;
    uint32_t scheme_end, user_end, password_end, host_at, host_end;
    uint32_t path_at, path_end, query_end;
    int32_t port; /* -1: none given, or the default port */
    uint8_t scheme, host;
    bool opaque;
} seine_url;

SEINE_BEGIN

/* Makes an empty URL in `size` bytes at `mem`, which the caller owns and keeps longer.
 * References and hrefs have at most size - 1 bytes, and at most SEINE_URL_MAX. */
void seine_url_init(seine_url *u, char *mem, size_t size);

/* Parses an absolute URL; the text may not lie in u's memory. BAD_URL: not a URL, or too
 * long; the flaw is written unless NULL. NOMEM. INVAL: u has no memory. On failure u is
 * empty. */
SEINE_MUST_CHECK seine_err seine_url_parse(seine_url *u, const char *text, size_t len,
                                           seine_url_flaw *out_flaw);

/* Parses a reference, relative or absolute, found in the document `base`. INVAL: base is
 * empty or is u. */
SEINE_MUST_CHECK seine_err seine_url_resolve(seine_url *u, const seine_url *base,
                                             const char *text, size_t len,
                                             seine_url_flaw *out_flaw);

/* Copies `from` into u's own memory. RANGE: too long. */
SEINE_MUST_CHECK seine_err seine_url_copy(seine_url *u, const seine_url *from);

/* Returns a text for people, such as "no host". */
const char *seine_url_flaw_text(seine_url_flaw_kind kind);

/* The parts, without the delimiters between them; empty if absent. */
seine_view seine_url_href(const seine_url *u); /* terminated */
seine_view seine_url_scheme(const seine_url *u);
seine_view seine_url_username(const seine_url *u);
seine_view seine_url_password(const seine_url *u);
seine_view seine_url_host(const seine_url *u);
seine_view seine_url_host_port(const seine_url *u); /* as in the Host header */
seine_view seine_url_port_text(const seine_url *u);
seine_view seine_url_path(const seine_url *u);
seine_view seine_url_query(const seine_url *u);
seine_view seine_url_fragment(const seine_url *u);
seine_view seine_url_target(const seine_url *u); /* path and ?query, as requested */

seine_url_host_kind seine_url_host_is(const seine_url *u);

/* Returns the port to connect to: the given one or the scheme's default; -1: neither. */
int seine_url_port(const seine_url *u);

/* True for http, https, ws, wss, ftp and file, whose hosts are domain names or
 * addresses. */
bool seine_url_is_special(const seine_url *u);

/* True if the path is not a list of segments: mailto:x, data:,x. */
bool seine_url_is_opaque(const seine_url *u);

/* Writes the host as the resolver needs it: an address, or a name without a trailing dot.
 * DNS_BAD_NAME: no host; a label that is empty or over 63 bytes; a name over 253 bytes;
 * any byte but letters, digits, "-" and "_". */
SEINE_MUST_CHECK seine_err seine_url_name(const seine_url *u, seine_view *out_name);

/* Remove user name and password, or the fragment with its #. */
void seine_url_drop_user(seine_url *u);
void seine_url_drop_fragment(seine_url *u);

/* Writes the normal form by which URLs are compared: escapes in upper case, those of
 * letters, digits, "-", ".", "_" and "~" decoded, no fragment, no empty query. `strip`,
 * "utm_*,fbclid" or NULL, names parameters to remove, with * and ? as wildcards. The key
 * is never longer than the href and may overwrite the href's memory; the URL is then
 * void. Terminated. RANGE: the length plus terminator exceeds cap. */
SEINE_MUST_CHECK seine_err seine_url_key(const seine_url *u, const char *strip, char *buf,
                                         size_t cap, size_t *out_len);

/* "https://ex.example:443": scheme, name and port, the key of state per host; "" for a
 * URL without host. "https://ex.example": the origin of the standard, "null" if there is
 * none. Both write at most `cap` bytes with the terminator and return the full length. */
size_t seine_url_authority(const seine_url *u, char *buf, size_t cap);
size_t seine_url_origin(const seine_url *u, char *buf, size_t cap);

SEINE_END

#endif
