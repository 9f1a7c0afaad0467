/* SPDX-License-Identifier: Apache-2.0 */
#include "console/assets.h"

#include <stdio.h>
#include <string.h>

#include "base/codec.h"
#include "console/console.h"
#include "console/token.h"

#include "console_assets.inc"

enum { PAGE_MOST = 65536, NONCE = 22 };

static const char plain_page[] =
    "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
    "<title>seine</title></head>\n<body>\n<h1>seine</h1>\n"
    "<p>This build has no pages: it was made without Node. The API, the WebSocket, "
    "<code>/metrics</code> and <code>/readyz</code> are here.</p>\n</body>\n</html>\n";

bool
seine_console_has_pages(void)
{
    return assets[0].name != NULL;
}

bool
seine_console_licence_get(size_t i, const char **out_name, const char **out_version,
                          const char **out_licence)
{
    size_t n = sizeof licences / sizeof *licences - 1;

    if (i >= n || !out_name || !out_version || !out_licence)
        return false;
    *out_name = licences[i].name;
    *out_version = licences[i].version;
    *out_licence = licences[i].licence;
    return true;
}

const sn_asset *
sn_asset_find(sn_str name)
{
    for (const sn_asset *a = assets; a->name; a++)
        if (sn_str_eq(name, sn_str_of(a->name)))
            return a;
    return NULL;
}

/* "gzip", "gzip;q=0.5" and "*" do, "gzip;q=0" does not. */
bool
sn_asset_takes_gzip(sn_str accept_encoding)
{
    sn_str part, word, weight;
    bool takes = false;

    while (sn_str_next(&accept_encoding, ',', &part)) {
        sn_str_cut(part, ';', &word, &weight);
        word = sn_str_trim(word);
        weight = sn_str_trim(weight);
        bool is_zero = sn_str_eq_nocase(weight, SN_STR("q=0")) ||
                       sn_str_eq_nocase(weight, SN_STR("q=0.0")) ||
                       sn_str_eq_nocase(weight, SN_STR("q=0.00")) ||
                       sn_str_eq_nocase(weight, SN_STR("q=0.000"));
        if (sn_str_eq_nocase(word, SN_STR("gzip")))
            return !is_zero;
        if (sn_str_eq(word, SN_STR("*")))
            takes = !is_zero;
    }
    return takes;
}

static void
unpack(sn_call *call, const sn_asset *a)
{
    sn_str in = {(const char *)a->packed, a->n_packed};
    sn_codec c;
    sn_buf out;

    sn_buf_init(&out, a->n_bytes + 1);
    sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_DECODE});
    sn_codec_room room = {sn_buf_reserve(&out, a->n_bytes), a->n_bytes};
    bool is_whole = room.ptr && sn_codec_begin(&c, SN_CODEC_GZIP) == SEINE_OK;
    if (is_whole) {
        sn_codec_event e = sn_codec_step(&c, &in, &room, true);

        is_whole = (e == SN_CODEC_END || e == SN_CODEC_ROOM) && room.len == 0;
        sn_buf_commit(&out, a->n_bytes - room.len);
    }
    sn_codec_fini(&c);
    if (is_whole)
        sn_call_text(call, 200, a->type, &out);
    else
        sn_call_fail(call, SN_API_INTERNAL, "the file could not be unpacked", NULL);
    sn_buf_fini(&out);
}

static void
send_asset(sn_call *call, const sn_asset *a, const char *cache)
{
    sn_reply *r = &call->reply;

    if (!a) {
        sn_call_fail(call, SN_API_NOT_FOUND, "there is no such file", NULL);
        return;
    }
    r->cache = cache;
    r->varies = true;
    snprintf(r->etag, sizeof r->etag, "\"%s\"", a->sha256);
    if (sn_str_eq(call->if_none_match, sn_str_of(r->etag))) {
        sn_call_empty(call, 304);
        return;
    }
    if (!sn_asset_takes_gzip(call->accept_encoding)) {
        unpack(call, a);
        return;
    }
    r->encoding = "gzip";
    sn_call_fixed(call, 200, a->type, (sn_str){(const char *)a->packed, a->n_packed});
}

void
sn_api_asset(sn_call *call)
{
    send_asset(call, sn_asset_find(call->param[0]),
               "public, max-age=31536000, immutable");
}

void
sn_api_icon(sn_call *call)
{
    send_asset(call, icon ? sn_asset_find(sn_str_of(icon)) : NULL,
               "public, max-age=86400");
}

void
sn_api_page(sn_call *call)
{
    char key[44];
    sn_buf b;

    sn_token_draw_key(key);
    memcpy(call->reply.nonce, key, NONCE); /* 132 bits */
    sn_buf_init(&b, PAGE_MOST);
    for (size_t i = 0; page[i]; i++) {
        if (i > 0)
            sn_buf_text(&b, call->reply.nonce);
        sn_buf_text(&b, page[i]);
    }
    if (!page[0])
        sn_buf_text(&b, plain_page);
    sn_call_text(call, 200, "text/html; charset=utf-8", &b);
}
