/* SPDX-License-Identifier: Apache-2.0 */
/* Crawler traps: which pages of a host are looked at, and which URLs are refused because
 * the pages of their pattern bring nothing new. docs/internals/trap.md has the rules. */
#include <stdio.h>

#include "base/hash.h"
#include "base/log.h"
#include "engine/frontier_parts.h"
#include "engine/page.h"
#include "store/job_page.h"

#define MIB (UINT64_C(1) << 20)

/* Keys of levels that have one name; those of texts are as unlikely as any other. */
#define ALL_KEY    UINT64_C(0x2f2a2a0000000001)
#define EXCESS_KEY UINT64_C(0x2f2a2a0000000003)
#define NAMES_KEY  UINT64_C(0x2f2a2a0000000005)

/* What a URL is judged with, the finest first. */
enum { PATTERN, EXCESS, FAMILY, WORDS };

typedef struct url_class {
    uint64_t key[SN_TRAP_LEVELS]; /* 0: none */
    sn_trap_kind kind;
    sn_str query;
    sn_trap_child device; /* a directory that is one of very many; parent 0: none */
    sn_str path;
    bool has_directories; /* that may be a device */
    bool has_names;       /* that may recur */
    sn_trap_excess excess;
    sn_str name[SN_TRAP_LEVELS];
    char pattern[SN_TRAP_ROOM], family[SN_TRAP_ROOM];
} url_class;

static uint64_t
key_of(sn_str text, uint64_t what)
{
    const uint64_t secret[2] = {UINT64_C(0x7365696e65), what};

    return sn_siphash(secret, text.ptr, text.len) | 1;
}

static void
classify(sn_str target, url_class *out)
{
    size_t split = sn_str_find(target, '?'), n;
    sn_str path = sn_str_slice(target, 0, split);
    sn_str query = sn_str_slice(target, split + (split < target.len), target.len);
    sn_trap_kind kind;

    n = sn_trap_pattern(path, query, out->pattern, &kind);
    out->name[PATTERN] = (sn_str){out->pattern, n};
    sn_trap_family family =
        sn_trap_family_of(path, out->name[PATTERN], &kind, out->family, &n);
    out->name[FAMILY] = (sn_str){out->family, n};
    out->name[WORDS] = SN_STR("/**");
    out->key[PATTERN] = kind.varies ? key_of(out->name[PATTERN], PATTERN) : 0;
    out->key[FAMILY] = family == SN_TRAP_WORDS ? 0 : key_of(out->name[FAMILY], FAMILY);
    out->key[WORDS] = ALL_KEY;
    out->query = query;
    out->kind = kind;
    out->device.parent = 0;
    out->path = path;
    out->has_directories =
        family == SN_TRAP_WORDS ||
        (family == SN_TRAP_DEVICE && kind.id_end > 0 && !kind.session.ptr);
    out->has_names = family != SN_TRAP_DEVICE;
    out->excess = sn_trap_excess_of(path, query, &kind);
    out->name[EXCESS] = SN_STR("/** of more than 32 segments or parameters");
    out->key[EXCESS] = out->excess == SN_TRAP_WITHIN ? 0 : EXCESS_KEY;
}

/* The same at a host, where a directory of very many may be a device, and a few names may
 * be combined. */
static void
classify_at(const sn_crawl_state *x, sn_str target, url_class *out)
{
    sn_trap_child c;

    classify(target, out);
    for (unsigned i = 0;
         x->directories.n > 0 && out->has_directories && i < SN_DIRECTORIES; i++) {
        const sn_pattern *row = sn_trap_segment(out->path, i, &c)
                                    ? sn_pattern_table_find(&x->patterns, c.parent)
                                    : NULL;
        if (!row || row->led < SN_CHILDREN)
            continue;
        out->name[FAMILY] = i == 0 ? SN_STR("/*/**") : SN_STR("/**/*/**");
        out->key[FAMILY] = c.parent ^ FAMILY;
        out->device = c;
        return;
    }
    if (out->has_names && sn_segment_counts_recur(&x->segments, out->path)) {
        out->name[FAMILY] = SN_STR("/** of names that recur");
        out->key[FAMILY] = NAMES_KEY;
    }
}

/* Counts the directories of directories, once a host has many pages. */
static void
count_directories(sn_crawl_state *x, const url_class *c)
{
    sn_trap_child child;

    for (unsigned i = 0; i < SN_DIRECTORIES; i++) {
        if (!sn_trap_segment(c->path, i, &child) ||
            !sn_bloom_add(&x->directories, child.child))
            continue;
        sn_pattern *row = sn_pattern_table_get(&x->patterns, child.parent);
        if (row)
            row->led++;
    }
}

/* Counts what the path of a page is made of, once a host has many. */
static void
count_path(sn_crawl_state *x, const url_class *c, uint32_t budget)
{
    const sn_pattern *all = sn_pattern_table_find(&x->patterns, c->key[WORDS]);

    if (!all)
        return;
    if (all->count >= budget / 2 && c->has_names)
        sn_segment_counts_add(&x->segments, c->path);
    if (all->count >= SN_CHILDREN && c->has_directories)
        count_directories(x, c);
}

/* The residues of a URL, which matter only to pages that are looked at. On the level of
 * all pages of a host there are none: texts alone count there. */
static const sn_residues *
residues_of(const url_class *c, unsigned level, sn_residues *out)
{
    out->n = 0;
    if (c->key[level] == NAMES_KEY)
        *out = (sn_residues){{sn_trap_unordered(c->path)}, 1};
    else if (level != WORDS && c->device.parent)
        *out = (sn_residues){{sn_trap_without(&c->device)}, 1};
    else if (level != WORDS)
        out->n = sn_trap_residues(c->path, c->query, &c->kind, out->all);
    return out;
}

static uint32_t
budget_of(const sn_frontier *f)
{
    const seine_crawl_opts *o = f->shared->opts.crawl;

    return o ? o->pattern_budget : 0;
}

/* Pages of a level before it is looked at. Which names recur is known when the host has
 * had half a budget of pages already. */
static uint32_t
budget_for(const sn_frontier *f, sn_novelty_kind kind)
{
    return kind == SN_NOVELTY_EXCESS  ? 0
           : kind == SN_NOVELTY_NAMES ? budget_of(f) - budget_of(f) / 2
                                      : budget_of(f);
}

/* Novelties take much memory: a shard has so many, and the oldest makes room. */

static uint32_t
most_looked(const sn_frontier *f)
{
    uint64_t n = f->shared->opts.max_memory / 16 / f->n / MIB;

    return n < 8 ? 8 : n > SN_LOOKED ? SN_LOOKED : (uint32_t)n;
}

/* The row of a slot that is taken. NULL: it is free. */
static sn_pattern *
row_of(const sn_frontier *f, const sn_looked *slot)
{
    const sn_crawl_state *x =
        slot->key ? sn_crawl_hosts_state(&f->hosts, slot->host) : NULL;
    sn_pattern *row = x ? sn_pattern_table_find(&x->patterns, slot->key) : NULL;

    return row && row->novelty ? row : NULL;
}

/* Who makes room: 0 at once, 3 never. A pattern that brings something is looked at anew
 * some time; one that repeats is left for good; plain words are all of a host, and are
 * not left. Before there is a verdict nobody goes who still has pages, or there would
 * never be one. */
static unsigned
worth(const sn_frontier *f, const sn_looked *slot)
{
    const sn_pattern *row = row_of(f, slot);

    if (!row || sn_novelty_is_cleared(row->novelty))
        return 0;
    if (!sn_novelty_repeats(row->novelty))
        return f->looks - slot->last > SN_IDLE ? 0 : 3;
    return slot->kind == SN_NOVELTY_WORDS ? 2 : 1;
}

/* NULL: every slot has a pattern without a verdict. */
static sn_looked *
find_slot(sn_frontier *f)
{
    uint32_t n = most_looked(f), best = 3;
    sn_looked *found = NULL;

    for (uint32_t i = 0; i < n && best > 0; i++) {
        sn_looked *slot = &f->looked[(f->next_looked + i) % n];
        unsigned w = worth(f, slot);

        if (w < best) {
            best = w;
            found = slot;
        }
    }
    return found;
}

static void
drop_novelty(sn_frontier *f, const sn_looked *old)
{
    sn_pattern *row = row_of(f, old);

    if (!row)
        return;
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, old->host);
    row->is_left = old->kind != SN_NOVELTY_WORDS && sn_novelty_repeats(row->novelty);
    x->patterns.n_left += row->is_left;
    sn_novelty_free(row->novelty);
    row->novelty = NULL;
    x->patterns.n_looked--;
}

static void
look_at(sn_frontier *f, uint32_t host, sn_pattern *row, sn_novelty_kind kind)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    sn_looked *slot = find_slot(f);

    if (!slot)
        return;
    drop_novelty(f, slot);
    row->novelty = sn_novelty_new(kind);
    if (!row->novelty)
        return;
    x->patterns.n_looked++;
    *slot = (sn_looked){.key = row->key, .kind = kind, .last = f->looks, .host = host};
    f->next_looked = ((uint32_t)(slot - f->looked) + 1) % most_looked(f);
}

/* One page more of a pattern that is looked at. */
static void
touch(sn_frontier *f, uint32_t host, uint64_t key)
{
    for (uint32_t i = 0; i < SN_LOOKED; i++)
        if (f->looked[i].key == key && f->looked[i].host == host)
            f->looked[i].last = f->looks;
}

/* Counts a page that is asked for. NULL: it is not looked at. */
static sn_novelty *
count_page(sn_frontier *f, uint32_t host, uint64_t key, sn_novelty_kind kind)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    sn_pattern *row = sn_pattern_table_get(&x->patterns, key);

    if (!row) /* without memory nothing is refused */
        return NULL;
    if (row->count < UINT32_MAX)
        row->count++;
    sn_frontier_keep_count(f, host, key, row->count);
    if (row->count <= budget_for(f, kind))
        return NULL;
    f->looks++;
    if (row->novelty)
        touch(f, host, key);
    else if (!row->is_left)
        look_at(f, host, row, kind);
    if (!row->novelty || (kind == SN_NOVELTY_WORDS && sn_novelty_is_good(row->novelty) &&
                          row->count % SN_SAMPLE != 0))
        return NULL;
    return row->novelty;
}

/* A page of an earlier round: it was good then, and need not come whole again. */
static bool
is_proven(const sn_frontier *f, uint64_t number)
{
    return f->shared->opts.revisit && sn_job_has_page(f->shared->job, number);
}

void
sn_frontier_count_page(sn_frontier *f, uint32_t host, sn_visit *v)
{
    static const sn_novelty_kind kinds[SN_TRAP_LEVELS] = {
        [EXCESS] = SN_NOVELTY_EXCESS, [WORDS] = SN_NOVELTY_WORDS};
    sn_residues r;
    url_class c;

    if (budget_of(f) == 0)
        return;
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    classify_at(x, seine_url_target(&v->url), &c);
    count_path(x, &c, budget_of(f));
    for (unsigned i = 0; i < SN_TRAP_LEVELS; i++) {
        v->traps[i] = c.key[i];
        sn_novelty_kind kind = c.key[i] == NAMES_KEY ? SN_NOVELTY_NAMES : kinds[i];
        sn_novelty *n = c.key[i] ? count_page(f, host, c.key[i], kind) : NULL;
        if (!n || is_proven(f, v->number))
            continue;
        v->looks |= (uint8_t)(1u << i);
        v->again[i] = (uint16_t)sn_novelty_start(n, residues_of(&c, i, &r));
    }
}

/* Refusing. */

/* Do all pages of the pattern repeat, whatever their URLs are? A session may hide a page
 * that is new, and plain words are all of a host: these are judged in each run anew. */
static bool
is_plain_trap(const sn_pattern *row)
{
    return row->key != ALL_KEY && row->novelty->parts[0].name == 0 &&
           sn_novelty_verdict(row->novelty) == &row->novelty->last;
}

/* The event is told once, when the first URL of a pattern is refused. */
static void
tell_trap(sn_frontier *f, uint32_t host, sn_pattern *row, sn_str name, sn_str rule)
{
    sn_str where = sn_hosts_name(f->host_table, host);

    if (row->told)
        return;
    row->told = true;
    if (is_plain_trap(row))
        sn_frontier_keep_trap(f, host, row->key);
    SN_SAY(f->shared->opts.log, WARN, "trap", "the pages of a path pattern repeat",
           SN_S("host", where), SN_S("pattern", name), SN_S("rule", rule));
    f->ops.tell(
        &(seine_event){
            .name = "trap", .host = where, .until = SEINE_NEVER, .detail = name},
        f->ops.arg);
}

/* Refuses a URL by the verdict on that level; the rule names its own pattern. */
static bool
refuse_by(sn_frontier *f, uint32_t host, sn_pattern *row, const url_class *c,
          unsigned level, sn_skip_why *why)
{
    const sn_last_pages *l = sn_novelty_verdict(row->novelty);
    bool is_own = level == PATTERN;
    int len = snprintf(why->mem, sizeof why->mem,
                       "%.*s %u: pattern %.*s, %u of %s last %u pages%s%.*s brought "
                       "nothing new",
                       SN_FMT(f->shared->shown.pattern_budget), budget_of(f),
                       SN_FMT(c->name[PATTERN]), (unsigned)(l->n - l->n_new),
                       is_own ? "its" : "the", (unsigned)l->n, is_own ? "" : " of ",
                       SN_FMT(is_own ? (sn_str){0} : c->name[level]));
    size_t room = sizeof why->mem - 1;
    sn_str rule = {why->mem, (size_t)len < room ? (size_t)len : room};

    tell_trap(f, host, row, c->name[level], rule);
    return sn_skip_for(why, SEINE_SKIP_TRAP, rule);
}

/* The same of a pattern that repeated, and made room for others. */
static bool
refuse_left(sn_frontier *f, const url_class *c, unsigned level, sn_skip_why *why)
{
    int len = snprintf(why->mem, sizeof why->mem,
                       "%.*s %u: pattern %.*s, the pages of %.*s brought nothing new",
                       SN_FMT(f->shared->shown.pattern_budget), budget_of(f),
                       SN_FMT(c->name[PATTERN]), SN_FMT(c->name[level]));
    size_t room = sizeof why->mem - 1;

    return sn_skip_for(why, SEINE_SKIP_TRAP,
                       (sn_str){why->mem, (size_t)len < room ? (size_t)len : room});
}

seine_err
sn_frontier_restore_trap(sn_frontier *f, sn_str name, uint64_t key, seine_time now)
{
    uint32_t host;
    seine_err e = sn_frontier_find_name(f, name, now, &host);

    if (e != SEINE_OK)
        return e;
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    sn_pattern *row = x && key ? sn_pattern_table_get(&x->patterns, key) : NULL;
    if (!row || row->is_left)
        return SEINE_OK; /* without memory the trap is found again */
    row->is_left = row->told = true;
    row->count = budget_of(f) + 1;
    x->patterns.n_left++;
    return SEINE_OK;
}

/* All pages of the host count for its budget, and the host for that of its domain. */
static void
restore_pages(sn_frontier *f, sn_str name, uint32_t host, uint32_t pages)
{
    sn_crawl_host *ch = &f->hosts.all[host];
    char mem[SN_HOST_NAME + 2];
    sn_skip_why why;
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    if (ch->n_pages < pages)
        ch->n_pages = pages;
    if (seine_url_parse(&url, name.ptr, name.len, NULL) == SEINE_OK)
        (void)!sn_frontier_spend_domain(f, &url, ch, &why);
}

seine_err
sn_frontier_restore_count(sn_frontier *f, sn_str name, uint64_t key, uint32_t pages,
                          seine_time now)
{
    uint32_t host;
    seine_err e = sn_frontier_find_name(f, name, now, &host);

    if (e != SEINE_OK)
        return e;
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    sn_pattern *row = x && key ? sn_pattern_table_get(&x->patterns, key) : NULL;
    if (row && row->count < pages)
        row->count = pages;
    if (key == ALL_KEY)
        restore_pages(f, name, host, pages);
    return SEINE_OK;
}

/* Have the pages of the pattern brought something, as far as they were looked at? */
static bool
is_good(const sn_crawl_state *x, uint64_t key)
{
    const sn_pattern *row = key ? sn_pattern_table_find(&x->patterns, key) : NULL;

    return row && row->news + row->repeats >= SN_FEW &&
           row->news * 10 > row->news + row->repeats;
}

bool
sn_frontier_repeats(sn_frontier *f, uint32_t host, const sn_waiting_url *u,
                    sn_skip_why *why)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    sn_residues r;
    url_class c;

    if (u->kind != SN_KIND_PAGE || is_proven(f, u->number) || !x ||
        x->patterns.n_looked + x->patterns.n_left == 0 || budget_of(f) == 0)
        return false;
    classify_at(x, u->target, &c);
    for (unsigned i = 0; i < SN_TRAP_LEVELS; i++) {
        sn_pattern *row = c.key[i] ? sn_pattern_table_find(&x->patterns, c.key[i]) : NULL;

        if (i == WORDS && is_good(x, c.key[PATTERN]))
            return false;
        if (!row || (i == EXCESS && c.excess == SN_TRAP_NEAR))
            continue;
        if (row->is_left)
            return refuse_left(f, &c, i, why);
        if (!row->novelty)
            continue;
        if (sn_novelty_refuses(row->novelty, residues_of(&c, i, &r),
                               SN_LEADER_OF(u->flags), SN_LOOK_OF(u->flags)))
            return refuse_by(f, host, row, &c, i, why);
        if (sn_novelty_repeats(row->novelty) || sn_novelty_is_cleared(row->novelty))
            return false; /* it passes: a wider verdict says less */
    }
    return false;
}

/* Looking. */

/* Was the URL something new to any page? A pattern whose pages repeat is not; one that is
 * over its budget is only if its pages have texts of their own. */
static bool
is_news(sn_frontier *f, sn_crawl_state *x, uint64_t key)
{
    sn_pattern *row = sn_pattern_table_get(&x->patterns, key);

    if (!row || row->is_left || (row->novelty && sn_novelty_repeats(row->novelty)))
        return false;
    if (row->novelty && row->count > budget_of(f))
        return sn_novelty_has_texts(row->novelty);
    return row->led++ < budget_of(f);
}

/* Is it proven that the pages of the pattern have texts of their own? */
static bool
has_texts(const sn_crawl_state *x, uint64_t key)
{
    const sn_pattern *row = key ? sn_pattern_table_find(&x->patterns, key) : NULL;

    return row && row->novelty && row->novelty->last.n >= SN_FEW &&
           sn_novelty_has_texts(row->novelty) && !sn_novelty_repeats(row->novelty);
}

void
sn_frontier_lead(sn_frontier *f, const seine_url *url)
{
    sn_looking *l = &f->looking;
    sn_crawl_state *x;
    url_class c;

    if (!l->visit)
        return;
    x = sn_crawl_hosts_state(&f->hosts, l->visit->home_host);
    sn_str host = seine_url_host_port(url);
    if (!x)
        return;
    if (!sn_str_eq(host, seine_url_host_port(&l->visit->url))) {
        bool is = is_news(f, x, key_of(host, SN_TRAP_LEVELS));
        for (unsigned i = 0; i < SN_TRAP_LEVELS; i++)
            l->leads[i] |= is;
        return;
    }
    classify_at(x, seine_url_target(url), &c);
    bool news[SN_TRAP_LEVELS], any = false;
    for (unsigned i = 0; i < SN_TRAP_LEVELS; i++) {
        news[i] = !c.key[i] || c.key[i] != l->visit->traps[i];
        any |= news[i] && i != WORDS;
    }
    if (!any)
        return;
    if (news[PATTERN] && has_texts(x, c.key[PATTERN])) {
        l->is_index = true; /* of good pages, though its own text may repeat */
        return;
    }
    uint64_t key = c.key[FAMILY] ? c.key[FAMILY] : c.key[PATTERN];
    if (key && !is_news(f, x, key))
        return;
    for (unsigned i = 0; i < SN_TRAP_LEVELS; i++)
        l->leads[i] |= news[i];
}

static sn_novelty *
novelty_of(const sn_frontier *f, const sn_visit *v, unsigned level)
{
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, v->home_host);
    const sn_pattern *row = x && v->looks >> level & 1
                                ? sn_pattern_table_find(&x->patterns, v->traps[level])
                                : NULL;

    return row ? row->novelty : NULL;
}

/* What the page looks like from afar: its title without digits and the words of its URL,
 * and the number of its links. */
static unsigned
look_of(const sn_visit *v)
{
    sn_word_triples t;
    uint64_t hash = v->page ? sn_page_n_links(v->page) + 1 : 0;

    sn_word_triples_begin(&t, seine_url_target(&v->url));
    sn_word_triples_text(&t, v->title.ptr, v->title.len);
    sn_word_triples_end(&t);
    for (uint32_t i = 0; i < t.n; i++)
        hash ^= t.hash[i];
    return (unsigned)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

/* What the page is thought of as the leader of its links. */
static sn_leader
judge_leader(const sn_visit *v, bool is_new)
{
    return is_new                                     ? SN_LEADER_NEW
           : SN_LEADER_OF(v->leader) == SN_LEADER_NEW ? SN_LEADER_UNKNOWN
                                                      : SN_LEADER_REPEAT;
}

uint8_t
sn_frontier_look(sn_frontier *f, sn_visit *v)
{
    const seine_revisit_opts *revisit = f->shared->opts.revisit;
    bool is_looked_at = v->looks || !revisit || !revisit->by_content;
    const sn_word_triples *words =
        v->page && is_looked_at ? sn_page_words(v->page) : NULL;
    sn_leader leader = SN_LEADER_UNKNOWN;

    f->looking = (sn_looking){.visit = words ? v : NULL};
    if (v->kind == SN_KIND_SITEMAP || !v->is_stored)
        return SN_LEADER_NEW;
    unsigned look = v->traps[WORDS] ? look_of(v) : 0;
    for (unsigned i = 0; words && i < SN_TRAP_LEVELS; i++) {
        sn_novelty *n = novelty_of(f, v, i);
        if (!n)
            continue;
        f->looking.text[i] = sn_novelty_text(n, words);
        leader = judge_leader(v, f->looking.text[i] != SN_TEXT_KNOWN);
        if (i == WORDS)
            sn_novelty_alike(n, look, f->looking.text[i] == SN_TEXT_NEW);
    }
    return (uint8_t)(leader | look << 2);
}

/* Remembers with the pattern of a page whether it brought something. */
static void
note_text(sn_frontier *f, const sn_visit *v)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, v->home_host);
    sn_pattern *row =
        v->traps[PATTERN] ? sn_pattern_table_find(&x->patterns, v->traps[PATTERN]) : NULL;

    if (!row || !(v->looks >> WORDS & 1))
        return;
    if (row->news + row->repeats >= UINT8_MAX) {
        row->news /= 2;
        row->repeats /= 2;
    }
    bool is_new = f->looking.text[WORDS] == SN_TEXT_NEW || f->looking.is_index;
    row->news = (uint8_t)(row->news + is_new);
    row->repeats = (uint8_t)(row->repeats + !is_new);
}

void
sn_frontier_judge(sn_frontier *f)
{
    const sn_visit *v = f->looking.visit;
    sn_residues r;
    url_class c;

    f->looking.visit = NULL;
    if (!v)
        return;
    classify_at(sn_crawl_hosts_state(&f->hosts, v->home_host), seine_url_target(&v->url),
                &c);
    note_text(f, v);
    for (unsigned i = 0; i < SN_TRAP_LEVELS; i++) {
        sn_novelty *n = novelty_of(f, v, i);
        sn_page_news news = {f->looking.text[i],
                             f->looking.is_index || (i != WORDS && f->looking.leads[i])};

        if (n)
            sn_novelty_page(n, &news, residues_of(&c, i, &r), v->again[i]);
    }
}
