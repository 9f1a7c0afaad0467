/* SPDX-License-Identifier: Apache-2.0 */
/*
 * novelty.h - do the pages of a pattern still bring anything new?
 *
 * A page brings something new if it leads to a URL outside of its pattern that was not
 * known, or if at least a tenth of its triples of words were not seen on the pattern yet,
 * or nine tenths of its triples together with the next one. Triples that stand on more
 * than a quarter of the pages are the frame of all of them, and do not count.
 * A pattern repeats while at least 90 % of its last 200 pages brought nothing new. Then
 * its URLs are refused, with three exceptions that keep a verdict open:
 *
 *   - a probe: one URL of so many that are refused. The number doubles with every page
 *     that brings nothing and falls to a quarter with every page that brings something,
 *     so an endless trap is left for good and a pattern that is good again is seen.
 *   - a URL that differs from all that were asked for in more than an idle part: it is a
 *     page that only its session hides.
 *   - in the family of plain words, a URL that an honest page or a sitemap leads to, and
 *     some of those of whose leader nothing is known.
 *
 * Pages that pass by the second and third are not among those that are judged.
 *
 * The pages whose residue was asked for before are judged apart as well, by the same
 * rule: where only they repeat, only they are refused.
 *
 * The family of plain words is judged by other means, since honest sites repeat their own
 * texts under a few paths: a page repeats if nine tenths of its triples are common, which
 * is to say stand on 16 pages and on 1 of 128 pages of the site.
 *
 * In the family of names that recur a copy of a text counts as new, since six versions of
 * a documentation have the same names: it has the company of before and stands on few
 * pages. A choice out of a stock, as facets show it, has another company, and the same
 * names in another order make no copy. A short text says nothing.
 *
 *     n = sn_novelty_new(SN_NOVELTY_PATTERN);
 *     sn_text_news text = sn_novelty_text(n, words);
 *     sn_novelty_page(n, &(sn_page_news){.text = text}, &residues, again);
 *     if (sn_novelty_refuses(n, &residues, leader, look))
 *         …                                       the URL is not asked for
 *
 * Time    plays no part.
 * Memory  824 KiB of a pattern, twice that if its URLs have residues, 64 KiB of plain
 *         words; 64 KiB to begin with.
 * Threads one owner.
 */
#ifndef SN_NOVELTY_H
#define SN_NOVELTY_H

#include "base/bloom.h"
#include "base/count_min.h"
#include "text/trap.h"
#include "text/word_triples.h"

enum {
    SN_NOVELTY_LAST = 200,  /* pages that are looked at */
    SN_NOVELTY_FEWEST = 8,  /* pages that are enough for URLs in excess */
    SN_NOVELTY_SPACE = 32,  /* URLs from one probe to the next, at first */
    SN_NOVELTY_LEAVE = 500, /* URLs that pass by an exception and bring nothing */
    SN_NOVELTY_ALIKE = 64   /* kinds of leading pages that are told apart */
};

/* What is known of the page that leads to a URL. */
typedef enum sn_leader {
    SN_LEADER_UNKNOWN, /* nobody looked at it; or its text repeats, as that of a list of
                          links does, and its own leader is good */
    SN_LEADER_NEW,     /* its text was new; or it was a given URL or a sitemap */
    SN_LEADER_REPEAT
} sn_leader;

typedef enum sn_text_news {
    SN_TEXT_KNOWN,
    SN_TEXT_NEW,  /* a tenth of its triples */
    SN_TEXT_COPY, /* one of few, of names that recur: new if they are not the same */
    SN_TEXT_SHORT /* too short to say anything, of names that recur */
} sn_text_news;

typedef struct sn_page_news {
    sn_text_news text;
    bool leads; /* to a URL outside of the pattern that was not known */
} sn_page_news;

/* What the last pages brought. */
typedef struct sn_last_pages {
    uint8_t page[SN_NOVELTY_LAST];
    uint16_t fewest;         /* pages for a verdict */
    uint16_t n, at;          /* pages in it; where the next one goes */
    uint16_t n_new, n_texts; /* of them with something new; with a new text */
} sn_last_pages;

/* A part of URLs: the pages of URLs that differ from one that was asked for before in
 * this part alone. If they repeat, the part is idle. */
typedef struct sn_idle_part {
    uint64_t name; /* 0: none */
    sn_last_pages again;
} sn_idle_part;

/* What is known of the pages that look like the one that leads to a URL: the same title
 * and number of links. */
typedef struct sn_look_alike {
    uint16_t repeats, news;
} sn_look_alike;

/* Of whose pages? */
typedef enum sn_novelty_kind {
    SN_NOVELTY_PATTERN,
    SN_NOVELTY_WORDS, /* the family of plain words */
    SN_NOVELTY_NAMES, /* paths of names that recur: some copies of a text are no trap */
    SN_NOVELTY_EXCESS /* URLs of more segments or parameters than people make */
} sn_novelty_kind;

typedef struct sn_novelty {
    sn_novelty_kind kind;
    sn_bloom seen;                        /* triples; not of plain words */
    sn_bloom residues;                    /* of URLs that were asked for */
    sn_count_min *often;                  /* on how many pages triples stand */
    uint32_t pages;                       /* counted in `often` */
    sn_last_pages last;                   /* of all its pages */
    sn_idle_part parts[SN_TRAP_RESIDUES]; /* of URLs, in the order of their coming */
    uint32_t space, waited;               /* between probes; since the last one */
    uint32_t leave;
    unsigned next; /* SN_NOVELTY_PROBE …: the URL that starts next */
    sn_look_alike alike[SN_NOVELTY_ALIKE]; /* of plain words */
} sn_novelty;

sn_novelty *sn_novelty_new(sn_novelty_kind kind); /* NULL: no memory */
void sn_novelty_free(sn_novelty *n);

/* Is the text of a page new? The text is known from now on. */
sn_text_news sn_novelty_text(sn_novelty *n, const sn_word_triples *words);

/* The residues of a URL. */
typedef struct sn_residues {
    sn_trap_residue all[SN_TRAP_RESIDUES];
    unsigned n;
} sn_residues;

/* Besides the bits of residues: the URL passed a verdict, as a probe or by an exception.
 */
#define SN_NOVELTY_PROBE     0x100u
#define SN_NOVELTY_EXCEPTION 0x200u

/* A URL is asked for: its residues are known from now on. Returns a bit for each that was
 * known before. */
unsigned sn_novelty_start(sn_novelty *n, const sn_residues *r);

/* One page more has ended; `again` as sn_novelty_start said of it. */
void sn_novelty_page(sn_novelty *n, const sn_page_news *news, const sn_residues *r,
                     unsigned again);

/* Of plain words: a page with this look has ended. */
void sn_novelty_alike(sn_novelty *n, unsigned look, bool is_new);

/* Do at least 90 % of the last 200 pages bring nothing new? */
bool sn_novelty_repeats(const sn_novelty *n);

/* Is this URL refused, since pages like it bring nothing new? `look` is that of the page
 * that leads to it. */
bool sn_novelty_refuses(sn_novelty *n, const sn_residues *r, sn_leader leader,
                        unsigned look);

/* The pages that a refusal is about. */
const sn_last_pages *sn_novelty_verdict(const sn_novelty *n);

/* Is there a verdict, and it is that the pages bring something? */
bool sn_novelty_is_cleared(const sn_novelty *n);

/* Do its pages have texts of their own, as far as is known? */
bool sn_novelty_has_texts(const sn_novelty *n);

/* Do nearly all bring something? Then a sample of them is enough. */
bool sn_novelty_is_good(const sn_novelty *n);

size_t sn_novelty_memory(const sn_novelty *n);

#endif
