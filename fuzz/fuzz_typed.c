/* SPDX-License-Identifier: Apache-2.0 */
/* A byte that chooses type and decimal mark, a format of dates, a zero byte and a text: a
 * format that is refused is told why; the text becomes a value of its type, which is read
 * to itself again, or the reason why it does not is a short text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/plumbing.h>

#include "recipe/date_format.h"
#include "recipe/typed.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static bool
is_of_dates(sn_type type)
{
    return type == SN_TYPE_DATE || type == SN_TYPE_TIME || type == SN_TYPE_MONTH ||
           type == SN_TYPE_DATETIME;
}

static void
check_moment(sn_str format, sn_str text)
{
    sn_moment m = {.month = 1, .day = 1};

    if (!sn_date_format_read(format, text, &m))
        return;
    REQUIRE(m.month >= 1 && m.month <= 12 && m.day >= 1 && m.day <= 31);
    REQUIRE(m.hour >= 0 && m.hour <= 23 && m.minute >= 0 && m.minute <= 59);
    REQUIRE(m.second >= 0 && m.second <= 60);
    REQUIRE(m.offset > -86400 && m.offset < 86400);
}

/* What a date, a time, a month or a moment has become is the same in ISO 8601. */
static void
check_again(const seine_recipe *r, sn_type type, const seine_json *value)
{
    sn_meaning plain = {.type = type, .decimal = '.'};
    sn_typed_error why = {"", ""};
    seine_json *again = NULL;
    const char *once, *twice;
    size_t n, m;

    REQUIRE(seine_json_string(value, &once, &n));
    seine_err e = sn_typed(r, &plain, (sn_str){once, n}, NULL, &again, &why);
    REQUIRE(e == SEINE_OK || e == SEINE_E_NOMEM);
    if (e == SEINE_OK)
        REQUIRE(seine_json_string(again, &twice, &m) && n == m &&
                memcmp(once, twice, n) == 0);
    seine_json_free(again);
}

static void
read_value(const sn_meaning *m, sn_str text)
{
    static const seine_recipe r;
    sn_typed_error why = {NULL, ""};
    seine_json *value = NULL;
    seine_text printed = {NULL, 0};
    seine_err e = sn_typed(&r, m, text, NULL, &value, &why);

    REQUIRE(e == SEINE_OK || e == SEINE_E_INVAL || e == SEINE_E_NOMEM);
    if (e == SEINE_E_INVAL)
        REQUIRE(!value && why.why && memchr(why.text, '\0', sizeof why.text));
    if (e != SEINE_OK)
        return;
    REQUIRE(seine_json_print(value, &printed) == SEINE_OK);
    REQUIRE(seine_json_check(printed.bytes, printed.len, NULL, NULL) == SEINE_OK);
    if (is_of_dates(m->type))
        check_again(&r, m->type, value);
    seine_text_free(&printed);
    seine_json_free(value);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const sn_str zones[] = {
        {"", 0}, {"UTC", 3}, {"+05:30", 6}, {"-12:00", 6}}; /* no file is read */

    if (n < 2)
        return 0;
    char *copy = malloc(n); /* so that a byte too many is seen */
    if (!copy)
        return 0;
    memcpy(copy, bytes, n);
    const char *zero = memchr(copy + 2, '\0', n - 2);
    size_t len = zero ? (size_t)(zero - copy) - 2 : 0;
    sn_str format = {copy + 2, len};
    sn_str text = zero ? (sn_str){zero + 1, n - len - 3} : (sn_str){copy + 2, n - 2};
    sn_meaning m = {.type = (sn_type)(bytes[0] % SN_TYPE_COUNT),
                    .decimal = bytes[1] & 1 ? ',' : '.',
                    .zone = zones[(bytes[1] >> 1) & 3]};

    if (is_of_dates(m.type) && len > 0 && !sn_date_format_check(format, m.type)) {
        m.format = format;
        check_moment(format, text);
    }
    if (text.len > 0 && !memchr(text.ptr, '\0', text.len))
        read_value(&m, text);
    free(copy);
    return 0;
}
