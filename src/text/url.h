/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url.h - the state of the URL parser.
 *
 * url_state.c runs the states of the standard, which write the href from left to right;
 * url_host.c, url_address.c and url_path.c hold the longer states. No state looks back
 * further than the segment it removes, so the work is linear; `steps` counts the bytes
 * read, and the fuzzer checks it.
 *
 * A write past the end of the caller's memory is dropped and sets `full`, which is
 * checked once, at the end.
 */
#ifndef SN_URL_H
#define SN_URL_H

#include <string.h>

#include "base/str.h"
#include "seine/url.h"

/* Character classes as bits: the percent-encode sets of the standard, and others. */
enum {
    SN_URL_C0 = 1,          /* set of opaque paths and hosts; all not ASCII */
    SN_URL_FRAGMENT = 2,    /* set */
    SN_URL_QUERY = 4,       /* set */
    SN_URL_SPECIAL = 8,     /* set: query of special schemes */
    SN_URL_PATH = 16,       /* set */
    SN_URL_USER = 32,       /* set: user name and password */
    SN_URL_NO_HOST = 64,    /* forbidden host code points */
    SN_URL_NO_NAME = 128,   /* forbidden domain code points; all not ASCII */
    SN_URL_IN_SCHEME = 256, /* after the first letter */
    SN_URL_PLAIN = 512,     /* unreserved: its escape means the same */
    SN_URL_STOP = 1024,     /* / \ ? #: ends a segment, or may */
};

extern const uint16_t sn_url_class[256];

static inline unsigned
sn_url_is(char c, unsigned bits)
{
    return sn_url_class[(unsigned char)c] & bits;
}

typedef enum sn_url_scheme {
    SN_SCHEME_OTHER,
    SN_SCHEME_HTTP, /* special schemes start here */
    SN_SCHEME_HTTPS,
    SN_SCHEME_WS,
    SN_SCHEME_WSS,
    SN_SCHEME_FTP,
    SN_SCHEME_FILE
} sn_url_scheme;

/* Returns the default port of a scheme, or -1. */
int sn_url_default_port(sn_url_scheme scheme);

typedef struct sn_url_build {
    const char *start, *at, *end;
    seine_url *u;
    const seine_url *base; /* or NULL */
    char *out;
    size_t len, max;
    bool full;
    bool special;
    size_t steps;
    seine_url_flaw_kind flaw;
    const char *flaw_at;
} sn_url_build;

/* Is seine_url_resolve, or seine_url_parse if `base` is NULL, and also returns its
 * steps. */
SEINE_MUST_CHECK seine_err sn_url_run(seine_url *u, const seine_url *base, sn_str text,
                                      seine_url_flaw *out_flaw, size_t *out_steps);

/* Parses the reference. False: `flaw` is set, or `full`. */
bool sn_url_walk(sn_url_build *b);

static inline void
sn_url_put(sn_url_build *b, char c)
{
    if (b->len < b->max)
        b->out[b->len++] = c;
    else
        b->full = true;
}

static inline void
sn_url_add(sn_url_build *b, const char *bytes, size_t n)
{
    if (n > b->max - b->len) {
        b->full = true;
        return;
    }
    memcpy(b->out + b->len, bytes, n);
    b->len += n;
}

/* Writes a decimal number of up to five digits. */
static inline void
sn_url_put_number(sn_url_build *b, uint32_t n)
{
    for (uint32_t unit = 10000; unit > 0; unit /= 10)
        if (n >= unit || unit == 1)
            sn_url_put(b, (char)('0' + n / unit % 10));
}

/* Sets the flaw. Always returns false, for `return sn_url_flawed(…)`. */
static inline bool
sn_url_flawed(sn_url_build *b, seine_url_flaw_kind kind, const char *at)
{
    b->flaw = kind;
    b->flaw_at = at;
    return false;
}

/* Writes bytes, escaping those in `set`; invalid UTF-8 becomes the escapes of U+FFFD.
 * Stops at the first byte in `stop` and returns where it is. */
const char *sn_url_escape(sn_url_build *b, const char *at, const char *end, unsigned set,
                          unsigned stop);

/* True if c ends a segment of the path; ? and # end the authority too. */
static inline bool
sn_url_is_slash(const sn_url_build *b, char c)
{
    return c == '/' || (c == '\\' && b->special);
}

/* Write a host and set its kind; false with the flaw. */
bool sn_url_write_host(sn_url_build *b, sn_str text);
bool sn_url_write_ipv6(sn_url_build *b, sn_str text); /* with brackets */

/* Replaces the name written from `start` on by an IPv4 address if its last label is a
 * number. *out_is says whether; false with the flaw. */
bool sn_url_rewrite_ipv4(sn_url_build *b, size_t start, bool *out_is);

/* Writes the segments from `at` up to ?, # or the end after the path so far; resolves "."
 * and "..". */
void sn_url_write_path(sn_url_build *b);

/* Removes the last segment, but never the drive letter of a file URL. */
void sn_url_shorten(sn_url_build *b);

/* True if the text is, or begins with, a drive letter: "C:" or "C|" as a segment. */
bool sn_url_is_drive(const char *at, size_t len);
bool sn_url_starts_drive(const char *at, const char *end);

#endif
