/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spill_disk.h - the file functions of a store that spills, so that tests can give it a
 * disk that fails, is full, is slow or returns other bytes than were written.
 *
 *     int fd = sn_spill_disk_system.open("/tmp", NULL);
 *     ssize_t n = sn_spill_disk_system.write(fd, "bytes", 5, 0, NULL);
 *
 * Each function reports an error as the system does: -1, and errno.
 *
 * Time    plays no part.
 * Memory  none.
 * Threads any thread, each file by one owner.
 */
#ifndef SN_SPILL_DISK_H
#define SN_SPILL_DISK_H

#include <sys/types.h>

typedef struct sn_spill_disk {
    int (*open)(const char *dir, void *arg); /* a file without a name */
    ssize_t (*write)(int fd, const void *bytes, size_t n, off_t at, void *arg);
    ssize_t (*read)(int fd, void *bytes, size_t n, off_t at, void *arg);
    void (*empty)(int fd, void *arg); /* no byte of it is needed any more */
    void (*close)(int fd, void *arg);
    void *arg;
} sn_spill_disk;

extern const sn_spill_disk sn_spill_disk_system;

#endif
