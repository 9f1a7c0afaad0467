/* SPDX-License-Identifier: Apache-2.0 */
/* site serve PAGES BYTES LINKS: a site of so many pages, made while they are asked for.
 * Page n leads to pages 2n+1 and 2n+2, and to others that follow from n: all can be
 * reached from the first. Its first line says where it is; it serves until its standard
 * input ends, and then says what it saw:
 *
 *     {"port":40001,"first":"/aaaaa/aa.html"}
 *     {"pages":10000,"others":1,"connections":64,"cpu_s":0.31}
 *
 * site files FOLDER PAGES BYTES LINKS: the same pages as files, for another server.
 *
 * site hub LISTS LINKS: a page that leads to LISTS pages, each of which leads to LINKS
 * others, none of which is ever answered: how much does it take to remember them?
 *
 * Names are letters alone: a crawler that counts URLs of one pattern has nothing to
 * count. Requests have no body; what is not a page is 404. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONNS = 4096, HEAD = 4096, EVENTS = 256, ROOM = 16 << 20 };

static const char text[] =
    "<p>A seine is a net that encloses a school of fish and leaves "
    "the sea bed alone.</p>\n";

struct conn {
    size_t len;
    char head[HEAD];
};

static struct {
    bool is_hub;
    uint64_t pages, links;
    size_t bytes;
    int epoll, listener;
    struct conn *conns;
    char *body;
    size_t len;
    uint64_t served, others, connections;
} s;

static void
die(const char *what)
{
    perror(what);
    exit(1);
}

/* `count` letters for the lowest bits of n, four each. */
static void
letters(char *out, uint64_t n, int count)
{
    for (int i = count - 1; i >= 0; i--, n >>= 4)
        out[i] = (char)('a' + (n & 15));
}

static void
add(const char *bytes, size_t n)
{
    if (s.len + n > ROOM) {
        fputs("site: a page is too large\n", stderr);
        exit(1);
    }
    memcpy(s.body + s.len, bytes, n);
    s.len += n;
}

static void
add_link(uint64_t n)
{
    char link[] = "<li><a href=\"/aaaaa/aa.html\">a page</a>\n";

    letters(link + 14, n >> 8, 5);
    letters(link + 20, n, 2);
    add(link, sizeof link - 1);
}

static uint64_t
mixed(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 32);
}

static void
make_page(uint64_t n)
{
    char head[128];
    int len = snprintf(head, sizeof head,
                       "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
                       "<title>Page %ju</title></head><body>\n<ul>\n",
                       (uintmax_t)n);

    s.len = 0;
    add(head, (size_t)len);
    for (uint64_t i = 0; i < s.links; i++) {
        uint64_t to = i < 2 ? 2 * n + 1 + i : mixed(n * 64 + i) % s.pages;
        add_link(to < s.pages ? to : to % s.pages);
    }
    while (s.len + sizeof text < s.bytes)
        add(text, sizeof text - 1);
    add("</ul>\n", 6);
}

static void
make_list(uint64_t list)
{
    char link[] =
        "<a href=\"/list-aaaa/aaaaaa-a-page-with-a-name-of-its-own.html\">x</a>\n";

    s.len = 0;
    for (uint64_t i = 0; i < s.links; i++) {
        letters(link + 15, list, 4);
        letters(link + 20, i, 6);
        add(link, sizeof link - 1);
    }
}

static void
make_hub(void)
{
    char link[] = "<a href=\"/list/aaaa.html\">x</a>\n";

    s.len = 0;
    for (uint64_t i = 0; i < s.pages; i++) {
        letters(link + 15, i, 4);
        add(link, sizeof link - 1);
    }
}

/* The number that is spelt by the letters between `at` and `end`; a slash is none. */
static uint64_t
spelt(const char *at, const char *end)
{
    uint64_t n = 0;

    for (; at < end; at++)
        if (*at >= 'a' && *at <= 'p')
            n = n << 4 | (uint64_t)(*at - 'a');
    return n;
}

/* Makes what the path asks for. False: no such page. */
static bool
make(const char *path, size_t len)
{
    const char *end = path + len;

    if (s.is_hub && len == 1) {
        make_hub();
        return true;
    }
    if (s.is_hub && len == 15 && memcmp(path, "/list/", 6) == 0) {
        make_list(spelt(path + 6, path + 10));
        return true;
    }
    if (s.is_hub || len != 14 || memcmp(end - 5, ".html", 5) != 0)
        return false;
    uint64_t n = spelt(path + 1, end - 5);
    if (n < s.pages)
        make_page(n);
    return n < s.pages;
}

static void
send_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            struct pollfd p = {.fd = fd, .events = POLLOUT};
            poll(&p, 1, 10000);
            continue;
        }
        if (sent <= 0)
            return;
        bytes += sent;
        n -= (size_t)sent;
    }
}

static void
answer(int fd, const char *path, size_t len)
{
    static char out[ROOM + 256];
    bool found = make(path, len);
    int head;

    if (!found && s.is_hub && len > 6 && memcmp(path, "/list-", 6) == 0)
        return; /* for ever */
    if (!found)
        s.len = 0;
    head = snprintf(
        out, 256, "HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %zu\r\n\r\n",
        found ? "200 OK" : "404 Not Found", s.len);
    memcpy(out + head, s.body, s.len);
    s.served += found;
    s.others += !found;
    send_all(fd, out, (size_t)head + s.len);
}

static void
hear(int fd)
{
    struct conn *c = &s.conns[fd];
    ssize_t n = recv(fd, c->head + c->len, HEAD - c->len, 0);
    char *end;

    if (n == 0 || (n < 0 && errno != EAGAIN)) {
        close(fd);
        return;
    }
    if (n < 0)
        return;
    c->len += (size_t)n;
    while ((end = memmem(c->head, c->len, "\r\n\r\n", 4)) != NULL) {
        char *path = memchr(c->head, ' ', c->len);
        char *behind = path ? memchr(path + 1, ' ', (size_t)(end - path - 1)) : NULL;
        if (behind)
            answer(fd, path + 1, (size_t)(behind - path - 1));
        c->len -= (size_t)(end + 4 - c->head);
        memmove(c->head, end + 4, c->len);
    }
}

static void
welcome(void)
{
    int fd, yes = 1;

    while ((fd = accept4(s.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
        if (fd >= CONNS) {
            close(fd);
            continue;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (epoll_ctl(s.epoll, EPOLL_CTL_ADD, fd, &e) < 0)
            die("epoll_ctl");
        s.conns[fd].len = 0;
        s.connections++;
    }
}

static unsigned
listen_somewhere(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    struct epoll_event e = {.events = EPOLLIN};

    s.epoll = epoll_create1(EPOLL_CLOEXEC);
    s.listener = e.data.fd =
        socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s.epoll < 0 || s.listener < 0 ||
        bind(s.listener, (struct sockaddr *)&a, sizeof a) < 0 ||
        listen(s.listener, 1024) < 0 ||
        getsockname(s.listener, (struct sockaddr *)&a, &len) < 0 ||
        epoll_ctl(s.epoll, EPOLL_CTL_ADD, s.listener, &e) < 0)
        die("listen");
    return ntohs(a.sin_port);
}

static void
serve(void)
{
    struct epoll_event events[EVENTS];
    struct epoll_event end = {.events = EPOLLIN, .data.fd = STDIN_FILENO};

    printf("{\"port\":%u,\"first\":\"%s\"}\n", listen_somewhere(),
           s.is_hub ? "/" : "/aaaaa/aa.html");
    fflush(stdout);
    if (epoll_ctl(s.epoll, EPOLL_CTL_ADD, STDIN_FILENO, &end) < 0)
        die("standard input");
    for (;;) {
        int n = epoll_wait(s.epoll, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            if (events[i].data.fd == STDIN_FILENO)
                return;
            if (events[i].data.fd == s.listener)
                welcome();
            else
                hear(events[i].data.fd);
        }
    }
}

static void
write_files(const char *folder)
{
    char path[4096];

    for (uint64_t n = 0; n < s.pages; n++) {
        char name[] = "/aaaaa/aa.html";
        letters(name + 1, n >> 8, 5);
        letters(name + 7, n, 2);
        snprintf(path, sizeof path, "%s%.6s", folder, name);
        if (n % 256 == 0 && mkdir(path, 0755) < 0)
            die(path);
        snprintf(path, sizeof path, "%s%s", folder, name);
        FILE *f = fopen(path, "w");
        make_page(n);
        if (!f || fwrite(s.body, 1, s.len, f) != s.len || fclose(f) != 0)
            die(path);
    }
}

static double
cpu_seconds(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

int
main(int argc, char **argv)
{
    bool files = argc == 6 && strcmp(argv[1], "files") == 0;

    s.is_hub = argc == 4 && strcmp(argv[1], "hub") == 0;
    if (!files && !s.is_hub && !(argc == 5 && strcmp(argv[1], "serve") == 0)) {
        fputs("use: site serve PAGES BYTES LINKS | files FOLDER PAGES BYTES LINKS | hub "
              "LISTS "
              "LINKS\n",
              stderr);
        return 2;
    }
    argv += files;
    s.pages = strtoull(argv[2], NULL, 10);
    s.bytes = s.is_hub ? 0 : strtoull(argv[3], NULL, 10);
    s.links = strtoull(argv[s.is_hub ? 3 : 4], NULL, 10);
    s.body = malloc(ROOM);
    s.conns = calloc(CONNS, sizeof *s.conns);
    if (s.body == NULL || s.conns == NULL || s.pages == 0)
        die("memory");
    if (files) {
        write_files(argv[1]);
        return 0;
    }
    serve();
    printf("{\"pages\":%ju,\"others\":%ju,\"connections\":%ju,\"cpu_s\":%.3f}\n",
           (uintmax_t)s.served, (uintmax_t)s.others, (uintmax_t)s.connections,
           cpu_seconds());
    return 0;
}
