/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_write.h - how a file is opened for writing without being led elsewhere.
 *
 *     if (!sn_file_replace("x.prom", text, len, SN_FILE_QUICK))      errno says why
 *
 *     sn_file_new f;                                 the same for what is not one text
 *     if (!sn_file_begin(&f, "x.cdxj", 0666))        a new file beside it, f.fd
 *         return errno;
 *     bool ok = write_lines(f.fd);
 *     ok = sn_file_end(&f, ok, SN_FILE_SYNCED);      renamed to x.cdxj, or removed
 *
 * Somebody else may write to the directory, /tmp for instance, and may have put a link
 * there: to a file of ours, under the name we will use. So a new file gets a name nobody
 * can guess, made exclusively. Renaming replaces what has the name, be it a link, and a
 * reader sees the old file or the new one. An existing file is opened without following
 * a link at the end of its path.
 *
 * /dev/stdout, /dev/stderr and /dev/fd/N are the descriptors themselves. A pipe or device
 * is written to as it is.
 *
 * Time    plays no part; writing blocks.
 * Memory  none.
 * Threads any thread.
 */
#ifndef SN_FILE_WRITE_H
#define SN_FILE_WRITE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef enum sn_file_sync {
    SN_FILE_QUICK, /* survives the process */
    SN_FILE_SYNCED /* survives a loss of power: fdatasync before the rename */
} sn_file_sync;

typedef struct sn_file_new {
    int fd;
    int dir;          /* the directory of both names */
    const char *base; /* the name it gets; borrowed from the path */
    char name[32];    /* the name it has */
} sn_file_new;

/* The path is borrowed until sn_file_end. False: errno. */
bool sn_file_begin(sn_file_new *f, const char *path, mode_t mode);

/* Closes the file. `keep`: it gets its name; else it is removed, and errno stays. False:
 * it did not get its name, and errno says why. */
bool sn_file_end(sn_file_new *f, bool keep, sn_file_sync sync);

/* Writes all bytes; false: errno. */
bool sn_file_write(int fd, const char *bytes, size_t n);

/* The whole of it for one text; the file has mode 0666 but for the umask. */
bool sn_file_replace(const char *path, const char *bytes, size_t n, sn_file_sync sync);

/* The absolute path: links are resolved in all but its last part, which need not exist.
 * False: errno, or it is too long. */
bool sn_file_real_path(const char *path, char out[PATH_MAX]);

/* Opens a file to append to; makes it if there is none. Returns a descriptor for the
 * caller to close, or -1 with errno; ELOOP: a link. */
int sn_file_append(const char *path);

#endif
