/* SPDX-License-Identifier: Apache-2.0 */
#include "store/spill_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* File systems without O_TMPFILE get a name, which is removed at once. */
static int
open_file(const char *dir, void *arg)
{
    char name[4096];
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    (void)arg;
    if (fd >= 0)
        return fd;
    int n = snprintf(name, sizeof name, "%s/seine-store-XXXXXX", dir);
    if (n < 0 || (size_t)n >= sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    return fd;
}

static ssize_t
write_file(int fd, const void *bytes, size_t n, off_t at, void *arg)
{
    (void)arg;
    return pwrite(fd, bytes, n, at);
}

static ssize_t
read_file(int fd, void *bytes, size_t n, off_t at, void *arg)
{
    (void)arg;
    return pread(fd, bytes, n, at);
}

static void
empty_file(int fd, void *arg)
{
    (void)arg;
    (void)!ftruncate(fd, 0); /* on failure the space is still reused */
}

static void
close_file(int fd, void *arg)
{
    (void)arg;
    close(fd);
}

const sn_spill_disk sn_spill_disk_system = {open_file,  write_file, read_file,
                                            empty_file, close_file, NULL};
