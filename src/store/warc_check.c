/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "base/base32.h"
#include "base/rng.h"
#include "seine/calendar.h"
#include "store/warc_read.h"

#define IDS ((uint64_t)1 << 32) /* most records that are remembered */

static bool
has_field(const seine_warc *w, const char *name)
{
    return sn_warc_get(w, name).len > 0;
}

static bool
is_type(const seine_warc *w, const char *type)
{
    return sn_str_eq(w->entry.type, sn_str_of(type));
}

static bool
is_one_of(const seine_warc *w, const char *list)
{
    sn_str rest = sn_str_of(list), type;

    while (sn_str_next(&rest, ' ', &type))
        if (sn_str_eq(w->entry.type, type))
            return true;
    return false;
}

/* Digests. */

/* Reads "sha1:" and so on, in any case; also sha-256. */
static sn_digest_kind
kind_of(sn_str label)
{
    static const struct {
        const char *name;
        sn_digest_kind kind;
    } kinds[] = {{"md5", SN_DIGEST_MD5},        {"sha1", SN_DIGEST_SHA1},
                 {"sha-1", SN_DIGEST_SHA1},     {"sha256", SN_DIGEST_SHA256},
                 {"sha-256", SN_DIGEST_SHA256}, {"sha512", SN_DIGEST_SHA512},
                 {"sha-512", SN_DIGEST_SHA512}};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (sn_str_eq_nocase(label, sn_str_of(kinds[i].name)))
            return kinds[i].kind;
    return SN_DIGEST_NONE;
}

static size_t
bytes_of(sn_digest_kind kind)
{
    static const size_t bytes[] = {0, 16, 20, 32, 64};

    return bytes[kind];
}

static bool
read_hex(sn_str text, uint8_t *out)
{
    for (size_t i = 0; i < text.len; i++) {
        int digit = sn_hex_digit(text.ptr[i]);

        if (digit < 0)
            return false;
        out[i / 2] = (uint8_t)(i % 2 ? out[i / 2] | digit : digit << 4);
    }
    return true;
}

/* Base32 or hex: the length tells. */
static bool
read_value(sn_str text, size_t want, uint8_t *out)
{
    char bytes[SN_DIGEST_MOST + 8];
    size_t n = 0;

    if (text.len == 2 * want)
        return read_hex(text, out);
    if (text.len > SN_BASE32_ROOM(want) || sn_base32_read(text, bytes, &n) != SEINE_OK ||
        n != want)
        return false;
    memcpy(out, bytes, want);
    return true;
}

/* Reads the digest of a field; ignores unknown kinds. */
static seine_err
read_claim(seine_warc *w, const char *name, sn_warc_claim *out)
{
    sn_str value = sn_warc_get(w, name), label, text;

    out->kind = SN_DIGEST_NONE;
    if (!value.ptr)
        return SEINE_OK;
    if (!sn_str_cut(value, ':', &label, &text)) {
        sn_warc_flaw_add(w, "%s names no algorithm", name);
        return SEINE_OK;
    }
    sn_digest_kind kind = kind_of(label);
    if (kind == SN_DIGEST_NONE)
        return SEINE_OK;
    if (!read_value(text, bytes_of(kind), out->want)) {
        sn_warc_flaw_add(w, "%s is neither base32 nor hex of %zu bytes", name,
                         bytes_of(kind));
        return SEINE_OK;
    }
    out->kind = kind;
    out->want_len = bytes_of(kind);
    return sn_digest_begin(&out->digest, kind);
}

static seine_err
check_claim(sn_warc_claim *c, bool *out_kept)
{
    uint8_t got[SN_DIGEST_MOST];
    size_t n;

    *out_kept = true;
    if (c->kind == SN_DIGEST_NONE)
        return SEINE_OK;
    seine_err e = sn_digest_end(&c->digest, got, &n);
    if (e == SEINE_OK)
        *out_kept = n == c->want_len && memcmp(got, c->want, n) == 0;
    return e;
}

/* True if the block holds the complete payload. */
static bool
has_payload(const seine_warc *w)
{
    return !is_type(w, "revisit") && !has_field(w, "WARC-Segment-Number");
}

static seine_err
begin_claims(seine_warc *w)
{
    sn_warc_checks *c = &w->checks;
    seine_err e = read_claim(w, "WARC-Block-Digest", &c->block);

    if (e == SEINE_OK)
        e = read_claim(w, "WARC-Payload-Digest", &c->payload);
    if (!has_payload(w))
        c->payload.kind = SN_DIGEST_NONE;
    c->raw.kind = w->is_http ? c->payload.kind : SN_DIGEST_NONE;
    if (e != SEINE_OK || c->raw.kind == SN_DIGEST_NONE)
        return e;
    c->raw.want_len = c->payload.want_len;
    memcpy(c->raw.want, c->payload.want, c->payload.want_len);
    return sn_digest_begin(&c->raw.digest, c->raw.kind);
}

static void
add_piece(sn_warc_claim *c, sn_str piece)
{
    if (c->kind != SN_DIGEST_NONE)
        sn_digest_add(&c->digest, piece.ptr, piece.len);
}

void
sn_warc_check_piece(seine_warc *w, sn_str piece)
{
    sn_warc_checks *c = &w->checks;

    add_piece(&c->block, piece);
    if (!w->is_http) {
        add_piece(&c->payload, piece);
        return;
    }
    for (sn_str in = piece, part; in.len > 0;) {
        sn_str before = in;
        bool in_body = w->http.has_head;

        if (!sn_warc_http_next(&w->http, &in, &part)) {
            add_piece(&c->raw, in);
            break;
        }
        add_piece(&c->payload, part);
        if (in_body)
            add_piece(&c->raw, (sn_str){before.ptr, before.len - in.len});
    }
}

/* Some archivers digest the body with its chunked framing; both forms are accepted. */
static seine_err
end_claims(seine_warc *w)
{
    sn_warc_checks *c = &w->checks;
    bool block, payload, raw;
    seine_err e = check_claim(&c->block, &block);

    if (e == SEINE_OK)
        e = check_claim(&c->payload, &payload);
    if (e == SEINE_OK)
        e = check_claim(&c->raw, &raw);
    if (e != SEINE_OK)
        return e;
    if (!block)
        sn_warc_flaw_add(w, "its block has another digest");
    if (!payload && (c->raw.kind == SN_DIGEST_NONE || !raw))
        sn_warc_flaw_add(w, "its payload has another digest");
    return SEINE_OK;
}

/* Fields. */

static bool
is_number(sn_str s, unsigned low, unsigned high)
{
    uint64_t n;

    return s.len == 2 && sn_str_u64(s, &n) == SEINE_OK && n >= low && n <= high;
}

/* hh:mm[:ss[.f]]Z */
static bool
is_time(sn_str t, bool exact)
{
    if (t.len < 6 || t.ptr[t.len - 1] != 'Z' ||
        !is_number(sn_str_slice(t, 0, 2), 0, 23) || t.ptr[2] != ':' ||
        !is_number(sn_str_slice(t, 3, 5), 0, 59))
        return false;
    t = sn_str_slice(t, 5, t.len - 1);
    if (t.len == 0)
        return !exact;
    if (t.len < 3 || t.ptr[0] != ':' || !is_number(sn_str_slice(t, 1, 3), 0, 60))
        return false;
    t = sn_str_slice(t, 3, t.len);
    if (t.len == 0)
        return true;
    for (size_t i = 1; i < t.len; i++)
        if (!sn_is_digit(t.ptr[i]))
            return false;
    return !exact && t.ptr[0] == '.' && t.len > 1 && t.len <= 10;
}

/* YYYY[-MM[-DD[Thh:mm[:ss[.f]]Z]]]; WARC/1.0 allows only one form. */
static bool
is_date(sn_str d, bool exact)
{
    uint64_t year, month, day;

    if (d.len < 4 || sn_str_u64(sn_str_slice(d, 0, 4), &year) != SEINE_OK)
        return false;
    if (d.len == 4)
        return !exact;
    if (d.len < 7 || d.ptr[4] != '-' || !is_number(sn_str_slice(d, 5, 7), 1, 12) ||
        sn_str_u64(sn_str_slice(d, 5, 7), &month) != SEINE_OK)
        return false;
    if (d.len == 7)
        return !exact;
    if (d.len < 10 || d.ptr[7] != '-' ||
        sn_str_u64(sn_str_slice(d, 8, 10), &day) != SEINE_OK || day < 1 ||
        day > (unsigned)seine_calendar_month_days((int)year, (int)month))
        return false;
    if (d.len == 10)
        return !exact;
    return d.ptr[10] == 'T' && is_time(sn_str_slice(d, 11, d.len), exact);
}

/* <urn:…>: a URI between angle brackets. */
static bool
is_id(sn_str id)
{
    return id.len > 4 && id.ptr[0] == '<' && id.ptr[id.len - 1] == '>' &&
           memchr(id.ptr, ':', id.len) != NULL && !memchr(id.ptr, ' ', id.len);
}

static void
check_fields(seine_warc *w)
{
    static const char *const always[] = {"WARC-Record-ID", "WARC-Type", "WARC-Date"};
    sn_str date = sn_warc_get(w, "WARC-Date"), id = sn_warc_get(w, "WARC-Record-ID");

    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (!has_field(w, always[i]))
            sn_warc_flaw_add(w, "no %s", always[i]);
    if (date.len > 0 && !is_date(date, w->entry.version == 10))
        sn_warc_flaw_add(w, "its WARC-Date is no date");
    if (id.len > 0 && !is_id(id))
        sn_warc_flaw_add(w, "its WARC-Record-ID is no <URI>");
    if (is_one_of(w, "response resource request revisit conversion continuation") &&
        !has_field(w, "WARC-Target-URI"))
        sn_warc_flaw_add(w, "no WARC-Target-URI");
    if (is_type(w, "warcinfo") && has_field(w, "WARC-Target-URI"))
        sn_warc_flaw_add(w, "a warcinfo with a WARC-Target-URI");
    if (is_type(w, "revisit") && !has_field(w, "WARC-Profile"))
        sn_warc_flaw_add(w, "a revisit without a WARC-Profile");
    if (is_type(w, "continuation") && !has_field(w, "WARC-Segment-Origin-ID"))
        sn_warc_flaw_add(w, "a continuation without a WARC-Segment-Origin-ID");
    if (is_one_of(w, "warcinfo conversion continuation") &&
        has_field(w, "WARC-Concurrent-To"))
        sn_warc_flaw_add(w, "WARC-Concurrent-To where there is none");
}

/* Only one field may be repeated. */
static void
check_repeats(seine_warc *w)
{
    for (uint32_t i = 0; i < w->n_fields && i < 64; i++)
        for (uint32_t k = 0; k < i; k++)
            if (sn_str_eq_nocase(w->fields[i].name, w->fields[k].name) &&
                sn_str_starts_nocase(w->fields[i].name, SN_STR("WARC-")) &&
                !sn_str_eq_nocase(w->fields[i].name, SN_STR("WARC-Concurrent-To"))) {
                sn_warc_flaw_add(w, "%.*s comes twice", (int)w->fields[i].name.len,
                                 w->fields[i].name.ptr);
                return;
            }
}

/* Ids. */

static uint64_t
print_of(const seine_warc *w, sn_str id)
{
    return sn_siphash(w->checks.key, id.ptr, id.len);
}

/* Drops references whose record has come. */
static void
forget_found(sn_warc_checks *c)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < c->n_waits; i++)
        if (!sn_fingerprint_set_has(&c->ids, c->waits[i].fp))
            c->waits[kept++] = c->waits[i];
    c->n_waits = kept;
}

/* Remembers a reference to a record that may come later. A full list that stays more than
 * half full is given up, so that 2,048 references pay for each look at all of them. */
static seine_err
await(seine_warc *w, uint64_t fp)
{
    sn_warc_checks *c = &w->checks;

    if (sn_fingerprint_set_has(&c->ids, fp) || c->is_lost)
        return SEINE_OK;
    if (!c->waits)
        c->waits = sn_calloc(SN_WARC_PENDING, sizeof *c->waits);
    if (!c->waits)
        return SEINE_E_NOMEM;
    if (c->n_waits == SN_WARC_PENDING) {
        forget_found(c);
        c->is_lost = c->n_waits > SN_WARC_PENDING / 2;
    }
    if (!c->is_lost)
        c->waits[c->n_waits++] = (sn_warc_wait){fp, w->entry.offset};
    return SEINE_OK;
}

static seine_err
check_ids(seine_warc *w)
{
    sn_warc_checks *c = &w->checks;
    sn_str id = sn_warc_get(w, "WARC-Record-ID");
    seine_err e = SEINE_OK;
    uint8_t is_new = 1;

    if (c->key[0] == 0) {
        sn_rng_secret(c->key, sizeof c->key);
        e = sn_fingerprint_set_init(&c->ids, 0, IDS);
        if (e != SEINE_OK)
            return e;
    }
    if (id.len > 0) {
        uint64_t fp = print_of(w, id);
        e = sn_fingerprint_set_add(&c->ids, &fp, 1, &is_new);
    }
    if (!is_new)
        sn_warc_flaw_add(w, "its WARC-Record-ID was there before");
    for (uint32_t i = 0; i < w->n_fields && e == SEINE_OK; i++)
        if (sn_str_eq_nocase(w->fields[i].name, SN_STR("WARC-Concurrent-To")))
            e = await(w, print_of(w, w->fields[i].value));
    return e;
}

void
sn_warc_check_refs(seine_warc *w)
{
    sn_warc_checks *c = &w->checks;

    forget_found(c);
    for (uint32_t i = 0; i < c->n_waits && w->n_flaws < SN_WARC_FLAWS; i++) {
        w->entry.offset = c->waits[i].offset;
        sn_warc_flaw_add(w, "WARC-Concurrent-To names a record that is not there");
    }
}

seine_err
sn_warc_check_head(seine_warc *w)
{
    check_fields(w);
    check_repeats(w);
    seine_err e = check_ids(w);
    return e == SEINE_OK ? begin_claims(w) : e;
}

seine_err
sn_warc_check_end(seine_warc *w)
{
    return end_claims(w);
}

void
sn_warc_check_fini(seine_warc *w)
{
    sn_warc_checks *c = &w->checks;

    sn_digest_fini(&c->block.digest);
    sn_digest_fini(&c->payload.digest);
    sn_digest_fini(&c->raw.digest);
    sn_fingerprint_set_fini(&c->ids);
    sn_free(c->waits);
}
