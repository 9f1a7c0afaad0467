/* SPDX-License-Identifier: Apache-2.0 */
/* The loop with real time, real sockets and other threads. */
#include "net/loop.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/time.h"
#include "check.h"

#define SOON CHECK_PATIENCE

static seine_time
now(void)
{
    seine_clock *c = seine_clock_system();

    return c->now(c);
}

static void
open_loop(sn_loop *l)
{
    CHECK_EQ(sn_loop_init(l, seine_clock_system()), SEINE_OK);
}

typedef struct bell {
    sn_timer timer; /* first */
    seine_time due, at;
    int fired;
} bell;

static void
on_bell(sn_timer *t, seine_time at)
{
    bell *b = (bell *)(void *)t;

    b->fired++;
    b->at = at;
}

static void
set(sn_loop *l, bell *b, seine_time at)
{
    b->timer.fire = on_bell;
    b->due = at;
    CHECK_EQ(sn_timer_reserve(l), SEINE_OK);
    sn_timer_set(l, &b->timer, at);
}

TEST(loop_waits_for_timers_and_is_never_early)
{
    static const bool rows[] = {false, true}; /* without epoll_pwait2 */

    EACH_ROW(i, rows) {
        sn_loop l;
        bell b[50] = {0};
        sn_rng r = sn_rng_seed(check_seed());

        open_loop(&l);
        l.coarse = rows[i];
        for (int k = 0; k < 50; k++)
            set(&l, &b[k], l.now + (seine_span)sn_rng_below(&r, SEINE_MS(60)));
        for (int left = 50; left > 0;) {
            sn_loop_turn(&l, SEINE_NEVER);
            left = 0;
            for (int k = 0; k < 50; k++)
                left += b[k].fired == 0;
        }
        for (int k = 0; k < 50; k++) {
            CHECK_EQ(b[k].fired, 1);
            CHECK(b[k].at >= b[k].due);
            CHECK(b[k].at < b[k].due + SOON);
        }
        CHECK(l.turns < 500); /* it waits, and does not spin */
        sn_loop_fini(&l);
    }
}

TEST(loop_waits_in_nanoseconds)
{
    sn_loop l;
    seine_span best = SEINE_NEVER; /* of many: other programs want the machine, too */

    open_loop(&l);
    for (int i = 0; i < 2000 && best >= SEINE_US(800); i++) {
        seine_time until = now() + SEINE_US(200), at = 0;

        while ((at = sn_loop_turn(&l, until)) < until)
            continue;
        best = at - until < best ? at - until : best;
    }
    if (l.coarse)
        CHECK(best < SEINE_MS(2));
    else
        CHECK(best < SEINE_US(800)); /* a millisecond's rounding would show */
    sn_loop_fini(&l);
}

TEST(loop_does_not_wait_past_until)
{
    sn_loop l;
    bell b = {0};

    open_loop(&l);
    set(&l, &b, l.now + SEINE_SECS(3600));
    seine_time from = now();
    CHECK(sn_loop_turn(&l, from + SEINE_MS(20)) >= from + SEINE_MS(20));
    CHECK(now() - from < SEINE_MS(20) + SOON);
    from = now();
    sn_loop_turn(&l, from);
    sn_loop_turn(&l, INT64_MIN);
    CHECK(now() - from < SOON);
    CHECK_EQ(b.fired, 0);
    sn_loop_fini(&l);
}

/* -- wakes -- */

typedef struct crowd {
    sn_loop *loop;
    uint32_t posted; /* atomic */
    uint32_t quota;
} crowd;

static void *
post(void *arg)
{
    crowd *c = arg;

    for (uint32_t i = 0; i < c->quota; i++) {
        __atomic_fetch_add(&c->posted, 1, __ATOMIC_RELAXED);
        sn_loop_wake(c->loop);
    }
    return NULL;
}

TEST_THREADS(loop_no_wake_is_lost)
{
    enum { THREADS = 3, EACH = 200 };
    sn_loop l;
    crowd c = {&l, 0, EACH};
    pthread_t threads[THREADS];

    open_loop(&l);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, post, &c), 0);
    /* Without end: a lost wake would hang here. */
    while (__atomic_load_n(&c.posted, __ATOMIC_RELAXED) < THREADS * EACH)
        sn_loop_turn(&l, SEINE_NEVER);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    sn_loop_fini(&l);
}

static sn_loop *signalled;

static void
on_signal(int number)
{
    (void)number;
    sn_loop_wake(signalled);
}

static void *
kill_it(void *arg)
{
    pthread_kill(*(pthread_t *)arg, SIGUSR1);
    return NULL;
}

TEST(loop_a_signal_handler_may_wake_it)
{
    sn_loop l;
    pthread_t self = pthread_self(), thread;
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;

    open_loop(&l);
    signalled = &l;
    sigaction(SIGUSR1, &a, &old);
    errno = 77;
    on_signal(0); /* errno is the interrupted code's */
    CHECK_EQ(errno, 77);
    sn_loop_turn(&l, SEINE_NEVER);
    CHECK_EQ(pthread_create(&thread, NULL, kill_it, &self), 0);
    while (l.turns < 2)
        sn_loop_turn(&l, SEINE_NEVER); /* interrupted, or woken */
    pthread_join(thread, NULL);
    sn_loop_turn(&l, now() + SEINE_MS(1));
    sigaction(SIGUSR1, &old, NULL);
    sn_loop_fini(&l);
}

/* -- sockets -- */

typedef struct end {
    sn_watch watch; /* first */
    int fd, heard;
    uint32_t events;
} end;

static void
on_end(sn_watch *w, uint32_t events)
{
    end *e = (end *)(void *)w;

    e->heard++;
    e->events |= events;
}

static void
pair_up(sn_loop *l, end *a, end *b)
{
    int fds[2];

    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    *a = (end){.watch.ready = on_end, .fd = fds[0]};
    *b = (end){.watch.ready = on_end, .fd = fds[1]};
    CHECK_EQ(sn_loop_add(l, a->fd, &a->watch), SEINE_OK);
    CHECK_EQ(sn_loop_add(l, b->fd, &b->watch), SEINE_OK);
}

TEST(loop_tells_of_data_room_and_ends)
{
    sn_loop l;
    end a, b;
    char bytes[4096] = {0};

    open_loop(&l);
    pair_up(&l, &a, &b);
    sn_loop_turn(&l, now());
    CHECK_EQ(a.events, EPOLLOUT);
    a.events = b.events = 0;
    CHECK_EQ(send(a.fd, "x", 1, 0), 1);
    while (!(b.events & EPOLLIN))
        sn_loop_turn(&l, SEINE_NEVER);
    while (send(a.fd, bytes, sizeof bytes, 0) > 0)
        continue;
    a.events = 0;
    while (recv(b.fd, bytes, sizeof bytes, 0) > 0)
        continue;
    while (!(a.events & EPOLLOUT))
        sn_loop_turn(&l, SEINE_NEVER); /* there is room again */
    b.events = 0;
    shutdown(a.fd, SHUT_WR);
    while (!(b.events & EPOLLRDHUP))
        sn_loop_turn(&l, SEINE_NEVER);
    sn_loop_del(&l, a.fd, &a.watch);
    sn_loop_del(&l, b.fd, &b.watch);
    close(a.fd);
    close(b.fd);
    sn_loop_fini(&l);
}

TEST(loop_serves_more_descriptors_than_one_wait_returns)
{
    enum { N = 300 };
    static end a[N], b[N];
    sn_loop l;

    open_loop(&l);
    for (int i = 0; i < N; i++)
        pair_up(&l, &a[i], &b[i]);
    sn_loop_turn(&l, now());
    sn_loop_turn(&l, now());
    for (int i = 0; i < N; i++)
        CHECK(a[i].heard >= 1 && b[i].heard >= 1);
    for (int i = 0; i < N; i++) {
        sn_loop_del(&l, a[i].fd, &a[i].watch);
        sn_loop_del(&l, b[i].fd, &b[i].watch);
        close(a[i].fd);
        close(b[i].fd);
    }
    sn_loop_fini(&l);
}

/* -- inside of another loop -- */

static bool
is_readable(int fd, seine_span within)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, (int)(within / SEINE_MS(1))) == 1;
}

TEST(loop_fd_is_readable_when_a_turn_has_something_to_do)
{
    sn_loop l;
    bell b = {0}, c = {0};
    end x, y;

    open_loop(&l);
    set(&l, &b, l.now + SEINE_MS(40));
    int fd = sn_loop_fd(&l);
    CHECK(fd >= 0);
    CHECK_EQ(sn_loop_fd(&l), fd);
    CHECK(!is_readable(fd, SEINE_MS(1)));
    CHECK(is_readable(fd, SEINE_SECS(5))); /* a timer */
    while (b.fired == 0) {
        CHECK(is_readable(fd, SEINE_SECS(5)));
        sn_loop_turn(&l, now());
    }
    CHECK(b.at >= b.due);
    CHECK(b.at < b.due + SOON);
    sn_loop_turn(&l, now());
    CHECK(!is_readable(fd, 0));

    set(&l, &c, now() + SEINE_SECS(3600)); /* set outside of a turn, then earlier */
    CHECK(!is_readable(fd, SEINE_MS(5)));
    c.due = now() + SEINE_MS(10);
    sn_timer_set(&l, &c.timer, c.due);
    while (c.fired == 0) {
        CHECK(is_readable(fd, SEINE_SECS(5)));
        sn_loop_turn(&l, now());
    }
    CHECK(c.at >= c.due);
    sn_loop_turn(&l, now());

    sn_loop_wake(&l);
    CHECK(is_readable(fd, SEINE_SECS(5)));
    sn_loop_turn(&l, now());
    CHECK(!is_readable(fd, 0));
    sn_loop_wake(&l); /* and once more */
    CHECK(is_readable(fd, SEINE_SECS(5)));
    sn_loop_turn(&l, now());

    pair_up(&l, &x, &y);
    CHECK(is_readable(fd, SEINE_SECS(5)));
    sn_loop_turn(&l, now());
    CHECK(!is_readable(fd, 0));
    CHECK(l.longest < SEINE_SECS(1)); /* waiting outside is not counted */
    close(x.fd);
    close(y.fd);
    sn_loop_fini(&l);
}

TEST(loop_without_descriptors_says_so)
{
    sn_loop l;
    struct rlimit old;
    int low = dup(0), fds[2];

    getrlimit(RLIMIT_NOFILE, &old);
    close(low);
    for (int free = 0; free < 2; free++) { /* an epoll; an epoll and an eventfd */
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)(low + free), old.rlim_max});
        CHECK_EQ(sn_loop_init(&l, seine_clock_system()), SEINE_E_NO_FILES);
        setrlimit(RLIMIT_NOFILE, &old);
    }
    open_loop(&l);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)low + 2, old.rlim_max});
    CHECK_EQ(sn_loop_fd(&l), -1);
    setrlimit(RLIMIT_NOFILE, &old);
    CHECK(sn_loop_fd(&l) >= 0);
    sn_loop_fini(&l);
    CHECK_EQ(pipe(fds), 0); /* nothing was left open */
    CHECK_EQ(fds[0], low);
    close(fds[0]);
    close(fds[1]);
}
