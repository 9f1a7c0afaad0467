/* SPDX-License-Identifier: Apache-2.0 */
#include "console/json_out.h"

#include <string.h>
#include <time.h>

#include "base/json.h"

void
sn_json_out_next(sn_buf *b)
{
    char last = b->len ? b->ptr[b->len - 1] : '[';

    if (last != '{' && last != '[' && last != ':')
        sn_buf_char(b, ',');
}

void
sn_json_out_quoted(sn_buf *b, sn_str value)
{
    size_t need = sn_json_quote(value.ptr, value.len, NULL, 0);
    char *at = sn_buf_reserve(b, need + 1);

    if (at)
        sn_buf_commit(b, sn_json_quote(value.ptr, value.len, at, need + 1));
}

void
sn_json_out_name(sn_buf *b, const char *name)
{
    sn_json_out_next(b);
    sn_json_out_quoted(b, sn_str_of(name));
    sn_buf_char(b, ':');
}

void
sn_json_out_str(sn_buf *b, const char *name, sn_str value)
{
    sn_json_out_name(b, name);
    sn_json_out_quoted(b, value);
}

void
sn_json_out_text(sn_buf *b, const char *name, const char *value)
{
    if (value) {
        sn_json_out_str(b, name, sn_str_of(value));
        return;
    }
    sn_json_out_name(b, name);
    sn_buf_text(b, "null");
}

void
sn_json_out_int(sn_buf *b, const char *name, int64_t value)
{
    sn_json_out_name(b, name);
    sn_buf_i64(b, value);
}

void
sn_json_out_real(sn_buf *b, const char *name, double value)
{
    char text[32];

    sn_json_out_name(b, name);
    sn_buf_text(b, sn_json_decimal(value, text) ? text : "null");
}

void
sn_json_out_bool(sn_buf *b, const char *name, bool value)
{
    sn_json_out_name(b, name);
    sn_buf_text(b, value ? "true" : "false");
}

void
sn_json_out_time(sn_buf *b, const char *name, int64_t ms)
{
    time_t s = (time_t)(ms / 1000);
    struct tm t;

    sn_json_out_name(b, name);
    if (ms <= 0 || !gmtime_r(&s, &t)) {
        sn_buf_text(b, "null");
        return;
    }
    sn_buf_printf(b, "\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\"", t.tm_year + 1900,
                  t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec,
                  (int)(ms % 1000));
}
