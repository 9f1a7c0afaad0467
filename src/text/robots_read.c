/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "text/robots_parts.h"

_Static_assert(sizeof(sn_robots_entry) + sizeof(sn_robots_rule) == 44,
               "seine/robots.h says so");
_Static_assert(3 * SN_ROBOTS_LINE <= UINT16_MAX, "patterns fit");

static bool
make_room(void **array, size_t need, size_t *room, size_t size)
{
    if (need <= *room)
        return true;
    size_t more = *room ? 2 * *room : 32;
    while (more < need)
        more *= 2;
    void *bigger = sn_realloc(*array, more * size);
    if (!bigger)
        return false;
    *array = bigger;
    *room = more;
    return true;
}

/* Reading: the lines that say something, and the groups they belong to. */

typedef struct reader {
    seine_robots *r;
    const char *text; /* of the file */
    uint32_t number, group, delay;
    bool has_rule, has_delay; /* since the last agent */
} reader;

static void
set_group(reader *to, sn_robots_entry *e)
{
    if (e->field == SN_ROBOTS_AGENT) {
        to->group += to->has_rule;
        to->delay += to->has_rule || to->has_delay;
        to->has_rule = to->has_delay = false;
    }
    to->has_rule |= e->field == SN_ROBOTS_ALLOW || e->field == SN_ROBOTS_DISALLOW;
    to->has_delay |= e->field == SN_ROBOTS_DELAY;
    e->group = to->group;
    e->delay = to->delay;
}

static seine_err
read_line(reader *to, sn_str line)
{
    seine_robots *r = to->r;
    sn_str value;
    sn_robots_field field = sn_robots_read_line(&line, &value);

    if (field == SN_ROBOTS_OTHER)
        return SEINE_OK;
    if (!make_room((void **)&r->entries, r->n + 1, &r->room, sizeof *r->entries))
        return SEINE_E_NOMEM;
    if (field == SN_ROBOTS_AGENT)
        value = sn_robots_token(value);
    if (field == SN_ROBOTS_SITEMAP)
        line = value;
    sn_robots_entry *e = &r->entries[r->n++];
    *e = (sn_robots_entry){.text = (uint32_t)(line.ptr - to->text),
                           .value = (uint32_t)(value.ptr - to->text),
                           .number = to->number,
                           .text_len = (uint16_t)line.len,
                           .value_len = (uint16_t)value.len,
                           .field = (uint8_t)field};
    set_group(to, e);
    return SEINE_OK;
}

/* Skips a UTF-8 byte order mark, or the beginning of one. */
static sn_str
without_mark(sn_str text)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t n = 0;

    while (n < 3 && n < text.len && text.ptr[n] == mark[n])
        n++;
    return sn_str_slice(text, n, text.len);
}

static seine_err
read_lines(seine_robots *r, sn_str text, bool is_cut)
{
    reader to = {.r = r, .text = text.ptr};
    seine_err e = SEINE_OK;
    bool more = true;

    text = without_mark(text);
    while (more && e == SEINE_OK) {
        sn_str line;

        more = sn_robots_next_line(&text, &line);
        to.number++;
        if (more || !is_cut)
            e = read_line(&to, line);
    }
    assert(to.group < SN_ROBOTS_GROUPS && to.delay < SN_ROBOTS_GROUPS);
    return e;
}

/* Drops the lines that do not count for the agent. */
static void
keep_one(seine_robots *r, const char *bytes, const char *agent)
{
    sn_str token = sn_robots_agent(sn_str_of(agent));
    sn_robots_groups a;
    size_t n = 0;

    sn_robots_find_groups(r, bytes, token, &a);
    for (size_t i = 0; i < r->n; i++)
        if (sn_robots_counts(&r->entries[i], bytes, token, &a))
            r->entries[n++] = r->entries[i];
    r->n = n;
    r->is_for_one = true;
}

/* Keeping: the texts of lines move into `bytes`, patterns become rules. */

/* The caller has made room. */
static uint32_t
put_text(seine_robots *r, sn_str text)
{
    uint32_t at = (uint32_t)r->n_bytes;

    memcpy(r->bytes + at, text.len > 0 ? text.ptr : "", text.len);
    r->n_bytes += text.len;
    return at;
}

static uint32_t
pattern_head(sn_str pattern)
{
    size_t end = sn_str_find(pattern, '*');

    return sn_robots_head(
        sn_str_slice(pattern, 0, end - (end > 0 && pattern.ptr[end - 1] == '$')));
}

/* The pattern stands behind the bytes. It stays there unless `like` says the same. */
static void
add_rule(seine_robots *r, uint32_t of, size_t len, size_t rank, sn_str like)
{
    sn_str pattern = sn_robots_view(r, (uint32_t)r->n_bytes, len);
    uint32_t at = (uint32_t)r->n_bytes;

    if (sn_str_eq(pattern, like))
        at = (uint32_t)(like.ptr - r->bytes);
    else
        r->n_bytes += len;
    r->rules[r->n_rules++] =
        (sn_robots_rule){at, of, pattern_head(pattern), (uint16_t)len, (uint16_t)rank};
}

/* Behind a star nobody knows whether the query has begun. A pattern whose spelling
 * depends on it has a second rule for the case that it has. */
static void
add_rules(seine_robots *r, uint32_t of)
{
    sn_str value = sn_robots_value(r, &r->entries[of]);
    size_t star = sn_str_find(value, '*');
    sn_str tail = sn_str_slice(value, star + 1, value.len);
    size_t len = sn_robots_normal_pattern(value, false, r->bytes + r->n_bytes);

    add_rule(r, of, len, len, value);
    if (sn_str_find(tail, '%') == tail.len)
        return;
    char *to = r->bytes + r->n_bytes;
    size_t outside = sn_robots_normal_pattern(tail, false, to);
    size_t inside = sn_robots_normal_pattern(tail, true, to);
    if (inside == outside)
        return; /* an escape less would make it shorter */
    size_t n = sn_robots_normal_pattern(sn_str_slice(value, 0, star + 1), false, to);
    to[n++] = '?';
    to[n++] = '*';
    n += sn_robots_normal_pattern(tail, true, to + n);
    add_rule(r, of, n, len, (sn_str){0});
}

/* The longest first, between equals Allow, then in file order. */
static int
by_rank(const void *a, const void *b, void *arg)
{
    const seine_robots *r = arg;
    const sn_robots_rule *x = a, *y = b;
    bool x_allows = r->entries[x->entry].field == SN_ROBOTS_ALLOW;
    bool y_allows = r->entries[y->entry].field == SN_ROBOTS_ALLOW;

    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    if (x_allows != y_allows)
        return x_allows ? -1 : 1;
    return x->entry != y->entry
               ? (x->entry < y->entry ? -1 : 1)
               : (x->pattern < y->pattern ? -1 : x->pattern > y->pattern);
}

static seine_err
keep_entry(seine_robots *r, uint32_t i, const char *text)
{
    sn_robots_entry *e = &r->entries[i];
    bool is_rule = e->field == SN_ROBOTS_ALLOW || e->field == SN_ROBOTS_DISALLOW;
    size_t most = e->text_len + (is_rule ? 6U * e->value_len + 2 : 0);

    if (!make_room((void **)&r->bytes, r->n_bytes + most + 1, &r->byte_room, 1) ||
        !make_room((void **)&r->rules, r->n_rules + 2, &r->rule_room, sizeof *r->rules) ||
        !make_room((void **)&r->maps, r->n_maps + 1, &r->map_room, sizeof *r->maps))
        return SEINE_E_NOMEM;
    uint32_t at = put_text(r, (sn_str){text + e->text, e->text_len});
    e->value = at + (e->value - e->text);
    e->text = at;
    if (e->field == SN_ROBOTS_SITEMAP)
        r->maps[r->n_maps++] = i;
    if (is_rule && e->value_len > 0) /* an empty one matches nothing */
        add_rules(r, i);
    return SEINE_OK;
}

/* Gives back what the arrays have too much. */
static void
shrink(void **array, size_t n, size_t *room, size_t size)
{
    void *smaller = n > 0 && n < *room ? sn_realloc(*array, n * size) : NULL;

    if (n == 0)
        sn_free(*array);
    if (n == 0 || smaller) {
        *array = smaller;
        *room = n;
    }
}

static seine_err
keep_entries(seine_robots *r, const char *text)
{
    seine_err e = SEINE_OK;

    for (uint32_t i = 0; i < r->n && e == SEINE_OK; i++)
        e = keep_entry(r, i, text);
    if (e != SEINE_OK)
        return e;
    if (r->n_rules > 0)
        qsort_r(r->rules, r->n_rules, sizeof *r->rules, by_rank, r);
    shrink((void **)&r->entries, r->n, &r->room, sizeof *r->entries);
    shrink((void **)&r->rules, r->n_rules, &r->rule_room, sizeof *r->rules);
    shrink((void **)&r->maps, r->n_maps, &r->map_room, sizeof *r->maps);
    shrink((void **)&r->bytes, r->n_bytes, &r->byte_room, 1);
    return SEINE_OK;
}

/* `agent` NULL: for everybody. */
static seine_err
make_robots(sn_str text, const char *agent, seine_robots **out_robots)
{
    bool is_cut = text.len > SEINE_ROBOTS_BYTES;
    seine_robots *r = sn_zalloc(sizeof *r);

    if (!r)
        return SEINE_E_NOMEM;
    text = sn_str_slice(text, 0, SEINE_ROBOTS_BYTES);
    seine_err e = read_lines(r, text, is_cut);
    if (e == SEINE_OK && agent)
        keep_one(r, text.ptr, agent);
    if (e == SEINE_OK)
        e = keep_entries(r, text.ptr);
    if (e != SEINE_OK) {
        seine_robots_free(r);
        return e;
    }
    *out_robots = r;
    return SEINE_OK;
}

seine_err
seine_robots_new(const char *text, size_t len, seine_robots **out_robots)
{
    if (!out_robots)
        return SEINE_E_INVAL;
    return make_robots((sn_str){text ? text : "", text ? len : 0}, NULL, out_robots);
}

seine_err
seine_robots_new_for(const char *text, size_t len, const char *agent,
                     seine_robots **out_robots)
{
    if (!out_robots)
        return SEINE_E_INVAL;
    return make_robots((sn_str){text ? text : "", text ? len : 0}, agent ? agent : "",
                       out_robots);
}

void
seine_robots_free(seine_robots *r)
{
    if (!r)
        return;
    sn_free(r->entries);
    sn_free(r->rules);
    sn_free(r->maps);
    sn_free(r->bytes);
    sn_free(r);
}

size_t
sn_robots_bytes(const seine_robots *r)
{
    return sizeof *r + r->room * sizeof *r->entries + r->rule_room * sizeof *r->rules +
           r->map_room * sizeof *r->maps + r->byte_room;
}
