/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record_filter.h"

#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "text/pattern.h"

enum { MOST = 1000 };

typedef struct word {
    char *type;       /* "application/pdf", "image/" for all images; NULL: a pattern */
    sn_pattern *code; /* NULL: a type */
} word;

struct sn_record_filter {
    size_t n;
    word all[];
};

/* "image/png", "image/ *" without the blank. */
static bool
is_type(sn_str s)
{
    size_t slashes = 0;

    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];

        slashes += c == '/';
        if (!sn_is_alpha(c) && !sn_is_digit(c) && !memchr("/+.-*", c, 5))
            return false;
        if (c == '*' && (i + 1 != s.len || i == 0 || s.ptr[i - 1] != '/'))
            return false;
    }
    return slashes == 1 && sn_is_alpha(s.ptr[0]) && s.ptr[s.len - 1] != '/';
}

static seine_err
read_word(const char *text, const char *member, word *out, seine_diag *diag)
{
    sn_str s = sn_str_of(text);
    seine_diag flaw = SEINE_DIAG;

    if (s.len > 0 && is_type(s)) {
        size_t n = s.len - (s.ptr[s.len - 1] == '*');

        out->type = sn_zalloc(n + 1);
        if (!out->type)
            return SEINE_E_NOMEM;
        memcpy(out->type, s.ptr, n);
        return SEINE_OK;
    }
    seine_err e = sn_pattern_new(s, &out->code, &flaw);
    return e == SEINE_E_CONFIG ? sn_diag_value(diag, member, s, flaw.text) : e;
}

seine_err
sn_record_filter_new(const char *const *list, const char *member,
                     sn_record_filter **out_filter, seine_diag *diag)
{
    size_t n = 0;
    seine_err e = SEINE_OK;

    while (list[n])
        if (++n > MOST)
            return sn_diag_option(diag, member, "more than %d patterns", MOST);
    sn_record_filter *f = sn_zalloc(sizeof *f + n * sizeof(word));
    if (!f)
        return SEINE_E_NOMEM;
    for (; e == SEINE_OK && f->n < n; f->n++)
        e = read_word(list[f->n], member, &f->all[f->n], diag);
    if (e == SEINE_OK)
        *out_filter = f;
    else
        sn_record_filter_free(f);
    return e;
}

void
sn_record_filter_free(sn_record_filter *f)
{
    for (size_t i = 0; f && i < f->n; i++) {
        sn_free(f->all[i].type);
        sn_pattern_free(f->all[i].code);
    }
    sn_free(f);
}

static bool
has_type(const char *want, sn_str type)
{
    sn_str w = sn_str_of(want);

    return w.len > 0 && w.ptr[w.len - 1] == '/' ? sn_str_starts_nocase(type, w)
                                                : sn_str_eq_nocase(type, w);
}

static bool
matches(const sn_pattern *code, sn_str url)
{
    sn_matcher m;
    bool found = true;

    if (sn_matcher_init(&m) != SEINE_OK)
        return true;
    if (sn_pattern_match(code, &m, url, &found) != SEINE_OK)
        found = true;
    sn_matcher_fini(&m);
    return found;
}

bool
sn_record_filter_has(const sn_record_filter *f, sn_str url, sn_str type)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->all[i].type ? has_type(f->all[i].type, type)
                           : matches(f->all[i].code, url))
            return true;
    return false;
}
