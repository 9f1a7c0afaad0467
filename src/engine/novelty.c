/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/novelty.h"

#include "base/alloc.h"

enum {
    SOMETHING = 1, /* of a page in `last` */
    TEXT = 2,
    FEWEST = 16,      /* pages on which a common triple stands */
    SHARE = 128,      /* and one of so many pages of the site */
    HALVE_AT = 4096,  /* pages after which older ones count half */
    COUNTED = 32,     /* triples of a page that are counted */
    GOOD = 180,       /* of the last 200 pages bring something: a sample suffices */
    WIDEST = 1 << 20, /* between two probes */
    EARNED = 2        /* leave for a page that brought something */
};

sn_novelty *
sn_novelty_new(sn_novelty_kind kind)
{
    sn_novelty *n = sn_zalloc(sizeof *n);

    if (!n)
        return NULL;
    n->space = SN_NOVELTY_SPACE;
    n->leave = SN_NOVELTY_LEAVE;
    n->last.fewest = n->again.fewest =
        kind == SN_NOVELTY_EXCESS ? SN_NOVELTY_FEWEST : SN_NOVELTY_LAST;
    if (kind == SN_NOVELTY_WORDS && !(n->common = sn_zalloc(sizeof *n->common))) {
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
    sn_free(n->common);
    sn_free(n);
}

static bool
is_tenth(uint32_t part, uint32_t all)
{
    return all > 0 && part * 10 >= all;
}

/* Plain words: a tenth of the triples is not common. */
static bool
has_own_text(sn_novelty *n, const sn_word_triples *words)
{
    uint32_t all = words->n < COUNTED ? words->n : COUNTED, own = 0;

    if (++n->pages > HALVE_AT) {
        sn_count_min_halve(n->common);
        n->pages /= 2;
    }
    for (uint32_t i = 0; i < all; i++)
        own += sn_count_min_add(n->common, words->hash[i]) <= FEWEST + n->pages / SHARE;
    return is_tenth(own, all);
}

bool
sn_novelty_text(sn_novelty *n, const sn_word_triples *words)
{
    uint32_t fresh = 0;

    if (n->common)
        return has_own_text(n, words);
    for (uint32_t i = 0; i < words->n; i++)
        fresh += sn_bloom_add(&n->seen, words->hash[i]);
    return is_tenth(fresh, words->n);
}

/* Widens or narrows the space between probes, and grants leave. */
static void
adjust_probes(sn_novelty *n, bool is_new)
{
    if (!is_new) {
        n->space = n->space < WIDEST ? n->space * 2 : WIDEST;
        return;
    }
    n->space = n->space > 4 ? n->space / 4 : 1;
    n->leave += n->leave < SN_NOVELTY_LEAVE ? EARNED : 0;
}

static void
add_page(sn_last_pages *l, const sn_page_news *news)
{
    bool is_new = news->text || news->leads;
    uint8_t *page = &l->page[l->at];

    if (l->n < SN_NOVELTY_LAST) {
        l->n++;
    } else {
        l->n_new = (uint16_t)(l->n_new - (*page & SOMETHING));
        l->n_texts = (uint16_t)(l->n_texts - (*page & TEXT) / TEXT);
    }
    *page = (uint8_t)((is_new ? SOMETHING : 0) | (news->text ? TEXT : 0));
    l->n_new = (uint16_t)(l->n_new + is_new);
    l->n_texts = (uint16_t)(l->n_texts + news->text);
    l->at = (uint16_t)((l->at + 1) % SN_NOVELTY_LAST);
}

static bool
do_repeat(const sn_last_pages *l)
{
    return l->n >= l->fewest && l->n_new * 10 <= l->n;
}

void
sn_novelty_page(sn_novelty *n, const sn_page_news *news, bool again)
{
    if (do_repeat(&n->last) || (again && do_repeat(&n->again)))
        adjust_probes(n, news->text || news->leads);
    add_page(&n->last, news);
    if (again)
        add_page(&n->again, news);
}

bool
sn_novelty_repeats(const sn_novelty *n)
{
    return do_repeat(&n->last);
}

bool
sn_novelty_start(sn_novelty *n, uint64_t residue)
{
    return residue && !sn_bloom_add(&n->residues, residue);
}

/* A URL of a pattern that repeats: may it be a page that nobody has seen? */
static bool
may_be_unseen(const sn_novelty *n, uint64_t residue, sn_leader leader)
{
    if (n->common)
        return leader == SN_LEADER_UNKNOWN;
    return residue && !sn_bloom_has(&n->residues, residue);
}

static bool
takes_leave(sn_novelty *n)
{
    if (n->leave == 0)
        return false;
    n->leave--;
    return true;
}

/* One URL of so many is asked for in spite of the verdict. */
static bool
is_probe(sn_novelty *n)
{
    if (++n->waited < n->space)
        return false;
    n->waited = 0;
    return true;
}

bool
sn_novelty_refuses(sn_novelty *n, uint64_t residue, sn_leader leader)
{
    bool all = do_repeat(&n->last);

    if (!all && !(do_repeat(&n->again) && residue && sn_bloom_has(&n->residues, residue)))
        return false;
    if (n->common && leader == SN_LEADER_NEW)
        return false;
    if (all && may_be_unseen(n, residue, leader) && takes_leave(n))
        return false;
    return !is_probe(n);
}

bool
sn_novelty_is_cleared(const sn_novelty *n)
{
    return n->last.n >= n->last.fewest && !do_repeat(&n->last);
}

bool
sn_novelty_has_texts(const sn_novelty *n)
{
    return n->last.n < SN_NOVELTY_LAST || n->last.n_texts * 10 > n->last.n;
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
           (n->common ? sizeof *n->common : 0);
}
