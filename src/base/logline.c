/* SPDX-License-Identifier: Apache-2.0 */
#include "base/logline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/inert.h"
#include "base/redact.h"
#include "base/time.h"
#include "seine/calendar.h"

#define LIMIT    (SN_LINE - 128) /* leaves room for the end of a line */
#define NAME     64              /* bytes of a field's name or an event word */
#define VALUE    2048            /* bytes of a value, as written */
#define ELLIPSIS SN_STR("\xe2\x80\xa6")
#define STRANGE  SN_STR("\xef\xbf\xbd") /* U+FFFD */

/* Where text stands: in JSON, in quotes, or bare. */
typedef enum style { JSON, QUOTED, BARE } style;

/* Offset of the time 19:20:01 in {"@timestamp":"2026-11-15T19:20:01.123456Z", and the
 * length of the whole. */
#define JSON_TIME 15
#define JSON_HEAD (JSON_TIME + 28)
#define TEXT_HEAD 8

/* The vocabulary: short names in code and text, ECS names in JSON. */
static const struct word {
    const char *name, *json;
} words[] = {
    {"address", "server.address"},
    {"breaker", "seine.breaker.state"},
    {"check", "seine.check"},
    {"delay", "seine.retry.delay"},
    {"doc", "seine.doc"},
    {"dropped", "seine.dropped"},
    {"err", "error.type"},
    {"error", "error.message"},
    {"health", "seine.health"},
    {"host", "seine.host"},
    {"job", "seine.job"},
    {"method", "http.request.method"},
    {"port", "server.port"},
    {"protocol", "network.protocol.version"},
    {"recipe", "seine.recipe"},
    {"resend", "http.request.resend_count"},
    {"run", "seine.run"},
    {"size", "http.response.body.size"},
    {"status", "http.response.status_code"},
    {"url", "url.full"},
    {"user", "seine.user"},
    {"wait", "seine.wait.reason"},
};

static void
put_str(sn_line *l, sn_str s)
{
    if (l->is_over || s.len > LIMIT - l->len) {
        l->is_over = true;
        return;
    }
    if (s.len > 0)
        memcpy(l->bytes + l->len, s.ptr, s.len);
    l->len += s.len;
}

static void
put_text(sn_line *l, const char *text)
{
    put_str(l, sn_str_of(text));
}

/* Writes the escape for `c`; returns 0 if `c` needs none. */
static int
escape_of(uint32_t c, style how, char out[16])
{
    static const char from[] = "\"\\\n\r\t", to[] = "\"\\nrt";
    const char *known = c > 0 && c < 0x80 ? strchr(from, (int)c) : NULL;

    if (how == JSON && known)
        return snprintf(out, 16, "\\%c", to[known - from]);
    if (how == JSON && (sn_inert_is_control(c) || c == 0x2028 || c == 0x2029))
        return snprintf(out, 16, "\\u%04x", c);
    if (how == JSON)
        return 0;
    if (c == '\\' || (c == '"' && how == QUOTED))
        return snprintf(out, 16, "\\%c", (char)c);
    if (sn_inert_is_control(c))
        return snprintf(out, 16, "\\x%02x", c);
    if (sn_inert_is_hidden(c))
        return snprintf(out, 16, "\\u{%04x}", c);
    return 0;
}

/* Length of the bytes at the start that no style escapes. The piece is short, so that a
 * long value can be cut close to its limit. */
static size_t
plain(const char *p, size_t n)
{
    size_t run = 0;

    while (run < n && run < 32 && p[run] >= ' ' && p[run] != '"' && p[run] != '\\' &&
           p[run] != 0x7f)
        run++;
    return run;
}

/* The next piece of `s` as it is written, plain bytes or one character; advances past the
 * piece. */
static sn_str
next_piece(sn_str s, size_t *at, style how, char out[16])
{
    const char *p = s.ptr + *at;
    uint32_t c = 0;
    size_t left = s.len - *at, len = plain(p, left);
    int n;

    if (len > 0) {
        *at += len;
        return (sn_str){p, len};
    }
    len = sn_utf8_decode((sn_str){p, left}, &c);
    *at += len > 0 ? len : 1;
    if (len == 0 && how == JSON)
        return STRANGE;
    if (len == 0)
        n = snprintf(out, 16, "\\x%02x", (unsigned)(unsigned char)*p);
    else
        n = escape_of(c, how, out);
    return n > 0 ? (sn_str){out, (size_t)n} : (sn_str){p, len};
}

/* Writes at most `max` bytes; a longer text ends in an ellipsis. */
static void
put_safe(sn_line *l, sn_str s, style how, size_t max)
{
    size_t room = LIMIT - l->len, end = l->len + (max < room ? max : room), cut = l->len;
    char escaped[16];

    for (size_t at = 0; at < s.len;) {
        sn_str piece = next_piece(s, &at, how, escaped);

        if (l->len + ELLIPSIS.len <= end)
            cut = l->len;
        if (piece.len > end - l->len) {
            l->len = cut;
            put_str(l, ELLIPSIS);
            return;
        }
        put_str(l, piece);
    }
}

/* A word stands bare; text that could be read as something else needs quotes. */
static bool
is_word(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] <= ' ' || s.ptr[i] == '"' || s.ptr[i] == '=')
            return false;
    return s.len > 0;
}

/* Holds more than put_safe writes, so that put_safe notices a cut. */
typedef struct clean {
    char bytes[VALUE + 64];
} clean;

static sn_str
cleaned(const seine_secrets *secrets, sn_str s, clean *room)
{
    size_t n = sn_redact(secrets, s, room->bytes, sizeof room->bytes);

    return (sn_str){room->bytes, n < sizeof room->bytes ? n : sizeof room->bytes};
}

static sn_str
cleaned_url(const seine_secrets *secrets, sn_str s, clean *room)
{
    size_t n = sn_redact_url(secrets, s, room->bytes, sizeof room->bytes);

    return (sn_str){room->bytes, n < sizeof room->bytes ? n : sizeof room->bytes};
}

static void
put_string(sn_line *l, seine_log_format f, sn_str s)
{
    style how = f == SEINE_LOG_JSON ? JSON : is_word(s) ? BARE : QUOTED;

    if (how != BARE)
        put_str(l, SN_STR("\""));
    put_safe(l, s, how, VALUE);
    if (how != BARE)
        put_str(l, SN_STR("\""));
}

/* Writes the shortest form that reads back as the same number. Replaces the decimal point
 * of the program's locale by a point. */
static void
put_double(sn_line *l, seine_log_format f, double d)
{
    char text[40], plain[40];
    size_t n = 0;

    if (!isfinite(d)) {
        put_string(l, f,
                   isnan(d) ? SN_STR("nan")
                   : d < 0  ? SN_STR("-inf")
                            : SN_STR("inf"));
        return;
    }
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, d);
        if (strtod(text, NULL) == d)
            break;
    }
    for (const char *p = text; *p; p++) {
        bool is_plain = sn_is_digit(*p) || *p == 'e' || *p == '-' || *p == '+';

        if (is_plain)
            plain[n++] = *p;
        else if (n == 0 || plain[n - 1] != '.')
            plain[n++] = '.';
    }
    put_str(l, (sn_str){plain, n});
}

static void
put_i64(sn_line *l, int64_t n)
{
    char text[24];

    put_str(l, (sn_str){text, sn_decimal_text(n, 0, text)});
}

static void
put_u64(sn_line *l, uint64_t n)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%llu", (unsigned long long)n);

    put_str(l, (sn_str){text, (size_t)len});
}

static void
put_value(sn_line *l, seine_log_format f, const seine_log_field *v,
          const seine_secrets *secrets)
{
    clean room;
    char text[24];

    switch (v->kind) {
    case SEINE_LOG_STR:
        put_string(l, f, cleaned(secrets, (sn_str){v->as.text, v->len}, &room));
        return;
    case SEINE_LOG_INT:
        put_i64(l, v->as.i);
        return;
    case SEINE_LOG_UINT:
        put_u64(l, v->as.u);
        return;
    case SEINE_LOG_DOUBLE:
        put_double(l, f, v->as.d);
        return;
    case SEINE_LOG_BOOL:
        put_text(l, v->as.u ? "true" : "false");
        return;
    case SEINE_LOG_SPAN:
        put_str(l, (sn_str){text, sn_decimal_text(v->as.i, 6, text)});
        if (f == SEINE_LOG_TEXT)
            put_text(l, "ms");
        return;
    case SEINE_LOG_ERR:
        put_string(l, f, sn_str_of(seine_err_name((seine_err)v->as.i)));
        return;
    case SEINE_LOG_URL:
        put_string(l, f, cleaned_url(secrets, (sn_str){v->as.text, v->len}, &room));
        return;
    case SEINE_LOG_SECRET:
        break;
    }
    put_string(l, f, SN_STR(SN_REDACTED));
}

static void
put_name(sn_line *l, seine_log_format f, const seine_log_field *v)
{
    sn_str name = sn_str_of(v->name);

    if (f == SEINE_LOG_TEXT) {
        put_safe(l, name, BARE, NAME);
        put_str(l, SN_STR("="));
        return;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (sn_str_eq(name, sn_str_of(words[i].name)))
            name = sn_str_of(words[i].json);
    put_str(l, SN_STR("\""));
    put_safe(l, name, JSON, NAME);
    if (v->kind == SEINE_LOG_SPAN && !sn_str_ends(name, SN_STR("_ms")))
        put_str(l, SN_STR("_ms"));
    put_str(l, SN_STR("\":"));
}

/* Writes the whole field, or nothing and returns false. */
static bool
put_field(sn_line *l, seine_log_format f, const sn_record *r, size_t i,
          const char *before)
{
    const seine_log_field *v = &r->fields[i];
    size_t mark = l->len;

    put_text(l, before);
    put_name(l, f, v);
    put_value(l, f, v, r->secrets);
    if (!l->is_over)
        return true;
    l->len = mark;
    l->is_over = false;
    return false;
}

static void
put_fields(sn_line *l, seine_log_format f, const sn_record *r)
{
    const char *before = f == SEINE_LOG_JSON ? "," : "  ";
    bool all = true;

    for (size_t i = 0; i < r->n && all; i++) {
        all = put_field(l, f, r, i, before);
        before = f == SEINE_LOG_JSON ? "," : " ";
    }
    l->is_over = !all;
}

static void
put_digits(char *to, int n, unsigned value)
{
    while (n-- > 0) {
        to[n] = (char)('0' + value % 10);
        value /= 10;
    }
}

void
sn_line_stamp(sn_line *l, seine_log_format f, int64_t wall)
{
    int64_t ns;
    seine_date d = seine_calendar_date(sn_time_seconds(wall, &ns));
    char time[] = "0000-00-00T00:00:00.000000Z";

    put_digits(time + 11, 2, (unsigned)d.hour);
    put_digits(time + 14, 2, (unsigned)d.minute);
    put_digits(time + 17, 2, (unsigned)d.second);
    if (f == SEINE_LOG_TEXT) {
        memcpy(l->bytes, time + 11, TEXT_HEAD);
        return;
    }
    put_digits(time, 4, (unsigned)d.year);
    put_digits(time + 5, 2, (unsigned)d.month);
    put_digits(time + 8, 2, (unsigned)d.day);
    put_digits(time + 20, 6, (unsigned)ns / 1000);
    memcpy(l->bytes + JSON_TIME, time, sizeof time - 1);
}

static void
put_pair(sn_line *l, const char *before, const char *value, size_t max)
{
    put_text(l, before);
    put_safe(l, sn_str_of(value), JSON, max);
    put_str(l, SN_STR("\""));
}

static void
put_message(sn_line *l, const sn_record *r, style how)
{
    clean room;
    sn_str message = sn_str_of(r->message ? r->message : r->event);

    put_safe(l, cleaned(r->secrets, message, &room), how, VALUE);
}

static void
begin_json(sn_line *l, const sn_record *r)
{
    put_text(l, "{\"@timestamp\":\"0000-00-00T00:00:00.000000Z\"");
    put_pair(l, ",\"log.level\":\"", seine_log_level_name(r->level), NAME);
    put_text(l, ",\"message\":\"");
    put_message(l, r, JSON);
    put_str(l, SN_STR("\""));
    put_pair(l, ",\"event.name\":\"", r->event, NAME);
    l->place = l->len;
    if (r->service[0])
        put_pair(l, ",\"service.name\":\"", r->service, VALUE);
    if (r->version[0])
        put_pair(l, ",\"service.version\":\"", r->version, VALUE);
    put_text(l, ",\"thread.id\":");
    put_i64(l, r->thread_id);
    put_pair(l, ",\"thread.name\":\"", r->thread, NAME);
    l->fields = l->len;
}

static void
begin_text(sn_line *l, const sn_record *r)
{
    sn_str level = sn_str_of(seine_log_level_name(r->level));

    put_text(l, "00:00:00 ");
    put_str(l, level);
    put_text(l, level.len < 5 ? "  " : " ");
    put_message(l, r, BARE);
    l->place = l->fields = l->len;
}

void
sn_line_begin(sn_line *l, seine_log_format f, const sn_record *r)
{
    l->len = 0;
    l->is_over = false;
    if (f == SEINE_LOG_JSON)
        begin_json(l, r);
    else
        begin_text(l, r);
    sn_line_stamp(l, f, r->wall);
    put_fields(l, f, r);
}

/* Uses the room that LIMIT leaves. */
static void
close_with(sn_line *l, const char *text)
{
    size_t n = strlen(text);

    memcpy(l->bytes + l->len, text, n);
    l->len += n;
}

void
sn_line_end(sn_line *l, seine_log_format f, uint64_t repeated)
{
    bool is_json = f == SEINE_LOG_JSON;
    char count[24];

    if (l->is_over)
        close_with(l, is_json ? ",\"seine.truncated\":true" : "  truncated=true");
    if (repeated > 0) {
        snprintf(count, sizeof count, "%llu", (unsigned long long)repeated);
        close_with(l, is_json ? ",\"seine.repeated\":" : "  repeated=");
        close_with(l, count);
    }
    close_with(l, is_json ? "}\n" : "\n");
}

uint64_t
sn_line_hash(const sn_line *l, seine_log_format f, const uint64_t secret[2])
{
    size_t head = f == SEINE_LOG_JSON ? JSON_HEAD : TEXT_HEAD;
    uint64_t key[2] = {sn_siphash(secret, l->bytes + head, l->place - head), secret[1]};

    return sn_siphash(key, l->bytes + l->fields, l->len - l->fields);
}
