/* SPDX-License-Identifier: Apache-2.0 */
#include "net/address_guard.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* clang-format off */
#define V4(a, b, c, d, bits) {{4, {a, b, c, d}}, bits}
#define V6(bits, ...)        {{6, {__VA_ARGS__}}, bits}

/* The first row that contains the address decides. */
static const sn_address_zone_rule table[] = {
    {V4(169, 254, 169, 254, 32), SN_ADDRESS_FORBIDDEN}, /* metadata services */
    {V4(169, 254, 170, 2, 32),   SN_ADDRESS_FORBIDDEN},
    {V4(169, 254, 170, 23, 32),  SN_ADDRESS_FORBIDDEN},
    {V4(169, 254, 42, 42, 32),   SN_ADDRESS_FORBIDDEN},
    {V4(169, 254, 0, 23, 32),    SN_ADDRESS_FORBIDDEN},
    {V4(100, 100, 100, 200, 32), SN_ADDRESS_FORBIDDEN},
    {V4(168, 63, 129, 16, 32),   SN_ADDRESS_FORBIDDEN},
    {V4(192, 0, 0, 192, 32),     SN_ADDRESS_FORBIDDEN},
    {V4(224, 0, 0, 0, 4),        SN_ADDRESS_FORBIDDEN}, /* multicast */
    {V4(240, 0, 0, 0, 4),        SN_ADDRESS_FORBIDDEN}, /* reserved, broadcast */
    {V4(0, 0, 0, 0, 8),          SN_ADDRESS_LOCAL},
    {V4(127, 0, 0, 0, 8),        SN_ADDRESS_LOCAL},
    {V4(169, 254, 0, 0, 16),     SN_ADDRESS_LOCAL},     /* link-local */
    {V4(10, 0, 0, 0, 8),         SN_ADDRESS_PRIVATE},
    {V4(172, 16, 0, 0, 12),      SN_ADDRESS_PRIVATE},
    {V4(192, 168, 0, 0, 16),     SN_ADDRESS_PRIVATE},
    {V4(100, 64, 0, 0, 10),      SN_ADDRESS_PRIVATE},   /* carrier-grade NAT */
    {V4(198, 18, 0, 0, 15),      SN_ADDRESS_PRIVATE},   /* benchmarks */
    {V4(192, 0, 0, 0, 24),       SN_ADDRESS_PRIVATE},   /* protocol assignments */
    {V4(192, 88, 99, 0, 24),     SN_ADDRESS_PRIVATE},   /* 6to4 relays */
    {V4(192, 0, 2, 0, 24),       SN_ADDRESS_PRIVATE},   /* documentation */
    {V4(198, 51, 100, 0, 24),    SN_ADDRESS_PRIVATE},
    {V4(203, 0, 113, 0, 24),     SN_ADDRESS_PRIVATE},
    {V4(0, 0, 0, 0, 0),          SN_ADDRESS_PUBLIC},
    {V6(128, 0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0x54), SN_ADDRESS_FORBIDDEN},
    {V6(128, 0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x23), SN_ADDRESS_FORBIDDEN},
    {V6(128, 0xfd, 0x20, 0, 0xce, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0x54), SN_ADDRESS_FORBIDDEN},
    {V6(128, 0xfd, 0, 0, 0x42, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x42), SN_ADDRESS_FORBIDDEN},
    {V6(128, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xa9, 0xfe, 0xa9, 0xfe), SN_ADDRESS_FORBIDDEN},
    {V6(8, 0xff),                SN_ADDRESS_FORBIDDEN}, /* multicast */
    {V6(64, 1),                  SN_ADDRESS_FORBIDDEN}, /* discard, 100::/64 */
    {V6(128, 0),                 SN_ADDRESS_LOCAL},     /* :: */
    {V6(128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), SN_ADDRESS_LOCAL}, /* ::1 */
    {V6(10, 0xfe, 0x80),         SN_ADDRESS_LOCAL},     /* link-local */
    {V6(7, 0xfc),                SN_ADDRESS_PRIVATE},
    {V6(10, 0xfe, 0xc0),         SN_ADDRESS_PRIVATE},   /* site-local, deprecated */
    {V6(32, 0x20, 0x01, 0x0d, 0xb8), SN_ADDRESS_PRIVATE}, /* documentation */
    {V6(20, 0x3f, 0xff, 0),      SN_ADDRESS_PRIVATE},
    {V6(48, 0x20, 0x01, 0, 0x02, 0, 0), SN_ADDRESS_PRIVATE}, /* benchmarks */
    {V6(3, 0x20),                SN_ADDRESS_PUBLIC},
    {V6(0, 0),                   SN_ADDRESS_FORBIDDEN},
};

static const sn_cidr mapped = V6(96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff);
static const sn_cidr compatible = V6(96, 0);
static const sn_cidr nat64 = V6(96, 0, 0x64, 0xff, 0x9b);
static const sn_cidr six_to_four = V6(16, 0x20, 0x02);
static const sn_cidr teredo = V6(32, 0x20, 0x01, 0, 0);

/* "Bad ports" of the Fetch standard. */
static const uint16_t ports[] = {
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95,
    101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179,
    389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601,
    636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000,
    6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
};

static const char *const names[] = {"public", "private", "local", "forbidden"};
/* clang-format on */

/* An address and the IPv4 addresses embedded in it; Teredo embeds two, server and
 * client. */
typedef struct forms {
    sn_ip raw, v4[2];
    int n;
} forms;

static void
carry(forms *f, const uint8_t bytes[4], uint8_t mask)
{
    sn_ip *ip = &f->v4[f->n++];

    *ip = (sn_ip){.v = 4};
    for (int i = 0; i < 4; i++)
        ip->bytes[i] = bytes[i] ^ mask;
}

/* RFC 6052: the IPv4 address follows the prefix, but skips the ninth byte. */
static void
carry_nat64(forms *f, const sn_cidr *prefix)
{
    uint8_t v4[4];
    unsigned at = prefix->bits / 8;

    for (int i = 0; i < 4; i++, at++) {
        if (at == 8)
            at++;
        v4[i] = f->raw.bytes[at];
    }
    carry(f, v4, 0);
}

static bool
is_unspecified_or_loopback(const sn_ip *ip)
{
    static const uint8_t zeros[15];

    return memcmp(ip->bytes, zeros, 15) == 0 && ip->bytes[15] <= 1;
}

static forms
forms_of(const sn_address_guard *z, const sn_ip *ip)
{
    const uint8_t *b = ip->bytes;
    forms f = {.raw = *ip};

    for (size_t i = 0; i < z->opts.n_nat64; i++)
        if (sn_cidr_has(&z->opts.nat64[i], ip)) {
            carry_nat64(&f, &z->opts.nat64[i]);
            return f;
        }
    if (sn_cidr_has(&mapped, ip) || sn_cidr_has(&nat64, ip) ||
        (sn_cidr_has(&compatible, ip) && !is_unspecified_or_loopback(ip))) {
        carry(&f, b + 12, 0);
    } else if (sn_cidr_has(&six_to_four, ip)) {
        carry(&f, b + 2, 0);
    } else if (sn_cidr_has(&teredo, ip)) {
        carry(&f, b + 12, 0xff);
        carry(&f, b + 4, 0);
    }
    return f;
}

static int
by_bytes(const void *a, const void *b)
{
    const sn_ip *x = a, *y = b;

    return x->v != y->v ? x->v - y->v : memcmp(x->bytes, y->bytes, sizeof x->bytes);
}

static bool
is_own(const sn_address_guard *z, const sn_ip *ip)
{
    return z->n_own > 0 && bsearch(ip, z->own, z->n_own, sizeof *z->own, by_bytes);
}

/* Returns the narrowest rule that contains the address, the last of equals, or NULL. */
static const sn_address_zone_rule *
rule_for(const sn_address_guard *z, const sn_ip *ip)
{
    const sn_address_zone_rule *best = NULL;

    for (size_t i = 0; i < z->opts.n_rules; i++) {
        const sn_address_zone_rule *r = &z->opts.rules[i];

        if (sn_cidr_has(&r->net, ip) && (!best || r->net.bits >= best->net.bits))
            best = r;
    }
    return best;
}

static const sn_address_zone_rule *
row_for(const sn_ip *ip)
{
    const sn_address_zone_rule *row = table;

    while (!sn_cidr_has(&row->net, ip))
        row++;
    return row; /* the last row of each version matches every address */
}

static sn_address_zone
judge(const sn_address_guard *z, const sn_ip *ip)
{
    const sn_address_zone_rule *rule = rule_for(z, ip);

    if (rule)
        return rule->zone;
    sn_address_zone zone = row_for(ip)->zone;
    return zone != SN_ADDRESS_FORBIDDEN && is_own(z, ip) ? SN_ADDRESS_LOCAL : zone;
}

static sn_address_zone
worse(sn_address_zone a, sn_address_zone b)
{
    return a > b ? a : b;
}

/* Ranks an address by the IPv4 address it embeds; a rule for the outer address counts
 * too. */
static sn_address_zone
find_zone(const sn_address_guard *z, const forms *f)
{
    const sn_address_zone_rule *rule = rule_for(z, &f->raw);
    sn_address_zone zone = SN_ADDRESS_PUBLIC;

    if (f->n == 0)
        return judge(z, &f->raw);
    for (int i = 0; i < f->n; i++)
        zone = worse(zone, judge(z, &f->v4[i]));
    if (rule)
        zone = worse(zone, rule->zone);
    return is_own(z, &f->raw) ? worse(zone, SN_ADDRESS_LOCAL) : zone;
}

sn_address_zone
sn_address_guard_zone(const sn_address_guard *z, const struct sockaddr *addr)
{
    sn_ip ip;

    if (!sn_ip_of(addr, &ip))
        return SN_ADDRESS_FORBIDDEN;
    forms f = forms_of(z, &ip);
    return find_zone(z, &f);
}

static bool
in_any(const sn_cidr *nets, size_t n, const sn_ip *ip)
{
    for (size_t i = 0; i < n; i++)
        if (sn_cidr_has(&nets[i], ip))
            return true;
    return false;
}

/* An address is denied if its outer or an embedded form is. */
static bool
is_denied(const sn_address_guard *z, const forms *f)
{
    bool denied = in_any(z->opts.deny, z->opts.n_deny, &f->raw);

    for (int i = 0; i < f->n; i++)
        denied |= in_any(z->opts.deny, z->opts.n_deny, &f->v4[i]);
    return denied;
}

static uint16_t
port_of(const struct sockaddr *addr)
{
    struct sockaddr_in in;

    /* Both families have the port at the same place. */
    _Static_assert(offsetof(struct sockaddr_in, sin_port) ==
                       offsetof(struct sockaddr_in6, sin6_port),
                   "read as that of IPv4");
    memcpy(&in, addr, sizeof in);
    return ntohs(in.sin_port);
}

/* Does a connection to the address stay on this machine? Rules play no part. */
static bool
is_here(const sn_address_guard *z, const sn_ip *ip)
{
    return is_own(z, ip) || row_for(ip)->zone == SN_ADDRESS_LOCAL;
}

/* A port of this machine that is denied, in whatever form its address is. */
static bool
is_denied_here(const sn_address_guard *z, const struct sockaddr *addr, const forms *f)
{
    uint16_t port = port_of(addr);
    bool denied = false, here = is_here(z, &f->raw);

    for (size_t i = 0; i < z->opts.n_own_ports; i++)
        denied |= z->opts.own_ports[i] == port;
    for (int i = 0; i < f->n; i++)
        here |= is_here(z, &f->v4[i]);
    return denied && here;
}

/* An address is allowed if its outer form is, or all embedded forms are. */
static bool
is_allowed(const sn_address_guard *z, const forms *f)
{
    bool carried = f->n > 0;

    for (int i = 0; i < f->n; i++)
        carried &= in_any(z->opts.allow, z->opts.n_allow, &f->v4[i]);
    return carried || in_any(z->opts.allow, z->opts.n_allow, &f->raw);
}

seine_err
sn_address_guard_check(const sn_address_guard *z, const struct sockaddr *addr,
                       sn_address_zone ceiling, sn_address_zone pin)
{
    sn_ip ip;

    if (!sn_ip_of(addr, &ip))
        return SEINE_E_BLOCKED_ADDRESS;
    forms f = forms_of(z, &ip);
    if (is_denied(z, &f) || is_denied_here(z, addr, &f))
        return SEINE_E_BLOCKED_ADDRESS;
    if (is_allowed(z, &f))
        return SEINE_OK;

    sn_address_zone zone = find_zone(z, &f);
    if (zone == SN_ADDRESS_FORBIDDEN || zone > ceiling || zone > pin)
        return SEINE_E_BLOCKED_ADDRESS;
    return SEINE_OK;
}

sn_address_zone
sn_address_zone_pin(sn_address_zone pin, sn_address_zone connected)
{
    return connected < pin ? connected : pin;
}

/* A page from a forbidden address gets the lowest ceiling. */
sn_address_zone
sn_address_zone_ceiling(sn_address_zone peer)
{
    return peer == SN_ADDRESS_FORBIDDEN ? SN_ADDRESS_PUBLIC : peer;
}

sn_cidr
sn_address_guard_net(const sn_address_guard *z, const struct sockaddr *addr)
{
    sn_ip ip = {.v = 4};

    if (!sn_ip_of(addr, &ip))
        return (sn_cidr){ip, 32};
    forms f = forms_of(z, &ip);
    ip = f.n == 1 ? f.v4[0] : ip;
    const sn_address_zone_rule *rule = rule_for(z, &ip),
                               *row = rule ? rule : row_for(&ip);
    if (f.n < 2 && row->zone != SN_ADDRESS_PUBLIC && row->net.bits > 0 &&
        (rule || !is_own(z, &ip)))
        return row->net;
    return (sn_cidr){ip, ip.v == 4 ? 32 : 128};
}

bool
sn_address_guard_blocks_port(uint16_t port)
{
    for (size_t i = 0; i < sizeof ports / sizeof *ports && ports[i] <= port; i++)
        if (ports[i] == port)
            return true;
    return false;
}

const char *
sn_address_zone_name(sn_address_zone zone)
{
    return names[zone];
}

seine_err
sn_address_zone_rule_parse(sn_str text, sn_address_zone_rule *out_rule)
{
    sn_str net, name;
    sn_address_zone_rule rule;

    if (!sn_str_cut(text, '=', &net, &name) || sn_cidr_parse(net, &rule.net) != SEINE_OK)
        return SEINE_E_INVAL;
    for (int i = 0; i <= SN_ADDRESS_FORBIDDEN; i++)
        if (sn_str_eq(name, sn_str_of(names[i]))) {
            rule.zone = (sn_address_zone)i;
            *out_rule = rule;
            return SEINE_OK;
        }
    return SEINE_E_INVAL;
}

/* Copies an array to *at and moves *at behind it. */
static void *
keep_array(char **at, const void *array, size_t n, size_t size)
{
    char *copy = *at;

    if (n > 0)
        memcpy(copy, array, n * size);
    *at += n * size;
    return copy;
}

static bool
is_sound(const sn_address_guard_opts *o)
{
    for (size_t i = 0; i < o->n_nat64; i++) {
        unsigned bits = o->nat64[i].bits;

        if (o->nat64[i].net.v != 6 ||
            (bits != 96 && (bits < 32 || bits > 64 || bits % 8 != 0)))
            return false;
    }
    for (size_t i = 0; i < o->n_rules; i++)
        if ((unsigned)o->rules[i].zone > SN_ADDRESS_FORBIDDEN)
            return false;
    return true;
}

seine_err
sn_address_guard_init(sn_address_guard *z, const sn_address_guard_opts *opts)
{
    size_t nets = opts->n_allow + opts->n_deny + opts->n_nat64;

    if (!is_sound(opts))
        return SEINE_E_INVAL;
    char *at = sn_calloc(1, opts->n_rules * sizeof *opts->rules + nets * sizeof(sn_cidr) +
                                opts->n_own_ports * sizeof *opts->own_ports);
    if (!at)
        return SEINE_E_NOMEM;
    *z = (sn_address_guard){.opts = *opts, .memory = at};
    z->opts.rules = keep_array(&at, opts->rules, opts->n_rules, sizeof *opts->rules);
    z->opts.allow = keep_array(&at, opts->allow, opts->n_allow, sizeof *opts->allow);
    z->opts.deny = keep_array(&at, opts->deny, opts->n_deny, sizeof *opts->deny);
    z->opts.nat64 = keep_array(&at, opts->nat64, opts->n_nat64, sizeof *opts->nat64);
    z->opts.own_ports =
        keep_array(&at, opts->own_ports, opts->n_own_ports, sizeof *opts->own_ports);
    return SEINE_OK;
}

void
sn_address_guard_fini(sn_address_guard *z)
{
    sn_free(z->memory);
    sn_free(z->own);
    *z = (sn_address_guard){0};
}

seine_err
sn_address_guard_set_own(sn_address_guard *z, const sn_ip *list, size_t n)
{
    sn_ip *own = sn_calloc(n, sizeof *own);

    if (!own)
        return SEINE_E_NOMEM;
    if (n > 0) {
        memcpy(own, list, n * sizeof *own);
        qsort(own, n, sizeof *own, by_bytes);
    }
    sn_free(z->own);
    z->own = own;
    z->n_own = n;
    return SEINE_OK;
}

seine_err
sn_address_guard_read_own(sn_address_guard *z, const sn_iface_source *source)
{
    static const sn_iface_source kernel = {getifaddrs, freeifaddrs};
    struct ifaddrs *list = NULL;
    size_t n = 0, used = 0;

    source = source ? source : &kernel;
    if (source->get(&list) != 0)
        return SEINE_E_IO;
    for (struct ifaddrs *i = list; i; i = i->ifa_next)
        n++;
    sn_ip *own SN_AUTOFREE = sn_calloc(n, sizeof *own);
    for (struct ifaddrs *i = list; own && i; i = i->ifa_next)
        used += i->ifa_addr && sn_ip_of(i->ifa_addr, &own[used]);
    source->put(list);
    return own ? sn_address_guard_set_own(z, own, used) : SEINE_E_NOMEM;
}
