/* SPDX-License-Identifier: Apache-2.0 */
/* socket_transport_tls.h - the same with TLS: an evil server, and whoever trusts its
 * authority. */
#ifndef WIRED_TLS_TEST_H
#define WIRED_TLS_TEST_H

#include <unistd.h>

#include "diag_line.h"
#include "socket_transport.h"

typedef struct secured {
    seine_chaos *c;
    sn_tls_ctx *ctx;
    sn_transport *t;
    char ca[64];   /* a file */
    char base[64]; /* of the last URL made */
} secured;

static inline void
write_file(char path[64], const char *text)
{
    snprintf(path, 64, "/tmp/seine-tls-XXXXXX");
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* A server whose authority is trusted. */
static inline secured
secure_with(const char *script, sn_socket_transport_opts opts, uint8_t tls_min)
{
    secured s = {0};
    seine_chaos_opts o = SEINE_CHAOS_OPTS;
    seine_diag diag = SEINE_DIAG;

    o.tls = o.dns = true;
    o.script = script;
    CHECK_EQ(seine_chaos_new(&o, &s.c), SEINE_OK);
    write_file(s.ca, seine_chaos_where(s.c, "ca"));
    CHECK_EQ(
        sn_tls_ctx_new(&(sn_tls_opts){.cacert = s.ca, .min = tls_min}, &s.ctx, &diag),
        SEINE_OK);
    CHECK_STR(diag_line(&diag), "");
    opts.tls = s.ctx;
    opts.dns.server = seine_chaos_where(s.c, "dns");
    s.t = transport_of(&opts);
    return s;
}

static inline secured
secure(void)
{
    return secure_with(NULL, transport_opts(), 12);
}

static inline void
secure_end(secured *s)
{
    sn_socket_transport_free(s->t);
    sn_tls_ctx_free(s->ctx);
    seine_chaos_free(s->c);
    unlink(s->ca);
}

/* "https://HOST:PORT" */
static inline const char *
at(secured *s, const char *host)
{
    const char *url = seine_chaos_where(s->c, "https");

    snprintf(s->base, sizeof s->base, "https://%s:%s", host, strrchr(url, ':') + 1);
    return s->base;
}

#endif
