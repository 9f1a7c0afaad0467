/* SPDX-License-Identifier: Apache-2.0 */
/* A base on the first line, a reference behind it. */
#include <stdlib.h>
#include <string.h>

#include "seine/url.h"
#include "text/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

/* In memory that ends where the URL may end. */
typedef struct made {
    char *mem;
    seine_url u;
    seine_err err;
    seine_url_flaw flaw;
} made;

static void
make(made *m, size_t size, const seine_url *base, const char *ref, size_t len)
{
    size_t steps;

    m->mem = malloc(size);
    REQUIRE(m->mem);
    memset(m->mem, 'x', size);
    seine_url_init(&m->u, m->mem, size);
    m->flaw = (seine_url_flaw){SEINE_URL_NONE, 0};
    m->err = sn_url_run(&m->u, base, (sn_str){ref, len}, &m->flaw, &steps);
    REQUIRE(steps <= 16 * (len + (base ? base->len : 0)) + 4096);
    REQUIRE(m->err == SEINE_OK || m->err == SEINE_E_BAD_URL);
    if (m->err == SEINE_OK) {
        REQUIRE(m->u.len < size && strlen(m->mem) == m->u.len);
        REQUIRE(m->flaw.kind == SEINE_URL_NONE);
    } else {
        REQUIRE(m->u.len == 0 && m->mem[0] == '\0');
        REQUIRE(m->flaw.kind > SEINE_URL_NONE && m->flaw.kind <= SEINE_URL_BAD_PORT);
        REQUIRE(m->flaw.at <= len);
    }
}

/* The same parts at the same places. */
static bool
same(const seine_url *a, const seine_url *b)
{
    return a->len == b->len && memcmp(a->href, b->href, a->len) == 0 &&
           a->scheme_end == b->scheme_end && a->user_end == b->user_end &&
           a->password_end == b->password_end && a->host_at == b->host_at &&
           a->host_end == b->host_end && a->path_at == b->path_at &&
           a->path_end == b->path_end && a->query_end == b->query_end &&
           a->port == b->port && a->scheme == b->scheme && a->host == b->host &&
           a->opaque == b->opaque;
}

/* The href, read again with or without a base, is the URL it came from. */
static void
check_again(const seine_url *u, const seine_url *base)
{
    made m;

    make(&m, u->len + (size_t)1, base, u->href, u->len);
    REQUIRE(m.err == SEINE_OK && same(u, &m.u));
    free(m.mem);
}

static void
check_parts(const seine_url *u)
{
    seine_view parts[] = {seine_url_scheme(u),    seine_url_username(u),
                          seine_url_password(u),  seine_url_host(u),
                          seine_url_port_text(u), seine_url_path(u),
                          seine_url_query(u),     seine_url_fragment(u)};
    const char *at = u->href;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].len == 0)
            continue;
        REQUIRE(parts[i].ptr >= at); /* in order, and none over another */
        at = parts[i].ptr + parts[i].len;
        REQUIRE(at <= u->href + u->len);
    }
    for (const char *p = u->href; *p; p++)
        REQUIRE((unsigned char)*p >= ' ' && (unsigned char)*p < 0x7f);
    REQUIRE(seine_url_port(u) >= -1 && seine_url_port(u) <= 65535);
    REQUIRE(!seine_url_is_special(u) || seine_url_path(u).ptr[0] == '/');
    REQUIRE(seine_url_host(u).len > 0 || seine_url_host_is(u) <= SEINE_HOST_EMPTY);
}

static void
check_names(const seine_url *u)
{
    char text[SEINE_URL_ROOM + 8];
    seine_view name;

    if (seine_url_name(u, &name) == SEINE_OK)
        REQUIRE(name.len > 0 && name.len <= seine_url_host(u).len);
    size_t len = seine_url_authority(u, text, sizeof text);
    REQUIRE(len == strlen(text) && (len > 0) == (seine_url_host(u).len > 0));
    len = seine_url_origin(u, text, sizeof text);
    REQUIRE(len == strlen(text) && len > 0);
}

static void
check_key(const seine_url *u, const char *strip)
{
    size_t len, again_len;
    char *key = malloc(u->len + (size_t)1), *again;
    made m;

    REQUIRE(key && seine_url_key(u, strip, key, u->len + (size_t)1, &len) == SEINE_OK);
    REQUIRE(len == strlen(key) && len <= u->len);
    make(&m, len + 1, NULL, key, len);
    REQUIRE(m.err == SEINE_OK && strcmp(m.mem, key) == 0);
    again = malloc(len + 1);
    REQUIRE(again && seine_url_key(&m.u, strip, again, len + 1, &again_len) == SEINE_OK);
    REQUIRE(strcmp(again, key) == 0);
    /* In place it is the same. */
    REQUIRE(seine_url_key(&m.u, strip, m.mem, len + 1, &again_len) == SEINE_OK);
    REQUIRE(strcmp(m.mem, key) == 0);
    free(m.mem);
    free(again);
    free(key);
}

static void
check_dropped(seine_url *u)
{
    made m;

    make(&m, SEINE_URL_ROOM, NULL, u->href, u->len);
    seine_url_drop_user(&m.u);
    check_again(&m.u, NULL);
    seine_url_drop_fragment(&m.u);
    check_again(&m.u, NULL);
    REQUIRE(!strchr(m.mem, '#') && seine_url_username(&m.u).len == 0);
    REQUIRE(seine_url_password(&m.u).len == 0);
    free(m.mem);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes;
    const char *line_end = n > 0 ? memchr(text, '\n', n) : NULL;
    size_t base_len = line_end ? (size_t)(line_end - text) : 0;
    const char *ref = line_end ? line_end + 1 : text;
    size_t len = n - (size_t)(ref - text);
    made base, m, tight;

    make(&base, SEINE_URL_ROOM, NULL, text, base_len);
    const seine_url *from = base.err == SEINE_OK ? &base.u : NULL;
    make(&m, SEINE_URL_ROOM, from, ref, len);
    if (m.err == SEINE_OK) {
        check_parts(&m.u);
        check_names(&m.u);
        check_again(&m.u, NULL);
        check_again(&m.u, from);
        check_key(&m.u, NULL);
        check_key(&m.u, "a*,?b,*c*,%2F");
        check_dropped(&m.u);
        if (m.u.len > 1) {
            make(&tight, m.u.len, from, ref, len); /* one byte short */
            REQUIRE(tight.flaw.kind == SEINE_URL_TOO_LONG);
            free(tight.mem);
        }
    }
    free(m.mem);
    free(base.mem);
    return 0;
}
