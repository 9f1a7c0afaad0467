/* SPDX-License-Identifier: Apache-2.0 */
#include "console/route.h"

#include <string.h>

#include "check.h"

static sn_route_status
find(sn_method method, const char *path, sn_route_match *out)
{
    sn_arena a;

    sn_arena_init(&a, 1024, 1 << 16);
    sn_route_status s = sn_route_find(method, sn_str_of(path), &a, out);
    sn_arena_fini(&a);
    return s;
}

TEST(route_finds_the_row_of_a_path)
{
    sn_route_match m = {.route = NULL};

    CHECK_EQ(find(SN_GET, "/livez", &m), SN_ROUTE_FOUND);
    CHECK_STR(m.route->path, "/livez");
    CHECK_EQ(find(SN_GET, "/", &m), SN_ROUTE_FOUND);
    CHECK_STR(m.route->path, "/");
}

TEST(route_names_the_methods_that_a_path_has)
{
    sn_route_match m = {.route = NULL};

    CHECK_EQ(find(SN_DELETE, "/livez", &m), SN_ROUTE_NO_METHOD);
    CHECK_STR(m.allow, "GET, HEAD");
}

TEST(route_has_no_path_with_a_strange_segment)
{
    static const char *const paths[] = {
        "",          "livez",     "//livez",
        "/livez/",   "/./livez",  "/../livez",
        "/%2Flivez", "/livez%2F", "/livez%00",
        "/livez%5c", "/%2e",      "/%2e%2e/livez",
        "/livez%",   "/livez%4",  "/livez%zz",
        "/%ff",      "/Livez",    "/a/b/c/d/e/f/g/h/i",
    };
    sn_route_match m;

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        CHECK_EQ(find(SN_GET, paths[i], &m), SN_ROUTE_NOWHERE);
}

TEST(route_decodes_a_segment_once)
{
    sn_route_match m;

    CHECK_EQ(find(SN_GET, "/live%7a", &m), SN_ROUTE_FOUND);
    CHECK_EQ(find(SN_GET, "/live%257a", &m), SN_ROUTE_NOWHERE);
}

TEST(route_rows_all_have_a_role_and_a_handler)
{
    size_t n;
    const sn_route *all = sn_route_all(&n);

    CHECK(n > 0);
    for (size_t i = 0; i < n; i++) {
        CHECK(all[i].role >= SN_ROLE_NONE && all[i].role <= SN_ROLE_ADMIN);
        CHECK(all[i].handle != NULL);
        CHECK(all[i].path[0] == '/');
        for (size_t j = 0; j < i; j++)
            CHECK(all[i].method != all[j].method ||
                  strcmp(all[i].path, all[j].path) != 0);
    }
}
