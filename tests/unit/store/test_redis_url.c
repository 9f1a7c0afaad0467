/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis_url.h"

#include <string.h>

#include "check.h"
#include "failing.h"

TEST(redis_url_names_server_login_and_database)
{
    static const struct {
        const char *text, *user, *password, *host, *path;
        int port;
        unsigned db;
    } rows[] = {
        {"redis://db.example", "", "", "db.example", "", 6379, 0},
        {"redis://DB.Example:7000/12", "", "", "db.example", "", 7000, 12},
        {"REDIS://h/", "", "", "h", "", 6379, 0},
        {"redis://", "", "", "localhost", "", 6379, 0}, /* as redis-cli reads it */
        {"redis:///3", "", "", "localhost", "", 6379, 3},
        {"redis://[::1]:1/2", "", "", "::1", "", 1, 2},
        {"redis://[fe80::1]", "", "", "fe80::1", "", 6379, 0},
        {"redis://:pw@h:1", "", "pw", "h", "", 1, 0},
        {"redis://anna:p%40%3A%2Fw@h", "anna", "p@:/w", "h", "", 6379, 0},
        {"redis://anna:a:b@h", "anna", "a:b", "h", "", 6379, 0}, /* the first : counts */
        {"redis://anna:a@b@h", "anna", "a@b", "h", "", 6379, 0}, /* the last @ counts */
        {"unix:///run/redis.sock", "", "", "", "/run/redis.sock", 0, 0},
        {"unix:///a%20b?db=5", "", "", "", "/a b", 0, 5},
        {"unix://:pw@/s", "", "pw", "", "/s", 0, 0},
    };

    EACH_ROW(i, rows) {
        sn_redis_url u = {0};
        seine_diag diag = SEINE_DIAG;

        CHECK_EQ(sn_redis_url_parse(sn_str_of(rows[i].text), &u, &diag), SEINE_OK);
        CHECK(sn_str_eq(u.user, sn_str_of(rows[i].user)));
        CHECK(sn_str_eq(u.password, sn_str_of(rows[i].password)));
        CHECK(sn_str_eq(u.host, sn_str_of(rows[i].host)));
        CHECK(sn_str_eq(u.path, sn_str_of(rows[i].path)));
        CHECK_EQ(u.port, rows[i].port);
        CHECK_EQ(u.db, rows[i].db);
        sn_redis_url_fini(&u);
    }
}

TEST(redis_url_that_is_wrong_is_refused_without_its_secrets)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"http://h", "not a URL of Redis"},
        {"redis:/h", "not a URL of Redis"},
        {"", "not a URL of Redis"},
        {"rediss://:s3cret@h", "has no TLS"},
        {"RedisS://h", "has no TLS"},
        {"redis://s3cret@h", "a user without a password"},
        {"redis://anna:@h", "a user without a password"},
        {"redis://@h", "a user without a password"},
        {"redis://:s3cret%4@h", "broken escape"},
        {"redis://:s3cret%g1@h", "broken escape"},
        {"redis://:s3cret%00@h", "broken escape"},
        {"redis://h:0", "the port"},
        {"redis://h:65536", "the port"},
        {"redis://h:", "the port"},
        {"redis://h:+1", "the port"},
        {"redis://h/x", "the database"},
        {"redis://h/-1", "the database"},
        {"redis://h/2147483648", "the database"},
        {"redis://h/1/2", "the database"},
        {"redis://h/1?s3cret", "nothing may follow"},
        {"redis://h#1", "nothing may follow"},
        {"redis://a b", "a host"},
        {"redis://[::1", "a host"},
        {"redis://[::1]x", "a host"},
        {"redis://[]", "a host"},
        {"redis://[a/b]", "a host"},
        {"unix://s", "begins with /"},
        {"unix://", "begins with /"},
        {"unix:///s?x=1", "only ?db=N"},
        {"unix:///s?db=", "only ?db=N"},
        {"unix:///s?db=a", "the database"},
        {"unix:///%", "broken escape"},
    };

    EACH_ROW(i, rows) {
        sn_redis_url u = {0};
        seine_diag diag = SEINE_DIAG;

        CHECK_EQ(sn_redis_url_parse(sn_str_of(rows[i].text), &u, &diag), SEINE_E_CONFIG);
        CHECK(strstr(diag.text, rows[i].why) != NULL);
        CHECK(strstr(diag.text, "s3cret") == NULL);
        CHECK_STR(diag.member, "redis");
        CHECK(u.mem == NULL);
    }
}

TEST(redis_url_has_at_most_1024_bytes_and_a_path_107)
{
    char text[SN_REDIS_BYTES + 2] = "unix:///";
    sn_redis_url u;

    memset(text + 8, 'a', 106);
    CHECK_EQ(sn_redis_url_parse(sn_str_of(text), &u, NULL), SEINE_OK);
    CHECK_EQ(u.path.len, SN_REDIS_PATH);
    sn_redis_url_fini(&u);
    text[8 + 106] = 'a';
    CHECK_EQ(sn_redis_url_parse(sn_str_of(text), &u, NULL), SEINE_E_CONFIG);
    memset(text, 'a', sizeof text - 1);
    memcpy(text, "redis://", 8);
    CHECK_EQ(sn_redis_url_parse((sn_str){text, SN_REDIS_BYTES}, &u, NULL), SEINE_OK);
    sn_redis_url_fini(&u);
    CHECK_EQ(sn_redis_url_parse((sn_str){text, SN_REDIS_BYTES + 1}, &u, NULL),
             SEINE_E_CONFIG);
}

TEST(redis_url_is_shown_without_user_and_password)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"redis://anna:s3cret@h:1/2", "redis://h:1/2"},
        {"redis://[::1]", "redis://[::1]:6379/0"},
        {"unix://:s3cret@/run/s?db=3", "unix:///run/s?db=3"},
    };

    EACH_ROW(i, rows) {
        char shown[SN_REDIS_SHOWN];
        sn_redis_url u;

        CHECK_EQ(sn_redis_url_parse(sn_str_of(rows[i].text), &u, NULL), SEINE_OK);
        sn_redis_url_shown(&u, shown);
        CHECK_STR(shown, rows[i].shown);
        sn_redis_url_fini(&u);
    }
}

TEST(redis_url_without_memory_is_refused)
{
    FAIL_EACH(round)
    {
        sn_redis_url u = {0};
        seine_err e = sn_redis_url_parse(SN_STR("redis://:pw@h"), &u, NULL);

        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        sn_redis_url_fini(&u);
    }
}
