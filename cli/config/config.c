/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "config/config_sections.h"
#include "screen/mistake.h"
#include "screen/say.h"
#include "screen/xalloc.h"

enum { BYTES_MOST_READ = (1 << 20) + 1 }; /* one more than the reader takes */

/* Says what is wrong with a file, or keeps it in `why`. */
__attribute__((format(printf, 3, 4))) static int
fail(char *why, const char *hint, const char *fmt, ...)
{
    char text[CONFIG_WHY];
    va_list list;

    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    if (why)
        snprintf(why, CONFIG_WHY, "%s", text);
    else
        say_fail(SAY_USAGE, hint, "%s", text);
    return SAY_USAGE;
}

/* Who can write the file can set a proxy, and so read every request. */
static int
check_trust(const char *path, const struct stat *s, char *why)
{
    char hint[200];

    if (s->st_uid != 0 && s->st_uid != geteuid())
        return fail(why, "--no-config, or a file of your own with --config",
                    "%s belongs to user %u, not to you: it is not read", show(path).text,
                    (unsigned)s->st_uid);
    snprintf(hint, sizeof hint, "chmod go-w %s", show(path).text);
    if (s->st_mode & (S_IWGRP | S_IWOTH))
        return fail(why, hint, "%s can be written by others (mode %03o): it is not read",
                    show(path).text, (unsigned)(s->st_mode & 0777));
    return SAY_DONE;
}

static bool
is_null_device(const struct stat *s)
{
    return S_ISCHR(s->st_mode) && s->st_rdev == makedev(1, 3);
}

static int
read_all(const char *path, int fd, config_file *f, char *why)
{
    ssize_t n = 1;

    f->text = xalloc_zeroed(BYTES_MOST_READ + 1, 1);
    while (n > 0 && f->len < BYTES_MOST_READ) {
        n = read(fd, f->text + f->len, BYTES_MOST_READ - f->len);
        if (n > 0)
            f->len += (size_t)n;
    }
    if (n < 0)
        return fail(why, NULL, "%s: %s", show(path).text, show_errno(errno).text);
    return SAY_DONE;
}

static int
read_open(const char *path, int fd, bool is_trusted, config_file *f, char *why)
{
    struct stat s;

    if (fstat(fd, &s) != 0)
        return fail(why, NULL, "%s: %s", show(path).text, show_errno(errno).text);
    if (is_null_device(&s))
        return SAY_DONE;
    if (!S_ISREG(s.st_mode))
        return fail(why, "seine config init > seine.yaml", "%s is no file",
                    show(path).text);
    int code = is_trusted ? SAY_DONE : check_trust(path, &s, why);
    return code == SAY_DONE ? read_all(path, fd, f, why) : code;
}

int
config_read(const char *path, bool is_trusted, config_file *out_file, char *why)
{
    config_file f = {.path = xalloc_copy(path, strlen(path))};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    *out_file = f;
    if (fd < 0)
        return fail(why, "seine config init > seine.yaml", "cannot read %s: %s",
                    show(path).text, show_errno(errno).text);
    int code = read_open(path, fd, is_trusted, out_file, why);
    close(fd);
    if (code == SAY_DONE &&
        seine_config_parse(out_file->text ? out_file->text : "", out_file->len, path,
                           &out_file->tree) != SEINE_OK)
        xalloc_json(NULL);
    return code;
}

void
config_close(config_file *f)
{
    seine_config_free(f->tree);
    if (f->text)
        explicit_bzero(f->text, f->len);
    free(f->text);
    free(f->path);
    *f = (config_file){0};
}

bool
config_is_fine(const config_file *f, char *why)
{
    const seine_diag *d = seine_config_mistake(f->tree, 0);
    char what[SEINE_DIAG_TEXT];
    const char *hint;

    if (d && why) {
        mistake_split(d, what, &hint);
        snprintf(why, CONFIG_WHY, "%s:%" PRIu64 ":%" PRIu64 ": %s%s%s", d->file, d->line,
                 d->column, what, hint ? "; try " : "", hint ? hint : "");
        return false;
    }
    for (size_t i = 0; (d = seine_config_mistake(f->tree, i)); i++)
        mistake_tell(f->text ? f->text : "", f->len, d);
    return seine_config_mistake(f->tree, 0) == NULL;
}

static char *
joined(const char *folder, const char *name)
{
    size_t n = strlen(folder) + strlen(name) + 1;
    char *path = xalloc_zeroed(n, 1);

    snprintf(path, n, "%s%s", folder, name);
    return path;
}

char *
config_place(size_t i)
{
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (i == 0)
        return joined("./", "seine.yaml");
    if (i > 1)
        return NULL;
    if (xdg && xdg[0] == '/') /* others are to be ignored, as its specification says */
        return joined(xdg, "/seine/config.yaml");
    return home && home[0] == '/' ? joined(home, "/.config/seine/config.yaml") : NULL;
}

static int
add_file(config *c, const char *path, char *why)
{
    config_file *f = &c->files[c->count++];
    int code = config_read(path, false, f, why);

    if (code != SAY_DONE)
        return code;
    config_sections_check(f->tree);
    return config_is_fine(f, why) ? SAY_DONE : SAY_USAGE;
}

static int
add_places(config *c, char *why)
{
    int code = SAY_DONE;
    char *path;

    for (size_t i = 0; code == SAY_DONE && (path = config_place(i)); i++) {
        if (access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR))
            code = add_file(c, path, why);
        free(path);
    }
    return code;
}

int
config_load(const char *chosen, config **out_config, char *why)
{
    config *c = xalloc_zeroed(1, sizeof *c);
    int code = !chosen     ? add_places(c, why)
               : chosen[0] ? add_file(c, chosen, why)
                           : SAY_DONE;

    *out_config = c;
    return code;
}

void
config_free(config *c)
{
    for (size_t i = 0; c && i < c->count; i++)
        config_close(&c->files[i]);
    free(c);
}

const seine_config_node *
config_get(const config *c, const char *key, const config_file **out_file)
{
    for (size_t i = 0; c && i < c->count; i++) {
        const seine_config_node *n =
            seine_config_get(seine_config_root(c->files[i].tree), key);

        if (n) {
            if (out_file)
                *out_file = &c->files[i];
            return n;
        }
    }
    return NULL;
}
