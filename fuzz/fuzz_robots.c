/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first line is a URL, the second an agent, the rest a robots.txt. What decides is a
 * line of the text, and no URL is forbidden by nobody.
 */
#include <stdlib.h>
#include <string.h>

#include "text/robots.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

typedef struct shown {
    seine_robots_verdict decides;
    int64_t delay;
    uint32_t last;
    bool found;
} shown;

/* Lines that count come in order, and the one that decides is among them. */
static void
look(const seine_robots_line *line, void *arg)
{
    shown *s = arg;

    REQUIRE(line->line > s->last);
    s->last = line->line;
    if (line->kind == SEINE_ROBOTS_DELAY && line->delay > s->delay)
        s->delay = line->delay;
    s->found |= line->line == s->decides.line &&
                (line->kind == SEINE_ROBOTS_ALLOW) == s->decides.allowed;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static char mem[SN_ROBOTS_URL + 1];
    sn_str rest = {(const char *)bytes, n}, url, name;
    char agent[64] = "";
    seine_robots *r = NULL;
    seine_robots_verdict v;
    seine_view map;

    sn_str_cut(rest, '\n', &url, &rest);
    sn_str_cut(rest, '\n', &name, &rest);
    memcpy(agent, name.ptr ? name.ptr : "", name.len < 63 ? name.len : 63);
    REQUIRE(!seine_robots_new(rest.ptr, rest.len, &r));
    seine_robots_check(r, agent, url.ptr ? url.ptr : "", url.len, &v);
    REQUIRE(v.allowed || (v.line > 0 && v.rule.len > 0));
    REQUIRE((v.line > 0) == (v.rule.ptr != NULL));
    REQUIRE(!v.rule.ptr || v.group.len > 0);
    REQUIRE(seine_robots_delay(r, agent) >= -1);
    for (size_t i = 0; i < 100 && seine_robots_sitemap(r, i, &map); i++)
        REQUIRE(map.len <= rest.len);
    shown s = {.decides = v, .delay = -1};
    seine_robots_each(r, agent, look, &s);
    REQUIRE(s.found == (v.line > 0) && s.delay == seine_robots_delay(r, agent));
    sn_str target = sn_robots_target(url, mem);
    REQUIRE(target.len > 0 && target.ptr[0] == '/');
    seine_robots_free(r);
    return 0;
}
