/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/name_server.h"

#include <string.h>

#include "chaos/arg.h"

enum { HEADER = 12, TYPE_A = 1, TYPE_CNAME = 5, TYPE_ANY = 255 };
enum { OK = 0, FORMAT = 1, FAILED = 2, NO_NAME = 3, NOT_IMPLEMENTED = 4, REFUSED = 5 };
enum {
    FLAG_RESPONSE = 0x80,
    FLAG_CUT = 0x02,
    FLAG_DESIRED = 0x01,
    FLAG_AVAILABLE = 0x80
};

/* What the labels and the script ask for. */
typedef struct label_faults {
    unsigned rcode;
    bool empty, drop, cut, garbage, loop, self, wrong_id;
    uint32_t addresses[SNC_SCRIPT_ANSWERS];
    size_t count;
    uint64_t many; /* number of addresses to give instead */
    uint32_t ttl;
    seine_span delay;
} label_faults;

bool
snc_name_server_question(const uint8_t *query, size_t len, snc_dns_question *out_question)
{
    size_t at = HEADER, n = 0;

    if (len < HEADER + 5 || query[2] & FLAG_RESPONSE || query[4] != 0 || query[5] != 1)
        return false;
    while (at < len && query[at] != 0) {
        size_t label = query[at++];

        if (label > 63 || at + label >= len || n + label + 1 >= sizeof out_question->name)
            return false;
        if (n > 0)
            out_question->name[n++] = '.';
        for (size_t i = 0; i < label; i++)
            out_question->name[n++] = sn_lower((char)query[at++]);
    }
    if (at + 5 > len)
        return false;
    out_question->name[n] = '\0';
    out_question->type = (uint16_t)(query[at + 1] << 8 | query[at + 2]);
    out_question->end = at + 5;
    return true;
}

uint32_t
snc_name_server_address(sn_str name)
{
    uint64_t n;

    if (name.len > 6 && name.ptr[0] == 'h' &&
        snc_arg_count(sn_str_slice(name, 1, name.len - 5), 59999, &n))
        return snc_site_address((uint32_t)n);
    uint64_t bits = snc_dice(0, name, 0, 0);
    return 0x7f010000u | (uint32_t)(1 + bits % 254) << 8 |
           (uint32_t)(1 + bits / 254 % 254);
}

/* Reads the numbers behind the letter: "a-1-2-3-4". */
static bool
read_address(sn_str text, uint32_t *out)
{
    uint64_t n = 0, part;
    sn_str number;

    for (int i = 0; i < 4; i++) {
        if (!sn_str_next(&text, '-', &number) || !snc_arg_count(number, 255, &part))
            return false;
        n = n << 8 | part;
    }
    *out = (uint32_t)n;
    return text.len == 0;
}

static bool
read_number(sn_str label, sn_str prefix, uint64_t most, uint64_t *out)
{
    return sn_str_starts(label, prefix) &&
           snc_arg_count(sn_str_slice(label, prefix.len, label.len), most, out);
}

/* Reads one label; false: it is an ordinary one, and so are all behind it. */
static bool
read_label(sn_str label, label_faults *e)
{
    static const struct {
        sn_str name;
        unsigned rcode;
    } codes[] = {
        {{"nx", 2}, NO_NAME}, {{"servfail", 8}, FAILED}, {{"refused", 7}, REFUSED}};
    const struct {
        sn_str name;
        bool *flag;
    } flags[] = {{{"empty", 5}, &e->empty},     {{"drop", 4}, &e->drop},
                 {{"trunc", 5}, &e->cut},       {{"garbage", 7}, &e->garbage},
                 {{"loop", 4}, &e->loop},       {{"selfname", 8}, &e->self},
                 {{"wrongid", 7}, &e->wrong_id}};
    uint64_t n;

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (sn_str_eq(label, codes[i].name)) {
            e->rcode = codes[i].rcode;
            return true;
        }
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (sn_str_eq(label, flags[i].name))
            return *flags[i].flag = true;
    if (read_number(label, SN_STR("slow-"), 3600000, &n))
        e->delay = SEINE_MS((seine_span)n);
    else if (read_number(label, SN_STR("ttl-"), INT32_MAX, &n))
        e->ttl = (uint32_t)n;
    else if (read_number(label, SN_STR("many-"), 4000, &n))
        e->many = n;
    else if (!sn_str_starts(label, SN_STR("a-")) || e->count == SNC_SCRIPT_ANSWERS ||
             !read_address(sn_str_slice(label, 2, label.len), &e->addresses[e->count]))
        return false;
    else
        e->count++;
    return true;
}

static label_faults
decide_labels(sn_str name, snc_script *script, uint64_t hit)
{
    label_faults e = {.ttl = 60};
    snc_rule *r = snc_script_find(script, SNC_RULE_DNS, name, name, name, hit);
    sn_str rest = name, label;

    if (r) {
        e.rcode = r->rcode;
        e.ttl = r->ttl;
        e.delay = r->delay;
        e.count = r->answer_count;
        e.empty = e.count == 0;
        memcpy(e.addresses, r->answers, sizeof r->answers);
        return e;
    }
    if (!sn_str_ends(name, SN_STR(".test"))) {
        e.rcode = REFUSED;
        return e;
    }
    while (sn_str_next(&rest, '.', &label) && read_label(label, &e))
        continue;
    if (e.count == 0)
        e.addresses[e.count++] = snc_name_server_address(name);
    return e;
}

static void
put_bytes(snc_dns_answer *out, const void *bytes, size_t n)
{
    if (out->len + n > out->room)
        return;
    memcpy(out->bytes + out->len, bytes, n);
    out->len += n;
}

/* The name is a pointer to the question; a record is 16 bytes. */
static bool
put_address(snc_dns_answer *out, uint32_t address, uint32_t ttl, size_t limit)
{
    const uint8_t record[16] = {0xc0,
                                HEADER,
                                0,
                                TYPE_A,
                                0,
                                1,
                                (uint8_t)(ttl >> 24),
                                (uint8_t)(ttl >> 16),
                                (uint8_t)(ttl >> 8),
                                (uint8_t)ttl,
                                0,
                                4,
                                (uint8_t)(address >> 24),
                                (uint8_t)(address >> 16),
                                (uint8_t)(address >> 8),
                                (uint8_t)address};

    if (out->len + sizeof record > limit)
        return false;
    put_bytes(out, record, sizeof record);
    return true;
}

/* Writes a name that points to itself, or an alias of itself. */
static void
put_odd(snc_dns_answer *out, bool self)
{
    uint8_t here = (uint8_t)out->len;
    const uint8_t loop[] = {0xc0, here, 0, TYPE_A, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1};
    const uint8_t alias[] = {0xc0, HEADER, 0, TYPE_CNAME, 0, 1,    0,
                             0,    0,      1, 0,          2, 0xc0, HEADER};

    if (self)
        put_bytes(out, alias, sizeof alias);
    else
        put_bytes(out, loop, sizeof loop);
}

static unsigned
put_answers(snc_dns_answer *out, const label_faults *e, size_t limit)
{
    unsigned n = 0;

    if (e->loop || e->self) {
        put_odd(out, e->self);
        return 1;
    }
    if (e->many > 0) {
        while (n < e->many && put_address(out, 0x7f010001u + n, e->ttl, limit))
            n++;
        return n;
    }
    while (n < e->count && put_address(out, e->addresses[n], e->ttl, limit))
        n++;
    return n;
}

static void
refuse_query(const snc_dns_query *in, snc_dns_answer *out)
{
    const uint8_t head[HEADER] = {in->query[0], in->query[1], FLAG_RESPONSE, FORMAT};

    put_bytes(out, head, HEADER);
    out->rcode = FORMAT;
}

void
snc_name_server_answer(const snc_dns_query *in, snc_dns_answer *out)
{
    size_t limit = in->tcp ? out->room : SNC_NAME_SERVER_UDP;
    snc_dns_question q;

    out->len = 0;
    out->delay = 0;
    if (in->len < HEADER || in->query[2] & FLAG_RESPONSE)
        return;
    if (!snc_name_server_question(in->query, in->len, &q)) {
        refuse_query(in, out);
        return;
    }
    label_faults e = decide_labels(sn_str_of(q.name), in->script, in->hit);
    out->delay = e.delay;
    out->rcode = e.rcode;
    if (e.drop)
        return;

    put_bytes(out, in->query, q.end);
    memset(out->bytes + 6, 0, 6); /* no records yet */
    unsigned n = 0;
    uint64_t wanted = e.many > 0 ? e.many : e.count;
    bool asks = q.type == TYPE_A || q.type == TYPE_ANY;
    if (e.rcode == OK && !e.empty && asks && !(e.cut && !in->tcp))
        n = put_answers(out, &e, limit);
    bool cut = !in->tcp && (e.cut || (asks && e.rcode == OK && !e.empty && n < wanted));
    out->bytes[2] =
        (uint8_t)(FLAG_RESPONSE | (in->query[2] & FLAG_DESIRED) | (cut ? FLAG_CUT : 0));
    out->bytes[3] = (uint8_t)(FLAG_AVAILABLE | e.rcode);
    out->bytes[6] = (uint8_t)(n >> 8);
    out->bytes[7] = (uint8_t)n;
    if (e.wrong_id)
        out->bytes[1] ^= 1;
    if (e.garbage)
        memset(out->bytes + HEADER, 0xff, out->len - HEADER);
}
