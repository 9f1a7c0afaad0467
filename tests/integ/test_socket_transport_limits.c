/* SPDX-License-Identifier: Apache-2.0 */
/* Who may be connected to, how much at once, and what is left when it is stopped. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failing.h"
#include "socket_transport.h"

TESTS_AT_ONCE(8)

static const char *
port_of(const seine_chaos *c)
{
    return strrchr(seine_chaos_url(c), ':') + 1;
}

TEST(an_address_above_the_ceiling_sees_no_packet)
{
    static const struct {
        sn_address_zone ceiling, pin;
        seine_err want;
    } rows[] = {
        {SN_ADDRESS_LOCAL, SN_ADDRESS_NO_PIN, SEINE_OK},
        {SN_ADDRESS_PRIVATE, SN_ADDRESS_NO_PIN, SEINE_E_BLOCKED_ADDRESS},
        {SN_ADDRESS_PUBLIC, SN_ADDRESS_NO_PIN, SEINE_E_BLOCKED_ADDRESS},
        {SN_ADDRESS_LOCAL, SN_ADDRESS_PUBLIC, SEINE_E_BLOCKED_ADDRESS}, /* pinned */
    };
    seine_chaos *c = chaos(NULL);

    EACH_ROW(i, rows) {
        sn_transport *t = transport();
        visit *v = visit_of(seine_chaos_url(c), "/ok");

        seine_chaos_reset(c);
        v->q.ceiling = rows[i].ceiling;
        v->q.pin = rows[i].pin;
        visit_run(t, v);
        CHECK_END(v, rows[i].want);
        if (rows[i].want != SEINE_OK) {
            CHECK_EQ(v->end.fault.phase, SEINE_PHASE_CONNECT);
            CHECK_EQ(v->end.peer.v, 0);
            CHECK_EQ(v->admits, 0);
            CHECK_EQ(transport_stats(t).opened, 0);
            CHECK_EQ(chaos_number(c, "totals", NULL, "connections"), 0);
        }
        free(v);
        sn_socket_transport_free(t);
    }
    seine_chaos_free(c);
}

TEST(a_kept_connection_is_judged_again_for_each_request)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    for (int i = 0; i < 6; i++) {
        visit *v = visit_of(seine_chaos_url(c), "/ok");

        v->q.ceiling = i % 2 ? SN_ADDRESS_PUBLIC : SN_ADDRESS_LOCAL;
        transport_pass(SEINE_SECS(5)); /* it rests after each use */
        visit_run(t, v);
        CHECK_END(v, i % 2 ? SEINE_E_BLOCKED_ADDRESS : SEINE_OK);
        CHECK_EQ(v->end.reused, i > 0 && i % 2 == 0);
        CHECK_EQ(transport_stats(t).idle, 1);
        free(v);
    }
    CHECK_EQ(transport_stats(t).opened, 1);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(an_address_declared_public_may_be_reached_by_anybody)
{
    seine_chaos *c = chaos(NULL);
    sn_socket_transport_opts o = transport_opts();
    sn_address_zone_rule rule = {{{4, {127, 9, 0, 0}}, 16}, SN_ADDRESS_PUBLIC};
    char base[64];

    o.zones.rules = &rule;
    o.zones.n_rules = 1;
    sn_transport *t = transport_of(&o);
    snprintf(base, sizeof base, "http://127.9.0.1:%s", port_of(c));
    visit *v = visit_of(base, "/ok");
    v->q.ceiling = SN_ADDRESS_PUBLIC;
    visit_run(t, v);
    CHECK_END(v, SEINE_OK);
    CHECK_EQ(v->end.zone, SN_ADDRESS_PUBLIC);
    free(v);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* One of two addresses may not be connected to; the other one does it. */
TEST(every_address_of_a_name_is_judged)
{
    seine_chaos *c = chaos("{\"dns\":\"two.test\",\"answers\":[\"127.0.0.1\","
                           "\"127.9.0.1\"],\"ttl\":60}\n");
    sn_socket_transport_opts o = transport_opts();
    sn_address_zone_rule rule = {{{4, {127, 9, 0, 0}}, 16}, SN_ADDRESS_PUBLIC};
    char base[64];

    o.zones.rules = &rule;
    o.zones.n_rules = 1;
    o.dns.server = seine_chaos_where(c, "dns");
    sn_transport *t = transport_of(&o);
    snprintf(base, sizeof base, "http://two.test:%s", port_of(c));
    visit *v = visit_of(base, "/ok");
    v->q.ceiling = SN_ADDRESS_PUBLIC;
    visit_run(t, v);
    CHECK_END(v, SEINE_OK);
    CHECK_EQ(v->end.peer.bytes[1], 9);
    CHECK_EQ(transport_stats(t).opened, 1);
    CHECK_EQ(chaos_number(c, "addresses", "127.0.0.1", "connections"), -1);
    free(v);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(who_admits_is_asked_once_and_may_say_no)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    static const seine_err answers[] = {SEINE_E_BUSY, SEINE_OK, SEINE_E_LIMITED};

    EACH_ROW(i, answers) {
        visit *v = visit_of(seine_chaos_url(c), "/ok");

        v->admit = answers[i];
        visit_run(t, v);
        CHECK_END(v, answers[i]);
        CHECK_EQ(v->admits, 1);
        CHECK_EQ(v->end.fault.sent, answers[i] == SEINE_OK);
        CHECK_EQ(transport_stats(t).opened, i > 0);
        CHECK_EQ(transport_stats(t).idle, i > 0); /* not used, and still there */
        free(v);
    }
    CHECK_EQ(chaos_number(c, "hosts", "127.0.0.1", "requests"), 1);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(at_the_bound_of_connections_the_longest_idle_is_closed)
{
    seine_chaos *c = chaos(NULL);
    sn_socket_transport_opts o = transport_opts();
    char base[64];

    o.max_connections = 2;
    sn_transport *t = transport_of(&o);
    for (int i = 1; i <= 4; i++) {
        snprintf(base, sizeof base, "http://127.0.0.%d:%s", i, port_of(c));
        visit *v = get(t, base, "/ok");

        CHECK_END(v, SEINE_OK);
        CHECK_EQ(transport_stats(t).open, i < 2 ? i : 2);
        free(v);
    }
    /* Both are busy: there is no place for a third. */
    visit *v[3];
    for (int i = 0; i < 3; i++) {
        snprintf(base, sizeof base, "http://127.0.1.%d:%s", i + 1, port_of(c));
        v[i] = visit_of(base, "/delay:50ms/ok");
        CHECK_EQ(visit_start(t, v[i]), SEINE_OK);
    }
    for (int i = 0; i < 3; i++) {
        visit_wait(v[i]);
        CHECK_END(v[i], i < 2 ? SEINE_OK : SEINE_E_NO_FILES);
        CHECK_EQ(v[i]->end.fault.sent, i < 2);
        free(v[i]);
    }
    CHECK_EQ(transport_stats(t).open, 2);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* What ended, in a child that has no descriptor left: which of the steps went wrong. */
static int
with_no_files(const char *base, const char *other)
{
    struct rlimit few;
    sn_transport *t = transport();
    visit *v = get(t, base, "/ok");
    int next = dup(0);

    close(next);
    getrlimit(RLIMIT_NOFILE, &few);
    few.rlim_cur = (rlim_t)next;
    setrlimit(RLIMIT_NOFILE, &few);
    if (v->end.fault.code != SEINE_OK)
        return 1;
    free(v);

    v = visit_of(base, "/ok"); /* the idle one makes room */
    v->q.fresh = true;
    visit_run(t, v);
    if (v->end.fault.code != SEINE_OK || v->end.reused)
        return 2;
    free(v);

    visit *slow = visit_of(base, "/delay:100ms/ok");
    if (visit_start(t, slow) != SEINE_OK)
        return 3;
    v = visit_run(t, visit_of(other, "/ok"));
    if (v->end.fault.code != SEINE_E_NO_FILES || v->end.fault.sent ||
        v->end.fault.phase != SEINE_PHASE_CONNECT)
        return 4;
    free(v);
    visit_wait(slow);
    if (slow->end.fault.code != SEINE_OK)
        return 5;
    free(slow);
    v = visit_run(t, visit_of(other, "/ok")); /* it is idle now, and goes */
    if (v->end.fault.code != SEINE_OK)
        return 6;
    free(v);
    sn_socket_transport_free(t);
    return 0;
}

TEST(without_descriptors_it_ends_as_no_files_and_goes_on_later)
{
    seine_chaos *c = chaos(NULL);
    char other[64];
    int status = 0;

    snprintf(other, sizeof other, "http://127.0.0.2:%s", port_of(c));
    pid_t child = fork();
    if (child == 0)
        _exit(with_no_files(seine_chaos_url(c), other));
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 0);
    seine_chaos_free(c);
}

TEST(a_head_that_the_budget_cannot_hold_ends_as_budget)
{
    seine_chaos *c = chaos(NULL);
    seine_want limits = {{16 << 10, UINT64_MAX, UINT64_MAX, UINT64_MAX}}, used;
    sn_socket_transport_opts o = transport_opts();

    CHECK_EQ(seine_budget_new(&limits, &o.budget), SEINE_OK);
    sn_transport *t = transport_of(&o);
    visit *v = get(t, seine_chaos_url(c), "/bighead:30000/ok");
    CHECK_END(v, SEINE_E_BUDGET);
    CHECK_EQ(v->end.fault.phase, SEINE_PHASE_HEAD);
    free(v);
    v = get(t, seine_chaos_url(c), "/ok");
    CHECK_END(v, SEINE_OK);
    free(v);
    sn_socket_transport_free(t);
    seine_budget_used_get(o.budget, &used);
    CHECK_EQ(used.n[SEINE_RES_MEMORY], 0);
    seine_budget_free(o.budget);
    seine_chaos_free(c);
}

/* Cancelled after `ms` in each phase, it ends in the next turn with what was said, and
 * nothing is left. */
TEST(cancel_is_honoured_in_every_phase_and_releases_everything)
{
    static const struct {
        const char *place, *path;
        seine_phase phase;
    } rows[] = {
        {"slow-3000.test", "/ok", SEINE_PHASE_DNS},
        {"hole", "/ok", SEINE_PHASE_CONNECT},
        {NULL, "/noread/ok", SEINE_PHASE_SEND},
        {NULL, "/mute", SEINE_PHASE_HEAD},
        {NULL, "/stall:20/ok", SEINE_PHASE_HEAD},
        {NULL, "/stall:9:body/bytes:200k", SEINE_PHASE_BODY},
    };
    static char body[32 << 20]; /* more than kernels buffer */
    seine_chaos *c = chaos(NULL);
    sn_socket_transport_opts o = transport_opts();

    o.dns.server = seine_chaos_where(c, "dns");
    sn_transport *t = transport_of(&o);
    EACH_ROW(i, rows) {
        char base[64];

        snprintf(base, sizeof base, "http://%s:%s", rows[i].place ? rows[i].place : "",
                 port_of(c));
        visit *v = visit_of(!rows[i].place ? seine_chaos_url(c)
                            : i == 0       ? base
                                           : seine_chaos_where(c, rows[i].place),
                            rows[i].path);
        if (rows[i].phase == SEINE_PHASE_SEND) {
            v->q.method = SN_STR("POST");
            v->q.body = (sn_str){body, sizeof body};
        }
        CHECK_EQ(visit_start(t, v), SEINE_OK);
        visit_until(v, rows[i].phase);
        t->ops->cancel(t, v->x, SEINE_E_DEADLINE);
        CHECK_EQ(v->ends, 0); /* never from inside */
        t->ops->cancel(t, v->x, SEINE_E_CANCELED);
        t->ops->turn(t, SEINE_NEVER);
        CHECK_EQ(v->ends, 1);
        CHECK_END(v, SEINE_E_DEADLINE);
        CHECK_STR(seine_phase_name(v->end.fault.phase), seine_phase_name(rows[i].phase));
        CHECK_EQ(transport_stats(t).open, 0);
        free(v);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(what_is_cancelled_before_its_first_turn_does_nothing)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit *v = visit_of(seine_chaos_url(c), "/ok");

    CHECK_EQ(visit_start(t, v), SEINE_OK);
    t->ops->cancel(t, v->x, SEINE_E_CANCELED);
    CHECK_EQ(v->ends, 0);
    t->ops->turn(t, SEINE_NEVER);
    CHECK_END(v, SEINE_E_CANCELED);
    CHECK_EQ(v->admits, 0);
    CHECK(!v->end.fault.sent);
    CHECK_EQ(transport_stats(t).opened, 0);
    free(v);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(an_exchange_may_cancel_itself_from_its_own_callbacks)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    for (int i = 0; i < 2; i++) {
        visit *v = visit_of(seine_chaos_url(c), "/bytes:1000");

        v->cancel_in_head = i == 0 ? SEINE_E_CANCELED : SEINE_OK;
        v->cancel_in_body = i == 1 ? SEINE_E_CANCELED : SEINE_OK;
        visit_run(t, v);
        CHECK_END(v, SEINE_E_CANCELED);
        CHECK(v->end.partial);
        CHECK_EQ(v->pieces, i);
        CHECK_EQ(transport_stats(t).open, 0);
        free(v);
        v = get(t, seine_chaos_url(c), "/head:Connection:close/ok");
        CHECK_END(v, SEINE_OK);
        free(v);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

static visit *victim, *next_one;

/* In the end of one, another one is cancelled and a third is started. */
static void
stir(visit *v)
{
    v->t->ops->cancel(v->t, victim->x, SEINE_E_CANCELED);
    v->t->ops->cancel(v->t, v->x, SEINE_E_CANCELED); /* has ended already */
    CHECK_EQ(visit_start(v->t, next_one), SEINE_OK);
    CHECK_EQ(victim->ends + next_one->ends, 0);
}

TEST(exchanges_may_be_started_and_cancelled_from_callbacks)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit *v = visit_of(seine_chaos_url(c), "/ok");

    victim = visit_of(seine_chaos_url(c), "/mute");
    next_one = visit_of(seine_chaos_url(c), "/ok");
    v->then = stir;
    CHECK_EQ(visit_start(t, victim), SEINE_OK);
    visit_run(t, v);
    visit_wait(victim);
    visit_wait(next_one);
    CHECK_END(v, SEINE_OK);
    CHECK_END(victim, SEINE_E_CANCELED);
    CHECK_END(next_one, SEINE_OK);
    CHECK(next_one->end.reused);
    free(v);
    free(victim);
    free(next_one);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(a_thousand_at_once_all_come_home)
{
    enum { MANY = 1000 };
    static const char *const paths[] = {"/delay:20ms/bytes:3000", "/chunked/bytes:500",
                                        "/close/bytes:100", "/reset:30/ok",
                                        "/drip:100x1ms:body/bytes:1000"};
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit **v = calloc(MANY, sizeof *v);
    int bad = 0;

    for (int i = 0; i < MANY; i++) {
        v[i] = visit_of(seine_chaos_url(c), paths[i % 5]);
        CHECK_EQ(visit_start(t, v[i]), SEINE_OK);
    }
    for (int i = 0; i < MANY; i++) {
        seine_err want = i % 5 == 3 ? SEINE_E_HEADER_TRUNCATED : SEINE_OK;

        visit_wait(v[i]);
        bad += v[i]->end.fault.code != want;
    }
    CHECK_EQ(bad, 0);
    CHECK_EQ(transport_stats(t).open, transport_stats(t).idle);
    for (int i = 0; i < MANY; i++)
        free(v[i]);
    free(v);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* A server whose allocations are not ours: it is in a child, and gone with us. */
static pid_t
serve_elsewhere(char base[64])
{
    int ends[2];

    CHECK_EQ(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const char *url = seine_chaos_url(chaos(NULL));
        if (write(ends[1], url, strlen(url) + 1) < 0)
            _exit(1);
        for (;;)
            pause();
    }
    close(ends[1]);
    CHECK(read(ends[0], base, 64) > 0);
    close(ends[0]);
    return child;
}

static void
stop_serving(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

TEST(once_warm_a_request_allocates_nothing)
{
    enum { AT_ONCE = 16 };
    char base[64] = "";
    pid_t child = serve_elsewhere(base);
    visit *v[AT_ONCE];
    long before = 0;
    uint64_t opened = 0;

    count_begin();
    sn_transport *t = transport();
    for (int round = 0; round < 30; round++) {
        if (round == 12) { /* the origin has proven itself: no more trials */
            transport_stop_clock();
            transport_pass(SEINE_SECS(1)); /* all have rested */
        }
        if (round == 15) {
            before = count_calls();
            opened = transport_stats(t).opened;
        }
        for (int i = 0; i < AT_ONCE; i++) {
            v[i] = visit_of(base, "/bytes:2000");
            CHECK_EQ(visit_start(t, v[i]), SEINE_OK);
        }
        for (int i = 0; i < AT_ONCE; i++) {
            visit_wait(v[i]);
            CHECK_END(v[i], SEINE_OK);
            free(v[i]);
        }
    }
    CHECK_EQ(count_calls(), before);
    CHECK_EQ(transport_stats(t).opened, opened);
    sn_socket_transport_free(t);
    count_end();
    stop_serving(child);
    transport_go_clock();
}

/* Each waits for its answer, in the phase in which most connections of a crawl are. */
TEST(a_connection_in_flight_takes_less_than_two_kilobytes)
{
    enum { MANY = 400 };
    char base[64] = "";
    pid_t child = serve_elsewhere(base);
    visit **v = calloc(MANY, sizeof *v);

    for (int i = 0; i < MANY; i++)
        v[i] = visit_of(base, "/delay:300ms/ok");
    count_begin();
    sn_transport *t = transport();
    int64_t before = count_bytes();
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(visit_start(t, v[i]), SEINE_OK);
    transport_idle(t, SEINE_MS(150));
    CHECK_EQ(transport_stats(t).open, MANY);
    CHECK((count_bytes() - before) / MANY < 2048);
    for (int i = 0; i < MANY; i++) {
        visit_wait(v[i]);
        free(v[i]);
    }
    CHECK((count_bytes() - before) / MANY < 2048); /* idle now */
    free(v);
    sn_socket_transport_free(t);
    count_end();
    stop_serving(child);
}

TEST(the_descriptor_is_readable_when_a_turn_has_something_to_do)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    struct pollfd wait = {.fd = t->ops->fd(t), .events = POLLIN};
    visit *v = visit_of(seine_chaos_url(c), "/delay:30ms/ok");
    int turns = 0;

    CHECK(wait.fd >= 0);
    CHECK_EQ(visit_start(t, v), SEINE_OK);
    while (v->ends == 0 && turns++ < 100) {
        CHECK_EQ(poll(&wait, 1, 5000), 1);
        t->ops->turn(t, 0);
    }
    CHECK_END(v, SEINE_OK);
    CHECK(turns < 20);
    free(v);

    v = visit_of(seine_chaos_url(c), "/mute");
    v->limits.time.head = SEINE_MS(50);
    CHECK_EQ(visit_start(t, v), SEINE_OK);
    for (turns = 0; v->ends == 0 && turns < 100; turns++) {
        CHECK_EQ(poll(&wait, 1, 5000), 1);
        t->ops->turn(t, 0);
    }
    CHECK_END(v, SEINE_E_HEADER_TIMEOUT);
    free(v);

    v = visit_of(seine_chaos_url(c), "/mute");
    CHECK_EQ(visit_start(t, v), SEINE_OK);
    for (int i = 0; i < 5; i++)
        t->ops->turn(t, transport_now() + SEINE_MS(5));
    t->ops->cancel(t, v->x, SEINE_E_CANCELED);
    CHECK_EQ(poll(&wait, 1, 5000), 1);
    t->ops->turn(t, 0);
    CHECK_END(v, SEINE_E_CANCELED);
    free(v);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(a_wake_ends_the_wait)
{
    sn_transport *t = transport();
    seine_time from = transport_now();

    t->ops->wake(t);
    t->ops->turn(t, from + SEINE_SECS(600));
    CHECK(transport_now() - from < CHECK_PATIENCE);
    sn_socket_transport_free(t);
}

TEST(an_exchange_survives_every_failing_allocation)
{
    static const char *const paths[] = {"/ok", "/chunked/bytes:50", "/bighead:9000/ok"};
    char base[64] = "";
    pid_t child = serve_elsewhere(base);

    EACH_ROW(i, paths) {
        visit *v = visit_of(base, paths[i]), fresh = *v;

        FAIL_EACH(n)
        {
            sn_socket_transport_opts o = transport_opts();

            visit_survives(v, &fresh, &o);
        }
        free(v);
    }
    stop_serving(child);
}
