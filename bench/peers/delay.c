/* SPDX-License-Identifier: Apache-2.0 */
/* delay MS BYTES: a server that answers every request MS after it has read it, with
 * BYTES of text, on as many connections as there are files. Its first line says
 * where it is; it serves until its standard input ends, and then says what it saw:
 *
 *     {"port":40001}
 *     {"answers":50000,"connections":10000,"open":10000,"waiting":9100,
 *      "set_up_ms":212.0,"lost":0,"cpu_s":0.31}
 *
 * open, waiting: the most connections, the most requests that waited for their
 * answer, at once; set_up_ms: from the first connection to the last; lost: clients
 * that were gone, or did not read.
 *
 * delay dial PORT N: opens N connections one after the other and prints how long the
 * machine needs for that and nothing else: {"set_up_ms":180.0}
 *
 * All delays are equal, so what waits is a queue: nothing is sorted. Four sockets
 * listen, since the kernel lets 4,096 connections wait on one of them. Requests have
 * no body. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LISTENERS = 4, EVENTS = 512, READ = 16384 };

/* A connection is its descriptor; the generation tells the next owner of one apart. */
struct conn {
    uint32_t generation;
    uint8_t ended; /* bytes of CR LF CR LF that stand at the end of what was read */
};

struct wait {
    int64_t due;
    int fd;
    uint32_t generation;
};

static struct {
    int epoll;
    struct conn *conns;
    struct wait *queue; /* a ring; its size is a power of two */
    size_t size, head, waiting;
    char *answer;
    size_t answer_len;
    int64_t delay, first, last;
    uint64_t answers, connections, lost;
    size_t open, most_open, most_waiting;
} s;

static void
die(const char *what)
{
    perror(what);
    exit(1);
}

static int64_t
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void
later(int fd, int64_t due)
{
    if (s.waiting == s.size) {
        struct wait *more = malloc(2 * s.size * sizeof *more);
        if (more == NULL)
            die("memory");
        for (size_t i = 0; i < s.waiting; i++)
            more[i] = s.queue[(s.head + i) & (s.size - 1)];
        free(s.queue);
        s.queue = more;
        s.size *= 2;
        s.head = 0;
    }
    s.queue[(s.head + s.waiting) & (s.size - 1)] =
        (struct wait){due, fd, s.conns[fd].generation};
    s.waiting++;
    if (s.waiting > s.most_waiting)
        s.most_waiting = s.waiting;
}

static void
hang_up(int fd)
{
    s.conns[fd].generation++;
    s.open--;
    close(fd);
}

static void
welcome(int listener)
{
    int fd, yes = 1;

    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct epoll_event e = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.fd = fd};
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (epoll_ctl(s.epoll, EPOLL_CTL_ADD, fd, &e) < 0)
            die("epoll_ctl");
        s.conns[fd].ended = 0;
        if (++s.open > s.most_open)
            s.most_open = s.open;
        s.last = now();
        if (s.connections++ == 0)
            s.first = s.last;
    }
}

/* The number of heads that end in these bytes. */
static int
heads(struct conn *c, const char *bytes, ssize_t n)
{
    int found = 0;

    for (ssize_t i = 0; i < n; i++) {
        if (bytes[i] == "\r\n\r\n"[c->ended])
            c->ended++;
        else
            c->ended = bytes[i] == '\r';
        if (c->ended == 4) {
            c->ended = 0;
            found++;
        }
    }
    return found;
}

/* Reads once: an edge with less than a buffer behind it is used up, but for the end. */
static void
hear(int fd, bool is_gone, int64_t time)
{
    static char buf[READ];
    ssize_t n;

    do {
        n = recv(fd, buf, sizeof buf, 0);
        if (n == 0 || (n < 0 && errno != EAGAIN)) {
            hang_up(fd);
            return;
        }
        for (int left = heads(&s.conns[fd], buf, n); left > 0; left--)
            later(fd, time + s.delay);
    } while (n == sizeof buf);
    if (is_gone)
        hang_up(fd);
}

static void
answer_due(void)
{
    int64_t time = now();

    while (s.waiting > 0 && s.queue[s.head].due <= time) {
        struct wait w = s.queue[s.head];
        s.head = (s.head + 1) & (s.size - 1);
        s.waiting--;
        if (s.conns[w.fd].generation != w.generation) {
            s.lost++;
        } else if (send(w.fd, s.answer, s.answer_len, MSG_NOSIGNAL) ==
                   (ssize_t)s.answer_len) {
            s.answers++;
        } else {
            s.lost++;
            hang_up(w.fd);
        }
    }
}

/* Waits for events, no longer than until the next answer is due. */
static int
turn(struct epoll_event *events)
{
    struct timespec t;

    if (s.waiting == 0)
        return epoll_wait(s.epoll, events, EVENTS, -1);
    int64_t left = s.queue[s.head].due - now();
    if (left < 0)
        left = 0;
    t.tv_sec = left / 1000000000;
    t.tv_nsec = left % 1000000000;
    return epoll_pwait2(s.epoll, events, EVENTS, &t, NULL);
}

static struct sockaddr_in
loopback(unsigned port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static unsigned
listen_on(int *listeners)
{
    struct sockaddr_in a = loopback(0);
    socklen_t len = sizeof a;
    int yes = 1;

    for (int i = 0; i < LISTENERS; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) < 0 ||
            bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 65535) < 0 ||
            getsockname(fd, (struct sockaddr *)&a, &len) < 0 ||
            epoll_ctl(s.epoll, EPOLL_CTL_ADD, fd, &e) < 0)
            die("listen");
        listeners[i] = fd;
    }
    return ntohs(a.sin_port);
}

static void
prepare(size_t bytes)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        die("files");
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) < 0)
        die("files");
    s.size = 1024;
    s.queue = malloc(s.size * sizeof *s.queue);
    s.conns = calloc(files.rlim_max, sizeof *s.conns);
    s.answer = malloc(bytes + 200);
    s.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (s.queue == NULL || s.conns == NULL || s.answer == NULL || s.epoll < 0)
        die("memory");
    int head = snprintf(s.answer, 200,
                        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                        "Content-Length: %zu\r\n\r\n",
                        bytes);
    memset(s.answer + head, 'x', bytes);
    s.answer_len = (size_t)head + bytes;
}

static bool
is_one_of(const int *listeners, int fd)
{
    for (int i = 0; i < LISTENERS; i++)
        if (listeners[i] == fd)
            return true;
    return false;
}

static void
serve(void)
{
    struct epoll_event events[EVENTS];
    struct epoll_event end = {.events = EPOLLIN, .data.fd = STDIN_FILENO};
    int listeners[LISTENERS];

    printf("{\"port\":%u}\n", listen_on(listeners));
    fflush(stdout);
    if (epoll_ctl(s.epoll, EPOLL_CTL_ADD, STDIN_FILENO, &end) < 0)
        die("standard input");
    for (;;) {
        int n = turn(events);
        int64_t time = now();
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            if (fd == STDIN_FILENO)
                return;
            if (is_one_of(listeners, fd))
                welcome(fd);
            else
                hear(fd, (events[i].events & (EPOLLRDHUP | EPOLLHUP)) != 0, time);
        }
        answer_due();
    }
}

static int
dial(unsigned port, unsigned long n)
{
    struct sockaddr_in a = loopback(port);
    int64_t start = now();

    for (unsigned long i = 0; i < n; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
            die("connect");
    }
    printf("{\"set_up_ms\":%.1f}\n", (double)(now() - start) / 1e6);
    return 0;
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
    if (argc == 4 && strcmp(argv[1], "dial") == 0)
        return dial((unsigned)strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
    if (argc != 3) {
        fputs("use: delay MS BYTES | delay dial PORT N\n", stderr);
        return 2;
    }
    s.delay = (int64_t)strtoul(argv[1], NULL, 10) * 1000000;
    prepare(strtoul(argv[2], NULL, 10));
    serve();
    printf("{\"answers\":%ju,\"connections\":%ju,\"open\":%zu,\"waiting\":%zu,"
           "\"set_up_ms\":%.1f,\"lost\":%ju,\"cpu_s\":%.3f}\n",
           (uintmax_t)s.answers, (uintmax_t)s.connections, s.most_open, s.most_waiting,
           (double)(s.last - s.first) / 1e6, (uintmax_t)s.lost, cpu_seconds());
    return 0;
}
