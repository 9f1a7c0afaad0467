/* SPDX-License-Identifier: Apache-2.0 */
#include "options/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "screen/xalloc.h"

/* The cookie jar of the library has the same loop, which is no part of the contract. */
static bool
write_all(int fd, const char *bytes, size_t n)
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

bool
replace_file(const char *path, const char *bytes, size_t n)
{
    struct stat about;
    bool plain = stat(path, &about) != 0 || S_ISREG(about.st_mode);
    size_t len = strlen(path) + 32;
    char *beside = xalloc_zeroed(len, 1);

    snprintf(beside, len, plain ? "%s.%ld.new" : "%s", path, (long)getpid());
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool fine = fd >= 0 && write_all(fd, bytes, n);
    int why = errno;
    if (fd >= 0 && close(fd) != 0 && fine) {
        why = errno;
        fine = false;
    }
    if (fine && plain && rename(beside, path) != 0) {
        why = errno;
        fine = false;
    }
    if (!fine && plain && fd >= 0)
        unlink(beside);
    free(beside);
    errno = why;
    return fine;
}
