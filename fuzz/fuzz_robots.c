/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first line is a URL, the second an agent, the rest a robots.txt. What decides is a
 * line of the text, no URL is forbidden by nobody, the rules that were kept for the agent
 * alone say what all say, and no judgement goes far beyond its steps.
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
    static char mem[2][SN_ROBOTS_TARGET];
    sn_str rest = {(const char *)bytes, n}, url, name;
    char agent[64] = "";
    seine_robots *r = NULL, *one = NULL;
    seine_robots_verdict v = {.allowed = false}, alone = v;
    seine_view map;

    sn_str_cut(rest, '\n', &url, &rest);
    sn_str_cut(rest, '\n', &name, &rest);
    memcpy(agent, name.ptr ? name.ptr : "", name.len < 63 ? name.len : 63);
    REQUIRE(!seine_robots_new(rest.ptr, rest.len, &r));
    REQUIRE(!seine_robots_new_for(rest.ptr, rest.len, agent, &one));
    if (seine_robots_check(r, agent, url.ptr ? url.ptr : "", url.len, &v) != SEINE_OK)
        url = SN_STR("/");
    REQUIRE(!seine_robots_check(r, agent, url.ptr, url.len, &v));
    REQUIRE(!seine_robots_check(one, NULL, url.ptr, url.len, &alone));
    REQUIRE(v.is_over ||
            (v.allowed == alone.allowed && v.line == alone.line &&
             sn_str_eq(v.rule, alone.rule) && sn_str_eq(v.group, alone.group)));
    REQUIRE(seine_robots_delay(r, agent) == seine_robots_delay(one, NULL));
    REQUIRE(sn_robots_bytes(one) <= sn_robots_bytes(r));
    REQUIRE(v.allowed || v.is_over || (v.line > 0 && v.rule.len > 0));
    REQUIRE((v.line > 0) == (v.rule.ptr != NULL));
    REQUIRE(!v.rule.ptr || v.group.len > 0);
    REQUIRE(seine_robots_delay(r, agent) >= -1);
    for (size_t i = 0; i < 100 && seine_robots_sitemap(r, i, &map); i++)
        REQUIRE(map.len <= rest.len);
    shown s = {.decides = v, .delay = -1};
    seine_robots_each(r, agent, look, &s);
    REQUIRE(s.found == (v.line > 0) && s.delay == seine_robots_delay(r, agent));
    url = sn_str_slice(url, 0, SEINE_URL_MAX);
    sn_str target = {mem[0], sn_robots_normal_target(url, mem[0])};
    /* the one spelling is its own */
    if (target.len <= SEINE_URL_MAX)
        REQUIRE(sn_robots_normal_target(target, mem[1]) == target.len &&
                memcmp(mem[0], mem[1], target.len) == 0);
    REQUIRE(sn_robots_judge(one, NULL, url, &v) <= SN_ROBOTS_STEPS + 4 * SEINE_URL_MAX);
    seine_robots_free(r);
    seine_robots_free(one);
    return 0;
}
