/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/file_write.h"
#include "base/time.h"
#include "net/cookie_jar.h"
#include "seine/secret.h"

#define SECOND   INT64_C(1000000000)
#define FILE_MAX ((size_t)16 << 20)
#define HTTPONLY SN_STR("#HttpOnly_")
#define HEADING                     \
    "# Netscape HTTP Cookie File\n" \
    "# Made by seine; whoever reads it can log in as you.\n\n"

/* Error messages. */

static void
say(seine_diag *diag, const char *path, size_t line, const char *what)
{
    sn_diag_text(diag, "%s", what);
    sn_diag_place(diag, path, line, 0);
}

static seine_err
say_errno(seine_diag *diag, const char *path, int error)
{
    char text[SN_DIAG_ERRNO];

    sn_diag_errno(error, text);
    say(diag, path, 0, text);
    return error == ENOSPC || error == EDQUOT ? SEINE_E_DISK_FULL
           : error == ENOMEM                  ? SEINE_E_NOMEM
                                              : SEINE_E_IO;
}

/* Reading. */

static seine_err
read_all(int fd, sn_buf *out, int *out_errno)
{
    ssize_t n = 1;

    while (n != 0) {
        char *to = sn_buf_reserve(out, 65536);

        if (!to)
            return sn_buf_done(out);
        n = read(fd, to, 65536);
        if (n < 0 && errno != EINTR) {
            *out_errno = errno;
            return SEINE_E_IO;
        }
        sn_buf_commit(out, n > 0 ? (size_t)n : 0);
    }
    return SEINE_OK;
}

static seine_err
read_file(const char *path, sn_buf *out, seine_diag *diag)
{
    struct stat about;
    int error = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return errno == ENOENT ? SEINE_OK : say_errno(diag, path, errno);
    seine_err e = SEINE_E_IO;
    if (fstat(fd, &about) == 0 && !S_ISREG(about.st_mode))
        say(diag, path, 0, "not a regular file");
    else
        e = read_all(fd, out, &error);
    close(fd);
    if (error)
        return say_errno(diag, path, error);
    if (e == SEINE_E_FULL) {
        say(diag, path, 0, "larger than 16 MiB");
        return SEINE_E_CONFIG;
    }
    return e;
}

static bool
has_byte(sn_str s, char c)
{
    return sn_str_find(s, c) < s.len;
}

/* Reads a host; curl writes an address without brackets, wget adds the port. */
static bool
read_domain(sn_str text, char mem[SEINE_URL_ROOM], sn_cookie_place *out_place)
{
    char whole[SN_COOKIE_DOMAIN + 16];
    seine_url url;
    bool bare = text.len > 0 && text.ptr[0] != '[' &&
                memchr(text.ptr, ':', text.len) != memrchr(text.ptr, ':', text.len);

    if (text.len == 0 || text.len > SN_COOKIE_DOMAIN || has_byte(text, '/') ||
        has_byte(text, '@'))
        return false;
    int n = snprintf(whole, sizeof whole, bare ? "http://[%.*s]/" : "http://%.*s/",
                     SN_FMT(text));
    seine_url_init(&url, mem, SEINE_URL_ROOM);
    return seine_url_parse(&url, whole, (size_t)n, NULL) == SEINE_OK &&
           sn_cookie_place_of(&url, out_place) == SEINE_OK;
}

static bool
read_flag(sn_str text, bool *out_flag)
{
    *out_flag = sn_str_eq_nocase(text, SN_STR("TRUE"));
    return *out_flag || sn_str_eq_nocase(text, SN_STR("FALSE"));
}

/* Reads Unix seconds, whole or decimal; 0 or nothing means a session cookie. */
static bool
read_expires(sn_str text, int64_t wall, int64_t *out_expires)
{
    sn_str whole, part;
    int64_t n = 0;

    sn_str_cut(text, '.', &whole, &part);
    for (size_t i = 0; i < part.len; i++)
        if (!sn_is_digit(part.ptr[i]))
            return false;
    if (whole.len > 0) {
        seine_err e = sn_str_i64(whole, &n);

        if (e == SEINE_E_RANGE)
            n = whole.ptr[0] == '-' ? -1 : INT64_MAX;
        else if (e != SEINE_OK)
            return false;
    }
    if (n < 0)
        *out_expires = INT64_MIN;
    else if (n == 0)
        *out_expires = SEINE_NEVER;
    else
        *out_expires = sn_time_min(sn_time_mul(SECOND, (uint64_t)n),
                                   sn_time_add(wall, SN_COOKIE_LIFE));
    return true;
}

static bool
has_control(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] < ' ' || s.ptr[i] == 0x7f)
            return true;
    return false;
}

typedef struct file {
    seine_cookie_jar *jar;
    int64_t wall;
    bool dry;                 /* check the lines, take no cookie */
    char mem[SEINE_URL_ROOM]; /* for a domain */
} file;

/* A line that nobody may set is skipped, like an expired one. */
static bool
is_allowed(const seine_cookie_jar *jar, const sn_cookie_view *c, bool is_address)
{
    bool known =
        c->host_only || (!is_address && jar->psl &&
                         seine_psl_site(jar->psl, c->domain.ptr, c->domain.len) > 0);

    return known && c->name.len > 0 && c->name.len + c->value.len <= SN_COOKIE_BYTES &&
           sn_cookie_prefix_holds(c);
}

/* Returns NULL, or what is wrong with the line. */
static const char *
read_cookie(file *f, sn_str line, bool http_only, seine_err *out_err)
{
    sn_str part[7] = {{0}}, rest = line;
    sn_cookie_view c = {.http_only = http_only};
    sn_cookie_place place;
    bool below;
    int n = 0;

    for (bool more = true; more && n < 7; n++)
        more = sn_str_cut(rest, '\t', &part[n], &rest);
    if (n < 6 || rest.len > 0)
        return "not seven fields with tabs between them";
    sn_str domain =
        sn_str_slice(part[0], part[0].len > 0 && part[0].ptr[0] == '.', part[0].len);
    if (!read_domain(domain, f->mem, &place))
        return "not a host";
    if (!read_flag(part[1], &below) || !read_flag(part[3], &c.secure))
        return "neither TRUE nor FALSE";
    if (part[2].len == 0 || part[2].ptr[0] != '/' || has_control(part[2]))
        return "not a path";
    if (!read_expires(part[4], f->wall, &c.expires))
        return "not a time";
    if (has_control(part[5]) || has_control(part[6]) || has_byte(part[5], ';') ||
        has_byte(part[5], '=') || has_byte(part[6], ';'))
        return "not a name and a value";
    c.domain = place.host;
    c.path = part[2];
    c.name = part[5];
    c.value = part[6];
    c.host_only = !below || place.is_address;
    if (!f->dry && is_allowed(f->jar, &c, place.is_address)) {
        seine_err e = sn_cookie_jar_put(f->jar, &c, f->wall);
        *out_err = e == SEINE_E_INVAL ? SEINE_OK : e; /* no room among secure ones */
    }
    return NULL;
}

static bool
is_blank(sn_str s)
{
    return sn_str_trim(s).len == 0;
}

static seine_err
read_lines(file *f, sn_str text, const char *path, seine_diag *diag)
{
    seine_err e = SEINE_OK;
    size_t number = 0;

    for (sn_str line; e == SEINE_OK && sn_str_next(&text, '\n', &line);) {
        number++;
        if (line.len > 0 && line.ptr[line.len - 1] == '\r')
            line.len--;
        bool http_only = sn_str_starts(line, HTTPONLY);
        if (http_only)
            line = sn_str_slice(line, HTTPONLY.len, line.len);
        else if (is_blank(line) || line.ptr[0] == '#')
            continue;
        const char *flaw = read_cookie(f, line, http_only, &e);
        if (flaw) {
            say(diag, path, number, flaw);
            return SEINE_E_CONFIG;
        }
    }
    return e;
}

seine_err
sn_cookie_jar_read(seine_cookie_jar *jar, sn_str text, const char *path, int64_t wall,
                   seine_diag *diag)
{
    file *f SN_AUTOFREE = sn_zalloc(sizeof *f);

    if (!f)
        return SEINE_E_NOMEM;
    f->jar = jar;
    f->wall = wall;
    f->dry = true;
    seine_err e = read_lines(f, text, path, diag);
    f->dry = false;
    return e == SEINE_OK ? read_lines(f, text, path, diag) : e;
}

seine_err
seine_cookie_jar_load(seine_cookie_jar *jar, const char *path, int64_t wall,
                      seine_diag *diag)
{
    if (!jar || !path)
        return SEINE_E_INVAL;
    sn_buf text;

    sn_diag_clear(diag);
    sn_buf_init_secret(&text, FILE_MAX + 65536);
    seine_err e = read_file(path, &text, diag);
    if (e == SEINE_OK)
        e = sn_cookie_jar_read(jar, sn_buf_view(&text), path, wall, diag);
    sn_buf_fini(&text);
    return e;
}

/* Writing. */

static int64_t
expires_of(const sn_cookie_view *c)
{
    return c->expires == SEINE_NEVER ? 0 : sn_time_max(c->expires / SECOND, 1);
}

/* Returns the most bytes that the line can take. */
static size_t
room_for(const sn_cookie_view *c)
{
    return HTTPONLY.len + 1 + c->domain.len + c->path.len + c->name.len + c->value.len +
           sizeof "\tFALSE\t\tFALSE\t-9223372036854775808\t\t\n";
}

static size_t
print(const sn_cookie_view *c, char *to, size_t room)
{
    return (size_t)snprintf(to, room, "%s%s%.*s\t%s\t%.*s\t%s\t%lld\t%.*s\t%.*s\n",
                            c->http_only ? "#HttpOnly_" : "", c->host_only ? "" : ".",
                            SN_FMT(c->domain), c->host_only ? "FALSE" : "TRUE",
                            SN_FMT(c->path), c->secure ? "TRUE" : "FALSE",
                            (long long)expires_of(c), SN_FMT(c->name), SN_FMT(c->value));
}

/* Prints what fits into `buf`; returns the size that everything needs. */
static size_t
print_all(seine_cookie_jar *jar, int64_t wall, char *buf, size_t room, size_t *out_len)
{
    size_t need = 1, len = 0;

    pthread_mutex_lock(&jar->lock);
    size_t n = sn_cookie_jar_list(jar, wall);
    for (size_t i = 0; i < n; i++)
        need += room_for(&jar->found[i]->view);
    for (size_t i = 0; i < n && need <= room; i++)
        len += print(&jar->found[i]->view, buf + len, room - len);
    pthread_mutex_unlock(&jar->lock);
    *out_len = len;
    return need;
}

/* Memory  is allocated outside the lock; the jar may have grown meanwhile. */
seine_err
sn_cookie_jar_print(seine_cookie_jar *jar, int64_t wall, char **out_text, size_t *out_len)
{
    size_t room = 0, need;

    *out_text = NULL;
    while ((need = print_all(jar, wall, *out_text, room, out_len)) > room) {
        if (*out_text)
            seine_wipe(*out_text, *out_len);
        sn_free(*out_text);
        room = need + need / 4;
        *out_text = sn_alloc(room);
        if (!*out_text)
            return SEINE_E_NOMEM;
    }
    return SEINE_OK;
}

static seine_err
save(const char *path, const char *text, size_t len, seine_diag *diag)
{
    struct stat about;
    sn_file_new f;
    size_t n = strlen(path);

    /* A rename would replace /dev/null itself. */
    if (n == 0 || path[n - 1] == '/' ||
        (lstat(path, &about) == 0 && !S_ISREG(about.st_mode) &&
         !S_ISLNK(about.st_mode))) {
        say(diag, path, 0, "not a regular file");
        return SEINE_E_IO;
    }
    if (!sn_file_begin(&f, path, 0600))
        return say_errno(diag, path, errno);
    bool fine = sn_file_write(f.fd, HEADING, sizeof HEADING - 1) &&
                sn_file_write(f.fd, text, len);
    return sn_file_end(&f, fine, SN_FILE_SYNCED) ? SEINE_OK
                                                 : say_errno(diag, path, errno);
}

seine_err
seine_cookie_jar_save(seine_cookie_jar *jar, const char *path, int64_t wall,
                      seine_diag *diag)
{
    if (!jar || !path)
        return SEINE_E_INVAL;
    char *text;
    size_t len;
    seine_err e = sn_cookie_jar_print(jar, wall, &text, &len);

    sn_diag_clear(diag);
    if (e == SEINE_OK)
        e = save(path, text, len, diag);
    if (text)
        seine_wipe(text, len);
    sn_free(text);
    return e;
}
