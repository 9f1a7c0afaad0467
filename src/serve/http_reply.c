/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "seine/calendar.h"
#include "serve/http_server_parts.h"

const char *
sn_http_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {204, "No Content"},
        {400, "Bad Request"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {417, "Expectation Failed"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
    };

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Unknown";
}

sn_str
sn_http_reason_line(int status, char out[64])
{
    int n = snprintf(out, 64, "%d %s\n", status, sn_http_reason(status));

    return (sn_str){out, (size_t)n};
}

/* "Date: Sun, 06 Nov 1994 08:49:37 GMT", made once a second. */
static sn_str
date_line(sn_http_server *s)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

    if (s->loop->now >= s->date_until) {
        int64_t wall = s->loop->clock->wall(s->loop->clock), ns;
        int64_t seconds = sn_time_seconds(wall, &ns);
        seine_date d = seine_calendar_date(seconds);
        int day = seine_calendar_weekday(seine_calendar_days(d.year, d.month, d.day));

        snprintf(s->date, sizeof s->date, "Date: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n",
                 days[day], d.day, seine_calendar_month_name(d.month), d.year, d.hour,
                 d.minute, d.second);
        s->date_until = sn_time_add(s->loop->now, SEINE_SECS(1) - ns);
    }
    return sn_str_of(s->date);
}

static void
add_length(sn_buf *out, size_t n)
{
    sn_buf_str(out, SN_STR("Content-Length: "));
    sn_buf_u64(out, n);
    sn_buf_str(out, SN_STR("\r\n"));
}

/* HTTP/1.0 is told that the connection stays, HTTP/1.1 that it ends: the rest each takes
 * for granted. */
static void
add_connection(sn_http_connection *c, bool keeps)
{
    if (!keeps)
        sn_buf_str(&c->out, SN_STR("Connection: close\r\n"));
    else if (c->call.request.minor == 0)
        sn_buf_str(&c->out, SN_STR("Connection: keep-alive\r\n"));
}

void
sn_http_write_reply(sn_http_connection *c, const sn_http_reply *reply, bool keeps)
{
    sn_buf *out = &c->out;
    bool has_body = reply->status != 204 && reply->status != 304;

    sn_buf_str(out, SN_STR("HTTP/1.1 "));
    sn_buf_u64(out, (uint64_t)reply->status);
    sn_buf_char(out, ' ');
    sn_buf_text(out, sn_http_reason(reply->status));
    sn_buf_str(out, SN_STR("\r\n"));
    sn_buf_str(out, date_line(c->server));
    sn_buf_str(out, reply->fields);
    if (reply->type && has_body) {
        sn_buf_str(out, SN_STR("Content-Type: "));
        sn_buf_text(out, reply->type);
        sn_buf_str(out, SN_STR("\r\n"));
    }
    if (has_body)
        add_length(out, reply->body.len);
    add_connection(c, keeps);
    sn_buf_str(out, SN_STR("\r\n"));
    if (has_body && !sn_str_eq(c->call.request.method, SN_STR("HEAD")))
        sn_buf_str(out, reply->body);
}
