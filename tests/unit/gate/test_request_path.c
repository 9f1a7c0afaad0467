/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/request_path.h"

#include <string.h>

#include "check.h"

static const char *
plain(const char *target)
{
    static char text[SN_REQUEST_PATH + 1];
    char out[SN_REQUEST_PATH];
    sn_str path = sn_request_path(sn_str_of(target), out);

    memcpy(text, path.ptr, path.len);
    text[path.len] = 0;
    return text;
}

TEST(request_path_has_one_form_for_all_spellings)
{
    static const char *const rows[][2] = {
        {"/login", "/login"},
        {"/login?next=/a/b", "/login"},
        {"/login#x", "/login"},
        {"/%6Cogin", "/login"},
        {"/%6cog%69n", "/login"},
        {"//login", "/login"},
        {"/./login", "/login"},
        {"/a/../login", "/login"},
        {"/a/%2e%2E/login", "/login"},
        {"/a/.%2e//login", "/login"},
        {"/../../login", "/login"},
        {"/%2flogin", "/login"},
        {"/login/", "/login/"},
        {"/login//", "/login/"},
        {"/login/.", "/login/"},
        {"/login/x/..", "/login/"},
        {"/login/..", "/"},
        {"/..", "/"},
        {"/...", "/..."},
        {"/..x/.y", "/..x/.y"},
        {"/%", "/%"},
        {"/%4", "/%4"},
        {"/%zz", "/%zz"},
        {"/%00login", "/%00login"}, /* no NUL comes out */
        {"", "/"},
        {"?x", "/"},
        {"http://h.example/login?x", "/login"}, /* absolute form */
        {"http://h.example", "/"},
        {"http://h.example?x=/login", "/"},
        {"login", "/login"},
        {"*", "/*"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(plain(rows[i][0]), rows[i][1]);
}

TEST(request_path_is_cut_where_the_buffer_ends)
{
    char long_one[3 * SN_REQUEST_PATH];

    memset(long_one, 'a', sizeof long_one - 1);
    long_one[0] = '/';
    long_one[sizeof long_one - 1] = 0;
    CHECK_EQ(strlen(plain(long_one)), SN_REQUEST_PATH);
    for (size_t i = 1; i + 4 < sizeof long_one; i += 3)
        memcpy(long_one + i, "../", 3);
    CHECK_EQ(plain(long_one)[0], '/');
}

/* "/" + n times `part` + `tail`. */
static const char *
long_target(const char *part, size_t n, const char *tail)
{
    static char text[8 * SN_REQUEST_PATH];
    size_t at = 0;

    text[at++] = '/';
    for (size_t i = 0; i < n; i++, at += strlen(part))
        memcpy(text + at, part, strlen(part));
    memcpy(text + at, tail, strlen(tail) + 1);
    return text;
}

TEST(request_path_follows_dots_that_stand_behind_the_buffer)
{
    static const size_t around[] = {SN_REQUEST_PATH - 3, SN_REQUEST_PATH - 2,
                                    SN_REQUEST_PATH - 1, SN_REQUEST_PATH,
                                    SN_REQUEST_PATH + 1, 3 * SN_REQUEST_PATH};

    EACH_ROW(i, around) {
        CHECK_STR(plain(long_target("a", around[i], "/../login")), "/login");
        CHECK_STR(plain(long_target("a", around[i], "/%2e%2E/login")), "/login");
        CHECK_STR(plain(long_target("a", around[i], "/b/../../login")), "/login");
        CHECK_STR(plain(long_target("a", around[i], "/.//b/c/./../../../login/")),
                  "/login/");
        CHECK_STR(plain(long_target("a", around[i], "/..")), "/");
        const char *kept = plain(long_target("a", around[i], "/b/.."));
        CHECK_EQ(strspn(kept + 1, "a"),
                 around[i] < SN_REQUEST_PATH ? around[i] : SN_REQUEST_PATH - 1);
    }
    /* Many short segments, all of them taken back. */
    char back[4 * SN_REQUEST_PATH] = "";
    for (size_t i = 0; i < SN_REQUEST_PATH; i++)
        memcpy(back + 3 * i, "../", 4);
    memcpy(back + 3 * (size_t)SN_REQUEST_PATH, "login", 6);
    CHECK_STR(plain(long_target("ab/", SN_REQUEST_PATH, back)), "/login");
    CHECK_STR(plain(long_target("ab/", SN_REQUEST_PATH - 1, back)), "/login");
}

TEST(request_path_is_below_whole_segments_alone)
{
    static const struct {
        const char *path, *prefix;
        bool is_below;
    } rows[] = {
        {"/login", "/login", true},    {"/login/x", "/login", true},
        {"/login/", "/login", true},   {"/loginx", "/login", false},
        {"/logi", "/login", false},    {"/api/x", "/api/", true},
        {"/api/", "/api/", true},      {"/api", "/api/", false},
        {"/anything", "/", true},      {"/", "/", true},
        {"/x/login", "/login", false}, {"/Login", "/login", false},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(
            sn_request_path_is_below(sn_str_of(rows[i].path), sn_str_of(rows[i].prefix)),
            rows[i].is_below);
}
