/* SPDX-License-Identifier: Apache-2.0 */
#include "text/jsonptr_scan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "seine/jsonptr.h"
#include "seine/plumbing.h"

/* Pointers of a set, a bit each. */
typedef struct marks {
    uint64_t bits[SN_JSONPTR_POINTERS / 64];
} marks;

/* An array or object that is open and that a pointer leads to or into. */
typedef struct level {
    const char *from;
    marks ends;      /* pointers whose value it is */
    marks inside;    /* pointers that lead to something in it */
    marks every;     /* of these: to every element */
    uint64_t beyond; /* an element from here on is only `every`'s */
    uint64_t index;  /* of the next element */
    bool is_array;
} level;

/* What the pointers say at one depth, found out once: so a value costs as much with many
 * pointers as with one, unless it belongs to several. */
typedef struct rank {
    marks ends;      /* pointers that are so long */
    marks every;     /* pointers whose next token is "-" */
    uint64_t beyond; /* above the indexes that stand here */
} rank;

typedef struct walk {
    const sn_jsonptr_set *set;
    size_t words; /* of marks that are used */
    const char *at, *end;
    rank ranks[SEINE_JSON_DEPTH + 2];
    level levels[SEINE_JSON_DEPTH + 1];
    size_t depth;
    sn_jsonptr_fn fn;
    void *arg;
} walk;

static bool
is_empty(const walk *w, const marks *m)
{
    uint64_t any = 0;

    for (size_t i = 0; i < w->words; i++)
        any |= m->bits[i];
    return any == 0;
}

static void
mark(marks *m, size_t i)
{
    m->bits[i / 64] |= UINT64_C(1) << i % 64;
}

static marks
both(const walk *w, const marks *a, const marks *b)
{
    marks m = {{0}};

    for (size_t i = 0; i < w->words; i++)
        m.bits[i] = a->bits[i] & b->bits[i];
    return m;
}

static marks
without(const walk *w, const marks *a, const marks *b)
{
    marks m = {{0}};

    for (size_t i = 0; i < w->words; i++)
        m.bits[i] = a->bits[i] & ~b->bits[i];
    return m;
}

/* The pointers of a set, one after the other. */
typedef struct cursor {
    uint64_t rest;
    size_t word, i;
} cursor;

static bool
next_mark(const walk *w, const marks *m, cursor *c)
{
    while (c->rest == 0) {
        if (c->word == w->words)
            return false;
        c->rest = m->bits[c->word++];
    }
    c->i = (c->word - 1) * 64 + (size_t)__builtin_ctzll(c->rest);
    c->rest &= c->rest - 1;
    return true;
}

#define EACH_MARK(c, w, m) for (cursor c = {0}; next_mark((w), (m), &c);)

static void
pointer_fini(sn_jsonptr *p)
{
    for (size_t i = 0; i < p->n; i++)
        sn_free(p->tokens[i].name);
    sn_free(p->tokens);
    *p = (sn_jsonptr){NULL, 0};
}

void
sn_jsonptr_set_fini(sn_jsonptr_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        pointer_fini(&set->pointers[i]);
    sn_free(set->pointers);
    *set = (sn_jsonptr_set){NULL, 0};
}

/* ~1 is a slash, ~0 a tilde. */
static bool
read_token(sn_str text, sn_jsonptr_token *out)
{
    char name[SEINE_JSONPTR_BYTES];
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        name[n++] = text.ptr[i] != '~' ? text.ptr[i] : text.ptr[++i] == '0' ? '~' : '/';
    out->is_every = sn_str_eq(text, SN_STR("-"));
    if ((text.len > 1 && text.ptr[0] == '0') || sn_str_u64(text, &out->index) != SEINE_OK)
        out->index = UINT64_MAX;
    out->len = sn_json_quote(name, n, NULL, 0);
    out->name = sn_alloc(out->len + 1);
    if (out->name)
        sn_json_quote(name, n, out->name, out->len + 1);
    return out->name != NULL;
}

static bool
read_pointer(sn_str text, sn_jsonptr *out)
{
    size_t slashes = 0;

    for (size_t i = 0; i < text.len; i++)
        slashes += text.ptr[i] == '/';
    out->tokens = sn_calloc(slashes + 1, sizeof *out->tokens);
    while (out->tokens && text.len > 0) {
        text = sn_str_slice(text, 1, text.len);
        size_t n = sn_str_find(text, '/');

        if (!read_token(sn_str_slice(text, 0, n), &out->tokens[out->n]))
            return false;
        out->n++;
        text = sn_str_slice(text, n, text.len);
    }
    return out->tokens != NULL;
}

seine_err
sn_jsonptr_set_add(sn_jsonptr_set *set, sn_str pointer)
{
    sn_jsonptr one = {NULL, 0};

    if (!seine_jsonptr_valid(pointer.ptr, pointer.len))
        return SEINE_E_INVAL;
    if (set->n == SN_JSONPTR_POINTERS)
        return SEINE_E_FULL;
    sn_jsonptr *all = sn_realloc(set->pointers, (set->n + 1) * sizeof *all);
    if (!all)
        return SEINE_E_NOMEM;
    set->pointers = all;
    if (!read_pointer(pointer, &one)) {
        pointer_fini(&one);
        return SEINE_E_NOMEM;
    }
    set->pointers[set->n++] = one;
    return SEINE_OK;
}

/* Behind the first quote; passes the last one. */
static void
pass_string(walk *w)
{
    while (w->at < w->end && *w->at != '"')
        w->at += *w->at == '\\' && w->end - w->at > 1 ? 2 : 1;
    w->at += w->at < w->end;
}

/* A number or a word. */
static void
pass_word(walk *w)
{
    while (w->at < w->end && *w->at != ',' && *w->at != ']' && *w->at != '}')
        w->at++;
}

/* Passes a value that no pointer leads into. */
static void
pass_value(walk *w)
{
    size_t depth = 0;

    do {
        char b = *w->at++;

        if (b == '"')
            pass_string(w);
        else if (b == '[' || b == '{')
            depth++;
        else if (b == ']' || b == '}')
            depth--;
        else if (b != ',' && b != ':')
            pass_word(w);
    } while (depth > 0 && w->at < w->end);
}

static seine_err
tell(walk *w, const marks *who, const char *from)
{
    sn_str value = {from, (size_t)(w->at - from)};
    seine_err e = SEINE_OK;

    EACH_MARK(c, w, who)
    {
        e = w->fn(c.i, value, w->arg);
        if (e != SEINE_OK)
            return e;
    }
    return e;
}

/* Opens the array or object that `w->at` stands at; `who` leads to it. */
static void
open_level(walk *w, const marks *who)
{
    const rank *r = &w->ranks[w->depth];
    level *l = &w->levels[w->depth++];

    l->from = w->at;
    l->is_array = *w->at == '[';
    l->index = 0;
    l->beyond = r->beyond;
    l->ends = both(w, who, &r->ends);
    l->inside = without(w, who, &r->ends);
    l->every = both(w, &l->inside, &r->every);
    w->at++;
}

/* Who leads to the next element of the array. */
static marks
who_wants_element(const walk *w, level *l)
{
    marks who = l->every;
    uint64_t index = l->index++;

    if (index >= l->beyond)
        return who;
    EACH_MARK(c, w, &l->inside)
    if (w->set->pointers[c.i].tokens[w->depth - 1].index == index)
        mark(&who, c.i);
    return who;
}

/* Reads a name and its colon. Who leads to the member? */
static marks
who_wants_member(walk *w, const level *l)
{
    const char *from = w->at++;
    marks who = {{0}};

    pass_string(w);
    size_t len = (size_t)(w->at - from);
    w->at += w->at < w->end; /* the colon */
    EACH_MARK(c, w, &l->inside)
    {
        const sn_jsonptr_token *t = &w->set->pointers[c.i].tokens[w->depth - 1];

        if (t->len == len && memcmp(t->name, from, len) == 0)
            mark(&who, c.i);
    }
    return who;
}

/* At a value to which `who` leads. */
static seine_err
take_value(walk *w, const marks *who)
{
    const char *from = w->at;
    bool is_open = *from == '[' || *from == '{';

    if (is_empty(w, who)) {
        pass_value(w);
        return SEINE_OK;
    }
    marks ends = both(w, who, &w->ranks[w->depth].ends);
    if (is_open && w->depth <= SEINE_JSON_DEPTH &&
        memcmp(&ends, who, w->words * sizeof *ends.bits) != 0) {
        open_level(w, who);
        return SEINE_OK;
    }
    pass_value(w);
    return tell(w, &ends, from);
}

/* Pointers that are longer than a text is deep lead nowhere. */
static void
rank_tokens(walk *w)
{
    memset(w->ranks, 0, sizeof w->ranks);
    for (size_t i = 0; i < w->set->n; i++) {
        const sn_jsonptr *p = &w->set->pointers[i];

        if (p->n <= SEINE_JSON_DEPTH + 1)
            mark(&w->ranks[p->n].ends, i);
        for (size_t d = 0; d < p->n && d <= SEINE_JSON_DEPTH; d++) {
            const sn_jsonptr_token *t = &p->tokens[d];
            rank *r = &w->ranks[d];

            if (t->is_every)
                mark(&r->every, i);
            if (t->index != UINT64_MAX && t->index >= r->beyond)
                r->beyond = t->index + 1;
        }
    }
}

/* At the end of a level, at a comma, or at the first value of a level. */
static seine_err
step(walk *w)
{
    level *l = &w->levels[w->depth - 1];
    marks who;

    if (*w->at == ']' || *w->at == '}') {
        w->at++;
        w->depth--;
        return tell(w, &l->ends, l->from);
    }
    w->at += *w->at == ',';
    if (w->at == w->end)
        return SEINE_OK;
    who = l->is_array ? who_wants_element(w, l) : who_wants_member(w, l);
    return w->at < w->end ? take_value(w, &who) : SEINE_OK;
}

seine_err
sn_jsonptr_scan(const sn_jsonptr_set *set, sn_str text, sn_jsonptr_fn fn, void *arg)
{
    walk w;
    marks all = {{0}};

    w.set = set;
    w.words = (set->n + 63) / 64;
    w.at = text.ptr;
    w.end = text.ptr + text.len;
    w.depth = 0;
    w.fn = fn;
    w.arg = arg;
    for (size_t i = 0; i < set->n; i++)
        mark(&all, i);
    if (text.len == 0)
        return SEINE_OK;
    rank_tokens(&w);
    seine_err e = take_value(&w, &all);
    while (e == SEINE_OK && w.depth > 0 && w.at < w.end)
        e = step(&w);
    return e;
}
