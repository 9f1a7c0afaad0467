/* SPDX-License-Identifier: Apache-2.0 */
/* Types but numbers and money: typed_number.c has those. */
#include "recipe/typed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "recipe/date_format.h"
#include "recipe/typed_parts.h"
#include "seine/calendar.h"
#include "seine/units.h"

void
sn_typed_wrong(sn_typed_error *out, const char *why, sn_str text, const char *what)
{
    int shown = text.len <= 60 ? (int)text.len : 57;

    while (shown > 0 && shown < (int)text.len && (text.ptr[shown] & 0xc0) == 0x80)
        shown--;
    out->why = why;
    snprintf(out->text, sizeof out->text, "'%.*s%s' %s", shown, text.ptr,
             text.len > 60 ? "…" : "", what);
}

static seine_json *
text_value(sn_str s)
{
    return seine_json_new_string(s.ptr ? s.ptr : "", s.len);
}

static seine_json *
bool_value(sn_str s, bool *out_good)
{
    *out_good = true;
    if (sn_str_is_among(s, "true yes 1 on"))
        return seine_json_new_bool(true);
    if (sn_str_is_among(s, "false no 0 off"))
        return seine_json_new_bool(false);
    *out_good = false;
    return NULL;
}

/* RFC 3339 with the offset that the text, or the zone, or neither has. */
static bool
print_datetime(const seine_recipe *r, const sn_meaning *m, sn_moment t, char *out,
               size_t cap)
{
    seine_date d = {t.year, t.month, t.day, t.hour, t.minute, t.second};
    int64_t local = seine_calendar_seconds(&d), offset = t.offset;

    if (!t.has_offset && m->zone.len > 0 && !sn_recipe_zone(r, m->zone, local, &offset))
        return false;
    int64_t odd = offset % 60; /* offsets had seconds once; RFC 3339 has none */
    d = seine_calendar_date(local - odd);
    offset -= odd;
    int64_t minutes = (offset < 0 ? -offset : offset) / 60;
    int n = snprintf(out, cap, "%04d-%02d-%02dT%02d:%02d:%02d", d.year, d.month, d.day,
                     d.hour, d.minute, d.second);
    if (offset == 0)
        snprintf(out + n, cap - (size_t)n, "Z");
    else
        snprintf(out + n, cap - (size_t)n, "%c%02" PRId64 ":%02" PRId64,
                 offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
    return d.year >= 0 && d.year <= 9999;
}

static seine_json *
date_value(const seine_recipe *r, const sn_meaning *m, sn_str s, bool *out_good)
{
    char out[64] = "";
    sn_moment t;

    *out_good = m->format.len > 0 ? sn_date_format_read(m->format, s, &t)
                                  : sn_date_iso_read(m->type, s, &t);
    if (!*out_good)
        return NULL;
    switch (m->type) {
    case SN_TYPE_DATE:
        snprintf(out, sizeof out, "%04d-%02d-%02d", t.year, t.month, t.day);
        break;
    case SN_TYPE_MONTH:
        snprintf(out, sizeof out, "%04d-%02d", t.year, t.month);
        break;
    case SN_TYPE_TIME:
        snprintf(out, sizeof out, "%02d:%02d:%02d", t.hour, t.minute, t.second);
        break;
    default:
        *out_good = print_datetime(r, m, t, out, sizeof out);
    }
    return *out_good ? text_value(sn_str_of(out)) : NULL;
}

/* H:MM or H:MM:SS, as films and races have it; a lone M:SS cannot be told from it. */
static bool
read_clock(sn_str s, double *out)
{
    unsigned parts = 0;
    sn_str part;
    uint64_t n;
    double total = 0;

    while (sn_str_next(&s, ':', &part)) {
        if (sn_str_u64(part, &n) != SEINE_OK || n > 1000000 || (parts > 0 && n > 59))
            return false;
        total = total * 60 + (double)n;
        parts++;
    }
    *out = parts == 2 ? total * 60 : total;
    return parts == 2 || parts == 3;
}

/* PT1H30M, P2DT3H: the units that have one length. */
static bool
read_iso_duration(sn_str s, double *out)
{
    bool in_time = false;
    double total = 0;
    size_t i = 1;

    if (s.len < 3 || s.ptr[0] != 'P')
        return false;
    while (i < s.len) {
        double n = 0, unit;
        size_t from;
        if (s.ptr[i] == 'T') {
            in_time = true;
            i++;
        }
        for (from = i; i < s.len && sn_is_digit(s.ptr[i]) && i - from < 9; i++)
            n = n * 10 + (s.ptr[i] - '0');
        if (i == from || i == s.len)
            return false;
        unit = s.ptr[i] == 'W'              ? 604800
               : s.ptr[i] == 'D'            ? 86400
               : in_time && s.ptr[i] == 'H' ? 3600
               : in_time && s.ptr[i] == 'M' ? 60
               : in_time && s.ptr[i] == 'S' ? 1
                                            : 0;
        if (unit == 0)
            return false;
        total += n * unit;
        i++;
    }
    *out = total;
    return true;
}

/* Seconds. */
static seine_json *
duration_value(sn_str s, bool *out_good)
{
    char text[64];
    seine_span span;
    double seconds = 0;
    size_t n = 0;

    for (size_t i = 0; i < s.len && n + 1 < sizeof text; i++)
        if (s.ptr[i] != ' ') /* 1h 30m */
            text[n++] = s.ptr[i];
    text[n] = '\0';
    *out_good = s.len < sizeof text;
    if (*out_good && strlen(text) == n && n > 0 && !seine_units_span(text, &span))
        seconds = (double)span / 1e9;
    else
        *out_good =
            *out_good && (read_clock(s, &seconds) || read_iso_duration(s, &seconds));
    if (!*out_good)
        return NULL;
    if (seconds == (double)(int64_t)seconds)
        return seine_json_new_int((int64_t)seconds);
    return seine_json_new_real(seconds);
}

static seine_json *
url_value(sn_str s, const seine_url *base, bool *out_good)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    seine_err e = base && seine_url_href(base).len > 0
                      ? seine_url_resolve(&u, base, s.ptr, s.len, NULL)
                      : seine_url_parse(&u, s.ptr, s.len, NULL);
    seine_view scheme = seine_url_scheme(&u);
    *out_good = e == SEINE_OK &&
                (sn_str_eq(scheme, SN_STR("http")) || sn_str_eq(scheme, SN_STR("https")));
    return *out_good ? text_value(seine_url_href(&u)) : NULL;
}

static bool
is_email_part(sn_str s, const char *more)
{
    if (s.len == 0 || s.ptr[0] == '.' || s.ptr[s.len - 1] == '.')
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (!sn_is_alpha(s.ptr[i]) && !sn_is_digit(s.ptr[i]) && s.ptr[i] >= 0 &&
            !strchr(more, s.ptr[i]))
            return false;
    return true;
}

static seine_json *
email_value(sn_str s, bool *out_good)
{
    sn_str local, domain;

    if (sn_str_starts_nocase(s, SN_STR("mailto:")))
        s = sn_str_slice(s, 7, sn_str_find(s, '?'));
    *out_good = sn_str_cut(s, '@', &local, &domain) && s.len <= 254 &&
                is_email_part(local, "!#$%&'*+/=?^_`{|}~.-") &&
                is_email_part(domain, ".-") && sn_str_find(domain, '.') < domain.len;
    return *out_good ? text_value(s) : NULL;
}

static seine_json *
json_value(sn_str s, bool *out_good)
{
    seine_json *json = NULL;
    seine_err e = seine_json_parse(s.ptr, s.len, &json, NULL);

    *out_good = e == SEINE_OK || e == SEINE_E_NOMEM;
    return json;
}

static seine_json *
value_of(const seine_recipe *r, const sn_meaning *m, sn_str s, const seine_url *base,
         bool *out_good)
{
    *out_good = true;
    switch (m->type) {
    case SN_TYPE_INT:
    case SN_TYPE_NUMBER:
        return sn_typed_number_value(m, s, out_good);
    case SN_TYPE_MONEY:
        return sn_typed_money_value(m, s, out_good);
    case SN_TYPE_BOOL:
        return bool_value(s, out_good);
    case SN_TYPE_DATE:
    case SN_TYPE_TIME:
    case SN_TYPE_MONTH:
    case SN_TYPE_DATETIME:
        return date_value(r, m, s, out_good);
    case SN_TYPE_DURATION:
        return duration_value(s, out_good);
    case SN_TYPE_URL:
        return url_value(s, base, out_good);
    case SN_TYPE_EMAIL:
        return email_value(s, out_good);
    case SN_TYPE_JSON:
        return json_value(s, out_good);
    default:
        return text_value(s);
    }
}

static const char *
is_not(sn_type type)
{
    static const char *const words[SN_TYPE_COUNT] = {
        [SN_TYPE_INT] = "is not a whole number",
        [SN_TYPE_NUMBER] = "is not a number",
        [SN_TYPE_BOOL] = "is neither true nor false",
        [SN_TYPE_DATE] = "is not a date",
        [SN_TYPE_TIME] = "is not a time",
        [SN_TYPE_MONTH] = "is not a month",
        [SN_TYPE_DATETIME] = "is not a date and time",
        [SN_TYPE_DURATION] = "is not a duration",
        [SN_TYPE_MONEY] = "is not an amount of money",
        [SN_TYPE_URL] = "is not an http or https URL",
        [SN_TYPE_EMAIL] = "is not a mail address",
        [SN_TYPE_JSON] = "is not JSON",
    };

    return words[type] ? words[type] : "is not a text in UTF-8";
}

static void
wrong_type(sn_typed_error *out, const sn_meaning *m, sn_str text)
{
    char what[120];

    snprintf(what, sizeof what, m->format.len > 0 ? "%s (%.*s)" : "%s", is_not(m->type),
             m->format.len < 60 ? (int)m->format.len : 60, m->format.ptr);
    sn_typed_wrong(out, "type", text, what);
}

seine_err
sn_typed(const seine_recipe *r, const sn_meaning *m, sn_str text, const seine_url *base,
         seine_json **out_value, sn_typed_error *out_why)
{
    bool good;

    if (!sn_utf8_valid(text)) {
        sn_typed_wrong(out_why, "type", SN_STR("…"), "is not a text in UTF-8");
        return SEINE_E_INVAL;
    }
    seine_json *value = value_of(r, m, text, base, &good);
    if (!good) {
        wrong_type(out_why, m, text);
        return SEINE_E_INVAL;
    }
    seine_err e = value ? sn_typed_check(m, value, out_why) : SEINE_E_NOMEM;
    if (e != SEINE_OK) {
        seine_json_free(value);
        return e;
    }
    *out_value = value;
    return SEINE_OK;
}
