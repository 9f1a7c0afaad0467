/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record.h"

#include "base/time.h"
#include "store/record_hold.h"

static const char *const members[] = {
#define X(id, name) name,
    SN_MEMBERS(X)
#undef X
};

uint64_t
sn_members_of(const seine_members *fields)
{
    return fields && fields->bits ? fields->bits : SN_MEMBERS_STANDARD;
}

uint64_t
sn_record_extras(const seine_record *r)
{
    return (r->lang.ptr ? SN_MEMBER(LANG) : 0) |
           (r->canonical.ptr ? SN_MEMBER(CANONICAL) : 0) |
           (r->meta_robots.ptr ? SN_MEMBER(META_ROBOTS) : 0) |
           (r->has_links ? SN_MEMBER(LINKS) : 0) | (r->sha256 ? SN_MEMBER(SHA256) : 0) |
           (seine_record_change(r) ? SN_MEMBER(CHANGE) : 0);
}

const char *
seine_fate_name(seine_fate f)
{
    static const char *const names[] = {
#define X(id, name) name,
        SEINE_FATES(X)
#undef X
    };

    return (unsigned)f < SN_FATE_COUNT ? names[f] : "unknown";
}

const char *
seine_skip_name(seine_skip s)
{
    static const char *const names[] = {
#define X(id, name) name,
        SEINE_SKIPS(X)
#undef X
    };

    return (unsigned)s < SN_SKIP_COUNT ? names[s] : "unknown";
}

const char *
seine_wait_name(seine_wait w)
{
    static const char *const names[] = {
#define X(id, name) name,
        SEINE_WAITS(X)
#undef X
    };

    return (unsigned)w < SN_WAIT_COUNT ? names[w] : "unknown";
}

const char *
seine_change_name(seine_change c)
{
    static const char *const names[] = {NULL, "new", "changed", "same", "gone"};

    return (unsigned)c < sizeof names / sizeof *names ? names[c] : NULL;
}

seine_change
seine_record_change(const seine_record *r)
{
    const sn_record_hold *h = r ? r->hold : NULL;

    return h ? h->change : SEINE_CHANGE_NONE;
}

seine_view
seine_record_data(const seine_record *r)
{
    const sn_record_hold *h = r ? r->hold : NULL;

    return h ? h->data : (seine_view){NULL, 0};
}

/* Some error kinds have a fate of their own; the others follow their group. */
seine_span
seine_record_latency(const seine_record *r)
{
    if (!r)
        return 0;
    seine_span before = sn_time_add(sn_time_add(r->dns, r->connect), r->tls);

    return sn_time_add(before, sn_time_add(r->ttfb, r->body_time));
}

seine_span
seine_record_waited(const seine_record *r)
{
    if (!r)
        return 0;
    return sn_time_add(sn_time_add(r->queue, r->throttle),
                       sn_time_add(r->backoff, r->retry_budget));
}

seine_fate
seine_fate_of(seine_err kind)
{
    switch (kind) {
    case SEINE_OK:
        return SEINE_FATE_OK;
    case SEINE_E_TLS_ERROR:
    case SEINE_E_PROXY_ERROR:
    case SEINE_E_PROXY_REFUSED:
    case SEINE_E_PROXY_AUTH:
        return SEINE_FATE_NETWORK_ERROR;
    case SEINE_E_HEADER_TRUNCATED:
    case SEINE_E_UNEXPECTED_304:
    case SEINE_E_UNEXPECTED_206:
    case SEINE_E_TOO_MANY_REDIRECTS:
    case SEINE_E_BAD_REDIRECT:
        return SEINE_FATE_BAD_RESPONSE;
    case SEINE_E_REDIRECT_REFUSED:
        return SEINE_FATE_BLOCKED;
    default:
        break;
    }
    switch (seine_err_group(kind)) {
    case SEINE_E_HTTP:
    case SEINE_E_HTTP_BUSY:
        return SEINE_FATE_HTTP_ERROR;
    case SEINE_E_DNS:
    case SEINE_E_DNS_AGAIN:
    case SEINE_E_CONNECT:
    case SEINE_E_RESET:
    case SEINE_E_TLS:
        return SEINE_FATE_NETWORK_ERROR;
    case SEINE_E_TIMEOUT:
        return SEINE_FATE_TIMEOUT;
    case SEINE_E_SHORT:
    case SEINE_E_TOO_BIG:
    case SEINE_E_PARSE:
        return SEINE_FATE_BAD_RESPONSE;
    case SEINE_E_BLOCKED_ADDRESS:
    case SEINE_E_BLOCKED_SCHEME:
    case SEINE_E_BLOCKED_PORT:
    case SEINE_E_OUT_OF_SCOPE:
    case SEINE_E_ROBOTS:
    case SEINE_E_ROBOTS_UNREACHABLE:
        return SEINE_FATE_BLOCKED;
    case SEINE_E_CANCELED:
    case SEINE_E_DEADLINE:
        return SEINE_FATE_CANCELED;
    default: /* local limits, and errors that end no record */
        return SEINE_FATE_GAVE_UP;
    }
}

/* Returns the bit of a member, or 0. */
static uint64_t
bit_of(sn_str word)
{
    for (size_t i = 0; i < SN_MEMBER_COUNT; i++)
        if (sn_str_eq(word, sn_str_of(members[i])))
            return UINT64_C(1) << i;
    return 0;
}

/* Removes members that crawls write by default, too. */
static uint64_t
less(uint64_t bits)
{
    return (bits & SN_MEMBERS_CRAWL) >> SN_MEMBER_INDEX_LANG << SN_MEMBERS_LESS;
}

static bool
has_sign(sn_str word)
{
    return word.len > 0 && (*word.ptr == '+' || *word.ptr == '-');
}

seine_err
seine_members_parse(const char *list, seine_members *out_fields, seine_view *out_bad)
{
    sn_str rest = sn_str_trim(sn_str_of(list)), word;
    bool changes = has_sign(rest), more;
    uint64_t bits = changes ? SN_MEMBERS_STANDARD : less(SN_MEMBERS_CRAWL);

    do { /* an empty list is one empty word */
        more = sn_str_cut(rest, ',', &word, &rest);
        word = sn_str_trim(word);

        uint64_t bit = bit_of(sn_str_slice(word, changes, word.len));
        if (bit == 0 || has_sign(word) != changes) {
            if (out_bad)
                *out_bad = word;
            return SEINE_E_INVAL;
        }
        bits = changes && *word.ptr == '-' ? (bits & ~bit) | less(bit)
                                           : (bits & ~less(bit)) | bit;
    } while (more);
    out_fields->bits = bits | SN_MEMBER_CHOSEN;
    return SEINE_OK;
}

size_t
seine_record_json(const seine_record *r, uint64_t seq, const seine_members *fields,
                  seine_body_form body, char *buf, size_t cap)
{
    if (!r)
        return 0;
    sn_text_writer p = sn_text_writer_on(buf, cap);

    sn_record_json(&p, r, seq,
                   &(sn_record_form){.members = sn_members_of(fields), .body = body});
    return sn_text_writer_len(&p);
}

size_t
seine_record_csv(const seine_record *r, uint64_t seq, const seine_members *fields,
                 unsigned how, char *buf, size_t cap)
{
    sn_text_writer p = sn_text_writer_on(buf, cap);

    sn_record_csv(&p, r, seq, sn_members_of(fields), how);
    return sn_text_writer_len(&p);
}
