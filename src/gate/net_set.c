/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/net_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

void
sn_ip_plain(sn_ip *ip)
{
    if (ip->v != 6 || memcmp(ip->bytes, mapped, sizeof mapped) != 0)
        return;
    sn_ip plain = {.v = 4};

    memcpy(plain.bytes, ip->bytes + sizeof mapped, 4);
    *ip = plain;
}

static void
cidr_plain(sn_cidr *net)
{
    if (net->net.v == 6 && net->bits >= 96) {
        sn_ip_plain(&net->net);
        if (net->net.v == 4)
            net->bits = (uint8_t)(net->bits - 96);
    }
}

/* By family, then by length, then by address. */
static int
order(const void *a, const void *b)
{
    const sn_cidr *x = a, *y = b;

    if (x->net.v != y->net.v)
        return x->net.v < y->net.v ? -1 : 1;
    if (x->bits != y->bits)
        return x->bits < y->bits ? -1 : 1;
    return memcmp(x->net.bytes, y->net.bytes, sizeof x->net.bytes);
}

seine_err
sn_net_set_read(sn_net_set *set, const char *member, const char *const *texts,
                seine_diag *diag)
{
    size_t n = 0;

    *set = (sn_net_set){0};
    while (texts && texts[n])
        n++;
    if (n == 0)
        return SEINE_OK;
    set->nets = sn_calloc(n, sizeof *set->nets);
    if (!set->nets)
        return SEINE_E_NOMEM;
    for (; set->n < n; set->n++) {
        sn_str text = sn_str_of(texts[set->n]);

        if (sn_cidr_parse(text, &set->nets[set->n]) != SEINE_OK) {
            sn_net_set_fini(set);
            return sn_diag_value(diag, member, text,
                                 "not a network like 10.0.0.0/8 or 2001:db8::/32");
        }
        cidr_plain(&set->nets[set->n]);
    }
    qsort(set->nets, n, sizeof *set->nets, order);
    return SEINE_OK;
}

void
sn_net_set_fini(sn_net_set *set)
{
    sn_free(set->nets);
    *set = (sn_net_set){0};
}

/* The network of `bits` bits that the address is in. */
static sn_cidr
net_of(const sn_ip *ip, uint8_t bits)
{
    sn_cidr net = {*ip, bits};

    for (unsigned i = 0; i < sizeof net.net.bytes; i++) {
        unsigned keep = bits > 8 * i ? bits - 8 * i : 0;

        if (keep < 8)
            net.net.bytes[i] &= (uint8_t)(0xff00u >> keep);
    }
    return net;
}

/* The first network at or behind `from` that is of another family or length. */
static size_t
next_length(const sn_net_set *set, size_t from)
{
    const sn_cidr *is = &set->nets[from];
    size_t low = from, high = set->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const sn_cidr *m = &set->nets[mid];

        if (m->net.v == is->net.v && m->bits == is->bits)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool
sn_net_set_has(const sn_net_set *set, const sn_ip *ip)
{
    for (size_t i = 0; i < set->n;) {
        size_t end = next_length(set, i);

        if (set->nets[i].net.v == ip->v) {
            sn_cidr want = net_of(ip, set->nets[i].bits);

            if (bsearch(&want, &set->nets[i], end - i, sizeof want, order))
                return true;
        }
        i = end;
    }
    return false;
}
