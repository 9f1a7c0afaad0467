/* SPDX-License-Identifier: Apache-2.0 */
#include "console/request_rules.h"

#include "check.h"

static const sn_str none = {NULL, 0};

TEST(request_rules_take_the_names_of_this_server_alone)
{
    static const struct {
        const char *where, *origin, *host;
        int status;
    } rows[] = {
        {"127.0.0.1:8787", NULL, "127.0.0.1:8787", 0},
        {"127.0.0.1:8787", NULL, "localhost:8787", 0},
        {"127.0.0.1:8787", NULL, "LOCALHOST:8787", 0}, /* names have no case */
        {"127.0.0.1:8787", NULL, "localhost", 421},    /* another port */
        {"127.0.0.1:8787", NULL, "127.0.0.1", 421},
        {"127.0.0.1:8787", NULL, "127.0.0.1:8787.", 421},
        {"127.0.0.1:8787", NULL, "rebound.example:8787", 421},
        {"127.0.0.1:8787", NULL, "", 421},
        {"127.0.0.1:80", NULL, "localhost", 0}, /* browsers leave port 80 out */
        {"127.0.0.1:80", NULL, "127.0.0.1", 0},
        {"[::1]:8787", NULL, "[::1]:8787", 0},
        {"unix:/run/c", NULL, "localhost", 0},
        {"unix:/run/c", NULL, "127.0.0.1", 421},
        {"0.0.0.0:8787", "https://seine.example", "seine.example", 0},
        {"0.0.0.0:8787", "https://seine.example", "0.0.0.0:8787", 421},
        {"127.0.0.1:8787", "https://seine.example", "127.0.0.1:8787", 0},
    };
    sn_request_rules r;

    EACH_ROW(i, rows) {
        CHECK_EQ(sn_request_rules_init(&r, rows[i].where, rows[i].origin), SEINE_OK);
        CHECK_EQ(sn_request_rules_host(&r, sn_str_of(rows[i].host)), rows[i].status);
    }
}

TEST(request_rules_need_an_origin_where_every_address_is_listened_on)
{
    sn_request_rules r;

    CHECK_EQ(sn_request_rules_init(&r, "0.0.0.0:80", NULL), SEINE_E_UNKNOWN);
    CHECK_EQ(sn_request_rules_init(&r, "[::]:80", NULL), SEINE_E_UNKNOWN);
    CHECK_EQ(sn_request_rules_init(&r, "[::]:80", "seine.example"), SEINE_E_CONFIG);
    CHECK_EQ(sn_request_rules_init(&r, "[::]:80", "https://a/b"), SEINE_E_CONFIG);
    CHECK_EQ(sn_request_rules_init(&r, "[::]:80", "https://"), SEINE_E_CONFIG);
    CHECK_EQ(sn_request_rules_init(&r, "[::]:80", "https://A.example"), SEINE_E_CONFIG);
}

TEST(request_rules_take_the_origin_of_the_same_host_alone)
{
    static const struct {
        const char *host, *origin;
        int status;
    } rows[] = {
        {"127.0.0.1:8787", NULL, 0},
        {"127.0.0.1:8787", "http://127.0.0.1:8787", 0},
        {"127.0.0.1:8787", "http://localhost:8787", 403}, /* right, but of another host */
        {"127.0.0.1:8787", "https://127.0.0.1:8787", 403},
        {"127.0.0.1:8787", "http://127.0.0.1:8787/", 403},
        {"127.0.0.1:8787", "null", 403},
        {"127.0.0.1:8787", "", 403},
        {"127.0.0.1:8787", "https://seine.example", 403},
        {"seine.example", "https://seine.example", 0},
        {"seine.example", "http://seine.example", 403},
    };
    sn_request_rules r;

    CHECK_EQ(sn_request_rules_init(&r, "127.0.0.1:8787", "https://seine.example"),
             SEINE_OK);
    EACH_ROW(i, rows)
        CHECK_EQ(
            sn_request_rules_origin(&r, sn_str_of(rows[i].host),
                                    rows[i].origin ? sn_str_of(rows[i].origin) : none),
            rows[i].status);
}

TEST(request_rules_take_json_of_own_pages_alone)
{
    CHECK_EQ(sn_request_rules_unsafe(SN_STR("application/json"), none), 0);
    CHECK_EQ(sn_request_rules_unsafe(SN_STR("Application/JSON ; charset=UTF-8"), none),
             0);
    CHECK_EQ(sn_request_rules_unsafe(SN_STR("application/json;charset=latin1"), none),
             415);
    CHECK_EQ(sn_request_rules_unsafe(SN_STR("application/jsonp"), none), 415);
    CHECK_EQ(sn_request_rules_unsafe(SN_STR("text/plain"), none), 415);
    CHECK_EQ(sn_request_rules_unsafe(none, none), 415);
    CHECK_EQ(sn_request_rules_unsafe(SN_STR("application/json"), SN_STR("same-origin")),
             0);
    CHECK_EQ(sn_request_rules_unsafe(SN_STR("application/json"), SN_STR("none")), 0);
    CHECK_EQ(sn_request_rules_unsafe(SN_STR("application/json"), SN_STR("same-site")),
             403);
    CHECK_EQ(sn_request_rules_unsafe(SN_STR("application/json"), SN_STR("cross-site")),
             403);
    CHECK_EQ(sn_request_rules_unsafe(SN_STR("application/json"), SN_STR("")), 403);
}
