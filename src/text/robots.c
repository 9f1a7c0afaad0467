/* SPDX-License-Identifier: Apache-2.0 */
#include "text/robots.h"

#include "base/time.h"
#include "text/robots_parts.h"

enum { READ = 8 }; /* bytes of a target that are a step to spell anew */

/* The agent of a question: of rules that were kept for one agent it was said before. */
static sn_str
asked_agent(const seine_robots *r, const char *agent)
{
    return r->is_for_one ? (sn_str){0} : sn_robots_agent(sn_str_of(agent));
}

/* The groups that apply; those of one agent are not looked for. */
static void
ask_groups(const seine_robots *r, sn_str agent, sn_robots_groups *out)
{
    if (!r->is_for_one)
        sn_robots_find_groups(r, r->bytes, agent, out);
}

static bool
counts_for(const seine_robots *r, const sn_robots_entry *e, sn_str agent,
           const sn_robots_groups *a)
{
    return r->is_for_one || sn_robots_counts(e, r->bytes, agent, a);
}

/* The agent line by which a group applies, or the first that does: the group of `of`. */
static sn_str
group_of(const seine_robots *r, const sn_robots_entry *of, sn_str agent,
         const sn_robots_groups *a, uint32_t *io_steps)
{
    for (size_t i = 0; i < r->n; i++) {
        const sn_robots_entry *e = &r->entries[i];

        *io_steps += 1;
        if (e->field == SN_ROBOTS_AGENT && (!of || e->group == of->group) &&
            counts_for(r, e, agent, a))
            return sn_robots_value(r, e);
    }
    return (sn_str){0};
}

/* Returns the rule that decides, or NULL. */
static const sn_robots_entry *
find_rule(const seine_robots *r, const sn_robots_groups *a, sn_str target,
          uint32_t *io_steps)
{
    uint32_t head = sn_robots_head(target);

    for (size_t i = 0; i < r->n_rules && *io_steps <= SN_ROBOTS_STEPS; i++) {
        const sn_robots_rule *one = &r->rules[i];
        const sn_robots_entry *e = &r->entries[one->entry];

        *io_steps += 1;
        if ((one->head != 0 && one->head != head) ||
            (!r->is_for_one && !sn_robots_has_group(a->rules, e->group)))
            continue;
        if (sn_robots_match(target, sn_robots_view(r, one->pattern, one->len), io_steps))
            return e;
    }
    return NULL;
}

uint32_t
sn_robots_judge(const seine_robots *r, const char *agent, sn_str target,
                seine_robots_verdict *out_verdict)
{
    char mem[SN_ROBOTS_TARGET];
    sn_str text = {mem, sn_robots_normal_target(target, mem)};
    sn_str token = asked_agent(r, agent);
    const sn_robots_entry *best = NULL;
    uint32_t steps = 0;
    sn_robots_groups a;

    ask_groups(r, token, &a);
    if (!sn_str_eq(text, SN_STR("/robots.txt"))) /* RFC 9309, 2.2.2 */
        best = find_rule(r, &a, text, &steps);
    bool is_over = !best && steps > SN_ROBOTS_STEPS;
    *out_verdict = (seine_robots_verdict){
        .allowed = best ? best->field == SN_ROBOTS_ALLOW : !is_over, .is_over = is_over};
    if (best) {
        out_verdict->rule = sn_robots_view(r, best->text, best->text_len);
        out_verdict->line = best->number;
    }
    out_verdict->group = group_of(r, best, token, &a, &steps);
    return steps + (uint32_t)(target.len / READ);
}

/* A target is read as that of some host, so that it is spelled as a crawl asks for it. */
seine_err
seine_robots_check(const seine_robots *r, const char *agent, const char *url, size_t len,
                   seine_robots_verdict *out_verdict)
{
    if (!r || !out_verdict)
        return SEINE_E_INVAL;
    static const char host[] = "http://h";
    char text[sizeof host + SEINE_URL_MAX], mem[SEINE_URL_ROOM];
    sn_str given = {url, len};
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    if (len > 0 && url[0] == '/' && len <= SEINE_URL_MAX - sizeof host) {
        memcpy(text, host, sizeof host - 1);
        memcpy(text + sizeof host - 1, url, len);
        given = (sn_str){text, sizeof host - 1 + len};
    }
    if (seine_url_parse(&u, given.ptr, given.len, NULL) != SEINE_OK)
        return SEINE_E_BAD_URL;
    sn_str scheme = seine_url_scheme(&u);
    if (!sn_str_eq(scheme, SN_STR("http")) && !sn_str_eq(scheme, SN_STR("https")))
        return SEINE_E_BAD_URL;
    (void)sn_robots_judge(r, agent, seine_url_target(&u), out_verdict);
    return SEINE_OK;
}

int64_t
seine_robots_delay(const seine_robots *r, const char *agent)
{
    if (!r)
        return -1;
    sn_str token = asked_agent(r, agent);
    int64_t longest = -1;
    sn_robots_groups a;

    ask_groups(r, token, &a);
    for (size_t i = 0; i < r->n; i++) {
        const sn_robots_entry *e = &r->entries[i];

        if (e->field == SN_ROBOTS_DELAY && counts_for(r, e, token, &a))
            longest = sn_time_max(longest, sn_robots_seconds(sn_robots_value(r, e)));
    }
    return longest;
}

static seine_robots_kind
public_kind(uint8_t field)
{
    switch ((sn_robots_field)field) {
    case SN_ROBOTS_ALLOW:
        return SEINE_ROBOTS_ALLOW;
    case SN_ROBOTS_DISALLOW:
        return SEINE_ROBOTS_DISALLOW;
    case SN_ROBOTS_DELAY:
        return SEINE_ROBOTS_DELAY;
    case SN_ROBOTS_SITEMAP:
        return SEINE_ROBOTS_SITEMAP;
    case SN_ROBOTS_AGENT:
    case SN_ROBOTS_OTHER:
    default:
        return SEINE_ROBOTS_AGENT;
    }
}

void
seine_robots_each(const seine_robots *r, const char *agent, seine_robots_fn fn, void *arg)
{
    if (!r || !fn)
        return;
    sn_str token = asked_agent(r, agent);
    sn_robots_groups a;

    ask_groups(r, token, &a);
    for (size_t i = 0; i < r->n; i++) {
        const sn_robots_entry *e = &r->entries[i];
        seine_robots_line line = {public_kind(e->field),
                                  sn_robots_view(r, e->text, e->text_len), e->number, -1};

        if (!counts_for(r, e, token, &a))
            continue;
        if (e->field == SN_ROBOTS_DELAY)
            line.delay = sn_robots_seconds(sn_robots_value(r, e));
        fn(&line, arg);
    }
}

bool
seine_robots_sitemap(const seine_robots *r, size_t i, seine_view *out_url)
{
    if (!r || !out_url || i >= r->n_maps)
        return false;
    *out_url = sn_robots_value(r, &r->entries[r->maps[i]]);
    return true;
}
