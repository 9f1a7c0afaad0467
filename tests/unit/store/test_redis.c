/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"

#define T0    SEINE_SECS(1000)
#define HELLO "*4\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n"
#define OLD   "*4\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n6.2.6\r\n"
#define NAMED "$13\r\nseine_bucket1\r\n"
#define PONG  "+PONG\r\n"

/* A client, what its hooks were called for, and what its commands got. */
typedef struct party {
    sn_redis_url url;
    sn_redis *r;
    int opens, closes, mores, ups, downs;
    char got[256];
} party;

static void
on_open(void *arg)
{
    ((party *)arg)->opens++;
}
static void
on_close(void *arg)
{
    ((party *)arg)->closes++;
}
static void
on_more(void *arg)
{
    ((party *)arg)->mores++;
}
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
    size_t n = strlen(p->got);

    snprintf(p->got + n, sizeof p->got - n, "%s:%.*s;", seine_err_name(e),
             SN_FMT(reply ? reply->text : SN_STR("-")));
}

static seine_err
start(party *p, const char *url, sn_redis_opts opts)
{
    *p = (party){0};
    seine_err e = sn_redis_url_parse(sn_str_of(url), &p->url, NULL);
    if (e != SEINE_OK)
        return e;
    opts.url = &p->url;
    opts.hooks = (sn_redis_hooks){on_open, on_close, on_more, on_up, on_down, p};
    return sn_redis_new(&opts, T0, &p->r);
}

static void
end(party *p)
{
    sn_redis_free(p->r);
    sn_redis_url_fini(&p->url);
}

/* The bytes to send now, all taken. */
static const char *
sent(party *p)
{
    static char text[8192];
    sn_str out = sn_redis_output(p->r);

    snprintf(text, sizeof text, "%.*s", SN_FMT(out));
    sn_redis_sent(p->r, out.len);
    return text;
}

static void
feed(party *p, seine_time now, const char *bytes)
{
    sn_redis_received(p->r, now, sn_str_of(bytes));
}

/* Connected and greeted at T0. */
static void
bring_up(party *p, sn_redis_opts opts)
{
    CHECK_EQ(start(p, "redis://h", opts), SEINE_OK);
    sn_redis_tick(p->r, T0);
    sn_redis_opened(p->r, T0);
    feed(p, T0, HELLO PONG);
    CHECK(sn_redis_is_up(p->r));
    (void)sent(p);
}

static seine_err
ask(party *p, seine_time now, const char *word)
{
    sn_str words[] = {sn_str_of(word)};

    return sn_redis_ask(p->r, now, words, 1, on_reply, p);
}

TEST(redis_greets_with_login_database_and_functions)
{
    party p;

    CHECK_EQ(start(&p, "redis://anna:pw@h/3", (sn_redis_opts){.functions = "code"}),
             SEINE_OK);
    CHECK_EQ(sn_redis_when(p.r), T0);
    CHECK_EQ(ask(&p, T0, "PING"), SEINE_E_STORE_UNAVAILABLE);
    sn_redis_tick(p.r, T0);
    CHECK_EQ(p.opens, 1);
    sn_redis_opened(p.r, T0);
    CHECK_STR(sent(&p),
              "*5\r\n$5\r\nHELLO\r\n$1\r\n2\r\n$4\r\nAUTH\r\n$4\r\nanna\r\n$2\r\npw\r\n"
              "*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n"
              "*3\r\n$8\r\nFUNCTION\r\n$4\r\nLOAD\r\n$4\r\ncode\r\n"
              "*1\r\n$4\r\nPING\r\n");
    feed(&p, T0, HELLO "+OK\r\n" NAMED);
    CHECK(!sn_redis_is_up(p.r));
    feed(&p, T0, PONG);
    CHECK(sn_redis_is_up(p.r));
    CHECK_EQ(p.ups, 1);
    CHECK_STR(sn_redis_why(p.r), "");
    CHECK_EQ(sn_redis_when(p.r), SEINE_NEVER);
    end(&p);
}

TEST(redis_greeting_without_login_asks_for_the_version_alone)
{
    party p;

    CHECK_EQ(start(&p, "redis://h", (sn_redis_opts){0}), SEINE_OK);
    sn_redis_tick(p.r, T0);
    sn_redis_opened(p.r, T0);
    CHECK_STR(sent(&p), "*2\r\n$5\r\nHELLO\r\n$1\r\n2\r\n*1\r\n$4\r\nPING\r\n");
    end(&p);
    CHECK_EQ(start(&p, "redis://:pw@h", (sn_redis_opts){0}), SEINE_OK);
    sn_redis_tick(p.r, T0);
    sn_redis_opened(p.r, T0);
    CHECK(strstr(sent(&p), "$7\r\ndefault\r\n$2\r\npw\r\n") != NULL);
    end(&p);
}

TEST(redis_that_cannot_be_used_is_told_in_one_line)
{
    static const struct {
        const char *bytes, *why;
    } rows[] = {
        {OLD, "6.2.6 is too old: functions need Redis 7.0 or newer"},
        {"-ERR unknown command `HELLO`, with args beginning with: `2`, `pw`, \r\n",
         "is older than 6: functions need Redis 7.0 or newer"},
        {"-WRONGPASS invalid username-password pair or user is disabled.\r\n",
         "does not know this user and password"},
        {"-NOAUTH HELLO must be called with the client already authenticated\r\n",
         "asks for a password"},
        {"-DENIED Redis is running in protected mode\r\n",
         "is in protected mode: give it a password, or bind it to loopback"},
        {"-ERR max number of clients reached\r\n", "has its maximum of clients"},
        {"*2\r\n$7\r\nversion\r\n$3\r\n\x1b[m\r\n", "does not say its version"},
        {"*0\r\n", "does not say its version"},
        {"+OK\r\n", "does not say its version"},
        {HELLO "-ERR DB index is out of range\r\n", "has no database of this number"},
        {HELLO "-LOADING Redis is loading the dataset in memory\r\n",
         "is still loading its data"},
        {HELLO "+OK\r\n-ERR Error compiling function\r\n", "answers with the error ERR"},
        {HELLO "+OK\r\n" NAMED "-LOADING Redis is loading\r\n",
         "is still loading its data"},
        {"SSH-2.0-OpenSSH_9.2p1\r\n", "does not speak the protocol of Redis"},
        {"*300000\r\n", "sends a reply that is too long"},
    };

    EACH_ROW(i, rows) {
        party p;

        CHECK_EQ(start(&p, "redis://:pw@h/9", (sn_redis_opts){.functions = "code"}),
                 SEINE_OK);
        sn_redis_tick(p.r, T0);
        sn_redis_opened(p.r, T0);
        feed(&p, T0, rows[i].bytes);
        CHECK_STR(sn_redis_why(p.r), rows[i].why);
        CHECK_EQ(p.closes, 1);
        CHECK_EQ(p.downs, 1);
        CHECK_EQ(p.ups, 0);
        CHECK_EQ(sn_redis_pending(p.r), 0);
        end(&p);
    }
}

TEST(redis_functions_that_are_there_or_may_not_be_loaded_are_fine)
{
    static const char *const rows[] = {
        "-ERR Library 'seine_bucket1' already exists\r\n",
        "-NOPERM User anna has no permissions to run the 'function|load' command\r\n",
    };

    EACH_ROW(i, rows) {
        party p;

        CHECK_EQ(start(&p, "redis://h", (sn_redis_opts){.functions = "code"}), SEINE_OK);
        sn_redis_tick(p.r, T0);
        sn_redis_opened(p.r, T0);
        feed(&p, T0, HELLO);
        feed(&p, T0, rows[i]);
        feed(&p, T0, PONG);
        CHECK(sn_redis_is_up(p.r));
        end(&p);
    }
}

TEST(redis_replies_go_to_their_commands_in_order)
{
    party p;

    bring_up(&p, (sn_redis_opts){0});
    CHECK_EQ(ask(&p, T0, "A"), SEINE_OK);
    CHECK_EQ(ask(&p, T0, "B"), SEINE_OK);
    CHECK_EQ(ask(&p, T0, "C"), SEINE_OK);
    CHECK_STR(sent(&p), "*1\r\n$1\r\nA\r\n*1\r\n$1\r\nB\r\n*1\r\n$1\r\nC\r\n");
    feed(&p, T0, "+a\r\n-OOM x\r\n-E");
    CHECK_STR(p.got, "ok:a;store_unavailable:OOM x;");
    feed(&p, T0, "RR c\r\n");
    CHECK_STR(p.got, "ok:a;store_unavailable:OOM x;inval:ERR c;");
    CHECK(sn_redis_is_up(p.r)); /* an error is a reply like others */
    end(&p);
}

TEST(redis_says_once_that_there_is_something_to_send)
{
    party p;

    bring_up(&p, (sn_redis_opts){0});
    p.mores = 0;
    CHECK_EQ(ask(&p, T0, "A"), SEINE_OK);
    CHECK_EQ(ask(&p, T0, "B"), SEINE_OK);
    CHECK_EQ(p.mores, 1);
    sn_redis_sent(p.r, 5); /* a part of it */
    CHECK_EQ(ask(&p, T0, "C"), SEINE_OK);
    CHECK_EQ(p.mores, 1);
    CHECK_STR(sent(&p), "1\r\nA\r\n*1\r\n$1\r\nB\r\n*1\r\n$1\r\nC\r\n");
    CHECK_EQ(ask(&p, T0, "D"), SEINE_OK);
    CHECK_EQ(p.mores, 2);
    end(&p);
}

TEST(redis_queue_is_bounded_in_commands_and_bytes)
{
    party p;
    char big[200] = "";

    bring_up(&p, (sn_redis_opts){.max_pending = 2, .max_bytes = 128});
    CHECK_EQ(ask(&p, T0, "A"), SEINE_OK);
    memset(big, 'b', sizeof big - 1);
    CHECK_EQ(ask(&p, T0, big), SEINE_E_FULL);
    CHECK_EQ(ask(&p, T0, "C"), SEINE_OK);
    CHECK_EQ(ask(&p, T0, "D"), SEINE_E_FULL);
    CHECK_STR(sent(&p), "*1\r\n$1\r\nA\r\n*1\r\n$1\r\nC\r\n"); /* no part of the others */
    feed(&p, T0, "+a\r\n");
    CHECK_EQ(ask(&p, T0, "D"), SEINE_OK);
    feed(&p, T0, "+c\r\n+d\r\n");
    CHECK_STR(p.got, "ok:a;ok:c;ok:d;");
    end(&p);
}

TEST(redis_reply_that_is_late_ends_the_connection)
{
    party p;

    bring_up(&p, (sn_redis_opts){.reply = SEINE_MS(50)});
    CHECK_EQ(ask(&p, T0, "A"), SEINE_OK);
    CHECK_EQ(ask(&p, T0 + SEINE_MS(10), "B"), SEINE_OK);
    CHECK_EQ(sn_redis_when(p.r), T0 + SEINE_MS(50));
    sn_redis_tick(p.r, T0 + SEINE_MS(50) - 1);
    CHECK_STR(p.got, "");
    sn_redis_tick(p.r, T0 + SEINE_MS(50));
    CHECK_STR(p.got, "store_unavailable:-;store_unavailable:-;");
    CHECK_STR(sn_redis_why(p.r), "does not answer in time");
    CHECK_EQ(p.closes, 1);
    CHECK_EQ(p.downs, 1);
    feed(&p, T0 + SEINE_MS(51), "+a\r\n"); /* too late: nobody waits */
    CHECK_STR(p.got, "store_unavailable:-;store_unavailable:-;");
    end(&p);
}

TEST(redis_that_connects_or_greets_too_slowly_is_given_up)
{
    party p;

    CHECK_EQ(start(&p, "redis://h", (sn_redis_opts){.connect = SEINE_MS(300)}), SEINE_OK);
    sn_redis_tick(p.r, T0);
    CHECK_EQ(sn_redis_when(p.r), T0 + SEINE_MS(300));
    sn_redis_tick(p.r, T0 + SEINE_MS(300));
    CHECK_STR(sn_redis_why(p.r), "cannot be reached in time");
    seine_time at = sn_redis_when(p.r);
    sn_redis_tick(p.r, at);
    CHECK_EQ(p.opens, 2);
    sn_redis_opened(p.r, at + SEINE_MS(200));
    CHECK_EQ(sn_redis_when(p.r), at + SEINE_MS(300)); /* one deadline for both */
    sn_redis_tick(p.r, at + SEINE_MS(300));
    CHECK_STR(sn_redis_why(p.r), "does not answer the greeting in time");
    end(&p);
}

TEST(redis_pauses_double_up_to_the_longest_and_begin_anew)
{
    party p;
    seine_time now = T0;
    seine_span most = SEINE_MS(100);

    CHECK_EQ(
        start(&p, "redis://h", (sn_redis_opts){.retry_max = SEINE_MS(700), .seed = 7}),
        SEINE_OK);
    for (int i = 0; i < 6; i++) {
        sn_redis_tick(p.r, now);
        CHECK_EQ(p.opens, i + 1);
        sn_redis_lost(p.r, now, "is not there");
        seine_span pause = sn_redis_when(p.r) - now;
        CHECK(pause <= most && pause >= most / 2);
        sn_redis_tick(p.r, sn_redis_when(p.r) - 1);
        CHECK_EQ(p.opens, i + 1);
        now = sn_redis_when(p.r);
        most = most * 2 > SEINE_MS(700) ? SEINE_MS(700) : most * 2;
    }
    sn_redis_tick(p.r, now);
    sn_redis_opened(p.r, now);
    feed(&p, now, HELLO PONG);
    sn_redis_lost(p.r, now, "closed the connection");
    CHECK(sn_redis_when(p.r) - now <= SEINE_MS(100));
    CHECK_STR(sn_redis_why(p.r), "closed the connection");
    end(&p);
}

TEST(redis_reply_that_nobody_asked_for_ends_the_connection)
{
    party p;

    bring_up(&p, (sn_redis_opts){0});
    feed(&p, T0, "+x\r\n");
    CHECK_STR(sn_redis_why(p.r), "sends a reply that nobody asked for");
    end(&p);
}

/* Asks again from inside its own end. */
static void
on_end_ask(seine_err e, const sn_redis_reply *reply, void *arg)
{
    on_reply(e, reply, arg);
    CHECK_EQ(ask(arg, T0, "AGAIN"), SEINE_E_STORE_UNAVAILABLE);
}

TEST(redis_command_may_ask_from_its_end)
{
    party p;
    sn_str words[] = {SN_STR("A")};

    bring_up(&p, (sn_redis_opts){0});
    CHECK_EQ(sn_redis_ask(p.r, T0, words, 1, on_end_ask, &p), SEINE_OK);
    sn_redis_lost(p.r, T0, "is gone");
    CHECK_STR(p.got, "store_unavailable:-;");
    end(&p);
}

TEST(redis_free_ends_what_waits)
{
    party p;

    bring_up(&p, (sn_redis_opts){0});
    CHECK_EQ(ask(&p, T0, "A"), SEINE_OK);
    end(&p);
    CHECK_STR(p.got, "store_unavailable:-;");
    sn_redis_free(NULL);
}

TEST(redis_without_memory_says_so_and_tries_again)
{
    FAIL_EACH(round)
    {
        party p;
        seine_err e = start(&p, "redis://:pw@h", (sn_redis_opts){.functions = "code"});

        if (e == SEINE_OK) {
            sn_redis_tick(p.r, T0);
            sn_redis_opened(p.r, T0);
            feed(&p, T0, HELLO NAMED PONG);
            if (sn_redis_is_up(p.r))
                (void)!ask(&p, T0, "A");
            CHECK(sn_redis_is_up(p.r) || fail_hit());
        } else {
            CHECK_EQ(e, SEINE_E_NOMEM);
        }
        end(&p);
    }
}
