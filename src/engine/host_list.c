/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host_list.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "engine/scope_set.h"
#include "seine/url.h"

enum { LONGEST = 253 };

typedef struct glob {
    int32_t port;
    uint16_t len;
    char text[LONGEST + 1];
} glob;

struct sn_host_list {
    sn_scope_set names; /* and all below them; nothing is below an address */
    bool has_ports;     /* some of the names are of one port alone */
    glob *globs;
    size_t n_globs;
};

static seine_err
wrong(const char *text, const char *what, seine_diag *diag)
{
    return sn_diag_value(diag, "domains", sn_str_of(text), what);
}

/* Cuts ":8080" off the end. False: the text behind the colon is no port. */
static bool
cut_port(sn_str text, sn_str *out_host, int32_t *out_port)
{
    const char *colon = text.len > 0 ? memrchr(text.ptr, ':', text.len) : NULL;
    uint64_t port;

    *out_host = text;
    *out_port = SN_PORT_ANY;
    if (!colon || text.ptr[text.len - 1] == ']')
        return true;
    size_t at = (size_t)(colon - text.ptr);
    if (sn_str_u64(sn_str_slice(text, at + 1, text.len), &port) != SEINE_OK ||
        port == 0 || port > 65535)
        return false;
    *out_host = sn_str_slice(text, 0, at);
    *out_port = (int32_t)port;
    return true;
}

static bool
is_wild(sn_str text)
{
    return sn_str_find(text, '*') < text.len || sn_str_find(text, '?') < text.len;
}

/* Copies a pattern, which is ASCII: letters, digits, dots, wildcards. */
static bool
copy_glob(sn_str text, glob *out)
{
    if (text.len > LONGEST)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = sn_lower(text.ptr[i]);

        if (!sn_is_alpha(c) && !sn_is_digit(c) && !memchr("*?.-_:[]", c, 8))
            return false;
        out->text[i] = c;
    }
    out->len = (uint16_t)text.len;
    return text.len > 0;
}

/* Copies a name as URLs have it: lower case, A-labels, one form of an address. */
static bool
copy_name(sn_str text, glob *out)
{
    char whole[1100], mem[SEINE_URL_ROOM];
    seine_view name;
    seine_url u;

    if (text.len == 0 || text.len > 1024)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (memchr("/\\?#@%<>^|\t\r\n", text.ptr[i], 14))
            return false;
    int n = snprintf(whole, sizeof whole, "http://%.*s/", SN_FMT(text));
    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_parse(&u, whole, (size_t)n, NULL) != SEINE_OK || u.port >= 0 ||
        seine_url_name(&u, &name) != SEINE_OK)
        return false;
    memcpy(out->text, name.ptr, name.len);
    out->len = (uint16_t)name.len;
    return true;
}

/* Cuts the "." off ".e.example" and the "*." off "*.e.example". */
static sn_str
bare_name(sn_str host)
{
    sn_str rest = host;

    if (sn_str_starts(host, SN_STR("*.")))
        rest = sn_str_slice(host, 2, host.len);
    else if (sn_str_starts(host, SN_STR(".")))
        rest = sn_str_slice(host, 1, host.len);
    return is_wild(rest) ? host : rest;
}

static seine_err
add_pattern(sn_host_list *n, const char *text, seine_diag *diag)
{
    glob g = {.port = SN_PORT_ANY};
    sn_str host;

    if (strstr(text, "://"))
        return wrong(text, "a URL, not the name of a host", diag);
    if (!cut_port(sn_str_of(text), &host, &g.port))
        return wrong(text, "not a port", diag);
    host = bare_name(host);
    bool wild = is_wild(host);
    if (!(wild ? copy_glob(host, &g) : copy_name(host, &g)))
        return wrong(text, "not the name of a host", diag);
    n->has_ports |= !wild && g.port != SN_PORT_ANY;
    if (!wild)
        return sn_scope_set_add(&n->names,
                                &(sn_scope_place){{g.text, g.len}, {0}, g.port});
    if (n->n_globs == SN_HOST_LIST_GLOBS)
        return wrong(text, "more than 1000 names with wildcards", diag);
    n->globs[n->n_globs++] = g;
    return SEINE_OK;
}

seine_err
sn_host_list_new(const char *const *texts, sn_host_list **out_list, seine_diag *diag)
{
    sn_host_list *n = sn_zalloc(sizeof *n);
    seine_err e = SEINE_OK;
    size_t count = 0;

    if (!n)
        return SEINE_E_NOMEM;
    sn_scope_set_init(&n->names);
    while (texts[count])
        count++;
    if (count > SN_HOST_LIST_GLOBS)
        count = SN_HOST_LIST_GLOBS;
    n->globs = sn_calloc(count + 1, sizeof *n->globs);
    if (!n->globs)
        e = SEINE_E_NOMEM;
    for (size_t i = 0; e == SEINE_OK && texts[i]; i++)
        e = add_pattern(n, texts[i], diag);
    if (e == SEINE_OK)
        *out_list = n;
    else
        sn_host_list_free(n);
    return e;
}

void
sn_host_list_free(sn_host_list *n)
{
    if (!n)
        return;
    sn_scope_set_fini(&n->names);
    sn_free(n->globs);
    sn_free(n);
}

/* Looks up the name, then the name without its first label, and so on. */
static bool
has_name(const sn_host_list *n, sn_str name, int32_t port)
{
    while (name.len > 0) {
        if (sn_scope_set_has(&n->names, &(sn_scope_place){name, {0}, SN_PORT_ANY}) ||
            (n->has_ports &&
             sn_scope_set_has(&n->names, &(sn_scope_place){name, {0}, port})))
            return true;
        name = sn_str_slice(name, sn_str_find(name, '.') + 1, name.len);
    }
    return false;
}

bool
sn_host_list_has(const sn_host_list *n, sn_str name, int port)
{
    if (has_name(n, name, port))
        return true;
    for (size_t i = 0; i < n->n_globs; i++) {
        const glob *g = &n->globs[i];

        if ((g->port == SN_PORT_ANY || g->port == port) &&
            sn_str_glob((sn_str){g->text, g->len}, name))
            return true;
    }
    return false;
}
