/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/name_server.h"

#include <string.h>

#include "check.h"

typedef struct reply {
    uint8_t bytes[SNC_NAME_SERVER_ROOM];
    snc_dns_answer out;
} reply;

static size_t
question(const char *name, uint16_t type, uint8_t *out)
{
    static const uint8_t head[12] = {0x12, 0x34, 1, 0, 0, 1};
    size_t n = sizeof head;

    memcpy(out, head, n);
    while (*name) {
        size_t label = strcspn(name, ".");

        out[n++] = (uint8_t)label;
        memcpy(out + n, name, label);
        n += label;
        name += label + (name[label] == '.');
    }
    out[n++] = 0;
    out[n++] = (uint8_t)(type >> 8);
    out[n++] = (uint8_t)type;
    out[n++] = 0;
    out[n++] = 1;
    return n;
}

static reply *
ask_of(snc_script *script, const char *name, uint16_t type, bool tcp, uint64_t hit)
{
    static reply r;
    uint8_t query[512];
    snc_dns_query in = {.query = query, .tcp = tcp, .script = script, .hit = hit};

    in.len = question(name, type, query);
    r.out = (snc_dns_answer){.bytes = r.bytes, .room = sizeof r.bytes};
    snc_name_server_answer(&in, &r.out);
    return &r;
}

static reply *
req(const char *name, bool tcp)
{
    snc_script none;

    snc_script_init(&none);
    reply *r = ask_of(&none, name, 1, tcp, 1);
    snc_script_fini(&none);
    return r;
}

static unsigned
answers(const reply *r)
{
    return (unsigned)(r->bytes[6] << 8 | r->bytes[7]);
}

static uint32_t
last_address(const reply *r)
{
    const uint8_t *p = r->bytes + r->out.len - 4;

    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

TEST(a_name_under_test_has_an_address_that_follows_from_it)
{
    uint32_t a = snc_name_server_address(SN_STR("a.test"));

    CHECK_EQ(a >> 16, 0x7f01);
    const reply *r = req("a.test", false);
    CHECK_EQ(answers(r), 1);
    CHECK_EQ(last_address(r), a);
    CHECK_EQ(r->bytes[0] << 8 | r->bytes[1], 0x1234);
    CHECK_EQ(r->bytes[2] & 0x80, 0x80);
    CHECK_EQ(r->bytes[3] & 15, 0);
    CHECK_EQ(last_address(req("A.TEST", false)), a);
    CHECK(snc_name_server_address(SN_STR("b.test")) != a);
    CHECK_EQ(snc_name_server_address(SN_STR("h3.test")), snc_site_address(3));
}

TEST(labels_do_harm_from_left_to_right)
{
    static const struct {
        const char *name;
        unsigned rcode, answers;
        seine_span delay;
    } rows[] = {
        {"nx.a.test", 3, 0, 0},
        {"servfail.a.test", 2, 0, 0},
        {"refused.a.test", 5, 0, 0},
        {"empty.a.test", 0, 0, 0},
        {"slow-3000.a.test", 0, 1, SEINE_SECS(3)},
        {"slow-20.servfail.a.test", 2, 0, SEINE_MS(20)},
        {"a-1-2-3-4.a-5-6-7-8.test", 0, 2, 0},
        {"many-5.a.test", 0, 5, 0},
        {"a.nx.test", 0, 1, 0}, /* behind an ordinary label nothing is special */
        {"a-1-2-3-400.test", 0, 1, 0},
        {"e.org", 5, 0, 0},
        {"loop.a.test", 0, 1, 0},
        {"selfname.a.test", 0, 1, 0},
    };

    EACH_ROW(i, rows) {
        const reply *r = req(rows[i].name, false);

        CHECK_EQ(r->out.rcode, rows[i].rcode);
        CHECK_EQ(r->bytes[3] & 15, rows[i].rcode);
        CHECK_EQ(answers(r), rows[i].answers);
        CHECK_EQ(r->out.delay, rows[i].delay);
    }
    CHECK_EQ(last_address(req("a-1-2-3-4.test", false)), 0x01020304);
    CHECK_EQ(req("drop.a.test", false)->out.len, 0);
    CHECK_EQ(req("wrongid.a.test", false)->bytes[1], 0x35);
    CHECK_EQ(req("garbage.a.test", false)->bytes[12], 0xff);
}

TEST(answers_that_do_not_fit_a_datagram_are_cut_and_whole_over_tcp)
{
    const reply *r = req("many-1000.a.test", false);

    CHECK(r->out.len <= SNC_NAME_SERVER_UDP);
    CHECK(r->bytes[2] & 2);
    CHECK(answers(r) < 1000);
    r = req("many-1000.a.test", true);
    CHECK_EQ(answers(r), 1000);
    CHECK(!(r->bytes[2] & 2));
    CHECK(req("trunc.a.test", false)->bytes[2] & 2);
    CHECK_EQ(answers(req("trunc.a.test", false)), 0);
    CHECK_EQ(answers(req("trunc.a.test", true)), 1);
}

TEST(other_types_exist_without_an_answer)
{
    snc_script none;

    snc_script_init(&none);
    const reply *r = ask_of(&none, "a.test", 28, false, 1);
    CHECK(r->out.rcode == 0 && answers(r) == 0 && !(r->bytes[2] & 2));
    snc_script_fini(&none);
}

TEST(a_script_answers_first_and_by_hit)
{
    snc_script s;
    snc_script_fault fault;

    snc_script_init(&s);
    CHECK_EQ(
        snc_script_add(
            &s,
            SN_STR("{\"dns\":\"x.test\",\"nth\":1,\"answers\":[\"1.2.3.4\"],\"ttl\":9}\n"
                   "{\"dns\":\"x.test\",\"answers\":[\"10.0.0.1\"]}\n"
                   "{\"dns\":\"e.org\",\"rcode\":3,\"delay_ms\":5}\n"),
            &fault),
        SEINE_OK);
    const reply *r = ask_of(&s, "x.test", 1, false, 1);
    CHECK_EQ(last_address(r), 0x01020304);
    CHECK_EQ(r->bytes[r->out.len - 7], 9); /* the last byte of the time to live */
    CHECK_EQ(last_address(ask_of(&s, "x.test", 1, false, 2)), 0x0a000001);
    r = ask_of(&s, "e.org", 1, false, 1);
    CHECK(r->out.rcode == 3 && r->out.delay == SEINE_MS(5));
    snc_script_fini(&s);
}

TEST(what_is_no_query_is_refused_or_ignored_at_any_length)
{
    uint8_t query[512], out[SNC_NAME_SERVER_ROOM];
    snc_script none;
    size_t len = question("a.b.test", 1, query);

    snc_script_init(&none);
    for (size_t n = 0; n < len; n++) {
        snc_dns_query in = {.query = query, .len = n, .script = &none, .hit = 1};
        snc_dns_answer named = {.bytes = out, .room = sizeof out};

        snc_name_server_answer(&in, &named);
        CHECK_EQ(named.len, n < 12 ? 0 : 12);
        CHECK(n < 12 || (out[3] & 15) == 1);
    }
    snc_dns_query in = {.query = query, .len = len, .script = &none, .hit = 1};
    snc_dns_answer named = {.bytes = out, .room = sizeof out};
    query[12] = 0xc0; /* a pointer where a name must stand */
    snc_name_server_answer(&in, &named);
    CHECK_EQ(out[3] & 15, 1);
    query[12] = 1;
    query[2] |= 0x80; /* an answer is no question */
    snc_name_server_answer(&in, &named);
    CHECK_EQ(named.len, 0);
    snc_script_fini(&none);
}
