/* SPDX-License-Identifier: Apache-2.0 */
#include "crate/advisory.h"

#include <stdlib.h>
#include <string.h>

#include "screen/xalloc.h"

advisory *
advisory_new(const char *id)
{
    advisory *a = xalloc_zeroed(1, sizeof *a);

    a->tenths = -1;
    advisory_add_id(a, id);
    return a;
}

static void
free_texts(char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

void
advisory_free(advisory *a)
{
    if (!a)
        return;
    free_texts(a->ids, a->n_ids);
    free_texts(a->patched, a->n_patched);
    free(a->cvss);
    free(a->title);
    free(a);
}

static bool
has_id(const advisory *a, const char *id)
{
    for (size_t i = 0; i < a->n_ids; i++)
        if (strcmp(a->ids[i], id) == 0)
            return true;
    return false;
}

void
advisory_add_id(advisory *a, const char *id)
{
    if (has_id(a, id) || a->n_ids == ADVISORY_IDS)
        return;
    a->ids = xalloc_room(a->ids, a->n_ids, &a->ids_cap, sizeof *a->ids);
    a->ids[a->n_ids++] = xalloc_copy(id, strlen(id));
}

void
advisory_add_patched(advisory *a, const char *req)
{
    for (size_t i = 0; i < a->n_patched; i++)
        if (strcmp(a->patched[i], req) == 0)
            return;
    a->patched = xalloc_room(a->patched, a->n_patched, &a->patched_cap, sizeof(char *));
    a->patched[a->n_patched++] = xalloc_copy(req, strlen(req));
}

void
advisory_rate(advisory *a, const char *vector, size_t len)
{
    unsigned tenths;

    if (seine_cvss3_base(vector, len, &tenths) != SEINE_OK || (int)tenths <= a->tenths)
        return;
    a->tenths = (int)tenths;
    free(a->cvss);
    a->cvss = xalloc_copy(vector, len);
    if (seine_severity_of(tenths) > a->severity)
        a->severity = seine_severity_of(tenths);
}

static bool
shares_id(const advisory *a, const advisory *b)
{
    for (size_t i = 0; i < b->n_ids; i++)
        if (has_id(a, b->ids[i]))
            return true;
    return false;
}

/* RustSec's name is the one that Rust people know. */
static bool
is_better_name(const char *id, const char *than)
{
    return strncmp(id, "RUSTSEC-", 8) == 0 && strncmp(than, "RUSTSEC-", 8) != 0;
}

/* Moves what `from` says into `to`, and frees it. */
static void
merge(advisory *to, advisory *from)
{
    for (size_t i = 0; i < from->n_ids; i++)
        advisory_add_id(to, from->ids[i]);
    for (size_t i = 1; i < to->n_ids; i++)
        if (is_better_name(to->ids[i], to->ids[0])) {
            char *first = to->ids[0];

            to->ids[0] = to->ids[i];
            to->ids[i] = first;
        }
    for (size_t i = 0; i < from->n_patched; i++)
        advisory_add_patched(to, from->patched[i]);
    to->kinds |= from->kinds;
    if (from->severity > to->severity)
        to->severity = from->severity;
    if (from->tenths > to->tenths) {
        free(to->cvss);
        to->tenths = from->tenths;
        to->cvss = from->cvss;
        from->cvss = NULL;
    }
    if (!to->title) {
        to->title = from->title;
        from->title = NULL;
    }
    advisory_free(from);
}

void
advisory_list_give(advisory_list *list, advisory *give)
{
    for (size_t i = 0; i < list->count;) {
        if (!shares_id(list->items[i], give)) {
            i++;
            continue;
        }
        merge(list->items[i], give); /* it may share an id with others now */
        give = list->items[i];
        list->items[i] = list->items[--list->count];
        i = 0;
    }
    list->items = xalloc_room(list->items, list->count, &list->cap, sizeof *list->items);
    list->items[list->count++] = give;
}

void
advisory_list_fini(advisory_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        advisory_free(list->items[i]);
    free(list->items);
    *list = (advisory_list){0};
}

static bool
is_vulnerability(const advisory *a)
{
    return (a->kinds & ADVISORY_VULNERABILITY) != 0;
}

static int
by_severity(const void *x, const void *y)
{
    const advisory *a = *(const advisory *const *)x, *b = *(const advisory *const *)y;

    if (is_vulnerability(a) != is_vulnerability(b))
        return is_vulnerability(a) ? -1 : 1;
    if (a->severity != b->severity)
        return a->severity > b->severity ? -1 : 1;
    return strcmp(a->ids[0], b->ids[0]);
}

void
advisory_list_sort(advisory_list *list)
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, by_severity);
}

const char *
advisory_kind(const advisory *a)
{
    if (is_vulnerability(a))
        return "vulnerability";
    if (a->kinds & ADVISORY_UNSOUND)
        return "unsound";
    return a->kinds & ADVISORY_NOTICE ? "notice" : "unmaintained";
}

bool
advisory_is_listed(const advisory *a)
{
    return (a->kinds & ~(unsigned)ADVISORY_UNMAINTAINED) != 0;
}

audit_score
advisory_score(const advisory_list *list)
{
    static const unsigned costs[] = {20, 5, 15, 30, 50}; /* by seine_severity */
    audit_score s = {0, 100};
    unsigned cost = 0;

    for (size_t i = 0; i < list->count && cost < 100; i++) {
        const advisory *a = list->items[i];

        if (is_vulnerability(a))
            cost += costs[a->severity];
        else if (a->kinds & ADVISORY_UNSOUND)
            cost += 5;
    }
    for (size_t i = 0; i < list->count; i++)
        s.vulnerabilities += is_vulnerability(list->items[i]);
    s.hundredths = cost < 100 ? 100 - cost : 0;
    return s;
}

const advisory *
advisory_unmaintained(const advisory_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i]->kinds & ADVISORY_UNMAINTAINED)
            return list->items[i];
    return NULL;
}
