/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of requests that held a secret is wiped before it is freed. `send` stands before
 * that of the C library. */
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "net/proxy.h"
#include "socket_transport_tls.h"
#include "wiped.h"

#define TOKEN  "s3cret-of-the-request"
#define LOGIN  "joe:s3cret-of-the-proxy"
#define HEADER "am9lOnMzY3JldC1vZi10aGUtcHJveHk" /* LOGIN in base64 */

static __thread size_t send_most;

ssize_t
send(int fd, const void *buf, size_t n, int flags)
{
    if (send_most && n > send_most)
        n = send_most;
    return syscall(SYS_sendto, fd, buf, n, flags, NULL, 0);
}

static void
look(secured *s)
{
    sn_socket_transport_free(s->t);
    s->t = NULL;
    wiped_stop();
    send_most = 0;
    secure_end(s);
    CHECK_EQ(wiped_end(), 0);
}

static visit *
ask(const char *base, const sn_field *fields, size_t n, const sn_proxy *via)
{
    visit *v = visit_of(base, "/ok");

    v->q.fields = fields;
    v->q.n_fields = n;
    v->q.proxy = via;
    return v;
}

/* Enough of them that every buffer grows, and none is sent at once. */
TEST(no_memory_with_a_token_in_it_is_given_back)
{
    static const sn_field fields[] = {
        {{"Authorization", 13}, {"Bearer " TOKEN, sizeof "Bearer " TOKEN - 1}}};
    enum { N = 40 };
    visit *all[N];

    for (int pieces = 0; pieces < 2; pieces++) {
        wiped_begin("s3cret-of", HEADER);
        secured s = secure();
        send_most = pieces ? 50 : 0;
        for (int i = 0; i < N; i++) {
            all[i] = ask(i % 4 ? seine_chaos_where(s.c, "http") : at(&s, "a.test"),
                         fields, 1, NULL);
            CHECK_EQ(visit_start(s.t, all[i]), SEINE_OK);
        }
        for (int i = 0; i < N; i++) {
            visit_wait(all[i]);
            CHECK_END(all[i], SEINE_OK);
            free(all[i]);
        }
        look(&s);
    }
}

TEST(no_memory_with_the_login_of_a_proxy_in_it_is_given_back)
{
    static const char *const kinds[] = {"http", "https", "socks5", "socks5h"};

    EACH_ROW(i, kinds) {
        wiped_begin("s3cret-of", HEADER);
        secured s = secure();
        sn_proxies p;
        char url[128];
        const char *place = kinds[i][0] == 's'      ? "socks"
                            : strlen(kinds[i]) == 5 ? "https"
                                                    : "http";
        snprintf(url, sizeof url, "%s://%s@127.0.0.1:%s", kinds[i], LOGIN,
                 strrchr(seine_chaos_where(s.c, place), ':') + 1);
        CHECK_EQ(sn_proxies_init(&p, &(sn_proxies_opts){.proxy = url}, NULL), SEINE_OK);
        for (int k = 0; k < 4; k++) {
            visit *v = visit_run(
                s.t, ask(k % 2 ? seine_chaos_where(s.c, "http") : at(&s, "a.test"), NULL,
                         0, p.http));

            CHECK_END(v, SEINE_OK);
            free(v);
        }
        sn_proxies_fini(&p);
        look(&s);
    }
}
