/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h - a compiled CSS selector, shared by the select*.c files.
 *
 * A list holds complex selectors. The index of its last compound stands for a complex
 * selector; each compound links to the compound on its left and stores the combinator
 * between them. A compound is a list of simple selectors.
 *
 * Threads any thread: a compiled selector never changes.
 */
#ifndef SN_SELECT_H
#define SN_SELECT_H

#include "base/buf.h"
#include "seine/select.h"

enum {
    SN_SELECT_COMPOUNDS = 256, /* SN_TREE_MAX_DEPTH: a path to any element */
    SN_SELECT_DEPTH = 8,       /* of nested lists */
    SN_SELECT_NONE = UINT16_MAX
};

typedef enum sn_combinator {
    SN_COMB_NONE,
    SN_COMB_DESCENDANT,
    SN_COMB_CHILD,
    SN_COMB_NEXT, /* + */
    SN_COMB_AFTER /* ~ */
} sn_combinator;

typedef enum sn_simple_kind {
    SN_SIMPLE_TAG,
    SN_SIMPLE_ID,
    SN_SIMPLE_CLASS,
    SN_SIMPLE_ATTR,
    SN_SIMPLE_NOTHING, /* matches no node */
    SN_SIMPLE_NTH,
    SN_SIMPLE_LIST, /* :is, :where, :not */
    SN_SIMPLE_HAS,
    SN_SIMPLE_LANG,
    SN_SIMPLE_STATE /* a pseudo-class without arguments */
} sn_simple_kind;

typedef enum sn_attr_op {
    SN_OP_HAS,
    SN_OP_IS,       /* = */
    SN_OP_WORD,     /* ~= */
    SN_OP_DASH,     /* |= */
    SN_OP_BEGINS,   /* ^= */
    SN_OP_ENDS,     /* $= */
    SN_OP_CONTAINS, /* *= */
} sn_attr_op;

typedef enum sn_case { SN_CASE_USUAL, SN_CASE_IGNORED, SN_CASE_KEPT } sn_case;

typedef enum sn_select_state {
    SN_STATE_ROOT,
    SN_STATE_EMPTY,
    SN_STATE_SCOPE,
    SN_STATE_LINK,
    SN_STATE_ENABLED,
    SN_STATE_DISABLED,
    SN_STATE_CHECKED,
    SN_STATE_REQUIRED,
    SN_STATE_OPTIONAL,
    SN_STATE_NEVER
} sn_select_state;

/* A text within the selector's buffer. */
typedef struct sn_select_span {
    uint16_t at, len;
} sn_select_span;

typedef struct sn_simple {
    uint8_t kind, op, kase, state;
    bool negated;         /* :not */
    bool last, of_type;   /* of NTH */
    bool any_prefix;      /* [*|a] */
    sn_select_span name;  /* lower case */
    sn_select_span exact; /* as written */
    sn_select_span value;
    int32_t a, b;  /* of NTH */
    uint16_t list; /* its first selector, or NONE */
    uint16_t next; /* the next simple of the compound, or NONE */
} sn_simple;

typedef struct sn_compound {
    uint16_t first; /* its first simple; NONE: matches every node */
    uint16_t left;  /* the compound on its left, or NONE */
    uint8_t comb;   /* the combinator to the left */
    uint8_t lead;   /* in :has, of the first compound: the combinator to the node */
    uint16_t next;  /* of a last compound: the last compound of the next selector */
} sn_compound;

struct seine_select {
    sn_buf simple_mem, compound_mem, text;
    uint16_t list; /* the last compound of its first selector */
    uint16_t compounds, simples;
    bool has_scope;
    uint64_t hash; /* of its text: the key in a finder */
};

static inline const sn_simple *
sn_select_simple(const seine_select *s, uint16_t i)
{
    return (const sn_simple *)(const void *)s->simple_mem.ptr + i;
}

static inline const sn_compound *
sn_select_compound(const seine_select *s, uint16_t i)
{
    return (const sn_compound *)(const void *)s->compound_mem.ptr + i;
}

static inline sn_str
sn_select_text(const seine_select *s, sn_select_span at)
{
    return (sn_str){s->text.ptr ? s->text.ptr + at.at : "", at.len};
}

/* The parser's state: the rest of the text, and the result so far. */
typedef struct sn_select_in {
    const char *text;
    size_t len, at;
    seine_select *out;
    seine_diag *diag;
    uint16_t head, tail; /* simples of the current compound */
    unsigned depth;
    bool in_has;
} sn_select_in;

/* Writes the diag, about byte `at`. Always returns false. */
bool sn_select_fail(sn_select_in *in, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Return the next byte and the one after it, or NUL at the end. */
char sn_select_peek(const sn_select_in *in);
char sn_select_peek2(const sn_select_in *in);
bool sn_select_skip(sn_select_in *in, char c);
bool sn_select_blanks(sn_select_in *in); /* skips comments too; true if it skipped any */
bool sn_select_at_name(const sn_select_in *in);

/* Read a name or a string and decode its escapes; false, without a diag, if there is
 * none. */
bool sn_select_name(sn_select_in *in, sn_select_span *out);
bool sn_select_string(sn_select_in *in, sn_select_span *out);

/* The same text in lower case. */
sn_select_span sn_select_lower(sn_select_in *in, sn_select_span s);

/* an+b, odd, even. */
bool sn_select_nth(sn_select_in *in, int32_t *out_a, int32_t *out_b);

#endif
