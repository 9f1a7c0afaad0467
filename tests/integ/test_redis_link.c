/* SPDX-License-Identifier: Apache-2.0 */
/* The client of Redis on a loop, against a real redis-server and against a stub. */
#include "serve/redis_link.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "redis.h"

typedef struct party {
    sn_loop loop;
    sn_redis_url url;
    sn_redis_link *link;
    int ups, downs;
    int replies;
    char got[64];
} party;

static void
on_up(void *arg)
{
    ((party *)arg)->ups++;
}

static void
on_down(void *arg)
{
    ((party *)arg)->downs++;
}

static void
on_reply(seine_err e, const sn_redis_reply *reply, void *arg)
{
    party *p = arg;

    p->replies++;
    snprintf(p->got, sizeof p->got, "%s:%.*s", seine_err_name(e),
             SN_FMT(reply ? reply->text : SN_STR("")));
}

static void
begin(party *p, const char *url, seine_span connect)
{
    *p = (party){0};
    CHECK_EQ(sn_loop_init(&p->loop, seine_clock_system()), SEINE_OK);
    CHECK_EQ(sn_redis_url_parse(sn_str_of(url), &p->url, NULL), SEINE_OK);
    sn_redis_opts opts = {.url = &p->url,
                          .connect = connect,
                          .reply = CHECK_PATIENCE,
                          .hooks = {.up = on_up, .down = on_down, .arg = p}};
    CHECK_EQ(sn_redis_link_new(&p->loop, &opts, &p->link, NULL), SEINE_OK);
}

static void
end(party *p)
{
    sn_redis_link_free(p->link);
    sn_redis_url_fini(&p->url);
    sn_loop_fini(&p->loop);
}

static void
turn_until(party *p, const int *count, int at_least)
{
    seine_time last = seine_now() + CHECK_PATIENCE;

    while (*count < at_least && seine_now() < last)
        sn_loop_turn(&p->loop, last);
    CHECK(*count >= at_least);
}

static const char *
why(const party *p)
{
    return sn_redis_why(sn_redis_link_client(p->link));
}

static seine_err
ask(party *p, sn_str a, sn_str b)
{
    sn_str words[] = {a, b};

    return sn_redis_ask(sn_redis_link_client(p->link), p->loop.now, words, b.len ? 2 : 1,
                        on_reply, p);
}

TEST(redis_link_asks_a_real_server)
{
    test_redis *server = test_redis_start(NULL);
    party p;

    if (!server)
        return;
    begin(&p, test_redis_url(server), CHECK_PATIENCE);
    turn_until(&p, &p.ups, 1);
    CHECK_EQ(ask(&p, SN_STR("ECHO"), SN_STR("a\r\nb")), SEINE_OK);
    turn_until(&p, &p.replies, 1);
    CHECK_STR(p.got, "ok:a\r\nb");
    CHECK_EQ(ask(&p, SN_STR("NOSUCH"), SN_STR("")), SEINE_OK);
    turn_until(&p, &p.replies, 2);
    CHECK(strncmp(p.got, "inval:ERR unknown", 17) == 0);
    end(&p);
    test_redis_free(server);
}

TEST(redis_link_comes_back_by_itself)
{
    test_redis *server = test_redis_start(NULL);
    party p;

    if (!server)
        return;
    begin(&p, test_redis_url(server), CHECK_PATIENCE);
    turn_until(&p, &p.ups, 1);
    CHECK_EQ(ask(&p, SN_STR("DEBUG"), SN_STR("SLEEP")), SEINE_OK);
    test_redis_kill9(server);
    turn_until(&p, &p.downs, 1);
    CHECK_EQ(p.replies, 1); /* one call, whether it was answered or not */
    CHECK_EQ(ask(&p, SN_STR("PING"), SN_STR("")), SEINE_E_STORE_UNAVAILABLE);
    turn_until(&p, &p.downs, 3);
    CHECK(strstr(why(&p), "cannot be reached") != NULL);
    if (test_redis_again(server)) {
        turn_until(&p, &p.ups, 2);
        CHECK_STR(why(&p), "");
    }
    end(&p);
    test_redis_free(server);
}

TEST(redis_link_tells_a_wrong_password_and_keeps_it_to_itself)
{
    static const char *const extra[] = {"--requirepass", "s3cret", NULL};
    static const struct {
        const char *login, *why;
    } rows[] = {
        {"", "asks for a password"},
        {":other@", "does not know this user and password"},
        {"nobody:s3cret@", "does not know this user and password"},
    };
    test_redis *server = test_redis_start(extra);
    char url[160];
    party p;

    if (!server)
        return;
    EACH_ROW(i, rows) {
        snprintf(url, sizeof url, "unix://%s%s", rows[i].login, test_redis_path(server));
        begin(&p, url, CHECK_PATIENCE);
        turn_until(&p, &p.downs, 1);
        CHECK_STR(why(&p), rows[i].why);
        end(&p);
    }
    snprintf(url, sizeof url, "unix://:s3cret@%s?db=1", test_redis_path(server));
    begin(&p, url, CHECK_PATIENCE);
    turn_until(&p, &p.ups, 1);
    end(&p);
    snprintf(url, sizeof url, "unix://:s3cret@%s?db=99", test_redis_path(server));
    begin(&p, url, CHECK_PATIENCE);
    turn_until(&p, &p.downs, 1);
    CHECK_STR(why(&p), "has no database of this number");
    end(&p);
    test_redis_free(server);
}

/* Listens on a port that the kernel chose; *out_port is it. */
static int
listen_here(int *out_port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    CHECK(bind(fd, (struct sockaddr *)&at, n) == 0 && listen(fd, 8) == 0 &&
          getsockname(fd, (struct sockaddr *)&at, &n) == 0);
    *out_port = ntohs(at.sin_port);
    return fd;
}

/* The other side: accepts, and says its bytes when the greeting has come. */
typedef struct stub {
    sn_watch listening, speaking;
    party *p;
    int fd, peer;
    const char *bytes;
} stub;

static void
on_peer(sn_watch *w, uint32_t events)
{
    stub *s = (stub *)(void *)((char *)w - offsetof(stub, speaking));
    char greeting[512];

    (void)events;
    if (s->bytes && recv(s->peer, greeting, sizeof greeting, 0) > 0) {
        CHECK(send(s->peer, s->bytes, strlen(s->bytes), MSG_NOSIGNAL) > 0);
        s->bytes = NULL;
    }
}

static void
on_accept(sn_watch *w, uint32_t events)
{
    stub *s = (stub *)(void *)((char *)w - offsetof(stub, listening));

    (void)events;
    if (s->peer >= 0)
        return;
    s->peer = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (s->peer >= 0)
        CHECK_EQ(sn_loop_add(&s->p->loop, s->peer, &s->speaking), SEINE_OK);
}

TEST(redis_link_tells_servers_that_are_not_the_right_one)
{
    static const struct {
        const char *bytes;
        seine_span connect;
        const char *why;
    } rows[] = {
        {"*4\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n6.2.6\r\n",
         CHECK_PATIENCE, "6.2.6 is too old: functions need Redis 7.0 or newer"},
        {"HTTP/1.1 400 Bad Request\r\n\r\n", CHECK_PATIENCE,
         "does not speak the protocol of Redis"},
        {NULL, SEINE_MS(50), "does not answer the greeting in time"},
    };

    EACH_ROW(i, rows) {
        party p;
        int port;
        stub s = {{on_accept}, {on_peer}, &p, listen_here(&port), -1, rows[i].bytes};
        char url[64];

        snprintf(url, sizeof url, "redis://localhost:%d", port);
        begin(&p, url, rows[i].connect);
        CHECK_EQ(sn_loop_add(&p.loop, s.fd, &s.listening), SEINE_OK);
        turn_until(&p, &p.downs, 1);
        CHECK_STR(why(&p), rows[i].why);
        end(&p);
        close(s.fd);
        if (s.peer >= 0)
            close(s.peer);
    }
}

TEST(redis_link_tells_that_nobody_listens)
{
    char url[64];
    party p;
    int port, fd = listen_here(&port);

    close(fd);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", port);
    begin(&p, url, CHECK_PATIENCE);
    turn_until(&p, &p.downs, 1);
    CHECK_STR(why(&p), "cannot be reached: connection refused");
    end(&p);
    begin(&p, "unix:///nonexistent/s", CHECK_PATIENCE);
    turn_until(&p, &p.downs, 2);
    CHECK_STR(why(&p), "cannot be reached: no such file or directory");
    end(&p);
}
