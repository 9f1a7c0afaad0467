/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reference parser, written literally after the standard (4.4, basic URL parser): a
 * pointer, a buffer, twenty states, a list of segments. It is slow, ASCII only, and easy
 * to compare with the text. Both parsers must agree on random references.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "seine/url.h"

enum { ROOM = 1024, SEGMENTS = 64 };

typedef struct text {
    char s[ROOM];
    int n;
} text;

static void
put(text *t, int c)
{
    t->s[t->n++] = (char)c;
    t->s[t->n] = '\0';
}

static void
add(text *t, const char *s)
{
    while (*s)
        put(t, *s++);
}

static void
clear(text *t)
{
    t->n = 0;
    t->s[0] = '\0';
}

typedef struct model {
    text scheme, user, password, host, opaque, query, fragment;
    bool has_host, is_opaque, has_query, has_fragment;
    int port; /* -1: null */
    text path[SEGMENTS];
    int segments;
} model;

static bool
special(const model *u)
{
    static const char *const all[] = {"http", "https", "ws", "wss", "ftp", "file"};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i], u->scheme.s) == 0)
            return true;
    return false;
}

static int
default_port(const model *u)
{
    const char *s = u->scheme.s;

    if (strcmp(s, "http") == 0 || strcmp(s, "ws") == 0)
        return 80;
    if (strcmp(s, "https") == 0 || strcmp(s, "wss") == 0)
        return 443;
    return strcmp(s, "ftp") == 0 ? 21 : -1;
}

static bool
is_file(const model *u)
{
    return strcmp(u->scheme.s, "file") == 0;
}

static bool
among(int c, const char *set)
{
    return c > 0 && strchr(set, c);
}

static bool
alpha(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool
digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool
hex(int c)
{
    return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static int
lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

/* Percent-encode with the C0 control set and these. */
static void
encode(text *t, int c, const char *set)
{
    char escape[8];

    if (c > 0x1f && c <= 0x7e && !among(c, set)) {
        put(t, c);
        return;
    }
    snprintf(escape, sizeof escape, "%%%02X", (unsigned)c);
    add(t, escape);
}

#define FRAGMENT_SET " \"<>`"
#define QUERY_SET    " \"#<>"
#define PATH_SET     QUERY_SET "?^`{}"
#define USER_SET     PATH_SET "/:;=@[\\]|"

/* 3.5 Host parsing. */

static bool
ipv4_number(const char *s, double *out)
{
    int base = 10;

    if (!*s)
        return false;
    if (s[0] == '0' && s[1] == 'x') {
        s += 2;
        base = 16;
    } else if (s[0] == '0' && s[1]) {
        s++;
        base = 8;
    }
    *out = 0;
    for (; *s; s++) {
        int value = digit(*s) ? *s - '0' : *s - 'a' + 10;

        if (!hex(*s) || value >= base)
            return false;
        *out = *out * base + value;
    }
    return true;
}

static int
split(const char *s, char parts[][ROOM])
{
    int n = 0, k = 0;

    for (; *s; s++)
        if (*s == '.') {
            parts[n++][k] = '\0';
            k = 0;
        } else {
            parts[n][k++] = *s;
        }
    parts[n++][k] = '\0';
    return n;
}

static char parts[ROOM][ROOM];

static bool
ends_in_number(const char *s)
{
    int n = split(s, parts);
    double value;

    if (!parts[n - 1][0]) {
        if (n == 1)
            return false;
        n--;
    }
    const char *last = parts[n - 1];
    if (*last && strspn(last, "0123456789") == strlen(last))
        return true;
    return ipv4_number(last, &value);
}

static bool
ipv4(const char *s, text *out)
{
    double numbers[4], address;
    int n = split(s, parts);

    if (!parts[n - 1][0] && n > 1)
        n--;
    if (n > 4)
        return false;
    for (int i = 0; i < n; i++)
        if (!ipv4_number(parts[i], &numbers[i]))
            return false;
    for (int i = 0; i + 1 < n; i++)
        if (numbers[i] > 255)
            return false;
    static const double powers[] = {1, 256, 65536, 16777216, 4294967296.0};
    if (numbers[n - 1] >= powers[5 - n])
        return false;
    address = numbers[n - 1];
    for (int i = 0; i + 1 < n; i++)
        address += numbers[i] * powers[3 - i];
    uint32_t a = (uint32_t)address;
    char quad[32];
    snprintf(quad, sizeof quad, "%u.%u.%u.%u", a >> 24, a >> 16 & 255, a >> 8 & 255,
             a & 255);
    add(out, quad);
    return true;
}

static bool
ipv6_pieces(const char *p, unsigned address[8])
{
    int piece = 0, compress = -1;

    if (*p == ':') {
        if (p[1] != ':')
            return false;
        p += 2;
        compress = ++piece;
    }
    while (*p) {
        unsigned value = 0;
        int length = 0;

        if (piece == 8)
            return false;
        if (*p == ':') {
            if (compress >= 0)
                return false;
            p++;
            compress = ++piece;
            continue;
        }
        while (length < 4 && hex(*p)) {
            value = value * 16 + (unsigned)(digit(*p) ? *p - '0' : lower(*p) - 'a' + 10);
            p++;
            length++;
        }
        if (*p == '.') {
            int seen = 0;

            if (length == 0)
                return false;
            p -= length;
            if (piece > 6)
                return false;
            while (*p) {
                int number = -1;

                if (seen > 0) {
                    if (*p != '.' || seen >= 4)
                        return false;
                    p++;
                }
                if (!digit(*p))
                    return false;
                while (digit(*p)) {
                    if (number == -1)
                        number = *p - '0';
                    else if (number == 0)
                        return false;
                    else
                        number = number * 10 + *p - '0';
                    if (number > 255)
                        return false;
                    p++;
                }
                address[piece] = address[piece] * 256 + (unsigned)number;
                seen++;
                if (seen == 2 || seen == 4)
                    piece++;
            }
            if (seen != 4)
                return false;
            break;
        }
        if (*p == ':') {
            p++;
            if (!*p)
                return false;
        } else if (*p) {
            return false;
        }
        address[piece++] = value;
    }
    if (compress >= 0) {
        int swaps = piece - compress;

        for (piece = 7; piece != 0 && swaps > 0; piece--, swaps--) {
            unsigned swap = address[compress + swaps - 1];

            address[compress + swaps - 1] = address[piece];
            address[piece] = swap;
        }
    } else if (piece != 8) {
        return false;
    }
    return true;
}

static void
ipv6_text(const unsigned address[8], text *out)
{
    int compress = -1, longest = 1;
    bool ignore = false;

    for (int i = 0; i < 8; i++) {
        int n = 0;

        while (i + n < 8 && address[i + n] == 0)
            n++;
        if (n > longest) {
            longest = n;
            compress = i;
        }
    }
    for (int i = 0; i < 8; i++) {
        char piece[8];

        if (ignore && address[i] == 0)
            continue;
        ignore = false;
        if (compress == i) {
            add(out, i == 0 ? "::" : ":");
            ignore = true;
            continue;
        }
        snprintf(piece, sizeof piece, "%x", address[i]);
        add(out, piece);
        if (i != 7)
            put(out, ':');
    }
}

static bool
host_parse(const text *in, bool opaque, text *out)
{
    text domain = {"", 0};

    clear(out);
    if (in->s[0] == '[') {
        unsigned address[8] = {0};
        char inner[ROOM];

        if (in->s[in->n - 1] != ']')
            return false;
        snprintf(inner, sizeof inner, "%.*s", in->n - 2, in->s + 1);
        if (!ipv6_pieces(inner, address))
            return false;
        put(out, '[');
        ipv6_text(address, out);
        put(out, ']');
        return true;
    }
    if (opaque) {
        for (int i = 0; i < in->n; i++) {
            if (among(in->s[i], "\t\n\r #/:<>?@[\\]^|"))
                return false;
            encode(out, in->s[i], "");
        }
        return true;
    }
    for (int i = 0; i < in->n; i++)
        if (in->s[i] == '%' && hex(in->s[i + 1]) && hex(in->s[i + 2])) {
            char two[3] = {in->s[i + 1], in->s[i + 2], '\0'};
            int c = (int)strtol(two, NULL, 16);

            if (c == 0)
                return false;
            put(&domain, lower(c));
            i += 2;
        } else {
            put(&domain, lower(in->s[i]));
        }
    for (int i = 0; i < domain.n; i++)
        if (domain.s[i] <= 0x1f || domain.s[i] == 0x7f ||
            among(domain.s[i], " #/:<>?@[\\]^|%"))
            return false;
    if (domain.n == 0)
        return false;
    if (ends_in_number(domain.s))
        return ipv4(domain.s, out);
    *out = domain;
    return true;
}

/* 4.4 URL parsing. */

static bool
drive(const char *s)
{
    return alpha(s[0]) && (s[1] == ':' || s[1] == '|') && !s[2];
}

static bool
normal_drive(const char *s)
{
    return drive(s) && s[1] == ':';
}

static bool
starts_drive(const char *s)
{
    return alpha(s[0]) && (s[1] == ':' || s[1] == '|') && (!s[2] || among(s[2], "/\\?#"));
}

static void
shorten(model *u)
{
    if (is_file(u) && u->segments == 1 && normal_drive(u->path[0].s))
        return;
    if (u->segments > 0)
        u->segments--;
}

static void
append(model *u, const char *s)
{
    clear(&u->path[u->segments]);
    add(&u->path[u->segments++], s);
}

static bool
is_any(const char *s, const char *const *all)
{
    for (; *all; all++)
        if (strcasecmp(s, *all) == 0)
            return true;
    return false;
}

static bool
single_dot(const char *s)
{
    static const char *const all[] = {".", "%2e", NULL};

    return is_any(s, all);
}

static bool
double_dot(const char *s)
{
    static const char *const all[] = {"..", ".%2e", "%2e.", "%2e%2e", NULL};

    return is_any(s, all);
}

typedef enum state {
    SCHEME_START,
    SCHEME,
    NO_SCHEME,
    SPECIAL_RELATIVE_OR_AUTHORITY,
    PATH_OR_AUTHORITY,
    RELATIVE,
    RELATIVE_SLASH,
    SPECIAL_AUTHORITY_SLASHES,
    SPECIAL_AUTHORITY_IGNORE_SLASHES,
    AUTHORITY,
    HOST,
    PORT,
    FILE_STATE,
    FILE_SLASH,
    FILE_HOST,
    PATH_START,
    PATH,
    OPAQUE_PATH,
    QUERY,
    FRAGMENT
} state;

static void
take(model *u, const model *base, bool path)
{
    u->user = base->user;
    u->password = base->password;
    u->host = base->host;
    u->has_host = base->has_host;
    u->port = base->port;
    if (!path)
        return;
    memcpy(u->path, base->path, sizeof u->path);
    u->segments = base->segments;
    u->query = base->query;
    u->has_query = base->has_query;
}

static void
open_query(model *u)
{
    clear(&u->query);
    u->has_query = true;
}

static void
open_fragment(model *u)
{
    clear(&u->fragment);
    u->has_fragment = true;
}

/* False: failure. `in` is without blanks around it and breaks. */
static bool
parse(model *u, const char *in, const model *base)
{
    text buffer = {"", 0}, host;
    state now = SCHEME_START;
    bool at_seen = false, inside = false, password_seen = false;
    int end = (int)strlen(in);

    memset(u, 0, sizeof *u);
    u->port = -1;
    for (int p = 0; p <= end; p++) {
        int c = p < end ? (unsigned char)in[p] : -1;
        const char *remaining = p < end ? in + p + 1 : "";
        bool slash = c == '/' || (special(u) && c == '\\');
        bool ends = c == -1 || slash || c == '?' || c == '#';

        switch (now) {
        case SCHEME_START:
            if (alpha(c)) {
                put(&buffer, lower(c));
                now = SCHEME;
            } else {
                now = NO_SCHEME;
                p--;
            }
            break;
        case SCHEME:
            if (alpha(c) || digit(c) || among(c, "+-.")) {
                put(&buffer, lower(c));
            } else if (c == ':') {
                u->scheme = buffer;
                clear(&buffer);
                if (is_file(u)) {
                    now = FILE_STATE;
                } else if (special(u) && base &&
                           strcmp(base->scheme.s, u->scheme.s) == 0) {
                    now = SPECIAL_RELATIVE_OR_AUTHORITY;
                } else if (special(u)) {
                    now = SPECIAL_AUTHORITY_SLASHES;
                } else if (remaining[0] == '/') {
                    now = PATH_OR_AUTHORITY;
                    p++;
                } else {
                    u->is_opaque = true;
                    now = OPAQUE_PATH;
                }
            } else {
                clear(&buffer);
                now = NO_SCHEME;
                p = -1;
            }
            break;
        case NO_SCHEME:
            if (!base || (base->is_opaque && c != '#'))
                return false;
            if (base->is_opaque && c == '#') {
                u->scheme = base->scheme;
                u->opaque = base->opaque;
                u->is_opaque = true;
                u->query = base->query;
                u->has_query = base->has_query;
                open_fragment(u);
                now = FRAGMENT;
            } else if (!is_file(base)) {
                now = RELATIVE;
                p--;
            } else {
                now = FILE_STATE;
                p--;
            }
            break;
        case SPECIAL_RELATIVE_OR_AUTHORITY:
            if (c == '/' && remaining[0] == '/') {
                now = SPECIAL_AUTHORITY_IGNORE_SLASHES;
                p++;
            } else {
                now = RELATIVE;
                p--;
            }
            break;
        case PATH_OR_AUTHORITY:
            if (c == '/') {
                now = AUTHORITY;
            } else {
                now = PATH;
                p--;
            }
            break;
        case RELATIVE:
            u->scheme = base->scheme;
            if (c == '/' || (special(u) && c == '\\')) {
                now = RELATIVE_SLASH;
            } else {
                take(u, base, true);
                if (c == '?') {
                    open_query(u);
                    now = QUERY;
                } else if (c == '#') {
                    open_fragment(u);
                    now = FRAGMENT;
                } else if (c != -1) {
                    clear(&u->query);
                    u->has_query = false;
                    shorten(u);
                    now = PATH;
                    p--;
                }
            }
            break;
        case RELATIVE_SLASH:
            if (special(u) && (c == '/' || c == '\\')) {
                now = SPECIAL_AUTHORITY_IGNORE_SLASHES;
            } else if (c == '/') {
                now = AUTHORITY;
            } else {
                take(u, base, false);
                now = PATH;
                p--;
            }
            break;
        case SPECIAL_AUTHORITY_SLASHES:
            now = SPECIAL_AUTHORITY_IGNORE_SLASHES;
            if (c == '/' && remaining[0] == '/')
                p++;
            else
                p--;
            break;
        case SPECIAL_AUTHORITY_IGNORE_SLASHES:
            if (c != '/' && c != '\\') {
                now = AUTHORITY;
                p--;
            }
            break;
        case AUTHORITY:
            if (c == '@') {
                text old = buffer;

                if (at_seen) {
                    clear(&buffer);
                    add(&buffer, "%40");
                    add(&buffer, old.s);
                }
                at_seen = true;
                for (int i = 0; i < buffer.n; i++)
                    if (buffer.s[i] == ':' && !password_seen)
                        password_seen = true;
                    else
                        encode(password_seen ? &u->password : &u->user, buffer.s[i],
                               USER_SET);
                clear(&buffer);
            } else if (ends) {
                if (at_seen && buffer.n == 0)
                    return false;
                p -= buffer.n + 1;
                clear(&buffer);
                now = HOST;
            } else {
                put(&buffer, c);
            }
            break;
        case HOST:
            if (c == ':' && !inside) {
                if (buffer.n == 0 || !host_parse(&buffer, !special(u), &host))
                    return false;
                u->host = host;
                u->has_host = true;
                clear(&buffer);
                now = PORT;
            } else if (ends) {
                p--;
                if (special(u) && buffer.n == 0)
                    return false;
                if (!host_parse(&buffer, !special(u), &host))
                    return false;
                u->host = host;
                u->has_host = true;
                clear(&buffer);
                now = PATH_START;
            } else {
                if (c == '[')
                    inside = true;
                if (c == ']')
                    inside = false;
                put(&buffer, c);
            }
            break;
        case PORT:
            if (digit(c)) {
                put(&buffer, c);
            } else if (ends) {
                if (buffer.n > 0) {
                    double port = strtod(buffer.s, NULL);

                    if (port > 65535)
                        return false;
                    u->port = (int)port == default_port(u) ? -1 : (int)port;
                    clear(&buffer);
                }
                now = PATH_START;
                p--;
            } else {
                return false;
            }
            break;
        case FILE_STATE:
            clear(&u->scheme);
            add(&u->scheme, "file");
            clear(&u->host);
            u->has_host = true;
            if (c == '/' || c == '\\') {
                now = FILE_SLASH;
            } else if (base && is_file(base)) {
                /* The standard spells these steps out again, and so does its model. */
                take(u, base, true);
                if (c == '?') {
                    open_query(u);
                    now = QUERY;
                } else if (c == '#') {
                    open_fragment(u);
                    now = FRAGMENT;
                } else if (c != -1) {
                    clear(&u->query);
                    u->has_query = false;
                    if (!starts_drive(in + p))
                        shorten(u);
                    else
                        u->segments = 0;
                    now = PATH;
                    p--;
                }
            } else {
                now = PATH;
                p--;
            }
            break;
        case FILE_SLASH:
            if (c == '/' || c == '\\') {
                now = FILE_HOST;
            } else {
                if (base && is_file(base)) {
                    u->host = base->host;
                    if (!starts_drive(in + p) && base->segments > 0 &&
                        normal_drive(base->path[0].s))
                        append(u, base->path[0].s);
                }
                now = PATH;
                p--;
            }
            break;
        case FILE_HOST:
            if (c == -1 || among(c, "/\\?#")) {
                p--;
                if (drive(buffer.s)) {
                    now = PATH;
                } else if (buffer.n == 0) {
                    clear(&u->host);
                    now = PATH_START;
                } else {
                    if (!host_parse(&buffer, !special(u), &host))
                        return false;
                    if (strcmp(host.s, "localhost") == 0)
                        clear(&host);
                    u->host = host;
                    clear(&buffer);
                    now = PATH_START;
                }
            } else {
                put(&buffer, c);
            }
            break;
        case PATH_START:
            if (special(u)) {
                now = PATH;
                if (c != '/' && c != '\\')
                    p--;
            } else if (c == '?') {
                open_query(u);
                now = QUERY;
            } else if (c == '#') {
                open_fragment(u);
                now = FRAGMENT;
            } else if (c != -1) {
                now = PATH;
                if (c != '/')
                    p--;
            }
            break;
        case PATH:
            if (ends) {
                if (double_dot(buffer.s)) {
                    shorten(u);
                    if (!slash)
                        append(u, "");
                } else if (single_dot(buffer.s)) {
                    if (!slash)
                        append(u, "");
                } else {
                    if (is_file(u) && u->segments == 0 && drive(buffer.s))
                        buffer.s[1] = ':';
                    append(u, buffer.s);
                }
                clear(&buffer);
                if (c == '?') {
                    open_query(u);
                    now = QUERY;
                }
                if (c == '#') {
                    open_fragment(u);
                    now = FRAGMENT;
                }
            } else {
                encode(&buffer, c, PATH_SET);
            }
            break;
        case OPAQUE_PATH:
            if (c == '?') {
                open_query(u);
                now = QUERY;
            } else if (c == '#') {
                open_fragment(u);
                now = FRAGMENT;
            } else if (c == ' ') {
                add(&u->opaque, among(remaining[0], "?#") ? "%20" : " ");
            } else if (c != -1) {
                encode(&u->opaque, c, "");
            }
            break;
        case QUERY:
            if (c == '#') {
                open_fragment(u);
                now = FRAGMENT;
            } else if (c != -1) {
                encode(&u->query, c, special(u) ? QUERY_SET "'" : QUERY_SET);
            }
            break;
        case FRAGMENT:
            if (c != -1)
                encode(&u->fragment, c, FRAGMENT_SET);
            break;
        }
    }
    return true;
}

/* 4.5 URL serializing. */
static void
serialise(const model *u, text *out)
{
    char port[16];

    clear(out);
    add(out, u->scheme.s);
    put(out, ':');
    if (u->has_host) {
        add(out, "//");
        if (u->user.n > 0 || u->password.n > 0) {
            add(out, u->user.s);
            if (u->password.n > 0) {
                put(out, ':');
                add(out, u->password.s);
            }
            put(out, '@');
        }
        add(out, u->host.s);
        if (u->port >= 0) {
            snprintf(port, sizeof port, ":%d", u->port);
            add(out, port);
        }
    }
    if (!u->has_host && !u->is_opaque && u->segments > 1 && u->path[0].n == 0)
        add(out, "/.");
    if (u->is_opaque)
        add(out, u->opaque.s);
    for (int i = 0; i < u->segments && !u->is_opaque; i++) {
        put(out, '/');
        add(out, u->path[i].s);
    }
    if (u->has_query) {
        put(out, '?');
        add(out, u->query.s);
    }
    if (u->has_fragment) {
        put(out, '#');
        add(out, u->fragment.s);
    }
}

static void
any_text(sn_rng *r, char *out, bool absolute)
{
    static const char *const fronts[] = {
        "http:", "http://", "https://h", "file:",    "file://", "file:///C:", "foo:",
        "foo:/", "foo://",  "foo://h/",  "ws:\\\\h", "mailto:", "HTTP:/",     "a.b+c-d:"};
    static const char *const pieces[] = {"/",           "/",       "//",
                                         "\\",          "?",       "#",
                                         "@",           ":",       ":",
                                         "[",           "]",       "::",
                                         "::1",         "1",       "2",
                                         "256",         "0x",      "0x7",
                                         "08",          "f",       ".",
                                         ".",           "..",      "%2e",
                                         "%2E",         "%41",     "%2",
                                         "%",           "%00",     "a",
                                         "Host",        "C:",      "C|",
                                         "d|/",         "80",      "443",
                                         "21",          "65536",   "http:",
                                         "file:",       "foo:",    "'",
                                         "\"",          "<",       "^",
                                         "`",           "{",       "|",
                                         " ",           "\x01",    "\x7f",
                                         ";",           "=",       "&",
                                         "localhost",   "1.2.3.4", "[1:2:3:4:5:6:7:8]",
                                         "[::1.2.3.4]", "-",       "_",
                                         "~",           "+",       "9"};
    size_t count = sn_rng_below(r, 9), size = sizeof pieces / sizeof *pieces;

    text t = {"", 0};

    if (absolute || sn_rng_below(r, 3) == 0)
        add(&t, fronts[sn_rng_below(r, sizeof fronts / sizeof *fronts)]);
    for (size_t i = 0; i < count; i++)
        add(&t, pieces[sn_rng_below(r, size)]);
    memcpy(out, t.s, (size_t)t.n + 1);
}

/* Blanks at the ends are not for the model. */
static char *
trimmed(char *s)
{
    size_t n = strlen(s);

    while (n > 0 && (unsigned char)s[n - 1] <= ' ')
        s[--n] = '\0';
    return s + strspn(s, " \x01");
}

TEST(url_is_what_the_standard_says_step_by_step)
{
    sn_rng r = sn_rng_seed(check_seed());
    static char mem[SEINE_URL_ROOM], base_mem[SEINE_URL_ROOM];
    static model u, base;
    int good = 0, bad = 0;

    for (int i = 0; i < 30000; i++) {
        char ref_text[512], base_text[512], *ref, *from;
        seine_url ours, our_base;
        text want;

        any_text(&r, base_text, true);
        any_text(&r, ref_text, false);
        from = trimmed(base_text);
        ref = trimmed(ref_text);
        seine_url_init(&ours, mem, sizeof mem);
        seine_url_init(&our_base, base_mem, sizeof base_mem);

        bool base_ok = parse(&base, from, NULL);
        CHECK_EQ(seine_url_parse(&our_base, from, strlen(from), NULL) == SEINE_OK,
                 base_ok);
        if (base_ok) {
            serialise(&base, &want);
            CHECK_STR(base_mem, want.s);
        }
        bool ok = parse(&u, ref, base_ok ? &base : NULL);
        seine_err e = base_ok
                          ? seine_url_resolve(&ours, &our_base, ref, strlen(ref), NULL)
                          : seine_url_parse(&ours, ref, strlen(ref), NULL);
        if ((e == SEINE_OK) != ok)
            printf("     \"%s\" in \"%s\"\n", ref, from);
        CHECK_EQ(e == SEINE_OK, ok);
        good += ok;
        bad += !ok;
        if (!ok)
            continue;
        serialise(&u, &want);
        CHECK_STR(mem, want.s);
    }
    CHECK(good > 8000 && bad > 2000);
}
