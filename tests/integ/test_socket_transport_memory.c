/* SPDX-License-Identifier: Apache-2.0 */
/* What TLS and unpacking take: the server is another process, so that all memory here
 * is the transport's. */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "failing.h"
#include "socket_transport_tls.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

typedef struct server {
    pid_t child;
    char http[64], https[64], ca[64]; /* the last is a file */
} server;

static server
serve(void)
{
    server s = {0};
    char all[8192] = "";
    size_t n = 0;
    int ends[2];

    CHECK_EQ(pipe(ends), 0);
    s.child = fork();
    if (s.child == 0) {
        seine_chaos_opts o = SEINE_CHAOS_OPTS;
        seine_chaos *c = NULL;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        o.tls = true;
        if (seine_chaos_new(&o, &c) != SEINE_OK)
            _exit(1);
        dprintf(ends[1], "%s\n%s\n%s", seine_chaos_url(c), seine_chaos_where(c, "https"),
                seine_chaos_where(c, "ca"));
        close(ends[1]);
        for (;;)
            pause();
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], all + n, sizeof all - 1 - n)) > 0;)
        n += (size_t)got;
    close(ends[0]);
    char *second = strchr(all, '\n'), *third = second ? strchr(second + 1, '\n') : NULL;
    CHECK(third != NULL);
    *second = *third = '\0';
    snprintf(s.http, sizeof s.http, "%.60s", all);
    snprintf(s.https, sizeof s.https, "%.60s", second + 1);
    write_file(s.ca, third + 1);
    return s;
}

static void
stop(server *s)
{
    kill(s->child, SIGKILL);
    waitpid(s->child, NULL, 0);
    unlink(s->ca);
}

static sn_tls_ctx *
trusting(const server *s)
{
    sn_tls_ctx *ctx = NULL;

    CHECK_EQ(sn_tls_ctx_new(&(sn_tls_opts){.cacert = s->ca, .min = 12}, &ctx, NULL),
             SEINE_OK);
    return ctx;
}

/* KiB of this process that are in memory, now or at most. */
static long
resident(const char *which)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long kb = 0;

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, which, strlen(which)) == 0)
            kb = strtol(line + strlen(which), NULL, 10);
    if (f)
        fclose(f);
    return kb;
}

static void
forget_peak(void)
{
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

    CHECK(fd >= 0 && write(fd, "5", 1) == 1);
    close(fd);
}

TEST(any_allocation_of_ours_may_fail)
{
    static const char *const paths[] = {"/ok", "/gzip/bytes:100", "/zstd/br/bytes:100",
                                        "/gzip/html:9000"};
    server s = serve();
    sn_tls_ctx *ctx = trusting(&s);

    EACH_ROW(i, paths) {
        sn_socket_transport_opts o = transport_opts();
        visit *v = visit_of(s.https, paths[i]), fresh = *v;

        o.tls = ctx;
        FAIL_EACH(n)
        visit_survives(v, &fresh, &o);
        free(v);
    }
    FAIL_EACH(n)
    {
        sn_tls_ctx *other = NULL;
        seine_err e =
            sn_tls_ctx_new(&(sn_tls_opts){.cacert = s.ca, .min = 12}, &other, NULL);

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        sn_tls_ctx_free(other);
    }
    sn_tls_ctx_free(ctx);
    stop(&s);
}

TEST(once_warm_unpacking_allocates_nothing)
{
    enum { AT_ONCE = 8 };
    /* zstd as most servers use it has a window of 2 MiB, which is not kept. */
    static const char *const codings[] = {"gzip", "deflate", "br"};
    server s = serve();

    EACH_ROW(k, codings) {
        char path[64];
        visit *v[AT_ONCE];
        long before = 0;

        snprintf(path, sizeof path, "/%s/bytes:2000", codings[k]);
        count_begin();
        sn_transport *t = transport();
        for (int round = 0; round < 20; round++) {
            if (round == 10) /* the origin has proven itself: no more trials */
                before = count_calls();
            for (int i = 0; i < AT_ONCE; i++) {
                v[i] = visit_of(s.http, path);
                CHECK_EQ(visit_start(t, v[i]), SEINE_OK);
            }
            for (int i = 0; i < AT_ONCE; i++) {
                visit_wait(v[i]);
                CHECK_END(v[i], SEINE_OK);
                free(v[i]);
            }
        }
        CHECK_EQ(count_calls(), before);
        sn_socket_transport_free(t);
        count_end();
    }
    stop(&s);
}

/* P5: every coding alone, and inside of each other one, over TLS. */
TEST(p5_a_bomb_of_any_coding_takes_less_than_64_mib)
{
    static const char *const codings[] = {"gzip", "deflate", "br", "zstd"};
    server s = serve();
    sn_tls_ctx *ctx = trusting(&s);
    sn_socket_transport_opts o = transport_opts();
    long worst = 0;

    o.tls = ctx;
    sn_transport *t = transport_of(&o);
    visit *v = get(t, s.https, "/ok"); /* OpenSSL has what it needs */
    free(v);
    for (int outer = -1; outer < 4; outer++)
        EACH_ROW(inner, codings) {
            char path[64];
            long idle = resident("VmRSS:");

            if (outer < 0)
                snprintf(path, sizeof path, "/bomb:%s:1G", codings[inner]);
            else
                snprintf(path, sizeof path, "/%s/bomb:%s:1G", codings[outer],
                         codings[inner]);
            forget_peak();
            v = get(t, s.https, path);
            CHECK_END(v, SEINE_E_BODY_TOO_LARGE);
            CHECK(v->bytes <= 16 << 20);
            CHECK(v->end.partial);
            free(v);
            long used = resident("VmHWM:") - idle;
            worst = used > worst ? used : worst;
        }
    printf("  worst bomb: %ld KiB above idle\n", worst);
    CHECK(SANITIZED || worst < 64 << 10);
    /* Small turns: nothing else waits for a bomb. */
    CHECK(SANITIZED || transport_stats(t).longest_turn < SEINE_SECS(2));
    printf("  longest turn: %.1f ms\n", (double)transport_stats(t).longest_turn / 1e6);
    sn_socket_transport_free(t);
    sn_tls_ctx_free(ctx);
    stop(&s);
}

static void
measure_idle(const server *s, sn_tls_ctx *ctx, int n, const char *name)
{
    sn_socket_transport_opts o = transport_opts();
    visit **v = calloc((size_t)n, sizeof(visit *));

    o.tls = ctx;
    sn_transport *t = transport_of(&o);
    free(get(t, s->https, "/ok"));
    for (int i = 0; i < n; i++)
        v[i] = visit_of(s->https, "/delay:1s/bytes:2000");
    long before = resident("VmRSS:");
    for (int i = 0; i < n; i++) {
        v[i]->q.fresh = true;
        CHECK_EQ(visit_start(t, v[i]), SEINE_OK);
    }
    for (int i = 0; i < n; i++) {
        visit_wait(v[i]);
        CHECK_END(v[i], SEINE_OK);
    }
    CHECK(transport_stats(t).idle >= (uint32_t)n);
    double each = (double)(resident("VmRSS:") - before) / n;
    printf("  %s: %.1f KiB for each of %d idle connections\n", name, each, n);
    CHECK(SANITIZED || each <= 48);
    for (int i = 0; i < n; i++)
        free(v[i]);
    free(v);
    sn_socket_transport_free(t);
}

TEST(p5_an_idle_tls_connection_takes_less_than_48_kib)
{
    enum { MANY = SANITIZED ? 50 : 500 };
    struct rlimit limit = {4096, 4096};
    server s = serve();
    sn_tls_ctx *ctx = trusting(&s);

    setrlimit(RLIMIT_NOFILE, &limit);
    measure_idle(&s, ctx, MANY, "TLS 1.3");
    sn_tls_ctx_free(ctx);
    stop(&s);
}
