/* SPDX-License-Identifier: Apache-2.0 */
/* The hostile server on real sockets: a client gets what the URL asks for. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <seine/chaos.h>
#include <seine/clock.h>
#include <seine/plumbing.h>

#include "chaos_report.h"
#include "check.h"
#include "failing.h"
#include "sockets.h"

TESTS_AT_ONCE(8)

#define OK_TEXT \
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nok\n"
#define OK (sizeof OK_TEXT - 1)

static seine_time
now(void)
{
    seine_clock *c = seine_clock_system();

    return c->now(c);
}

static uint16_t
port_of(const char *url)
{
    return (uint16_t)strtoul(strrchr(url, ':') + 1, NULL, 10);
}

/* A connection to the server, from the address and to the address given; -1: none. */
static int
dial(uint32_t to, uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct timeval limit = {.tv_sec = 90};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    at.sin_addr.s_addr = htonl(to);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0) {
        int why = errno;

        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

static int
connect_to(const seine_chaos *c)
{
    return dial(INADDR_LOOPBACK, port_of(seine_chaos_url(c)));
}

static void
put(int fd, const char *text)
{
    CHECK_EQ(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void
ask(int fd, const char *target)
{
    char head[4096];

    snprintf(head, sizeof head, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", target);
    put(fd, head);
}

/* How reading ended. */
typedef enum end { GOT_ENOUGH, GOT_FIN, GOT_RST, GOT_NOTHING } end;

typedef struct answer {
    char bytes[1 << 16];
    size_t len;
    end how;
} answer;

/* Reads up to `most` bytes, or until the other side ends the connection. */
static answer *
hear(int fd, size_t most)
{
    static answer a;

    a.len = 0;
    a.how = GOT_ENOUGH;
    while (a.len < most && a.len < sizeof a.bytes - 1) {
        size_t room = most - a.len < sizeof a.bytes - 1 - a.len
                          ? most - a.len
                          : sizeof a.bytes - 1 - a.len;
        ssize_t n = recv(fd, a.bytes + a.len, room, 0);

        if (n > 0) {
            a.len += (size_t)n;
            continue;
        }
        a.how = n == 0 ? GOT_FIN : errno == ECONNRESET ? GOT_RST : GOT_NOTHING;
        break;
    }
    a.bytes[a.len] = '\0';
    return &a;
}

/* A request on a connection of its own, read to the end. */
static answer *
fetch(const seine_chaos *c, const char *target)
{
    int fd = connect_to(c);

    ask(fd, target);
    answer *a = hear(fd, SIZE_MAX);
    close(fd);
    return a;
}

static seine_chaos *
start(const char *script)
{
    seine_chaos_opts opts = SEINE_CHAOS_OPTS;
    seine_chaos *c = NULL;

    opts.script = script;
    CHECK_EQ(seine_chaos_new(&opts, &c), SEINE_OK);
    return c;
}

TEST(it_serves_when_new_returns_and_is_gone_when_free_returns)
{
    seine_chaos *c = start(NULL);
    uint16_t port = port_of(seine_chaos_url(c));
    int fd = connect_to(c);

    ask(fd, "/ok");
    CHECK_STR(hear(fd, OK)->bytes, OK_TEXT);
    close(fd);
    seine_chaos_free(c);
    CHECK_EQ(dial(INADDR_LOOPBACK, port), -1);
    CHECK_EQ(errno, ECONNREFUSED);
}

TEST(starting_and_stopping_is_quick)
{
    seine_span best = SEINE_NEVER; /* of ten: other programs want the machine, too */

    for (int i = 0; i < 10; i++) {
        seine_time from = now();
        seine_chaos *c = start(NULL);

        seine_chaos_free(c);
        best = now() - from < best ? now() - from : best;
    }
    CHECK(best < SEINE_MS(100));
}

TEST(all_of_127_is_served_and_told_apart)
{
    seine_chaos *c = start(NULL);
    static const uint32_t addresses[] = {0x7f000001, 0x7f010001, 0x7f01fefe, 0x7fffff01};

    if (strcmp(seine_chaos_where(c, "range"), "127.0.0.0/8") == 0)
        EACH_ROW(i, addresses) {
            int fd = dial(addresses[i], port_of(seine_chaos_url(c)));

            CHECK(fd >= 0);
            ask(fd, "/ok");
            hear(fd, OK);
            close(fd);
        }
    CHECK_EQ(chaos_number_soon(c, "addresses", "127.1.254.254", "requests", 1), 1);
    CHECK_EQ(chaos_number_soon(c, "addresses", "127.255.255.1", "connections", 1), 1);
    CHECK_EQ(chaos_number_soon(c, "hosts", "127.0.0.1", "requests", 4), 4);
    seine_chaos_free(c);
}

TEST(a_dead_port_refuses_and_a_hole_never_answers)
{
    seine_chaos *c = start(NULL);

    CHECK_EQ(dial(INADDR_LOOPBACK, port_of(seine_chaos_where(c, "dead"))), -1);
    CHECK_EQ(errno, ECONNREFUSED);
    CHECK_EQ(dial(0x7f010005, port_of(seine_chaos_where(c, "dead"))), -1);
    CHECK_EQ(errno, ECONNREFUSED);

    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f010005)};
    struct pollfd wait = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0),
                          .events = POLLOUT};
    at.sin_port = htons(port_of(seine_chaos_where(c, "hole")));
    CHECK(connect(wait.fd, (struct sockaddr *)&at, sizeof at) != 0 &&
          errno == EINPROGRESS);
    CHECK_EQ(poll(&wait, 1, 100), 0);
    close(wait.fd);
    CHECK(!seine_chaos_where(c, "dns"));
    CHECK(!seine_chaos_where(c, "nowhere"));
    seine_chaos_free(c);
}

TEST(requests_on_one_connection_are_answered_in_order_however_they_arrive)
{
    seine_chaos *c = start(NULL);
    static const char three[] =
        "GET /bytes:1 HTTP/1.1\r\nHost: a\r\n\r\n"
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
        "POST /delay:20ms/echo HTTP/1.1\r\nHost: a\r\n"
        "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        "GET /status:404 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    static const size_t steps[] = {1, 7, 64, sizeof three};

    EACH_ROW(i, steps) {
        int fd = connect_to(c);

        for (size_t at = 0; at < sizeof three - 1; at += steps[i]) {
            size_t n =
                sizeof three - 1 - at < steps[i] ? sizeof three - 1 - at : steps[i];

            CHECK_EQ(send(fd, three + at, n, MSG_NOSIGNAL), n);
        }
        answer *a = hear(fd, SIZE_MAX);
        CHECK_EQ(a->how, GOT_FIN);
        const char *first = strstr(a->bytes, "octet-stream");
        const char *second = strstr(a->bytes, "\"body\":\"hello\"");
        const char *third = strstr(a->bytes, "\"body\":\"abc\"");
        const char *last = strstr(a->bytes, "404 Not Found\n");
        CHECK(first && second && third && last && first < second && second < third &&
              third < last);
        close(fd);
    }
    seine_chaos_free(c);
}

/* Every response cut after every byte, with RST and with FIN. */
TEST(a_cut_comes_after_exactly_so_many_bytes)
{
    seine_chaos *c = start(NULL);
    size_t whole = fetch(c, "/close/ok")->len;

    for (size_t n = 0; n <= whole; n += n < 20 ? 1 : 7) {
        char target[64];

        snprintf(target, sizeof target, "/reset:%zu/close/ok", n);
        answer *a = fetch(c, target);
        CHECK_EQ(a->len, n);
        CHECK_EQ(a->how, GOT_RST);
        snprintf(target, sizeof target, "/fin:%zu/ok", n);
        a = fetch(c, target);
        CHECK_EQ(a->len, n);
        CHECK_EQ(a->how, GOT_FIN);
    }
    seine_chaos_free(c);
}

/* The client has a small buffer and reads late: most bytes still wait in the server's
 * buffer, where a reset would destroy them. */
TEST(a_reset_waits_until_the_client_has_everything_before_it)
{
    seine_chaos *c = start(NULL);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;
    static char piece[65536];
    size_t sum = 0;
    ssize_t n;

    at.sin_port = htons(port_of(seine_chaos_url(c)));
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    CHECK_EQ(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    ask(fd, "/reset:30000/bytes:1M");
    socket_wait_unread(fd, 1);
    CHECK_EQ(fetch(c, "/close/ok")->how, GOT_FIN); /* meanwhile the server goes on */
    CHECK_EQ(chaos_number(c, "totals", NULL, "resets"), 0);
    while ((n = recv(fd, piece, sizeof piece, 0)) > 0)
        sum += (size_t)n;
    CHECK_EQ(errno, ECONNRESET);
    CHECK_EQ(sum, 30000);
    close(fd);
    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "resets", 1), 1);
    seine_chaos_free(c);
}

/* Opens descriptors until none is left; returns how many. */
static size_t
use_up(int *fds, size_t most)
{
    size_t n = 0;

    while (n < most && (fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        n++;
    return n;
}

TEST(without_descriptors_clients_are_turned_away_and_there_is_no_second_server)
{
    struct rlimit before, few;
    static int fds[256];
    seine_chaos *c = start(NULL), *other = NULL;

    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 200;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    size_t n = use_up(fds, 256);
    CHECK_EQ(seine_chaos_new(NULL, &other), SEINE_E_NO_FILES);
    close(fds[--n]);
    int fd = connect_to(c);
    CHECK(hear(fd, 1)->len == 0);
    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "refused_connections", 1), 1);
    close(fd);
    while (n > 0)
        close(fds[--n]);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    fd = connect_to(c); /* and it goes on */
    ask(fd, "/ok");
    CHECK_EQ(hear(fd, OK)->len, OK);
    close(fd);
    seine_chaos_free(c);
}

TEST(short_bodies_end_early_in_any_framing)
{
    seine_chaos *c = start(NULL);

    answer *a = fetch(c, "/short:4/bytes:100");
    CHECK(a->how == GOT_FIN && strstr(a->bytes, "Content-Length: 100\r\n"));
    CHECK_EQ(a->len - (size_t)(strstr(a->bytes, "\r\n\r\n") + 4 - a->bytes), 96);
    a = fetch(c, "/short:1/chunked/ok");
    CHECK(a->how == GOT_FIN && strcmp(a->bytes + a->len - 4, "0\r\n\r") == 0);
    seine_chaos_free(c);
}

TEST(time_passes_as_it_is_told_to)
{
    static const struct {
        const char *target;
        int ms; /* at least */
    } rows[] = {
        {"/delay:60ms/close/ok", 60},        {"/jitter:60ms-61ms/close/ok", 60},
        {"/drip:1x20ms:body/close/ok", 40},  /* three bytes, two waits */
        {"/drip:30x30ms/close/ok", 60},      /* about eighty bytes, two waits */
        {"/bw:10k:body/close/bytes:1k", 50}, /* a tenth of a second's worth */
    };
    seine_chaos *c = start(NULL);

    EACH_ROW(i, rows) {
        seine_time from = now();

        CHECK_EQ(fetch(c, rows[i].target)->how, GOT_FIN);
        CHECK(now() - from >= SEINE_MS(rows[i].ms));
    }
    seine_chaos_free(c);
}

/* The report of a large site keeps the server busy; meanwhile two requests arrive, 60 ms
 * apart. Returns how far apart they are said to be. */
static int64_t
gap_at_a_busy_judge(void)
{
    static const char to_b[] = "GET /ok HTTP/1.1\r\nHost: b.test\r\n\r\n";
    seine_chaos *c = start(NULL);
    int busy = connect_to(c), first = connect_to(c), second = connect_to(c);

    fetch(c, "/close/site:1:2000000/p/0");
    ask(busy, "/_chaos/report");
    put(first, to_b);
    poll(NULL, 0, 60);
    put(second, to_b);
    CHECK_EQ(hear(first, OK)->len, OK);
    CHECK_EQ(hear(second, OK)->len, OK);
    int64_t gap = chaos_number(c, "hosts", "b.test", "min_gap_us");
    close(busy);
    close(first);
    close(second);
    seine_chaos_free(c);
    return gap;
}

/* A machine that has other things to do gets ten chances. */
TEST(requests_arrive_when_they_arrive_however_busy_the_judge_is)
{
    int64_t gap = 0;

    for (int i = 0; i < 10 && gap < 59000; i++)
        gap = gap_at_a_busy_judge();
    CHECK(gap >= 59000);
}

TEST(mute_and_stalled_connections_stay_open_until_the_client_leaves)
{
    static const struct {
        const char *target;
        size_t bytes;
    } rows[] = {{"/mute", 0}, {"/stall:20/ok", 20}, {"/stall:1:body/ok", OK - 2}};
    seine_chaos *c = start(NULL);

    EACH_ROW(i, rows) {
        int fd = connect_to(c);
        struct pollfd wait = {.fd = fd, .events = POLLIN};

        ask(fd, rows[i].target);
        CHECK_EQ(hear(fd, rows[i].bytes)->len, rows[i].bytes);
        CHECK_EQ(poll(&wait, 1, 50), 0);
        CHECK_EQ(chaos_number_soon(c, "totals", NULL, "in_flight", 1), 1);
        close(fd);
        CHECK_EQ(chaos_number_soon(c, "totals", NULL, "in_flight", 0), 0);
        CHECK_EQ(
            chaos_number_soon(c, "totals", NULL, "aborted_by_client", (int64_t)i + 1),
            (int64_t)i + 1);
    }
    seine_chaos_free(c);
}

TEST(a_body_that_is_not_read_fills_the_buffers)
{
    seine_chaos *c = start(NULL);
    int fd = connect_to(c);
    static char piece[65536];
    ssize_t n;

    put(fd, "POST /noread/ok HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n");
    fcntl(fd, F_SETFL, O_NONBLOCK);
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    while (poll(&wait, 1, 200) == 1)
        do
            n = send(fd, piece, sizeof piece, MSG_NOSIGNAL);
        while (n > 0);
    CHECK_EQ(errno, EAGAIN);
    close(fd);
    seine_chaos_free(c);
}

/* A byte of these bodies is the work of many KiB. */
TEST(a_body_of_much_work_and_few_bytes_holds_nobody_up)
{
    static const char *const bodies[] = {"/br/nest:b:1000000000000",
                                         "/zstd/nest:b:1000000000000",
                                         "/gzip/nest:b:1000000000000"};
    seine_chaos *c = start(NULL);

    EACH_ROW(i, bodies) {
        int fd = connect_to(c);

        ask(fd, bodies[i]);
        CHECK_EQ(hear(fd, 300)->len, 300); /* it is under way */
        CHECK(strstr(fetch(c, "/close/ok")->bytes, "\r\n\r\nok\n"));
        close(fd);
    }
    seine_chaos_free(c);
}

TEST(kept_connections_end_as_the_url_says)
{
    seine_chaos *c = start(NULL);
    static const struct {
        const char *target;
        end how;
        const char *extra;
    } rows[] = {
        {"/idle:0/ok", GOT_FIN, ""},
        {"/idle:30ms/ok", GOT_FIN, ""},
        {"/idle:30ms:rst/ok", GOT_RST, ""},
        {"/idle:10ms:bytes/ok", GOT_FIN, "HTTP/1.1 408 "},
    };

    EACH_ROW(i, rows) {
        int fd = connect_to(c);

        ask(fd, rows[i].target);
        CHECK_EQ(hear(fd, OK)->len, OK);
        answer *a = hear(fd, SIZE_MAX);
        CHECK_EQ(a->how, rows[i].how);
        CHECK(strncmp(a->bytes, rows[i].extra, strlen(rows[i].extra)) == 0);
        close(fd);
    }
    int fd = connect_to(c); /* one that is used again in time lives on */
    ask(fd, "/idle:200ms/ok");
    hear(fd, OK);
    ask(fd, "/delay:250ms/ok");
    CHECK_EQ(hear(fd, OK)->len, OK);
    close(fd);
    seine_chaos_free(c);
}

TEST(a_stale_connection_is_reset_and_a_new_one_is_not)
{
    seine_chaos *c = start(NULL);
    int fd = connect_to(c);

    ask(fd, "/stale/ok");
    CHECK_EQ(hear(fd, OK)->len, OK);
    ask(fd, "/stale/ok");
    CHECK(hear(fd, OK)->how == GOT_RST);
    close(fd);
    seine_chaos_free(c);
}

TEST(a_response_of_any_size_takes_no_memory)
{
    seine_chaos *c = start(NULL);

    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "requests", 0), 0);
    for (int i = 0; i < 50; i++) { /* a petabyte each, of which the client reads little */
        int fd = connect_to(c);

        ask(fd, "/bytes:1048576G");
        hear(fd, 1000);
        close(fd);
    }
    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "aborted_by_client", 50), 50);
    seine_chaos_free(c);
}

TEST(bad_requests_are_answered_and_told_by_name)
{
    seine_chaos *c = start(NULL);
    int fd = connect_to(c);

    put(fd, "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n");
    answer *a = hear(fd, SIZE_MAX);
    CHECK(a->how == GOT_FIN && strncmp(a->bytes, "HTTP/1.1 400 ", 13) == 0);
    close(fd);
    CHECK_EQ(chaos_number_soon(c, "bad_requests", NULL, "folded line", 1), 1);
    fd = connect_to(c);
    put(fd, "POST /ok HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
    CHECK(strncmp(hear(fd, SIZE_MAX)->bytes, "HTTP/1.1 400 ", 13) == 0);
    close(fd);
    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "bad_requests", 2), 2);
    seine_chaos_free(c);
}

TEST(a_client_that_expects_to_go_on_is_told_to)
{
    seine_chaos *c = start(NULL);
    int fd = connect_to(c);

    put(fd, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: "
            "100-continue\r\n\r\n");
    CHECK_STR(hear(fd, 25)->bytes, "HTTP/1.1 100 Continue\r\n\r\n");
    put(fd, "hi");
    CHECK(strncmp(hear(fd, 15)->bytes, "HTTP/1.1 200 OK", 15) == 0);
    close(fd);
    seine_chaos_free(c);
}

TEST(scripts_words_and_resets_work_while_it_serves)
{
    seine_chaos *c = start("{\"match\":\"/api*\",\"fault\":\"close/status:500\"}");
    seine_chaos_fault words = {.words = "close/status:502"},
                      bytes = {.bytes = "hello", .len = 5};

    CHECK(strstr(fetch(c, "/api/x")->bytes, "500 Internal"));
    CHECK_EQ(seine_chaos_add(c, "bad", &words), SEINE_OK);
    CHECK_EQ(seine_chaos_add(c, "hello", &bytes), SEINE_OK);
    CHECK_EQ(seine_chaos_add(c, "ok", &words), SEINE_E_INVAL);
    CHECK_EQ(seine_chaos_add(c, "x", NULL), SEINE_E_INVAL);
    CHECK(strstr(fetch(c, "/bad")->bytes, "502 Bad"));
    CHECK_STR(fetch(c, "/hello")->bytes, "hello");
    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "requests", 3), 3);
    seine_chaos_reset(c);
    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "requests", 0), 0);
    CHECK(strstr(fetch(c, "/api/x")->bytes, "500 Internal"));
    seine_chaos_free(c);
}

TEST(a_reset_in_the_middle_of_answers_harms_nobody)
{
    seine_chaos *c = start(NULL);
    int fd = connect_to(c), held = connect_to(c);

    ask(fd, "/delay:1s/ok");
    ask(held, "/mute");
    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "in_flight", 2), 2);
    seine_chaos_reset(c);
    CHECK_EQ(hear(fd, OK)->len, OK);
    ask(fd, "/ok");
    CHECK_EQ(hear(fd, OK)->len, OK);
    CHECK_EQ(chaos_number_soon(c, "hosts", "127.0.0.1", "requests", 1), 1);
    CHECK_EQ(chaos_number_soon(c, "hosts", "127.0.0.1", "in_flight", 0), 0);
    close(held);
    close(fd);
    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "in_flight", 0), 0);
    seine_chaos_free(c);
}

TEST(connections_beyond_the_most_are_reset_and_counted)
{
    seine_chaos_opts opts = SEINE_CHAOS_OPTS;
    seine_chaos *c = NULL;
    int fds[5];

    opts.max_connections = 3;
    CHECK_EQ(seine_chaos_new(&opts, &c), SEINE_OK);
    for (int i = 0; i < 5; i++)
        fds[i] = connect_to(c);
    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "refused_connections", 2), 2);
    for (int i = 0; i < 5; i++) {
        if (i < 3)
            ask(fds[i], "/ok");
        answer *a = hear(fds[i], OK);
        CHECK_EQ(a->len, i < 3 ? OK : 0);
        close(fds[i]);
    }
    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "peak_connections", 3), 3);
    seine_chaos_free(c);
}

TEST(a_taken_port_is_said_to_be_taken)
{
    seine_chaos_opts opts = SEINE_CHAOS_OPTS;
    seine_chaos *c = start(NULL), *other = NULL;

    opts.listen = seine_chaos_url(c) + 7;
    CHECK_EQ(seine_chaos_new(&opts, &other), SEINE_E_IO);
    CHECK(!other);
    seine_chaos_free(c);
}

/* Everything that is allocated while a server is made. */
TEST(without_memory_there_is_no_server_and_nothing_is_left)
{
    FAIL_EACH(r)
    {
        seine_chaos_opts opts = {.size = sizeof(seine_chaos_opts),
                                 .dns = true,
                                 .script = "{\"fault\":\"ok\"}"};
        seine_chaos *c = NULL;
        seine_err e = seine_chaos_new(&opts, &c);

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        CHECK_EQ(c != NULL, e == SEINE_OK);
        seine_chaos_free(c);
    }
}

/* Whatever allocation fails, the connection ends and the server goes on. */
TEST(without_memory_a_request_fails_and_the_next_one_does_not)
{
    FAIL_EACH(r)
    {
        seine_chaos *c = NULL;

        if (seine_chaos_new(NULL, &c) == SEINE_OK) {
            fetch(c, "/close/delay:1ms/html:100");
            fetch(c, "/close/site:1:9/_list");
            CHECK_EQ(fetch(c, "/close/ok")->how != GOT_NOTHING, true);
        }
        seine_chaos_free(c);
    }
}

static size_t
name_query(const char *name, uint8_t *out)
{
    static const uint8_t head[12] = {0, 7, 1, 0, 0, 1}, tail[5] = {0, 0, 1, 0, 1};
    size_t n = 12;

    memcpy(out, head, 12);
    while (*name) {
        size_t label = strcspn(name, ".");

        out[n++] = (uint8_t)label;
        memcpy(out + n, name, label);
        n += label;
        name += label + (name[label] == '.');
    }
    memcpy(out + n, tail, 5);
    return n + 5;
}

TEST(names_are_served_over_both_and_slow_ones_hold_nobody_up)
{
    seine_chaos_opts opts = SEINE_CHAOS_OPTS;
    seine_chaos *c = NULL;
    uint8_t query[256], got[1024];
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval limit = {.tv_sec = 5};

    opts.dns = true;
    CHECK_EQ(seine_chaos_new(&opts, &c), SEINE_OK);
    uint16_t port = port_of(seine_chaos_where(c, "dns"));
    at.sin_port = htons(port);
    int udp = socket(AF_INET, SOCK_DGRAM, 0);
    setsockopt(udp, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    CHECK_EQ(connect(udp, (struct sockaddr *)&at, sizeof at), 0);
    size_t n = name_query("slow-60.a-1-2-3-4.test", query);
    CHECK_EQ(send(udp, query, n, 0), n);
    n = name_query("a-5-6-7-8.test", query);
    CHECK_EQ(send(udp, query, n, 0), n);
    ssize_t len = recv(udp, got, sizeof got, 0);
    CHECK(len > 4 && memcmp(got + len - 4, "\5\6\7\10", 4) == 0);
    len = recv(udp, got, sizeof got, 0);
    CHECK(len > 4 && memcmp(got + len - 4, "\1\2\3\4", 4) == 0);
    close(udp);

    int tcp = dial(INADDR_LOOPBACK, port);
    n = name_query("slow-20.many-3.test", query + 2);
    query[0] = 0;
    query[1] = (uint8_t)n;
    for (int i = 0; i < 2; i++) { /* the second one byte by byte */
        for (size_t k = 0; k < n + 2; k += i ? 1 : n + 2)
            CHECK_EQ(send(tcp, query + k, i ? 1 : n + 2, 0), i ? 1 : n + 2);
        len = 0;
        while (len < 2 || len < 2 + got[1])
            len += recv(tcp, got + len, sizeof got - (size_t)len, 0);
        CHECK_EQ(len, 2 + got[1]);
        CHECK_EQ(got[9], 3); /* answers */
    }
    close(tcp);
    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "dns_queries", 4), 4);
    seine_chaos_free(c);
}

TEST(freeing_it_while_everything_is_under_way_leaves_nothing)
{
    static const char *const targets[] = {"/delay:9s/ok", "/drip:1x5s/ok", "/mute",
                                          "/bytes:1G",    "/stall:5/ok",   "/ok"};
    int fds[6] = {0};
    seine_chaos *c = start(NULL);

    EACH_ROW(i, targets) {
        fds[i] = connect_to(c);
        ask(fds[i], targets[i]);
    }
    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "requests", 6), 6);
    seine_chaos_free(c);
    EACH_ROW(i, targets)
        close(fds[i]);
}
