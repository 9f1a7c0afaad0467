/* SPDX-License-Identifier: Apache-2.0 */
#include "store/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/outfile.h"

/* Kernels before 5.6 have no openat2; a name of one part needs none. */
int
sn_beneath_open(int dir, const char *name, int flags)
{
    struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC | O_NOFOLLOW),
                           .mode = flags & O_CREAT ? 0666 : 0,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    int fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof how);

    if (fd < 0 && (errno == ENOSYS || errno == EPERM) && !strchr(name, '/'))
        fd = openat(dir, name, flags | O_CLOEXEC | O_NOFOLLOW, 0666);
    return fd;
}

static void
close_quietly(int fd)
{
    int error = errno;

    if (fd >= 0)
        close(fd);
    errno = error;
}

int
sn_beneath_parent(int dir, const char *path, bool make, const char **out_last)
{
    int at = dup(dir);
    const char *slash;

    while (at >= 0 && (slash = strchr(path, '/'))) {
        char part[256];
        int next;

        if ((size_t)(slash - path) >= sizeof part) {
            errno = ENAMETOOLONG;
            next = -1;
        } else {
            memcpy(part, path, (size_t)(slash - path));
            part[slash - path] = '\0';
            if (make && mkdirat(at, part, 0777) != 0 && errno != EEXIST)
                next = -1;
            else
                next = sn_beneath_open(at, part, O_RDONLY | O_DIRECTORY);
        }
        close_quietly(at);
        at = next;
        path = slash + 1;
    }
    *out_last = path;
    return at;
}

int
sn_beneath_read(int dir, const char *path)
{
    const char *last;
    int parent = sn_beneath_parent(dir, path, false, &last);

    if (parent < 0)
        return -1;
    int fd = sn_beneath_open(parent, last, O_RDONLY | O_NONBLOCK);
    close_quietly(parent);
    return fd;
}

/* No running process uses this name; an existing file was left by a killed one. */
static int
open_part(sn_parts *p, char name[SN_PART_NAME])
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL;

    snprintf(name, SN_PART_NAME, "%s%ld-%llu", p->prefix, (long)getpid(),
             (unsigned long long)p->made++);
    int fd = sn_beneath_open(p->dir, name, flags);
    if (fd < 0 && errno == EEXIST && unlinkat(p->dir, name, 0) == 0)
        fd = sn_beneath_open(p->dir, name, flags);
    return fd;
}

bool
sn_beneath_part(sn_parts *p, sn_str bytes, char out_name[SN_PART_NAME])
{
    sn_outfile f = {.fd = open_part(p, out_name)};
    size_t done;

    if (f.fd < 0)
        return false;
    bool ok = sn_outfile_write(&f, bytes, &done);
    int error = errno;

    if (close(f.fd) != 0 && ok) {
        ok = false;
        error = errno;
    }
    if (!ok)
        (void)unlinkat(p->dir, out_name, 0);
    errno = error;
    return ok;
}

bool
sn_beneath_move(int from, const char *name, int dir, const char *path)
{
    const char *last;
    int parent = sn_beneath_parent(dir, path, true, &last);
    bool ok = parent >= 0 && renameat(from, name, parent, last) == 0;

    close_quietly(parent);
    return ok;
}

bool
sn_beneath_write(sn_parts *p, int dir, const char *path, sn_str bytes)
{
    char name[SN_PART_NAME];

    if (!sn_beneath_part(p, bytes, name))
        return false;
    if (sn_beneath_move(p->dir, name, dir, path))
        return true;
    int error = errno;
    (void)unlinkat(p->dir, name, 0);
    errno = error;
    return false;
}

/* Removes the directories of the path that are empty, the deepest first. */
static void
remove_empty(int dir, const char *path)
{
    char above[4096];
    char *slash;

    snprintf(above, sizeof above, "%s", path);
    while ((slash = strrchr(above, '/'))) {
        const char *last;

        *slash = '\0';
        int parent = sn_beneath_parent(dir, above, false, &last);
        if (parent < 0)
            return;
        int failed = unlinkat(parent, last, AT_REMOVEDIR);
        close(parent);
        if (failed != 0)
            return;
    }
}

bool
sn_beneath_remove(int dir, const char *path)
{
    const char *last;
    int parent = sn_beneath_parent(dir, path, false, &last);
    bool ok = parent >= 0 && unlinkat(parent, last, 0) == 0;

    close_quietly(parent);
    if (ok)
        remove_empty(dir, path);
    return ok;
}
