/* SPDX-License-Identifier: Apache-2.0 */
/* An expression, a zero byte, a text that its members hold: it compiles or says where it
 * is wrong; what it prints compiles to the same again, and has the same value; and no
 * evaluation takes more than its steps. */
#include <stdlib.h>
#include <string.h>

#include "text/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static const sn_expr_name names[] = {
    {"t", SN_EXPR_TEXT}, {"n", SN_EXPR_NUMBER}, {"c", SN_EXPR_BOOL},
    {"l", SN_EXPR_LIST}, {"a", SN_EXPR_ANY},    {"e.k", SN_EXPR_TEXT},
};

static void
member(void *arg, unsigned index, sn_str rest, sn_expr_value *out)
{
    static const sn_expr_value list[] = {{SN_EXPR_NUMBER, .number = 2},
                                         {SN_EXPR_TEXT, .text = {"b", 1}}};
    sn_str text = *(sn_str *)arg;

    if (index == 1)
        *out = (sn_expr_value){SN_EXPR_NUMBER, .number = (double)text.len - 4};
    else if (index == 2)
        *out = (sn_expr_value){SN_EXPR_BOOL, .truth = text.len % 2 == 1};
    else if (index == 3)
        *out = (sn_expr_value){SN_EXPR_LIST, .list = {list, 2}};
    else if (index != 4 || rest.len % 2 == 1)
        *out = (sn_expr_value){SN_EXPR_TEXT, .text = text};
}

static bool
same(const sn_expr_value *a, const sn_expr_value *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case SN_EXPR_BOOL:
        return a->truth == b->truth;
    case SN_EXPR_NUMBER:
        return a->number == b->number;
    case SN_EXPR_TEXT:
        return sn_str_eq(a->text, b->text);
    case SN_EXPR_LIST:
        for (size_t i = 0; i < a->list.count && a->list.count == b->list.count; i++)
            if (!same(&a->list.items[i], &b->list.items[i]))
                return false;
        return a->list.count == b->list.count;
    default:
        return true;
    }
}

static seine_err
evaluate(const sn_expr *x, sn_expr_runner *r, sn_str text, sn_expr_value *out)
{
    sn_expr_source source = {.member = member, .arg = &text};
    seine_err e = sn_expr_eval(x, r, &source, out);

    REQUIRE(e == SEINE_OK || e == SEINE_E_BUDGET || e == SEINE_E_PATTERN_BUDGET);
    REQUIRE(e == SEINE_OK || out->type == SN_EXPR_NULL);
    REQUIRE(sn_expr_steps(r) <= SN_EXPR_STEPS);
    REQUIRE(out->type == SN_EXPR_NULL || sn_expr_type_of(x) == SN_EXPR_ANY ||
            out->type == sn_expr_type_of(x));
    return e;
}

/* Two runners, since the values borrow from theirs. */
static void
check(const sn_expr *x, const sn_expr_scope *scope, sn_str text)
{
    static sn_expr_runner *first, *second;
    sn_expr_value v, w;
    sn_expr *again = NULL;
    sn_buf once, twice;

    if (!first)
        REQUIRE(sn_expr_runner_new(&first) == SEINE_OK &&
                sn_expr_runner_new(&second) == SEINE_OK);
    sn_buf_init(&once, 65536);
    sn_buf_init(&twice, 65536);
    sn_expr_print(x, &once);
    REQUIRE(sn_buf_done(&once) == SEINE_OK && once.len > 0);
    if (once.len <= SN_EXPR_BYTES) { /* blanks may make it longer than the limit */
        REQUIRE(sn_expr_compile(sn_buf_view(&once), scope, &again, NULL) == SEINE_OK);
        sn_expr_print(again, &twice);
        REQUIRE(sn_str_eq(sn_buf_view(&once), sn_buf_view(&twice)));
        REQUIRE(sn_expr_type_of(x) == sn_expr_type_of(again));
        seine_err e = evaluate(x, first, text, &v);
        REQUIRE(evaluate(again, second, text, &w) == e && same(&v, &w));
    }
    sn_expr_free(again);
    sn_buf_fini(&once);
    sn_buf_fini(&twice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_str all = {(const char *)bytes, n};
    size_t len = sn_str_find(all, '\0');
    sn_str text = sn_str_slice(all, 0, len), value = sn_str_slice(all, len + 1, n);

    for (int how = 0; how < 3; how++) {
        sn_expr_scope scope = {.names = names,
                               .count = sizeof names / sizeof *names,
                               .words = how == 1,
                               .open = how == 2};
        seine_diag diag = SEINE_DIAG;
        sn_expr *x = NULL;
        seine_err e = sn_expr_compile(text, &scope, &x, &diag);

        REQUIRE(e == SEINE_OK || e == SEINE_E_CONFIG);
        if (e == SEINE_OK)
            check(x, &scope, value);
        else
            REQUIRE(diag.column > 0 && diag.column <= text.len + 1 && diag.text[0]);
        sn_expr_free(x);
    }
    return 0;
}
