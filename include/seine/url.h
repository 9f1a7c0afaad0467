/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url.h - what does this reference mean, and is it the same as that one?
 *
 * URLs as browsers read them (the URL Standard of the WHATWG): any bytes of which
 * a browser makes a URL become the same URL here, and what a browser refuses is
 * BAD_URL. A parsed URL is one text, the href, in memory the caller brought, and
 * the places where its parts begin and end; looking at a part copies nothing.
 *
 *     char page_mem[SEINE_URL_ROOM], mem[SEINE_URL_ROOM], key[SEINE_URL_ROOM];
 *     seine_url page, u;
 *     seine_url_init(&page, page_mem, sizeof page_mem);
 *     seine_url_init(&u, mem, sizeof mem);
 *     e = seine_url_parse(&page, "HTTP://Ex.example:80/a/b?q", 26, NULL);
 *     e = seine_url_resolve(&u, &page, "../%7Ec#top", 11, NULL);
 *     e = seine_url_key(&u, NULL, key, sizeof key, &len);
 *
 * u is http://ex.example/%7Ec#top, which is what to request (without the part
 * from # on); its key is http://ex.example/~c, equal for all spellings of it, and
 * the base of limiters and breakers is the authority http://ex.example:80.
 *
 * Time    plays no part. Work is linear in the bytes given.
 * Memory  nothing is allocated, but by libidn2 for a host that is not ASCII.
 *         The caller's memory is used up to the longest href it can hold.
 * Threads one owner; any number may look at a URL that does not change.
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
    SEINE_HOST_OPAQUE /* a name of another scheme, as it was written */
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

/* Why bytes are no URL, and at which of them that shows. */
typedef struct seine_url_flaw {
    seine_url_flaw_kind kind;
    size_t at;
} seine_url_flaw;

typedef struct seine_url { /* private */
    char *href;
    uint32_t room, len;
    uint32_t scheme_end, user_end, password_end, host_at, host_end;
    uint32_t path_at, path_end, query_end;
    int32_t port; /* -1: none was given, or the scheme's own */
    uint8_t scheme, host;
    bool opaque;
} seine_url;

SEINE_BEGIN

/* An empty URL in `size` bytes at `mem`, which stay the caller's and outlive it.
 * References and hrefs are at most size - 1 bytes long, and SEINE_URL_MAX. */
void seine_url_init(seine_url *u, char *mem, size_t size);

/* Reads an absolute URL; the text may not lie in u's memory. BAD_URL: it is none,
 * or too long, and the flaw, if wanted, is written; NOMEM; INVAL: u has no memory.
 * On failure u is empty. */
SEINE_MUST_CHECK seine_err seine_url_parse(seine_url *u, const char *text, size_t len,
                                           seine_url_flaw *out_flaw);

/* The same for a reference found in the document `base`, absolute or not. INVAL:
 * base is empty or u itself. */
SEINE_MUST_CHECK seine_err seine_url_resolve(seine_url *u, const seine_url *base,
                                             const char *text, size_t len,
                                             seine_url_flaw *out_flaw);

/* Makes u equal to `from`, in its own memory. RANGE: it does not fit. */
SEINE_MUST_CHECK seine_err seine_url_copy(seine_url *u, const seine_url *from);

/* "no host": for people. */
const char *seine_url_flaw_text(seine_url_flaw_kind kind);

/* The parts, without the marks between them; empty where there is none. */
seine_view seine_url_href(const seine_url *u); /* terminated */
seine_view seine_url_scheme(const seine_url *u);
seine_view seine_url_username(const seine_url *u);
seine_view seine_url_password(const seine_url *u);
seine_view seine_url_host(const seine_url *u);
seine_view seine_url_host_port(const seine_url *u); /* as in the field Host */
seine_view seine_url_port_text(const seine_url *u);
seine_view seine_url_path(const seine_url *u);
seine_view seine_url_query(const seine_url *u);
seine_view seine_url_fragment(const seine_url *u);
seine_view seine_url_target(const seine_url *u); /* path and ?query: to request */

seine_url_host_kind seine_url_host_is(const seine_url *u);

/* The port to connect to: the given one or the scheme's own; -1: neither. */
int seine_url_port(const seine_url *u);

/* http, https, ws, wss, ftp or file: these have hosts that are looked up. */
bool seine_url_is_special(const seine_url *u);

/* A path that is no list of segments: mailto:x, data:,x. */
bool seine_url_is_opaque(const seine_url *u);

/* The host as it is looked up and keyed: an address, or a name without a dot at
 * its end. DNS_BAD_NAME: no host, a label that is empty or over 63 bytes, over 253
 * in all, or anything but letters, digits, "-" and "_". */
SEINE_MUST_CHECK seine_err seine_url_name(const seine_url *u, seine_view *out_name);

/* Takes user name and password out, or what follows the # with it. */
void seine_url_drop_user(seine_url *u);
void seine_url_drop_fragment(seine_url *u);

/* The text by which two URLs are the same: escapes in upper case, those of letters,
 * digits, "-", ".", "_" and "~" undone, without fragment and empty query. `strip`,
 * "utm_*,fbclid" or NULL, names parameters left out, with * and ? as wildcards.
 * Never longer than the href, whose memory it may be written to; the URL is then
 * void. Terminated. RANGE: cap is not above that length. */
SEINE_MUST_CHECK seine_err seine_url_key(const seine_url *u, const char *strip, char *buf,
                                         size_t cap, size_t *out_len);

/* "https://ex.example:443": scheme, name and port, the key of what is kept by host.
 * "https://ex.example": the origin of the standard, "null" where there is none.
 * They write at most `cap` bytes with the terminator and return the length of the
 * whole text; authority is "" for a URL without host. */
size_t seine_url_authority(const seine_url *u, char *buf, size_t cap);
size_t seine_url_origin(const seine_url *u, char *buf, size_t cap);

SEINE_END

#endif
