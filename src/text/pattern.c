/* SPDX-License-Identifier: Apache-2.0 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/pattern.h"

#include <pcre2.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/diag.h"

/*
 * PCRE2 bounds a match by its number of calls, but begins to count anew at each byte
 * where a match may begin, and counts no byte that a repetition passes. So a text of n
 * bytes could cost n times the bound. A short text has its share of the bound for each
 * beginning, which is exact enough and costs nothing. A long text, and a short one that
 * needs more than its share somewhere, is matched by a second code that reports each
 * step.
 */
enum { NESTED = 32, HEAP_KIB = 1024, SHORT = 1024 };

struct sn_pattern {
    pcre2_code *quick;
    pcre2_code *counted; /* calls count_step before each item */
    pcre2_code *valid;   /* likewise, for texts that are known to be UTF-8: the library
                            looks through others as a whole for every match */
};

static void *
take_memory(size_t n, void *arg)
{
    (void)arg;
    return sn_alloc(n);
}

static void
give(void *p, void *arg)
{
    (void)arg;
    sn_free(p);
}

static seine_err
wrong(seine_diag *diag, const char *what, size_t at)
{
    sn_diag_text(diag, "%s (at byte %zu)", what, at);
    return SEINE_E_CONFIG;
}

static seine_err
refuse_pattern(int code, size_t at, seine_diag *diag)
{
    PCRE2_UCHAR text[120];

    if (code == PCRE2_ERROR_NOMEMORY || code == 121) /* 121: no memory while compiling */
        return SEINE_E_NOMEM;
    if (pcre2_get_error_message(code, text, sizeof text) < 0)
        return wrong(diag, "not a regular expression", at);
    return wrong(diag, (const char *)text, at);
}

static seine_err
compile_one(sn_str text, uint32_t more, pcre2_compile_context *how, pcre2_code **out_code,
            seine_diag *diag)
{
    uint32_t flags = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C | more;
    size_t at;
    int why;

    pcre2_set_parens_nest_limit(how, NESTED);
    *out_code = pcre2_compile((PCRE2_SPTR)text.ptr, text.len, flags, &why, &at, how);
    return *out_code ? SEINE_OK : refuse_pattern(why, at, diag);
}

static seine_err
compile(sn_pattern *p, sn_str text, pcre2_compile_context *how, seine_diag *diag)
{
    uint32_t references = 0;
    uint32_t any = PCRE2_MATCH_INVALID_UTF, counted = PCRE2_AUTO_CALLOUT;
    seine_err e = compile_one(text, any, how, &p->quick, diag);

    if (e == SEINE_OK)
        e = compile_one(text, any | counted, how, &p->counted, diag);
    if (e == SEINE_OK)
        e = compile_one(text, counted, how, &p->valid, diag);
    if (e != SEINE_OK)
        return e;
    pcre2_pattern_info(p->quick, PCRE2_INFO_BACKREFMAX, &references);
    if (references == 0)
        return SEINE_OK;
    return wrong(diag, "back-references are not allowed", text.len);
}

seine_err
sn_pattern_new(sn_str text, sn_pattern **out_pattern, seine_diag *diag)
{
    if (text.len > SN_PATTERN_MAX)
        return wrong(diag, "longer than 1024 bytes", SN_PATTERN_MAX);
    sn_pattern *p = sn_zalloc(sizeof *p);
    pcre2_general_context *memory = pcre2_general_context_create(take_memory, give, NULL);
    pcre2_compile_context *how = memory ? pcre2_compile_context_create(memory) : NULL;
    seine_err e = SEINE_E_NOMEM;

    if (p && how)
        e = compile(p, text.ptr ? text : SN_STR(""), how, diag);
    pcre2_compile_context_free(how);
    pcre2_general_context_free(memory);
    if (e == SEINE_OK)
        *out_pattern = p;
    else
        sn_pattern_free(p);
    return e;
}

void
sn_pattern_free(sn_pattern *p)
{
    if (!p)
        return;
    pcre2_code_free(p->quick);
    pcre2_code_free(p->counted);
    pcre2_code_free(p->valid);
    sn_free(p);
}

seine_err
sn_matcher_init(sn_matcher *m)
{
    pcre2_general_context *memory = pcre2_general_context_create(take_memory, give, NULL);

    *m = (sn_matcher){0};
    if (memory) {
        m->block = pcre2_match_data_create(2, memory); /* the match, a group */
        m->context = pcre2_match_context_create(memory);
    }
    pcre2_general_context_free(memory);
    if (m->block && m->context)
        return SEINE_OK;
    sn_matcher_fini(m);
    return SEINE_E_NOMEM;
}

void
sn_matcher_fini(sn_matcher *m)
{
    pcre2_match_data_free(m->block);
    pcre2_match_context_free(m->context);
    *m = (sn_matcher){0};
}

uint32_t
sn_pattern_steps(size_t len)
{
    size_t most = (UINT32_MAX - SN_PATTERN_STEPS) / SN_PATTERN_STEPS_BYTE;

    return SN_PATTERN_STEPS + (uint32_t)(len < most ? len : most) * SN_PATTERN_STEPS_BYTE;
}

/* The steps of a match that are left. */
typedef struct budget {
    size_t left, at; /* at: where in the text the last step was */
} budget;

/* A step is an item of the expression, or 16 bytes that a repetition has passed. */
static int
count_step(pcre2_callout_block *now, void *arg)
{
    budget *b = arg;
    size_t moved = now->current_position > b->at ? now->current_position - b->at
                                                 : b->at - now->current_position;
    size_t steps = 1 + moved / 16;

    b->at = now->current_position;
    if (steps > b->left)
        return PCRE2_ERROR_CALLOUT;
    b->left -= steps;
    return 0;
}

/* PCRE2's count of pairs, or why there are none. */
static int
run_code(const pcre2_code *code, sn_matcher *m, sn_str text, sn_pattern_how how)
{
    pcre2_set_match_limit(m->context, how.steps);
    return pcre2_match(code, (PCRE2_SPTR)text.ptr, text.len, how.from,
                       how.is_utf8 ? PCRE2_NO_UTF_CHECK : 0, m->block, m->context);
}

static int
match_counted(const sn_pattern *p, sn_matcher *m, sn_str text, sn_pattern_how how)
{
    budget b = {.left = how.steps, .at = how.from};

    pcre2_set_callout(m->context, count_step, &b);
    int n = run_code(how.is_utf8 ? p->valid : p->counted, m, text, how);
    pcre2_set_callout(m->context, NULL, NULL); /* the budget ends here */
    m->left = (uint32_t)b.left;
    return n;
}

static int
match_quick(const sn_pattern *p, sn_matcher *m, sn_str text, sn_pattern_how how)
{
    uint32_t most = (uint32_t)(text.len - how.from + 1);

    m->left = how.steps > most ? how.steps - most : 0; /* nobody counts: its length */
    how.steps /= most;
    return run_code(p->quick, m, text, how);
}

static int
run_match(const sn_pattern *p, sn_matcher *m, sn_str text, sn_pattern_how how)
{
    int n = PCRE2_ERROR_MATCHLIMIT;

    if (!text.ptr)
        text = SN_STR("");
    pcre2_set_heap_limit(m->context, HEAP_KIB);
    if (text.len - how.from <= SHORT)
        n = match_quick(p, m, text, how);
    return n == PCRE2_ERROR_MATCHLIMIT ? match_counted(p, m, text, how) : n;
}

static seine_err
ended(int n, bool *out_found)
{
    *out_found = n >= 0;
    if (n >= 0 || n == PCRE2_ERROR_NOMATCH)
        return SEINE_OK;
    return n == PCRE2_ERROR_NOMEMORY ? SEINE_E_NOMEM : SEINE_E_PATTERN_BUDGET;
}

seine_err
sn_pattern_match(const sn_pattern *p, sn_matcher *m, sn_str text, bool *out_found)
{
    sn_pattern_how how = {.steps = sn_pattern_steps(text.len)};

    return ended(run_match(p, m, text, how), out_found);
}

seine_err
sn_pattern_find(const sn_pattern *p, sn_matcher *m, sn_str text, sn_pattern_how how,
                sn_match *out_match, bool *out_found)
{
    int n = run_match(p, m, text, how);
    seine_err e = ended(n, out_found);
    uint32_t groups = 0;

    if (e != SEINE_OK || !*out_found)
        return e;
    const size_t *pair = pcre2_get_ovector_pointer(m->block);

    *out_match = (sn_match){pair[0], pair[1], sn_str_slice(text, pair[0], pair[1])};
    pcre2_pattern_info(p->quick, PCRE2_INFO_CAPTURECOUNT, &groups);
    if (groups == 0)
        return SEINE_OK;
    /* n is 0 if there are more groups than pairs, and 1 if the first took no part. */
    bool took_part = n != 1 && pair[2] != PCRE2_UNSET && pair[2] <= pair[3];
    out_match->group = took_part ? sn_str_slice(text, pair[2], pair[3]) : SN_STR("");
    return SEINE_OK;
}
