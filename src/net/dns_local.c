/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dns_local.h"

#include <string.h>

#include "base/alloc.h"
#include "text/domain.h"

#define NAME  253
#define LABEL 63
#define NAMES 65536
#define KEY   (NAME + sizeof ":65535")

/* A name and its addresses; adding an address allocates it anew. */
typedef struct known {
    sn_str key; /* stored after the addresses */
    uint32_t n;
    sn_ip ips[];
} known;

void
sn_dns_local_init(sn_dns_local *k, seine_family family)
{
    *k = (sn_dns_local){.family = family};
    sn_map_init(&k->names, NAMES);
}

void
sn_dns_local_fini(sn_dns_local *k)
{
    SN_MAP_EACH(entry, &k->names)
        sn_free(entry->value);
    sn_map_fini(&k->names);
}

bool
sn_dns_is_name(sn_str name)
{
    size_t label = 0;

    if (name.len > NAME)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (c == '.') {
            if (label == 0)
                return false;
            label = 0;
        } else if ((c >= 'a' && c <= 'z') || sn_is_digit(c) || c == '-' || c == '_') {
            if (++label > LABEL)
                return false;
        } else {
            return false;
        }
    }
    return label > 0;
}

static bool
is_local(sn_str name)
{
    return sn_domain_has(SN_STR("localhost"), name);
}

void
sn_dns_answer_add(sn_dns_answer *a, const sn_ip *ip)
{
    sn_ip *list = ip->v == 4 ? a->v4 : a->v6;
    uint8_t *n = ip->v == 4 ? &a->n4 : &a->n6;

    for (uint8_t i = 0; i < *n; i++)
        if (sn_ip_eq(&list[i], ip))
            return;
    if (*n < SN_DNS_ADDRESSES)
        list[(*n)++] = *ip;
}

/* Writes the name in lower case; 0: it does not fit. */
static size_t
lower(sn_str name, char out[KEY])
{
    if (name.len > NAME)
        return 0;
    for (size_t i = 0; i < name.len; i++)
        out[i] = sn_lower(name.ptr[i]);
    return name.len;
}

static size_t
add_port(char key[KEY], size_t len, uint16_t port)
{
    key[len++] = ':';
    for (uint32_t unit = 10000; unit > 0; unit /= 10)
        if (port >= unit || unit == 1)
            key[len++] = (char)('0' + port / unit % 10);
    return len;
}

/* FULL, NOMEM. Drops addresses beyond 32. */
static seine_err
add_address(sn_dns_local *k, sn_str key, const sn_ip *ip)
{
    known *old = sn_map_get(&k->names, key);
    uint32_t n = old ? old->n : 0;

    if (n == 2 * SN_DNS_ADDRESSES)
        return SEINE_OK;
    known *next = sn_alloc(sizeof *next + (n + 1) * sizeof *ip + key.len);
    if (!next)
        return SEINE_E_NOMEM;
    next->n = n + 1;
    if (old)
        memcpy(next->ips, old->ips, n * sizeof *ip);
    next->ips[n] = *ip;
    next->key = (sn_str){(char *)&next->ips[n + 1], key.len};
    memcpy(&next->ips[n + 1], key.ptr, key.len);
    if (old)
        sn_free(sn_map_take(&k->names, next->key));
    seine_err e = sn_map_add(&k->names, next->key, next);
    if (e != SEINE_OK)
        sn_free(next);
    return e;
}

static bool
read_port(sn_str text, uint16_t *out_port)
{
    uint64_t n;

    if (text.len > 5 || sn_str_u64(text, &n) != SEINE_OK || n == 0 || n > 65535)
        return false;
    *out_port = (uint16_t)n;
    return true;
}

/* Reads an address, with or without brackets. */
static bool
read_ip(sn_str text, sn_ip *out_ip)
{
    bool brackets = text.len > 2 && text.ptr[0] == '[' && text.ptr[text.len - 1] == ']';

    if (brackets)
        text = sn_str_slice(text, 1, text.len - 1);
    return sn_ip_parse(text, out_ip) == SEINE_OK && (!brackets || out_ip->v == 6);
}

/* Reads the host before a colon, which may be an address in brackets. */
static bool
read_host(sn_str *rest, char out_key[KEY], size_t *out_len)
{
    sn_str host;
    sn_ip ip;

    if (rest->len > 0 && rest->ptr[0] == '[') {
        size_t end = sn_str_find(*rest, ']');

        host = sn_str_slice(*rest, 1, end);
        *rest = sn_str_slice(*rest, end + 1, rest->len);
        if (rest->len == 0 || rest->ptr[0] != ':')
            return false;
        *rest = sn_str_slice(*rest, 1, rest->len);
    } else if (!sn_str_cut(*rest, ':', &host, rest)) {
        return false;
    }
    *out_len = lower(host, out_key);
    host = (sn_str){out_key, *out_len};
    return sn_dns_is_name(host) || sn_ip_parse(host, &ip) == SEINE_OK;
}

seine_err
sn_dns_local_resolve(sn_dns_local *k, sn_str entry)
{
    char key[KEY];
    size_t len;
    sn_str port_text, part, list;
    uint16_t port;
    sn_ip ip;

    if (!read_host(&entry, key, &len) || !sn_str_cut(entry, ':', &port_text, &entry) ||
        !read_port(port_text, &port) || entry.len == 0 || entry.ptr[entry.len - 1] == ',')
        return SEINE_E_INVAL;
    for (list = entry; sn_str_next(&list, ',', &part);)
        if (!read_ip(part, &ip))
            return SEINE_E_INVAL;
    len = add_port(key, len, port);
    for (list = entry; sn_str_next(&list, ',', &part);) {
        seine_err e = SEINE_OK;

        if (read_ip(part, &ip))
            e = add_address(k, (sn_str){key, len}, &ip);
        if (e != SEINE_OK)
            return e;
    }
    k->typed++;
    return SEINE_OK;
}

/* Takes the next word of a line. */
static sn_str
word(sn_str *line)
{
    size_t n = 0;

    *line = sn_str_trim(*line);
    while (n < line->len && !sn_is_space(line->ptr[n]))
        n++;
    sn_str w = sn_str_slice(*line, 0, n);
    *line = sn_str_slice(*line, n, line->len);
    return w;
}

seine_err
sn_dns_local_hosts(sn_dns_local *k, sn_str text)
{
    sn_str line, name;
    sn_ip ip;

    while (sn_str_next(&text, '\n', &line)) {
        line = sn_str_slice(line, 0, sn_str_find(line, '#'));
        if (sn_ip_parse(word(&line), &ip) != SEINE_OK)
            continue;
        while ((name = word(&line)).len > 0) {
            char key[KEY];
            size_t len = lower(name, key);

            if (!sn_dns_is_name((sn_str){key, len}))
                continue;
            seine_err e = add_address(k, (sn_str){key, len}, &ip);
            if (e != SEINE_OK)
                return e == SEINE_E_FULL ? SEINE_OK : e;
        }
    }
    return SEINE_OK;
}

static void
take_family(const sn_dns_local *k, sn_dns_answer *a, const sn_ip *ips, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (k->family == SEINE_FAMILY_ANY ||
            (k->family == SEINE_FAMILY_4) == (ips[i].v == 4))
            sn_dns_answer_add(a, &ips[i]);
}

static const known *
typed(const sn_dns_local *k, sn_str name, uint16_t port)
{
    char key[KEY];

    if (k->typed == 0 || name.len > NAME)
        return NULL;
    if (name.len > 0)
        memcpy(key, name.ptr, name.len);
    return sn_map_get(&k->names, (sn_str){key, add_port(key, name.len, port)});
}

/* BUSY: not known here. */
static seine_err
find_known(const sn_dns_local *k, sn_str name, uint16_t port, sn_dns_answer *a)
{
    static const sn_ip here[] = {{4, {127, 0, 0, 1}}, {6, {[15] = 1}}};
    const known *found = typed(k, name, port);
    sn_ip ip;

    if (!found && sn_ip_parse(name, &ip) == SEINE_OK) {
        take_family(k, a, &ip, 1);
        return SEINE_OK;
    }
    if (!found && !sn_dns_is_name(name))
        return SEINE_E_DNS_BAD_NAME;
    if (!found && is_local(name)) {
        take_family(k, a, here, 2);
        return SEINE_OK;
    }
    if (!found)
        found = sn_map_get(&k->names, name);
    if (!found)
        return SEINE_E_BUSY;
    take_family(k, a, found->ips, found->n);
    return SEINE_OK;
}

seine_err
sn_dns_local_ask(const sn_dns_local *k, sn_str name, uint16_t port,
                 sn_dns_answer *out_answer)
{
    sn_dns_answer a = {0};
    seine_err e = find_known(k, name, port, &a);

    if (e == SEINE_OK && a.n4 + a.n6 == 0)
        e = SEINE_E_DNS_NXDOMAIN;
    if (e == SEINE_OK)
        *out_answer = a;
    return e;
}

seine_err
sn_dns_server(sn_str text, sn_ip *out_ip, uint16_t *out_port)
{
    uint16_t port = 53;
    sn_ip ip;

    if (!read_ip(text, &ip)) {
        size_t colon = text.len;

        while (colon > 0 && text.ptr[colon - 1] != ':')
            colon--;
        if (colon == 0 || !read_port(sn_str_slice(text, colon, text.len), &port) ||
            !read_ip(sn_str_slice(text, 0, colon - 1), &ip) ||
            (ip.v == 6 && text.ptr[0] != '['))
            return SEINE_E_INVAL;
    }
    *out_ip = ip;
    *out_port = port;
    return SEINE_OK;
}
