/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/currency.h"

#include "check.h"

TEST(currency_is_a_code_of_iso_4217_or_a_sign)
{
    static const struct {
        const char *text, *code; /* "": none */
        size_t n;
    } rows[] = {
        {"AED 5", "AED", 3},
        {"EUR", "EUR", 3},
        {"ZWL1", "ZWL", 3},
        {"XCG 2", "XCG", 3},
        {"XAU", "XAU", 3},
        {"KRW.", "KRW", 3},
        {"US$ 5", "USD", 3},
        {"$5", "USD", 1},
        {"\xe2\x82\xac"
         "5",
         "EUR", 3},
        {"z\xc5\x82", "PLN", 3},
        {"ABC 5", "", 0},
        {"PCS", "", 0},
        {"XXX 1", "", 0},
        {"EURO 5", "", 0},
        {"eur", "", 0},
        {"EU", "", 0},
        {"", "", 0},
        {"AAA", "", 0},
        {"ZZZ", "", 0},
    };

    EACH_ROW(i, rows) {
        char code[4] = "";

        CHECK_EQ(sn_currency_at(sn_str_of(rows[i].text), code), rows[i].n);
        CHECK_STR(code, rows[i].code);
    }
}
