/* SPDX-License-Identifier: Apache-2.0 */
#include "text/expr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "failing.h"
#include "text/expr_parts.h"

/* The record that the tests ask: a failed fetch, and a row of a recipe. */
static const sn_expr_name names[] = {
    {"outcome", SN_EXPR_TEXT},    {"host", SN_EXPR_TEXT}, {"status", SN_EXPR_NUMBER},
    {"attempts", SN_EXPR_NUMBER}, {"ok", SN_EXPR_BOOL},   {"error.kind", SN_EXPR_TEXT},
    {"labels", SN_EXPR_LIST},     {"data", SN_EXPR_ANY},  {"title", SN_EXPR_TEXT},
    {"url", SN_EXPR_TEXT},        {"gone", SN_EXPR_ANY},  {"nan", SN_EXPR_NUMBER},
    {"long", SN_EXPR_TEXT},
};

static const sn_expr_value labels[] = {
    {SN_EXPR_TEXT, .text = {"bug", 3}},
    {SN_EXPR_TEXT, .text = {"urgent", 6}},
};

static char long_text[20000];

static sn_expr_value
text(const char *s)
{
    return sn_expr_text(sn_str_of(s));
}

static void
member(void *arg, unsigned index, sn_str rest, sn_expr_value *out)
{
    const sn_expr_value values[] = {
        text("timeout"),
        text("www.shop.example"),
        {SN_EXPR_NULL, .truth = false}, /* no response came */
        sn_expr_number(3),
        {SN_EXPR_BOOL, .truth = false},
        text("header_timeout"),
        {SN_EXPR_LIST, .list = {labels, 2}},
        {SN_EXPR_NULL, .truth = false},
        text("  Gr\xc3\xbc\xc3\x9f"
             "e, World! "),
        text("http://www.shop.example:8080/a/b?q=x+y%21&n=2#top"),
        {SN_EXPR_NULL, .truth = false},
        {SN_EXPR_NUMBER, .number = NAN},
        {SN_EXPR_TEXT, .text = {long_text, sizeof long_text}},
    };

    if (arg)
        ++*(unsigned *)arg;
    if (index == SN_EXPR_OPEN)
        *out = sn_expr_text(rest);
    else if (index != 7)
        *out = values[index];
    else if (sn_str_eq(rest, SN_STR("price")))
        *out = sn_expr_number(12.5);
    else if (sn_str_eq(rest, SN_STR("sku.code")))
        *out = text("5");
}

static const sn_expr_source source = {.member = member};

static seine_err
compile(const char *s, bool words, sn_expr **out, seine_diag *diag)
{
    sn_expr_scope scope = {
        .names = names, .count = sizeof names / sizeof *names, .words = words};

    return sn_expr_compile(sn_str_of(s), &scope, out, diag);
}

static void
show(const sn_expr_value *v, char *out, size_t cap)
{
    size_t n = 0;

    switch (v->type) {
    case SN_EXPR_BOOL:
        snprintf(out, cap, "%s", v->truth ? "true" : "false");
        break;
    case SN_EXPR_NUMBER:
        snprintf(out, cap, "%.15g", v->number);
        break;
    case SN_EXPR_TEXT:
        snprintf(out, cap, "'%.*s'", SN_FMT(v->text));
        break;
    case SN_EXPR_LIST:
        n += (size_t)snprintf(out, cap, "[");
        for (size_t i = 0; i < v->list.count && n < cap - 2; i++) {
            show(&v->list.items[i], out + n, cap - n - 2);
            n += strlen(out + n);
            n += (size_t)snprintf(out + n, cap - n, i + 1 < v->list.count ? " " : "");
        }
        snprintf(out + n, cap - n, "]");
        break;
    default:
        snprintf(out, cap, "null");
    }
}

/* Compiles and evaluates; "E" and the error's number if either fails. */
static void
expect_in(const char *s, bool words, const char *want)
{
    sn_expr *x = NULL;
    sn_expr_runner *r = NULL;
    seine_diag diag = SEINE_DIAG;
    sn_expr_value v = {0};
    char got[400] = "does not compile";

    CHECK_EQ(sn_expr_runner_new(&r), SEINE_OK);
    if (compile(s, words, &x, &diag) == SEINE_OK) {
        CHECK_EQ(sn_expr_eval(x, r, &source, &v), SEINE_OK);
        show(&v, got, sizeof got);
        /* what the compiler says of the type holds */
        CHECK(v.type == SN_EXPR_NULL || sn_expr_type_of(x) == SN_EXPR_ANY ||
              sn_expr_type_of(x) == v.type);
    }
    CHECK_STR(diag.text, "");
    CHECK_STR(got, want);
    sn_expr_free(x);
    sn_expr_runner_free(r);
}

typedef struct row {
    const char *text, *want;
} row;

#define EXPECT(rows, words) \
    EACH_ROW(i, rows)       \
    expect_in((rows)[i].text, words, (rows)[i].want)

TEST(expr_binds_as_its_grammar_says)
{
    static const row rows[] = {
        {"1 + 2 * 3", "7"},
        {"(1 + 2) * 3", "9"},
        {"10 - 4 - 3", "3"}, /* from left to right */
        {"100 / 5 / 2", "10"},
        {"2 * -3", "-6"},
        {"-2 - -3", "1"},
        {"1 + 1 = 2 and 2 < 3", "true"},
        {"true or true and false", "true"},
        {"(true or true) and false", "false"},
        {"not false and false", "false"}, /* (not false) and false */
        {"not 1 = 2", "true"},
        {"not (true and false)", "true"},
        {"1.5 + 0.25", "1.75"},
        {"0.1 + 0.2 = 0.3", "false"}, /* doubles, as in JSON */
        {" 1\t+\n1 ", "2"},
        {"[1, 'a', [true], []]", "[1 'a' [true] []]"},
        {"[]", "[]"},
        {"'it is \"so\"'", "'it is \"so\"'"},
        {"\"it's\"", "'it's'"},
        {"'a\\.b'", "'a\\.b'"}, /* a backslash is a backslash */
        {"''", "''"},
        {"123456789012345", "123456789012345"},
    };

    EXPECT(rows, false);
}

TEST(expr_a_missing_member_is_null_and_null_is_only_equal_to_null)
{
    static const row rows[] = {
        {"status", "null"},
        {"status = null", "true"},
        {"status != null", "false"},
        {"status = 404", "false"},
        {"status != 404", "true"},
        {"null = null", "true"},
        {"status < 500", "false"},
        {"status >= 500", "false"},
        {"not status < 500", "true"},
        {"data.nothing ~ 'x'", "false"},
        {"data.nothing !~ 'x'", "false"},
        {"status in [404]", "false"},
        {"null in [null]", "false"},
        {"1 in data.nothing", "false"},
        {"status + 1", "null"},
        {"-status", "null"},
        {"lower(data.nothing)", "null"},
        {"not ok", "true"},
        {"gone and true", "false"}, /* null counts as false */
        {"not gone", "true"},
        {"gone or true", "true"},
        {"nan", "null"}, /* no source can bring in what is no number */
        {"nan = null", "true"},
    };

    EXPECT(rows, false);
}

TEST(expr_compares_what_is_of_one_type)
{
    static const row rows[] = {
        {"attempts >= 3", "true"},
        {"attempts > 3", "false"},
        {"attempts <= 3 and attempts < 4", "true"},
        {"'a' < 'b'", "true"},
        {"'a' < 'B'", "false"}, /* by bytes */
        {"'a' < 'ab'", "true"},
        {"'07:00:00' <= '19:00:00'", "true"},
        {"true = true", "true"},
        {"true != false", "true"},
        {"[1, 2] = [1, 2]", "true"},
        {"[1, 2] = [1, 3]", "false"},
        {"[1] = [1, 1]", "false"},
        {"[1] = ['1']", "false"},
        {"data.sku.code = 5", "null"}, /* only the record shows that this is a text */
        {"data.sku.code != 5", "null"},
        {"data.sku.code < 6", "null"},
        {"data.sku.code < '6'", "true"},
        {"data.price < '6'", "null"},
        {"data.price = 12.5", "true"},
        {"data.price < true", "does not compile"},
        {"'urgent' in labels", "true"},
        {"'urgen' in labels", "false"},
        {"attempts in [1, 3, 5]", "true"},
        {"data.price in ['a', 12.5]", "true"},
        {"data.price in data.price", "null"},
        {"[1] in [[1], [2]]", "true"},
        {"host ~ '\\.example$'", "true"},
        {"host !~ '\\.example$'", "false"},
        {"host ~ '^shop'", "false"},
        {"data.price ~ 'x'", "null"},
    };

    EACH_ROW(i, rows) {
        seine_diag diag = SEINE_DIAG;
        sn_expr *x = NULL;
        if (strcmp(rows[i].want, "does not compile") == 0)
            CHECK_EQ(compile(rows[i].text, false, &x, &diag), SEINE_E_CONFIG);
        else
            expect_in(rows[i].text, false, rows[i].want);
    }
}

TEST(expr_calculates_and_never_leaves_the_numbers)
{
    static const row rows[] = {
        {"1 / 0", "null"},
        {"0 / 0", "null"},
        {"999999999999999 * 999999999999999", "9.99999999999998e+29"},
        {"abs(-3.5)", "3.5"},
        {"round(2.5)", "3"},
        {"round(-2.5)", "-3"}, /* away from zero */
        {"round(2.345, 2)", "2.35"},
        {"round(1234.5, 99)", "1234.5"},
        {"round(999999999999999, 15)", "999999999999999"},
        {"min(3, 1, 2)", "1"},
        {"max(3, 1, 2)", "3"},
        {"min('b', 'a')", "'a'"},
        {"max(1, null, 2)", "2"}, /* null does not count */
        {"min(null)", "null"},
        {"max([1, 5, 3])", "5"},
        {"max([])", "null"},
        {"max([1, 'a'])", "null"},
        {"max(7)", "7"},
        {"max(labels)", "'urgent'"},
    };

    EXPECT(rows, false);
}

TEST(expr_has_functions_for_texts)
{
    static const row rows[] = {
        {"len('Gr\xc3\xbc\xc3\x9f"
         "e')",
         "5"}, /* characters, not bytes */
        {"len('')", "0"},
        {"len(labels)", "2"},
        {"len(12)", "null"},
        {"lower('ABC\xc3\x84')", "'abc\xc3\x84'"}, /* ASCII */
        {"upper('abc-1')", "'ABC-1'"},
        {"trim('  a b\n')", "'a b'"},
        {"slug(title)", "'gr\xc3\xbc\xc3\x9f"
                        "e-world'"},
        {"slug('--A  &  B--')", "'a-b'"},
        {"sha256('abc')",
         "'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'"},
        {"concat('a', 5, '-', 1.5, true, null)", "'a5-1.5true'"},
        {"concat(1 / 3)", "'0.3333333333333333'"},
        {"replace('a1b22c', '\\d+', '#')", "'a#b#c'"},
        {"replace('aaa', 'b', 'x')", "'aaa'"},
        {"replace('\xc3\xa4\xc3\xb6', '', '.')", "'.\xc3\xa4.\xc3\xb6.'"},
        {"replace('a.b', '\\.', '\\1')", "'a\\1b'"}, /* as it stands */
        {"replace('', 'x', 'y')", "''"},
        {"match('price: 12.50 EUR', '([0-9.]+) EUR')", "'12.50'"},
        {"match('price: 12.50 EUR', '[0-9.]+')", "'12.50'"},
        {"match('ab', 'a(x)?b')", "''"}, /* the group took no part */
        {"match('ab', '(a)(b)')", "'a'"},
        {"match('ab', 'c')", "null"},
        {"split('a, b,c', ',\\s*')", "['a' 'b' 'c']"},
        {"split('abc', '')", "['abc']"}, /* an empty match splits nothing */
        {"split('', ',')", "['']"},
        {"split(',', ',')", "['' '']"},
        {"join(['a', 2, true], '|')", "'a|2|true'"},
        {"join([], '|')", "''"},
        {"join(split('a b', ' '), '')", "'ab'"},
        {"coalesce(status, data.nothing, 7)", "7"},
        {"coalesce(null)", "null"},
        {"if(attempts > 2, 'many', 'few')", "'many'"},
        {"if(gone, 1)", "null"},
        {"if(gone, 1, 2)", "2"},
    };

    EXPECT(rows, false);
}

TEST(expr_has_functions_for_dates)
{
    static const row rows[] = {
        {"date('2024-02-29')", "'2024-02-29'"},
        {"date('2024-02-30')", "null"},
        {"date('2024-11-03T23:30:00-05:00')", "'2024-11-03'"}, /* in its own zone */
        {"date('2024-11')", "'2024-11-01'"},
        {"date('soon')", "null"},
        {"date('')", "null"},
        {"add('2024-02-28', '1d')", "'2024-02-29'"},
        {"add('2024-03-01', '-1d')", "'2024-02-29'"},
        {"add('2024-12-31', '1w')", "'2025-01-07'"},
        {"add('2024-12-31', '12h')", "null"}, /* a date has no hours */
        {"add('2024-12-31T18:00:00Z', '12h')", "'2025-01-01T06:00:00Z'"},
        {"add('2024-12-31T18:00:00.25+01:00', '-0.5s')",
         "'2024-12-31T17:59:59.75+01:00'"},
        {"add('2024-12-31', 'x')", "null"},
        {"add('9999-12-31', '1d')", "null"},
        {"days('2024-02-28', '2024-03-01')", "2"},
        {"days('2024-03-01', '2024-02-28')", "-2"},
        {"days('2024-11-01T12:00:00Z', '2024-11-03')", "1.5"},
        {"hours('2024-11-03T00:00:00-04:00', '2024-11-04T00:00:00-05:00')", "25"},
        {"hours('1970-01-01T00:00:00.5+01:00', '1970-01-01')", "0.999861111111111"},
        {"at('2024-11-03', '07:00:00', '-05:00')", "'2024-11-03T07:00:00-05:00'"},
        {"at('2024-11-03', '07:00', 'UTC')", "'2024-11-03T07:00:00Z'"},
        {"at('2024-11-03', '07:00')", "'2024-11-03T07:00:00Z'"},
        {"at('2024-11-03', '24:00', 'UTC')", "null"},
        {"at('2024-11-03', '07:00', 'Europe/Nowhere')", "null"},
        {"at(if('06:00' <= '19:00', add('2024-11-03', '1d'), '2024-11-03'), '06:00')",
         "'2024-11-04T06:00:00Z'"},
        {"format('2024-11-03', '%Y/%m')", "'2024/11'"},
        {"format('2024-11-03T15:04:05+01:00', '%a %e %b %y %I:%M:%S %p %z %j %%')",
         "'Sun  3 Nov 24 03:04:05 PM +0100 308 %'"},
        {"format('2024-11-03T00:30:00Z', '%A, %B %d, %I %p, %H')",
         "'Sunday, November 03, 12 AM, 00'"},
        {"format(7, '%05d')", "'00007'"},
        {"format(-7, '%05d')", "'-0007'"},
        {"format(7, '%3d')", "'  7'"},
        {"format(7.6, '%d')", "'8'"},
        {"format(2.5, 'EUR %.2f')", "'EUR 2.50'"},
        {"format(3, '%.2f')", "'3.00'"},
        {"format(0.05, '%.1f')", "'0.1'"},
        {"format(-0.01, '%.1f')", "'0.0'"},
        {"format(999999999999999, '%.9f')", "null"},
    };

    EXPECT(rows, false);
}

/* Two zones: one of whole hours, one of the time before time zones. */
static bool
zone_of(void *arg, sn_str name, int64_t local, int64_t *out_offset)
{
    (void)arg;
    if (sn_str_eq(name, SN_STR("Test/Summer")))
        *out_offset = local >= INT64_C(1710037800) ? -4 * 3600 : -5 * 3600;
    else if (sn_str_eq(name, SN_STR("Test/Old")))
        *out_offset = -(4 * 3600 + 56 * 60 + 2);
    else
        return false;
    return true;
}

static bool
has_zone(void *arg, sn_str name)
{
    int64_t offset;

    return zone_of(arg, name, 0, &offset);
}

TEST(expr_asks_for_the_offset_of_a_zone_at_its_local_time)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"at('2024-03-10', '02:29', 'Test/Summer')", "'2024-03-10T02:29:00-05:00'"},
        {"at('2024-03-10', '02:30', 'Test/Summer')", "'2024-03-10T02:30:00-04:00'"},
        {"hours('2024-03-10', at('2024-03-10', '03:00', 'Test/Summer'))", "7"},
        /* the same moment, with an offset that RFC 3339 can write */
        {"at('1880-01-01', '00:00', 'Test/Old')", "'1880-01-01T00:00:02-04:56'"},
        {"at('2024-03-10', '02:30', concat('Test/', 'Nowhere'))", "null"},
        {"at('2024-03-10', '02:30', 'UTC')", "'2024-03-10T02:30:00Z'"},
    };
    const sn_expr_source zones = {.member = member, .zone = zone_of};
    sn_expr_scope scope = {
        .names = names, .count = sizeof names / sizeof *names, .has_zone = has_zone};

    EACH_ROW(i, rows) {
        sn_expr *x = NULL;
        sn_expr_runner *r = NULL;
        sn_expr_value v;
        char got[200];

        CHECK_EQ(sn_expr_compile(sn_str_of(rows[i].text), &scope, &x, NULL), SEINE_OK);
        CHECK_EQ(sn_expr_runner_new(&r), SEINE_OK);
        CHECK_EQ(sn_expr_eval(x, r, &zones, &v), SEINE_OK);
        if (v.type == SN_EXPR_TEXT)
            snprintf(got, sizeof got, "'%.*s'", SN_FMT(v.text));
        else if (v.type == SN_EXPR_NUMBER)
            snprintf(got, sizeof got, "%g", v.number);
        else
            snprintf(got, sizeof got, "null");
        CHECK_STR(got, rows[i].want);
        sn_expr_runner_free(r);
        sn_expr_free(x);
    }
}

TEST(expr_a_zone_that_nobody_knows_is_a_mistake)
{
    sn_expr_scope scope = {.has_zone = has_zone};
    seine_diag diag = SEINE_DIAG;
    sn_expr *x = NULL;

    CHECK_EQ(sn_expr_compile(SN_STR("at('2024-03-10', '02:30', 'Test/Nowhere')"), &scope,
                             &x, &diag),
             SEINE_E_CONFIG);
    CHECK(strstr(diag.text, "no time zone has that name") != NULL);
    CHECK_EQ(diag.column, 27);
    CHECK_EQ(
        sn_expr_compile(SN_STR("at('2024-03-10', '02:30', '+01:00')"), &scope, &x, &diag),
        SEINE_OK);
    sn_expr_free(x);
}

TEST(expr_has_functions_for_urls)
{
    static const row rows[] = {
        {"host(url)", "'www.shop.example'"},
        {"path(url)", "'/a/b'"},
        {"param(url, 'q')", "'x y!'"},
        {"param(url, 'n')", "'2'"},
        {"param(url, 'none')", "null"},
        {"param('http://e/?a&b=%zz', 'b')", "'%zz'"},
        {"resolve(url, '../c?d')", "'http://www.shop.example:8080/c?d'"},
        {"host(resolve(url, '//other.example/'))", "'other.example'"},
        {"host('no url')", "null"},
        {"resolve('mailto:x', 'y')", "null"},
    };

    EXPECT(rows, false);
}

TEST(expr_a_word_beside_a_member_is_text)
{
    static const row rows[] = {
        {"outcome=timeout and host ~ '\\.example$'", "true"},
        {"outcome = timeout and attempts >= 3", "true"},
        {"not ok and outcome != blocked", "true"},
        {"outcome in [timeout, http_error]", "true"},
        {"urgent in labels", "true"},
        {"timeout = outcome", "true"},
        {"host = www.shop.example", "true"},
        {"error.kind = header_timeout", "true"},
        {"lower(outcome) = timeout", "true"},
        {"host ~ shop", "true"},
    };

    EXPECT(rows, true);
}

typedef struct flaw {
    const char *text;
    unsigned column;
    const char *why;
} flaw;

static void
refuse(const flaw *f, bool words)
{
    seine_diag diag = SEINE_DIAG;
    sn_expr *x = NULL;

    CHECK_EQ(compile(f->text, words, &x, &diag), SEINE_E_CONFIG);
    CHECK(x == NULL);
    CHECK_STR(diag.text, f->why);
    CHECK_EQ(diag.column, f->column);
    CHECK_EQ(compile(f->text, words, &x, NULL), SEINE_E_CONFIG);
}

TEST(expr_says_what_is_wrong_and_where)
{
    static const flaw rows[] = {
        {"", 1, "an empty expression"},
        {"  ", 1, "an empty expression"},
        {"1 +", 4, "expected a value at the end"},
        {"1 2", 3, "expected an operator or the end, not '2'"},
        {"(1", 3, "expected ')' at the end"},
        {"[1, 2", 6, "expected ',' or ']' at the end"},
        {"len(1 2)", 7, "expected ',' or ')', not '2'"},
        {"[1,]", 4, "expected a value, not ']'"},
        {"1 = 1 = 1", 7, "comparisons do not chain: use and"},
        {"not not true", 5, "expected a value, not 'not'"},
        {"--1", 2, "expected a value, not '-'"},
        {"a and", 1, "no member 'a'"},
        {"ok and or ok", 8, "expected a value, not 'or'"},
        {"'abc", 1, "a text without its closing quote"},
        {"1 & 2", 3, "'&' cannot stand here"},
        {"1 \x01", 3, "byte 0x01 cannot stand here"},
        {"ok && ok", 4, "'&&' cannot stand here; try and"},
        {"ok || ok", 4, "'||' cannot stand here; try or"},
        {"1 == 1", 3, "'==' cannot stand here; try ="},
        {"1 <> 1", 3, "'<>' cannot stand here; try !="},
        {"!ok", 1, "'!' cannot stand here; try not"},
        {"url = \xe2\x80\x9cx\xe2\x80\x9d", 7, "'\xe2\x80\x9c' cannot stand here; try '"},
        {"1234567890123456", 1, "a number has at most 15 digits"},
        {"1.", 2, "'.' cannot stand here"},
        {"nothere = 1", 1, "no member 'nothere'"},
        {"nothere(1)", 1, "no function 'nothere'"},
        {"outcome.kind = 'x'", 1, "'outcome' has no members (text stands in quotes)"},
        {"len()", 1, "len takes 1 argument, not 0"},
        {"replace('a', 'b')", 1, "replace takes 3 arguments, not 2"},
        {"round(1, 2, 3)", 1, "round takes 1 to 2 arguments, not 3"},
        {"'5' < 6", 7, "a text is compared with a number"},
        {"attempts = '3'", 12, "a number is compared with a text"},
        {"status in ['404']", 12, "a number is compared with a text"},
        {"ok < true", 1, "'<' has no order for a condition"},
        {"labels >= labels", 1, "'>=' has no order for a list"},
        {"outcome and ok", 1, "and takes a condition, and this is a text"},
        {"not 5", 5, "not takes a condition, and this is a number"},
        {"'a' + 'b'", 1,
         "+ and - takes a number, and this is a text (concat joins texts)"},
        {"2 * 'b'", 5, "* and / takes a number, and this is a text"},
        {"-'b'", 2, "- takes a number, and this is a text"},
        {"1 in 2", 6, "in takes a list, and this is a number"},
        {"5 ~ 'a'", 1, "~ takes a text, and this is a number"},
        {"host ~ '('", 8, "pattern: missing closing parenthesis (at byte 1)"},
        {"host ~ host", 8, "a pattern is a text in quotes"},
        {"match(host, 5)", 13, "a pattern is a text in quotes"},
        {"lower(5)", 7, "lower takes a text, and this is a number"},
        {"if(5, 1, 2)", 4, "if takes a condition, and this is a number"},
        {"join('a', 'b')", 6, "join takes a list, and this is a text"},
        {"min(1, 'a')", 8, "a number is compared with a text"},
        {"min(true)", 5, "min takes a number, and this is a condition"},
        {"if(ok, 1, 2) = 'x'", 16, "a number is compared with a text"},
        {"format(1, '%q')", 11,
         "not a format: %Y-%m-%d … for dates, %05d or %.2f for numbers"},
    };

    EACH_ROW(i, rows)
        refuse(&rows[i], false);
}

TEST(expr_a_misspelt_member_is_no_text)
{
    static const flaw rows[] = {
        {"outcom = timeout", 1, "no member 'outcom' (text stands in quotes)"},
        {"outcom = 'timeout'", 1, "no member 'outcom' (text stands in quotes)"},
        {"hots ~ 'x'", 1, "no member 'hots' (text stands in quotes)"},
        {"outcom in [timeout]", 1, "no member 'outcom' (text stands in quotes)"},
        {"okk", 1, "no member 'okk' (text stands in quotes)"},
        {"okk and ok", 1, "no member 'okk' (text stands in quotes)"},
        {"lower(hots) = x", 7, "no member 'hots' (text stands in quotes)"},
        {"statsu = 404", 1, "no member 'statsu' (text stands in quotes)"},
        {"attempts > many", 12, "a number is compared with a text"},
    };

    EACH_ROW(i, rows)
        refuse(&rows[i], true);
}

TEST(expr_of_an_open_scope_asks_for_any_path)
{
    sn_expr_scope scope = {.names = names, .count = 1, .open = true};
    sn_expr *x = NULL;
    sn_expr_runner *r = NULL;
    sn_expr_value v;
    char got[100];

    CHECK_EQ(
        sn_expr_compile(SN_STR("concat(meta.next_cursor, outcome)"), &scope, &x, NULL),
        SEINE_OK);
    CHECK_EQ(sn_expr_runner_new(&r), SEINE_OK);
    CHECK_EQ(sn_expr_eval(x, r, &source, &v), SEINE_OK);
    show(&v, got, sizeof got);
    CHECK_STR(got, "'meta.next_cursortimeout'");
    sn_expr_free(x);
    sn_expr_runner_free(r);
}

TEST(expr_prints_one_form_for_all_spellings)
{
    static const row rows[] = {
        {"outcome=timeout  and(attempts>=3)", "outcome = 'timeout' and attempts >= 3"},
        {"((1+2))*3", "(1 + 2) * 3"},
        {"1+(2*3)", "1 + 2 * 3"},
        {"1-(2-3)", "1 - (2 - 3)"},
        {"not (ok or ok)", "not (ok or ok)"},
        {"not (attempts = 1)", "not attempts = 1"},
        {"(not ok) and ok", "not ok and ok"},
        {"-(-1)", "-(-1)"},
        {"[1,'a',[]]", "[1, 'a', []]"},
        {"\"it's\" = host", "\"it's\" = host"},
        {"if( ok,1 , 2 )", "if(ok, 1, 2)"},
        {"(1 = 1) = (2 = 2)", "(1 = 1) = (2 = 2)"},
        {"001.50", "001.50"},
    };

    EACH_ROW(i, rows) {
        sn_expr *x = NULL;
        sn_buf b;

        sn_buf_init(&b, 1000);
        CHECK_EQ(compile(rows[i].text, true, &x, NULL), SEINE_OK);
        if (x)
            sn_expr_print(x, &b);
        CHECK_STR(b.ptr, rows[i].want);
        sn_buf_fini(&b);
        sn_expr_free(x);
    }
}

/* `n` times `part`, and what stands around it. */
static char *
repeated(const char *before, const char *part, size_t n, const char *after)
{
    size_t room = strlen(before) + n * strlen(part) + strlen(after) + 1;
    char *s = malloc(room), *at = s;

    if (!s)
        return NULL;
    at += snprintf(at, room, "%s", before);
    for (size_t i = 0; i < n; i++)
        at += snprintf(at, room - (size_t)(at - s), "%s", part);
    snprintf(at, room - (size_t)(at - s), "%s", after);
    return s;
}

TEST(expr_has_bounds_of_text_and_depth)
{
    static const struct {
        const char *before, *part;
        size_t n;
        const char *after;
        const char *why; /* NULL: it compiles */
    } rows[] = {
        {"", "(", 64, "1", "expected ')' at the end"},
        {"", "(", 65, "1", "nested deeper than 64 levels"},
        {"", "[", 65, "1", "nested deeper than 64 levels"},
        {"", "len(", 65, "1", "nested deeper than 64 levels"},
        {"ok", " or ok", 682, "  ", NULL}, /* 4096 bytes; a chain is one level */
        {"ok", " or ok", 682, "   ", "longer than 4096 bytes"},
        {"1", "+1", 2047, "", NULL},
        {"1", "-1", 2047, "", NULL},
        {"[1", ",1", 2046, "]", NULL},
    };

    EACH_ROW(i, rows) {
        char *s = repeated(rows[i].before, rows[i].part, rows[i].n, rows[i].after);
        seine_diag diag = SEINE_DIAG;
        sn_expr *x = NULL;

        if (!s)
            continue;
        CHECK_EQ(compile(s, false, &x, &diag), rows[i].why ? SEINE_E_CONFIG : SEINE_OK);
        CHECK_STR(diag.text, rows[i].why ? rows[i].why : "");
        sn_expr_free(x);
        free(s);
    }
}

TEST(expr_ends_within_its_budget_whatever_the_text)
{
    static const struct {
        const char *text;
        seine_err want;
    } rows[] = {
        /* each level multiplies the text by its length */
        {"replace(replace(long, 'a', long), 'a', long)", SEINE_E_BUDGET},
        {"join(split(long, 'a'), long)", SEINE_E_BUDGET},
        {"concat(long, long, long)", SEINE_OK},
        {"len(split(long, 'a'))", SEINE_OK},
        {"replace(long, 'a', '') = ''", SEINE_OK},
        {"long ~ 'b'", SEINE_OK},
        /* backtracks for ever: PCRE2 itself gives up */
        {"long ~ '^(a|a)*$b'", SEINE_E_PATTERN_BUDGET},
    };
    sn_expr_runner *r = NULL;

    memset(long_text, 'a', sizeof long_text);
    CHECK_EQ(sn_expr_runner_new(&r), SEINE_OK);
    EACH_ROW(i, rows) {
        sn_expr *x = NULL;
        sn_expr_value v;

        CHECK_EQ(compile(rows[i].text, false, &x, NULL), SEINE_OK);
        if (!x)
            continue;
        CHECK_EQ(sn_expr_eval(x, r, &source, &v), rows[i].want);
        CHECK(rows[i].want == SEINE_OK || v.type == SN_EXPR_NULL);
        CHECK(sn_expr_steps(r) <= SN_EXPR_STEPS);
        bool is = true;
        CHECK_EQ(sn_expr_is(x, r, &source, &is), rows[i].want);
        CHECK(!is || rows[i].want == SEINE_OK);
        sn_expr_free(x);
    }
    sn_expr_runner_free(r);
}

TEST(expr_evaluates_no_more_than_it_needs)
{
    static const struct {
        const char *text;
        unsigned asked;
    } rows[] = {
        {"ok or true or ok", 1},
        {"ok and ok and ok", 1},
        {"true or ok", 0},
        {"if(true, ok, host = 'x')", 1},
        {"coalesce(host, outcome)", 1},
        {"coalesce(status, outcome)", 2},
    };
    sn_expr_runner *r = NULL;

    CHECK_EQ(sn_expr_runner_new(&r), SEINE_OK);
    EACH_ROW(i, rows) {
        unsigned asked = 0;
        sn_expr_source counted = {.member = member, .arg = &asked};
        sn_expr_value v;
        sn_expr *x = NULL;

        CHECK_EQ(compile(rows[i].text, false, &x, NULL), SEINE_OK);
        if (x)
            CHECK_EQ(sn_expr_eval(x, r, &counted, &v), SEINE_OK);
        CHECK_EQ(asked, rows[i].asked);
        sn_expr_free(x);
    }
    sn_expr_runner_free(r);
}

static void
note_use(void *arg, unsigned index, sn_str rest)
{
    (void)rest;
    *(unsigned *)arg |= 1u << index;
}

TEST(expr_names_the_members_it_uses)
{
    sn_expr *x = NULL;
    unsigned used = 0;

    CHECK_EQ(compile("status = 404 or data.price > 1 and status < 5", false, &x, NULL),
             SEINE_OK);
    if (x)
        sn_expr_uses(x, note_use, &used);
    CHECK_EQ(used, 1u << 2 | 1u << 7);
    sn_expr_free(x);
}

static seine_err
whole_life(void)
{
    sn_expr *x = NULL;
    sn_expr_runner *r = NULL;
    sn_expr_value v;
    seine_err e = compile("host ~ 'shop' and 'a' in [host, 'a', 'b', outcome] and "
                          "host(replace(url, 'a', 'b')) != concat('a', 1, 2, 3)",
                          false, &x, NULL);

    if (e == SEINE_OK)
        e = sn_expr_runner_new(&r);
    if (e == SEINE_OK)
        e = sn_expr_eval(x, r, &source, &v);
    sn_expr_free(x);
    sn_expr_runner_free(r);
    return e;
}

TEST(expr_survives_every_failing_allocation)
{
    FAIL_EACH(n)
    {
        seine_err e = whole_life();
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
    }
}

TEST(expr_conditions_on_members_allocate_nothing)
{
    sn_expr_runner *r = NULL;
    sn_expr *x = NULL;
    sn_expr_value v;

    count_begin();
    CHECK_EQ(compile("not ok and outcome in [timeout, http_error] and host ~ "
                     "'\\.example$' and attempts + 1 > 3",
                     true, &x, NULL),
             SEINE_OK);
    CHECK_EQ(sn_expr_runner_new(&r), SEINE_OK);
    CHECK_EQ(sn_expr_eval(x, r, &source, &v), SEINE_OK); /* PCRE2 gets its frames */
    CHECK(v.type == SN_EXPR_BOOL && v.truth);
    long calls = count_calls();
    CHECK_EQ(sn_expr_eval(x, r, &source, &v), SEINE_OK);
    CHECK_EQ(count_calls(), calls);
    sn_expr_free(x);
    sn_expr_runner_free(r);
    CHECK_EQ(count_out(), 0);
    count_end();
}
