/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/url.h"

#include "text/url.h"

/* Strips blanks and control characters around a reference; tabs and line breaks are
 * ignored anywhere. */
static sn_str
trim(sn_str s)
{
    while (s.len > 0 && (unsigned char)s.ptr[0] <= ' ')
        s = sn_str_slice(s, 1, s.len);
    while (s.len > 0 && (unsigned char)s.ptr[s.len - 1] <= ' ')
        s.len--;
    return s;
}

static bool
is_break(char c)
{
    return c == '\t' || c == '\n' || c == '\r';
}

/* Tests eight bytes at a time: a byte below 32 borrows from its top bit. */
static bool
has_control(sn_str s)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t found = 0, word;
    size_t i = 0;

    for (; i + sizeof word <= s.len; i += sizeof word) {
        memcpy(&word, s.ptr + i, sizeof word);
        found |= (word - ones * 32) & ~word & tops;
    }
    for (; i < s.len; i++)
        found |= (unsigned char)s.ptr[i] < 32;
    return found != 0;
}

static size_t
without_breaks(sn_str s, char *out)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        if (!is_break(s.ptr[i]))
            out[n++] = s.ptr[i];
    return n;
}

/* Returns the index of the n-th byte that is no tab or line break. */
static size_t
place_of_byte(sn_str s, size_t n)
{
    size_t i = 0;

    for (; i < s.len; i++)
        if (!is_break(s.ptr[i]) && n-- == 0)
            break;
    return i;
}

static seine_err
failed(const sn_url_build *b, seine_url_flaw *out_flaw)
{
    seine_url_flaw flaw = {b->full ? SEINE_URL_TOO_LONG : b->flaw, 0};

    if (!b->full)
        flaw.at = (size_t)(b->flaw_at - b->start);
    seine_url_init(b->u, b->u->href, b->u->room);
    if (flaw.kind == SEINE_URL_NONE)
        return SEINE_E_NOMEM;
    if (out_flaw)
        *out_flaw = flaw;
    return SEINE_E_BAD_URL;
}

static seine_err
build(seine_url *u, const seine_url *base, sn_str text, seine_url_flaw *out_flaw,
      size_t *out_steps)
{
    sn_url_build b = {
        .start = text.ptr,
        .at = text.ptr,
        .end = text.ptr + text.len,
        .u = u,
        .base = base,
        .out = u->href,
        .max = u->room - 1,
    };

    u->port = -1;
    u->host = SEINE_HOST_NONE;
    u->opaque = false;
    bool good = sn_url_walk(&b);
    *out_steps += b.steps;
    if (!good)
        return failed(&b, out_flaw);
    u->href[b.len] = '\0';
    u->len = (uint32_t)b.len;
    return SEINE_OK;
}

/* Copies a reference without its tabs and line breaks, which are rare; noinline keeps the
 * buffer off the usual stack. */
static __attribute__((noinline)) seine_err
build_without_breaks(seine_url *u, const seine_url *base, sn_str text,
                     seine_url_flaw *flaw, size_t *out_steps)
{
    char kept[SEINE_URL_MAX];
    size_t n = without_breaks(text, kept);
    seine_err e = build(u, base, (sn_str){kept, n}, flaw, out_steps);

    *out_steps += text.len;
    flaw->at = place_of_byte(text, flaw->at);
    return e;
}

seine_err
sn_url_run(seine_url *u, const seine_url *base, sn_str text, seine_url_flaw *out_flaw,
           size_t *out_steps)
{
    seine_url_flaw flaw = {SEINE_URL_TOO_LONG, 0};
    sn_str rest = trim(text);
    seine_err e = SEINE_E_BAD_URL;

    if (rest.len == 0)
        rest = SN_STR("");
    *out_steps = text.len;
    if (u->room == 0)
        return SEINE_E_INVAL;
    if (rest.len >= u->room)
        seine_url_init(u, u->href, u->room);
    else if (has_control(rest))
        e = build_without_breaks(u, base, rest, &flaw, out_steps);
    else
        e = build(u, base, rest, &flaw, out_steps);
    if (e == SEINE_E_BAD_URL && out_flaw) {
        flaw.at += rest.len > 0 ? (size_t)(rest.ptr - text.ptr) : 0;
        *out_flaw = flaw;
    }
    return e;
}

seine_err
seine_url_parse(seine_url *u, const char *text, size_t len, seine_url_flaw *out_flaw)
{
    if (!u)
        return SEINE_E_INVAL;
    size_t steps;

    return sn_url_run(u, NULL, (sn_str){text, len}, out_flaw, &steps);
}

seine_err
seine_url_resolve(seine_url *u, const seine_url *base, const char *text, size_t len,
                  seine_url_flaw *out_flaw)
{
    size_t steps;

    if (!u || !base || base->len == 0 || base->href == u->href)
        return SEINE_E_INVAL;
    return sn_url_run(u, base, (sn_str){text, len}, out_flaw, &steps);
}

const char *
seine_url_flaw_text(seine_url_flaw_kind kind)
{
    static const char *const texts[] = {
#define X(id, text) text,
        SEINE_URL_FLAWS(X)
#undef X
    };

    return (unsigned)kind < sizeof texts / sizeof *texts ? texts[kind] : texts[0];
}
