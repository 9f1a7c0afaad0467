/* SPDX-License-Identifier: Apache-2.0 */
#include "text/file_name.h"

#include <stdio.h>
#include <string.h>

#include "base/base32.h"
#include "base/hash.h"

#define MARKS "<>:\"/\\|?*"

/* A part. */

/* Names that Windows takes for devices, whatever their extension. */
static bool
is_device(sn_str part)
{
    static const char *const names[] = {"con", "prn", "aux", "nul", "conin$", "conout$"};
    sn_str stem = sn_str_trim(sn_str_slice(part, 0, sn_str_find(part, '.')));

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sn_str_eq_nocase(stem, sn_str_of(names[i])))
            return true;
    return stem.len == 4 && sn_is_digit(stem.ptr[3]) &&
           (sn_str_starts_nocase(stem, SN_STR("com")) ||
            sn_str_starts_nocase(stem, SN_STR("lpt")));
}

static bool
is_plain(char c)
{
    return c >= ' ' && c < 0x7f && !strchr(MARKS, c);
}

static void
add_escape(sn_buf *out, char c)
{
    sn_buf_printf(out, "%%%02X", (unsigned char)c);
}

/* Characters that change how a name is shown, or that nobody sees. */
static bool
is_hidden(uint32_t c)
{
    return (c >= 0x80 && c < 0xa0) || c == 0xad || c == 0x61c || c == 0x180e ||
           (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff0 && c <= 0xffff) ||
           c >= 0xe0000;
}

/* The bytes at the beginning of `s` that may stand in a name as they are. */
static size_t
plain_len(sn_str s, bool utf8)
{
    uint32_t c;

    if ((unsigned char)s.ptr[0] < 0x80)
        return is_plain(s.ptr[0]);
    size_t n = utf8 ? sn_utf8_decode(s, &c) : 0;
    return n > 0 && !is_hidden(c) ? n : 0;
}

/* Adds "~" and the beginning of the hash of the key. */
static seine_err
add_hash(sn_buf *out, sn_str key, unsigned salt)
{
    char text[SN_BASE32_ROOM(SN_DIGEST_MOST)];
    uint8_t digest[SN_DIGEST_MOST], more = (uint8_t)salt;
    sn_digest d = {0};
    size_t n = 0;
    seine_err e = sn_digest_begin(&d, SN_DIGEST_SHA256);

    if (e == SEINE_OK) {
        sn_digest_add(&d, key.ptr, key.len);
        if (salt > 0)
            sn_digest_add(&d, &more, 1);
        e = sn_digest_end(&d, digest, &n);
    }
    sn_digest_fini(&d);
    if (e != SEINE_OK)
        return e;
    sn_base32(digest, n, text);
    sn_buf_char(out, '~');
    for (size_t i = 0; i < SN_FILE_HASH; i++)
        sn_buf_char(out, sn_lower(text[i]));
    return SEINE_OK;
}

/* The extension of a part, with its dot: at most 10 bytes, not all of the part. */
static size_t
extension_at(sn_str part)
{
    for (size_t i = part.len; i > 1 && part.len - i < 10; i--)
        if (part.ptr[i - 1] == '.' && i < part.len)
            return i - 1;
    return part.len;
}

/* Whether a name can end there: not within an escape or a character. */
static bool
is_edge(sn_str s, size_t at)
{
    return ((unsigned char)s.ptr[at] & 0xc0) != 0x80 &&
           !(at > 0 && s.ptr[at - 1] == '%') && !(at > 1 && s.ptr[at - 2] == '%') &&
           s.ptr[at - 1] != '.' && s.ptr[at - 1] != ' ';
}

/* Cuts the part that begins at `from`; the hash of the key tells it from others that
 * begin alike. */
static seine_err
cut_part(sn_buf *out, size_t from, sn_str key)
{
    char end[16];
    sn_str part = sn_str_slice(sn_buf_view(out), from, out->len);
    size_t dot = extension_at(part), n = part.len - dot;
    size_t keep = SN_FILE_PART - (1 + SN_FILE_HASH) - n;

    memcpy(end, part.ptr + dot, n);
    while (keep > 1 && !is_edge(part, keep))
        keep--;
    sn_buf_truncate(out, from + keep);
    seine_err e = add_hash(out, key, 0);
    sn_buf_add(out, end, n);
    return e;
}

/* Adds one part of a path, made safe. */
static seine_err
add_part(sn_buf *out, sn_str part, bool utf8, sn_str key)
{
    size_t from = out->len;
    bool is_bad_start = part.len > 0 && (strchr(".- ", part.ptr[0]) || is_device(part));

    for (size_t i = 0; i < part.len;) {
        size_t n = plain_len(sn_str_slice(part, i, part.len), utf8);
        bool is_last = i + 1 == part.len && strchr(". ", part.ptr[i]);

        if (n == 0 || is_last || (i == 0 && is_bad_start)) {
            add_escape(out, part.ptr[i++]);
        } else {
            sn_buf_add(out, part.ptr + i, n);
            i += n;
        }
    }
    if (part.len == 0)
        sn_buf_char(out, '_');
    if (out->err == SEINE_OK && out->len - from > SN_FILE_PART)
        return cut_part(out, from, key);
    return sn_buf_done(out);
}

/* Extensions. */

sn_str
sn_file_name_essence(sn_str type)
{
    return sn_str_trim(sn_str_slice(type, 0, sn_str_find(type, ';')));
}

/* clang-format off */
/* Types that a browser opens from disk only by their extension, the one that is added and
 * those that do as well. Files of other types keep their name. */
static const struct {
    const char *type, *extension, *others;
} types[] = {
    {"text/html", ".html", "html htm"},
    {"application/xhtml+xml", ".xhtml", "xhtml xht html htm"},
    {"text/css", ".css", "css"},
    {"text/javascript", ".js", "js mjs"}, {"application/javascript", ".js", "js mjs"}, {"application/x-javascript", ".js", "js mjs"},
    {"application/ecmascript", ".js", "js mjs"}, {"text/ecmascript", ".js", "js mjs"},
    {"image/svg+xml", ".svg", "svg"}, {"image/png", ".png", "png"}, {"image/jpeg", ".jpg", "jpg jpeg jpe jfif"},
    {"image/gif", ".gif", "gif"}, {"image/webp", ".webp", "webp"}, {"image/avif", ".avif", "avif"},
    {"image/x-icon", ".ico", "ico cur"}, {"image/vnd.microsoft.icon", ".ico", "ico cur"},
    {"application/pdf", ".pdf", "pdf"}, {"font/woff", ".woff", "woff"}, {"font/woff2", ".woff2", "woff2"},
    {"video/mp4", ".mp4", "mp4 m4v"}, {"video/webm", ".webm", "webm"}, {"audio/mpeg", ".mp3", "mp3"},
    {"application/wasm", ".wasm", "wasm"},
};
/* clang-format on */

/* Extensions that a browser would take for a page, so other types need one behind it. */
#define PAGES "html htm xhtml xht svg"

/* The extension that the name of a file of this type needs; "": none. */
static const char *
extension_for(sn_str name, sn_str type)
{
    size_t dot = extension_at(name);
    sn_str essence = sn_file_name_essence(type);
    sn_str own = sn_str_slice(name, dot + (dot < name.len), name.len);

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        sn_str rest = sn_str_of(types[i].others), one;

        if (!sn_str_eq_nocase(essence, sn_str_of(types[i].type)))
            continue;
        while (sn_str_next(&rest, ' ', &one))
            if (sn_str_eq_nocase(own, one))
                return "";
        return types[i].extension;
    }
    sn_str rest = SN_STR(PAGES), one;
    while (essence.len > 0 && sn_str_next(&rest, ' ', &one))
        if (sn_str_eq_nocase(own, one))
            return sn_str_eq_nocase(essence, SN_STR("text/plain")) ? ".txt" : ".bin";
    return "";
}

/* Names. */

/* "e.example" of https; the port says which of the two it is elsewhere, since http and
 * https of a host may serve different pages. */
static seine_err
add_host(sn_buf *out, const seine_url *url, sn_str key)
{
    bool is_https = sn_str_eq(seine_url_scheme(url), SN_STR("https"));
    sn_str host = seine_url_host(url);
    char text[300], port[16] = "";

    if (!is_https)
        snprintf(port, sizeof port, "+%d", seine_url_port(url));
    else if (seine_url_port(url) != 443)
        snprintf(port, sizeof port, "+s%d", seine_url_port(url));
    int n = snprintf(text, sizeof text, "%.*s%s", SN_FMT(host), port);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    return add_part(out, (sn_str){text, len}, false, key);
}

/* The last part of the path with the query, and the extension that it needs. */
static seine_err
add_file(sn_buf *out, sn_str last, sn_str query, sn_str type, sn_str key)
{
    sn_buf part;

    sn_buf_init(&part, 3 * (size_t)SEINE_URL_ROOM);
    bool is_page = last.len == 0 && query.len == 0;
    sn_buf_str(&part, last.len > 0 ? last
                      : is_page    ? SN_STR("index.html")
                                   : SN_STR("index"));
    if (query.len > 0) {
        sn_buf_char(&part, '@');
        sn_buf_str(&part, query);
    }
    if (is_page && extension_for(sn_buf_view(&part), type)[0]) {
        sn_buf_reset(&part);
        sn_buf_text(&part, "index");
    }
    if (last.len == 0 && query.len > 0 && type.len == 0)
        sn_buf_text(&part, ".html");
    sn_buf_text(&part, extension_for(sn_buf_view(&part), type));
    seine_err e = sn_buf_done(&part);
    if (e == SEINE_OK)
        e = add_part(out, sn_buf_view(&part), false, key);
    sn_buf_fini(&part);
    return e;
}

/* A path that is too long as a whole is kept beside the others. */
static seine_err
shorten_path(sn_buf *out, size_t from, sn_str key)
{
    char end[16];
    sn_str name = sn_str_slice(sn_buf_view(out), from, out->len);
    size_t dot = extension_at(name), n = name.len - dot;
    size_t host = sn_str_find(name, '/');

    memcpy(end, name.ptr + dot, n);
    sn_buf_truncate(out, from + host);
    sn_buf_text(out, "/long-names/");
    seine_err e = add_hash(out, key, 0);
    sn_buf_add(out, end, n);
    return e == SEINE_OK ? sn_buf_done(out) : e;
}

seine_err
sn_file_name_of_url(const seine_url *url, sn_str type, sn_buf *out)
{
    char mem[SEINE_URL_ROOM], key_mem[SEINE_URL_ROOM];
    seine_url norm;
    size_t len, from = out->len;

    seine_url_init(&norm, mem, sizeof mem);
    seine_err e = seine_url_key(url, NULL, key_mem, sizeof key_mem, &len);
    if (e == SEINE_OK)
        e = seine_url_parse(&norm, key_mem, len, NULL);
    if (e != SEINE_OK)
        return e;
    sn_str key = {key_mem, len}, path = seine_url_path(&norm), part;
    e = add_host(out, &norm, key);
    path = sn_str_slice(path, path.len > 0 && path.ptr[0] == '/', path.len);
    for (size_t slash; e == SEINE_OK && (slash = sn_str_find(path, '/')) < path.len;) {
        part = sn_str_slice(path, 0, slash);
        path = sn_str_slice(path, slash + 1, path.len);
        sn_buf_char(out, '/');
        e = add_part(out, part, false, key);
    }
    sn_buf_char(out, '/');
    if (e == SEINE_OK)
        e = add_file(out, path, seine_url_query(&norm), type, key);
    if (e == SEINE_OK && out->err == SEINE_OK && out->len - from > SN_FILE_PATH)
        e = shorten_path(out, from, key);
    return e == SEINE_OK ? sn_buf_done(out) : e;
}

seine_err
sn_file_name_apart(sn_str name, sn_str key, unsigned salt, sn_buf *out)
{
    size_t slash = name.len;

    while (slash > 0 && name.ptr[slash - 1] != '/')
        slash--;
    sn_str part = sn_str_slice(name, slash, name.len);
    size_t dot = extension_at(part), n = part.len - dot;
    size_t most = SN_FILE_PART - (1 + SN_FILE_HASH) - n, keep = dot < most ? dot : most;

    while (keep > 1 && !is_edge(part, keep))
        keep--;
    sn_buf_str(out, sn_str_slice(name, 0, slash + keep));
    seine_err e = add_hash(out, key, salt);
    sn_buf_str(out, sn_str_slice(part, dot, part.len));
    return e == SEINE_OK ? sn_buf_done(out) : e;
}

seine_err
sn_file_name_of_last(const seine_url *url, sn_buf *out)
{
    sn_str path = seine_url_path(url);
    size_t slash = path.len;

    while (slash > 0 && path.ptr[slash - 1] != '/')
        slash--;
    sn_str last = sn_str_slice(path, slash, path.len);
    return add_part(out, last.len > 0 ? last : SN_STR("index.html"), false,
                    seine_url_href(url));
}

/* Whether a name is safe. */

static bool
is_safe_part(sn_str part)
{
    if (part.len == 0 || part.len > SN_FILE_PART || strchr(".- ", part.ptr[0]) ||
        strchr(". ", part.ptr[part.len - 1]) || is_device(part))
        return false;
    for (size_t i = 0; i < part.len;) {
        size_t n = plain_len(sn_str_slice(part, i, part.len), true);

        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

bool
sn_file_name_is_safe(sn_str name)
{
    sn_str part;

    if (name.len == 0 || name.len > SN_FILE_PATH || name.ptr[name.len - 1] == '/')
        return false;
    while (sn_str_next(&name, '/', &part))
        if (!is_safe_part(part))
            return false;
    return true;
}

/* Content-Disposition. */

/* One parameter, `name` = `value`; false: there is none. */
static bool
next_parameter(sn_str *rest, sn_str *out_name, sn_str *out_value, bool *out_quoted)
{
    size_t i = sn_str_find(*rest, ';');

    if (i == rest->len)
        return false;
    *rest = sn_str_slice(*rest, i + 1, rest->len);
    i = 0;
    while (i < rest->len && rest->ptr[i] != '=' && rest->ptr[i] != ';')
        i++;
    *out_name = sn_str_trim(sn_str_slice(*rest, 0, i));
    *out_value = (sn_str){"", 0};
    *out_quoted = false;
    if (i == rest->len || rest->ptr[i] == ';') {
        *rest = sn_str_slice(*rest, i, rest->len);
        return true;
    }
    i++;
    while (i < rest->len && sn_is_space(rest->ptr[i]))
        i++;
    size_t from = i;
    if (i < rest->len && rest->ptr[i] == '"') {
        for (from = ++i; i < rest->len && rest->ptr[i] != '"'; i++)
            i += rest->ptr[i] == '\\' && i + 1 < rest->len;
        *out_quoted = true;
        *out_value = sn_str_slice(*rest, from, i);
    } else {
        while (i < rest->len && rest->ptr[i] != ';')
            i++;
        *out_value = sn_str_trim(sn_str_slice(*rest, from, i));
    }
    *rest = sn_str_slice(*rest, i, rest->len);
    return true;
}

static void
unquote(sn_buf *out, sn_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        i += value.ptr[i] == '\\' && i + 1 < value.len;
        sn_buf_char(out, value.ptr[i]);
    }
}

/* UTF-8''na%C3%AFve.txt (RFC 8187); false: another encoding. */
static bool
decode_extended(sn_buf *out, sn_str value)
{
    sn_str charset, language, text;

    if (!sn_str_cut(value, '\'', &charset, &text) ||
        !sn_str_cut(text, '\'', &language, &text) ||
        !sn_str_eq_nocase(charset, SN_STR("utf-8")))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        int high = -1, low = -1;

        if (text.ptr[i] == '%' && i + 2 < text.len) {
            high = sn_hex_digit(text.ptr[i + 1]);
            low = sn_hex_digit(text.ptr[i + 2]);
        }
        if (high >= 0 && low >= 0)
            i += 2;
        sn_buf_char(out, (char)(high >= 0 && low >= 0 ? high << 4 | low : text.ptr[i]));
    }
    return true;
}

/* What stands behind the last slash of either kind: no server names a directory. */
static sn_str
last_of(sn_str name)
{
    size_t at = name.len;

    while (at > 0 && name.ptr[at - 1] != '/' && name.ptr[at - 1] != '\\')
        at--;
    return sn_str_trim(sn_str_slice(name, at, name.len));
}

seine_err
sn_file_name_of_header(sn_str value, sn_buf *out)
{
    sn_str rest = value, name, text;
    bool quoted, is_extended = false;
    sn_buf plain;

    sn_buf_init(&plain, value.len + 1);
    while (!is_extended && next_parameter(&rest, &name, &text, &quoted)) {
        if (sn_str_eq_nocase(name, SN_STR("filename*"))) {
            sn_buf one;

            sn_buf_init(&one, value.len + 1);
            is_extended = decode_extended(&one, text);
            if (is_extended) {
                sn_buf_reset(&plain);
                sn_buf_str(&plain, sn_buf_view(&one));
            }
            sn_buf_fini(&one);
        } else if (sn_str_eq_nocase(name, SN_STR("filename")) && plain.len == 0) {
            if (quoted)
                unquote(&plain, text);
            else
                sn_buf_str(&plain, text);
        }
    }
    seine_err e = sn_buf_done(&plain);
    sn_str last = last_of(sn_buf_view(&plain));
    if (e == SEINE_OK && last.len > 0)
        e = add_part(out, last, true, last);
    sn_buf_fini(&plain);
    return e;
}
