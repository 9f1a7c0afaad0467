/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as people write them, and money. */
#include <string.h>

#include "recipe/currency.h"
#include "recipe/typed_parts.h"

/* Blanks between groups of digits: also those that do not break a line. */
static size_t
blank_at(sn_str s)
{
    static const char *const blanks[] = {" ", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89"};

    for (size_t i = 0; i < 4; i++)
        if (sn_str_starts(s, sn_str_of(blanks[i])))
            return strlen(blanks[i]);
    return 0;
}

/* What separates groups of three digits; 0: nothing does here. */
static size_t
separator_at(sn_str s, char decimal)
{
    if (s.len > 0 && s.ptr[0] != decimal && strchr(".,'", s.ptr[0]) && s.ptr[0] != '\0')
        return 1;
    if (sn_str_starts(s, SN_STR("\xe2\x80\x99"))) /* ’ */
        return 3;
    return blank_at(s);
}

static size_t
digits_at(sn_str s)
{
    size_t n = 0;

    while (n < s.len && sn_is_digit(s.ptr[n]))
        n++;
    return n;
}

/* The sign at the beginning; returns its bytes. */
static size_t
sign_at(sn_str s, bool *out_minus)
{
    *out_minus =
        sn_str_starts(s, SN_STR("-")) || sn_str_starts(s, SN_STR("\xe2\x88\x92"));
    if (!*out_minus)
        return sn_str_starts(s, SN_STR("+"));
    return s.ptr[0] == '-' ? 1 : 3;
}

/* Digits that are written one behind the other into the caller's memory. */
typedef struct written {
    char *out;
    size_t len, cap;
    bool is_full;
} written;

static void
write_bytes(written *w, const char *bytes, size_t n)
{
    if (n >= w->cap - w->len) {
        w->is_full = true;
        return;
    }
    memcpy(w->out + w->len, bytes, n);
    w->len += n;
    w->out[w->len] = '\0';
}

/* JSON has no leading zeros. */
static void
write_first(written *w, const char *digits, size_t n)
{
    while (n > 1 && *digits == '0') {
        digits++;
        n--;
    }
    write_bytes(w, digits, n);
}

/* Copies the digits before the mark; returns the bytes read, 0: the groups are wrong. A
 * group behind a lone zero is none. */
static size_t
copy_groups(sn_str s, char decimal, written *w)
{
    size_t at = digits_at(s);
    bool grouped = at > 0 && at <= 3 && s.ptr[0] != '0';

    if (at == 0)
        return 0;
    write_first(w, s.ptr, at);
    while (grouped) {
        size_t by = separator_at(sn_str_slice(s, at, s.len), decimal);
        size_t n = digits_at(sn_str_slice(s, at + by, s.len));
        if (by == 0 || n == 0)
            break;
        if (n != 3)
            return 0;
        write_bytes(w, s.ptr + at + by, 3);
        at += by + 3;
    }
    return at;
}

bool
sn_typed_number(sn_str text, char decimal, char *out, size_t cap)
{
    sn_str s = sn_str_trim(text);
    written w = {out, 0, cap, false};
    bool minus;

    s = sn_str_slice(s, sign_at(s, &minus), s.len);
    if (minus)
        write_bytes(&w, "-", 1);
    size_t at = copy_groups(s, decimal, &w);
    if (at > 0 && at < s.len && s.ptr[at] == decimal) {
        size_t n = digits_at(sn_str_slice(s, at + 1, s.len));
        if (n == 0)
            return false;
        write_bytes(&w, ".", 1);
        write_bytes(&w, s.ptr + at + 1, n);
        at += 1 + n;
    }
    return at > 0 && at == s.len && !w.is_full;
}

seine_json *
sn_typed_number_value(const sn_meaning *m, sn_str s, bool *out_good)
{
    seine_json *json = NULL;
    char text[64];

    *out_good = sn_typed_number(s, m->decimal, text, sizeof text - 2);
    if (!*out_good)
        return NULL;
    if (m->type == SN_TYPE_NUMBER && !strchr(text, '.') && strlen(text) > 18)
        memcpy(text + strlen(text), ".0", 3);
    seine_err e = seine_json_parse(text, strlen(text), &json, NULL);
    *out_good = e == SEINE_OK || e == SEINE_E_NOMEM;
    if (json && m->type == SN_TYPE_INT && seine_json_type_of(json) != SEINE_JSON_INT) {
        *out_good = false;
        seine_json_free(json);
        return NULL;
    }
    return json;
}

static sn_str
skip_blank(sn_str s)
{
    size_t n;

    while ((n = blank_at(s)) > 0)
        s = sn_str_slice(s, n, s.len);
    return s;
}

/* Finds amount and currency in "EUR 12,50", "12,50 €", "-$5". */
static bool
read_money(const sn_meaning *m, sn_str s, char amount[64], char code[4])
{
    bool minus;
    char number[64];

    s = sn_str_trim(s);
    size_t sign = sign_at(s, &minus),
           n = sn_currency_at(sn_str_slice(s, sign, s.len), code);
    if (n > 0) {
        s = skip_blank(sn_str_slice(s, sign + n, s.len));
    } else {
        s = sn_str_slice(s, sign, s.len);
        for (n = s.len; n > 0; n--) /* the currency behind the last digit */
            if (sn_is_digit(s.ptr[n - 1]))
                break;
        sn_str rest = skip_blank(sn_str_slice(s, n, s.len));
        if (rest.len > 0 && sn_currency_at(rest, code) != rest.len)
            return false;
        s = sn_str_slice(s, 0, n);
    }
    if (s.len == 0 || (minus && s.ptr[0] == '-') ||
        !sn_typed_number(s, m->decimal, number, sizeof number - 1))
        return false;
    amount[0] = '-';
    memcpy(amount + minus, number, strlen(number) + 1);
    return true;
}

seine_json *
sn_typed_money_value(const sn_meaning *m, sn_str s, bool *out_good)
{
    char amount[66], code[4] = "";
    seine_json *number = NULL, *all;

    *out_good = read_money(m, s, amount, code);
    if (!*out_good)
        return NULL;
    seine_err e = seine_json_parse(amount, strlen(amount), &number, NULL);
    *out_good = e == SEINE_OK || e == SEINE_E_NOMEM;
    if (!number)
        return NULL;
    all = seine_json_new_object();
    e = seine_json_set(all, "amount", number);
    if (e == SEINE_OK)
        e = seine_json_set(all, "currency",
                           code[0] ? seine_json_new_string(code, 3)
                                   : seine_json_new_null());
    if (e == SEINE_OK)
        return all;
    seine_json_free(all);
    return NULL;
}
