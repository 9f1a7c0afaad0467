/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots_parts.h - a parsed robots.txt, as its own files see it.
 *
 *     robots_read.c    makes one of a text: lines, groups, patterns as rules
 *     robots_groups.c  which groups apply to an agent
 *     robots.c         questions: rules, delays, lines, sitemaps
 *
 * Time    plays no part.
 * Memory  of the robots.
 * Threads any thread: a parsed robots.txt does not change.
 */
#ifndef SN_ROBOTS_PARTS_H
#define SN_ROBOTS_PARTS_H

#include <string.h>

#include "text/robots.h"

/* An agent and a rule have 18 bytes: there are fewer groups than this. */
enum { SN_ROBOTS_GROUPS = SEINE_ROBOTS_BYTES / 16 };

/* A line that says something. While the file is read, places are those in the file, and
 * then those in `bytes`. */
typedef struct sn_robots_entry {
    uint32_t text;   /* place of the line; of a Sitemap line of its value */
    uint32_t value;  /* place of the value; of an agent line of its token */
    uint32_t number; /* of the line, from 1 */
    uint32_t group; /* the agents it belongs to: a rule after agents ends their list … */
    uint32_t delay; /* … and for delays so does a delay */
    uint16_t text_len, value_len;
    uint8_t field; /* sn_robots_field */
} sn_robots_entry;

/* An Allow or Disallow line, as it is compared. */
typedef struct sn_robots_rule {
    uint32_t pattern; /* its place */
    uint32_t entry;
    uint32_t head; /* its first 4 bytes; 0: fewer stand before its first star or end */
    uint16_t len;  /* of the pattern */
    uint16_t rank; /* the same; of the second spelling of a line that of the first */
} sn_robots_rule;

struct seine_robots {
    sn_robots_entry *entries; /* in file order */
    sn_robots_rule *rules;    /* the longest first: the first that matches decides */
    uint32_t *maps;           /* the entries that are Sitemap lines */
    char *bytes;              /* lines and patterns, which all views point into */
    size_t n, n_rules, n_maps, n_bytes;
    size_t room, rule_room, map_room, byte_room;
    bool is_for_one; /* all groups that were kept apply */
};

static inline sn_str
sn_robots_view(const seine_robots *r, uint32_t at, size_t len)
{
    return (sn_str){r->bytes + at, len};
}

static inline sn_str
sn_robots_value(const seine_robots *r, const sn_robots_entry *e)
{
    return sn_robots_view(r, e->value, e->value_len);
}

/* A target that does not begin with the same 4 bytes does not match. */
static inline uint32_t
sn_robots_head(sn_str s)
{
    uint32_t head = 0;

    if (s.len >= sizeof head)
        memcpy(&head, s.ptr, sizeof head);
    return head;
}

/* robots_groups.c */

/* The groups that apply to an agent. */
typedef struct sn_robots_groups {
    bool is_named;                             /* a group names the agent */
    unsigned char rules[SN_ROBOTS_GROUPS / 8]; /* a bit each */
    unsigned char delays[SN_ROBOTS_GROUPS / 8];
} sn_robots_groups;

static inline bool
sn_robots_has_group(const unsigned char *set, uint32_t i)
{
    return set[i / 8] >> (i % 8) & 1;
}

/* `bytes` is what the places of the values count from. */
void sn_robots_find_groups(const seine_robots *r, const char *bytes, sn_str agent,
                           sn_robots_groups *out);

/* Does the line count for the agent? */
bool sn_robots_counts(const sn_robots_entry *e, const char *bytes, sn_str agent,
                      const sn_robots_groups *a);

#endif
