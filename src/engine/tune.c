/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/tune.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"

void
sn_tunes_init(sn_tunes *t)
{
    *t = (sn_tunes){.n = 0};
    pthread_mutex_init(&t->lock, NULL);
}

void
sn_tunes_fini(sn_tunes *t)
{
    pthread_mutex_destroy(&t->lock);
    sn_free(t->all);
}

static seine_err
append(sn_tunes *t, const sn_tune *tune)
{
    if (t->n == SN_TUNES_MOST)
        return SEINE_E_FULL;
    if (t->n == t->room) {
        size_t more = t->room ? t->room * 2 : 16;
        sn_tune *all = sn_realloc(t->all, more * sizeof *all);

        if (!all)
            return SEINE_E_NOMEM;
        t->all = all;
        t->room = more;
    }
    t->all[t->n++] = *tune;
    atomic_store_explicit(&t->shown, t->n, memory_order_release);
    return SEINE_OK;
}

seine_err
sn_tunes_put(sn_tunes *t, const sn_tune *tune)
{
    pthread_mutex_lock(&t->lock);
    seine_err e = append(t, tune);
    pthread_mutex_unlock(&t->lock);
    return e;
}

bool
sn_tunes_next(sn_tunes *t, size_t *at, sn_tune *out_tune)
{
    if (atomic_load_explicit(&t->shown, memory_order_acquire) == *at)
        return false;
    pthread_mutex_lock(&t->lock);
    *out_tune = t->all[(*at)++];
    pthread_mutex_unlock(&t->lock);
    return true;
}

bool
sn_tune_fits(const char *host, sn_str name)
{
    size_t n = strlen(host);
    const char *own = memmem(name.ptr, name.len, "://", 3);

    if (!own)
        return false;
    own += 3;
    size_t len = name.len - (size_t)(own - name.ptr);
    if (n > len || strncasecmp(host, own, n) != 0)
        return false;
    return n == len || (own[n] == ':' && memchr(own + n + 1, ':', len - n - 1) == NULL &&
                        memchr(own + n, ']', len - n) == NULL);
}
