/* SPDX-License-Identifier: Apache-2.0 */
#include "store/warc_seen.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/rng.h"

typedef struct sn_warc_item {
    sn_warc_first first;
    char *url;
    uint32_t next; /* index + 1 of the next in the chain; 0: none */
} item;

void
sn_warc_seen_init(sn_warc_seen *s, uint32_t max, uint64_t max_bytes)
{
    *s = (sn_warc_seen){.max = max, .max_bytes = max_bytes};
    sn_rng_secret(s->key, sizeof s->key);
}

void
sn_warc_seen_fini(sn_warc_seen *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        sn_free(s->items[(s->first + i) & (s->max - 1)].url);
    sn_free(s->items);
    sn_free(s->homes);
    *s = (sn_warc_seen){0};
}

/* The hash has a key: payloads whose SHA-1 share 16 bits are found in an instant, and
 * would all stand in one chain. */
static uint32_t *
home(const sn_warc_seen *s, const uint8_t sha1[20])
{
    return &s->homes[sn_siphash(s->key, sha1, 20) & (s->max - 1)];
}

const sn_warc_first *
sn_warc_seen_get(const sn_warc_seen *s, const uint8_t sha1[20])
{
    if (s->n == 0)
        return NULL;
    for (uint32_t at = *home(s, sha1); at; at = s->items[at - 1].next)
        if (memcmp(s->items[at - 1].first.sha1, sha1, 20) == 0)
            return &s->items[at - 1].first;
    return NULL;
}

static void
forget_oldest(sn_warc_seen *s)
{
    item *old = &s->items[s->first];
    uint32_t *link = home(s, old->first.sha1);

    while (*link != s->first + 1)
        link = &s->items[*link - 1].next;
    *link = old->next;
    s->bytes -= old->first.url.len;
    sn_free(SN_STEAL(old->url));
    s->first = (s->first + 1) & (s->max - 1);
    s->n--;
}

static seine_err
make_tables(sn_warc_seen *s)
{
    if (!s->items)
        s->items = sn_calloc(s->max, sizeof *s->items);
    if (!s->homes)
        s->homes = sn_calloc(s->max, sizeof *s->homes);
    return s->items && s->homes ? SEINE_OK : SEINE_E_NOMEM;
}

seine_err
sn_warc_seen_add(sn_warc_seen *s, const sn_warc_first *first)
{
    if (s->max == 0 || first->url.len > s->max_bytes)
        return SEINE_OK;
    if (make_tables(s) != SEINE_OK)
        return SEINE_E_NOMEM;
    char *url = sn_alloc(first->url.len + 1);
    if (!url)
        return SEINE_E_NOMEM;
    while (s->n == s->max || s->bytes + first->url.len > s->max_bytes)
        forget_oldest(s);
    if (first->url.len > 0)
        memcpy(url, first->url.ptr, first->url.len);

    uint32_t at = (s->first + s->n) & (s->max - 1), *link = home(s, first->sha1);
    s->items[at] = (item){*first, url, *link};
    s->items[at].first.url = (sn_str){url, first->url.len};
    *link = at + 1;
    s->n++;
    s->bytes += first->url.len;
    return SEINE_OK;
}
