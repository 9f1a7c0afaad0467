/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/ledger.h"

#include "base/alloc.h"

#define HITS   63 /* low bits: how often */
#define SERVED 64

void
snc_ledger_reset(snc_ledger *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->books[i].pages)
            sn_pages_free(l->books[i].pages, (size_t)l->books[i].site.pages);
    *l = (snc_ledger){.count = 0};
}

static bool
same(const snc_site *a, const snc_site *b)
{
    return a->seed == b->seed && a->pages == b->pages && a->fan == b->fan &&
           a->hosts == b->hosts && a->dead == b->dead && a->dup == b->dup &&
           a->broken == b->broken && a->redir == b->redir && a->robots == b->robots &&
           a->fail == b->fail && a->flaky == b->flaky && a->sitemap == b->sitemap &&
           a->trap == b->trap;
}

snc_book *
snc_ledger_book(snc_ledger *l, const snc_site *s)
{
    for (size_t i = 0; i < l->count; i++)
        if (same(&l->books[i].site, s))
            return &l->books[i];
    if (l->count == SNC_LEDGER_SITES) {
        l->dropped++;
        return NULL;
    }
    snc_book *book = &l->books[l->count++];
    *book = (snc_book){.site = *s};
    if (s->pages <= SNC_LEDGER_BYTES - l->bytes)
        book->pages = sn_pages((size_t)s->pages);
    if (book->pages)
        l->bytes += s->pages;
    else
        l->dropped++;
    return book;
}

uint64_t
snc_book_hit(snc_book *book, uint64_t n)
{
    if (!book || !book->pages)
        return 1;
    book->hits++;
    if (book->pages[n] & SERVED)
        book->again++;
    if ((book->pages[n] & HITS) < HITS)
        book->pages[n]++;
    return book->pages[n] & HITS;
}

void
snc_book_served(snc_book *book, uint64_t n)
{
    if (!book || !book->pages || book->pages[n] & SERVED)
        return;
    book->pages[n] |= SERVED;
    book->served++;
}

snc_book_sum
snc_book_sum_up(const snc_book *book)
{
    snc_book_sum sum = {.total = 0};

    for (uint64_t n = 0; n < book->site.pages; n++) {
        snc_fate fate = snc_site_page(&book->site, n).fate;

        if (fate != SNC_FATE_PAGE && fate != SNC_FATE_DUPLICATE)
            continue;
        sum.total++;
        if (book->pages && book->pages[n] & SERVED)
            sum.served++;
        else if (sum.missing_count < 10)
            sum.missing[sum.missing_count++] = n;
    }
    return sum;
}
