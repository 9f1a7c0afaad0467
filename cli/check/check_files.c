/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seine/url.h>

#include "check/check.h"
#include "options/option_names.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/feed.h"

#define LONGEST ((size_t)64 << 20)

static int
hex_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

char *
check_decode(const char *text, size_t n)
{
    char *out = xalloc_zeroed(1, n + 1);
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        int high = text[i] == '%' && i + 2 < n ? hex_of(text[i + 1]) : -1;
        int low = high >= 0 ? hex_of(text[i + 2]) : -1;

        if (low >= 0 && high * 16 + low > 0) {
            out[len++] = (char)(high * 16 + low);
            i += 2;
        } else {
            out[len++] = text[i];
        }
    }
    out[len] = '\0';
    return out;
}

/* Removes "." and ".." where that is possible without asking the file system. */
static char *
tidy(char *path)
{
    size_t room = strlen(path) + 2, n = 0, depth = 0;
    char *out = xalloc_zeroed(1, room);
    bool ends = path[0] && path[strlen(path) - 1] == '/';

    if (path[0] == '/')
        out[n++] = '/';
    for (char *rest = path, *part; (part = strsep(&rest, "/")) != NULL;) {
        if (!*part || strcmp(part, ".") == 0)
            continue;
        if (strcmp(part, "..") == 0 && depth > 0) {
            while (n > 0 && out[n - 1] != '/')
                n--;
            n -= n > 1;
            depth--;
        } else {
            if (n > 0 && out[n - 1] != '/')
                out[n++] = '/';
            memcpy(out + n, part, strlen(part));
            n += strlen(part);
            depth += strcmp(part, "..") != 0;
        }
        out[n] = '\0';
    }
    if (n == 0)
        out[n++] = '.';
    if (ends && out[n - 1] != '/')
        out[n++] = '/';
    out[n] = '\0';
    free(path);
    return out;
}

char *
check_join(const char *dir, const char *path)
{
    size_t n = strlen(dir) + strlen(path) + 2;
    char *both = xalloc_zeroed(1, n);

    if (strcmp(dir, ".") == 0 || path[0] == '/')
        snprintf(both, n, "%s", path);
    else
        snprintf(both, n, "%s/%s", dir, path);
    return tidy(both);
}

/* The directory of a path. */
static char *
dir_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return xalloc_copy(".", 1);
    return xalloc_copy(path, slash == path ? 1 : (size_t)(slash - path));
}

char *
check_read_file(const char *path, size_t *out_len)
{
    struct stat st = {.st_size = 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = 0;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (size_t)st.st_size > LONGEST) {
        errno = S_ISREG(st.st_mode) ? EFBIG : EINVAL;
        close(fd);
        return NULL;
    }
    size_t room = (size_t)st.st_size + 1, n = 0;
    char *bytes = xalloc_zeroed(1, room);
    while (n < room - 1 && (got = read(fd, bytes + n, room - 1 - n)) > 0)
        n += (size_t)got;
    int why = errno;
    close(fd);
    if (got < 0) { /* half a document has half of its links */
        free(bytes);
        errno = why;
        return NULL;
    }
    *out_len = n;
    return bytes;
}

/* The URL of an HTML document's <base>, if it has a whole one. */
static const seine_url *
base_of(const check *c, char mem[SEINE_URL_ROOM], seine_url *out)
{
    seine_view base = seine_document_base(c->document);

    seine_url_init(out, mem, SEINE_URL_ROOM);
    if (!base.ptr || seine_url_parse(out, base.ptr, base.len, NULL) != SEINE_OK)
        return NULL;
    return out;
}

/* The directory that links of the document start from: a <base> that is no whole URL
 * moves it. */
static char *
dir_by_base(const check *c, char *give_dir)
{
    seine_view base = seine_document_base(c->document);
    size_t n = 0;

    while (n < base.len && base.ptr[n] != '?' && base.ptr[n] != '#')
        n++;
    while (n > 0 && base.ptr[n - 1] != '/')
        n--;
    if (n == 0 || (n > 1 && memcmp(base.ptr, "//", 2) == 0))
        return give_dir;
    char *path = check_decode(base.ptr, n);
    char *moved = path[0] == '/' ? check_join(c->root ? c->root : ".", path + 1)
                                 : check_join(give_dir, path);
    free(path);
    free(give_dir);
    return moved;
}

static seine_err
parse_file(check *c, const char *path, bool *out_unread)
{
    size_t len = 0;
    seine_document_kind form = SEINE_DOCUMENT_MARKDOWN;
    char *bytes = check_read_file(path, &len);

    *out_unread = !bytes;
    if (!bytes)
        return SEINE_E_IO;
    seine_document_kind_of(path, &form);
    seine_err e = seine_document_read(c->document, form, bytes, len);
    free(bytes);
    return e;
}

static void
say_unread(check *c, const char *path, seine_err e, bool unread)
{
    c->n_unread++;
    run_log_fail(&c->log, e, NULL, "cannot read '%s': %s", show(path).text,
                 unread ? show_errno(errno).text : seine_err_text(e));
}

/* Reads a document and keeps its links. */
static void
read_document(check *c, const char *given)
{
    char *path = tidy(xalloc_copy(given, strlen(given)));
    bool unread = false;
    char mem[SEINE_URL_ROOM];
    seine_url url;
    seine_document_link l;

    if (name_map_get(&c->files, path) != NAME_MAP_NONE) {
        free(path);
        return;
    }
    seine_err e = parse_file(c, path, &unread);
    if (e != SEINE_OK) {
        say_unread(c, path, e, unread);
        free(path);
        return;
    }
    uint32_t page = check_add_page(c, path);
    name_map_set(&c->files, c->pages[page].name, page);
    check_take_anchors(c, &c->pages[page].anchors);
    c->pages[page].is_listed = c->root != NULL;
    c->n_files++;
    const seine_url *base = base_of(c, mem, &url);
    char *dir = dir_by_base(c, dir_of(path));
    for (size_t i = 0; seine_document_at(c->document, i, &l); i++)
        check_add_link(c, page, &l, base, dir);
    check_note_cut(c, path);
    free(dir);
    free(path);
}

uint32_t
check_read_extra(check *c, const char *path)
{
    uint32_t page = name_map_get(&c->files, path);
    bool unread = false;

    if (page != NAME_MAP_NONE || name_map_get(&c->unreadable, path) != NAME_MAP_NONE)
        return page;
    if (parse_file(c, path, &unread) != SEINE_OK) {
        c->unreadable_names =
            xalloc_room(c->unreadable_names, c->n_unreadable, &c->cap_unreadable,
                        sizeof *c->unreadable_names);
        c->unreadable_names[c->n_unreadable] = xalloc_copy(path, strlen(path));
        name_map_set(&c->unreadable, c->unreadable_names[c->n_unreadable++], 0);
        return NAME_MAP_NONE;
    }
    page = check_add_page(c, path);
    name_map_set(&c->files, c->pages[page].name, page);
    c->pages[page].is_extra = true;
    check_take_anchors(c, &c->pages[page].anchors);
    return page;
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int
is_shown(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static bool
is_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);

    n -= n > 0 && dir[n - 1] == '/';
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* Whether a symbolic link is a document inside of the directory that was given, or of
 * the working directory. Whoever wrote the documents must not choose which of the user's
 * other files are read, shown and asked for. */
static bool
stays_inside(const check *c, const char *path)
{
    char *real = realpath(path, NULL), *here = realpath(".", NULL);
    seine_document_kind form;
    bool inside = real && seine_document_kind_of(real, &form) &&
                  ((c->real_root && is_below(real, c->real_root)) ||
                   (here && is_below(real, here)));

    free(real);
    free(here);
    return inside;
}

/* Reads a document, or what a symbolic link in a directory leads to. */
static void
read_found(check *c, const char *path, const struct stat *st)
{
    seine_document_kind form;
    struct stat behind = *st;

    if (!seine_document_kind_of(path, &form))
        return;
    if (S_ISLNK(st->st_mode) && stat(path, &behind) != 0)
        return; /* it leads nowhere */
    if (!S_ISREG(behind.st_mode))
        return;
    if (S_ISLNK(st->st_mode) && !stays_inside(c, path)) {
        run_log_note(&c->log, "check",
                     "seine: '%s' is a symbolic link to no document in '%s': not read",
                     show(path).text, show(c->root).text);
        return;
    }
    read_document(c, path);
}

/* Reads the documents of a directory and of those below it, in order of their names.
 * Hidden ones and links to directories are left alone. */
static void
read_directory(check *c, const char *dir)
{
    struct dirent **all = NULL;
    int n = scandir(dir, &all, is_shown, by_name);

    if (n < 0) {
        say_unread(c, dir, SEINE_E_IO, true);
        return;
    }
    for (int i = 0; i < n; i++) {
        char *path = check_join(dir, all[i]->d_name);
        struct stat st;

        if (lstat(path, &st) != 0)
            say_unread(c, path, SEINE_E_IO, true);
        else if (S_ISDIR(st.st_mode))
            read_directory(c, path);
        else
            read_found(c, path, &st);
        free(path);
        free(all[i]);
    }
    free(all);
}

/* A URL, a file or a directory. */
static int
read_input(check *c, const char *word)
{
    struct stat st;

    if (strstr(word, "://")) {
        c->sites = xalloc_room(c->sites, c->n_sites, &c->cap_sites, sizeof *c->sites);
        c->sites[c->n_sites++] = xalloc_copy(word, strlen(word));
        return SAY_DONE;
    }
    if (stat(word, &st) != 0)
        return say_fail(SAY_USAGE, "a file, a directory, or a URL with https://",
                        "cannot read '%s': %s", show(word).text, show_errno(errno).text);
    if (S_ISDIR(st.st_mode)) {
        const char *before = c->root;
        char *dir = tidy(xalloc_copy(word, strlen(word)));

        for (size_t n = strlen(dir); n > 1 && dir[n - 1] == '/'; n--)
            dir[n - 1] = '\0';
        c->root = dir;
        free(c->real_root);
        c->real_root = realpath(dir, NULL);
        read_directory(c, dir);
        c->root = before;
        free(dir);
    } else {
        read_document(c, word);
    }
    return SAY_DONE;
}

/* A list of inputs, in any form that lists of URLs have. */
static int
read_list(check *c, const char *path)
{
    seine_input *in = NULL;
    seine_ask ask;
    seine_err e = SEINE_OK;
    int code = feed_open_list(&c->set->net, path, NULL, &in);

    while (code == SAY_DONE && (e = seine_input_next(in, &ask)) == SEINE_OK) {
        if (ask.is_bad) {
            run_log_fail(&c->log, SEINE_E_PARSE, NULL, "line %llu of '%s' names nothing",
                         (unsigned long long)ask.line, show(path).text);
            c->n_unread++;
            continue;
        }
        char *word = xalloc_copy(ask.url.ptr, ask.url.len);
        code = read_input(c, word);
        free(word);
    }
    if (code == SAY_DONE && e != SEINE_E_CLOSED)
        code = option_names_fail(NULL, SAY_MACHINE, NULL, seine_input_diag(in), e);
    seine_input_free(in);
    return code;
}

int
check_read_inputs(check *c)
{
    int code = SAY_DONE;

    if (c->args->count == 0 && c->set->input.count == 0)
        return say_fail(SAY_USAGE, "seine check docs, or seine check https://e.example/",
                        "nothing to check is given");
    for (size_t i = 0; i < c->set->input.count && code == SAY_DONE; i++)
        code = read_list(c, c->set->input.items[i]);
    for (size_t i = 0; i < c->args->count && code == SAY_DONE; i++)
        code = strcmp(c->args->words[i], "-") == 0 ? read_list(c, "-")
                                                   : read_input(c, c->args->words[i]);
    return code;
}

/* Globs, one per line: those of --ignore-file, or of .seineignore if there is one. */
int
check_read_ignore_file(check *c)
{
    const char *path = c->set->ignore_file ? c->set->ignore_file : ".seineignore";
    size_t len = 0;

    c->globs_text = check_read_file(path, &len);
    if (!c->globs_text && c->set->ignore_file)
        return say_fail(SAY_USAGE, "a file with a pattern per line: https://e.example/*",
                        "--ignore-file: cannot read '%s': %s", show(path).text,
                        show_errno(errno).text);
    for (char *rest = c->globs_text, *line; (line = strsep(&rest, "\n")) != NULL;) {
        size_t n = strlen(line);

        while (n > 0 && (unsigned char)line[n - 1] <= ' ')
            line[--n] = '\0';
        line += strspn(line, " \t");
        if (!*line || *line == '#')
            continue;
        c->globs = xalloc_room(c->globs, c->n_globs, &c->cap_globs, sizeof *c->globs);
        c->globs[c->n_globs++] = line;
    }
    return SAY_DONE;
}
