/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "seine/url.h"
#include "store/warc_index.h"

enum { PARAMETERS = 256 }; /* sorted up to this number; more stay unsorted */

static void
put_lower(sn_str s, sn_buf *out)
{
    for (size_t i = 0; i < s.len; i++)
        sn_buf_char(out, sn_lower(s.ptr[i]));
}

/* Strips "www.", "www2." and the like, as other indexes do. */
static sn_str
without_www(sn_str host)
{
    size_t n = 3;

    if (!sn_str_starts(host, SN_STR("www")))
        return host;
    while (n < host.len && sn_is_digit(host.ptr[n]))
        n++;
    return n + 1 < host.len && host.ptr[n] == '.' ? sn_str_slice(host, n + 1, host.len)
                                                  : host;
}

/* Writes a.b.example as example,b,a. */
static void
put_host(const seine_url *u, sn_buf *out)
{
    seine_view host = seine_url_host(u), port = seine_url_port_text(u);

    if (seine_url_host_is(u) == SEINE_HOST_NAME) {
        host = without_www(host);
        for (size_t end = host.len, at = end; at > 0; end = at > 0 ? --at : 0) {
            while (at > 0 && host.ptr[at - 1] != '.')
                at--;
            sn_buf_add(out, host.ptr + at, end - at);
            if (at > 0)
                sn_buf_char(out, ',');
        }
    } else {
        put_lower(host, out);
    }
    if (port.len > 0) {
        sn_buf_char(out, ':');
        sn_buf_add(out, port.ptr, port.len);
    }
}

static int
by_bytes(const void *a, const void *b)
{
    return sn_str_cmp(*(const sn_str *)a, *(const sn_str *)b);
}

/* `query` is already in lower case. */
static void
put_query(sn_str query, sn_buf *out)
{
    sn_str parts[PARAMETERS], rest = query, part;
    size_t n = 0;

    while (n < PARAMETERS && sn_str_next(&rest, '&', &part))
        parts[n++] = part;
    if (rest.len > 0) {
        sn_buf_str(out, query);
        return;
    }
    qsort(parts, n, sizeof *parts, by_bytes);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            sn_buf_char(out, '&');
        sn_buf_str(out, parts[i]);
    }
}

static void
put_target(const seine_url *u, sn_buf *out)
{
    char lower[SEINE_URL_ROOM];
    seine_view path = seine_url_path(u), query = seine_url_query(u);
    size_t n = query.len < sizeof lower ? query.len : 0;

    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    put_lower(path, out);
    if (query.len == 0)
        return;
    sn_buf_char(out, '?');
    for (size_t i = 0; i < n; i++)
        lower[i] = sn_lower(query.ptr[i]);
    put_query((sn_str){lower, n}, out);
}

/* A text that is no http URL stays as it is, without blanks, which separate the
 * columns. */
static void
put_odd(sn_str text, sn_buf *out)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == 0x7f)
            sn_buf_printf(out, "%%%02X", (unsigned char)text.ptr[i]);
        else
            sn_buf_char(out, text.ptr[i]);
}

void
sn_warc_surt(sn_str url, sn_buf *out)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_parse(&u, url.ptr, url.len, NULL) != SEINE_OK ||
        seine_url_is_opaque(&u) || seine_url_host(&u).len == 0) {
        put_odd(url, out);
        return;
    }
    put_host(&u, out);
    sn_buf_char(out, ')');
    put_target(&u, out);
}
