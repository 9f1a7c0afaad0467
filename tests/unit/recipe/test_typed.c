/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/typed.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

/* The value as JSON, or the reason. */
static void
typed(const sn_meaning *m, const char *text, char *out, size_t cap)
{
    static const seine_recipe r;
    seine_json *value = NULL;
    seine_text printed = {NULL, 0};
    sn_typed_error why = {"", ""};
    char mem[256];
    seine_url base;

    seine_url_init(&base, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&base, "https://e.example/d/x", 21, NULL), SEINE_OK);
    seine_err e = sn_typed(&r, m, sn_str_of(text), &base, &value, &why);
    if (e == SEINE_OK)
        CHECK_EQ(seine_json_print(value, &printed), SEINE_OK);
    snprintf(out, cap, "%s%s%s", e == SEINE_OK ? printed.bytes : why.why,
             e == SEINE_OK ? "" : " ", e == SEINE_OK ? "" : why.text);
    seine_text_free(&printed);
    seine_json_free(value);
}

static const struct {
    sn_type type;
    char decimal;
    const char *text, *want;
} numbers[] = {
    {SN_TYPE_INT, '.', "12", "12"},
    {SN_TYPE_INT, '.', "-7", "-7"},
    {SN_TYPE_INT, '.',
     "\xe2\x88\x92"
     "7",
     "-7"}, /* a minus of typographers */
    {SN_TYPE_INT, '.', "1,234,567", "1234567"},
    {SN_TYPE_INT, ',', "1.234.567", "1234567"},
    {SN_TYPE_INT, '.', "1'234", "1234"},
    {SN_TYPE_INT, '.',
     "1\xc2\xa0"
     "234",
     "1234"}, /* a blank that does not break */
    {SN_TYPE_INT, '.', "007", "7"},
    {SN_TYPE_INT, '.', "12.0", "type '12.0' is not a whole number"},
    {SN_TYPE_INT, '.', "1,23",
     "type '1,23' is not a whole number"}, /* no group of three */
    {SN_TYPE_INT, '.', "12 apples", "type '12 apples' is not a whole number"},
    {SN_TYPE_INT, '.', "99999999999999999999",
     "type '99999999999999999999' is not a whole number"},
    {SN_TYPE_NUMBER, '.', "1,234.5", "1234.5"},
    {SN_TYPE_NUMBER, ',', "1.234,5", "1234.5"},
    {SN_TYPE_NUMBER, ',', "0,5", "0.5"},
    {SN_TYPE_NUMBER, '.', ".5", "type '.5' is not a number"},
    {SN_TYPE_NUMBER, '.', "5.", "type '5.' is not a number"},
    {SN_TYPE_NUMBER, '.', "1e5", "type '1e5' is not a number"},
    {SN_TYPE_NUMBER, '.', "1,2,3", "type '1,2,3' is not a number"},
    {SN_TYPE_MONEY, ',', "12,50 \xe2\x82\xac", "{\"amount\":12.5,\"currency\":\"EUR\"}"},
    {SN_TYPE_MONEY, '.', "$1,234.50", "{\"amount\":1234.5,\"currency\":\"USD\"}"},
    {SN_TYPE_MONEY, '.', "-$5", "{\"amount\":-5,\"currency\":\"USD\"}"},
    {SN_TYPE_MONEY, '.', "US$ 5", "{\"amount\":5,\"currency\":\"USD\"}"},
    {SN_TYPE_MONEY, '.', "CHF 12.00", "{\"amount\":12.0,\"currency\":\"CHF\"}"},
    {SN_TYPE_MONEY, '.', "12 SEK", "{\"amount\":12,\"currency\":\"SEK\"}"},
    {SN_TYPE_MONEY, '.', "12", "{\"amount\":12,\"currency\":null}"},
    {SN_TYPE_MONEY, '.', "from 12 EUR", "type 'from 12 EUR' is not an amount of money"},
    {SN_TYPE_MONEY, '.', "12 PCS", "type '12 PCS' is not an amount of money"},
    {SN_TYPE_MONEY, '.', "EUR", "type 'EUR' is not an amount of money"},
};

TEST(typed_numbers_are_read_by_their_decimal_mark)
{
    EACH_ROW(i, numbers) {
        sn_meaning m = {.type = numbers[i].type, .decimal = numbers[i].decimal};
        char got[256];

        typed(&m, numbers[i].text, got, sizeof got);
        CHECK_STR(got, numbers[i].want);
    }
}

static const struct {
    sn_type type;
    const char *format, *text, *want;
} others[] = {
    {SN_TYPE_BOOL, "", "Yes", "true"},
    {SN_TYPE_BOOL, "", "0", "false"},
    {SN_TYPE_BOOL, "", "maybe", "type 'maybe' is neither true nor false"},
    {SN_TYPE_DATE, "", "2024-02-29", "\"2024-02-29\""},
    {SN_TYPE_DATE, "", "2023-02-29", "type '2023-02-29' is not a date"},
    {SN_TYPE_DATE, "%d/%m/%y", "3/1/70", "\"1970-01-03\""},
    {SN_TYPE_DATE, "%d/%m/%y", "3/1/69", "\"2069-01-03\""},
    {SN_TYPE_DATE, "%A, %B %e, %Y", "sunday,  nov  3, 2024", "\"2024-11-03\""},
    {SN_TYPE_DATE, "%Y-%j", "2024-366", "\"2024-12-31\""},
    {SN_TYPE_DATE, "%Y-%j", "2023-366", "type '2023-366' is not a date (%Y-%j)"},
    {SN_TYPE_DATE, "%Y", "2024 x", "type '2024 x' is not a date (%Y)"},
    {SN_TYPE_MONTH, "", "2024-11", "\"2024-11\""},
    {SN_TYPE_MONTH, "%B %Y", "May 2024", "\"2024-05\""},
    {SN_TYPE_MONTH, "", "2024-13", "type '2024-13' is not a month"},
    {SN_TYPE_TIME, "", "08:30", "\"08:30:00\""},
    {SN_TYPE_TIME, "%I:%M %p", "12:05 am", "\"00:05:00\""},
    {SN_TYPE_TIME, "%I:%M %p", "12:05 PM", "\"12:05:00\""},
    {SN_TYPE_TIME, "%I:%M %p", "7ish", "type '7ish' is not a time (%I:%M %p)"},
    {SN_TYPE_DATETIME, "", "2024-11-03T08:30:00.125+01:00",
     "\"2024-11-03T08:30:00+01:00\""},
    {SN_TYPE_DATETIME, "", "2024-11-03 08:30", "\"2024-11-03T08:30:00Z\""},
    {SN_TYPE_DATETIME, "", "2024-11-03T24:00",
     "type '2024-11-03T24:00' is not a date and time"},
    {SN_TYPE_DATETIME, "%a, %d %b %Y %H:%M:%S %z", "Sun, 03 Nov 2024 08:30:00 -0500",
     "\"2024-11-03T08:30:00-05:00\""},
    {SN_TYPE_DURATION, "", "1h30m", "5400"},
    {SN_TYPE_DURATION, "", "1h 30m", "5400"},
    {SN_TYPE_DURATION, "", "1:30:05", "5405"},
    {SN_TYPE_DURATION, "", "PT1H30M", "5400"},
    {SN_TYPE_DURATION, "", "P1M", "type 'P1M' is not a duration"}, /* no fixed length */
    {SN_TYPE_DURATION, "", "long", "type 'long' is not a duration"},
    {SN_TYPE_URL, "", "../a b", "\"https://e.example/a%20b\""},
    {SN_TYPE_URL, "", "javascript:x", "type 'javascript:x' is not an http or https URL"},
    {SN_TYPE_EMAIL, "", "mailto:a.b@e.example?subject=x", "\"a.b@e.example\""},
    {SN_TYPE_EMAIL, "", "a@b", "type 'a@b' is not a mail address"},
    {SN_TYPE_EMAIL, "", "a b@e.example", "type 'a b@e.example' is not a mail address"},
    {SN_TYPE_JSON, "", "{\"a\": [1]}", "{\"a\":[1]}"},
    {SN_TYPE_JSON, "", "{a}", "type '{a}' is not JSON"},
    {SN_TYPE_STRING, "", "\xff", "type '…' is not a text in UTF-8"},
};

TEST(typed_values_have_one_form_or_a_reason)
{
    EACH_ROW(i, others) {
        sn_meaning m = {.type = others[i].type,
                        .decimal = '.',
                        .format = sn_str_of(others[i].format)};
        char got[256];

        typed(&m, others[i].text, got, sizeof got);
        CHECK_STR(got, others[i].want);
    }
}

TEST(typed_values_stay_within_their_bounds)
{
    static const sn_str colours[] = {{"red", 3}, {"blue", 4}};
    sn_meaning range = {
        .type = SN_TYPE_INT, .decimal = '.', .min = SN_STR("2"), .max = SN_STR("5")};
    sn_meaning date = {.type = SN_TYPE_DATE, .decimal = '.', .min = SN_STR("2024-01-01")};
    sn_meaning money = {.type = SN_TYPE_MONEY, .decimal = '.', .max = SN_STR("9.5")};
    sn_meaning one_of = {
        .type = SN_TYPE_ENUM, .decimal = '.', .values = colours, .n_values = 2};
    char got[256];

    typed(&range, "2", got, sizeof got);
    CHECK_STR(got, "2");
    typed(&range, "1", got, sizeof got);
    CHECK_STR(got, "range '1' is below the minimum 2");
    typed(&range, "6", got, sizeof got);
    CHECK_STR(got, "range '6' is above the maximum 5");
    typed(&date, "2023-12-31", got, sizeof got);
    CHECK_STR(got, "range '2023-12-31' is below the minimum 2024-01-01");
    typed(&money, "10 EUR", got, sizeof got);
    CHECK_STR(got,
              "range '{\"amount\":10,\"currency\":\"EUR\"}' is above the maximum 9.5");
    typed(&one_of, "green", got, sizeof got);
    CHECK_STR(got, "enum 'green' is none of the values");
}
