/* SPDX-License-Identifier: Apache-2.0 */
/* Crawler traps: which pages of a host are looked at, and which URLs are refused because
 * the pages of their pattern bring nothing new. docs/internals/trap.md has the rules. */
#include <stdio.h>

#include "base/hash.h"
#include "base/log.h"
#include "engine/frontier_parts.h"
#include "engine/page.h"

#define MIB (UINT64_C(1) << 20)

/* What a URL is judged with, the finest first. */
enum { PATTERN, EXCESS, FAMILY, WORDS };

typedef struct url_class {
    uint64_t key[SN_TRAP_LEVELS]; /* 0: none */
    uint64_t residue;
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

/* A path that goes round is one of plain words, too. */
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
    out->key[WORDS] = family == SN_TRAP_DEVICE ? 0 : key_of(SN_STR("/**"), WORDS);
    out->residue = sn_trap_residue(path, query, &kind);
    out->excess = sn_trap_excess_of(path, query, &kind);
    out->name[EXCESS] = SN_STR("/** of more than 32 segments or parameters");
    out->key[EXCESS] =
        out->excess == SN_TRAP_WITHIN ? 0 : key_of(out->name[EXCESS], EXCESS);
}

/* The same at a host. A URL whose pattern has many pages is judged with them and not with
 * the plain words, which are for paths that nobody has seen before. */
static void
classify_at(const sn_crawl_state *x, sn_str target, url_class *out)
{
    classify(target, out);
    const sn_pattern *row =
        out->key[PATTERN] ? sn_pattern_table_find(&x->patterns, out->key[PATTERN]) : NULL;
    if (row && row->count >= SN_FEW)
        out->key[WORDS] = 0;
}

static uint32_t
budget_of(const sn_frontier *f)
{
    const seine_crawl_opts *o = f->shared->opts.crawl;

    return o ? o->pattern_budget : 0;
}

/* Novelties take much memory: a shard has so many, and the oldest makes room. */

static uint32_t
most_looked(const sn_frontier *f)
{
    uint64_t n = f->shared->opts.max_memory / 16 / f->n / MIB;

    return n < 8 ? 8 : n > SN_LOOKED ? SN_LOOKED : (uint32_t)n;
}

static void
drop_novelty(sn_frontier *f, const sn_looked *old)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, old->host);
    sn_pattern *row = x ? sn_pattern_table_find(&x->patterns, old->key) : NULL;

    if (!row || !row->novelty)
        return;
    sn_novelty_free(row->novelty);
    row->novelty = NULL;
    x->patterns.n_looked--;
}

static void
look_at(sn_frontier *f, uint32_t host, sn_pattern *row, sn_novelty_kind kind)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    sn_looked *slot = &f->looked[f->next_looked];

    if (slot->key)
        drop_novelty(f, slot);
    row->novelty = sn_novelty_new(kind);
    if (!row->novelty)
        return;
    x->patterns.n_looked++;
    *slot = (sn_looked){row->key, host};
    f->next_looked = (f->next_looked + 1) % most_looked(f);
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
    if (row->count <= budget_of(f) && kind != SN_NOVELTY_EXCESS)
        return NULL;
    if (!row->novelty)
        look_at(f, host, row, kind);
    if (!row->novelty || (kind == SN_NOVELTY_WORDS && sn_novelty_is_good(row->novelty) &&
                          row->count % SN_SAMPLE != 0))
        return NULL;
    return row->novelty;
}

void
sn_frontier_count_page(sn_frontier *f, uint32_t host, sn_visit *v)
{
    static const sn_novelty_kind kinds[SN_TRAP_LEVELS] = {
        [EXCESS] = SN_NOVELTY_EXCESS, [WORDS] = SN_NOVELTY_WORDS};
    url_class c;

    if (budget_of(f) == 0)
        return;
    classify_at(sn_crawl_hosts_state(&f->hosts, host), seine_url_target(&v->url), &c);
    for (unsigned i = 0; i < SN_TRAP_LEVELS; i++) {
        v->traps[i] = c.key[i];
        sn_novelty *n = c.key[i] ? count_page(f, host, c.key[i], kinds[i]) : NULL;
        if (!n)
            continue;
        v->looks |= (uint8_t)(1u << i);
        v->again |= (uint8_t)(sn_novelty_start(n, c.residue) << i);
    }
}

/* Refusing. */

/* The event is told once, when the first URL of a pattern is refused. */
static void
tell_trap(sn_frontier *f, uint32_t host, sn_pattern *row, sn_str name, sn_str rule)
{
    sn_str where = sn_hosts_name(f->host_table, host);

    if (row->told)
        return;
    row->told = true;
    SN_SAY(f->shared->opts.log, WARN, "trap", "the pages of a path pattern repeat",
           SN_S("host", where), SN_S("pattern", name), SN_S("rule", rule));
    f->ops.tell(
        &(seine_event){
            .name = "trap", .host = where, .until = SEINE_NEVER, .detail = name},
        f->ops.arg);
}

static bool
refuse_row(sn_frontier *f, uint32_t host, sn_pattern *row, sn_str name, sn_skip_why *why)
{
    const sn_novelty *n = row->novelty;
    const sn_last_pages *l = sn_novelty_repeats(n) ? &n->last : &n->again;
    int len =
        snprintf(why->mem, sizeof why->mem,
                 "%.*s %u: pattern %.*s, %u of its last %u pages brought nothing new",
                 SN_FMT(f->shared->shown.pattern_budget), budget_of(f), SN_FMT(name),
                 (unsigned)(l->n - l->n_new), (unsigned)l->n);
    sn_str rule = {why->mem, (size_t)len};

    tell_trap(f, host, row, name, rule);
    return sn_skip_for(why, SEINE_SKIP_TRAP, rule);
}

bool
sn_frontier_repeats(sn_frontier *f, uint32_t host, const sn_waiting_url *u,
                    sn_skip_why *why)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    url_class c;

    if (u->kind != SN_KIND_PAGE || !x || x->patterns.n_looked == 0 || budget_of(f) == 0)
        return false;
    classify_at(x, u->target, &c);
    for (unsigned i = 0; i < SN_TRAP_LEVELS; i++) {
        sn_pattern *row = c.key[i] ? sn_pattern_table_find(&x->patterns, c.key[i]) : NULL;

        if (!row || !row->novelty || (i == EXCESS && c.excess == SN_TRAP_NEAR))
            continue;
        if (sn_novelty_refuses(row->novelty, c.residue, (sn_leader)u->flags))
            return refuse_row(f, host, row, c.name[i], why);
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

    if (!row || (row->novelty && sn_novelty_repeats(row->novelty)))
        return false;
    if (row->novelty && row->count > budget_of(f))
        return sn_novelty_has_texts(row->novelty);
    return row->led++ < budget_of(f);
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
    classify(seine_url_target(url), &c);
    uint64_t key = c.key[FAMILY] ? c.key[FAMILY] : c.key[PATTERN];
    bool news[SN_TRAP_LEVELS], any = false;
    for (unsigned i = 0; i < SN_TRAP_LEVELS; i++) {
        news[i] = !c.key[i] || c.key[i] != l->visit->traps[i];
        any |= news[i] && i != WORDS;
    }
    if (!any || (key && !is_news(f, x, key)))
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

sn_leader
sn_frontier_look(sn_frontier *f, sn_visit *v)
{
    const sn_word_triples *words = v->page ? sn_page_words(v->page) : NULL;
    sn_leader leader = SN_LEADER_UNKNOWN;

    f->looking = (sn_looking){.visit = words ? v : NULL};
    if (v->kind == SN_KIND_SITEMAP || !v->is_stored)
        return SN_LEADER_NEW;
    for (unsigned i = 0; words && i < SN_TRAP_LEVELS; i++) {
        sn_novelty *n = novelty_of(f, v, i);
        if (!n)
            continue;
        f->looking.text[i] = sn_novelty_text(n, words);
        leader = f->looking.text[i]           ? SN_LEADER_NEW
                 : v->leader == SN_LEADER_NEW ? SN_LEADER_UNKNOWN
                                              : SN_LEADER_REPEAT;
    }
    return leader;
}

void
sn_frontier_judge(sn_frontier *f)
{
    const sn_visit *v = f->looking.visit;

    f->looking.visit = NULL;
    for (unsigned i = 0; v && i < SN_TRAP_LEVELS; i++) {
        sn_novelty *n = novelty_of(f, v, i);
        if (n) /* plain words lead to plain words: their texts alone count */
            sn_novelty_page(
                n, &(sn_page_news){f->looking.text[i], i != WORDS && f->looking.leads[i]},
                v->again >> i & 1);
    }
}
