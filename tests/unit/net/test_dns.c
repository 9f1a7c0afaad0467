/* SPDX-License-Identifier: Apache-2.0 */
/* What needs no server; the rest is in tests/integ/test_dns.c. */
#include "net/dns.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "diag_line.h"
#include "failing.h"

static void
never(sn_lookup *l, seine_err e, const sn_dns_answer *answer)
{
    (void)l;
    (void)e;
    (void)answer;
    CHECK(false);
}

TEST(dns_knows_without_asking)
{
    static const char *const resolve[] = {"typed.example:443:10.0.0.1", NULL};
    static const struct {
        const char *name;
        uint16_t port;
        seine_err e;
        int n4, n6;
    } rows[] = {
        {"127.0.0.1", 80, SEINE_OK, 1, 0},
        {"::1", 80, SEINE_OK, 0, 1},
        {"localhost", 80, SEINE_OK, 1, 1},
        {"www.localhost", 80, SEINE_OK, 1, 1},
        {"typed.example", 443, SEINE_OK, 1, 0},
        {"typed.example.", 443, SEINE_E_DNS_BAD_NAME, 0, 0},
        {"a..b", 80, SEINE_E_DNS_BAD_NAME, 0, 0},
        {"", 80, SEINE_E_DNS_BAD_NAME, 0, 0},
    };
    seine_clock *clock;
    sn_loop loop;
    sn_dns *d = NULL;
    sn_dns_stats stats;

    CHECK_EQ(seine_clock_fake_new(SEINE_SECS(9), 0, 1, &clock), SEINE_OK);
    CHECK_EQ(sn_loop_init(&loop, clock), SEINE_OK);
    CHECK_EQ(sn_dns_new(&loop, &(sn_dns_opts){.resolve = resolve}, &d, NULL), SEINE_OK);
    EACH_ROW(i, rows) {
        sn_lookup l = {.done = never};

        /* The deadline has passed: it does not matter. */
        CHECK_EQ(sn_dns_ask(d, sn_str_of(rows[i].name), rows[i].port, loop.now,
                            loop.now - 1, &l),
                 rows[i].e);
        CHECK_EQ(l.answer->n4, rows[i].n4);
        CHECK_EQ(l.answer->n6, rows[i].n6);
        sn_dns_cancel(d, &l); /* not waiting is fine */
    }
    sn_lookup l = {.done = never};
    CHECK_EQ(sn_dns_ask(d, SN_STR("unknown.example"), 80, loop.now, loop.now, &l),
             SEINE_E_DNS_TIMEOUT);
    sn_loop_turn(&loop, INT64_MIN);
    sn_dns_stats_get(d, &stats);
    CHECK_EQ(stats.hits, 5);
    CHECK_EQ(stats.ok + stats.nxdomain + stats.errors + stats.timeouts, 0);
    sn_dns_free(d);
    CHECK_EQ(loop.reserved, 0);
    sn_loop_fini(&loop);
    seine_clock_fake_free(clock);
}

TEST(dns_says_what_is_wrong_with_its_options)
{
    static const struct {
        const char *server, *resolve, *why;
    } rows[] = {
        {"dns.example", NULL,
         "dns 'dns.example': no name server: it needs ADDR or ADDR:PORT"},
        {"127.0.0.1:x", NULL,
         "dns '127.0.0.1:x': no name server: it needs ADDR or ADDR:PORT"},
        {NULL, "a:b:c", "resolve 'a:b:c': not HOST:PORT:ADDR"},
    };
    seine_clock *clock;
    sn_loop loop;

    CHECK_EQ(seine_clock_fake_new(0, 0, 1, &clock), SEINE_OK);
    CHECK_EQ(sn_loop_init(&loop, clock), SEINE_OK);
    EACH_ROW(i, rows) {
        const char *resolve[] = {"fine:1:::1", rows[i].resolve, NULL};
        sn_dns_opts opts = {.server = rows[i].server, .resolve = resolve};
        seine_diag diag = SEINE_DIAG;
        sn_dns *d = NULL;

        CHECK_EQ(sn_dns_new(&loop, &opts, &d, &diag), SEINE_E_CONFIG);
        CHECK_STR(diag_line(&diag), rows[i].why);
        CHECK_EQ(sn_dns_new(&loop, &opts, &d, NULL), SEINE_E_CONFIG);
        CHECK(!d);
        CHECK_EQ(loop.reserved, 0);
    }
    sn_dns_free(NULL);
    sn_loop_fini(&loop);
    seine_clock_fake_free(clock);
}

TEST(dns_without_memory_is_not_made)
{
    FAIL_EACH(round)
    {
        static const char *const resolve[] = {"a:80:10.0.0.1", "a:80:10.0.0.2", NULL};
        seine_clock *clock = NULL;
        sn_loop loop;
        sn_dns *d = NULL;
        seine_err e = seine_clock_fake_new(0, 0, 1, &clock);

        if (e == SEINE_OK)
            e = sn_loop_init(&loop, clock);
        if (e == SEINE_OK) {
            e = sn_dns_new(&loop, &(sn_dns_opts){.resolve = resolve}, &d, NULL);
            CHECK_EQ(d != NULL, e == SEINE_OK);
            sn_dns_free(d);
            CHECK_EQ(loop.reserved, 0);
            sn_loop_fini(&loop);
        }
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        seine_clock_fake_free(clock);
    }
}
