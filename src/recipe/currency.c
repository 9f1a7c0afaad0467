/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/currency.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const char codes[] = /* sorted, three letters each */
    "AEDAFNALLAMDANGAOAARSAUDAWGAZNBAMBBDBDTBGNBHDBIF"
    "BMDBNDBOBBOVBRLBSDBTNBWPBYNBZDCADCDFCHECHFCHWCLF"
    "CLPCNYCOPCOUCRCCUCCUPCVECZKDJFDKKDOPDZDEGPERNETB"
    "EURFJDFKPGBPGELGHSGIPGMDGNFGTQGYDHKDHNLHRKHTGHUF"
    "IDRILSINRIQDIRRISKJMDJODJPYKESKGSKHRKMFKPWKRWKWD"
    "KYDKZTLAKLBPLKRLRDLSLLYDMADMDLMGAMKDMMKMNTMOPMRU"
    "MURMVRMWKMXNMXVMYRMZNNADNGNNIONOKNPRNZDOMRPABPEN"
    "PGKPHPPKRPLNPYGQARRONRSDRUBRWFSARSBDSCRSDGSEKSGD"
    "SHPSLESLLSOSSRDSSPSTNSVCSYPSZLTHBTJSTMTTNDTOPTRY"
    "TTDTWDTZSUAHUGXUSDUSNUYIUYUUYWUZSVEDVESVNDVUVWST"
    "XADXAFXAGXAUXBAXBBXBCXBDXCDXCGXDRXOFXPDXPFXPTXSU"
    "XUAYERZARZMWZWGZWL";
/* clang-format on */

_Static_assert((sizeof codes - 1) % 3 == 0, "codes have three letters");

static const struct {
    const char *mark, *code;
} currencies[] = {
    {"US$", "USD"},
    {"A$", "AUD"},
    {"AU$", "AUD"},
    {"C$", "CAD"},
    {"CA$", "CAD"},
    {"NZ$", "NZD"},
    {"HK$", "HKD"},
    {"S$", "SGD"},
    {"R$", "BRL"},
    {"MX$", "MXN"},
    {"$", "USD"},
    {"\xe2\x82\xac", "EUR"},
    {"\xc2\xa3", "GBP"},
    {"\xc2\xa5", "JPY"},
    {"Fr.", "CHF"},
    {"\xe2\x82\xb9", "INR"},
    {"\xe2\x82\xa9", "KRW"},
    {"\xe2\x82\xbd", "RUB"},
    {"\xe2\x82\xba", "TRY"},
    {"\xe2\x82\xb4", "UAH"},
    {"\xe2\x82\xaa", "ILS"},
    {"\xe0\xb8\xbf", "THB"},
    {"z\xc5\x82", "PLN"},
    {"K\xc4\x8d", "CZK"},
    {"Ft", "HUF"},
};

static int
compare_codes(const void *a, const void *b)
{
    return memcmp(a, b, 3);
}

/* A code that no letter follows. */
static bool
is_code(sn_str s)
{
    return s.len >= 3 && (s.len == 3 || !sn_is_alpha(s.ptr[3])) &&
           bsearch(s.ptr, codes, sizeof codes / 3, 3, compare_codes);
}

size_t
sn_currency_at(sn_str s, char out_code[4])
{
    if (is_code(s)) {
        memcpy(out_code, s.ptr, 3);
        out_code[3] = '\0';
        return 3;
    }
    for (size_t i = 0; i < sizeof currencies / sizeof *currencies; i++)
        if (sn_str_starts(s, sn_str_of(currencies[i].mark))) {
            memcpy(out_code, currencies[i].code, 4);
            return strlen(currencies[i].mark);
        }
    return 0;
}
