/* SPDX-License-Identifier: Apache-2.0 */
#include "text/expr.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "text/expr_parts.h"

/* The text and the nodes, of which every byte of the text makes at most one. */
static bool
make_room(sn_expr *x, sn_str text)
{
    x->text = sn_arena_text(&x->arena, text);
    x->nodes = SN_ARENA_ARRAY(&x->arena, sn_expr_node, text.len + 2);
    return x->text && x->nodes;
}

static seine_err
compile(sn_expr *x, sn_str text, const sn_expr_scope *scope, seine_diag *diag)
{
    if (text.len > SN_EXPR_BYTES) {
        sn_expr_wrong(diag, SN_EXPR_BYTES, "longer than %d bytes", SN_EXPR_BYTES);
        return SEINE_E_CONFIG;
    }
    if (!make_room(x, text))
        return SEINE_E_NOMEM;
    if (sn_expr_read(x, (sn_str){x->text, text.len}, scope, diag) &&
        sn_expr_check(x, scope, diag))
        return SEINE_OK;
    return diag->text[0] == '\0' ? SEINE_E_NOMEM : SEINE_E_CONFIG;
}

seine_err
sn_expr_compile(sn_str text, const sn_expr_scope *scope, sn_expr **out_expr,
                seine_diag *diag)
{
    seine_diag flaw = SEINE_DIAG;
    sn_expr *x = sn_zalloc(sizeof *x);

    sn_diag_clear(diag);
    if (!x)
        return SEINE_E_NOMEM;
    sn_arena_init(&x->arena, 4096, SIZE_MAX);
    seine_err e = compile(x, text, scope, &flaw);
    if (e == SEINE_OK) {
        *out_expr = x;
        return SEINE_OK;
    }
    if (diag)
        *diag = flaw;
    sn_expr_free(x);
    return e;
}

void
sn_expr_free(sn_expr *x)
{
    if (!x)
        return;
    for (unsigned i = 1; x->nodes && i <= x->count; i++)
        sn_pattern_free(x->nodes[i].pattern);
    sn_arena_fini(&x->arena);
    sn_free(x);
}

sn_expr_type
sn_expr_type_of(const sn_expr *x)
{
    return x->nodes[x->root].type;
}

void
sn_expr_uses(const sn_expr *x, void (*fn)(void *arg, unsigned index, sn_str rest),
             void *arg)
{
    for (unsigned i = 1; i <= x->count; i++)
        if (x->nodes[i].kind == SN_EXPR_MEMBER)
            fn(arg, x->nodes[i].name, x->nodes[i].value.text);
}
