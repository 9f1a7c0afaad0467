/* SPDX-License-Identifier: Apache-2.0 */
#include "failing.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <seine/alloc.h>

#include "check.h"

static atomic_long calls, out, fail_at; /* fail_at 0: never */
static _Atomic int64_t bytes, peak;
static atomic_bool fail_rest, failed;

static bool
refuse(void)
{
    long n = ++calls, at = fail_at;

    if (at == 0 || (fail_rest ? n < at : n != at))
        return false;
    failed = true;
    return true;
}

static void
note_peak(void)
{
    int64_t now = bytes, most = peak;

    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
        continue;
}

static void *
get(size_t n, void *arg)
{
    (void)arg;
    void *p = refuse() ? NULL : malloc(n);
    if (p) {
        out++;
        bytes += (int64_t)malloc_usable_size(p);
        note_peak();
    }
    return p;
}

static void *
resize(void *p, size_t n, void *arg)
{
    if (!p)
        return get(n, arg);
    if (refuse())
        return NULL;
    int64_t before = (int64_t)malloc_usable_size(p);
    void *q = realloc(p, n);
    if (q)
        bytes += (int64_t)malloc_usable_size(q) - before;
    note_peak();
    return q;
}

static void
put(void *p, void *arg)
{
    (void)arg;
    if (!p)
        return;
    out--;
    bytes -= (int64_t)malloc_usable_size(p);
    free(p);
}

static void *
map(size_t n, void *arg)
{
    (void)arg;
    if (refuse())
        return NULL;
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    out++;
    bytes += (int64_t)n;
    note_peak();
    return p;
}

static void
unmap(void *p, size_t n, void *arg)
{
    (void)arg;
    out--;
    bytes -= (int64_t)n;
    munmap(p, n);
}

void
count_begin(void)
{
    static const seine_alloc counting = {get, resize, put, map, unmap, NULL};

    calls = out = 0;
    bytes = peak = 0;
    fail_at = 0;
    CHECK_EQ(seine_set_alloc(&counting), SEINE_OK);
}

long
count_out(void)
{
    return out;
}

long
count_calls(void)
{
    return calls;
}

int64_t
count_bytes(void)
{
    return bytes;
}

int64_t
count_peak(void)
{
    return peak;
}

void
count_end(void)
{
    CHECK_EQ(count_out(), 0);
    CHECK_EQ(count_bytes(), 0); /* pages go back whole */
    fail_at = 0;
    CHECK_EQ(seine_set_alloc(NULL), SEINE_OK);
}

fail_round
fail_begin(void)
{
    return (fail_round){0};
}

bool
fail_more(fail_round *r)
{
    if (r->n > 0) {
        bool again = failed;

        count_end();
        if (!again || r->n > 100000) {
            CHECK(r->n > 1); /* something was allocated at all */
            return false;
        }
    }
    if (r->n == 0 || r->rest) {
        r->n++;
        r->rest = false;
    } else {
        r->rest = true;
    }
    count_begin();
    failed = false;
    fail_rest = r->rest;
    fail_at = r->n;
    return true;
}

bool
fail_hit(void)
{
    return failed;
}
