/* SPDX-License-Identifier: Apache-2.0 */
/* Reading at a limited rate. The clock stands, and time passes on it only while
 * connections wait for the rate: bounds are exact whatever the machine does. */
#include "net/read_rate.h"
#include "socket_transport_tls.h"

enum { RATE = 200000, BURST = RATE / 10, PIECE = RATE / 100, RECORD = 17 << 10 };

/* What may be read beyond the rate: what is left of a piece, and records of TLS, with
 * those of handshakes. */
enum { SLACK_PLAIN = PIECE, SLACK_TLS = 5 * RECORD };

typedef struct slow {
    sn_read_rate *rate;
    sn_transport *t;
    seine_time begun;
    uint64_t slack;
} slow;

/* How many connections wait for the rate. */
static size_t
count_waiting(const slow *s)
{
    const sn_socket_transport *w = (const void *)s->t;
    size_t n = 0;

    for (const sn_conn *c = w->slowed.first; c; c = c->ready_next)
        n++;
    return n;
}

static void
check_rate(const slow *s)
{
    double seconds = (double)(transport_now() - s->begun) / 1e9;
    uint64_t in = transport_stats(s->t).bytes_in;

    CHECK((double)in <= RATE * seconds + BURST + (double)s->slack);
}

/* Runs the visits side by side to their ends, and checks the rate at every moment. Time
 * passes while all of them wait for the rate; otherwise the server has to send. */
static void
run_slowly(slow *s, visit **all, size_t n)
{
    size_t left = n;

    for (size_t i = 0; i < n; i++)
        CHECK_EQ(visit_start(s->t, all[i]), SEINE_OK);
    seine_clock *clock = seine_clock_system();
    seine_time late = clock->now(clock) + 2 * CHECK_PATIENCE;
    while (left > 0 && clock->now(clock) < late) {
        bool waits = count_waiting(s) == left;

        if (waits)
            transport_pass(SEINE_MS(3));
        s->t->ops->turn(s->t, waits ? 0 : transport_now() + SEINE_MS(20));
        check_rate(s);
        left = 0;
        for (size_t i = 0; i < n; i++)
            left += all[i]->ends == 0;
    }
    CHECK_EQ(left, 0);
}

/* A visit whose every limit of time is shorter than the rate needs. */
static visit *
impatient(const char *base, const char *path)
{
    visit *v = visit_of(base, path);

    v->q.deadline = transport_now() + SEINE_MS(500);
    v->limits.time.head = SEINE_MS(100);
    v->limits.time.speed_bytes = 4 * RATE;
    v->limits.time.speed_span = SEINE_MS(500);
    return v;
}

static void
check_slow(slow *s, const char *base, size_t n, uint64_t bytes)
{
    visit *all[8];
    char path[64];

    snprintf(path, sizeof path, "/bytes:%llu", (unsigned long long)bytes);
    for (size_t i = 0; i < n; i++)
        all[i] = impatient(base, path);
    s->begun = transport_now();
    run_slowly(s, all, n);
    double took = (double)(transport_now() - s->begun) / 1e9;
    double least = ((double)(n * bytes) - BURST - (double)s->slack) / RATE;
    CHECK(took >= least);
    CHECK(took <= least + 2 * ((double)s->slack + BURST) / RATE + 0.1); /* it is used */
    CHECK(sn_read_rate_waited(s->rate) > SEINE_MS(500));
    for (size_t i = 0; i < n; i++) {
        CHECK_END(all[i], SEINE_OK);
        CHECK_EQ(all[i]->bytes, bytes);
        CHECK(all[i]->end.spent[SEINE_PHASE_HEAD] < SEINE_MS(100)); /* not our pauses */
        free(all[i]);
    }
}

TEST(reading_keeps_to_the_rate_and_no_limit_of_time_counts)
{
    static const size_t rows[] = {1, 4, 8};

    EACH_ROW(i, rows) {
        sn_socket_transport_opts o = transport_opts();
        seine_chaos *c = chaos(NULL);
        slow s = {.slack = SLACK_PLAIN};

        transport_stop_clock();
        CHECK_EQ(sn_read_rate_new(RATE, transport_now(), &s.rate), SEINE_OK);
        o.read_rate = s.rate;
        s.t = transport_of(&o);
        check_slow(&s, seine_chaos_url(c), rows[i], 600000 / rows[i]);
        sn_socket_transport_free(s.t);
        sn_read_rate_free(s.rate);
        transport_go_clock();
        seine_chaos_free(c);
    }
}

TEST(reading_of_tls_keeps_to_the_rate)
{
    sn_socket_transport_opts o = transport_opts();
    slow s = {.slack = SLACK_TLS};

    transport_stop_clock();
    CHECK_EQ(sn_read_rate_new(RATE, transport_now(), &s.rate), SEINE_OK);
    o.read_rate = s.rate;
    secured of = secure_with(NULL, o, 12);
    s.t = of.t;
    check_slow(&s, at(&of, "a.test"), 4, 200000);
    secure_end(&of);
    sn_read_rate_free(s.rate);
    transport_go_clock();
}

TEST(connections_that_share_the_rate_take_turns)
{
    sn_socket_transport_opts o = transport_opts();
    seine_chaos *c = chaos(NULL);
    slow s = {.slack = SLACK_PLAIN};
    visit *all[4];

    transport_stop_clock();
    CHECK_EQ(sn_read_rate_new(RATE, transport_now(), &s.rate), SEINE_OK);
    o.read_rate = s.rate;
    s.t = transport_of(&o);
    for (size_t i = 0; i < 4; i++) {
        all[i] = visit_of(seine_chaos_url(c), "/bytes:400000");
        CHECK_EQ(visit_start(s.t, all[i]), SEINE_OK);
    }
    while (count_waiting(&s) < 4) /* all of them have something to read */
        s.t->ops->turn(s.t, transport_now() + SEINE_MS(20));
    uint64_t before[4];
    for (size_t i = 0; i < 4; i++)
        before[i] = all[i]->bytes;
    for (int i = 0; i < 400;) {
        bool waits = count_waiting(&s) == 4;

        i += waits;
        transport_pass(waits ? SEINE_MS(2) : 0);
        s.t->ops->turn(s.t, waits ? 0 : transport_now() + SEINE_MS(20));
    }
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < 4; i++) {
        uint64_t got = all[i]->bytes - before[i];

        least = got < least ? got : least;
        most = got > most ? got : most;
    }
    CHECK(least > 20000);
    CHECK(most - least <= 4 * PIECE);
    for (size_t i = 0; i < 4; i++)
        s.t->ops->cancel(s.t, all[i]->x, SEINE_E_CANCELED); /* while it waits */
    TURN_WHILE(s.t, all[0]->ends + all[1]->ends + all[2]->ends + all[3]->ends < 4);
    for (size_t i = 0; i < 4; i++) {
        CHECK_END(all[i], SEINE_E_CANCELED);
        free(all[i]);
    }
    CHECK_EQ(count_waiting(&s), 0);
    sn_socket_transport_free(s.t);
    sn_read_rate_free(s.rate);
    transport_go_clock();
    seine_chaos_free(c);
}
