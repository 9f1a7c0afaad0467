/* SPDX-License-Identifier: Apache-2.0 */
#include "text/robots.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"

enum { GROUPS = SEINE_ROBOTS_BYTES / 16 }; /* an agent and a rule have 18 bytes */

/* A line that says something. While the file is read, places are those in the file, and
 * then those in `bytes`. */
typedef struct entry {
    uint32_t text;   /* place of the line; of a Sitemap line of its value */
    uint32_t value;  /* place of the value; of an agent line of its token */
    uint32_t number; /* of the line, from 1 */
    uint32_t group; /* the agents it belongs to: a rule after agents ends their list … */
    uint32_t delay; /* … and for delays so does a delay */
    uint16_t text_len, value_len;
    uint8_t field; /* sn_robots_field */
} entry;

/* An Allow or Disallow line, as it is compared. */
typedef struct rule {
    uint32_t pattern; /* its place */
    uint32_t entry;
    uint32_t head; /* its first 4 bytes; 0: fewer stand before its first star or end */
    uint16_t len;  /* of the pattern */
    uint16_t rank; /* the same; of the second spelling of a line that of the first */
} rule;

_Static_assert(sizeof(entry) + sizeof(rule) == 44, "seine/robots.h says so");
_Static_assert(3 * SN_ROBOTS_LINE <= UINT16_MAX, "patterns fit");

struct seine_robots {
    entry *entries; /* in file order */
    rule *rules;    /* the longest first: the first that matches decides */
    uint32_t *maps; /* the entries that are Sitemap lines */
    char *bytes;    /* lines and patterns, which all views point into */
    size_t n, n_rules, n_maps, n_bytes;
    size_t room, rule_room, map_room, byte_room;
    bool is_for_one; /* all groups that were kept apply */
};

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

static sn_str
view(const seine_robots *r, uint32_t at, size_t len)
{
    return (sn_str){r->bytes + at, len};
}

static sn_str
value_of(const seine_robots *r, const entry *e)
{
    return view(r, e->value, e->value_len);
}

/* Reading: the lines that say something, and the groups they belong to. */

typedef struct reader {
    seine_robots *r;
    const char *text; /* of the file */
    uint32_t number, group, delay;
    bool has_rule, has_delay; /* since the last agent */
} reader;

static void
set_group(reader *to, entry *e)
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
    entry *e = &r->entries[r->n++];
    *e = (entry){.text = (uint32_t)(line.ptr - to->text),
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
    assert(to.group < GROUPS && to.delay < GROUPS);
    return e;
}

/* Which groups apply to an agent? */

typedef struct applying {
    bool is_named;                   /* a group names the agent */
    const entry *says;               /* the first agent line that applies */
    unsigned char rules[GROUPS / 8]; /* a bit each */
    unsigned char delays[GROUPS / 8];
} applying;

static bool
is_for(sn_str token, sn_str agent, bool is_named)
{
    bool is_everybody = token.len == 1 && token.ptr[0] == '*';

    return is_named ? !is_everybody && token.len > 0 && sn_str_eq_nocase(token, agent)
                    : is_everybody;
}

/* `bytes` is what the places of the values count from. */
static bool
is_named(const seine_robots *r, const char *bytes, sn_str agent)
{
    for (size_t i = 0; i < r->n; i++) {
        const entry *e = &r->entries[i];

        if (e->field == SN_ROBOTS_AGENT &&
            is_for((sn_str){bytes + e->value, e->value_len}, agent, true))
            return true;
    }
    return false;
}

static bool
has_bit(const unsigned char *set, uint32_t i)
{
    return set[i / 8] >> (i % 8) & 1;
}

static void
add_bit(unsigned char *set, uint32_t i)
{
    set[i / 8] = (unsigned char)(set[i / 8] | 1U << (i % 8));
}

static void
find_groups(const seine_robots *r, const char *bytes, sn_str agent, applying *out)
{
    size_t bits = r->n > 0 ? r->entries[r->n - 1].delay / 8 + 1 : 0;

    out->says = NULL;
    out->is_named = is_named(r, bytes, agent);
    memset(out->rules, 0, bits);
    memset(out->delays, 0, bits);
    for (size_t i = 0; i < r->n; i++) {
        const entry *e = &r->entries[i];

        if (e->field != SN_ROBOTS_AGENT ||
            !is_for((sn_str){bytes + e->value, e->value_len}, agent, out->is_named))
            continue;
        out->says = out->says ? out->says : e;
        add_bit(out->rules, e->group);
        add_bit(out->delays, e->delay);
    }
}

/* Does the line count? */
static bool
counts(const entry *e, const char *bytes, sn_str agent, const applying *a)
{
    switch ((sn_robots_field)e->field) {
    case SN_ROBOTS_AGENT:
        return is_for((sn_str){bytes + e->value, e->value_len}, agent, a->is_named);
    case SN_ROBOTS_ALLOW:
    case SN_ROBOTS_DISALLOW:
        return has_bit(a->rules, e->group);
    case SN_ROBOTS_DELAY:
        return has_bit(a->delays, e->delay);
    case SN_ROBOTS_SITEMAP:
        return true;
    case SN_ROBOTS_OTHER:
    default:
        return false;
    }
}

/* Drops the lines that do not count for the agent. */
static void
keep_one(seine_robots *r, const char *bytes, const char *agent)
{
    sn_str token = sn_robots_agent(sn_str_of(agent));
    applying a;
    size_t n = 0;

    find_groups(r, bytes, token, &a);
    for (size_t i = 0; i < r->n; i++)
        if (counts(&r->entries[i], bytes, token, &a))
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

/* A target that does not begin with the same 4 bytes does not match. */
static uint32_t
head_of(sn_str s)
{
    uint32_t head = 0;

    if (s.len >= sizeof head)
        memcpy(&head, s.ptr, sizeof head);
    return head;
}

static uint32_t
pattern_head(sn_str pattern)
{
    size_t end = sn_str_find(pattern, '*');

    return head_of(
        sn_str_slice(pattern, 0, end - (end > 0 && pattern.ptr[end - 1] == '$')));
}

/* The pattern stands behind the bytes. It stays there unless `like` says the same. */
static void
add_rule(seine_robots *r, uint32_t of, size_t len, size_t rank, sn_str like)
{
    sn_str pattern = view(r, (uint32_t)r->n_bytes, len);
    uint32_t at = (uint32_t)r->n_bytes;

    if (sn_str_eq(pattern, like))
        at = (uint32_t)(like.ptr - r->bytes);
    else
        r->n_bytes += len;
    r->rules[r->n_rules++] =
        (rule){at, of, pattern_head(pattern), (uint16_t)len, (uint16_t)rank};
}

/* Behind a star nobody knows whether the query has begun. A pattern whose spelling
 * depends on it has a second rule for the case that it has. */
static void
add_rules(seine_robots *r, uint32_t of)
{
    sn_str value = value_of(r, &r->entries[of]);
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
    const rule *x = a, *y = b;
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
    entry *e = &r->entries[i];
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

/* Questions. */

/* The agent of a question: of rules that were kept for one agent it was said before. */
static sn_str
asked_agent(const seine_robots *r, const char *agent)
{
    return r->is_for_one ? (sn_str){0} : sn_robots_agent(sn_str_of(agent));
}

/* The groups that apply; those of one agent are not looked for. */
static void
ask_groups(const seine_robots *r, sn_str agent, applying *out)
{
    if (!r->is_for_one)
        find_groups(r, r->bytes, agent, out);
}

static bool
counts_for(const seine_robots *r, const entry *e, sn_str agent, const applying *a)
{
    return r->is_for_one || counts(e, r->bytes, agent, a);
}

/* The agent line by which a group applies, or the first that does: the group of `of`. */
static sn_str
group_of(const seine_robots *r, const entry *of, sn_str agent, const applying *a)
{
    for (size_t i = 0; i < r->n; i++) {
        const entry *e = &r->entries[i];

        if (e->field == SN_ROBOTS_AGENT && (!of || e->group == of->group) &&
            counts_for(r, e, agent, a))
            return value_of(r, e);
    }
    return (sn_str){0};
}

/* Returns the rule that decides, or NULL. */
static const entry *
find_rule(const seine_robots *r, const applying *a, sn_str target, uint32_t *io_steps)
{
    uint32_t head = head_of(target);

    for (size_t i = 0; i < r->n_rules && *io_steps <= SN_ROBOTS_STEPS; i++) {
        const rule *one = &r->rules[i];
        const entry *e = &r->entries[one->entry];

        *io_steps += 1;
        if ((one->head != 0 && one->head != head) ||
            (!r->is_for_one && !has_bit(a->rules, e->group)))
            continue;
        if (sn_robots_match(target, view(r, one->pattern, one->len), io_steps))
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
    const entry *best = NULL;
    uint32_t steps = 0;
    applying a;

    ask_groups(r, token, &a);
    if (!sn_str_eq(text, SN_STR("/robots.txt"))) /* RFC 9309, 2.2.2 */
        best = find_rule(r, &a, text, &steps);
    bool is_over = !best && steps > SN_ROBOTS_STEPS;
    *out_verdict = (seine_robots_verdict){
        .allowed = best ? best->field == SN_ROBOTS_ALLOW : !is_over, .is_over = is_over};
    if (best) {
        out_verdict->rule = view(r, best->text, best->text_len);
        out_verdict->line = best->number;
    }
    out_verdict->group = group_of(r, best, token, &a);
    return steps;
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
    applying a;

    ask_groups(r, token, &a);
    for (size_t i = 0; i < r->n; i++) {
        const entry *e = &r->entries[i];

        if (e->field == SN_ROBOTS_DELAY && counts_for(r, e, token, &a))
            longest = sn_time_max(longest, sn_robots_seconds(value_of(r, e)));
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
    applying a;

    ask_groups(r, token, &a);
    for (size_t i = 0; i < r->n; i++) {
        const entry *e = &r->entries[i];
        seine_robots_line line = {public_kind(e->field), view(r, e->text, e->text_len),
                                  e->number, -1};

        if (!counts_for(r, e, token, &a))
            continue;
        if (e->field == SN_ROBOTS_DELAY)
            line.delay = sn_robots_seconds(value_of(r, e));
        fn(&line, arg);
    }
}

bool
seine_robots_sitemap(const seine_robots *r, size_t i, seine_view *out_url)
{
    if (!r || !out_url || i >= r->n_maps)
        return false;
    *out_url = value_of(r, &r->entries[r->maps[i]]);
    return true;
}
