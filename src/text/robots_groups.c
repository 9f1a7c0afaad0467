/* SPDX-License-Identifier: Apache-2.0 */
#include "text/robots_parts.h"

static bool
is_for(sn_str token, sn_str agent, bool is_named)
{
    bool is_everybody = token.len == 1 && token.ptr[0] == '*';

    return is_named ? !is_everybody && token.len > 0 && sn_str_eq_nocase(token, agent)
                    : is_everybody;
}

static bool
is_named(const seine_robots *r, const char *bytes, sn_str agent)
{
    for (size_t i = 0; i < r->n; i++) {
        const sn_robots_entry *e = &r->entries[i];

        if (e->field == SN_ROBOTS_AGENT &&
            is_for((sn_str){bytes + e->value, e->value_len}, agent, true))
            return true;
    }
    return false;
}

static void
add_bit(unsigned char *set, uint32_t i)
{
    set[i / 8] = (unsigned char)(set[i / 8] | 1U << (i % 8));
}

void
sn_robots_find_groups(const seine_robots *r, const char *bytes, sn_str agent,
                      sn_robots_groups *out)
{
    size_t bits = r->n > 0 ? r->entries[r->n - 1].delay / 8 + 1 : 0;

    out->is_named = is_named(r, bytes, agent);
    memset(out->rules, 0, bits);
    memset(out->delays, 0, bits);
    for (size_t i = 0; i < r->n; i++) {
        const sn_robots_entry *e = &r->entries[i];

        if (e->field != SN_ROBOTS_AGENT ||
            !is_for((sn_str){bytes + e->value, e->value_len}, agent, out->is_named))
            continue;
        add_bit(out->rules, e->group);
        add_bit(out->delays, e->delay);
    }
}

bool
sn_robots_counts(const sn_robots_entry *e, const char *bytes, sn_str agent,
                 const sn_robots_groups *a)
{
    switch ((sn_robots_field)e->field) {
    case SN_ROBOTS_AGENT:
        return is_for((sn_str){bytes + e->value, e->value_len}, agent, a->is_named);
    case SN_ROBOTS_ALLOW:
    case SN_ROBOTS_DISALLOW:
        return sn_robots_has_group(a->rules, e->group);
    case SN_ROBOTS_DELAY:
        return sn_robots_has_group(a->delays, e->delay);
    case SN_ROBOTS_SITEMAP:
        return true;
    case SN_ROBOTS_OTHER:
    default:
        return false;
    }
}
