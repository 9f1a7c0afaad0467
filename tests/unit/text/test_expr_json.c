/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"
#include "seine/expr.h"

static const char *const names[] = {"price", "sku", "tags", NULL};
static const char record[] =
    "{\"price\":{\"amount\":9,\"currency\":\"EUR\"},\"sku\":\"A-1\",\"tags\":[\"new\",2],"
    "\"other\":true}";

/* The value of a text, or the name of its error. */
static const char *
value(const char *text, const char *const *known)
{
    static char out[256];
    seine_expr *x = NULL;
    seine_text json = {NULL, 0};
    seine_diag diag = SEINE_DIAG;
    seine_err e = seine_expr_compile(text, known, &x, &diag);

    if (e == SEINE_OK)
        e = seine_expr_eval(x, record, strlen(record), &json);
    snprintf(out, sizeof out, "%s", e == SEINE_OK ? json.bytes : seine_err_name(e));
    seine_text_free(&json);
    seine_expr_free(x);
    return out;
}

TEST(expr_json_values_of_a_record_make_values)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"round(price.amount / 2, 1)", "4.5"}, /* a member of a member */
        {"price.amount + 1", "10"},            /* whole numbers have no point */
        {"concat(sku, '-', price.currency)", "\"A-1-EUR\""},
        {"'new' in tags and len(tags) = 2", "true"},
        {"tags", "[\"new\",2]"},
        {"price", "null"},    /* an object is no value */
        {"sku.more", "null"}, /* a text has no members */
        {"other", "config"},  /* no name of the list */
        {"price.amount >", "config"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_STR(value(rows[i].text, names), rows[i].want);
}

TEST(expr_json_without_a_list_every_name_is_a_member)
{
    CHECK_STR(value("other", NULL), "true");
    CHECK_STR(value("price.currency = 'EUR'", NULL), "true");
    CHECK_STR(value("nothing", NULL), "null");
}

TEST(expr_json_a_condition_is_true_or_it_is_not)
{
    seine_expr *x = NULL;
    bool is = true;

    CHECK_EQ(seine_expr_compile("sku = 'A-1'", names, &x, NULL), SEINE_OK);
    CHECK_EQ(seine_expr_is(x, "{\"sku\":\"B\"}", 11, &is), SEINE_OK);
    CHECK(!is);
    CHECK_EQ(seine_expr_is(x, record, strlen(record), &is), SEINE_OK);
    CHECK(is);
    CHECK_EQ(seine_expr_is(x, "[1]", 3, &is), SEINE_E_BAD_JSON);
    CHECK_EQ(seine_expr_is(x, "{", 1, &is), SEINE_E_BAD_JSON);
    CHECK_EQ(seine_expr_is(x, NULL, 0, &is), SEINE_E_INVAL);
    seine_expr_free(x);
}

TEST(expr_json_a_mistake_has_its_column)
{
    seine_diag diag = SEINE_DIAG;
    seine_expr *x = NULL;

    CHECK_EQ(seine_expr_compile("sku = colour", names, &x, &diag), SEINE_E_CONFIG);
    CHECK_EQ(diag.column, 7);
    CHECK(diag.text[0] != '\0');
}

TEST(expr_json_without_memory_says_so)
{
    FAIL_EACH(n)
    {
        const char *got =
            value("concat(sku, '-', price.currency, join(tags, ','))", names);

        CHECK(strcmp(got, "nomem") == 0 || !fail_hit() || got[0] == '"');
    }
}
