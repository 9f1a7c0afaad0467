/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST = 255 }; /* bytes of a part: NAME_MAX of Linux */

int
snc_folder_open(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool
is_part(sn_str part)
{
    return part.len > 0 && part.len <= LONGEST && !memchr(part.ptr, '\0', part.len) &&
           !sn_str_eq(part, SN_STR(".")) && !sn_str_eq(part, SN_STR(".."));
}

/* Opens one part below a directory. A FIFO does not block the open. */
static int
open_part(int folder, sn_str part, bool last)
{
    char name[LONGEST + 1];

    memcpy(name, part.ptr, part.len);
    name[part.len] = '\0';
    return openat(folder, name,
                  O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
                      (last ? 0 : O_DIRECTORY));
}

static seine_err
why_not(void)
{
    return errno == EMFILE || errno == ENFILE ? SEINE_E_NO_FILES : SEINE_E_UNKNOWN;
}

static seine_err
open_file(int folder, sn_str name, int *out_fd)
{
    int at = folder;
    bool more = true;

    while (more) {
        sn_str part;

        more = sn_str_cut(name, '/', &part, &name);
        int next = is_part(part) ? open_part(at, part, !more) : -1;
        seine_err e = next < 0 && is_part(part) ? why_not() : SEINE_E_UNKNOWN;
        if (at != folder)
            close(at);
        if (next < 0)
            return e;
        at = next;
    }
    *out_fd = at;
    return SEINE_OK;
}

/* A file that shrinks meanwhile ends early; one that grows is read as long as it was. */
static seine_err
read_all(int fd, size_t len, sn_buf *out)
{
    char *to = sn_buf_reserve(out, len);
    size_t got = 0;
    ssize_t n = 1;

    if (!to)
        return sn_buf_done(out);
    while (got < len && n > 0) {
        n = read(fd, to + got, len - got);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            got += (size_t)n;
    }
    sn_buf_commit(out, got);
    return n < 0 ? SEINE_E_IO : SEINE_OK;
}

seine_err
snc_folder_read(int folder, sn_str name, sn_buf *out)
{
    struct stat st;
    int fd;
    seine_err e = open_file(folder, name, &fd);

    if (e != SEINE_OK)
        return e;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        e = SEINE_E_UNKNOWN;
    else if (st.st_size > (off_t)SNC_FOLDER_MOST)
        e = SEINE_E_RANGE;
    else if (st.st_size > 0)
        e = read_all(fd, (size_t)st.st_size, out);
    close(fd);
    return e;
}

/* "html" of "pages/LIST.html"; empty: the last part has no dot. */
static sn_str
ending(sn_str name)
{
    size_t from = name.len;

    while (from > 0 && name.ptr[from - 1] != '.' && name.ptr[from - 1] != '/')
        from--;
    return from > 0 && name.ptr[from - 1] == '.' ? sn_str_slice(name, from, name.len)
                                                 : SN_STR("");
}

const char *
snc_folder_type(sn_str name)
{
    static const char *const types[][2] = {
        {"html", "text/html"},
        {"htm", "text/html"},
        {"xhtml", "application/xhtml+xml"},
        {"json", "application/json"},
        {"jsonl", "application/x-ndjson"},
        {"xml", "application/xml"},
        {"rss", "application/rss+xml"},
        {"atom", "application/atom+xml"},
        {"csv", "text/csv"},
        {"txt", "text/plain"},
        {"md", "text/markdown"},
        {"css", "text/css"},
        {"js", "text/javascript"},
        {"svg", "image/svg+xml"},
        {"png", "image/png"},
        {"jpg", "image/jpeg"},
        {"jpeg", "image/jpeg"},
        {"gif", "image/gif"},
        {"webp", "image/webp"},
        {"ico", "image/x-icon"},
        {"woff2", "font/woff2"},
        {"pdf", "application/pdf"},
        {"gz", "application/gzip"},
        {"zip", "application/zip"},
    };
    sn_str end = ending(name);

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (sn_str_eq_nocase(end, sn_str_of(types[i][0])))
            return types[i][1];
    return "application/octet-stream";
}
