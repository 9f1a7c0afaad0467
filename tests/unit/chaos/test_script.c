/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/script.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"

static seine_err
add(snc_script *s, const char *text)
{
    snc_script_fault fault;

    return snc_script_add(s, sn_str_of(text), &fault);
}

static const char *
fault_for(snc_script *s, const char *host, const char *target, uint64_t hit)
{
    sn_str path, query;

    sn_str_cut(sn_str_of(target), '?', &path, &query);
    snc_rule *r =
        snc_script_find(s, SNC_RULE_FAULT, sn_str_of(host), path, sn_str_of(target), hit);
    return r ? r->fault.ptr : "";
}

TEST(the_first_line_that_matches_wins)
{
    snc_script s;

    snc_script_init(&s);
    CHECK_EQ(add(&s, "{\"host\":\"a.test\",\"match\":\"/api/"
                     "*\",\"nth\":\"3-5\",\"fault\":\"reset:500\"}\n"
                     "\n"
                     "{\"host\":\"a.test\",\"fault\":\"status:500\"}\n"
                     "{\"match\":\"/x*y?q=1\",\"fault\":\"ok\"}\n"),
             SEINE_OK);
    CHECK_STR(fault_for(&s, "a.test", "/api/u", 2), "status:500");
    CHECK_STR(fault_for(&s, "a.test", "/api/u", 3), "reset:500");
    CHECK_STR(fault_for(&s, "A.TEST", "/api/u", 5), "reset:500");
    CHECK_STR(fault_for(&s, "a.test", "/api/u", 6), "status:500");
    CHECK_STR(fault_for(&s, "b.test", "/api/u", 3), "");
    CHECK_STR(fault_for(&s, "b.test", "/xzzy?q=1", 3),
              "ok"); /* a question mark compares the query, too */
    CHECK_STR(fault_for(&s, "b.test", "/xzzy?q=2", 3), "");
    snc_script_fini(&s);
}

TEST(hits_may_be_one_some_or_all_from_one_on)
{
    static const struct {
        const char *nth;
        uint64_t from, to;
    } rows[] = {
        {"3", 3, 3},
        {"\"3\"", 3, 3},
        {"\"3-5\"", 3, 5},
        {"\"3-\"", 3, UINT64_MAX},
    };

    EACH_ROW(i, rows) {
        snc_script s;
        char line[80];

        snc_script_init(&s);
        snprintf(line, sizeof line, "{\"nth\":%s,\"fault\":\"ok\"}", rows[i].nth);
        CHECK_EQ(add(&s, line), SEINE_OK);
        CHECK(s.rules[0].from == rows[i].from && s.rules[0].to == rows[i].to);
        snc_script_fini(&s);
    }
}

TEST(stars_stand_for_any_text)
{
    static const struct {
        const char *pattern, *text;
        bool match;
    } rows[] = {
        {"", "", true},
        {"", "a", false},
        {"*", "", true},
        {"*", "/a/b", true},
        {"/a*", "/a", true},
        {"/a*", "/b", false},
        {"*a*b*", "xxaxxb", true},
        {"*a*b*", "xxbxxa", false},
        {"/a*c", "/abcbc", true},
        {"/a*c", "/abcb", false},
        {"a", "a*", false},
        {"**a", "a", true},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(snc_script_glob(sn_str_of(rows[i].pattern), sn_str_of(rows[i].text)),
                 rows[i].match);
}

/* The slowest pattern takes no longer than its length times the text's. */
TEST(a_hostile_pattern_ends)
{
    static char text[20000];

    memset(text, 'a', sizeof text);
    CHECK(!snc_script_glob(SN_STR("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b"),
                           (sn_str){text, sizeof text}));
}

TEST(robots_names_and_sites_have_rules_of_their_own)
{
    snc_script s;

    snc_script_init(&s);
    CHECK_EQ(
        add(&s,
            "{\"robots\":\"a.test\",\"status\":500,\"times\":2}\n"
            "{\"robots\":\"b.test\",\"disallow\":[\"/private/\",\"/tmp\"]}\n"
            "{\"dns\":\"x.test\",\"answers\":[\"127.1.0.1\",\"127.1.0.2\"],\"ttl\":7}\n"
            "{\"dns\":\"y.test\",\"rcode\":2,\"delay_ms\":30}\n"
            "{\"proxy\":\"p.test\",\"nth\":2,\"fault\":\"status:502\"}\n"
            "{\"proxy\":\"*\",\"fault\":\"reply:5\"}\n"
            "{\"site\":\"1:50:hosts=3\",\"host\":\"s.test\"}\n"),
        SEINE_OK);
    sn_str none = {NULL, 0};
    snc_rule *r = snc_script_find(&s, SNC_RULE_ROBOTS, SN_STR("a.test"), none, none, 1);
    CHECK(r && r->status == 500 && r->times == 2);
    CHECK(snc_script_disallows(&s, SN_STR("b.test"), SN_STR("/private/x")));
    CHECK(snc_script_disallows(&s, SN_STR("b.test"), SN_STR("/tmpfile")));
    CHECK(!snc_script_disallows(&s, SN_STR("b.test"), SN_STR("/private")));
    CHECK(!snc_script_disallows(&s, SN_STR("a.test"), SN_STR("/private/x")));
    r = snc_script_find(&s, SNC_RULE_DNS, SN_STR("x.test"), none, none, 1);
    CHECK(r && r->answer_count == 2 && r->answers[1] == 0x7f010002 && r->ttl == 7);
    r = snc_script_find(&s, SNC_RULE_DNS, SN_STR("y.test"), none, none, 1);
    CHECK(r && r->rcode == 2 && r->delay == SEINE_MS(30));
    r = snc_script_find(&s, SNC_RULE_PROXY, SN_STR("p.test"), none, none, 2);
    CHECK(r && sn_str_eq(r->fault, SN_STR("status:502")));
    r = snc_script_find(&s, SNC_RULE_PROXY, SN_STR("p.test"), none, none, 3);
    CHECK(r && sn_str_eq(r->fault, SN_STR("reply:5")));
    CHECK(!snc_script_find(&s, SNC_RULE_FAULT, SN_STR("p.test"), none, none, 2));
    r = snc_script_find(&s, SNC_RULE_SITE, SN_STR("s.test"), none, none, 1);
    CHECK(r && r->site.pages == 50 && r->site.hosts == 3);
    CHECK(!snc_script_find(&s, SNC_RULE_SITE, SN_STR("t.test"), none, none, 1));
    snc_script_fini(&s);
}

TEST(a_bad_line_is_named_and_no_line_of_its_script_is_taken)
{
    static const struct {
        const char *line, *why;
    } rows[] = {
        {"{", "not JSON"},
        {"[]", "not an object"},
        {"7", "not an object"},
        {"{}", "fault is a text of words"},
        {"{\"fault\":7}", "fault is a text of words"},
        {"{\"fault\":\"frobnicate\"}", "no such word"},
        {"{\"fault\":\"delay:x\"}", "wants a time, like 500ms"},
        {"{\"fault\":\"ok\",\"host\":7}", "host and match are texts"},
        {"{\"fault\":\"ok\",\"nth\":\"0\"}", "nth is 3, \"3-5\" or \"3-\""},
        {"{\"fault\":\"ok\",\"nth\":\"5-3\"}", "nth is 3, \"3-5\" or \"3-\""},
        {"{\"fault\":\"ok\",\"nth\":0}", "nth is 3, \"3-5\" or \"3-\""},
        {"{\"robots\":\"a\",\"status\":50}",
         "robots is a host, status and times are numbers, fault is a text"},
        {"{\"robots\":\"a\",\"disallow\":\"/x\"}", "disallow is a list of paths"},
        {"{\"robots\":\"a\",\"disallow\":[7]}", "disallow is a list of paths"},
        {"{\"dns\":\"a\",\"answers\":[\"::1\"]}",
         "answers is a list of at most 16 IPv4 addresses"},
        {"{\"dns\":7}", "dns is a name, ttl, rcode and delay_ms are numbers"},
        {"{\"site\":\"x\"}", "a site starts with its seed, a number"},
        {"{\"proxy\":7,\"fault\":\"ok\"}",
         "proxy is a host or *, fault is a text of words"},
        {"{\"proxy\":\"a\"}", "proxy is a host or *, fault is a text of words"},
        {"{\"proxy\":\"a\",\"fault\":\"reply:256\"}", "wants a number up to 255"},
        {"{\"site\":7}", "site and host are texts"},
    };

    EACH_ROW(i, rows) {
        snc_script s;
        snc_script_fault fault;
        char text[200];

        snc_script_init(&s);
        CHECK_EQ(add(&s, "{\"fault\":\"ok\"}"), SEINE_OK);
        snprintf(text, sizeof text, "{\"fault\":\"ok\"}\n\n%s\n", rows[i].line);
        CHECK_EQ(snc_script_add(&s, sn_str_of(text), &fault), SEINE_E_CONFIG);
        CHECK_EQ(fault.line, 3);
        CHECK_STR(fault.why, rows[i].why);
        CHECK_EQ(s.count, 1);
        snc_script_fini(&s);
    }
}

TEST(a_script_has_a_thousand_rules_at_most)
{
    snc_script s;

    snc_script_init(&s);
    for (int i = 0; i < SNC_SCRIPT_RULES; i++)
        CHECK_EQ(add(&s, "{\"fault\":\"ok\"}"), SEINE_OK);
    CHECK_EQ(add(&s, "{\"fault\":\"ok\"}"), SEINE_E_FULL);
    snc_script_cut(&s, 5);
    CHECK_EQ(s.count, 5);
    CHECK_EQ(add(&s, "{\"fault\":\"ok\"}"), SEINE_OK);
    snc_script_fini(&s);
}

TEST(without_memory_no_rule_is_half_there)
{
    FAIL_EACH(r)
    {
        snc_script s;
        snc_script_fault fault;

        snc_script_init(&s);
        seine_err e =
            snc_script_add(&s, SN_STR("{\"host\":\"a\",\"fault\":\"ok\"}"), &fault);
        CHECK(e == SEINE_OK ? s.count == 1 : s.count == 0);
        snc_script_fini(&s);
    }
}
