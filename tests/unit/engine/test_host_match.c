/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host_match.h"

#include "check.h"

static const struct {
    const char *pattern, *host;
    bool fits;
} rows[] = {
    {"e.example", "https://e.example:443", true},
    {"E.Example", "https://e.example:443", true},
    {"e.example", "http://e.example:8080", true}, /* any port */
    {"e.example:8080", "http://e.example:8080", true},
    {"e.example:8080", "http://e.example:80", false},
    {"e.example", "http://x.e.example:80", false},
    {"*.e.example", "http://x.e.example:80", true},
    {"*.e.example", "http://y.x.e.example:80", true},
    {"*.e.example", "http://e.example:80", false},
    {"*.e.example", "http://xe.example:80", false},
    {"*.e.example:81", "http://x.e.example:81", true},
    {"*", "http://anything:80", true},
    {"a*b*c", "http://axxbyyc:80", true},
    {"a*b*c", "http://axxbyyd:80", false},
    {"[::1]", "http://[::1]:80", true}, /* the colons of an address are no port */
    {"[::1]:81", "http://[::1]:80", false},
    {"127.0.0.1", "http://127.0.0.1:9", true},
    {"", "http://e.example:80", false},
};

TEST(host_match_knows_names_ports_and_patterns)
{
    EACH_ROW(i, rows) {
        sn_host_label at = sn_host_label_of(sn_str_of(rows[i].host));

        CHECK_EQ(sn_host_match(sn_str_of(rows[i].pattern), &at), rows[i].fits);
    }
}

TEST(host_match_is_quick_with_many_stars)
{
    char name[300] = "http://", pattern[301];
    size_t n = 7;

    while (n < 290)
        name[n++] = 'a';
    name[n] = '\0';
    for (size_t i = 0; i < 300; i++)
        pattern[i] = i % 2 ? 'a' : '*';
    pattern[299] = 'b';
    pattern[300] = '\0';
    sn_host_label at = sn_host_label_of(sn_str_of(name));
    CHECK(!sn_host_match(sn_str_of(pattern), &at));
}
