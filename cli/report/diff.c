/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff.h"

#include <stdlib.h>
#include <string.h>

#include <seine/seen.h>

#include "screen/textbuf.h"
#include "screen/xalloc.h"

enum {
    NAMES = 255,  /* outcomes that are told apart; the last is "others" */
    TITLE = 160,  /* bytes of an old title that are kept */
    FIRST = 1024, /* slots */
};

struct diff {
    unsigned fields;
    seine_seen *seen; /* makes prints that nobody can guess */
    diff_url *urls;
    size_t n, cap;
    uint32_t *slots; /* a hash table: 0 is free, else 1 + place in urls */
    size_t n_slots;
    entry_name *names;
    size_t n_names;
    textbuf titles; /* of A, each ended by a zero */
    latency latency[2];
    diff_side side; /* that is read … */
    uint32_t seq;   /* … and how many records were */
};

const char *
diff_field_name(diff_field f)
{
    static const char *const names[DIFF_FIELDS] = {"outcome", "status", "title", "length",
                                                   "target",  "sha256", "data"};

    return names[f];
}

const char *
diff_kind_name(diff_kind k)
{
    static const char *const names[DIFF_KINDS] = {"added",  "removed", "changed",
                                                  "slower", "faster",  "same"};

    return names[k];
}

diff *
diff_new(unsigned fields)
{
    diff *d = xalloc_zeroed(1, sizeof *d);
    seine_seen_opts o = SEINE_SEEN_OPTS;

    d->fields = fields;
    d->n_slots = FIRST;
    d->slots = xalloc_zeroed(d->n_slots, sizeof *d->slots);
    d->names = xalloc_zeroed(NAMES, sizeof *d->names);
    if (seine_seen_new(&o, &d->seen) != SEINE_OK)
        d->seen = NULL;
    return d;
}

void
diff_free(diff *d)
{
    if (!d)
        return;
    seine_seen_free(d->seen);
    free(d->urls);
    free(d->slots);
    free(d->names);
    textbuf_free(&d->titles);
    free(d);
}

/* Prints */

static uint64_t
print_of(const diff *d, seine_view text)
{
    return text.len ? seine_seen_print(d->seen, text.ptr, text.len) : 0;
}

static uint32_t
short_print(const diff *d, seine_view text)
{
    uint64_t print = print_of(d, text);

    return (uint32_t)(print ^ print >> 32);
}

/* The table */

static size_t
slot_of(const diff *d, uint64_t key)
{
    size_t at = key & (d->n_slots - 1);

    while (d->slots[at] && d->urls[d->slots[at] - 1].key != key)
        at = (at + 1) & (d->n_slots - 1);
    return at;
}

static void
grow(diff *d)
{
    free(d->slots);
    d->n_slots *= 2;
    d->slots = xalloc_zeroed(d->n_slots, sizeof *d->slots);
    for (size_t i = 0; i < d->n; i++)
        d->slots[slot_of(d, d->urls[i].key)] = (uint32_t)(i + 1);
}

static diff_url *
url_of(diff *d, uint64_t key)
{
    size_t at = slot_of(d, key);

    if (d->slots[at])
        return &d->urls[d->slots[at] - 1];
    if (d->n + 1 > d->n_slots / 2) {
        grow(d);
        at = slot_of(d, key);
    }
    d->urls = xalloc_room(d->urls, d->n, &d->cap, sizeof *d->urls);
    d->urls[d->n] = (diff_url){.key = key};
    d->slots[at] = (uint32_t)++d->n;
    return &d->urls[d->n - 1];
}

/* Taking */

static entry_name
outcome_of(const entry *e)
{
    entry_name out = {"skip "};

    if (e->kind == ENTRY_SKIP) {
        entry_name why = entry_word(e->error);

        memcpy(out.text + 5, why.text, sizeof out.text - 6);
        return out;
    }
    return e->is_ok ? (entry_name){"ok"} : entry_failure(e);
}

static uint8_t
intern(diff *d, entry_name name)
{
    size_t i = 0;

    while (i < d->n_names && strcmp(d->names[i].text, name.text) != 0)
        i++;
    if (i == NAMES)
        return NAMES - 1;
    if (i == d->n_names)
        d->names[d->n_names++] = i + 1 < NAMES ? name : (entry_name){"others"};
    return (uint8_t)i;
}

/* Keeps a title of A. What comes behind 4 GB of titles is not kept. */
static uint32_t
keep_title(diff *d, seine_view title)
{
    size_t at = d->titles.len, n = title.len < TITLE ? title.len : TITLE;

    if (n == 0 || at >= UINT32_MAX - TITLE - 2)
        return 0;
    while (n < title.len && n > 0 && (title.ptr[n] & 0xc0) == 0x80) /* whole characters */
        n--;
    textbuf_add(&d->titles, title.ptr, n);
    textbuf_add(&d->titles, "", 1);
    return (uint32_t)(at + 1);
}

static seine_view
key_of(const entry *e)
{
    return e->key.len ? e->key : e->url;
}

static bool
is_compared(const entry *e)
{
    return (e->kind == ENTRY_RESULT || e->kind == ENTRY_SKIP) && key_of(e).len > 0;
}

void
diff_take(diff *d, diff_side side, const entry *e)
{
    seine_span took = entry_latency(e) / 1000;

    if (!is_compared(e))
        return;
    if (d->side != side)
        diff_again(d, side);
    diff_url *u = url_of(d, print_of(d, key_of(e)));
    u->side[side] = (diff_facts){
        .length = e->bytes_body,
        .seq = ++d->seq,
        .title = short_print(d, e->title),
        .target = short_print(d, e->final_url),
        .sha256 = short_print(d, e->sha256),
        .data = short_print(d, e->data),
        .took_us = took < UINT32_MAX ? (uint32_t)took : UINT32_MAX,
        .status = (uint16_t)(e->status < 1000 ? e->status : 999),
        .outcome = intern(d, outcome_of(e)),
        .has_sha256 = e->sha256.len > 0,
    };
    if (side == DIFF_A)
        u->title = keep_title(d, e->title);
    if (e->attempts > 0 && e->has_times)
        latency_add(&d->latency[side], entry_latency(e));
}

void
diff_again(diff *d, diff_side side)
{
    d->side = side;
    d->seq = 0;
}

const diff_url *
diff_next(diff *d, const entry *e)
{
    if (!is_compared(e))
        return NULL;
    d->seq++;
    size_t at = slot_of(d, print_of(d, key_of(e)));
    const diff_url *u = d->slots[at] ? &d->urls[d->slots[at] - 1] : NULL;
    return u && u->side[d->side].seq == d->seq ? u : NULL;
}

/* Comparing */

unsigned
diff_fields_of(const diff *d, const diff_url *u)
{
    const diff_facts *a = &u->side[DIFF_A], *b = &u->side[DIFF_B];
    bool has_both = a->has_sha256 && b->has_sha256;
    unsigned out = 0;

    out |= (unsigned)(a->outcome != b->outcome) << DIFF_OUTCOME;
    out |= (unsigned)(a->status != b->status) << DIFF_STATUS;
    out |= (unsigned)(a->title != b->title) << DIFF_TITLE;
    out |= (unsigned)(a->length != b->length) << DIFF_LENGTH;
    out |= (unsigned)(a->target != b->target) << DIFF_TARGET;
    out |= (unsigned)(has_both && a->sha256 != b->sha256) << DIFF_SHA256;
    out |= (unsigned)(a->data != b->data) << DIFF_DATA;
    return out & d->fields;
}

static bool
is_much_longer(uint32_t longer, uint32_t shorter)
{
    return shorter > 0 && longer / 2 >= shorter && longer - shorter >= 100000;
}

diff_kind
diff_kind_of(const diff *d, const diff_url *u)
{
    const diff_facts *a = &u->side[DIFF_A], *b = &u->side[DIFF_B];

    if (a->seq == 0)
        return DIFF_ADDED;
    if (b->seq == 0)
        return DIFF_REMOVED;
    if (diff_fields_of(d, u) != 0)
        return DIFF_CHANGED;
    if (is_much_longer(b->took_us, a->took_us))
        return DIFF_SLOWER;
    return is_much_longer(a->took_us, b->took_us) ? DIFF_FASTER : DIFF_SAME;
}

diff_counts
diff_count(const diff *d)
{
    diff_counts out = {.kinds = {0}};

    for (size_t i = 0; i < d->n; i++) {
        diff_kind kind = diff_kind_of(d, &d->urls[i]);
        unsigned fields = kind == DIFF_CHANGED ? diff_fields_of(d, &d->urls[i]) : 0;

        out.kinds[kind]++;
        for (int f = 0; f < DIFF_FIELDS; f++)
            out.fields[f] += fields >> f & 1;
    }
    return out;
}

const latency *
diff_latency(const diff *d, diff_side side)
{
    return &d->latency[side];
}

const char *
diff_outcome(const diff *d, const diff_url *u, diff_side side)
{
    return u->side[side].seq ? d->names[u->side[side].outcome].text : "";
}

const char *
diff_old_title(const diff *d, const diff_url *u)
{
    return u->title ? d->titles.text + u->title - 1 : "";
}
