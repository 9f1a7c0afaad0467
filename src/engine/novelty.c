/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/novelty.h"

#include "base/alloc.h"

enum {
    SOMETHING = 1, /* of a page in `last` */
    TEXT = 2,
    FEWEST = 16,      /* pages on which a common triple stands */
    SHARE = 128,      /* and one of so many pages of the site */
    FEW_FRAMED = 8,   /* pages on which a triple of the frame stands */
    FRAME = 4,        /* and one of so many pages of the pattern */
    HALVE_AT = 4096,  /* pages after which older ones count half */
    COUNTED = 32,     /* triples of a page that are counted */
    SAMPLED = 4,      /* times, if the page stands for others that nobody looks at */
    GOOD = 180,       /* of the last 200 pages bring something: a sample suffices */
    WIDEST = 1 << 20, /* between two probes */
    EARNED = 4,       /* leave for a page that brought something */
    FEW_AGAIN = 20,   /* pages that make a part seem idle */
    FEW_ALIKE = 10,   /* pages for a verdict on those that look alike */
    MANY_ALIKE = 1000,
    FEWEST_PAIRS = 8 /* that say something of a text */
};

#define PAIR UINT64_C(0x9e3779b97f4a7c15) /* so that no pair is a triple */

sn_novelty *
sn_novelty_new(sn_novelty_kind kind)
{
    sn_novelty *n = sn_zalloc(sizeof *n);

    if (!n)
        return NULL;
    n->space = SN_NOVELTY_SPACE;
    n->leave = SN_NOVELTY_LEAVE;
    n->last.fewest = kind == SN_NOVELTY_EXCESS ? SN_NOVELTY_FEWEST : SN_NOVELTY_LAST;
    n->kind = kind;
    if (!(n->often = sn_zalloc(sizeof *n->often))) {
        sn_free(n);
        return NULL;
    }
    return n;
}

void
sn_novelty_free(sn_novelty *n)
{
    if (!n)
        return;
    sn_bloom_fini(&n->seen);
    sn_bloom_fini(&n->residues);
    sn_free(n->often);
    sn_free(n);
}

static bool
is_tenth(uint32_t part, uint32_t all)
{
    return all > 0 && part * 10 >= all;
}

/* One page more whose triples are counted. Returns how often. */
static unsigned
count_page(sn_novelty *n)
{
    unsigned times = n->kind == SN_NOVELTY_WORDS && sn_novelty_is_good(n) ? SAMPLED : 1;

    n->pages += times;
    if (n->pages > HALVE_AT) {
        sn_count_min_halve(n->often);
        n->pages /= 2;
    }
    return times;
}

static uint32_t
count_triple(sn_novelty *n, uint64_t hash, unsigned times)
{
    uint32_t count = 0;

    while (times-- > 0)
        count = sn_count_min_add(n->often, hash);
    return count;
}

/* Does a triple that stands on so many pages belong to what frames all of them: menus,
 * terms, the words of a template? A frame says nothing of a page, however long it is. */
static bool
is_frame(const sn_novelty *n, uint32_t count)
{
    return count >= FEW_FRAMED && count * FRAME > n->pages;
}

static bool
is_few(const sn_novelty *n, uint32_t count)
{
    return count <= FEWEST + n->pages / SHARE;
}

/* Plain words: a tenth of the triples inside of the frame is not common. */
static sn_text_news
judge_words(sn_novelty *n, const sn_word_triples *words, unsigned times)
{
    uint32_t all = words->n < COUNTED ? words->n : COUNTED, inside = 0, own = 0;

    for (uint32_t i = 0; i < all; i++) {
        uint32_t count = count_triple(n, words->hash[i], times);
        inside += !is_frame(n, count);
        own += is_few(n, count);
    }
    return is_tenth(own, inside) ? SN_TEXT_NEW : SN_TEXT_KNOWN;
}

/* Counts the pairs of the text that were not seen: each triple with the next one of the
 * page. */
static uint32_t
fresh_pairs(sn_novelty *n, const sn_word_triples *words)
{
    uint32_t fresh = 0;

    for (uint32_t i = 0; i + 1 < words->n; i++)
        fresh +=
            sn_bloom_add(&n->seen, (words->hash[i] ^ PAIR) * 31 + words->hash[i + 1]);
    return fresh;
}

/* Where a site has few words, all triples are known after some thousands of pages, and
 * texts still differ. Then the company of the triples tells: nine tenths of the pairs are
 * new in a text of its own; a page that repeats another one, or shows some of a stock of
 * things, has the company of before. */
static bool
is_new_company(uint32_t fresh, const sn_word_triples *words)
{
    return words->n > FEWEST_PAIRS && fresh * 10 >= (words->n - 1) * 9;
}

sn_text_news
sn_novelty_text(sn_novelty *n, const sn_word_triples *words)
{
    uint32_t fresh = 0, inside = 0, few = 0;
    unsigned times = count_page(n);

    if (n->kind == SN_NOVELTY_WORDS)
        return judge_words(n, words, times);
    for (uint32_t i = 0; i < words->n; i++) {
        uint32_t count = count_triple(n, words->hash[i], times);
        inside += !is_frame(n, count);
        few += is_few(n, count);
        fresh += sn_bloom_add(&n->seen, words->hash[i]);
    }
    uint32_t pairs = fresh_pairs(n, words);
    if (is_tenth(fresh, inside) || is_new_company(pairs, words))
        return SN_TEXT_NEW;
    if (n->kind != SN_NOVELTY_NAMES || !is_tenth(few, inside))
        return SN_TEXT_KNOWN;
    if (inside < FEWEST_PAIRS)
        return SN_TEXT_SHORT;
    return pairs * 2 < inside ? SN_TEXT_COPY : SN_TEXT_KNOWN;
}

/* Grants leave for a page of a pattern that is refused; a probe widens or narrows the
 * space to the next one. */
static void
adjust_leave(sn_novelty *n, bool is_new, bool is_probe)
{
    if (is_new)
        n->leave += EARNED;
    if (is_probe && is_new)
        n->space = n->space > 4 ? n->space / 4 : 1;
    else if (is_probe)
        n->space = n->space < WIDEST ? n->space * 2 : WIDEST;
}

static void
add_page(sn_last_pages *l, bool has_text, bool is_new)
{
    uint8_t *page = &l->page[l->at];

    if (l->n < SN_NOVELTY_LAST) {
        l->n++;
    } else {
        l->n_new = (uint16_t)(l->n_new - (*page & SOMETHING));
        l->n_texts = (uint16_t)(l->n_texts - (*page & TEXT) / TEXT);
    }
    *page = (uint8_t)((is_new ? SOMETHING : 0) | (has_text ? TEXT : 0));
    l->n_new = (uint16_t)(l->n_new + is_new);
    l->n_texts = (uint16_t)(l->n_texts + has_text);
    l->at = (uint16_t)((l->at + 1) % SN_NOVELTY_LAST);
}

static bool
do_repeat(const sn_last_pages *l)
{
    return l->n >= l->fewest && l->n_new * 10 <= l->n;
}

/* The part of that name; NULL: there is none, and no room to make it. */
static sn_idle_part *
part_of(sn_novelty *n, uint64_t name, bool make)
{
    for (unsigned i = 0; i < SN_TRAP_RESIDUES; i++) {
        sn_idle_part *p = &n->parts[i];

        if (p->name == 0 && make) {
            p->name = name;
            p->again.fewest = SN_NOVELTY_LAST;
        }
        if (p->name == name)
            return p;
    }
    return NULL;
}

void
sn_novelty_page(sn_novelty *n, const sn_page_news *news, const sn_residues *r,
                unsigned again)
{
    bool is_refused = do_repeat(&n->last);
    bool has_text =
        news->text == SN_TEXT_NEW || (news->text == SN_TEXT_COPY && !(again & 1));
    bool is_new = has_text || news->leads;

    if (news->text == SN_TEXT_SHORT && !is_new && !(again & 1))
        return;
    if (again & SN_NOVELTY_EXCEPTION) { /* says nothing of those that are refused */
        adjust_leave(n, is_new, false);
        return;
    }
    for (unsigned i = 0; i < r->n; i++) {
        sn_idle_part *p = again >> i & 1 ? part_of(n, r->all[i].part, true) : NULL;
        if (!p)
            continue;
        is_refused |= do_repeat(&p->again);
        add_page(&p->again, has_text, is_new);
    }
    if (is_refused)
        adjust_leave(n, is_new, again & SN_NOVELTY_PROBE);
    add_page(&n->last, has_text, is_new);
}

void
sn_novelty_alike(sn_novelty *n, unsigned look, bool is_new)
{
    sn_look_alike *a = &n->alike[look % SN_NOVELTY_ALIKE];

    if (a->repeats + a->news >= MANY_ALIKE) {
        a->repeats /= 2;
        a->news /= 2;
    }
    a->repeats = (uint16_t)(a->repeats + !is_new);
    a->news = (uint16_t)(a->news + is_new);
}

bool
sn_novelty_repeats(const sn_novelty *n)
{
    return do_repeat(&n->last);
}

/* Residues of all parts share one filter. */
static uint64_t
key_of(const sn_trap_residue *r)
{
    return r->hash ^ r->part * UINT64_C(0x9e3779b97f4a7c15);
}

unsigned
sn_novelty_start(sn_novelty *n, const sn_residues *r)
{
    unsigned again = n->next;

    n->next = 0;
    for (unsigned i = 0; i < r->n; i++)
        again |= (unsigned)!sn_bloom_add(&n->residues, key_of(&r->all[i])) << i;
    return again;
}

/* What the parts of a URL say. */
typedef struct parts_say {
    bool again;  /* it differs in an idle part alone from one that was asked for */
    bool unseen; /* it differs in more than an idle part from all of them */
} parts_say;

/* To fetch a page too much is no loss, so that fewer pages tell. */
static bool
seems_idle(const sn_idle_part *p)
{
    return p->again.n >= FEW_AGAIN && p->again.n_new * 10 <= p->again.n;
}

static parts_say
ask_parts(sn_novelty *n, const sn_residues *r)
{
    parts_say say = {false, r->n == 1 && !sn_bloom_has(&n->residues, key_of(r->all))};

    for (unsigned i = 0; i < r->n; i++) {
        const sn_idle_part *p = part_of(n, r->all[i].part, false);
        if (!p)
            continue;
        if (!sn_bloom_has(&n->residues, key_of(&r->all[i])))
            say.unseen |= seems_idle(p);
        else
            say.again |= do_repeat(&p->again);
    }
    return say;
}

/* What is to be thought of the page that leads to a URL of plain words: of one that
 * nobody looked at, what those that look alike have brought. */
static sn_leader
judge_leader(const sn_novelty *n, sn_leader leader, unsigned look)
{
    const sn_look_alike *a = &n->alike[look % SN_NOVELTY_ALIKE];

    if (leader != SN_LEADER_UNKNOWN || a->repeats + a->news < FEW_ALIKE)
        return leader;
    return a->news * 10 <= a->repeats + a->news ? SN_LEADER_REPEAT : SN_LEADER_UNKNOWN;
}

static bool
takes_leave(sn_novelty *n)
{
    if (n->leave == 0)
        return false;
    n->leave--;
    n->next = SN_NOVELTY_EXCEPTION;
    return true;
}

/* One URL of so many is asked for in spite of the verdict. */
static bool
is_probe(sn_novelty *n)
{
    if (++n->waited < n->space)
        return false;
    n->waited = 0;
    n->next = SN_NOVELTY_PROBE;
    return true;
}

bool
sn_novelty_refuses(sn_novelty *n, const sn_residues *r, sn_leader leader, unsigned look)
{
    bool all = do_repeat(&n->last);
    parts_say say = ask_parts(n, r);

    if (!all && !say.again)
        return false;
    if (n->kind == SN_NOVELTY_WORDS)
        say.unseen |= judge_leader(n, leader, look) != SN_LEADER_REPEAT;
    else if (n->kind == SN_NOVELTY_NAMES)
        say.unseen = false; /* each combination is one that nobody has seen */
    if (say.unseen && takes_leave(n))
        return false;
    return !is_probe(n);
}

const sn_last_pages *
sn_novelty_verdict(const sn_novelty *n)
{
    for (unsigned i = 0; i < SN_TRAP_RESIDUES && !do_repeat(&n->last); i++)
        if (do_repeat(&n->parts[i].again) && n->parts[i].name)
            return &n->parts[i].again;
    return &n->last;
}

bool
sn_novelty_is_cleared(const sn_novelty *n)
{
    return n->last.n >= n->last.fewest && !do_repeat(&n->last);
}

bool
sn_novelty_has_texts(const sn_novelty *n)
{
    return n->last.n == 0 || n->last.n_texts * 10 > n->last.n;
}

bool
sn_novelty_is_good(const sn_novelty *n)
{
    return n->last.n == SN_NOVELTY_LAST && n->last.n_new > GOOD;
}

size_t
sn_novelty_memory(const sn_novelty *n)
{
    return sizeof *n + sn_bloom_memory(&n->seen) + sn_bloom_memory(&n->residues) +
           sizeof *n->often;
}
