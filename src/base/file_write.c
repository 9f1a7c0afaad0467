/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/str.h"
#include "seine/plumbing.h"

bool
sn_file_write(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t wrote = write(fd, bytes, n);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return false;
        bytes += wrote;
        n -= (size_t)wrote;
    }
    return true;
}

/* Splits "a/b" and opens "a"; *out_base is "b". */
static int
open_directory(const char *path, const char **out_base)
{
    const char *slash = strrchr(path, '/');
    char *dir SN_AUTOFREE = NULL;

    *out_base = slash ? slash + 1 : path;
    if (!**out_base) {
        errno = EISDIR;
        return -1;
    }
    if (!slash)
        return open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    size_t len = slash == path ? 1 : (size_t)(slash - path);
    dir = sn_zalloc(len + 1);
    if (!dir) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(dir, path, len);
    return open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Creates a file with a new name in that directory. */
static int
open_beside(int dir, mode_t mode, char out_name[32])
{
    int fd = -1;

    for (int i = 0; i < 16 && fd < 0; i++) {
        uint64_t dice;

        sn_rng_secret(&dice, sizeof dice);
        snprintf(out_name, 32, ".seine-%016llx", (unsigned long long)dice);
        fd = openat(dir, out_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    mode);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

static void
close_quietly(int fd)
{
    int why = errno;

    close(fd);
    errno = why;
}

bool
sn_file_begin(sn_file_new *f, const char *path, mode_t mode)
{
    f->dir = open_directory(path, &f->base);
    if (f->dir < 0)
        return false;
    f->fd = open_beside(f->dir, mode, f->name);
    if (f->fd >= 0)
        return true;
    close_quietly(f->dir);
    return false;
}

/* Some file systems cannot sync. */
static bool
sync_it(int fd)
{
    return fdatasync(fd) == 0 || errno == EINVAL || errno == EROFS;
}

bool
sn_file_end(sn_file_new *f, bool keep, sn_file_sync sync)
{
    bool ok = keep && (sync == SN_FILE_QUICK || sync_it(f->fd));
    int why = errno;

    if (close(f->fd) != 0 && ok) {
        ok = false;
        why = errno;
    }
    if (ok && renameat(f->dir, f->name, f->dir, f->base) != 0) {
        ok = false;
        why = errno;
    }
    if (!ok)
        (void)unlinkat(f->dir, f->name, 0);
    close(f->dir);
    errno = why;
    return ok;
}

/* The number behind /dev/stdout, /dev/fd/3 and the like; -1: another path. */
static int
descriptor_of(const char *path)
{
    static const char *const places[] = {"/dev/fd/", "/proc/self/fd/"};
    uint64_t n;

    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < 2; i++)
        if (strncmp(path, places[i], strlen(places[i])) == 0 &&
            sn_str_u64(sn_str_of(path + strlen(places[i])), &n) == SEINE_OK &&
            n < 1000000)
            return (int)n;
    return -1;
}

/* Opens what is no file and no link: a pipe or a device. */
static int
open_special(const char *path)
{
    struct stat st;
    int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);

    if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
        return fd;
    if (fd >= 0) { /* replaced meanwhile */
        close(fd);
        errno = EEXIST;
    }
    return -1;
}

static bool
write_special(const char *path, const char *bytes, size_t n)
{
    int fd = open_special(path);
    bool ok = fd >= 0 && sn_file_write(fd, bytes, n);

    if (fd >= 0 && ok)
        return close(fd) == 0;
    if (fd >= 0)
        close_quietly(fd);
    return false;
}

static bool
is_special(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode) &&
           !S_ISDIR(st.st_mode);
}

bool
sn_file_replace(const char *path, const char *bytes, size_t n, sn_file_sync sync)
{
    int fd = descriptor_of(path);
    sn_file_new f;

    if (fd >= 0)
        return sn_file_write(fd, bytes, n);
    if (is_special(path))
        return write_special(path, bytes, n);
    if (!sn_file_begin(&f, path, 0666))
        return false;
    return sn_file_end(&f, sn_file_write(f.fd, bytes, n), sync);
}

bool
seine_file_replace(const char *path, const char *bytes, size_t n)
{
    if (!path)
        return false;
    return sn_file_replace(path, bytes, n, SN_FILE_QUICK);
}

int
seine_file_append(const char *path)
{
    if (!path)
        return -1;
    return sn_file_append(path);
}

bool
sn_file_real_path(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    char directory[PATH_MAX], real[PATH_MAX];
    int n = slash ? (int)(slash - path) + 1 : 0;

    if (snprintf(directory, sizeof directory, "%.*s.", n, path) >= PATH_MAX ||
        !realpath(directory, real))
        return false;
    return snprintf(out, PATH_MAX, "%s/%s", strcmp(real, "/") == 0 ? "" : real,
                    path + n) < PATH_MAX;
}

int
sn_file_append(const char *path)
{
    int fd = descriptor_of(path);

    if (fd >= 0)
        return fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
                0666);
}
